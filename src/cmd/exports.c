/* nsys-ai export: a run's kernels as flat rows, as folded stacks or a speedscope profile, its events as timelines. */
#include "cmd/ask/answer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct export_args {
  const char *out;
  int metric;
  bool gzip, quiet;
  int names;
  double min_us;
  struct nai_export_options timeline; /* and the GPU of every format */
};

static void init(void *memory) {
  struct nai_export_options *o = &((struct export_args *)memory)->timeline;
  o->gpu = o->start_ns = INT64_MIN;
  o->end_ns = INT64_MAX;
}

enum format { CSV, NDJSON, JSON, FOLDED, SPEEDSCOPE, PERFETTO, CHROME, FORMATS };
static const struct {
  const char *name, *about;
  nai_export_fn *timeline;
} formats[FORMATS] = {
    [CSV] = {"csv", "a row per kernel, columns as other tools for these traces have them, then further ones"},
    [NDJSON] = {"ndjson", "the same, a JSON object a line"},
    [JSON] = {"json", "the same, as columns and rows"},
    [FOLDED] = {"folded", "stacks of range names and kernels with their time, for flame graphs"},
    [SPEEDSCOPE] = {"speedscope", "the same stacks for www.speedscope.app"},
    [PERFETTO] = {"perfetto", "every event on a timeline, for ui.perfetto.dev", nai_export_perfetto},
    [CHROME] = {"chrome", "the same as JSON of Chrome's trace viewer", nai_export_chrome},
};

static const char *format_name(size_t i, const char *before) {
  (void)before;
  return i < FORMATS ? formats[i].name : NULL;
}
static const char *format_about(size_t i) { return formats[i].about; }

static const char *metric_name(size_t i, const char *before) {
  static const char *const names[] = {"gpu", "wall"};
  (void)before;
  return i < sizeof names / sizeof *names ? names[i] : NULL;
}

static const char *names_name(size_t i, const char *before) {
  static const char *const names[] = {"short", "full"};
  (void)before;
  return i < sizeof names / sizeof *names ? names[i] : NULL;
}

static int set_trim(void *memory, const struct nai_cli_option *option, const char *const *values, struct nai_err *err) {
  struct nai_export_options *o = &((struct export_args *)memory)->timeline;
  double start = 0, end = 0;
  int rc = nai_cli_read_number(&start, option, values[0], err);
  if (!rc)
    rc = nai_cli_read_number(&end, option, values[1], err);
  o->start_ns = (int64_t)llround(start * 1e9);
  o->end_ns = (int64_t)llround(end * 1e9);
  if (!rc && o->end_ns <= o->start_ns)
    rc = nai_err_set(err, NAI_EUSAGE, "--trim %s %s: the end must lie after the start", values[0], values[1]);
  return rc;
}
static const struct nai_cli_type trim = {set_trim, NULL};

