/* What one analysis works on. Internal to src/pipeline. */
#pragma once

#include "config/config.h"
#include "config/phase_map.h"
#include "pipeline/analyze.h"
#include "report/mustache.h"
#include "rules/known.h"
#include "rules/metrics.h"
#include "rules/rules.h"
#include "rundir/outdir.h"
#include "rundir/run.h"
#include "skills/skill.h"
#include "trace/ingest.h"

#include <pthread.h>

/* Skills that the report is asked to hold, each a table of the run. */
struct nai_state_skills {
  struct nai_skill *list[NAI_MAX_SKILLS]; /* in the order they were asked for */
  size_t count;
  struct nai_schema *schemas[NAI_MAX_SKILLS];           /* of their tables */
  const struct nai_schema *outputs[NAI_MAX_SKILLS + 2]; /* what was answered, then each table; ends with NULL */
  struct nai_rules_extra rules[NAI_MAX_SKILLS];         /* those that have rules */
  size_t rule_count;
  struct nai_node node;
  const struct nai_node *nodes[2];
  uint64_t hash; /* of files and parameters */
};

struct nai_state {
  const struct nai_options *options;
  const struct nai_stage *stages;
  int last_stage;                                           /* that is to run */
  struct nai_stage own_stages[NAI_STAGE_COUNT];             /* with skills or known findings: `stages` and those */
  const struct nai_node *needed[NAI_REPORT_MAX_TABLES + 1]; /* for the tables of the options; ends with NULL */
  struct nai_state_skills skills;
  struct nai_trace *trace;
  struct nai_patterns *phases;
  struct nai_kernel_classes *classes;
  struct nai_workload_patterns *workload;
  struct nai_gpu_facts *gpu_facts;
  struct nai_flops flops;          /* what a step computes, as the user says */
  struct nai_patterns *step;       /* --step, NULL for none */
  struct nai_patterns *comm_names; /* --comm-names, NULL for none */
  struct nai_rule_set *rules;
  struct nai_metric_set *metrics;
  struct nai_known known;
  struct nai_templates *templates;
  const struct nai_schema *schemas[NAI_REPORT_MAX_TABLES]; /* of the tables that rules can name */
  uint64_t config[NAI_CONFIG_COUNT];                       /* hash of each item of the configuration */

  struct nai_outdir *out;     /* what is rendered */
  struct nai_outdir *apart;   /* with --stages: the run, its tables and manifest; else NULL */
  struct nai_outdir *home;    /* where the run is: one of the two */
  struct nai_strings outputs; /* files that were rendered, relative to out */
  struct nai_run *run;        /* this one, in the work directory of home */
  pthread_mutex_t lock;       /* for `run` while nodes run side by side */
  struct nai_run *earlier;    /* the one that lies in the target of home, NULL for none */
  char stages_dir[PATH_MAX];  /* of this run */
  uint32_t stage_files;       /* bit per stage: it has a file */
  uint64_t wanted;            /* event tables that some node reads: NAI_IN(...) */

  struct nai_result *result;
};

/* config.c: loads phase map, kernel classes, workload patterns, GPU facts, rules and metrics, and hashes them. */
NAI_MUST_CHECK int nai_state_config(struct nai_state *state, struct nai_err *err);
/* skills.c: reads and checks the skills of the options. None: everything stays zero. */
NAI_MUST_CHECK int nai_state_skills_load(struct nai_state_skills *skills, const struct nai_options *options,
                                         struct nai_err *err);
void nai_state_skills_free(struct nai_state_skills *skills);
/* nodes.c: the nodes of the stage recommend with that of known findings; ends with NULL. */
extern const struct nai_node *const nai_recommend_with_known[];
/* nodes.c: nai_report_schemas with the tables of skills and of known findings. */
size_t nai_state_schemas(const struct nai_schema *list[NAI_REPORT_MAX_TABLES], const struct nai_state *state,
                         int before_stage);
/* render.c: loads and checks the templates of all outputs, the user's and the built-in ones. */
NAI_MUST_CHECK int nai_state_templates(struct nai_state *state, struct nai_err *err);
/* graph.c: brings all tables of a stage into the run: from the earlier run where they were made from the same, else by
 * running their nodes. */
NAI_MUST_CHECK int nai_state_stage(struct nai_state *state, int stage, struct nai_err *err);
/* Event tables that any node of the stages reads. */
uint64_t nai_state_wanted(const struct nai_stage *stages);
/* The nodes of all stages before `end`, in order: struct nai_node_walk w = {.stages = stages, .end = NAI_STAGE_COUNT};
 * while ((node = nai_next_node(&w))) ... NULL behind the last. */
struct nai_node_walk {
  const struct nai_stage *stages;
  int end, stage, next; /* `stage`: of the node returned last */
};
const struct nai_node *nai_next_node(struct nai_node_walk *walk);
/* render.c: every output file into the work directory. */
NAI_MUST_CHECK int nai_state_render(struct nai_state *state, struct nai_err *err);
