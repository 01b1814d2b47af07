/* report.json: everything, versioned. Its schema is docs/report.schema.json. */
#include "base/fmt.h"
#include "table/json.h"
#include "report/capture_course.h"
#include "report/report.h"
#include "report/simulated.h"
#include "tables/capture.h"
#include "tables/data_quality.h"
#include "tables/evidence.h"
#include "tables/findings.h"
#include "tables/run_info.h"

static void put_cell(struct nai_json *json, const struct nai_table *table, int64_t row, int column, const char *key) {
  struct nai_value value = nai_table_value(table, row, column);
  nai_json_key(json, key);
  nai_json_value(json, value.null ? NAI_COUNT : table->schema->columns[column].unit, &value);
}

/* Under the names of the columns. */
static void put_cells(struct nai_json *json, const struct nai_schema *schema, const struct nai_table *table,
                      int64_t row, const int *columns, size_t n) {
  for (size_t i = 0; i < n; i++)
    put_cell(json, table, row, columns[i], schema->columns[columns[i]].name);
}

#define PUT_CELLS(json, schema, table, row, ...) \
  put_cells(json, &(schema), table, row, (const int[]){__VA_ARGS__}, sizeof((const int[]){__VA_ARGS__}) / sizeof(int))

static void put_text(struct nai_json *json, const char *key, const struct nai_buf *text) {
  nai_json_put_text(json, key, nai_buf_str(text));
  json->out->oom |= text->oom;
}

static void put_trace(struct nai_json *json, const struct nai_report *report) {
  nai_json_put_object(json, "trace", NAI_JSON_INLINE);
  PUT_CELLS(json, nai_capture_schema, nai_report_table(report, "capture"), 0, CAPTURE_file, CAPTURE_size_bytes,
            CAPTURE_product_version, CAPTURE_schema_version);
  nai_json_end(json);
}

static void put_run(struct nai_json *json, const struct nai_report *report) {
  const struct nai_table *run = nai_report_table(report, "run_info"), *capture = nai_report_table(report, "capture");
  NAI_SCOPED(nai_buf) summary = {0};
  NAI_SCOPED(nai_buf) course = {0};
  nai_report_summary(&summary, report);
  nai_capture_course_line(&course, report);
  nai_json_put_object(json, "run", NAI_JSON_LINES);
  put_text(json, "summary", &summary);
  put_text(json, "capture", &course);
  PUT_CELLS(json, nai_run_info_schema, run, 0, RUN_INFO_gpu_count, RUN_INFO_process_count, RUN_INFO_kernel_count,
            RUN_INFO_window_start_ns, RUN_INFO_window_end_ns);
  struct nai_value window = nai_table_value(run, 0, RUN_INFO_window_ns);
  nai_json_put_int(json, "window_ns", window.null ? 0 : window.i);
  /* Beyond 2^53, so text: a JavaScript reader would lose its low digits. */
  struct nai_value utc = nai_table_value(capture, 0, CAPTURE_utc_epoch_ns);
  char text[24];
  snprintf(text, sizeof text, "%" PRId64, utc.i);
  nai_json_put_text(json, "utc_epoch_ns", utc.null ? NULL : text);
  nai_json_end(json);
}

static void put_verdict(struct nai_json *json, const struct nai_report *report) {
  NAI_SCOPED(nai_buf) text = {0};
  enum nai_severity severity;
  nai_report_verdict(&text, &severity, report);
  nai_json_put_object(json, "verdict", NAI_JSON_INLINE);
  nai_json_put_text(json, "severity", nai_severity_name((int)severity));
  put_text(json, "text", &text);
  nai_json_end(json);
}

static void put_links(struct nai_json *json, const char *links) {
  nai_json_put_array(json, "links", NAI_JSON_INLINE);
  for (size_t n; *links; links += n) {
    links += strspn(links, " ");
    n = strcspn(links, " ");
    NAI_SCOPED(nai_buf) link = {0};
    nai_buf_put(&link, links, n);
    if (n)
      nai_json_text(json, nai_buf_str(&link));
    json->out->oom |= link.oom;
  }
  nai_json_end(json);
}

