/* When threads collected Python's garbage, by the NVTX ranges that tracers put around it. */
#pragma once

#include "model/model.h"

/* Zeroed memory is none. */
struct nai_collections {
  struct nai_intervals *threads; /* per thread, where there are any */
  uint32_t count;                /* ranges */
  struct nai_arena arena;        /* private */
};
/* Looks at the rows of ranges only if a range has such a name. */
NAI_MUST_CHECK int nai_collections_find(struct nai_collections *out, const struct nai_model *model,
                                        struct nai_err *err);
void nai_collections_free(struct nai_collections *collections);
/* Time of the thread's collections within [start, end). */
int64_t nai_collections_within(const struct nai_collections *collections, uint32_t thread, int64_t start, int64_t end);
