/* When did each GPU have nothing to do, and why? Table gpu_idle_gaps. */
#include "analyses/analysis.h"
#include "table/columns.h"

enum {
  DEVICE,
  START,
  END,
  GAP,
  CAUSE,
  NEXT_OP,
  LAUNCH_API,
  LAUNCH_THREAD,
  HOST_ACTIVITY,
  NVTX_RANGE,
  PID,
  TID,
  CAUSE_TIME,
  BEFORE_CALL,
  IN_CALL,
  AFTER_CALL
};
static const struct nai_column_def columns[] = {
    [DEVICE] = NAI_DEVICE_COLUMN("GPU", .key = true),
    [START] = NAI_START_COLUMN("gap_start_ns", "end of the last operation before", .key = true),
    [END] = NAI_END_COLUMN("gap_end_ns", "start of the next operation"),
    [GAP] = NAI_TIME_COLUMN("gap_ns", "length", .better = NAI_BETTER_LOWER, .sum = true),
    [CAUSE] = NAI_NAME_COLUMN("cause", "cause of the largest part of the gap, a word of idle_causes"),
    [NEXT_OP] = NAI_KERNEL_NAME_COLUMN("next_op", "operation that ends the gap"),
    [LAUNCH_API] = NAI_LABEL_COLUMN("launch_api", "API call that launched it"),
    [LAUNCH_THREAD] = NAI_LABEL_COLUMN("launch_thread", "thread that made the call"),
    [HOST_ACTIVITY] =
        NAI_LABEL_COLUMN("host_activity", "the function, overhead or NVTX range that took most of the largest part"),
    [NVTX_RANGE] = NAI_RANGE_NAME_COLUMN("nvtx_range", "innermost NVTX range around the launch"),
    [PID] = NAI_PID_COLUMN("process of the launch"),
    [TID] = NAI_TID_COLUMN("thread of the launch"),
    [CAUSE_TIME] = NAI_TIME_COLUMN("cause_ns", "length of the largest part", .better = NAI_BETTER_LOWER, .sum = true),
    [BEFORE_CALL] = NAI_TIME_COLUMN("before_call_ns", "part of the gap before the launch call began",
                                    .better = NAI_BETTER_LOWER, .sum = true),
    [IN_CALL] = NAI_TIME_COLUMN("in_call_ns", "part of the gap inside the launch call", .better = NAI_BETTER_LOWER,
                                .sum = true),
    [AFTER_CALL] = NAI_TIME_COLUMN("after_call_ns", "part of the gap after the launch call had returned",
                                   .better = NAI_BETTER_LOWER, .sum = true),
};
static const struct nai_schema schema =
    NAI_SCHEMA("gpu_idle_gaps", "Longest idle gaps",
               "One stretch of time in which a GPU ran nothing; the 10,000 longest", columns);

static int run(const struct nai_node_io *io, struct nai_err *err) {
  (void)io, (void)err;
  return NAI_OK;
}

static const struct nai_schema *const schemas[] = {&schema, NULL};
const struct nai_node nai_analysis_idle_gaps = {.name = "idle_gaps", .outputs = schemas, .run = run};
