/* nsys-ai stats: the reports of `nsys stats`. */
#include "features/stats/request.h"

#include "base/escape.h"
#include "base/fs.h"
#include "base/sandbox.h"
#include "command/command.h"
#include "trace/trace/trace.h"

enum { MAX_LISTS = 128, MAX_ITEMS = 512 };
struct stats_args {
  const char *reports[MAX_LISTS], *formats[MAX_LISTS], *outputs[MAX_LISTS];
  size_t report_count, format_count, output_count;
  const char *time_unit, *times, *range, *projected, *sqlite, *report_dir;
  bool overwrite, force_export, quiet, help_reports, help_formats;
};

static const char *range_of(const struct stats_args *args) { return args->range ? args->range : args->projected; }

/* true, false, or nothing behind it. */
static int set_yes(void *args, const struct nai_cli_option *option, const char *const *values, struct nai_err *err) {
  bool *field = (bool *)((char *)args + option->at);
  *field = !values[0] || strcmp(values[0], "true") == 0;
  return *field || strcmp(values[0], "false") == 0
           ? NAI_OK
           : nai_err_set(err, NAI_EUSAGE, "--%s takes true or false", option->name);
}
static const struct nai_cli_type yes = {set_yes, NULL};

/* JSON alone, as with every command: without what nsys says around it. */
static int set_json(void *memory, const struct nai_cli_option *option, const char *const *values, struct nai_err *err) {
  struct stats_args *args = memory;
  (void)option, (void)values;
  if (args->format_count == MAX_LISTS)
    return nai_err_set(err, NAI_EUSAGE, "more than %d formats", MAX_LISTS);
  args->formats[args->format_count++] = "json";
  args->quiet = true;
  return NAI_OK;
}
static const struct nai_cli_type json_alone = {set_json, NULL};

NAI_CLI_NAMES(format_name, "column", "table", "csv", "tsv", "json", "hdoc", "htable")

#define NAI_CLI_ARGS struct stats_args
static const struct nai_cli_option options[] = {
    NAI_CLI_LIST(texts, reports, report_count, "report", "NAME[:ARGUMENT...]",
                 "a report, or several with commas; repeatable", .letter = 'r', .choices = nai_stats_names,
                 .also = "with arguments behind a colon", .otherwise = "the common ones"),
    NAI_CLI_LIST(texts, reports, report_count, "rule", "NAME[:ARGUMENT...]", "the same, as `nsys analyze` has it",
                 .choices = nai_stats_names),
    NAI_CLI_LIST(texts, formats, format_count, "format", "FORMAT[:ARGUMENT...]", "the n-th is of the n-th report",
                 .letter = 'f', .choices = format_name, .otherwise = "column on a console, else csv"),
    NAI_CLI_LIST(
        texts, outputs, output_count, "output", "OUTPUT",
        "- is standard output, . a file named after SRC, @COMMAND a program that reads it, anything else the begin "
        "of a file's name",
        .letter = 'o', .otherwise = "-"),
    NAI_CLI_OPTION(text, time_unit, "timeunit", "UNIT", "of times: nsec, usec, msec, sec"),
    NAI_CLI_OPTION(text, times, "filter-time", "BEGIN/END", "only events that touch this time: ns, or with us, ms, s"),
    NAI_CLI_OPTION(text, range, "filter-nvtx", "RANGE[@DOMAIN][/INDEX]",
                   "only events of the time of this NVTX range, and of its thread and process"),
    NAI_CLI_OPTION(text, projected, "filter-projected-nvtx", "RANGE...",
                   "the same from the first to the last operation on GPUs that the range launched"),
    NAI_CLI_OTHER(yes, "force-overwrite", NULL, "write files that are there", .at = offsetof(NAI_CLI_ARGS, overwrite),
                  .words = "true false"),
    NAI_CLI_OTHER(yes, "force-export", NULL, "export an .nsys-rep again that was exported before",
                  .at = offsetof(NAI_CLI_ARGS, force_export), .words = "true false"),
    NAI_CLI_OPTION(text, sqlite, "sqlite", "FILE", "the export of an .nsys-rep, read where it is there"),
    NAI_CLI_OPTION(text, report_dir, "report-dir", "DIR", "refused: reports of your own are no part of this"),
    NAI_CLI_SWITCH(on, help_reports, "help-reports", "list the reports; with NAME behind it what that one prints"),
    NAI_CLI_SWITCH(on, help_formats, "help-formats", "list the formats"),
    NAI_CLI_OTHER(json_alone, "json", NULL, "-f json -q: nothing but JSON"),
    NAI_CMD_EXPORT_OPTION,
    NAI_CLI_SWITCH(on, quiet, "quiet", "only the reports", .letter = 'q'),
    {0},
};

