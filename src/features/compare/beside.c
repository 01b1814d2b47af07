/* What stands below the headline: kernels whose calls take twice or half as long, idle time as the runs' reports have
 * it, and without steps what got slower by the call. */
#include "base/fmt.h"
#include "features/compare/document.h"
#include "features/compare/shapes.h"
#include "table/kernel_name.h"
#include "tables/compared_time.h"
#include "tables/steps.h"

/* --- as the reports have it ------------------------------------------------------------------- */

static void put_range(struct nai_view *map, const char *key, const struct nai_buf *low, const struct nai_buf *high) {
  NAI_SCOPED(nai_buf) text = {.oom = low->oom || high->oom};
  const char *first = nai_buf_str(low), *last = nai_buf_str(high);
  nai_buf_printf(&text, strcmp(first, last) == 0 ? "%s" : "%s-%s", first, last);
  nai_view_put_buf(map, key, NAI_TEXT_TRUSTED, &text);
}

/* "8.7-10.5": idle in percent, from GPU to GPU and from capture to capture. */
static void put_idle(struct nai_view *map, const char *key, const struct nai_comparison *c, int side) {
  NAI_SCOPED(nai_buf) low = {0}, high = {0};
  struct nai_gpu_share all = {INFINITY, -INFINITY};
  for (uint32_t i = 0; i < c->sides[side].count; i++) {
    struct nai_gpu_share one = nai_gpu_idle_pct(c, side, i);
    all.low = fmin(all.low, one.low);
    all.high = fmax(all.high, one.high);
  }
  nai_fmt_real(&low, all.low, 1);
  nai_fmt_real(&high, all.high, 1);
  put_range(map, key, &low, &high);
}

/* "299.8 ms", of several captures "299.8 ms-301.2 ms". */
static void put_active(struct nai_view *map, const char *key, const struct nai_comparison *c, int side) {
  NAI_SCOPED(nai_buf) low = {0}, high = {0};
  double least = INFINITY, most = 0;
  for (uint32_t i = 0; i < c->sides[side].count; i++) {
    least = fmin(least, nai_gpu_longest(c, side, i));
    most = fmax(most, nai_gpu_longest(c, side, i));
  }
  nai_fmt_duration(&low, least);
  nai_fmt_duration(&high, most);
  put_range(map, key, &low, &high);
}

/* --- kernels ---------------------------------------------------------------------------------- */

static double per_call(const struct nai_match_part *part) { return (double)part->ns / (double)part->launches; }

/* By how much the calls of one kernel got longer or shorter, as a factor over 1; 0: it is not one kernel on both sides,
 * or hardly any of the kernel time, or a call is of another share of the work. */
static double change_of(const struct nai_match_row *row, const struct nai_comparison *c) {
  const double worth = 0.1;
  const struct nai_match *m = &c->match;
  const struct nai_match_part *base = &row->of[NAI_BASE], *candidate = &row->of[NAI_CANDIDATE];
  double share = fmax((double)base->ns / (double)m->ns[NAI_BASE], (double)candidate->ns / (double)m->ns[NAI_CANDIDATE]);
  if (row->state > NAI_MATCH_RETUNED || share < worth || !base->ns || !candidate->ns || nai_shapes_relaunched(c, row))
    return 0;
  return fmax(per_call(candidate) / per_call(base), per_call(base) / per_call(candidate));
}

static void put_call(const struct nai_document *d, struct nai_view *list, const struct nai_match_row *row) {
  enum { CHARS = 80 };
  const struct nai_match_part *base = &row->of[NAI_BASE], *candidate = &row->of[NAI_CANDIDATE];
  const struct nai_match *m = &d->c->match;
  const char *name = d->c->uses[NAI_CANDIDATE].list[m->members[NAI_CANDIDATE][candidate->first]].name;
  struct nai_kernel_shapes before = nai_shapes_of_row(d->c, row, NAI_BASE),
                           after = nai_shapes_of_row(d->c, row, NAI_CANDIDATE);
  NAI_SCOPED(nai_buf) text = {0}, launch = {0};
  struct nai_view *map = nai_view_add_map(list);
  nai_kernel_name_short(&text, name, CHARS);
  nai_view_put_buf(map, "name", NAI_TEXT_CODE, &text);
  nai_document_amount(map, "base", "ns", per_call(base), false);
  nai_document_amount(map, "new", "ns", per_call(candidate), false);
  nai_view_put_real(map, "times", change_of(row, d->c), 1);
  nai_view_put_bool(map, "longer", per_call(candidate) > per_call(base));
  if (nai_shapes_differ(before, after))
    nai_shapes_put_change(&launch, before, after);
  nai_view_put_buf(map, "launch", NAI_TEXT_TRUSTED, &launch);
}

