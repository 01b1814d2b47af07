/* The part DEPENDENCIES: nodes with their times, then what each depends on. */
#include "model/critical/dep_build.h"

#include "base/sort.h"
#include "table/stats.h"

/* --- nodes ------------------------------------------------------------------------------------ */

/* Calls that no other call of their thread is around, thread by thread. */
static int find_calls(struct dep_builder *b, struct nai_err *err) {
  const struct nai_model *m = b->m;
  const struct nai_groups *calls = &m->api_by_thread;
  NAI_TRY(NAI_NEW_UNSET(b->d->call_api, &b->m->arena, m->apis.n, err));
  NAI_TRY(NAI_NEW_UNSET(b->call_of_api, b->arena, m->apis.n, err));
  NAI_TRY(NAI_NEW(b->d->first_call, &b->m->arena, (size_t)calls->groups + 1, err));
  memset(b->call_of_api, 0xff, m->apis.n * sizeof *b->call_of_api); /* NAI_NO_ROW */
  for (uint32_t thread = 0; thread < calls->groups; thread++) {
    int64_t until = INT64_MIN;
    for (uint32_t i = calls->first[thread]; i < calls->first[thread + 1]; i++) {
      uint32_t api = calls->order[i];
      if (nai_val(&m->apis.start_ns, api) >= until) {
        until = nai_val(&m->apis.end_ns, api);
        b->d->call_api[b->d->call_count++] = api;
      }
      b->call_of_api[api] = b->d->call_count - 1;
    }
    b->d->first_call[thread + 1] = b->d->call_count;
  }
  return NAI_OK;
}

static int number_nodes(struct dep_builder *b, struct nai_err *err) {
  enum { DEPENDENCIES = 3 }; /* of the start of an operation, nearly always at most; few are of something else */
  const struct nai_model *m = b->m;
  struct nai_dependencies *d = b->d;
  NAI_TRY(NAI_NEW(d->first_op, &b->m->arena, (size_t)m->gpu_count + 1, err));
  for (uint32_t g = 0; g < m->gpu_count; g++)
    d->first_op[g + 1] = d->first_op[g] + m->gpus[g].op_count;
  d->op_count = d->first_op[m->gpu_count];
  if ((uint64_t)d->call_count + d->op_count > UINT32_MAX / 8)
    return nai_err_set(err, NAI_ELIMIT, "too many events for a graph of dependencies");
  d->node_count = 2 * (d->call_count + d->op_count);
  NAI_TRY(NAI_NEW_UNSET(d->time, &b->m->arena, d->node_count, err));
  b->capacity = DEPENDENCIES * d->op_count + m->thread_count;
  NAI_TRY(NAI_NEW_UNSET(d->v, &b->m->arena, b->capacity, err));
  NAI_TRY(NAI_NEW_UNSET(d->first, &b->m->arena, (size_t)d->node_count + 1, err));
  NAI_TRY(NAI_NEW(d->queue_place, &b->m->arena, d->call_count, err));
  NAI_TRY(NAI_NEW_UNSET(d->op_call, &b->m->arena, d->op_count, err));
  NAI_TRY(NAI_NEW(b->copies, b->arena, d->call_count, err));
  for (uint32_t c = 0; c < d->call_count; c++) {
    d->time[2 * c] = nai_val(&m->apis.start_ns, d->call_api[c]);
    d->time[2 * c + 1] = nai_val(&m->apis.end_ns, d->call_api[c]);
  }
  for (uint32_t g = 0, k = 0; g < m->gpu_count; g++)
    for (uint32_t i = 0; i < m->gpus[g].op_count; i++, k++) {
      const struct nai_op *op = &m->gpus[g].ops[i];
      uint32_t api = nai_model_op_api(m, op);
      d->op_call[k] = api == NAI_NO_ROW ? NAI_NO_ROW : b->call_of_api[api];
      if (op->type == NAI_OP_COPY && d->op_call[k] != NAI_NO_ROW)
        b->copies[d->op_call[k]] = true;
      d->time[nai_node_of_op(d, k)] = op->start;
      d->time[nai_node_of_op(d, k) + 1] = op->end;
    }
  return NAI_OK;
}

static int group_ops_by_call(struct dep_builder *b, struct nai_err *err) {
  struct nai_groups groups;
  const struct nai_column call = nai_column_of_i32((const int32_t *)b->d->op_call);
  NAI_TRY(nai_groups_collect(&groups, b->d->op_count, &call, b->d->call_count, b->arena, err));
  b->call_ops_first = groups.first;
  b->call_ops = groups.order;
  return NAI_OK;
}

