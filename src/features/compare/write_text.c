/* Amounts and verdicts in words. */
#include "base/fmt.h"
#include "features/compare/write.h"

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
  if (sign && fabs(value) > 0)
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

void nai_put_decision(struct nai_buf *out, const struct nai_comparison *c, const struct nai_metric_result *r) {
  enum nai_outcome outcome = r->gated ? nai_gate_outcome(c, r) : NAI_OUTCOME_SKIP;
  nai_buf_puts(out, nai_verdict_name(r->judgement.verdict));
  if (outcome != NAI_OUTCOME_PASS && outcome != NAI_OUTCOME_SKIP)
    nai_buf_printf(out, " (gate: %s)", nai_outcome_name(outcome));
}
