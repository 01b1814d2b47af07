/* Steps by what the busiest stream repeats, and what it repeats without being steps. */
#include "model/steps/steps_periods.h"

#include "base/text.h"
#include "model/steps/step_stats.h"

enum {
  STEPS_ALIKE = 80, /* percent of repetitions, of a step */
  UNITS_ALIKE = 60, /* of any other unit */
  STEPS_SHARE = 50, /* percent of the stream's operations are between the first step's begin and the last one's */
  UNITS_SHARE = 10,
  MAX_UNITS = 4,
  MAX_DEPTH = 64,
  PATH_CHARS = 200
};

/* --- what a unit is --------------------------------------------------------------------------- */

/* Whether the name has the number of a layer: "layers.#", "block#", "h.#". */
static const char *level_of(const char *canonical) {
  static const char *const words[] = {"layer", "block", "encoder.#", "decoder.#", ".h.#", "stage"};
  if (strcasestr(canonical, "microbatch") || strcasestr(canonical, "micro_batch") ||
      strcasestr(canonical, "micro-batch"))
    return "microbatch";
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    const char *at = strcasestr(canonical, words[i]);
    if (at && strchr(at, '#'))
      return "layer";
  }
  return NULL;
}

/* The NVTX ranges around a launch, outermost first. */
static void print_path(struct nai_buf *out, const struct nai_model *m, uint32_t api) {
  const struct nai_nvtx_node *chain[MAX_DEPTH];
  int depth = 0;
  const struct nai_nvtx_node *node = m->node_count ? nai_model_call_node(m, api) : NULL;
  nai_buf_clear(out);
  for (; node && depth < MAX_DEPTH; node = node->parent == NAI_NO_ROW ? NULL : &m->nodes[node->parent])
    chain[depth++] = node;
  while (depth-- > 0) {
    nai_text_fold_digits(out, nai_strings_get(&m->tables[NAI_IN_NVTX]->strings, chain[depth]->name));
    nai_buf_puts(out, depth ? " > " : "");
  }
}

/* Where the repetitions of a unit begin in the sequence: at a marker, or at equal distances. */
struct repetitions {
  const struct nai_step_sequence *q;
  uint32_t marker, first, length, count;
  bool marked;
};

static uint32_t repetition_at(const struct repetitions *r, uint32_t i) {
  return r->marked ? nai_step_occurrence(r->q, r->marker, i) : r->first + i * r->length;
}

static int64_t start_of(const struct repetitions *r, const struct nai_model *m, uint32_t i) {
  return m->gpus[r->q->gpu].ops[r->q->op[repetition_at(r, i)]].start;
}

/* Path and level of a unit, from the launches of one repetition in the middle: the first that tells a level, else the
 * first that has a path. */
static int describe(struct nai_repeating_unit *u, struct nai_model *m, const struct repetitions *r,
                    struct nai_err *err) {
  const struct nai_step_sequence *q = r->q;
  uint32_t middle = (r->count - 1) / 2, from = repetition_at(r, middle);
  uint32_t to = middle + 1 < r->count ? repetition_at(r, middle + 1) : q->count;
  NAI_SCOPED(nai_buf) path = {0};
  u->level = NULL;
  for (uint32_t i = from; i < to && !u->level; i++) {
    uint32_t api = nai_model_op_api(m, &m->gpus[q->gpu].ops[q->op[i]]);
    if (api == NAI_NO_ROW)
      continue;
    print_path(&path, m, api);
    const char *level = level_of(nai_buf_str(&path));
    if (path.len && (level || !u->path)) {
      NAI_SCOPED(nai_buf) cut = {0};
      nai_text_cut(&cut, nai_buf_str(&path), path.len, PATH_CHARS);
      NAI_TRY(nai_step_keep(&u->path, m, &cut, err));
    }
    u->level = level ? level : u->level;
  }
  return nai_buf_check(&path, err);
}

