/* Brings the tables of nodes into a run: what was made from the same inputs is taken over from the earlier run, the
 * rest is made, side by side where nothing forbids it. Knows nodes, tables and parts of the model, and no name of any.
 */
#include "pipeline/state.h"

#include "base/array.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/memory.h"
#include "table/hash.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TABLES = NAI_REPORT_MAX_TABLES };

/* A node on its way. */
struct job {
  struct nai_state *s;
  const struct nai_node *node;
  int outputs;
  struct nai_table *out[MAX_TABLES];
  const struct nai_table *in[MAX_TABLES + 1];
  struct nai_manifest inputs; /* the node with what it is made from */
  uint64_t key;
  bool done;
};

static void free_job(struct job *job) {
  for (int o = 0; o < job->outputs; o++)
    nai_table_free(job->out[o]);
  nai_manifest_free(&job->inputs);
}

/* --- what a node is made from ----------------------------------------------------------------- */

uint64_t nai_state_wanted(const struct nai_stage *stages) {
  uint64_t tables = 0;
  for (int s = 0; s < NAI_STAGE_COUNT; s++)
    for (int i = 0; stages[s].nodes && stages[s].nodes[i]; i++)
      tables |= stages[s].nodes[i]->tables | nai_parts_tables(stages[s].nodes[i]->parts);
  return tables;
}

static const char *input_name(const struct nai_node *node, const struct nai_schema *const *report, size_t report_count,
                              size_t i) {
  if (node->reads_report)
    return i < report_count ? report[i]->name : NULL;
  return node->inputs ? node->inputs[i] : NULL;
}

/* Fills job->in. False while a table is not there yet. */
static bool find_inputs(struct job *job, int stage) {
  const struct nai_schema *report[NAI_REPORT_MAX_TABLES];
  size_t report_count = job->node->reads_report ? nai_report_schemas(report, stage) : 0;
  const char *name;
  size_t n = 0;
  for (; n < MAX_TABLES && (name = input_name(job->node, report, report_count, n)); n++) {
    job->in[n] = nai_run_held(job->s->run, name);
    if (!job->in[n])
      return false;
  }
  job->in[n] = NULL;
  return true;
}

/* The key of the nodes that make event tables stands for the content of all of them. */
static void add_events(struct nai_manifest *to, const struct nai_state *s) {
  for (int i = 0; i < NAI_STAGE_COUNT; i++)
    for (int n = 0; s->stages[i].nodes && s->stages[i].nodes[n]; n++) {
      const struct nai_node *node = s->stages[i].nodes[n];
      const struct nai_manifest_node *made = node->late ? nai_manifest_node(&s->run->manifest, node->name) : NULL;
      if (made)
        nai_manifest_add_input(to, node->name, made->key);
    }
}

static void describe(struct job *job) {
  const struct nai_node *node = job->node;
  struct nai_manifest *m = &job->inputs;
  uint32_t config = node->config | nai_parts_config(node->parts);
  nai_manifest_add_node(m, node->name);
  nai_manifest_add_input(m, "program", nai_hash_int(nai_hash_of_program(), node->revision));
  for (int i = 0; i < NAI_CONFIG_COUNT; i++)
    if (config & 1u << i)
      nai_manifest_add_input(m, nai_config_name((enum nai_config_item)i), job->s->config[i]);
  if (node->parts || node->tables)
    add_events(m, job->s);
  for (int i = 0; job->in[i]; i++) {
    uint64_t content = 0;
    if (!nai_manifest_table(&content, &job->s->run->manifest, job->in[i]->schema->name))
      content = 0;
    nai_manifest_add_input(m, job->in[i]->schema->name, content);
  }
  job->key = m->node_count ? m->nodes[0].key : 0;
}

/* --- taking over ------------------------------------------------------------------------------ */

