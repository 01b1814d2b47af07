/* Why did each GPU have nothing to do, and for how long? Table idle_causes. */
#include "analyses/analysis.h"
#include "table/columns.h"

enum { DEVICE, CAUSE, PARTS, TOTAL, PCT_IDLE, LONGEST, LONGEST_START, LONGEST_END, PCT_WINDOW, WHAT, WHAT_TIME };
static const struct nai_column_def columns[] = {
    [DEVICE] = NAI_DEVICE_COLUMN("GPU", .key = true),
    [CAUSE] = NAI_NAME_COLUMN("cause", "why the GPU had nothing to do", .key = true),
    [PARTS] =
        NAI_COUNT_COLUMN("part_count", "idle gaps with a part of this cause", .better = NAI_BETTER_LOWER, .sum = true),
    [TOTAL] = {"total_ns", NAI_I64, NAI_NS, "summed length of the parts", .prints = NAI_AS_NS | NAI_AS_MS,
               .role = NAI_ROLE_METRIC, .better = NAI_BETTER_LOWER, .sum = true},
    [PCT_IDLE] = NAI_PCT_COLUMN("pct_of_idle", "of this GPU's idle time"),
    [LONGEST] = NAI_TIME_COLUMN("longest_ns", "longest part", .better = NAI_BETTER_LOWER),
    [LONGEST_START] = NAI_START_COLUMN("longest_start_ns", "start of the gap with the longest part"),
    [LONGEST_END] = NAI_END_COLUMN("longest_end_ns", "end of the gap with the longest part"),
    [PCT_WINDOW] = NAI_PCT_COLUMN("pct_of_window", "of this GPU's window", .better = NAI_BETTER_LOWER),
    [WHAT] = NAI_LABEL_COLUMN("what", "the function, overhead or NVTX range that took most of it"),
    [WHAT_TIME] = NAI_TIME_COLUMN("what_ns", "time that this took", .better = NAI_BETTER_LOWER),
};
static const struct nai_schema schema =
    NAI_SCHEMA("idle_causes", "Idle time by cause", "One cause on one GPU; the rows of a GPU add up to its idle time",
               columns);

static int run(const struct nai_node_io *io, struct nai_err *err) {
  (void)io, (void)err;
  return NAI_OK;
}

static const struct nai_schema *const schemas[] = {&schema, NULL};
const struct nai_node nai_analysis_idle_causes = {.name = "idle_causes", .outputs = schemas, .run = run};
