/* How many blocks of a kernel fit on a multiprocessor at once: NVIDIA's occupancy calculation (cuda_occupancy.h), from
 * a launch's registers, shared memory and threads and the GPU's limits. */
#pragma once

#include "config/gpu_facts.h"
#include "table/table.h"

/* One multiprocessor (SM) and how many the GPU has. */
struct nai_sm {
  bool known;                   /* all of what follows but `count`, which may be 0 */
  int64_t count;                /* SMs of the GPU */
  int64_t major, minor;         /* compute capability, NAI_NULL_I64 unknown */
  struct nai_gpu_limits limits; /* what the export says, else the compute capability's */
};
/* Of row `gpu` of table gpus. */
struct nai_sm nai_sm_of(const struct nai_table *gpus, int64_t gpu, const struct nai_gpu_facts *facts);

enum nai_occupancy_limiter {
  NAI_LIMIT_WARPS,
  NAI_LIMIT_BLOCKS,
  NAI_LIMIT_REGISTERS,
  NAI_LIMIT_SHARED_MEMORY,
  NAI_LIMIT_COUNT
};
const char *nai_occupancy_limiter_name(enum nai_occupancy_limiter limiter); /* "registers" */

/* A launch. */
struct nai_launch_shape {
  int64_t threads, registers, shared_bytes; /* per block, per thread, per block (static and dynamic) */
};

struct nai_occupancy {
  int64_t blocks_per_sm;              /* 0: the launch is impossible on this GPU, the numbers contradict each other */
  int64_t warps;                      /* of a block */
  enum nai_occupancy_limiter limiter; /* what allows the fewest blocks, the first of equals */
};
/* `sm` is known. */
struct nai_occupancy nai_occupancy_of(const struct nai_sm *sm, const struct nai_launch_shape *shape);
