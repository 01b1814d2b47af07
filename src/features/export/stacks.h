/* Stacks and the time that each has, whatever they are of. Internal to the export. */
#pragma once

#include "command/asking.h"

struct nai_stack {
  const char **frames; /* from the thread to the kernel; borrowed */
  uint32_t count;
  int64_t ns;
};

/* Zeroed memory is one without any. */
struct nai_stacks {
  struct nai_stack *v;
  uint32_t count, capacity;
  struct nai_arena arena;
  struct nai_query_rows rows, nodes; /* what frames are borrowed from */
};
void nai_stacks_free(struct nai_stacks *stacks);
NAI_MUST_CHECK int nai_stacks_add(struct nai_stacks *stacks, const char *const *frames, uint32_t count, int64_t ns,
                                  struct nai_err *err);
/* "pid 7 thread 8", the outermost frame; NAI_NULL_I64 for what is not known. */
const char *nai_stacks_thread(struct nai_stacks *stacks, int64_t pid, int64_t tid);
/* call_stacks.c: GPU time by call stack and kernel; gpu INT64_MIN: all. NAI_EINPUT: the run has no call stacks. */
NAI_MUST_CHECK int nai_stacks_of_calls(struct nai_stacks *stacks, struct nai_run *run, int64_t gpu,
                                       struct nai_err *err);