/* --- what is asked ------------------------------------------------------------------------------------ */

struct items {
  const char *at[MAX_ITEMS];
  size_t count;
};

/* Splits lists at commas. */
static int split(struct items *out, const char *const *lists, size_t count, struct nai_arena *arena,
                 struct nai_err *err) {
  for (size_t i = 0; i < count; i++)
    for (const char *word = lists[i]; word; word = strchr(word, ',') ? strchr(word, ',') + 1 : NULL) {
      if (out->count == MAX_ITEMS)
        return nai_err_set(err, NAI_EUSAGE, "more than %d reports", MAX_ITEMS);
      out->at[out->count++] = nai_arena_printf(arena, "%.*s", (int)strcspn(word, ","), word);
    }
  return nai_arena_check(arena, err);
}

/* The n-th of a list, whose last one is repeated. */
static const char *item(const struct items *items, size_t n, const char *otherwise) {
  return items->count == 0 ? otherwise : items->at[n < items->count ? n : items->count - 1];
}

/* --- where it goes ------------------------------------------------------------------------------------ */

struct job {
  const struct stats_args *args;
  const char *source; /* as typed */
  struct nai_trace *trace;
  struct nai_run *run; /* SRC, or for reports that are tables */
  bool of_run;         /* SRC is one: its export is opened when a report needs it */
  bool alone;          /* which is not there */
  bool lacks_export;   /* a report was refused that needs it */
  struct nai_stats_filter filter;
  struct nai_arena arena;
  struct items reports, formats, outputs;
  struct nai_stats_program programs[MAX_ITEMS]; /* per report */
  bool failed;                                  /* a report was refused; the others are printed */
};

static bool is_console(const char *output) { return strcmp(output, "-") == 0; }
static bool is_program(const char *output) { return output[0] == '@'; }

/* Without -q: what is done, as scripts look for it. */
static void say(struct job *job, const char *text) {
  NAI_SCOPED(nai_buf) clean = {0};
  nai_escape_terminal(&clean, text, strlen(text));
  job->arena.oom |= clean.oom;
  if (!job->args->quiet)
    printf("%s", nai_buf_str(&clean));
}

static void end_line(const struct job *job, int times) {
  for (int i = 0; i < times && !job->args->quiet; i++)
    putchar('\n');
}

static int pipe_report(struct nai_stats_program *program, const char *words, const struct nai_stats_request *request,
                       const struct nai_stats_format *format, struct nai_stats_rows *rows, struct nai_err *err) {
  NAI_SCOPED(nai_buf) text = {0};
  NAI_TRY(nai_stats_write(&text, request->report, &request->options, rows, format, err));
  NAI_TRY(nai_buf_check(&text, err));
  return nai_stats_program_give(program, &text, words, err);
}

