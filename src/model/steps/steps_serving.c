/* Steps of engines that serve language models: ranges whose names tell requests and tokens. A prompt takes many times
 * as long as a token, so steps are told by their names, not by being alike. */
#include "base/text.h"
#include "model/steps/steps_build.h"

enum { FEWEST = 3 };

int nai_serving_names_find(const uint8_t **out, const struct nai_model *m, struct nai_arena *arena,
                           struct nai_err *err) {
  const struct nai_strings *names = &m->tables[NAI_IN_NVTX]->strings;
  struct nai_serving_label label;
  uint8_t *formats = NULL;
  for (uint32_t i = 0; i < names->count; i++) {
    if (!nai_serving_read(&label, nai_strings_get(names, i)))
      continue;
    if (!formats)
      NAI_TRY(NAI_NEW(formats, arena, names->count, err));
    formats[i] = (uint8_t)label.format;
  }
  *out = formats;
  return NAI_OK;
}

/* The thread with most ranges of wanted names, and these. */
static uint32_t find_ranges(uint32_t *rows, struct nai_step_search *s, const uint8_t *wanted) {
  uint32_t best = 0;
  for (uint32_t t = 0; t < s->thread_count; t++) {
    uint32_t n = nai_step_ranges(rows, s->m, s->threads[t], wanted);
    if (n > best) {
      best = n;
      s->out->thread = s->threads[t];
    }
  }
  return best ? nai_step_ranges(rows, s->m, s->out->thread, wanted) : 0;
}

/* What tells requests goes before what does not, which lies around it. */
int nai_steps_by_serving(struct nai_step_search *s, struct nai_err *err) {
  NAI_SCOPED(nai_buf) name = {0};
  uint8_t *wanted;
  uint32_t *rows, names = (uint32_t)s->m->tables[NAI_IN_NVTX]->strings.count, n = 0;
  NAI_TRY(NAI_NEW(wanted, s->arena, names, err));
  NAI_TRY(NAI_NEW(rows, s->arena, s->m->nvtx.n, err));
  for (int counts = 1; counts >= 0 && n < FEWEST; counts--) {
    for (uint32_t i = 0; i < names; i++)
      wanted[i] = s->serving[i] && nai_serving_counts((enum nai_serving_format)s->serving[i]) == counts;
    n = find_ranges(rows, s, wanted);
  }
  if (n < FEWEST ||
      !nai_step_launches(s, nai_val(&s->m->nvtx.start_ns, rows[0]), nai_val(&s->m->nvtx.end_ns, rows[n - 1]))) {
    s->out->thread = NAI_NO_ROW;
    return NAI_OK;
  }
  s->out->method = NAI_STEPS_SERVING;
  s->out->confidence = 100;
  nai_text_fold_digits(&name, nai_model_range_name(s->m, rows[0]));
  NAI_TRY(nai_step_keep(&s->out->name, s->m, &name, err));
  return nai_steps_from_ranges(s->out, s->m, rows, n, err);
}

static enum nai_serving_kind most_frequent(const struct nai_process_steps *steps) {
  uint32_t counts[NAI_SERVING_KINDS] = {0}, best = 0;
  for (uint32_t i = 0; i < steps->count; i++)
    if (steps->labels[i].format)
      counts[steps->labels[i].kind]++;
  for (uint32_t k = 1; k < NAI_SERVING_KINDS; k++)
    best = counts[k] > counts[best] ? k : best;
  return (enum nai_serving_kind)best;
}

int nai_steps_read_serving(struct nai_step_search *s, struct nai_err *err) {
  struct nai_process_steps *steps = s->out;
  struct nai_serving_label *labels, label;
  uint32_t read = 0;
  if (!steps->count || steps->v[0].range == NAI_NO_ROW ||
      !nai_serving_read(&label, nai_model_range_name(s->m, steps->v[0].range)))
    return NAI_OK;
  NAI_TRY(NAI_NEW(labels, &s->m->arena, steps->count, err));
  for (uint32_t i = 0; i < steps->count; i++)
    read += nai_serving_read(&labels[i], nai_model_range_name(s->m, steps->v[i].range));
  if (read < FEWEST || (uint64_t)read * 10 < (uint64_t)steps->count * 9)
    return NAI_OK;
  steps->labels = labels;
  steps->serving = label.format;
  steps->kind = most_frequent(steps);
  return NAI_OK;
}
