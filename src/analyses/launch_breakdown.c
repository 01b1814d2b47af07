/* What passes between a launch call and the start of its work? Table launch_breakdown. */
#include "analyses/analysis.h"
#include "table/columns.h"

enum {
  DEVICE,
  PID,
  LAUNCHES,
  API_P50,
  API_P90,
  TO_START,
  IN_API,
  STREAM_WAIT,
  DEVICE_WAIT,
  GAP_AFTER_API,
  FLOOR,
  LEAD_P50,
  STARVED,
  STARVED_PCT,
  NEGATIVE
};
static const struct nai_column_def columns[] = {
    [DEVICE] = NAI_DEVICE_COLUMN("GPU", .key = true),
    [PID] = NAI_PID_COLUMN("process", .key = true),
    [LAUNCHES] = NAI_COUNT_COLUMN("launch_count", "calls that launched work on this GPU", .sum = true),
    [API_P50] = NAI_AVERAGE_COLUMN("api_p50_ns", "median duration of these calls"),
    [API_P90] = NAI_AVERAGE_COLUMN("api_p90_ns", "90th percentile of their durations"),
    [TO_START] = NAI_TIME_COLUMN(
        "call_to_start_ns", "start of the call to start of its first operation, summed: the next four add up to it",
        .sum = true),
    [IN_API] =
        NAI_TIME_COLUMN("in_api_ns", "of that: the call had not returned", .better = NAI_BETTER_LOWER, .sum = true),
    [STREAM_WAIT] = NAI_TIME_COLUMN("stream_wait_ns", "of that: it had, and its stream was busy", .sum = true),
    [DEVICE_WAIT] = NAI_TIME_COLUMN("device_wait_ns", "of that: only other streams of the GPU were busy", .sum = true),
    [GAP_AFTER_API] =
        NAI_TIME_COLUMN("gap_after_api_ns", "of that: nothing ran on the GPU", .better = NAI_BETTER_LOWER, .sum = true),
    [FLOOR] = NAI_AVERAGE_COLUMN(
        "launch_floor_ns",
        "call to start of the fastest tenth of the launches that found the GPU idle; empty with fewer than 20"),
    [LEAD_P50] = {"cpu_lead_p50_ns", NAI_F64, NAI_NS,
                  "median of the work still ahead in the stream when a call returned", .prints = NAI_AS_US,
                  .role = NAI_ROLE_METRIC, .better = NAI_BETTER_HIGHER},
    [STARVED] = NAI_COUNT_COLUMN("starved_count", "calls that returned with nothing ahead in the stream",
                                 .better = NAI_BETTER_LOWER, .sum = true),
    [STARVED_PCT] = NAI_PCT_COLUMN("starved_pct", "of the launches", .better = NAI_BETTER_LOWER),
    [NEGATIVE] = NAI_COUNT_COLUMN("negative_latency_count", "operations that start before their call: clocks disagree",
                                  .sum = true),
};
static const struct nai_schema schema =
    NAI_SCHEMA("launch_breakdown", "From call to start", "Launches of one process on one GPU", columns);

static int run(const struct nai_node_io *io, struct nai_err *err) {
  (void)io, (void)err;
  return NAI_OK;
}

static const struct nai_schema *const schemas[] = {&schema, NULL};
const struct nai_node nai_analysis_launch_breakdown = {.name = "launch_breakdown", .outputs = schemas, .run = run};
