/* Whether kernels repeat. */
#pragma once

#include "model/model.h"

/* Shapes of launches: row of kernel_configs -> number of its grid and block. */
struct nai_shapes {
  uint32_t *of_config, count;
  struct nai_arena arena; /* private */
};
NAI_MUST_CHECK int nai_shapes_new(struct nai_shapes *shapes, const struct nai_model *model, struct nai_err *err);
void nai_shapes_free(struct nai_shapes *shapes);

/* Kernels and graph launches that start in certain stretches of one GPU. */
struct nai_repetition {
  int64_t count, total_ns;
  int64_t repeated_ns; /* of those whose name, grid and block (graphs: the graph) occur NAI_REPEATS times or more */
};
enum { NAI_REPEATS = 5 };
/* `inside` says for each operation of the GPU, by its start, whether it counts. Needs part KERNEL_GROUPS. */
NAI_MUST_CHECK int nai_repetition_of(struct nai_repetition *out, const struct nai_model *model,
                                     const struct nai_gpu *gpu, const struct nai_shapes *shapes,
                                     const struct nai_intervals *inside, struct nai_err *err);

/* Steps through operations in order of their starts: whether `t`, which never falls, lies in the set. */
static inline bool nai_step_inside(size_t *next, const struct nai_intervals *set, int64_t t) {
  while (*next < set->count && set->v[*next].end <= t)
    (*next)++;
  return *next < set->count && set->v[*next].start <= t;
}
