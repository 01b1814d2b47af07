/* compare.md: what a reviewer has to know first, then tables, within what a comment may hold. */
#include "features/compare/internal.h"
#include "features/compare/markdown.h"
#include "features/compare/write.h"

#include "base/fmt.h"
#include "tables/compared_findings.h"
#include "tables/compared_time.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { MAX_METRICS = 40, MAX_FINDINGS = 15 };

/* --- the second line -------------------------------------------------------------------------- */

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
static void put_changed(struct nai_buf *out, const struct nai_comparison *c) {
  enum { NAMED = 4 };
  uint32_t changed = 0;
  for (uint32_t i = 0; i < c->result_count; i++) {
    const struct nai_metric_result *r = &c->results[i];
    if (r->judgement.verdict != NAI_VERDICT_CHANGED || strcmp(r->basis, "step") != 0 || changed++ >= NAMED)
      continue;
    nai_buf_puts(out, "; ");
    nai_markdown_put_text(out, r->title);
    nai_buf_putc(out, ' ');
    nai_put_amount(out, r->unit, r->judgement.base, false);
    nai_buf_puts(out, " -> ");
    nai_put_amount(out, r->unit, r->judgement.fresh, false);
  }
  if (changed > NAMED)
    nai_buf_printf(out, "; %u more metrics changed", changed - NAMED);
}

static void put_where(struct nai_buf *out, const struct nai_comparison *c) {
  const struct nai_table *t = c->tables[NAI_COMPARED_TIME];
  double delta = t->rows ? nai_get_f64(t, 0, COMPARED_TIME_delta_ns) : 0;
  const double worth = 0.01; /* of the whole: captures of one program differ by as much */
  int64_t part = largest_child(t, "whole", delta), cause = -1;
  if (part < 0 || fabs(delta) < worth * nai_get_f64(t, 0, COMPARED_TIME_base_time_ns))
    return;
  nai_markdown_put_ns(out, nai_get_f64(t, part, COMPARED_TIME_delta_ns), true);
  nai_buf_puts(out, " of ");
  nai_markdown_put_ns(out, delta, true);
  nai_buf_printf(out, " per GPU and %s is %s", c->by_step ? "step" : "run", nai_get_str(t, part, COMPARED_TIME_title));
  cause = largest_child(t, nai_get_str(t, part, COMPARED_TIME_part), nai_get_f64(t, part, COMPARED_TIME_delta_ns));
  if (cause >= 0) {
    nai_buf_puts(out, ", most of it ");
    nai_markdown_put_text(out, nai_get_str(t, cause, COMPARED_TIME_title));
    nai_buf_puts(out, " (");
    nai_markdown_put_ns(out, nai_get_f64(t, cause, COMPARED_TIME_delta_ns), true);
    nai_buf_putc(out, ')');
  }
  put_changed(out, c);
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
  for (uint32_t i = 0; i < c->check_count && !nai_markdown_full(out); i++) {
    const struct nai_check *check = &c->checks[i];
    nai_buf_printf(out, check->level == NAI_CHECK_HARD ? "- **%s** `%s`: " : "- %s `%s`: ", nai_check_word(check),
                   nai_check_name(check->code));
    nai_markdown_put_text(out, check->reason);
    if (check->base || check->fresh) {
      nai_buf_puts(out, " (");
      nai_markdown_put_text(out, check->base ? check->base : "");
      nai_buf_puts(out, check->base && check->fresh ? " against " : "");
      nai_markdown_put_text(out, check->fresh ? check->fresh : "");
      nai_buf_putc(out, ')');
    }
    nai_buf_putc(out, '\n');
  }
  for (uint32_t i = 0; i < c->result_count && !nai_markdown_full(out); i++)
    if (nai_gate_caveat(&c->results[i])) {
      const struct nai_metric_result *r = &c->results[i];
      nai_buf_puts(out, "- caveat ");
      nai_markdown_put_code(out, r->id);
      nai_buf_puts(out, ": ");
      nai_put_amount(out, r->unit, r->judgement.base, false);
      nai_buf_puts(out, " -> ");
      nai_put_amount(out, r->unit, r->judgement.fresh, false);
      nai_buf_putc(out, '\n');
    }
  nai_buf_putc(out, '\n');
}

