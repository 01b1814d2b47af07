#include "render/report.h"

#include "base/fmt.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const struct nai_table *nai_report_table(const struct nai_report *report, const char *name) {
  static const struct nai_schema empty_schema = {.name = "", .title = "", .description = ""};
  static const struct nai_table empty = {.schema = &empty_schema};
  for (size_t i = 0; i < report->table_count; i++)
    if (strcmp(report->tables[i]->schema->name, name) == 0)
      return report->tables[i];
  return &empty;
}

static int64_t count_cell(const struct nai_table *table, const char *column) {
  int64_t count = nai_cell_i64(table, 0, column);
  return count == NAI_NULL_I64 ? 0 : count;
}

static void put_number_of(struct nai_buf *out, int64_t n, const char *one, const char *many) {
  nai_fmt_count(out, n);
  nai_buf_printf(out, " %s", n == 1 ? one : many);
}

void nai_report_summary(struct nai_buf *out, const struct nai_report *report) {
  const struct nai_table *capture = nai_report_table(report, "capture"), *run = nai_report_table(report, "run_info");
  const struct nai_table *gpus = nai_report_table(report, "gpus");
  nai_buf_printf(out, "%s: ", nai_cell_str(capture, 0, "file"));
  put_number_of(out, count_cell(run, "gpu_count"), "GPU", "GPUs");
  const char *name = nai_cell_str(gpus, 0, "gpu_name");
  bool same = *name != '\0';
  for (int64_t i = 1; i < gpus->rows; i++)
    same &= strcmp(nai_cell_str(gpus, i, "gpu_name"), name) == 0;
  if (same)
    nai_buf_printf(out, " (%s)", name);
  nai_buf_puts(out, ", ");
  put_number_of(out, count_cell(run, "process_count"), "process", "processes");
  nai_buf_puts(out, ", window ");
  nai_fmt_duration(out, (double)count_cell(run, "window_ns"));
  nai_buf_puts(out, ", ");
  put_number_of(out, count_cell(run, "kernel_count"), "kernel", "kernels");
  const char *version = nai_cell_str(capture, 0, "product_version"),
             *schema = nai_cell_str(capture, 0, "schema_version");
  if (*version)
    nai_buf_printf(out, ", Nsight Systems %s", version);
  if (*schema)
    nai_buf_printf(out, " (export schema %s)", schema);
  if (!*version && !*schema)
    nai_buf_puts(out, ", Nsight Systems version unknown");
}

/* "GPUs spent 84.6-85.8 % of the window computing, 2.8-5.7 % in exposed communication, ..." */
static void put_partition(struct nai_buf *out, const struct nai_report *report) {
  static const struct {
    const char *column, *text;
  } parts[] = {{"compute_pct", "computing"},
               {"exposed_comm_pct", "in exposed communication"},
               {"exposed_copy_pct", "in exposed copies"},
               {"idle_pct_of_window", "idle"}};
  const struct nai_table *gpus = nai_report_table(report, "gpu_utilization");
  nai_buf_puts(out, gpus->rows == 1 ? "The GPU spent " : "GPUs spent ");
  bool first = true;
  for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
    double low = INFINITY, high = -INFINITY;
    for (int64_t i = 0; i < gpus->rows; i++) {
      double v = nai_cell_f64(gpus, i, parts[p].column);
      low = v < low ? v : low;
      high = v > high ? v : high;
    }
    if (high < 0.05)
      continue;
    nai_buf_puts(out, first ? "" : ", ");
    if (high - low >= 0.05) {
      nai_fmt_real(out, low, 1);
      nai_buf_putc(out, '-');
    }
    nai_fmt_real(out, high, 1);
    nai_buf_printf(out, " %%%s %s", first ? " of the window" : "", parts[p].text);
    first = false;
  }
  nai_buf_putc(out, '.');
}

enum nai_severity nai_report_severity(const struct nai_table *findings, int64_t row) {
  int severity = nai_severity_from_name(nai_cell_str(findings, row, "severity"));
  return severity < 0 ? NAI_SEVERITY_INFO : (enum nai_severity)severity;
}

void nai_report_verdict(struct nai_buf *out, enum nai_severity *severity, const struct nai_report *report) {
  const struct nai_table *findings = nai_report_table(report, "findings"),
                         *gpus = nai_report_table(report, "gpu_utilization");
  if (gpus->rows == 0)
    nai_buf_puts(out, "No GPU activity in this trace: nothing to judge.");
  *severity = findings->rows ? nai_report_severity(findings, 0) : NAI_SEVERITY_INFO;
  if (*severity != NAI_SEVERITY_INFO) {
    nai_buf_printf(out, "%s%s.", gpus->rows ? "" : " ", nai_cell_str(findings, 0, "title"));
    int64_t high = 0, medium = 0;
    for (int64_t i = 1; i < findings->rows; i++) {
      high += nai_report_severity(findings, i) == NAI_SEVERITY_HIGH;
      medium += nai_report_severity(findings, i) == NAI_SEVERITY_MEDIUM;
    }
    if (high || medium) {
      nai_buf_puts(out, " Also ");
      if (high)
        nai_buf_printf(out, "%" PRId64 " high", high);
      if (medium)
        nai_buf_printf(out, "%s%" PRId64 " medium", high ? " and " : "", medium);
      nai_buf_printf(out, " finding%s.", high + medium == 1 ? "" : "s");
    }
    nai_buf_putc(out, ' ');
  } else if (gpus->rows) {
    nai_buf_puts(out, "No rule found a problem. ");
  }
  if (gpus->rows)
    put_partition(out, report);
}
