/* What templates see. Every table is there in the same form, so a new analysis needs no line here. */
#include "report/report_view.h"
#include "report/capture_course.h"

#include "base/fmt.h"
#include "base/sort.h"
#include "base/text.h"
#include "sql/sql.h"
#include "table/kernel_name.h"
#include "tables/gpu_idle_gaps.h"
#include "tables/capabilities.h"
#include "tables/capture.h"
#include "tables/capture_health.h"
#include "tables/comm_ops.h"
#include "tables/gpu_active.h"
#include "tables/gpu_utilization.h"
#include "tables/idle_causes.h"
#include "tables/idle_patterns.h"
#include "tables/kernel_categories.h"
#include "tables/kernel_shape.h"
#include "tables/kernels.h"
#include "tables/memory_transfers.h"
#include "tables/serving_engines.h"
#include "tables/serving_summary.h"
#include "tables/skill_answers.h"
#include "tables/tiny_kernels.h"

/* "more": how many rows follow the `shown` ones, if any. */
static void put_more(struct nai_view *view, int64_t rows, int64_t shown) {
  struct nai_value more = {.type = NAI_I64, .i = rows - shown};
  if (more.i > 0)
    nai_view_put_value(view, "more", NAI_COUNT, &more);
}

/* Idle gaps that are too short for the table of the longest. */
static int64_t short_gaps(const struct nai_report *report, const struct nai_table *table) {
  const struct nai_table *gpus = nai_report_table(report, "gpu_utilization");
  int64_t all = 0;
  for (int64_t i = 0; table->schema == &nai_gpu_idle_gaps_schema && i < gpus->rows; i++)
    all += nai_get_i64(gpus, i, GPU_UTILIZATION_gap_count);
  return table->rows < NAI_MAX_IDLE_GAPS ? 0 : all - table->rows;
}

/* Short by nature, and read as a whole. */
static bool is_whole(const struct nai_table *table) {
  return strcmp(table->schema->name, "gpu_utilization") == 0 || strcmp(table->schema->name, "capture_health") == 0 ||
         strcmp(table->schema->name, "capture_time") == 0;
}

static void put_first(struct nai_view *view, const struct nai_report *report, const struct nai_table *table, int most) {
  struct nai_view *rows = nai_view_put_list(view, "rows");
  for (int64_t i = 0; i < table->rows && i < most; i++)
    nai_report_put_row(nai_view_add_map(rows), report, table, i);
}

static int most_of(const struct nai_table *table, int top) { return is_whole(table) ? 128 : top; }

/* "rows" of a table that a template shows: most tables it does not. */
static bool fill_rows(struct nai_view *view, const char *key, size_t len, const void *ctx) {
  const struct nai_report *report = ctx;
  const bool is_it = len == 4 && memcmp(key, "rows", 4) == 0;
  const struct nai_table *table = is_it ? nai_report_table(report, view->key) : NULL;
  if (is_it)
    put_first(view, report, table, most_of(table, report->top));
  return is_it;
}

/* {"rows": the first `top`, "more": how many follow, "not_listed": what the table lacks, "total", "any"} */
static void put_table(struct nai_view *tables, const struct nai_report *report, const struct nai_table *table,
                      int top) {
  struct nai_view *view = nai_view_put_map(tables, table->schema->name);
  int most = most_of(table, top);
  nai_view_put_text(view, "title", table->schema->title);
  nai_view_put_int(view, "total", table->rows);
  nai_view_put_bool(view, "any", table->rows > 0);
  put_more(view, table->rows, most);
  struct nai_value not_listed = {.type = NAI_I64, .i = short_gaps(report, table)};
  if (not_listed.i > 0)
    nai_view_put_value(view, "not_listed", NAI_COUNT, &not_listed);
  if (top == report->top)
    nai_view_put_late(view, fill_rows, report);
  else
    put_first(view, report, table, most);
}

/* Adds the first `most` rows of a table that `clause` leaves, in its order; `when`: what each says besides, or NULL.
 * Returns how many it leaves. */
