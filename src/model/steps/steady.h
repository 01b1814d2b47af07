/* Which kernels belong to steady steps. */
#pragma once

#include "model/steps/steps.h"

/* The steps of one process on one GPU. */
struct nai_steady_steps {
  bool *steady;   /* per step of the process; NULL without steps on that GPU */
  uint32_t count; /* steady ones */
};
struct nai_steady {
  const struct nai_model *m;
  struct nai_steady_steps *of; /* [process * gpu_count + GPU]; the arena's */
  uint32_t near;               /* step of the kernel before */
};
/* Needs NAI_PART(STEPS). */
NAI_MUST_CHECK int nai_steady_find(struct nai_steady *out, const struct nai_model *model, struct nai_arena *arena,
                                   struct nai_err *err);
/* Whether a kernel is of a step of the process that is steady on that GPU. */
bool nai_steady_kernel(struct nai_steady *steady, uint32_t process, uint32_t gpu, uint32_t kernel);
