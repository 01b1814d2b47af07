/* Sentences: amounts, the verdict line. */
#include "base/fmt.h"
#include "base/scope.h"
#include "features/compare/write.h"

#include <math.h>
#include <string.h>

/* With as many decimals as three digits need. */
static void put_count(struct nai_buf *out, double value) {
  double size = fabs(value);
  nai_fmt_real(out, value, size >= 100 || floor(size) >= size ? 0 : size >= 10 ? 1 : 2);
}

void nai_put_pct(struct nai_buf *out, double pct) {
  nai_buf_puts(out, " (");
  nai_fmt_change(out, pct, 1);
  nai_buf_putc(out, ')');
}

void nai_put_amount(struct nai_buf *out, const char *unit, double value, bool sign) {
  if (isnan(value)) {
    nai_buf_puts(out, "-");
    return;
  }
  if (sign)
    nai_buf_puts(out, value < 0 ? "-" : "+");
  double size = sign ? fabs(value) : value;
  if (strcmp(unit, "ns") == 0) {
    if (size < 0)
      nai_buf_putc(out, '-');
    nai_fmt_duration(out, fabs(size));
  } else if (strcmp(unit, "bytes") == 0) {
    nai_fmt_bytes(out, size);
  } else if (strcmp(unit, "percent") == 0) {
    nai_fmt_real(out, size, 2);
    nai_buf_puts(out, sign ? " pt" : " %");
  } else {
    put_count(out, size);
    nai_buf_puts(out, strcmp(unit, "gb_per_s") == 0 ? " GB/s" : "");
  }
}

static void put_signed_pct(struct nai_buf *out, double pct) {
  nai_buf_puts(out, pct < 0 ? "-" : "+");
  nai_fmt_real(out, fabs(pct), fabs(pct) < 10 ? 1 : 0);
}

/* "(+6.6 %, 95 % CI +5.1 ... +8.0 %, 5 + 5 captures)" */
static void put_doubt(struct nai_buf *out, const struct nai_metric_result *r) {
  const struct nai_judgement *j = &r->judgement;
  bool relative = !isnan(j->pct) && strcmp(r->def.unit, "percent") != 0;
  double scale = relative ? 100 / fabs(j->base) : 1;
  nai_buf_puts(out, " (");
  if (relative) {
    put_signed_pct(out, j->pct);
    nai_buf_puts(out, " %");
  } else {
    nai_put_amount(out, r->def.unit, j->shift.shift, true);
  }
  if (j->shift.has_ci && strcmp(r->def.kind, "exact") != 0) {
    nai_buf_puts(out, ", 95 % CI ");
    if (relative) {
      put_signed_pct(out, j->shift.low * scale);
      nai_buf_puts(out, " ... ");
      put_signed_pct(out, j->shift.high * scale);
      nai_buf_puts(out, " %");
    } else {
      nai_put_amount(out, r->def.unit, j->shift.low, true);
      nai_buf_puts(out, " ... ");
      nai_put_amount(out, r->def.unit, j->shift.high, true);
    }
  }
  nai_buf_printf(out, ", %u + %u captures)", r->count[NAI_BASE], r->count[NAI_CANDIDATE]);
}

void nai_put_allowed(struct nai_buf *out, const struct nai_metric_result *r) {
  const struct nai_judgement *j = &r->judgement;
  bool limited = !isnan(j->limit);
  nai_buf_puts(out, limited ? "limit " : "");
  nai_put_amount(out, r->def.unit,
                 limited                           ? j->limit
                 : j->verdict == NAI_VERDICT_NOTED ? (double)NAN
                                                   : j->budget,
                 false);
}

void nai_put_decision(struct nai_buf *out, const struct nai_comparison *c, const struct nai_metric_result *r) {
  enum nai_outcome outcome = r->gated ? nai_gate_outcome(c, r) : NAI_OUTCOME_SKIP;
  nai_buf_puts(out, nai_verdict_name(r->judgement.verdict));
  if (outcome != NAI_OUTCOME_PASS && outcome != NAI_OUTCOME_SKIP)
    nai_buf_printf(out, " (gate: %s)", nai_outcome_name(outcome));
}

static void put_budget(struct nai_buf *out, const struct nai_metric_result *r) {
  const struct nai_judgement *j = &r->judgement;
  if (!isnan(j->limit)) {
    nai_buf_puts(out, ", ");
    nai_put_allowed(out, r);
  }
  if (!isnan(j->limit) || isnan(j->budget) || j->verdict == NAI_VERDICT_NOTED)
    return;
  nai_buf_puts(out, ", budget ");
  nai_put_amount(out, r->def.unit, j->budget, false);
  if (j->budget_below_noise)
    nai_buf_puts(out, " (raised: below noise)");
}

static uint32_t worse_beside(const struct nai_comparison *c, const struct nai_metric_result *head,
                             struct nai_buf *names) {
  enum { NAMED = 4 };
  uint32_t n = 0;
  for (uint32_t i = 0; i < c->result_count; i++) {
    const struct nai_metric_result *r = &c->results[i];
    if (r == head || !r->gated ||
        (r->judgement.verdict != NAI_VERDICT_REGRESSED && r->judgement.verdict != NAI_VERDICT_CHANGED))
      continue;
    if (n++ < NAMED)
      nai_buf_printf(names, "%s%s", n > 1 ? ", " : "", r->def.metric);
  }
  return n;
}

void nai_write_verdict(struct nai_buf *out, const struct nai_comparison *c) {
  const struct nai_check *obstacle = nai_comparison_obstacle(c);
  const struct nai_metric_result *r = nai_headline(c);
  NAI_SCOPED(nai_buf) names = {0};
  if (obstacle) {
    nai_buf_printf(out, "Not comparable (%s): %s.", nai_check_name(obstacle->code), obstacle->reason);
    return;
  }
  if (!r) {
    nai_buf_puts(out, "Nothing to compare: the runs have no metrics.");
    return;
  }
  const struct nai_judgement *j = &r->judgement;
  nai_buf_printf(out, "%s ", r->def.title);
  if (c->sides[NAI_BASE].count) {
    nai_put_amount(out, r->def.unit, j->base, false);
    nai_buf_puts(out, " -> ");
  }
  nai_put_amount(out, r->def.unit, j->candidate, false);
  if (j->compared)
    put_doubt(out, r);
  nai_buf_printf(out, ": %s", nai_verdict_name(j->verdict));
  if (*j->reason &&
      (j->verdict == NAI_VERDICT_ERROR || j->verdict == NAI_VERDICT_SUSPECT || j->verdict == NAI_VERDICT_NOT_PROVEN))
    nai_buf_printf(out, " (%s)", j->reason);
  put_budget(out, r);
  uint32_t others = worse_beside(c, r, &names);
  if (others)
    nai_buf_printf(out, "; %u other gated metric%s worse: %s%s", others, others == 1 ? " is" : "s are",
                   nai_buf_str(&names), others > 4 ? ", ..." : "");
  nai_buf_putc(out, '.');
  out->oom |= names.oom;
}
