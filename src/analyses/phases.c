#include "analyses/phases.h"

#include <stdlib.h>

/* A time in which a thread is in one phase. */
struct stretch {
  int64_t start, end;
  int phase;
};

/* Those of one thread, in order. */
struct stretches {
  struct stretch *v;
  uint32_t count, capacity;
};

/* Sweeps over one thread's ranges. */
struct sweep {
  const struct nai_model *m;
  const int *name_phase;
  struct stretches *out;
  uint32_t *open; /* ranges with a phase by start; ended ones go when they come up */
  uint32_t depth;
  int64_t now;    /* stretches are complete up to here */
  bool oom;
};

static void add_stretch(struct sweep *x, int64_t end, int phase) {
  struct stretches *s = x->out;
  if (s->count && s->v[s->count - 1].end == x->now && s->v[s->count - 1].phase == phase) {
    s->v[s->count - 1].end = end;
    return;
  }
  if (s->count == s->capacity) {
    uint32_t capacity = s->capacity ? s->capacity * 2 : 64;
    struct stretch *v = realloc(s->v, (size_t)capacity * sizeof *v);
    if (!v) {
      x->oom = true;
      return;
    }
    s->v = v;
    s->capacity = capacity;
  }
  s->v[s->count++] = (struct stretch){x->now, end, phase};
}

static void advance(struct sweep *x, int64_t t) {
  while (x->depth) {
    uint32_t top = x->open[x->depth - 1];
    int64_t end = x->m->nvtx.end[top], until = end < t ? end : t;
    if (until > x->now) {
      add_stretch(x, until, x->name_phase[x->m->nvtx.name[top]]);
      x->now = until;
    }
    if (end > t)
      break;
    x->depth--;
  }
  x->now = t > x->now ? t : x->now;
}

static int find_stretches(struct stretches *out, const struct nai_model *m, const int *name_phase, uint32_t thread,
                          struct nai_err *err) {
  const struct nai_groups *g = &m->nvtx_by_thread;
  uint32_t first = g->first[thread], end = g->first[thread + 1];
  struct sweep x = {.m = m, .name_phase = name_phase, .out = out, .now = INT64_MIN};
  x.open = malloc(((size_t)(end - first) + 1) * sizeof *x.open);
  if (!x.open)
    return nai_err_nomem(err);
  for (uint32_t i = first; i < end; i++) {
    uint32_t range = g->order[i];
    if (name_phase[m->nvtx.name[range]] < 0 || m->nvtx.start[range] == m->nvtx.end[range])
      continue;
    advance(&x, m->nvtx.start[range]);
    x.open[x.depth++] = range;
  }
  advance(&x, INT64_MAX);
  free(x.open);
  return x.oom ? nai_err_nomem(err) : NAI_OK;
}

/* Phase of the thread at t, -1 for none. */
static int phase_at(const struct stretches *s, int64_t t) {
  uint32_t lo = 0, hi = s->count;
  while (lo < hi) { /* the first that ends after t */
    uint32_t mid = lo + (hi - lo) / 2;
    if (s->v[mid].end <= t)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo < s->count && s->v[lo].start <= t ? s->v[lo].phase : -1;
}

int nai_phase_sums(struct nai_phase_sum *sums, const struct nai_model *m, const int *name_phase, struct nai_err *err) {
  struct stretches *of_thread = calloc((size_t)m->thread_count + 1, sizeof *of_thread);
  int rc = of_thread ? NAI_OK : nai_err_nomem(err);
  for (uint32_t t = 0; !rc && t < m->thread_count; t++) {
    rc = find_stretches(&of_thread[t], m, name_phase, t, err);
    for (uint32_t i = 0; !rc && i < of_thread[t].count; i++)
      sums[of_thread[t].v[i].phase].wall_ns += of_thread[t].v[i].end - of_thread[t].v[i].start;
  }
  for (uint32_t k = 0; !rc && k < m->kernels.n; k++) {
    uint32_t api = m->kernel_api[k];
    int phase = api == NAI_NO_ROW ? -1 : phase_at(&of_thread[m->apis.thread[api]], m->apis.start[api]);
    if (phase < 0)
      continue;
    sums[phase].gpu_ns += m->kernels.end[k] - m->kernels.start[k];
    sums[phase].kernels++;
  }
  for (uint32_t t = 0; of_thread && t < m->thread_count; t++)
    free(of_thread[t].v);
  free(of_thread);
  return rc;
}
