/* Does the program wait after each launch, and what does that leave idle? Table launch_waits. */
#include "analyses/analysis.h"
#include "analyses/idle/idle.h"
#include "model/idle/active.h"
#include "tables/launch_waits.h"

#include <stdlib.h>

enum { PARTS = 3 };
static const enum nai_idle_cause causes[PARTS] = {NAI_IDLE_BLOCKING_CALL, NAI_IDLE_QUEUE_DRAINED,
                                                  NAI_IDLE_IN_LAUNCH_CALL};

/* What is known of one GPU. */
struct tally {
  int64_t waited, part_ns[PARTS], longest_ns;
  struct nai_idle_gap longest;
  int64_t *call_ns; /* per API function */
};

/* The wait right before a launch on its thread, no other launch between; NAI_NO_ROW for none. */
static uint32_t wait_before(const struct nai_model *m, uint32_t launch) {
  enum { FARTHEST = 16 };
  const struct nai_groups *calls = &m->api_by_thread;
  uint32_t thread = nai_at_text(&m->apis.thread, launch), first = calls->first[thread];
  uint32_t place = nai_rows_from(calls->order, first, calls->first[thread + 1], &m->apis.start_ns,
                                 nai_at(&m->apis.start_ns, launch));
  for (int i = 0; i < FARTHEST && place-- > first; i++) {
    uint32_t call = calls->order[place];
    if (m->api_owns[call])
      break;
    if (m->api_class[nai_at_text(&m->apis.name, call)] == NAI_API_BLOCKING)
      return call;
  }
  return NAI_NO_ROW;
}

/* The wait that left the GPU idle until the launch: it was running when the gap began, or had just ended. */
static uint32_t wait_of(const struct nai_model *m, const struct nai_idle_gap *gap) {
  if (gap->launch == NAI_NO_ROW || nai_at(&m->apis.start_ns, gap->launch) < gap->start - NAI_CLOCK_TOLERANCE_NS)
    return NAI_NO_ROW;
  uint32_t wait = wait_before(m, gap->launch);
  return wait != NAI_NO_ROW && nai_at(&m->apis.start_ns, wait) < gap->start &&
                 nai_at(&m->apis.end_ns, wait) >= gap->start - NAI_CLOCK_TOLERANCE_NS
           ? wait
           : NAI_NO_ROW;
}

/* Without the wait the launch would have come earlier by no more than the wait took. */
static void take(struct tally *t, const struct nai_model *m, const struct nai_idle_gap *gap, uint32_t wait,
                 const struct nai_idle_split *split) {
  int64_t left = nai_call_ns(m, wait), all = 0;
  for (int i = 0; i < PARTS; i++) {
    int64_t ns = split->ns[causes[i]] < left ? split->ns[causes[i]] : left;
    t->part_ns[i] += ns;
    left -= ns;
    all += ns;
  }
  t->waited++;
  t->call_ns[nai_at_text(&m->apis.name, wait)] += all;
  if (all > t->longest_ns) {
    t->longest_ns = all;
    t->longest = *gap;
  }
}

static int64_t launches(const struct nai_model *m, uint32_t number) {
  const struct nai_gpu *gpu = &m->gpus[number];
  int64_t count = 0;
  uint32_t at = 0;
  for (uint32_t i = 0; i < gpu->op_count; i++)
    count += nai_gpu_is_active(&m->active[number], &at, nai_model_op_start(m, &gpu->ops[i])) &&
             nai_model_op_api(m, &gpu->ops[i]) != NAI_NO_ROW;
  return count;
}

static void put(struct nai_table *table, const struct nai_model *m, uint32_t gpu, const struct tally *t) {
  int64_t row = nai_table_add_row(table), count = launches(m, gpu);
  uint32_t most = 0, names = m->tables[NAI_IN_APIS]->strings.count;
  for (uint32_t i = 1; i < names; i++)
    most = t->call_ns[i] > t->call_ns[most] ? i : most;
  nai_set_i64(table, row, LAUNCH_WAITS_device_id, m->gpus[gpu].device_id);
  nai_set_i64(table, row, LAUNCH_WAITS_launch_count, count);
  nai_set_i64(table, row, LAUNCH_WAITS_waited_count, t->waited);
  nai_set_f64(table, row, LAUNCH_WAITS_waited_pct, nai_percent((double)t->waited, (double)count));
  nai_set_i64(table, row, LAUNCH_WAITS_idle_ns, t->part_ns[0] + t->part_ns[1] + t->part_ns[2]);
  nai_set_i64(table, row, LAUNCH_WAITS_in_wait_ns, t->part_ns[0]);
  nai_set_i64(table, row, LAUNCH_WAITS_behind_wait_ns, t->part_ns[1]);
  nai_set_i64(table, row, LAUNCH_WAITS_in_launch_ns, t->part_ns[2]);
  if (!t->longest_ns)
    return;
  nai_set_str(table, row, LAUNCH_WAITS_call, nai_strings_get(&m->tables[NAI_IN_APIS]->strings, most));
  nai_set_i64(table, row, LAUNCH_WAITS_call_ns, t->call_ns[most]);
  nai_set_i64(table, row, LAUNCH_WAITS_longest_ns, t->longest_ns);
  nai_set_i64(table, row, LAUNCH_WAITS_longest_start_ns, t->longest.start);
  nai_set_i64(table, row, LAUNCH_WAITS_longest_end_ns, t->longest.end);
}

static int add_gpu(const struct nai_node_io *io, uint32_t gpu, struct nai_err *err) {
  const struct nai_model *m = io->model;
  struct tally t = {.call_ns = calloc((size_t)m->tables[NAI_IN_APIS]->strings.count + 1, sizeof *t.call_ns)};
  uint32_t at = 0;
  int rc = t.call_ns ? NAI_OK : nai_err_nomem(err);
  for (struct nai_idle_gap gap = nai_idle_first(gpu); !rc && nai_idle_next(&gap, m);) {
    struct nai_idle_split split;
    uint32_t wait = wait_of(m, &gap);
    if (wait == NAI_NO_ROW || !nai_idle_gap_active(&at, m, gpu, gap.number))
      continue;
    rc = nai_idle_split_again(&split, NULL, NULL, m, &gap, err);
    if (!rc)
      take(&t, m, &gap, wait, &split);
  }
  if (!rc && t.waited)
    put(io->out[0], m, gpu, &t);
  free(t.call_ns);
  return rc;
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  int rc = NAI_OK;
  for (uint32_t g = 0; !rc && g < io->model->gpu_count; g++)
    rc = add_gpu(io, g, err);
  return rc;
}

NAI_ANALYSIS(launch_waits, .outputs = NAI_SCHEMAS(&nai_launch_waits_schema),
             .parts = NAI_PART(ACTIVE) | NAI_PART(IDLE) | NAI_PART(GPUS) | NAI_PART(LAUNCHES) | NAI_PART(CALLS) |
                      NAI_PART(NAMES),
             .tables = NAI_IN(KERNELS) | NAI_IN(MEMOPS) | NAI_IN(GRAPHS) | NAI_IN(APIS) | NAI_IN(OVERHEAD), .cost = 1,
             .run = run)
