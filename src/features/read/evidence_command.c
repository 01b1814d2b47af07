/* nsys-ai evidence: the facts behind the findings of a run. */
#include "features/read/read.h"

#include "base/fmt.h"
#include "base/escape.h"
#include "rules/rules.h"

struct evidence_args {
  struct nai_cmd_ask ask;
  int64_t finding; /* -1: all */
  int severity;    /* and higher; -1: all */
};

static void init(void *memory) {
  struct evidence_args *args = memory;
  nai_cmd_ask_init(&args->ask);
  args->finding = args->severity = -1;
}

enum { FINDINGS = NAI_ROWS_FORMATS }; /* behind those of rows.h */

static const char *formats(size_t index, const char *before) {
  return index == FINDINGS ? "v0.1" : nai_cmd_answer_formats(index, before);
}

#define NAI_CLI_ARGS struct evidence_args
static const struct nai_cli_option options[] = {
    NAI_CLI_OPTION(int64, finding, "finding", "N", "of this finding only, by its number in the report, from 1",
                   NAI_CLI_RANGE(1, INT64_MAX), .otherwise = "all"),
    NAI_CLI_OPTION(choice, severity, "severity", "SEVERITY", "of findings of this severity or higher",
                   .choices = nai_cmd_severities, .otherwise = "all"),
    NAI_CMD_GPU_OPTION,
    NAI_CLI_OPTION(choice, ask.format, "format", "FORMAT",
                   "how the answer is printed; v0.1 is JSON of the evidence schema 0.1", .choices = formats),
    NAI_CMD_EXPORT_OPTION,
    NAI_CMD_QUIET_OPTION,
    {0},
};

enum { E_FINDING, E_ID, E_SEVERITY, E_TITLE, E_START, E_END, E_DEVICE, E_PID, E_TABLE, E_ROW, E_TEXT };
static const char statement[] =
    "select f.finding, f.id, f.severity, f.title, e.start_ns, e.end_ns, e.device_id, e.pid, e.table_name, e.row, "
    "e.text "
    "from findings f left join evidence e on e.finding = f.finding "
    "where (:finding is null or f.finding = :finding) and (:gpu is null or e.device_id is null or e.device_id = "
    ":gpu) and "
    "case f.severity when 'high' then 3 when 'medium' then 2 when 'low' then 1 else 0 end >= :severity "
    "order by f.finding, e.rowid";

/* "GPU 0  text  see 60.253066-60.260933 s  table[row]": the time of one that the text is about. */
static void put_fact(struct nai_buf *lines, const struct nai_query_rows *rows, int64_t row) {
  NAI_SCOPED(nai_buf) line = {0};
  struct nai_buf *out = &line;
  const struct nai_value *start = nai_query_cell(rows, row, E_START), *device = nai_query_cell(rows, row, E_DEVICE),
                         *pid = nai_query_cell(rows, row, E_PID);
  const char *text = nai_query_cell_text(rows, row, E_TEXT), *table = nai_query_cell_text(rows, row, E_TABLE);
  nai_buf_puts(out, "  ");
  if (!device->null && strncmp(text, "GPU ", 4) != 0)
    nai_buf_printf(out, "GPU %" PRId64 "  ", device->i);
  else if (device->null && !pid->null)
    nai_buf_printf(out, "pid %" PRId64 "  ", pid->i);
  nai_escape_terminal(out, text, strlen(text));
  if (!start->null) {
    nai_buf_puts(out, "  see ");
    nai_fmt_scaled(out, start->i / 1000, 6);
    nai_buf_putc(out, '-');
    nai_fmt_scaled(out, nai_query_cell_int(rows, row, E_END) / 1000, 6);
    nai_buf_puts(out, " s");
  }
  if (*table) {
    nai_buf_puts(out, "  ");
    nai_escape_terminal(out, table, strlen(table));
    nai_buf_printf(out, "[%" PRId64 "]", nai_query_cell_int(rows, row, E_ROW));
  }
  nai_cmd_put_wrapped(lines, nai_buf_str(out), out->len, 4);
  lines->oom |= out->oom;
}

