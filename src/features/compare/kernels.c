/* Kernels of both sides, matched: uses summed over the captures of a side, rows with what each adds to the difference,
 * and what matching says about comparability. */
#include "features/compare/internal.h"

#include "table/kernel_name.h"
#include "tables/compared_kernels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- uses ------------------------------------------------------------------------------------- */

static int by_use(const void *pa, const void *pb) {
  const struct nai_kernel_use *a = pa, *b = pb;
  int order = strcmp(a->name, b->name);
  return order ? order : strcmp(a->path, b->path);
}

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

static int read_uses(struct nai_comparison *c, int s, struct nai_err *err) {
  const struct nai_side *side = &c->sides[s];
  const char *calls = c->by_step ? "steady_call_count" : "call_count";
  const char *ns = c->by_step ? "steady_time_ns" : "total_time_ns";
  uint32_t n = 0;
  c->uses[s] = calloc((size_t)nai_side_rows(side, "kernel_paths", NULL, NULL) + 1, sizeof *c->uses[s]);
  if (!c->uses[s])
    return nai_err_nomem(err);
  for (uint32_t i = 0; i < side->count; i++) {
    const struct nai_table *t = nai_capture_table(&side->captures[i], "kernel_paths");
    for (int64_t row = 0; t && row < t->rows; row++) {
      int64_t launches = nai_cell_i64(t, row, calls);
      if (launches > 0)
        c->uses[s][n++] =
            (struct nai_kernel_use){nai_cell_str(t, row, "kernel_name"), nai_cell_str(t, row, "category"),
                                    nai_cell_str(t, row, "nvtx_path"), launches, nai_cell_i64(t, row, ns)};
    }
  }
  c->use_count[s] = merge_uses(c->uses[s], n);
  return NAI_OK;
}

/* What the user calls a kernel. */
static const char *alias_of(const void *aliases, const char *name) {
  int class = nai_patterns_match(aliases, name);
  return class < 0 ? NULL : nai_patterns_class(aliases, class);
}

int nai_kernels_match(struct nai_comparison *c, struct nai_err *err) {
  int rc = read_uses(c, NAI_BASE, err);
  if (!rc)
    rc = read_uses(c, NAI_NEW, err);
  if (!rc)
    rc = nai_match_kernels(&c->match, c->uses[NAI_BASE], c->use_count[NAI_BASE],
                           c->divisor[NAI_BASE] ? (double)c->divisor[NAI_BASE] : 1, c->uses[NAI_NEW],
                           c->use_count[NAI_NEW], c->divisor[NAI_NEW] ? (double)c->divisor[NAI_NEW] : 1,
                           c->options.aliases ? alias_of : NULL, c->options.aliases, err);
  return rc || !c->options.aliases ? rc : nai_patterns_check(c->options.aliases, err);
}

/* --- what matching says ----------------------------------------------------------------------- */

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* All kernels longer or shorter by one factor: no change of a program does that. */
static int check_drift(struct nai_comparison *c, struct nai_err *err) {
  enum { FEWEST = 10 };
  const struct nai_match *m = &c->match;
  double *ratios = malloc(((size_t)m->count + 1) * sizeof *ratios);
  int64_t covered = 0;
  size_t n = 0;
  if (!ratios)
    return nai_err_nomem(err);
  for (uint32_t i = 0; i < m->count; i++) {
    const struct nai_match_row *row = &m->rows[i];
    if (row->state != NAI_MATCH_KERNEL || row->base_ns <= 0 || row->new_ns <= 0)
      continue;
    covered += row->base_ns;
    ratios[n++] =
        ((double)row->new_ns / (double)row->new_launches) / ((double)row->base_ns / (double)row->base_launches);
  }
  qsort(ratios, n, sizeof *ratios, by_value);
  bool enough = n >= FEWEST && 2 * covered >= m->base_ns;
  double middle = enough ? ratios[n / 2] : 1, spread = enough ? ratios[(3 * n) / 4] - ratios[n / 4] : 1;
  free(ratios);
  if (!enough || spread > 0.01 || fabs(middle - 1) <= 0.01)
    return NAI_OK;
  char text[32];
  snprintf(text, sizeof text, "x %.3f", middle);
  return nai_check_add(
      c,
      &(struct nai_check){NAI_CHECK_DRIFT, NAI_CHECK_SOFT, NAI_SCOPE_NONE, NULL, NULL, text,
                          (char *)"all kernels are longer or shorter by the same factor: clocks, power "
                                  "limit, heat or another GPU rather than code"},
      err);
}

