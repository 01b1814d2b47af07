/* nsys-ai probe: what a trace holds, and what an analysis of it would lack. */
#include "features/analyze/overview.h"
#include "features/analyze/schema_only.h"

#include "base/fmt.h"
#include "base/escape.h"
#include "command/command.h"
#include "table/json.h"
#include "tables/capabilities.h"
#include "tables/capture.h"
#include "tables/gpus.h"
#include "tables/processes.h"

struct probe_args {
  struct nai_trace_options how;
  int threads;
  bool quiet, json, events, schema_only;
};

static void init(void *memory) { ((struct probe_args *)memory)->events = true; }

#define NAI_CLI_ARGS struct probe_args
static const struct nai_cli_option options[] = {
    NAI_CLI_SWITCH(off, events, "no-events",
                   "read no events: no GPUs, counts and times, but an answer at once for a trace of any size"),
    NAI_CMD_TRACE_OPTIONS(how.reader, how.check),
    NAI_CMD_JOBS_OPTION(threads),
    NAI_CMD_EXPORT_OPTION,
    NAI_CLI_SWITCH(on, quiet, "quiet", "no messages but errors", .letter = 'q'),
    NAI_CLI_SWITCH(on, json, "json", "print JSON"),
    NAI_CLI_SWITCH(on, schema_only, "schema-only",
                   "print tables, columns, numbers of rows, values of enumerations and keys of JSON texts instead: "
                   "nothing of what was recorded, to be pasted into a bug report"),
    {0},
};

static const struct {
  const char *key, *label;
} kinds[NAI_EVENT_KINDS] = {
    [NAI_EVENT_KERNELS] = {"kernels", "kernels"},
    [NAI_EVENT_COPIES] = {"copies", "copies"},
    [NAI_EVENT_SETS] = {"sets", "memory sets"},
    [NAI_EVENT_GRAPHS] = {"graphs", "CUDA graphs as a whole"},
    [NAI_EVENT_API_CALLS] = {"api_calls", "CUDA API calls"},
    [NAI_EVENT_NVTX_RANGES] = {"nvtx_ranges", "NVTX ranges"},
    [NAI_EVENT_NVTX_MARKS] = {"nvtx_marks", "NVTX marks"},
    [NAI_EVENT_OS_CALLS] = {"os_calls", "OS runtime calls"},
};

static void put_safe(struct nai_buf *out, const char *text) { nai_escape_terminal(out, text, strlen(text)); }

/* --- text ------------------------------------------------------------------------------------- */

enum { MAX_LISTED = 64, NS_PER_US = 1000 };

static void put_more(struct nai_buf *out, int64_t rows) {
  if (rows > MAX_LISTED)
    nai_buf_printf(out, "  ... and %" PRId64 " more, which --json lists\n", rows - MAX_LISTED);
}

/* Seconds to the microsecond, rounded outwards, so that --trim with them keeps every event. */
static void put_range(struct nai_buf *out, int64_t start_ns, int64_t end_ns, const char *between) {
  int64_t from = start_ns / NS_PER_US - (start_ns % NS_PER_US < 0), to = end_ns / NS_PER_US + (end_ns % NS_PER_US > 0);
  nai_fmt_scaled(out, from, 6);
  nai_buf_puts(out, between);
  nai_fmt_scaled(out, to > from ? to : from + 1, 6);
}

static void put_time(struct nai_buf *out, const struct nai_overview *o, const struct nai_table *capture) {
  int64_t session = nai_get_i64(capture, 0, CAPTURE_duration_ns);
  nai_buf_puts(out, "\nTime:\n");
  if (o->start_ns > o->end_ns) {
    nai_buf_puts(out, "  no events\n");
    return;
  }
  nai_buf_puts(out, "  ");
  put_range(out, o->start_ns, o->end_ns, " s to ");
  nai_buf_puts(out, " s since session start, ");
  nai_fmt_duration(out, (double)(o->end_ns - o->start_ns));
  if (session != NAI_NULL_I64) {
    nai_buf_puts(out, " of a session of ");
    nai_fmt_duration(out, (double)session);
  }
  nai_buf_puts(out, "\n  as an option: --trim ");
  put_range(out, o->start_ns, o->end_ns, " ");
  nai_buf_putc(out, '\n');
}

