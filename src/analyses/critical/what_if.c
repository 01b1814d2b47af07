/* What would the changes save that findings name? Tables what_if, what_if_plan. */
#include "analyses/analysis.h"
#include "model/critical/whatif.h"
#include "tables/findings.h"
#include "tables/what_if.h"
#include "tables/what_if_plan.h"

#include <math.h>
#include <string.h>

enum { CHANGES, PLAN };
/* More events would make every report wait for simulations that few ask for. */
enum { MAX_CHANGES = 8, MAX_EVENTS = 300000 };
static const char too_many[] = "over 300,000 calls and operations are simulated when nsys-ai whatif asks for it";

struct work {
  const struct nai_node_io *io;
  struct nai_whatif whatif;
  struct nai_change changes[MAX_CHANGES];
  int64_t finding[MAX_CHANGES]; /* row of findings */
  int64_t edited[MAX_CHANGES];
  uint32_t count;
};

static void work_free(struct work *w) {
  for (uint32_t i = 0; i < w->count; i++)
    nai_change_free(&w->changes[i]);
}

/* Findings of several GPUs may name the same change. */
static bool is_known(const struct work *w, const char *text) {
  for (uint32_t i = 0; i < w->count; i++)
    if (strcmp(w->changes[i].text, text) == 0)
      return true;
  return false;
}

static int read_change(struct work *w, int64_t row, struct nai_err *err) {
  const char *text = nai_get_str(w->io->in[0], row, FINDINGS_change);
  struct nai_change *change = &w->changes[w->count];
  if (!*text || w->count == MAX_CHANGES)
    return NAI_OK;
  int rc = nai_change_parse(change, text, w->io->arena, err);
  if (rc || is_known(w, change->text))
    nai_change_free(change);
  else
    w->finding[w->count++] = row;
  return rc == NAI_EUSAGE ? NAI_OK : rc; /* a rule that puts text of the trace into a pattern: that is none */
}

static bool is_small(const struct nai_model *m) {
  return (uint64_t)m->dependencies->call_count + m->dependencies->op_count <= MAX_EVENTS;
}

static const char *why_not(const struct work *w, const struct nai_change *change) {
  if (!is_small(w->io->model))
    return too_many;
  if (w->whatif.state >= NAI_PATH_NO_SAVINGS)
    return w->whatif.reason;
  return change->kind <= NAI_CHANGE_REMOVE_WAIT_AT ? w->whatif.waits_unknown : NULL;
}

static void put_result(struct WHAT_IF_row *row, const struct work *w, const struct nai_whatif_result *r) {
  double now = w->whatif.now_ns, likely = r->ns[NAI_CASE_LIKELY];
  row->after_ns = llround(likely);
  row->saving_low_ns = llround(now - r->ns[NAI_CASE_LOW]);
  row->saving_ns = llround(now - likely);
  row->saving_high_ns = llround(now - r->ns[NAI_CASE_HIGH]);
  row->saving_pct = nai_percent(now - likely, now);
  row->limited_by = nai_path_cause_name(r->limit);
  row->limited_by_pct = r->limit_pct;
  row->state = "ok";
  if (w->whatif.state == NAI_PATH_BOUND_ONLY) {
    row->state = "bound_only";
    row->reason = w->whatif.reason;
  } else if (now - likely < NAI_MODEL_ERROR * now) {
    row->state = "within_error";
    row->reason = "the saving is below the model's error";
  }
}

/* One change alone. *after: what it leaves, NaN where it may not be part of a plan. */
static int put_change(double *after, const struct work *w, uint32_t i, struct nai_err *err) {
  const struct nai_change *change = &w->changes[i];
  const struct nai_table *findings = w->io->in[0];
  const char *refused = why_not(w, change);
  struct nai_whatif_result result;
  struct WHAT_IF_row row =
      NAI_ROW(WHAT_IF, .what_if = i + 1, .finding = nai_get_i64(findings, w->finding[i], FINDINGS_finding),
              .rule = nai_get_str(findings, w->finding[i], FINDINGS_id), .change = change->text,
              .edited_count = w->edited[i], .scope = nai_path_scope_name(w->whatif.kind),
              .now_ns = is_small(w->io->model) ? llround(w->whatif.now_ns) : NAI_NULL_I64, .state = "refused",
              .reason = refused);
  *after = NAN;
  if (!refused && !w->edited[i])
    row.reason = "nothing in the graph is what the change is about";
  if (!refused && w->edited[i]) {
    NAI_TRY(nai_whatif_try(&result, &w->whatif, &change, 1, err));
    put_result(&row, w, &result);
    *after = result.ns[NAI_CASE_LIKELY];
  }
  WHAT_IF_add(w->io->out[CHANGES], &row);
  return NAI_OK;
}

