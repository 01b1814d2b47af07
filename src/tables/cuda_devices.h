#pragma once
#include "tables/declare.h"

#define CUDA_DEVICES_COLUMNS(C, T)                                        \
  C(T, gpu_id, ID32, "GPU of the machine, TARGET_INFO_GPU.id")            \
  C(T, cuda_device, ID32, "CUDA ordinal that the process knows it under") \
  C(T, pid, ID, "process")                                                \
  C(T, sm_count, CELL(I32, COUNT), "SMs that CUDA shows the process: of a MIG slice its own")
NAI_TABLE(CUDA_DEVICES, cuda_devices, "CUDA devices", "One GPU as one process sees it")
