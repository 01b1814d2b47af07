/* A node whose tables are brought into a run. Internal to src/pipeline. */
#pragma once

#include "base/flow.h"
#include "pipeline/state.h"
#include "table/table.h"

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
  int stage;
  bool decided, taken; /* whether it has to run is known; it has not: its tables are those of the earlier run */
  bool coming;         /* it is in the flow that runs next */
  int weight;          /* of it and what waits for it there */
  uint32_t task;       /* its task there */
  char reason[96];     /* why it has to run */
  double seconds;      /* that it took, */
  int64_t rows;        /* and of its tables */
};

/* reuse.c */
/* Name of the i-th table that the job reads, NULL behind the last. */
const char *nai_job_input(const struct job *job, size_t i);
/* Fills job->in. False while a table is not there yet. */
bool nai_job_find_inputs(struct job *job);
/* Fills job->inputs and job->key, from what is in job->in. */
void nai_job_describe(struct job *job);
/* Once the tables it reads are in the run: takes its own over from the earlier run where those were made from the same,
 * else says in job->reason why it has to run. */
NAI_MUST_CHECK int nai_job_decide(struct job *job, struct nai_err *err);
/* Takes the node's tables out of the run. */
void nai_job_drop_outputs(struct job *job);
/* Adds the job's node to the run's manifest, made from what `node` of `inputs` says; its tables are to follow. */
void nai_job_add_to_manifest(const struct job *job, const struct nai_manifest *inputs,
                             const struct nai_manifest_node *node);

/* The jobs of a stage. */
struct job_set {
  struct nai_state *s;
  struct job *jobs;
  int count;
  uint32_t parts;  /* of the model, that those on their way need */
  uint32_t ahead;  /* and that are built beside those */
  uint64_t tables; /* and the event tables */
};

/* schedule.c */
/* Takes over what can be, and finds the jobs that go into the next flow (job->coming). */
NAI_MUST_CHECK int nai_job_set_choose(struct job_set *set, struct nai_err *err);
/* Adds those to the flow as run(job), behind the parts of the model that are done by task done[part] and behind the
 * jobs whose tables they read; those that most work waits for start first. `order` has room for all jobs. */
void nai_job_set_plan(struct nai_flow *flow, const struct job_set *set, nai_task_fn *run, struct job **order,
                      const uint32_t done[NAI_PART_COUNT]);
