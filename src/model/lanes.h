/* Lanes: the rows of a timeline, each with the events that are drawn in it. */
#pragma once

#include "table/column.h"

struct nai_model;

enum nai_lane_kind {
  NAI_LANE_API,
  NAI_LANE_KERNEL,
  NAI_LANE_COPY,
  NAI_LANE_SET,
  NAI_LANE_GRAPH,
  NAI_LANE_NVTX,      /* push/pop ranges, which nest */
  NAI_LANE_NVTX_ASYNC /* start/end ranges, which overlap as they like */
};

struct nai_lane {
  enum nai_lane_kind kind;
  int32_t gpu;                              /* device id, -1 for host lanes */
  int32_t process, thread, context, stream; /* rows of processes and threads; -1 where they do not apply */
  const uint32_t *rows;                     /* row numbers of its event table, in start order */
  uint32_t count;                           /* one at least */
};

/* API calls by thread, then each GPU by process, context, stream and kind, then NVTX ranges by thread. */
struct nai_lanes {
  struct nai_lane *v;
  uint32_t count;
  uint64_t total; /* events in all lanes */
};

/* Start and end columns of a lane's event table. */
void nai_lane_times(const struct nai_column **start, const struct nai_column **end, const struct nai_model *model,
                    enum nai_lane_kind kind);
/* Row of api_events that launched an event of a lane; NAI_NO_ROW. */
uint32_t nai_lane_call(const struct nai_model *model, enum nai_lane_kind kind, uint32_t row);
/* Its whole name; `room` has NAI_KIND_NAME_MAX bytes. "" where it has none. */
const char *nai_lane_event_name(char *room, const struct nai_model *model, enum nai_lane_kind kind, uint32_t row);
