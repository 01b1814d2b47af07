/* nsys-ai analyze: the program's main job. */
#include "features/analyze/analyze.h"

#include "base/fs.h"
#include "base/memory.h"
#include "base/threads.h"
#include "table/severity.h"
#include "trace/redact.h"

#include <malloc.h>
#include <unistd.h>

static void init(void *memory) {
  struct analyze_args *args = memory;
  nai_options_init(&args->run);
  args->fail_on = -1;
}

/* A severity, then the same of findings that --known does not list. */
NAI_CLI_NAMES(fail_choices, "info", "low", "medium", "high", "new:info", "new:low", "new:medium", "new:high")
static bool of_new_only(int fail_on) { return fail_on >= NAI_SEVERITIES; }

#define NAI_CLI_ARGS struct analyze_args
static const struct nai_cli_option options[] = {
    NAI_CLI_OPTION(text, run.out, "out", "DIR", "artifacts directory, replaced as a whole", .letter = 'o',
                   .otherwise = "artifacts/NAME of the trace", .hint = NAI_CLI_DIRECTORY),
    NAI_CLI_LIST(texts, run.rules, run.rule_count, "rules", "FILE",
                 "YAML rules that add to the built-in ones or replace them by id; repeatable",
                 NAI_CLI_FILES("yaml yml")),
    NAI_CLI_LIST(texts, run.metrics, run.metric_count, "metrics", "FILE",
                 "YAML metrics that add to the built-in ones or replace them by id; repeatable",
                 NAI_CLI_FILES("yaml yml")),
    NAI_CLI_LIST(
        texts, run.skills, run.skill_count, "skill", "ID|FILE",
        "a skill whose answer is a table of the report: a built-in one (nsys-ai skill list) or a file; repeatable",
        NAI_CLI_FILES("yaml yml")),
    NAI_CLI_LIST(texts, run.skill_parameters, run.skill_parameter_count, "skill-param", "SKILL.NAME=VALUE",
                 "a parameter of such a skill; repeatable"),
    NAI_CLI_OPTION(text, run.templates, "templates", "DIR",
                   "templates (report.md.mustache, report.html) to use in place of the built-in ones",
                   .hint = NAI_CLI_DIRECTORY),
    NAI_CLI_OPTION(text, run.phase_map, "phase-map", "NAME|FILE", "phases by NVTX range name",
                   .choices = nai_cmd_phase_maps, .also = "a YAML or JSON file",
                   .otherwise = "the map that suits the ranges", NAI_CLI_FILES("yaml yml json")),
    NAI_CLI_OPTION(text, run.phase_map, "phases-json", "FILE", "alias of --phase-map", NAI_CLI_FILES("json"),
                   .hidden = true),
    NAI_CLI_OPTION(text, run.kernel_classes, "kernel-classes", "FILE",
                   "rules (.rules) or YAML patterns that put kernels into categories, before the built-in ones",
                   NAI_CLI_FILES("rules yaml yml")),
    NAI_CLI_OPTION(text, run.workload, "workload", "FILE",
                   "YAML patterns that tell what kind of program this is, tried before the built-in ones",
                   NAI_CLI_FILES("yaml yml")),
    NAI_CLI_OPTION(text, run.flops.per_step, "flops-per-step", "X",
                   "floating-point operations of one step, all GPUs of the trace together: 1.2e18 (table mfu)"),
    NAI_CLI_OPTION(text, run.flops.model, "model", "KEY=N,...",
                   "the same from a transformer's size: params, tokens (per step), layers, hidden, seq, causal"),
    NAI_CLI_OPTION(text, run.flops.dtype, "dtype", "TYPE",
                   "data type whose peak the operations are compared with: fp16, bf16, tf32, fp32, fp8",
                   .otherwise = "bf16, or fp16 where the GPU has no bf16"),
    NAI_CLI_OPTION(number, run.flops.peak_tflops, "peak-tflops", "X",
                   "dense peak of one GPU, 10^12 operations per second", NAI_CLI_RANGE(1, 1000000),
                   .otherwise = "by the GPU's product name"),
    NAI_CLI_OPTION(
        text, run.flops.weights, "model-weights", "BYTES[,...]",
        "what a decode step reads of the weights on one GPU: 14e9, or 14e9,active=3e9-14e9,kv=131072 with the range of "
        "active experts and the bytes per token of the KV cache (table serving_bound)"),
    NAI_CLI_OPTION(text, run.gpu_facts, "gpu-facts", "FILE",
                   "YAML limits, links and peaks of GPUs (as rules/gpus.yaml), used before the built-in ones",
                   NAI_CLI_FILES("yaml yml")),
    NAI_CLI_OPTION(
        text, run.comm_names, "comm-names", "FILE",
        "YAML patterns that tell what communicators are for, tried on texts such as \"size 2; 0: GPU 0, 1: GPU 1; "
        "stream 27\" (table communicators)",
        NAI_CLI_FILES("yaml yml")),
    NAI_CLI_OPTION(text, run.step, "step", "RE",
                   "NVTX ranges whose name matches this regular expression (PCRE2) are the steps",
                   .otherwise = "found by name and contents, where the trace tells"),
    NAI_CLI_LIST(ints, run.gpus, run.gpu_count, "gpu", "N",
                 "look at this GPU only; repeatable; nsys-ai probe TRACE lists them", NAI_CLI_RANGE(-1, INT32_MAX)),
    NAI_CLI_OPTION(
        stretch, trim, "trim", "START END",
        "look at this stretch only, in seconds since session start (+0 +20ms: from the first event on); events are cut at its edges",
        NAI_CMD_SECONDS, .otherwise = "everything; nsys-ai probe TRACE prints the range"),
    NAI_CLI_OPTION(stretch, trim, "window", "START END", "the same as --trim", NAI_CMD_SECONDS, .hidden = true),
    NAI_CLI_OPTION(int, run.top, "top", "N", "rows per table in report.md", NAI_CLI_RANGE(1, 1000)),
    NAI_CLI_OPTION(
        int, run.page_events, "page-events", "N",
        "events that report.html holds one by one; of a longer trace some stretches, and exact sums elsewhere",
        NAI_CLI_RANGE(100, 100000000)),
    NAI_CLI_SWITCH(on, run.show_output, "show-output",
                   "show the line of the program's output that tells of a failure; it may hold secrets"),
    NAI_CLI_SWITCH(off, run.map_nvtx, "no-nvtx-kernel-map", "do not attribute GPU work to NVTX ranges"),
    NAI_CLI_OPTION(number, run.nvtx_coverage_warn_threshold, "nvtx-coverage-warn-threshold", "X",
                   "warn when NVTX ranges cover less than X percent of the kernel time", NAI_CLI_RANGE(0, 100),
                   .otherwise = "that of rule low-nvtx-coverage"),
    NAI_CLI_OPTION(choice, fail_on, "fail-on", "SEVERITY",
                   "exit 1 when there is a finding of this severity or higher; new: those that --known does not list",
                   .choices = fail_choices, .otherwise = "never"),
    NAI_CLI_OPTION(text, run.known, "known", "FILE",
                   "YAML list of known findings: each is then new, known, muted (with a reason) or fixed",
                   NAI_CLI_FILES("yaml yml")),
    NAI_CLI_SWITCH(on, run.update_known, "update-known", "make FILE of --known list the findings of this run"),
    NAI_CLI_OPTION(
        text, redact, "redact", "MAP",
        "tokens in place of all words that are not public; MAP (CSV), which you keep, says what they stand for",
        NAI_CLI_FILES("csv")),
    NAI_CLI_OPTION(text, run.stages, "stages", "DIR",
                   "directory for the intermediate tables, replaced as a whole: what is in --out is for readers only",
                   .otherwise = "DIR/stages of --out", .hint = NAI_CLI_DIRECTORY),
    NAI_CLI_SWITCH(
        off, run.keep_stages, "no-stages",
        "keep no intermediate tables (stages/): a smaller directory, but the next run starts from the trace"),
    NAI_CLI_SWITCH(on, run.all_csv, "all-csv",
                   "write a tables/NAME.csv of every table, without rows, too; tables/index.csv lists them either way"),
    NAI_CLI_OPTION(word, run.stop_after, "stage", "NAME", "stop after a stage", .choices = nai_cmd_stages),
    NAI_CLI_OPTION(bytes, run.memory_limit_bytes, "memory-limit", "SIZE",
                   "refuse to start work that needs more memory, for example 4G", .otherwise = "none"),
    NAI_CMD_TRACE_OPTIONS(run.reader, run.check),
    NAI_CMD_JOBS_OPTION(run.threads),
    NAI_CMD_EXPORT_OPTION,
    NAI_CLI_SWITCH(on, quiet, "quiet", "print nothing but errors", .letter = 'q'),
    NAI_CLI_SWITCH(on, verbose, "verbose", "print what each stage did and how long it took", .letter = 'v'),
    NAI_CLI_SWITCH(on, json, "json", "print one line of JSON that sums up the run"),
    {0},
};

