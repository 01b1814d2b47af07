/* What export prints, which sql and table print as well: rows as Parquet, events, stacks, timelines. */
#pragma once

#include "command/asking.h"
#include "features/export/export.h"
#include "features/export/parquet.h"

/* parquet_query.c: the rows of a statement, or a table as outputs show it. */
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

/* stacks.c: a line, or a sample, per stack with its time in ns; for speedscope also what the timeline has, as profiles.
 */
enum { NAI_CMD_GPU_TIME, NAI_CMD_WALL };
struct nai_cmd_stacks {
  bool calls;  /* stacks of the program's calls, not of its ranges */
  int metric;  /* of ranges */
  int64_t gpu; /* INT64_MIN: all */
};
/* *count: stacks written. */
NAI_MUST_CHECK int nai_cmd_put_folded(size_t *count, struct nai_buf *out, struct nai_run *run,
                                      const struct nai_cmd_stacks *how, struct nai_err *err);
struct nai_cmd_timeline;
NAI_MUST_CHECK int nai_cmd_put_speedscope(struct nai_buf *out, struct nai_run *run, const struct nai_cmd_stacks *stacks,
                                          const struct nai_cmd_timeline *how, struct nai_err *err);

/* timelines.c: the model of a run with those tables and parts, and the optional ones where the run has what they need,
 * for the time of one call. NAI_EINPUT: tables are missing or damaged. */
struct nai_cmd_model_needs {
  uint64_t tables, optional_tables;
  uint32_t parts, optional_parts;
  bool map_nvtx;
};
typedef int nai_cmd_model_fn(const struct nai_model *model, void *ctx, struct nai_err *err);
NAI_MUST_CHECK int nai_cmd_with_model(struct nai_run *run, const struct nai_cmd_model_needs *needs,
                                      nai_cmd_model_fn *use, void *ctx, struct nai_err *err);

/* The run's events for another program's timeline. */
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
