#pragma once
#include "tables/declare.h"

#define DEPENDENCY_GRAPH_COLUMNS(C, T)                                                                            \
  C(T, call_count, COUNT, "CUDA calls in the graph: those that no other call of their thread is around")          \
  C(T, operation_count, COUNT, "operations on GPUs")                                                              \
  C(T, dependency_count, COUNT, "dependencies between their starts and ends")                                     \
  C(T, dropped_count, LESS(COUNT), "dependencies that contradict others or the recorded times")                   \
  C(T, unlinked_count, COUNT, "operations whose launch is not recorded")                                          \
  C(T, unlinked_behind_count, LESS(COUNT),                                                                        \
    "of them: behind a recorded launch of their stream, or of a process without recorded calls")                  \
  C(T, handoff_count, COUNT, "calls that another thread's had to come before: threads that take turns, inferred") \
  C(T, wait_count, COUNT, "calls that wait for the GPU")                                                          \
  C(T, inferred_wait_count, LESS(COUNT), "of them: for what ended when they returned, as no record says it")      \
  C(T, unresolved_wait_count, LESS(COUNT), "of them: for what is not known; they keep their length")              \
  C(T, unresolved_wait_pct, LESS(PCT), "of the time of all waits")                                                \
  C(T, event_wait_count, COUNT, "calls that let a stream wait for an event")                                      \
  C(T, event_without_record_count, LESS(COUNT), "of them: the record is not in the trace")                        \
  C(T, unexplained_count, LESS(COUNT), "starts more than 20 \u00b5s later than all that is known allows")         \
  C(T, unexplained_ns, LESS(TIME), "these delays, summed; on the path or not")                                    \
  C(T, full_queue_count, COUNT, "launch calls that a full queue held up, by their duration")                      \
  C(T, collective_count, COUNT, "communication kernels joined with those of other GPUs")                          \
  C(T, unmatched_count, COUNT, "communication kernels that were not: they keep their length")                     \
  C(T, replay_error_ns, LESS(CELL(I64, NS)), "largest difference between recorded and replayed times: 0")
NAI_TABLE(DEPENDENCY_GRAPH, dependency_graph, "Dependency graph",
          "The graph that the critical path and simulated savings come from: what it holds and leaves out; one row",
          "dependencies between threads that do not take turns, and those of streams for which no event was recorded")