static int put_plan(const struct work *w, const struct nai_change *changes, const uint32_t *numbers,
                    const double *alone, uint32_t count, struct nai_err *err) {
  const struct nai_table *findings = w->io->in[0];
  struct nai_plan_step *steps;
  uint32_t chosen;
  NAI_TRY(NAI_NEW(steps, w->io->arena, count, err));
  NAI_TRY(nai_whatif_plan(steps, &chosen, &w->whatif, changes, alone, count, err));
  if (!chosen) /* what_if says so of each */
    return NAI_OK;
  for (uint32_t i = 0; i < count; i++) {
    const struct nai_plan_step *s = &steps[i];
    uint32_t number = numbers[s->change];
    struct WHAT_IF_PLAN_row row =
        NAI_ROW(WHAT_IF_PLAN, .rank = i + 1, .what_if = number + 1,
                .finding = nai_get_i64(findings, w->finding[number], FINDINGS_finding),
                .title = nai_get_str(findings, w->finding[number], FINDINGS_title), .change = changes[s->change].text,
                .scope = nai_path_scope_name(w->whatif.kind), .alone_ns = llround(w->whatif.now_ns - s->alone_ns));
    if (s->chosen) {
      row.before_ns = llround(s->before_ns);
      row.after_ns = llround(s->after_ns);
      row.after_low_ns = llround(s->after.ns[NAI_CASE_LOW]);
      row.after_high_ns = llround(s->after.ns[NAI_CASE_HIGH]);
      row.saving_ns = row.before_ns - row.after_ns;
      row.cumulative_pct = nai_percent(w->whatif.now_ns - s->after_ns, w->whatif.now_ns);
      row.limited_by = nai_path_cause_name(s->after.limit);
      row.limited_by_pct = s->after.limit_pct;
    } else {
      row.note = "adds less than 1 % to the plan";
    }
    WHAT_IF_PLAN_add(w->io->out[PLAN], &row);
  }
  return NAI_OK;
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  NAI_SCOPED(work) w = {.io = io};
  struct nai_change simulated[MAX_CHANGES];
  double alone[MAX_CHANGES];
  uint32_t numbers[MAX_CHANGES], count = 0;
  for (int64_t row = 0; row < io->in[0]->rows; row++)
    NAI_TRY(read_change(&w, row, err));
  if (!w.count)
    return NAI_OK;
  if (is_small(io->model))
    NAI_TRY(nai_whatif_begin(&w.whatif, io->model, io->arena, err));
  for (uint32_t i = 0; i < w.count; i++) {
    if (is_small(io->model))
      NAI_TRY(nai_change_count(&w.edited[i], &w.whatif, &w.changes[i], err));
    NAI_TRY(put_change(&alone[count], &w, i, err));
    if (isnan(alone[count]))
      continue;
    numbers[count] = i;
    simulated[count++] = w.changes[i];
  }
  return count ? put_plan(&w, simulated, numbers, alone, count, err) : NAI_OK;
}

NAI_ANALYSIS(what_if, .outputs = NAI_SCHEMAS(&nai_what_if_schema, &nai_what_if_plan_schema),
             .inputs = NAI_SCHEMAS(&nai_findings_schema),
             .parts = NAI_PART(DEPENDENCIES) | NAI_PART(STEPS) | NAI_PART(NVTX_TREE) | NAI_PART(EVIDENCE) |
                      NAI_PART(NAMES) | NAI_PART(GPUS),
             .tables = NAI_IN(APIS) | NAI_IN(KERNELS) | NAI_IN(MEMOPS) | NAI_IN(THREADS) | NAI_IN(PROCESSES) |
                       NAI_IN(NVTX) | NAI_IN(LABELS),
             .cost = 2, .run = run)
