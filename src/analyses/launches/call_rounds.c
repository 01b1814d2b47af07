/* What does the host repeat where kernels were launched but not recorded? Table call_rounds: rounds from the first
 * launch behind a wait to the next one. */
#include "analyses/analysis.h"
#include "model/calls/call_class.h"
#include "tables/call_rounds.h"

enum { MIN_ROUNDS = 20, MAX_STEPS = 12, MAX_SIGNATURES = 4096 };

enum part { PART_LAUNCH, PART_COPY, PART_ALLOCATION, PART_WAIT, PART_OTHER, PARTS };

static enum part part_of(enum nai_call_class class) {
  switch (class) {
  case NAI_CALL_CLASS_LAUNCH:
  case NAI_CALL_CLASS_GRAPH_LAUNCH:
    return PART_LAUNCH;
  case NAI_CALL_CLASS_COPY:
  case NAI_CALL_CLASS_BLOCKING_COPY:
    return PART_COPY;
  case NAI_CALL_CLASS_ALLOCATION:
  case NAI_CALL_CLASS_FREE:
    return PART_ALLOCATION;
  case NAI_CALL_CLASS_BLOCKING:
    return PART_WAIT;
  default:
    return PART_OTHER;
  }
}

/* One round, or the sum of many of one process with the same calls. */
struct round {
  int64_t count, launches, ns[PARTS], total, start, end;
};

static void add_round(struct round *sum, const struct round *round) {
  sum->start = sum->count && sum->start < round->start ? sum->start : round->start;
  sum->end = sum->end > round->end ? sum->end : round->end;
  sum->count++;
  sum->launches += round->launches;
  sum->total += round->total;
  for (int i = 0; i < PARTS; i++)
    sum->ns[i] += round->ns[i];
}

/* The rounds of one process; the current one. */
struct rounds {
  const struct nai_model *m;
  enum nai_call_class *class_of; /* per text of api_events */
  struct nai_arena *arena;
  struct nai_strings signatures;
  struct round *sums; /* per signature */
  uint32_t capacity;
  struct nai_buf calls; /* of the current round */
  uint32_t steps, last_text;
  struct round now;
  bool open, waited;
};
static void rounds_free(struct rounds *r) {
  nai_strings_free(&r->signatures);
  nai_buf_free(&r->calls);
}

/* Ends the current round at t. What has many steps is no round. */
static int close_round(struct rounds *r, int64_t t, struct nai_err *err) {
  const char *calls = nai_buf_str(&r->calls);
  bool known = nai_strings_find(&r->signatures, calls, r->calls.len) != NAI_NO_STRING;
  bool counts = r->open && r->waited && r->steps <= MAX_STEPS && (known || r->signatures.count < MAX_SIGNATURES);
  r->open = false;
  if (!counts)
    return nai_buf_check(&r->calls, err);
  uint32_t id = nai_strings_add(&r->signatures, calls, r->calls.len);
  NAI_TRY(nai_memory_check(id != NAI_NO_STRING, err));
  NAI_TRY(NAI_ROOM(r->sums, r->capacity, id, r->arena, err));
  if (!known)
    r->sums[id] = (struct round){0};
  r->now.end = t;
  r->now.total = t - r->now.start;
  add_round(&r->sums[id], &r->now);
  return nai_buf_check(&r->calls, err);
}

static void open_round(struct rounds *r, int64_t start) {
  nai_buf_clear(&r->calls);
  r->steps = 0;
  r->last_text = NAI_NO_STRING;
  r->now = (struct round){.start = start};
  r->open = true;
  r->waited = false;
}

static void add_call(struct rounds *r, uint32_t api) {
  uint32_t text = nai_val_text(&r->m->apis.name, api);
  enum nai_call_class class = r->class_of[text];
  r->now.ns[part_of(class)] += nai_call_ns(r->m, api);
  r->now.launches += part_of(class) == PART_LAUNCH;
  r->waited |= class == NAI_CALL_CLASS_BLOCKING || class == NAI_CALL_CLASS_BLOCKING_COPY;
  if (text == r->last_text)
    return;
  r->last_text = text;
  if (++r->steps <= MAX_STEPS)
    nai_buf_printf(&r->calls, "%s%s", r->calls.len ? ", " : "", nai_model_api_name(r->m, api));
}

