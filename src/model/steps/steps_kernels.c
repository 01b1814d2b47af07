/* Steps by what the busiest stream repeats, and what it repeats without being steps. */
#include "model/steps/steps_periods.h"

#include "base/array.h"
#include "base/sort.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    nai_step_canonical(out, nai_strings_get(&m->tables[NAI_IN_NVTX]->strings, chain[depth]->name));
    nai_buf_puts(out, depth ? " > " : "");
  }
}

/* Path and level of a unit, from the launches of one repetition in the middle: the first that tells a level, else the
 * first that has a path. */
static int describe(struct nai_repeating_unit *u, const struct nai_model *m, const struct nai_step_sequence *q,
                    const struct nai_step_period *p, struct nai_err *err) {
  uint32_t middle = (p->count - 1) / 2, from = nai_step_occurrence(q, p->marker, middle);
  uint32_t to = middle + 1 < p->count ? nai_step_occurrence(q, p->marker, middle + 1) : q->count;
  struct nai_buf path = {0};
  int rc = NAI_OK;
  u->level = "unknown";
  for (uint32_t i = from; !rc && i < to && strcmp(u->level, "unknown") == 0; i++) {
    uint32_t api = nai_model_op_api(m, &m->gpus[q->gpu].ops[q->op[i]]);
    if (api == NAI_NO_ROW)
      continue;
    print_path(&path, m, api);
    const char *level = level_of(nai_buf_str(&path));
    if (path.len && (level || !u->path)) {
      struct nai_buf cut = {0};
      nai_text_cut(&cut, nai_buf_str(&path), path.len, PATH_CHARS);
      free(u->path);
      u->path = cut.oom ? NULL : strdup(nai_buf_str(&cut));
      nai_buf_free(&cut);
      rc = u->path ? NAI_OK : nai_err_nomem(err);
    }
    u->level = level ? level : u->level;
  }
  if (!rc && path.oom)
    rc = nai_err_nomem(err);
  nai_buf_free(&path);
  return rc;
}

/* How long from one repetition to the next. */
static int measure(struct nai_repeating_unit *u, const struct nai_model *m, const struct nai_step_sequence *q,
                   const struct nai_step_period *p, struct nai_err *err) {
  uint32_t full = p->count - 1;
  const struct nai_op *ops = m->gpus[q->gpu].ops;
  int64_t *ns = malloc((size_t)full * sizeof *ns);
  double sum = 0, squares = 0;
  if (!ns)
    return nai_err_nomem(err);
  for (uint32_t r = 0; r < full; r++) {
    ns[r] = nai_model_op_start(m, &ops[q->op[nai_step_occurrence(q, p->marker, r + 1)]]) -
            nai_model_op_start(m, &ops[q->op[nai_step_occurrence(q, p->marker, r)]]);
    sum += (double)ns[r];
  }
  for (uint32_t r = 0; r < full; r++)
    squares += ((double)ns[r] - sum / full) * ((double)ns[r] - sum / full);
  u->cv_pct = full > 1 && sum > 0 ? 100 * sqrt(squares / (full - 1)) / (sum / full) : NAN;
  nai_select_i64(ns, full, (full - 1) / 2);
  u->median_ns = ns[(full - 1) / 2];
  free(ns);
  uint32_t last = nai_step_occurrence(q, p->marker, full) + p->length - 1;
  last = last < q->count ? last : q->count - 1;
  u->start = nai_model_op_start(m, &ops[q->op[nai_step_occurrence(q, p->marker, 0)]]);
  u->end = nai_model_op_end(m, &ops[q->op[last]]);
  return NAI_OK;
}

static int add_unit(const struct nai_step_search *s, const struct nai_step_sequence *q, const struct nai_step_period *p,
                    struct nai_err *err) {
  struct nai_steps *steps = s->found;
  if (!nai_array_room(&steps->units, &steps->unit_capacity, steps->unit_count, sizeof *steps->units))
    return nai_err_nomem(err);
  struct nai_repeating_unit *u = &steps->units[steps->unit_count++];
  const struct nai_op *marker = &s->m->gpus[q->gpu].ops[q->op[nai_step_occurrence(q, p->marker, 0)]];
  *u = (struct nai_repeating_unit){.process = s->process,
                                   .gpu = q->gpu,
                                   .context = s->m->gpus[q->gpu].streams[q->stream].context,
                                   .stream = s->m->gpus[q->gpu].streams[q->stream].id,
                                   .kernels = p->length,
                                   .count = p->count,
                                   .match_pct = p->like_pct,
                                   .marker = marker->type == NAI_OP_KERNEL ? marker->row : NAI_NO_ROW};
  int rc = describe(u, s->m, q, p, err);
  return rc ? rc : measure(u, s->m, q, p, err);
}

