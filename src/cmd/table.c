/* nsys-ai table: an intermediate table as text. */
#include "cmd/cmd.h"

#include "base/fs.h"
#include "base/sink.h"
#include "base/text.h"
#include "render/csv.h"
#include "render/json.h"
#include "table/table.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct table_args {
  bool csv, json;
  int64_t rows; /* at most so many, -1 all */
};

static void init(void *memory) { ((struct table_args *)memory)->rows = -1; }

static const struct nai_cli_option options[] = {
    {.name = "csv", .help = "print CSV (the default)", .type = &nai_cli_on, .at = offsetof(struct table_args, csv)},
    {.name = "json",
     .help = "print JSON, with types, units and descriptions",
     .type = &nai_cli_on,
     .at = offsetof(struct table_args, json)},
    {.name = "rows",
     .letter = 'n',
     .value = "N",
     .help = "print the first N rows only",
     .type = &nai_cli_int64,
     .at = offsetof(struct table_args, rows),
     .max = INT64_MAX,
     .otherwise = "all"},
    {0},
};

static int is_table(const struct dirent *entry) {
  const char *dot = strrchr(entry->d_name, '.');
  return dot && strcmp(dot, ".ntab") == 0;
}

/* There is no such file: the table beside it that was probably meant. */
static int missing(const char *path, struct nai_err *err) {
  struct dirent **entries = NULL;
  const char *name = nai_fs_basename(path), *near = NULL;
  char *directory = strndup(path, (size_t)(name - path));
  int n = directory ? scandir(*directory ? directory : ".", &entries, is_table, alphasort) : -1;
  if (n > 0)
    near = nai_text_suggest(name, (const char *const[]){entries[0]->d_name}, 1);
  for (int i = 1; i < n && !near; i++)
    near = nai_text_suggest(name, (const char *const[]){entries[i]->d_name}, 1);
  nai_err_set(err, NAI_EINPUT, "there is no \"%s\"%s%s%s%s", path, near ? "; did you mean " : "", near ? directory : "",
              near ? near : "", near ? "?" : "");
  for (int i = 0; i < n; i++)
    free(entries[i]);
  free(entries);
  free(directory);
  return NAI_EINPUT;
}

static void print(struct nai_buf *text, const struct nai_table *table, bool as_json) {
  struct nai_json json;
  if (!as_json) {
    nai_csv_table(text, table);
    return;
  }
  nai_json_init(&json, text, false);
  nai_json_table(&json, table, INT64_MAX);
  nai_json_finish(&json);
  nai_buf_putc(text, '\n');
}

static int check(const void *memory, const char *const *operands, size_t count, struct nai_err *err) {
  const struct table_args *args = memory;
  (void)operands, (void)count;
  return args->csv && args->json ? nai_err_set(err, NAI_EUSAGE, "--csv and --json exclude each other") : NAI_OK;
}

static int run(void *memory, const char *const *operands, size_t count, const struct nai_cli_program *program,
               struct nai_err *err) {
  const struct table_args *args = memory;
  struct nai_table *table = NULL;
  struct nai_file_sink sink;
  (void)count, (void)program;
  if (!nai_fs_exists(operands[0]))
    return missing(operands[0], err);
  int rc = nai_table_open(&table, operands[0], NULL, err);
  if (rc == NAI_ESTALE)
    rc = err->code = NAI_EINPUT;
  if (rc)
    return rc;
  if (args->rows >= 0)
    nai_table_truncate(table, args->rows);
  nai_sink_stdout(&sink);
  print(&sink.text, table, args->json);
  rc = nai_sink_finish(&sink, NAI_OK, err);
  nai_table_free(table);
  return rc;
}

const struct nai_cli_command nai_cmd_table = {
    .name = "table",
    .synopsis = "FILE.ntab",
    .summary = "print an intermediate table as CSV or JSON",
    .description = "Prints a table that a run left in stages/. The format is described in docs/table-format.md.",
    .examples = "nsys-ai table artifacts/run1/stages/kernels.ntab\n"
                "nsys-ai table artifacts/run1/stages/nvtx_events.ntab --rows 20\n"
                "nsys-ai table artifacts/run1/stages/gpu_utilization.ntab --json",
    .options = options,
    .operands = (const struct nai_cli_operand[]){{.name = "FILE.ntab", .hint = NAI_CLI_FILE, .suffixes = "ntab"}, {0}},
    .min_operands = 1,
    .max_operands = 1,
    .args_size = sizeof(struct table_args),
    .init = init,
    .check = check,
    .run = run,
};