/* `path`: of a file, a program behind its @, or NULL. */
static int print_report(struct job *job, size_t n, const struct nai_stats_request *request,
                        const struct nai_stats_format *format, const char *path, struct nai_stats_rows *rows,
                        struct nai_err *err) {
  struct nai_cmd_output output;
  fflush(stdout);
  if (path && is_program(path))
    return pipe_report(&job->programs[n], path + 1, request, format, rows, err);
  NAI_TRY(nai_cmd_output_open(&output, path, job->source, err));
  int rc = nai_stats_write(&output.sink.text, request->report, &request->options, rows, format, err);
  return nai_cmd_output_close(&output, rc, err);
}

static int skip(struct job *job, const char *why, struct nai_err *err) {
  end_line(job, 1);
  say(job, why);
  end_line(job, 2);
  return nai_arena_check(&job->arena, err);
}

static int skip_without_data(struct job *job, const struct nai_stats_request *request, struct nai_err *err) {
  return skip(
      job, nai_arena_printf(&job->arena, "SKIPPED: %s does not contain %s data.", job->source, request->report->lacks),
      err);
}

/* A report whose rows are there. */
static int put_report(struct job *job, const struct nai_stats_request *request, size_t n, struct nai_stats_rows *rows,
                      struct nai_err *err) {
  const char *output = item(&job->outputs, n, "-"), *path = NULL;
  struct nai_stats_format format;
  enum nai_stats_kind otherwise = is_console(output) ? NAI_STATS_COLUMN : NAI_STATS_CSV;
  NAI_TRY(
      nai_stats_format_read(&format, item(&job->formats, n, "."), otherwise, job->args->time_unit, &job->arena, err));
  if (is_program(output)) {
    path = output;
    say(job, nai_arena_printf(&job->arena, "to [%s]... ", path));
  } else if (!is_console(output)) {
    path = nai_stats_request_path(request, job->source, output, range_of(job->args), format.kind, &job->arena);
    NAI_TRY(nai_arena_check(&job->arena, err));
    if (nai_fs_exists(path) && !job->args->overwrite)
      return skip(job, nai_arena_printf(&job->arena, "SKIPPED: output file %s exists.", path), err);
    say(job, nai_arena_printf(&job->arena, "to [%s]... ", path));
  } else {
    end_line(job, 1);
  }
  NAI_TRY(print_report(job, n, request, &format, path, rows, err));
  say(job, path ? "PROCESSED" : "");
  end_line(job, path ? 2 : 0);
  const char *note = rows->note ? rows->note : rows->count ? request->report->advice : NULL;
  if (note && !job->args->quiet)
    nai_cmd_note(note);
  return nai_arena_check(&job->arena, err);
}

/* The rows; none of them and `absent` where SRC has nothing that the report is about. `run`: they are read from it. */
static int make_rows(struct nai_stats_rows *rows, struct job *job, const struct nai_stats_request *request,
                     struct nai_run *run, struct nai_err *err) {
  bool has = true;
  rows->run = job->run;
  rows->quartiles = request->options.quartiles || request->report->quartiles;
  if (request->options.table)
    return request->report->make(rows, &request->options, err);
  NAI_TRY(nai_stats_source_open(rows->source, job->trace, run, err));
  rows->source->alone = job->alone;
  NAI_TRY(nai_stats_has_tables(&has, rows->source, request->report, err));
  rows->absent = !has;
  if (!has)
    return NAI_OK;
  rows->source->filter = job->filter;
  NAI_TRY(nai_stats_read_own_filter(rows->source, request, err));
  return request->report->make(rows, &request->options, err);
}

/* The export of the run, once a report needs it. */
static int open_export(struct job *job, struct nai_err *err) {
  char path[PATH_MAX];
  if (job->trace)
    return NAI_OK;
  NAI_TRY(nai_stats_run_export(path, job->run, err));
  return nai_trace_open(&job->trace, path, &(struct nai_trace_options){0}, err);
}

