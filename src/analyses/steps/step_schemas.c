#include "analyses/steps/step_schemas.h"

#include "table/columns.h"

#define LESS .better = NAI_BETTER_LOWER

static const struct nai_column_def steps_columns[] = {
    [ST_PID] = NAI_PID_COLUMN("process", .key = true),
    [ST_DEVICE] = NAI_DEVICE_COLUMN("GPU", .key = true),
    [ST_STEP] = {"step", NAI_I64, NAI_ID, "number of the step in its process, from 0", .key = true},
    [ST_LABEL] = NAI_NAME_COLUMN("label", "name of the range that begins it"),
    [ST_STATE] = NAI_LABEL_COLUMN("state", "steady, warm-up, or truncated by the capture"),
    [ST_CPU_START] = {"cpu_start_ns", NAI_I64, NAI_TIMESTAMP_NS, "its boundary on the host"},
    [ST_CPU_END] = {"cpu_end_ns", NAI_I64, NAI_TIMESTAMP_NS, "the next boundary; of the last step its own end"},
    [ST_START] = NAI_START_COLUMN("gpu_start_ns", "start of the first operation that it launched on this GPU"),
    [ST_END] = NAI_END_COLUMN("gpu_end_ns", "the same of the next step; of the last step the end of its work"),
    [ST_DURATION] = NAI_TIME_COLUMN("duration_ns", "from gpu_start to gpu_end", LESS, .sum = true),
    [ST_COMPUTE] = NAI_TIME_COLUMN("compute_ns", "time in it with compute running on the GPU", .sum = true),
    [ST_COMM] = NAI_TIME_COLUMN("exposed_comm_ns", "time in it with communication and no compute", LESS, .sum = true),
    [ST_COPY] = NAI_TIME_COLUMN("exposed_copy_ns", "time in it with copies or sets only", LESS, .sum = true),
    [ST_IDLE] = NAI_TIME_COLUMN("idle_ns", "time in it with nothing running", LESS, .sum = true),
    [ST_END_IDLE] = NAI_TIME_COLUMN("end_idle_ns", "the part of it right before the next step's first operation", LESS,
                                    .sum = true),
    [ST_INPUT_WAIT] =
        NAI_TIME_COLUMN("input_wait_ns", "end_idle while the host's own code was getting the next step's input, else 0",
                        LESS, .sum = true),
    [ST_BETWEEN] =
        NAI_TIME_COLUMN("between_ns", "on the host: from the end of its range to the next boundary", LESS, .sum = true),
    [ST_KERNELS] = NAI_COUNT_COLUMN("kernel_count", "kernels that it launched", .sum = true),
    [ST_KERNEL_NS] = NAI_TIME_COLUMN("kernel_ns", "summed durations of these", .sum = true),
    [ST_LAUNCH_CALLS] = NAI_COUNT_COLUMN("launch_calls", "API calls that launched its work on this GPU", .sum = true),
    [ST_LAUNCH_NS] = NAI_TIME_COLUMN("launch_api_ns", "time inside these", LESS, .sum = true),
    [ST_BLOCKED] = NAI_TIME_COLUMN("blocking_sync_ns",
                                   "on the host: time in blocking calls, summed over the threads of the process", LESS),
    [ST_HTOD] = NAI_BYTES_COLUMN("htod_bytes", "copied from host to device", .sum = true),
    [ST_DTOH] = NAI_BYTES_COLUMN("dtoh_bytes", "copied from device to host", .sum = true),
    [ST_OTHER_BYTES] = NAI_BYTES_COLUMN("other_copy_bytes", "copied in other directions", .sum = true),
    [ST_ALLOCATIONS] = NAI_COUNT_COLUMN("alloc_calls", "on the host: calls that allocate or free memory", LESS),
    [ST_ALLOCATION_NS] = NAI_TIME_COLUMN("alloc_ns", "time inside these", LESS),
    [ST_GRAPHS] = NAI_COUNT_COLUMN("graph_launches", "CUDA graphs traced as one envelope", .sum = true),
    [ST_FIRST_USE] = NAI_COUNT_COLUMN("first_use_kernels", "kernel names that the process had not run before", LESS),
    [ST_LOADING] = NAI_TIME_COLUMN("loading_ns", "on the host: loading and compiling code for the GPU", LESS),
    [ST_OUTLIER] = {"is_outlier", NAI_I32, NAI_ID, "1: much longer than the median of the steady steps, else 0"},
    [ST_EXCESS] = NAI_TIME_COLUMN("excess_ns", "duration minus the median; outliers only", LESS, .sum = true),
    [ST_CAUSE] = NAI_LABEL_COLUMN(
        "cause", "which part of the excess is the largest: compute, exposed_comm, exposed_copy, idle; spread"),
    [ST_CAUSE_NS] = NAI_TIME_COLUMN("cause_ns", "this part minus its median", LESS, .sum = true),
    [ST_DETAIL] = NAI_LABEL_COLUMN("cause_detail", "what it is due to"),
};
const struct nai_schema nai_steps_schema =
    NAI_SCHEMA("steps", "Steps", "One step of one process on one GPU; its parts add up to its duration", steps_columns);