static void show_stage(int stage) { fprintf(stderr, "\r\033[Knsys-ai: %s", nai_stages[stage].name); }

/* artifacts/NAME, the name of the trace without its suffix. */
static void default_out(char *out, size_t size, const char *trace) {
  const char *slash = strrchr(trace, '/'), *name = slash ? slash + 1 : trace, *dot = strrchr(name, '.');
  size_t len = strlen(name), suffix = nai_cmd_trace_suffix(name, len);
  if (!suffix && dot && dot > name)
    suffix = strlen(dot);
  snprintf(out, size, "artifacts/%.*s", (int)(len - suffix), name);
}

/* The analyses take and give back large arrays in quick succession. Reusing that memory instead of returning it to the
 * system each time saves a third of the page faults; one arena, so that it is shared by all threads. For a process that
 * analyses one trace and ends: memory it has taken is never given back. */
static void tune_allocator(void) {
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
}

/* What the user's own files say, and --step, would stand in the run. */
static int check_redact(const struct analyze_args *args, struct nai_err *err) {
  const struct nai_options *o = &args->run;
  char way[PATH_MAX];
  bool own_map = o->phase_map && nai_fs_exists(o->phase_map);
  if (o->rule_count || o->metric_count || o->skill_count || o->templates || own_map || o->kernel_classes ||
      o->workload || o->gpu_facts || o->comm_names || o->step || o->known)
    return nai_err_set(err, NAI_EUSAGE,
                       "--redact: files of your own and --step would bring their words into the run: leave them out");
  const char *const directories[] = {o->out, o->stages};
  for (size_t i = 0; i < 2; i++) {
    if (!directories[i])
      continue;
    NAI_TRY(nai_fs_relative(way, sizeof way, directories[i], args->redact, err));
    if (strncmp(way, "../", 3) != 0)
      return nai_err_set(err, NAI_EUSAGE, "--redact \"%s\" lies in the run that is given away", args->redact);
  }
  return NAI_OK;
}

