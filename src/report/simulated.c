#include "report/simulated.h"

#include "base/fmt.h"

#include <math.h>
#include <string.h>

bool nai_report_simulated(struct WHAT_IF_row *out, const struct nai_report *report,
                          const struct FINDINGS_row *finding) {
  const struct nai_table *changes = nai_report_table(report, "what_if");
  for (int64_t i = 0; *finding->change && i < changes->rows; i++) {
    *out = WHAT_IF_at(changes, i);
    if (strcmp(out->change, finding->change) == 0)
      return out->saving_ns != NAI_NULL_I64;
  }
  return false;
}

void nai_report_put_simulated(struct nai_buf *out, const struct WHAT_IF_row *simulated) {
  bool window = strcmp(simulated->scope, "window") == 0;
  const char *one = strcmp(simulated->scope, "unit") == 0 ? "repetition" : simulated->scope;
  if (strcmp(simulated->state, "within_error") == 0) {
    nai_buf_printf(out, "less than 4 %% of %s %s", window ? "the" : "a", one);
    return;
  }
  if (strcmp(simulated->state, "bound_only") == 0)
    nai_buf_puts(out, "at most ");
  nai_fmt_duration(out, (double)simulated->saving_ns);
  nai_buf_printf(out, " %s %s", window ? "of the" : "per", one);
  if (isnan(simulated->saving_pct))
    return;
  nai_buf_puts(out, " (");
  nai_fmt_percent(out, simulated->saving_pct);
  nai_buf_putc(out, ')');
}
