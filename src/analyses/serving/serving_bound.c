/* How near do decode steps come to the time that reading the weights takes? Table serving_bound; rows with
 * --model-weights only. */
#include "analyses/analysis.h"
#include "base/sort.h"
#include "config/flops.h"
#include "tables/gpus.h"
#include "tables/serving_bound.h"
#include "tables/serving_engines.h"
#include "tables/serving_steps.h"
#include "tables/serving_summary.h"

enum { ENGINES, STEPS, SUMMARY };
enum { MOST_PCT = 105 }; /* a clock or bandwidth that is a little off */

/* The user may say any number of bytes, and an export any bandwidth: neither leaves 63 bits. */
static int64_t rounded(double value) { return llround(fmin(value, 9e18)); }

static double bandwidth(const struct nai_model *m, int64_t device) {
  const struct nai_table *gpus = m->tables[NAI_IN_GPUS];
  int64_t row = nai_find_i64(gpus, GPUS_device_id, device);
  return row < 0 ? 0 : (double)nai_get_i64(gpus, row, GPUS_memory_bytes_per_s); /* negative where it is not known */
}

static int64_t decode_busy_ns(const struct nai_table *summary, int64_t engine) {
  for (int64_t row = 0; row < summary->rows; row++)
    if (nai_get_i64(summary, row, SERVING_SUMMARY_engine) == engine &&
        strcmp(nai_get_str(summary, row, SERVING_SUMMARY_kind), "decode") == 0)
      return nai_get_i64(summary, row, SERVING_SUMMARY_median_busy_ns);
  return NAI_NULL_I64;
}

/* Median length of the sequences of a decode step, summed; 0 where the names do not tell. */
static int median_kv(double *out, const struct nai_table *steps, const struct SERVING_ENGINES_row *engine,
                     struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  int64_t *tokens;
  size_t n = 0;
  NAI_TRY(NAI_NEW(tokens, &arena, (size_t)steps->rows, err));
  for (int64_t row = 0; row < steps->rows; row++) {
    struct SERVING_STEPS_row step = SERVING_STEPS_at(steps, row);
    if (step.pid == engine->pid && step.device_id == engine->device_id && step.kv_tokens != NAI_NULL_I64 &&
        strcmp(step.kind, "decode") == 0 && strcmp(step.state, "steady") == 0)
      tokens[n++] = step.kv_tokens;
  }
  *out = n ? (double)nai_median_i64(tokens, n) : 0;
  return NAI_OK;
}

static int put_engine(const struct nai_node_io *io, int64_t number, struct nai_err *err) {
  const struct nai_flops *said = io->model->flops;
  struct SERVING_ENGINES_row engine = SERVING_ENGINES_at(io->in[ENGINES], number);
  double kv, per_s = bandwidth(io->model, engine.device_id);
  NAI_TRY(median_kv(&kv, io->in[STEPS], &engine, err));
  struct SERVING_BOUND_row row = NAI_ROW(SERVING_BOUND, .engine = engine.engine, .device_id = engine.device_id,
                                         .bytes_low = rounded(said->weights_low + kv * said->kv_bytes),
                                         .bytes_high = rounded(said->weights_high + kv * said->kv_bytes),
                                         .busy_ns = decode_busy_ns(io->in[SUMMARY], engine.engine));
  if (per_s <= 0)
    row.reason = "the export does not tell the bandwidth of the GPU's memory";
  else if (row.busy_ns == NAI_NULL_I64)
    row.reason = "fewer than 20 steady decode steps";
  if (per_s > 0) {
    row.bound_low_ns = rounded(1e9 * (double)row.bytes_low / per_s);
    row.bound_high_ns = rounded(1e9 * (double)row.bytes_high / per_s);
  }
  if (!row.reason && (double)row.bound_low_ns * 100 > (double)row.busy_ns * MOST_PCT)
    row.reason = "a decode step takes less time than reading so many bytes: they are not what it reads on this GPU";
  if (!row.reason) {
    row.share_low_pct = nai_percent((double)row.bound_low_ns, (double)row.busy_ns);
    row.share_high_pct = fmin(100, nai_percent((double)row.bound_high_ns, (double)row.busy_ns));
  }
  SERVING_BOUND_add(io->out[0], &row);
  return NAI_OK;
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  if (!io->model->flops || io->model->flops->weights_high <= 0)
    return NAI_OK;
  for (int64_t row = 0; row < io->in[ENGINES]->rows; row++)
    NAI_TRY(put_engine(io, row, err));
  return NAI_OK;
}

NAI_ANALYSIS(serving_bound, .outputs = NAI_SCHEMAS(&nai_serving_bound_schema),
             .inputs = NAI_SCHEMAS(&nai_serving_engines_schema, &nai_serving_steps_schema, &nai_serving_summary_schema),
             .tables = NAI_IN(GPUS), .config = NAI_CONFIG(FLOPS), .run = run)