static int check_names(struct nai_comparison *c, struct nai_err *err) {
  const struct nai_match *m = &c->match;
  double all = (double)m->base_ns + (double)m->new_ns, matched = 0;
  char text[48];
  for (int level = 0; level <= NAI_LEVEL_TUNING; level++)
    matched += (double)m->level_ns[level];
  if (all <= 0 || 2 * matched >= all)
    return NAI_OK;
  snprintf(text, sizeof text, "%.1f %% of kernel time matched", 100 * matched / all);
  return nai_check_add(c,
                       &(struct nai_check){NAI_CHECK_KERNELS_DIFFER, NAI_CHECK_SOFT, NAI_SCOPE_NONE, NULL, NULL, text,
                                           (char *)"most kernels of one side are not on the other: are these different "
                                                   "programs?"},
                       err);
}

static int check_launches(struct nai_comparison *c, struct nai_err *err) {
  double n[NAI_SIDES] = {0};
  char texts[NAI_SIDES][32];
  if (!c->by_step)
    return NAI_OK;
  for (int s = 0; s < NAI_SIDES; s++) {
    for (uint32_t i = 0; i < c->use_count[s]; i++)
      n[s] += (double)c->uses[s][i].launches;
    n[s] /= c->divisor[s] ? (double)c->divisor[s] : 1;
    snprintf(texts[s], sizeof texts[s], "%.1f per GPU and step", n[s]);
  }
  if (fabs(n[0] - n[1]) <= 0.2 * fmax(n[0], n[1]))
    return NAI_OK;
  return nai_check_add(c,
                       &(struct nai_check){NAI_CHECK_LAUNCHES, NAI_CHECK_SOFT, NAI_SCOPE_NONE, NULL, texts[0], texts[1],
                                           (char *)"kernel launches per step differ by more than 20 %: another model, "
                                                   "batch or sequence length?"},
                       err);
}

int nai_checks_of_kernels(struct nai_comparison *c, struct nai_err *err) {
  if (!c->sides[NAI_BASE].count || !c->sides[NAI_NEW].count)
    return NAI_OK;
  int rc = check_names(c, err);
  if (!rc)
    rc = check_drift(c, err);
  return rc ? rc : check_launches(c, err);
}

/* --- the table -------------------------------------------------------------------------------- */

/* Different names of some members; they may repeat with other paths. */
static void put_members(struct nai_table *t, int64_t row, int column, const struct nai_kernel_use *uses,
                        const uint32_t *members, uint32_t n) {
  enum { MOST = 20 };
  struct nai_buf text = {0};
  uint32_t shown = 0, left = 0;
  for (uint32_t i = 0; i < n; i++) {
    if (i && strcmp(uses[members[i]].name, uses[members[i - 1]].name) == 0)
      continue;
    if (shown == MOST)
      left++;
    else
      nai_buf_printf(&text, "%s%s", shown++ ? " | " : "", uses[members[i]].name);
  }
  if (left)
    nai_buf_printf(&text, " | and %u more", left);
  if (n)
    nai_set_str(t, row, column, nai_buf_str(&text));
  t->oom |= text.oom;
  nai_buf_free(&text);
}

static void put_path(struct nai_table *t, int64_t row, const struct nai_comparison *c, const struct nai_match_row *m) {
  const char *path = NULL;
  for (uint32_t i = 0; i < m->base_count + m->new_count; i++) {
    bool fresh = i >= m->base_count;
    uint32_t at =
        fresh ? c->match.new_members[m->new_first + i - m->base_count] : c->match.base_members[m->base_first + i];
    const char *own = c->uses[fresh ? NAI_NEW : NAI_BASE][at].path;
    if (path && strcmp(path, own) != 0)
      return;
    path = own;
  }
  if (path && *path)
    nai_set_str(t, row, COMPARED_KERNELS_nvtx_path, path);
}

