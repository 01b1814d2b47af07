/* nsys-ai export: a run's kernels as flat rows, as folded stacks, or as a speedscope profile. */
#include "cmd/answer.h"
#include "cmd/collect.h"

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

enum metric { METRIC_GPU, METRIC_WALL };
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
    "select name, start_ns, end_ns, duration_ns / 1e6 as duration_ms, duration_ns / 1e3 as duration_us, stream_id as stream, device_id as device, "
    "path as nvtx_path, short_name, category, pid, context_id as context, correlation_id, graph_id, call_start_ns as launch_start_ns, "
    "call_name as launch_api, tid as launch_tid, grid_x || 'x' || grid_y || 'x' || grid_z as grid, block_x || 'x' || block_y || 'x' || block_z as block "
    "from v_kernels where (:gpu is null or device_id = :gpu) order by start_ns, device_id, stream_id, kernel";

/* A row per stack: thread, path, leaf, ns. Names of ranges may hold " > ", so paths are made of numbers of nodes. */
enum { S_PID, S_TID, S_NODE, S_LEAF, S_NS };
static const char *const stack_statements[] = {
    [METRIC_GPU] =
        "select pid, tid, node, name, sum(duration_ns) as ns from v_kernels where (:gpu is null or device_id = :gpu) group by pid, tid, node, name order by pid, tid, node, name",
    [METRIC_WALL] =
        "select pid, tid, rowid, null, self_ns from nvtx_nodes where self_ns > 0 and :gpu is null order by rowid"};
static const char node_statement[] = "select rowid, parent, range_name from nvtx_nodes order by rowid";

struct stacks {
  struct nai_cmd_collected rows, nodes;
};

static int collect(struct stacks *s, const struct export_args *args, struct nai_run *run, struct nai_err *err) {
  const struct nai_query_parameter gpu = {"gpu", {.type = NAI_I64, .i = args->gpu, .null = args->gpu == INT64_MIN}};
  *s = (struct stacks){0};
  int rc = nai_cmd_collect(&s->rows, run, stack_statements[args->metric], &gpu, 1, err);
  return rc ? rc : nai_cmd_collect(&s->nodes, run, node_statement, NULL, 0, err);
}

static void free_stacks(struct stacks *s) {
  nai_cmd_collected_free(&s->rows);
  nai_cmd_collected_free(&s->nodes);
}

enum { DEEPEST = 4096 };

/* Nodes from the outermost to that of a row; their number. */
static int path_of(int64_t path[DEEPEST], const struct stacks *s, int64_t row) {
  const struct nai_value *node = nai_cmd_cell(&s->rows, row, S_NODE);
  int depth = 0;
  for (int64_t at = node->null ? -1 : node->i; at >= 0 && at < s->nodes.rows && depth < DEEPEST;) {
    const struct nai_value *parent = nai_cmd_cell(&s->nodes, at, 1);
    path[depth++] = at;
    at = parent->null ? -1 : parent->i;
  }
  for (int i = 0; i < depth / 2; i++) {
    int64_t swap = path[i];
    path[i] = path[depth - 1 - i];
    path[depth - 1 - i] = swap;
  }
  return depth;
}

static void put_thread(struct nai_buf *out, const struct stacks *s, int64_t row) {
  const struct nai_value *pid = nai_cmd_cell(&s->rows, row, S_PID), *tid = nai_cmd_cell(&s->rows, row, S_TID);
  if (pid->null)
    nai_buf_puts(out, "pid unknown");
  else
    nai_buf_printf(out, "pid %" PRId64, pid->i);
  if (tid->null)
    nai_buf_puts(out, " (launch not in the trace)");
  else
    nai_buf_printf(out, " thread %" PRId64, tid->i);
}

/* --- folded ------------------------------------------------------------------------------------------ */

/* A frame: what separates frames and lines stands in no name. */
static void put_frame(struct nai_buf *out, const char *name) {
  for (; *name; name++)
    nai_buf_putc(out, *name == ';' ? ':' : *name == '\n' ? ' ' : *name);
}

