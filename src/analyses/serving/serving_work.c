/* What the steps of a rank did on its GPU, and how they follow each other. */
#include "analyses/serving/serving.h"
#include "base/sort.h"
#include "base/text.h"

/* --- own work ------------------------------------------------------------------------------------ */

struct tally {
  const struct serving_rank *rank;
  struct serving_step *v; /* per step of the process */
  uint8_t *called;        /* per API call: it has been counted */
  uint32_t near;
};

static int64_t graph_of(const struct nai_model *m, const struct nai_op *op) {
  int32_t exec = nai_at_i32(NAI_OP_COLUMN(m, op, graph_exec_id), op->row);
  return exec != NAI_NULL_I32 ? exec : nai_at_i32(NAI_OP_COLUMN(m, op, graph_id), op->row);
}

static bool launches_graph(const struct nai_model *m, uint32_t api) {
  const char *name = nai_model_api_name(m, api);
  return strncmp(name, "cudaGraphLaunch", 15) == 0 || strncmp(name, "cuGraphLaunch", 13) == 0;
}

static void add_call(struct serving_step *s, const struct tally *t, const struct nai_op *op, uint32_t api) {
  enum { KEY_BITS = 31 };
  if (t->called[api])
    return;
  t->called[api] = 1;
  s->launch_calls++;
  if (!launches_graph(t->rank->m, api))
    return;
  uint64_t before = s->graph_launches++ ? (uint64_t)s->graph_key : 0;
  s->graph_key = (int64_t)((before * 1000003 + (uint64_t)graph_of(t->rank->m, op)) & ((1U << KEY_BITS) - 1));
}

static int64_t added(int64_t *until, int64_t start, int64_t end) {
  int64_t from = start > *until ? start : *until;
  *until = end > *until ? end : *until;
  return end > from ? end - from : 0;
}

static void add_op(struct tally *t, const struct nai_op *op) {
  const struct nai_model *m = t->rank->m;
  uint32_t api = nai_model_op_api(m, op);
  int64_t start = op->start, end = op->end;
  if (api == NAI_NO_ROW && m->apis.n)
    return;
  uint32_t step = nai_step_at(t->rank->steps, api == NAI_NO_ROW ? start : nai_val(&m->apis.start_ns, api), &t->near);
  if (step == UINT32_MAX)
    return;
  struct serving_step *s = &t->v[step];
  if (!s->end) { /* operations come by start */
    s->start = start;
    s->until = s->comm_until = INT64_MIN;
  }
  s->end = end > s->end ? end : s->end;
  s->busy_ns += added(&s->until, start, end);
  s->comm_ns += op->communication ? added(&s->comm_until, start, end) : 0;
  s->kernels += op->type == NAI_OP_KERNEL;
  if (api != NAI_NO_ROW)
    add_call(s, t, op, api);
}

NAI_ORDER(by_start, struct serving_step, {a->start, b->start}, {a->step, b->step})

/* Steps without work here are left out. */
static int add_work(struct serving_rank *r, struct nai_arena *arena, struct nai_err *err) {
  NAI_SCOPED(nai_arena) scratch = NAI_ARENA(r->m->scratch_dir);
  const struct nai_gpu *gpu = &r->m->gpus[r->list->gpu];
  struct tally t = {.rank = r};
  NAI_TRY(NAI_NEW(t.called, &scratch, r->m->apis.n, err));
  NAI_TRY(NAI_NEW(t.v, arena, r->steps->count, err));
  for (uint32_t i = 0; i < gpu->op_count; i++)
    if (gpu->streams[gpu->ops[i].stream].process == (int32_t)r->list->process)
      add_op(&t, &gpu->ops[i]);
  for (uint32_t i = 0; i < r->steps->count; i++) {
    if (!t.v[i].end)
      continue;
    t.v[i].step = i;
    t.v[i].label = &r->steps->labels[i];
    t.v[r->count++] = t.v[i];
  }
  r->v = t.v;
  if (r->count)
    qsort(r->v, r->count, sizeof *r->v, by_start);
  return NAI_OK;
}

