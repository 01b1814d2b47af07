/* What templates see. Every table is there in the same form, so a new analysis needs no line here. */
#include "render/prose.h"
#include "render/report.h"

#include "table/kernel_name.h"

#include <stdio.h>
#include <string.h>

enum { SHORT_MAX = 72, KEY_MAX = 96 };

static const char *gpu_label(const struct nai_report *report, int64_t device_id) {
  const struct nai_table *gpus = nai_report_table(report, "gpus");
  int id = nai_schema_column(gpus->schema, "device_id"), label = nai_schema_column(gpus->schema, "label");
  for (int64_t i = 0; i < gpus->rows; i++)
    if (nai_get_i64(gpus, i, id) == device_id)
      return nai_get_str(gpus, i, label);
  return NULL;
}

/* One row: every column under its name as people read it, texts also short and as code (NAME_short, NAME_code). */
static void put_row(struct nai_view *row_view, const struct nai_report *report, const struct nai_table *table,
                    int64_t row) {
  for (uint32_t c = 0; c < table->schema->column_count; c++) {
    const struct nai_column_def *def = &table->schema->columns[c];
    struct nai_value value = nai_table_value(table, row, (int)c);
    char key[KEY_MAX];
    nai_view_put_value(row_view, def->name, def->unit, &value);
    if (value.type == NAI_STR && !value.null) {
      struct nai_buf brief = {0};
      nai_kernel_name_short(&brief, value.s, SHORT_MAX);
      snprintf(key, sizeof key, "%s_short", def->name);
      nai_view_put_code(row_view, key, nai_buf_str(&brief));
      snprintf(key, sizeof key, "%s_code", def->name);
      nai_view_put_code(row_view, key, value.s);
      nai_buf_free(&brief);
    }
    if (strcmp(def->name, "device_id") == 0 && !value.null)
      nai_view_put_text(row_view, "gpu_label", gpu_label(report, value.i));
  }
}

/* "more": how many rows follow the `shown` ones, if any. */
static void put_more(struct nai_view *view, int64_t rows, int64_t shown) {
  struct nai_value more = {.type = NAI_I64, .i = rows - shown};
  if (more.i > 0)
    nai_view_put_value(view, "more", NAI_COUNT, &more);
}

/* {"rows": the first `top`, "more": how many follow, "total", "any"} */
static void put_table(struct nai_view *tables, const struct nai_report *report, const struct nai_table *table,
                      int top) {
  struct nai_view *view = nai_view_put_map(tables, table->schema->name);
  nai_view_put_text(view, "title", table->schema->title);
  nai_view_put_int(view, "total", table->rows);
  nai_view_put_bool(view, "any", table->rows > 0);
  put_more(view, table->rows, top);
  struct nai_view *rows = nai_view_put_list(view, "rows");
  for (int64_t i = 0; i < table->rows && i < top; i++)
    put_row(nai_view_add_map(rows), report, table, i);
}

/* Rows of a table in which a text column has one value: {"rows": ...} under `key`. */
static void put_filtered(struct nai_view *tables, const struct nai_report *report, const char *key, const char *name,
                         const char *column, const char *wanted, int top) {
  const struct nai_table *table = nai_report_table(report, name);
  int c = nai_schema_column(table->schema, column);
  struct nai_view *view = nai_view_put_map(tables, key), *rows = nai_view_put_list(view, "rows");
  int shown = 0;
  int64_t total = 0;
  for (int64_t i = 0; c >= 0 && i < table->rows; i++) {
    if (strcmp(nai_get_str(table, i, c), wanted) != 0)
      continue;
    total++;
    if (shown++ < top)
      put_row(nai_view_add_map(rows), report, table, i);
  }
  nai_view_put_bool(view, "any", total > 0);
  put_more(view, total, top);
}

static void put_prose(struct nai_view *view, const char *key, const char *markdown) {
  struct nai_buf html = {0};
  char name[KEY_MAX];
  struct nai_err err;
  if (nai_prose_html(&html, markdown, &err) != 0)
    nai_buf_clear(&html);
  snprintf(name, sizeof name, "%s_html", key);
  nai_view_put_trusted(view, name, nai_buf_str(&html));
  nai_view_put_trusted(view, key, markdown);
  nai_buf_free(&html);
}