static int64_t put_rows(struct nai_view *rows, const struct nai_report *report, struct nai_sql *sql, const char *name,
                        const char *clause, int most, const char *when) {
  const struct nai_table *table = nai_report_table(report, name);
  struct nai_err err;
  int64_t kept = most < table->rows ? most : table->rows, total = 0;
  NAI_FREED int64_t *numbers = calloc((size_t)kept + 1, sizeof *numbers);
  if (table->rows && (!numbers || nai_sql_rows(numbers, kept, &total, sql, table, clause, &err)))
    nai_view_fail(rows); /* the clauses are ours: nothing but memory fails */
  for (int64_t i = 0; i < total && i < kept; i++) {
    struct nai_view *row = nai_view_add_map(rows);
    nai_report_put_row(row, report, table, numbers[i]);
    if (when)
      nai_view_put_trusted(row, "when", when);
  }
  return total;
}

/* --- the bar ------------------------------------------------------------------------------------------ */

enum { FEW_GPUS = 4, FEW_ENGINES = 4, PARTS = NAI_BAR_PARTS };

static void put_bar(struct nai_view *list, const char *label, const double parts[PARTS]) {
  static const char *const keys[PARTS] = {"compute_pct", "exposed_comm_pct", "exposed_copy_pct", "idle_pct"};
  double whole = parts[0] + parts[1] + parts[2] + parts[3];
  if (!(whole > 0))
    return;
  NAI_SCOPED(nai_buf) text = {0};
  struct nai_view *view = nai_view_add_map(list);
  nai_fmt_bar(&text, parts, whole);
  nai_view_put_text(view, "label", label);
  nai_view_put_buf(view, "bar", NAI_TEXT_CODE, &text);
  for (int p = 0; p < PARTS; p++) {
    struct nai_value value = {.type = NAI_F64, .f = 100 * parts[p] / whole};
    nai_report_put_value(view, keys[p], NAI_PCT, &value);
  }
}

/* What GPUs do in their active time: each of a few, else all of them together. */
static void put_bars(struct nai_view *root, const struct nai_report *report) {
  const struct nai_table *gpus = nai_report_table(report, "gpu_active");
  struct nai_view *list = nai_view_put_list(root, "bars");
  double all[PARTS] = {0};
  int64_t active = 0, window = 0;
  bool pauses = false;
  char label[64];
  for (int64_t i = 0; i < gpus->rows; i++) {
    const struct GPU_ACTIVE_row gpu = GPU_ACTIVE_at(gpus, i);
    const double one[PARTS] = {(double)gpu.compute_ns, (double)gpu.exposed_comm_ns, (double)gpu.exposed_copy_ns,
                               (double)gpu.idle_ns};
    for (int p = 0; p < PARTS; p++)
      all[p] += one[p];
    if (gpus->rows <= FEW_GPUS)
      put_bar(list, nai_report_gpu_label(report, gpu.device_id), one);
    active = gpu.active_ns > active ? gpu.active_ns : active;
    window = gpu.window_ns > window ? gpu.window_ns : window;
    pauses |= gpu.active_ns != gpu.window_ns;
  }
  snprintf(label, sizeof label, "%lld GPUs", (long long)gpus->rows);
  if (gpus->rows > FEW_GPUS)
    put_bar(list, label, all);
  nai_view_put_bool(root, "has_bars", active > 0);
  nai_view_put_bool(root, "has_pauses", pauses);
  nai_report_put_duration(root, "active", (double)active);
  nai_report_put_duration(root, "window", (double)window);
  struct nai_capture_course course;
  nai_capture_course_of(&course, report);
  if (nai_capture_course_hardly_works(&course)) /* shares of the verdict are of the capture there */
    nai_view_put_text(root, "of_active", " of active time");
}

/* What GPUs spend their time on, when there are too many for a row each: the least, the median and the largest share.
 */
static void put_usual(struct nai_view *root, const struct nai_report *report) {
  enum { MOST = 4096 };
  static const int columns[] = {GPU_ACTIVE_compute_pct, GPU_ACTIVE_exposed_comm_pct, GPU_ACTIVE_exposed_copy_pct,
                                GPU_ACTIVE_idle_pct};
  static const char *const labels[] = {"least", "median", "most"};
  const struct nai_table *gpus = nai_report_table(report, "gpu_active");
  int64_t rows = gpus->rows < MOST ? gpus->rows : MOST;
  const int64_t at[] = {0, (rows - 1) / 2, rows - 1};
  double sorted[MOST];
  nai_view_put_bool(root, "many_gpus", gpus->rows > FEW_GPUS);
  struct nai_view *list = nai_view_put_list(root, "usual");
  for (size_t l = 0; gpus->rows > FEW_GPUS && l < sizeof labels / sizeof *labels; l++) {
    struct nai_view *row = nai_view_add_map(list);
    nai_view_put_text(row, "what", labels[l]);
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
      for (int64_t i = 0; i < rows; i++)
        sorted[i] = nai_get_f64(gpus, i, columns[c]);
      qsort(sorted, (size_t)rows, sizeof *sorted, nai_by_f64);
      struct nai_value value = {.type = NAI_F64, .f = sorted[at[l]]};
      nai_report_put_value(row, nai_gpu_active_schema.columns[columns[c]].name, NAI_PCT, &value);
    }
  }
}

