/* nsys-ai analyze: the program's main job. */
#include "features/analyze/analyze.h"

#include "base/memory.h"
#include "base/threads.h"

#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void init(void *memory) {
  struct analyze_args *args = memory;
  nai_options_init(&args->run);
  args->fail_on = -1;
}

static int set_trim(void *memory, const struct nai_cli_option *option, const char *const *values, struct nai_err *err) {
  struct nai_options *run = &((struct analyze_args *)memory)->run;
  run->trim = true;
  return nai_cli_read_stretch(&run->trim_start_ns, &run->trim_end_ns, option, values, err);
}

static const struct nai_cli_type trim = {set_trim, NULL};

#define AT(field) .at = offsetof(struct analyze_args, field)
#define COUNT_AT(field) .count_at = offsetof(struct analyze_args, field)

static const struct nai_cli_option options[] = {
    {.name = "out",
     .letter = 'o',
     .value = "DIR",
     .help = "artifacts directory, replaced as a whole",
     .type = &nai_cli_text,
     AT(run.out),
     .otherwise = "artifacts/NAME of the trace",
     .hint = NAI_CLI_DIRECTORY},
    {.name = "rules",
     .value = "FILE",
     .help = "YAML rules that add to the built-in ones or replace them by id; repeatable",
     .type = &nai_cli_texts,
     AT(run.rules),
     COUNT_AT(run.rule_count),
     .most = NAI_MAX_RULE_FILES,
     .hint = NAI_CLI_FILE,
     .suffixes = "yaml yml"},
    {.name = "metrics",
     .value = "FILE",
     .help = "YAML metrics that add to the built-in ones or replace them by id; repeatable",
     .type = &nai_cli_texts,
     AT(run.metrics),
     COUNT_AT(run.metric_count),
     .most = NAI_MAX_RULE_FILES,
     .hint = NAI_CLI_FILE,
     .suffixes = "yaml yml"},
    {.name = "skill",
     .value = "ID|FILE",
     .help = "a skill whose answer is a table of the report: a built-in one (nsys-ai skill list) or a file; repeatable",
     .type = &nai_cli_texts,
     AT(run.skills),
     COUNT_AT(run.skill_count),
     .most = NAI_MAX_SKILLS,
     .hint = NAI_CLI_FILE,
     .suffixes = "yaml yml"},
    {.name = "skill-param",
     .value = "SKILL.NAME=VALUE",
     .help = "a parameter of such a skill; repeatable",
     .type = &nai_cli_texts,
     AT(run.skill_parameters),
     COUNT_AT(run.skill_parameter_count),
     .most = NAI_MAX_SKILL_PARAMETERS},
    {.name = "templates",
     .value = "DIR",
     .help = "templates (report.md.mustache, report.html) to use in place of the built-in ones",
     .type = &nai_cli_text,
     AT(run.templates),
     .hint = NAI_CLI_DIRECTORY},
    {.name = "phase-map",
     .value = "NAME|FILE",
     .help = "phases by NVTX range name",
     .type = &nai_cli_text,
     AT(run.phase_map),
     .choices = nai_cmd_phase_maps,
     .also = "a YAML or JSON file",
     .hint = NAI_CLI_FILE,
     .suffixes = "yaml yml json"},
    {.name = "phases-json",
     .value = "FILE",
     .help = "alias of --phase-map",
     .type = &nai_cli_text,
     AT(run.phase_map),
     .hint = NAI_CLI_FILE,
     .suffixes = "json",
     .hidden = true},
    {.name = "kernel-classes",
     .value = "FILE",
     .help = "YAML patterns that put kernels into categories, tried before the built-in ones",
     .type = &nai_cli_text,
     AT(run.kernel_classes),
     .hint = NAI_CLI_FILE,
     .suffixes = "yaml yml"},
    {.name = "workload",
     .value = "FILE",
     .help = "YAML patterns that tell what kind of program this is, tried before the built-in ones",
     .type = &nai_cli_text,
     AT(run.workload),
     .hint = NAI_CLI_FILE,
     .suffixes = "yaml yml"},
    {.name = "flops-per-step",
     .value = "X",
     .help = "floating-point operations of one step, all GPUs of the trace together: 1.2e18 (table mfu)",
     .type = &nai_cli_text,
     AT(run.flops.per_step)},
    {.name = "model",
     .value = "KEY=N,...",
     .help = "the same from a transformer's size: params, tokens (per step), layers, hidden, seq, causal",
     .type = &nai_cli_text,
     AT(run.flops.model)},
    {.name = "dtype",
     .value = "TYPE",
     .help = "data type whose peak the operations are compared with: fp16, bf16, tf32, fp32, fp8",
     .type = &nai_cli_text,
     AT(run.flops.dtype),
     .otherwise = "bf16, or fp16 where the GPU has no bf16"},
    {.name = "peak-tflops",
     .value = "X",
     .help = "dense peak of one GPU, 10^12 operations per second",
     .type = &nai_cli_number,
     AT(run.flops.peak_tflops),
     .min = 1,
     .max = 1000000,
     .otherwise = "by the GPU's product name"},
    {.name = "gpu-facts",
     .value = "FILE",
     .help = "YAML limits, links and peaks of GPUs (as rules/gpus.yaml), used before the built-in ones",
     .type = &nai_cli_text,
     AT(run.gpu_facts),
     .hint = NAI_CLI_FILE,
     .suffixes = "yaml yml"},
    {.name = "step",
     .value = "RE",
     .help = "NVTX ranges whose name matches this regular expression (PCRE2) are the steps",
     .type = &nai_cli_text,
     AT(run.step),
     .otherwise = "found by name and contents, where the trace tells"},
    {.name = "gpu",
     .value = "N",
     .help = "look at this GPU only; repeatable; nsys-ai probe TRACE lists them",
     .type = &nai_cli_ints,
     AT(run.gpus),
     COUNT_AT(run.gpu_count),
     .most = NAI_MAX_GPUS,
     .min = -1,
     .max = INT32_MAX},
    {.name = "trim",
     .value = "START END",
     .help = "look at this stretch only, in seconds since session start; events are cut at its edges",
     .type = &trim,
     .min = -1000000000,
     .max = 1000000000,
     .otherwise = "everything; nsys-ai probe TRACE prints the range"},
    {.name = "top",
     .value = "N",
     .help = "rows per table in report.md",
     .type = &nai_cli_int,
     AT(run.top),
     .min = 1,
     .max = 1000},
    {.name = "page-events",
     .value = "N",
     .help = "events that report.html holds one by one; of a longer trace some stretches, and exact sums elsewhere",
     .type = &nai_cli_int,
     AT(run.page_events),
     .min = 100,
     .max = 100000000},
    {.name = "no-nvtx-kernel-map",
     .help = "do not attribute GPU work to NVTX ranges",
     .type = &nai_cli_off,
     AT(run.map_nvtx)},
    {.name = "nvtx-coverage-warn-threshold",
     .value = "X",
     .help = "warn when NVTX ranges cover less than X percent of the kernel time",
     .type = &nai_cli_number,
     AT(run.nvtx_coverage_warn_threshold),
     .min = 0,
     .max = 100,
     .otherwise = "that of rule low-nvtx-coverage"},
    {.name = "fail-on",
     .value = "SEVERITY",
     .help = "exit 1 when there is a finding of this severity or higher",
     .type = &nai_cli_choice,
     AT(fail_on),
     .choices = nai_cmd_severities,
     .otherwise = "never"},
    {.name = "stages",
     .value = "DIR",
     .help = "directory for the intermediate tables, replaced as a whole: what is in --out is for readers only",
     .type = &nai_cli_text,
     AT(run.stages),
     .otherwise = "DIR/stages of --out",
     .hint = NAI_CLI_DIRECTORY},
    {.name = "no-stages",
     .help = "keep no intermediate tables (stages/): a smaller directory, but the next run starts anew",
     .type = &nai_cli_off,
     AT(run.keep_stages)},
    {.name = "stage",
     .value = "NAME",
     .help = "stop after a stage",
     .type = &nai_cli_word,
     AT(run.stop_after),
     .choices = nai_cmd_stages},
    {.name = "memory-limit",
     .value = "SIZE",
     .help = "refuse to start work that needs more memory, for example 4G",
     .type = &nai_cli_bytes,
     AT(run.memory_limit_bytes),
     .otherwise = "none"},
    NAI_CMD_TRACE_OPTIONS(struct analyze_args, run.reader, run.check),
    {.name = "jobs",
     .letter = 'j',
     .value = "N",
     .help = "threads",
     .type = &nai_cli_int,
     AT(run.threads),
     .min = 1,
     .max = 256,
     .otherwise = "all processors"},
    {.name = "quiet", .letter = 'q', .help = "print nothing but errors", .type = &nai_cli_on, AT(quiet)},
    {.name = "verbose",
     .letter = 'v',
     .help = "print what each stage did and how long it took",
     .type = &nai_cli_on,
     AT(verbose)},
    {.name = "json", .help = "print one line of JSON that sums up the run", .type = &nai_cli_on, AT(json)},
    {0},
};

