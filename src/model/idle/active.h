/* Active time: the part of a GPU's window that findings judge, without pauses, set-up and checks. Part ACTIVE. */
#pragma once

#include "model/idle/idle.h"

/* A stretch of the window: work, or a pause. */
struct nai_span {
  int64_t start, end; /* ns */
  bool pause;
};

/* The window of a GPU as work, pause, work, ..., work: at least one, and `count` is odd. A gap between operations is a
 * pause when it is the longest one left, at least 10 % of the window without the pauses found before, at least 1 ms,
 * and at least 10 times the 99th percentile of the other gaps that are left; the first that is not ends the search.
 * Nothing for a GPU that did nothing. The spans are the arena's. */
NAI_MUST_CHECK int nai_spans_find(struct nai_span **spans, uint32_t *count, const struct nai_gpu *gpu,
                                  struct nai_arena *arena, struct nai_err *err);

/* What a stretch of the window is: set-up lies before the first kernel, a check or warm-up has little of the kernel
 * time. */
enum nai_span_kind { NAI_SPAN_IS_ACTIVE, NAI_SPAN_IS_SET_UP, NAI_SPAN_IS_CHECK, NAI_SPAN_IS_PAUSE };
struct nai_gpu_span {
  struct nai_span at;
  enum nai_span_kind kind;
  int64_t ops, kernels, kernel_ns; /* that start in it; graphs are kernels here */
};

/* The window of one GPU. */
struct nai_gpu_active {
  struct nai_gpu_span *spans; /* in order, without gaps; none of a GPU that did nothing */
  uint32_t count;
  struct nai_intervals active; /* the active ones */
};

/* Whether `time` lies in active time, or outside of the window. *at: its span, where to go on from for later times; 0
 * first. */
static inline bool nai_gpu_is_active(const struct nai_gpu_active *active, uint32_t *at, int64_t time) {
  uint32_t i = *at;
  while (i < active->count && active->spans[i].at.end <= time)
    i++;
  if (i == active->count)
    return true;
  *at = i;
  return active->spans[i].kind == NAI_SPAN_IS_ACTIVE;
}
/* Does a gap of a GPU lie in active time? Of a model without that part, all do. *at as above, for later gaps. */
static inline bool nai_idle_gap_active(uint32_t *at, const struct nai_model *m, uint32_t gpu, uint32_t number) {
  return !m->active || nai_gpu_is_active(&m->active[gpu], at, nai_idle_span(&m->gpus[gpu], number).start);
}