/* Those that changed the most first, by how much time they have on the side that has more. */
static void put_calls(const struct nai_document *d) {
  enum { NAMED = 3 };
  const double least = 2;
  const struct nai_match *m = &d->c->match;
  const struct nai_match_row *found[NAMED];
  struct nai_view *list = nai_view_put_list(d->root, "calls");
  uint32_t kept = 0;
  for (uint32_t i = 0; i < m->count; i++) {
    if (change_of(&m->rows[i], d->c) < least)
      continue;
    uint32_t at = kept < NAMED ? kept++ : NAMED;
    for (; at > 0 && change_of(&m->rows[i], d->c) > change_of(found[at - 1], d->c); at--)
      if (at < NAMED)
        found[at] = found[at - 1];
    if (at < NAMED)
      found[at] = &m->rows[i];
  }
  for (uint32_t i = 0; i < kept; i++)
    put_call(d, list, found[i]);
}

/* --- what got slower -------------------------------------------------------------------------- */

/* A time per call, of a kernel, a range, a launch, that is worse; not that of the window or of steps. */
static bool is_slower(const struct nai_metric_result *r) {
  enum nai_verdict v = r->judgement.verdict;
  return strcmp(r->def.unit, "ns") == 0 && strcmp(r->def.basis, "total") == 0 && strcmp(r->def.kind, "noisy") == 0 &&
         r->judgement.pct > 0 && (v == NAI_VERDICT_SUSPECT || v == NAI_VERDICT_REGRESSED) &&
         strncmp(r->def.metric, "unit.", strlen("unit.")) != 0;
}

/* Launch calls come first, for they hold up everything; else by share. */
static bool comes_before(const struct nai_metric_result *a, const struct nai_metric_result *b) {
  bool x = strncmp(a->def.metric, "launch.", strlen("launch.")) == 0,
       y = strncmp(b->def.metric, "launch.", strlen("launch.")) == 0;
  return x != y ? x : a->judgement.pct > b->judgement.pct;
}

/* A range and the one that is all of it take as long. */
static bool is_alike(const struct nai_metric_result *a, const struct nai_metric_result *b) {
  return !(fabs(a->judgement.base - b->judgement.base) > 0) &&
         !(fabs(a->judgement.candidate - b->judgement.candidate) > 0);
}

/* The next in order behind `last` that is like none of those that are named; NULL: there is none. */
static const struct nai_metric_result *next_slower(const struct nai_comparison *c,
                                                   const struct nai_metric_result *const *named, uint32_t count) {
  const struct nai_metric_result *best = NULL;
  for (uint32_t i = 0; i < c->result_count; i++) {
    const struct nai_metric_result *r = &c->results[i];
    bool is_told = !is_slower(r);
    for (uint32_t k = 0; k < count && !is_told; k++)
      is_told = is_alike(r, named[k]);
    if (!is_told && (!best || comes_before(r, best)))
      best = r;
  }
  return best;
}

static void put_slower(const struct nai_document *d) {
  enum { NAMED = 4 };
  const struct nai_metric_result *worst[NAMED];
  struct nai_view *list = nai_view_put_list(d->root, "slower");
  bool all_proven = true;
  uint32_t all = 0, kept = 0;
  for (uint32_t i = 0; i < d->c->result_count; i++)
    all += is_slower(&d->c->results[i]);
  while (kept < NAMED && (worst[kept] = next_slower(d->c, worst, kept)))
    all_proven &= worst[kept++]->judgement.verdict == NAI_VERDICT_REGRESSED;
  for (uint32_t i = 0; i < kept; i++)
    nai_document_metric(d, list, worst[i]);
  nai_view_put_bool(d->root, "any_slower", all > 0);
  nai_view_put_bool(d->root, "unproven", !all_proven);
  if (all > kept)
    nai_view_put_int(d->root, "more_slower", all - kept);
}

