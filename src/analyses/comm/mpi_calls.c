/* Where does MPI cost GPU time, by function, message size and process, and how evenly do processes compute between?
 * Tables mpi_calls, mpi_sizes, mpi_processes, mpi_efficiency, mpi_pairs, mpi_collectives. */
#include "analyses/comm/mpi_list.h"
#include "base/sort.h"
#include "table/stats.h"
#include "tables/mpi_calls.h"
#include "tables/mpi_collectives.h"
#include "tables/mpi_efficiency.h"
#include "tables/mpi_pairs.h"
#include "tables/mpi_processes.h"
#include "tables/mpi_sizes.h"

static const char *const class_words[NAI_MPI_CLASSES] = {"setup", "wait", "p2p",  "post", "collective", "icollective",
                                                         "sync",  "rma",  "file", "pack", "other"};

/* --- rows ------------------------------------------------------------------------------------- */

static void add_known(int64_t *sum, int64_t value) {
  if (value != NAI_NULL_I64)
    *sum = (*sum == NAI_NULL_I64 ? 0 : *sum) + value;
}

/* Calls of one function in one process, by start. */
static int put_function(const struct nai_node_io *io, const struct nai_mpi_call *v, uint32_t n, int64_t rank,
                        const struct nai_process_gpu *gpu, int64_t *room, struct nai_err *err) {
  const char *name = nai_strings_get(&io->model->tables[NAI_IN_MPI]->strings, v->name);
  NAI_SCOPED(nai_intervals) running = {0};
  NAI_SCOPED(nai_intervals) exposed = {0};
  const struct nai_mpi_call *longest = v;
  struct MPI_CALLS_row row =
      NAI_ROW(MPI_CALLS, .pid = nai_model_pid(io->model, v->process), .rank = rank, .device_id = gpu->device_id,
              .class = class_words[nai_mpi_class_of(name)], .function = name, .call_count = n, .row_count = 0,
              .open_count = 0, .staged_bytes = 0, .staged_exposed_ns = 0);
  for (uint32_t i = 0; i < n; i++) {
    room[i] = v[i].end - v[i].start;
    row.row_count += v[i].rows;
    row.open_count += v[i].open;
    row.staged_bytes += v[i].staged_bytes;
    row.staged_exposed_ns += v[i].staged_ns;
    add_known(&row.sent_bytes, v[i].sent);
    add_known(&row.received_bytes, v[i].received);
    longest = room[i] > longest->end - longest->start ? &v[i] : longest;
    nai_intervals_add(&running, v[i].start, v[i].end);
  }
  if (gpu->any)
    nai_intervals_intersect(&exposed, &running, &gpu->idle);
  NAI_TRY(nai_memory_check(!running.oom && !exposed.oom, err));
  struct nai_stats stats = nai_stats_of(room, n);
  row.total_time_ns = stats.total;
  row.exposed_ns = gpu->any ? nai_intervals_total_ns(&exposed) : NAI_NULL_I64;
  if (gpu->any && gpu->active.count)
    row.exposed_pct = nai_percent((double)row.exposed_ns, (double)nai_intervals_total_ns(&gpu->active));
  row.p50_duration_ns = stats.p50;
  row.max_duration_ns = stats.max;
  row.longest_start_ns = longest->start;
  row.longest_end_ns = longest->end;
  MPI_CALLS_add(io->out[0], &row);
  return NAI_OK;
}

/* Sizes that messages are told apart by. */
static const int64_t limits[] = {0, 1, 1 << 10, 1 << 13, 1 << 16, 1 << 19, 1 << 22, 1 << 25};
enum { BINS = sizeof limits / sizeof *limits };

static void put_sizes(const struct nai_node_io *io, const struct nai_mpi_call *v, uint32_t n) {
  const struct nai_strings *names = &io->model->tables[NAI_IN_MPI]->strings;
  struct {
    int64_t count, bytes, ns;
  } sums[NAI_MPI_CLASSES][BINS] = {0};
  for (uint32_t i = 0; i < n; i++) {
    int bin = BINS - 1, class = (int)nai_mpi_class_of(nai_strings_get(names, v[i].name));
    if (v[i].sent == NAI_NULL_I64)
      continue;
    while (bin && v[i].sent < limits[bin])
      bin--;
    sums[class][bin].count++;
    sums[class][bin].bytes += v[i].sent;
    sums[class][bin].ns += v[i].end - v[i].start;
  }
  for (int c = 0; c < NAI_MPI_CLASSES; c++)
    for (int b = 0; b < BINS; b++)
      if (sums[c][b].count)
        NAI_ADD(MPI_SIZES, io->out[1], .pid = nai_model_pid(io->model, v->process), .class = class_words[c],
                .from_bytes = limits[b], .below_bytes = b + 1 < BINS ? limits[b + 1] : NAI_NULL_I64,
                .call_count = sums[c][b].count, .sent_bytes = sums[c][b].bytes, .total_time_ns = sums[c][b].ns);
}

