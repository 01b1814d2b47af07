/* How commands that answer questions print tables. */
#pragma once

#include "command/command.h"
#include "skills/skill.h"

/* Options that such commands share. */
struct nai_cmd_ask {
  int format;  /* enum nai_rows_format */
  int64_t gpu; /* INT64_MIN: all */
  bool windowed;
  int64_t start_ns, end_ns;
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
extern const struct nai_cli_type nai_cmd_window_type; /* two numbers: seconds; `at` is a struct nai_cmd_ask */

#define NAI_CMD_FORMAT_OPTION(ask)                                                                     \
  {                                                                                                    \
    .name = "format", .value = "FORMAT", .help = "how the answer is printed", .type = &nai_cli_choice, \
    .at = (ask) + offsetof(struct nai_cmd_ask, format), .choices = nai_cmd_answer_formats              \
  }
#define NAI_CMD_GPU_OPTION(ask)                                                                      \
  {                                                                                                  \
    .name = "gpu", .value = "N", .help = "look at this GPU only", .type = &nai_cli_int64,            \
    .at = (ask) + offsetof(struct nai_cmd_ask, gpu), .min = -1, .max = INT32_MAX, .otherwise = "all" \
  }
#define NAI_CMD_SKILLS_OPTION(ask)                                                                                     \
  {                                                                                                                    \
    .name = "skills", .value = "FILE|DIR", .help = "further skills and pages; repeatable", .type = &nai_cli_texts,     \
    .at = (ask) + offsetof(struct nai_cmd_ask, skills), .count_at = (ask) + offsetof(struct nai_cmd_ask, skill_count), \
    .most = 16, .hint = NAI_CLI_FILE, .suffixes = "yaml yml"                                                           \
  }
#define NAI_CMD_ROWS_OPTION(ask)                                                                                    \
  {                                                                                                                 \
    .name = "rows", .letter = 'n', .value = "N", .help = "print at most N rows of a table", .type = &nai_cli_int64, \
    .at = (ask) + offsetof(struct nai_cmd_ask, rows), .max = INT64_MAX, .otherwise = "all"                          \
  }
#define NAI_CMD_QUIET_OPTION(ask)                                                  \
  {                                                                                \
    .name = "quiet", .letter = 'q', .help = "print no notes", .type = &nai_cli_on, \
    .at = (ask) + offsetof(struct nai_cmd_ask, quiet)                              \
  }
#define NAI_CMD_WINDOW_OPTION(ask)                                                                              \
  {                                                                                                             \
    .name = "window", .value = "START END",                                                                     \
    .help = "look at what overlaps this stretch, in seconds since session start", .type = &nai_cmd_window_type, \
    .at = (ask), .min = -1000000000, .max = 1000000000, .otherwise = "everything"                               \
  }

/* "text", "csv", "json", "markdown": an answer of several parts; the option's value is turned by nai_cmd_page_format.
 */
nai_cli_choices_fn nai_cmd_page_formats;
enum nai_rows_format nai_cmd_page_format(int choice);
#define NAI_CMD_PAGE_FORMAT_OPTION(ask)                                                                \
  {                                                                                                    \
    .name = "format", .value = "FORMAT", .help = "how the answer is printed", .type = &nai_cli_choice, \
    .at = (ask) + offsetof(struct nai_cmd_ask, format), .choices = nai_cmd_page_formats                \
  }

/* `rc` of a statement of this program's own. Where that is wrong (NAI_EUSAGE) and the run is of another build, that is
 * the cause: the message says to analyse again. */
NAI_MUST_CHECK int nai_cmd_blame_build(int rc, const struct nai_run *run, struct nai_err *err);

/* The run of a command that answers one question: opens operands[0] (a run or a trace), lets `answer` fill a text,
 * prints it. */
typedef int nai_cmd_answer_fn(struct nai_buf *out, const void *args, struct nai_run *run, const char *const *operands,
                              struct nai_err *err);
NAI_MUST_CHECK int nai_cmd_answer(nai_cmd_answer_fn *answer, const void *args, const struct nai_cmd_ask *ask,
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
 * that `option` names; nothing is no answer to either. nai_cmd_check_asked: both, as nai_cmd_answer does. */
NAI_MUST_CHECK int nai_cmd_check_gpu(int64_t gpu, struct nai_run *run, struct nai_err *err);
NAI_MUST_CHECK int nai_cmd_check_stretch(const char *option, int64_t start_ns, int64_t end_ns, struct nai_run *run,
                                         struct nai_err *err);
NAI_MUST_CHECK int nai_cmd_check_asked(const struct nai_cmd_ask *ask, struct nai_run *run, struct nai_err *err);
/* NAI_EUSAGE when --gpu or --window is asked for of a statement that does not look at them. */
NAI_MUST_CHECK int nai_cmd_check_looks(const struct nai_cmd_ask *ask, const char *sql, const char *what,
                                       struct nai_err *err);