static void put_gpu(struct nai_buf *out, const struct GPUS_row *gpu, const struct nai_gpu_overview *o) {
  nai_buf_printf(out, "  %4" PRId64 "  ", gpu->device_id);
  put_safe(out, *gpu->gpu_name ? gpu->gpu_name : gpu->label);
  nai_buf_puts(out, ": kernels ");
  nai_fmt_count(out, o->kernels);
  nai_buf_puts(out, ", copies ");
  nai_fmt_count(out, o->copies);
  if (o->graphs) {
    nai_buf_puts(out, ", graphs ");
    nai_fmt_count(out, o->graphs);
  }
  if (o->start_ns <= o->end_ns) {
    nai_buf_puts(out, ", ");
    put_range(out, o->start_ns, o->end_ns, " s to ");
    nai_buf_puts(out, " s");
  }
  nai_buf_putc(out, '\n');
}

static void put_events(struct nai_buf *out, const struct nai_ingest *in, const struct nai_overview *o) {
  const struct nai_table *gpus = in->tables[NAI_IN_GPUS], *processes = in->tables[NAI_IN_PROCESSES];
  put_time(out, o, in->tables[NAI_IN_CAPTURE]);
  nai_buf_printf(out, "\nGPUs, by the number that --gpu takes:%s\n", gpus->rows ? "" : " none");
  for (int64_t i = 0; i < gpus->rows && i < MAX_LISTED; i++) {
    struct GPUS_row gpu = GPUS_at(gpus, i);
    put_gpu(out, &gpu, &o->gpus[i]);
  }
  put_more(out, gpus->rows);
  nai_buf_printf(out, "\nProcesses:%s\n", processes->rows ? "" : " none");
  for (int64_t i = 0; i < processes->rows && i < MAX_LISTED; i++) {
    nai_buf_printf(out, "  %8" PRId64 "  ", nai_get_i64(processes, i, PROCESSES_pid));
    put_safe(out, nai_get_str(processes, i, PROCESSES_process_name));
    nai_buf_putc(out, '\n');
  }
  put_more(out, processes->rows);
  nai_buf_puts(out, "\nEvents:\n");
  for (int k = 0; k < NAI_EVENT_KINDS; k++) {
    NAI_SCOPED(nai_buf) count = {0};
    nai_fmt_count(&count, o->counts[k]);
    nai_buf_printf(out, "  %-24s %14s\n", kinds[k].label, nai_buf_str(&count));
    out->oom |= count.oom;
  }
}

/* The end of a line. */
static void put_versions(struct nai_buf *out, const struct CAPTURE_row *capture) {
  nai_buf_puts(out, "Nsight Systems ");
  put_safe(out, *capture->product_version ? capture->product_version : "of unknown version");
  nai_buf_puts(out, ", export schema ");
  put_safe(out, *capture->schema_version ? capture->schema_version : "unknown");
  nai_buf_putc(out, '\n');
}

static void put_head(struct nai_buf *out, const struct nai_table *capture) {
  struct CAPTURE_row c = CAPTURE_at(capture, 0);
  put_safe(out, c.file);
  nai_buf_puts(out, " (");
  nai_fmt_bytes(out, (double)c.size_bytes);
  nai_buf_puts(out, "): ");
  put_versions(out, &c);
}

/* Of the export, or of its rows: the columns are the same. */
static void put_notes(struct nai_buf *out, const struct nai_table *notes) {
  for (int64_t i = 0; notes && i < notes->rows; i++) {
    nai_buf_printf(out, "  %s: %s: ", nai_get_str(notes, i, PROBE_NOTES_severity),
                   nai_get_str(notes, i, PROBE_NOTES_check));
    put_safe(out, nai_get_str(notes, i, PROBE_NOTES_detail));
    nai_buf_putc(out, '\n');
  }
}