/* The outermost calls of a thread, by start: a launch behind a wait begins a round. */
static int add_thread(struct rounds *r, uint32_t thread, struct nai_err *err) {
  const struct nai_groups *calls = &r->m->api_by_thread;
  int64_t until = INT64_MIN;
  r->open = false;
  for (uint32_t i = calls->first[thread]; i < calls->first[thread + 1]; i++) {
    uint32_t api = calls->order[i];
    int64_t start = nai_val(&r->m->apis.start_ns, api);
    if (start < until)
      continue;
    bool launches = part_of(r->class_of[nai_val_text(&r->m->apis.name, api)]) == PART_LAUNCH;
    if (launches && (!r->open || r->waited)) {
      NAI_TRY(close_round(r, start, err));
      open_round(r, start);
    }
    until = nai_val(&r->m->apis.end_ns, api);
    if (r->open)
      add_call(r, api);
  }
  return close_round(r, until, err);
}

/* --- rows --------------------------------------------------------------------------------------- */

/* Whether an event is recorded before and behind the launches of a round, the former at the end of the one before. */
static bool is_timed(const char *calls) {
  const char *first = strstr(calls, "EventRecord");
  return first && strstr(first + 1, "EventRecord");
}

static void put(struct nai_table *table, int64_t pid, const char *calls, const struct round *sum) {
  int64_t in_calls = 0;
  for (int i = 0; i < PARTS; i++)
    in_calls += sum->ns[i];
  NAI_ADD(CALL_ROUNDS, table, .pid = pid, .round_calls = calls, .kind = is_timed(calls) ? "timed" : "wait",
          .round_count = sum->count, .launch_count = sum->launches,
          .launches_per_round = (double)sum->launches / (double)sum->count, .total_time_ns = sum->total,
          .launch_ns = sum->ns[PART_LAUNCH], .copy_ns = sum->ns[PART_COPY], .allocation_ns = sum->ns[PART_ALLOCATION],
          .wait_ns = sum->ns[PART_WAIT], .other_calls_ns = sum->ns[PART_OTHER], .host_ns = sum->total - in_calls,
          .mean_launch_ns = (double)sum->ns[PART_LAUNCH] / (double)sum->launches, .start_ns = sum->start,
          .end_ns = sum->end);
}

static int add_process(const struct nai_node_io *io, struct rounds *r, uint32_t process, struct nai_err *err) {
  for (uint32_t t = 0; t < io->model->thread_count; t++)
    if (io->model->thread_process[t] == (int32_t)process)
      NAI_TRY(add_thread(r, t, err));
  for (uint32_t i = 0; i < r->signatures.count; i++)
    if (r->sums[i].count >= MIN_ROUNDS)
      put(io->out[0], nai_model_pid(io->model, (int32_t)process), nai_strings_get(&r->signatures, i), &r->sums[i]);
  return NAI_OK;
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_model *m = io->model;
  const struct nai_strings *texts = &m->tables[NAI_IN_APIS]->strings;
  enum nai_call_class *class_of;
  if (m->tables[NAI_IN_KERNELS]->rows || m->tables[NAI_IN_GRAPHS]->rows)
    return NAI_OK;
  NAI_TRY(NAI_NEW(class_of, io->arena, texts->count, err));
  for (uint32_t i = 0; i < texts->count; i++)
    class_of[i] = nai_call_class_of(nai_strings_get(texts, i));
  for (uint32_t p = 0; p < m->process_count; p++) {
    NAI_SCOPED(nai_arena) arena = NAI_ARENA(m->scratch_dir);
    NAI_SCOPED(rounds) r = {.m = m, .class_of = class_of, .arena = &arena};
    NAI_TRY(add_process(io, &r, p, err));
  }
  return NAI_OK;
}

NAI_ANALYSIS(call_rounds, .outputs = NAI_SCHEMAS(&nai_call_rounds_schema), .parts = NAI_PART(NAMES) | NAI_PART(CALLS),
             .tables = NAI_IN(APIS) | NAI_IN(KERNELS) | NAI_IN(GRAPHS) | NAI_IN(PROCESSES) | NAI_IN(THREADS),
             .run = run)
