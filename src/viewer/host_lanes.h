/* What threads did beside CUDA calls and NVTX ranges, as lanes of the page: calls of MPI and of the
 * operating system's runtime, OpenACC, files, time on a CPU, samples, and what the profiler itself took; and functions
 * that streams ran on the host. Internal to src/viewer. */
#pragma once

#include "viewer/items.h"

enum nai_host_kind {
  NAI_HOST_OVERHEAD,
  NAI_HOST_MPI,
  NAI_HOST_OPENACC,
  NAI_HOST_OSRT,
  NAI_HOST_FILE,
  NAI_HOST_FUNCTION, /* of a stream, no thread */
  NAI_HOST_SCHED,
  NAI_HOST_SAMPLE,
  NAI_HOST_KINDS
};

/* An item's `mix`: what the page cuts of it; of samples, in a function that optimized code does not call; of host
 * functions, a node of a graph. */
enum { NAI_HOST_BEGAN_BEFORE = 1, NAI_HOST_ENDS_AFTER = 2, NAI_HOST_MARKED = 4 };

struct nai_host_lane {
  enum nai_host_kind kind;
  int64_t pid, tid;
  int32_t gpu, context, stream; /* -1: of a thread */
  struct nai_item *v;           /* in start order; row: of `names` */
  uint32_t count, capacity;
};

struct nai_host_lanes {
  struct nai_arena *arena;
  struct nai_host_lane *v; /* by kind, then thread */
  uint32_t count, capacity;
  struct nai_strings names;
  int64_t bucket_ns; /* items shorter than this that begin in the same stretch of it are one; 0: none are */
};

/* Widens the page's time to that of calls of MPI and of OpenACC, of host functions, and of accesses to files with data,
 * which may begin before CUDA's calls and end after them. */
NAI_MUST_CHECK int nai_host_widen(int64_t *origin, int64_t *end, const struct nai_model *model, struct nai_err *err);

/* All of it that lies in [origin, end), which may be nothing; what reaches beyond is cut. Lanes are the items' arena's,
 * names are freed with nai_strings_free, also on failure. */
NAI_MUST_CHECK int nai_host_build(struct nai_host_lanes *out, const struct nai_items *items,
                                  const struct nai_model *model, int64_t origin, int64_t end, struct nai_err *err);
