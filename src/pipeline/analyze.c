/* The driver of an analysis: configuration, trace, stages, outputs, and putting the whole in place. */
#include "pipeline/analyze.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/text.h"
#include "pipeline/state.h"
#include "rundir/publish.h"
#include "tables/book.h"
#include "tables/known_findings.h"
#include "tables/nvtx_phases.h"
#include "tables/readers.h"
#include "tables/run_info.h"
#include "tables/step_search.h"
#include "tables/viewer_data.h"

#include <sys/stat.h>
#include <unistd.h>

void nai_result_free(struct nai_result *result) {
  nai_buf_free(&result->verdict);
  nai_buf_free(&result->summary);
  nai_buf_free(&result->known_text);
  nai_arena_free(&result->arena);
}

/* --- which trace it is -------------------------------------------------------------------------
 * stages/trace-stamp: what the trace's file was like when its content was hashed, and that hash. A later run on the
 * same file need not read all of it again. The only file of a run that differs between copies of a trace. */

static int identify(struct nai_state *s, struct nai_err *err) {
  if (!s->earlier || !nai_run_recall(&s->trace->identity, s->earlier, nai_trace_stamp(s->trace)))
    NAI_TRY(nai_trace_identify(s->trace, s->options->threads, err));
  s->config[NAI_CONFIG_TRACE] = nai_hash_text(nai_hash_int(0, (int64_t)s->trace->identity), s->trace->file_name);
  nai_run_manifest_to_fill(s->run)->identity = s->trace->identity;
  return NAI_OK;
}

static int write_stamp(struct nai_state *s, struct nai_err *err) {
  char path[PATH_MAX], text[64];
  int len =
      snprintf(text, sizeof text, "%016" PRIx64 " %016" PRIx64 "\n", nai_trace_stamp(s->trace), s->trace->identity);
  snprintf(path, sizeof path, "%s/" NAI_STAMP_PATH, nai_outdir_work(s->home));
  nai_manifest_add_file(nai_run_manifest_to_fill(s->run), NAI_STAMP_PATH);
  return nai_fs_write(path, text, (size_t)len, err);
}

/* --- manifests -------------------------------------------------------------------------------- */

/* Lists stages/NAME.ntab, if it is there, or removes it where stages are not to be kept. */
static int settle_file(struct nai_state *s, const char *name, struct nai_err *err) {
  char path[PATH_MAX], file[128];
  struct stat st;
  if (!nai_run_table_path(path, sizeof path, s->run, name))
    return NAI_OK;
  if (lstat(path, &st) != 0)
    return nai_fs_is_absent(errno) ? NAI_OK : nai_err_sys(err, NAI_EIO, errno, "cannot examine \"%s\"", path);
  snprintf(file, sizeof file, "stages/%.100s.ntab", name);
  if (s->options->keep_stages)
    nai_manifest_add_file(nai_run_manifest_to_fill(s->run), file);
  else
    unlink(path);
  return NAI_OK;
}

/* Puts nodes and the names of table files into the manifest in the order of the stages. */
static int settle_tables(struct nai_state *s, struct nai_err *err) {
  struct nai_manifest *m = nai_run_manifest_to_fill(s->run);
  const struct nai_node_walk all = {.stages = s->stages, .end = s->last_stage + 1};
  const struct nai_node *node;
  uint32_t put = 0;
  for (struct nai_node_walk w = all; (node = nai_next_node(&w));)
    nai_manifest_put_next(m, node->name, &put);
  for (int i = 0; i <= s->last_stage; i++)
    if (s->stage_files & 1u << i)
      NAI_TRY(settle_file(s, s->stages[i].name, err));
  for (struct nai_node_walk w = all; (node = nai_next_node(&w));)
    for (const struct nai_schema *const *schema = node->late; schema && *schema; schema++)
      NAI_TRY(settle_file(s, (*schema)->name, err));
  nai_manifest_add_file(m, NAI_MANIFEST_PATH);
  return nai_manifest_check(m, err);
}

static int add_texts(struct nai_strings *to, const struct nai_strings *from, struct nai_err *err) {
  for (uint32_t i = 0; i < from->count; i++)
    NAI_TRY(nai_strings_put(NULL, to, nai_strings_get(from, i), err));
  return NAI_OK;
}

/* Of a run that is analyzed again: what it was asked. */
static int describe_again(struct nai_manifest *m, const struct nai_manifest *earlier, struct nai_err *err) {
  m->trace = earlier->trace;
  m->identity = earlier->identity;
  NAI_TRY(add_texts(&m->tables, &earlier->tables, err));
  return add_texts(&m->options, &earlier->options, err);
}