static int show_rows(struct job *job, const struct nai_stats_request *request, size_t n, struct nai_run *run,
                     struct nai_err *err) {
  NAI_SCOPED(nai_stats_source) source = {.arena = NAI_ARENA(NULL)};
  NAI_SCOPED(nai_stats_rows) rows = {.source = &source};
  NAI_TRY(make_rows(&rows, job, request, run, err));
  return rows.absent ? skip_without_data(job, request, err) : put_report(job, request, n, &rows, err);
}

static void refuse(struct job *job, const struct nai_err *why) {
  NAI_SCOPED(nai_buf) clean = {0};
  fflush(stdout);
  nai_escape_terminal(&clean, why->msg, strlen(why->msg));
  fprintf(stderr, "ERROR: %s\n", nai_buf_str(&clean));
  job->arena.oom |= clean.oom;
}

/* From the run what it keeps as the export has it, all else from the export. */
static int run_report(struct job *job, const struct nai_stats_request *request, size_t n, struct nai_err *err) {
  struct nai_err none = {0};
  say(job,
      nai_arena_printf(&job->arena, "Processing [%s] with [nsys-ai/reports/%s.py]... ", job->source, request->name));
  int rc = show_rows(job, request, n, job->of_run ? job->run : NULL, err);
  if (rc != NAI_ESTALE || !job->of_run || request->options.table)
    return rc;
  if (!job->alone) {
    rc = open_export(job, &none);
    if (!rc)
      return show_rows(job, request, n, NULL, err);
    if (rc != NAI_EINPUT)
      return nai_err_set(err, rc, "%s", none.msg);
    job->alone = true;
  }
  rc = show_rows(job, request, n, job->run, err);
  if (rc != NAI_ESTALE)
    return rc;
  nai_err_wrap(err, rc, "Report '%s' needs the export", request->name);
  refuse(job, err);
  job->lacks_export = true;
  return nai_arena_check(&job->arena, err);
}

/* --- the command -------------------------------------------------------------------------------------- */

/* What is printed when nothing is asked for. */
static const char common[] =
    "nvtx_sum,osrt_sum,cuda_api_sum,cuda_gpu_kern_sum,cuda_gpu_mem_time_sum,cuda_gpu_mem_size_sum,openmp_sum,"
    "opengl_khr_range_sum,opengl_khr_gpu_range_sum,vulkan_marker_sum,vulkan_gpu_marker_sum,dx11_pix_sum,"
    "dx12_gpu_marker_sum,dx12_pix_sum,wddm_queue_sum,um_sum,um_total_sum,um_cpu_page_faults_sum,openacc_sum";

static int ask(struct nai_stats_request *request, const struct job *job, const char *text, struct nai_arena *arena,
               struct nai_err *err) {
  NAI_TRY(nai_stats_read_request(request, text, arena, err));
  return request->options.table && (job->args->times || range_of(job->args))
           ? nai_err_set(err, NAI_EUSAGE, "Report '%s' is of the whole capture: it takes no filter", request->name)
           : NAI_OK;
}

static int run_reports(struct job *job, struct nai_err *err) {
  for (size_t i = 0; i < job->reports.count; i++) {
    struct nai_stats_request request = {0};
    if (ask(&request, job, job->reports.at[i], &job->arena, err)) {
      refuse(job, err);
      job->failed = true;
      continue;
    }
    NAI_TRY(run_report(job, &request, i, err));
  }
  NAI_TRY(nai_arena_check(&job->arena, err));
  if (job->trace)
    NAI_TRY(nai_trace_unchanged(job->trace, err));
  char path[PATH_MAX];
  return job->lacks_export ? nai_stats_run_export(path, job->run, err) : NAI_OK;
}

/* Formats are read before anything is printed. */
static int check_formats(struct job *job, struct nai_err *err) {
  struct nai_stats_format format;
  for (size_t i = 0; i == 0 || i < job->formats.count; i++)
    NAI_TRY(nai_stats_format_read(&format, item(&job->formats, i, "."), NAI_STATS_CSV, job->args->time_unit,
                                  &job->arena, err));
  return NAI_OK;
}

