/* Kernels that cannot use all SMs of their GPU: those in a green context, and those of a process that has a MIG slice.
 */
#pragma once

#include "model/model.h"

struct nai_partition {
  int32_t process;  /* row of processes */
  int64_t green;    /* id of the green context, NAI_NULL_I64 for what a process sees of a GPU */
  int64_t parent;   /* context, NAI_NULL_I64 unknown */
  int64_t sm_count; /* 0 unknown */
  const char *mask; /* of TPCs, "" unknown; borrowed from the tables */
  int64_t device;   /* device_id of a slice */
};

/* Number 0 stands for the whole GPU. */
struct nai_partitions {
  const struct nai_model *m;
  struct nai_arena *arena;
  struct nai_partition *v;
  uint32_t count, capacity;
  struct nai_keyset contexts, slices; /* process << 32 | id; number - 1 of what it is in `of` */
  uint32_t *of_context, *of_slice;    /* number of the partition by key */
  uint32_t context_capacity, slice_capacity;
};
/* Needs the tables KERNELS, PROCESSES, GPUS, CONTEXTS and CUDA_DEVICES. */
NAI_MUST_CHECK int nai_partitions_new(struct nai_partitions *out, const struct nai_model *model,
                                      struct nai_arena *arena, struct nai_err *err);
/* Whether there are any: of most traces no kernel need be asked. */
static inline bool nai_partitions_any(const struct nai_partitions *p) { return p->count > 1; }
/* Number of the partition of a row of kernel_events, which ran on GPU `device`. */
uint32_t nai_partition_of(const struct nai_partitions *partitions, uint32_t kernel, int64_t device);
/* SMs that a kernel of that partition can use, 0 unknown. `all`: those of the GPU. */
int64_t nai_partition_sms(const struct nai_partitions *partitions, uint32_t number, int64_t all);
/* Whether two partitions of one GPU may share SMs: where a mask is unknown they may. */
bool nai_partitions_overlap(const struct nai_partitions *partitions, uint32_t a, uint32_t b);