static const char *severity_label(const char *severity) {
  return strcmp(severity, "high") == 0   ? "High"
       : strcmp(severity, "medium") == 0 ? "Medium"
       : strcmp(severity, "low") == 0    ? "Low"
                                         : "Info";
}

static void put_evidence(struct nai_view *finding, const struct nai_table *evidence, int64_t number) {
  struct nai_view *list = nai_view_put_list(finding, "evidence");
  int owner = nai_schema_column(evidence->schema, "finding"), text = nai_schema_column(evidence->schema, "text");
  int64_t index = 0;
  for (int64_t i = 0; owner >= 0 && i < evidence->rows; i++) {
    if (nai_get_i64(evidence, i, owner) != number)
      continue;
    struct nai_view *item = nai_view_add_map(list);
    nai_view_put_int(item, "index", index++);
    nai_view_put_text(item, "text", nai_get_str(evidence, i, text));
  }
}

static void put_findings(struct nai_view *root, const struct nai_report *report) {
  const struct nai_table *findings = nai_report_table(report, "findings"),
                         *evidence = nai_report_table(report, "evidence");
  struct nai_view *list = nai_view_put_list(root, "findings");
  nai_view_put_bool(root, "has_findings", findings->rows > 0);
  for (int64_t i = 0; i < findings->rows; i++) {
    struct nai_view *view = nai_view_add_map(list);
    static const char *const texts[] = {"id", "title", "severity", "scope", "verify"};
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
      nai_view_put_text(view, texts[t], nai_get_str(findings, i, nai_schema_column(findings->schema, texts[t])));
    const char *severity = nai_get_str(findings, i, nai_schema_column(findings->schema, "severity"));
    nai_view_put_text(view, "severity_label", severity_label(severity));
    nai_view_put_int(view, "index", i);
    nai_view_put_int(view, "number", i + 1);
    put_prose(view, "why", nai_get_str(findings, i, nai_schema_column(findings->schema, "why")));
    put_prose(view, "recommendation", nai_get_str(findings, i, nai_schema_column(findings->schema, "recommendation")));
    /* Commands one a line, each of them a code span of its own in Markdown. */
    struct nai_view *commands = nai_view_put_list(view, "commands");
    const char *verify = nai_get_str(findings, i, nai_schema_column(findings->schema, "verify"));
    for (size_t n; *verify; verify += n) {
      verify += strspn(verify, "\n");
      n = strcspn(verify, "\n");
      struct nai_buf line = {0};
      nai_buf_put(&line, verify, n);
      if (n)
        nai_view_add_code(commands, nai_buf_str(&line));
      nai_buf_free(&line);
    }
    put_evidence(view, evidence, i);
  }
}

struct nai_view *nai_report_view(const struct nai_report *report, int top, bool details) {
  struct nai_view *root = nai_view_new();
  struct nai_buf text = {0};
  const char *severity;
  const struct nai_table *capture = nai_report_table(report, "capture");
  int file = nai_schema_column(capture->schema, "file");
  nai_view_put_text(root, "title", file < 0 || !capture->rows ? "" : nai_get_str(capture, 0, file));
  nai_report_summary(&text, report);
  nai_view_put_text(root, "summary", nai_buf_str(&text));
  nai_buf_clear(&text);
  nai_report_verdict(&text, &severity, report);
  nai_view_put_text(root, "verdict", nai_buf_str(&text));
  nai_view_put_text(root, "verdict_severity", severity_label(severity));
  nai_view_put_text(root, "version", report->version);
  nai_view_put_bool(root, "details", details);
  nai_view_put_int(root, "top", top);
  nai_buf_free(&text);
  put_findings(root, report);
  struct nai_view *tables = nai_view_put_map(root, "tables");
  for (size_t i = 0; i < report->table_count; i++)
    put_table(tables, report, report->tables[i],
              strcmp(report->tables[i]->schema->name, "gpu_utilization") == 0 ? 64 : top);
  put_filtered(tables, report, "blocking_calls", "sync_calls", "class", "blocking", top);
  put_filtered(tables, report, "other_sync_calls", "sync_calls", "class", "ordering", top);
  put_filtered(tables, report, "poll_calls", "sync_calls", "class", "poll", top);
  put_filtered(tables, report, "missing", "data_quality", "check", "missing-table", 64);
  return root;
}