/* Writes go where the outputs lie. */
static void confine(const struct job *job) {
  const char *writable[MAX_ITEMS + 2] = {0};
  char temporary[PATH_MAX];
  size_t count = 0;
  snprintf(temporary, sizeof temporary, "%s/any", nai_temporary_place());
  writable[count++] = temporary;
  for (size_t i = 0; i < job->outputs.count; i++)
    if (!is_console(job->outputs.at[i]) && !is_program(job->outputs.at[i]))
      writable[count++] = strcmp(job->outputs.at[i], ".") == 0 ? job->source : job->outputs.at[i];
  nai_sandbox_enter(&(struct nai_sandbox){.writable = writable, .reads_all = true, .readable = -1});
}

static int start_programs(struct job *job, struct nai_err *err) {
  for (size_t i = 0; i < job->reports.count; i++) {
    const char *output = item(&job->outputs, i, "-");
    if (is_program(output))
      NAI_TRY(nai_stats_program_start(job->programs, i, output + 1, err));
  }
  return NAI_OK;
}

static int read_filter_from(struct job *job, struct nai_run *run, struct nai_err *err) {
  NAI_SCOPED(nai_stats_source) source = {0};
  NAI_SCOPED(nai_buf) note = {0};
  NAI_TRY(nai_stats_source_open(&source, job->trace, run, err));
  NAI_TRY(nai_stats_filter_read(&job->filter, job->args->times, range_of(job->args), job->args->projected != NULL,
                                &note, &source, err));
  if (note.len)
    nai_cmd_note(nai_buf_str(&note));
  return NAI_OK;
}

static int read_filter(struct job *job, struct nai_err *err) {
  if (!job->args->times && !range_of(job->args))
    return NAI_OK;
  int rc = read_filter_from(job, job->of_run ? job->run : NULL, err);
  if (rc != NAI_ESTALE || !job->of_run)
    return rc;
  NAI_TRY(open_export(job, err));
  return read_filter_from(job, NULL, err);
}

static int read_lists(struct job *job, struct nai_err *err) {
  const struct stats_args *args = job->args;
  const char *const usual = common;
  NAI_TRY(split(&job->reports, args->reports, args->report_count, &job->arena, err));
  if (!job->reports.count)
    NAI_TRY(split(&job->reports, &usual, 1, &job->arena, err));
  NAI_TRY(split(&job->formats, args->formats, args->format_count, &job->arena, err));
  NAI_TRY(split(&job->outputs, args->outputs, args->output_count, &job->arena, err));
  if (job->formats.count > job->reports.count)
    nai_cmd_note("the number of formats exceeds number of reports");
  return check_formats(job, err);
}

/* Opens what reports that are tables are read from, if there are any. */
static int open_tables(struct nai_run **out, struct job *job, const char *path, struct nai_err *err) {
  const char *tables[MAX_ITEMS + 1] = {0};
  size_t count = 0;
  for (size_t i = 0; i < job->reports.count; i++) {
    struct nai_stats_request request = {0};
    struct nai_err ignored; /* said when it is its turn */
    if (nai_stats_read_request(&request, job->reports.at[i], &job->arena, &ignored) == NAI_OK && request.options.table)
      tables[count++] = request.options.table;
  }
  if (!job->of_run && !count)
    return NAI_OK;
  return nai_cmd_source_open(out, path, &(struct nai_cmd_source){.quiet = job->args->quiet, .tables = tables}, err);
}

/* `path`: of the export, or a run. */
static int run_job(struct job *job, const char *path, struct nai_err *err) {
  NAI_OWNED(nai_run) *run = NULL;
  NAI_OWNED(nai_trace) *trace = NULL;
  NAI_TRY(start_programs(job, err));
  NAI_TRY(open_tables(&run, job, path, err));
  job->run = run;
  confine(job);
  if (!job->of_run)
    NAI_TRY(nai_trace_open(&job->trace, path, &(struct nai_trace_options){0}, err));
  int rc = read_filter(job, err);
  rc = rc ? rc : run_reports(job, err);
  trace = job->trace;
  return rc;
}

