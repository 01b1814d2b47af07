/* Printing the answer to a question. Internal to src/cmd. */
#ifndef NAI_CMD_QUESTION_H
#define NAI_CMD_QUESTION_H

#include "cmd/ask/answer.h"
#include "question/question.h"

/* For people at a terminal, names escaped; for programs. */
void nai_cmd_put_answer(struct nai_buf *out, const char *question, const struct nai_answer *answer);
void nai_cmd_put_answer_json(struct nai_buf *out, const char *question, const struct nai_answer *answer);
/* A word as a shell reads it back: quoted where it has to be. */
void nai_cmd_put_shell_word(struct nai_buf *out, const char *word);

#endif
