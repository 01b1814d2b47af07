/* What passes between a launch call and the start of its work? Table launch_breakdown. */
#include "analyses/analysis.h"
#include "base/sum.h"
#include "model/idle/idle.h"
#include "tables/launch_breakdown.h"

/* --- launches of one GPU ---------------------------------------------------------------------- */

struct stream {
  struct nai_intervals set; /* what it ran; unused where it is the only one */
  struct nai_coverage busy;
  int64_t end;      /* of all that began so far */
  uint32_t process; /* index among those of the GPU */
};

struct sums {
  int64_t count, to_start, in_api, stream_wait, device_wait, gap, starved, negative;
};

/* Of a launch: how long the call took; work ahead in its stream when the call returned; where the call found the GPU
 * idle, the time to the start, negated: its 90th percentile is the 10th of the times. */
enum measure { CALL, LEAD, FLOOR, MEASURES };

struct launches {
  const struct nai_model *m;
  const struct nai_gpu *gpu;
  struct nai_coverage busy;
  struct stream *streams;
  uint32_t count;         /* launches */
  uint32_t *process;      /* per launch: index among those of the GPU */
  uint32_t *idle_process; /* the same where it has a FLOOR, else NAI_NO_GROUP */
  int64_t *of[MEASURES];  /* per launch */
  struct sums *sums;      /* per process of the GPU */
  uint32_t *seen, number; /* seen: per call, the number of the GPU that had it last, from 1 on */
  bool overflow;
};

/* What each stream ran. Of an only one that is what the GPU ran. */
static int fill_streams(struct launches *l, struct nai_arena *arena, struct nai_err *err) {
  uint32_t count = l->gpu->stream_count;
  NAI_TRY(NAI_NEW(l->streams, arena, count, err));
  for (uint32_t s = 0; s < count; s++)
    l->streams[s] = (struct stream){.set = {.arena = arena},
                                    .end = INT64_MIN,
                                    .process = nai_keyset_find(&l->gpu->processes, l->gpu->streams[s].process)};
  for (uint32_t i = 0; count > 1 && i < l->gpu->op_count; i++)
    nai_intervals_add(&l->streams[l->gpu->ops[i].stream].set, l->gpu->ops[i].start, l->gpu->ops[i].end);
  for (uint32_t s = 0; count > 1 && s < count; s++)
    NAI_TRY(nai_coverage_in(&l->streams[s].busy, &l->streams[s].set, arena, err));
  return nai_coverage_in(&l->busy, &l->gpu->all, arena, err);
}

/* Adds the launch of the operation that starts at `start`. */
static void add_launch(struct launches *l, struct sums *sums, struct stream *stream, int64_t called, int64_t returned,
                       int64_t start) {
  sums->count++;
  if (start < called) {
    sums->negative++;
    return;
  }
  int64_t waits = returned < start ? returned : start, busy = nai_coverage_overlap_ns(&l->busy, waits, start);
  int64_t own = l->gpu->stream_count > 1 ? nai_coverage_overlap_ns(&stream->busy, waits, start) : busy;
  nai_sum_checked(&sums->to_start, start - called, &l->overflow); /* the others are parts of it */
  sums->in_api += waits - called;
  sums->stream_wait += own;
  sums->device_wait += busy - own;
  sums->gap += start - waits - busy;
}

static void take_operation(struct launches *l, uint32_t i, int64_t gpu_end) {
  const struct nai_op *op = &l->gpu->ops[i];
  struct stream *stream = &l->streams[op->stream];
  uint32_t call = nai_model_op_api(l->m, op);
  int64_t start = op->start, end = op->end;
  if (call != NAI_NO_ROW && l->seen[call] != l->number) {
    struct sums *sums = &l->sums[stream->process];
    int64_t called = nai_val(&l->m->apis.start_ns, call), returned = nai_val(&l->m->apis.end_ns, call);
    l->seen[call] = l->number;
    add_launch(l, sums, stream, called, returned, start);
    uint32_t n = l->count++;
    l->process[n] = stream->process;
    l->idle_process[n] = gpu_end <= called && called <= start ? stream->process : NAI_NO_GROUP;
    l->of[CALL][n] = returned - called;
    l->of[LEAD][n] = stream->end > returned ? stream->end - returned : 0;
    l->of[FLOOR][n] = called - start;
    sums->starved += l->of[LEAD][n] == 0;
  }
  stream->end = end > stream->end ? end : stream->end;
}