#define MEDIAN(name, what, ...) NAI_TIME_COLUMN(name, "median of the steady steps: " what, __VA_ARGS__)
#define MEDIAN_COUNT(name, what, ...) NAI_COUNT_COLUMN(name, "median of the steady steps: " what, __VA_ARGS__)
#define MEDIAN_BYTES(name, what) NAI_BYTES_COLUMN(name, "median of the steady steps: " what, )

static const struct nai_column_def summary_columns[] = {
    [SS_PID] = NAI_PID_COLUMN("process", .key = true),
    [SS_DEVICE] = NAI_DEVICE_COLUMN("GPU", .key = true),
    [SS_METHOD] = NAI_LABEL_COLUMN("method", "what tells the boundaries: user, nvtx or kernels"),
    [SS_CONFIDENCE] = NAI_PCT_COLUMN("confidence", "how sure it is that these are steps", ),
    [SS_NAME] = NAI_NAME_COLUMN("step_name", "name of the ranges, digits as #; or the kernels that tell"),
    [SS_TID] = NAI_TID_COLUMN("thread of the ranges"),
    [SS_STEPS] = NAI_COUNT_COLUMN("steps", "steps with work on this GPU"),
    [SS_STEADY] = NAI_COUNT_COLUMN("steady_steps", "of these: neither warm-up nor truncated"),
    [SS_WARM_UP] = NAI_COUNT_COLUMN("warm_up_steps", "slower ones at the beginning"),
    [SS_TRUNCATED] = NAI_COUNT_COLUMN("truncated_steps", "cut by the capture"),
    [SS_OUTLIERS] = NAI_COUNT_COLUMN("outlier_steps", "steady steps that are much longer than the median", LESS),
    [SS_MEDIAN] = MEDIAN("median_ns", "duration", LESS),
    [SS_MAD] = NAI_TIME_COLUMN("mad_ns", "median distance of their durations from the median", LESS),
    [SS_P90] = NAI_TIME_COLUMN("p90_ns", "nine tenths of the steady steps are not longer", LESS),
    [SS_MIN] = NAI_TIME_COLUMN("min_ns", "the shortest steady step", LESS),
    [SS_MAX] = NAI_TIME_COLUMN("max_ns", "the longest steady step", LESS),
    [SS_CV] = NAI_PCT_COLUMN("cv_pct", "standard deviation of their durations, of the mean", LESS),
    [SS_RATE] = {"steps_per_s", NAI_F64, NAI_PER_S, "steady steps per second", .role = NAI_ROLE_METRIC,
                 .better = NAI_BETTER_HIGHER},
    [SS_DRIFT] = NAI_PCT_COLUMN("drift_pct_per_step",
                                "by how much steady steps get longer from one to the next (Theil-Sen), of the median; "
                                "0 where they get shorter, NULL for fewer than 20",
                                LESS),
    [SS_SPREAD] = NAI_TIME_COLUMN("spread_ns", "what steady steps are longer than the median, summed", LESS),
    [SS_EXCESS] = NAI_TIME_COLUMN("excess_ns", "the same of outliers only", LESS),
    [SS_STEADY_NS] = NAI_TIME_COLUMN("steady_ns", "summed durations of the steady steps"),
    [SS_WARM_UP_NS] = NAI_TIME_COLUMN("warm_up_ns", "summed durations of warm-up steps", LESS),
    [SS_WARM_UP_PCT] = NAI_PCT_COLUMN("warm_up_pct", "the same, of the durations of all steps", LESS),
    [SS_COMPUTE] = MEDIAN("median_compute_ns", "compute", ),
    [SS_COMM] = MEDIAN("median_exposed_comm_ns", "exposed communication", LESS),
    [SS_COPY] = MEDIAN("median_exposed_copy_ns", "exposed copies", LESS),
    [SS_IDLE] = MEDIAN("median_idle_ns", "idle time", LESS),
    [SS_IDLE_PCT] = NAI_PCT_COLUMN("idle_pct", "idle time of all steady steps, of their durations", LESS),
    [SS_END_IDLE] = MEDIAN("median_end_idle_ns", "idle time before the next step's first operation", LESS),
    [SS_INPUT_WAIT] = NAI_TIME_COLUMN("input_wait_ns", "summed input_wait of the steady steps", LESS),
    [SS_INPUT_WAIT_PCT] = NAI_PCT_COLUMN("input_wait_pct", "the same, of their durations", LESS),
    [SS_INPUT_WAIT_STEPS] =
        NAI_COUNT_COLUMN("input_wait_steps", "steady steps that wait for input a tenth of their time or more", LESS),
    [SS_KERNELS] = MEDIAN_COUNT("median_kernel_count", "kernels", ),
    [SS_KERNEL_NS] = MEDIAN("median_kernel_ns", "summed kernel durations", ),
    [SS_LAUNCH_CALLS] = MEDIAN_COUNT("median_launch_calls", "API calls that launched work", LESS),
    [SS_LAUNCH_NS] = MEDIAN("median_launch_api_ns", "time inside these", LESS),
    [SS_BLOCKED] = MEDIAN("median_blocking_sync_ns", "time of host threads in blocking calls", LESS),
    [SS_HTOD] = MEDIAN_BYTES("median_htod_bytes", "copied from host to device"),
    [SS_DTOH] = MEDIAN_BYTES("median_dtoh_bytes", "copied from device to host"),
    [SS_OTHER_BYTES] = MEDIAN_BYTES("median_other_copy_bytes", "copied in other directions"),
    [SS_ALLOCATIONS] = MEDIAN_COUNT("median_alloc_calls", "calls that allocate or free memory", LESS),
    [SS_ALLOCATION_NS] = MEDIAN("median_alloc_ns", "time inside these", LESS),
    [SS_GRAPHS] = MEDIAN_COUNT("median_graph_launches", "CUDA graphs traced as one envelope", ),
    [SS_START] = NAI_START_COLUMN("first_start_ns", "start of the first step on this GPU"),
    [SS_END] = NAI_END_COLUMN("last_end_ns", "end of the last one"),
};
const struct nai_schema nai_step_summary_schema =
    NAI_SCHEMA("step_summary", "Step time", "The steps of one process on one GPU; none where no boundary was found",
               summary_columns);

