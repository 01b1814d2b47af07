/* How much of the GPUs' peak does a step reach, by what the user says it computes? Table mfu. */
#include "analyses/analysis.h"
#include "analyses/steps/step_schemas.h"
#include "base/buf.h"
#include "config/flops.h"
#include "table/columns.h"

#include <inttypes.h>

enum { SOURCE, FLOP, GPUS, STEP, STEADY, DTYPE, PEAK, ACHIEVED, MFU, NOTE, PEAK_SOURCE };
static const struct nai_column_def columns[] = {
    [SOURCE] = NAI_NAME_COLUMN("source", "where the operations come from: flops-per-step or model", .key = true),
    [FLOP] = {"flop_per_step", NAI_F64, NAI_COUNT, "floating-point operations of a step, all GPUs together",
              .role = NAI_ROLE_METRIC},
    [GPUS] = NAI_COUNT_COLUMN("gpu_count", "GPUs whose steps are known"),
    [STEP] = NAI_TIME_COLUMN("step_time_ns", "median steady step, of the slowest GPU", .better = NAI_BETTER_LOWER),
    [STEADY] = NAI_COUNT_COLUMN("steady_steps", "steady steps, of the GPU with the fewest"),
    [DTYPE] = NAI_LABEL_COLUMN("dtype", "data type whose peak is meant, NULL for a peak given by --peak-tflops"),
    [PEAK] = {"peak_tflops", NAI_F64, NAI_COUNT, "dense peak of all these GPUs together, 10^12 operations per second",
              .role = NAI_ROLE_METRIC},
    [ACHIEVED] = {"achieved_tflops", NAI_F64, NAI_COUNT, "operations of a step over its time, 10^12 per second",
                  .role = NAI_ROLE_METRIC, .better = NAI_BETTER_HIGHER},
    [MFU] = NAI_PCT_COLUMN("mfu_pct", "achieved, of the peak (model FLOPs utilisation); NULL where it is refused",
                           .better = NAI_BETTER_HIGHER),
    [NOTE] = NAI_LABEL_COLUMN("note", "why there is no number, or what it rests on"),
    [PEAK_SOURCE] = NAI_LABEL_COLUMN("peak_source", "where the peak comes from"),
};
static const struct nai_schema schema =
    NAI_SCHEMA("mfu", "Model FLOPs utilisation", "What a step computes, as the user says, against the GPUs' peak",
               columns);

/* The peak of GPUs added up so far; `why` set: there is none. */
struct peak {
  double tflops;
  int dtype;
  bool unverified, scaled;
  const char *source;
  struct nai_buf why;
};

static double peak_of_product(int *dtype, const struct nai_gpu_product *product) {
  if (*dtype < 0)
    *dtype = product->tflops[NAI_DTYPE_BF16] > 0 ? NAI_DTYPE_BF16 : NAI_DTYPE_FP16;
  return product->tflops[*dtype];
}

static void add_gpu(struct peak *peak, const struct nai_model *m, int64_t device) {
  const struct nai_table *gpus = m->tables[NAI_IN_GPUS];
  uint32_t row = nai_model_gpu_index(m, (int32_t)device);
  if (m->flops->peak_tflops > 0) {
    peak->tflops += m->flops->peak_tflops;
    peak->source = "--peak-tflops";
    return;
  }
  const char *name = row < m->gpu_count ? nai_get_str(gpus, row, GP_NAME) : "";
  const struct nai_gpu_product *product = nai_gpu_facts_product(m->gpu_facts, name);
  double tflops = product ? peak_of_product(&peak->dtype, product) : 0;
  if (peak->why.len)
    return;
  if (tflops <= 0) {
    nai_buf_printf(&peak->why, *name ? "no peak is known for \"%s\"" : "the export does not name the GPU", name);
    nai_buf_puts(&peak->why,
                 product && peak->dtype >= 0 ? " in this data type: give --peak-tflops" : ": give --peak-tflops");
    return;
  }
  int64_t sms = nai_get_i64(gpus, row, GP_SM_COUNT);
  bool part = product->sm_count && sms != NAI_NULL_I64 && sms > 0 && sms != product->sm_count;
  peak->tflops += part ? tflops * (double)sms / (double)product->sm_count : tflops;
  peak->scaled |= part;
  peak->unverified |= !product->verified;
  peak->source = product->source;
}

