/* How one gap is cut into causes. Internal to src/model. */
#pragma once

#include "model/idle/evidence.h"
#include "model/idle/idle.h"

enum {
  NAI_LAUNCH_LATENCY_NS = 20 * 1000,     /* longer after a call is more than launch latency, */
  NAI_SLOW_LATENCY_NS = 100 * 1000,      /* and longer than this wherever launches are slow */
  NAI_DRAIN_EFFECT_NS = 8 * 1000 * 1000, /* a launch that is later than this is no longer late for a wait */
  NAI_OWN_CODE_NS = 500 * 1000, /* longer without a call, a thread does more than launch: hooks of FSDP take 480 us */
  NAI_CPU_LEADS_NS = 2 * 1000 * 1000 /* so far ahead of the GPU, the CPU has made up for a wait */
};

/* A wait that drained a GPU's queue, and idle time that can still be charged to it. */
struct nai_idle_charge {
  uint32_t wait, thread; /* row of api_events (NAI_NO_ROW for none) and its thread */
  int64_t from, until;   /* end of the wait; NAI_DRAIN_EFFECT_NS later */
  int64_t left;          /* no more can be won than the wait took */
};
static inline struct nai_idle_charge nai_idle_charge_to(const struct nai_model *m, uint32_t wait, int64_t left) {
  int64_t end = nai_val(&m->apis.end_ns, wait);
  return (struct nai_idle_charge){wait, nai_val_text(&m->apis.thread, wait), end, end + NAI_DRAIN_EFFECT_NS, left};
}

/* Most gaps are the short distance between an operation and the next, which had been launched before: launch latency as
 * a whole. */
static inline bool nai_idle_is_distance(const struct nai_model *m, const struct nai_idle_gap *gap,
                                        int64_t latency_limit) {
  return gap->end - gap->start <= latency_limit && gap->launch != NAI_NO_ROW &&
         nai_val(&m->apis.end_ns, gap->launch) <= gap->start && !m->evidence->host;
}

/* `at` is where the last gap was, to go on from. Adds to `shares`, and to `host` when the thread was in code
 * of its own; both may be NULL. A wait that drained the queue before this gap replaces `charge`. Of the causes only
 * what lies in `within` counts; NULL for the whole gap. */
void nai_idle_split(struct nai_idle_split *split, struct nai_idle_shares *shares, struct nai_intervals *host,
                    struct nai_idle_charge *charge, struct nai_moment *at, const struct nai_model *model,
                    const struct nai_idle_gap *gap, int64_t latency_limit, const struct nai_interval *within);
