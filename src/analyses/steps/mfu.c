/* How much of the GPUs' peak does a step reach, by what the user or sizes in range names say it computes? Table mfu. */
#include "analyses/analysis.h"
#include "base/buf.h"
#include "config/flops.h"
#include "model/kernels/gpu_peak.h"
#include "tables/mfu.h"
#include "tables/step_summary.h"
#include "tables/gemm_coverage.h"
#include "tables/gemm_shapes.h"

#include <math.h>
#include <string.h>

/* What a step computes, and the peak of GPUs added up so far; `why` set: there is no number. */
struct basis {
  const char *source, *peak_source;
  double flop, tflops;
  int dtype;
  bool unverified, scaled;
  struct nai_buf why;
};

static void add_gpu(struct basis *b, const struct nai_model *m, int64_t device) {
  struct nai_gpu_peak peak = nai_gpu_peak_of(m, device);
  if (m->flops && m->flops->peak_tflops > 0) {
    b->tflops += m->flops->peak_tflops;
    b->peak_source = "--peak-tflops";
    return;
  }
  if (b->dtype < 0 && peak.product)
    b->dtype = peak.product->tflops[NAI_DTYPE_BF16] > 0 ? NAI_DTYPE_BF16 : NAI_DTYPE_FP16;
  double tflops = b->dtype < 0 ? 0 : nai_gpu_peak_tflops(&peak, (enum nai_dtype)b->dtype);
  if (b->why.len)
    return;
  if (tflops <= 0) {
    nai_buf_printf(&b->why, *peak.name ? "no peak is known for \"%s\"" : "the export does not name the GPU", peak.name);
    nai_buf_puts(&b->why, peak.product ? " in this data type: give --peak-tflops" : ": give --peak-tflops");
    return;
  }
  b->tflops += tflops;
  b->scaled |= peak.share < 1;
  b->unverified |= !peak.product->verified;
  b->peak_source = peak.product->source;
}

static bool seen_before(const struct nai_table *summary, int64_t row) {
  for (int64_t i = 0; i < row; i++)
    if (nai_get_i64(summary, i, STEP_SUMMARY_device_id) == nai_get_i64(summary, row, STEP_SUMMARY_device_id))
      return true;
  return false;
}

static void say(struct basis *b, const char *text) {
  nai_buf_puts(&b->why, b->why.len ? "; " : "");
  nai_buf_puts(&b->why, text);
}

static void put_result(struct nai_table *out, int64_t row, const struct nai_model *m, struct basis *b, double step_ns) {
  double achieved = b->flop / step_ns / 1e3; /* per ns = 10^9 per second */
  nai_set_f64(out, row, MFU_achieved_tflops, achieved);
  if (b->why.len)
    return;
  nai_set_f64(out, row, MFU_peak_tflops, b->tflops);
  nai_set_str(out, row, MFU_peak_source, b->peak_source);
  if (!m->flops || m->flops->peak_tflops <= 0)
    nai_set_str(out, row, MFU_dtype, nai_dtype_name((enum nai_dtype)b->dtype));
  if (achieved > b->tflops) {
    say(b, "more than the peak: the operations, the data type or what a step is are not as said");
    return;
  }
  nai_set_f64(out, row, MFU_mfu_pct, nai_percent(achieved, b->tflops));
  if (b->unverified)
    say(b, "the peak is a data sheet's, not verified");
  if (b->scaled)
    say(b, "the peak is scaled to the multiprocessors there are");
}

/* The slowest GPU's median step, and the fewest steady steps. */
struct slowest {
  double step_ns;
  int64_t steady, gpus;
};

static struct slowest add_gpus(struct basis *b, const struct nai_model *m, const struct nai_table *summary) {
  struct slowest s = {.steady = INT64_MAX};
  for (int64_t i = 0; i < summary->rows; i++) {
    double median = nai_get_f64(summary, i, STEP_SUMMARY_median_ns);
    int64_t steps = nai_get_i64(summary, i, STEP_SUMMARY_steady_steps);
    s.step_ns = median > s.step_ns ? median : s.step_ns;
    s.steady = steps < s.steady ? steps : s.steady;
    if (seen_before(summary, i))
      continue;
    s.gpus++;
    add_gpu(b, m, nai_get_i64(summary, i, STEP_SUMMARY_device_id));
  }
  return s;
}