static int print_text(struct nai_buf *out, struct nai_run *run, const struct nai_query_parameter *parameters,
                      size_t count, struct nai_err *err) {
  NAI_SCOPED(nai_query_rows) rows = {0};
  NAI_TRY(nai_query_ask(&rows, run, statement, parameters, count, err));
  int64_t before = -1;
  for (int64_t row = 0; row < rows.rows; row++) {
    int64_t finding = nai_query_cell_int(&rows, row, E_FINDING);
    const char *title = nai_query_cell_text(&rows, row, E_TITLE);
    if (finding != before) {
      NAI_SCOPED(nai_buf) line = {0};
      nai_buf_puts(out, row ? "\n" : "");
      nai_buf_printf(&line, "%" PRId64 " %s: ", finding, nai_query_cell_text(&rows, row, E_SEVERITY));
      nai_escape_terminal(&line, title, strlen(title));
      nai_buf_printf(&line, " (%s)", nai_query_cell_text(&rows, row, E_ID));
      nai_cmd_put_wrapped(out, nai_buf_str(&line), line.len, 2);
      out->oom |= line.oom;
    }
    before = finding;
    if (!nai_query_cell(&rows, row, E_TEXT)->null)
      put_fact(out, &rows, row);
  }
  if (!rows.rows)
    nai_buf_puts(out, "no such findings\n");
  return nai_buf_check(out, err);
}

/* --- findings of schema 0.1 ------------------------------------------------------------------------------ */

enum { F_FINDING, F_ID, F_SEVERITY, F_TITLE, F_SAVING, F_START, F_END, F_DEVICE, F_TEXT, F_WINDOW };
/* A fact without a place stands where the window begins, unless the finding has facts with one. */
static const char placed_statement[] =
    "with facts as (select e.rowid as number, e.*, count(e.start_ns) over (partition by e.finding) as placed from evidence e "
    "where :gpu is null or e.device_id is null or e.device_id = :gpu) "
    "select f.finding, f.id, f.severity, f.title, f.saving_ns, e.start_ns, e.end_ns, e.device_id, e.text, "
    "(select window_start_ns from run_info) from findings f left join facts e on e.finding = f.finding "
    "where (:finding is null or f.finding = :finding) and (e.start_ns is not null or coalesce(e.placed, 0) = 0) and "
    "case f.severity when 'high' then 3 when 'medium' then 2 when 'low' then 1 else 0 end >= :severity "
    "order by f.finding, e.number";
static const char skipped_statement[] =
    "select capability, detail from capabilities where available = 0 order by rowid";

static const char *severity_there(const char *ours) {
  return strcmp(ours, "high") == 0 ? "critical" : strcmp(ours, "medium") == 0 ? "warning" : "info";
}

static void put_finding(struct nai_json *json, const struct nai_query_rows *rows, int64_t row) {
  const struct nai_value *start = nai_query_cell(rows, row, F_START), *end = nai_query_cell(rows, row, F_END),
                         *device = nai_query_cell(rows, row, F_DEVICE), *saving = nai_query_cell(rows, row, F_SAVING);
  bool region = !start->null && !end->null;
  nai_json_begin_object(json, NAI_JSON_INLINE);
  nai_json_put_text(json, "type", region ? "region" : "marker");
  nai_json_put_text(json, "label", nai_query_cell_text(rows, row, F_TITLE));
  nai_json_put_int(json, "start_ns", nai_query_cell_int(rows, row, start->null ? F_WINDOW : F_START));
  if (region)
    nai_json_put_int(json, "end_ns", end->i);
  if (!device->null)
    nai_json_put_int(json, "gpu_id", device->i);
  nai_json_put_text(json, "severity", severity_there(nai_query_cell_text(rows, row, F_SEVERITY)));
  nai_json_put_text(json, "note", nai_query_cell_text(rows, row, F_TEXT));
  nai_json_put_text(json, "id", nai_query_cell_text(rows, row, F_ID));
  if (!saving->null) {
    nai_json_key(json, "headroom_ms");
    nai_json_value(json, NAI_MS, saving);
  }
  nai_json_end(json);
}