/* delta = (n_B - n_A) * mean_A + n_B * (mean_B - mean_A); only delta where a side has several kernels, nothing where it
 * has none. */
static void put_terms(struct nai_table *t, int64_t row, const struct nai_match_row *m, const double calls[NAI_SIDES],
                      const double ns[NAI_SIDES]) {
  double delta = ns[NAI_NEW] - ns[NAI_BASE];
  bool both = m->base_count && m->new_count;
  if (both)
    nai_set_f64(t, row, COMPARED_KERNELS_delta_ns, delta);
  if (!both || m->state == NAI_MATCH_SPLIT || m->state == NAI_MATCH_MERGED || m->state == NAI_MATCH_REGROUPED)
    return;
  double more = (calls[NAI_NEW] - calls[NAI_BASE]) * ns[NAI_BASE] / calls[NAI_BASE], longer = delta - more;
  nai_set_f64(t, row, COMPARED_KERNELS_count_term_ns, more);
  nai_set_f64(t, row, COMPARED_KERNELS_speed_term_ns, longer);
  const char *change = fabs(more) > fabs(longer) ? more > 0 ? "more calls" : "fewer calls"
                     : longer > 0                ? "slower calls"
                     : longer < 0                ? "faster calls"
                                                 : "same";
  nai_set_str(t, row, COMPARED_KERNELS_change, change);
}

static void put_row(struct nai_table *t, const struct nai_comparison *c, const struct nai_match_row *m) {
  const double per[NAI_SIDES] = {c->divisor[0] ? (double)c->divisor[0] : 1, c->divisor[1] ? (double)c->divisor[1] : 1};
  const double calls[NAI_SIDES] = {(double)m->base_launches / per[0], (double)m->new_launches / per[1]};
  const double ns[NAI_SIDES] = {(double)m->base_ns / per[0], (double)m->new_ns / per[1]};
  const struct nai_kernel_use *first = m->new_count ? &c->uses[NAI_NEW][c->match.new_members[m->new_first]]
                                                    : &c->uses[NAI_BASE][c->match.base_members[m->base_first]];
  int64_t row = nai_table_add_row(t);
  nai_set_str(t, row, COMPARED_KERNELS_kernel, first->name);
  nai_set_str(t, row, COMPARED_KERNELS_category, first->category);
  put_path(t, row, c, m);
  nai_set_str(t, row, COMPARED_KERNELS_state, nai_match_state_name(m->state));
  if (m->base_count && m->new_count) {
    nai_set_str(t, row, COMPARED_KERNELS_level, nai_match_level_name(m->level));
    nai_set_str(t, row, COMPARED_KERNELS_confidence, nai_match_level_confidence(m->level));
  }
  if (m->base_count) {
    nai_set_f64(t, row, COMPARED_KERNELS_base_calls, calls[NAI_BASE]);
    nai_set_f64(t, row, COMPARED_KERNELS_base_time_ns, ns[NAI_BASE]);
    nai_set_i64(t, row, COMPARED_KERNELS_base_sum_ns, m->base_ns);
  }
  if (m->new_count) {
    nai_set_f64(t, row, COMPARED_KERNELS_new_calls, calls[NAI_NEW]);
    nai_set_f64(t, row, COMPARED_KERNELS_new_time_ns, ns[NAI_NEW]);
    nai_set_i64(t, row, COMPARED_KERNELS_new_sum_ns, m->new_ns);
  }
  put_terms(t, row, m, calls, ns);
  put_members(t, row, COMPARED_KERNELS_base_kernels, c->uses[NAI_BASE], c->match.base_members + m->base_first,
              m->base_count);
  put_members(t, row, COMPARED_KERNELS_new_kernels, c->uses[NAI_NEW], c->match.new_members + m->new_first,
              m->new_count);
}

int nai_kernels_table(struct nai_table **out, const struct nai_comparison *c, struct nai_err *err) {
  int rc = nai_table_new(out, &nai_compared_kernels_schema, err);
  for (uint32_t i = 0; !rc && i < c->match.count; i++)
    put_row(*out, c, &c->match.rows[i]);
  return rc;
}
