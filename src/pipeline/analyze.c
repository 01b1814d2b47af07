/* The driver of an analysis: configuration, trace, stages, outputs, and putting the whole in place. */
#include "pipeline/analyze.h"

#include "base/fs.h"
#include "base/hash.h"
#include "pipeline/state.h"
#include "rundir/publish.h"
#include "tables/readers.h"
#include "tables/run_info.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void nai_result_free(struct nai_result *result) {
  nai_buf_free(&result->verdict);
  nai_buf_free(&result->summary);
  for (size_t i = 0; i < result->list_count; i++) {
    free(result->list[i].id);
    free(result->list[i].scope);
    free(result->list[i].title);
  }
  free(result->list);
  free(result->nodes);
}

static double now_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Puts nodes and the names of table files into the manifest in the order of the stages, or removes the files where
 * stages are not to be kept. */
static int settle_tables(struct nai_state *s, int last_stage, struct nai_err *err) {
  struct nai_manifest *m = &s->run->manifest;
  uint32_t put = 0;
  for (int stage = 0; stage <= last_stage; stage++)
    for (int n = 0; s->stages[stage].nodes && s->stages[stage].nodes[n]; n++)
      nai_manifest_put_next(m, s->stages[stage].nodes[n]->name, &put);
  for (int stage = 0; stage <= last_stage; stage++)
    for (int n = 0; s->stages[stage].nodes && s->stages[stage].nodes[n]; n++)
      for (const struct nai_schema *const *schema = s->stages[stage].nodes[n]->outputs; *schema; schema++) {
        char path[PATH_MAX], name[128];
        uint64_t content;
        if (!nai_manifest_table(&content, m, (*schema)->name))
          continue;
        snprintf(name, sizeof name, "stages/%s.ntab", (*schema)->name);
        if (s->options->keep_stages)
          nai_manifest_add_file(m, name);
        else if (nai_run_table_path(path, sizeof path, s->run, (*schema)->name))
          unlink(path);
      }
  nai_manifest_add_file(m, NAI_MANIFEST_PATH);
  return nai_manifest_check(m, err);
}

/* What was asked, for whoever opens the run later. */
static int describe_run(struct nai_manifest *m, const struct nai_state *s, struct nai_err *err) {
  m->version = strdup(NAI_VERSION);
  m->trace = strdup(s->trace->file_name);
  int rc = m->version && m->trace ? NAI_OK : nai_err_nomem(err);
  return rc ? rc : nai_options_describe(&m->options, s->options, err);
}

static int write_manifest(const struct nai_outdir *out, const struct nai_manifest *manifest,
                          const struct nai_table *readers, struct nai_err *err) {
  struct nai_buf text = {0};
  char path[PATH_MAX];
  nai_manifest_print(&text, manifest, readers);
  snprintf(path, sizeof path, "%s/" NAI_MANIFEST_PATH, out->work);
  int rc = nai_buf_check(&text, err);
  if (!rc)
    rc = nai_fs_write(path, nai_buf_str(&text), text.len, err);
  nai_buf_free(&text);
  return rc;
}

static int list_outputs(struct nai_manifest *manifest, const struct nai_state *s, struct nai_err *err) {
  for (uint32_t i = 0; i < s->outputs.count; i++)
    nai_manifest_add_file(manifest, nai_strings_get(&s->outputs, i));
  return nai_manifest_check(manifest, err);
}

/* Of a directory with nothing but what is rendered: whose files they are, and of which trace. */
static int write_outputs_manifest(const struct nai_state *s, struct nai_err *err) {
  struct nai_manifest manifest = {.identity = s->run->manifest.identity};
  int rc = describe_run(&manifest, s, err);
  if (!rc)
    rc = list_outputs(&manifest, s, err);
  nai_manifest_add_file(&manifest, NAI_MANIFEST_PATH);
  if (!rc)
    rc = nai_manifest_check(&manifest, err);
  if (!rc)
    rc = write_manifest(&s->out, &manifest, NULL, err);
  nai_manifest_free(&manifest);
  return rc;
}

