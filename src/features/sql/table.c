/* nsys-ai table: an intermediate table as text. */
#include "features/export/command.h"

#include "base/former.h"
#include "base/fs.h"
#include "base/arena.h"
#include "base/text.h"
#include "report/rows.h"
#include "table/csv.h"
#include "base/escape.h"
#include "table/json.h"
#include "rundir/run.h"
#include "table/set.h"
#include "tables/book.h"

#include <fcntl.h>
#include <sys/stat.h>

struct table_args {
  const char *source; /* the first operand */
  int format;
  bool csv, json, gzip;
  const char *out;
  int64_t rows; /* at most so many, -1 all */
};
enum { UNSAID = -1, CSV, JSON, PARQUET, TEXT };

NAI_CLI_NAMES(formats, [CSV] = "csv", [JSON] = "json", [PARQUET] = "parquet", [TEXT] = "text")

static void init(void *memory) {
  struct table_args *args = memory;
  args->rows = -1;
  args->format = UNSAID;
}

#define NAI_CLI_ARGS struct table_args
static const struct nai_cli_option options[] = {
    NAI_CLI_OPTION(choice, format, "format", "FORMAT",
                   "how the table is printed; JSON has types, units and descriptions", .choices = formats,
                   .otherwise = "csv, on a terminal text"),
    NAI_CLI_SWITCH(on, gzip, "gzip", "parquet: compress the pages"),
    NAI_CLI_OPTION(text, out, "out", "FILE", "write the table into a file", .letter = 'o',
                   .otherwise = "standard output", .hint = NAI_CLI_FILE),
    NAI_CLI_SWITCH(on, csv, "csv", "the same as --format csv"),
    NAI_CLI_SWITCH(on, json, "json", "the same as --format json"),
    NAI_CLI_OPTION(int64, rows, "rows", "N", "print the first N rows only", .letter = 'n', .max = INT64_MAX,
                   .otherwise = "all"),
    NAI_CMD_EXPORT_OPTION,
    {0},
};

/* There is no such file: the table beside it that was probably meant. */
static int missing(const char *path, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  const char **names, *name = nai_fs_basename(path), *near = NULL;
  const char *directory = nai_arena_printf(&arena, "%.*s", (int)(name - path), path);
  size_t all, count = 0;
  if (nai_fs_names(&names, &all, &arena, AT_FDCWD, *directory ? directory : ".") == 0) {
    for (size_t i = 0; i < all; i++)
      if (nai_text_ends(names[i], ".ntab"))
        names[count++] = names[i];
    near = nai_text_suggest(name, names, count);
  }
  return nai_err_set(err, NAI_EINPUT, "there is no \"%s\"%s%s%s%s", path, near ? "; did you mean " : "",
                     near ? directory : "", near ? near : "", near ? "?" : "");
}

static int format_of(const struct table_args *args) {
  if (args->json || args->csv)
    return args->json ? JSON : CSV;
  bool read = !args->out && nai_cmd_terminal_width(); /* by somebody, and not by a program */
  return args->format != UNSAID ? args->format : read ? TEXT : CSV;
}

/* Which of the table's columns are printed to be read, and how many: of two names of a kernel the short one, in front.
 */
static uint32_t choose_columns(uint32_t *chosen, const struct nai_schema *schema) {
  const int whole = nai_schema_role(schema, NAI_ROLE_KERNEL_NAME), brief = nai_schema_column(schema, "short_name");
  const bool both = whole >= 0 && brief >= 0;
  uint32_t count = 0;
  for (int i = 0; i < (int)schema->column_count; i++)
    if (!both || i != brief)
      chosen[count++] = (uint32_t)(both && i == whole ? brief : i);
  return count;
}

