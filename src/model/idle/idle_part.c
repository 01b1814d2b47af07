/* The part IDLE: all gaps of each GPU, in order. */
#include "model/build.h"
#include "base/array.h"
#include "model/idle/idle_split.h"

#include <math.h>
#include <stdlib.h>

struct walk {
  const struct nai_model *m;
  struct nai_gpu_idle *idle;
  struct nai_idle_shares shares;
  struct nai_idle_charge charge;
  struct nai_moment at;
  int64_t *latencies; /* negated, of launches that found the GPU idle */
  uint32_t latency_count, latency_capacity;
  int64_t longest_after; /* longest stretch of a gap after a call */
};

static int note_drain(struct walk *w, const struct nai_idle_gap *gap, int64_t ns, struct nai_err *err) {
  struct nai_gpu_idle *idle = w->idle;
  if (idle->drain_count == idle->drain_capacity &&
      !nai_array_room(&idle->drains, &idle->drain_capacity, idle->drain_count, sizeof *idle->drains))
    return nai_err_nomem(err);
  idle->drains[idle->drain_count++] = (struct nai_idle_drain){gap->number, w->charge.wait, w->charge.left + ns, ns};
  return NAI_OK;
}

static int note_latency(struct walk *w, const struct nai_idle_gap *gap, struct nai_err *err) {
  if (gap->launch == NAI_NO_ROW)
    return NAI_OK;
  int64_t called = nai_at(&w->m->apis.start_ns, gap->launch);
  if (called < gap->start || called > gap->end) /* the GPU was busy when it began; clocks disagree */
    return NAI_OK;
  if (w->latency_count == w->latency_capacity &&
      !nai_array_room(&w->latencies, &w->latency_capacity, w->latency_count, sizeof *w->latencies))
    return nai_err_nomem(err);
  w->latencies[w->latency_count++] = called - gap->end;
  return NAI_OK;
}

static void add_parts(struct nai_gpu_idle *idle, const struct nai_idle_split *split, const struct nai_idle_gap *gap) {
  for (int c = 0; c < NAI_IDLE_CAUSES; c++) {
    if (!split->ns[c])
      continue;
    idle->ns[c] += split->ns[c];
    idle->parts[c]++;
    if (split->ns[c] > idle->longest_ns[c]) {
      idle->longest_ns[c] = split->ns[c];
      idle->longest[c] = (struct nai_interval){gap->start, gap->end};
    }
  }
  idle->cause[gap->number] = (uint8_t)nai_idle_largest_part(split);
}

/* Most gaps are the short distance between an operation and the next, which had been launched before. */
static bool take_distance(struct walk *w, const struct nai_idle_gap *gap) {
  struct nai_gpu_idle *idle = w->idle;
  int64_t ns = gap->end - gap->start;
  if (ns > idle->latency_limit || gap->launch == NAI_NO_ROW || nai_at(&w->m->apis.end_ns, gap->launch) > gap->start ||
      nai_at(&w->m->apis.start_ns, gap->launch) > gap->start)
    return false;
  idle->ns[NAI_IDLE_LAUNCH_LATENCY] += ns;
  idle->parts[NAI_IDLE_LAUNCH_LATENCY]++;
  if (ns > idle->longest_ns[NAI_IDLE_LAUNCH_LATENCY]) {
    idle->longest_ns[NAI_IDLE_LAUNCH_LATENCY] = ns;
    idle->longest[NAI_IDLE_LAUNCH_LATENCY] = (struct nai_interval){gap->start, gap->end};
  }
  idle->cause[gap->number] = NAI_IDLE_LAUNCH_LATENCY;
  return true;
}

static int take_gap(struct walk *w, const struct nai_idle_gap *gap, struct nai_err *err) {
  struct nai_idle_split split;
  if (take_distance(w, gap))
    return NAI_OK;
  nai_idle_split(&split, &w->shares, NULL, &w->charge, &w->at, w->m, gap, w->idle->latency_limit, NULL);
  add_parts(w->idle, &split, gap);
  w->longest_after = split.after_call > w->longest_after ? split.after_call : w->longest_after;
  int rc = note_latency(w, gap, err);
  if (!rc && split.ns[NAI_IDLE_QUEUE_DRAINED])
    rc = note_drain(w, gap, split.ns[NAI_IDLE_QUEUE_DRAINED], err);
  return rc;
}

/* Once an operation was launched long before the GPU was done with what lies before it, a wait has no effect any more.
 * Looks at the operations from the one that ended gap `before` up to the one that ends gap `next`. */
