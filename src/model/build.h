/* How the parts of the model are built, one file each. Internal to src/model. */
#pragma once

#include "config/config.h"
#include "model/model.h"

/* One part. A part is begun, then its tasks run in any order, then it is ended; the parts it needs are there by then.
 */
struct nai_part_def {
  const char *name;
  uint32_t needs;  /* parts */
  uint64_t tables; /* event tables that it reads itself: bits 1 << enum nai_input_table */
  uint32_t config; /* bits of enum nai_config */
  int (*begin)(struct nai_model *, struct nai_err *); /* NULL, and `end`: nothing to do */
  int (*tasks)(const struct nai_model *);             /* how many */
  nai_task_fn *task;                                  /* takes the model as context */
  int (*end)(struct nai_model *, struct nai_err *);
  int64_t (*bytes)(const struct nai_model *); /* of anonymous memory, temporary included; NULL: little */
};
extern const struct nai_part_def nai_part_names, nai_part_launches, nai_part_ranges, nai_part_calls,
    nai_part_call_stats, nai_part_gpus, nai_part_process_gpus, nai_part_window, nai_part_blocked, nai_part_nvtx_tree,
    nai_part_range_spans, nai_part_kernel_groups, nai_part_process_sums, nai_part_phases, nai_part_evidence,
    nai_part_idle, nai_part_lanes, nai_part_cpu, nai_part_steps, nai_part_active, nai_part_comm, nai_part_memory,
    nai_part_sampled, nai_part_dependencies;

/* calls/free_waits.c: free_waits, of calls that come back as soon as the GPU is done with what was launched before
 * them. One that frees for long behind that does not count. Needs kernel_api, memop_api and graph_api. */
NAI_MUST_CHECK int nai_find_waiting_frees(struct nai_model *model, struct nai_err *err);

/* A thread's part of the NVTX tree: parents are numbers in it. */
struct nai_thread_nodes {
  struct nai_nvtx_node *v;
  uint32_t count;
};

/* What exists only while parts are built. */
struct nai_model_work {
  uint32_t built;                          /* parts */
  struct nai_arena arenas[NAI_PART_COUNT]; /* of each part, freed once it is built; what stays is model->arena's */
  struct nai_groups gpu_kernels, gpu_memops, gpu_graphs; /* rows by index of their GPU */
  struct nai_thread_nodes *nodes;                        /* per thread */
  struct nai_step_work *steps;
  struct nai_comm_calls *comm_calls; /* per thread (comm/comm_build.h) */
};

/* Frees the working memory that a part has had so far. */
void nai_part_forget(struct nai_model *model, enum nai_model_part part);

/* Whether a name is, begins with, or holds one of `words`, which end with NULL. */
enum nai_match { NAI_EQUALS, NAI_BEGINS, NAI_BEGINS_ANY_CASE, NAI_HOLDS, NAI_HOLDS_ANY_CASE };
bool nai_name_matches(const char *name, enum nai_match how, const char *const *words);
#define NAI_WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})
/* How many tasks a part has: one per GPU, thread, process. */
static inline int nai_each_gpu(const struct nai_model *m) { return (int)m->gpu_count; }
static inline int nai_each_thread(const struct nai_model *m) { return (int)m->thread_count; }
static inline int nai_each_process(const struct nai_model *m) { return (int)m->process_count; }

/* Rows by GPU in `work`; then a GPU's operations in order, its streams and processes. */
NAI_MUST_CHECK int nai_gpu_rows_collect(struct nai_model *model, struct nai_err *err);
NAI_MUST_CHECK int nai_gpu_order_ops(struct nai_gpu *gpu, uint32_t index, struct nai_model *model, struct nai_err *err);

/* nvtx_depth, api_node, crossing and checkpoints of one thread, and its nodes. */
NAI_MUST_CHECK int nai_nvtx_nest(struct nai_thread_nodes *nodes, struct nai_model *model, uint32_t thread,
                                 struct nai_err *err);
/* The kernel sums of the nodes. */
NAI_MUST_CHECK int nai_nvtx_attribute(struct nai_model *model, struct nai_err *err);

/* Callchains of the part CPU. */
NAI_MUST_CHECK int nai_cpu_chains_build(struct nai_model *model, struct nai_err *err);