/* A grouping by its name, table, time and keys. */
#define GROUPING(groups, id, time, ...) \
  groups, &nai_##id##_schema, {__VA_ARGS__}, sizeof((int[]){__VA_ARGS__}) / sizeof(int), time

static void put_groups(struct nai_view *tables, const struct nai_report *report, int top) {
  static const struct nai_grouping groupings[] = {
      {GROUPING("kernel_groups", kernels, KERNELS_total_time_ns, KERNELS_kernel_name)},
      {GROUPING("shape_groups", kernel_shape, KERNEL_SHAPE_total_time_ns, KERNEL_SHAPE_kernel_name, KERNEL_SHAPE_grid,
                KERNEL_SHAPE_block)},
      {GROUPING("communication_groups", kernels, KERNELS_total_time_ns, KERNELS_kernel_name), "communication",
       KERNELS_category},
      {GROUPING("comm_groups", comm_ops, COMM_OPS_total_time_ns, COMM_OPS_op, COMM_OPS_dtype, COMM_OPS_family)},
      {GROUPING("category_groups", kernel_categories, KERNEL_CATEGORIES_total_time_ns, KERNEL_CATEGORIES_category)},
      {GROUPING("cause_groups", idle_causes, IDLE_CAUSES_active_ns, IDLE_CAUSES_cause)},
      {GROUPING("pattern_groups", idle_patterns, IDLE_PATTERNS_total_ns, IDLE_PATTERNS_cause, IDLE_PATTERNS_next_op,
                IDLE_PATTERNS_nvtx_range)},
      {GROUPING("transfer_groups", memory_transfers, MEMORY_TRANSFERS_total_time_ns, MEMORY_TRANSFERS_direction,
                MEMORY_TRANSFERS_src_kind, MEMORY_TRANSFERS_dst_kind)},
      {GROUPING("tiny_groups", tiny_kernels, TINY_KERNELS_total_time_ns, TINY_KERNELS_kernel_name)},
  };
  for (size_t i = 0; i < sizeof groupings / sizeof *groupings; i++)
    nai_report_put_groups(tables, report, &groupings[i], top);
}

/* Parts of tables: {"rows", "any", "more"} under `key`. */
static void put_sections(struct nai_view *tables, const struct nai_report *report, struct nai_sql *sql, int top) {
  static const struct {
    const char *key, *table, *clause;
    int most; /* 0: `top` */
  } sections[] = {
      {"ranges_by_gpu_time", "nvtx_ranges", "ORDER BY attributed_gpu_time_ns DESC"},
      {"ranges_on_gpu", "nvtx_projection", "WHERE whole = 1"},
      {"idle_ranges", "nvtx_projection", /* long ones on GPUs on which nothing runs in much of that */
       "WHERE whole = 1 AND idle_pct > 30 AND union_span_ns > (SELECT max(window_ns) / 10 FROM gpu_utilization)", 3},
      {"few_in_ranges", "nvtx_coverage", "WHERE scope = 'all' AND coverage_pct < 90"},
      {"slow_steps", "steps", "WHERE excess_ns IS NOT NULL ORDER BY excess_ns DESC"},
      {"metrics_in_short", "gpu_metrics", "WHERE during = 'busy'"},
      {"blocking_calls", "sync_calls", "WHERE class = 'blocking'"},
      {"other_sync_calls", "sync_calls", "WHERE class = 'ordering'"},
      {"poll_calls", "sync_calls", "WHERE class = 'poll'"},
      {"mpi_idle", "mpi_processes", "WHERE exposed_ns > 0 ORDER BY exposed_ns DESC", 1},
      {"without_steps", "step_search", "WHERE method = 'none'"},
      {"missing", "data_quality", "WHERE \"check\" = 'missing-table'", 64},
      {"workload_known", "workload_evidence", "WHERE value != 'unknown' AND confidence > 0"},
      {"health_notes", "capture_health", "WHERE state IN ('note', 'problem')", 64},
      {"quality_notes", "data_quality", "WHERE severity != 'info'"},
  };
  for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
    struct nai_view *view = nai_view_put_map(tables, sections[i].key);
    int most = sections[i].most ? sections[i].most : top;
    int64_t total =
        put_rows(nai_view_put_list(view, "rows"), report, sql, sections[i].table, sections[i].clause, most, NULL);
    nai_view_put_bool(view, "any", total > 0);
    put_more(view, total, most);
  }
}