/* Makes the copy that is analysed. */
static int redact(const char *path, const struct analyze_args *args, struct nai_err *err) {
  const struct nai_trace_options how = {args->run.reader, args->run.check};
  NAI_SCOPED(nai_redaction) redaction = {0};
  NAI_OWNED(nai_trace) *trace = NULL;
  NAI_TRY(nai_redaction_open(&redaction, args->redact, err));
  NAI_TRY(nai_trace_open(&trace, args->run.trace, &how, err));
  NAI_TRY(nai_redact_trace(&redaction, trace, path, err));
  return nai_redaction_save(&redaction, args->redact, err);
}

static int analyze_redacted(struct nai_result *result, struct analyze_args *args, bool show, struct nai_err *err) {
  const char *trace = args->run.trace;
  struct nai_temporary directory;
  char path[PATH_MAX];
  NAI_TRY(nai_temporary_in(&directory, nai_temporary_place(), err));
  int rc = nai_fs_join(path, sizeof path, directory.path, "redacted.sqlite")
             ? redact(path, args, err)
             : nai_err_set(err, NAI_EIO, "the path of the temporary directory is too long");
  args->run.trace = path;
  if (!rc)
    rc = nai_analyze(result, &args->run, show ? show_stage : NULL, err);
  args->run.trace = trace;
  nai_cmd_remove(&directory);
  return rc;
}

