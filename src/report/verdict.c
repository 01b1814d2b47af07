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
#include "tables/nvtx_ranges.h"
#include "tables/workload.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

enum nai_severity nai_report_severity(const struct nai_table *findings, int64_t row) {
  int severity = nai_severity_from_name(nai_get_str(findings, row, FINDINGS_severity));
  return severity < 0 ? NAI_SEVERITY_INFO : (enum nai_severity)severity;
}

/* A framework as it writes itself. */
static const char *written(const char *value) {
  static const char *const names[][2] = {
      {"pytorch", "PyTorch"}, {"tensorrt", "TensorRT"}, {"jax", "JAX"},
      {"cupy", "CuPy"},       {"openacc", "OpenACC"},   {"openmp", "OpenMP"},
      {"vllm", "vLLM"},       {"sglang", "SGLang"},     {"tensorflow", "TensorFlow"}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(names[i][0], value) == 0)
      return names[i][1];
  return value;
}

/* "PyTorch", "TensorRT": what the program was recognised as; nothing for plain CUDA. */
static bool put_framework(struct nai_buf *out, const struct nai_report *report) {
  const struct nai_table *workload = nai_report_table(report, "workload");
  bool any = false;
  for (int64_t i = 0; i < workload->rows; i++) {
    const char *value = nai_get_str(workload, i, WORKLOAD_value);
    if (strcmp(nai_get_str(workload, i, WORKLOAD_aspect), "framework") != 0 || strcmp(value, "unknown") == 0 ||
        strcmp(value, "cuda") == 0 || !(nai_get_f64(workload, i, WORKLOAD_confidence) >= 50))
      continue;
    nai_buf_printf(out, "%s%s", any ? ", " : "", written(value));
    any = true;
  }
  return any;
}

/* Whether a check of the capture came to a state. */
static bool found(const struct nai_report *report, const char *check, const char *state) {
  const struct nai_table *health = nai_report_table(report, "capture_health");
  for (int64_t i = 0; i < health->rows; i++)
    if (strcmp(nai_get_str(health, i, CAPTURE_HEALTH_check), check) == 0)
      return strcmp(nai_get_str(health, i, CAPTURE_HEALTH_state), state) == 0;
  return false;
}

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

