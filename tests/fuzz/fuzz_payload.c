/* NVTX payloads: any blob against schemas that are made of the same bytes, and any text. */
#include "model/payload.h"
#include "tables/events.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Each six bytes describe an entry: schema, name, type, offset, payload size. */
static void describe(struct nai_table *schemas, struct nai_table *entries, const uint8_t *at, int index) {
  static const char *const names[] = {"NCCL communicator ID",
                                      "Message size [bytes]",
                                      "Reduction operation",
                                      "Rank",
                                      "No. of ranks",
                                      "Peer rank",
                                      "Root",
                                      "other"};
  static const int types[] = {5, 15, 16, 17, 18, 20, 22, 1 << 24};
  int64_t row = nai_table_add_row(entries);
  nai_set_i64(entries, row, NVTX_PAYLOAD_ENTRIES_domain_id, 1);
  nai_set_i64(entries, row, NVTX_PAYLOAD_ENTRIES_schema_id, at[0] & 3);
  nai_set_i64(entries, row, NVTX_PAYLOAD_ENTRIES_idx, index);
  nai_set_i64(entries, row, NVTX_PAYLOAD_ENTRIES_type, types[at[1] & 7]);
  nai_set_str(entries, row, NVTX_PAYLOAD_ENTRIES_name, names[at[2] & 7]);
  nai_set_i64(entries, row, NVTX_PAYLOAD_ENTRIES_offset_bytes, (int64_t)at[3] << (at[4] & 15));
  row = nai_table_add_row(schemas);
  nai_set_i64(schemas, row, NVTX_PAYLOAD_SCHEMAS_domain_id, 1);
  nai_set_i64(schemas, row, NVTX_PAYLOAD_SCHEMAS_schema_id, at[0] & 3);
  nai_set_i64(schemas, row, NVTX_PAYLOAD_SCHEMAS_payload_bytes, at[5]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  enum { ENTRIES = 4, ENTRY_BYTES = 6 };
  struct nai_table *schemas = NULL, *entries = NULL;
  struct nai_payload_schemas *read = NULL;
  struct nai_payload payload;
  nai_payload_read_json(&payload, (const char *)data, size);
  if (size < ENTRIES * ENTRY_BYTES || nai_table_new(&schemas, &nai_nvtx_payload_schemas_schema, NULL) ||
      nai_table_new(&entries, &nai_nvtx_payload_entries_schema, NULL))
    goto out;
  for (int i = 0; i < ENTRIES; i++)
    describe(schemas, entries, data + i * ENTRY_BYTES, i);
  if (nai_payload_schemas_new(&read, schemas, entries, NULL, NULL))
    goto out;
  data += ENTRIES * ENTRY_BYTES;
  size -= ENTRIES * ENTRY_BYTES;
  unsigned char *bytes = size ? malloc(size) : NULL; /* of exactly this size, so that reading beyond it shows */
  if (bytes) {
    memcpy(bytes, data, size);
    if (nai_payload_read(&payload, read, 1, bytes, size) == NAI_PAYLOAD_READ &&
        nai_payload_has(&payload, NAI_PAYLOAD_BYTES) && payload.value[NAI_PAYLOAD_BYTES] < 0)
      abort();
    nai_payload_read_hex(&payload, read, 1, (const char *)data, size);
    free(bytes);
  }
out:
  nai_payload_schemas_free(read);
  nai_table_free(schemas);
  nai_table_free(entries);
  return 0;
}