/* Whether --sqlite names the export of an .nsys-rep. */
static bool is_exported(const struct stats_args *args, const char *source) {
  const char *suffix = strrchr(source, '.');
  return args->sqlite && !args->force_export && suffix && strcmp(suffix, ".nsys-rep") == 0 &&
         nai_fs_exists(args->sqlite);
}

static int run_source(struct job *job, const char *source, struct nai_err *err) {
  const struct stats_args *args = job->args;
  const int how = (args->quiet ? NAI_CMD_EXPORT_QUIET : 0) | (args->force_export ? NAI_CMD_EXPORT_AGAIN : 0);
  struct nai_cmd_export export = {0};
  job->source = source;
  job->of_run = nai_fs_is_dir(source) && !nai_cmd_is_parquet(source);
  NAI_TRY(read_lists(job, err));
  if (job->of_run)
    return run_job(job, source, err);
  int rc = nai_cmd_export_open(&export, is_exported(args, source) ? args->sqlite : source, how, err);
  if (!rc)
    rc = run_job(job, export.path, err);
  nai_cmd_export_free(&export);
  return rc;
}

static int check(const void *memory, const char *const *operands, size_t count, struct nai_err *err) {
  const struct stats_args *args = memory;
  (void)operands;
  if (args->report_dir)
    return nai_err_set(err, NAI_EUSAGE,
                       "--report-dir: nsys-ai runs no scripts; its own tables answer SQL: nsys-ai sql");
  if ((args->times != NULL) + (args->range != NULL) + (args->projected != NULL) > 1)
    return nai_err_set(err, NAI_EUSAGE, "--filter-time, --filter-nvtx and --filter-projected-nvtx exclude each other");
  return count || args->help_reports || args->help_formats
           ? NAI_OK
           : nai_err_set(err, NAI_EUSAGE, "stats needs SRC, an export or a run");
}

/* Exit status 2: a report was refused. */
static int run(void *memory, const char *const *operands, size_t count, struct nai_err *err) {
  const struct stats_args *args = memory;
  struct job job = {.args = args, .arena = NAI_ARENA(NULL)};
  if (args->help_reports)
    return nai_stats_list_reports(count ? operands[0] : NULL, err);
  if (args->help_formats)
    return nai_stats_list_formats(err);
  int rc = run_source(&job, operands[0], err);
  for (size_t i = 0; i < job.reports.count; i++)
    nai_stats_program_free(&job.programs[i]);
  nai_arena_free(&job.arena);
  return rc ? rc : job.failed ? 2 : 0;
}

NAI_CLI_COMMAND(
    nai_cmd_stats, .name = "stats", .synopsis = "SRC", .summary = "the reports of `nsys stats`, from an export",
    .description =
        "Prints the reports of `nsys stats` under their names of 2022 and since 2023, with the columns, numbers and "
        "formats that nsys prints: docs/stats.md. SRC is an SQLite export, an .nsys-rep where there is an nsys, or an artifacts "
        "directory; what that does not keep is read from its export, which lies here or beside it.",
    .examples = "nsys-ai stats trace.sqlite\n"
                "nsys-ai stats -r cuda_gpu_kern_sum -f csv -q trace.sqlite\n"
                "nsys-ai stats -r cuda_api_sum,osrt_sum -f csv,json -o . trace.sqlite\n"
                "nsys-ai stats -r cuda_gpu_kern_sum:base --timeunit usec trace.sqlite",
    .options = options, NAI_CLI_OPERANDS(0, 1, {.name = "SRC", NAI_CLI_FILES(NAI_CMD_TRACE_SUFFIXES)}), .check = check,
    .run = run)
