/* Why a step took longer than the others, and how long it waited for its input (docs/analyses.md). Internal to
 * src/analyses. */
#pragma once

#include "base/buf.h"
#include "base/sort.h"
#include "model/steps/step_stats.h"

/* Rows of table gpu_idle_gaps on one GPU, by time. */
struct nai_step_gaps {
  const struct nai_table *table;
  struct nai_key *v; /* starts and rows; the arena's */
  size_t count;
};
NAI_MUST_CHECK int nai_step_gaps_find(struct nai_step_gaps *out, const struct nai_table *gpu_idle_gaps, int64_t device,
                                      struct nai_arena *arena, struct nai_err *err);

/* The idle time at a step's end if the host was getting the next step's input then, else 0. */
int64_t nai_step_input_wait(const struct nai_step_gaps *gaps, const struct nai_gpu_step *step);

/* What explanations of one list start from. */
struct nai_step_usual {
  const struct nai_model *m;
  const struct nai_step_list *list;
  const struct nai_step_stats *stats;
  const struct nai_step_gaps *gaps;
  struct nai_arena *arena;
  int64_t compute_ns, exposed_comm_ns, exposed_copy_ns, idle_ns, copied_bytes; /* medians of steady steps */
  struct nai_step_kernels *usual; /* per kernel name, of steady steps that are no outliers; NULL until somebody asks */
  struct nai_step_kernels *own;   /* per kernel name, all 0 */
};
struct nai_step_kernels {
  int64_t ns;
  uint32_t count;
};

struct nai_step_cause {
  const char *part; /* compute, exposed_comm, exposed_copy, idle, spread: literals */
  int64_t ns;       /* of the excess; 0 for spread */
  struct nai_buf detail;
};
static inline void nai_step_cause_free(struct nai_step_cause *cause) { nai_buf_free(&cause->detail); }
/* Of step `i` of the list, an outlier. Adds to what `usual` knows. */
NAI_MUST_CHECK int nai_step_explain(struct nai_step_cause *out, struct nai_step_usual *usual, uint32_t i,
                                    struct nai_err *err);
