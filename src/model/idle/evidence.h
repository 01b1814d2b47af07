/* What is known of a host thread at any moment: inside which calls it was, and what the profiler and the driver did to
 * it. Part EVIDENCE of the model; internal to src/model. */
#pragma once

#include "model/idle/host_functions.h"
#include "model/model.h"
#include "tables/osrt_events.h"
#include "tables/overhead_events.h"

/* Layers of evidence; an earlier one wins over a later one. */
enum nai_layer {
  NAI_LAYER_PROFILER, /* overhead of the profiler on this thread */
  NAI_LAYER_FLUSH,    /* buffers flushed by any thread of the process */
  NAI_LAYER_LOADING,  /* overhead of module loading on this thread */
  NAI_LAYER_WAIT,     /* calls, from here on */
  NAI_LAYER_ALLOCATION,
  NAI_LAYER_MODULE,
  NAI_LAYER_OTHER,
  NAI_LAYERS,
  NAI_LAYER_LISTS = NAI_LAYER_WAIT, /* overhead lists, one per layer */
  NAI_LAYER_CALLS = NAI_LAYERS - NAI_LAYER_WAIT
};

/* A row that begins at `start`; of all rows up to it in its list, `row` ends last, at `until`. */
struct nai_layer_entry {
  int64_t start, until;
  uint32_t row;
};
struct nai_layer_list {
  struct nai_layer_entry *v;
  uint32_t count, capacity;
};

/* The calls of a thread before one of them: which ends last, by layer. */
struct nai_call_mark {
  int64_t until[NAI_LAYER_CALLS];
  uint32_t row[NAI_LAYER_CALLS];
};
enum { NAI_CALLS_PER_MARK = 32 };

struct nai_evidence {
  struct OVERHEAD_EVENTS_columns overheads;
  struct OSRT_EVENTS_columns osrt;
  struct nai_layer_list *profiler, *loading; /* per thread */
  struct nai_layer_list *flush;              /* per process */
  struct nai_call_mark *marks;               /* one per NAI_CALLS_PER_MARK calls of a thread, the first empty */
  struct nai_groups osrt_by_thread;          /* outermost OS runtime calls; no rows at all without any */
  struct nai_host_functions *host;           /* NULL where no stream ran any */
};

/* A moment of a thread that moves on. To begin with, `model` is NULL. */
struct nai_moment {
  const struct nai_model *model;
  uint32_t thread;
  int64_t time;
  struct nai_layer_list lists[NAI_LAYER_LISTS];
  uint32_t next[NAI_LAYER_LISTS], call, call_end; /* the first entry and call (place in api_by_thread) still to begin */
  int64_t next_entry, next_call;                  /* when they begin, INT64_MAX for never */
  int64_t until[NAI_LAYERS];                      /* a layer is there while the moment is before this */
  uint32_t row[NAI_LAYERS];                       /* row of overhead_events or api_events that it is due to */
};
/* Goes to the thread at t. */
void nai_moment_find(struct nai_moment *moment, const struct nai_model *model, uint32_t thread, int64_t t);
/* Goes on to t, which is not before the moment. */
void nai_moment_move(struct nai_moment *moment, int64_t t);
/* When the next row of any layer begins, INT64_MAX for never. */
static inline int64_t nai_moment_next(const struct nai_moment *moment) {
  return moment->next_entry < moment->next_call ? moment->next_entry : moment->next_call;
}
