#pragma once
#include "tables/declare.h"

#define COMPARED_KERNELS_COLUMNS(C, T)                                                                 \
  C(T, kernel, KERNEL_NAME, "the first kernel of the row: of the new side, else of the base")          \
  C(T, category, LABEL, "kind of work")                                                                \
  C(T, nvtx_path, RANGE_NAME, "where it is launched; NULL where the row has several places")           \
  C(T, state, LABEL, "matched, renamed, retuned, split, merged, regrouped, only_base, only_new")       \
  C(T, level, LABEL, "what they were matched by: name, toolchain, tuning, call site, place, category") \
  C(T, confidence, LABEL, "how sure that is: certain, high, medium, low")                              \
  C(T, change, LABEL, "more calls, fewer calls, slower calls, faster calls, same")                     \
  C(T, base_calls, MEAN, "executions in the base, per GPU and step or run")                            \
  C(T, new_calls, MEAN, "executions in the new side, per GPU and step or run")                         \
  C(T, base_time_ns, MEAN_TIME, "summed durations in the base, per GPU and step or run")               \
  C(T, new_time_ns, MEAN_TIME, "summed durations in the new side, per GPU and step or run")            \
  C(T, delta_ns, LESS(MEAN_TIME), "new minus base, per GPU and step or run")                           \
  C(T, count_term_ns, MEAN_TIME,                                                                       \
    "of delta: more or fewer calls, at the base's mean duration, per GPU and step or run")             \
  C(T, speed_term_ns, MEAN_TIME,                                                                       \
    "of delta: longer or shorter calls; the two terms add up to delta, per GPU and step or run")       \
  C(T, base_sum_ns, NS, "durations over all captures of the base", .sum = true)                        \
  C(T, new_sum_ns, NS, "durations over all captures of the new side", .sum = true)                     \
  C(T, base_kernels, LABEL, "names in the base, separated by ' | '")                                   \
  C(T, new_kernels, LABEL, "names in the new side")                                                    \
  C(T, launch, LABEL,                                                                                  \
    "how its launches changed: grid, block, registers, shared memory; NULL: not, or it is not known")  \
  C(T, base_grid, LABEL, "thread blocks in x, y and z, in the base")                                   \
  C(T, new_grid, LABEL, "thread blocks in x, y and z, in the new side")                                \
  C(T, base_block, LABEL, "threads per block in x, y and z, in the base")                              \
  C(T, new_block, LABEL, "threads per block in x, y and z, in the new side")                           \
  C(T, base_registers, COUNT, "registers per thread in the base")                                      \
  C(T, new_registers, COUNT, "registers per thread in the new side")                                   \
  C(T, base_shared_bytes, BYTES, "static and dynamic shared memory per block in the base")             \
  C(T, new_shared_bytes, BYTES, "static and dynamic shared memory per block in the new side")          \
  C(T, base_shapes, COUNT,                                                                             \
    "different launches in the base, of which the columns before describe the one with most time")     \
  C(T, new_shapes, COUNT, "different launches in the new side; several kernels have none")
NAI_TABLE(COMPARED_KERNELS, compared_kernels, "Kernels",
          "Kernels that do the same on both sides, or that one side only has")
