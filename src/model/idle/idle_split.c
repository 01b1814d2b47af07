/* Cuts one idle gap into causes: before the call that launched what ends it, inside that call, and after it. */
#include "model/idle/idle_split.h"

#include "model/build.h"

struct splitter {
  struct nai_idle_split *split;
  struct nai_idle_shares *shares;
  struct nai_intervals *host;
  struct nai_idle_charge *charge;
  const struct nai_model *m;
  const struct nai_idle_gap *gap;
  const struct nai_interval *within;
  uint32_t thread;
  int64_t latency_limit;
  bool charged;  /* the wait is, with time in which the thread was late */
  uint32_t load; /* call in the gap that loads code, before which own code makes it; NAI_NO_ROW for none */
  struct nai_moment *at;
};

struct piece {
  enum nai_idle_cause cause;
  enum nai_idle_source source;
  uint32_t id;
  int64_t start, end;
  bool launching; /* in a call that launched something */
  uint32_t call;  /* 1 + row of the call that takes the time, 0 for none */
};

static int64_t clamp(int64_t t, int64_t low, int64_t high) { return t < low ? low : t < high ? t : high; }

static void add_part(struct splitter *s, const struct piece *p) {
  int64_t start = s->within && s->within->start > p->start ? s->within->start : p->start;
  int64_t end = s->within && s->within->end < p->end ? s->within->end : p->end, ns = end - start;
  if (ns <= 0)
    return;
  s->split->ns[p->cause] += ns;
  if (s->shares && s->shares->by_call && p->call)
    nai_idle_share(s->shares, p->cause, NAI_CULPRIT_WAIT, p->call - 1, ns);
  else if (s->shares && !s->shares->by_call && p->source != NAI_CULPRIT_NOTHING)
    nai_idle_share(s->shares, p->cause, p->source, p->id, ns);
  if (p->cause == NAI_IDLE_HOST_CODE && s->host)
    nai_intervals_add(s->host, start, end);
}

/* The host functions that a piece may be due to: of the stream of what follows, of any where that waits for another, of
 * those that a call waits for. */
static bool host_scope_of(struct nai_host_scope *scope, const struct splitter *s, const struct piece *p) {
  if (p->cause == NAI_IDLE_BLOCKING_CALL)
    return nai_host_scope_of_wait(scope, s->m, p->call - 1);
  if (p->call ||
      (p->cause != NAI_IDLE_LAUNCH_LATENCY && p->cause != NAI_IDLE_DEPENDENCY && p->cause != NAI_IDLE_UNKNOWN))
    return false;
  const struct nai_op *next = &s->m->gpus[s->gap->gpu].ops[s->gap->op];
  *scope = (struct nai_host_scope){.process = nai_model_op_process(s->m, next),
                                   .context = nai_model_op_context(s->m, next),
                                   .stream = nai_model_op_stream(s->m, next),
                                   .any_stream = p->cause == NAI_IDLE_DEPENDENCY,
                                   .ended_by = s->gap->end};
  return scope->process >= 0;
}

/* What is left of a piece beside host functions; after a call, little of it is launch latency. */
static void add_rest(struct splitter *s, const struct piece *p, int64_t start, int64_t end) {
  struct piece rest = *p;
  rest.start = start;
  rest.end = end;
  if (p->cause != NAI_IDLE_BLOCKING_CALL && end - start <= s->latency_limit) {
    rest.cause = NAI_IDLE_LAUNCH_LATENCY;
    rest.source = NAI_CULPRIT_NOTHING;
  }
  add_part(s, &rest);
}

/* What of a piece a stream's host functions take is theirs. */
static void add_beside(struct splitter *s, const struct piece *p, const struct nai_host_functions *host) {
  struct nai_host_scope scope;
  struct piece held = {.cause = NAI_IDLE_HOST_FUNCTION, .source = NAI_CULPRIT_HOST};
  struct nai_interval at;
  int64_t from = p->start;
  if (s->gap->op != NAI_NO_ROW && host_scope_of(&scope, s, p))
    while (from < p->end && nai_host_function_within(&at, &held.id, host, &scope, from, p->end)) {
      held.start = at.start;
      held.end = at.end;
      add_rest(s, p, from, at.start);
      add_part(s, &held);
      from = at.end;
    }
  if (from == p->start)
    add_part(s, p);
  else
    add_rest(s, p, from, p->end);
}

static inline void add(struct splitter *s, const struct piece *p) {
  const struct nai_host_functions *host = s->m->evidence->host;
  if (p->start >= p->end)
    return;
  if (host)
    add_beside(s, p, host);
  else
    add_part(s, p);
}

