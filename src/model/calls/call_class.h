/* What a call to the CUDA API is, by its name: said once, for every function (cuda_calls.h). */
#pragma once

#include "base/std.h"

enum nai_call_class {
  NAI_CALL_CLASS_OTHER,
  NAI_CALL_CLASS_LAUNCH,
  NAI_CALL_CLASS_GRAPH_LAUNCH,
  NAI_CALL_CLASS_COPY, /* copies, sets, prefetches and discards that do not wait */
  NAI_CALL_CLASS_BLOCKING_COPY,
  NAI_CALL_CLASS_BLOCKING,
  NAI_CALL_CLASS_ORDERING, /* a stream waits, not the thread */
  NAI_CALL_CLASS_POLL,
  NAI_CALL_CLASS_RECORD, /* of an event */
  NAI_CALL_CLASS_ALLOCATION,
  NAI_CALL_CLASS_FREE,
  NAI_CALL_CLASS_ADDRESS, /* address ranges, pools, memory of other processes */
  NAI_CALL_CLASS_LOADING, /* of modules and libraries, and the lookup that loads */
  NAI_CALL_CLASS_MODULE,  /* other lookup of code, and unloading */
  NAI_CALL_CLASS_GRAPH,   /* building, changing and instantiating a graph */
  NAI_CALL_CLASS_CAPTURE,
  NAI_CALL_CLASS_HOST_FUNCTION,
  NAI_CALL_CLASS_INTEROP /* graphics and external memory */
};

/* Leading underscores, versions and forms of streams do not count: __cudaLaunchKernel_ptsz is cudaLaunchKernel. A
 * function that is not listed is what the longest listed name is that it begins with. */
enum nai_call_class nai_call_class_of(const char *name);
/* Whether the function is listed. */
bool nai_call_is_known(const char *name);

/* Whether a CUDA graph can hold what it does, or the call is nothing to a graph. */
bool nai_call_fits_graph(const char *name);

/* What a call is for, in fewer words. */
enum nai_call_kind {
  NAI_CALL_OTHER,
  NAI_CALL_LAUNCH,     /* of a kernel or a graph */
  NAI_CALL_ALLOCATION, /* of memory: allocation, release, registration */
  NAI_CALL_LOADING     /* of modules and libraries, but not their unloading */
};
enum nai_call_kind nai_call_kind_of(const char *name);
