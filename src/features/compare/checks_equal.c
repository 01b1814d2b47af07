/* What all captures of a comparison have to share: GPUs, processes, how steps were found, versions, options. */
#include "features/compare/internal.h"
#include "base/sort.h"
#include "rundir/run.h"
#include "tables/capture.h"
#include "tables/data_quality.h"
#include "tables/events.h"
#include "tables/gpu_utilization.h"
#include "tables/process_summary.h"
#include "tables/step_summary.h"

/* --- what a capture says ---------------------------------------------------------------------- */

/* The different texts of a column, sorted: "a, b". */
static void put_texts(struct nai_buf *out, const struct nai_table *table, int column) {
  enum { MAX_TEXTS = 64 };
  const char *texts[MAX_TEXTS];
  size_t n = 0;
  for (int64_t row = 0; row < table->rows && n < MAX_TEXTS; row++)
    if (*nai_get_str(table, row, column))
      texts[n++] = nai_get_str(table, row, column);
  qsort(texts, n, sizeof *texts, nai_by_text);
  for (size_t i = 0; i < n; i++)
    if (i == 0 || strcmp(texts[i], texts[i - 1]) != 0)
      nai_buf_printf(out, "%s%s", out->len ? ", " : "", texts[i]);
}

static struct CAPTURE_row facts_of(const struct nai_capture *capture) {
  return CAPTURE_at(nai_capture_table(capture, &nai_capture_schema), 0);
}

static void gpu_models(struct nai_buf *out, const struct nai_capture *capture) {
  put_texts(out, nai_capture_table(capture, &nai_gpu_utilization_schema), GPU_UTILIZATION_gpu_name);
}

static void gpu_counts(struct nai_buf *out, const struct nai_capture *capture) {
  nai_buf_printf(out, "%" PRId64, nai_capture_table(capture, &nai_gpu_utilization_schema)->rows);
}

static void process_counts(struct nai_buf *out, const struct nai_capture *capture) {
  const struct nai_table *t = nai_capture_table(capture, &nai_process_summary_schema);
  int64_t n = 0;
  for (int64_t row = 0; row < t->rows; row++)
    n += nai_get_i64(t, row, PROCESS_SUMMARY_kernel_count) > 0;
  nai_buf_printf(out, "%" PRId64, n);
}

static void steps_found(struct nai_buf *out, const struct nai_capture *capture) {
  nai_buf_puts(out, nai_capture_table(capture, &nai_step_summary_schema)->rows ? "yes" : "no");
}

static void step_methods(struct nai_buf *out, const struct nai_capture *capture) {
  put_texts(out, nai_capture_table(capture, &nai_step_summary_schema), STEP_SUMMARY_method);
}

static void graph_modes(struct nai_buf *out, const struct nai_capture *capture) {
  nai_buf_puts(out, nai_capture_info(capture).graph_envelope_count > 0 ? "whole graphs" : "kernels");
}

static void versions(struct nai_buf *out, const struct nai_capture *capture) {
  struct CAPTURE_row facts = facts_of(capture);
  if (*facts.product_version)
    nai_buf_printf(out, "%s (schema %s)", facts.product_version, facts.schema_version);
}

static void drivers(struct nai_buf *out, const struct nai_capture *capture) {
  nai_buf_puts(out, facts_of(capture).driver_version);
}

static void cuda_versions(struct nai_buf *out, const struct nai_capture *capture) {
  nai_buf_puts(out, facts_of(capture).cuda_driver_version);
}

/* nsys says it of traces in software alone. */
static void trace_methods(struct nai_buf *out, const struct nai_capture *capture) {
  const struct nai_table *quality = nai_capture_table(capture, &nai_data_quality_schema);
  bool software = false;
  for (int64_t row = 0; row < quality->rows; row++)
    software |= strcmp(nai_get_str(quality, row, DATA_QUALITY_check), NAI_CHECK_SOFTWARE_TRACE) == 0;
  nai_buf_puts(out, software ? "in software" : "not said");
}

static void options_given(struct nai_buf *out, const struct nai_capture *capture) {
  const struct nai_strings *o = &nai_run_manifest(capture->run)->options;
  for (uint32_t i = 0; i < o->count; i++)
    nai_buf_printf(out, "%s%s", i ? " " : "", nai_strings_get(o, i));
  if (!o->count)
    nai_buf_puts(out, "none");
}

