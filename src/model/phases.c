/* Time and kernels by phase of the phase map. At any time a thread is in the phase of the range begun last among its
 * open ones, of either kind, whose name has a phase. A kernel is in the phase in which its API call started; a range
 * without a phase of its own in the one in which it started. */
#include "model/build.h"

#include <stdlib.h>

/* A sweep over one thread's ranges and API calls. */
struct sweep {
  const struct nai_model *m;
  const int *name_phase;
  struct nai_phase_sum *sums;
  uint32_t *open; /* ranges with a phase by start; ended ones go when they come up */
  uint32_t depth;
  int64_t now; /* the thread's time is shared out up to here */
};

static int phase_of(const struct sweep *x, uint32_t range) {
  return x->name_phase[nai_at_text(&x->m->nvtx.name, range)];
}

/* Shares out the time up to t; returns the phase at t, -1 for none. */
static int advance(struct sweep *x, int64_t t) {
  while (x->depth) {
    uint32_t top = x->open[x->depth - 1];
    int64_t end = nai_at(&x->m->nvtx.end_ns, top), until = end < t ? end : t;
    if (until > x->now) {
      x->sums[phase_of(x, top)].wall_ns += until - x->now;
      x->now = until;
    }
    if (end > t)
      break;
    x->depth--;
  }
  x->now = t > x->now ? t : x->now;
  return x->depth ? phase_of(x, x->open[x->depth - 1]) : -1;
}

static void count_range(struct nai_phase_sum *sum, const struct NVTX_EVENTS_columns *v, uint32_t range) {
  int64_t length = nai_at(&v->end_ns, range) - nai_at(&v->start_ns, range);
  int64_t longest =
      sum->longest == NAI_NO_ROW ? -1 : nai_at(&v->end_ns, sum->longest) - nai_at(&v->start_ns, sum->longest);
  if (length > longest || (length == longest && nai_at(&v->start_ns, range) < nai_at(&v->start_ns, sum->longest)))
    sum->longest = range;
  sum->ranges++;
}

/* A range begins. */
static void enter(struct sweep *x, uint32_t range) {
  const struct NVTX_EVENTS_columns *v = &x->m->nvtx;
  int around = advance(x, nai_at(&v->start_ns, range)), own = phase_of(x, range), phase = own < 0 ? around : own;
  if (phase >= 0)
    count_range(&x->sums[phase], v, range);
  if (own >= 0 && nai_at(&v->start_ns, range) < nai_at(&v->end_ns, range))
    x->open[x->depth++] = range;
}

static int sweep_thread(int *phase_of_call, struct nai_phase_sum *sums, const struct nai_model *m,
                        const int *name_phase, uint32_t thread, struct nai_err *err) {
  const struct nai_groups *ranges = &m->nvtx_by_thread, *calls = &m->api_by_thread;
  uint32_t r = ranges->first[thread], r_end = ranges->first[thread + 1];
  struct sweep x = {.m = m, .name_phase = name_phase, .sums = sums, .now = INT64_MIN};
  x.open = malloc(((size_t)(r_end - r) + 1) * sizeof *x.open);
  if (!x.open)
    return nai_err_nomem(err);
  for (uint32_t c = calls->first[thread]; c <= calls->first[thread + 1]; c++) {
    bool last = c == calls->first[thread + 1];
    int64_t t = last ? INT64_MAX : nai_at(&m->apis.start_ns, calls->order[c]);
    for (; r < r_end && nai_at(&m->nvtx.start_ns, ranges->order[r]) <= t;
         r++) /* a call that starts with a range lies in it */
      enter(&x, ranges->order[r]);
    int phase = advance(&x, t);
    if (!last)
      phase_of_call[calls->order[c]] = phase;
  }
  free(x.open);
  return NAI_OK;
}

/* sums of each phase. */
static int sum_phases(struct nai_phase_sum *sums, struct nai_model *m, const int *name_phase, struct nai_err *err) {
  int *phase_of_call = m->call_phase = malloc(((size_t)m->apis.n + 1) * sizeof *phase_of_call);
  int rc = phase_of_call ? NAI_OK : nai_err_nomem(err);
  for (uint32_t t = 0; !rc && t < m->thread_count; t++)
    rc = sweep_thread(phase_of_call, sums, m, name_phase, t, err);
  for (uint32_t k = 0; !rc && k < m->kernels.n; k++) {
    uint32_t api = m->kernel_api[k];
    int phase = api == NAI_NO_ROW ? -1 : phase_of_call[api];
    if (phase < 0)
      continue;
    sums[phase].kernel_ns += nai_kernel_ns(m, k);
    sums[phase].kernels++;
  }
  for (uint32_t g = 0; !rc && g < m->graphs.n; g++)
    if (m->graph_api[g] != NAI_NO_ROW && phase_of_call[m->graph_api[g]] >= 0)
      sums[phase_of_call[m->graph_api[g]]].graph_ns += nai_graph_ns(m, g);
  for (uint32_t i = 0; !rc && i < m->memops.n; i++)
    if (m->memop_api[i] != NAI_NO_ROW && phase_of_call[m->memop_api[i]] >= 0)
      sums[phase_of_call[m->memop_api[i]]].copy_ns += nai_memop_ns(m, i);
  return rc;
}

static int build_phases(void *ctx, int task, struct nai_err *err) {
  (void)task;
  struct nai_model *m = ctx;
  if (!m->phases)
    return NAI_OK;
  uint32_t names = m->tables[NAI_IN_NVTX]->strings.count;
  int count = nai_phase_map_count(m->phases);
  int *name_phase = malloc(((size_t)names + 1) * sizeof *name_phase);
  m->phase_sums = calloc((size_t)count + 1, sizeof *m->phase_sums);
  int rc = m->phase_sums && name_phase ? NAI_OK : nai_err_nomem(err);
  for (int p = 0; !rc && p < count; p++)
    m->phase_sums[p].longest = NAI_NO_ROW;
  for (uint32_t i = 0; !rc && i < names; i++)
    name_phase[i] = nai_phase_map_match(m->phases, nai_strings_get(&m->tables[NAI_IN_NVTX]->strings, i));
  if (!rc)
    rc = nai_phase_map_check(m->phases, err);
  if (!rc)
    rc = sum_phases(m->phase_sums, m, name_phase, err);
  free(name_phase);
  return rc;
}

static void free_phases(struct nai_model *m) {
  free(m->phase_sums);
  free(m->call_phase);
}

const struct nai_part_def nai_part_phases = {.name = "phases",
                                             .needs = NAI_PART(RANGES) | NAI_PART(CALLS) | NAI_PART(LAUNCHES),
                                             .tables = NAI_IN(KERNELS) | NAI_IN(MEMOPS) | NAI_IN(GRAPHS),
                                             .config = NAI_CONFIG(PHASE_MAP),
                                             .begin = build_phases,
                                             .free = free_phases};
