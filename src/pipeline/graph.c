/* Brings the tables of nodes into a run: what was made from the same inputs is taken over from the earlier run, the
 * rest is made, side by side where nothing forbids it. Knows nodes, tables and parts of the model, and no name of any.
 */
#include "pipeline/job.h"

#include "base/array.h"
#include "base/memory.h"
#include "table/hash.h"

#include <limits.h>
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

/* Runs a node and writes its tables: a task of the flow. */
static int make(void *ctx, int task, struct nai_err *err) {
  (void)task;
  struct job *job = ctx;
  const struct nai_node *node = job->node;
  struct nai_state *s = job->s;
  struct nai_node_io io = {job->out, job->in, s->run->model, job->key, s};
  int rc = NAI_OK;
  for (int o = 0; !rc && !node->creates && o < job->outputs; o++) {
    rc = nai_table_new(&job->out[o], node->outputs[o], err);
    if (!rc)
      nai_table_keep_in(job->out[o], s->home->work);
  }
  if (!rc)
    rc = node->run(&io, err);
  for (int o = 0; !rc && o < job->outputs; o++)
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
    int failed = job->out[o] ? nai_run_hold(job->s->run, job->out[o], err) : NAI_OK;
    job->out[o] = NULL;
    rc = rc ? rc : failed;
  }
  return rc;
}

/* Puts the tables of a node that has run into the run and its manifest. */
static int keep(struct job *job, struct nai_err *err) {
  struct nai_manifest *m = &job->s->run->manifest;
  static const struct nai_manifest_node none;
  job_repeat_manifest(m, &job->inputs, &job->inputs, &none);
  for (int o = 0; o < job->outputs; o++)
    if (job->out[o])
      nai_manifest_add_table(m, job->node->outputs[o]->name, job->node->late ? job->key : nai_table_hash(job->out[o]));
  int rc = nai_manifest_check(m, err);
  int failed = hold(job, err);
  return rc ? rc : failed;
}

/* Says what became of a node. */
static int report(struct job *job, int stage, const char *reason, struct nai_err *err) {
  struct nai_result *r = job->s->result;
  if (!nai_array_room(&r->nodes, &r->node_capacity, r->node_count, sizeof *r->nodes))
    return nai_err_nomem(err);
  struct nai_node_result *node = &r->nodes[r->node_count++];
  *node = (struct nai_node_result){.name = job->node->name, .stage = stage, .ran = reason != NULL};
  snprintf(node->reason, sizeof node->reason, "%s", reason ? reason : "");
  return NAI_OK;
}

static void begin(struct job *job, struct nai_state *s, const struct nai_node *node) {
  *job = (struct job){.s = s, .node = node};
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
      begin(&job, s, s->stages[stage].nodes[n]);
      if (!job.node->late || !nai_manifest_node(&s->run->manifest, job.node->name) || !job_find_inputs(&job, stage))
        continue;
      job_describe(&job);
      job_drop_outputs(&job);
      rc = report(&job, stage, "an event table of the earlier run is missing or damaged", err);
      if (!rc)
        rc = make(&job, 0, err);
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

/* Makes the tables of jobs that stand side by side, with the parts of the model they need. */
static int make_all(struct job *const *jobs, int count, struct nai_state *s, struct nai_err *err) {
  struct nai_flow flow = {0};
  uint32_t parts = 0, done[NAI_PART_COUNT];
  uint64_t tables = 0;
  int rc = NAI_OK;
  for (int i = 0; i < count; i++) {
    parts |= jobs[i]->node->parts;
    tables |= jobs[i]->node->tables;
  }
  if (parts || tables) {
    rc = open_model(s, err);
    if (!rc)
      rc = check_memory(s, parts, err);
    if (!rc)
      rc = nai_model_plan(s->run->model, &flow, parts, done, err);
  }
  for (int i = 0; !rc && i < count; i++) {
    uint32_t task = nai_flow_add(&flow, make, jobs[i], 0), needed = nai_parts_needed(jobs[i]->node->parts);
    for (int p = 0; p < NAI_PART_COUNT; p++)
      if (needed & 1u << p && done[p] != NAI_FLOW_END)
        nai_flow_after(&flow, task, done[p]);
  }
  if (!rc)
    rc = nai_flow_run(&flow, s->options->threads, err);
  if (!rc && parts)
    nai_model_built(s->run->model, parts);
  nai_flow_free(&flow);
  for (int i = 0; i < count; i++) {
    int failed = rc ? NAI_OK : keep(jobs[i], err);
    rc = rc ? rc : failed;
  }
  return rc;
}

/* --- a stage ---------------------------------------------------------------------------------- */

/* The costly ones first. */
static int compare_jobs(const void *a, const void *b) {
  const struct job *const *x = a, *const *y = b;
  return (*y)->node->cost != (*x)->node->cost ? (*y)->node->cost - (*x)->node->cost : (*x < *y ? -1 : 1);
}

/* Brings in the tables of all nodes whose inputs are there by now; *left = nodes that still wait. */
static int advance(struct job *jobs, int count, struct job **stale, int stage, int *left, struct nai_err *err) {
  int stale_count = 0, rc = NAI_OK;
  *left = 0;
  for (int i = 0; !rc && i < count; i++) {
    struct job *job = &jobs[i];
    char reason[96];
    if (job->done)
      continue;
    if (!job_find_inputs(job, stage)) {
      ++*left;
      continue;
    }
    job->done = true;
    job_describe(job);
    rc = nai_manifest_check(&job->inputs, err);
    bool taken = !rc && job_take_over(job, reason, sizeof reason);
    if (!rc && !taken)
      stale[stale_count++] = job;
    if (!rc)
      rc = report(job, stage, taken ? NULL : reason, err);
  }
  if (rc || !stale_count)
    return rc;
  qsort(stale, (size_t)stale_count, sizeof(struct job *), compare_jobs);
  return make_all(stale, stale_count, jobs->s, err);
}

int nai_state_stage(struct nai_state *s, int stage, struct nai_err *err) {
  int count = 0, left, before = INT_MAX, rc = NAI_OK;
  while (s->stages[stage].nodes[count])
    count++;
  struct job *jobs = calloc((size_t)count + 1, sizeof *jobs), **stale = calloc((size_t)count + 1, sizeof(struct job *));
  if (!jobs || !stale)
    rc = nai_err_nomem(err);
  for (int i = 0; !rc && i < count; i++)
    begin(&jobs[i], s, s->stages[stage].nodes[i]);
  for (left = count; !rc && left && left < before;) {
    before = left;
    rc = advance(jobs, count, stale, stage, &left, err);
  }
  if (!rc && left)
    rc = nai_err_set(err, NAI_EUSAGE, "stage %s: %d nodes need tables that nothing makes", s->stages[stage].name, left);
  for (int i = 0; jobs && i < count; i++)
    free_job(&jobs[i]);
  free(jobs);
  free(stale);
  return rc;
}
