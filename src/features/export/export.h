/* A run's events for other programs' timelines: Perfetto's protobuf and the JSON of Chrome's trace viewer. What is
 * written is printed as it is found: apart from names and a byte or two per API call, memory does not grow with events.
 * Texts of the model are those of event tables, which are clean (base/text.h). */
#pragma once

#include "base/keyset.h"
#include "base/sink.h"
#include "model/model.h"

/* A kernel of a collective that ranks of several traces have part in. */
struct nai_export_collective {
  int64_t end; /* another kernel of the GPU may begin at the same time */
  /* Flows: numbers below 2^32, the same on other ranks. Those that go out, or through, from its begin on; one that
   * comes in at its end, plus 1; 0 for none. */
  uint32_t first_flow, flow_count, ends_flow;
  int64_t wait_ns;       /* for the last rank; -1 unknown */
  const char *last_rank; /* NULL: in doubt, or nobody waits */
};

/* Which of the traces in one file a trace is. Its time t becomes at = t - offset, less drift * (at - middle), plus
 * shift; what lies before 0 then stands at 0. */
struct nai_export_place {
  uint32_t number;   /* from 0 on; below NAI_EXPORT_MAX_PLACES where it is whole */
  const char *label; /* before the names of its processes and GPUs */
  bool reference;    /* its clock is the file's */
  int64_t shift, offset, middle, doubt;
  double drift;
  const struct nai_keyset *kernels; /* nai_export_kernel_key of those in collectives: numbers in `collectives` */
  const struct nai_export_collective *collectives;
};
enum { NAI_EXPORT_MAX_PLACES = 16 };
static inline int64_t nai_export_place_time(const struct nai_export_place *place, int64_t at) {
  at -= place->offset;
  return at + place->shift - (int64_t)floor(place->drift * (double)(at - place->middle) + 0.5);
}
static inline int64_t nai_export_kernel_key(int64_t start, int64_t device) {
  return (int64_t)((uint64_t)start << 8 ^ (uint64_t)device);
}

struct nai_export_options {
  const struct nai_export_place *place; /* NULL: alone in its file; Perfetto only */
  int64_t gpu;                          /* GPU rows of this device only; INT64_MIN: all */
  int64_t start_ns, end_ns; /* what overlaps [start, end), cut at its edges; INT64_MIN, INT64_MAX: everything */
  int64_t min_ns;           /* shorter events are left out */
  bool full_names;          /* kernels by their whole names instead of the short ones */
  bool no_calls, no_ranges, no_flows;
};

/* What the model must have: parts that are built, and event tables that are open. */
#define NAI_EXPORT_PARTS (NAI_PART(NAMES) | NAI_PART(LAUNCHES) | NAI_PART(LANES))
#define NAI_EXPORT_TABLES                                                                                           \
  (NAI_IN(CAPTURE) | NAI_IN(LABELS) | NAI_IN(PROCESSES) | NAI_IN(THREADS) | NAI_IN(GPUS) | NAI_IN(KERNEL_CONFIGS) | \
   NAI_IN(KERNELS) | NAI_IN(MEMOPS) | NAI_IN(GRAPHS) | NAI_IN(APIS) | NAI_IN(NVTX))
/* These are written if they are there. */
#define NAI_EXPORT_OPTIONAL_PARTS NAI_PART(IDLE)
#define NAI_EXPORT_OPTIONAL_TABLES \
  (NAI_IN(GPU_METRICS) | NAI_IN(GPU_METRIC_SAMPLES) | NAI_IN(STREAMS) | NAI_IN(STREAM_NAMES) | NAI_IN(MPI))
/* With these, and CUDA calls with stacks, events name their call sites. */
#define NAI_EXPORT_SITE_PARTS NAI_PART(CALLS)
#define NAI_EXPORT_SITE_TABLES (NAI_IN(CALLCHAINS) | NAI_IN(GRAPH_NODES))

/* NAI_EUSAGE when nothing of the trace lies in the stretch asked for. */
typedef int nai_export_fn(struct nai_buf *out, const struct nai_model *model, const struct nai_export_options *options,
                          struct nai_err *err);
NAI_MUST_CHECK nai_export_fn nai_export_perfetto, nai_export_chrome;

/* Of one of several traces no events, but in percent what its GPU did: in `bins` of one length, times of the file. */
struct nai_export_bins {
  int64_t first_ns, width_ns;
  uint32_t count, states;
  const char *const *names; /* of states */
  const int64_t *ns;        /* [bin * states + state] */
};
NAI_MUST_CHECK int nai_export_perfetto_bins(struct nai_buf *out, const struct nai_export_place *place,
                                            const struct nai_export_bins *bins, struct nai_err *err);

/* The rows of the same timeline as evented profiles of speedscope, each a member of the array that `json` has open;
 * names of frames are added to `frames`. Memory holds one lane. */
struct nai_json;
struct nai_export_profiles {
  struct nai_json *json;
  struct nai_strings *frames;
};
NAI_MUST_CHECK int nai_export_profiles(const struct nai_export_profiles *into, const struct nai_model *model,
                                       const struct nai_export_options *options, struct nai_err *err);

/* Compresses on the way to another buffer: print into `text`. The same bytes for the same text. Must not move. */
struct nai_gzip {
  struct nai_sink sink;
  struct nai_buf text;
  struct nai_buf *into;
  void *stream;
};
NAI_MUST_CHECK int nai_gzip_open(struct nai_gzip *gzip, struct nai_buf *into, struct nai_err *err);
/* Completes `into` unless `rc` is an error, which is returned then. To be called once. */
NAI_MUST_CHECK int nai_gzip_close(struct nai_gzip *gzip, int rc, struct nai_err *err);
/* Appends `len` bytes, compressed. */
NAI_MUST_CHECK int nai_gzip_all(struct nai_buf *out, const void *bytes, size_t len, struct nai_err *err);
