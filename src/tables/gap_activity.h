#pragma once
#include "tables/declare.h"

#define GAP_ACTIVITY_COLUMNS(C, T)                                                                                 \
  C(T, scope, NAME,                                                                                                \
    "gap: one gap; pattern: all gaps of a row of idle_patterns; host_code: where the cause is host_code "          \
    "within active spans; set_up: before the process's first CUDA call; before_work: from there to the first "     \
    "GPU work; after_work: from the last GPU work on",                                                             \
    .key = true)                                                                                                   \
  C(T, device_id, DEVICE, "GPU; empty before and after GPU work", .key = true)                                     \
  C(T, cause, LABEL, "cause of the gap's largest part, a word of idle_causes", .key = true,                        \
    .labels = nai_cause_labels)                                                                                    \
  C(T, next_op, KERNEL_NAME, "operation that ends the gap", .key = true)                                           \
  C(T, launch_api, LABEL, "API call that launched it", .key = true)                                                \
  C(T, nvtx_range, RANGE_NAME, "innermost NVTX range around the launch", .key = true)                              \
  C(T, thread, LABEL, "the thread that is looked at: the one that made the launch")                                \
  C(T, pid, PID, "process of the thread", .key = true)                                                             \
  C(T, tid, TID, "thread", .key = true)                                                                            \
  C(T, start_ns, START, "start of the gap, of many the longest", .key = true)                                      \
  C(T, end_ns, END, "end of it")                                                                                   \
  C(T, gap_count, COUNT, "gaps")                                                                                   \
  C(T, total_ns, LESS(TIME), "time looked at; each layer of evidence divides it")                                  \
  C(T, activity, LABEL,                                                                                            \
    "what takes a tenth of it or more, in words; layers overlap, shares do not add up between them")               \
  C(T, function, LABEL, "the function that says most about it")                                                    \
  C(T, function_pct, PCT, "share of total_ns in it")                                                               \
  C(T, launched_from, LABEL, "function that most of the launches came from, where CUDA calls have callchains")     \
  C(T, cuda_api_ns, TIME, "in CUDA calls")                                                                         \
  C(T, overhead_ns, TIME, "in records of overhead")                                                                \
  C(T, os_runtime_ns, TIME, "in OS runtime calls, those inside CUDA calls included")                               \
  C(T, sampled_ns, TIME, "about: sample_count times the usual distance between such samples")                      \
  C(T, sample_count, COUNT, "CPU samples of the thread; where few have a stack, only these")                       \
  C(T, on_cpu_ns, TIME, "the thread ran; empty without records of scheduling")                                     \
  C(T, off_cpu_ns, TIME, "it did not run")                                                                         \
  C(T, sched_unknown_ns, TIME, "rest: not told")                                                                   \
  C(T, preempted_ns, TIME, "of off_cpu_ns: it could have run but another thread did; empty where not recorded")    \
  C(T, woken_by, LABEL,                                                                                            \
    "host_code: the thread that ran, or had just run, when half or more of its sleeps of 0.5 ms or more ended, "   \
    "with two thirds of their time, twice as often as by chance; empty where there is none, or no scheduling")     \
  C(T, woken_count, COUNT, "sleeps that ended so")                                                                 \
  C(T, sleep_count, COUNT, "of so many")                                                                           \
  C(T, busy_threads, COUNT,                                                                                        \
    "host_code: other threads of the process that were outside of OS runtime calls in that time, on average over " \
    "stretches of 1 ms or more; of those that are mostly in such calls. Empty where these are not recorded")       \
  C(T, gil_ns, TIME, "about: waiting for Python's interpreter lock; empty without callchains")                     \
  C(T, gc_ns, TIME,                                                                                                \
    "in Python's garbage collection: in the thread's NVTX ranges gc.collect, GC or garbage collection, "           \
    "else about, by samples; empty without both")
NAI_TABLE(
    GAP_ACTIVITY, gap_activity, "What the CPU did in idle gaps",
    "The time of one thread in the longest gaps, in the patterns with most time, in its own code, and before and after GPU work",
    "why a thread waited where neither an OS runtime call nor woken_by says so; who had the CPU in that time; how many CPUs there are",
    .csv = true)
