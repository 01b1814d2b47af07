/* A node whose tables are brought into a run. Internal to src/pipeline. */
#ifndef NAI_PIPELINE_JOB_H
#define NAI_PIPELINE_JOB_H

#include "pipeline/state.h"

enum { JOB_MAX_TABLES = NAI_REPORT_MAX_TABLES };

/* A node on its way. */
struct job {
  struct nai_state *s;
  const struct nai_node *node;
  int outputs;
  struct nai_table *out[JOB_MAX_TABLES];
  const struct nai_table *in[JOB_MAX_TABLES + 1];
  struct nai_manifest inputs; /* the node with what it is made from */
  uint64_t key;
  bool done;
};

/* reuse.c */
/* Fills job->in. False while a table is not there yet. */
bool job_find_inputs(struct job *job, int stage);
/* Fills job->inputs and job->key, from what is in job->in. */
void job_describe(struct job *job);
/* True when the node's tables are those of the earlier run, and in this run now; else `reason` says why not. */
bool job_take_over(struct job *job, char *reason, size_t size);
/* Takes the node's tables out of the run. */
void job_drop_outputs(struct job *job);
/* Adds the node of `inputs` to a manifest, with the tables that `tables` says were made. */
void job_repeat_manifest(struct nai_manifest *to, const struct nai_manifest *inputs, const struct nai_manifest *tables,
                         const struct nai_manifest_node *made);

#endif