/* --- how long things mostly take -------------------------------------------------------------- */

static int find_medians(struct dep_builder *b, struct nai_err *err) {
  const struct nai_stats *stats = b->m->call_stats;
  uint32_t names = b->m->tables[NAI_IN_APIS]->strings.count;
  NAI_TRY(NAI_NEW(b->call_median, b->arena, names, err));
  for (uint32_t i = 0; i < names; i++)
    b->call_median[i] = stats[i].count ? stats[i].p50 : 0;
  return NAI_OK;
}

/* From the call to the start of what found its stream empty, and between operations of a stream of which the second was
 * launched before the first one's end: the fastest tenth. Others are as far apart as their launches. */
static int measure_floors(struct dep_builder *b, struct nai_err *err) {
  enum { MIN_COUNT = 20, LAUNCH_NS = 4000, STREAM_NS = 1000 };
  const struct nai_dependencies *d = b->d;
  int64_t *launch, *between;
  NAI_TRY(NAI_NEW(b->d->launch_floor, &b->m->arena, b->m->gpu_count, err));
  NAI_TRY(NAI_NEW(b->d->stream_floor, &b->m->arena, b->m->gpu_count, err));
  NAI_TRY(NAI_NEW_UNSET(launch, b->arena, d->op_count, err));
  NAI_TRY(NAI_NEW_UNSET(between, b->arena, d->op_count, err));
  for (uint32_t g = 0; g < b->m->gpu_count; g++) {
    size_t launches = 0, pairs = 0;
    for (uint32_t s = b->first_stream[g]; s < b->first_stream[g + 1]; s++) {
      int64_t ended = INT64_MIN;
      for (uint32_t i = b->streams[s].first; i < b->streams[s].first + b->streams[s].count; i++) {
        uint32_t op = b->stream_ops[i], node = nai_node_of_op(d, op);
        bool known = d->op_call[op] != NAI_NO_ROW;
        int64_t called = known ? d->time[2 * d->op_call[op]] : INT64_MIN;
        bool queued = !known || d->time[2 * d->op_call[op] + 1] <= ended;
        if (ended != INT64_MIN && d->time[node] >= ended && queued)
          between[pairs++] = d->time[node] - ended;
        if (called != INT64_MIN && called >= ended && d->time[node] >= called)
          launch[launches++] = d->time[node] - called;
        ended = d->time[node + 1];
      }
    }
    d->launch_floor[g] = launches < MIN_COUNT ? LAUNCH_NS : (int64_t)nai_quantile_i64(launch, launches, 0.1);
    d->stream_floor[g] = pairs < MIN_COUNT ? STREAM_NS : (int64_t)nai_quantile_i64(between, pairs, 0.1);
  }
  return NAI_OK;
}

/* --- the part --------------------------------------------------------------------------------- */

static int build(struct nai_model *m, struct nai_err *err) {
  NAI_TRY(NAI_NEW(m->dependencies, &m->arena, 1, err));
  struct dep_builder b = {.m = m, .d = m->dependencies, .arena = &m->work->arenas[NAI_PART_DEPENDENCIES]};
  NAI_TRY(find_calls(&b, err));
  NAI_TRY(number_nodes(&b, err));
  NAI_TRY(group_ops_by_call(&b, err));
  NAI_TRY(find_medians(&b, err));
  NAI_TRY(nai_dep_find_streams(&b, err));
  NAI_TRY(measure_floors(&b, err));
  NAI_TRY(nai_dep_find_waits(&b, err));
  NAI_TRY(nai_dep_measure_returns(&b, err));
  NAI_TRY(nai_dep_find_handoffs(&b, err));
  NAI_TRY(nai_dep_add_calls(&b, err));
  NAI_TRY(nai_dep_add_operations(&b, err));
  m->dependencies->first[m->dependencies->node_count] = b.count;
  return nai_dep_break_circles(&b, err);
}

/* All of it is large arrays, which lie in files. */
const struct nai_part_def nai_part_dependencies = {.name = "dependencies",
                                                   .needs = NAI_PART(NAMES) | NAI_PART(LAUNCHES) | NAI_PART(CALLS) |
                                                            NAI_PART(CALL_STATS) | NAI_PART(GPUS) | NAI_PART(COMM) |
                                                            NAI_PART(EVIDENCE) | NAI_PART(CPU),
                                                   .tables = NAI_IN(APIS) | NAI_IN(MEMOPS) | NAI_IN(SYNCS) |
                                                             NAI_IN(CUDA_EVENTS) | NAI_IN(THREADS) | NAI_IN(PROCESSES) |
                                                             NAI_IN(OSRT),
                                                   .begin = build};
