/* The verdict: how to read the capture, then what costs most and where. */
#include "report/report.h"

#include "base/fmt.h"
#include "base/text.h"
#include "tables/events.h"
#include "tables/capture_health.h"
#include "tables/data_quality.h"
#include "tables/findings.h"
#include "tables/gpu_active.h"
#include "tables/gpu_utilization.h"
#include "tables/idle_causes.h"
#include "tables/nvtx_ranges.h"
#include "tables/workload.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

enum nai_severity nai_report_severity(const struct nai_table *findings, int64_t row) {
  int severity = nai_severity_from_name(nai_get_str(findings, row, FINDINGS_severity));
  return severity < 0 ? NAI_SEVERITY_INFO : (enum nai_severity)severity;
}

/* "PyTorch training in Python": what the program was recognised as; "" for plain CUDA. */
static const char *program(const struct nai_report *report) {
  const struct nai_table *workload = nai_report_table(report, "workload");
  for (int64_t i = 0; i < workload->rows; i++)
    if (nai_get_i64(workload, i, WORKLOAD_pid) == NAI_NULL_I64)
      return nai_get_str(workload, i, WORKLOAD_program);
  return "";
}

/* Whether a check of the capture came to a state. */
static bool found(const struct nai_report *report, const char *check, const char *state) {
  const struct nai_table *health = nai_report_table(report, "capture_health");
  for (int64_t i = 0; i < health->rows; i++)
    if (strcmp(nai_get_str(health, i, CAPTURE_HEALTH_check), check) == 0)
      return strcmp(nai_get_str(health, i, CAPTURE_HEALTH_state), state) == 0;
  return false;
}

/* --- what GPUs did -------------------------------------------------------------------------------- */

struct part {
  int active, window; /* columns of gpu_active and gpu_utilization */
  const char *text;
};

static void put_percent(struct nai_buf *out, double low, double high) {
  if (high - low >= 0.05) {
    nai_fmt_real(out, low, 1);
    nai_buf_putc(out, '-');
  }
  nai_fmt_real(out, high, 1);
  nai_buf_puts(out, " %");
}

/* "2 GPUs, active for 299.8 ms: 84.6-85.8 % compute, 8.7-10.5 % idle." */
static void put_partition(struct nai_buf *out, const struct nai_report *report) {
  static const struct part parts[] = {{GPU_ACTIVE_compute_pct, GPU_UTILIZATION_compute_pct, "compute"},
                                      {GPU_ACTIVE_exposed_comm_pct, GPU_UTILIZATION_exposed_comm_pct,
                                       "exposed communication"},
                                      {GPU_ACTIVE_exposed_copy_pct, GPU_UTILIZATION_exposed_copy_pct, "exposed copies"},
                                      {GPU_ACTIVE_idle_pct, GPU_UTILIZATION_idle_pct_of_window, "idle"}};
  const struct nai_table *gpus = nai_report_table(report, "gpu_active");
  bool active = gpus->rows > 0;
  gpus = active ? gpus : nai_report_table(report, "gpu_utilization");
  int64_t longest = 0;
  for (int64_t i = 0; i < gpus->rows; i++) {
    int64_t ns = nai_get_i64(gpus, i, active ? (int)GPU_ACTIVE_active_ns : (int)GPU_UTILIZATION_window_ns);
    longest = ns > longest ? ns : longest;
  }
  nai_fmt_count(out, gpus->rows);
  nai_buf_puts(out, gpus->rows == 1 ? " GPU" : " GPUs");
  nai_buf_puts(out, found(report, "gpus_shared", "note") ? " shared by processes, active for " : ", active for ");
  nai_fmt_duration(out, (double)longest);
  const char *separator = ": ";
  for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
    double low = INFINITY, high = -INFINITY;
    for (int64_t i = 0; i < gpus->rows; i++) {
      double v = nai_get_f64(gpus, i, active ? parts[p].active : parts[p].window);
      low = v < low ? v : low;
      high = v > high ? v : high;
    }
    if (!(high >= 0.05))
      continue;
    nai_buf_puts(out, separator);
    put_percent(out, low, high);
    nai_buf_printf(out, " %s", parts[p].text);
    separator = ", ";
  }
  nai_buf_putc(out, '.');
}

/* --- losses --------------------------------------------------------------------------------------- */

/* The next finding that costs time, from `row` on; -1 for none. */
static int64_t next_loss(const struct nai_table *findings, int64_t row) {
  for (; row < findings->rows; row++)
    if (nai_report_severity(findings, row) > NAI_SEVERITY_INFO && nai_get_i64(findings, row, FINDINGS_leads) != 1)
      return row;
  return -1;
}

static void put_share(struct nai_buf *out, const struct FINDINGS_row *finding) {
  if (!isnan(finding->pct_of_active))
    nai_fmt_percent(out, finding->pct_of_active);
}

/* A title within a sentence: without its capital, unless that belongs to a name. */
static void put_within(struct nai_buf *out, const char *title) {
  size_t word = strcspn(title, " ");
  bool name = false;
  for (size_t i = 1; i < word; i++)
    name |= isupper((unsigned char)title[i]) != 0;
  if (*title)
    nai_buf_printf(out, "%c%s", name ? *title : tolower((unsigned char)*title), title + 1);
}

