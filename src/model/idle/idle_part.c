/* The part IDLE: all gaps of each GPU, in order. */
#include "model/build.h"
#include "model/idle/idle_split.h"

struct walk {
  struct nai_model *m;
  struct nai_gpu_idle *idle;
  struct nai_idle_shares shares;
  struct nai_idle_charge charge;
  struct nai_moment at;
  struct nai_arena *arena;
  int64_t *latencies; /* negated, of launches that found the GPU idle */
  uint32_t latency_count, latency_capacity;
  int64_t longest_after; /* longest stretch of a gap after a call */
};

/* Whether the host is late with the launch that ends a gap, and has not led since the wait. */
static bool is_behind_wait(const struct walk *w, const struct nai_idle_gap *gap) {
  const struct nai_model *m = w->m;
  return w->charge.wait != NAI_NO_ROW && gap->launch != NAI_NO_ROW &&
         nai_val_text(&m->apis.thread, gap->launch) == w->charge.thread &&
         nai_val(&m->apis.start_ns, gap->launch) <= w->charge.until &&
         nai_val(&m->apis.end_ns, gap->launch) > gap->start;
}

static int note_drain(struct walk *w, const struct nai_idle_gap *gap, int64_t ns, struct nai_err *err) {
  struct nai_gpu_idle *idle = w->idle;
  NAI_TRY(NAI_ROOM(idle->drains, idle->drain_capacity, idle->drain_count, &w->m->arena, err));
  idle->drains[idle->drain_count++] = (struct nai_idle_drain){gap->number, w->charge.wait, w->charge.left + ns, ns};
  return NAI_OK;
}

static int note_latency(struct walk *w, const struct nai_idle_gap *gap, struct nai_err *err) {
  if (gap->launch == NAI_NO_ROW)
    return NAI_OK;
  int64_t called = nai_val(&w->m->apis.start_ns, gap->launch);
  if (called < gap->start || called > gap->end) /* the GPU was busy when it began; clocks disagree */
    return NAI_OK;
  NAI_TRY(NAI_ROOM(w->latencies, w->latency_capacity, w->latency_count, w->arena, err));
  w->latencies[w->latency_count++] = called - gap->end;
  return NAI_OK;
}

static void add_part(struct nai_gpu_idle *idle, enum nai_idle_cause cause, int64_t ns, const struct nai_idle_gap *gap) {
  idle->ns[cause] += ns;
  idle->parts[cause]++;
  if (ns > idle->longest_ns[cause]) {
    idle->longest_ns[cause] = ns;
    idle->longest[cause] = (struct nai_interval){gap->start, gap->end};
  }
}

/* Several analyses ask for the splits. */
static int keep_piece(struct walk *w, enum nai_idle_cause cause, int64_t ns, struct nai_err *err) {
  struct nai_gpu_idle *idle = w->idle;
  NAI_TRY(NAI_ROOM(idle->pieces, idle->piece_capacity, idle->piece_count, &w->m->arena, err));
  idle->pieces[idle->piece_count++] = (struct nai_idle_piece){ns, cause};
  return NAI_OK;
}

static int take_gap(struct walk *w, const struct nai_idle_gap *gap, struct nai_err *err) {
  struct nai_idle_split split;
  struct nai_gpu_idle *idle = w->idle;
  if (nai_idle_is_distance(w->m, gap, idle->latency_limit)) {
    add_part(idle, NAI_IDLE_LAUNCH_LATENCY, gap->end - gap->start, gap);
    idle->cause[gap->number] = NAI_IDLE_LAUNCH_LATENCY;
    return NAI_OK;
  }
  nai_idle_split(&split, &w->shares, NULL, &w->charge, &w->at, w->m, gap, idle->latency_limit, NULL);
  for (int c = 0; c < NAI_IDLE_CAUSES; c++)
    if (split.ns[c]) {
      add_part(idle, (enum nai_idle_cause)c, split.ns[c], gap);
      NAI_TRY(keep_piece(w, (enum nai_idle_cause)c, split.ns[c], err));
    }
  idle->cause[gap->number] = (uint8_t)nai_idle_largest_part(&split);
  w->longest_after = split.after_call > w->longest_after ? split.after_call : w->longest_after;
  if (split.ns[NAI_IDLE_QUEUE_DRAINED] || is_behind_wait(w, gap))
    NAI_TRY(note_drain(w, gap, split.ns[NAI_IDLE_QUEUE_DRAINED], err));
  return note_latency(w, gap, err);
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
    if (launch != NAI_NO_ROW && nai_val(&m->apis.end_ns, launch) + NAI_CPU_LEADS_NS <= busy_until) {
      w->charge.wait = NAI_NO_ROW;
      return;
    }
    int64_t until = gpu->ops[i].end;
    busy_until = until > busy_until ? until : busy_until;
  }
}