/* Rows of gap_activity in which something beside CUDA tells what the thread did: before and after GPU work, its own
 * code, what repeats, single gaps. */
static void put_cpu_work(struct nai_view *tables, const struct nai_report *report, struct nai_sql *sql, int top) {
  static const char known[] = "activity != '' AND total_ns >= 1000000 AND "
                              "coalesce(on_cpu_ns, os_runtime_ns, sample_count) IS NOT NULL";
  static const struct {
    const char *scope, *label;
    bool few;
  } scopes[] = {{"set_up", "before the first CUDA call", true},
                {"before_work", "from there to the first GPU work", true},
                {"after_work", "after the last GPU work", true},
                {"host_code", "outside of CUDA calls in idle gaps", true},
                {"pattern", "repeated gaps", false},
                {"gap", "one gap", true}};
  struct nai_view *view = nai_view_put_map(tables, "cpu_work"), *rows = nai_view_put_list(view, "rows");
  int64_t total = 0;
  for (size_t s = 0; s < sizeof scopes / sizeof *scopes; s++) {
    char clause[256];
    snprintf(clause, sizeof clause, "WHERE scope = '%s' AND %s", scopes[s].scope, known);
    total += put_rows(rows, report, sql, "gap_activity", clause, scopes[s].few ? 3 : top / 2, scopes[s].label);
  }
  nai_view_put_bool(view, "any", total > 0);
}

static void put_answer_row(struct nai_view *cells, const struct nai_table *table, int64_t row) {
  NAI_SCOPED(nai_buf) text = {0};
  for (struct nai_display_column p = NAI_FIRST_DISPLAY_COLUMN; nai_display_column_next(&p, table->schema);) {
    struct nai_value value = nai_table_value(table, row, p.column);
    bool foreign = value.type == NAI_STR && !value.null;
    nai_buf_clear(&text);
    if (foreign)
      nai_text_cut(&text, value.s, strlen(value.s), NAI_SHORT_NAME);
    else
      nai_report_print_value(&text, p.unit, &value);
    nai_view_add_buf(cells, foreign ? NAI_TEXT_FOREIGN : NAI_TEXT_TRUSTED, &text);
  }
}

/* One answer of a skill, whatever its columns are. */
static void put_answer(struct nai_view *view, const struct nai_table *table, int top) {
  struct nai_view *columns = nai_view_put_list(view, "columns"), *rows = nai_view_put_list(view, "rows");
  for (struct nai_display_column p = NAI_FIRST_DISPLAY_COLUMN; nai_display_column_next(&p, table->schema);) {
    struct nai_view *column = nai_view_add_map(columns);
    char name[NAI_COLUMN_NAME_MAX];
    nai_view_put_text(column, "name", nai_display_column_name(name, table->schema, &p));
    nai_view_put_trusted(column, "rule", table->schema->columns[p.column].type == NAI_STR ? "---" : "---:");
  }
  for (int64_t row = 0; row < table->rows && row < top; row++)
    put_answer_row(nai_view_put_list(nai_view_add_map(rows), "cells"), table, row);
  put_more(view, table->rows, top);
}

/* {"skills": [{"skill", "title", "text", "reason", "table": {...}, NULL without rows}]} */
static void put_skills(struct nai_view *root, const struct nai_report *report, int top) {
  const struct nai_table *answers = nai_report_table(report, "skill_answers");
  struct nai_view *list = nai_view_put_list(root, "skills");
  for (int64_t i = 0; i < answers->rows; i++) {
    const struct SKILL_ANSWERS_row answer = SKILL_ANSWERS_at(answers, i);
    const struct nai_table *table = nai_report_table(report, answer.skill);
    struct nai_view *view = nai_view_add_map(list);
    nai_view_put_text(view, "skill", answer.skill);
    nai_view_put_text(view, "title", answer.title);
    nai_view_put_text(view, "text", answer.text); /* no section shows an empty one */
    nai_view_put_text(view, "reason", answer.reason);
    nai_view_put_bool(view, "none", !table->rows && !*answer.reason);
    if (table->rows)
      put_answer(nai_view_put_map(view, "table"), table, top);
  }
  nai_view_put_bool(root, "has_skills", answers->rows > 0);
}

