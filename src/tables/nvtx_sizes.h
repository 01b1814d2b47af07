#pragma once
#include "tables/declare.h"

#define NVTX_SIZES_COLUMNS(C, T) C(T, sizes, LABEL, "as in the range name", .key = true)
NAI_TABLE(NVTX_SIZES, nvtx_sizes, "NVTX sizes", "One text of tensor sizes that PyTorch puts behind a range name")