/* What a share is of: a pause is no part of the active time. */
static void put_base(struct nai_buf *out, const struct FINDINGS_row *finding) {
  if (*finding->share_of)
    nai_buf_printf(out, " of the %s", finding->share_of);
}

/* The loss that is named behind the first one; -1: none is worth it. */
static int64_t second_loss(const struct nai_table *findings, int64_t first) {
  int64_t next = next_loss(findings, first + 1);
  while (next >= 0 && *nai_get_str(findings, next, FINDINGS_part_of))
    next = next_loss(findings, next + 1);
  return next >= 0 && nai_report_severity(findings, next) >= NAI_SEVERITY_MEDIUM ? next : -1;
}

/* "; then title (place, 12 %)" */
static void put_second(struct nai_buf *out, const struct FINDINGS_row *first, const struct FINDINGS_row *second) {
  const char *place = strcmp(second->scope, "run") == 0 ? second->place : "";
  nai_buf_puts(out, "; then ");
  put_within(out, second->title);
  if (second->saving_ns == NAI_NULL_I64)
    return;
  nai_buf_printf(out, " (%s%s", place, *place ? ", " : "");
  put_share(out, second);
  if (strcmp(second->share_of, first->share_of) != 0)
    put_base(out, second);
  nai_buf_putc(out, ')');
}

static void put_loss(struct nai_buf *out, const struct nai_table *findings, int64_t row) {
  const struct FINDINGS_row first = FINDINGS_at(findings, row);
  int64_t next = second_loss(findings, row);
  nai_buf_puts(out, first.title);
  if (*first.place)
    nai_buf_printf(out, " (%s)", first.place);
  if (first.saving_ns != NAI_NULL_I64) {
    nai_buf_puts(out, ", potential saving ");
    nai_fmt_duration(out, (double)first.saving_ns);
    nai_buf_puts(out, " (");
    put_share(out, &first);
    put_base(out, &first);
    nai_buf_putc(out, ')');
    if (strcmp(first.scope, "run") != 0)
      nai_buf_printf(out, " on %s", first.scope);
  }
  if (next >= 0) {
    const struct FINDINGS_row second = FINDINGS_at(findings, next);
    put_second(out, &first, &second);
  }
  nai_buf_putc(out, '.');
}

/* A larger loss than `loss` (-1: none) that was rated lower, with the reason: else the reader wonders why the first
 * finding is not that one. */
static void put_larger(struct nai_buf *out, const struct nai_table *findings, int64_t loss) {
  int64_t most = loss < 0 ? 0 : nai_get_i64(findings, loss, FINDINGS_saving_ns), at = -1;
  for (int64_t i = 0; i < findings->rows; i++) {
    const struct FINDINGS_row finding = FINDINGS_at(findings, i);
    if (i == loss || finding.saving_ns == NAI_NULL_I64 || finding.saving_ns <= most || !*finding.reason ||
        *finding.part_of || isnan(finding.pct_of_active))
      continue;
    most = finding.saving_ns;
    at = i;
  }
  if (at < 0)
    return;
  const struct FINDINGS_row larger = FINDINGS_at(findings, at);
  if (loss >= 0 && at == second_loss(findings, loss)) { /* just named */
    nai_buf_printf(out, " The latter is larger but less certain: %s.", larger.reason);
    return;
  }
  nai_buf_puts(out, loss < 0 ? " Less certain: " : " Larger but less certain: ");
  put_within(out, larger.title);
  nai_buf_puts(out, " (");
  put_share(out, &larger);
  nai_buf_printf(out, "; %s).", larger.reason);
}

/* --- no loss -------------------------------------------------------------------------------------- */

/* The cause of most idle time of all GPUs; NULL: there is no idle time. */
static const char *main_cause(const struct nai_report *report) {
  const struct nai_table *causes = nai_report_table(report, "idle_causes");
  const char *cause = NULL;
  for (int64_t i = 0, most = 0; i < causes->rows; i++)
    if (nai_get_i64(causes, i, IDLE_CAUSES_active_ns) > most) {
      most = nai_get_i64(causes, i, IDLE_CAUSES_active_ns);
      cause = nai_get_str(causes, i, IDLE_CAUSES_cause);
    }
  return cause ? nai_column_label(&causes->schema->columns[IDLE_CAUSES_cause], cause) : NULL;
}

/* Why there is nothing to act on: what fills the time. A GPU that is idle is never called well used. */
static void put_no_loss(struct nai_buf *out, const struct nai_report *report) {
  enum { IDLE_PCT = 10 };
  const struct nai_table *gpus = nai_report_table(report, "gpu_active");
  double idle = 0, copy = 0;
  for (int64_t i = 0; i < gpus->rows; i++) {
    double idle_pct = nai_get_f64(gpus, i, GPU_ACTIVE_idle_pct),
           copy_pct = nai_get_f64(gpus, i, GPU_ACTIVE_exposed_copy_pct);
    idle = idle_pct > idle ? idle_pct : idle;
    copy = copy_pct > copy ? copy_pct : copy;
  }
  const char *cause = main_cause(report);
  if (idle >= IDLE_PCT && cause)
    nai_buf_printf(out, " No actionable finding: most idle time is %s.", cause);
  else
    nai_buf_puts(out, idle + copy >= IDLE_PCT ? " No actionable finding."
                                              : " No actionable finding: compute fills the time.");
}