/* How long from one repetition to the next. */
static int measure(struct nai_repeating_unit *u, const struct nai_model *m, const struct repetitions *r,
                   struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(m->scratch_dir);
  const struct nai_step_sequence *q = r->q;
  uint32_t full = r->count - 1, last = repetition_at(r, full) + r->length - 1;
  int64_t *ns;
  NAI_TRY(NAI_NEW(ns, &arena, full, err));
  for (uint32_t i = 0; i < full; i++)
    ns[i] = start_of(r, m, i + 1) - start_of(r, m, i);
  u->cv_pct = nai_step_cv_pct(ns, full);
  nai_select_i64(ns, full, (full - 1) / 2);
  u->median_ns = ns[(full - 1) / 2];
  last = last < q->count ? last : q->count - 1;
  u->start = start_of(r, m, 0);
  u->end = m->gpus[q->gpu].ops[q->op[last]].end;
  u->warm_start = start_of(r, m, full > 1 ? 1 : 0);
  u->last_start = start_of(r, m, full);
  u->between = full > 1 ? full - 1 : full;
  return NAI_OK;
}

static int add_repetitions(const struct nai_step_search *s, const struct repetitions *r, double match_pct,
                           struct nai_err *err) {
  struct nai_steps *steps = s->found;
  const struct nai_gpu *gpu = &s->m->gpus[r->q->gpu];
  NAI_TRY(NAI_ROOM(steps->units, steps->unit_capacity, steps->unit_count, &s->m->work->arenas[NAI_PART_STEPS], err));
  struct nai_repeating_unit *u = &steps->units[steps->unit_count++];
  const struct nai_op *marker = &gpu->ops[r->q->op[repetition_at(r, 0)]];
  *u = (struct nai_repeating_unit){.process = s->process,
                                   .gpu = r->q->gpu,
                                   .context = gpu->streams[r->q->stream].context,
                                   .stream = gpu->streams[r->q->stream].id,
                                   .kernels = r->length,
                                   .count = r->count,
                                   .match_pct = match_pct,
                                   .marker = marker->type == NAI_OP_KERNEL ? marker->row : NAI_NO_ROW};
  NAI_TRY(describe(u, s->m, r, err));
  return measure(u, s->m, r, err);
}

static int add_unit(const struct nai_step_search *s, const struct nai_step_sequence *q, const struct nai_step_period *p,
                    struct nai_err *err) {
  const struct repetitions r = {.q = q, .marker = p->marker, .length = p->length, .count = p->count, .marked = true};
  return add_repetitions(s, &r, p->like_pct, err);
}

/* Where no period is found: loops of a few kernels, each for itself. */
static int add_loops(const struct nai_step_search *s, const struct nai_step_sequence *q, struct nai_err *err) {
  struct nai_step_loop loops[MAX_UNITS];
  uint32_t count = nai_step_loops(loops, MAX_UNITS, q);
  for (uint32_t i = 0; i < count; i++) {
    const struct repetitions r = {.q = q, .first = loops[i].first, .length = loops[i].length, .count = loops[i].count};
    NAI_TRY(add_repetitions(s, &r, 100, err));
  }
  return NAI_OK;
}

/* --- steps ------------------------------------------------------------------------------------ */

static int take_steps(struct nai_step_search *s, const struct nai_step_evidence *e, const struct nai_step_period *p,
                      struct nai_err *err) {
  struct nai_process_steps *out = s->out;
  NAI_TRY(NAI_NEW(out->v, &s->m->arena, e->count, err));
  out->name = e->name;
  out->method = NAI_STEPS_KERNELS;
  out->confidence = e->confidence + (p->like_pct >= 95 ? 10 : 0);
  out->count = e->count;
  for (uint32_t i = 0; i < e->count; i++)
    out->v[i] = (struct nai_step){.start = e->starts[i],
                                  .end = i + 1 < e->count ? e->starts[i + 1] : e->end,
                                  .work_end = NAI_NULL_I64,
                                  .range = NAI_NO_ROW};
  return NAI_OK;
}

static bool may_be_steps(const struct nai_step_period *p) {
  return p->count > 2 && p->alike_pct >= STEPS_ALIKE && p->share_pct >= STEPS_SHARE;
}