/* --- checks of what has to be equal ----------------------------------------------------------- */

struct equal {
  struct nai_check check;
  nai_describe_fn *describe;
  bool unknown_is_soft; /* an empty text is no other value */
};

static const struct equal equals[] = {
    {{NAI_CHECK_GPU_MODEL, NAI_CHECK_HARD, NAI_SCOPE_ALL, "the captures used different GPUs"}, gpu_models, true},
    {{NAI_CHECK_GPU_COUNT, NAI_CHECK_HARD, NAI_SCOPE_ALL, "the captures used different numbers of GPUs"},
     gpu_counts,
     false},
    {{NAI_CHECK_PROCESS_COUNT, NAI_CHECK_HARD, NAI_SCOPE_ALL,
      "the captures hold different numbers of processes that used a GPU"},
     process_counts,
     false},
    {{NAI_CHECK_STEPS_MISSING, NAI_CHECK_HARD, NAI_SCOPE_STEP,
      "steps were found in some captures only: numbers per step cannot be compared"},
     steps_found,
     false},
    {{NAI_CHECK_STEP_METHOD, NAI_CHECK_HARD, NAI_SCOPE_STEP, "what a step is was found in different ways"},
     step_methods,
     true},
    {{NAI_CHECK_GRAPH_MODE, NAI_CHECK_HARD, NAI_SCOPE_CAPABILITY,
      "CUDA graphs were recorded as a whole in some captures and kernel by kernel in others; capture both with the same "
      "--cuda-graph-trace",
      "kernels"},
     graph_modes,
     true},
    {{NAI_CHECK_PRODUCT_VERSION, NAI_CHECK_SOFT, NAI_SCOPE_NONE, "captured with different versions of Nsight Systems"},
     versions,
     true},
    {{NAI_CHECK_DRIVER, NAI_CHECK_SOFT, NAI_SCOPE_NONE, "captured with different NVIDIA drivers"}, drivers, true},
    {{NAI_CHECK_CUDA, NAI_CHECK_SOFT, NAI_SCOPE_NONE, "the drivers support different versions of CUDA"},
     cuda_versions,
     true},
    {{NAI_CHECK_TRACE_METHOD, NAI_CHECK_SOFT, NAI_SCOPE_NONE,
      "nsys traced CUDA in software in some captures only: calls and short kernels may take longer there"},
     trace_methods,
     false},
    {{NAI_CHECK_OPTIONS, NAI_CHECK_SOFT, NAI_SCOPE_NONE, "the runs were made with different options"},
     options_given,
     false},
};

static int check_equal(struct nai_comparison *c, const struct equal *equal, struct nai_err *err) {
  struct nai_check check = equal->check;
  bool agrees[NAI_SIDES];
  for (int s = 0; s < NAI_SIDES; s++)
    NAI_TRY(nai_check_describe(&check.says[s], &agrees[s], c, s, equal->describe, err));
  bool base_known = check.says[NAI_BASE], known = base_known && check.says[NAI_CANDIDATE];
  for (int s = 0; s < NAI_SIDES; s++)
    check.says[s] = check.says[s] ? check.says[s] : "none";
  if (agrees[NAI_BASE] && agrees[NAI_CANDIDATE] && strcmp(check.says[NAI_BASE], check.says[NAI_CANDIDATE]) == 0)
    return NAI_OK;
  if (!known && equal->unknown_is_soft) {
    /* Not known and no more than a caveat; steps on one side only are another check's. */
    if (check.level == NAI_CHECK_SOFT || check.code == NAI_CHECK_STEP_METHOD)
      return NAI_OK;
    check.level = NAI_CHECK_SOFT;
    if (check.code == NAI_CHECK_GPU_MODEL)
      check.reason =
          base_known ? "the GPU model is not recorded in the new run" : "the GPU model is not recorded in the base";
  }
  if (check.code == NAI_CHECK_STEPS_MISSING || check.code == NAI_CHECK_STEP_METHOD)
    check.reason = nai_arena_printf(&c->arena, "%s; %s", check.reason, nai_steps_advice(c));
  return nai_check_add(c, check, err);
}

int nai_check_equality(struct nai_comparison *c, struct nai_err *err) {
  for (size_t i = 0; i < sizeof equals / sizeof *equals; i++)
    NAI_TRY(check_equal(c, &equals[i], err));
  return NAI_OK;
}
