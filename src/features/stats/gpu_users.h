/* What processes did on GPUs. Internal to src/features/stats. */
#pragma once

#include "features/stats/stats.h"

#include "table/intervals.h"

struct nai_stats_times {
  struct nai_interval *at;
  uint32_t count, capacity;
};
/* A process on a GPU. */
struct nai_stats_user {
  int64_t process, device, context; /* context: of its first operation */
  int64_t first, last;              /* start of that one, the latest end */
  struct nai_stats_times times[2];  /* of two kinds, which the report tells apart, or of one */
};
struct nai_stats_users {
  struct nai_stats_source *source;
  struct nai_keyset known;
  struct nai_stats_user *at;
  uint32_t capacity;
};
NAI_MUST_CHECK int nai_stats_add_time(const struct nai_stats_users *users, struct nai_stats_times *times, int64_t start,
                                      int64_t end, struct nai_err *err);
/* An operation of a process, a globalPid. Without times, or at or before 0, it is none. */
NAI_MUST_CHECK int nai_stats_add_use(struct nai_stats_users *users, int64_t global, int64_t device, int64_t context,
                                     int64_t start, int64_t end, int kind, struct nai_err *err);
