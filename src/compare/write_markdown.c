/* compare.md: what a reviewer has to know first, then tables, within what a comment may hold. */
#include "compare/internal.h"
#include "compare/write.h"

#include "base/fmt.h"
#include "base/text.h"
#include "render/escape.h"
#include "table/kernel_name.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
  MOST_METRICS = 40,
  MOST_KERNELS = 20,
  MOST_RANGES = 10,
  MOST_FINDINGS = 15,
  MOST_CHARS = 80,
  LAST_ROW_AT = 56000
};

static bool full(const struct nai_buf *out) { return out->len > LAST_ROW_AT; }

/* A text of a trace as code, cut. */
static void put_code(struct nai_buf *out, const char *text) {
  struct nai_buf cut = {0};
  nai_text_cut(&cut, text, strlen(text), MOST_CHARS);
  nai_escape_markdown_code(out, nai_buf_str(&cut), cut.len);
  out->oom |= cut.oom;
  nai_buf_free(&cut);
}

static void put_text(struct nai_buf *out, const char *text) {
  struct nai_buf cut = {0};
  nai_text_cut(&cut, text, strlen(text), 3 * MOST_CHARS);
  nai_escape_markdown(out, nai_buf_str(&cut), cut.len);
  out->oom |= cut.oom;
  nai_buf_free(&cut);
}

static void put_ns(struct nai_buf *out, double ns, bool sign) { nai_put_amount(out, "ns", ns, sign); }

/* --- the second line -------------------------------------------------------------------------- */

/* The child of a part with the largest share of its difference, -1 for none. */
static int64_t largest_child(const struct nai_table *t, const char *parent, double delta) {
  int64_t best = -1;
  for (int64_t row = 0; row < t->rows; row++) {
    double own = nai_get_f64(t, row, PT_DELTA);
    if (strcmp(nai_get_str(t, row, PT_PARENT), parent) != 0 || own * delta <= 0)
      continue;
    if (best < 0 || fabs(own) > fabs(nai_get_f64(t, best, PT_DELTA)))
      best = row;
  }
  return best;
}

static void put_where(struct nai_buf *out, const struct nai_comparison *c) {
  const struct nai_table *t = c->tables[NAI_COMPARED_TIME];
  double delta = t->rows ? nai_get_f64(t, 0, PT_DELTA) : 0;
  int64_t part = largest_child(t, "whole", delta), cause = -1;
  if (part < 0)
    return;
  put_ns(out, nai_get_f64(t, part, PT_DELTA), true);
  nai_buf_puts(out, " of ");
  put_ns(out, delta, true);
  nai_buf_printf(out, " per GPU and %s is %s", c->by_step ? "step" : "run", nai_get_str(t, part, PT_TITLE));
  cause = largest_child(t, nai_get_str(t, part, PT_PART), nai_get_f64(t, part, PT_DELTA));
  if (cause >= 0) {
    nai_buf_puts(out, ", most of it ");
    put_text(out, nai_get_str(t, cause, PT_TITLE));
    nai_buf_puts(out, " (");
    put_ns(out, nai_get_f64(t, cause, PT_DELTA), true);
    nai_buf_putc(out, ')');
  }
  for (uint32_t i = 0; i < c->result_count; i++) {
    const struct nai_metric_result *r = &c->results[i];
    if (r->judgement.verdict != NAI_VERDICT_CHANGED || strcmp(r->basis, "step") != 0)
      continue;
    nai_buf_puts(out, "; ");
    put_text(out, r->title);
    nai_buf_putc(out, ' ');
    nai_put_amount(out, r->unit, r->judgement.base, false);
    nai_buf_puts(out, " -> ");
    nai_put_amount(out, r->unit, r->judgement.fresh, false);
  }
  nai_buf_puts(out, ".\n\n");
}

/* --- sections --------------------------------------------------------------------------------- */

static void put_checks(struct nai_buf *out, const struct nai_comparison *c) {
  bool any = c->check_count > 0;
  for (uint32_t i = 0; i < c->result_count; i++)
    any |= nai_gate_caveat(&c->results[i]);
  if (!any)
    return;
  nai_buf_puts(out, "## Can they be compared?\n\n");
  for (uint32_t i = 0; i < c->check_count && !full(out); i++) {
    const struct nai_check *check = &c->checks[i];
    nai_buf_printf(out, check->level == NAI_CHECK_HARD ? "- **%s** `%s`: " : "- %s `%s`: ", check_word(check),
                   nai_check_name(check->code));
    put_text(out, check->reason);
    if (check->base || check->fresh) {
      nai_buf_puts(out, " (");
      put_text(out, check->base ? check->base : "-");
      nai_buf_puts(out, " against ");
      put_text(out, check->fresh ? check->fresh : "-");
      nai_buf_putc(out, ')');
    }
    nai_buf_putc(out, '\n');
  }
  for (uint32_t i = 0; i < c->result_count && !full(out); i++)
    if (nai_gate_caveat(&c->results[i])) {
      const struct nai_metric_result *r = &c->results[i];
      nai_buf_puts(out, "- caveat ");
      put_code(out, r->id);
      nai_buf_puts(out, ": ");
      nai_put_amount(out, r->unit, r->judgement.base, false);
      nai_buf_puts(out, " -> ");
      nai_put_amount(out, r->unit, r->judgement.fresh, false);
      nai_buf_putc(out, '\n');
    }
  nai_buf_putc(out, '\n');
}

