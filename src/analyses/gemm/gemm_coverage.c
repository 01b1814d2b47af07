/* How much of a program's arithmetic do the sizes in range names tell? Table gemm_coverage. */
#include "analyses/gemm/gemm.h"
#include "table/columns.h"

enum {
  PID,
  DEVICE,
  MATRIX,
  COVERED,
  PCT,
  COUNT,
  FLOP,
  ATTENTION_PCT,
  STEADY,
  STEADY_MATRIX,
  STEADY_COVERED,
  STEADY_FLOP
};
static const struct nai_column_def columns[] = {
    [PID] = NAI_PID_COLUMN("process", .key = true),
    [DEVICE] = NAI_DEVICE_COLUMN("GPU", .key = true),
    [MATRIX] = NAI_TIME_COLUMN("matrix_time_ns", "summed durations of kernels for products, convolutions and attention",
                               .sum = true),
    [COVERED] =
        NAI_TIME_COLUMN("covered_time_ns", "of these, launched by operations whose sizes are known", .sum = true),
    [PCT] = NAI_PCT_COLUMN("covered_pct", "covered_time_ns of matrix_time_ns"),
    [COUNT] = NAI_COUNT_COLUMN("op_count", "operations with known sizes that ran", .sum = true),
    [FLOP] = {"flop", NAI_F64, NAI_COUNT, "their floating-point operations; attention without a mask",
              .role = NAI_ROLE_METRIC, .sum = true},
    [ATTENTION_PCT] = NAI_PCT_COLUMN("attention_flop_pct", "of flop: attention, at most half of it with a causal mask"),
    [STEADY] = NAI_COUNT_COLUMN("steady_steps", "steady steps"),
    [STEADY_MATRIX] = NAI_TIME_COLUMN("steady_matrix_time_ns", "matrix_time_ns of what they launched", .sum = true),
    [STEADY_COVERED] = NAI_TIME_COLUMN("steady_covered_time_ns", "covered_time_ns of that", .sum = true),
    [STEADY_FLOP] = {"steady_flop_per_step", NAI_F64, NAI_COUNT, "flop of what they launched, per step",
                     .role = NAI_ROLE_METRIC},
};
const struct nai_schema nai_gemm_coverage_schema =
    NAI_SCHEMA("gemm_coverage", "Coverage by sizes", "One process on one GPU, where range names tell sizes", columns);

void nai_gemm_put_coverage(struct nai_table *out, const struct nai_gemms *g) {
  for (uint32_t i = 0; i < g->place_count; i++) {
    const struct nai_gemm_place *p = &g->places[i];
    const struct nai_gemm_sums *s = &p->all;
    if (!s->matrix_ns && !s->runs)
      continue;
    int64_t row = nai_table_add_row(out);
    nai_set_i64(out, row, PID, nai_model_pid(g->m, (int32_t)p->process));
    nai_set_i64(out, row, DEVICE, nai_model_device(g->m, p->gpu));
    nai_set_i64(out, row, MATRIX, s->matrix_ns);
    nai_set_i64(out, row, COVERED, s->covered_ns);
    if (s->matrix_ns)
      nai_set_f64(out, row, PCT, nai_percent((double)s->covered_ns, (double)s->matrix_ns));
    nai_set_i64(out, row, COUNT, s->runs);
    nai_set_f64(out, row, FLOP, s->flop);
    if (s->flop > 0)
      nai_set_f64(out, row, ATTENTION_PCT, nai_percent(s->attention_flop, s->flop));
    nai_set_i64(out, row, STEADY, p->steady_steps);
    if (!p->steady_steps)
      continue;
    nai_set_i64(out, row, STEADY_MATRIX, p->steady.matrix_ns);
    nai_set_i64(out, row, STEADY_COVERED, p->steady.covered_ns);
    nai_set_f64(out, row, STEADY_FLOP, p->steady.flop / p->steady_steps);
  }
}
