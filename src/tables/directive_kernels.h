#pragma once
#include "tables/declare.h"

#define DIRECTIVE_KERNELS_COLUMNS(C, T)                                                    \
  C(T, device_id, DEVICE, "GPU; -1 where no kernel is recorded", .key = true, .order = 2)  \
  C(T, file, LABEL, "source file of the directive; NULL unknown", .key = true, .order = 3) \
  C(T, line, ID32, "its line", .key = true, .order = 4)                                    \
  C(T, launch_count, COUNT, "times that it launches", .sum = true)                         \
  C(T, kernel_count, COUNT, "kernels launched within", .sum = true)                        \
  C(T, kernel_time_ns, LESS(TIME), "their summed durations", .sum = true, .order = -1)
NAI_TABLE(DIRECTIVE_KERNELS, directive_kernels, "GPU time of OpenACC directives",
          "One OpenACC directive that launches kernels on one GPU",
          "directives of OpenMP, of whose kernels the names tell function and line. Built after NVIDIA's description: "
          "verified on generated exports only")
