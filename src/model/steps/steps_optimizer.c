/* Steps by ranges around an optimizer: each step ends where one of them does. For loops whose steps have no range of
 * their own. */
#include "base/text.h"
#include "model/steps/steps_build.h"

enum { FEWEST = 3, MAX_SPREAD_PCT = 25, LOOP_OF_ALL = 50 };

static bool is_optimizer_step(const char *canonical) {
  static const char *const others[] = {"zero_grad", "state", "load", "save", "add_param", "init", NULL};
  return !nai_name_matches(canonical, NAI_HOLDS_ANY_CASE, others) &&
         (strcasestr(canonical, "DeepSpeedEngine.step") || strcasestr(canonical, "optimizer"));
}

/* Ends of optimizer ranges of one thread that lie in no other one. */
struct ends {
  uint32_t *rows; /* of nvtx_events */
  uint32_t count, thread;
};

static int64_t end_of(const struct nai_step_search *s, const struct ends *e, uint32_t i) {
  return nai_val(&s->m->nvtx.end_ns, e->rows[i]);
}

/* *out = the usual number of launches from one end to the next, when nine in ten stretches have about as many and most
 * launches lie in them; else 0. */
static int count_usual(uint32_t *out, const struct nai_step_search *s, const struct ends *e, struct nai_err *err) {
  uint32_t n = e->count - 1, near = 0;
  int64_t *launches;
  NAI_TRY(NAI_NEW(launches, s->arena, n, err));
  for (uint32_t i = 0; i < n; i++)
    launches[i] = nai_step_launches(s, end_of(s, e, i), end_of(s, e, i + 1));
  nai_select_i64(launches, n, n / 2);
  int64_t usual = launches[n / 2];
  for (uint32_t i = 0; i < n; i++)
    near += llabs(launches[i] - usual) * 100 <= usual * MAX_SPREAD_PCT;
  bool most =
      (int64_t)nai_step_launches(s, end_of(s, e, 0), end_of(s, e, n)) * 100 >= (int64_t)LOOP_OF_ALL * s->launch_count;
  *out = near * 10 >= n * 9 && most ? (uint32_t)usual : 0;
  return NAI_OK;
}

static int take(struct nai_step_search *s, const struct ends *e, uint32_t usual, struct nai_err *err) {
  struct nai_process_steps *out = s->out;
  int64_t first = s->launches[0], last = s->launches[s->launch_count - 1] + 1;
  uint32_t head = nai_step_launches(s, first, end_of(s, e, 0));
  uint32_t tail = nai_step_launches(s, end_of(s, e, e->count - 1), last);
  NAI_TRY(NAI_NEW(out->v, &s->m->arena, (size_t)e->count + 1, err));
  struct nai_step step = {.work_end = NAI_NULL_I64, .range = NAI_NO_ROW};
  for (uint32_t i = 0; i <= e->count; i++) {
    step.start = i ? end_of(s, e, i - 1) : first;
    step.end = i < e->count ? end_of(s, e, i) : last;
    uint32_t launches = i == 0 ? head : i == e->count ? tail : 1;
    if (launches && launches <= usual / 2 * 5)
      out->v[out->count++] = step;
  }
  NAI_SCOPED(nai_buf) name = {0};
  nai_buf_puts(&name, "end of ");
  nai_text_fold_digits(&name, nai_model_range_name(s->m, e->rows[0]));
  out->method = NAI_STEPS_NVTX;
  out->confidence = 75;
  out->thread = e->thread;
  return nai_step_keep(&out->name, s->m, &name, err);
}

int nai_steps_by_optimizer(struct nai_step_search *s, struct nai_err *err) {
  const struct nai_strings *texts = &s->names->texts;
  uint32_t names = s->m->tables[NAI_IN_NVTX]->strings.count;
  struct ends e = {0};
  uint8_t *canonical, *optimizer;
  bool any = false;
  NAI_TRY(NAI_NEW(canonical, s->arena, texts->count, err));
  NAI_TRY(NAI_NEW(optimizer, s->arena, names, err));
  for (uint32_t i = 0; i < texts->count; i++)
    any |= canonical[i] = is_optimizer_step(nai_strings_get(texts, i));
  if (!any)
    return NAI_OK;
  for (uint32_t i = 0; i < names; i++)
    optimizer[i] = canonical[s->names->canonical[i]];
  NAI_TRY(NAI_NEW(e.rows, s->arena, s->m->nvtx.n, err));
  for (uint32_t t = 0; !s->out->count && t < s->thread_count; t++) {
    uint32_t usual = 0;
    e.thread = s->threads[t];
    e.count = nai_step_ranges(e.rows, s->m, e.thread, optimizer);
    if (e.count >= FEWEST)
      NAI_TRY(count_usual(&usual, s, &e, err));
    if (usual)
      NAI_TRY(take(s, &e, usual, err));
  }
  return NAI_OK;
}
