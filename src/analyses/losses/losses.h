/* What a GPU's time is lost to: what the files of table losses share. */
#pragma once

#include "base/buf.h"
#include "model/model.h"

/* One GPU within its active spans. */
struct nai_loss_gpu {
  struct nai_table *out;
  const struct nai_model *m;
  struct nai_arena *arena; /* of the file that looks at it */
  const struct nai_gpu *gpu;
  struct nai_intervals active;         /* its active spans, the model's */
  int64_t active_ns;                   /* their length */
  int64_t kernel_ns, copy_ns;          /* summed durations of kernels, and of copies but for page migrations */
  bool steady;                         /* gpu_active.steady */
  const enum nai_kernel_trait *traits; /* per kernel name */
  const bool *fusable;                 /* per kernel name: it moves data more than it computes */
  /* per operation of the GPU: it starts within an active span */
  bool *inside;
  /* operations within active spans that are copies of the program's own, in order */
  uint32_t *copies, copy_count;
  bool migrations; /* pages of unified memory move within active spans */
};

/* The losses, one file each; each adds its rows. */
NAI_MUST_CHECK int nai_losses_of_kernels(const struct nai_loss_gpu *g, struct nai_err *err); /* by what they do */
NAI_MUST_CHECK int nai_losses_of_shape(const struct nai_loss_gpu *g, struct nai_err *err);   /* by blocks, threads */
NAI_MUST_CHECK int nai_losses_of_modes(const struct nai_loss_gpu *g, struct nai_err *err);   /* by durations */
NAI_MUST_CHECK int nai_losses_of_copies(const struct nai_loss_gpu *g, struct nai_err *err);
NAI_MUST_CHECK int nai_losses_of_repeats(const struct nai_loss_gpu *g, struct nai_err *err); /* of copies */
NAI_MUST_CHECK int nai_losses_of_calls(const struct nai_loss_gpu *g, struct nai_err *err);

/* Something lost. */
struct nai_loss {
  const char *what;
  int64_t ns, count, base_ns; /* time lost, of how many, and the time of everything of that kind; 0 for none */
  int64_t unavoidable_ns;     /* the part of ns that cannot be won: something else runs meanwhile, or must stay */
  const char *example;        /* NULL for none */
  int64_t example_ns;
  int64_t start, end;           /* the longest one */
  const struct nai_buf *detail; /* NULL or empty for none */
  const double *medians;        /* the lower and the higher; NULL for none */
};
/* Adds a row. Of `ns` no more than the active time counts. */
void nai_loss_put(const struct nai_loss_gpu *g, const struct nai_loss *loss);

/* Kernels of one kind as they are met. `name_ns` has a cell per kernel name, all 0 at first. */
struct nai_loss_sum {
  int64_t ns, count, longest_ns;
  int64_t unavoidable_ns; /* as in nai_loss */
  uint32_t longest;       /* kernel_events row */
  int64_t *name_ns;       /* the arena's */
};
NAI_MUST_CHECK int nai_loss_sum_new(struct nai_loss_sum *sum, const struct nai_loss_gpu *g, struct nai_err *err);
/* Adds a kernel, by its operation of the GPU. */
static inline void nai_loss_sum_add(struct nai_loss_sum *sum, const struct nai_loss_gpu *g, uint32_t op) {
  const struct nai_op *kernel = &g->gpu->ops[op];
  int64_t ns = kernel->end - kernel->start;
  if (!sum->count || ns > sum->longest_ns) {
    sum->longest = kernel->row;
    sum->longest_ns = ns;
  }
  sum->count++;
  sum->ns += ns;
  sum->name_ns[nai_val_text(&g->m->kernels.name, kernel->row)] += ns;
}
/* Sets what is kept: without the operations that `goes` marks (per operation of the GPU) no more is won than the time
 * in which they run and nothing else. */
void nai_loss_sum_keep(struct nai_loss_sum *sum, const struct nai_loss_gpu *g, const bool *goes);
/* Adds the row of a sum, nothing when it is empty. */
void nai_loss_sum_put(const struct nai_loss_gpu *g, const char *what, const struct nai_loss_sum *sum,
                      const struct nai_buf *detail);

/* --- copies ----------------------------------------------------------------------------------- */

enum { NAI_TINY_COPY = 64 * 1024 }; /* bytes, up to which a copy is its call, start and wait */
enum { NAI_HOST_TO_DEVICE = 1, NAI_DEVICE_TO_HOST = 2 };
static inline int32_t nai_loss_direction(const struct nai_loss_gpu *g, uint32_t op) {
  return nai_at_i32(&g->m->memops.copy_kind, g->gpu->ops[op].row);
}
static inline bool nai_loss_is_transfer(const struct nai_loss_gpu *g, uint32_t op) {
  return nai_loss_direction(g, op) == NAI_HOST_TO_DEVICE || nai_loss_direction(g, op) == NAI_DEVICE_TO_HOST;
}
/* Notes the operation if it is longer than the one noted; before it is counted. */
void nai_loss_note_longest(struct nai_loss *loss, const struct nai_loss_gpu *g, uint32_t op);