/* What was asked, and of what, for whoever opens the run later. */
static int describe_run(struct nai_manifest *m, const struct nai_state *s, struct nai_err *err) {
  m->version = nai_version_of_program();
  if (!s->trace)
    return describe_again(m, nai_run_manifest(s->earlier), err);
  m->trace = s->trace->file_name;
  for (int t = 0; t < s->trace->table_count; t++)
    NAI_TRY(nai_strings_put(NULL, &m->tables, s->trace->tables[t].name, err));
  return nai_options_describe(&m->options, s->options, err);
}

static void list_outputs(struct nai_manifest *manifest, const struct nai_state *s) {
  for (uint32_t i = 0; i < s->outputs.count; i++)
    nai_manifest_add_file(manifest, nai_strings_get(&s->outputs, i));
}

/* Of a directory with nothing but what is rendered: whose files they are, and of which trace. */
static int write_outputs_manifest(const struct nai_state *s, struct nai_err *err) {
  NAI_SCOPED(nai_manifest) manifest = {.identity = s->trace->identity};
  NAI_TRY(describe_run(&manifest, s, err));
  list_outputs(&manifest, s);
  nai_manifest_add_file(&manifest, NAI_MANIFEST_PATH);
  return nai_publish_manifest(s->out, &manifest, NULL, err);
}

static int write_manifests(struct nai_state *s, struct nai_err *err) {
  struct nai_manifest *m = nai_run_manifest_to_fill(s->run);
  if (s->home == s->out)
    list_outputs(m, s);
  else
    NAI_TRY(write_outputs_manifest(s, err));
  if (!s->options->keep_stages)
    nai_manifest_forget_nodes(m);
  return nai_publish_manifest(s->home, m, nai_run_find_loaded(s->run, nai_readers_schema.name), err);
}

/* --- directories and runs --------------------------------------------------------------------- */

static int open_trace(struct nai_state *s, struct nai_err *err) {
  struct nai_trace_options options = {s->options->reader, s->options->check};
  return nai_trace_open(&s->trace, s->options->trace, &options, err);
}

/* What is no run would be replaced by one. */
static const char *loss_of_others(const struct nai_manifest *earlier, const void *ctx) {
  (void)ctx;
  return earlier->identity || earlier->node_count || !earlier->ours ? NULL : "what another command wrote";
}

/* The same, or a run's report by the tables of --stages alone. */
static const char *loss_of_report(const struct nai_manifest *earlier, const void *ctx) {
  const char *others = loss_of_others(earlier, ctx);
  return others ? others : nai_manifest_lists(earlier, "report.json") ? "a report" : NULL;
}

static int open_outdirs(struct nai_state *s, struct nai_err *err) {
  struct nai_outdir_calls calls = {.list = nai_publish_list, .note = s->options->note, .option = "--out"};
  NAI_TRY(nai_publish_open(&s->out, s->options->out, &calls, loss_of_others, NULL, err));
  s->home = s->out;
  if (s->options->stages) {
    calls.option = "--stages";
    calls.apart = s->out;
    NAI_TRY(nai_publish_open(&s->apart, s->options->stages, &calls, loss_of_report, NULL, err));
    s->home = s->apart;
  }
  snprintf(s->stages_dir, sizeof s->stages_dir, "%s/stages", nai_outdir_work(s->home));
  return NAI_OK;
}

static int open_runs(struct nai_state *s, struct nai_err *err) {
  int there = nai_outdir_earlier(s->home);
  NAI_TRY(nai_run_create(&s->run, nai_outdir_work(s->home), err));
  int rc = there < 0 ? NAI_OK : nai_run_open_at(&s->earlier, there, nai_outdir_target(s->home), err);
  if (rc && rc != NAI_EINPUT) /* that: whatever lies there cannot be reused */
    return rc;
  NAI_TRY(identify(s, err));
  return describe_run(nai_run_manifest_to_fill(s->run), s, err);
}

