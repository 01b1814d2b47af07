/* Printing the answer to a question. Internal to src/features/ask. */
#pragma once

#include "command/asking.h"
#include "features/ask/llm.h"
#include "features/ask/question.h"
#include "table/json.h"

/* An answer in the words of a model. */
struct nai_cmd_wording {
  const char *model, *text;
};
/* For people at a terminal, names escaped; for programs. `wording`: in the place of the answer's own, or NULL. */
void nai_cmd_put_answer(struct nai_buf *out, const char *question, const struct nai_answer *answer,
                        const struct nai_cmd_wording *wording);
void nai_cmd_put_answer_json(struct nai_buf *out, const char *question, const struct nai_answer *answer,
                             const struct nai_cmd_wording *wording);
/* The member `facts`. */
void nai_cmd_put_facts_json(struct nai_json *json, const struct nai_answer *answer);

/* claims_print.c: each number of a text, and whether the facts of an answer support it. */
void nai_cmd_put_claims(struct nai_buf *out, const char *text, const char *question, const struct nai_answer *answer);
void nai_cmd_put_claims_json(struct nai_buf *out, const char *text, const char *question,
                             const struct nai_answer *answer);
