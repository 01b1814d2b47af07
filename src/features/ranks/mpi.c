/* What MPI takes of each rank, by function and message size, from the tables of their runs: ranks, rank_mpi,
 * rank_mpi_sizes. */
#include "features/ranks/write.h"

#include "tables/mpi_calls.h"
#include "tables/mpi_processes.h"
#include "tables/mpi_sizes.h"
#include "tables/rank_mpi.h"
#include "tables/rank_mpi_sizes.h"

/* Of a process with several GPUs the first rank stands for it. */
static struct nai_job_rank *rank_of(const struct nai_ranks *r, uint32_t source, int64_t pid) {
  for (uint32_t i = 0; i < r->rank_count; i++)
    if (r->ranks[i].source == source && r->ranks[i].pid == pid)
      return &r->ranks[i];
  return NULL;
}

static int read_table(const struct nai_table **out, const struct nai_ranks *r, uint32_t source,
                      const struct nai_schema *schema, struct nai_err *err) {
  return nai_run_table_if_any(out, r->sources[source].run, schema->name, schema, err);
}

int nai_ranks_read_mpi(struct nai_ranks *r, struct nai_err *err) {
  for (uint32_t s = 0; s < r->source_count; s++) {
    const struct nai_table *t;
    NAI_TRY(read_table(&t, r, s, &nai_mpi_processes_schema, err));
    for (int64_t i = 0; t && i < t->rows; i++) {
      struct MPI_PROCESSES_row row = MPI_PROCESSES_at(t, i);
      struct nai_job_rank *rank = rank_of(r, s, row.pid);
      if (!rank)
        continue;
      rank->mpi_ns = row.mpi_ns;
      rank->mpi_span_ns = row.span_ns;
      rank->mpi_exposed_ns = row.exposed_ns;
    }
  }
  return NAI_OK;
}

static void put_calls(struct nai_table *out, const struct nai_job_rank *rank, const struct nai_table *t) {
  for (int64_t i = 0; i < t->rows; i++) {
    struct MPI_CALLS_row row = MPI_CALLS_at(t, i);
    if (row.pid == rank->pid)
      NAI_ADD(RANK_MPI, out, .rank = rank->label, .class = row.class, .function = row.function,
              .call_count = row.call_count, .total_ns = row.total_time_ns, .exposed_ns = row.exposed_ns,
              .p50_duration_ns = row.p50_duration_ns, .max_ns = row.max_duration_ns, .sent_bytes = row.sent_bytes);
  }
}

static void put_sizes(struct nai_table *out, const struct nai_job_rank *rank, const struct nai_table *t) {
  for (int64_t i = 0; i < t->rows; i++) {
    struct MPI_SIZES_row row = MPI_SIZES_at(t, i);
    if (row.pid == rank->pid)
      NAI_ADD(RANK_MPI_SIZES, out, .rank = rank->label, .class = row.class, .from_bytes = row.from_bytes,
              .below_bytes = row.below_bytes, .call_count = row.call_count, .sent_bytes = row.sent_bytes,
              .total_ns = row.total_time_ns);
  }
}

int nai_ranks_put_mpi(struct nai_table *calls, struct nai_table *sizes, const struct nai_ranks *r,
                      struct nai_err *err) {
  for (uint32_t i = 0; i < r->rank_count; i++) {
    const struct nai_job_rank *rank = &r->ranks[i];
    const struct nai_table *t;
    if (rank->mpi_ns == NAI_NULL_I64)
      continue;
    NAI_TRY(read_table(&t, r, rank->source, &nai_mpi_calls_schema, err));
    if (t)
      put_calls(calls, rank, t);
    NAI_TRY(read_table(&t, r, rank->source, &nai_mpi_sizes_schema, err));
    if (t)
      put_sizes(sizes, rank, t);
  }
  return NAI_OK;
}
