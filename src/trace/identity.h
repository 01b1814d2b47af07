/* Who ran what: processes, threads and physical GPUs of a trace, from the keys event rows carry. Internal to
 * src/trace. */
#pragma once

#include "trace/ingest.h"
#include "base/keyset.h"

/* Every key met while extracting. `devices` holds process key | CUDA ordinal. */
struct nai_identity {
  struct nai_keyset threads, devices;
  /* results, parallel to the keysets */
  int32_t *thread_row;     /* row of table threads */
  int32_t *device_process; /* row of table processes, -1 unknown */
  int32_t *device_id;      /* logical GPU, -1 unknown */
};

/* Fills the processes, threads and gpus tables and the result arrays. */
NAI_MUST_CHECK int nai_identity_resolve(struct nai_identity *identity, struct nai_ingest *out, struct nai_trace *trace,
                                        struct nai_err *err);
/* Row of a key's process among the ascending process keys, -1 when it has none; the only process stands in for an
 * unknown one. */
int32_t nai_identity_row(const int64_t *processes, size_t count, int64_t key);
/* identity_gpus.c: the table of GPUs, device_process and device_id. */
NAI_MUST_CHECK int nai_identity_resolve_gpus(struct nai_identity *identity, const int64_t *processes,
                                             size_t process_count, struct nai_ingest *out, struct nai_trace *trace,
                                             struct nai_err *err);
/* Row of the process a key of `processes` belongs to, -1 when it has none. */
int32_t nai_identity_process(const struct nai_table *processes, int64_t key);
void nai_identity_free(struct nai_identity *identity);
