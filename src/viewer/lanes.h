/* Lanes: the rows of the timeline and the events in them. Internal to src/viewer. */
#ifndef NAI_VIEWER_LANES_H
#define NAI_VIEWER_LANES_H

#include "viewer/viewer.h"

enum lane_kind { LANE_API, LANE_KERNEL, LANE_COPY, LANE_SET, LANE_GRAPH, LANE_NVTX, LANE_NVTX_ASYNC };

/* What the page shows for one event, or for several that share a bucket of time. */
struct item {
  int64_t start, end;
  uint32_t row;   /* of the lane's event table: the event, or the longest of an aggregate */
  uint32_t count; /* 1 for an event */
  int64_t busy;   /* ns inside an aggregate, 0 for an event */
};

struct lane {
  enum lane_kind kind;
  int32_t gpu;                              /* device id, -1 for host lanes */
  int32_t process, thread, context, stream; /* rows of processes and threads; -1 where they do not apply */
  const uint32_t *rows; /* row numbers of its event table, in start order: the model's, or in lanes.rows */
  uint32_t count;
  struct item *items; /* in start order; see lanes_fill */
  uint32_t item_count, item_capacity;
};

/* Every lane of the page: API calls, then GPUs, then NVTX. */
struct lanes {
  struct lane *v;
  uint32_t count, capacity;
  uint32_t *rows, used; /* row numbers of lanes the model has no such list for */
  uint64_t total;       /* events */
  bool aggregated;
  struct nai_intervals detail; /* where every event of an aggregated timeline is kept */
  int64_t first_ns, bucket_ns; /* outside of it, events that start in the same bucket since first_ns are aggregated */
};

/* Lanes and their rows. */
NAI_MUST_CHECK int lanes_build(struct lanes *out, const struct nai_model *model, struct nai_err *err);
/* Decides on aggregation and the detail windows. */
NAI_MUST_CHECK int lanes_plan(struct lanes *lanes, const struct nai_model *model, const struct nai_interval *places,
                              size_t place_count, struct nai_err *err);
/* Fills every lane's items. */
NAI_MUST_CHECK int lanes_fill(struct lanes *lanes, const struct nai_model *model, struct nai_err *err);
void lanes_free(struct lanes *lanes);

/* Start and end columns of a lane's event table. */
void lane_times(const struct nai_column **start, const struct nai_column **end, const struct nai_model *model,
                enum lane_kind kind);

#endif