/* "has_NAME": whether a section of that name has anything to show. */
static void put_contents(struct nai_view *root, const struct nai_view *tables) {
  static const struct {
    const char *name, *tables[6];
  } sections[] = {
      {"has_kernels", {"kernel_groups", "category_groups", "nvtx_phases"}},
      {"has_steps", {"step_summary", "slow_steps"}},
      {"has_communication", {"communication_groups", "comm_groups", "comm_ranks", "step_comm_ops"}},
      {"has_host", {"cause_groups", "pattern_groups", "cpu_work"}},
      {"has_nvtx", {"ranges_by_gpu_time"}},
      {"has_memory", {"transfer_groups", "unified_memory", "memory_use", "metrics_in_short", "nic_metrics"}},
      {"has_quality", {"health_notes", "quality_notes"}},
  };
  for (size_t s = 0; s < sizeof sections / sizeof *sections; s++) {
    bool any = false;
    for (int t = 0; t < 6 && sections[s].tables[t]; t++) {
      const char *name = sections[s].tables[t];
      any |= nai_view_truth(nai_view_get(nai_view_get(tables, name, strlen(name)), "any", 3));
    }
    nai_view_put_bool(root, sections[s].name, any);
  }
}

/* A connection to the report's tables. */
static int open_tables(struct nai_sql **out, const struct nai_report *report, struct nai_err *err) {
  NAI_FREED const struct nai_schema **schemas = calloc(report->table_count + 1, sizeof *schemas);
  NAI_TRY(nai_memory_check(schemas, err));
  for (size_t i = 0; i < report->table_count; i++)
    schemas[i] = report->tables[i]->schema;
  NAI_TRY(nai_sql_new(out, schemas, report->table_count, err));
  struct nai_sql_table *gpus = nai_sql_find(*out, "gpu_utilization"); /* clauses of other tables ask it, too */
  return gpus ? nai_sql_show(gpus, nai_report_table(report, "gpu_utilization"), err) : NAI_OK;
}

static void put_tables(struct nai_view *tables, const struct nai_report *report, int top) {
  NAI_OWNED(nai_sql) *sql = NULL;
  struct nai_err err;
  for (size_t i = 0; i < report->table_count; i++)
    put_table(tables, report, report->tables[i], top);
  put_groups(tables, report, top);
  if (open_tables(&sql, report, &err)) {
    nai_view_fail(tables);
    return;
  }
  put_sections(tables, report, sql, top);
  put_cpu_work(tables, report, sql, top);
}

/* "capture_line", "capture_bar", and "capture_phases" to draw, in their order: place and width in per mille of what is
 * recorded, and how dark: GPU work most. */
static void put_capture(struct nai_view *root, const struct nai_report *report) {
  enum { SCALE = 1000 };
  NAI_SCOPED(nai_buf) line = {0};
  NAI_SCOPED(nai_buf) bar = {0};
  enum nai_capture_phase cells[SCALE];
  struct nai_capture_course course;
  struct nai_view *list = nai_view_put_list(root, "capture_phases");
  nai_capture_course_of(&course, report);
  nai_capture_course_line(&line, report);
  nai_capture_course_bar(&bar, report);
  nai_view_put_buf(root, "capture_line", NAI_TEXT_TRUSTED, &line);
  nai_view_put_buf(root, "capture_bar", NAI_TEXT_TRUSTED, &bar);
  if (!nai_capture_course_cells(cells, SCALE, report))
    return;
  for (int at = 0, to; at < SCALE; at = to) {
    const enum nai_capture_phase phase = cells[at];
    for (to = at; to < SCALE && cells[to] == phase;)
      to++;
    struct nai_view *view = nai_view_add_map(list);
    nai_view_put_trusted(view, "shade", phase == NAI_CAPTURE_GPU ? "1" : phase == NAI_CAPTURE_SET_UP ? "0.45" : "0.2");
    nai_view_put_trusted(view, "label", nai_phase_labels[phase].label);
    nai_report_put_duration(view, "time", (double)course.recorded * (to - at) / SCALE);
    nai_view_put_int(view, "x", at);
    nai_view_put_int(view, "width", to - at);
  }
}

