/* Which steps are typical, and which stand out. */
#include "model/steps/step_stats.h"

#include "base/sort.h"

const char *nai_step_state_name(enum nai_step_state state) {
  static const char *const names[] = {"steady", "warm-up", "truncated", "other kind", "paused"};
  return names[state];
}

void nai_step_stats_free(struct nai_step_stats *s) { nai_arena_free(&s->arena); }

/* The lower one of two middle values. Reorders v. */
static int64_t median_of(int64_t *v, size_t count) {
  if (!count)
    return NAI_NULL_I64;
  nai_select_i64(v, count, (count - 1) / 2);
  return v[(count - 1) / 2];
}

/* --- states ----------------------------------------------------------------------------------- */

static void find_other_kinds(struct nai_step_stats *s, const struct nai_process_steps *steps,
                             const struct nai_step_list *list) {
  for (uint32_t i = 0; steps->labels && i < list->count; i++)
    if (steps->labels[list->v[i].step].kind != steps->kind)
      s->state[i] = NAI_STEP_OTHER_KIND;
}

/* A pause that makes a step so much longer is no part of what the step takes; a shorter one makes an outlier. */
static void find_paused(struct nai_step_stats *s, const struct nai_step_list *list, int64_t *room) {
  enum { TIMES = 10 };
  uint32_t n = 0;
  for (uint32_t i = 0; i < list->count; i++)
    if (s->state[i] == NAI_STEP_STEADY && !list->v[i].paused)
      room[n++] = nai_step_ns(&list->v[i]);
  int64_t usual = median_of(room, n);
  for (uint32_t i = 0; n && i < list->count; i++)
    if (s->state[i] == NAI_STEP_STEADY && list->v[i].paused && nai_step_ns(&list->v[i]) / TIMES > usual)
      s->state[i] = NAI_STEP_PAUSED;
}

/* A first or last step with less than nine tenths of the usual work was cut by the capture. */
static void find_truncated(struct nai_step_stats *s, const struct nai_step_list *list, int64_t *room) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < list->count; i++)
    if (s->state[i] == NAI_STEP_STEADY)
      room[n++] = list->v[i].ops;
  int64_t usual = median_of(room, n);
  const uint32_t ends[] = {0, list->count - 1};
  for (int e = 0; e < 2 && list->count > 2; e++)
    if (s->state[ends[e]] == NAI_STEP_STEADY && list->v[ends[e]].ops * 10 < usual * 9)
      s->state[ends[e]] = NAI_STEP_TRUNCATED;
}

/* Leading steps that are slower than the second half of all: by half, or by a tenth while kernels were run for the
 * first time or code was loaded. A first step is not slow because it is the first of the capture. */
static void find_warm_up(struct nai_step_stats *s, const struct nai_process_steps *steps,
                         const struct nai_step_list *list, int64_t *room) {
  uint32_t half = list->count / 2, n = 0;
  for (uint32_t i = half; i < list->count; i++)
    if (s->state[i] == NAI_STEP_STEADY)
      room[n++] = nai_step_ns(&list->v[i]);
  int64_t usual = median_of(room, n);
  for (uint32_t i = 0; n && i < half; i++) {
    const struct nai_gpu_step *step = &list->v[i];
    bool new = step->first_use > 0 || steps->v[step->step].loading_ns > 0;
    if (s->state[i] != NAI_STEP_STEADY)
      continue;
    if ((double)nai_step_ns(step) <= (new ? 1.1 : 1.5) * (double)usual)
      return;
    s->state[i] = NAI_STEP_WARM_UP;
  }
}

/* --- spread ----------------------------------------------------------------------------------- */

double nai_step_cv_pct(const int64_t *ns, uint32_t n) {
  double sum = 0, squares = 0;
  for (uint32_t i = 0; i < n; i++)
    sum += (double)ns[i];
  for (uint32_t i = 0; i < n; i++)
    squares += ((double)ns[i] - sum / n) * ((double)ns[i] - sum / n);
  return n > 1 && sum > 0 ? 100 * sqrt(squares / (n - 1)) / (sum / n) : NAN;
}

static int64_t step_median(int64_t *room, const struct nai_step_stats *s, const struct nai_process_steps *steps,
                           const struct nai_step_list *list, nai_step_value_fn *value) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < list->count; i++)
    if (s->state[i] == NAI_STEP_STEADY)
      room[n++] = value(steps, &list->v[i]);
  return median_of(room, n);
}

static int64_t duration(const struct nai_process_steps *steps, const struct nai_gpu_step *step) {
  (void)steps;
  return nai_step_ns(step);
}