static const struct nai_column_def unit_columns[] = {
    [RU_PID] = NAI_PID_COLUMN("process", .key = true),
    [RU_DEVICE] = NAI_DEVICE_COLUMN("GPU", .key = true),
    [RU_CONTEXT] = {"context_id", NAI_I32, NAI_ID, "CUDA context"},
    [RU_STREAM] = {"stream_id", NAI_I32, NAI_ID, "CUDA stream", .role = NAI_ROLE_STREAM},
    [RU_UNIT] = {"unit", NAI_I64, NAI_ID, "number of the unit, from the largest", .key = true},
    [RU_KERNELS] = NAI_COUNT_COLUMN("kernel_count", "kernels of the stream in one repetition"),
    [RU_COUNT] = NAI_COUNT_COLUMN("repetitions", "how often it begins"),
    [RU_MATCH] = NAI_PCT_COLUMN("match_pct", "kernels inside it that are the same one repetition later", ),
    [RU_MEDIAN] = NAI_TIME_COLUMN("median_ns", "median time from one repetition to the next", LESS),
    [RU_CV] = NAI_PCT_COLUMN("cv_pct", "standard deviation of these times, of their mean", LESS),
    [RU_LEVEL] = NAI_LABEL_COLUMN("level", "what it probably is: layer, microbatch or unknown"),
    [RU_PATH] = NAI_RANGE_NAME_COLUMN("nvtx_path", "NVTX range around its first launch, digits as #"),
    [RU_FIRST_KERNEL] = NAI_KERNEL_NAME_COLUMN("first_kernel", "its first kernel"),
    [RU_START] = NAI_START_COLUMN("start_ns", "start of the first repetition"),
    [RU_END] = NAI_END_COLUMN("end_ns", "end of the last one"),
};
const struct nai_schema nai_repeating_units_schema =
    NAI_SCHEMA("repeating_units", "Repeating units",
               "A sequence of kernels that a process repeats on its busiest stream, without evidence that it is a step",
               unit_columns);

static const struct nai_column_def search_columns[] = {
    [SF_PID] = NAI_PID_COLUMN("process", .key = true),
    [SF_METHOD] = NAI_NAME_COLUMN("method", "what tells its steps: user, nvtx, kernels or none"),
    [SF_STEPS] = NAI_COUNT_COLUMN("steps", "steps found"),
    [SF_WHY] = NAI_LABEL_COLUMN("reason", "why there are none"),
};
const struct nai_schema nai_step_search_schema =
    NAI_SCHEMA("step_search", "Search for steps",
               "One process that repeats something on a GPU: what tells its steps, or why it has none", search_columns);
