/* nsys-ai sql: one statement over a run. */
#include "features/export/command.h"
#include "features/sql/sql_command.h"

#include "base/array.h"
#include "base/fs.h"
#include "base/text.h"
#include "base/threads.h"
#include "trace/trace/trace.h"
#include "pipeline/analyze.h"
#include "query/query.h"
#include "report/rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_PARAMETERS = 64, MAX_SQL = 1 << 20 };
static const int64_t held_rows = 10000; /* printed of formats that are read by people, unless more are asked for */

struct sql_args {
  const char *source; /* the first operand */
  const char *file, *out, *raw;
  const char *parameters[MAX_PARAMETERS];
  size_t parameter_count;
  int format;
  int64_t rows, memory_bytes;
  double timeout_s;
  bool human, schema, reference, explain, gzip, quiet;
};
enum { PARQUET = NAI_ROWS_FORMATS }; /* behind those of rows.h */

static void init(void *memory) {
  struct sql_args *args = memory;
  args->format = NAI_ROWS_TABLE;
  args->rows = -1;
}

static const char *formats(size_t index, const char *before) {
  return index == PARQUET ? "parquet" : nai_cmd_rows_formats(index, before);
}

#define AT(field) .at = offsetof(struct sql_args, field)
static const struct nai_cli_option options[] = {
    {.name = "file",
     .value = "FILE",
     .help = "read the statement from a file; - is standard input",
     .type = &nai_cli_text,
     AT(file),
     .hint = NAI_CLI_FILE,
     .suffixes = "sql"},
    {.name = "param",
     .value = "NAME=VALUE",
     .help = "what :NAME stands for in the statement: a number if it reads as one, else a text; repeatable",
     .type = &nai_cli_texts,
     AT(parameters),
     .count_at = offsetof(struct sql_args, parameter_count),
     .most = MAX_PARAMETERS},
    {.name = "format",
     .value = "FORMAT",
     .help = "how rows are printed",
     .type = &nai_cli_choice,
     AT(format),
     .choices = formats},
    {.name = "human", .help = "table and markdown: numbers for people, by unit", .type = &nai_cli_on, AT(human)},
    {.name = "gzip", .help = "parquet: compress the pages", .type = &nai_cli_on, AT(gzip)},
    {.name = "out",
     .letter = 'o',
     .value = "FILE",
     .help = "write the rows into a file",
     .type = &nai_cli_text,
     AT(out),
     .otherwise = "standard output",
     .hint = NAI_CLI_FILE},
    {.name = "rows",
     .letter = 'n',
     .value = "N",
     .help = "print at most N rows",
     .type = &nai_cli_int64,
     AT(rows),
     .max = INT64_MAX,
     .otherwise = "10000 for table and markdown, else all"},
    {.name = "raw",
     .value = "TRACE",
     .help = "the run's export: its tables of events can be read, too, as raw.NAME",
     .type = &nai_cli_text,
     AT(raw),
     .hint = NAI_CLI_FILE,
     .suffixes = NAI_CMD_TRACE_SUFFIXES},
    {.name = "timeout",
     .value = "SECONDS",
     .help = "end a statement that takes longer, with exit status 6",
     .type = &nai_cli_number,
     AT(timeout_s),
     .min = 0,
     .max = 1000000,
     .otherwise = "none"},
    {.name = "max-memory",
     .value = "SIZE",
     .help = "end a statement that needs more, with exit status 6",
     .type = &nai_cli_bytes,
     AT(memory_bytes),
     .max = INT64_C(1) << 42,
     .otherwise = "1G"},
    {.name = "schema",
     .help = "print the tables and views, or the columns of one: SRC --schema [TABLE]",
     .type = &nai_cli_on,
     AT(schema)},
    {.name = "reference",
     .help = "print every table and view with its columns, as Markdown: of any run, or with SRC of that",
     .type = &nai_cli_on,
     AT(reference)},
    {.name = "explain", .help = "print how the statement would be run, not its rows", .type = &nai_cli_on, AT(explain)},
    {.name = "quiet", .letter = 'q', .help = "print no notes", .type = &nai_cli_on, AT(quiet)},
    {0},
};

/* --- what is asked --------------------------------------------------------------------------------- */

static int check(const void *memory, const char *const *operands, size_t count, struct nai_err *err) {
  const struct sql_args *args = memory;
  (void)operands;
  if (args->reference)
    return count > 1 || args->schema || args->file || args->explain || args->parameter_count
             ? nai_err_set(err, NAI_EUSAGE, "--reference takes a run or a trace at most")
             : NAI_OK;
  if (!count)
    return nai_err_set(err, NAI_EUSAGE, "SRC is missing: an artifacts directory or a trace");
  if (args->schema && (args->raw || args->file || args->explain || args->parameter_count))
    return nai_err_set(err, NAI_EUSAGE, "--schema takes the name of a table at most");
  if (!args->schema && (count > 1) == (args->file != NULL))
    return nai_err_set(err, NAI_EUSAGE, "give one statement: as an operand or with --file");
  for (size_t i = 0; i < args->parameter_count; i++)
    if (!strchr(args->parameters[i], '=') || *args->parameters[i] == '=')
      return nai_err_set(err, NAI_EUSAGE, "--param \"%s\": expected NAME=VALUE", args->parameters[i]);
  if (args->gzip && args->format != PARQUET)
    return nai_err_set(err, NAI_EUSAGE, "--gzip is of parquet");
  return args->format == PARQUET ? nai_cmd_check_binary("parquet", args->out, err) : NAI_OK;
}