/* Columns as wide as the terminal lets them be, with numbers for people. */
static int print_text(struct nai_buf *out, const struct nai_table *table, struct nai_err *err) {
  const struct nai_schema *schema = table->schema;
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  struct nai_rows_column *columns;
  struct nai_value *cells;
  uint32_t *chosen;
  NAI_TRY(NAI_NEW(columns, &arena, schema->column_count, err));
  NAI_TRY(NAI_NEW(cells, &arena, schema->column_count, err));
  NAI_TRY(NAI_NEW(chosen, &arena, schema->column_count, err));
  const uint32_t count = choose_columns(chosen, schema);
  for (uint32_t i = 0; i < count; i++)
    columns[i] = (struct nai_rows_column){schema->columns[chosen[i]].name, schema->columns[chosen[i]].unit};
  struct nai_rows rows = {.format = NAI_ROWS_TABLE,
                          .human = true,
                          .titles = true,
                          .none = "no rows",
                          .width = nai_cmd_terminal_width(),
                          .columns = columns,
                          .count = count};
  nai_rows_begin(&rows, out);
  for (int64_t row = 0; row < table->rows; row++) {
    for (uint32_t i = 0; i < count; i++) {
      cells[i] = nai_table_value(table, row, (int)chosen[i]);
      if (cells[i].type == NAI_STR && !cells[i].null)
        cells[i].s = nai_column_label(&schema->columns[chosen[i]], cells[i].s);
    }
    nai_rows_put(&rows, cells);
  }
  nai_rows_end(&rows, false);
  return nai_buf_check(out, err);
}

static int print(struct nai_buf *text, const struct nai_table *table, const struct table_args *args,
                 struct nai_err *err) {
  const struct nai_parquet_options parquet = {.gzip = args->gzip, .about = table->schema->description};
  struct nai_json json;
  if (format_of(args) == PARQUET)
    return nai_cmd_table_parquet(text, table, &parquet, err);
  if (format_of(args) == TEXT)
    return print_text(text, table, err);
  if (format_of(args) == CSV) {
    nai_csv_table(text, table);
    return nai_buf_check(text, err);
  }
  nai_json_init(&json, text, false);
  nai_json_table(&json, table, INT64_MAX);
  nai_json_finish(&json);
  nai_buf_putc(text, '\n');
  return nai_buf_check(text, err);
}

static int check(const void *memory, const char *const *operands, size_t count, struct nai_err *err) {
  const struct table_args *args = memory;
  struct stat st = {0};
  if (count && stat(operands[0], &st) != 0 && !nai_fs_is_absent(errno))
    return nai_err_sys(err, NAI_EINPUT, errno, "cannot examine \"%s\"", operands[0]);
  bool has_tables = S_ISDIR(st.st_mode) || (count && nai_cmd_is_trace(operands[0]));
  if (args->csv + args->json + (args->format != UNSAID && args->format != CSV) > 1)
    return nai_err_set(err, NAI_EUSAGE, "--csv, --json and --format exclude each other");
  if (args->gzip && args->format != PARQUET)
    return nai_err_set(err, NAI_EUSAGE, "--gzip is of parquet");
  if (count == 1 && has_tables && (args->format == PARQUET || args->out))
    return nai_err_set(err, NAI_EUSAGE, "name the table to print");
  return args->format == PARQUET ? nai_cmd_check_binary("parquet", args->out, err) : NAI_OK;
}

static int print_table(struct nai_table *table, const struct table_args *args, struct nai_err *err) {
  struct nai_cmd_output output;
  if (args->rows >= 0)
    nai_table_truncate(table, args->rows);
  NAI_TRY(nai_cmd_output_open(&output, args->out, args->source, err));
  return nai_cmd_output_close(&output, print(&output.sink.text, table, args, err), err);
}

/* Opens a table of a stage's file. */
static int open_in(struct nai_table **out, const char *path, const struct nai_table *list, const char *name,
                   struct nai_err *err) {
  int64_t row = strcmp(list->schema->name, nai_table_set_schema.name) == 0 ? nai_table_set_find(list, name) : -1;
  if (row < 0)
    return nai_err_set(err, NAI_EUSAGE, "\"%s\" has no table \"%s\"", path, name);
  bool empty = !nai_get_i64(list, row, TABLE_SET_row_count);
  return nai_table_set_open(out, AT_FDCWD, path, list, row, empty ? nai_book_find_named(name) : NULL, err);
}