static void put_skipped(struct nai_json *json, const struct nai_query_rows *rows) {
  nai_json_put_array(json, "skipped", NAI_JSON_LINES);
  for (int64_t row = 0; row < rows->rows; row++) {
    nai_json_begin_object(json, NAI_JSON_INLINE);
    nai_json_put_text(json, "capability", nai_query_cell_text(rows, row, 0));
    nai_json_put_text(json, "reason", nai_query_cell_text(rows, row, 1));
    nai_json_end(json);
  }
  nai_json_end(json);
}

static void put_head(struct nai_json *json, const struct nai_run *run) {
  const char *trace = nai_run_manifest(run)->trace ? nai_run_manifest(run)->trace : "";
  NAI_SCOPED(nai_buf) id = {0};
  nai_buf_printf(&id, "%016" PRIx64, nai_run_manifest(run)->identity);
  nai_json_put_text(json, "schema_version", "0.1");
  nai_json_put_text(json, "producer", "nsys-ai");
  nai_json_put_text(json, "producer_version", NAI_VERSION);
  nai_json_put_text(json, "title", trace);
  nai_json_put_text(json, "profile_id", nai_buf_str(&id));
  nai_json_put_text(json, "profile_path", trace);
}

/* JSON of schema 0.1, for timelines and agents that read evidence reports of it. */
static int print_findings(struct nai_buf *out, struct nai_run *run, const struct nai_query_parameter *parameters,
                          size_t count, struct nai_err *err) {
  NAI_SCOPED(nai_query_rows) rows = {0}, skipped = {0};
  struct nai_json json;
  NAI_TRY(nai_query_ask(&rows, run, placed_statement, parameters, count, err));
  NAI_TRY(nai_query_ask(&skipped, run, skipped_statement, NULL, 0, err));
  nai_json_open(&json, out, NAI_JSON_LINES);
  put_head(&json, run);
  nai_json_put_array(&json, "findings", NAI_JSON_LINES);
  for (int64_t row = 0; row < rows.rows; row++)
    put_finding(&json, &rows, row);
  nai_json_end(&json);
  put_skipped(&json, &skipped);
  nai_json_close(&json);
  return nai_buf_check(out, err);
}

/* --- the command ------------------------------------------------------------------------------------ */

static int check_finding(int64_t number, struct nai_run *run, struct nai_err *err) {
  const struct nai_table *findings;
  if (number < 0)
    return NAI_OK;
  NAI_TRY(nai_run_table(&findings, run, nai_findings_schema.name, &nai_findings_schema, err));
  if (number > findings->rows)
    return nai_err_set(err, NAI_EUSAGE, "--finding %" PRId64 ": the run has %" PRId64 " findings, numbered from 1",
                       number, findings->rows);
  return NAI_OK;
}

static int answer(struct nai_buf *out, const void *memory, struct nai_run *run, const char *const *operands,
                  struct nai_err *err) {
  const struct evidence_args *args = memory;
  (void)operands;
  NAI_TRY(check_finding(args->finding, run, err));
  const struct nai_query_parameter parameters[] = {
      nai_query_int("finding", args->finding, -1), nai_query_int("gpu", args->ask.gpu, INT64_MIN),
      nai_query_int("severity", args->severity < 0 ? 0 : args->severity, -1)};
  const struct nai_cmd_printing how = {.format = (enum nai_rows_format)args->ask.format, .human = true};
  return args->ask.format == FINDINGS ? print_findings(out, run, parameters, 3, err)
       : args->ask.format == NAI_ROWS_TABLE
           ? print_text(out, run, parameters, 3, err)
           : nai_cmd_query_all(out, run, statement, "evidence", parameters, 3, &how, err);
}

static int run(void *memory, const char *const *operands, size_t count, struct nai_err *err) {
  struct evidence_args *args = memory;
  (void)count;
  return nai_cmd_answer(answer, args, &args->ask, operands, err);
}

NAI_CLI_COMMAND(
    nai_cmd_evidence, .name = "evidence", .synopsis = "SRC", .summary = "print the facts behind each finding",
    .description =
        "Prints each finding of a run with the facts it stands on: when (of many events the longest), where, what, and the row of the table that "
        "says so. " NAI_CMD_ABOUT_SOURCE,
    .examples = "nsys-ai evidence artifacts/run1\nnsys-ai evidence artifacts/run1 --finding 1 --format json",
    .options = options, NAI_CMD_ONE_SOURCE, .init = init, .run = run)
