#pragma once
#include "tables/declare.h"

#define KERNEL_SHAPE_COLUMNS(C, T)                                                                                \
  C(T, kernel_name, KERNEL_NAME, "demangled kernel name", .key = true, .order = 2)                                \
  C(T, device_id, DEVICE, "GPU", .key = true, .order = 3)                                                         \
  C(T, grid, LABEL, "thread blocks in x, y and z: 132x1x1; NULL where the export does not tell", .key = true,     \
    .order = 4)                                                                                                   \
  C(T, block, LABEL, "threads per block in x, y and z", .key = true, .order = 5)                                  \
  C(T, sm_count, COUNT, "SMs that it can use: of its green context, of its process's MIG slice, else of the GPU", \
    .key = true, .order = 6)                                                                                      \
  C(T, green_context, ID32, "green context it ran in; NULL: none", .key = true, .order = 7)                       \
  C(T, call_count, COUNT, "executions", .sum = true)                                                              \
  C(T, total_time_ns, LESS(NS_MS), "summed durations", .sum = true, .order = -1)                                  \
  C(T, pct_of_device_kernel_time, PCT, "of all kernel durations on this GPU")                                     \
  C(T, blocks, COUNT, "thread blocks of the grid")                                                                \
  C(T, threads_per_block, COUNT, "threads of a block")                                                            \
  C(T, registers_per_thread, COUNT, "registers per thread")                                                       \
  C(T, static_shared_bytes, BYTES, "static shared memory per block")                                              \
  C(T, dynamic_shared_bytes, BYTES, "dynamic shared memory per block")                                            \
  C(T, executed_shared_bytes, BYTES, "shared memory the driver set aside on each SM")                             \
  C(T, local_bytes_per_thread, BYTES, "local memory per thread: spilled registers, arrays indexed at run time")   \
  C(T, cluster_blocks, COUNT, "blocks of a cluster, NULL without clusters")                                       \
  C(T, configuration_count, COUNT,                                                                                \
    "launch configurations with this grid and block; the columns before and behind describe the one with "        \
    "most time")                                                                                                  \
  C(T, theoretical_occupancy_pct, PCT, "warps that fit on an SM at once, of those it can hold")                   \
  C(T, occupancy_limiter, LABEL,                                                                                  \
    "what allows no more; of equals the first of warps, blocks, registers, shared_memory")                        \
  C(T, blocks_per_sm, COUNT, "blocks that fit on an SM at once")                                                  \
  C(T, fill, LABEL,                                                                                               \
    "underfilled: fewer blocks than SMs; one wave: all blocks run at once; waves: more than that; "               \
    "uneven: more, but blocks are no equal shares of the work (rules/uneven-kernels.yaml, communication, "        \
    "cooperative launches), so that waves say nothing; invalid: impossible on such a GPU; NULL: unknown")         \
  C(T, waves, MEAN, "blocks of the grid, of those that the GPU runs at once")                                     \
  C(T, wave_efficiency_pct, MORE(PCT), "waves, of the next whole number; only where fill is waves")               \
  C(T, tail_loss_ns, LESS(TIME), "lost at most in the last, partial wave while no other kernel ran", .sum = true) \
  C(T, tensor_cores, LABEL, "whether it computes on tensor cores: yes, no; NULL: unknown")                        \
  C(T, tensor_gain_ns, LESS(TIME),                                                                                \
    "FP32 matrix products and convolutions: what tensor cores could save at most on this GPU", .sum = true)       \
  C(T, category, LABEL, "kind of work (rules/kernel-classes.rules)")                                              \
  C(T, longest_start_ns, START, "start of the longest execution")                                                 \
  C(T, longest_end_ns, END, "end of the longest execution")
NAI_TABLE(KERNEL_SHAPE, kernel_shape, "Kernel shapes", "One kernel name, grid and block on one GPU",
          "how many warps were really resident; how long single blocks took; how often local memory was used",
          .csv = true)
