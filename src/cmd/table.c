/* nsys-ai table: an intermediate table as text. */
#include "cmd/setters.h"

#include "base/sink.h"
#include "render/csv.h"
#include "render/json.h"
#include "table/table.h"

static int set_csv(struct nai_args *args, const char *const *values, struct nai_err *err) {
  (void)values, (void)err;
  args->csv = true;
  return NAI_OK;
}

static int set_rows(struct nai_args *args, const char *const *values, struct nai_err *err) {
  return nai_set_int(&args->rows, "--rows", values[0], 0, INT64_MAX, err);
}

static const struct nai_option options[] = {
    {"csv", 0, NULL, "print CSV (the default)", set_csv, false},
    {"json", 0, NULL, "print JSON, with types, units and descriptions", nai_set_json, false},
    {"rows", 'n', "N", "print the first N rows only", set_rows, false},
    {"help", 'h', NULL, "this text", nai_set_help, false},
    {0},
};

static void print(struct nai_buf *out, const struct nai_table *table, bool as_json) {
  if (!as_json) {
    nai_csv_table(out, table);
    return;
  }
  struct nai_json json;
  nai_json_init(&json, out, false);
  nai_json_table(&json, table, INT64_MAX);
  nai_json_finish(&json);
  nai_buf_putc(out, '\n');
}

static int run(struct nai_args *args, struct nai_err *err) {
  struct nai_table *table = NULL;
  struct nai_file_sink sink;
  if (args->csv && args->json)
    return nai_err_set(err, NAI_EUSAGE, "--csv and --json exclude each other");
  int rc = nai_table_open(&table, args->operands[0], NULL, err);
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

const struct nai_command nai_cmd_table = {
    .name = "table",
    .operands = "FILE.ntab",
    .summary = "print an intermediate table as CSV or JSON",
    .details = "Prints a table that a run left in stages/. The format is described in docs/table-format.md.",
    .examples = "nsys-ai table artifacts/run1/stages/kernels.ntab\n"
                "nsys-ai table artifacts/run1/stages/nvtx_events.ntab --rows 20\n"
                "nsys-ai table artifacts/run1/stages/gpu_utilization.ntab --json",
    .options = options,
    .min_operands = 1,
    .max_operands = 1,
    .run = run,
};