/* A number if the whole text is one. */
static struct nai_value value_of(const char *text) {
  struct nai_value value = {.type = NAI_STR, .s = text};
  char *end;
  bool number = *text && strspn(text, "+-.0123456789eE") == strlen(text);
  errno = 0;
  long long i = number ? strtoll(text, &end, 10) : 0;
  if (number && !*end && !errno)
    return (struct nai_value){.type = NAI_I64, .i = i};
  double f = number ? strtod(text, &end) : 0;
  return number && !*end ? (struct nai_value){.type = NAI_F64, .f = f} : value;
}

static void split_parameters(struct nai_query_parameter *out, char **names, const struct sql_args *args) {
  for (size_t i = 0; i < args->parameter_count; i++) {
    const char *equals = strchr(args->parameters[i], '=');
    names[i] = strndup(args->parameters[i], (size_t)(equals - args->parameters[i]));
    out[i] = (struct nai_query_parameter){names[i] ? names[i] : "", value_of(equals + 1)};
  }
}

static int read_statement(struct nai_buf *out, const struct sql_args *args, const char *operand, struct nai_err *err) {
  const char *file = args->file ? args->file : operand && strcmp(operand, "-") == 0 ? "-" : NULL;
  if (!file) {
    nai_buf_puts(out, operand);
    return nai_buf_check(out, err);
  }
  return strcmp(file, "-") == 0 ? nai_fs_read_fd(out, STDIN_FILENO, "standard input", MAX_SQL, NAI_EUSAGE, err)
                                : nai_fs_read(out, file, MAX_SQL, NAI_EUSAGE, err);
}

/* --- the answer ------------------------------------------------------------------------------------ */

static int answer(const struct sql_args *args, const struct nai_query *query, struct nai_err *err) {
  const struct nai_cmd_printing how = {.format = (enum nai_rows_format)args->format,
                                       .human = args->human,
                                       .width = args->out ? 0 : nai_cmd_terminal_width()};
  struct nai_cmd_output output;
  bool truncated = false;
  int rc = nai_cmd_output_open(&output, args->out, args->source, err);
  if (rc)
    return rc;
  const struct nai_parquet_options parquet = {.gzip = args->gzip, .about = query->text->sql};
  rc = args->format == PARQUET ? nai_cmd_query_parquet(&truncated, &output.sink.text, query, &parquet, err)
                               : nai_cmd_query(&truncated, &output.sink.text, query, &how, err);
  rc = nai_cmd_output_close(&output, rc, err);
  if (!rc && truncated && !args->quiet)
    fprintf(stderr, "nsys-ai: the first %lld rows; --rows N prints more\n", (long long)query->limits.rows);
  return rc;
}

static int64_t rows_of(const struct sql_args *args) {
  bool held = args->format == NAI_ROWS_TABLE || args->format == NAI_ROWS_MARKDOWN;
  return args->rows >= 0 ? args->rows : held ? held_rows : -1;
}

/* The export that the run was made from, and no other. */
static int open_raw(struct nai_trace **raw, const char *path, const struct nai_run *source, struct nai_err *err) {
  const struct nai_trace_options how = {.reader = NAI_READER_SQLITE};
  int rc = nai_trace_open(raw, path, &how, err);
  if (!rc)
    rc = nai_trace_identify(*raw, nai_cpu_count(), err);
  if (!rc && (*raw)->identity != nai_run_manifest(source)->identity)
    rc = nai_err_set(err, NAI_EUSAGE, "--raw \"%s\" is not the trace that the run was made from", path);
  return rc;
}

static int run_statement(const struct sql_args *args, struct nai_run *source, const char *operand,
                         struct nai_err *err) {
  struct nai_query_parameter parameters[MAX_PARAMETERS] = {0};
  char *names[MAX_PARAMETERS] = {0};
  struct nai_buf sql = {0};
  struct nai_trace *raw = NULL;
  int rc = read_statement(&sql, args, operand, err);
  split_parameters(parameters, names, args);
  if (!rc && strlen(nai_buf_str(&sql)) != sql.len)
    rc = nai_err_set(err, NAI_EUSAGE, "the statement holds a NUL");
  if (!rc && args->raw)
    rc = open_raw(&raw, args->raw, source, err);
  if (!rc) {
    const struct nai_query_text text = {.sql = nai_buf_str(&sql),
                                        .label = args->file && strcmp(args->file, "-") != 0 ? args->file : "sql"};
    const struct nai_query query = {.run = source,
                                    .raw = raw,
                                    .text = &text,
                                    .parameters = parameters,
                                    .parameter_count = args->parameter_count,
                                    .limits = {args->timeout_s, args->memory_bytes, rows_of(args)},
                                    .mode = args->explain ? NAI_QUERY_EXPLAIN : NAI_QUERY_RUN};
    rc = answer(args, &query, err);
  }
  nai_trace_close(raw);
  for (size_t i = 0; i < args->parameter_count; i++)
    free(names[i]);
  nai_buf_free(&sql);
  return rc;
}

