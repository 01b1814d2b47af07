/* Items: what the page shows of each lane's events. Internal to src/viewer. */
#pragma once

#include "viewer/viewer.h"

/* One event, or several that share a bucket of time. */
struct nai_item {
  int64_t start, end;
  uint32_t row;   /* of the lane's event table: the event, or one that stands for an aggregate */
  uint32_t count; /* 1 for an event */
  int64_t busy;   /* ns inside an aggregate, 0 for an event */
  uint32_t mix,
      mix_count; /* of an aggregate of kernels: its entries in the lane's `mix`; host_lanes.h has its own use */
};

/* Time of one kernel category inside an aggregate. */
struct nai_mix {
  int category;
  int64_t ns; /* sum of durations */
};

struct nai_lane_items {
  const struct nai_lane *lane;
  const struct nai_column *start, *end; /* of its event table */
  struct nai_item *v;                   /* in start order; NULL: the items are the lane's events, one by one */
  uint32_t count, capacity;
  struct nai_mix *mix; /* of all aggregates; each aggregate's longest category first */
  uint32_t mix_count, mix_capacity;
};

/* Event i of a lane. */
static inline struct nai_item nai_item_of_event(const struct nai_lane_items *items, uint32_t i) {
  uint32_t row = items->lane->rows[i];
  return (
      struct nai_item){.start = nai_val(items->start, row), .end = nai_val(items->end, row), .row = row, .count = 1};
}
/* Item i of a lane. */
static inline struct nai_item nai_item_at(const struct nai_lane_items *items, uint32_t i) {
  return items->v ? items->v[i] : nai_item_of_event(items, i);
}

struct nai_items {
  struct nai_arena *arena;      /* of everything */
  struct nai_lane_items *lanes; /* as many as the model has */
  uint32_t lane_count;
  bool aggregated;
  int halvings;                /* of whatever an aggregated timeline may hold: see nai_items_share */
  struct nai_intervals detail; /* where every event of an aggregated timeline is kept */
  int64_t first_ns, bucket_ns; /* outside of it, events that start in the same bucket since first_ns are aggregated */
};

enum { NAI_ITEMS_ALL = -1, NAI_ITEMS_MAX_HALVINGS = 10 };

/* How much of something there may be: of what usually may be `most`. */
static inline int64_t nai_items_share(const struct nai_items *items, int64_t most) {
  int64_t share = items->halvings > 0 ? most >> items->halvings : most;
  return share < 2 ? 2 : share;
}

/* Fills every lane's items: every event (NAI_ITEMS_ALL), or those in the detail windows, long ones, and aggregates. */
NAI_MUST_CHECK int nai_items_build(struct nai_items *out, const struct nai_model *model, int halvings,
                                   const struct nai_interval *places, size_t place_count, struct nai_arena *arena,
                                   struct nai_err *err);

/* detail.c: the stretches of time of which an aggregated timeline keeps every event: one in the middle of the window,
 * as long as the budget allows, then around each place that lies outside of it, most important first. */
NAI_MUST_CHECK int nai_items_choose_detail(struct nai_items *items, const struct nai_model *model,
                                           const struct nai_interval *places, size_t place_count, struct nai_err *err);