static int put_row(struct nai_table *out, const struct nai_model *m, const struct nai_table *summary, struct basis *b,
                   struct nai_err *err) {
  enum { FEWEST_STEPS = 3 };
  int64_t row = nai_table_add_row(out);
  struct slowest s = add_gpus(b, m, summary);
  nai_set_str(out, row, MFU_source, b->source);
  nai_set_f64(out, row, MFU_flop_per_step, b->flop);
  nai_set_i64(out, row, MFU_gpu_count, s.gpus);
  if (s.gpus) {
    nai_set_i64(out, row, MFU_steady_steps, s.steady);
    nai_set_i64(out, row, MFU_step_time_ns, (int64_t)s.step_ns);
  }
  if (!s.gpus || s.steady < FEWEST_STEPS || s.step_ns <= 0) {
    nai_buf_clear(&b->why);
    say(b, !s.gpus ? "no steps are known (table step_search says why; --step names them)"
                   : "fewer than three steady steps");
  } else {
    put_result(out, row, m, b, s.step_ns);
  }
  if (b->why.len)
    nai_set_str(out, row, MFU_note, nai_buf_str(&b->why));
  int rc = nai_buf_check(&b->why, err);
  nai_buf_free(&b->why);
  return rc;
}

/* --- sizes in range names --------------------------------------------------------------------------- */

/* The data type of most operations, -1 where most is unknown. */
static int main_dtype(const struct nai_table *shapes) {
  double flop[NAI_DTYPE_COUNT] = {0}, all = 0;
  int most = 0;
  for (int64_t i = 0; i < shapes->rows; i++) {
    const char *name = nai_get_str(shapes, i, GEMM_SHAPES_dtype);
    double part = nai_get_f64(shapes, i, GEMM_SHAPES_flop_per_op) * nai_get_f64(shapes, i, GEMM_SHAPES_count);
    all += part;
    for (int d = 0; d < NAI_DTYPE_COUNT; d++)
      if (strcmp(name, nai_dtype_name((enum nai_dtype)d)) == 0)
        flop[d] += part;
  }
  for (int d = 1; d < NAI_DTYPE_COUNT; d++)
    most = flop[d] > flop[most] ? d : most;
  return 2 * flop[most] > all ? most : -1;
}

/* Refused where the sizes leave out more than a fifth of what is computed. */
static int put_sizes(struct nai_table *out, const struct nai_model *m, const struct nai_table *const *in,
                     struct nai_err *err) {
  enum { LEAST_PCT = 80 };
  const struct nai_table *summary = in[0], *coverage = in[1];
  struct basis b = {.source = "nvtx-sizes", .dtype = m->flops ? m->flops->dtype : -1, .peak_source = ""};
  double matrix = 0, covered = 0, attention = 0;
  if (b.dtype < 0)
    b.dtype = main_dtype(in[2]);
  for (int64_t i = 0; i < coverage->rows; i++) {
    double flop = nai_get_f64(coverage, i, GEMM_COVERAGE_steady_flop_per_step);
    if (nai_get_i64(coverage, i, GEMM_COVERAGE_steady_steps) <= 0)
      continue;
    b.flop += flop;
    matrix += nai_get_f64(coverage, i, GEMM_COVERAGE_steady_matrix_time_ns);
    covered += nai_get_f64(coverage, i, GEMM_COVERAGE_steady_covered_time_ns);
    attention += nai_get_f64(coverage, i, GEMM_COVERAGE_attention_flop_pct) > 0;
  }
  if (100 * covered < LEAST_PCT * matrix || matrix <= 0) {
    b.flop = NAN;
    nai_buf_printf(&b.why,
                   "sizes tell %.0f %% of the time of matrix products, convolutions and attention in steady steps: too "
                   "little to stand for a step",
                   nai_percent(covered, matrix));
  }
  int64_t row = out->rows;
  int rc = put_row(out, m, summary, &b, err);
  if (!rc && attention > 0 && *nai_get_str(out, row, MFU_note) == '\0')
    nai_set_str(out, row, MFU_note, "attention counts without a mask: half of it is too much with a causal one");
  return rc;
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_model *m = io->model;
  int rc = NAI_OK;
  if (m->flops && m->flops->per_step > 0) {
    struct basis said = {.source = m->flops->from_model ? "model" : "flops-per-step",
                         .flop = m->flops->per_step,
                         .dtype = m->flops->dtype,
                         .peak_source = ""};
    rc = put_row(io->out[0], m, io->in[0], &said, err);
  }
  if (!rc && io->in[2]->rows) /* some range tells sizes */
    rc = put_sizes(io->out[0], m, io->in, err);
  return rc;
}

NAI_ANALYSIS(mfu, .outputs = NAI_SCHEMAS(&nai_mfu_schema),
             .inputs = NAI_SCHEMAS(&nai_step_summary_schema, &nai_gemm_coverage_schema, &nai_gemm_shapes_schema),
             .tables = NAI_IN(GPUS), .config = NAI_CONFIG(GPU_FACTS) | NAI_CONFIG(FLOPS), .run = run)