/* Gated ones, and others that say something. */
static bool is_shown(const struct nai_metric_result *r) {
  switch (r->judgement.verdict) {
  case NAI_VERDICT_SAME:
  case NAI_VERDICT_SKIPPED:
  case NAI_VERDICT_WITHIN_BUDGET:
  case NAI_VERDICT_NOT_PROVEN:
  case NAI_VERDICT_NOTED:
  case NAI_VERDICT_ERROR:
    return r->gated && r->judgement.verdict != NAI_VERDICT_SKIPPED;
  default:
    return true;
  }
}

static void put_metric(struct nai_buf *out, const struct nai_metric_result *r) {
  const struct nai_judgement *j = &r->judgement;
  bool decided = j->verdict != NAI_VERDICT_ERROR && j->verdict != NAI_VERDICT_SKIPPED && !isnan(j->base);
  nai_buf_puts(out, "| ");
  put_code(out, r->id);
  nai_buf_printf(out, "%s | ", strcmp(r->basis, "second") == 0 ? " per second" : "");
  nai_put_amount(out, r->unit, j->base, false);
  nai_buf_puts(out, " | ");
  nai_put_amount(out, r->unit, j->fresh, false);
  nai_buf_puts(out, " | ");
  nai_put_amount(out, r->unit, decided ? j->shift.shift : NAN, true);
  if (decided && !isnan(j->pct) && strcmp(r->unit, "percent") != 0)
    nai_buf_printf(out, " (%+.1f %%)", j->pct);
  nai_buf_puts(out, " | ");
  if (decided && j->shift.has_ci && strcmp(r->kind, "exact") != 0) {
    nai_put_amount(out, r->unit, j->shift.low, true);
    nai_buf_puts(out, " ... ");
    nai_put_amount(out, r->unit, j->shift.high, true);
  } else {
    nai_buf_puts(out, "-");
  }
  nai_buf_puts(out, " | ");
  nai_put_amount(out, r->unit, j->budget, false);
  nai_buf_printf(out, " | %s%s%s |", r->gated ? "**" : "", nai_verdict_name(j->verdict), r->gated ? "**" : "");
  nai_buf_putc(out, ' ');
  put_text(out, j->reason);
  nai_buf_puts(out, " |\n");
}

static void put_metrics(struct nai_buf *out, const struct nai_comparison *c) {
  uint32_t shown = 0, left = 0;
  nai_buf_puts(out, "## Metrics\n\n| Metric | Base | New | Difference | 95 % interval | Budget | Verdict | |\n"
                    "|---|---:|---:|---:|---:|---:|---|---|\n");
  for (uint32_t i = 0; i < c->result_count; i++) {
    if (!is_shown(&c->results[i]))
      continue;
    if (shown == MOST_METRICS || full(out))
      left++;
    else if (++shown)
      put_metric(out, &c->results[i]);
  }
  nai_buf_printf(out, "\nGated metrics are bold. %s%u metrics compared; all are in `tables/compared_metrics.csv`.\n\n",
                 left ? "Not all are shown. " : "", c->result_count);
}

static void put_time(struct nai_buf *out, const struct nai_comparison *c) {
  const struct nai_table *t = c->tables[NAI_COMPARED_TIME];
  nai_buf_printf(out,
                 "## Where the time went\n\nPer GPU and %s; means, for only these add up. The parts of a part add up "
                 "to it.\n\n| Part | Base | New | Difference | Of the whole |\n|---|---:|---:|---:|---:|\n",
                 c->by_step ? "steady step" : "run");
  for (int64_t row = 0; row < t->rows && !full(out); row++) {
    nai_buf_puts(out, "| ");
    for (int64_t depth = nai_get_i64(t, row, PT_DEPTH); depth > 0; depth--)
      nai_buf_puts(out, "&nbsp;&nbsp;&nbsp;");
    put_text(out, nai_get_str(t, row, PT_TITLE));
    nai_buf_puts(out, " | ");
    put_ns(out, nai_get_f64(t, row, PT_BASE_NS), false);
    nai_buf_puts(out, " | ");
    put_ns(out, nai_get_f64(t, row, PT_NEW_NS), false);
    nai_buf_puts(out, " | ");
    put_ns(out, nai_get_f64(t, row, PT_DELTA), true);
    double pct = nai_get_f64(t, row, PT_PCT);
    if (isnan(pct))
      nai_buf_puts(out, " | - |\n");
    else
      nai_buf_printf(out, " | %+.2f %% |\n", pct);
  }
  nai_buf_putc(out, '\n');
}

