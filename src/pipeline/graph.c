/* Brings the tables of nodes into a run: what was made from the same inputs is taken over from the earlier run, the
 * rest is made, side by side where nothing forbids it. Knows nodes, tables and parts of the model, and no name of any.
 */
#include "pipeline/job.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/memory.h"
#include "base/threads.h"

static void job_free(struct job *job) {
  for (int o = 0; o < job->outputs; o++)
    nai_table_free(job->out[o]);
  nai_manifest_free(&job->inputs);
}

uint64_t nai_state_wanted(const struct nai_stage *stages) {
  const struct nai_node *node;
  uint64_t tables = 0;
  for (struct nai_node_walk w = {.stages = stages, .end = NAI_STAGE_COUNT}; (node = nai_next_node(&w));)
    tables |= node->tables | nai_parts_tables(node->parts);
  return tables;
}

/* --- making ----------------------------------------------------------------------------------- */

static int make_tables(struct job *job, struct nai_err *err) {
  const struct nai_node *node = job->node;
  struct nai_state *s = job->s;
  const struct nai_node_io io = {
      .out = job->out, .in = job->in, .model = nai_run_held_model(s->run), .key = job->key, .ctx = s};
  for (int o = 0; !node->creates && o < job->outputs; o++) {
    NAI_TRY(nai_table_new(&job->out[o], node->outputs[o], err));
    nai_table_keep_in(job->out[o], nai_outdir_work(s->home));
  }
  NAI_TRY(nai_node_run(node, io, err));
  for (int o = 0; o < job->outputs; o++) {
    if (!job->out[o])
      continue;
    NAI_TRY(nai_table_check(job->out[o], err));
    job->out[o]->key = job->key;
  }
  return NAI_OK;
}

/* Runs a node. */
static int make(struct job *job, struct nai_err *err) {
  double start = nai_clock_s();
  int rc = make_tables(job, err);
  job->seconds = nai_clock_s() - start;
  for (int o = 0; o < job->outputs; o++)
    job->rows += job->out[o] ? job->out[o]->rows : 0;
  return rc ? nai_err_wrap(err, rc, "%s", job->node->name) : NAI_OK;
}

/* Puts the tables of a node into the run. */
static int hold(struct job *job, struct nai_err *err) {
  for (int o = 0; o < job->outputs; o++) {
    struct nai_table *table = job->out[o];
    job->out[o] = NULL;
    if (table)
      NAI_TRY(nai_run_add(job->s->run, table, err));
  }
  return NAI_OK;
}

/* Puts the tables of a node that has run into the run and its manifest. */
static int keep(struct job *job, struct nai_err *err) {
  struct nai_manifest *m = nai_run_manifest_to_fill(job->s->run);
  nai_job_add_to_manifest(job, &job->inputs, job->inputs.nodes);
  for (int o = 0; o < job->outputs; o++)
    if (job->out[o])
      nai_manifest_add_table(m, job->node->outputs[o]->name, job->node->late ? job->key : nai_table_hash(job->out[o]));
  NAI_TRY(nai_manifest_check(m, err));
  return hold(job, err);
}

/* Says what became of a node: `reason` is why it ran, empty when its tables were there. */
static int report(struct job *job, int stage, struct nai_err *err) {
  struct nai_result *r = job->s->result;
  NAI_TRY(NAI_ROOM(r->nodes, r->node_capacity, r->node_count, &r->arena, err));
  struct nai_node_result *node = &r->nodes[r->node_count++];
  *node = (struct nai_node_result){
      .name = job->node->name, .stage = stage, .ran = !job->taken, .seconds = job->seconds, .rows = job->rows};
  if (!job->taken)
    memcpy(node->reason, job->reason, sizeof node->reason);
  return NAI_OK;
}

static void begin(struct job *job, struct nai_state *s, int stage, const struct nai_node *node) {
  *job = (struct job){.s = s, .node = node, .stage = stage};
  while (node->outputs[job->outputs])
    job->outputs++;
}

/* The tables of a stage that its file is to hold: those that are held and have no file of their own. */
static size_t list_tables(struct nai_table **list, size_t room, const struct nai_state *s, int stage) {
  size_t n = 0;
  for (int i = 0; s->stages[stage].nodes[i]; i++)
    for (int o = 0; s->stages[stage].nodes[i]->outputs[o]; o++) {
      struct nai_table *table = nai_run_find_loaded(s->run, s->stages[stage].nodes[i]->outputs[o]->name);
      if (table && !nai_table_has_file(table) && n < room)
        list[n++] = table;
    }
  return n;
}

