/* nsys-ai analyze: the program's main job. */
#include "cmd/cmd.h"

#include "base/fmt.h"
#include "base/text.h"
#include "base/threads.h"
#include "cmd/setters.h"
#include "pipeline/run.h"
#include "render/escape.h"
#include "render/json.h"
#include "rules/rules.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int set_out(struct nai_args *a, const char *const *v, struct nai_err *err) {
  a->run.out = v[0];
  return *v[0] ? NAI_OK : nai_err_set(err, NAI_EUSAGE, "--out needs a directory name");
}

static int set_rules(struct nai_args *a, const char *const *v, struct nai_err *err) {
  if (a->run.rule_count == NAI_MAX_RULE_FILES)
    return nai_err_set(err, NAI_EUSAGE, "--rules: at most %d files", NAI_MAX_RULE_FILES);
  a->run.rules[a->run.rule_count++] = v[0];
  return NAI_OK;
}

static int set_templates(struct nai_args *a, const char *const *v, struct nai_err *err) {
  (void)err;
  a->run.templates = v[0];
  return NAI_OK;
}

static int set_phase_map(struct nai_args *a, const char *const *v, struct nai_err *err) {
  (void)err;
  a->run.phase_map = v[0];
  return NAI_OK;
}

static int set_classes(struct nai_args *a, const char *const *v, struct nai_err *err) {
  (void)err;
  a->run.kernel_classes = v[0];
  return NAI_OK;
}

static int set_gpu(struct nai_args *a, const char *const *v, struct nai_err *err) {
  if (a->run.gpu_count == NAI_MAX_GPUS)
    return nai_err_set(err, NAI_EUSAGE, "--gpu: at most %d GPUs", NAI_MAX_GPUS);
  return nai_set_int(&a->run.gpus[a->run.gpu_count++], "--gpu", v[0], -1, INT32_MAX, err);
}

static int set_trim(struct nai_args *a, const char *const *v, struct nai_err *err) {
  int rc = nai_set_seconds(&a->run.trim_start_ns, "--trim", v[0], err);
  if (!rc)
    rc = nai_set_seconds(&a->run.trim_end_ns, "--trim", v[1], err);
  a->run.trim = true;
  if (!rc && a->run.trim_end_ns <= a->run.trim_start_ns)
    rc = nai_err_set(err, NAI_EUSAGE, "--trim %s %s: the end must lie after the start", v[0], v[1]);
  return rc;
}

static int set_top(struct nai_args *a, const char *const *v, struct nai_err *err) {
  int64_t top = 0;
  int rc = nai_set_int(&top, "--top", v[0], 1, 1000, err);
  a->run.top = (int)top;
  return rc;
}

static int set_no_map(struct nai_args *a, const char *const *v, struct nai_err *err) {
  (void)v, (void)err;
  a->run.map_nvtx = false;
  return NAI_OK;
}

static int set_threshold(struct nai_args *a, const char *const *v, struct nai_err *err) {
  return nai_set_number(&a->run.nvtx_coverage_warn_threshold, "--nvtx-coverage-warn-threshold", v[0], 0, 100, err);
}

static int set_fail_on(struct nai_args *a, const char *const *v, struct nai_err *err) {
  a->fail_on = nai_severity_from_name(v[0]);
  return a->fail_on < 0 ? nai_err_set(err, NAI_EUSAGE, "--fail-on %.60s: expected info, low, medium or high", v[0])
                        : NAI_OK;
}

static int set_no_stages(struct nai_args *a, const char *const *v, struct nai_err *err) {
  (void)v, (void)err;
  a->run.keep_stages = false;
  return NAI_OK;
}

