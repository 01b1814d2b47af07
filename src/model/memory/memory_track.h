/* Which memory was allocated when: every allocation with its end, and what each kind of memory added up to. Part MEMORY
 * of the model. */
#pragma once

#include "model/model.h"

/* Memory of one kind, of one process, on one GPU. */
struct nai_memory_use {
  int32_t process;            /* row of processes, -1 unknown */
  int64_t pid, device_id;     /* as tables have them: device_id NULL for the host's memory */
  const char *kind;           /* "Device", ... */
  int64_t kind_id;            /* CUPTI memory kind, NULL unknown */
  int64_t allocs, frees;      /* calls */
  int64_t allocated;          /* bytes */
  int64_t live, live_count;   /* bytes at the end, besides pools; allocations at the end */
  int64_t pool_bytes;         /* of all pools, at the end */
  int64_t pool_used;          /* the same, without what they hold in store */
  int64_t peak, peak_used;    /* held at most: with whole pools, and with their used parts only */
  int64_t peak_time;          /* when `peak` was reached first */
  uint32_t peak_event;        /* the same */
  int64_t unknown_frees;      /* freed but not allocated in the capture */
  int64_t reused, mismatched; /* allocated twice; freed with another size */
  int64_t trims, trimmed;     /* pools: times, bytes given back */
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
/* Bytes in use and held by pools together. */
static inline int64_t nai_memory_held(const struct nai_memory_use *use) { return use->live + use->pool_bytes; }
