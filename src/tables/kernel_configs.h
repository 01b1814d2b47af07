#pragma once
#include "tables/declare.h"

#define KERNEL_CONFIGS_COLUMNS(C, T)                                                                                   \
  C(T, grid_x, CELL(I32, COUNT), "thread blocks in x", .key = true)                                                    \
  C(T, grid_y, CELL(I32, COUNT), "thread blocks in y", .key = true)                                                    \
  C(T, grid_z, CELL(I32, COUNT), "thread blocks in z", .key = true)                                                    \
  C(T, block_x, CELL(I32, COUNT), "threads per block in x", .key = true)                                               \
  C(T, block_y, CELL(I32, COUNT), "threads per block in y", .key = true)                                               \
  C(T, block_z, CELL(I32, COUNT), "threads per block in z", .key = true)                                               \
  C(T, registers_per_thread, CELL(I32, COUNT), "registers per thread", .key = true)                                    \
  C(T, static_shared_bytes, CELL(I32, BYTES), "static shared memory per block", .key = true)                           \
  C(T, dynamic_shared_bytes, CELL(I32, BYTES), "dynamic shared memory per block", .key = true)                         \
  C(T, executed_shared_bytes, CELL(I32, BYTES), "shared memory the driver set aside on each SM", .key = true)          \
  C(T, local_bytes_per_thread, CELL(I32, BYTES), "local memory per thread: spilled registers and arrays", .key = true) \
  C(T, cluster_x, CELL(I32, COUNT), "blocks per cluster in x; 0 or NULL without clusters", .key = true)                \
  C(T, cluster_y, CELL(I32, COUNT), "blocks per cluster in y", .key = true)                                            \
  C(T, cluster_z, CELL(I32, COUNT), "blocks per cluster in z", .key = true)                                            \
  C(T, max_active_clusters, CELL(I32, COUNT), "clusters that can run at a time", .key = true)                          \
  C(T, launch_type, ID32, "0 unknown, 1 regular, 2 cooperative, 3 cooperative on several GPUs", .key = true)           \
  C(T, cache_config, ID32, "CUPTI function cache preference", .key = true)
NAI_TABLE(KERNEL_CONFIGS, kernel_configs, "Launch configurations", "One distinct kernel launch configuration")
