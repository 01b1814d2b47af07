/* How commands that answer questions print tables. Internal to src/cmd. */
#ifndef NAI_CMD_ANSWER_H
#define NAI_CMD_ANSWER_H

#include "cmd/cmd.h"
#include "export/export.h"
#include "export/parquet.h"
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

/* pages.c: a built-in page; `what` is its parameter :what, or NULL. ask->format is an index of nai_cmd_page_formats. */
NAI_MUST_CHECK int nai_cmd_print_page(struct nai_buf *out, const char *id, struct nai_run *run, const char *what,
                                      const struct nai_cmd_ask *ask, struct nai_err *err);

/* explain.c: what is known of a thing of that name, as nsys-ai explain prints it. */
NAI_MUST_CHECK int nai_cmd_explain_name(struct nai_buf *out, struct nai_run *run, const char *what,
                                        const struct nai_cmd_ask *ask, struct nai_err *err);

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

/* reference.c: every table and view with its columns. */
NAI_MUST_CHECK int nai_cmd_put_reference(struct nai_buf *out, struct nai_run *run, struct nai_err *err);
/* evidence_findings.c: findings as JSON of schema 0.1, from :finding, :gpu and :severity. */
NAI_MUST_CHECK int nai_cmd_put_findings(struct nai_buf *out, struct nai_run *run,
                                        const struct nai_query_parameter *parameters, size_t count,
                                        struct nai_err *err);

/* parquet.c: the rows of a statement, or a table as outputs show it. */
NAI_MUST_CHECK int nai_cmd_query_parquet(bool *truncated, struct nai_buf *out, const struct nai_query *query,
                                         const struct nai_parquet_options *options, struct nai_err *err);
NAI_MUST_CHECK int nai_cmd_table_parquet(struct nai_buf *out, const struct nai_table *table,
                                         const struct nai_parquet_options *options, struct nai_err *err);
/* NAI_EUSAGE when bytes that are no text would go to a terminal. */
NAI_MUST_CHECK int nai_cmd_check_binary(const char *format, const char *out, struct nai_err *err);

/* flat.c: a row per event. */
struct nai_cmd_flat {
  int list;                      /* index of nai_cmd_flat_lists */
  enum nai_rows_format format;   /* NAI_ROWS_FORMATS: Parquet */
  bool gzip;                     /* its pages */
  int64_t gpu, start_ns, end_ns; /* as in struct nai_export_options */
};
nai_cli_choices_fn nai_cmd_flat_lists; /* "kernels", "copies", ... */
bool nai_cmd_flat_has_gpu(int list);   /* whether --gpu has a meaning */
NAI_MUST_CHECK int nai_cmd_put_flat(struct nai_buf *out, struct nai_run *run, const struct nai_cmd_flat *how,
                                    struct nai_err *err);

/* tree_markdown.c: the ranges of each thread with their kernels, in at most 60,000 bytes. */
NAI_MUST_CHECK int nai_cmd_put_markdown(struct nai_buf *out, struct nai_run *run, struct nai_err *err);

/* stacks.c: a line, or a sample, per stack with its time in ns; for speedscope also what the timeline has, as profiles.
 * gpu INT64_MIN: all. */
enum { NAI_CMD_GPU_TIME, NAI_CMD_WALL };
NAI_MUST_CHECK int nai_cmd_put_folded(struct nai_buf *out, struct nai_run *run, int metric, int64_t gpu,
                                      struct nai_err *err);
struct nai_cmd_timeline;
NAI_MUST_CHECK int nai_cmd_put_speedscope(struct nai_buf *out, struct nai_run *run, int metric,
                                          const struct nai_cmd_timeline *how, struct nai_err *err);

/* timelines.c: the run's events for another program's timeline. */
struct nai_cmd_timeline {
  nai_export_fn *write;
  struct nai_export_options options;
  bool quiet, all; /* all: profiles of as many events as there are */
};
NAI_MUST_CHECK int nai_cmd_put_timeline(struct nai_buf *out, struct nai_run *run, const struct nai_cmd_timeline *how,
                                        struct nai_err *err);
/* The same as profiles of speedscope; none, and a word, where there are too many events. */
NAI_MUST_CHECK int nai_cmd_put_profiles(const struct nai_export_profiles *into, struct nai_run *run,
                                        const struct nai_cmd_timeline *how, struct nai_err *err);

/* skill_test.c: runs the tests of skills; prints a line each. *failed counts. */
NAI_MUST_CHECK int nai_cmd_test_skills(struct nai_buf *out, size_t *passed, size_t *failed,
                                       const struct nai_skill *const *skills, size_t count, struct nai_err *err);

#endif
