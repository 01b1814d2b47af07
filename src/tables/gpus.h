#pragma once
#include "tables/declare.h"

#define GPUS_COLUMNS(C, T)                                                                                         \
  C(T, device_id, CELL(I32, ID), "GPU number used in every table", .role = NAI_ROLE_DEVICE, .key = true)           \
  C(T, label, NAME, "how reports call this GPU")                                                                   \
  C(T, gpu_name, LABEL, "product name")                                                                            \
  C(T, cuda_device, ID32, "CUDA ordinal in the (first) process that used it")                                      \
  C(T, pid, PID, "the process, where the GPU is told apart by process only")                                       \
  C(T, mapped, ID32, "1 when the export maps CUDA ordinals to physical GPUs")                                      \
  C(T, sm_count, CELL(I32, COUNT), "streaming multiprocessors (SMs)")                                              \
  C(T, memory_bytes, CELL(I64, BYTES), "device memory")                                                            \
  C(T, pci_bus, LABEL, "PCI bus location")                                                                         \
  C(T, identified_by, LABEL,                                                                                       \
    "what says which of the machine's GPUs this is: map (the export), only GPU, ordinal or id (both "              \
    "assumed: CUDA_VISIBLE_DEVICES may say otherwise); NULL when nothing does")                                    \
  C(T, gpu_id, ID32, "TARGET_INFO_GPU.id, which GPU metrics name")                                                 \
  C(T, uuid, LABEL, "without the leading GPU-")                                                                    \
  C(T, chip, LABEL, "chip name")                                                                                   \
  C(T, compute_major, ID32, "compute capability, before the point")                                                \
  C(T, compute_minor, ID32, "compute capability, behind the point")                                                \
  C(T, clock_hz, CELL(I64, COUNT), "highest clock rate, Hz")                                                       \
  C(T, memory_bytes_per_s, CELL(I64, BYTES), "memory bandwidth, bytes per second")                                 \
  C(T, l2_bytes, CELL(I64, BYTES), "L2 cache")                                                                     \
  C(T, threads_per_warp, CELL(I32, COUNT), "threads of a warp")                                                    \
  C(T, max_warps_per_sm, CELL(I32, COUNT), "warps an SM can hold")                                                 \
  C(T, max_blocks_per_sm, CELL(I32, COUNT), "thread blocks an SM can hold")                                        \
  C(T, max_registers_per_sm, CELL(I32, COUNT), "registers of an SM")                                               \
  C(T, max_registers_per_block, CELL(I32, COUNT), "registers a block can have")                                    \
  C(T, max_shared_bytes_per_sm, CELL(I32, BYTES), "shared memory of an SM")                                        \
  C(T, max_shared_bytes_per_block, CELL(I32, BYTES), "shared memory a block can have")                             \
  C(T, max_shared_bytes_per_block_optin, CELL(I32, BYTES), "shared memory a block can have when it asks for more") \
  C(T, max_threads_per_block, CELL(I32, COUNT), "threads a block can have")                                        \
  C(T, copy_engines, CELL(I32, COUNT), "engines that copy beside kernels")                                         \
  C(T, discrete, ID32, "0 for a GPU that shares the CPU's memory")                                                 \
  C(T, machine_gpus, CELL(I32, COUNT), "CUDA GPUs of the machine, with or without work, as the export lists them")
NAI_TABLE(
    GPUS, gpus, "GPUs", "One GPU that ran something",
    "what GPUs that ran nothing are; which physical GPU an ordinal is where mapped is 0; the clock and power that were reached",
    .csv = true)