/* --- kinds --------------------------------------------------------------------------------------- */

/* Where the name does not tell and no new request comes in, a graph is what decoding replays. */
static void infer_kind(struct serving_step *s) {
  bool may = s->label->format == NAI_SERVING_SGLANG_LOOP ||
             (s->label->format == NAI_SERVING_VLLM_2025 && !s->label->context_requests);
  s->kind = s->label->kind;
  if (s->kind != NAI_SERVES_UNKNOWN || !may || !s->graph_launches)
    return;
  s->kind = NAI_SERVES_DECODE;
  s->inferred = true;
}

/* Tokens that each request of a decode step guesses ahead: what half of the steps say. */
static int64_t find_draft_tokens(const struct serving_rank *r, int64_t *room) {
  uint32_t n = 0, decode = 0, guessing = 0;
  for (uint32_t i = 0; i < r->count; i++) {
    const struct nai_serving_label *l = r->v[i].label;
    if (r->v[i].kind != NAI_SERVES_DECODE)
      continue;
    decode++;
    if (l->generation_requests > 0 && l->generation_tokens != NAI_NULL_I64)
      room[n++] = l->generation_tokens % l->generation_requests ? 0 : l->generation_tokens / l->generation_requests - 1;
  }
  if (!n)
    return NAI_NULL_I64;
  for (uint32_t i = 0; i < n; i++)
    guessing += room[i] > 0;
  int64_t usual = nai_median_i64(room, n);
  return guessing * 2 >= decode && usual > 0 ? usual : 0;
}

/* A request that was preempted computes its sequence again, among those that decode. */
static void find_recomputed(struct serving_rank *r) {
  enum { FEWEST_TOKENS = 64 };
  for (uint32_t i = 0; i < r->count && r->draft_tokens != NAI_NULL_I64; i++) {
    struct serving_step *s = &r->v[i];
    const struct nai_serving_label *l = s->label;
    if (l->generation_requests <= 0 || l->generation_tokens == NAI_NULL_I64 ||
        l->generation_tokens - (r->draft_tokens + 1) * l->generation_requests < FEWEST_TOKENS)
      continue;
    s->recompute = true;
    s->kind = NAI_SERVES_MIXED;
  }
}

/* --- states -------------------------------------------------------------------------------------- */

/* Whether threads of the process captured a graph in a step: captures[step]. */
static int find_captures(uint8_t **captures, const struct serving_rank *r, struct nai_arena *arena,
                         struct nai_err *err) {
  const char *const *calls =
      NAI_WORDS("cudaStreamBeginCapture", "cuStreamBeginCapture", "cudaGraphInstantiate", "cuGraphInstantiate");
  const struct nai_model *m = r->m;
  const struct nai_strings *names = &m->tables[NAI_IN_APIS]->strings;
  uint32_t near = 0;
  uint8_t *wanted;
  NAI_TRY(NAI_NEW(wanted, arena, names->count, err));
  NAI_TRY(NAI_NEW(*captures, arena, r->steps->count, err));
  for (uint32_t i = 0; i < names->count; i++)
    wanted[i] = nai_text_begins(nai_strings_get(names, i), calls);
  for (uint32_t api = 0; api < m->apis.n; api++) {
    if (!wanted[nai_val_text(&m->apis.name, api)] ||
        m->thread_process[nai_val_i32(&m->apis.thread, api)] != (int32_t)r->list->process)
      continue;
    uint32_t step = nai_step_at(r->steps, nai_val(&m->apis.start_ns, api), &near);
    if (step != UINT32_MAX)
      (*captures)[step] = 1;
  }
  return NAI_OK;
}

