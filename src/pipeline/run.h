/* One run: from a trace to an artifacts directory, reusing what an earlier run left there. */
#ifndef NAI_PIPELINE_RUN_H
#define NAI_PIPELINE_RUN_H

#include "base/buf.h"
#include "pipeline/options.h"
#include "table/schema.h"

/* The stages in order; also what --stage takes. */
enum nai_stage_id {
  NAI_STAGE_PROBE,
  NAI_STAGE_EXTRACT,
  NAI_STAGE_ANALYZE,
  NAI_STAGE_RECOMMEND,
  NAI_STAGE_TIMELINE,
  NAI_STAGE_RENDER,
  NAI_STAGE_COUNT
};
const char *nai_stage_name(int stage);

struct nai_result_finding {
  int severity; /* 0..3: info to high */
  char *title;  /* one line of text, as clean as the trace's names are */
};

struct nai_result {
  struct nai_result_finding *list; /* every finding, the most important first */
  size_t list_count;
  int findings[4];        /* how many of each severity */
  int worst;              /* highest severity found, -1 for none */
  struct nai_buf verdict; /* plain text */
  struct nai_buf summary; /* plain text */
  bool reused[NAI_STAGE_COUNT];
  double seconds[NAI_STAGE_COUNT]; /* wall time per stage, for --verbose only: never in outputs */
};
void nai_result_free(struct nai_result *result);

/* Tells that a stage begins; may be NULL. */
typedef void nai_progress_fn(void *ctx, int stage);

/* Runs everything. On failure the artifacts directory is as it was before. */
NAI_MUST_CHECK int nai_run(struct nai_result *result, const struct nai_options *options, nai_progress_fn *progress,
                           void *progress_ctx, struct nai_err *err);

/* Everything that can be wrong with configuration files, found before a trace is opened. */
NAI_MUST_CHECK int nai_run_check(const struct nai_options *options, struct nai_err *err);

/* Schemas of all tables that rules can name. */
void nai_run_schemas(const struct nai_schema *const **schemas, size_t *count);

#endif
