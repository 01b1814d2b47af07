/* Steps that the user named: ranges whose name matches --step. */
#include "model/steps/steps_build.h"

#include <stdlib.h>
#include <string.h>

int nai_steps_from_ranges(struct nai_process_steps *out, const struct nai_model *m, const uint32_t *ranges,
                          uint32_t count, struct nai_err *err) {
  out->v = calloc((size_t)count + 1, sizeof *out->v);
  if (!out->v)
    return nai_err_nomem(err);
  out->count = count;
  for (uint32_t i = 0; i < count; i++) {
    int64_t end = nai_at(&m->nvtx.end_ns, ranges[i]);
    out->v[i] = (struct nai_step){.start = nai_at(&m->nvtx.start_ns, ranges[i]),
                                  .end = i + 1 < count ? nai_at(&m->nvtx.start_ns, ranges[i + 1]) : end,
                                  .work_end = end,
                                  .range = ranges[i]};
  }
  return NAI_OK;
}

/* The names that match, each asked once. */
static uint8_t *match_names(const struct nai_model *m) {
  const struct nai_strings *names = &m->tables[NAI_IN_NVTX]->strings;
  uint8_t *matches = calloc((size_t)names->count + 1, 1);
  for (uint32_t i = 0; matches && i < names->count; i++)
    matches[i] = nai_patterns_match(m->step, nai_strings_get(names, i)) >= 0;
  return matches;
}

/* Rows of the thread's matching ranges that lie in no other; how many. */
static uint32_t collect(uint32_t *rows, const struct nai_model *m, uint32_t thread, const uint8_t *matches) {
  const struct nai_groups *g = &m->nvtx_by_thread;
  uint32_t n = 0;
  int64_t until = INT64_MIN;
  for (uint32_t i = g->first[thread]; i < g->first[thread + 1]; i++) {
    uint32_t row = g->order[i];
    if (!matches[nai_at_text(&m->nvtx.name, row)] || nai_at(&m->nvtx.start_ns, row) < until)
      continue;
    until = nai_at(&m->nvtx.end_ns, row);
    rows[n++] = row;
  }
  return n;
}

int nai_steps_by_user(struct nai_step_search *s, struct nai_err *err) {
  const struct nai_model *m = s->m;
  const struct nai_groups *g = &m->nvtx_by_thread;
  uint8_t *matches = m->nvtx.n ? match_names(m) : NULL;
  uint32_t *rows = malloc(((size_t)m->nvtx.n + 1) * sizeof *rows), best = 0;
  int rc = rows && (matches || !m->nvtx.n) ? NAI_OK : nai_err_nomem(err);
  for (uint32_t t = 0; !rc && m->nvtx.n && t < s->thread_count; t++) {
    if (g->first[s->threads[t]] == g->first[s->threads[t] + 1])
      continue;
    uint32_t n = collect(rows, m, s->threads[t], matches);
    if (n > best) {
      best = n;
      s->out->thread = s->threads[t];
    }
  }
  if (!rc && best) {
    collect(rows, m, s->out->thread, matches);
    s->out->method = NAI_STEPS_USER;
    s->out->confidence = 100;
    struct nai_buf name = {0};
    nai_step_canonical(&name, nai_model_range_name(m, rows[0]));
    s->out->name = strdup(nai_buf_str(&name));
    rc = name.oom || !s->out->name ? nai_err_nomem(err) : nai_steps_from_ranges(s->out, m, rows, best, err);
    nai_buf_free(&name);
  } else if (!rc) {
    s->out->why = strdup("no range of this process matches --step");
    rc = s->out->why ? NAI_OK : nai_err_nomem(err);
  }
  free(matches);
  free(rows);
  return rc;
}
