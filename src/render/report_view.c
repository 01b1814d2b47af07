/* What templates see. Every table is there in the same form, so a new analysis needs no line here. */
#include "render/group.h"
#include "render/prose.h"
#include "render/report.h"

#include "base/assets.h"
#include "base/fmt.h"
#include "base/text.h"
#include "table/kernel_name.h"

#include <stdio.h>
#include <stdlib.h>
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

static void put_value(struct nai_view *view, const char *key, enum nai_unit unit, const struct nai_value *value) {
  struct nai_buf text = {0};
  if (value->null || value->type == NAI_STR) {
    nai_view_put_value(view, key, unit, value);
    return;
  }
  nai_report_print_value(&text, unit, value);
  nai_view_put_trusted(view, key, nai_buf_str(&text));
  nai_view_inherit(view, &text);
  nai_buf_free(&text);
}

void nai_report_put_row(struct nai_view *row_view, const struct nai_report *report, const struct nai_table *table,
                        int64_t row) {
  for (struct nai_print p = NAI_FIRST_PRINT; nai_print_next(&p, table->schema);) {
    struct nai_value value = nai_table_value(table, row, p.column);
    char name[NAI_COLUMN_NAME_MAX];
    put_value(row_view, nai_print_name(name, table->schema, &p), p.unit, &value);
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
    nai_report_put_row(nai_view_add_map(rows), report, table, i);
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
      nai_report_put_row(nai_view_add_map(rows), report, table, i);
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

/* Commands one a line, each of them a code span of its own in Markdown. */
static void put_commands(struct nai_view *view, const char *verify) {
  struct nai_view *commands = nai_view_put_list(view, "commands");
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
}

/* A duration that no line break divides. */
static void put_duration(struct nai_view *view, const char *key, double ns) {
  struct nai_buf text = {0}, fixed = {0};
  nai_fmt_duration(&text, ns);
  for (const char *c = nai_buf_str(&text); *c; c++)
    nai_buf_puts(&fixed, *c == ' ' ? "\xc2\xa0" : (const char[]){*c, '\0'});
  nai_view_put_trusted(view, key, nai_buf_str(&fixed));
  nai_view_inherit(view, &text);
  nai_view_inherit(view, &fixed);
  nai_buf_free(&text);
  nai_buf_free(&fixed);
}

/* How many steps every GPU did, if all did as many and they fill nine tenths of its active time; else 0. */
static int64_t step_count(const struct nai_report *report) {
  const struct nai_table *steps = nai_report_table(report, "step_summary"),
                         *active = nai_report_table(report, "gpu_active");
  if (!steps->rows || steps->rows != active->rows)
    return 0;
  int64_t count = nai_cell_i64(steps, 0, "steps");
  for (int64_t i = 0; i < steps->rows; i++) {
    int64_t filled = nai_cell_i64(steps, i, "last_end_ns") - nai_cell_i64(steps, i, "first_start_ns"), gpu = 0;
    while (gpu < active->rows && nai_cell_i64(active, gpu, "device_id") != nai_cell_i64(steps, i, "device_id"))
      gpu++;
    if (gpu == active->rows || nai_cell_i64(steps, i, "steps") != count ||
        (double)filled < 0.9 * (double)nai_cell_i64(active, gpu, "active_ns"))
      return 0;
  }
  return count;
}

static void put_price(struct nai_view *view, const struct nai_report *report, const struct nai_table *findings,
                      int64_t row) {
  static const char *const stakes[] = {"at_stake_ns", "at_stake_low_ns"}, *const names[] = {"at_stake", "at_stake_low"};
  struct nai_value pct = nai_cell(findings, row, "pct_of_active");
  bool of_gpu = strncmp(nai_cell_str(findings, row, "scope"), "GPU", 3) == 0; /* what the run loses may lie outside */
  int64_t steps = of_gpu ? step_count(report) : 0;
  for (size_t i = 0; i < sizeof stakes / sizeof *stakes; i++) {
    struct nai_value ns = nai_cell(findings, row, stakes[i]);
    if (!ns.null)
      put_duration(view, names[i], (double)ns.i);
    if (!ns.null && !i && steps)
      put_duration(view, "at_stake_per_step", (double)ns.i / (double)steps);
  }
  if (!pct.null)
    put_value(view, "pct_of_active", NAI_PCT, &pct);
}

/* The page on a built-in finding, for readers without the program's documents. */
static void put_page(struct nai_view *view, const char *id) {
  char path[KEY_MAX];
  snprintf(path, sizeof path, "docs/root-causes/%.64s.md", id);
  const struct nai_asset *page = nai_asset_find(path);
  if (page)
    put_prose(view, "page", page->data);
}

static void put_finding(struct nai_view *view, const struct nai_report *report, const struct nai_table *findings,
                        int64_t i) {
  static const char *const texts[] = {"id", "title", "severity", "scope", "verify", "place", "reason", "part_of"};
  for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
    nai_view_put_text(view, texts[t], nai_cell_str(findings, i, texts[t]));
  nai_view_put_text(view, "severity_label", severity_label(nai_report_severity(findings, i)));
  nai_view_put_int(view, "index", i);
  nai_view_put_int(view, "number", i + 1);
  put_price(view, report, findings, i);
  put_prose(view, "why", nai_cell_str(findings, i, "why"));
  put_prose(view, "recommendation", nai_cell_str(findings, i, "recommendation"));
  put_commands(view, nai_cell_str(findings, i, "verify"));
  put_page(view, nai_cell_str(findings, i, "id"));
  put_evidence(view, nai_report_table(report, "evidence"), i);
}

/* All in "findings"; those to act on in "major", the rest in "minor". */
static void put_findings(struct nai_view *root, const struct nai_report *report) {
  const struct nai_table *findings = nai_report_table(report, "findings");
  struct nai_view *all = nai_view_put_list(root, "findings"), *major = nai_view_put_list(root, "major"),
                  *minor = nai_view_put_list(root, "minor");
  nai_view_put_bool(root, "has_findings", findings->rows > 0);
  for (int64_t i = 0; i < findings->rows; i++) {
    put_finding(nai_view_add_map(all), report, findings, i);
    bool small = nai_report_severity(findings, i) <= NAI_SEVERITY_LOW;
    put_finding(nai_view_add_map(small ? minor : major), report, findings, i);
    if (small)
      nai_view_put_bool(root, "has_minor", true);
  }
}

/* What GPUs spend their time on, when there are too many for a row each: the least, the median and the largest share.
 */
static void put_usual(struct nai_view *root, const struct nai_report *report) {
  enum { FEW_GPUS = 4, MOST = 4096 };
  static const char *const columns[] = {"compute_pct", "exposed_comm_pct", "exposed_copy_pct", "idle_pct_of_window"};
  static const char *const labels[] = {"least", "median", "most"};
  const struct nai_table *gpus = nai_report_table(report, "gpu_utilization");
  int64_t rows = gpus->rows < MOST ? gpus->rows : MOST;
  nai_view_put_bool(root, "many_gpus", gpus->rows > FEW_GPUS);
  nai_view_put_bool(root, "few_gpus", gpus->rows > 0 && gpus->rows <= FEW_GPUS);
  double *sorted = gpus->rows > FEW_GPUS ? calloc((size_t)rows, sizeof *sorted) : NULL;
  struct nai_view *list = nai_view_put_list(root, "usual");
  nai_view_inherit(root, &(struct nai_buf){.oom = gpus->rows > FEW_GPUS && !sorted});
  for (size_t l = 0; sorted && l < 3; l++) {
    struct nai_view *row = nai_view_add_map(list);
    nai_view_put_text(row, "what", labels[l]);
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
      for (int64_t i = 0; i < rows; i++) { /* insertion into the sorted part */
        double value = nai_cell_f64(gpus, i, columns[c]);
        int64_t at = i;
        for (; at > 0 && sorted[at - 1] > value; at--)
          sorted[at] = sorted[at - 1];
        sorted[at] = value;
      }
      struct nai_value value = {.type = NAI_F64, .f = sorted[l == 0 ? 0 : l == 1 ? (rows - 1) / 2 : rows - 1]};
      put_value(row, columns[c], NAI_PCT, &value);
    }
  }
  free(sorted);
}

/* Whether what was active differs from the window on some GPU. */
static bool has_pauses(const struct nai_report *report) {
  const struct nai_table *active = nai_report_table(report, "gpu_active");
  for (int64_t i = 0; i < active->rows; i++)
    if (nai_cell_i64(active, i, "active_ns") != nai_cell_i64(active, i, "window_ns"))
      return true;
  return false;
}

static void put_groups(struct nai_view *tables, const struct nai_report *report, int top) {
  static const struct nai_grouping groupings[] = {
      {"kernel_groups", "kernels", {"kernel_name"}, NULL, NULL},
      {"shape_groups", "kernel_shape", {"kernel_name", "grid", "block"}, NULL, NULL},
      {"communication_groups", "kernels", {"kernel_name"}, "category", "communication"},
      {"comm_groups", "comm_ops", {"op", "dtype", "family"}, NULL, NULL},
      {"category_groups", "kernel_categories", {"category"}, NULL, NULL},
      {"cause_groups", "idle_causes", {"cause"}, NULL, NULL},
      {"pattern_groups", "idle_patterns", {"cause", "next_op", "nvtx_range"}, NULL, NULL},
      {"transfer_groups", "memory_transfers", {"direction", "src_kind", "dst_kind"}, NULL, NULL},
      {"tiny_groups", "tiny_kernels", {"kernel_name"}, NULL, NULL},
  };
  for (size_t i = 0; i < sizeof groupings / sizeof *groupings; i++)
    nai_report_put_groups(tables, report, &groupings[i], top);
}

/* The first `top` rows of a table by a column, the largest first. */
static void put_sorted(struct nai_view *tables, const struct nai_report *report, const char *key, const char *name,
                       const char *column, bool with_null, int top) {
  const struct nai_table *table = nai_report_table(report, name);
  struct nai_view *view = nai_view_put_map(tables, key), *rows = nai_view_put_list(view, "rows");
  int64_t *best = calloc((size_t)top + 1, sizeof *best), total = 0;
  nai_view_inherit(view, &(struct nai_buf){.oom = !best});
  int count = 0;
  for (int64_t row = 0; best && row < table->rows; row++) {
    int at = count;
    if (!with_null && nai_cell_i64(table, row, column) == NAI_NULL_I64)
      continue;
    total++;
    while (at > 0 && nai_cell_i64(table, best[at - 1], column) < nai_cell_i64(table, row, column))
      at--;
    if (at == top)
      continue;
    count += count < top;
    memmove(&best[at + 1], &best[at], (size_t)(count - at - 1) * sizeof *best);
    best[at] = row;
  }
  for (int i = 0; i < count; i++)
    nai_report_put_row(nai_view_add_map(rows), report, table, best[i]);
  nai_view_put_bool(view, "any", count > 0);
  put_more(view, total, count);
  free(best);
}

/* Rows of gap_activity in which something beside CUDA tells what the thread did: set-up and own code, what repeats,
 * single gaps. */
static void put_cpu_work(struct nai_view *tables, const struct nai_report *report, int top) {
  static const struct {
    const char *scope, *label;
    bool few;
  } scopes[] = {{"set_up", "before the first CUDA call", true},
                {"host_code", "own code in idle gaps", true},
                {"pattern", "repeated gaps", false},
                {"gap", "one gap", true}};
  const struct nai_table *table = nai_report_table(report, "gap_activity");
  struct nai_view *view = nai_view_put_map(tables, "cpu_work"), *rows = nai_view_put_list(view, "rows");
  int64_t total = 0, least_ns = 1000000;
  for (size_t s = 0; s < sizeof scopes / sizeof *scopes; s++)
    for (int64_t i = 0, shown = 0; i < table->rows && shown < (scopes[s].few ? 3 : top / 2); i++) {
      struct nai_value on = nai_cell(table, i, "on_cpu_ns"), osrt = nai_cell(table, i, "os_runtime_ns"),
                       samples = nai_cell(table, i, "sample_count");
      if (strcmp(nai_cell_str(table, i, "scope"), scopes[s].scope) != 0 || !*nai_cell_str(table, i, "activity") ||
          nai_cell_i64(table, i, "total_ns") < least_ns || (on.null && osrt.null && samples.null))
        continue;
      struct nai_view *row = nai_view_add_map(rows);
      nai_report_put_row(row, report, table, i);
      nai_view_put_trusted(row, "when", scopes[s].label);
      shown++;
      total++;
    }
  nai_view_put_bool(view, "any", total > 0);
}

/* Short by nature, and read as a whole. */
static bool whole(const struct nai_table *table) {
  return strcmp(table->schema->name, "gpu_utilization") == 0 || strcmp(table->schema->name, "capture_health") == 0;
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
  put_usual(root, report);
  nai_view_put_bool(root, "has_pauses", has_pauses(report));
  struct nai_view *tables = nai_view_put_map(root, "tables");
  for (size_t i = 0; i < report->table_count; i++)
    put_table(tables, report, report->tables[i], whole(report->tables[i]) ? 128 : top);
  put_groups(tables, report, top);
  put_sorted(tables, report, "ranges_by_gpu_time", "nvtx_ranges", "attributed_kernel_time_ns", true, top);
  put_sorted(tables, report, "slow_steps", "steps", "excess_ns", false, top);
  put_cpu_work(tables, report, top);
  put_filtered(tables, report, "metrics_in_short", "gpu_metrics", "during", "busy", top);
  put_filtered(tables, report, "blocking_calls", "sync_calls", "class", "blocking", top);
  put_filtered(tables, report, "other_sync_calls", "sync_calls", "class", "ordering", top);
  put_filtered(tables, report, "poll_calls", "sync_calls", "class", "poll", top);
  put_filtered(tables, report, "without_steps", "step_search", "method", "none", top);
  put_filtered(tables, report, "missing", "data_quality", "check", "missing-table", 64);
  return root;
}
