/* nsys-ai export: a run's kernels as flat rows, as folded stacks, or as a speedscope profile. */
#include "cmd/answer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct export_args {
  const char *out;
  int metric;
  int64_t gpu;
  bool quiet;
};

static void init(void *memory) { ((struct export_args *)memory)->gpu = INT64_MIN; }

enum format { CSV, NDJSON, JSON, FOLDED, SPEEDSCOPE, FORMATS };
static const struct {
  const char *name, *about;
} formats[FORMATS] = {
    [CSV] = {"csv", "a row per kernel, columns as other tools for these traces have them, then further ones"},
    [NDJSON] = {"ndjson", "the same, a JSON object a line"},
    [JSON] = {"json", "the same, as columns and rows"},
    [FOLDED] = {"folded", "stacks of range names and kernels with their time, for flame graphs"},
    [SPEEDSCOPE] = {"speedscope", "the same stacks for www.speedscope.app"},
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
     .help = "kernels of this GPU only",
     .type = &nai_cli_int64,
     AT(gpu),
     .min = -1,
     .max = INT32_MAX,
     .otherwise = "all"},
    {.name = "metric",
     .value = "TIME",
     .help = "folded and speedscope: the time of kernels, or that of the ranges themselves",
     .type = &nai_cli_choice,
     AT(metric),
     .choices = metric_name},
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
  const struct nai_query_parameter gpu = {"gpu", {.type = NAI_I64, .i = args->gpu, .null = args->gpu == INT64_MIN}};
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

static int put(struct nai_buf *out, enum format format, const struct export_args *args, struct nai_run *run,
               struct nai_err *err) {
  return format == FOLDED     ? nai_cmd_put_folded(out, run, args->metric, args->gpu, err)
       : format == SPEEDSCOPE ? nai_cmd_put_speedscope(out, run, args->metric, args->gpu, err)
                              : put_flat(out, format, args, run, err);
}

static int check(const void *memory, const char *const *operands, size_t count, struct nai_err *err) {
  const struct export_args *args = memory;
  enum format format = format_of(operands[0]);
  (void)count;
  if (args->metric == NAI_CMD_WALL && format != FOLDED && format != SPEEDSCOPE)
    return nai_err_set(err, NAI_EUSAGE, "--metric is of folded and speedscope");
  if (args->metric == NAI_CMD_WALL && args->gpu != INT64_MIN)
    return nai_err_set(err, NAI_EUSAGE, "--metric wall and --gpu exclude each other: ranges are not of one GPU");
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
    .summary = "write kernels as rows, or as stacks for flame graphs",
    .description =
        "Writes the kernels of a run for other tools. SRC is an artifacts directory or a trace, which is analysed "
        "for this answer only. "
        "For any other rows: nsys-ai sql --format csv.",
    .examples = "nsys-ai export csv artifacts/run1 --out kernels.csv\nnsys-ai export folded artifacts/run1 | "
                "flamegraph.pl > kernels.svg\n"
                "nsys-ai export speedscope artifacts/run1 --out run1.speedscope.json",
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