/* "2 GPUs, active for 299.8 ms: 84.6-85.8 % computing, 8.7-10.5 % idle." */
static void put_partition(struct nai_buf *out, const struct nai_report *report) {
  static const struct part parts[] = {
      {GPU_ACTIVE_compute_pct, GPU_UTILIZATION_compute_pct, "computing"},
      {GPU_ACTIVE_exposed_comm_pct, GPU_UTILIZATION_exposed_comm_pct, "in communication that nothing hides"},
      {GPU_ACTIVE_exposed_copy_pct, GPU_UTILIZATION_exposed_copy_pct, "in copies that nothing hides"},
      {GPU_ACTIVE_idle_pct, GPU_UTILIZATION_idle_pct_of_window, "idle"}};
  const struct nai_table *gpus = nai_report_table(report, "gpu_active");
  bool active = gpus->rows > 0;
  gpus = active ? gpus : nai_report_table(report, "gpu_utilization");
  int64_t longest = 0;
  for (int64_t i = 0; i < gpus->rows; i++) {
    int64_t ns = nai_get_i64(gpus, i, active ? (int)GPU_ACTIVE_active_ns : (int)GPU_UTILIZATION_window_ns);
    longest = ns > longest ? ns : longest;
  }
  if (put_framework(out, report))
    nai_buf_puts(out, " on ");
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

static bool leads(const struct nai_table *findings, int64_t row) {
  return nai_get_i64(findings, row, FINDINGS_leads) == 1;
}

/* The next finding that costs time, from `row` on; -1 for none. */
static int64_t next_loss(const struct nai_table *findings, int64_t row) {
  for (; row < findings->rows; row++)
    if (nai_report_severity(findings, row) > NAI_SEVERITY_INFO && !leads(findings, row))
      return row;
  return -1;
}

static void put_share(struct nai_buf *out, const struct nai_table *findings, int64_t row) {
  double pct = nai_get_f64(findings, row, FINDINGS_pct_of_active);
  if (!isnan(pct))
    nai_fmt_percent(out, pct);
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
static void put_base(struct nai_buf *out, const struct nai_table *findings, int64_t row) {
  const char *base = nai_get_str(findings, row, FINDINGS_share_of);
  if (*base)
    nai_buf_printf(out, " of the %s", base);
}

/* The loss that is named behind the first one; -1: none is worth it. */
static int64_t second_loss(const struct nai_table *findings, int64_t first) {
  int64_t next = next_loss(findings, first + 1);
  while (next >= 0 && *nai_get_str(findings, next, FINDINGS_part_of))
    next = next_loss(findings, next + 1);
  return next >= 0 && nai_report_severity(findings, next) >= NAI_SEVERITY_MEDIUM ? next : -1;
}

static void put_loss(struct nai_buf *out, const struct nai_table *findings, int64_t row) {
  struct nai_value ns = nai_table_value(findings, row, FINDINGS_at_stake_ns);
  const char *scope = nai_get_str(findings, row, FINDINGS_scope), *place = nai_get_str(findings, row, FINDINGS_place);
  nai_buf_puts(out, nai_get_str(findings, row, FINDINGS_title));
  if (*place)
    nai_buf_printf(out, " (%s)", place);
  if (!ns.null) {
    nai_buf_puts(out, ": at most ");
    nai_fmt_duration(out, (double)ns.i);
    if (strcmp(scope, "run") != 0)
      nai_buf_printf(out, " on %s", scope);
    nai_buf_puts(out, ", ");
    put_share(out, findings, row);
    put_base(out, findings, row);
  }
  int64_t next = second_loss(findings, row);
  if (next >= 0) {
    nai_buf_puts(out, "; then: ");
    const char *where = strcmp(nai_get_str(findings, next, FINDINGS_scope), "run") == 0
                          ? nai_get_str(findings, next, FINDINGS_place)
                          : "";
    put_within(out, nai_get_str(findings, next, FINDINGS_title));
    if (!nai_table_value(findings, next, FINDINGS_at_stake_ns).null) {
      nai_buf_printf(out, " (%s%s", where, *where ? ", " : "");
      put_share(out, findings, next);
      if (strcmp(nai_get_str(findings, next, FINDINGS_share_of), nai_get_str(findings, row, FINDINGS_share_of)) != 0)
        put_base(out, findings, next);
      nai_buf_putc(out, ')');
    }
  }
  nai_buf_putc(out, '.');
}

/* A larger loss that was rated lower, with the reason: else the reader wonders why the first finding is not that one.
 */
static void put_larger(struct nai_buf *out, const struct nai_table *findings, int64_t loss) {
  int64_t most = loss < 0 ? 0 : nai_get_i64(findings, loss, FINDINGS_at_stake_ns), at = -1;
  for (int64_t i = 0; i < findings->rows; i++) {
    struct nai_value ns = nai_table_value(findings, i, FINDINGS_at_stake_ns);
    if (i == loss || ns.null || ns.i <= most || !*nai_get_str(findings, i, FINDINGS_reason) ||
        *nai_get_str(findings, i, FINDINGS_part_of) || isnan(nai_get_f64(findings, i, FINDINGS_pct_of_active)))
      continue;
    most = ns.i;
    at = i;
  }
  if (at < 0)
    return;
  if (loss >= 0 && at == second_loss(findings, loss)) { /* just named */
    nai_buf_printf(out, " The latter is more time, but rated lower: %s.", nai_get_str(findings, at, FINDINGS_reason));
    return;
  }
  nai_buf_puts(out, " More time, but rated lower: ");
  put_within(out, nai_get_str(findings, at, FINDINGS_title));
  nai_buf_puts(out, " (");
  put_share(out, findings, at);
  nai_buf_printf(out, "; %s).", nai_get_str(findings, at, FINDINGS_reason));
}

/* Tables of which data_quality has that check, behind `words`: "NVTX_EVENTS (1,204 rows). " */
static void put_tables(struct nai_buf *out, const struct nai_table *quality, const char *check, const char *words) {
  bool any = false;
  for (int64_t i = 0; i < quality->rows; i++) {
    int64_t rows = nai_get_i64(quality, i, DATA_QUALITY_count);
    if (strcmp(nai_get_str(quality, i, DATA_QUALITY_check), check) != 0)
      continue;
    nai_buf_printf(out, "%s%s", any ? ", " : words, nai_get_str(quality, i, DATA_QUALITY_source_table));
    any = true;
    if (rows <= 0) /* nobody can tell any more */
      continue;
    nai_buf_puts(out, " (");
    nai_fmt_count(out, rows);
    nai_buf_puts(out, rows == 1 ? " row)" : " rows)");
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
  const char *name = nai_get_str(ranges, most, NVTX_RANGES_range_name);
  nai_buf_puts(out, " The range with most time is ");
  nai_text_cut(out, name, strlen(name), NAME_MAX_BYTES);
  nai_buf_puts(out, ": ");
  nai_fmt_duration(out, (double)nai_get_i64(ranges, most, NVTX_RANGES_total_time_ns));
  nai_buf_puts(out, " in ");
  nai_fmt_count(out, nai_get_i64(ranges, most, NVTX_RANGES_count));
  nai_buf_puts(out, nai_get_i64(ranges, most, NVTX_RANGES_count) == 1 ? " execution." : " executions.");
}

void nai_report_verdict(struct nai_buf *out, enum nai_severity *severity, const struct nai_report *report) {
  const struct nai_table *findings = nai_report_table(report, "findings");
  /* Copies without the kernels that were launched say nothing on time that was lost. */
  bool recorded = !found(report, "gpu_activity_recorded", "problem"), led = false;
  bool gpus = recorded && nai_report_table(report, "gpu_utilization")->rows > 0;
  *severity = NAI_SEVERITY_INFO;
  for (int64_t i = 0; i < findings->rows; i++)
    if (nai_report_severity(findings, i) > *severity)
      *severity = nai_report_severity(findings, i);
  put_missing(out, report);
  for (int64_t i = 0; i < findings->rows && leads(findings, i); i++) {
    if (led) {
      nai_buf_puts(out, "; ");
      put_within(out, nai_get_str(findings, i, FINDINGS_title));
    } else {
      nai_buf_puts(out, nai_get_str(findings, i, FINDINGS_title));
    }
    led = true;
  }
  int64_t loss = next_loss(findings, 0);
  if (led)
    nai_buf_putc(out, '.');
  else if (gpus)
    put_partition(out, report);
  else
    nai_buf_puts(out, "No GPU activity in this trace: nothing to judge.");
  if (loss >= 0) {
    nai_buf_putc(out, ' ');
    put_loss(out, findings, loss);
  } else if (gpus) {
    nai_buf_puts(out, led ? " No loss worth a finding: " : " No loss worth a finding.");
    if (led)
      put_partition(out, report);
  } else {
    put_longest_range(out, report);
  }
  if (recorded)
    put_larger(out, findings, loss);
}
