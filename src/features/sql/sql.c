/* nsys-ai sql: one statement over a run. */
#include "features/export/command.h"
#include "features/nights/history.h"
#include "features/sql/sql_command.h"

#include "base/fs.h"
#include "base/text.h"
#include "base/threads.h"
#include "trace/trace/trace.h"
#include "pipeline/analyze.h"
#include "query/query.h"
#include "report/rows.h"

#include <unistd.h>

enum { MAX_PARAMETERS = 64, MAX_SQL = 1 << 20 };
static const int64_t held_rows = 10000; /* printed of formats that are read by people, unless more are asked for */

struct sql_args {
  const char *source; /* the first operand; NULL where a store is asked */
  const char *store, *series;
  const char *file, *out, *raw;
  const char *parameters[MAX_PARAMETERS];
  size_t parameter_count;
  int format;
  int64_t rows, skip, memory_bytes;
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

#define NAI_CLI_ARGS struct sql_args
static const struct nai_cli_option options[] = {
    NAI_CLI_OPTION(text, store, "store", "DIR",
                   "ask the runs of a store in place of SRC: tables runs, metrics, findings, kernels and changes",
                   .hint = NAI_CLI_DIRECTORY),
    NAI_CLI_OPTION(text, series, "series", "NAME", "store: read the runs of this series only", .otherwise = "all"),
    NAI_CLI_OPTION(text, file, "file", "FILE", "read the statement from a file; - is standard input",
                   NAI_CLI_FILES("sql")),
    NAI_CLI_LIST(texts, parameters, parameter_count, "param", "NAME=VALUE",
                 "what :NAME stands for in the statement: a number if it reads as one, else a text; repeatable"),
    NAI_CLI_OPTION(choice, format, "format", "FORMAT", "how rows are printed", .choices = formats),
    NAI_CLI_SWITCH(on, human, "human", "table and markdown: numbers for people, by unit"),
    NAI_CLI_SWITCH(on, gzip, "gzip", "parquet: compress the pages"),
    NAI_CLI_OPTION(text, out, "out", "FILE", "write the rows into a file", .letter = 'o',
                   .otherwise = "standard output", .hint = NAI_CLI_FILE),
    NAI_CLI_OPTION(int64, rows, "rows", "N", "print at most N rows", .letter = 'n', .max = INT64_MAX,
                   .otherwise = "10000 for table and markdown, else all"),
    NAI_CLI_OPTION(int64, skip, "skip", "N", "leave out the first N rows", .max = INT64_MAX),
    NAI_CLI_OPTION(text, raw, "raw", "TRACE", "the run's export: its tables of events can be read, too, as raw.NAME",
                   NAI_CLI_FILES(NAI_CMD_TRACE_SUFFIXES)),
    NAI_CLI_OPTION(number, timeout_s, "timeout", "SECONDS", "end a statement that takes longer, with exit status 6",
                   NAI_CLI_RANGE(0, 1000000), .otherwise = "none"),
    NAI_CLI_OPTION(bytes, memory_bytes, "max-memory", "SIZE", "end a statement that needs more, with exit status 6",
                   .max = INT64_C(1) << 42, .otherwise = "1G"),
    NAI_CLI_SWITCH(on, schema, "schema", "print the tables and views, or the columns of one: SRC --schema [TABLE]"),
    NAI_CLI_SWITCH(on, reference, "reference",
                   "print every table and view with its columns, as Markdown: of any run, or with SRC of that"),
    NAI_CLI_SWITCH(on, explain, "explain", "print how the statement would be run, not its rows"),
    NAI_CMD_EXPORT_OPTION,
    NAI_CLI_SWITCH(on, quiet, "quiet", "print no notes", .letter = 'q'),
    {0},
};

/* --- what is asked --------------------------------------------------------------------------------- */

/* The operand behind SRC, which a store has the place of. */
static const char *second(const struct sql_args *args, const char *const *operands, size_t count) {
  size_t at = args->store ? 0 : 1;
  return count > at ? operands[at] : NULL;
}

static int check(const void *memory, const char *const *operands, size_t count, struct nai_err *err) {
  const struct sql_args *args = memory;
  if (args->series && !args->store)
    return nai_err_set(err, NAI_EUSAGE, "--series is of --store");
  if (args->store && (count > 1 || args->raw || args->reference))
    return nai_err_set(err, NAI_EUSAGE, "--store takes the place of SRC, --raw and --reference");
  if (args->reference)
    return count > 1 || args->schema || args->file || args->explain || args->parameter_count
             ? nai_err_set(err, NAI_EUSAGE, "--reference takes a run or a trace at most")
             : NAI_OK;
  if (!count && !args->store)
    return nai_err_set(err, NAI_EUSAGE, "SRC is missing: an artifacts directory or a trace");
  if (args->schema && (args->raw || args->file || args->explain || args->parameter_count))
    return nai_err_set(err, NAI_EUSAGE, "--schema takes the name of a table at most");
  if (!args->schema && (second(args, operands, count) != NULL) == (args->file != NULL))
    return nai_err_set(err, NAI_EUSAGE, "give one statement: as an operand or with --file");
  for (size_t i = 0; i < args->parameter_count; i++)
    if (!strchr(args->parameters[i], '=') || *args->parameters[i] == '=')
      return nai_err_set(err, NAI_EUSAGE, "--param \"%s\": expected NAME=VALUE", args->parameters[i]);
  if (args->gzip && args->format != PARQUET)
    return nai_err_set(err, NAI_EUSAGE, "--gzip is of parquet");
  if (args->skip && args->format == PARQUET)
    return nai_err_set(err, NAI_EUSAGE, "--skip is not of parquet");
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

static int split_parameters(struct nai_query_parameter *out, const struct sql_args *args, struct nai_arena *arena,
                            struct nai_err *err) {
  for (size_t i = 0; i < args->parameter_count; i++) {
    const char *equals = strchr(args->parameters[i], '=');
    int len = (int)(equals - args->parameters[i]);
    out[i] =
        (struct nai_query_parameter){nai_arena_printf(arena, "%.*s", len, args->parameters[i]), value_of(equals + 1)};
  }
  return nai_arena_check(arena, err);
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
                                       .skip = args->skip,
                                       .width = args->out ? 0 : nai_cmd_terminal_width()};
  const struct nai_parquet_options parquet = {.gzip = args->gzip, .about = query->text->sql};
  struct nai_cmd_output output;
  bool truncated = false;
  NAI_TRY(nai_cmd_output_open(&output, args->out, args->source, err));
  int rc = args->format == PARQUET ? nai_cmd_query_parquet(&truncated, &output.sink.text, query, &parquet, err)
                                   : nai_cmd_query(&truncated, &output.sink.text, query, &how, err);
  NAI_TRY(nai_cmd_output_close(&output, rc, err));
  if (truncated && !args->quiet)
    fprintf(stderr, "nsys-ai: the first %lld rows; --rows N prints more\n", (long long)query->limits.rows);
  return NAI_OK;
}

/* Those that are skipped among them; -1: all. */
static int64_t rows_of(const struct sql_args *args) {
  bool held = args->format == NAI_ROWS_TABLE || args->format == NAI_ROWS_MARKDOWN;
  int64_t rows = args->rows >= 0 ? args->rows : held ? held_rows : -1;
  return rows < 0 || rows > INT64_MAX - args->skip ? -1 : rows + args->skip;
}

/* The export that the run was made from, and no other. */
static int open_raw(struct nai_trace **raw, const char *path, const struct nai_run *source, struct nai_err *err) {
  const struct nai_trace_options how = {.reader = NAI_READER_SQLITE};
  NAI_TRY(nai_trace_open(raw, path, &how, err));
  NAI_TRY(nai_trace_identify(*raw, nai_cpu_count(), err));
  if ((*raw)->identity != nai_run_manifest(source)->identity)
    return nai_err_set(err, NAI_EUSAGE, "--raw \"%s\" is not the trace that the run was made from", path);
  return NAI_OK;
}

static int run_statement(const struct sql_args *args, struct nai_run *source, const char *operand,
                         struct nai_err *err) {
  struct nai_query_parameter parameters[MAX_PARAMETERS] = {0};
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  NAI_SCOPED(nai_buf) sql = {0};
  NAI_OWNED(nai_trace) *raw = NULL;
  NAI_TRY(read_statement(&sql, args, operand, err));
  NAI_TRY(split_parameters(parameters, args, &arena, err));
  if (strlen(nai_buf_str(&sql)) != sql.len)
    return nai_err_set(err, NAI_EUSAGE, "the statement holds a NUL");
  if (args->raw)
    NAI_TRY(open_raw(&raw, args->raw, source, err));
  const struct nai_query_text text = {.sql = nai_buf_str(&sql),
                                      .label = args->file && strcmp(args->file, "-") != 0 ? args->file : "sql"};
  const struct nai_query query = {.run = source,
                                  .raw = raw,
                                  .text = &text,
                                  .parameters = parameters,
                                  .parameter_count = args->parameter_count,
                                  .limits = {args->timeout_s, args->memory_bytes, rows_of(args)},
                                  .mode = args->explain ? NAI_QUERY_EXPLAIN : NAI_QUERY_RUN,
                                  .labels = args->human &&
                                            (args->format == NAI_ROWS_TABLE || args->format == NAI_ROWS_MARKDOWN)};
  return answer(args, &query, err);
}

/* There is no such table: the one that was probably meant. */
static int refuse_table(const struct nai_run *source, const char *table, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  const char **names;
  size_t count;
  NAI_TRY(nai_manifest_tables(&names, &count, nai_run_manifest(source), &arena, err));
  const char *near = nai_text_suggest(table, names, count);
  return nai_err_set(err, NAI_EUSAGE, "there is no table \"%s\"%s%s%s", table, near ? "; did you mean " : "",
                     near ? near : "", near ? "?" : "");
}

static int print_schema(const struct sql_args *args, struct nai_run *source, const char *table, struct nai_err *err) {
  const struct nai_query_parameter parameter = nai_query_string("table", table);
  const struct nai_query_text text = {
      .sql = table ? "SELECT name, type, unit, refers, hidden, description FROM nai_columns WHERE table_name = :table "
                     "ORDER BY position"
                   : "SELECT name, kind, rows, description FROM nai_tables ORDER BY kind = 'view' DESC, kind, name",
      .label = "schema"};
  const struct nai_query query = {
      .run = source, .text = &text, .parameters = &parameter, .parameter_count = 1, .limits = {0, 0, -1}};
  return !table || nai_query_has(source, table) ? answer(args, &query, err) : refuse_table(source, table, err);
}

static int print_reference(const struct sql_args *args, const char *path, struct nai_err *err) {
  struct nai_cmd_output output;
  NAI_OWNED(nai_run) *source = NULL;
  NAI_TRY(path ? nai_cmd_source_open(&source, path, &(struct nai_cmd_source){.quiet = args->quiet}, err)
               : nai_empty_run(&source, err));
  NAI_TRY(nai_cmd_output_open(&output, args->out, args->source, err));
  return nai_cmd_output_close(&output, nai_cmd_put_reference(&output.sink.text, source, err), err);
}

static int run(void *memory, const char *const *operands, size_t count, struct nai_err *err) {
  struct sql_args *args = memory;
  NAI_OWNED(nai_run) *source = NULL;
  args->source = count && !args->store ? operands[0] : NULL;
  if (args->reference)
    return print_reference(args, count ? operands[0] : NULL, err);
  NAI_TRY(args->store ? nai_history_open(&source, args->store, args->series, args->quiet ? NULL : nai_cmd_note, err)
                      : nai_cmd_source_open(&source, operands[0], &(struct nai_cmd_source){.quiet = args->quiet}, err));
  const char *operand = second(args, operands, count);
  return args->schema ? print_schema(args, source, operand, err) : run_statement(args, source, operand, err);
}

NAI_CLI_COMMAND(
    nai_cmd_sql, .name = "sql",
    .synopsis = "SRC STATEMENT | SRC --schema [TABLE] | --store DIR STATEMENT | --reference [SRC]",
    .summary = "ask a run, a trace or a store with SQL",
    .description =
        "Runs one SELECT over the tables of a run. " NAI_CMD_ABOUT_SOURCE
        " Statements can only read, see docs/asking.md for tables, views and functions. The statement - is read from "
        "standard input.",
    .examples = "nsys-ai sql artifacts/run1 --schema\n"
                "nsys-ai sql artifacts/run1 --schema v_kernels\n"
                "nsys-ai sql artifacts/run1 'select count(*) from raw.CUPTI_ACTIVITY_KIND_KERNEL' --raw trace.sqlite\n"
                "nsys-ai sql artifacts/run1 'select name, count(*) from kernel_events group by name'\n"
                "nsys-ai sql --store nights \"select run_id, value from metrics where metric = 'step.time.median'\"\n"
                "nsys-ai sql trace.sqlite 'select * from kernels where device_id = :gpu' --param gpu=0 --format csv",
    .options = options, NAI_CLI_OPERANDS(0, 2, NAI_CMD_SOURCE("SRC"), {.name = "STATEMENT"}), .init = init,
    .check = check, .run = run)
