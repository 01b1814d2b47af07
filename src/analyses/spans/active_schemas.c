/* Schemas of active_spans and gpu_active. */
#include "analyses/spans/active_spans.h"

#include "table/columns.h"

#define NS_COLUMN(name, what, ...) \
  { name, NAI_I64, NAI_NS, what, .prints = NAI_AS_NS | NAI_AS_MS, .role = NAI_ROLE_METRIC, .sum = true, __VA_ARGS__ }

static const struct nai_column_def span_columns[] = {
    [AS_DEVICE] = NAI_DEVICE_COLUMN("GPU", .key = true),
    [AS_SPAN] = {"span", NAI_I32, NAI_ID, "number of the span on its GPU, from 0, in time order", .key = true},
    [AS_KIND] = NAI_NAME_COLUMN("kind", "active, set_up, check or pause"),
    [AS_START] = NAI_START_COLUMN("start_ns", "start"),
    [AS_END] = NAI_END_COLUMN("end_ns", "end, exclusive"),
    [AS_DURATION] = NS_COLUMN("duration_ns", "length"),
    [AS_COMPUTE] = NS_COLUMN("compute_ns", "time with a compute kernel or a graph running"),
    [AS_COMM] = NS_COLUMN("exposed_comm_ns", "communication kernels and no compute running"),
    [AS_COPY] = NS_COLUMN("exposed_copy_ns", "copies or sets and no kernel running"),
    [AS_IDLE] = NS_COLUMN("idle_ns", "time with nothing running"),
    [AS_PCT] = NAI_PCT_COLUMN("pct_of_window", "length, of the GPU's window"),
    [AS_OPS] =
        NAI_COUNT_COLUMN("operation_count", "kernels, copies, sets and graph launches that start in it", .sum = true),
    [AS_KERNELS] = NAI_COUNT_COLUMN("kernel_count", "kernels and graph launches that start in it", .sum = true),
    [AS_KERNEL_TIME] = NAI_TIME_COLUMN("kernel_time_ns", "their summed durations", .sum = true),
    [AS_CAUSE] = NAI_LABEL_COLUMN(
        "cause",
        "what most of a pause is recorded as: the cause of its idle gap, or more finely; NULL for other kinds"),
    [AS_WHAT] = NAI_LABEL_COLUMN("what", "the function or record behind the cause"),
    [AS_CAUSE_NS] = NAI_TIME_COLUMN("cause_ns", "the part of the pause that the cause covers"),
};
const struct nai_schema nai_active_spans_schema =
    NAI_SCHEMA("active_spans", "Active spans",
               "One stretch of a GPU's window: work, or a pause between; the spans of a GPU partition its window",
               span_columns);

static const struct nai_column_def gpu_columns[] = {
    [GA_DEVICE] = NAI_DEVICE_COLUMN("GPU", .key = true),
    [GA_WINDOW] = NS_COLUMN("window_ns", "first operation start to last operation end", .better = NAI_BETTER_LOWER),
    [GA_ACTIVE] = NS_COLUMN("active_ns", "length of its active spans", .better = NAI_BETTER_LOWER),
    [GA_PAUSE] = NS_COLUMN("pause_ns", "length of its pauses", .better = NAI_BETTER_LOWER),
    [GA_OTHER] = NS_COLUMN("set_up_ns", "length of its spans of set-up and checks", .better = NAI_BETTER_LOWER),
    [GA_COMPUTE] = NS_COLUMN("compute_ns", "compute, within active spans"),
    [GA_COMM] = NS_COLUMN("exposed_comm_ns", "exposed communication, within active spans", .better = NAI_BETTER_LOWER),
    [GA_COPY] =
        NS_COLUMN("exposed_copy_ns", "exposed copies and sets, within active spans", .better = NAI_BETTER_LOWER),
    [GA_IDLE] = NS_COLUMN("idle_ns", "nothing running, within active spans", .better = NAI_BETTER_LOWER),
    [GA_COMPUTE_PCT] = NAI_PCT_COLUMN("compute_pct", "compute, of active_ns", .better = NAI_BETTER_HIGHER),
    [GA_COMM_PCT] =
        NAI_PCT_COLUMN("exposed_comm_pct", "exposed communication, of active_ns", .better = NAI_BETTER_LOWER),
    [GA_COPY_PCT] = NAI_PCT_COLUMN("exposed_copy_pct", "exposed copies, of active_ns", .better = NAI_BETTER_LOWER),
    [GA_IDLE_PCT] = NAI_PCT_COLUMN("idle_pct", "idle, of active_ns", .better = NAI_BETTER_LOWER),
    [GA_PAUSES] = NAI_COUNT_COLUMN("pause_count", "pauses", .sum = true),
    [GA_LAUNCHES] = NAI_COUNT_COLUMN("kernel_count", "kernels and graph launches within active spans", .sum = true),
    [GA_KERNEL_TIME] = NAI_TIME_COLUMN("kernel_time_ns", "their summed durations", .sum = true),
    [GA_STEADY] = {"steady", NAI_I32, NAI_ID,
                   "1 when what runs repeats: at least 20 kernels in active spans, and at least half of their time in "
                   "what occurs 5 times or more",
                   .role = NAI_ROLE_LABEL},
    [GA_REPEATED_PCT] =
        NAI_PCT_COLUMN("repeated_pct", "of the kernel time within active spans: in kernels of a name, grid and block "
                                       "that occur 5 times or more there"),
    [GA_START] = NAI_START_COLUMN("active_start_ns", "start of the first active span"),
    [GA_END] = NAI_END_COLUMN("active_end_ns", "end of the last active span"),
    [GA_LABEL] = NAI_LABEL_COLUMN("gpu", "how reports call this GPU"),
};
const struct nai_schema nai_gpu_active_schema =
    NAI_SCHEMA("gpu_active", "Active time of GPUs",
               "One GPU; compute + exposed communication + exposed copy + idle = active, all within active spans",
               gpu_columns);