/* --- the capture ---------------------------------------------------------------------------------- */

/* Tables of which data_quality has that check, behind `words`: "NVTX_EVENTS (1,204 rows). " */
static void put_tables(struct nai_buf *out, const struct nai_table *quality, const char *check, const char *words) {
  bool any = false;
  for (int64_t i = 0; i < quality->rows; i++) {
    const struct DATA_QUALITY_row row = DATA_QUALITY_at(quality, i);
    if (strcmp(row.check, check) != 0)
      continue;
    nai_buf_printf(out, "%s%s", any ? ", " : words, row.source_table);
    any = true;
    if (row.count <= 0) /* nobody can tell any more */
      continue;
    nai_buf_puts(out, " (");
    nai_fmt_count(out, row.count);
    nai_buf_puts(out, row.count == 1 ? " row)" : " rows)");
  }
  if (any)
    nai_buf_puts(out, ". ");
}

/* Before all else: what is not there cannot be told from what was never recorded. */
static void put_missing(struct nai_buf *out, const struct nai_report *report) {
  const struct nai_table *quality = nai_report_table(report, "data_quality");
  put_tables(out, quality, NAI_CHECK_DAMAGE, "The trace is damaged; left out: ");
  put_tables(out, quality, "rows-missing", "Rows are missing from the trace, deleted or lost: ");
}

/* Without GPU activity ranges are what there is. */
static void put_longest_range(struct nai_buf *out, const struct nai_report *report) {
  enum { NAME_MAX_BYTES = 72 };
  const struct nai_table *ranges = nai_report_table(report, "nvtx_ranges");
  int64_t most = 0;
  for (int64_t i = 1; i < ranges->rows; i++)
    most = nai_get_i64(ranges, i, NVTX_RANGES_total_time_ns) > nai_get_i64(ranges, most, NVTX_RANGES_total_time_ns)
             ? i
             : most;
  if (!ranges->rows)
    return;
  const struct NVTX_RANGES_row range = NVTX_RANGES_at(ranges, most);
  nai_buf_puts(out, " The range with most time is ");
  nai_text_cut(out, range.range_name, strlen(range.range_name), NAME_MAX_BYTES);
  nai_buf_puts(out, ": ");
  nai_fmt_duration(out, (double)range.total_time_ns);
  nai_buf_puts(out, " in ");
  nai_fmt_count(out, range.count);
  nai_buf_puts(out, range.count == 1 ? " execution." : " executions.");
}

/* How to read the others: "A; b". False: there are none. */
static bool put_leading(struct nai_buf *out, const struct nai_table *findings) {
  int64_t i = 0;
  for (; i < findings->rows && nai_get_i64(findings, i, FINDINGS_leads) == 1; i++) {
    const char *title = nai_get_str(findings, i, FINDINGS_title);
    nai_buf_puts(out, i ? "; " : "");
    if (i)
      put_within(out, title);
    else
      nai_buf_puts(out, title);
  }
  return i > 0;
}

void nai_report_verdict(struct nai_buf *out, enum nai_severity *severity, const struct nai_report *report) {
  const struct nai_table *findings = nai_report_table(report, "findings");
  /* Copies without the kernels that were launched say nothing on time that was lost. */
  bool recorded = !found(report, "gpu_activity_recorded", "problem");
  bool gpus = recorded && nai_report_table(report, "gpu_utilization")->rows > 0;
  int64_t loss = next_loss(findings, 0);
  *severity = NAI_SEVERITY_INFO;
  for (int64_t i = 0; i < findings->rows; i++)
    if (nai_report_severity(findings, i) > *severity)
      *severity = nai_report_severity(findings, i);
  put_missing(out, report);
  const char *what = program(report);
  bool leads = findings->rows && nai_get_i64(findings, 0, FINDINGS_leads) == 1;
  if (*what)
    nai_buf_printf(out, "%s%s", what, gpus && !leads ? " on " : ". ");
  bool led = put_leading(out, findings);
  if (led)
    nai_buf_putc(out, '.');
  else if (gpus)
    put_partition(out, report);
  else
    nai_buf_puts(out, "No GPU activity records.");
  if (loss >= 0) {
    nai_buf_putc(out, ' ');
    put_loss(out, findings, loss);
  } else if (gpus) {
    if (led) {
      nai_buf_putc(out, ' ');
      put_partition(out, report);
    }
    put_no_loss(out, report);
  } else if (found(report, "cuda_traced", "problem")) {
    nai_buf_puts(out, " Record with nsys profile --trace=cuda,nvtx,osrt.");
    put_longest_range(out, report);
  }
  if (recorded)
    put_larger(out, findings, loss);
}
