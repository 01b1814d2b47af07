/* What threads did, in order: API calls, and when they waited for a GPU. */
#include "model/build.h"
#include "table/stats.h"

static int group_calls(struct nai_model *m, struct nai_err *err) {
  const struct nai_row_order by = {m->apis.start_ns, m->apis.end_ns, m->apis.name, &m->tables[NAI_IN_APIS]->strings};
  return nai_groups_build(&m->api_by_thread, m->apis.n, &m->apis.thread, m->thread_count, &by, &m->arena, err);
}

static int64_t calls_bytes(const struct nai_model *m) { return (int64_t)m->apis.n * 8; }

const struct nai_part_def nai_part_calls = {
    .name = "calls", .tables = NAI_IN(APIS) | NAI_IN(THREADS), .begin = group_calls, .bytes = calls_bytes};

static int measure_calls(struct nai_model *m, struct nai_err *err) {
  uint32_t names = m->tables[NAI_IN_APIS]->strings.count;
  const struct nai_durations durations = {m->apis.name, m->apis.start_ns, m->apis.end_ns};
  const struct nai_values values = {m->apis.n, nai_duration_block, &durations, m->scratch_dir,
                                    .parts = NAI_P50 | NAI_P90 | NAI_STDDEV};
  NAI_TRY(NAI_NEW(m->call_stats, &m->arena, names, err));
  return nai_group_stats(m->call_stats, names, &values, err);
}

const struct nai_part_def nai_part_call_stats = {
    .name = "durations of calls", .tables = NAI_IN(APIS), .begin = measure_calls};

static int begin_blocked(struct nai_model *m, struct nai_err *err) {
  return NAI_NEW(m->blocked, &m->arena, m->thread_count, err);
}

static int find_blocked(void *ctx, int thread, struct nai_err *err) {
  struct nai_model *m = ctx;
  const struct nai_groups *calls = &m->api_by_thread;
  struct nai_intervals *blocked = &m->blocked[thread];
  blocked->arena = &m->arena;
  for (uint32_t i = calls->first[thread]; i < calls->first[thread + 1]; i++)
    if (nai_model_api_blocks(m, calls->order[i]))
      nai_intervals_add(blocked, nai_val(&m->apis.start_ns, calls->order[i]),
                        nai_val(&m->apis.end_ns, calls->order[i]));
  return blocked->oom ? nai_err_nomem(err) : NAI_OK;
}

const struct nai_part_def nai_part_blocked = {.name = "blocked",
                                              .needs = NAI_PART(NAMES) | NAI_PART(LAUNCHES) | NAI_PART(CALLS),
                                              .begin = begin_blocked,
                                              .tasks = nai_each_thread,
                                              .task = find_blocked};
