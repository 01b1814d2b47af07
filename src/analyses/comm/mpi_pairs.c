/* Which messages were waited for before they were sent, and which process arrived last at collectives? */
#include "analyses/comm/mpi_list.h"
#include "model/comm/mpi_messages.h"
#include "tables/mpi_collectives.h"
#include "tables/mpi_pairs.h"

static int32_t process_of(const struct nai_model *m, const int64_t *rank_of, int64_t rank) {
  int32_t p = 0;
  while (p < (int32_t)m->process_count && rank_of[p] != rank)
    p++;
  return p;
}

static int put_pair(const struct nai_node_io *io, const int64_t *rank_of, const struct nai_mpi_messages *all,
                    uint32_t first, uint32_t end, struct nai_err *err) {
  const struct nai_model *m = io->model;
  const struct nai_mpi_message *of = &all->messages[first];
  NAI_SCOPED(nai_intervals) idle = {0};
  NAI_SCOPED(nai_process_gpu) gpu = {0};
  struct nai_mpi_pair pair;
  int32_t process = process_of(m, rank_of, of->destination);
  NAI_TRY(nai_mpi_sum_pair(&pair, all, first, end, 0, err));
  if (!pair.count)
    return NAI_OK;
  NAI_TRY(nai_process_gpu_find(&gpu, m, process, err));
  if (gpu.any)
    nai_intervals_intersect(&idle, &pair.late, &gpu.idle);
  NAI_TRY(nai_memory_check(!idle.oom, err));
  NAI_ADD(MPI_PAIRS, io->out[4], .pid = nai_model_pid(m, process), .rank = of->destination,
          .peer_pid = nai_model_pid(m, process_of(m, rank_of, of->source)), .peer_rank = of->source,
          .message_count = pair.count, .late_send_count = pair.late_send_count, .late_send_ns = pair.late_send_ns,
          .late_send_idle_ns = gpu.any ? nai_intervals_total_ns(&idle) : NAI_NULL_I64,
          .late_receive_count = pair.late_receive_count, .late_receive_ns = pair.late_receive_ns,
          .longest_start_ns = pair.late_send_count ? pair.longest.start : NAI_NULL_I64,
          .longest_end_ns = pair.late_send_count ? pair.longest.end : NAI_NULL_I64);
  return NAI_OK;
}

static int put_collective(const struct nai_node_io *io, const int64_t *rank_of, const struct nai_mpi_messages *all,
                          uint32_t first, uint32_t end, struct nai_err *err) {
  int64_t rank = all->collectives[first].rank;
  NAI_SCOPED(nai_intervals) idle = {0};
  NAI_SCOPED(nai_process_gpu) gpu = {0};
  struct nai_mpi_collectives sum;
  int32_t process = process_of(io->model, rank_of, rank);
  NAI_TRY(nai_mpi_sum_collectives(&sum, all, first, end, err));
  if (!sum.count)
    return NAI_OK;
  NAI_TRY(nai_process_gpu_find(&gpu, io->model, process, err));
  if (gpu.any)
    nai_intervals_intersect(&idle, &sum.waiting, &gpu.idle);
  NAI_TRY(nai_memory_check(!idle.oom, err));
  NAI_ADD(MPI_COLLECTIVES, io->out[5], .pid = nai_model_pid(io->model, process), .rank = rank, .function = sum.function,
          .call_count = sum.count, .transfer_ns = sum.transfer_ns, .wait_ns = sum.waits ? sum.wait_ns : NAI_NULL_I64,
          .wait_idle_ns = sum.waits && gpu.any ? nai_intervals_total_ns(&idle) : NAI_NULL_I64,
          .late_count = sum.late_count, .caused_wait_ns = sum.caused_ns,
          .longest_start_ns = sum.longest.end > sum.longest.start && sum.waits ? sum.longest.start : NAI_NULL_I64,
          .longest_end_ns = sum.longest.end > sum.longest.start && sum.waits ? sum.longest.end : NAI_NULL_I64);
  return NAI_OK;
}

int nai_mpi_put_pairs(const struct nai_node_io *io, int64_t *rank_of, struct nai_err *err) {
  struct nai_mpi_messages all = {.arena = io->arena};
  nai_mpi_drop_twice(rank_of, io->model->process_count);
  NAI_TRY(nai_mpi_add_messages(&all, io->model, rank_of, err));
  nai_mpi_match_messages(&all);
  NAI_TRY(nai_mpi_match_collectives(&all, err));
  for (uint32_t i = 0, end; i < all.collective_count; i = end) {
    end = nai_mpi_collective_end(&all, i);
    NAI_TRY(put_collective(io, rank_of, &all, i, end, err));
  }
  for (uint32_t i = 0, end; i < all.message_count; i = end) {
    end = nai_mpi_pair_end(&all, i);
    NAI_TRY(put_pair(io, rank_of, &all, i, end, err));
  }
  return NAI_OK;
}