static int write_manifests(struct nai_state *s, struct nai_err *err) {
  struct nai_manifest *m = &s->run->manifest;
  int rc = s->home == &s->out ? list_outputs(m, s, err) : write_outputs_manifest(s, err);
  if (!s->options->keep_stages)
    nai_manifest_forget_nodes(m);
  return rc ? rc : write_manifest(s->home, m, nai_run_find_loaded(s->run, nai_readers_schema.name), err);
}

static void pass_note(void *ctx, const char *line) {
  const struct nai_state *s = ctx;
  if (s->options->note)
    s->options->note(line);
}

static int open_trace(struct nai_state *s, struct nai_err *err) {
  struct nai_trace_options options = {s->options->reader, s->options->check};
  return nai_trace_open(&s->trace, s->options->trace, &options, err);
}

/* Refuses to replace what is no run by one, and a run's report by the tables of --stages alone. */
static int check_kind(const struct nai_outdir *out, const struct nai_state *s, const char *path, const char *option,
                      struct nai_err *err) {
  struct nai_manifest earlier;
  if (!out->exists)
    return NAI_OK;
  int rc = nai_manifest_read(&earlier, out->earlier, err);
  bool run = earlier.identity || earlier.node_count || !earlier.ours;
  if (!rc && !run)
    rc = nai_err_set(err, NAI_EUSAGE,
                     "%s \"%s\" holds what another command wrote, which would be lost; give another directory", option,
                     path);
  if (!rc && out == &s->apart && nai_manifest_lists(&earlier, "report.json"))
    rc = nai_err_set(err, NAI_EUSAGE, "%s \"%s\" holds a report, which would be lost; give another directory", option,
                     path);
  nai_manifest_free(&earlier);
  return rc;
}

/* Begins to write a directory, with a place for its manifest. */
static int open_outdir(struct nai_outdir *out, struct nai_state *s, const char *path, const char *option,
                       struct nai_err *err) {
  const struct nai_outdir_calls calls = {.list = nai_publish_list,
                                         .note = pass_note,
                                         .ctx = s,
                                         .option = option,
                                         .apart = out == &s->out ? NULL : &s->out};
  char stages[PATH_MAX];
  int rc = nai_outdir_begin(out, path, &calls, err);
  if (!rc)
    rc = check_kind(out, s, path, option, err);
  if (rc)
    return rc;
  snprintf(stages, sizeof stages, "%s/stages", out->work);
  return nai_fs_mkdir(stages, err);
}

static int open_outdirs(struct nai_state *s, struct nai_err *err) {
  int rc = open_outdir(&s->out, s, s->options->out, "--out", err);
  s->home = s->options->stages ? &s->apart : &s->out;
  if (!rc && s->options->stages)
    rc = open_outdir(&s->apart, s, s->options->stages, "--stages", err);
  if (!rc && asprintf(&s->stages_dir, "%s/stages", s->home->work) < 0) {
    s->stages_dir = NULL;
    rc = nai_err_nomem(err);
  }
  return rc;
}

static int open_runs(struct nai_state *s, struct nai_err *err) {
  int rc = nai_run_create(&s->run, s->home->work, err);
  if (!rc && s->home->exists)
    rc = nai_run_open_at(&s->earlier, s->home->earlier, s->home->target, err);
  if (rc == NAI_EINPUT && s->run) /* whatever lies there cannot be reused */
    rc = NAI_OK;
  if (!rc)
    rc = nai_state_identify(s, err);
  return rc ? rc : describe_run(&s->run->manifest, s, err);
}

static int last_stage(const struct nai_state *s) {
  for (int i = 0; s->options->stop_after && i < NAI_STAGE_COUNT; i++)
    if (strcmp(s->options->stop_after, s->stages[i].name) == 0)
      return i;
  return NAI_STAGE_COUNT - 1;
}