static int set_stage(struct nai_args *a, const char *const *v, struct nai_err *err) {
  const char *names[NAI_STAGE_COUNT];
  for (int i = 0; i < NAI_STAGE_COUNT; i++) {
    names[i] = nai_stage_name(i);
    if (strcmp(names[i], v[0]) == 0)
      a->run.stop_after = names[i];
  }
  if (a->run.stop_after)
    return NAI_OK;
  const char *near = nai_text_suggest(v[0], names, NAI_STAGE_COUNT);
  return nai_err_set(err, NAI_EUSAGE,
                     "--stage %.60s: expected probe, extract, analyze, recommend, timeline or render%s%s%s", v[0],
                     near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

static int set_memory_limit(struct nai_args *a, const char *const *v, struct nai_err *err) {
  return nai_set_bytes(&a->run.memory_limit_bytes, "--memory-limit", v[0], err);
}

static const struct nai_option options[] = {
    {"out", 'o', "DIR", "artifacts directory (default: artifacts/NAME of the trace); replaced as a whole", set_out,
     false},
    {"rules", 0, "FILE", "YAML rules that add to the built-in ones or replace them by id; repeatable", set_rules,
     false},
    {"templates", 0, "DIR", "templates (report.md.mustache, report.html) to use in place of the built-in ones",
     set_templates, false},
    {"phase-map", 0, "NAME|FILE",
     "phases by NVTX range name: vllm, vllm-stages, sglang, tensorrt-llm, pytorch-ddp, pytorch-fsdp, megatron, "
     "jax, inference, or a YAML or JSON file",
     set_phase_map, false},
    {"phases-json", 0, "FILE", "alias of --phase-map", set_phase_map, true},
    {"kernel-classes", 0, "FILE", "YAML patterns that put kernels into categories, tried before the built-in ones",
     set_classes, false},
    {"gpu", 0, "N", "look at this GPU only; repeatable", set_gpu, false},
    {"trim", 0, "START END", "look at this stretch only, in seconds since session start; events are cut at its edges",
     set_trim, false},
    {"top", 0, "N", "rows per table in report.md (default 10)", set_top, false},
    {"no-nvtx-kernel-map", 0, NULL, "do not attribute GPU work to NVTX ranges", set_no_map, false},
    {"nvtx-coverage-warn-threshold", 0, "X",
     "warn when NVTX ranges cover less than X percent of the kernel time (default 70)", set_threshold, false},
    {"fail-on", 0, "SEVERITY", "exit 1 when there is a finding of this severity or higher: info, low, medium, high",
     set_fail_on, false},
    {"no-stages", 0, NULL, "keep no intermediate tables", set_no_stages, false},
    {"stage", 0, "NAME", "stop after a stage: probe, extract, analyze, recommend, timeline, render", set_stage, false},
    {"memory-limit", 0, "SIZE", "refuse to start work that needs more memory, for example 4G", set_memory_limit, false},
    NAI_TRACE_OPTIONS,
    {"jobs", 'j', "N", "threads (default: all processors)", nai_set_jobs, false},
    {"quiet", 'q', NULL, "print nothing but errors", nai_set_quiet, false},
    {"verbose", 'v', NULL, "print what each stage did and how long it took", nai_set_verbose, false},
    {"json", 0, NULL, "print one line of JSON that sums up the run", nai_set_json, false},
    {"help", 'h', NULL, "this text", nai_set_help, false},
    {0},
};

static void show_stage(void *ctx, int stage) {
  (void)ctx;
  fprintf(stderr, "\r\033[Knsys-ai: %s", nai_stage_name(stage));
}

static void print_summary(const struct nai_args *args, const struct nai_result *result) {
  struct nai_buf line = {0};
  if (args->json) {
    struct nai_json json;
    nai_json_init(&json, &line, false);
    nai_json_begin_object(&json, NAI_JSON_INLINE);
    nai_json_put_text(&json, "schema_version", "1.0");
    nai_json_put_text(&json, "trace", args->run.trace);
    nai_json_put_text(&json, "out", args->run.out);
    nai_json_put_text(&json, "severity", result->worst < 0 ? NULL : nai_severity_name(result->worst));
    nai_json_put_text(&json, "verdict", nai_buf_str(&result->verdict));
    nai_json_key(&json, "findings");
    nai_json_begin_object(&json, NAI_JSON_INLINE);
    for (int i = 3; i >= 0; i--)
      nai_json_put_int(&json, nai_severity_name(i), result->findings[i]);
    nai_json_end(&json);
    nai_json_end(&json);
    nai_json_finish(&json);
    puts(nai_buf_str(&line));
  } else if (!args->quiet && !args->run.stop_after) {
    static const char *const files[] = {"report.md", "report.html", "report.json", "tables/"};
    nai_escape_terminal(&line, nai_buf_str(&result->verdict), result->verdict.len);
    nai_buf_puts(&line, "\n");
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
      nai_buf_puts(&line, "\n  ");
      nai_escape_terminal(&line, args->run.out, strlen(args->run.out)); /* its default is the name of the trace */
      nai_buf_printf(&line, "/%s", files[i]);
    }
    puts(nai_buf_str(&line));
  }
  nai_buf_free(&line);
}

static void print_stages(const struct nai_result *result) {
  for (int i = 0; i < NAI_STAGE_COUNT; i++)
    fprintf(stderr, "nsys-ai: %-10s %8.1f ms%s\n", nai_stage_name(i), result->seconds[i] * 1e3,
            result->reused[i] ? "  reused" : "");
}

/* artifacts/NAME, the name of the trace without its suffix. */
static void default_out(char *out, size_t size, const char *trace) {
  const char *slash = strrchr(trace, '/'), *name = slash ? slash + 1 : trace, *dot = strrchr(name, '.');
  snprintf(out, size, "artifacts/%.*s", dot && dot > name ? (int)(dot - name) : (int)strlen(name), name);
}

static void print_note(const char *line) { fprintf(stderr, "nsys-ai: %s\n", line); }

static int run(struct nai_args *args, struct nai_err *err) {
  struct nai_result result = {.worst = -1};
  struct nai_export trace = {0};
  char out[4096];
  bool show = !args->quiet && isatty(STDERR_FILENO);
  if (!args->run.out) {
    default_out(out, sizeof out, args->operands[0]);
    args->run.out = out;
  }
  if (!args->run.threads)
    args->run.threads = nai_cpu_count();
  int rc = nai_run_check(&args->run, err); /* a typo should not cost the time of an export */
  if (!rc)
    rc = nai_export_open(&trace, args->operands[0], args->quiet, err);
  if (!rc) {
    args->run.trace = trace.path;
    args->run.note = print_note;
    rc = nai_run(&result, &args->run, show ? show_stage : NULL, NULL, err);
  }
  if (show)
    fprintf(stderr, "\r\033[K");
  if (!rc) {
    args->run.trace = args->operands[0];
    print_summary(args, &result);
    if (args->verbose)
      print_stages(&result);
    if (args->fail_on >= 0 && result.worst >= args->fail_on)
      rc = 1;
  }
  nai_export_free(&trace);
  nai_result_free(&result);
  return rc;
}

const struct nai_command nai_cmd_analyze = {
    .name = "analyze",
    .operands = "TRACE",
    .summary = "write a report of a trace",
    .details =
        "Reads TRACE, an SQLite export of Nsight Systems of any version, and writes report.md, report.html, report.json, "
        "tables/*.csv and intermediate tables into the artifacts directory. An .nsys-rep is exported first when nsys is "
        "on PATH. A second run on the same trace reuses what is still valid.",
    .examples = "nsys-ai analyze trace.sqlite --out artifacts/run1\n"
                "nsys-ai analyze trace.sqlite --phase-map vllm --trim 12.5 13.0\n"
                "nsys-ai analyze nightly.sqlite -q --json --fail-on high",
    .options = options,
    .min_operands = 1,
    .max_operands = 1,
    .run = run,
};