/* Of a file with several tables `name`, or with NULL the list of them. */
static int print_file(const char *path, const char *name, const struct table_args *args, struct nai_err *err) {
  NAI_OWNED(nai_table) *table = NULL, *inner = NULL;
  if (!nai_fs_exists(path))
    return missing(path, err);
  NAI_TRY(nai_table_open(&table, path, NULL, err));
  if (name)
    NAI_TRY(open_in(&inner, path, table, name, err));
  return print_table(inner ? inner : table, args, err);
}

static int list_tables(struct nai_run *run, const char *const *names, size_t count, struct nai_err *err) {
  NAI_SCOPED(nai_buf) lines = {0};
  const struct nai_table *table;
  for (size_t i = 0; i < count; i++) {
    NAI_TRY(nai_run_table(&table, run, names[i], NULL, err));
    nai_buf_printf(&lines, "%-22s %12" PRId64 "  ", names[i], table->rows);
    nai_escape_terminal(&lines, table->schema->description, strlen(table->schema->description));
    nai_buf_putc(&lines, '\n');
  }
  return nai_cmd_print_lines(&lines, err);
}

/* One table of a run, or what there is. */
static int print_run(const char *source, const char *name, const struct table_args *args, struct nai_err *err) {
  NAI_OWNED(nai_run) *run = NULL;
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  const char **names;
  size_t count;
  const struct nai_table *table;
  NAI_TRY(nai_cmd_source_open(&run, source, &(struct nai_cmd_source){0}, err));
  NAI_TRY(nai_manifest_tables(&names, &count, nai_run_manifest(run), &arena, err));
  if (!name)
    return list_tables(run, names, count, err);
  const struct nai_schema *now = nai_run_has(run, name) ? NULL : nai_book_find_former(name);
  if (now) {
    nai_former_tell(NULL, 0, 0, &(struct nai_former){"table", name, now->name});
    name = now->name;
  }
  if (!nai_run_has(run, name)) {
    const char *near = nai_text_suggest(name, names, count);
    if (near)
      return nai_err_set(err, NAI_EUSAGE, "the run \"%s\" has no table \"%s\"; did you mean %s?", source, name, near);
    return nai_err_set(err, NAI_EUSAGE, "the run \"%s\" has no table \"%s\"; without a name, nsys-ai table lists them",
                       source, name);
  }
  bool labeled = format_of(args) == TEXT || format_of(args) == JSON; /* which files do not hold */
  NAI_TRY(nai_run_table(&table, run, name, labeled ? nai_book_find_named(name) : NULL, err));
  return print_table(nai_run_find_loaded(run, name), args, err);
}

static int run(void *memory, const char *const *operands, size_t count, struct nai_err *err) {
  struct table_args *args = memory;
  args->source = operands[0];
  if (nai_fs_is_dir(operands[0]) || nai_cmd_is_run(operands[0]) || nai_cmd_is_trace(operands[0]))
    return print_run(operands[0], count > 1 ? operands[1] : NULL, args, err);
  return print_file(operands[0], count > 1 ? operands[1] : NULL, args, err);
}

NAI_CLI_COMMAND(
    nai_cmd_table, .name = "table", .synopsis = "SRC [TABLE] | FILE.ntab [TABLE]",
    .summary = "print a table of a run as CSV, JSON or Parquet",
    .description =
        "Prints a table of a run, or of a file that a run left in stages/. SRC is an artifacts directory or a trace, "
        "which is analyzed for this answer only; alone: which tables it has, with their rows, or the list of a file "
        "that has several. The format of the files "
        "is described in docs/table-format.md.",
    .examples = "nsys-ai table artifacts/run1\n"
                "nsys-ai table artifacts/run1 kernels\n"
                "nsys-ai table artifacts/run1 nvtx_events --rows 20\n"
                "nsys-ai table artifacts/run1 kernels --format parquet --out kernels.parquet\n"
                "nsys-ai table artifacts/run1/stages/analyze.ntab gpu_utilization --json",
    .options = options,
    NAI_CLI_OPERANDS(1, 2, {.name = "SRC or FILE.ntab", NAI_CLI_FILES("ntab " NAI_CMD_TRACE_SUFFIXES)},
                     {.name = "TABLE", .choices = nai_cmd_table_names}),
    .init = init, .check = check, .run = run)
