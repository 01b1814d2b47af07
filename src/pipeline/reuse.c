/* What a node is made from, and whether its tables of the earlier run were made from the same: then they are taken
 * over.
 */
#include "pipeline/job.h"

#include "base/fs.h"
#include "base/hash.h"

const char *nai_job_input(const struct job *job, size_t i) {
  const struct nai_schema *report[NAI_REPORT_MAX_TABLES];
  if (job->node->reads_report)
    return i < nai_state_schemas(report, job->s, job->stage) ? report[i]->name : NULL;
  return job->node->inputs && job->node->inputs[i] ? job->node->inputs[i]->name : NULL;
}

bool nai_job_find_inputs(struct job *job) {
  const char *name;
  size_t n = 0;
  for (; n < JOB_MAX_TABLES && (name = nai_job_input(job, n)); n++) {
    job->in[n] = nai_run_find_loaded(job->s->run, name);
    if (!job->in[n])
      return false;
  }
  job->in[n] = NULL;
  return true;
}

/* The key of the nodes that make event tables stands for the content of all of them. */
static void add_events(struct nai_manifest *to, const struct nai_state *s) {
  const struct nai_node *node;
  for (struct nai_node_walk w = {.stages = s->stages, .end = NAI_STAGE_COUNT}; (node = nai_next_node(&w));) {
    const struct nai_manifest_node *made = node->late ? nai_manifest_node(nai_run_manifest(s->run), node->name) : NULL;
    if (made)
      nai_manifest_add_input(to, node->name, made->key);
  }
}

void nai_job_describe(struct job *job) {
  const struct nai_node *node = job->node;
  struct nai_manifest *m = &job->inputs;
  uint32_t config = node->config | nai_parts_config(node->parts);
  nai_manifest_add_node(m, node->name, job->s->stages[job->stage].name);
  nai_manifest_add_input(m, "program", nai_hash_int(nai_hash_of_program(), node->revision));
  for (int i = 0; i < NAI_CONFIG_COUNT; i++)
    if (config & 1u << i)
      nai_manifest_add_input(m, nai_config_name((enum nai_config_item)i), job->s->config[i]);
  if (node->parts || node->tables)
    add_events(m, job->s);
  for (int i = 0; job->in[i]; i++) {
    uint64_t content = 0; /* of a table that the run does not list */
    nai_manifest_table(&content, nai_run_manifest(job->s->run), job->in[i]->schema->name);
    nai_manifest_add_input(m, job->in[i]->schema->name, content);
  }
  job->key = m->node_count ? m->nodes[0].key : 0;
}

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

/* Takes one table of the earlier run over. One that has a file of its own may be large: it is opened when it is needed,
 * but it is as long as it says: nobody may read it before somebody asks for it. */
static int take_table(struct job *job, int output, struct nai_err *err) {
  struct nai_state *s = job->s;
  const struct nai_schema *schema = job->node->outputs[output];
  bool late = job->node->late && &job->node->outputs[output] >= job->node->late;
  char from[NAME_MAX + 16], to[PATH_MAX];
  snprintf(from, sizeof from, "stages/%.200s.ntab", schema->name);
  if (!late || !nai_run_has_file(s->earlier, from))
    return nai_run_take(s->run, s->earlier, schema->name, schema, err);
  const int directory = nai_run_directory(s->earlier);
  if (!nai_run_table_path(to, sizeof to, s->run, schema->name) || !nai_table_is_whole_at(directory, from))
    return NAI_ESTALE;
  return nai_fs_link_or_copy_at(directory, from, to, err);
}

void nai_job_drop_outputs(struct job *job) {
  for (int o = 0; o < job->outputs; o++)
    nai_run_remove(job->s->run, job->node->outputs[o]->name);
}

/* Without the trace nothing else than the earlier run can say what was in it. */
static bool is_given(const struct job *job) { return !job->s->trace && job->stage <= NAI_STAGE_EXTRACT; }

/* Adds the node to the manifest, with what `inputs` says that it is made from. */
void nai_job_add_to_manifest(const struct job *job, const struct nai_manifest *inputs,
                             const struct nai_manifest_node *node) {
  struct nai_manifest *to = nai_run_manifest_to_fill(job->s->run);
  nai_manifest_add_node(to, job->node->name, job->s->stages[job->stage].name);
  for (uint32_t i = node->input; i < node->input_end; i++)
    nai_manifest_add_input(to, nai_manifest_name(inputs, inputs->entries[i].name), inputs->entries[i].hash);
}

/* Takes over all tables of the node, unless one cannot be. */
static int take_tables(struct job *job, const struct nai_manifest_node *old, struct nai_err *err) {
  const struct nai_manifest *earlier = nai_run_manifest(job->s->earlier);
  struct nai_manifest *m = nai_run_manifest_to_fill(job->s->run);
  const struct nai_manifest *inputs = is_given(job) ? earlier : &job->inputs;
  nai_job_add_to_manifest(job, inputs, is_given(job) ? old : inputs->nodes);
  for (uint32_t i = old->table; i < old->table_end; i++) /* they are opened against it */
    nai_manifest_add_table(m, nai_manifest_name(earlier, earlier->entries[i].name), earlier->entries[i].hash);
  for (int o = 0; o < job->outputs; o++) {
    const char *name = job->node->outputs[o]->name;
    if (!nai_run_has(job->s->earlier, name)) /* an optional table that the earlier run was not asked for either */
      continue;
    int rc = take_table(job, o, err);
    if (!rc)
      continue;
    if (rc != NAI_ESTALE && is_given(job))
      return rc;
    snprintf(job->reason, sizeof job->reason, "table %.40s is missing or damaged", name);
    nai_job_drop_outputs(job);
    nai_manifest_remove_last(m);
    return NAI_OK;
  }
  job->taken = true;
  return NAI_OK;
}

/* job->taken when the node's tables are those of the earlier run; else job->reason says why not. */
static int take_over(struct job *job, struct nai_err *err) {
  const struct nai_manifest *earlier = job->s->earlier ? nai_run_manifest(job->s->earlier) : NULL;
  const struct nai_manifest_node *old = earlier ? nai_manifest_node(earlier, job->node->name) : NULL;
  if (old && (old->key == job->key || is_given(job)))
    return take_tables(job, old, err);
  if (old)
    find_reason(job->reason, sizeof job->reason, earlier, old, &job->inputs);
  else
    snprintf(job->reason, sizeof job->reason, earlier && earlier->node_count ? "it is new" : "no earlier run");
  return NAI_OK;
}

int nai_job_decide(struct job *job, struct nai_err *err) {
  job->decided = true;
  nai_job_describe(job);
  NAI_TRY(nai_manifest_check(&job->inputs, err));
  NAI_TRY(take_over(job, err));
  return job->taken || !is_given(job) ? NAI_OK
                                      : nai_err_set(err, NAI_EINPUT, "its events cannot be read: %s", job->reason);
}
