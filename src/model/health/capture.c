#include "model/health/capture.h"

#include "tables/overhead_events.h"

bool nai_is_profilers(const struct nai_model *m, int64_t row) {
  enum nai_overhead_kind kind = (enum nai_overhead_kind)m->overhead_kind[row];
  return kind == NAI_OVERHEAD_OF_PROFILER || kind == NAI_OVERHEAD_FLUSH || kind == NAI_OVERHEAD_UNNAMED;
}

int nai_overhead_within(struct nai_overhead_sum *sum, const struct nai_model *m, nai_overhead_fn *counts, int64_t start,
                        int64_t end, struct nai_err *err) {
  const struct OVERHEAD_EVENTS_columns c = OVERHEAD_EVENTS_columns_of(m->tables[NAI_IN_OVERHEAD]);
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(m->scratch_dir);
  struct nai_interval *v;
  *sum = (struct nai_overhead_sum){0};
  NAI_TRY(NAI_NEW(v, &arena, c.n, err));
  for (uint32_t i = 0; i < c.n; i++) {
    int64_t from = nai_val(&c.start_ns, i), to = nai_val(&c.end_ns, i);
    if (to > start && from < end && counts(m, i))
      v[sum->rows++] = (struct nai_interval){from > start ? from : start, to < end ? to : end};
  }
  return nai_intervals_union_ns(&sum->ns, v, (size_t)sum->rows, err);
}

int64_t nai_without_launch(const struct nai_model *m) {
  int64_t count = 0;
  for (uint32_t i = 0; i < m->kernels.n; i++)
    count += m->kernel_api[i] == NAI_NO_ROW;
  for (uint32_t i = 0; i < m->memops.n; i++)
    count += m->memop_api[i] == NAI_NO_ROW && nai_at(&m->memops.migration, i) != 1;
  for (uint32_t i = 0; i < m->graphs.n; i++)
    count += m->graph_api[i] == NAI_NO_ROW;
  return count;
}

int nai_graphs_time(int64_t *ns, const struct nai_model *m, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(m->scratch_dir);
  struct nai_interval *v;
  NAI_TRY(NAI_NEW(v, &arena, m->graphs.n, err));
  for (uint32_t i = 0; i < m->graphs.n; i++)
    v[i] = (struct nai_interval){nai_val(&m->graphs.start_ns, i), nai_val(&m->graphs.end_ns, i)};
  return nai_intervals_union_ns(ns, v, m->graphs.n, err);
}