/* "0 1 2" as numbers. */
static void put_gpus(struct nai_json *json, const char *gpus) {
  nai_json_put_array(json, "gpus", NAI_JSON_INLINE);
  for (char *end; *gpus; gpus = end + (*end == ' ')) {
    long long gpu = strtoll(gpus, &end, 10);
    if (end == gpus) /* a stored table may hold anything */
      break;
    nai_json_int(json, gpu);
  }
  nai_json_end(json);
}

static void put_evidence(struct nai_json *json, const struct nai_table *evidence, int64_t finding) {
  nai_json_put_array(json, "evidence", NAI_JSON_LINES);
  for (int64_t i = 0; i < evidence->rows; i++) {
    if (nai_get_i64(evidence, i, EVIDENCE_finding) != finding)
      continue;
    nai_json_begin_object(json, NAI_JSON_INLINE);
    put_cell(json, evidence, i, EVIDENCE_text, "text");
    put_cell(json, evidence, i, EVIDENCE_table_name, "table");
    PUT_CELLS(json, nai_evidence_schema, evidence, i, EVIDENCE_row, EVIDENCE_start_ns, EVIDENCE_end_ns,
              EVIDENCE_device_id, EVIDENCE_pid, EVIDENCE_tid, EVIDENCE_name);
    nai_json_end(json);
  }
  nai_json_end(json);
}

/* The saving by simulation, of one step, repetition or window; null where the change was not simulated. */
static void put_simulated(struct nai_json *json, const struct FINDINGS_row *finding) {
  if (!nai_is_simulated(finding)) {
    nai_json_put_text(json, "simulated", NULL);
    return;
  }
  nai_json_put_object(json, "simulated", NAI_JSON_INLINE);
  nai_json_put_text(json, "scope", finding->simulated_of);
  nai_json_put_text(json, "state", finding->simulated_state);
  nai_json_put_int(json, "now_ns", finding->simulated_now_ns);
  nai_json_put_int(json, "saving_low_ns", finding->simulated_low_ns);
  nai_json_put_int(json, "saving_ns", finding->simulated_ns);
  nai_json_put_int(json, "saving_high_ns", finding->simulated_high_ns);
  nai_json_end(json);
}

/* null where the saving is of something else: the table has that under the same name, with what it is of. */
static void put_pct_of_active(struct nai_json *json, const struct FINDINGS_row *finding) {
  bool of_active = strcmp(finding->share_of, "active time") == 0 && !isnan(finding->pct_of_active);
  nai_json_key(json, "pct_of_active");
  nai_json_value(json, NAI_PCT, &(struct nai_value){.type = NAI_F64, .f = finding->pct_of_active, .null = !of_active});
}

static void put_findings(struct nai_json *json, const struct nai_report *report) {
  const struct nai_table *findings = nai_report_table(report, "findings"),
                         *evidence = nai_report_table(report, "evidence");
  nai_json_put_array(json, "findings", NAI_JSON_LINES);
  for (int64_t i = 0; i < findings->rows; i++) {
    const struct FINDINGS_row finding = FINDINGS_at(findings, i);
    nai_json_begin_object(json, NAI_JSON_LINES);
    PUT_CELLS(json, nai_findings_schema, findings, i, FINDINGS_id, FINDINGS_title, FINDINGS_severity, FINDINGS_scope,
              FINDINGS_device_id, FINDINGS_pid);
    put_gpus(json, nai_get_str(findings, i, FINDINGS_gpus));
    PUT_CELLS(json, nai_findings_schema, findings, i, FINDINGS_saving_ns, FINDINGS_saving_is, FINDINGS_saving_low_ns);
    put_pct_of_active(json, &finding);
    PUT_CELLS(json, nai_findings_schema, findings, i, FINDINGS_pct_of_capture, FINDINGS_place, FINDINGS_reason,
              FINDINGS_part_of, FINDINGS_why, FINDINGS_recommendation, FINDINGS_verify, FINDINGS_change);
    put_simulated(json, &finding);
    put_links(json, nai_get_str(findings, i, FINDINGS_links));
    put_evidence(json, evidence, nai_get_i64(findings, i, FINDINGS_finding));
    nai_json_end(json);
  }
  nai_json_end(json);
}