/* By how much a row moves a side's time. */
static double weight(const struct nai_table *t, int64_t row) {
  double base = nai_get_f64(t, row, KT_BASE_NS), fresh = nai_get_f64(t, row, KT_NEW_NS);
  return fabs((isnan(fresh) ? 0 : fresh) - (isnan(base) ? 0 : base));
}

static int by_weight(const void *a, const void *b, void *table) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  double dx = weight(table, x), dy = weight(table, y);
  return dx > dy ? -1 : dx < dy ? 1 : (x > y) - (x < y);
}

static void put_kernel(struct nai_buf *out, const struct nai_table *t, int64_t row) {
  struct nai_buf name = {0};
  nai_kernel_name_short(&name, nai_get_str(t, row, KT_KERNEL), MOST_CHARS);
  nai_buf_puts(out, "| ");
  put_code(out, nai_buf_str(&name));
  if (*nai_get_str(t, row, KT_PATH)) {
    nai_buf_puts(out, " in ");
    put_code(out, nai_get_str(t, row, KT_PATH));
  }
  nai_buf_printf(out, " | %s%s%s%s | ", nai_get_str(t, row, KT_STATE), *nai_get_str(t, row, KT_CONFIDENCE) ? " (" : "",
                 nai_get_str(t, row, KT_CONFIDENCE), *nai_get_str(t, row, KT_CONFIDENCE) ? ")" : "");
  nai_put_amount(out, "count", nai_get_f64(t, row, KT_BASE_CALLS), false);
  nai_buf_puts(out, " -> ");
  nai_put_amount(out, "count", nai_get_f64(t, row, KT_NEW_CALLS), false);
  nai_buf_puts(out, " | ");
  put_ns(out, nai_get_f64(t, row, KT_BASE_NS), false);
  nai_buf_puts(out, " -> ");
  put_ns(out, nai_get_f64(t, row, KT_NEW_NS), false);
  nai_buf_puts(out, " | ");
  put_ns(out, nai_get_f64(t, row, KT_DELTA), true);
  nai_buf_printf(out, " | %s |\n", nai_get_str(t, row, KT_CHANGE));
  out->oom |= name.oom;
  nai_buf_free(&name);
}

static void put_levels(struct nai_buf *out, const struct nai_comparison *c) {
  double all = (double)c->match.base_ns + (double)c->match.new_ns;
  if (all <= 0)
    return;
  nai_buf_puts(out, "Kernel time matched by ");
  for (int level = 0; level < NAI_LEVEL_COUNT; level++) {
    nai_buf_printf(out, "%s%s (%s) ", level ? ", " : "", nai_match_level_name((enum nai_match_level)level),
                   nai_match_level_confidence((enum nai_match_level)level));
    nai_fmt_percent(out, 100 * (double)c->match.level_ns[level] / all);
  }
  nai_buf_puts(out, "; on one side only ");
  nai_fmt_percent(out, 100 * (double)c->match.only_ns / all);
  nai_buf_puts(out, ".\n\n");
}

static void put_kernels(struct nai_buf *out, const struct nai_comparison *c) {
  struct nai_table *t = c->tables[NAI_COMPARED_KERNELS];
  int64_t *order = malloc(((size_t)t->rows + 1) * sizeof *order), shown = 0;
  if (!order) {
    out->oom = true;
    return;
  }
  for (int64_t i = 0; i < t->rows; i++)
    order[i] = i;
  qsort_r(order, (size_t)t->rows, sizeof *order, by_weight, t);
  nai_buf_puts(out, "## Kernels\n\n");
  put_levels(out, c);
  if (t->rows && weight(t, order[0]) > 0)
    nai_buf_puts(out, "| Kernel | Match | Calls | Time | Difference | |\n|---|---|---:|---:|---:|---|\n");
  for (; shown < t->rows && shown < MOST_KERNELS && weight(t, order[shown]) > 0 && !full(out); shown++)
    put_kernel(out, t, order[shown]);
  nai_buf_puts(out, shown ? "\n" : "No kernel differs.\n\n");
  free(order);
}

static int by_delta(const void *a, const void *b, void *table) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  double dx = fabs(nai_get_f64(table, x, DT_DELTA)), dy = fabs(nai_get_f64(table, y, DT_DELTA));
  dx = isnan(dx) ? -1 : dx;
  dy = isnan(dy) ? -1 : dy;
  return dx > dy ? -1 : dx < dy ? 1 : (x > y) - (x < y);
}

