/* What a row of overhead_events is. Internal to src/analyses. */
#ifndef NAI_ANALYSES_OVERHEAD_KIND_H
#define NAI_ANALYSES_OVERHEAD_KIND_H

#include <stdint.h>

/* PROFILER: the profiler's own time; LOADING: modules and functions that CUDA loads or compiles; OTHER: neither (what
 * the CUDA driver waits for, or memory of the program's that the profiler only looks at); UNNAMED: rows that exporters
 * of 2023 call Unknown: loading where they lie in a launch or an allocation, else the profiler's. */
enum nai_overhead_kind { NAI_OVERHEAD_OF_PROFILER, NAI_OVERHEAD_LOADING, NAI_OVERHEAD_OTHER, NAI_OVERHEAD_UNNAMED };
enum nai_overhead_kind nai_overhead_kind_of(int64_t source, int64_t type, const char *name);

/* What a call to the CUDA API is for, by its name. */
enum nai_call_kind {
  NAI_CALL_OTHER,
  NAI_CALL_LAUNCH,     /* of a kernel or a graph */
  NAI_CALL_ALLOCATION, /* of memory: allocation, release, registration */
  NAI_CALL_LOADING     /* of modules and libraries, but not their unloading */
};
enum nai_call_kind nai_call_kind_of(const char *name);

#endif