/* A stretch of time without any event: a mistake in the option, not a trace with nothing in it. */
static int check_trim(const struct nai_state *s, struct nai_err *err) {
  static const int counts[] = {RUN_INFO_kernel_count, RUN_INFO_memory_operation_count, RUN_INFO_graph_envelope_count,
                               RUN_INFO_api_call_count, RUN_INFO_nvtx_range_count};
  const struct nai_table *run = nai_run_find_loaded(s->run, "run_info");
  if (!s->options->trim || !run)
    return NAI_OK;
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
    if (nai_get_i64(run, 0, counts[i]) > 0)
      return NAI_OK;
  s->result->trimmed_all = true;
  return nai_err_set(err, NAI_EUSAGE, "--trim: no GPU work, CUDA call or range lies in that time");
}

static int run_stages(struct nai_state *s, nai_progress_fn *progress, void *progress_ctx, struct nai_err *err) {
  int last = last_stage(s), rc = NAI_OK;
  for (int stage = 0; stage <= last && !rc; stage++) {
    double start = now_seconds();
    if (progress)
      progress(progress_ctx, stage);
    rc = s->stages[stage].nodes ? nai_state_stage(s, stage, err) : nai_state_render(s, err);
    if (!rc && stage == NAI_STAGE_ANALYZE)
      rc = check_trim(s, err);
    s->result->seconds[stage] = now_seconds() - start;
  }
  if (!rc)
    rc = nai_trace_unchanged(s->trace, err);
  if (!rc)
    rc = settle_tables(s, last, err);
  if (!rc && s->options->keep_stages)
    rc = nai_state_write_stamp(s, err);
  if (!rc)
    rc = write_manifests(s, err);
  if (!rc && s->home != &s->out)
    rc = nai_outdir_commit(s->home, err);
  return rc ? rc : nai_outdir_commit(&s->out, err);
}

static void free_state(struct nai_state *s) {
  nai_run_close(s->run);
  nai_run_close(s->earlier);
  nai_phase_map_free(s->phases);
  nai_kernel_classes_free(s->classes);
  nai_workload_patterns_free(s->workload);
  nai_gpu_facts_free(s->gpu_facts);
  nai_patterns_free(s->step);
  nai_rules_free(s->rules);
  nai_metrics_free(s->metrics);
  nai_state_skills_free(&s->skills);
  nai_templates_free(s->templates);
  nai_outdir_end(&s->apart);
  nai_outdir_end(&s->out);
  nai_strings_free(&s->outputs);
  nai_trace_close(s->trace);
  free(s->stages_dir);
}

int nai_analyze_stages(struct nai_result *result, const struct nai_options *options, const struct nai_stage *stages,
                       nai_progress_fn *progress, void *progress_ctx, struct nai_err *err) {
  struct nai_state state = {.options = options,
                            .stages = stages,
                            .result = result,
                            .wanted = nai_state_wanted(stages),
                            .lock = PTHREAD_MUTEX_INITIALIZER};
  *result = (struct nai_result){.worst = -1};
  int rc = nai_state_config(&state, err);
  if (!rc)
    rc = open_trace(&state, err);
  if (!rc)
    rc = open_outdirs(&state, err);
  if (!rc)
    rc = open_runs(&state, err);
  if (!rc)
    rc = run_stages(&state, progress, progress_ctx, err);
  free_state(&state);
  return rc;
}

int nai_analyze(struct nai_result *result, const struct nai_options *options, nai_progress_fn *progress,
                void *progress_ctx, struct nai_err *err) {
  return nai_analyze_stages(result, options, nai_stages, progress, progress_ctx, err);
}

int nai_analyze_check(const struct nai_options *options, struct nai_err *err) {
  struct nai_state state = {.options = options, .stages = nai_stages};
  int rc = nai_state_config(&state, err);
  free_state(&state);
  return rc;
}