/* Time in which the host was late is the wait's as long as launches follow each other. A launch call that does not come
 * back is no matter of the wait's, and neither is long code of its own. */
static bool is_of_wait(const struct splitter *s, const struct piece *late) {
  bool short_code = late->cause == NAI_IDLE_HOST_CODE && late->end - late->start <= NAI_OWN_CODE_NS;
  return s->charged && !late->launching && (short_code || late->cause == NAI_IDLE_CUDA_CALL);
}

static void add_late(struct splitter *s, const struct piece *late) {
  if (!is_of_wait(s, late)) {
    add(s, late);
    return;
  }
  struct piece drained = *late, after = *late;
  drained.cause = NAI_IDLE_QUEUE_DRAINED;
  drained.source = NAI_CULPRIT_NOTHING; /* the wait, which drains[] tell */
  drained.call = 1 + s->charge->wait;
  drained.end = clamp(drained.start + s->charge->left, drained.start, drained.end);
  after.start = drained.end;
  s->charge->left -= drained.end - drained.start;
  add(s, &drained);
  add(s, &after);
}

/* The cause of evidence, and what it is called. */
static struct piece piece_of(const struct splitter *s, enum nai_layer layer) {
  static const enum nai_idle_cause causes[NAI_LAYERS] = {
      [NAI_LAYER_PROFILER] = NAI_IDLE_PROFILER,     [NAI_LAYER_FLUSH] = NAI_IDLE_PROFILER,
      [NAI_LAYER_LOADING] = NAI_IDLE_MODULE_LOAD,   [NAI_LAYER_WAIT] = NAI_IDLE_BLOCKING_CALL,
      [NAI_LAYER_ALLOCATION] = NAI_IDLE_ALLOCATION, [NAI_LAYER_MODULE] = NAI_IDLE_MODULE_LOAD,
      [NAI_LAYER_OTHER] = NAI_IDLE_CUDA_CALL};
  uint32_t row = s->at->row[layer];
  if (layer >= NAI_LAYER_WAIT)
    return (struct piece){.cause = causes[layer],
                          .source = NAI_CULPRIT_API,
                          .id = nai_val_text(&s->m->apis.name, row),
                          .launching = s->m->api_owns[row] != 0,
                          .call = 1 + row};
  return (struct piece){
      .cause = causes[layer], .source = NAI_CULPRIT_OVERHEAD, .id = nai_at_text(&s->m->evidence->overheads.name, row)};
}

/* Own code before a call that loads code compiles, links or reads that: first use, whose call alone is short. */
static struct piece own_code(const struct splitter *s, int64_t t) {
  if (s->load == NAI_NO_ROW || t >= nai_val(&s->m->apis.start_ns, s->load))
    return (struct piece){.cause = NAI_IDLE_HOST_CODE};
  return (struct piece){.cause = NAI_IDLE_MODULE_LOAD,
                        .source = NAI_CULPRIT_API,
                        .id = nai_val_text(&s->m->apis.name, s->load),
                        .call = 1 + s->load};
}

/* [start, end) of the thread, by the first of `layers` that is there; where none is, `otherwise`, NULL for code of its
 * own. */
static void sweep(struct splitter *s, int64_t start, int64_t end, int layers, const struct piece *otherwise) {
  for (int64_t t = start, next; t < end; t = next) {
    nai_moment_move(s->at, t);
    int layer = 0;
    while (layer < layers && s->at->until[layer] <= t)
      layer++;
    struct piece piece = layer < layers ? piece_of(s, (enum nai_layer)layer) : otherwise ? *otherwise : own_code(s, t);
    next = nai_moment_next(s->at);
    next = layer < layers && s->at->until[layer] < next ? s->at->until[layer] : next;
    next = next < end ? next : end;
    piece.start = t;
    piece.end = next;
    add_late(s, &piece);
  }
}

/* The last call that loads code, of the 16 before the launch and within the gap, at whose start the moment is;
 * NAI_NO_ROW for none. */
static uint32_t last_load(const struct splitter *s) {
  enum { FARTHEST = 16 };
  const struct nai_model *m = s->m;
  const struct nai_groups *calls = &m->api_by_thread;
  const int64_t launched = nai_val(&m->apis.start_ns, s->gap->launch);
  uint32_t first = calls->first[s->thread], place = s->at->call;
  while (place < s->at->call_end && nai_val(&m->apis.start_ns, calls->order[place]) < launched)
    place++;
  for (int i = 0; i < FARTHEST && place-- > first; i++) {
    uint32_t call = calls->order[place];
    if (nai_val(&m->apis.start_ns, call) < s->gap->start)
      break;
    if (m->api_class[nai_val_text(&m->apis.name, call)] == NAI_API_MODULE &&
        nai_name_matches(nai_model_api_name(m, call), NAI_BEGINS,
                         NAI_WORDS("cuModuleLoad", "cuLibraryLoad", "cudaLibraryLoad", "cuLink")))
      return call;
  }
  return NAI_NO_ROW;
}