static int find_last_stage(const struct nai_state *s) {
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

static bool maps_a_phase(const struct nai_table *phases) {
  for (int64_t row = 0; row < phases->rows; row++)
    if (nai_get_i64(phases, row, NVTX_PHASES_range_count) > 0 &&
        strcmp(nai_get_str(phases, row, NVTX_PHASES_phase), "unmapped") != 0)
      return true;
  return false;
}

/* What was asked for and is about nothing in this trace: a mistake, perhaps, but the report stands. */
static void tell_unmatched(const struct nai_state *s) {
  const struct nai_options *o = s->options;
  const struct nai_table *search = nai_run_find_loaded(s->run, "step_search");
  const struct nai_table *phases = nai_run_find_loaded(s->run, "nvtx_phases");
  if (!o->hint)
    return;
  if (o->step && search && nai_find_str(search, STEP_SEARCH_method, "user") < 0)
    o->hint("--step: no NVTX range of the trace matches; the report has no steps");
  if (o->phase_map && phases && !maps_a_phase(phases))
    o->hint("--phase-map: no NVTX range of the trace is in one of its phases");
}

static int run_stage(struct nai_state *s, int stage, struct nai_err *err) {
  NAI_TRY(s->stages[stage].nodes ? nai_state_stage(s, stage, err) : nai_state_render(s, err));
  if (stage == NAI_STAGE_ANALYZE)
    tell_unmatched(s);
  return stage == NAI_STAGE_ANALYZE ? check_trim(s, err) : NAI_OK;
}

static int run_stages(struct nai_state *s, nai_progress_fn *progress, struct nai_err *err) {
  s->last_stage = find_last_stage(s);
  for (int stage = 0; stage <= s->last_stage; stage++) {
    double start = nai_clock_s();
    if (progress)
      progress(stage);
    NAI_TRY(run_stage(s, stage, err));
    s->result->seconds[stage] = nai_clock_s() - start;
  }
  if (s->trace)
    NAI_TRY(nai_trace_unchanged(s->trace, err));
  NAI_TRY(settle_tables(s, err));
  if (s->options->keep_stages && s->trace)
    NAI_TRY(write_stamp(s, err));
  NAI_TRY(write_manifests(s, err));
  if (s->home != s->out)
    NAI_TRY(nai_outdir_commit(s->home, err));
  return nai_outdir_commit(s->out, err);
}

static void nai_state_free(struct nai_state *s) {
  nai_run_close(s->run);
  nai_run_close(s->earlier);
  nai_patterns_free(s->phases);
  nai_kernel_classes_free(s->classes);
  nai_workload_patterns_free(s->workload);
  nai_gpu_facts_free(s->gpu_facts);
  nai_patterns_free(s->step);
  nai_patterns_free(s->comm_names);
  nai_rules_free(s->rules);
  nai_metrics_free(s->metrics);
  nai_known_free(&s->known);
  nai_state_skills_free(&s->skills);
  nai_templates_free(s->templates);
  nai_outdir_end(s->apart);
  nai_outdir_end(s->out);
  nai_strings_free(&s->outputs);
  nai_trace_close(s->trace);
}

int nai_analyze_stages(struct nai_result *result, const struct nai_options *options, const struct nai_stage *stages,
                       nai_progress_fn *progress, struct nai_err *err) {
  NAI_SCOPED(nai_state)
  state = {.options = options,
           .stages = stages,
           .result = result,
           .wanted = nai_state_wanted(stages),
           .lock = PTHREAD_MUTEX_INITIALIZER};
  *result = (struct nai_result){.worst = -1, .worst_new = -1};
  NAI_TRY(nai_state_config(&state, err));
  NAI_TRY(open_trace(&state, err));
  NAI_TRY(open_outdirs(&state, err));
  NAI_TRY(open_runs(&state, err));
  return run_stages(&state, progress, err);
}

int nai_analyze(struct nai_result *result, const struct nai_options *options, nai_progress_fn *progress,
                struct nai_err *err) {
  return nai_analyze_stages(result, options, nai_stages, progress, err);
}

/* --- a run without its trace -------------------------------------------------------------------- */

/* Options of a run, as its manifest has them: what says which events are wanted was done when those were read. A file
 * has to be given again. */
static int repeat_option(struct nai_options *as, const char *option, struct nai_err *err) {
  static const char step[] = "--step ", metrics[] = "--metrics ";
  bool known = nai_text_begins(option, NAI_WORDS("--trim ", "--gpu ", "--show-output"));
  for (size_t i = 0; i < as->metric_count && strncmp(option, metrics, strlen(metrics)) == 0; i++)
    known |= strcmp(nai_fs_basename(as->metrics[i]), option + strlen(metrics)) == 0;
  if (strncmp(option, step, strlen(step)) == 0)
    as->step = option + strlen(step);
  else if (strcmp(option, "--no-nvtx-kernel-map") == 0)
    as->map_nvtx = false;
  else if (!known)
    return nai_err_set(err, NAI_EINPUT, "it was analyzed with %.200s: analyze its trace again", option);
  return NAI_OK;
}

static int analyze_again(struct nai_state *s, struct nai_err *err) {
  NAI_TRY(nai_state_config(s, err));
  NAI_TRY(open_outdirs(s, err));
  NAI_TRY(nai_run_create(&s->run, nai_outdir_work(s->home), err));
  NAI_TRY(describe_run(nai_run_manifest_to_fill(s->run), s, err));
  return run_stages(s, NULL, err);
}

int nai_analyze_again(bool *made, struct nai_run *run, const struct nai_options *options, struct nai_err *err) {
  NAI_SCOPED(nai_result) result = {.worst = -1, .worst_new = -1};
  struct nai_options as = *options;
  const struct nai_strings *asked = &nai_run_manifest(run)->options;
  for (uint32_t i = 0; i < asked->count; i++)
    NAI_TRY(repeat_option(&as, nai_strings_get(asked, i), err));
  NAI_SCOPED(nai_state)
  s = {.options = &as,
       .stages = nai_stages,
       .result = &result,
       .wanted = nai_state_wanted(nai_stages),
       .earlier = run,
       .lock = PTHREAD_MUTEX_INITIALIZER};
  int rc = analyze_again(&s, err);
  s.earlier = NULL; /* which is the caller's */
  *made = false;
  for (uint32_t i = 0; i < result.node_count; i++)
    *made |= result.nodes[i].ran;
  return rc == NAI_ESTALE ? err->code = NAI_EINPUT : rc;
}

/* --- a run that lacks its reports --------------------------------------------------------------- */

/* All tables of a report, by the run's own list: those of skills have no other. */
static int open_report(struct nai_state *s, struct nai_err *err) {
  const struct nai_schema *list[NAI_REPORT_MAX_TABLES];
  const struct nai_table *table;
  const struct nai_manifest *m = nai_run_manifest(s->run);
  const struct nai_manifest_node *skills = nai_manifest_node(m, nai_stages[NAI_STAGE_SKILLS].name);
  size_t count = 0;
  for (uint32_t i = skills ? skills->table : 0; skills && i < skills->table_end && count <= NAI_MAX_SKILLS; i++) {
    const char *name = nai_manifest_name(m, m->entries[i].name);
    NAI_TRY(nai_run_table_if_any(&table, s->run, name, nai_book_find_named(name), err));
    s->skills.outputs[count++] = table->schema;
  }
  count = nai_state_schemas(list, s, NAI_STAGE_COUNT);
  list[count++] = &nai_viewer_data_schema;
  list[count++] = &nai_readers_schema;
  for (size_t i = 0; i < count; i++)
    NAI_TRY(nai_run_table_if_any(&table, s->run, list[i]->name,
                                 nai_run_find_loaded(s->run, list[i]->name) ? NULL : list[i], err));
  return NAI_OK;
}

/* In the order that the run had: what was rendered, and what was unpacked. */
static int settle_again(struct nai_state *s, struct nai_err *err) {
  struct nai_manifest *m = nai_run_manifest_to_fill(s->run);
  const struct nai_table *readers = nai_run_find_loaded(s->run, nai_readers_schema.name);
  NAI_SCOPED(nai_strings) had = m->files;
  char path[PATH_MAX];
  m->files = (struct nai_strings){0};
  for (uint32_t i = 0; i < had.count; i++) {
    const char *file = nai_strings_get(&had, i);
    if (strcmp(file, NAI_MANIFEST_PATH) == 0 ||
        (nai_fs_join(path, sizeof path, nai_outdir_work(s->out), file) && nai_fs_exists(path)))
      nai_manifest_add_file(m, file);
  }
  list_outputs(m, s);
  return nai_publish_manifest(s->out, m, readers, err);
}

int nai_render_run(struct nai_run *run, const struct nai_options *options, struct nai_err *err) {
  NAI_SCOPED(nai_result) result = {.worst = -1, .worst_new = -1};
  struct nai_options as = *options;
  as.known = nai_run_has(run, nai_known_findings_schema.name) ? "" : NULL;
  NAI_SCOPED(nai_state) s = {.options = &as, .stages = nai_stages, .result = &result};
  NAI_TRY(nai_state_templates(&s, err));
  NAI_TRY(open_outdirs(&s, err));
  NAI_TRY(nai_run_unpack(run, nai_outdir_work(s.out), err));
  s.run = run;
  int rc = open_report(&s, err);
  if (!rc)
    rc = nai_state_render(&s, err);
  if (!rc)
    rc = settle_again(&s, err);
  s.run = NULL; /* which is the caller's */
  s.skills = (struct nai_state_skills){0};
  return rc ? rc : nai_outdir_commit(s.out, err);
}

int nai_analyze_check(const struct nai_options *options, struct nai_err *err) {
  NAI_SCOPED(nai_state) state = {.options = options, .stages = nai_stages};
  return nai_state_config(&state, err);
}
