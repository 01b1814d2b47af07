/* Steps by ranges around an optimizer: each step ends where one of them does. For loops whose steps have no range of
 * their own. */
#include "model/steps/steps_build.h"

#include "base/array.h"
#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

enum { FEWEST = 3, MAX_SPREAD_PCT = 25, LOOP_OF_ALL = 50 };

static bool is_optimizer_step(const char *canonical) {
  static const char *const others[] = {"zero_grad", "state", "load", "save", "add_param", "init"};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (strcasestr(canonical, others[i]))
      return false;
  return strcasestr(canonical, "DeepSpeedEngine.step") || strcasestr(canonical, "optimizer");
}

/* Ends of optimizer ranges of one thread that lie in no other one. */
struct ends {
  uint32_t *rows; /* of nvtx_events */
  uint32_t count, capacity, thread;
};

static int collect(struct ends *e, const struct nai_step_search *s, const uint8_t *optimizer, uint32_t thread,
                   struct nai_err *err) {
  const struct nai_model *m = s->m;
  const struct nai_groups *g = &m->nvtx_by_thread;
  int64_t until = INT64_MIN;
  e->thread = thread;
  for (uint32_t i = g->first[thread]; i < g->first[thread + 1]; i++) {
    uint32_t row = g->order[i];
    if (!optimizer[s->names->canonical[nai_at_text(&m->nvtx.name, row)]] || nai_at(&m->nvtx.start_ns, row) < until)
      continue;
    if (!nai_array_room(&e->rows, &e->capacity, e->count, sizeof *e->rows))
      return nai_err_nomem(err);
    e->rows[e->count++] = row;
    until = nai_at(&m->nvtx.end_ns, row);
  }
  return NAI_OK;
}

static int64_t end_of(const struct nai_step_search *s, const struct ends *e, uint32_t i) {
  return nai_at(&s->m->nvtx.end_ns, e->rows[i]);
}

/* *out = the usual number of launches from one end to the next, when nine in ten stretches have about as many and most
 * launches lie in them; else 0. */
static int count_usual(uint32_t *out, const struct nai_step_search *s, const struct ends *e, struct nai_err *err) {
  uint32_t n = e->count - 1, near = 0;
  int64_t *launches = malloc((size_t)n * sizeof *launches);
  if (!launches)
    return nai_err_nomem(err);
  for (uint32_t i = 0; i < n; i++)
    launches[i] = nai_step_launches(s, end_of(s, e, i), end_of(s, e, i + 1));
  nai_select_i64(launches, n, n / 2);
  int64_t usual = launches[n / 2];
  for (uint32_t i = 0; i < n; i++)
    near += llabs(launches[i] - usual) * 100 <= usual * MAX_SPREAD_PCT;
  free(launches);
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
  out->v = calloc((size_t)e->count + 1, sizeof *out->v);
  if (!out->v)
    return nai_err_nomem(err);
  struct nai_step step = {.work_end = NAI_NULL_I64, .range = NAI_NO_ROW};
  for (uint32_t i = 0; i <= e->count; i++) {
    step.start = i ? end_of(s, e, i - 1) : first;
    step.end = i < e->count ? end_of(s, e, i) : last;
    uint32_t launches = i == 0 ? head : i == e->count ? tail : 1;
    if (launches && launches <= usual / 2 * 5)
      out->v[out->count++] = step;
  }
  struct nai_buf name = {0};
  nai_buf_puts(&name, "end of ");
  nai_step_canonical(&name, nai_model_range_name(s->m, e->rows[0]));
  out->name = name.oom ? NULL : strdup(nai_buf_str(&name));
  nai_buf_free(&name);
  out->method = NAI_STEPS_NVTX;
  out->confidence = 75;
  out->thread = e->thread;
  return out->name ? NAI_OK : nai_err_nomem(err);
}

int nai_steps_by_optimizer(struct nai_step_search *s, struct nai_err *err) {
  uint8_t *optimizer = calloc((size_t)s->names->texts.count + 1, 1);
  bool any = false;
  int rc = optimizer ? NAI_OK : nai_err_nomem(err);
  for (uint32_t i = 0; !rc && i < s->names->texts.count; i++)
    any = (optimizer[i] = is_optimizer_step(nai_strings_get(&s->names->texts, i))) || any;
  for (uint32_t t = 0; !rc && any && !s->out->count && t < s->thread_count; t++) {
    struct ends e = {0};
    rc = collect(&e, s, optimizer, s->threads[t], err);
    uint32_t usual = 0;
    if (!rc && e.count >= FEWEST)
      rc = count_usual(&usual, s, &e, err);
    if (!rc && usual)
      rc = take(s, &e, usual, err);
    free(e.rows);
  }
  free(optimizer);
  return rc;
}