/* Writes the file of a stage; where nothing changed, it is the earlier run's. */
static int write_stage(struct nai_state *s, int stage, bool same, struct nai_err *err) {
  struct nai_table *list[JOB_MAX_TABLES];
  const char *name = s->stages[stage].name;
  size_t count = list_tables(list, JOB_MAX_TABLES, s, stage);
  char from[NAME_MAX], to[PATH_MAX];
  struct nai_err ignored;
  if (!count || !s->options->keep_stages)
    return NAI_OK;
  s->stage_files |= 1u << stage;
  snprintf(from, sizeof from, "stages/%.100s.ntab", name);
  if (same && nai_run_stage_is(s->earlier, name, list, count) && nai_run_table_path(to, sizeof to, s->run, name) &&
      nai_fs_link_or_copy_at(nai_run_directory(s->earlier), from, to, &ignored) == NAI_OK)
    return NAI_OK;
  return nai_run_write_stage(s->run, name, list, count, err);
}

/* Its node runs with the inputs it had before. */
static int make_again(struct nai_state *s, int stage, const struct nai_node *node, struct nai_err *err) {
  NAI_SCOPED(job) job = {0};
  begin(&job, s, stage, node);
  if (!nai_job_find_inputs(&job))
    return NAI_OK;
  nai_job_describe(&job);
  nai_job_drop_outputs(&job);
  snprintf(job.reason, sizeof job.reason, "an event table of the earlier run is missing or damaged");
  NAI_TRY(make(&job, err));
  NAI_TRY(report(&job, stage, err));
  return hold(&job, err);
}

/* Makes event tables again whose files turned out to be damaged. */
static int make_events_again(struct nai_state *s, struct nai_err *err) {
  const struct nai_node *node;
  nai_run_drop_model(s->run);
  for (struct nai_node_walk w = {.stages = s->stages, .end = NAI_STAGE_COUNT}; (node = nai_next_node(&w));)
    if (node->late && nai_manifest_node(nai_run_manifest(s->run), node->name)) {
      NAI_TRY(make_again(s, w.stage, node, err));
      NAI_TRY(write_stage(s, w.stage, false, err));
    }
  return NAI_OK;
}

static int check_memory(const struct nai_state *s, uint32_t parts, struct nai_err *err) {
  int64_t need = nai_parts_bytes(nai_run_held_model(s->run), parts), limit = s->options->memory_limit_bytes;
  int64_t allowed = nai_memory_of_cgroup("/proc/self/cgroup", "/sys/fs/cgroup");
  if (need > allowed)
    return nai_err_set(
        err, NAI_ELIMIT,
        "the analysis needs about %lld MiB of memory, the control group of this process (container, job) "
        "may have %lld MiB; give it more, or look at a part of the capture with --trim START END",
        (long long)(need >> 20), (long long)(allowed >> 20));
  if (!limit || need <= limit)
    return NAI_OK;
  return nai_err_set(
      err, NAI_ELIMIT,
      "the analysis needs about %lld MiB of memory, --memory-limit allows %lld MiB; raise it, or look at a "
      "part of the capture with --trim START END",
      (long long)(need >> 20), (long long)(limit >> 20));
}

/* Without --phase-map the one for the program that the ranges show. */
static int choose_phases(struct nai_state *s, struct nai_err *err) {
  const struct nai_table *ranges = nai_run_find_loaded(s->run, nai_nvtx_events_schema.name);
  const char *map = !s->phases && ranges ? nai_workload_phase_map(s->workload, &ranges->strings) : NULL;
  return map ? nai_phase_map_load(&s->phases, NULL, map, err) : NAI_OK;
}

/* The model over the event tables; damaged ones are made again. */
static int open_model(struct nai_state *s, struct nai_err *err) {
  struct nai_model *model;
  int rc = nai_run_open_events(s->run, s->wanted, err);
  NAI_TRY(rc == NAI_ESTALE && s->trace ? make_events_again(s, err) : rc);
  NAI_TRY(choose_phases(s, err));
  const struct nai_model_options options = {.classes = s->classes,
                                            .workload = s->workload,
                                            .gpu_facts = s->gpu_facts,
                                            .flops = &s->flops,
                                            .phases = s->phases,
                                            .phases_chosen = !s->options->phase_map,
                                            .step = s->step,
                                            .comm_names = s->comm_names,
                                            .map_nvtx = s->options->map_nvtx,
                                            .page_events = s->options->page_events,
                                            .worker_count = s->options->threads,
                                            .scratch_dir = nai_outdir_work(s->home)};
  return nai_run_model(&model, s->run, &options, s->wanted, 0, err);
}

