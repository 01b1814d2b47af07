#pragma once
#include "tables/declare.h"

#define STEP_SUMMARY_COLUMNS(C, T)                                                                                     \
  C(T, pid, PID, "process", .key = true)                                                                               \
  C(T, device_id, DEVICE, "GPU", .key = true)                                                                          \
  C(T, method, LABEL, "what tells the boundaries: user, serving, nvtx or kernels", .labels = nai_method_labels)        \
  C(T, confidence, PCT, "how sure it is that these are steps")                                                         \
  C(T, step_name, NAME, "name of the ranges, digits as #; or the kernels that tell")                                   \
  C(T, tid, TID, "thread of the ranges")                                                                               \
  C(T, steps, COUNT, "steps with work on this GPU")                                                                    \
  C(T, steady_steps, COUNT, "of these: neither warm-up, paused nor truncated")                                         \
  C(T, warm_up_steps, COUNT, "slower ones at the beginning")                                                           \
  C(T, truncated_steps, COUNT, "cut by the capture")                                                                   \
  C(T, paused_steps, COUNT, "ten times as long as others for a pause of the GPU")                                      \
  C(T, outlier_steps, LESS(COUNT), "steady steps that are much longer than the median")                                \
  C(T, median_ns, LESS(TIME), "median of the steady steps: duration")                                                  \
  C(T, mad_ns, LESS(TIME), "median distance of their durations from the median")                                       \
  C(T, p90_ns, LESS(TIME), "nine tenths of the steady steps are not longer")                                           \
  C(T, min_ns, LESS(TIME), "the shortest steady step")                                                                 \
  C(T, max_ns, LESS(TIME), "the longest steady step")                                                                  \
  C(T, cv_pct, LESS(PCT), "standard deviation of their durations, of the mean")                                        \
  C(T, steps_per_s, MORE(PER_S), "steady steps per second")                                                            \
  C(T, drift_pct_per_step, LESS(PCT),                                                                                  \
    "by how much steady steps get longer from one to the next (Theil-Sen), of the median; 0 where they "               \
    "get shorter, NULL for fewer than 20")                                                                             \
  C(T, spread_ns, LESS(TIME), "what steady steps are longer than the median, summed")                                  \
  C(T, excess_ns, LESS(TIME), "the same of outliers only")                                                             \
  C(T, steady_ns, TIME, "summed durations of the steady steps")                                                        \
  C(T, warm_up_ns, LESS(TIME), "summed durations of warm-up steps")                                                    \
  C(T, warm_up_pct, LESS(PCT), "the same, of the durations of all steps")                                              \
  C(T, median_compute_ns, TIME, "median of the steady steps: compute")                                                 \
  C(T, median_exposed_comm_ns, LESS(TIME), "median of the steady steps: exposed communication")                        \
  C(T, median_exposed_copy_ns, LESS(TIME), "median of the steady steps: exposed copies")                               \
  C(T, median_idle_ns, LESS(TIME), "median of the steady steps: idle time")                                            \
  C(T, idle_pct, LESS(PCT), "idle time of all steady steps, of their durations")                                       \
  C(T, median_end_idle_ns, LESS(TIME), "median of the steady steps: idle time before the next step's first operation") \
  C(T, input_wait_ns, LESS(TIME), "summed input_wait of the steady steps")                                             \
  C(T, input_wait_pct, LESS(PCT), "the same, of their durations")                                                      \
  C(T, input_wait_steps, LESS(COUNT), "steady steps that wait for input a tenth of their time or more")                \
  C(T, median_kernel_count, COUNT, "median of the steady steps: kernels")                                              \
  C(T, median_kernel_ns, TIME, "median of the steady steps: summed kernel durations")                                  \
  C(T, median_launch_calls, LESS(COUNT), "median of the steady steps: API calls that launched work")                   \
  C(T, median_launch_api_ns, LESS(TIME), "median of the steady steps: time inside these")                              \
  C(T, median_blocking_sync_ns, LESS(TIME), "median of the steady steps: time of host threads in blocking calls")      \
  C(T, median_htod_bytes, BYTES, "median of the steady steps: copied from host to device")                             \
  C(T, median_dtoh_bytes, BYTES, "median of the steady steps: copied from device to host")                             \
  C(T, median_other_copy_bytes, BYTES, "median of the steady steps: copied in other directions")                       \
  C(T, median_alloc_calls, LESS(COUNT), "median of the steady steps: calls that allocate or free memory")              \
  C(T, median_alloc_ns, LESS(TIME), "median of the steady steps: time inside these")                                   \
  C(T, median_graph_launches, COUNT, "median of the steady steps: CUDA graphs traced as one envelope")                 \
  C(T, median_range_time_ns, LESS(TIME), "median of the steady steps: their range on the host")                        \
  C(T, median_range_span_ns, LESS(TIME), "median of the steady steps: span of what their range launched on this GPU")  \
  C(T, median_range_busy_ns, TIME, "median of the steady steps: time in that span with anything running")              \
  C(T, median_range_idle_ns, LESS(TIME), "median of the steady steps: time in that span with nothing running")         \
  C(T, first_start_ns, START, "start of the first step on this GPU")                                                   \
  C(T, last_end_ns, END, "end of the last one")
NAI_TABLE(STEP_SUMMARY, step_summary, "Step time",
          "The steps of one process on one GPU; none where no boundary was found",
          "steps outside of the capture; medians of fewer than ten steady steps say little", .csv = true)
