/* Which idle gaps are repetitions of each other? Table idle_patterns. */
#include "analyses/analysis.h"
#include "table/columns.h"

enum { DEVICE, CAUSE, NEXT_OP, LAUNCH_API, NVTX_RANGE, GAPS, TOTAL, MEDIAN, LONGEST, LONGEST_START, LONGEST_END };
static const struct nai_column_def columns[] = {
    [DEVICE] = NAI_DEVICE_COLUMN("GPU", .key = true),
    [CAUSE] = NAI_NAME_COLUMN("cause", "cause of the largest part of each gap", .key = true),
    [NEXT_OP] = NAI_KERNEL_NAME_COLUMN("next_op", "operation that ends the gaps", .key = true),
    [LAUNCH_API] = NAI_LABEL_COLUMN("launch_api", "API call that launched it", .key = true),
    [NVTX_RANGE] = NAI_RANGE_NAME_COLUMN("nvtx_range", "innermost NVTX range around the launch", .key = true),
    [GAPS] = NAI_COUNT_COLUMN("gap_count", "gaps", .better = NAI_BETTER_LOWER, .sum = true),
    [TOTAL] = NAI_TIME_COLUMN("total_ns", "summed length", .better = NAI_BETTER_LOWER, .sum = true),
    [MEDIAN] = NAI_AVERAGE_COLUMN("median_ns", "median length"),
    [LONGEST] = NAI_TIME_COLUMN("longest_ns", "longest gap", .better = NAI_BETTER_LOWER),
    [LONGEST_START] = NAI_START_COLUMN("longest_start_ns", "start of the longest gap"),
    [LONGEST_END] = NAI_END_COLUMN("longest_end_ns", "end of the longest gap"),
};
static const struct nai_schema schema =
    NAI_SCHEMA("idle_patterns", "Repeated idle gaps",
               "Gaps on one GPU with the same cause before the same operation; the 1,000 with most time", columns);

static int run(const struct nai_node_io *io, struct nai_err *err) {
  (void)io, (void)err;
  return NAI_OK;
}

static const struct nai_schema *const schemas[] = {&schema, NULL};
const struct nai_node nai_analysis_idle_patterns = {.name = "idle_patterns", .outputs = schemas, .run = run};
