#include "model/comm/mpi_process.h"

#include "table/stats.h"
#include "tables/mpi_efficiency.h"
#include "tables/mpi_ranks.h"

int64_t nai_mpi_rank_of(const struct nai_model *m, int32_t process) {
  const struct nai_table *t = m->tables[NAI_IN_MPI_RANKS];
  int64_t rank = NAI_NULL_I64;
  for (int64_t i = 0; i < t->rows; i++) {
    struct MPI_RANKS_row row = MPI_RANKS_at(t, i);
    if (row.thread < 0 || row.thread >= m->thread_count || m->thread_process[row.thread] != process)
      continue;
    if (rank != NAI_NULL_I64 && rank != row.rank)
      return NAI_NULL_I64;
    rank = row.rank;
  }
  return rank;
}

void nai_mpi_drop_twice(int64_t *ranks, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    bool twice = false;
    for (uint32_t k = i + 1; k < n && ranks[i] != NAI_NULL_I64; k++)
      if (ranks[k] == ranks[i]) {
        ranks[k] = NAI_NULL_I64;
        twice = true;
      }
    ranks[i] = twice ? NAI_NULL_I64 : ranks[i];
  }
}

void nai_mpi_put_efficiency(struct nai_table *out, const struct nai_mpi_process *v, uint32_t n) {
  const struct nai_mpi_process *most = v;
  double useful = 0, busy = 0, most_busy = 0, span = 0;
  bool busy_known = true;
  for (uint32_t i = 0; i < n; i++) {
    useful += (double)v[i].useful_ns / n;
    span = (double)v[i].span_ns > span ? (double)v[i].span_ns : span;
    most = v[i].useful_ns > most->useful_ns ? &v[i] : most;
    busy_known &= v[i].gpu_busy_ns != NAI_NULL_I64;
    busy += (double)v[i].gpu_busy_ns / n;
    most_busy = (double)v[i].gpu_busy_ns > most_busy ? (double)v[i].gpu_busy_ns : most_busy;
  }
  if (n < 2 || !most->useful_ns)
    return;
  struct MPI_EFFICIENCY_row row =
      NAI_ROW(MPI_EFFICIENCY, .process_count = n, .span_ns = (int64_t)span, .mean_useful_ns = (int64_t)useful,
              .max_useful_ns = most->useful_ns, .max_useful_pid = most->pid, .max_useful_rank = most->rank,
              .load_balance_pct = nai_percent(useful, (double)most->useful_ns),
              .communication_efficiency_pct = nai_percent((double)most->useful_ns, span),
              .parallel_efficiency_pct = nai_percent(useful, span));
  if (busy_known && most_busy > 0) {
    row.gpu_load_balance_pct = nai_percent(busy, most_busy);
    row.gpu_busy_pct = nai_percent(busy, span);
  }
  MPI_EFFICIENCY_add(out, &row);
}
