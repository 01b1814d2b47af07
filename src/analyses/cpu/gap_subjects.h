/* The stretches of time for which is told what the CPU did: single gaps, gaps that repeat, the launching threads' own
 * code, and the host before and after GPU work. Internal to src/analyses/cpu. */
#pragma once

#include "analyses/node.h"
#include "model/cpu/activity.h"
#include "model/cpu/collections.h"
#include "model/cpu/wakers.h"
#include "model/cpu/workers.h"
#include "model/idle/idle.h"

/* In the order of the table. */
enum nai_gap_scope {
  NAI_SCOPE_GAP,
  NAI_SCOPE_PATTERN,
  NAI_SCOPE_HOST_CODE,
  NAI_SCOPE_SET_UP,
  NAI_SCOPE_BEFORE_WORK,
  NAI_SCOPE_AFTER_WORK,
  NAI_SCOPES
};

/* Time of one thread. */
struct nai_gap_subject {
  enum nai_gap_scope scope;
  uint32_t gpu;            /* index of the GPU, NAI_NO_ROW before and after GPU work */
  int32_t thread;          /* row of threads, -1 where no launch is known */
  int64_t pattern;         /* row of idle_patterns, -1 for none */
  struct nai_idle_gap gap; /* the gap, or the longest of many (the earliest of equals) */
  int64_t gaps;            /* how many */
  struct nai_activity does;
  struct nai_wakes wakes;         /* of host code */
  struct nai_intervals stretches; /* of it that are long enough for other threads to do something, in order */
};

struct nai_gap_subjects {
  const struct nai_model *m;
  const struct nai_table *gaps, *patterns; /* gpu_idle_gaps, idle_patterns */
  struct nai_arena *arena;
  struct nai_gap_subject *v;
  uint32_t count, capacity;
  struct nai_keyset keys; /* of pattern and host code subjects: their numbers in `v` are `of_key` */
  uint32_t *of_key, key_capacity;
  struct nai_moment at;
  struct nai_collections collections;
  struct nai_workers workers;
};
void nai_gap_subjects_free(struct nai_gap_subjects *subjects);
/* Finds and finishes all of them, and sorts them as the table has them. */
NAI_MUST_CHECK int nai_gap_subjects_find(struct nai_gap_subjects *out, const struct nai_node_io *io,
                                         struct nai_err *err);
