/* Who ran what: processes, threads and physical GPUs of a trace, from the keys event rows carry. Internal to
 * src/ingest. */
#ifndef NAI_INGEST_IDENTITY_H
#define NAI_INGEST_IDENTITY_H

#include "ingest/ingest.h"
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
void nai_identity_free(struct nai_identity *identity);

#endif