/* Gated ones and context, and others that say something. */
static bool is_shown(const struct nai_metric_result *r) {
  switch (r->judgement.verdict) {
  case NAI_VERDICT_SAME:
  case NAI_VERDICT_SKIPPED:
  case NAI_VERDICT_WITHIN_BUDGET:
  case NAI_VERDICT_NOT_PROVEN:
  case NAI_VERDICT_NOTED:
  case NAI_VERDICT_ERROR:
    return (r->gated || strcmp(r->gate, "context") == 0) && r->judgement.verdict != NAI_VERDICT_SKIPPED;
  default:
    return true;
  }
}

/* What the gate asks about and finds in order needs no row of its own; step time has one always. */
static bool is_in_order(const struct nai_metric_result *r, enum nai_verdict verdict) {
  return r->gated && r->judgement.verdict == verdict && strcmp(r->id, "step.time.median") != 0;
}

/* Whether there was any. */
static bool put_in_order(struct nai_buf *out, const struct nai_comparison *c, enum nai_verdict verdict,
                         const char *title) {
  uint32_t shown = 0;
  for (uint32_t i = 0; i < c->result_count && !nai_markdown_full(out); i++) {
    if (!is_in_order(&c->results[i], verdict))
      continue;
    nai_buf_puts(out, shown++ ? ", " : title);
    nai_markdown_put_code(out, c->results[i].id);
  }
  if (shown)
    nai_buf_puts(out, ".\n");
  return shown > 0;
}

static void put_metric(struct nai_buf *out, const struct nai_comparison *c, const struct nai_metric_result *r) {
  const struct nai_judgement *j = &r->judgement;
  nai_buf_puts(out, "| ");
  nai_markdown_put_code(out, r->id);
  nai_buf_printf(out, "%s | ", strcmp(r->basis, "second") == 0 ? " per second" : "");
  nai_put_amount(out, r->unit, j->base, false);
  nai_buf_puts(out, " | ");
  nai_put_amount(out, r->unit, j->fresh, false);
  nai_buf_puts(out, " | ");
  nai_put_amount(out, r->unit, j->compared ? j->shift.shift : NAN, true);
  if (j->compared && !isnan(j->pct) && strcmp(r->unit, "percent") != 0)
    nai_put_pct(out, j->pct);
  nai_buf_puts(out, " | ");
  if (j->compared && j->shift.has_ci && strcmp(r->kind, "exact") != 0) {
    nai_put_amount(out, r->unit, j->shift.low, true);
    nai_buf_puts(out, " ... ");
    nai_put_amount(out, r->unit, j->shift.high, true);
  } else {
    nai_buf_puts(out, "-");
  }
  nai_buf_puts(out, " | ");
  nai_put_allowed(out, r);
  nai_buf_puts(out, r->gated ? " | **" : " | ");
  nai_put_decision(out, c, r);
  nai_buf_puts(out, r->gated ? "** | " : " | ");
  nai_markdown_put_text(out, j->reason);
  nai_buf_puts(out, " |\n");
}

static void put_metrics(struct nai_buf *out, const struct nai_comparison *c) {
  uint32_t shown = 0, left = 0;
  nai_buf_puts(out, "## Metrics\n\n");
  bool any = put_in_order(out, c, NAI_VERDICT_SAME, "The same on both sides: ");
  any |= put_in_order(out, c, NAI_VERDICT_WITHIN_BUDGET, "Within their budgets: ");
  for (uint32_t i = 0; i < c->result_count; i++) {
    const struct nai_metric_result *r = &c->results[i];
    if (!is_shown(r) || is_in_order(r, NAI_VERDICT_SAME) || is_in_order(r, NAI_VERDICT_WITHIN_BUDGET))
      continue;
    if (shown == MAX_METRICS || nai_markdown_full(out)) {
      left++;
      continue;
    }
    if (!shown++)
      nai_buf_printf(out,
                     "%s| Metric | Base | New | Difference | 95 %% interval | Budget | Verdict | |\n"
                     "|---|---:|---:|---:|---:|---:|---|---|\n",
                     any ? "\n" : "");
    put_metric(out, c, r);
  }
  nai_buf_printf(out, "%s%s%s%u metrics compared; all are in `tables/compared_metrics.csv`.\n\n",
                 any || shown ? "\n" : "",
                 shown ? "Gated metrics are bold, with what a gate makes of their verdicts unless it is a pass. " : "",
                 left ? "Not all are shown. " : "", c->result_count);
}