static int compare_lines(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int put_sorted(struct nai_buf *out, struct nai_buf *lines, size_t count, struct nai_err *err) {
  char **list = calloc(count + 1, sizeof *list), *at = lines->data;
  if (!list || lines->oom) {
    free(list);
    return nai_err_nomem(err);
  }
  for (size_t i = 0; i < count; i++, at += strlen(at) + 1)
    list[i] = at;
  qsort(list, count, sizeof *list, compare_lines);
  for (size_t i = 0; i < count; i++) {
    nai_buf_puts(out, list[i]);
    nai_buf_putc(out, '\n');
  }
  free(list);
  return NAI_OK;
}

static int put_folded(struct nai_buf *out, const struct export_args *args, struct nai_run *run, struct nai_err *err) {
  struct stacks s;
  struct nai_buf lines = {0};
  int64_t path[DEEPEST];
  int rc = collect(&s, args, run, err);
  for (int64_t row = 0; row < s.rows.rows && !rc; row++) {
    int depth = path_of(path, &s, row);
    put_thread(&lines, &s, row);
    for (int i = 0; i < depth; i++) {
      nai_buf_putc(&lines, ';');
      put_frame(&lines, nai_cmd_text(&s.nodes, path[i], 2));
    }
    if (!depth)
      nai_buf_puts(&lines, ";(no range)");
    if (!nai_cmd_cell(&s.rows, row, S_LEAF)->null) {
      nai_buf_putc(&lines, ';');
      put_frame(&lines, nai_cmd_text(&s.rows, row, S_LEAF));
    }
    nai_buf_printf(&lines, " %" PRId64, nai_cmd_int(&s.rows, row, S_NS));
    nai_buf_putc(&lines, '\0');
  }
  if (!rc && s.rows.rows)
    rc = put_sorted(out, &lines, (size_t)s.rows.rows, err);
  nai_buf_free(&lines);
  free_stacks(&s);
  return rc;
}

/* --- speedscope -------------------------------------------------------------------------------------- */

/* Numbers of frames, by name. */
static void put_sample(struct nai_json *json, struct nai_strings *frames, const struct stacks *s, int64_t row) {
  struct nai_buf thread = {0};
  int64_t path[DEEPEST];
  int depth = path_of(path, s, row);
  put_thread(&thread, s, row);
  nai_json_begin_array(json, NAI_JSON_INLINE);
  nai_json_int(json, nai_strings_add(frames, nai_buf_str(&thread), thread.len));
  for (int i = 0; i < depth; i++) {
    const char *name = nai_cmd_text(&s->nodes, path[i], 2);
    nai_json_int(json, nai_strings_add(frames, name, strlen(name)));
  }
  const char *leaf = depth ? "" : "(no range)";
  if (*leaf)
    nai_json_int(json, nai_strings_add(frames, leaf, strlen(leaf)));
  leaf = nai_cmd_text(&s->rows, row, S_LEAF);
  if (*leaf)
    nai_json_int(json, nai_strings_add(frames, leaf, strlen(leaf)));
  nai_json_end(json);
  nai_buf_free(&thread);
}

static void put_profile(struct nai_json *json, struct nai_strings *frames, const struct stacks *s, const char *name) {
  int64_t total = 0;
  nai_json_begin_object(json, NAI_JSON_LINES);
  nai_json_put_text(json, "type", "sampled");
  nai_json_put_text(json, "name", name);
  nai_json_put_text(json, "unit", "nanoseconds");
  nai_json_put_int(json, "startValue", 0);
  for (int64_t row = 0; row < s->rows.rows; row++)
    total += nai_cmd_int(&s->rows, row, S_NS);
  nai_json_put_int(json, "endValue", total);
  nai_json_key(json, "samples");
  nai_json_begin_array(json, NAI_JSON_LINES);
  for (int64_t row = 0; row < s->rows.rows; row++)
    put_sample(json, frames, s, row);
  nai_json_end(json);
  nai_json_key(json, "weights");
  nai_json_begin_array(json, NAI_JSON_INLINE);
  for (int64_t row = 0; row < s->rows.rows; row++)
    nai_json_int(json, nai_cmd_int(&s->rows, row, S_NS));
  nai_json_end(json);
  nai_json_end(json);
}

static void put_frames(struct nai_json *json, const struct nai_strings *frames) {
  nai_json_key(json, "shared");
  nai_json_begin_object(json, NAI_JSON_LINES);
  nai_json_key(json, "frames");
  nai_json_begin_array(json, NAI_JSON_LINES);
  for (uint32_t i = 0; i < frames->count; i++) {
    nai_json_begin_object(json, NAI_JSON_INLINE);
    nai_json_put_text(json, "name", nai_strings_get(frames, i));
    nai_json_end(json);
  }
  nai_json_end(json);
  nai_json_end(json);
}

static int put_speedscope(struct nai_buf *out, const struct export_args *args, struct nai_run *run,
                          struct nai_err *err) {
  const char *trace = run->manifest.trace ? run->manifest.trace : "";
  struct stacks s;
  struct nai_strings frames = {0};
  struct nai_json json;
  int rc = collect(&s, args, run, err);
  if (!rc) {
    nai_json_init(&json, out, false);
    nai_json_begin_object(&json, NAI_JSON_LINES);
    nai_json_put_text(&json, "$schema", "https://www.speedscope.app/file-format-schema.json");
    nai_json_put_text(&json, "exporter", "nsys-ai " NAI_VERSION);
    nai_json_put_text(&json, "name", trace);
    nai_json_put_int(&json, "activeProfileIndex", 0);
    nai_json_key(&json, "profiles");
    nai_json_begin_array(&json, NAI_JSON_LINES);
    put_profile(&json, &frames, &s, args->metric == METRIC_GPU ? "GPU time by range" : "time of ranges");
    nai_json_end(&json);
    put_frames(&json, &frames);
    nai_json_end(&json);
    nai_json_finish(&json);
    nai_buf_putc(out, '\n');
  }
  nai_strings_free(&frames);
  free_stacks(&s);
  return rc;
}

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
  return format == FOLDED     ? put_folded(out, args, run, err)
       : format == SPEEDSCOPE ? put_speedscope(out, args, run, err)
                              : put_flat(out, format, args, run, err);
}

static int check(const void *memory, const char *const *operands, size_t count, struct nai_err *err) {
  const struct export_args *args = memory;
  enum format format = format_of(operands[0]);
  (void)count;
  if (args->metric == METRIC_WALL && format != FOLDED && format != SPEEDSCOPE)
    return nai_err_set(err, NAI_EUSAGE, "--metric is of folded and speedscope");
  if (args->metric == METRIC_WALL && args->gpu != INT64_MIN)
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
        "Writes the kernels of a run for other tools. SRC is an artifacts directory or a trace, which is analysed for this answer only. "
        "For any other rows: nsys-ai sql --format csv.",
    .examples =
        "nsys-ai export csv artifacts/run1 --out kernels.csv\nnsys-ai export folded artifacts/run1 | flamegraph.pl > kernels.svg\n"
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
