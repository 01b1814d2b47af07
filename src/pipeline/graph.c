/* Brings the tables of nodes into a run: what was made from the same inputs is taken over from the earlier run, the
 * rest is made, side by side where nothing forbids it. Knows nodes, tables and parts of the model, and no name of any.
 */
#include "pipeline/job.h"

#include "base/array.h"
#include "base/memory.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void free_job(struct job *job) {
  for (int o = 0; o < job->outputs; o++)
    nai_table_free(job->out[o]);
  nai_manifest_free(&job->inputs);
}

uint64_t nai_state_wanted(const struct nai_stage *stages) {
  uint64_t tables = 0;
  for (int s = 0; s < NAI_STAGE_COUNT; s++)
    for (int i = 0; stages[s].nodes && stages[s].nodes[i]; i++)
      tables |= stages[s].nodes[i]->tables | nai_parts_tables(stages[s].nodes[i]->parts);
  return tables;
}

/* --- making ----------------------------------------------------------------------------------- */

/* Runs a node and writes its tables. */
static int make(struct job *job, struct nai_err *err) {
  const struct nai_node *node = job->node;
  struct nai_state *s = job->s;
  const struct nai_node_io io = {.out = job->out, .in = job->in, .model = s->run->model, .key = job->key, .ctx = s};
  int rc = NAI_OK;
  for (int o = 0; !rc && !node->creates && o < job->outputs; o++) {
    rc = nai_table_new(&job->out[o], node->outputs[o], err);
    if (!rc)
      nai_table_keep_in(job->out[o], s->home->work);
  }
  if (!rc)
    rc = nai_node_run(node, io, err);
  for (int o = 0; !rc && node->creates && o < job->outputs; o++)
    rc = job->out[o] ? nai_table_check(job->out[o], err) : NAI_OK;
  for (int o = 0; !rc && s->options->keep_stages && o < job->outputs; o++) {
    char path[PATH_MAX];
    if (!job->out[o] || job->out[o]->backing)
      continue;
    rc = nai_run_table_path(path, sizeof path, s->run, node->outputs[o]->name)
           ? nai_table_write(job->out[o], path, job->key, err)
           : nai_err_set(err, NAI_EIO, "the path of table \"%s\" is too long", node->outputs[o]->name);
  }
  return rc ? nai_err_wrap(err, rc, "%s", node->name) : NAI_OK;
}

/* Puts the tables of a node into the run. */
static int hold(struct job *job, struct nai_err *err) {
  int rc = NAI_OK;
  for (int o = 0; o < job->outputs; o++) {
    int failed = job->out[o] ? nai_run_add(job->s->run, job->out[o], err) : NAI_OK;
    job->out[o] = NULL;
    rc = rc ? rc : failed;
  }
  return rc;
}

/* Puts the tables of a node that has run into the run and its manifest. */
static int keep(struct job *job, struct nai_err *err) {
  struct nai_manifest *m = &job->s->run->manifest;
  static const struct nai_manifest_node none;
  nai_job_repeat_manifest(m, &job->inputs, &job->inputs, &none);
  for (int o = 0; o < job->outputs; o++)
    if (job->out[o])
      nai_manifest_add_table(m, job->node->outputs[o]->name, job->node->late ? job->key : nai_table_hash(job->out[o]));
  int rc = nai_manifest_check(m, err);
  int failed = hold(job, err);
  return rc ? rc : failed;
}

/* Says what became of a node: `reason` is why it ran, empty when its tables were there. */
static int report(struct job *job, int stage, struct nai_err *err) {
  struct nai_result *r = job->s->result;
  if (!nai_array_room(&r->nodes, &r->node_capacity, r->node_count, sizeof *r->nodes))
    return nai_err_nomem(err);
  struct nai_node_result *node = &r->nodes[r->node_count++];
  *node = (struct nai_node_result){.name = job->node->name, .stage = stage, .ran = !job->taken};
  if (!job->taken)
    memcpy(node->reason, job->reason, sizeof node->reason);
  return NAI_OK;
}

static void begin(struct job *job, struct nai_state *s, int stage, const struct nai_node *node) {
  *job = (struct job){.s = s, .node = node, .stage = stage};
  while (node->outputs[job->outputs])
    job->outputs++;
}

/* Makes event tables again whose files turned out to be damaged: their nodes run with the inputs they had before. */
static int make_events_again(struct nai_state *s, struct nai_err *err) {
  int rc = NAI_OK;
  nai_run_drop_model(s->run);
  for (int stage = 0; !rc && stage < NAI_STAGE_COUNT; stage++)
    for (int n = 0; !rc && s->stages[stage].nodes && s->stages[stage].nodes[n]; n++) {
      struct job job;
      begin(&job, s, stage, s->stages[stage].nodes[n]);
      if (!job.node->late || !nai_manifest_node(&s->run->manifest, job.node->name) || !nai_job_find_inputs(&job))
        continue;
      nai_job_describe(&job);
      nai_job_drop_outputs(&job);
      snprintf(job.reason, sizeof job.reason, "an event table of the earlier run is missing or damaged");
      rc = report(&job, stage, err);
      if (!rc)
        rc = make(&job, err);
      if (!rc)
        rc = hold(&job, err);
      free_job(&job);
    }
  return rc;
}