static void put_time(struct nai_buf *out, const struct nai_comparison *c) {
  const struct nai_table *t = c->tables[NAI_COMPARED_TIME];
  nai_buf_printf(out,
                 "## Where the time went\n\nPer GPU and %s; means, for only these add up. The parts of a part add up "
                 "to it.\n\n| Part | Base | New | Difference | Of the whole |\n|---|---:|---:|---:|---:|\n",
                 c->by_step ? "steady step" : "run");
  for (int64_t row = 0; row < t->rows && !nai_markdown_full(out); row++) {
    if (nai_get_i64(t, row, COMPARED_TIME_base_sum_ns) == 0 && nai_get_i64(t, row, COMPARED_TIME_new_sum_ns) == 0)
      continue; /* nothing, on either side */
    nai_buf_puts(out, "| ");
    for (int64_t depth = nai_get_i64(t, row, COMPARED_TIME_depth); depth > 0; depth--)
      nai_buf_puts(out, "&nbsp;&nbsp;&nbsp;");
    nai_markdown_put_text(out, nai_get_str(t, row, COMPARED_TIME_title));
    nai_buf_puts(out, " | ");
    nai_markdown_put_ns(out, nai_get_f64(t, row, COMPARED_TIME_base_time_ns), false);
    nai_buf_puts(out, " | ");
    nai_markdown_put_ns(out, nai_get_f64(t, row, COMPARED_TIME_new_time_ns), false);
    nai_buf_puts(out, " | ");
    nai_markdown_put_ns(out, nai_get_f64(t, row, COMPARED_TIME_delta_ns), true);
    double pct = nai_get_f64(t, row, COMPARED_TIME_delta_pct_of_whole);
    nai_buf_puts(out, " | ");
    if (isnan(pct))
      nai_buf_putc(out, '-');
    else
      nai_fmt_change(out, pct, 2);
    nai_buf_puts(out, " |\n");
  }
  nai_buf_putc(out, '\n');
}

/* How many captures of a side have a finding, of how many. */
struct share {
  int64_t runs, of;
};

static struct share share_of(const struct nai_comparison *c, const struct nai_table *t, int64_t row) {
  enum nai_side_id side = nai_get_i64(t, row, COMPARED_FINDINGS_new_captures) ? NAI_NEW : NAI_BASE;
  return (struct share){nai_get_i64(t, row,
                                    side == NAI_NEW ? COMPARED_FINDINGS_new_captures : COMPARED_FINDINGS_base_captures),
                        c->sides[side].count};
}

static void put_findings(struct nai_buf *out, const struct nai_comparison *c) {
  const struct nai_table *t = c->tables[NAI_COMPARED_FINDINGS];
  int shown = 0;
  for (int64_t row = 0; row < t->rows && shown < MAX_FINDINGS && !nai_markdown_full(out); row++) {
    const char *state = nai_get_str(t, row, COMPARED_FINDINGS_state);
    struct share share = share_of(c, t, row);
    if (strcmp(state, "same") == 0 || 2 * share.runs < share.of) /* what few captures have is no difference of sides */
      continue;
    if (!shown++)
      nai_buf_puts(out, "## Findings\n\n");
    nai_buf_printf(out, "- %s: `%s` ", state, nai_get_str(t, row, COMPARED_FINDINGS_id));
    if (*nai_get_str(t, row, COMPARED_FINDINGS_base_severity))
      nai_buf_printf(out, "%s", nai_get_str(t, row, COMPARED_FINDINGS_base_severity));
    if (strcmp(state, "changed") == 0)
      nai_buf_puts(out, " -> ");
    nai_buf_printf(out, "%s: ", nai_get_str(t, row, COMPARED_FINDINGS_new_severity));
    nai_markdown_put_text(out, nai_get_str(t, row, COMPARED_FINDINGS_title));
    if (share.runs < share.of)
      nai_buf_printf(out, " (in %" PRId64 " of %" PRId64 " captures)", share.runs, share.of);
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
    for (uint32_t i = 0; i < c->sides[s].count && i < NAMED && !nai_markdown_full(out); i++) {
      nai_buf_puts(out, i ? ", " : " ");
      nai_markdown_put_code(out, c->sides[s].captures[i].label);
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
  nai_markdown_put_text(out, nai_buf_str(&verdict));
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
    nai_markdown_put_kernels(out, c);
    nai_markdown_put_differences(out, c->tables[NAI_COMPARED_RANGES], "NVTX ranges", "ns");
    nai_markdown_put_differences(out, c->tables[NAI_COMPARED_PHASES], "Phases", "ns");
    nai_markdown_put_differences(out, c->tables[NAI_COMPARED_COPIES], "Copies", "bytes");
    put_findings(out, c);
  }
  put_captures(out, c);
}