/* All gaps once, with idle->latency_limit. */
static int take_gaps(struct walk *w, uint32_t gpu, struct nai_err *err) {
  struct nai_gpu_idle *idle = w->idle;
  *idle = (struct nai_gpu_idle){.cause = idle->cause,
                                .drains = idle->drains,
                                .drain_capacity = idle->drain_capacity,
                                .pieces = idle->pieces,
                                .first_piece = idle->first_piece,
                                .piece_capacity = idle->piece_capacity,
                                .latency_limit = idle->latency_limit};
  nai_idle_shares_free(&w->shares);
  w->charge.wait = NAI_NO_ROW;
  w->latency_count = 0;
  struct nai_idle_gap before = {.op = NAI_NO_ROW};
  uint32_t number = 0;
  for (struct nai_idle_gap gap = nai_idle_first(gpu); nai_idle_next(&gap, w->m); before = gap) {
    if (w->charge.wait != NAI_NO_ROW)
      see_who_leads(w, &before, &gap);
    while (number <= gap.number)
      idle->first_piece[number++] = idle->piece_count;
    NAI_TRY(take_gap(w, &gap, err));
  }
  while (number <= w->m->gpus[gpu].all.count + 1)
    idle->first_piece[number++] = idle->piece_count;
  return w->shares.oom ? nai_err_nomem(err) : NAI_OK;
}

static void walk_free(struct walk *w) { nai_idle_shares_free(&w->shares); }

static int split_gpu(void *ctx, int index, struct nai_err *err) {
  struct nai_model *m = ctx;
  struct nai_gpu_idle *idle = &m->idle[index];
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(m->scratch_dir);
  NAI_SCOPED(walk) w = {.m = m, .idle = idle, .arena = &arena};
  idle->latency_limit = NAI_LAUNCH_LATENCY_NS;
  NAI_TRY(NAI_NEW(idle->cause, &m->arena, m->gpus[index].all.count + 1, err));
  NAI_TRY(NAI_NEW(idle->first_piece, &m->arena, m->gpus[index].all.count + 2, err));
  NAI_TRY(take_gaps(&w, (uint32_t)index, err));
  /* Where even the fastest launches take long, more of the time after a call is launch latency. */
  double limit = 2 * nai_launch_floor(w.latencies, w.latency_count);
  if (limit > NAI_LAUNCH_LATENCY_NS && w.longest_after > NAI_LAUNCH_LATENCY_NS) {
    idle->latency_limit = limit < NAI_SLOW_LATENCY_NS ? (int64_t)limit : NAI_SLOW_LATENCY_NS;
    NAI_TRY(take_gaps(&w, (uint32_t)index, err));
  }
  for (int c = 0; c < NAI_IDLE_CAUSES; c++)
    idle->what[c] = nai_idle_largest(&w.shares, (enum nai_idle_cause)c);
  return NAI_OK;
}

static int begin_idle(struct nai_model *m, struct nai_err *err) {
  return NAI_NEW(m->idle, &m->arena, m->gpu_count, err);
}

/* Five bytes per gap, and 30 to 80 for those that are more than a distance. */
static int64_t idle_bytes(const struct nai_model *m) {
  return ((int64_t)m->kernels.n + m->memops.n + m->graphs.n) * 16;
}

const struct nai_part_def nai_part_idle = {.name = "idle gaps",
                                           .needs = NAI_PART(GPUS) | NAI_PART(EVIDENCE),
                                           .tables = NAI_IN(KERNELS) | NAI_IN(MEMOPS) | NAI_IN(GRAPHS) | NAI_IN(APIS) |
                                                     NAI_IN(OVERHEAD),
                                           .begin = begin_idle,
                                           .tasks = nai_each_gpu,
                                           .task = split_gpu,
                                           .bytes = idle_bytes};