#define AT(field) .at = offsetof(struct export_args, field)
static const struct nai_cli_option options[] = {
    {.name = "out",
     .letter = 'o',
     .value = "FILE",
     .help = "the file to write",
     .type = &nai_cli_text,
     AT(out),
     .otherwise = "standard output",
     .hint = NAI_CLI_FILE},
    {.name = "gpu",
     .value = "N",
     .help = "kernels, and rows of timelines, of this GPU only",
     .type = &nai_cli_int64,
     AT(timeline.gpu),
     .min = -1,
     .max = INT32_MAX,
     .otherwise = "all"},
    {.name = "metric",
     .value = "TIME",
     .help = "folded and speedscope: the time of kernels, or that of the ranges themselves",
     .type = &nai_cli_choice,
     AT(metric),
     .choices = metric_name},
    {.name = "trim",
     .value = "START END",
     .help = "perfetto and chrome: this stretch only, in seconds since session start; events are cut at its edges",
     .type = &trim,
     .min = -1000000000,
     .max = 1000000000,
     .otherwise = "everything; nsys-ai probe TRACE prints the range"},
    {.name = "names",
     .value = "FORM",
     .help = "perfetto and chrome: how kernels are called",
     .type = &nai_cli_choice,
     AT(names),
     .choices = names_name},
    {.name = "min-duration",
     .value = "US",
     .help = "perfetto and chrome: leave out events shorter than this, in microseconds",
     .type = &nai_cli_number,
     AT(min_us),
     .max = 1000000000},
    {.name = "no-calls",
     .help = "perfetto and chrome: leave out CUDA API calls, and flows from them",
     .type = &nai_cli_on,
     AT(timeline.no_calls)},
    {.name = "no-ranges",
     .help = "perfetto and chrome: leave out NVTX ranges and marks",
     .type = &nai_cli_on,
     AT(timeline.no_ranges)},
    {.name = "no-flows",
     .help = "perfetto and chrome: leave out the arrows from calls to what they launched",
     .type = &nai_cli_on,
     AT(timeline.no_flows)},
    {.name = "gzip",
     .help = "perfetto and chrome: compress; viewers read that as well",
     .type = &nai_cli_on,
     AT(gzip),
     .otherwise = "when FILE ends in .gz"},
    {.name = "quiet", .letter = 'q', .help = "print no notes", .type = &nai_cli_on, AT(quiet)},
    {0},
};

/* Every number exact: ns as they are, ms and us as the decimals they are. */
static const char flat_statement[] =
    "select name, start_ns, end_ns, duration_ns / 1e6 as duration_ms, duration_ns / 1e3 as duration_us, stream_id "
    "as stream, device_id as device, "
    "path as nvtx_path, short_name, category, pid, context_id as context, correlation_id, graph_id, call_start_ns "
    "as launch_start_ns, "
    "call_name as launch_api, tid as launch_tid, grid_x || 'x' || grid_y || 'x' || grid_z as grid, block_x || 'x' "
    "|| block_y || 'x' || block_z as block "
    "from v_kernels where (:gpu is null or device_id = :gpu) order by start_ns, device_id, stream_id, kernel";

/* --- the command ------------------------------------------------------------------------------------- */

static int put_flat(struct nai_buf *out, enum format format, const struct export_args *args, struct nai_run *run,
                    struct nai_err *err) {
  const struct nai_query_parameter gpu = {
      "gpu", {.type = NAI_I64, .i = args->timeline.gpu, .null = args->timeline.gpu == INT64_MIN}};
  const struct nai_query_text text = {.sql = flat_statement, .label = "export"};
  const struct nai_query query = {
      .run = run, .text = &text, .parameters = &gpu, .parameter_count = 1, .limits = {.rows = -1}};
  const struct nai_cmd_printing how = {.format = format == CSV  ? NAI_ROWS_CSV
                                               : format == JSON ? NAI_ROWS_JSON
                                                                : NAI_ROWS_NDJSON};
  bool truncated;
  return nai_cmd_query(&truncated, out, &query, &how, err);
}

static enum format format_of(const char *word) {
  enum format format = CSV;
  while (strcmp(formats[format].name, word) != 0) /* the parser let no other word through */
    format++;
  return format;
}

static bool ends_in_gz(const char *path) {
  size_t len = path ? strlen(path) : 0;
  return len > 3 && strcmp(path + len - 3, ".gz") == 0;
}

static int put_timeline(struct nai_buf *out, enum format format, const struct export_args *args, struct nai_run *run,
                        struct nai_err *err) {
  struct nai_cmd_timeline how = {formats[format].timeline, args->timeline, args->gzip || ends_in_gz(args->out),
                                 args->quiet};
  how.options.full_names = args->names != 0;
  how.options.min_ns = (int64_t)ceil(args->min_us * 1000);
  return nai_cmd_put_timeline(out, run, &how, err);
}

