#include "report/report.h"

#include "base/fmt.h"
#include "tables/capture.h"
#include "tables/gpus.h"
#include "tables/run_info.h"

const struct nai_table *nai_report_table(const struct nai_report *report, const char *name) {
  static const struct nai_schema empty_schema = {.name = "", .title = "", .description = ""};
  static const struct nai_table empty = {.schema = &empty_schema};
  for (size_t i = 0; i < report->table_count; i++)
    if (strcmp(report->tables[i]->schema->name, name) == 0)
      return report->tables[i];
  return &empty;
}

static int64_t count_cell(const struct nai_table *table, int column) {
  int64_t count = nai_get_i64(table, 0, column);
  return count == NAI_NULL_I64 ? 0 : count;
}

static void put_number_of(struct nai_buf *out, int64_t n, const char *one, const char *many) {
  nai_fmt_count(out, n);
  nai_buf_printf(out, " %s", n == 1 ? one : many);
}

void nai_report_summary(struct nai_buf *out, const struct nai_report *report) {
  const struct nai_table *capture = nai_report_table(report, "capture"), *run = nai_report_table(report, "run_info");
  const struct nai_table *gpus = nai_report_table(report, "gpus");
  nai_buf_printf(out, "%s: ", nai_get_str(capture, 0, CAPTURE_file));
  const int64_t used = count_cell(run, RUN_INFO_gpu_count), all = gpus->rows ? count_cell(gpus, GPUS_machine_gpus) : 0;
  if (used && all > used) {
    nai_fmt_count(out, used);
    nai_buf_puts(out, " of the machine's ");
  }
  if (used)
    put_number_of(out, all > used ? all : used, "GPU", "GPUs");
  else
    nai_buf_puts(out, "no GPU activity recorded");
  const char *name = nai_get_str(gpus, 0, GPUS_gpu_name);
  bool same = *name != '\0';
  for (int64_t i = 1; i < gpus->rows; i++)
    same &= strcmp(nai_get_str(gpus, i, GPUS_gpu_name), name) == 0;
  if (same)
    nai_buf_printf(out, " (%s)", name);
  nai_buf_puts(out, ", ");
  put_number_of(out, count_cell(run, RUN_INFO_process_count), "process", "processes");
  bool gpu = count_cell(run, RUN_INFO_gpu_count) > 0;
  if (count_cell(run, RUN_INFO_window_ns)) {
    nai_buf_puts(out, gpu ? ", window " : ", events over ");
    nai_fmt_duration(out, (double)count_cell(run, RUN_INFO_window_ns));
  }
  if (gpu) {
    nai_buf_puts(out, ", ");
    put_number_of(out, count_cell(run, RUN_INFO_kernel_count), "kernel", "kernels");
  }
  const char *version = nai_get_str(capture, 0, CAPTURE_product_version),
             *schema = nai_get_str(capture, 0, CAPTURE_schema_version);
  if (*version)
    nai_buf_printf(out, ", Nsight Systems %s", version);
  if (*schema)
    nai_buf_printf(out, " (export schema %s)", schema);
  if (!*version && !*schema)
    nai_buf_puts(out, ", Nsight Systems version unknown");
}