/* "serving": engines, each with its sums over all steps and over those that decode. */
static void put_serving(struct nai_view *root, const struct nai_report *report) {
  const struct nai_table *engines = nai_report_table(report, "serving_engines"),
                         *sums = nai_report_table(report, "serving_summary");
  struct nai_view *list = nai_view_put_list(root, "serving");
  for (int64_t i = 0; i < engines->rows && i < FEW_ENGINES; i++) {
    struct nai_view *engine = nai_view_add_map(list);
    nai_report_put_row(engine, report, engines, i);
    nai_view_put_bool(engine, "several", strchr(nai_get_str(engines, i, SERVING_ENGINES_device_ids), ','));
    for (int64_t k = 0; k < sums->rows; k++) {
      struct SERVING_SUMMARY_row row = SERVING_SUMMARY_at(sums, k);
      bool all = strcmp(row.kind, "all") == 0;
      if (row.engine == nai_get_i64(engines, i, SERVING_ENGINES_engine) && (all || strcmp(row.kind, "decode") == 0))
        nai_report_put_row(nai_view_put_map(engine, all ? "all" : "decode"), report, sums, k);
    }
  }
}

/* "tables" and what of the contents they tell. */
static void fill_tables(struct nai_view *root, const struct nai_report *report, int top) {
  struct nai_view *tables = nai_view_put_map(root, "tables");
  put_tables(tables, report, top);
  put_contents(root, tables);
}

static bool is_recorded(const struct nai_report *report, const char *capability) {
  const struct nai_table *t = nai_report_table(report, "capabilities");
  bool is = false;
  for (int64_t i = 0; i < t->rows; i++)
    is |= nai_get_i64(t, i, CAPABILITIES_available) == 1 &&
          strcmp(nai_get_str(t, i, CAPABILITIES_capability), capability) == 0;
  return is;
}

/* What the host did is told by these, as far as they are there and do not disturb it. */
static void put_limits(struct nai_view *root, const struct nai_report *report) {
  static const char *const kinds[] = {"NVTX", "OS runtime calls", "thread scheduling", "CPU samples"};
  const struct nai_table *health = nai_report_table(report, "capture_health");
  NAI_SCOPED(nai_buf) limits = {0};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (!is_recorded(report, kinds[i]))
      nai_buf_printf(&limits, "%s%s", limits.len ? ", " : "Not recorded: ", kinds[i]);
  const int64_t dense = nai_find_str(health, CAPTURE_HEALTH_check, "nvtx_dense");
  if (dense >= 0 && strcmp(nai_get_str(health, dense, CAPTURE_HEALTH_state), "note") == 0)
    nai_buf_printf(&limits, "%sNVTX ranges are so dense that they slow the host", limits.len ? ". " : "");
  nai_view_put_buf(root, "limits", NAI_TEXT_TRUSTED, &limits);
}

static bool fill_late(struct nai_view *root, const char *key, size_t len, const void *ctx) {
  const struct nai_report *report = ctx;
  bool is_it = (len == 6 && memcmp(key, "tables", 6) == 0) || (len > 4 && memcmp(key, "has_", 4) == 0);
  if (is_it)
    fill_tables(root, report, report->top);
  return is_it;
}

struct nai_view *nai_report_view(const struct nai_report *report, int top, bool details) {
  struct nai_view *root = nai_view_new();
  NAI_SCOPED(nai_buf) summary = {0};
  NAI_SCOPED(nai_buf) verdict = {0};
  enum nai_severity severity;
  nai_report_summary(&summary, report);
  nai_report_verdict(&verdict, &severity, report);
  nai_view_put_text(root, "title", nai_get_str(nai_report_table(report, "capture"), 0, CAPTURE_file));
  nai_view_put_buf(root, "summary", NAI_TEXT_FOREIGN, &summary);
  nai_view_put_buf(root, "verdict", NAI_TEXT_FOREIGN, &verdict);
  nai_view_put_text(root, "verdict_severity", nai_report_severity_label(severity));
  nai_view_put_text(root, "version", report->version);
  nai_view_put_bool(root, "details", details);
  nai_view_put_int(root, "top", top);
  nai_report_put_findings(root, report);
  put_limits(root, report);
  put_bars(root, report);
  put_capture(root, report);
  put_serving(root, report);
  put_usual(root, report);
  put_skills(root, report, top);
  nai_view_put_bool(root, "has_gpus", nai_report_table(report, "gpu_utilization")->rows > 0);
  if (top == report->top)
    nai_view_put_late(root, fill_late, report);
  else
    fill_tables(root, report, top);
  return root;
}