static void see_who_leads(struct walk *w, const struct nai_idle_gap *before, const struct nai_idle_gap *next) {
  const struct nai_model *m = w->m;
  const struct nai_gpu *gpu = &m->gpus[next->gpu];
  int64_t busy_until = before->start;
  uint32_t end = next->op == NAI_NO_ROW ? gpu->op_count : next->op;
  if (next->start >= w->charge.until || before->op == NAI_NO_ROW) {
    w->charge.wait = NAI_NO_ROW;
    return;
  }
  for (uint32_t i = before->op; i < end; i++) {
    uint32_t launch = nai_model_op_api(m, &gpu->ops[i]);
    if (launch != NAI_NO_ROW && nai_at(&m->apis.end_ns, launch) + NAI_CPU_LEADS_NS <= busy_until) {
      w->charge.wait = NAI_NO_ROW;
      return;
    }
    int64_t until = nai_model_op_end(m, &gpu->ops[i]);
    busy_until = until > busy_until ? until : busy_until;
  }
}

/* All gaps once, with idle->latency_limit. */
static int take_gaps(struct walk *w, uint32_t gpu, struct nai_err *err) {
  struct nai_gpu_idle *idle = w->idle;
  *idle = (struct nai_gpu_idle){.cause = idle->cause,
                                .drains = idle->drains,
                                .drain_capacity = idle->drain_capacity,
                                .latency_limit = idle->latency_limit};
  nai_idle_shares_free(&w->shares);
  w->charge.wait = NAI_NO_ROW;
  w->latency_count = 0;
  int rc = NAI_OK;
  struct nai_idle_gap before = {.op = NAI_NO_ROW};
  for (struct nai_idle_gap gap = nai_idle_first(gpu); !rc && nai_idle_next(&gap, w->m); before = gap) {
    if (w->charge.wait != NAI_NO_ROW)
      see_who_leads(w, &before, &gap);
    rc = take_gap(w, &gap, err);
  }
  return rc || !w->shares.oom ? rc : nai_err_nomem(err);
}

static int split_gpu(void *ctx, int index, struct nai_err *err) {
  struct nai_model *m = ctx;
  struct nai_gpu_idle *idle = &m->idle[index];
  struct walk w = {.m = m, .idle = idle};
  idle->latency_limit = NAI_LAUNCH_LATENCY_NS;
  idle->cause = malloc(m->gpus[index].all.count + 1);
  int rc = idle->cause ? take_gaps(&w, (uint32_t)index, err) : nai_err_nomem(err);
  /* Where even the fastest launches take long, more of the time after a call is launch latency. */
  double limit = rc ? 0 : 2 * nai_launch_floor(w.latencies, w.latency_count);
  if (!rc && limit > NAI_LAUNCH_LATENCY_NS && w.longest_after > NAI_LAUNCH_LATENCY_NS) {
    idle->latency_limit = (int64_t)limit;
    rc = take_gaps(&w, (uint32_t)index, err);
  }
  for (int c = 0; !rc && c < NAI_IDLE_CAUSES; c++)
    idle->what[c] = nai_idle_largest(&w.shares, (enum nai_idle_cause)c);
  nai_idle_shares_free(&w.shares);
  free(w.latencies);
  return rc;
}

static int begin_idle(void *ctx, int task, struct nai_err *err) {
  (void)task;
  struct nai_model *m = ctx;
  m->idle = calloc((size_t)m->gpu_count + 1, sizeof *m->idle);
  return m->idle ? NAI_OK : nai_err_nomem(err);
}

static int gpu_count(const struct nai_model *m) { return (int)m->gpu_count; }

static void free_idle(struct nai_model *m) {
  for (uint32_t g = 0; m->idle && g < m->gpu_count; g++) {
    free(m->idle[g].cause);
    free(m->idle[g].drains);
  }
  free(m->idle);
}

/* A byte per gap, and up to 32 for gaps that the host is late in, which are few. */
static int64_t idle_bytes(const struct nai_model *m) { return ((int64_t)m->kernels.n + m->memops.n + m->graphs.n) * 8; }

const struct nai_part_def nai_part_idle = {.name = "idle gaps",
                                           .needs = NAI_PART(GPUS) | NAI_PART(EVIDENCE),
                                           .tables = NAI_IN(KERNELS) | NAI_IN(MEMOPS) | NAI_IN(GRAPHS) | NAI_IN(APIS) |
                                                     NAI_IN(OVERHEAD),
                                           .begin = begin_idle,
                                           .tasks = gpu_count,
                                           .task = split_gpu,
                                           .free = free_idle,
                                           .bytes = idle_bytes};