static int put(struct nai_buf *out, enum format format, const struct export_args *args, struct nai_run *run,
               struct nai_err *err) {
  return formats[format].timeline ? put_timeline(out, format, args, run, err)
       : format == FOLDED         ? nai_cmd_put_folded(out, run, args->metric, args->timeline.gpu, err)
       : format == SPEEDSCOPE     ? nai_cmd_put_speedscope(out, run, args->metric, args->timeline.gpu, err)
                                  : put_flat(out, format, args, run, err);
}

static int check(const void *memory, const char *const *operands, size_t count, struct nai_err *err) {
  const struct export_args *args = memory;
  enum format format = format_of(operands[0]);
  (void)count;
  if (args->metric == NAI_CMD_WALL && format != FOLDED && format != SPEEDSCOPE)
    return nai_err_set(err, NAI_EUSAGE, "--metric is of folded and speedscope");
  if (args->metric == NAI_CMD_WALL && args->timeline.gpu != INT64_MIN)
    return nai_err_set(err, NAI_EUSAGE, "--metric wall and --gpu exclude each other: ranges are not of one GPU");
  bool shaped = args->timeline.start_ns != INT64_MIN || args->names || args->min_us > 0 || args->timeline.no_calls ||
                args->timeline.no_ranges || args->timeline.no_flows || args->gzip;
  if (shaped && !formats[format].timeline)
    return nai_err_set(
        err, NAI_EUSAGE,
        "--trim, --names, --min-duration, --no-calls, --no-ranges, --no-flows and --gzip are of perfetto "
        "and chrome");
  if (!args->out && isatty(STDOUT_FILENO) && (format == PERFETTO || args->gzip))
    return nai_err_set(err, NAI_EUSAGE, "%s is no text for a terminal; name a file with --out", operands[0]);
  return NAI_OK;
}

static int run(void *memory, const char *const *operands, size_t count, const struct nai_cli_program *program,
               struct nai_err *err) {
  const struct export_args *args = memory;
  struct nai_cmd_output output;
  struct nai_run *source = NULL;
  (void)count, (void)program;
  int rc = nai_cmd_source_open(&source, operands[1], &(struct nai_cmd_source){.quiet = args->quiet}, err);
  if (!rc)
    rc = nai_cmd_output_open(&output, args->out, err);
  if (!rc) {
    rc = put(&output.sink.text, format_of(operands[0]), args, source, err);
    rc = nai_cmd_output_close(&output, rc, err);
  }
  nai_run_close(source);
  return rc;
}

const struct nai_cli_command nai_cmd_exports = {
    .name = "export",
    .synopsis = "FORMAT SRC",
    .summary = "write kernels as rows or stacks, or all events for other timelines",
    .description =
        "Writes the kernels of a run for other tools, or, as perfetto and chrome, every kernel, copy, API call and NVTX "
        "range with the arrows between them. SRC is an artifacts directory or a trace, which is analysed for this "
        "answer only. "
        "For any other rows: nsys-ai sql --format csv.",
    .examples = "nsys-ai export csv artifacts/run1 --out kernels.csv\nnsys-ai export folded artifacts/run1 | "
                "flamegraph.pl > kernels.svg\n"
                "nsys-ai export speedscope artifacts/run1 --out run1.speedscope.json\n"
                "nsys-ai export perfetto artifacts/run1 --out run1.pftrace\n"
                "nsys-ai export chrome artifacts/run1 --trim 1 1.02 --out run1.json.gz",
    .options = options,
    .operands =
        (const struct nai_cli_operand[]){
            {.name = "FORMAT", .choices = format_name, .about = format_about, .only_choices = true},
            {.name = "SRC", .hint = NAI_CLI_FILE, .suffixes = NAI_CMD_TRACE_SUFFIXES},
            {0}},
    .min_operands = 2,
    .max_operands = 2,
    .args_size = sizeof(struct export_args),
    .init = init,
    .check = check,
    .run = run,
};