static int check_memory(const struct nai_state *s, uint32_t parts, struct nai_err *err) {
  int64_t need = nai_parts_bytes(s->run->model, parts), limit = s->options->memory_limit_bytes;
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

/* The model over the event tables; damaged ones are made again. */
static int open_model(struct nai_state *s, struct nai_err *err) {
  const struct nai_model_options options = {.classes = s->classes,
                                            .workload = s->workload,
                                            .gpu_facts = s->gpu_facts,
                                            .flops = &s->flops,
                                            .phases = s->phases,
                                            .step = s->step,
                                            .map_nvtx = s->options->map_nvtx,
                                            .page_events = s->options->page_events,
                                            .worker_count = s->options->threads,
                                            .scratch_dir = s->home->work};
  struct nai_model *model;
  int rc = nai_run_open_events(s->run, s->wanted, err);
  if (rc == NAI_ESTALE)
    rc = make_events_again(s, err);
  return rc ? rc : nai_run_model(&model, s->run, &options, s->wanted, 0, err);
}

/* Brings a job's tables into the run: a task of the flow. The lock is for the run, its manifest and its tables. */
static int bring(void *ctx, int task, struct nai_err *err) {
  (void)task;
  struct job *job = ctx;
  int rc = NAI_OK;
  pthread_mutex_lock(&job->s->lock);
  if (!job->decided)
    rc = nai_job_find_inputs(job)
           ? nai_job_decide(job, err)
           : nai_err_set(err, NAI_EUSAGE, "%s: a node left a table out that it reads", job->node->name);
  pthread_mutex_unlock(&job->s->lock);
  if (rc || job->taken)
    return rc;
  rc = make(job, err);
  if (rc)
    return rc;
  pthread_mutex_lock(&job->s->lock);
  rc = keep(job, err);
  pthread_mutex_unlock(&job->s->lock);
  return rc;
}

/* --- a stage ---------------------------------------------------------------------------------- */

/* Brings in the tables of the jobs that are on their way, with the parts of the model they need. */
static int bring_all(struct job_set *set, struct nai_err *err) {
  struct nai_flow flow = {0};
  uint32_t done[NAI_PART_COUNT];
  struct job **order = calloc((size_t)set->count, sizeof(struct job *));
  int rc = order ? NAI_OK : nai_err_nomem(err);
  for (int p = 0; p < NAI_PART_COUNT; p++)
    done[p] = NAI_FLOW_END;
  if (!rc && (set->parts || set->tables)) {
    rc = open_model(set->s, err);
    if (!rc)
      rc = check_memory(set->s, set->parts, err);
    if (!rc)
      rc = nai_model_plan(set->s->run->model, &flow, set->parts, done, err);
  }
  if (!rc) {
    nai_job_set_plan(&flow, set, bring, order, done);
    rc = nai_flow_run(&flow, set->s->options->threads, err);
  }
  if (!rc && set->parts)
    nai_model_built(set->s->run->model, set->parts);
  nai_flow_free(&flow);
  free(order);
  return rc;
}

static int run_all(struct job_set *set, int *left, struct nai_err *err) {
  int before = INT_MAX, rc = NAI_OK;
  for (*left = set->count; !rc && *left && *left < before;) {
    before = *left;
    set->parts = 0;
    set->tables = 0;
    rc = nai_job_set_choose(set, err);
    bool any = false;
    for (int i = 0; i < set->count; i++)
      any |= set->jobs[i].coming;
    if (!rc && any)
      rc = bring_all(set, err);
    *left = 0;
    for (int i = 0; i < set->count; i++) {
      set->jobs[i].coming = false;
      *left += !set->jobs[i].decided;
    }
  }
  return rc;
}

int nai_state_stage(struct nai_state *s, int stage, struct nai_err *err) {
  struct job_set set = {.s = s};
  int left = 0, rc = NAI_OK;
  while (s->stages[stage].nodes[set.count])
    set.count++;
  set.jobs = calloc((size_t)set.count + 1, sizeof *set.jobs);
  if (!set.jobs)
    return nai_err_nomem(err);
  for (int i = 0; i < set.count; i++)
    begin(&set.jobs[i], s, stage, s->stages[stage].nodes[i]);
  rc = run_all(&set, &left, err);
  if (!rc && left)
    rc = nai_err_set(err, NAI_EUSAGE, "stage %s: %d nodes need tables that nothing makes", s->stages[stage].name, left);
  for (int i = 0; i < set.count; i++) {
    rc = rc ? rc : report(&set.jobs[i], stage, err);
    free_job(&set.jobs[i]);
  }
  free(set.jobs);
  return rc;
}