static int put_process(struct nai_mpi_process *sum, const struct nai_node_io *io, const struct nai_mpi_call *v,
                       uint32_t n, int64_t rank, int64_t *room, struct nai_err *err) {
  NAI_SCOPED(nai_process_gpu) gpu = {0};
  NAI_TRY(nai_process_gpu_find(&gpu, io->model, v->process, err));
  for (uint32_t i = 0, j; i < n; i = j) {
    for (j = i + 1; j < n && v[j].name == v[i].name; j++)
      ;
    NAI_TRY(put_function(io, v + i, j - i, rank, &gpu, room, err));
  }
  put_sizes(io, v, n);
  return nai_mpi_sum_process(sum, io, v, n, rank, &gpu, err);
}

/* --- copies inside of calls ------------------------------------------------------------------- */

static bool by_start(const void *ctx, size_t i) {
  const struct nai_mpi_call *const *v = ((const void *const *)ctx)[0], *least = ((const void *const *)ctx)[1];
  return NAI_COMPARE({v[i]->thread, least->thread}, {v[i]->start, least->start}) <= 0;
}
static int compare_starts(const void *pa, const void *pb) {
  const struct nai_mpi_call *a = *(const struct nai_mpi_call *const *)pa, *b = *(const struct nai_mpi_call *const *)pb;
  return NAI_COMPARE({a->thread, b->thread}, {a->start, b->start}, {b->end, a->end}, {a->name, b->name});
}

/* Of MPI libraries that move messages of GPUs through the host. */
static int find_staged(struct nai_mpi_call *calls, uint32_t n, const struct nai_node_io *io, struct nai_err *err) {
  enum { HOST_TO_DEVICE = 1, DEVICE_TO_HOST };
  const struct nai_model *m = io->model;
  struct nai_mpi_call **order;
  NAI_TRY(NAI_NEW(order, io->arena, n, err));
  for (uint32_t i = 0; i < n; i++)
    order[i] = &calls[i];
  qsort(order, n, sizeof *order, compare_starts);
  for (const struct nai_gpu *gpu = m->gpus; gpu < m->gpus + m->gpu_count; gpu++)
    for (const struct nai_op *op = gpu->ops; op < gpu->ops + gpu->op_count; op++) {
      int64_t kind = op->type == NAI_OP_COPY ? nai_at(&m->memops.copy_kind, op->row) : 0;
      uint32_t api = kind == HOST_TO_DEVICE || kind == DEVICE_TO_HOST ? nai_model_op_api(m, op) : NAI_NO_ROW;
      if (api == NAI_NO_ROW)
        continue;
      struct nai_mpi_call at = {.thread = nai_val_i32(&m->apis.thread, api), .start = nai_val(&m->apis.start_ns, api)};
      size_t behind = nai_search(0, n, by_start, (const void *[]){order, &at});
      struct nai_mpi_call *call = behind ? order[behind - 1] : NULL;
      if (!call || call->thread != at.thread || nai_val(&m->apis.end_ns, api) > call->end)
        continue;
      call->staged_bytes += nai_at(&m->memops.bytes, op->row);
      call->staged_ns += nai_intervals_overlap_ns(&gpu->exposed_copy, op->start, op->end);
    }
  return NAI_OK;
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  struct nai_mpi_call *calls;
  int64_t *room, *ranks;
  struct nai_mpi_process *processes;
  uint32_t n = 0, count = 0;
  if (!io->model->tables[NAI_IN_MPI]->rows)
    return NAI_OK;
  NAI_TRY(nai_mpi_collect(&calls, &n, io, err));
  NAI_TRY(find_staged(calls, n, io, err));
  NAI_TRY(NAI_NEW(room, io->arena, n, err));
  NAI_TRY(NAI_NEW(processes, io->arena, io->model->process_count, err));
  NAI_TRY(NAI_NEW(ranks, io->arena, io->model->process_count, err));
  for (uint32_t p = 0; p < io->model->process_count; p++)
    ranks[p] = nai_mpi_rank_of(io->model, (int32_t)p);
  for (uint32_t i = 0, j; i < n; i = j) {
    for (j = i + 1; j < n && calls[j].process == calls[i].process; j++)
      ;
    NAI_TRY(put_process(&processes[count++], io, calls + i, j - i, ranks[calls[i].process], room, err));
  }
  nai_mpi_put_efficiency(io->out[3], processes, count);
  return nai_mpi_put_pairs(io, ranks, err);
}

/* UCX's tables are for SQL alone: skill ucx_calls. */
NAI_ANALYSIS(mpi_calls,
             .outputs = NAI_SCHEMAS(&nai_mpi_calls_schema, &nai_mpi_sizes_schema, &nai_mpi_processes_schema,
                                    &nai_mpi_efficiency_schema, &nai_mpi_pairs_schema, &nai_mpi_collectives_schema),
             .parts = NAI_PART(GPUS) | NAI_PART(ACTIVE) | NAI_PART(PROCESS_GPUS) | NAI_PART(LAUNCHES),
             .tables = NAI_IN(MPI) | NAI_IN(MPI_RANKS) | NAI_IN(MPI_COMMUNICATORS) | NAI_IN(THREADS) |
                       NAI_IN(PROCESSES) | NAI_IN(MEMOPS) | NAI_IN(APIS) | NAI_IN(UCX) | NAI_IN(UCX_WORKERS),
             .run = run)
