/* Steps that the user named: ranges whose name matches --step. */
#include "base/text.h"
#include "model/steps/steps_build.h"

int nai_steps_from_ranges(struct nai_process_steps *out, struct nai_model *m, const uint32_t *ranges, uint32_t count,
                          struct nai_err *err) {
  NAI_TRY(NAI_NEW(out->v, &m->arena, count, err));
  out->count = count;
  for (uint32_t i = 0; i < count; i++) {
    int64_t end = nai_val(&m->nvtx.end_ns, ranges[i]);
    out->v[i] = (struct nai_step){.start = nai_val(&m->nvtx.start_ns, ranges[i]),
                                  .end = i + 1 < count ? nai_val(&m->nvtx.start_ns, ranges[i + 1]) : end,
                                  .work_end = end,
                                  .range = ranges[i]};
  }
  return NAI_OK;
}

uint32_t nai_step_ranges(uint32_t *rows, const struct nai_model *m, uint32_t thread, const uint8_t *wanted) {
  const struct nai_groups *g = &m->nvtx_by_thread;
  uint32_t n = 0;
  int64_t until = INT64_MIN;
  for (uint32_t i = g->first[thread]; i < g->first[thread + 1]; i++) {
    uint32_t row = g->order[i];
    if (!wanted[nai_val_text(&m->nvtx.name, row)] || nai_val(&m->nvtx.start_ns, row) < until)
      continue;
    until = nai_val(&m->nvtx.end_ns, row);
    rows[n++] = row;
  }
  return n;
}

int nai_steps_by_user(struct nai_step_search *s, struct nai_err *err) {
  NAI_SCOPED(nai_buf) name = {0};
  const struct nai_model *m = s->m;
  const struct nai_strings *names = &m->tables[NAI_IN_NVTX]->strings;
  uint8_t *matches; /* per name, each asked once */
  uint32_t *rows, best = 0;
  NAI_TRY(NAI_NEW(matches, s->arena, names->count, err));
  NAI_TRY(NAI_NEW(rows, s->arena, m->nvtx.n, err));
  for (uint32_t i = 0; i < names->count; i++)
    matches[i] = nai_patterns_match(m->step, nai_strings_get(names, i)) >= 0;
  for (uint32_t t = 0; t < s->thread_count; t++) {
    uint32_t n = nai_step_ranges(rows, m, s->threads[t], matches);
    if (n > best) {
      best = n;
      s->out->thread = s->threads[t];
    }
  }
  if (!best) {
    s->out->why = "no range of this process matches --step";
    return NAI_OK;
  }
  nai_step_ranges(rows, m, s->out->thread, matches);
  s->out->method = NAI_STEPS_USER;
  s->out->confidence = 100;
  nai_text_fold_digits(&name, nai_model_range_name(m, rows[0]));
  NAI_TRY(nai_step_keep(&s->out->name, s->m, &name, err));
  return nai_steps_from_ranges(s->out, s->m, rows, best, err);
}