/* --- steps ------------------------------------------------------------------------------------ */

static int take_steps(struct nai_step_search *s, const struct nai_step_evidence *e, const struct nai_step_period *p,
                      struct nai_err *err) {
  struct nai_process_steps *out = s->out;
  out->v = calloc((size_t)e->count + 1, sizeof *out->v);
  out->name = strdup(e->name);
  if (!out->v || !out->name)
    return nai_err_nomem(err);
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

/* Looks for evidence, from the largest period on; units without it are listed. */
static int judge(struct nai_step_search *s, const struct nai_step_sequence *q, const struct nai_step_period *periods,
                 uint32_t count, struct nai_err *err) {
  uint32_t first = s->found->unit_count;
  int rc = NAI_OK;
  for (uint32_t i = 0; !rc && i < count && s->found->unit_count - first < MAX_UNITS; i++) {
    const struct nai_step_period *p = &periods[i];
    if (p->alike_pct < UNITS_ALIKE || p->share_pct < UNITS_SHARE)
      continue;
    rc = add_unit(s, q, p, err);
    const struct nai_repeating_unit *u = &s->found->units[s->found->unit_count - 1];
    if (rc || s->out->count || !may_be_steps(p) || s->m->step || strcmp(u->level, "unknown") != 0)
      continue;
    struct nai_step_evidence e;
    rc = nai_step_boundaries(&e, s, q, p, err);
    if (!rc && e.name) {
      rc = take_steps(s, &e, p, err);
      s->found->unit_count--; /* it is the step */
      free(s->found->units[s->found->unit_count].path);
    }
    free(e.starts);
  }
  return rc;
}

/* Whether so many repetitions are as many in every step, a lost one in twenty aside. */
static bool is_multiple(uint32_t count, uint32_t steps) {
  uint32_t each = (count + steps / 2) / steps;
  uint64_t lost = (uint64_t)llabs((int64_t)count - (int64_t)each * steps);
  return each > 1 && lost * 20 <= count;
}

/* Inside known steps: a unit of their length is the step itself, one that leaves some of a step out is a layer. */
static void place_units(const struct nai_step_search *s, uint32_t first) {
  struct nai_steps *steps = s->found;
  uint32_t kept = first;
  for (uint32_t i = first; i < steps->unit_count; i++) {
    struct nai_repeating_unit *u = &steps->units[i];
    if (s->out->count && (uint64_t)u->count * 10 <= (uint64_t)s->out->count * 11) {
      free(u->path);
      continue;
    }
    if (s->out->count && strcmp(u->level, "unknown") == 0 && is_multiple(u->count, s->out->count))
      u->level = "layer";
    steps->units[kept++] = *u;
  }
  steps->unit_count = kept;
}

static int explain(struct nai_step_search *s, const struct nai_repeating_unit *u, struct nai_err *err) {
  struct nai_buf why = {0};
  bool known = strcmp(u->level, "unknown") != 0;
  nai_buf_printf(&why, "repeating unit of %u kernels, %u times: %s%s%sno step boundary found", u->kernels, u->count,
                 known ? "probably a " : "", known ? u->level : "", known ? "; " : "");
  free(s->out->why);
  s->out->why = why.oom ? NULL : strdup(nai_buf_str(&why));
  nai_buf_free(&why);
  return s->out->why ? NAI_OK : nai_err_nomem(err);
}

int nai_steps_by_kernels(struct nai_step_search *s, struct nai_err *err) {
  struct nai_step_sequence q;
  struct nai_step_period periods[NAI_MAX_PERIODS];
  uint32_t count = 0, first = s->found->unit_count;
  int rc = nai_step_sequence_new(&q, s, err);
  if (!rc)
    rc = nai_step_periods(periods, &count, &q, err);
  if (!rc)
    rc = judge(s, &q, periods, count, err);
  place_units(s, first);
  if (!rc && !s->out->count && s->found->unit_count > first && !s->m->step)
    rc = explain(s, &s->found->units[first], err);
  nai_step_sequence_free(&q);
  return rc;
}
