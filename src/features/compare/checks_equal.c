/* What all captures of a comparison have to share: GPUs, processes, how steps were found, versions, options. */
#include "features/compare/internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* --- what a capture says ---------------------------------------------------------------------- */

static int by_text(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

/* The different texts of a column, sorted: "a, b". */
static void put_texts(struct nai_buf *out, const struct nai_table *table, const char *column, bool repeat) {
  enum { MOST = 64 };
  const char *texts[MOST];
  size_t n = 0;
  for (int64_t row = 0; table && row < table->rows && n < MOST; row++)
    if (*nai_cell_str(table, row, column))
      texts[n++] = nai_cell_str(table, row, column);
  qsort(texts, n, sizeof *texts, by_text);
  for (size_t i = 0; i < n; i++)
    if (repeat || i == 0 || strcmp(texts[i], texts[i - 1]) != 0)
      nai_buf_printf(out, "%s%s", out->len ? ", " : "", texts[i]);
}

static void gpu_models(struct nai_buf *out, const struct nai_capture *capture) {
  put_texts(out, nai_capture_table(capture, "gpu_utilization"), "gpu_name", false);
}

static void gpu_counts(struct nai_buf *out, const struct nai_capture *capture) {
  const struct nai_table *t = nai_capture_table(capture, "gpu_utilization");
  nai_buf_printf(out, "%" PRId64, t ? t->rows : 0);
}

static void process_counts(struct nai_buf *out, const struct nai_capture *capture) {
  const struct nai_table *t = nai_capture_table(capture, "pids");
  int64_t n = 0;
  for (int64_t row = 0; t && row < t->rows; row++)
    n += nai_cell_i64(t, row, "kernel_count") > 0;
  nai_buf_printf(out, "%" PRId64, n);
}

static void steps_found(struct nai_buf *out, const struct nai_capture *capture) {
  const struct nai_table *t = nai_capture_table(capture, "step_summary");
  nai_buf_puts(out, t && t->rows ? "yes" : "no");
}

static void step_methods(struct nai_buf *out, const struct nai_capture *capture) {
  put_texts(out, nai_capture_table(capture, "step_summary"), "method", false);
}

static void graph_modes(struct nai_buf *out, const struct nai_capture *capture) {
  const struct nai_table *gpus = nai_capture_table(capture, "gpu_utilization");
  int64_t envelopes = nai_capture_cell(capture, "run_info", "graph_envelope_count");
  nai_buf_puts(out, envelopes > 0 ? "whole graphs" : gpus ? "kernels" : "");
}

static void versions(struct nai_buf *out, const struct nai_capture *capture) {
  const struct nai_table *t = nai_capture_table(capture, "capture");
  if (t && t->rows && *nai_cell_str(t, 0, "product_version"))
    nai_buf_printf(out, "%s (schema %s)", nai_cell_str(t, 0, "product_version"), nai_cell_str(t, 0, "schema_version"));
}

static void drivers(struct nai_buf *out, const struct nai_capture *capture) {
  nai_buf_puts(out, nai_cell_str(nai_capture_table(capture, "capture"), 0, "driver_version"));
}

static void cuda_versions(struct nai_buf *out, const struct nai_capture *capture) {
  nai_buf_puts(out, nai_cell_str(nai_capture_table(capture, "capture"), 0, "cuda_driver_version"));
}

static void options_given(struct nai_buf *out, const struct nai_capture *capture) {
  const struct nai_strings *o = &nai_run_manifest(capture->run)->options;
  for (uint32_t i = 0; i < o->count; i++)
    nai_buf_printf(out, "%s%s", i ? " " : "", nai_strings_get(o, i));
  if (!o->count)
    nai_buf_puts(out, "none");
}

/* What the captures of a side say: the one text they share, or each by name. *agrees: there is one text. */
void nai_side_describe(struct nai_buf *out, bool *agrees, const struct nai_side *side, capture_describe_fn *describe) {
  struct nai_buf first = {0}, one = {0};
  *agrees = true;
  for (uint32_t i = 0; i < side->count; i++) {
    nai_buf_clear(&one);
    describe(i ? &one : &first, &side->captures[i]);
    *agrees &= i == 0 || strcmp(nai_buf_str(&one), nai_buf_str(&first)) == 0;
  }
  if (*agrees)
    nai_buf_puts(out, nai_buf_str(&first));
  for (uint32_t i = 0; !*agrees && i < side->count; i++) {
    nai_buf_printf(out, "%s%s: ", i ? "; " : "", side->captures[i].label);
    describe(out, &side->captures[i]);
  }
  out->oom |= first.oom || one.oom;
  nai_buf_free(&first);
  nai_buf_free(&one);
}

/* --- checks of what has to be equal ----------------------------------------------------------- */

static const struct {
  enum nai_check_code code;
  enum nai_check_level level;
  enum nai_check_scope scope;
  const char *capability;
  capture_describe_fn *describe;
  bool unknown_is_soft; /* an empty text is no other value */
  const char *reason;
} equals[] = {
    {NAI_CHECK_GPU_MODEL, NAI_CHECK_HARD, NAI_SCOPE_ALL, NULL, gpu_models, true, "the captures used different GPUs"},
    {NAI_CHECK_GPU_COUNT, NAI_CHECK_HARD, NAI_SCOPE_ALL, NULL, gpu_counts, false,
     "the captures used different numbers of GPUs"},
    {NAI_CHECK_PROCESS_COUNT, NAI_CHECK_HARD, NAI_SCOPE_ALL, NULL, process_counts, false,
     "the captures hold different numbers of processes that used a GPU"},
    {NAI_CHECK_STEPS_MISSING, NAI_CHECK_HARD, NAI_SCOPE_STEP, NULL, steps_found, false,
     "steps were found in some captures only: numbers per step cannot be compared; name the ranges with analyze --step"},
    {NAI_CHECK_STEP_METHOD, NAI_CHECK_HARD, NAI_SCOPE_STEP, NULL, step_methods, true,
     "what a step is was found in different ways"},
    {NAI_CHECK_GRAPH_MODE, NAI_CHECK_HARD, NAI_SCOPE_CAPABILITY, "kernels", graph_modes, true,
     "CUDA graphs were recorded as a whole in some captures and kernel by kernel in others; capture both with the same "
     "--cuda-graph-trace"},
    {NAI_CHECK_PRODUCT_VERSION, NAI_CHECK_SOFT, NAI_SCOPE_NONE, NULL, versions, true,
     "captured with different versions of Nsight Systems"},
    {NAI_CHECK_DRIVER, NAI_CHECK_SOFT, NAI_SCOPE_NONE, NULL, drivers, true, "captured with different NVIDIA drivers"},
    {NAI_CHECK_CUDA, NAI_CHECK_SOFT, NAI_SCOPE_NONE, NULL, cuda_versions, true,
     "the drivers support different versions of CUDA"},
    {NAI_CHECK_OPTIONS, NAI_CHECK_SOFT, NAI_SCOPE_NONE, NULL, options_given, false,
     "the runs were made with different options"},
};

static int check_equal(struct nai_comparison *c, size_t i, struct nai_err *err) {
  struct nai_buf texts[NAI_SIDES] = {{0}};
  bool agrees[NAI_SIDES];
  int rc = NAI_OK;
  for (int s = 0; s < NAI_SIDES; s++)
    nai_side_describe(&texts[s], &agrees[s], &c->sides[s], equals[i].describe);
  bool known = texts[NAI_BASE].len && texts[NAI_NEW].len;
  bool same = agrees[NAI_BASE] && agrees[NAI_NEW] && !texts[0].oom && !texts[1].oom &&
              strcmp(nai_buf_str(&texts[NAI_BASE]), nai_buf_str(&texts[NAI_NEW])) == 0;
  struct nai_check check = {.code = equals[i].code,
                            .level = !known && equals[i].unknown_is_soft ? NAI_CHECK_SOFT : equals[i].level,
                            .scope = equals[i].scope,
                            .capability = (char *)equals[i].capability,
                            .reason = (char *)equals[i].reason};
  /* Soft and not known; steps on one side only are another check's. */
  bool nothing = !known && equals[i].unknown_is_soft &&
                 (check.level == equals[i].level || equals[i].code == NAI_CHECK_STEP_METHOD);
  for (int s = 0; s < NAI_SIDES && !known; s++)
    if (!texts[s].len)
      nai_buf_puts(&texts[s], "none");
  if (!same && !nothing)
    rc = nai_check_add_with(c, texts, check, err);
  nai_check_free_texts(texts);
  return rc;
}

int nai_checks_of_equality(struct nai_comparison *c, struct nai_err *err) {
  int rc = NAI_OK;
  for (size_t i = 0; !rc && i < sizeof equals / sizeof *equals; i++)
    rc = check_equal(c, i, err);
  return rc;
}
