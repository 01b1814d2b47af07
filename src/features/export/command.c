/* nsys-ai export: a run's events as flat rows, its ranges as a tree, stacks of both, all of it as timelines. */
#include "features/read/read.h"
#include "base/text.h"
#include "features/export/command.h"

struct export_args {
  const char *out;
  int metric, stacks, list;
  bool gzip, all, quiet;
  int names;
  double min_us;
  struct nai_cli_stretch trim;
  struct nai_export_options timeline; /* and the GPU of every format */
};

static void init(void *memory) {
  struct nai_export_options *o = &((struct export_args *)memory)->timeline;
  o->gpu = o->start_ns = INT64_MIN;
  o->end_ns = INT64_MAX;
}

enum format { CSV, NDJSON, JSON, PARQUET, MARKDOWN, FOLDED, SPEEDSCOPE, PERFETTO, CHROME, FORMATS };
enum { GPU = 1, TRIM = 2, LIST = 4, METRIC = 8, SHAPE = 16, ALL = 32 }; /* options that a format takes */
enum { ROWS = GPU | TRIM | LIST, STACKS = GPU | METRIC, EVENTS = GPU | TRIM | SHAPE };
static const struct {
  const char *name, *about;
  unsigned takes;
  nai_export_fn *timeline;
} formats[FORMATS] = {
    [CSV] = {"csv", "a row per kernel (--list: of others), columns as other tools for these traces have them first",
             ROWS},
    [NDJSON] = {"ndjson", "the same, a JSON object a line", ROWS},
    [JSON] = {"json", "the same, as columns and rows", ROWS},
    [PARQUET] = {"parquet", "the same as Parquet, for pandas, polars and DuckDB", ROWS},
    [MARKDOWN] = {"markdown", "the tree of NVTX ranges with their kernels, short enough for a comment"},
    [FOLDED] = {"folded", "stacks of range names and kernels with their time, for flame graphs", STACKS},
    [SPEEDSCOPE] = {"speedscope", "the same stacks, and a row per thread and stream, for www.speedscope.app",
                    STACKS | ALL},
    [PERFETTO] = {"perfetto", "every event on a timeline, for ui.perfetto.dev", EVENTS, nai_export_perfetto},
    [CHROME] = {"chrome", "the same as JSON of Chrome's trace viewer", EVENTS, nai_export_chrome},
};

NAI_CLI_NAMES_OF(format_name, formats)
static const char *format_about(size_t i) { return formats[i].about; }

NAI_CLI_NAMES(metric_name, "gpu", "wall")

NAI_CLI_NAMES(stacks_name, "range", "call")

NAI_CLI_NAMES(names_name, "short", "full")

#define NAI_CLI_ARGS struct export_args
static const struct nai_cli_option options[] = {
    NAI_CLI_OPTION(text, out, "out", "FILE", "the file to write", .letter = 'o', .otherwise = "standard output",
                   .hint = NAI_CLI_FILE),
    NAI_CLI_OPTION(int64, timeline.gpu, "gpu", "N", "kernels, copies, gaps, and rows of timelines, of this GPU only",
                   NAI_CLI_RANGE(-1, INT32_MAX), .otherwise = "all"),
    NAI_CLI_OPTION(choice, list, "list", "LIST", "csv, ndjson, json and parquet: which events the rows are",
                   .choices = nai_cmd_flat_lists),
    NAI_CLI_OPTION(choice, metric, "metric", "TIME",
                   "folded and speedscope: the time of kernels, or that of the ranges themselves",
                   .choices = metric_name),
    NAI_CLI_OPTION(choice, stacks, "stacks", "OF",
                   "folded and speedscope: stacks of NVTX ranges, or call stacks of the calls that launched kernels",
                   .choices = stacks_name),
    NAI_CLI_OPTION(
        stretch, trim, "trim", "START END",
        "rows and timelines: this stretch only, in seconds since session start (+0 +20ms: from the first event on); events are cut at its edges",
        NAI_CMD_SECONDS, .otherwise = "everything; nsys-ai probe TRACE prints the range"),
    NAI_CLI_OPTION(stretch, trim, "window", "START END", "the same as --trim", NAI_CMD_SECONDS, .hidden = true),
    NAI_CLI_OPTION(choice, names, "names", "FORM", "perfetto and chrome: how kernels are called",
                   .choices = names_name),
    NAI_CLI_OPTION(number, min_us, "min-duration", "US",
                   "perfetto and chrome: leave out events shorter than this, in microseconds", .max = 1000000000),
    NAI_CLI_SWITCH(on, timeline.no_calls, "no-calls",
                   "perfetto and chrome: leave out CUDA API calls, and flows from them"),
    NAI_CLI_SWITCH(on, timeline.no_ranges, "no-ranges", "perfetto and chrome: leave out NVTX ranges and marks"),
    NAI_CLI_SWITCH(on, timeline.no_flows, "no-flows",
                   "perfetto and chrome: leave out the arrows from calls to what they launched"),
    NAI_CLI_SWITCH(on, all, "all", "speedscope: rows of threads and streams also of more than two million events"),
    NAI_CLI_SWITCH(on, gzip, "gzip", "compress; viewers read that as well. Parquet: its pages",
                   .otherwise = "when FILE ends in .gz"),
    NAI_CMD_EXPORT_OPTION,
    NAI_CLI_SWITCH(on, quiet, "quiet", "print no notes", .letter = 'q'),
    {0},
};

