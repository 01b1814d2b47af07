/* nsys-ai probe: what an analysis of a trace could say, and what it would lack. */
#include "cmd/setters.h"

#include "ingest/ingest.h"
#include "render/escape.h"
#include "render/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct nai_option options[] = {
    NAI_TRACE_OPTIONS,
    {"json", 0, NULL, "print JSON", nai_set_json, false},
    {"help", 'h', NULL, "this text", nai_set_help, false},
    {0},
};

static void put_safe(struct nai_buf *out, const char *text) { nai_escape_terminal(out, text, strlen(text)); }

static void print_text(struct nai_buf *out, const struct nai_ingest *in) {
  const struct nai_table *capture = in->tables[NAI_IN_CAPTURE], *capabilities = in->tables[NAI_IN_CAPABILITIES];
  const struct nai_table *notes = in->tables[NAI_IN_PROBE_NOTES];
  struct nai_value version = nai_table_value(capture, 0, CA_PRODUCT_VERSION),
                   schema = nai_table_value(capture, 0, CA_SCHEMA_VERSION);
  put_safe(out, nai_get_str(capture, 0, CA_FILE));
  nai_buf_puts(out, ": Nsight Systems ");
  put_safe(out, version.null ? "of unknown version" : version.s);
  nai_buf_puts(out, ", export schema ");
  put_safe(out, schema.null ? "unknown" : schema.s);
  nai_buf_puts(out, "\n\n");
  for (int64_t i = 0; i < capabilities->rows; i++) {
    bool available = nai_get_i64(capabilities, i, CP_AVAILABLE);
    nai_buf_printf(out, "  %-3s %-24s ", available ? "yes" : "no", nai_get_str(capabilities, i, CP_CAPABILITY));
    if (available) { /* else the detail names it */
      put_safe(out, nai_get_str(capabilities, i, CP_SOURCE));
      nai_buf_puts(out, ": ");
    }
    put_safe(out, nai_get_str(capabilities, i, CP_DETAIL));
    nai_buf_putc(out, '\n');
  }
  if (notes->rows)
    nai_buf_puts(out, "\nNotes:\n");
  for (int64_t i = 0; i < notes->rows; i++) {
    nai_buf_printf(out, "  %s: %s: ", nai_get_str(notes, i, NO_SEVERITY), nai_get_str(notes, i, NO_CHECK));
    put_safe(out, nai_get_str(notes, i, NO_DETAIL));
    nai_buf_putc(out, '\n');
  }
}

static void print_json(struct nai_buf *out, const struct nai_ingest *in) {
  static const struct {
    int table;
    const char *key;
  } tables[] = {{NAI_IN_CAPTURE, "capture"}, {NAI_IN_CAPABILITIES, "capabilities"}, {NAI_IN_PROBE_NOTES, "notes"}};
  struct nai_json json;
  nai_json_init(&json, out, false);
  nai_json_begin_object(&json, NAI_JSON_LINES);
  nai_json_put_text(&json, "schema_version", "1.0");
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
    nai_json_key(&json, tables[i].key);
    nai_json_table(&json, in->tables[tables[i].table], INT64_MAX);
  }
  nai_json_end(&json);
  nai_json_finish(&json);
  nai_buf_putc(out, '\n');
}

static int run(struct nai_args *args, struct nai_err *err) {
  struct nai_export file = {0};
  struct nai_trace *trace = NULL;
  struct nai_ingest in = {0};
  struct nai_buf text = {0};
  struct nai_trace_options how = {args->run.reader, args->run.check};
  int rc = nai_export_open(&file, args->operands[0], args->quiet, err);
  if (!rc)
    rc = nai_trace_open(&trace, file.path, &how, err);
  if (!rc)
    rc = nai_probe(&in, trace, NAI_IN_DEFAULT, err);
  if (!rc) {
    if (args->json)
      print_json(&text, &in);
    else
      print_text(&text, &in);
    rc = nai_buf_check(&text, err);
    fwrite(nai_buf_str(&text), 1, text.len, stdout);
  }
  nai_buf_free(&text);
  nai_ingest_free(&in);
  nai_trace_close(trace);
  nai_export_free(&file);
  return rc;
}

const struct nai_command nai_cmd_probe = {
    .name = "probe",
    .operands = "TRACE",
    .summary = "say what an analysis of a trace would have and lack",
    .details =
        "Opens TRACE, lists which kinds of data it holds, what is missing and what that disables, and the warnings nsys "
        "gave while capturing. Reads no events.",
    .examples = "nsys-ai probe trace.sqlite\nnsys-ai probe trace.sqlite --json",
    .options = options,
    .min_operands = 1,
    .max_operands = 1,
    .run = run,
};
