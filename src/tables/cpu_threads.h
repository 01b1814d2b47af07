#pragma once
#include "tables/declare.h"

#define CPU_THREADS_COLUMNS(C, T)                                                                                     \
  C(T, pid, CELL(I64, ID), "process", .role = NAI_ROLE_PROCESS, .key = true, .order = 3)                              \
  C(T, tid, CELL(I64, ID), "thread; also such that nothing but scheduling or samples tells of",                       \
    .role = NAI_ROLE_THREAD, .key = true, .order = 4)                                                                 \
  C(T, thread_name, LABEL, "name, where the thread did something else that was recorded")                             \
  C(T, first_ns, START, "first record of scheduling or sample")                                                       \
  C(T, last_ns, END, "last one")                                                                                      \
  C(T, on_cpu_ns, TIME, "ran, between its first and last record; empty without scheduling", .sum = true, .order = -1) \
  C(T, off_cpu_ns, TIME, "did not run", .sum = true)                                                                  \
  C(T, sched_unknown_ns, TIME, "between records that do not alternate", .sum = true)                                  \
  C(T, preempted_ns, LESS(TIME), "of off_cpu_ns: it could have run but another thread did; empty where not recorded", \
    .sum = true)                                                                                                      \
  C(T, on_cpu_pct, PCT, "share of on_cpu_ns and off_cpu_ns that it ran")                                              \
  C(T, switch_count, COUNT, "times it stopped running", .sum = true)                                                  \
  C(T, switches_per_s, PER_S, "the same per second")                                                                  \
  C(T, migration_count, COUNT, "times it began to run on another CPU than before", .sum = true)                       \
  C(T, cpu_count, COUNT, "CPUs it ran on")                                                                            \
  C(T, break_count, COUNT, "records of scheduling that do not alternate", .sum = true)                                \
  C(T, sample_count, COUNT, "samples that stand for a stretch of time", .sum = true, .order = -2)                     \
  C(T, pct_of_samples, PCT, "of all samples")                                                                         \
  C(T, function, LABEL, "function that most of the samples are in")                                                   \
  C(T, function_pct, PCT, "share of the thread's samples in it, of those with a stack where few have one")            \
  C(T, not_inlined_samples, COUNT,                                                                                    \
    "samples in functions of which optimized code has no call (rules/call-frames.yaml)", .sum = true)                 \
  C(T, not_inlined_function, LABEL, "the one with most of them")                                                      \
  C(T, gil_samples, COUNT, "samples in the wait for Python's interpreter lock; stacks taken on a switch, too")        \
  C(T, gc_samples, COUNT, "samples in Python's garbage collection")
NAI_TABLE(CPU_THREADS, cpu_threads, "Threads on CPUs", "One thread that scheduling or samples tell of",
          "what a thread did before its first and after its last record; what it waited for; who had its CPU")