static void measure(struct nai_step_stats *s, const struct nai_process_steps *steps, const struct nai_step_list *list,
                    int64_t *room) {
  uint32_t n = 0;
  s->median_ns = step_median(room, s, steps, list, duration);
  s->p90_ns = s->mad_ns = s->min_ns = s->max_ns = NAI_NULL_I64;
  s->cv_pct = NAN;
  if (s->median_ns == NAI_NULL_I64)
    return;
  for (uint32_t i = 0; i < list->count; i++) {
    int64_t ns = nai_step_ns(&list->v[i]);
    if (s->state[i] != NAI_STEP_STEADY)
      continue;
    room[n++] = ns;
    s->total_ns += ns;
    s->spread_ns += ns > s->median_ns ? ns - s->median_ns : 0;
    s->min_ns = s->min_ns == NAI_NULL_I64 || ns < s->min_ns ? ns : s->min_ns;
    s->max_ns = ns > s->max_ns ? ns : s->max_ns;
  }
  s->p90_ns = (int64_t)llround(nai_quantile_i64(room, n, 0.9));
  s->cv_pct = nai_step_cv_pct(room, n);
  for (uint32_t i = 0; i < n; i++)
    room[i] = llabs(room[i] - s->median_ns);
  s->mad_ns = median_of(room, n);
}

/* Longer than the median by three standard deviations as the median deviation tells them, and by 5 %. */
static void find_outliers(struct nai_step_stats *s, const struct nai_step_list *list) {
  if (s->states[NAI_STEP_STEADY] < NAI_OUTLIER_FEWEST)
    return;
  double by_mad = 3 * 1.4826 * (double)s->mad_ns, by_share = 0.05 * (double)s->median_ns;
  for (uint32_t i = 0; i < list->count; i++) {
    int64_t excess = nai_step_ns(&list->v[i]) - s->median_ns;
    if (s->state[i] != NAI_STEP_STEADY || (double)excess <= fmax(by_mad, by_share))
      continue;
    s->outlier[i] = 1;
    s->outliers++;
    s->excess_ns += excess;
  }
}

int nai_step_stats_new(struct nai_step_stats *s, const struct nai_process_steps *steps,
                       const struct nai_step_list *list, struct nai_err *err) {
  int64_t *room;
  *s = (struct nai_step_stats){.arena = NAI_ARENA(NULL)};
  NAI_TRY(NAI_NEW(room, &s->arena, list->count, err));
  NAI_TRY(NAI_NEW(s->state, &s->arena, list->count, err));
  NAI_TRY(NAI_NEW(s->outlier, &s->arena, list->count, err));
  if (list->count) {
    find_other_kinds(s, steps, list);
    find_paused(s, list, room);
    find_truncated(s, list, room);
    find_warm_up(s, steps, list, room);
  }
  for (uint32_t i = 0; i < list->count; i++) {
    s->states[s->state[i]]++;
    s->warm_up_ns += s->state[i] == NAI_STEP_WARM_UP ? nai_step_ns(&list->v[i]) : 0;
  }
  measure(s, steps, list, room);
  if (s->median_ns != NAI_NULL_I64 && !steps->labels) /* steps of serving are as long as their batch is large */
    find_outliers(s, list);
  return NAI_OK;
}

/* --- drift ------------------------------------------------------------------------------------ */

/* Numbers in the order of doubles, none of which is NaN or -0: a negative one's bits but the sign count backwards. */
static int64_t number_of(double v) {
  int64_t bits;
  memcpy(&bits, &v, sizeof bits);
  return bits < 0 ? bits ^ INT64_MAX : bits;
}

static double double_of(int64_t number) {
  double v;
  int64_t bits = number < 0 ? number ^ INT64_MAX : number;
  memcpy(&v, &bits, sizeof v);
  return v;
}

int nai_step_drift(double *out, const struct nai_step_stats *s, const struct nai_step_list *list, struct nai_err *err) {
  enum { MOST = 512 };
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  uint32_t n = 0, count = s->states[NAI_STEP_STEADY], used = count < MOST ? count : MOST, *steady;
  size_t pairs = 0;
  int64_t *slopes;
  *out = NAN;
  if (count < NAI_DRIFT_FEWEST)
    return NAI_OK;
  NAI_TRY(NAI_NEW(steady, &arena, count, err));
  NAI_TRY(NAI_NEW(slopes, &arena, (size_t)used * (used - 1) / 2, err));
  for (uint32_t i = 0; i < list->count; i++)
    if (s->state[i] == NAI_STEP_STEADY)
      steady[n++] = i;
  for (uint32_t a = 0; a < used; a++)
    for (uint32_t b = a + 1; b < used; b++) {
      uint32_t from = steady[(uint64_t)a * n / used], to = steady[(uint64_t)b * n / used];
      int64_t change = nai_step_ns(&list->v[to]) - nai_step_ns(&list->v[from]);
      slopes[pairs++] = number_of((double)change / (double)(to - from));
    }
  nai_select_i64(slopes, pairs, (pairs - 1) / 2);
  *out = double_of(slopes[(pairs - 1) / 2]);
  return NAI_OK;
}