/* Both sides by part, on one scale where their times are of the same work. */
static void put_bars(const struct nai_document *d) {
  static const enum nai_gpu_time of_run[] = {NAI_GPU_COMPUTE, NAI_GPU_EXPOSED_COMM, NAI_GPU_EXPOSED_COPY, NAI_GPU_IDLE};
  static const int of_step[] = {STEPS_compute_ns, STEPS_exposed_comm_ns, STEPS_exposed_copy_ns, STEPS_idle_ns};
  static const char *const keys[] = {"compute", "exposed_comm", "exposed_copy", "idle"};
  const struct nai_comparison *c = d->c;
  struct nai_view *list = nai_view_put_list(d->root, "shares");
  double parts[NAI_SIDES][NAI_BAR_PARTS], whole[NAI_SIDES] = {0, 0};
  for (int s = 0; s < NAI_SIDES; s++)
    for (int p = 0; p < NAI_BAR_PARTS; p++) {
      int64_t ns = c->by_step ? nai_steady_sum(c->sides, s, of_step[p]) : nai_gpu_time(c, s, of_run[p]);
      parts[s][p] = (double)ns / nai_comparison_divisor(c, s);
      whole[s] += parts[s][p];
    }
  for (int s = 0; s < NAI_SIDES; s++) {
    NAI_SCOPED(nai_buf) bar = {0};
    struct nai_view *map = nai_view_add_map(list);
    nai_view_put_trusted(map, "side", nai_side_names[s]);
    nai_document_amount(map, "whole", "ns", whole[s], false);
    nai_fmt_bar(&bar, parts[s], nai_comparison_has_basis(c) ? fmax(whole[NAI_BASE], whole[NAI_CANDIDATE]) : whole[s]);
    nai_view_put_buf(map, "bar", NAI_TEXT_CODE, &bar);
    for (int p = 0; p < NAI_BAR_PARTS; p++)
      nai_view_put_percent(map, keys[p], 100 * parts[s][p] / whole[s]);
  }
}

void nai_document_beside(const struct nai_document *d) {
  const struct nai_comparison *c = d->c;
  if (!nai_comparison_is_whole(c) || nai_comparison_obstacle(c) || !nai_gpu_time(c, NAI_BASE, NAI_GPU_WHOLE) ||
      !nai_gpu_time(c, NAI_CANDIDATE, NAI_GPU_WHOLE))
    return;
  struct nai_view *beside = nai_view_put_map(d->root, "beside");
  nai_view_put_bool(beside, "steps", c->by_step);
  nai_view_put_bool(beside, "units", c->unit > 0);
  nai_view_put_bool(beside, "by_active", c->by_active);
  put_idle(beside, "idle_base", c, NAI_BASE);
  put_idle(beside, "idle_new", c, NAI_CANDIDATE);
  put_active(beside, "active_base", c, NAI_BASE);
  put_active(beside, "active_new", c, NAI_CANDIDATE);
  put_calls(d);
  put_bars(d);
  if (!c->by_step)
    put_slower(d);
}

/* --- where the difference is ------------------------------------------------------------------ */

/* The child of a part with the largest share of its difference, -1 for none. */
static int64_t largest_child(const struct nai_table *t, const char *parent, double delta) {
  int64_t best = -1;
  for (int64_t row = 0; row < t->rows; row++) {
    double own = nai_get_f64(t, row, COMPARED_TIME_delta_ns);
    if (strcmp(nai_get_str(t, row, COMPARED_TIME_parent), parent) != 0 || own * delta <= 0)
      continue;
    if (best < 0 || fabs(own) > fabs(nai_get_f64(t, best, COMPARED_TIME_delta_ns)))
      best = row;
  }
  return best;
}

