/* The machine's GPUs as the export describes them. Internal to src/trace. */
#pragma once

#include "trace/ingest.h"

enum { NAI_GPU_NUMBERS = 18, NAI_GPU_TEXTS = 4 };

struct nai_gpu_row {
  int64_t id, ordinal;              /* -1: not told */
  int64_t numbers[NAI_GPU_NUMBERS]; /* NAI_NULL_I64: not told */
  char *texts[NAI_GPU_TEXTS];       /* the first is the product name; NULL: not told */
};

struct nai_gpu_rows {
  struct nai_gpu_row *rows;
  uint32_t count, capacity;
  bool older;         /* from TARGET_INFO_CUDA_GPU */
  bool ordinals_told; /* each GPU has a CUDA ordinal of its own: TARGET_INFO_GPU.cuDevice */
};

/* Into a zeroed struct; free it also after an error. */
NAI_MUST_CHECK int nai_gpu_rows_read(struct nai_gpu_rows *gpus, struct nai_trace *trace, struct nai_err *err);
/* Writes what a row says into columns GP_GPU_ID, GP_SM_COUNT and so on of a row of table gpus. */
void nai_gpu_rows_put(struct nai_table *table, int64_t row, const struct nai_gpu_rows *gpus,
                      const struct nai_gpu_row *facts);
void nai_gpu_rows_free(struct nai_gpu_rows *gpus);
