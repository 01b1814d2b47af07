/* What the GPUs of a process did. */
#pragma once

#include "model/model.h"

struct nai_process_gpu {
  bool any, alone;                         /* it has one; no other process uses any of them */
  int64_t device_id;                       /* its only one, else NAI_NULL_I64 */
  struct nai_intervals active, busy, idle; /* idle: active, and nothing runs */
};
void nai_process_gpu_free(struct nai_process_gpu *time);
/* process -1: all GPUs of the capture; idle where none does anything. */
NAI_MUST_CHECK int nai_process_gpu_find(struct nai_process_gpu *out, const struct nai_model *m, int32_t process,
                                        struct nai_err *err);
