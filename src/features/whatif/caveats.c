#include "features/whatif/caveats.h"

#include "base/fmt.h"
#include "table/stats.h"

/* Whether several threads of a process make calls. */
static int find_threads(bool *several, const struct nai_model *m, struct nai_arena *arena, struct nai_err *err) {
  const uint32_t *first = m->api_by_thread.first;
  bool *calls;
  NAI_TRY(NAI_NEW(calls, arena, m->process_count, err));
  *several = false;
  for (uint32_t i = 0; i < m->thread_count; i++) {
    int32_t process = m->thread_process[i];
    if (process < 0 || first[i] == first[i + 1])
      continue;
    *several |= calls[process];
    calls[process] = true;
  }
  return NAI_OK;
}

/* Of the time of operations, how much others of their GPU overlap. */
static double overlap_pct(const struct nai_model *m) {
  const struct nai_dependencies *d = m->dependencies;
  int64_t busy = 0, all = 0;
  for (uint32_t g = 0; g < m->gpu_count; g++)
    busy += nai_intervals_total_ns(&m->gpus[g].all);
  for (uint32_t op = 0; op < d->op_count; op++)
    all += d->time[nai_node_of_op(d, op) + 1] - d->time[nai_node_of_op(d, op)];
  return nai_percent((double)(all - busy), (double)all);
}

static bool takes_away(const struct nai_change *changes, uint32_t count) {
  static const uint32_t kinds = 1u << NAI_CHANGE_REMOVE_WAIT | 1u << NAI_CHANGE_REMOVE_WAIT_AT | 1u << NAI_CHANGE_COPY |
                                1u << NAI_CHANGE_COPY_AT | 1u << NAI_CHANGE_PINNED | 1u << NAI_CHANGE_OWN_STREAM |
                                1u << NAI_CHANGE_OWN_STREAM_COMM | 1u << NAI_CHANGE_MORE_IN_FLIGHT;
  for (uint32_t i = 0; i < count; i++)
    if (kinds >> changes[i].kind & 1)
      return true;
  return false;
}

static void add(struct nai_whatif_caveats *c, const char *text) { c->v[c->count++] = text; }

int nai_whatif_find_caveats(struct nai_whatif_caveats *c, const struct nai_model *m, const struct nai_change *changes,
                            uint32_t count, const struct nai_whatif_result *together, struct nai_arena *arena,
                            struct nai_err *err) {
  enum { LEAST_PCT = 1 };
  NAI_SCOPED(nai_buf) doubt = {0};
  double overlap = overlap_pct(m);
  bool threads;
  NAI_TRY(find_threads(&threads, m, arena, err));
  if (takes_away(changes, count))
    add(c, "Whether the program can do without a wait or a copy is not recorded.");
  if (together->host_pct >= LEAST_PCT)
    add(c, nai_arena_printf(arena, "Host code keeps its time: %.0f %% of the critical path with all changes.",
                            together->host_pct));
  if (together->queues)
    add(c, "That path waits for launch queues, which are taken to hold 1,024 operations.");
  if (overlap >= LEAST_PCT)
    add(c, nai_arena_printf(
               arena, "Operations that overlap (%.0f %% of their time) keep their time: bandwidth is not modeled.",
               overlap));
  if (threads)
    add(c, "The time between calls of threads stays, unless they take turns.");
  if (m->dependencies->quality.unmatched || c->ranks_missing)
    add(c, "Collectives keep their time, waiting included, where a rank of theirs is not in the trace or not matched.");
  if (together->inferred)
    add(c,
        nai_arena_printf(
            arena,
            "Partly inferred: %" PRId64
            " dependencies of the critical path are hand-offs between threads, waits without a record, or full queues.",
            together->inferred));
  nai_fmt_duration(&doubt, (double)c->doubt_ns);
  if (c->doubt_ns)
    add(c, nai_arena_printf(arena, "The clocks of the traces may be off by %s.", nai_buf_str(&doubt)));
  NAI_TRY(nai_buf_check(&doubt, err));
  return nai_arena_check(arena, err);
}