/* The usual busy time of the second half of the decode steps. */
static int64_t usual_busy(const struct serving_rank *r, int64_t *room) {
  uint32_t n = 0;
  for (uint32_t i = r->count / 2; i < r->count; i++)
    if (r->v[i].kind == NAI_SERVES_DECODE)
      room[n++] = r->v[i].busy_ns;
  return n ? nai_median_i64(room, n) : NAI_NULL_I64;
}

static int find_states(struct serving_rank *r, int64_t *room, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(r->m->scratch_dir);
  int64_t usual = usual_busy(r, room);
  uint8_t *captures;
  bool leading = usual != NAI_NULL_I64;
  NAI_TRY(find_captures(&captures, r, &arena, err));
  for (uint32_t i = 0; i < r->count; i++) {
    struct serving_step *s = &r->v[i];
    bool prepares = captures[s->step] || r->steps->v[s->step].loading_ns > 0;
    bool slow = leading && s->kind == NAI_SERVES_DECODE && (double)s->busy_ns > 1.5 * (double)usual;
    leading &= s->kind != NAI_SERVES_DECODE || slow;
    s->state = prepares || slow ? NAI_STEP_WARM_UP : NAI_STEP_STEADY;
    if (s->step + 1 == r->steps->count)
      s->state = NAI_STEP_TRUNCATED; /* its launches behind its range are not known to be its own */
  }
  return NAI_OK;
}

/* --- one after the other -------------------------------------------------------------------------- */

/* Idle time between steps that is too long for one. */
static int64_t longest_idle(const struct serving_rank *r, int64_t *room) {
  enum { FEWEST_NS = 10000000, PERIODS = 5 };
  uint32_t n = 0;
  for (uint32_t i = 0; i + 1 < r->count; i++)
    if (r->v[i].kind == NAI_SERVES_DECODE && r->v[i].state == NAI_STEP_STEADY)
      room[n++] = r->v[i + 1].start - r->v[i].start;
  int64_t usual = n ? nai_median_i64(room, n) : 0;
  return usual > FEWEST_NS / PERIODS ? usual * PERIODS : FEWEST_NS;
}

static void find_periods(struct serving_rank *r, int64_t *room) {
  int64_t longest = longest_idle(r, room), until = r->v[0].start;
  for (uint32_t i = 0; i < r->count; i++) {
    struct serving_step *s = &r->v[i];
    s->earlier_end = until;
    s->pause_before = s->start - until > longest;
    r->pauses += s->pause_before;
    r->pause_ns += s->pause_before ? s->start - until : 0;
    s->period_ns = NAI_NULL_I64;
    if (i && !s->pause_before)
      s[-1].period_ns = s->start - s[-1].start;
    until = s->end > until ? s->end : until;
  }
}

static void find_intervals(struct serving_rank *r) {
  uint32_t last = UINT32_MAX; /* with requests that decode, since the last pause */
  for (uint32_t i = 0; i < r->count; i++) {
    struct serving_step *s = &r->v[i];
    last = s->pause_before ? UINT32_MAX : last;
    s->interval_ns = NAI_NULL_I64;
    if (!serving_generates(s))
      continue;
    if (last != UINT32_MAX)
      s->interval_ns = s->end - r->v[last].end;
    s->since = last;
    last = i;
  }
}

int nai_serving_rank_fill(struct serving_rank *r, struct nai_arena *arena, struct nai_err *err) {
  int64_t *room;
  NAI_TRY(add_work(r, arena, err));
  if (!r->count)
    return NAI_OK;
  NAI_TRY(NAI_NEW(room, arena, r->count, err));
  for (uint32_t i = 0; i < r->count; i++) {
    infer_kind(&r->v[i]);
    r->counts |= r->v[i].label->generation_requests != NAI_NULL_I64;
  }
  r->draft_tokens = find_draft_tokens(r, room);
  find_recomputed(r);
  NAI_TRY(find_states(r, room, err));
  find_periods(r, room);
  find_intervals(r);
  return NAI_OK;
}
