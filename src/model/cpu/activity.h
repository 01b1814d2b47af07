/* What a thread did in stretches of time, in layers of evidence each of which divides that time with a remainder
 * (docs/analyses.md, "What the CPU did"). */
#pragma once

#include "model/cpu/cpu.h"
#include "model/idle/evidence.h"

enum nai_activity_layer {
  NAI_ACTIVITY_API,      /* CUDA calls, outermost ones, by name */
  NAI_ACTIVITY_OVERHEAD, /* records of overhead, by name */
  NAI_ACTIVITY_OSRT,     /* OS runtime calls, outermost ones, by name */
  NAI_ACTIVITY_SAMPLES,  /* samples, by function; each stands for a sampling period */
  NAI_ACTIVITY_LAUNCH,   /* launches that end the gaps, by the function they were called from; their number only */
  NAI_ACTIVITY_LAYERS
};
const char *nai_activity_layer_name(enum nai_activity_layer layer);

/* What an OS runtime function does to its thread. */
enum nai_osrt_class { NAI_OSRT_OTHER, NAI_OSRT_LOCK, NAI_OSRT_IO, NAI_OSRT_POLL, NAI_OSRT_SLEEP, NAI_OSRT_PROCESS };
enum nai_osrt_class nai_osrt_class(const char *function);
const char *nai_osrt_class_name(enum nai_osrt_class osrt);
/* Whether it may wait for somebody to type. */
bool nai_osrt_reads_input(const char *function);

/* One name in one layer. */
struct nai_activity_share {
  enum nai_activity_layer layer;
  enum nai_osrt_class class;
  uint32_t id; /* string of the layer's table; of callchain_frames for samples and launches, NAI_NO_STRING for none */
  bool is_module;
  int64_t ns, count; /* count: calls, records, samples, launches */
  int64_t longest;
  const struct nai_chain *caller; /* of the longest piece, NULL where no callchain tells */
};

/* Zeroed memory is one to begin with. */
struct nai_activity {
  int64_t ns; /* looked at */
  struct nai_cpu_time cpu;
  int64_t samples; /* that tell a function */
  int64_t gil_ns, gc_ns;
  int64_t gc_ranges_ns; /* in ranges around garbage collection, which are exact and come before samples */
  int64_t layer_ns[NAI_ACTIVITY_LAYERS]; /* at most ns each */
  struct nai_keyset keys;
  struct nai_activity_share *shares;
  uint32_t capacity;
  bool oom; /* sticky */
};
void nai_activity_free(struct nai_activity *activity);
/* Adds [start, end) of a thread. `at`: where the last one was, to go on from; zeroed to begin with. */
void nai_activity_add(struct nai_activity *activity, struct nai_moment *at, const struct nai_model *model,
                      uint32_t thread, int64_t start, int64_t end);
/* Adds the launch that ends a gap. */
void nai_activity_add_launch(struct nai_activity *activity, const struct nai_model *model, uint32_t launch);
/* Once all is added: gives samples their time and sorts shares by layer, then time, then name. */
void nai_activity_finish(struct nai_activity *activity, const struct nai_model *model);

/* When a thread (row of threads) is heard of first or last, beside CUDA; NAI_NULL_I64 for never. */
int64_t nai_thread_seen(const struct nai_model *model, int32_t thread, bool last);

/* The name of a share. */
const char *nai_activity_name(const struct nai_model *model, const struct nai_activity_share *share);
/* The share that says most about the time, NULL where none takes a tenth of it. */
const struct nai_activity_share *nai_activity_main(const struct nai_activity *activity);
/* In words: "87.0 % ioctl, called by f; about 60.2 % in g; off-CPU 91.0 %". Nothing when nothing is known. */
void nai_activity_print(struct nai_buf *out, const struct nai_model *model, const struct nai_activity *activity);