static int analyze(struct nai_result *result, struct analyze_args *args, const char *source, bool show,
                   struct nai_err *err) {
  NAI_SCOPED(nai_cmd_export) trace = {0};
  struct nai_options *o = &args->run;
  if (o->stages && !o->keep_stages)
    return nai_err_set(err, NAI_EUSAGE, "--stages and --no-stages: give one of the two");
  if (args->fail_on >= 0 && o->stop_after && strcmp(o->stop_after, "render") != 0)
    return nai_err_set(err, NAI_EUSAGE, "--fail-on needs the findings, which --stage %s does not report: leave one out",
                       o->stop_after);
  if (args->fail_on >= 0 && of_new_only(args->fail_on) && !o->known)
    return nai_err_set(err, NAI_EUSAGE, "--fail-on new: needs the list of known findings: --known FILE");
  if (o->update_known && (!o->known || o->stop_after))
    return nai_err_set(err, NAI_EUSAGE, "--update-known needs --known FILE, and no --stage");
  if (args->redact)
    NAI_TRY(check_redact(args, err));
  if (nai_cmd_export_runs(source)) /* a typo should not cost the time of an export */
    NAI_TRY(nai_analyze_check(o, err));
  NAI_TRY(nai_cmd_export_open(&trace, source, args->quiet ? NAI_CMD_EXPORT_QUIET : 0, err));
  if (o->memory_limit_bytes) /* for this process; nsys has had what it needs */
    nai_memory_restrict(o->memory_limit_bytes, o->threads);
  o->trace = trace.path;
  o->note = nai_cmd_note;
  o->hint = args->quiet ? NULL : nai_cmd_note;
  if (args->trim.from_first)
    NAI_TRY(nai_cmd_analyze_place_trim(o, err));
  nai_cmd_confine(o->out, o->stages, args->redact ? args->redact : o->update_known ? o->known : NULL);
  int rc =
      args->redact ? analyze_redacted(result, args, show, err) : nai_analyze(result, o, show ? show_stage : NULL, err);
  if (rc && result->trimmed_all)
    rc = nai_cmd_analyze_explain_trim(o, err);
  o->trace = source;
  return rc;
}

/* Muted findings are accepted: they never fail. */
static bool fails(const struct analyze_args *args, const struct nai_result *result) {
  if (args->fail_on < 0)
    return false;
  if (of_new_only(args->fail_on))
    return result->worst_new >= args->fail_on - NAI_SEVERITIES;
  for (size_t i = 0; i < result->list_count; i++)
    if (result->list[i].severity >= args->fail_on &&
        !(result->list[i].state && strcmp(result->list[i].state, "muted") == 0))
      return true;
  return false;
}

static int write_known(const char *path, const struct nai_result *result, struct nai_err *err) {
  struct nai_cmd_output output;
  NAI_TRY(nai_cmd_output_open(&output, path, NULL, err));
  nai_buf_put(&output.sink.text, nai_buf_str(&result->known_text), result->known_text.len);
  return nai_cmd_output_close(&output, NAI_OK, err);
}

static int run(void *memory, const char *const *operands, size_t count, struct nai_err *err) {
  struct analyze_args *args = memory;
  struct nai_options *o = &args->run;
  NAI_SCOPED(nai_result) result = {.worst = -1};
  char out[4096];
  bool show = !args->quiet && isatty(STDERR_FILENO);
  (void)count;
  tune_allocator();
  o->trim = args->trim.given;
  o->trim_start_ns = args->trim.start_ns;
  o->trim_end_ns = args->trim.end_ns;
  if (!o->out) {
    default_out(out, sizeof out, args->redact ? "redacted" : operands[0]);
    o->out = out;
  }
  if (!o->threads)
    o->threads = nai_cpu_count();
  int rc = analyze(&result, args, operands[0], show, err);
  if (show)
    fprintf(stderr, "\r\033[K");
  if (!rc && o->update_known)
    rc = write_known(o->known, &result, err);
  if (!rc) {
    rc = nai_cmd_analyze_print(args, &result, err);
    if (args->verbose)
      nai_cmd_analyze_print_stages(&result);
  }
  if (rc == NAI_ELIMIT && o->memory_limit_bytes && !strstr(err->msg, "--memory-limit"))
    nai_err_wrap(err, rc, "with --memory-limit %lld MiB", (long long)(o->memory_limit_bytes >> 20));
  return rc ? rc : fails(args, &result);
}

NAI_CLI_COMMAND(
    nai_cmd_analyze, .name = "analyze", .synopsis = "TRACE", .summary = "write a report of a trace (default command)",
    .description =
        "Reads TRACE, an SQLite export of Nsight Systems of any version, and writes report.md, report.html, "
        "report.json, tables/*.csv and intermediate tables into the artifacts directory. An .nsys-rep is exported "
        "first, where there is an nsys, and the export is kept in a cache. A second run on the same trace reuses what is still valid.",
    .examples = "nsys-ai trace.sqlite\n"
                "nsys-ai analyze trace.sqlite --out artifacts/run1\n"
                "nsys-ai analyze trace.sqlite --phase-map vllm --trim 12.5 13.0\n"
                "nsys-ai analyze nightly.sqlite -q --json --fail-on high\n"
                "nsys-ai analyze trace.sqlite --known perf/known.yaml --fail-on new:high",
    .options = options, NAI_CLI_OPERANDS(1, 1, NAI_CMD_SOURCE("TRACE")), .init = init, .run = run)