static bool seen_before(const struct nai_table *summary, int64_t row) {
  for (int64_t i = 0; i < row; i++)
    if (nai_get_i64(summary, i, SS_DEVICE) == nai_get_i64(summary, row, SS_DEVICE))
      return true;
  return false;
}

static void put_peak(struct nai_table *out, const struct peak *peak, bool given) {
  nai_set_f64(out, 0, PEAK, peak->tflops);
  nai_set_str(out, 0, PEAK_SOURCE, peak->source);
  if (!given)
    nai_set_str(out, 0, DTYPE, nai_dtype_name((enum nai_dtype)peak->dtype));
}

static void put_result(struct nai_table *out, const struct nai_model *m, struct peak *peak, double step_ns) {
  double achieved = m->flops->per_step / step_ns / 1e3; /* per ns = 10^9 per second */
  nai_set_f64(out, 0, ACHIEVED, achieved);
  if (peak->why.len)
    return;
  put_peak(out, peak, m->flops->peak_tflops > 0);
  if (achieved > peak->tflops) {
    nai_buf_puts(&peak->why, "more than the peak: the operations, the data type or what a step is are not as said");
    return;
  }
  nai_set_f64(out, 0, MFU, nai_percent(achieved, peak->tflops));
  if (peak->unverified)
    nai_buf_puts(&peak->why, "the peak is a data sheet's, not verified");
  if (peak->scaled)
    nai_buf_printf(&peak->why, "%sthe peak is scaled to the multiprocessors there are", peak->why.len ? "; " : "");
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  enum { FEWEST_STEPS = 3 };
  const struct nai_model *m = io->model;
  const struct nai_table *summary = io->in[0];
  struct nai_table *out = io->out[0];
  int64_t gpus = 0, steady = INT64_MAX;
  double step_ns = 0;
  if (!m->flops || m->flops->per_step <= 0)
    return NAI_OK;
  struct peak peak = {.dtype = m->flops->dtype, .source = ""};
  for (int64_t i = 0; i < summary->rows; i++) {
    double median = nai_cell_f64(summary, i, "median_ns");
    int64_t steps = nai_get_i64(summary, i, SS_STEADY);
    step_ns = median > step_ns ? median : step_ns;
    steady = steps < steady ? steps : steady;
    if (seen_before(summary, i))
      continue;
    gpus++;
    add_gpu(&peak, m, nai_get_i64(summary, i, SS_DEVICE));
  }
  nai_table_add_row(out);
  nai_set_str(out, 0, SOURCE, m->flops->from_model ? "model" : "flops-per-step");
  nai_set_f64(out, 0, FLOP, m->flops->per_step);
  nai_set_i64(out, 0, GPUS, gpus);
  if (gpus) {
    nai_set_i64(out, 0, STEADY, steady);
    nai_set_i64(out, 0, STEP, (int64_t)step_ns);
  }
  if (!gpus || steady < FEWEST_STEPS || step_ns <= 0) {
    nai_buf_clear(&peak.why);
    nai_buf_puts(&peak.why, !gpus ? "no steps are known (table step_search says why; --step names them)"
                                  : "fewer than three steady steps");
  } else {
    put_result(out, m, &peak, step_ns);
  }
  if (peak.why.len)
    nai_set_str(out, 0, NOTE, nai_buf_str(&peak.why));
  int rc = nai_buf_check(&peak.why, err);
  nai_buf_free(&peak.why);
  return rc;
}

static const char *const inputs[] = {"step_summary", NULL};
static const struct nai_schema *const schemas[] = {&schema, NULL};
const struct nai_node nai_analysis_mfu = {.name = "mfu",
                                          .outputs = schemas,
                                          .inputs = inputs,
                                          .tables = NAI_IN(GPUS),
                                          .config = NAI_CONFIG(GPU_FACTS) | NAI_CONFIG(FLOPS),
                                          .run = run};
