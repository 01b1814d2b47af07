/* How much memory this process may take. */
#pragma once

#include "base/std.h"

/* The lowest limit of the control group of this process and those around it (memory.max of version 2,
 * memory.limit_in_bytes of version 1), bytes; INT64_MAX where there is none. `membership` is /proc/self/cgroup and
 * `root` /sys/fs/cgroup, but for tests. */
int64_t nai_memory_of_cgroup(const char *membership, const char *root);
/* Makes allocations fail beyond `bytes` and the stacks of `threads` threads. Does nothing where more is in use. */
void nai_memory_restrict(int64_t bytes, int threads);
