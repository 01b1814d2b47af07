/* Does the program wait after each launch, and what does that leave idle? Table launch_waits. */
#include "analyses/analysis.h"
#include "model/idle/active.h"
#include "model/idle/idle.h"
#include "tables/launch_waits.h"

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
  const struct nai_strings *names = &m->tables[NAI_IN_APIS]->strings;
  int64_t count = launches(m, gpu);
  uint32_t most = 0;
  struct LAUNCH_WAITS_row row =
      NAI_ROW(LAUNCH_WAITS, .device_id = m->gpus[gpu].device_id, .launch_count = count, .waited_count = t->waited,
              .waited_pct = nai_percent((double)t->waited, (double)count),
              .idle_ns = t->part_ns[0] + t->part_ns[1] + t->part_ns[2], .in_wait_ns = t->part_ns[0],
              .behind_wait_ns = t->part_ns[1], .in_launch_ns = t->part_ns[2]);
  for (uint32_t i = 1; i < names->count; i++)
    most = t->call_ns[i] > t->call_ns[most] ? i : most;
  if (t->longest_ns) {
    row.call = nai_strings_get(names, most);
    row.call_ns = t->call_ns[most];
    row.longest_ns = t->longest_ns;
    row.longest_start_ns = t->longest.start;
    row.longest_end_ns = t->longest.end;
  }
  LAUNCH_WAITS_add(table, &row);
}

static int add_gpu(const struct nai_node_io *io, uint32_t gpu, struct nai_err *err) {
  const struct nai_model *m = io->model;
  struct tally t = {0};
  uint32_t at = 0;
  NAI_TRY(NAI_NEW(t.call_ns, io->arena, m->tables[NAI_IN_APIS]->strings.count, err));
  for (struct nai_idle_gap gap = nai_idle_first(gpu); nai_idle_next(&gap, m);) {
    struct nai_idle_split split;
    uint32_t wait = wait_of(m, &gap);
    if (wait == NAI_NO_ROW || !nai_idle_gap_active(&at, m, gpu, gap.number))
      continue;
    NAI_TRY(nai_idle_split_again(&split, NULL, NULL, m, &gap, err));
    take(&t, m, &gap, wait, &split);
  }
  if (t.waited)
    put(io->out[0], m, gpu, &t);
  return NAI_OK;
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  for (uint32_t g = 0; g < io->model->gpu_count; g++)
    NAI_TRY(add_gpu(io, g, err));
  return NAI_OK;
}

NAI_ANALYSIS(launch_waits, .outputs = NAI_SCHEMAS(&nai_launch_waits_schema),
             .parts = NAI_PART(ACTIVE) | NAI_PART(IDLE) | NAI_PART(GPUS) | NAI_PART(LAUNCHES) | NAI_PART(CALLS) |
                      NAI_PART(NAMES),
             .cost = 1, .run = run)
