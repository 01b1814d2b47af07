/* Kernels of both sides, matched: uses summed over the captures of a side, rows with what each adds to the difference,
 * and what matching says about comparability. */
#include "features/compare/internal.h"
#include "features/compare/shapes.h"
#include "base/sort.h"
#include "tables/call_site_kernels.h"
#include "tables/compared_kernels.h"
#include "tables/kernel_paths.h"

/* --- uses ------------------------------------------------------------------------------------- */

NAI_ORDER_BY(by_use, struct nai_kernel_use, strcmp(a->name, b->name), strcmp(a->path, b->path))

/* Adds up the same kernel at the same place of several captures. */
static uint32_t merge_uses(struct nai_kernel_use *uses, uint32_t n) {
  uint32_t kept = 0;
  qsort(uses, n, sizeof *uses, by_use);
  for (uint32_t i = 0; i < n; i++) {
    if (kept && by_use(&uses[kept - 1], &uses[i]) == 0) {
      uses[kept - 1].launches += uses[i].launches;
      uses[kept - 1].ns += uses[i].ns;
    } else {
      uses[kept++] = uses[i];
    }
  }
  return kept;
}

/* Which function launches a kernel: of label file:LINE function without the line, which moves. */
struct origin {
  const char *kernel, *site; /* site NULL: it has none, or several have launched it */
};

NAI_ORDER_BY(by_kernel, struct origin, strcmp(a->kernel, b->kernel))

static const char *without_line(struct nai_arena *arena, const char *label) {
  for (const char *at = strchr(label, ':'); at; at = strchr(at + 1, ':')) {
    size_t digits = strspn(at + 1, "0123456789");
    if (digits && at[1 + digits] == ' ')
      return nai_arena_printf(arena, "%.*s%s", (int)(at - label), label, at + 1 + digits);
  }
  return label;
}

/* Kernels of a side, each once. Of a launched graph it is not known where its kernels come from. */
static int read_origins(struct origin **out, size_t *count, struct nai_comparison *c, int s, struct nai_err *err) {
  struct origin *all;
  size_t n = 0, kept = 0;
  NAI_TRY(NAI_NEW(all, &c->arena, (size_t)nai_side_count(c->sides, s, &nai_call_site_kernels_schema), err));
  for (struct nai_side_rows r = nai_rows_of_side(c->sides, s, &nai_call_site_kernels_schema); nai_next_row(&r);) {
    struct CALL_SITE_KERNELS_row k = CALL_SITE_KERNELS_at(r.table, r.row);
    bool told = *k.label != '(' && strcmp(k.scope, "graph_launch") != 0;
    all[n++] = (struct origin){k.kernel_name, told ? without_line(&c->arena, k.label) : NULL};
  }
  qsort(all, n, sizeof *all, by_kernel);
  for (size_t i = 0; i < n; i++) {
    if (!kept || by_kernel(&all[kept - 1], &all[i]) != 0)
      all[kept++] = all[i];
    else if (!all[i].site || (all[kept - 1].site && strcmp(all[kept - 1].site, all[i].site) != 0))
      all[kept - 1].site = NULL;
  }
  *out = all;
  *count = kept;
  return nai_arena_check(&c->arena, err);
}

static int read_uses(struct nai_comparison *c, int s, struct nai_err *err) {
  struct nai_kernel_uses *uses = &c->uses[s];
  struct origin *origins;
  size_t origin_count;
  NAI_TRY(read_origins(&origins, &origin_count, c, s, err));
  NAI_TRY(NAI_NEW(uses->list, &c->arena, (size_t)nai_side_count(c->sides, s, &nai_kernel_paths_schema), err));
  for (struct nai_side_rows r = nai_rows_of_side(c->sides, s, &nai_kernel_paths_schema); nai_next_row(&r);) {
    struct KERNEL_PATHS_row k = KERNEL_PATHS_at(r.table, r.row);
    int64_t launches = c->by_step ? k.steady_call_count : k.call_count;
    if (launches > 0)
      uses->list[uses->count++] = (struct nai_kernel_use){k.kernel_name, k.category, k.nvtx_path, launches,
                                                          c->by_step ? k.steady_time_ns : k.total_time_ns};
  }
  uses->count = merge_uses(uses->list, uses->count);
  for (uint32_t i = 0; i < uses->count; i++) {
    struct nai_kernel_use *use = &uses->list[i];
    const struct origin *origin =
        bsearch(&(struct origin){.kernel = use->name}, origins, origin_count, sizeof *origins, by_kernel);
    use->site = origin && origin->site ? origin->site : "";
  }
  uses->steps = nai_comparison_divisor(c, s);
  return NAI_OK;
}

/* What the user calls a kernel. */
static const char *alias_of(const void *aliases, const char *name) {
  int class = nai_patterns_match(aliases, name);
  return class < 0 ? NULL : nai_patterns_class(aliases, class);
}

