#include "report/simulated.h"

#include "base/fmt.h"

void nai_report_put_simulated(struct nai_buf *out, const struct FINDINGS_row *finding) {
  bool window = strcmp(finding->simulated_of, "window") == 0;
  const char *one = strcmp(finding->simulated_of, "unit") == 0 ? "repetition" : finding->simulated_of;
  if (strcmp(finding->simulated_state, "within_error") == 0) {
    nai_buf_printf(out, "less than 4 %% of %s %s", window ? "the" : "a", one);
    return;
  }
  if (finding->simulated_ns <= 0) {
    nai_buf_puts(out, "nothing");
    return;
  }
  if (strcmp(finding->simulated_state, "bound_only") == 0)
    nai_buf_puts(out, "at most ");
  nai_fmt_duration(out, (double)finding->simulated_ns);
  if (!window && finding->simulated_now_ns > 0) {
    nai_buf_puts(out, " of ");
    nai_fmt_duration(out, (double)finding->simulated_now_ns);
  }
  nai_buf_printf(out, " %s %s", window ? "of the" : "per", one);
  if (isnan(finding->simulated_pct))
    return;
  nai_buf_puts(out, " (");
  nai_fmt_percent(out, finding->simulated_pct);
  nai_buf_putc(out, ')');
}