/* --- the command ------------------------------------------------------------------------------------- */

static enum format format_of(const char *word) {
  enum format format = CSV;
  while (strcmp(formats[format].name, word) != 0) /* the parser let no other word through */
    format++;
  return format;
}

static int put_timeline(struct nai_buf *out, enum format format, const struct export_args *args, struct nai_run *run,
                        struct nai_err *err) {
  struct nai_cmd_timeline how = {formats[format].timeline, args->timeline, args->quiet};
  how.options.full_names = args->names != 0;
  how.options.min_ns = (int64_t)ceil(args->min_us * 1000);
  return nai_cmd_put_timeline(out, run, &how, err);
}

static struct nai_cmd_stacks stacks_of(const struct export_args *args) {
  return (struct nai_cmd_stacks){args->stacks != 0, args->metric, args->timeline.gpu};
}

static int put_folded(struct nai_buf *out, const struct export_args *args, struct nai_run *run, struct nai_err *err) {
  const struct nai_cmd_stacks stacks = stacks_of(args);
  size_t count;
  NAI_TRY(nai_cmd_put_folded(&count, out, run, &stacks, err));
  if (!count && !args->quiet)
    nai_cmd_note(args->metric != NAI_CMD_GPU_TIME || args->stacks
                     ? "nothing to fold: the run has no such stacks"
                     : "nothing to fold: the run has no kernels; --metric wall folds the time of ranges");
  return NAI_OK;
}

static int put_speedscope(struct nai_buf *out, const struct export_args *args, struct nai_run *run,
                          struct nai_err *err) {
  const struct nai_cmd_timeline how = {.options = args->timeline, .quiet = args->quiet, .all = args->all};
  const struct nai_cmd_stacks stacks = stacks_of(args);
  return nai_cmd_put_speedscope(out, run, &stacks, &how, err);
}

static int put_rows(struct nai_buf *out, enum format format, const struct export_args *args, struct nai_run *run,
                    struct nai_err *err) {
  static const enum nai_rows_format rows[] = {
      [CSV] = NAI_ROWS_CSV, [NDJSON] = NAI_ROWS_NDJSON, [JSON] = NAI_ROWS_JSON, [PARQUET] = NAI_ROWS_FORMATS};
  const struct nai_cmd_flat how = {.list = args->list,
                                   .format = rows[format],
                                   .gzip = args->gzip,
                                   .gpu = args->timeline.gpu,
                                   .start_ns = args->timeline.start_ns,
                                   .end_ns = args->timeline.end_ns};
  return nai_cmd_put_flat(out, run, &how, err);
}

static int put(struct nai_buf *out, enum format format, const struct export_args *args, struct nai_run *run,
               struct nai_err *err) {
  return formats[format].timeline ? put_timeline(out, format, args, run, err)
       : format == MARKDOWN       ? nai_cmd_put_markdown(out, run, err)
       : format == FOLDED         ? put_folded(out, args, run, err)
       : format == SPEEDSCOPE     ? put_speedscope(out, args, run, err)
                                  : put_rows(out, format, args, run, err);
}

/* Compressed as a whole; Parquet compresses its pages. */
static int put_file(struct nai_buf *out, enum format format, const struct export_args *args, struct nai_run *run,
                    struct nai_err *err) {
  struct nai_gzip compressed;
  if (format == PARQUET || (!args->gzip && !(args->out && nai_text_ends(args->out, ".gz"))))
    return put(out, format, args, run, err);
  NAI_TRY(nai_gzip_open(&compressed, out, err));
  return nai_gzip_close(&compressed, put(&compressed.text, format, args, run, err), err);
}