/* Makes a unit the steps of the process if there is evidence that it is. */
static int seek_evidence(bool *found, struct nai_step_search *s, const struct nai_step_sequence *q,
                         const struct nai_step_period *p, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(s->m->scratch_dir);
  struct nai_step_evidence e;
  NAI_TRY(nai_step_boundaries(&e, s, q, p, &arena, err));
  *found = e.name != NULL;
  return e.name ? take_steps(s, &e, p, err) : NAI_OK;
}

/* Looks for evidence, from the largest period on; units without it are listed. */
static int judge(struct nai_step_search *s, const struct nai_step_sequence *q, const struct nai_step_period *periods,
                 uint32_t count, struct nai_err *err) {
  for (uint32_t i = 0; i < count && s->found->unit_count < MAX_UNITS; i++) {
    const struct nai_step_period *p = &periods[i];
    bool is_step = false;
    if (p->alike_pct < UNITS_ALIKE || p->share_pct < UNITS_SHARE)
      continue;
    NAI_TRY(add_unit(s, q, p, err));
    const struct nai_repeating_unit *u = &s->found->units[s->found->unit_count - 1];
    if (!s->out->count && may_be_steps(p) && !s->m->step && !u->level)
      NAI_TRY(seek_evidence(&is_step, s, q, p, err));
    s->found->unit_count -= is_step;
  }
  return NAI_OK;
}

/* Whether so many repetitions are as many in every step, a lost one in twenty aside. */
static bool is_multiple(uint32_t count, uint32_t steps) {
  uint32_t each = (count + steps / 2) / steps;
  uint64_t lost = (uint64_t)llabs((int64_t)count - (int64_t)each * steps);
  return each > 1 && lost * 20 <= count;
}

/* Inside known steps: a unit of their length is the step itself, one that leaves some of a step out is a layer. */
static void place_units(const struct nai_step_search *s) {
  struct nai_steps *steps = s->found;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < steps->unit_count; i++) {
    struct nai_repeating_unit *u = &steps->units[i];
    if (s->out->count && (uint64_t)u->count * 10 <= (uint64_t)s->out->count * 11)
      continue;
    if (s->out->count && !u->level && is_multiple(u->count, s->out->count))
      u->level = "layer";
    steps->units[kept++] = *u;
  }
  steps->unit_count = kept;
}

static int explain(struct nai_step_search *s, const struct nai_step_sequence *q, struct nai_err *err) {
  NAI_SCOPED(nai_buf) why = {0};
  const struct nai_repeating_unit *u = s->found->unit_count ? &s->found->units[0] : NULL;
  bool known = u && u->level;
  if (u)
    nai_buf_printf(&why, "repeating unit of %u kernel%s, %u times: %s%s%sno step boundary found", u->kernels,
                   u->kernels == 1 ? "" : "s", u->count, known ? "probably a " : "", known ? u->level : "",
                   known ? "; " : "");
  else
    nai_buf_printf(&why, "%u kernel%s of %u kind%s on the busiest stream, and no sequence of them repeats", q->count,
                   q->count == 1 ? "" : "s", q->token_count, q->token_count == 1 ? "" : "s");
  return nai_step_keep(&s->out->why, s->m, &why, err);
}

int nai_steps_by_kernels(struct nai_step_search *s, struct nai_err *err) {
  struct nai_step_sequence q;
  struct nai_step_period periods[NAI_MAX_PERIODS];
  uint32_t count;
  NAI_TRY(nai_step_sequence_find(&q, s, err));
  NAI_TRY(nai_step_periods(periods, &count, &q, err));
  NAI_TRY(judge(s, &q, periods, count, err));
  place_units(s);
  bool told = s->out->why && !s->found->unit_count; /* by ranges */
  if (!s->out->count && !s->found->unit_count)
    NAI_TRY(add_loops(s, &q, err));
  if (s->out->count || !q.count || s->m->step || told)
    return NAI_OK;
  return explain(s, &q, err);
}
