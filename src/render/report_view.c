/* What templates see. Every table is there in the same form, so a new analysis needs no line here. */
#include "render/prose.h"
#include "render/report.h"

#include "base/text.h"
#include "table/kernel_name.h"

#include <stdio.h>
#include <string.h>

enum { SHORT_MAX = 72, KEY_MAX = 96 };

static const char *gpu_label(const struct nai_report *report, int64_t device_id) {
  const struct nai_table *gpus = nai_report_table(report, "gpus");
  for (int64_t i = 0; i < gpus->rows; i++)
    if (nai_cell_i64(gpus, i, "device_id") == device_id)
      return nai_cell_str(gpus, i, "label");
  return NULL;
}

/* A text also short and as code: NAME_short, NAME_code. Only kernels' names may lose what C++ puts around them: the
 * brackets of train::step(3) are part of a range's name. */
static void put_forms(struct nai_view *row_view, const char *name, enum nai_role role, const char *text) {
  struct nai_buf brief = {0};
  char key[NAI_COLUMN_NAME_MAX + 8];
  if (role == NAI_ROLE_KERNEL_NAME)
    nai_kernel_name_short(&brief, text, SHORT_MAX);
  else
    nai_text_cut(&brief, text, strlen(text), SHORT_MAX);
  snprintf(key, sizeof key, "%s_short", name);
  nai_view_put_code(row_view, key, nai_buf_str(&brief));
  snprintf(key, sizeof key, "%s_code", name);
  nai_view_put_code(row_view, key, text);
  nai_view_inherit(row_view, &brief);
  nai_buf_free(&brief);
}

/* One row: every column under the name and as people read it, and what its GPU is called. */
static void put_row(struct nai_view *row_view, const struct nai_report *report, const struct nai_table *table,
                    int64_t row) {
  for (struct nai_print p = NAI_FIRST_PRINT; nai_print_next(&p, table->schema);) {
    struct nai_value value = nai_table_value(table, row, p.column);
    char name[NAI_COLUMN_NAME_MAX];
    nai_view_put_value(row_view, nai_print_name(name, table->schema, &p), p.unit, &value);
    if (value.type == NAI_STR && !value.null)
      put_forms(row_view, name, table->schema->columns[p.column].role, value.s);
  }
  int device = nai_schema_role(table->schema, NAI_ROLE_DEVICE);
  if (device >= 0 && nai_get_i64(table, row, device) != NAI_NULL_I64)
    nai_view_put_text(row_view, "gpu_label", gpu_label(report, nai_get_i64(table, row, device)));
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
  struct nai_view *view = nai_view_put_map(tables, key), *rows = nai_view_put_list(view, "rows");
  int shown = 0;
  int64_t total = 0;
  for (int64_t i = 0; i < table->rows; i++) {
    if (strcmp(nai_cell_str(table, i, column), wanted) != 0)
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
  html.oom |= nai_prose_html(&html, markdown, &err) != NAI_OK;
  snprintf(name, sizeof name, "%s_html", key);
  nai_view_put_trusted(view, name, nai_buf_str(&html));
  nai_view_put_trusted(view, key, markdown);
  nai_view_inherit(view, &html);
  nai_buf_free(&html);
}

static const char *severity_label(enum nai_severity severity) {
  static const char *const labels[NAI_SEVERITIES] = {"Info", "Low", "Medium", "High"};
  return labels[severity];
}

static void put_evidence(struct nai_view *finding, const struct nai_table *evidence, int64_t number) {
  struct nai_view *list = nai_view_put_list(finding, "evidence");
  int64_t index = 0;
  for (int64_t i = 0; i < evidence->rows; i++) {
    if (nai_cell_i64(evidence, i, "finding") != number)
      continue;
    struct nai_view *item = nai_view_add_map(list);
    nai_view_put_int(item, "index", index++);
    nai_view_put_text(item, "text", nai_cell_str(evidence, i, "text"));
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
      nai_view_put_text(view, texts[t], nai_cell_str(findings, i, texts[t]));
    nai_view_put_text(view, "severity_label", severity_label(nai_report_severity(findings, i)));
    nai_view_put_int(view, "index", i);
    nai_view_put_int(view, "number", i + 1);
    put_prose(view, "why", nai_cell_str(findings, i, "why"));
    put_prose(view, "recommendation", nai_cell_str(findings, i, "recommendation"));
    /* Commands one a line, each of them a code span of its own in Markdown. */
    struct nai_view *commands = nai_view_put_list(view, "commands");
    const char *verify = nai_cell_str(findings, i, "verify");
    for (size_t n; *verify; verify += n) {
      verify += strspn(verify, "\n");
      n = strcspn(verify, "\n");
      struct nai_buf line = {0};
      nai_buf_put(&line, verify, n);
      if (n)
        nai_view_add_code(commands, nai_buf_str(&line));
      nai_view_inherit(commands, &line);
      nai_buf_free(&line);
    }
    put_evidence(view, evidence, i);
  }
}

struct nai_view *nai_report_view(const struct nai_report *report, int top, bool details) {
  struct nai_view *root = nai_view_new();
  struct nai_buf text = {0};
  enum nai_severity severity;
  nai_view_put_text(root, "title", nai_cell_str(nai_report_table(report, "capture"), 0, "file"));
  nai_report_summary(&text, report);
  nai_view_put_text(root, "summary", nai_buf_str(&text));
  nai_buf_clear(&text);
  nai_report_verdict(&text, &severity, report);
  nai_view_put_text(root, "verdict", nai_buf_str(&text));
  nai_view_put_text(root, "verdict_severity", severity_label(severity));
  nai_view_put_text(root, "version", report->version);
  nai_view_put_bool(root, "details", details);
  nai_view_put_int(root, "top", top);
  nai_view_inherit(root, &text);
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
