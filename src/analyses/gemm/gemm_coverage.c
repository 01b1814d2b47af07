/* How much of a program's arithmetic do the sizes in range names tell? Table gemm_coverage. */
#include "analyses/gemm/gemm.h"
#include "tables/gemm_coverage.h"

void nai_gemm_put_coverage(struct nai_table *out, const struct nai_gemms *g) {
  for (uint32_t i = 0; i < g->place_count; i++) {
    const struct nai_gemm_place *p = &g->places[i];
    const struct nai_gemm_sums *s = &p->all;
    if (!s->matrix_ns && !s->runs)
      continue;
    int64_t row = nai_table_add_row(out);
    nai_set_i64(out, row, GEMM_COVERAGE_pid, nai_model_pid(g->m, (int32_t)p->process));
    nai_set_i64(out, row, GEMM_COVERAGE_device_id, nai_model_device(g->m, p->gpu));
    nai_set_i64(out, row, GEMM_COVERAGE_matrix_time_ns, s->matrix_ns);
    nai_set_i64(out, row, GEMM_COVERAGE_covered_time_ns, s->covered_ns);
    if (s->matrix_ns)
      nai_set_f64(out, row, GEMM_COVERAGE_covered_pct, nai_percent((double)s->covered_ns, (double)s->matrix_ns));
    nai_set_i64(out, row, GEMM_COVERAGE_op_count, s->runs);
    nai_set_f64(out, row, GEMM_COVERAGE_flop, s->flop);
    if (s->flop > 0)
      nai_set_f64(out, row, GEMM_COVERAGE_attention_flop_pct, nai_percent(s->attention_flop, s->flop));
    nai_set_i64(out, row, GEMM_COVERAGE_steady_steps, p->steady_steps);
    if (!p->steady_steps)
      continue;
    nai_set_i64(out, row, GEMM_COVERAGE_steady_matrix_time_ns, p->steady.matrix_ns);
    nai_set_i64(out, row, GEMM_COVERAGE_steady_covered_time_ns, p->steady.covered_ns);
    nai_set_f64(out, row, GEMM_COVERAGE_steady_flop_per_step, p->steady.flop / p->steady_steps);
  }
}