static void show_stage(void *ctx, int stage) {
  (void)ctx;
  fprintf(stderr, "\r\033[Knsys-ai: %s", nai_stages[stage].name);
}

/* artifacts/NAME, the name of the trace without its suffix. */
static void default_out(char *out, size_t size, const char *trace) {
  const char *slash = strrchr(trace, '/'), *name = slash ? slash + 1 : trace, *dot = strrchr(name, '.');
  snprintf(out, size, "artifacts/%.*s", dot && dot > name ? (int)(dot - name) : (int)strlen(name), name);
}

/* The analyses take and give back large arrays in quick succession. Reusing that memory instead of returning it to the
 * system each time saves a third of the page faults; one arena, so that it is shared by all threads. For a process that
 * analyses one trace and ends: memory it has taken is never given back. */
static void tune_allocator(void) {
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
}

static int run(void *memory, const char *const *operands, size_t count, const struct nai_cli_program *program,
               struct nai_err *err) {
  struct analyze_args *args = memory;
  struct nai_result result = {.worst = -1};
  struct nai_cmd_export trace = {0};
  char out[4096];
  bool show = !args->quiet && isatty(STDERR_FILENO);
  (void)count, (void)program;
  tune_allocator();
  if (!args->run.out) {
    default_out(out, sizeof out, operands[0]);
    args->run.out = out;
  }
  if (!args->run.threads)
    args->run.threads = nai_cpu_count();
  if (args->run.memory_limit_bytes)
    nai_memory_restrict(args->run.memory_limit_bytes, args->run.threads);
  int rc = args->run.stages && !args->run.keep_stages
             ? nai_err_set(err, NAI_EUSAGE, "--stages and --no-stages: give one of the two")
             : NAI_OK;
  if (!rc && args->fail_on >= 0 && args->run.stop_after && strcmp(args->run.stop_after, "render") != 0)
    rc = nai_err_set(err, NAI_EUSAGE, "--fail-on needs the findings, which --stage %s does not report: leave one out",
                     args->run.stop_after);
  if (!rc && nai_cmd_export_runs(operands[0])) /* a typo should not cost the time of an export */
    rc = nai_analyze_check(&args->run, err);
  if (!rc)
    rc = nai_cmd_export_open(&trace, operands[0], args->quiet, err);
  if (!rc) {
    args->run.trace = trace.path;
    args->run.note = nai_cmd_note;
    nai_cmd_confine(args->run.out, args->run.stages);
    rc = nai_analyze(&result, &args->run, show ? show_stage : NULL, NULL, err);
    if (rc && result.trimmed_all)
      rc = nai_cmd_analyze_explain_trim(&args->run, err);
  }
  if (show)
    fprintf(stderr, "\r\033[K");
  if (!rc) {
    args->run.trace = operands[0];
    rc = nai_cmd_analyze_print(args, &result, err);
    if (args->verbose)
      nai_cmd_analyze_print_stages(&result);
    if (!rc && args->fail_on >= 0 && result.worst >= args->fail_on)
      rc = 1;
  }
  if (rc == NAI_ELIMIT && args->run.memory_limit_bytes && !strstr(err->msg, "--memory-limit"))
    nai_err_wrap(err, rc, "with --memory-limit %lld MiB", (long long)(args->run.memory_limit_bytes >> 20));
  nai_cmd_export_free(&trace);
  nai_result_free(&result);
  return rc;
}

const struct nai_cli_command nai_cmd_analyze = {
    .name = "analyze",
    .synopsis = "TRACE",
    .summary = "write a report of a trace; the command that is meant when none is named",
    .description =
        "Reads TRACE, an SQLite export of Nsight Systems of any version, and writes report.md, report.html, "
        "report.json, tables/*.csv and intermediate tables into the artifacts directory. An .nsys-rep is exported "
        "first when nsys is "
        "on PATH. A second run on the same trace reuses what is still valid.",
    .examples = "nsys-ai trace.sqlite\n"
                "nsys-ai analyze trace.sqlite --out artifacts/run1\n"
                "nsys-ai analyze trace.sqlite --phase-map vllm --trim 12.5 13.0\n"
                "nsys-ai analyze nightly.sqlite -q --json --fail-on high",
    .options = options,
    .operands =
        (const struct nai_cli_operand[]){{.name = "TRACE", .hint = NAI_CLI_FILE, .suffixes = NAI_CMD_TRACE_SUFFIXES},
                                         {0}},
    .min_operands = 1,
    .max_operands = 1,
    .args_size = sizeof(struct analyze_args),
    .init = init,
    .run = run,
};