int nai_kernels_match(struct nai_comparison *c, struct nai_err *err) {
  const struct nai_patterns *aliases = c->options.aliases;
  for (int s = 0; s < NAI_SIDES; s++)
    NAI_TRY(read_uses(c, s, err));
  NAI_TRY(nai_match_kernels(&c->match, c->uses, aliases ? alias_of : NULL, aliases, &c->arena, err));
  return aliases ? nai_patterns_check(aliases, err) : NAI_OK;
}

/* --- what matching says ----------------------------------------------------------------------- */

static double mean_ns(const struct nai_match_part *part) { return (double)part->ns / (double)part->launches; }

/* All kernels longer or shorter by one factor: no change of a program does that. */
static int check_drift(struct nai_comparison *c, struct nai_err *err) {
  enum { MIN_KERNELS = 10 };
  const struct nai_match *m = &c->match;
  double *ratios;
  int64_t covered = 0;
  size_t n = 0;
  if (c->work.relaunched) /* calls of other sizes */
    return NAI_OK;
  NAI_TRY(NAI_NEW(ratios, &c->arena, m->count, err));
  for (uint32_t i = 0; i < m->count; i++) {
    const struct nai_match_part *base = &m->rows[i].of[NAI_BASE], *candidate = &m->rows[i].of[NAI_CANDIDATE];
    if (m->rows[i].state != NAI_MATCH_KERNEL || base->ns <= 0 || candidate->ns <= 0)
      continue;
    covered += base->ns;
    ratios[n++] = mean_ns(candidate) / mean_ns(base);
  }
  if (n < MIN_KERNELS || 2 * covered < m->ns[NAI_BASE])
    return NAI_OK;
  qsort(ratios, n, sizeof *ratios, nai_by_f64);
  double middle = ratios[n / 2], spread = ratios[(3 * n) / 4] - ratios[n / 4];
  if (spread > 0.01 || fabs(middle - 1) <= 0.01)
    return NAI_OK;
  struct nai_check check = {NAI_CHECK_DRIFT, NAI_CHECK_SOFT, NAI_SCOPE_NONE,
                            "all kernels are longer or shorter by the same factor: clocks, power limit, heat or "
                            "another GPU rather than code"};
  check.says[NAI_CANDIDATE] = nai_arena_printf(&c->arena, "x %.3f", middle);
  return nai_check_add(c, check, err);
}

static int check_names(struct nai_comparison *c, struct nai_err *err) {
  const struct nai_match *m = &c->match;
  double all = (double)m->ns[NAI_BASE] + (double)m->ns[NAI_CANDIDATE], matched = 0;
  for (int level = 0; level <= NAI_LEVEL_SITE; level++)
    matched += (double)m->level_ns[level];
  if (all <= 0 || 2 * matched >= all)
    return NAI_OK;
  struct nai_check check = {NAI_CHECK_KERNELS_DIFFER, NAI_CHECK_SOFT, NAI_SCOPE_NONE,
                            "most kernels of one side are not on the other: are these different programs?"};
  check.says[NAI_CANDIDATE] = nai_arena_printf(&c->arena, "%.1f %% of kernel time matched", 100 * matched / all);
  return nai_check_add(c, check, err);
}

static int check_launches(struct nai_comparison *c, struct nai_err *err) {
  struct nai_check check = {NAI_CHECK_LAUNCHES, NAI_CHECK_SOFT, NAI_SCOPE_NONE,
                            "kernel launches per step differ by more than 20 %: another model, batch or sequence "
                            "length?"};
  double n[NAI_SIDES] = {0};
  if (!c->by_step)
    return NAI_OK;
  for (int s = 0; s < NAI_SIDES; s++) {
    for (uint32_t i = 0; i < c->uses[s].count; i++)
      n[s] += (double)c->uses[s].list[i].launches;
    n[s] /= c->uses[s].steps;
    check.says[s] = nai_arena_printf(&c->arena, "%.1f per GPU and step", n[s]);
  }
  return fabs(n[0] - n[1]) <= 0.2 * fmax(n[0], n[1]) ? NAI_OK : nai_check_add(c, check, err);
}

int nai_check_kernels(struct nai_comparison *c, struct nai_err *err) {
  if (!nai_comparison_is_whole(c))
    return NAI_OK;
  NAI_TRY(check_names(c, err));
  NAI_TRY(check_drift(c, err));
  return check_launches(c, err);
}

/* --- the table -------------------------------------------------------------------------------- */

static const struct nai_kernel_use *member(const struct nai_comparison *c, const struct nai_match_row *m, int side,
                                           uint32_t i) {
  return &c->uses[side].list[c->match.members[side][m->of[side].first + i]];
}