/* "profiler-overhead (6 times, 6.01 ms): ...": a caveat that can be read on its own. */
static void print_caveat(struct nai_buf *out, const struct DATA_QUALITY_row *caveat) {
  bool timed = caveat->duration_ns != NAI_NULL_I64;
  nai_buf_puts(out, caveat->check);
  if (caveat->count > 1 || timed) {
    nai_buf_puts(out, " (");
    nai_fmt_count(out, caveat->count);
    if (timed) {
      nai_buf_puts(out, caveat->count == 1 ? " time, " : " times, ");
      nai_fmt_duration(out, (double)caveat->duration_ns);
    }
    nai_buf_putc(out, ')');
  }
  nai_buf_printf(out, ": %s", caveat->detail);
}

static void put_caveats(struct nai_json *json, const struct nai_report *report) {
  const struct nai_table *quality = nai_report_table(report, "data_quality");
  nai_json_put_array(json, "caveats", NAI_JSON_LINES);
  for (int64_t i = 0; i < quality->rows; i++) {
    const struct DATA_QUALITY_row caveat = DATA_QUALITY_at(quality, i);
    NAI_SCOPED(nai_buf) text = {0};
    print_caveat(&text, &caveat);
    nai_json_begin_object(json, NAI_JSON_INLINE);
    put_cell(json, quality, i, DATA_QUALITY_check, "id");
    PUT_CELLS(json, nai_data_quality_schema, quality, i, DATA_QUALITY_severity, DATA_QUALITY_count,
              DATA_QUALITY_source_table);
    put_text(json, "text", &text);
    nai_json_end(json);
  }
  nai_json_end(json);
}

enum { PACKED_ROWS = 200 };

/* Those that the page draws as a whole have few enough rows by themselves. */
static int64_t page_rows(const char *table, int64_t most) {
  bool drawn = strcmp(table, "memory_timeline") == 0 || strcmp(table, "gpu_metric_timeline") == 0;
  return drawn ? INT64_MAX : most;
}

void nai_report_json(struct nai_buf *out, const struct nai_report *report, int64_t most) {
  bool for_page = most < INT64_MAX;
  struct nai_json json;
  nai_json_init(&json, out, for_page);
  nai_json_begin_object(&json, NAI_JSON_LINES);
  nai_json_put_text(&json, "schema_version", "3.0");
  nai_json_put_object(&json, "generator", NAI_JSON_INLINE);
  nai_json_put_text(&json, "name", "nsys-ai");
  nai_json_put_text(&json, "version", report->version);
  nai_json_end(&json);
  put_trace(&json, report);
  put_run(&json, report);
  put_verdict(&json, report);
  put_findings(&json, report);
  put_caveats(&json, report);
  nai_json_put_object(&json, "tables", NAI_JSON_LINES);
  for (size_t i = 0; i < report->table_count; i++) {
    const char *name = report->tables[i]->schema->name;
    if (strcmp(name, "findings") == 0 || strcmp(name, "evidence") == 0)
      continue; /* above, in full */
    nai_json_key(&json, name);
    if (for_page && report->tables[i]->rows > PACKED_ROWS)
      nai_json_table_packed(&json, report->tables[i], page_rows(name, most));
    else
      nai_json_table(&json, report->tables[i], page_rows(name, most));
  }
  nai_json_close(&json);
}