/* `overview` is NULL where no events were read. */
static void print_text(struct nai_buf *out, const struct nai_ingest *in, const struct nai_overview *overview) {
  const struct nai_table *capabilities = in->tables[NAI_IN_CAPABILITIES];
  put_head(out, in->tables[NAI_IN_CAPTURE]);
  if (overview)
    put_events(out, in, overview);
  nai_buf_puts(out, "\nData, and what its absence costs:\n");
  for (int64_t i = 0; i < capabilities->rows; i++) {
    struct CAPABILITIES_row c = CAPABILITIES_at(capabilities, i);
    nai_buf_printf(out, "  %-3s %-24s ", c.available ? "yes" : "no", c.capability);
    if (c.available) { /* else the detail names it */
      put_safe(out, c.source);
      nai_buf_puts(out, ": ");
    }
    put_safe(out, c.detail);
    nai_buf_putc(out, '\n');
  }
  const struct nai_table *extracted = in->tables[NAI_IN_EXTRACT_NOTES];
  if (in->tables[NAI_IN_PROBE_NOTES]->rows || (extracted && extracted->rows))
    nai_buf_puts(out, "\nNotes:\n");
  put_notes(out, in->tables[NAI_IN_PROBE_NOTES]);
  put_notes(out, extracted);
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void put_events_json(struct nai_json *json, const struct nai_overview *o) {
  nai_json_put_object(json, "events", NAI_JSON_INLINE);
  for (int k = 0; k < NAI_EVENT_KINDS; k++)
    nai_json_put_int(json, kinds[k].key, o->counts[k]);
  nai_json_end(json);
  if (o->start_ns > o->end_ns)
    return;
  nai_json_put_object(json, "time_range", NAI_JSON_INLINE);
  nai_json_put_int(json, "start_ns", o->start_ns);
  nai_json_put_int(json, "end_ns", o->end_ns);
  nai_json_end(json);
}

static void print_json(struct nai_buf *out, const struct nai_ingest *in, const struct nai_overview *overview) {
  static const struct {
    int table;
    const char *key;
  } tables[] = {{NAI_IN_CAPTURE, "capture"},   {NAI_IN_CAPABILITIES, "capabilities"},
                {NAI_IN_PROBE_NOTES, "notes"}, {NAI_IN_EXTRACT_NOTES, "extract_notes"},
                {NAI_IN_GPUS, "gpus"},         {NAI_IN_PROCESSES, "processes"}};
  struct nai_json json;
  nai_json_open(&json, out, NAI_JSON_LINES);
  nai_json_put_text(&json, "schema_version", "1.1");
  if (overview)
    put_events_json(&json, overview);
  for (size_t i = 0; i < (overview ? 6 : 3); i++) {
    nai_json_key(&json, tables[i].key);
    nai_json_table(&json, in->tables[tables[i].table], INT64_MAX);
  }
  nai_json_close(&json);
}

/* --- schema ------------------------------------------------------------------------------------- */

static int print_schema(struct nai_buf *out, const struct nai_ingest *in, struct nai_trace *trace,
                        struct nai_err *err) {
  struct CAPTURE_row c = CAPTURE_at(in->tables[NAI_IN_CAPTURE], 0);
  put_versions(out, &c);
  NAI_TRY(nai_schema_only_put(out, trace, err));
  return nai_cmd_print(out, err);
}

/* --- running ---------------------------------------------------------------------------------- */

static int run(void *memory, const char *const *operands, size_t count, struct nai_err *err) {
  const struct probe_args *args = memory;
  NAI_SCOPED(nai_cmd_export) file = {0};
  NAI_OWNED(nai_trace) *trace = NULL;
  NAI_SCOPED(nai_ingest) in = {0};
  NAI_SCOPED(nai_overview) overview = {0};
  NAI_SCOPED(nai_buf) text = {0}, lines = {0};
  (void)count;
  NAI_TRY(nai_cmd_export_open(&file, operands[0], args->quiet ? NAI_CMD_EXPORT_QUIET : 0, err));
  nai_cmd_confine(NULL, NULL, NULL);
  NAI_TRY(nai_trace_open(&trace, file.path, &args->how, err));
  if (args->schema_only && args->json)
    return nai_err_set(err, NAI_EUSAGE, "--schema-only prints text: leave out --json");
  NAI_TRY(nai_probe(&in, trace, NAI_IN_DEFAULT, err));
  if (args->schema_only)
    return print_schema(&text, &in, trace, err);
  if (args->events)
    NAI_TRY(nai_overview_read(&overview, &in, trace, args->threads, err));
  const struct nai_overview *events = args->events ? &overview : NULL;
  if (args->json) {
    print_json(&text, &in, events);
  } else {
    print_text(&lines, &in, events);
    nai_cmd_put_lines(&text, &lines);
  }
  return nai_cmd_print(&text, err);
}

NAI_CLI_COMMAND(
    nai_cmd_probe, .name = "probe", .synopsis = "TRACE",
    .summary = "say what a trace holds, and what an analysis of it would lack",
    .description =
        "Prints the GPUs and processes of TRACE, the time its events cover, how many there are of each kind, which "
        "kinds of data are missing and what that disables, and the warnings nsys gave while capturing. Writes no "
        "report; tables lie in a temporary directory (TMPDIR) while it runs.",
    .examples = "nsys-ai probe trace.sqlite\nnsys-ai probe trace.sqlite --json\nnsys-ai probe huge.sqlite --no-events\n"
                "nsys-ai probe trace.sqlite --schema-only",
    .options = options, NAI_CLI_OPERANDS(1, 1, NAI_CMD_SOURCE("TRACE")), .init = init, .run = run)
