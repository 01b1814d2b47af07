/* Which memory was allocated when: every allocation with its end, and what each kind of memory added up to at its
 * highest. Internal to src/analyses. */
#pragma once

#include "model/model.h"

/* Memory of one kind, of one process, on one GPU. */
struct nai_memory_use {
  int32_t process, device, kind;    /* row of processes; device_id, -1 for the host's; CUPTI memory kind */
  int64_t allocs, frees, allocated; /* calls, bytes */
  int64_t live, live_count;         /* bytes now, besides pools; allocations now */
  int64_t pool_bytes, pool_used;    /* of all pools now */
  int64_t peak, peak_used, peak_time, first_time;
  uint32_t peak_event;
  int64_t unknown_frees, reused, mismatched; /* freed but not allocated in the capture; allocated twice; other size */
  int64_t trims, trimmed;                    /* pools: times, bytes given back */
};

/* Events are numbered in the order in which they are looked at. */
struct nai_allocation {
  uint32_t use, row;         /* index of its nai_memory_use; row of memory_usage_events */
  uint32_t from, until;      /* events; NAI_NO_ROW: never released */
  int64_t bytes, until_time; /* until_time: NAI_NULL_I64 for never */
};

/* What a use holds from a moment on: with whole pools, and with their used parts only. */
struct nai_memory_point {
  int64_t time, held, used;
  uint32_t use;
};

struct nai_memory_track {
  struct nai_memory_use *uses;
  uint32_t use_count, use_capacity;
  struct nai_allocation *allocations; /* in the order of their events */
  uint32_t allocation_count;
  struct nai_memory_point *points; /* per process by time */
  uint32_t point_count;
};
NAI_MUST_CHECK int nai_memory_track_new(struct nai_memory_track *track, const struct nai_model *model,
                                        struct nai_err *err);
void nai_memory_track_free(struct nai_memory_track *track);
/* Writes whose memory it is: process, GPU (if of one), kind and its id, into these columns. */
void nai_memory_put_place(struct nai_table *table, int64_t row, int pid, int device, int label, int id,
                          const struct nai_model *m, const struct nai_memory_use *use);
/* Bytes in use and held by pools together. */
static inline int64_t nai_memory_held(const struct nai_memory_use *use) { return use->live + use->pool_bytes; }
/* The same without what pools hold in store. */
static inline int64_t nai_memory_used(const struct nai_memory_use *use) { return use->live + use->pool_used; }