/* Ranges, phases or copies that both sides have, those that differ most first. */
static void put_differences(struct nai_buf *out, struct nai_table *t, const char *title, const char *unit) {
  int64_t *order = malloc(((size_t)t->rows + 1) * sizeof *order), shown = 0;
  if (!order) {
    out->oom = true;
    return;
  }
  for (int64_t i = 0; i < t->rows; i++)
    order[i] = i;
  qsort_r(order, (size_t)t->rows, sizeof *order, by_delta, t);
  for (; shown < t->rows && shown < MOST_RANGES && !full(out); shown++) {
    int64_t row = order[shown];
    double delta = nai_get_f64(t, row, DT_DELTA);
    if (!(fabs(delta) > 0))
      break;
    if (!shown)
      nai_buf_printf(out,
                     "## %s\n\nPer capture.\n\n| Name | Count | Base | New | Difference |\n|---|---:|---:|---:|---:|\n",
                     title);
    nai_buf_puts(out, "| ");
    put_code(out, nai_get_str(t, row, DT_NAME));
    nai_buf_puts(out, " | ");
    nai_put_amount(out, "count", nai_get_f64(t, row, DT_BASE_COUNT), false);
    nai_buf_puts(out, " -> ");
    nai_put_amount(out, "count", nai_get_f64(t, row, DT_NEW_COUNT), false);
    nai_buf_puts(out, " | ");
    nai_put_amount(out, unit, nai_get_f64(t, row, DT_BASE), false);
    nai_buf_puts(out, " | ");
    nai_put_amount(out, unit, nai_get_f64(t, row, DT_NEW), false);
    nai_buf_puts(out, " | ");
    nai_put_amount(out, unit, delta, true);
    nai_buf_puts(out, " |\n");
  }
  if (shown)
    nai_buf_putc(out, '\n');
  free(order);
}

static void put_findings(struct nai_buf *out, const struct nai_comparison *c) {
  const struct nai_table *t = c->tables[NAI_COMPARED_FINDINGS];
  int shown = 0;
  for (int64_t row = 0; row < t->rows && shown < MOST_FINDINGS && !full(out); row++) {
    const char *state = nai_get_str(t, row, FT_STATE);
    if (strcmp(state, "same") == 0)
      continue;
    if (!shown++)
      nai_buf_puts(out, "## Findings\n\n");
    nai_buf_printf(out, "- %s: `%s` ", state, nai_get_str(t, row, FT_ID));
    if (*nai_get_str(t, row, FT_BASE_SEVERITY))
      nai_buf_printf(out, "%s", nai_get_str(t, row, FT_BASE_SEVERITY));
    if (strcmp(state, "changed") == 0)
      nai_buf_puts(out, " -> ");
    nai_buf_printf(out, "%s: ", nai_get_str(t, row, FT_NEW_SEVERITY));
    put_text(out, nai_get_str(t, row, FT_TITLE));
    nai_buf_putc(out, '\n');
  }
  if (shown)
    nai_buf_putc(out, '\n');
}

static void put_captures(struct nai_buf *out, const struct nai_comparison *c) {
  enum { NAMED = 20 };
  nai_buf_puts(out, "## Captures\n\n");
  for (int s = 0; s < NAI_SIDES; s++) {
    nai_buf_printf(out, "- %s:", s == NAI_BASE ? "base" : "new");
    for (uint32_t i = 0; i < c->sides[s].count && i < NAMED && !full(out); i++) {
      nai_buf_puts(out, i ? ", " : " ");
      put_code(out, c->sides[s].captures[i].label);
    }
    nai_buf_printf(out, "%s\n", c->sides[s].count > NAMED ? ", ..." : "");
  }
  nai_buf_puts(out,
               "\nA capture counts as one sample. The spread within a capture says nothing about the spread between "
               "captures.\n");
}

void nai_write_markdown(struct nai_buf *out, const struct nai_comparison *c) {
  struct nai_buf verdict = {0};
  nai_write_verdict(&verdict, c);
  put_text(out, nai_buf_str(&verdict));
  nai_buf_puts(out, "\n\n");
  out->oom |= verdict.oom;
  nai_buf_free(&verdict);
  bool both = c->sides[NAI_BASE].count && c->sides[NAI_NEW].count;
  if (both && !nai_comparison_obstacle(c))
    put_where(out, c);
  put_checks(out, c);
  put_metrics(out, c);
  if (both) {
    put_time(out, c);
    put_kernels(out, c);
    put_differences(out, c->tables[NAI_COMPARED_RANGES], "NVTX ranges", "ns");
    put_differences(out, c->tables[NAI_COMPARED_PHASES], "Phases", "ns");
    put_differences(out, c->tables[NAI_COMPARED_COPIES], "Copies", "bytes");
    put_findings(out, c);
  }
  put_captures(out, c);
}