/* Options of other formats are mistakes. */
static int check_taken(const struct export_args *args, enum format format, struct nai_err *err) {
  const struct nai_export_options *o = &args->timeline;
  const struct {
    unsigned bit;
    bool given;
    const char *names, *of;
  } groups[] = {{GPU, o->gpu != INT64_MIN, "--gpu", "rows, stacks and timelines"},
                {TRIM, args->trim.given, "--trim",
                 "rows (csv, ndjson, json, parquet) and timelines (perfetto, chrome)"},
                {LIST, args->list, "--list", "csv, ndjson, json and parquet"},
                {METRIC, args->metric, "--metric", "folded and speedscope"},
                {METRIC, args->stacks, "--stacks", "folded and speedscope"},
                {ALL, args->all, "--all", "speedscope"},
                {SHAPE, args->names || args->min_us > 0 || o->no_calls || o->no_ranges || o->no_flows,
                 "--names, --min-duration, --no-calls, --no-ranges and --no-flows", "perfetto and chrome"}};
  for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
    if (groups[i].given && !(formats[format].takes & groups[i].bit))
      return nai_err_set(err, NAI_EUSAGE, "%s %s of %s", groups[i].names, strchr(groups[i].names, ',') ? "are" : "is",
                         groups[i].of);
  return NAI_OK;
}

static int check(const void *memory, const char *const *operands, size_t count, struct nai_err *err) {
  const struct export_args *args = memory;
  enum format format = format_of(operands[0]);
  (void)count;
  NAI_TRY(check_taken(args, format, err));
  if (args->metric == NAI_CMD_WALL && args->timeline.gpu != INT64_MIN)
    return nai_err_set(err, NAI_EUSAGE, "--metric wall and --gpu exclude each other: ranges are not of one GPU");
  if (args->metric == NAI_CMD_WALL && args->stacks)
    return nai_err_set(err, NAI_EUSAGE, "--metric wall and --stacks call exclude each other: calls have GPU time only");
  if (args->list && args->timeline.gpu != INT64_MIN && !nai_cmd_flat_has_gpu(args->list))
    return nai_err_set(err, NAI_EUSAGE, "--gpu and --list %s exclude each other: they are not of one GPU",
                       nai_cmd_flat_lists((size_t)args->list, NULL));
  if (format == PARQUET && args->out && nai_text_ends(args->out, ".gz"))
    return nai_err_set(err, NAI_EUSAGE, "a Parquet file is not compressed as a whole: --gzip compresses its pages");
  bool binary = format == PERFETTO || format == PARQUET || args->gzip;
  return binary ? nai_cmd_check_binary(operands[0], args->out, err) : NAI_OK;
}

static int run(void *memory, const char *const *operands, size_t count, struct nai_err *err) {
  struct export_args *args = memory;
  struct nai_export_options *o = &args->timeline;
  struct nai_cmd_output output;
  NAI_OWNED(nai_run) *source = NULL;
  (void)count;
  NAI_TRY(nai_cmd_source_open(&source, operands[1], &(struct nai_cmd_source){.quiet = args->quiet}, err));
  NAI_TRY(nai_cmd_check_gpu(o->gpu, source, err));
  NAI_TRY(nai_cmd_place_stretch(&args->trim, "--trim", source, err));
  if (args->trim.given) {
    o->start_ns = args->trim.start_ns;
    o->end_ns = args->trim.end_ns;
  }
  NAI_TRY(nai_cmd_output_open(&output, args->out, operands[1], err));
  return nai_cmd_output_close(&output, put_file(&output.sink.text, format_of(operands[0]), args, source, err), err);
}

NAI_CLI_COMMAND(
    nai_cmd_exports, .name = "export", .synopsis = "FORMAT SRC",
    .summary = "write events as rows, stacks or a tree, or all of them for other timelines",
    .description =
        "Writes events of a run for other tools: as rows, or, as perfetto and chrome, every kernel, copy, API call and "
        "NVTX range with the arrows between them. " NAI_CMD_ABOUT_SOURCE
        " For any other rows: nsys-ai sql with --format csv, json or parquet.",
    .examples = "nsys-ai export csv artifacts/run1 --out kernels.csv\nnsys-ai export folded artifacts/run1 | "
                "flamegraph.pl > kernels.svg\n"
                "nsys-ai export folded artifacts/run1 --stacks call | flamegraph.pl > calls.svg\n"
                "nsys-ai export parquet artifacts/run1 --list copies --out copies.parquet\n"
                "nsys-ai export markdown artifacts/run1\n"
                "nsys-ai export speedscope artifacts/run1 --out run1.speedscope.json\n"
                "nsys-ai export perfetto artifacts/run1 --out run1.pftrace\n"
                "nsys-ai export chrome artifacts/run1 --trim +0 +20ms --out run1.json.gz",
    .options = options,
    NAI_CLI_OPERANDS(2, 2, {.name = "FORMAT", .choices = format_name, .about = format_about, .only_choices = true},
                     NAI_CMD_SOURCE("SRC")),
    .no_json = "json is a FORMAT here, and so are chrome and speedscope, which are JSON, too", .init = init,
    .check = check, .run = run)
