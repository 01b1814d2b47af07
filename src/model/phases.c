/* Time and kernels by phase of the phase map. At any time a thread is in the phase of the range begun last among its
 * open ones, of either kind, whose name has a phase. A kernel is in the phase in which its API call started; a range
 * without a phase of its own in the one in which it started. */
#include "model/build.h"

/* A sweep over one thread's ranges and API calls. */
struct sweep {
  const struct nai_model *m;
  const int *name_phase;
  uint32_t *open; /* ranges with a phase by start; ended ones go when they come up */
  uint32_t depth, capacity;
  int64_t now; /* the thread's time is shared out up to here */
};

static int phase_of(const struct sweep *x, uint32_t range) {
  return x->name_phase[nai_val_text(&x->m->nvtx.name, range)];
}

/* Shares out the time up to t; returns the phase at t, -1 for none. */
static int advance(struct sweep *x, int64_t t) {
  while (x->depth) {
    uint32_t top = x->open[x->depth - 1];
    int64_t end = nai_val(&x->m->nvtx.end_ns, top), until = end < t ? end : t;
    if (until > x->now) {
      x->m->phase_sums[phase_of(x, top)].wall_ns += until - x->now;
      x->now = until;
    }
    if (end > t)
      break;
    x->depth--;
  }
  x->now = t > x->now ? t : x->now;
  return x->depth ? phase_of(x, x->open[x->depth - 1]) : -1;
}

static void count_range(struct nai_phase_sum *sum, const struct nai_model *m, uint32_t range) {
  int64_t length = nai_range_ns(m, range), longest = sum->longest == NAI_NO_ROW ? -1 : nai_range_ns(m, sum->longest);
  if (length > longest ||
      (length == longest && nai_val(&m->nvtx.start_ns, range) < nai_val(&m->nvtx.start_ns, sum->longest)))
    sum->longest = range;
  sum->ranges++;
}

static bool is_in_same_phase(const struct sweep *x, uint32_t range, int phase) {
  for (uint32_t i = 0; i < x->depth; i++)
    if (phase_of(x, x->open[i]) == phase &&
        nai_val(&x->m->nvtx.end_ns, x->open[i]) >= nai_val(&x->m->nvtx.end_ns, range))
      return true;
  return false;
}

/* A range begins. */
static int enter(struct sweep *x, uint32_t range, struct nai_err *err) {
  const struct NVTX_EVENTS_columns *v = &x->m->nvtx;
  int around = advance(x, nai_val(&v->start_ns, range)), own = phase_of(x, range), phase = own < 0 ? around : own;
  if (phase >= 0)
    count_range(&x->m->phase_sums[phase], x->m, range);
  x->m->range_phase[range] = own >= 0 && !is_in_same_phase(x, range, own) ? own : -1;
  if (own < 0 || nai_val(&v->start_ns, range) >= nai_val(&v->end_ns, range))
    return NAI_OK;
  NAI_TRY(NAI_ROOM(x->open, x->capacity, x->depth, &x->m->work->arenas[NAI_PART_PHASES], err));
  x->open[x->depth++] = range;
  return NAI_OK;
}

static int sweep_thread(struct sweep *x, uint32_t thread, struct nai_err *err) {
  const struct nai_model *m = x->m;
  const struct nai_groups *ranges = &m->nvtx_by_thread, *calls = &m->api_by_thread;
  uint32_t r = ranges->first[thread], r_end = ranges->first[thread + 1];
  x->now = INT64_MIN;
  x->depth = 0;
  for (uint32_t c = calls->first[thread]; c <= calls->first[thread + 1]; c++) {
    bool last = c == calls->first[thread + 1];
    int64_t t = last ? INT64_MAX : nai_val(&m->apis.start_ns, calls->order[c]);
    for (; r < r_end && nai_val(&m->nvtx.start_ns, ranges->order[r]) <= t;
         r++) /* a call that starts with a range lies in it */
      NAI_TRY(enter(x, ranges->order[r], err));
    int phase = advance(x, t);
    if (!last)
      m->call_phase[calls->order[c]] = phase;
  }
  return NAI_OK;
}

/* The phase of what a call launched, NULL for none. */
static struct nai_phase_sum *sum_of(const struct nai_model *m, uint32_t api) {
  int phase = api == NAI_NO_ROW ? -1 : m->call_phase[api];
  return phase < 0 ? NULL : &m->phase_sums[phase];
}

/* Work of GPUs that has a phase, and all of it. */
struct mapped {
  int64_t ns, all_ns;
};

static struct nai_phase_sum *mapped_sum(struct mapped *mapped, const struct nai_model *m, uint32_t api, int64_t ns) {
  struct nai_phase_sum *sum = sum_of(m, api);
  mapped->all_ns += ns;
  mapped->ns += sum ? ns : 0;
  return sum;
}

static struct mapped add_work(const struct nai_model *m) {
  struct mapped mapped = {0};
  struct nai_phase_sum *sum;
  for (uint32_t k = 0; k < m->kernels.n; k++)
    if ((sum = mapped_sum(&mapped, m, m->kernel_api[k], nai_kernel_ns(m, k)))) {
      sum->kernel_ns += nai_kernel_ns(m, k);
      sum->kernels++;
    }
  for (uint32_t g = 0; g < m->graphs.n; g++)
    if ((sum = mapped_sum(&mapped, m, m->graph_api[g], nai_graph_ns(m, g))))
      sum->graph_ns += nai_graph_ns(m, g);
  for (uint32_t i = 0; i < m->memops.n; i++)
    if ((sum = sum_of(m, m->memop_api[i])))
      sum->copy_ns += nai_memop_ns(m, i);
  return mapped;
}

static int build_phases(struct nai_model *m, struct nai_err *err) {
  if (!m->phases)
    return NAI_OK;
  const struct nai_strings *names = &m->tables[NAI_IN_NVTX]->strings;
  uint32_t count = (uint32_t)nai_patterns_class_count(m->phases);
  int *name_phase;
  NAI_TRY(NAI_NEW(name_phase, &m->work->arenas[NAI_PART_PHASES], names->count, err));
  NAI_TRY(NAI_NEW(m->phase_sums, &m->arena, count, err));
  NAI_TRY(NAI_NEW(m->call_phase, &m->arena, m->apis.n, err));
  NAI_TRY(NAI_NEW(m->range_phase, &m->arena, m->nvtx.n, err));
  for (uint32_t i = 0; i < m->nvtx.n; i++)
    m->range_phase[i] = -1;
  for (uint32_t p = 0; p < count; p++)
    m->phase_sums[p].longest = NAI_NO_ROW;
  for (uint32_t i = 0; i < names->count; i++)
    name_phase[i] = nai_patterns_match(m->phases, nai_strings_get(names, i));
  NAI_TRY(nai_patterns_check(m->phases, err));
  struct sweep x = {.m = m, .name_phase = name_phase};
  for (uint32_t t = 0; t < m->thread_count; t++)
    NAI_TRY(sweep_thread(&x, t, err));
  struct mapped mapped = add_work(m);
  if (m->phases_chosen && mapped.ns * 2 <= mapped.all_ns)
    m->phases = NULL;
  return NAI_OK;
}

const struct nai_part_def nai_part_phases = {.name = "phases",
                                             .needs = NAI_PART(RANGES) | NAI_PART(CALLS) | NAI_PART(LAUNCHES),
                                             .tables = NAI_IN(KERNELS) | NAI_IN(MEMOPS) | NAI_IN(GRAPHS),
                                             .config = NAI_CONFIG(PHASE_MAP),
                                             .begin = build_phases};
