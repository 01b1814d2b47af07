/* What a node is made from, and whether its tables of the earlier run were made from the same: then they are taken
 * over.
 */
#include "pipeline/job.h"

#include "base/fs.h"
#include "base/hash.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

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
  for (int i = 0; i < NAI_STAGE_COUNT; i++)
    for (int n = 0; s->stages[i].nodes && s->stages[i].nodes[n]; n++) {
      const struct nai_node *node = s->stages[i].nodes[n];
      const struct nai_manifest_node *made = node->late ? nai_manifest_node(&s->run->manifest, node->name) : NULL;
      if (made)
        nai_manifest_add_input(to, node->name, made->key);
    }
}

void nai_job_describe(struct job *job) {
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

void nai_job_drop_outputs(struct job *job) {
  for (int o = 0; o < job->outputs; o++)
    nai_run_remove(job->s->run, job->node->outputs[o]->name);
}

/* Adds the node with the tables it made then to the manifest. */
void nai_job_repeat_manifest(struct nai_manifest *to, const struct nai_manifest *inputs,
                             const struct nai_manifest *tables, const struct nai_manifest_node *made) {
  const struct nai_manifest_node *node = &inputs->nodes[0];
  nai_manifest_add_node(to, nai_manifest_name(inputs, node->name));
  for (uint32_t i = node->input; i < node->input_end; i++)
    nai_manifest_add_input(to, nai_manifest_name(inputs, inputs->entries[i].name), inputs->entries[i].hash);
  for (uint32_t i = made->table; i < made->table_end; i++)
    nai_manifest_add_table(to, nai_manifest_name(tables, tables->entries[i].name), tables->entries[i].hash);
}

/* True when the node's tables are those of the earlier run; else job->reason says why not. */
static bool take_over(struct job *job) {
  char *reason = job->reason;
  const size_t size = sizeof job->reason;
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
  nai_job_repeat_manifest(&job->s->run->manifest, &job->inputs, &earlier->manifest,
                          old); /* tables are opened against it */
  for (int o = 0; o < job->outputs; o++) {
    uint64_t content;
    if (!nai_manifest_table(&content, &earlier->manifest, job->node->outputs[o]->name))
      continue; /* an optional table that the earlier run was not asked for either */
    if (take_table(job, o, &ignored) != NAI_OK) {
      snprintf(reason, size, "table %.40s is missing or damaged", job->node->outputs[o]->name);
      nai_job_drop_outputs(job);
      nai_manifest_remove_last(&job->s->run->manifest);
      return false;
    }
  }
  return true;
}

int nai_job_decide(struct job *job, struct nai_err *err) {
  job->decided = true;
  nai_job_describe(job);
  int rc = nai_manifest_check(&job->inputs, err);
  job->taken = !rc && take_over(job);
  return rc;
}