static int decide(struct job *job, struct nai_err *err) {
  NAI_LOCKED(&job->s->lock);
  if (job->decided)
    return NAI_OK;
  return nai_job_find_inputs(job)
           ? nai_job_decide(job, err)
           : nai_err_set(err, NAI_EUSAGE, "%s: a node left a table out that it reads", job->node->name);
}

/* Brings a job's tables into the run: a task of the flow. The lock is for the run, its manifest and its tables. */
static int bring(void *ctx, int task, struct nai_err *err) {
  (void)task;
  struct job *job = ctx;
  NAI_TRY(decide(job, err));
  if (job->taken)
    return NAI_OK;
  NAI_TRY(make(job, err));
  NAI_LOCKED(&job->s->lock);
  return keep(job, err);
}

/* --- a stage ---------------------------------------------------------------------------------- */

/* Brings in the tables of the jobs that are on their way, with the parts of the model they need. */
static int bring_all(struct job_set *set, struct nai_err *err) {
  NAI_SCOPED(nai_flow) flow = {0};
  struct nai_run *run = set->s->run;
  uint32_t done[NAI_PART_COUNT];
  NAI_FREED struct job **order = calloc((size_t)set->count, sizeof(struct job *));
  NAI_TRY(nai_memory_check(order, err));
  for (int p = 0; p < NAI_PART_COUNT; p++)
    done[p] = NAI_FLOW_END;
  const uint32_t parts = set->parts ? set->parts | set->ahead : 0;
  if (set->parts || set->tables) {
    NAI_TRY(open_model(set->s, err));
    NAI_TRY(check_memory(set->s, parts, err));
    NAI_TRY(nai_model_plan(nai_run_held_model(run), &flow, parts, done, err));
  }
  nai_job_set_plan(&flow, set, bring, order, done);
  NAI_TRY(nai_flow_run(&flow, set->s->options->threads, err));
  if (parts)
    nai_model_built(nai_run_held_model(run), parts);
  return NAI_OK;
}

/* How many are not decided on. */
static int count_left(const struct job_set *set) {
  int left = 0;
  for (int i = 0; i < set->count; i++)
    left += !set->jobs[i].decided;
  return left;
}

static int run_all(struct job_set *set, struct nai_err *err) {
  for (int before = INT_MAX, left = set->count; left && left < before;) {
    bool any = false;
    before = left;
    set->parts = 0;
    set->tables = 0;
    NAI_TRY(nai_job_set_choose(set, err));
    for (int i = 0; i < set->count; i++)
      any |= set->jobs[i].coming;
    if (any)
      NAI_TRY(bring_all(set, err));
    for (int i = 0; i < set->count; i++)
      set->jobs[i].coming = false;
    left = count_left(set);
  }
  return NAI_OK;
}

static void job_set_free(struct job_set *set) {
  for (int i = 0; i < set->count; i++)
    job_free(&set->jobs[i]);
  free(set->jobs);
}

/* Parts that later stages need. With an earlier run their nodes may turn out not to run. */
static uint32_t parts_ahead(const struct nai_state *s, int stage) {
  const struct nai_node *node;
  uint32_t parts = 0;
  struct nai_node_walk later = {.stages = s->stages, .end = s->last_stage + 1, .stage = stage + 1};
  while (!s->earlier && (node = nai_next_node(&later)))
    parts |= node->parts;
  return parts;
}

int nai_state_stage(struct nai_state *s, int stage, struct nai_err *err) {
  NAI_SCOPED(job_set) set = {.s = s, .ahead = parts_ahead(s, stage)};
  int count = 0;
  while (s->stages[stage].nodes[count])
    count++;
  set.jobs = calloc((size_t)count + 1, sizeof *set.jobs);
  NAI_TRY(nai_memory_check(set.jobs, err));
  for (; set.count < count; set.count++)
    begin(&set.jobs[set.count], s, stage, s->stages[stage].nodes[set.count]);
  NAI_TRY(run_all(&set, err));
  if (count_left(&set))
    return nai_err_set(err, NAI_EUSAGE, "stage %s: %d nodes need tables that nothing makes", s->stages[stage].name,
                       count_left(&set));
  bool same = true;
  for (int i = 0; i < count; i++) {
    same &= set.jobs[i].taken;
    NAI_TRY(report(&set.jobs[i], stage, err));
  }
  return write_stage(s, stage, same, err);
}
