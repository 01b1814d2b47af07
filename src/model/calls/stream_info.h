/* What an export says of CUDA streams. */
#pragma once

#include "model/model.h"

struct nai_stream_info {
  const char *name; /* given through NVTX; NULL for none */
  int64_t priority; /* lower is more urgent; NAI_NULL_I64 unknown */
};
/* Of a stream of a process (row of processes, -1 unknown). From the tables STREAMS and STREAM_NAMES, which the model
 * may lack. O(streams). */
struct nai_stream_info nai_stream_info_of(const struct nai_model *model, int32_t process, int64_t context,
                                          int64_t stream);