/* Different names of the members of a side; they may repeat with other paths. NULL for none. */
static const char *members_of(struct nai_buf *out, const struct nai_comparison *c, const struct nai_match_row *m,
                              int side) {
  enum { MAX_SHOWN = 20 };
  uint32_t shown = 0, left = 0;
  for (uint32_t i = 0; i < m->of[side].count; i++) {
    const char *name = member(c, m, side, i)->name;
    if (i && strcmp(name, member(c, m, side, i - 1)->name) == 0)
      continue;
    if (shown == MAX_SHOWN)
      left++;
    else
      nai_buf_printf(out, "%s%s", shown++ ? " | " : "", name);
  }
  if (left)
    nai_buf_printf(out, " | and %u more", left);
  return m->of[side].count ? nai_buf_str(out) : NULL;
}

/* NULL where the row has several places, or none. */
static const char *path_of(const struct nai_comparison *c, const struct nai_match_row *m) {
  const char *path = NULL;
  for (int s = 0; s < NAI_SIDES; s++)
    for (uint32_t i = 0; i < m->of[s].count; i++) {
      const char *own = member(c, m, s, i)->path;
      if (path && strcmp(path, own) != 0)
        return NULL;
      path = own;
    }
  return path && *path ? path : NULL;
}

/* delta = (n_B - n_A) * mean_A + n_B * (mean_B - mean_A); only delta where a side has several kernels. */
static void set_terms(struct COMPARED_KERNELS_row *row, const struct nai_match_row *m) {
  row->delta_ns = row->new_time_ns - row->base_time_ns;
  if (m->state == NAI_MATCH_SPLIT || m->state == NAI_MATCH_MERGED || m->state == NAI_MATCH_REGROUPED)
    return;
  double more = (row->new_calls - row->base_calls) * row->base_time_ns / row->base_calls;
  double longer = row->delta_ns - more;
  row->count_term_ns = more;
  row->speed_term_ns = longer;
  row->change = fabs(more) > fabs(longer) ? more > 0 ? "more calls" : "fewer calls"
              : longer > 0                ? "slower calls"
              : longer < 0                ? "faster calls"
                                          : "same";
}

/* Of the shape with most time on each side. */
static void set_launch(struct COMPARED_KERNELS_row *row, struct nai_buf *change, struct nai_kernel_shapes base,
                       struct nai_kernel_shapes candidate) {
  if (base.count) {
    row->base_grid = base.list->grid;
    row->base_block = base.list->block;
    row->base_registers = base.list->registers;
    row->base_shared_bytes = base.list->shared_bytes;
    row->base_shapes = base.count;
  }
  if (candidate.count) {
    row->new_grid = candidate.list->grid;
    row->new_block = candidate.list->block;
    row->new_registers = candidate.list->registers;
    row->new_shared_bytes = candidate.list->shared_bytes;
    row->new_shapes = candidate.count;
  }
  if (nai_shapes_differ(base, candidate))
    nai_shapes_put_change(change, base, candidate);
  row->launch = change->len ? nai_buf_str(change) : NULL;
}

static int put_row(struct nai_table *t, const struct nai_comparison *c, const struct nai_match_row *m,
                   struct nai_err *err) {
  const struct nai_match_part *base = &m->of[NAI_BASE], *candidate = &m->of[NAI_CANDIDATE];
  const struct nai_kernel_use *first = member(c, m, candidate->count ? NAI_CANDIDATE : NAI_BASE, 0);
  NAI_SCOPED(nai_buf) base_names = {0}, candidate_names = {0}, launch = {0};
  struct COMPARED_KERNELS_row row =
      NAI_ROW(COMPARED_KERNELS, .kernel = first->name, .category = first->category, .nvtx_path = path_of(c, m),
              .state = nai_match_state_name(m->state), .base_kernels = members_of(&base_names, c, m, NAI_BASE),
              .new_kernels = members_of(&candidate_names, c, m, NAI_CANDIDATE));
  if (base->count) {
    row.base_calls = (double)base->launches / c->uses[NAI_BASE].steps;
    row.base_time_ns = (double)base->ns / c->uses[NAI_BASE].steps;
    row.base_sum_ns = base->ns;
  }
  if (candidate->count) {
    row.new_calls = (double)candidate->launches / c->uses[NAI_CANDIDATE].steps;
    row.new_time_ns = (double)candidate->ns / c->uses[NAI_CANDIDATE].steps;
    row.new_sum_ns = candidate->ns;
  }
  if (base->count && candidate->count) {
    row.level = nai_match_level_name(m->level);
    row.confidence = nai_match_level_confidence(m->level);
    set_terms(&row, m);
  }
  set_launch(&row, &launch, nai_shapes_of_row(c, m, NAI_BASE), nai_shapes_of_row(c, m, NAI_CANDIDATE));
  NAI_TRY(nai_buf_check(&launch, err));
  NAI_TRY(nai_buf_check(&base_names, err));
  NAI_TRY(nai_buf_check(&candidate_names, err));
  COMPARED_KERNELS_add(t, &row);
  return NAI_OK;
}

int nai_fill_kernels(struct nai_table *out, const struct nai_comparison *c, struct nai_err *err) {
  for (uint32_t i = 0; i < c->match.count; i++)
    NAI_TRY(put_row(out, c, &c->match.rows[i], err));
  return NAI_OK;
}
