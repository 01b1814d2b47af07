/* nsys-ai evidence: the facts behind the findings of a run. */
#include "features/read/read.h"
#include "command/collect.h"

#include "base/fmt.h"
#include "base/escape.h"
#include "rules/rules.h"
#include "table/severity.h"

#include <inttypes.h>
#include <string.h>

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

#define ASK offsetof(struct evidence_args, ask)
static const struct nai_cli_option options[] = {
    {.name = "finding",
     .value = "N",
     .help = "of this finding only, by its number in the report, from 1",
     .type = &nai_cli_int64,
     .at = offsetof(struct evidence_args, finding),
     .min = 1,
     .max = INT64_MAX,
     .otherwise = "all"},
    {.name = "severity",
     .value = "SEVERITY",
     .help = "of findings of this severity or higher",
     .type = &nai_cli_choice,
     .at = offsetof(struct evidence_args, severity),
     .choices = nai_cmd_severities,
     .otherwise = "all"},
    NAI_CMD_GPU_OPTION(ASK),
    {.name = "format",
     .value = "FORMAT",
     .help = "how the answer is printed; v0.1 is JSON of the evidence schema 0.1",
     .type = &nai_cli_choice,
     .at = ASK + offsetof(struct nai_cmd_ask, format),
     .choices = formats},
    NAI_CMD_QUIET_OPTION(ASK),
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

/* "60.253066-60.260933 s  GPU 0  text  table[row]" */
static void put_fact(struct nai_buf *out, const struct nai_query_rows *rows, int64_t row) {
  const struct nai_value *start = nai_query_cell(rows, row, E_START), *device = nai_query_cell(rows, row, E_DEVICE),
                         *pid = nai_query_cell(rows, row, E_PID);
  const char *text = nai_query_cell_text(rows, row, E_TEXT), *table = nai_query_cell_text(rows, row, E_TABLE);
  nai_buf_puts(out, "  ");
  if (!start->null) {
    nai_fmt_scaled(out, start->i / 1000, 6);
    nai_buf_putc(out, '-');
    nai_fmt_scaled(out, nai_query_cell_int(rows, row, E_END) / 1000, 6);
    nai_buf_puts(out, " s  ");
  }
  if (!device->null)
    nai_buf_printf(out, "GPU %" PRId64 "  ", device->i);
  else if (!pid->null)
    nai_buf_printf(out, "pid %" PRId64 "  ", pid->i);
  nai_escape_terminal(out, text, strlen(text));
  if (*table) {
    nai_buf_puts(out, "  ");
    nai_escape_terminal(out, table, strlen(table));
    nai_buf_printf(out, "[%" PRId64 "]", nai_query_cell_int(rows, row, E_ROW));
  }
  nai_buf_putc(out, '\n');
}

static int print_text(struct nai_buf *out, struct nai_run *run, const struct nai_query_parameter *parameters,
                      size_t count, struct nai_err *err) {
  struct nai_query_rows rows;
  int rc = nai_cmd_collect(&rows, run, statement, parameters, count, err);
  int64_t before = -1;
  for (int64_t row = 0; row < rows.rows && !rc; row++) {
    int64_t finding = nai_query_cell_int(&rows, row, E_FINDING);
    const char *title = nai_query_cell_text(&rows, row, E_TITLE);
    if (finding != before) {
      nai_buf_printf(out, "%s%" PRId64 " %s: ", row ? "\n" : "", finding, nai_query_cell_text(&rows, row, E_SEVERITY));
      nai_escape_terminal(out, title, strlen(title));
      nai_buf_printf(out, " (%s)\n", nai_query_cell_text(&rows, row, E_ID));
    }
    before = finding;
    if (!nai_query_cell(&rows, row, E_TEXT)->null)
      put_fact(out, &rows, row);
  }
  if (!rc && !rows.rows)
    nai_buf_puts(out, "no such findings\n");
  nai_query_rows_free(&rows);
  return rc ? rc : nai_buf_check(out, err);
}

static int check_finding(int64_t number, struct nai_run *run, struct nai_err *err) {
  const struct nai_table *findings;
  if (number < 0)
    return NAI_OK;
  int rc = nai_run_table(&findings, run, nai_findings_schema.name, &nai_findings_schema, err);
  if (!rc && number > findings->rows)
    rc = nai_err_set(err, NAI_EUSAGE, "--finding %" PRId64 ": the run has %" PRId64 " findings, numbered from 1",
                     number, findings->rows);
  return rc;
}

static int answer(struct nai_buf *out, const void *memory, struct nai_run *run, const char *const *operands,
                  struct nai_err *err) {
  const struct evidence_args *args = memory;
  (void)operands;
  int rc = check_finding(args->finding, run, err);
  if (rc)
    return rc;
  const struct nai_query_parameter parameters[] = {
      {"finding", {.type = NAI_I64, .i = args->finding, .null = args->finding < 0}},
      {"gpu", {.type = NAI_I64, .i = args->ask.gpu, .null = args->ask.gpu == INT64_MIN}},
      {"severity", {.type = NAI_I64, .i = args->severity < 0 ? 0 : args->severity}}};
  if (args->ask.format == FINDINGS)
    return nai_cmd_put_findings(out, run, parameters, 3, err);
  const struct nai_query_text text = {.sql = statement, .label = "evidence"};
  const struct nai_query query = {
      .run = run, .text = &text, .parameters = parameters, .parameter_count = 3, .limits = {.rows = -1}};
  const struct nai_cmd_printing how = {.format = (enum nai_rows_format)args->ask.format, .human = true};
  bool truncated;
  return args->ask.format == NAI_ROWS_TABLE ? print_text(out, run, parameters, 3, err)
                                            : nai_cmd_query(&truncated, out, &query, &how, err);
}

static int run(void *memory, const char *const *operands, size_t count, const struct nai_cli_program *program,
               struct nai_err *err) {
  const struct evidence_args *args = memory;
  (void)count, (void)program;
  return nai_cmd_answer(answer, args, &args->ask, operands, err);
}

const struct nai_cli_command nai_cmd_evidence = {
    .name = "evidence",
    .synopsis = "SRC",
    .summary = "print the facts behind each finding",
    .description =
        "Prints each finding of a run with the facts it stands on: when, where, what, and the row of the table "
        "that says so. SRC is "
        "an artifacts directory or a trace, which is analysed for this answer only.",
    .examples = "nsys-ai evidence artifacts/run1\nnsys-ai evidence artifacts/run1 --finding 1 --format json",
    .options = options,
    NAI_CMD_ONE_SOURCE,
    .args_size = sizeof(struct evidence_args),
    .init = init,
    .run = run,
};
