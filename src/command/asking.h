/* How commands that answer questions print tables. */
#pragma once

#include "command/command.h"
#include "skills/skill.h"

/* Options that such commands share. */
struct nai_cmd_ask {
  int format;  /* enum nai_rows_format */
  int64_t gpu; /* INT64_MIN: all */
  struct nai_cli_stretch window;
  const char *title; /* of the table in JSON; or NULL */
  const char *none;  /* said of a table without rows; NULL: "none" */
  int64_t rows;      /* most rows of a table, -1: all */
  bool quiet;
  const char *skills[16]; /* files and directories */
  size_t skill_count;
  const char *parameters[NAI_SKILL_MAX_PARAMETERS]; /* NAME=VALUE */
  size_t parameter_count;
};
void nai_cmd_ask_init(struct nai_cmd_ask *ask);
/* "text", "csv", "json", "ndjson", "markdown". */
nai_cli_choices_fn nai_cmd_answer_formats;
/* "text", "csv", "json", "markdown": an answer of several parts; the option's value is turned by nai_cmd_page_format.
 */
nai_cli_choices_fn nai_cmd_page_formats;
enum nai_rows_format nai_cmd_page_format(int choice);

/* Options of commands whose NAI_CLI_ARGS have a member `ask`. */
#define NAI_CMD_FORMATS_OPTION(formats) \
  NAI_CLI_OPTION(choice, ask.format, "format", "FORMAT", "how the answer is printed", .choices = formats)
#define NAI_CMD_FORMAT_OPTION NAI_CMD_FORMATS_OPTION(nai_cmd_answer_formats)
#define NAI_CMD_PAGE_FORMAT_OPTION NAI_CMD_FORMATS_OPTION(nai_cmd_page_formats)
#define NAI_CMD_GPU_OPTION \
  NAI_CLI_OPTION(int64, ask.gpu, "gpu", "N", "look at this GPU only", NAI_CLI_RANGE(-1, INT32_MAX), .otherwise = "all")
#define NAI_CMD_SKILLS_OPTION                                                                                    \
  NAI_CLI_LIST(texts, ask.skills, ask.skill_count, "skills", "FILE|DIR", "further skills and pages; repeatable", \
               NAI_CLI_FILES("yaml yml"))
#define NAI_CMD_ROWS_OPTION                                                                                        \
  NAI_CLI_OPTION(int64, ask.rows, "rows", "N", "print at most N rows of a table", .letter = 'n', .max = INT64_MAX, \
                 .otherwise = "all")
#define NAI_CMD_QUIET_OPTION NAI_CLI_SWITCH(on, ask.quiet, "quiet", "print no notes", .letter = 'q')
#define NAI_CMD_WINDOW_OPTION                                                                                  \
  NAI_CLI_OPTION(                                                                                              \
      stretch, ask.window, "window", "START END",                                                              \
      "look at what overlaps this stretch, in seconds since session start; +0 +20ms: from the first event on", \
      NAI_CMD_SECONDS, .otherwise = "everything")

/* `rc` of a statement of this program's own. Where that is wrong (NAI_EUSAGE) and the run is of another build, that is
 * the cause: the message says to analyse again. */
NAI_MUST_CHECK int nai_cmd_blame_build(int rc, const struct nai_run *run, struct nai_err *err);

/* nai_skills_load, with a note on stderr for each file that is left out. */
NAI_MUST_CHECK int nai_cmd_load_skills(struct nai_skills *skills, const struct nai_cmd_ask *ask, struct nai_err *err);

/* The run of a command that answers one question: opens operands[0] (a run or a trace), lets `answer` fill a text,
 * prints it. */
typedef int nai_cmd_answer_fn(struct nai_buf *out, const void *args, struct nai_run *run, const char *const *operands,
                              struct nai_err *err);
NAI_MUST_CHECK int nai_cmd_answer(nai_cmd_answer_fn *answer, const void *args, struct nai_cmd_ask *ask,
                                  const char *const *operands, struct nai_err *err);

/* A table in a format: its first `ask->rows` rows. */
NAI_MUST_CHECK int nai_cmd_print_table(struct nai_buf *out, const struct nai_table *table,
                                       const struct nai_cmd_ask *ask, struct nai_err *err);
/* What a skill said, or why it cannot say. */
NAI_MUST_CHECK int nai_cmd_print_answer(struct nai_buf *out, const struct nai_skill *skill,
                                        const struct nai_skill_answer *answer, const struct nai_cmd_ask *ask,
                                        struct nai_err *err);
struct nai_skill_request nai_cmd_request(struct nai_run *run, const struct nai_cmd_ask *ask);
/* NAI_EUSAGE when the run has no such GPU (INT64_MIN: all are meant), or when nothing of it lies in a stretch of time
 * that `option` names; nothing is no answer to either. One that counts from the first event is then of the session's
 * time. nai_cmd_check_asked: both, as nai_cmd_answer does. */
NAI_MUST_CHECK int nai_cmd_check_gpu(int64_t gpu, struct nai_run *run, struct nai_err *err);
NAI_MUST_CHECK int nai_cmd_place_stretch(struct nai_cli_stretch *given, const char *option, struct nai_run *run,
                                         struct nai_err *err);
NAI_MUST_CHECK int nai_cmd_check_asked(struct nai_cmd_ask *ask, struct nai_run *run, struct nai_err *err);
/* NAI_EUSAGE when --gpu or --window is asked for of a statement that does not look at them. */
NAI_MUST_CHECK int nai_cmd_check_looks(const struct nai_cmd_ask *ask, const char *sql, const char *what,
                                       struct nai_err *err);