static int list_names(const char ***names, size_t *count, struct nai_run *source, struct nai_err *err) {
  const struct nai_manifest *m = nai_run_manifest(source);
  uint32_t capacity = 0, n = 0;
  for (uint32_t i = 0; i < m->node_count; i++)
    for (uint32_t t = m->nodes[i].table; t < m->nodes[i].table_end; t++) {
      if (!nai_array_room(names, &capacity, n, sizeof **names))
        return nai_err_nomem(err);
      (*names)[n++] = nai_manifest_name(m, m->entries[t].name);
    }
  *count = n;
  return NAI_OK;
}

static int print_schema(const struct sql_args *args, struct nai_run *source, const char *table, struct nai_err *err) {
  const struct nai_query_parameter parameter = {"table", {.type = NAI_STR, .s = table, .null = !table}};
  const struct nai_query_text text = {
      .sql = table ? "SELECT name, type, unit, refers, hidden, description FROM nai_columns WHERE table_name = :table "
                     "ORDER BY position"
                   : "SELECT name, kind, rows, description FROM nai_tables ORDER BY kind = 'view' DESC, kind, name",
      .label = "schema"};
  const struct nai_query query = {
      .run = source, .text = &text, .parameters = &parameter, .parameter_count = 1, .limits = {0, 0, -1}};
  const char **names = NULL;
  size_t count = 0;
  if (!table || nai_query_has(source, table))
    return answer(args, &query, err);
  int rc = list_names(&names, &count, source, err);
  if (!rc) {
    const char *near = nai_text_suggest(table, names, count);
    rc = nai_err_set(err, NAI_EUSAGE, "there is no table \"%s\"%s%s%s", table, near ? "; did you mean " : "",
                     near ? near : "", near ? "?" : "");
  }
  free(names);
  return rc;
}

static int print_reference(const struct sql_args *args, const char *path, struct nai_err *err) {
  struct nai_cmd_output output;
  struct nai_run *source = NULL;
  int rc = path ? nai_cmd_source_open(&source, path, &(struct nai_cmd_source){.quiet = args->quiet}, err)
                : nai_empty_run(&source, err);
  if (!rc)
    rc = nai_cmd_output_open(&output, args->out, args->source, err);
  if (!rc)
    rc = nai_cmd_output_close(&output, nai_cmd_put_reference(&output.sink.text, source, err), err);
  nai_run_close(source);
  return rc;
}

static int run(void *memory, const char *const *operands, size_t count, const struct nai_cli_program *program,
               struct nai_err *err) {
  struct sql_args *args = memory;
  struct nai_run *source = NULL;
  (void)program;
  args->source = count ? operands[0] : NULL;
  if (args->reference)
    return print_reference(args, count ? operands[0] : NULL, err);
  int rc = nai_cmd_source_open(&source, operands[0], &(struct nai_cmd_source){.quiet = args->quiet}, err);
  if (!rc)
    rc = args->schema ? print_schema(args, source, count > 1 ? operands[1] : NULL, err)
                      : run_statement(args, source, count > 1 ? operands[1] : NULL, err);
  nai_run_close(source);
  return rc;
}

const struct nai_cli_command nai_cmd_sql = {
    .name = "sql",
    .synopsis = "SRC STATEMENT | SRC --schema [TABLE] | --reference [SRC]",
    .summary = "ask a run or a trace with SQL",
    .description =
        "Runs one SELECT over the tables of a run. SRC is an artifacts directory or a trace, which is analysed "
        "for this "
        "answer only. Statements can only read, see docs/asking.md for tables, views and functions. The statement - is "
        "read from standard input.",
    .examples = "nsys-ai sql artifacts/run1 --schema\n"
                "nsys-ai sql artifacts/run1 --schema v_kernels\n"
                "nsys-ai sql artifacts/run1 'select count(*) from raw.CUPTI_ACTIVITY_KIND_KERNEL' --raw trace.sqlite\n"
                "nsys-ai sql artifacts/run1 'select name, count(*) from kernel_events group by name'\n"
                "nsys-ai sql trace.sqlite 'select * from kernels where device_id = :gpu' --param gpu=0 --format csv",
    .options = options,
    .operands =
        (const struct nai_cli_operand[]){
            {.name = "SRC", .hint = NAI_CLI_FILE, .suffixes = NAI_CMD_TRACE_SUFFIXES}, {.name = "STATEMENT"}, {0}},
    .min_operands = 0,
    .max_operands = 2,
    .args_size = sizeof(struct sql_args),
    .init = init,
    .check = check,
    .run = run,
};