/* A wait that began before the gap and ended with it, and after which the thread launched what ends the gap, left the
 * GPU without work. */
static void find_charge(struct splitter *s, int64_t launched) {
  int64_t end = s->at->until[NAI_LAYER_WAIT];
  if (end == INT64_MIN || end < s->gap->start - NAI_CLOCK_TOLERANCE_NS || end > launched)
    return;
  uint32_t wait = s->at->row[NAI_LAYER_WAIT];
  *s->charge = nai_idle_charge_to(s->m, wait, nai_call_ns(s->m, wait));
}

/* A thread that launched nothing for long after its wait was busy with something else: no part of that is the wait's,
 * or one stretch of host code would have two causes. */
static bool is_charged(const struct splitter *s, int64_t launched) {
  return s->charge->wait != NAI_NO_ROW && s->charge->thread == s->thread && launched <= s->charge->until;
}

static struct piece inside_call(const struct nai_model *m, uint32_t launch) {
  uint32_t name = nai_val_text(&m->apis.name, launch);
  enum nai_idle_cause cause = m->api_class[name] == NAI_API_ALLOCATION ? NAI_IDLE_ALLOCATION
                            : m->api_class[name] == NAI_API_MODULE     ? NAI_IDLE_MODULE_LOAD
                                                                       : NAI_IDLE_IN_LAUNCH_CALL;
  return (struct piece){.cause = cause, .source = NAI_CULPRIT_API, .id = name, .call = 1 + launch};
}

/* The call right before a launch, other launches apart, that makes a stream wait for an event; NAI_NO_ROW for none. */
static uint32_t ordered_by(const struct nai_model *m, uint32_t thread, uint32_t launch) {
  enum { FARTHEST = 16 };
  const struct nai_groups *calls = &m->api_by_thread;
  uint32_t first = calls->first[thread], place = nai_rows_from(calls->order, first, calls->first[thread + 1],
                                                               &m->apis.start_ns, nai_val(&m->apis.start_ns, launch));
  for (int i = 0; i < FARTHEST && place-- > first; i++) {
    uint32_t call = calls->order[place];
    if (m->api_class[nai_val_text(&m->apis.name, call)] == NAI_API_ORDERING)
      return call;
    if (m->api_owns[call])
      break;
  }
  return NAI_NO_ROW;
}

static struct piece after_call(const struct splitter *s, int64_t start) {
  struct piece p = {.cause = NAI_IDLE_LAUNCH_LATENCY, .start = start, .end = s->gap->end};
  if (s->gap->end - start <= s->latency_limit)
    return p;
  uint32_t order = ordered_by(s->m, s->thread, s->gap->launch);
  p.cause = order == NAI_NO_ROW ? NAI_IDLE_UNKNOWN : NAI_IDLE_DEPENDENCY;
  p.source = order == NAI_NO_ROW ? NAI_CULPRIT_REMARK : NAI_CULPRIT_API;
  p.id = order == NAI_NO_ROW ? NAI_REMARK_AFTER_CALL : nai_val_text(&s->m->apis.name, order);
  return p;
}

/* The kind of a page migration, 0 of other operations. */
static uint32_t migration_kind(const struct nai_model *m, const struct nai_op *op) {
  int32_t kind = op->type == NAI_OP_COPY ? nai_at_i32(&m->memops.copy_kind, op->row) : 0;
  return kind >= 11 && kind <= 13 ? (uint32_t)kind : 0;
}

static struct piece without_launch(const struct nai_model *m, const struct nai_idle_gap *gap) {
  struct piece p = {NAI_IDLE_UNKNOWN, NAI_CULPRIT_REMARK, NAI_REMARK_NO_LAUNCH, gap->start, gap->end, false, 0};
  if (gap->op == NAI_NO_ROW) {
    p.id = NAI_REMARK_NO_OPERATION;
    return p;
  }
  uint32_t kind = migration_kind(m, &m->gpus[gap->gpu].ops[gap->op]);
  if (kind) {
    p.cause = NAI_IDLE_PAGE_MIGRATION;
    p.source = NAI_CULPRIT_COPY;
    p.id = kind;
  }
  return p;
}

