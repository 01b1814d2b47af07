#include "model/critical/whatif_edit.h"

bool nai_change_matches(const struct nai_change *change, const char *name) {
  return !change->where || nai_patterns_match(change->where, name) >= 0;
}

/* --- arrays of scenarios ----------------------------------------------------------------------- */

static void widen(struct nai_stretch *s, uint32_t first, uint32_t end) {
  bool none = s->first == s->end;
  s->first = none || first < s->first ? first : s->first;
  s->end = end > s->end ? end : s->end;
}

int nai_edit_begin(struct nai_whatif *w, struct nai_err *err) {
  const struct nai_model *m = w->model;
  const struct nai_dependencies *d = m->dependencies;
  NAI_TRY(NAI_NEW(w->room, w->arena, 1, err));
  NAI_TRY(NAI_NEW(w->room->calls, w->arena, m->thread_count, err));
  for (uint32_t t = 0; t < w->thread_count; t++)
    widen(&w->room->calls[nai_val_i32(&m->apis.thread, d->call_api[w->calls[t].first])], w->calls[t].first,
          w->calls[t].end);
  for (uint32_t g = 0; g < m->gpu_count; g++)
    for (uint32_t i = w->ops[g].first; i < w->ops[g].end; i++) {
      uint32_t call = d->op_call[d->first_op[g] + i];
      if (call != NAI_NO_ROW)
        widen(&w->room->calls[nai_val_i32(&m->apis.thread, d->call_api[call])], call, call + 1);
    }
  return NAI_OK;
}

static void set_factors(float *factors, uint32_t first, uint32_t end) {
  for (uint32_t i = first; i < end; i++)
    factors[i] = 1;
}

static int lend_factors(float **factors, float **made, uint32_t count, const struct edit *e, struct nai_err *err) {
  if (!*made) {
    NAI_TRY(NAI_NEW_UNSET(*made, e->w->arena, count, err));
    set_factors(*made, 0, count);
  }
  *factors = *made;
  return NAI_OK;
}

int nai_edit_op_factors(struct edit *e, struct nai_err *err) {
  return lend_factors(&e->of.op_factor, &e->w->room->made.op_factor, e->m->dependencies->op_count, e, err);
}

int nai_edit_call_factors(struct edit *e, struct nai_err *err) {
  return lend_factors(&e->of.call_factor, &e->w->room->made.call_factor, e->m->dependencies->call_count, e, err);
}

/* Makes what is not made yet. */
#define LEND(e, field, count, err)                                \
  do {                                                            \
    struct edit_arrays *made = &(e)->w->room->made;               \
    if (!made->field)                                             \
      NAI_TRY(NAI_NEW(made->field, (e)->w->arena, (count), err)); \
    (e)->of.field = made->field;                                  \
  } while (false)

int nai_edit_cuts(struct edit *e, struct nai_err *err) {
  LEND(e, call_cut, e->m->dependencies->call_count, err);
  LEND(e, host_cut, e->m->dependencies->call_count, err);
  return NAI_OK;
}

int nai_edit_waits(struct edit *e, struct nai_err *err) {
  LEND(e, no_wait, e->m->dependencies->call_count, err);
  return NAI_OK;
}

int nai_edit_handoffs(struct edit *e, struct nai_err *err) {
  LEND(e, runs_ahead, e->m->dependencies->call_count, err);
  return NAI_OK;
}

int nai_edit_streams(struct edit *e, struct nai_err *err) {
  LEND(e, off_stream, e->m->dependencies->op_count, err);
  return NAI_OK;
}

int nai_edit_behind(struct edit *e, int which, struct nai_err *err) {
  LEND(e, also_behind[which], e->m->dependencies->op_count, err);
  return NAI_OK;
}

/* first .. end - 1 of what the scenario used become 0 again. */
#define CLEAR(field)                                                               \
  do {                                                                             \
    if (s->field)                                                                  \
      memset(made->field + first, 0, (size_t)(end - first) * sizeof *made->field); \
  } while (false)

static void undo_ops(const struct edit_arrays *made, const struct nai_scenario *s, uint32_t first, uint32_t end) {
  if (s->op_factor)
    set_factors(made->op_factor, first, end);
  CLEAR(off_stream);
  for (int k = 0; k < NAI_ALSO_BEHIND; k++)
    CLEAR(also_behind[k]);
}

static void undo_calls(const struct edit_arrays *made, const struct nai_scenario *s, uint32_t first, uint32_t end) {
  if (s->call_factor)
    set_factors(made->call_factor, first, end);
  CLEAR(no_wait);
  CLEAR(runs_ahead);
  CLEAR(call_cut);
  CLEAR(host_cut);
}

void nai_edit_undo(const struct nai_whatif *w, const struct nai_scenario *s) {
  const struct nai_dependencies *d = w->model->dependencies;
  const struct edit_arrays *made = &w->room->made;
  for (uint32_t g = 0; g < w->model->gpu_count; g++)
    undo_ops(made, s, d->first_op[g] + w->ops[g].first, d->first_op[g] + w->ops[g].end);
  for (uint32_t t = 0; t < w->model->thread_count; t++)
    undo_calls(made, s, w->room->calls[t].first, w->room->calls[t].end);
}