/* What differs between a node's inputs then and now. */
static void find_reason(char *reason, size_t size, const struct nai_manifest *then, const struct nai_manifest_node *old,
                        const struct nai_manifest *now) {
  const struct nai_manifest_node *node = &now->nodes[0];
  for (uint32_t i = 0; i < node->input_end - node->input; i++) {
    const struct nai_manifest_entry *a = &now->entries[node->input + i], *b = &then->entries[old->input + i];
    const char *name = nai_manifest_name(now, a->name);
    if (old->input + i < old->input_end && strcmp(nai_manifest_name(then, b->name), name) == 0 && a->hash == b->hash)
      continue;
    snprintf(reason, size, "%.80s changed", name);
    return;
  }
  snprintf(reason, size, "it needs less than before");
}

/* Takes one table of the earlier run over. */
static int take_table(struct job *job, int output, struct nai_err *err) {
  struct nai_state *s = job->s;
  const struct nai_schema *schema = job->node->outputs[output];
  char from[NAME_MAX + 16], to[PATH_MAX];
  const struct nai_table *table;
  snprintf(from, sizeof from, "stages/%.200s.ntab", schema->name);
  if (!nai_run_table_path(to, sizeof to, s->run, schema->name))
    return NAI_ESTALE;
  int rc = nai_fs_link_or_copy_at(s->earlier->directory, from, to, err);
  return rc || (job->node->late && &job->node->outputs[output] >= job->node->late)
           ? rc
           : nai_run_table(&table, s->run, schema->name, schema, err);
}

static void drop_outputs(struct job *job) {
  for (int o = 0; o < job->outputs; o++)
    nai_run_drop(job->s->run, job->node->outputs[o]->name);
}

/* Adds the node with the tables it made then to the manifest. */
static void repeat_manifest(struct nai_manifest *to, const struct nai_manifest *inputs,
                            const struct nai_manifest *tables, const struct nai_manifest_node *made) {
  const struct nai_manifest_node *node = &inputs->nodes[0];
  nai_manifest_add_node(to, nai_manifest_name(inputs, node->name));
  for (uint32_t i = node->input; i < node->input_end; i++)
    nai_manifest_add_input(to, nai_manifest_name(inputs, inputs->entries[i].name), inputs->entries[i].hash);
  for (uint32_t i = made->table; i < made->table_end; i++)
    nai_manifest_add_table(to, nai_manifest_name(tables, tables->entries[i].name), tables->entries[i].hash);
}

/* True when the node's tables are those of the earlier run; else `reason` says why not. */
static bool take_over(struct job *job, char *reason, size_t size) {
  struct nai_run *earlier = job->s->earlier;
  struct nai_err ignored;
  const struct nai_manifest_node *old = earlier ? nai_manifest_node(&earlier->manifest, job->node->name) : NULL;
  if (!old) {
    snprintf(reason, size, earlier && earlier->manifest.node_count ? "it is new" : "no earlier run");
    return false;
  }
  if (old->key != job->key) {
    find_reason(reason, size, &earlier->manifest, old, &job->inputs);
    return false;
  }
  repeat_manifest(&job->s->run->manifest, &job->inputs, &earlier->manifest, old); /* tables are opened against it */
  for (int o = 0; o < job->outputs; o++) {
    uint64_t content;
    if (!nai_manifest_table(&content, &earlier->manifest, job->node->outputs[o]->name))
      continue; /* an optional table that the earlier run was not asked for either */
    if (take_table(job, o, &ignored) != NAI_OK) {
      snprintf(reason, size, "table %.40s is missing or damaged", job->node->outputs[o]->name);
      drop_outputs(job);
      nai_manifest_remove_last(&job->s->run->manifest);
      return false;
    }
  }
  return true;
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
  repeat_manifest(m, &job->inputs, &job->inputs, &none);
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
      if (!job.node->late || !nai_manifest_node(&s->run->manifest, job.node->name) || !find_inputs(&job, stage))
        continue;
      describe(&job);
      drop_outputs(&job);
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
    if (!find_inputs(job, stage)) {
      ++*left;
      continue;
    }
    job->done = true;
    describe(job);
    rc = nai_manifest_check(&job->inputs, err);
    bool taken = !rc && take_over(job, reason, sizeof reason);
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
