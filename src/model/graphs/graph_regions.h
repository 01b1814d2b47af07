/* Stretches of launches that could be one CUDA graph: a thread launches the same kernels in the same order again and
 * again, and nothing that no graph can hold comes between. */
#pragma once

#include "model/model.h"

enum { NAI_REGION_FEWEST_KERNELS = 5, NAI_REGION_REPEATS = 3 };

/* One pass through such a stretch. */
struct nai_region {
  uint32_t sequence;    /* index in `sequences` */
  uint32_t first, last; /* rows of api_events: its first and last launch */
};
/* What passes through equal stretches have in common. */
struct nai_sequence {
  uint32_t thread, kernels, count; /* kernels per pass, passes */
  uint32_t first_kernel;           /* kernel_events row of the first kernel of the first pass */
  uint32_t first_api;              /* its call */
};
struct nai_regions {
  struct nai_region *v;
  uint32_t count, capacity;
  struct nai_sequence *sequences;
  uint32_t sequence_count, sequence_capacity;
  uint32_t *of_api;       /* per api row: its region, NAI_NO_ROW for none */
  struct nai_arena arena; /* private */
};
NAI_MUST_CHECK int nai_regions_find(struct nai_regions *out, const struct nai_model *model, struct nai_err *err);
void nai_regions_free(struct nai_regions *regions);