/* Numbers per step that changed: they say what the program does more or less often. */
static void put_changed(const struct nai_document *d, struct nai_view *where) {
  enum { NAMED = 4 };
  struct nai_view *list = nai_view_put_list(where, "changed");
  uint32_t changed = 0;
  for (uint32_t i = 0; i < d->c->result_count; i++) {
    const struct nai_metric_result *r = &d->c->results[i];
    if (r->judgement.verdict == NAI_VERDICT_CHANGED && strcmp(r->def.basis, "step") == 0 && changed++ < NAMED)
      nai_document_metric(d, list, r);
  }
  nai_view_put_bool(where, "any_changed", changed > 0);
  if (changed > NAMED)
    nai_view_put_int(where, "more_changed", changed - NAMED);
}

static void put_part(const struct nai_document *d, struct nai_view *to, const struct nai_table *t, int64_t row) {
  nai_document_text(d, to, "title", nai_get_str(t, row, COMPARED_TIME_title));
  nai_document_amount(to, "difference", "ns", nai_get_f64(t, row, COMPARED_TIME_delta_ns), true);
}

/* Whether a part of the step differs by more than its metric may and, where captures tell, than they do by anyway. */
static bool is_beyond_noise(const struct nai_comparison *c, const struct COMPARED_TIME_row *part) {
  char id[80];
  snprintf(id, sizeof id, "gpu.%s.per_step", part->part);
  const struct nai_metric_result *r = nai_comparison_metric(c, id);
  if (!c->by_step || !r || !r->judgement.compared)
    return false;
  const struct nai_judgement *j = &r->judgement;
  double sign = part->delta_ns < 0 ? -1 : 1, nearest = sign < 0 ? -j->shift.high : j->shift.low;
  return sign * j->shift.shift > j->budget && (!j->shift.has_ci || nearest > j->floor);
}

/* Two parts of a step that is as long as before: one longer, one shorter, both by more than noise. */
static bool is_swap(const struct nai_comparison *c, const struct nai_table *t, int64_t longer, int64_t shorter) {
  if (longer < 0 || shorter < 0)
    return false;
  struct COMPARED_TIME_row a = COMPARED_TIME_at(t, longer), b = COMPARED_TIME_at(t, shorter);
  return is_beyond_noise(c, &a) && is_beyond_noise(c, &b);
}

void nai_document_where(const struct nai_document *d) {
  const struct nai_table *t = d->c->tables[NAI_COMPARED_TIME];
  struct COMPARED_TIME_row whole = COMPARED_TIME_at(t, 0);
  const double worth = 0.01; /* of the whole: captures of one program differ by as much */
  bool as_long = fabs(whole.delta_ns) < worth * whole.base_time_ns;
  double towards = as_long ? 1 : whole.delta_ns;
  int64_t row = largest_child(t, "whole", towards), against = largest_child(t, "whole", -towards);
  if (row < 0 || isnan(whole.delta_ns)) /* NULL: not of the same work */
    return;
  if (as_long && !is_swap(d->c, t, row, against))
    return;
  struct COMPARED_TIME_row part = COMPARED_TIME_at(t, row);
  struct nai_view *where = nai_view_put_map(d->root, "where");
  nai_view_put_bool(where, "as_long", as_long);
  nai_document_amount(where, "difference", "ns", part.delta_ns, true);
  nai_document_amount(where, "whole", "ns", whole.delta_ns, true);
  nai_view_put_trusted(where, "per", nai_comparison_per(d->c));
  nai_view_put_trusted(where, "title", part.title);
  int64_t cause = largest_child(t, part.part, part.delta_ns);
  if (cause >= 0 && strcmp(nai_get_str(t, cause, COMPARED_TIME_part), "compute.other") != 0) /* kernels of no class */
    put_part(d, nai_view_put_map(where, "cause"), t, cause);
  if (against >= 0 && fabs(nai_get_f64(t, against, COMPARED_TIME_delta_ns)) >= worth * whole.base_time_ns)
    put_part(d, nai_view_put_map(where, "against"), t, against);
  put_changed(d, where);
}
