/* Who ran what: processes, threads and physical GPUs of a trace, from the keys event rows carry. Internal to
 * src/trace. */
#pragma once

#include "base/keyset.h"
#include "trace/ingest.h"

/* Every key met while extracting. `devices` holds process key | CUDA ordinal. */
struct nai_identity {
  struct nai_keyset threads, devices;
  struct nai_arena arena;  /* of the results, parallel to the keysets: */
  int32_t *thread_row;     /* row of table threads */
  int32_t *device_process; /* row of table processes, -1 unknown */
  int32_t *device_id;      /* logical GPU, -1 unknown */
};

/* Parts of a key: the number of a process, and what tells its threads or GPUs apart. */
static inline int64_t nai_pid_of(int64_t key) { return (int64_t)((uint64_t)key >> 24 & 0xffffff); }
static inline int64_t nai_low_bits_of(int64_t key) { return key & 0xffffff; }

/* Fills the processes, threads and gpus tables and the result arrays. */
NAI_MUST_CHECK int nai_identity_resolve(struct nai_identity *identity, struct nai_ingest *out, struct nai_trace *trace,
                                        struct nai_err *err);
/* Row of the process a key belongs to, -1 when it has none; the only process stands in for an unknown one. */
int32_t nai_identity_process(const struct nai_table *processes, int64_t key);
void nai_identity_free(struct nai_identity *identity);

/* identity_gpus.c: the table of GPUs, and device_id. */
NAI_MUST_CHECK int nai_identity_resolve_gpus(struct nai_identity *identity, struct nai_ingest *out,
                                             struct nai_trace *trace, struct nai_err *err);

/* gpu_rows.c: the machine's GPUs as the export describes them. */
enum { NAI_GPU_NUMBERS = 18, NAI_GPU_TEXTS = 4 };
struct nai_gpu_row {
  int64_t id, ordinal;              /* -1: not told */
  int64_t numbers[NAI_GPU_NUMBERS]; /* NAI_NULL_I64: not told */
  const char *texts[NAI_GPU_TEXTS]; /* the first is the product name; NULL: not told */
};
struct nai_gpu_rows {
  struct nai_arena *arena;
  struct nai_gpu_row *rows;
  uint32_t count, capacity;
  bool older;         /* from TARGET_INFO_CUDA_GPU */
  bool ordinals_told; /* each GPU has a CUDA ordinal of its own: TARGET_INFO_GPU.cuDevice */
};
/* Into a struct that has an arena and nothing else. */
NAI_MUST_CHECK int nai_gpu_rows_read(struct nai_gpu_rows *gpus, struct nai_trace *trace, struct nai_err *err);
/* Writes what a row says into columns gpu_id, sm_count and so on of a row of table gpus. */
void nai_gpu_rows_put(struct nai_table *table, int64_t row, const struct nai_gpu_rows *gpus,
                      const struct nai_gpu_row *facts);