/* Whether a thread has overhead of any kind. */
static bool has_overhead(const struct nai_model *m, uint32_t thread) {
  const struct nai_evidence *e = m->evidence;
  int32_t process = m->thread_process[thread];
  return e->profiler[thread].count || e->loading[thread].count || (process >= 0 && e->flush[process].count);
}

/* A gap with a launch: before that call, inside it, and after it. */
static struct nai_interval place_call(struct nai_idle_split *split, const struct nai_model *m,
                                      const struct nai_idle_gap *gap) {
  int64_t begin = clamp(nai_val(&m->apis.start_ns, gap->launch), gap->start, gap->end),
          end = clamp(nai_val(&m->apis.end_ns, gap->launch), begin, gap->end);
  split->before_call = begin - gap->start;
  split->in_call = end - begin;
  split->after_call = gap->end - end;
  return (struct nai_interval){begin, end};
}

void nai_idle_split(struct nai_idle_split *split, struct nai_idle_shares *shares, struct nai_intervals *host,
                    struct nai_idle_charge *charge, struct nai_moment *at, const struct nai_model *m,
                    const struct nai_idle_gap *gap, int64_t latency_limit, const struct nai_interval *within) {
  struct splitter s = {.split = split,
                       .shares = shares,
                       .host = host,
                       .charge = charge,
                       .at = at,
                       .m = m,
                       .gap = gap,
                       .within = within,
                       .latency_limit = latency_limit};
  *split = (struct nai_idle_split){0};
  if (gap->launch == NAI_NO_ROW) {
    struct piece all = without_launch(m, gap);
    add(&s, &all);
    return;
  }
  s.thread = nai_val_text(&m->apis.thread, gap->launch);
  struct nai_interval call = place_call(split, m, gap);
  int64_t called = nai_val(&m->apis.start_ns, gap->launch), begin = call.start, end = call.end;
  struct piece in_call = inside_call(m, gap->launch);
  if (begin > gap->start || (end > begin && has_overhead(m, s.thread))) {
    nai_moment_find(s.at, m, s.thread, gap->start);
    if (begin > gap->start)
      find_charge(&s, called);
    s.charged = is_charged(&s, called);
    s.load = begin > gap->start ? last_load(&s) : NAI_NO_ROW;
    sweep(&s, gap->start, begin, NAI_LAYERS, NULL);
    sweep(&s, begin, end, NAI_LAYER_WAIT, &in_call);
  } else {
    in_call.start = begin;
    in_call.end = end;
    add(&s, &in_call);
  }
  struct piece after = after_call(&s, end);
  add(&s, &after);
}

/* As the part IDLE did: with what was left of the charge when the gap began. */
static void split_again(struct nai_idle_split *split, struct nai_idle_shares *shares, struct nai_intervals *host,
                        const struct nai_model *m, const struct nai_idle_gap *gap, const struct nai_interval *within) {
  const struct nai_idle_drain *drain = nai_idle_drain_of(m, gap);
  struct nai_idle_charge charge = {.wait = NAI_NO_ROW};
  struct nai_moment at;
  at.model = NULL;
  if (drain)
    charge = nai_idle_charge_to(m, drain->wait, drain->left);
  nai_idle_split(split, shares, host, &charge, &at, m, gap, m->idle[gap->gpu].latency_limit, within);
}

/* The causes alone, as the part IDLE kept them. */
static void recall_split(struct nai_idle_split *split, const struct nai_model *m, const struct nai_idle_gap *gap) {
  const struct nai_gpu_idle *idle = &m->idle[gap->gpu];
  *split = (struct nai_idle_split){0};
  if (gap->launch != NAI_NO_ROW)
    place_call(split, m, gap);
  for (uint32_t i = idle->first_piece[gap->number]; i < idle->first_piece[gap->number + 1]; i++)
    split->ns[idle->pieces[i].cause] = idle->pieces[i].ns;
}

int nai_idle_split_parts(struct nai_idle_split *split, struct nai_idle_shares *shares, struct nai_intervals *host,
                         const struct nai_model *m, const struct nai_idle_gap *gap, struct nai_err *err) {
  if (!shares && !host) {
    recall_split(split, m, gap);
    return NAI_OK;
  }
  split_again(split, shares, host, m, gap, NULL);
  return (shares && shares->oom) || (host && host->oom) ? nai_err_nomem(err) : NAI_OK;
}

void nai_idle_split_within(int64_t ns[NAI_IDLE_CAUSES], struct nai_interval within, const struct nai_model *m,
                           const struct nai_idle_gap *gap) {
  struct nai_idle_split split;
  split_again(&split, NULL, NULL, m, gap, &within);
  for (int c = 0; c < NAI_IDLE_CAUSES; c++)
    ns[c] += split.ns[c];
}