static void take_operations(struct launches *l) {
  int64_t gpu_end = INT64_MIN;
  for (uint32_t i = 0; i < l->gpu->op_count; i++) {
    int64_t end = l->gpu->ops[i].end;
    take_operation(l, i, gpu_end);
    gpu_end = end > gpu_end ? end : gpu_end;
  }
}

/* --- statistics ------------------------------------------------------------------------------- */

static void put_sums(struct nai_table *table, const struct launches *l, uint32_t process, const struct nai_stats *calls,
                     const struct nai_stats *leads, const struct nai_stats *floors) {
  const struct sums *s = &l->sums[process];
  if (!s->count)
    return;
  NAI_ADD(LAUNCH_BREAKDOWN, table, .device_id = l->gpu->device_id,
          .pid = nai_model_pid(l->m, (int32_t)l->gpu->processes.keys[process]), .launch_count = s->count,
          .api_p50_ns = calls->p50, .api_p90_ns = calls->p90, .call_to_start_ns = s->to_start, .in_api_ns = s->in_api,
          .stream_wait_ns = s->stream_wait, .device_wait_ns = s->device_wait, .gap_after_api_ns = s->gap,
          .launch_floor_ns = floors->count < NAI_LAUNCH_FLOOR_FEWEST ? (double)NAN : -floors->p90,
          .cpu_lead_p50_ns = leads->p50, .starved_count = s->starved,
          .starved_pct = nai_percent((double)s->starved, (double)s->count), .negative_latency_count = s->negative);
}

static int put_processes(struct nai_table *table, const struct launches *l, struct nai_arena *arena,
                         struct nai_err *err) {
  uint32_t n = l->gpu->processes.count;
  struct nai_stats *stats[MEASURES];
  for (int i = 0; i < MEASURES; i++) {
    const struct nai_values values = {.rows = l->count,
                                      .directory = l->m->scratch_dir,
                                      .groups = i == FLOOR ? l->idle_process : l->process,
                                      .values = l->of[i],
                                      .parts = NAI_P50 | NAI_P90};
    NAI_TRY(NAI_NEW(stats[i], arena, n, err));
    NAI_TRY(nai_group_stats(stats[i], n, &values, err));
  }
  for (uint32_t p = 0; p < n; p++)
    put_sums(table, l, p, &stats[CALL][p], &stats[LEAD][p], &stats[FLOOR][p]);
  return NAI_OK;
}

static int put_gpu(struct nai_table *table, const struct nai_model *m, uint32_t index, uint32_t *seen,
                   struct nai_err *err) {
  const struct nai_gpu *gpu = &m->gpus[index];
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(m->scratch_dir);
  struct launches l = {.m = m, .gpu = gpu, .seen = seen, .number = index + 1};
  NAI_TRY(NAI_NEW_UNSET(l.process, &arena, gpu->op_count, err));
  NAI_TRY(NAI_NEW_UNSET(l.idle_process, &arena, gpu->op_count, err));
  for (int i = 0; i < MEASURES; i++)
    NAI_TRY(NAI_NEW_UNSET(l.of[i], &arena, gpu->op_count, err));
  NAI_TRY(NAI_NEW(l.sums, &arena, gpu->processes.count, err));
  NAI_TRY(fill_streams(&l, &arena, err));
  take_operations(&l);
  if (l.overflow)
    return nai_err_damaged(err, "times from launch calls to their kernels add up to more than 292 years; the times "
                                "cannot be right");
  return put_processes(table, &l, &arena, err);
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_model *m = io->model;
  uint32_t *seen;
  NAI_TRY(NAI_NEW(seen, io->arena, m->apis.n, err));
  for (uint32_t g = 0; g < m->gpu_count; g++)
    NAI_TRY(put_gpu(io->out[0], m, g, seen, err));
  return NAI_OK;
}

NAI_ANALYSIS(launch_breakdown, .outputs = NAI_SCHEMAS(&nai_launch_breakdown_schema),
             .parts = NAI_PART(LAUNCHES) | NAI_PART(GPUS),
             .tables = NAI_IN(KERNELS) | NAI_IN(MEMOPS) | NAI_IN(GRAPHS) | NAI_IN(APIS) | NAI_IN(PROCESSES), .cost = 2,
             .run = run)
