/* What MPI takes of each process: rows of mpi_processes. */
#include "analyses/comm/mpi_list.h"
#include "tables/mpi_processes.h"

/* From the end of MPI_Init to the start of MPI_Finalize; where these are not recorded, between first and last call. */
static struct nai_interval span_of(const struct nai_node_io *io, const struct nai_mpi_call *v, uint32_t n) {
  struct nai_interval span = {INT64_MAX, INT64_MIN};
  int64_t init = INT64_MIN, finalize = INT64_MAX;
  for (uint32_t i = 0; i < n; i++) {
    span.start = v[i].start < span.start ? v[i].start : span.start;
    span.end = v[i].end > span.end ? v[i].end : span.end;
    const char *name = nai_strings_get(&io->model->tables[NAI_IN_MPI]->strings, v[i].name);
    if ((strcmp(name, "MPI_Init") == 0 || strcmp(name, "MPI_Init_thread") == 0) && v[i].end > init)
      init = v[i].end;
    if (strcmp(name, "MPI_Finalize") == 0 && v[i].start < finalize)
      finalize = v[i].start;
  }
  span.start = init > span.start ? init : span.start;
  span.end = finalize < span.end ? finalize : span.end;
  span.end = span.end < span.start ? span.start : span.end;
  return span;
}

/* Time of a process in MPI but for setup, on any thread. */
static int find_running(struct nai_intervals *out, const struct nai_node_io *io, const struct nai_mpi_call *v,
                        uint32_t n, struct nai_err *err) {
  struct nai_interval *calls;
  uint32_t count = 0;
  NAI_TRY(NAI_NEW(calls, io->arena, n, err));
  for (uint32_t i = 0; i < n; i++)
    if (nai_mpi_class_of(nai_strings_get(&io->model->tables[NAI_IN_MPI]->strings, v[i].name)) != NAI_MPI_CLASS_SETUP)
      calls[count++] = (struct nai_interval){v[i].start, v[i].end};
  nai_intervals_gather(out, calls, count);
  return out->oom ? nai_err_nomem(err) : NAI_OK;
}

static const struct nai_mpi_call *longest_of(const struct nai_mpi_call *v, uint32_t n) {
  const struct nai_mpi_call *longest = v;
  for (uint32_t i = 1; i < n; i++) {
    int64_t ns = v[i].end - v[i].start, most = longest->end - longest->start;
    if (ns > most || (ns == most && v[i].start < longest->start))
      longest = &v[i];
  }
  return longest;
}

int nai_mpi_sum_process(struct nai_mpi_process *out, const struct nai_node_io *io, const struct nai_mpi_call *v,
                        uint32_t n, int64_t rank, const struct nai_process_gpu *gpu, struct nai_err *err) {
  NAI_SCOPED(nai_intervals) running = {0};
  NAI_SCOPED(nai_intervals) exposed = {0};
  struct nai_interval span = span_of(io, v, n);
  const struct nai_mpi_call *longest = longest_of(v, n);
  NAI_TRY(find_running(&running, io, v, n, err));
  if (gpu->any)
    nai_intervals_intersect(&exposed, &running, &gpu->idle);
  NAI_TRY(nai_memory_check(!exposed.oom, err));
  int64_t mpi_ns = nai_intervals_overlap_ns(&running, span.start, span.end),
          active = nai_intervals_total_ns(&gpu->active);
  *out = (struct nai_mpi_process){.pid = nai_model_pid(io->model, v->process),
                                  .rank = rank,
                                  .span_ns = span.end - span.start,
                                  .useful_ns = span.end - span.start - mpi_ns,
                                  .gpu_busy_ns = gpu->alone ? nai_intervals_overlap_ns(&gpu->busy, span.start, span.end)
                                                            : NAI_NULL_I64};
  struct MPI_PROCESSES_row row =
      NAI_ROW(MPI_PROCESSES, .pid = out->pid, .rank = rank, .device_id = gpu->device_id, .call_count = n,
              .span_ns = out->span_ns, .mpi_ns = mpi_ns, .useful_ns = out->useful_ns, .gpu_busy_ns = out->gpu_busy_ns,
              .longest_start_ns = longest->start, .longest_end_ns = longest->end);
  if (out->span_ns)
    row.mpi_pct = nai_percent((double)mpi_ns, (double)out->span_ns);
  if (gpu->any)
    row.exposed_ns = nai_intervals_total_ns(&exposed);
  if (gpu->any && active)
    row.exposed_pct = nai_percent((double)row.exposed_ns, (double)active);
  MPI_PROCESSES_add(io->out[2], &row);
  return NAI_OK;
}
