/* What the events of a trace amount to, for nsys-ai probe. Internal to src/features/analyze. */
#pragma once

#include "trace/ingest.h"

/* Kinds of events in the order they are shown. */
enum nai_event_kind {
  NAI_EVENT_KERNELS,
  NAI_EVENT_COPIES,
  NAI_EVENT_SETS,
  NAI_EVENT_GRAPHS,
  NAI_EVENT_API_CALLS,
  NAI_EVENT_NVTX_RANGES,
  NAI_EVENT_NVTX_MARKS,
  NAI_EVENT_OS_CALLS,
  NAI_EVENT_KINDS
};

struct nai_gpu_overview {
  int64_t kernels, copies, sets, graphs;
  int64_t start_ns, end_ns; /* of its work; start > end: none */
};

struct nai_overview {
  int64_t counts[NAI_EVENT_KINDS];
  int64_t start_ns, end_ns;      /* of all events, since session start; start > end: none */
  int64_t from_ns, until_ns;     /* of those without the profiler's own */
  struct nai_gpu_overview *gpus; /* by row of table gpus */
};

/* Reads the events of a probed trace into `in`, in temporary files, and makes it. `threads` 0: one per processor. */
NAI_MUST_CHECK int nai_overview_read(struct nai_overview *out, struct nai_ingest *in, struct nai_trace *trace,
                                     int threads, struct nai_err *err);
void nai_overview_free(struct nai_overview *overview);
