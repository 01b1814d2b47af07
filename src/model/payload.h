/* Payloads that NCCL attaches to its NVTX ranges: message size, communicator, ranks. What is where in a payload is told
 * by schemas of the trace; fields are known by what their entries are called. */
#pragma once

#include "base/arena.h"
#include "table/table.h"

enum nai_payload_field {
  NAI_PAYLOAD_COMM,  /* id of the communicator, 64 bits without a sign */
  NAI_PAYLOAD_BYTES, /* message size; what that is depends on the collective (model/comm/comm_rates.c) */
  NAI_PAYLOAD_ROOT,
  NAI_PAYLOAD_PEER,
  NAI_PAYLOAD_REDOP, /* number of the enumeration `redop_type` */
  NAI_PAYLOAD_RANKS, /* in the communicator */
  NAI_PAYLOAD_RANK,
  NAI_PAYLOAD_DEVICE, /* CUDA ordinal */
  NAI_PAYLOAD_PARENT, /* id of the communicator it was split from */
  NAI_PAYLOAD_COUNT,  /* of elements, and the size of one: both make the message size */
  NAI_PAYLOAD_TYPE,
  NAI_PAYLOAD_GROUP, /* nsys -t nccl: ids of a call's group, and of the call */
  NAI_PAYLOAD_CALL,
  NAI_PAYLOAD_SEQ, /* the same: number of the operation, counted by communicator and function */
  NAI_PAYLOAD_FIELDS
};
struct nai_payload {
  uint32_t known; /* bits 1 << field */
  int64_t value[NAI_PAYLOAD_FIELDS];
  int64_t redop_type; /* schema id of the enumeration; 0 for none */
};
static inline bool nai_payload_has(const struct nai_payload *payload, enum nai_payload_field field) {
  return payload->known >> field & 1;
}
static inline bool nai_payload_same(const struct nai_payload *a, const struct nai_payload *b,
                                    enum nai_payload_field field) {
  return nai_payload_has(a, field) == nai_payload_has(b, field) &&
         (!nai_payload_has(a, field) || a->value[field] == b->value[field]);
}

/* What became of a payload. */
enum nai_payload_verdict {
  NAI_PAYLOAD_READ,
  NAI_PAYLOAD_BAD_HEADER, /* neither known form of the header fits, or the text is no object of numbers */
  NAI_PAYLOAD_BAD_SIZE,   /* cut off, or not of the size its schema says */
  NAI_PAYLOAD_NO_SCHEMA,  /* of another domain, or the trace does not describe it */
  NAI_PAYLOAD_CONFLICT,   /* processes describe it differently, and the trace does not say whose is whose */
  NAI_PAYLOAD_BAD_VALUE,  /* a size below 0 or beyond 2^53 */
  NAI_PAYLOAD_NO_GROUP,   /* nsys -t nccl: neither a call nor a launch */
  NAI_PAYLOAD_VERDICTS
};
/* In words, for people. */
const char *nai_payload_verdict_text(enum nai_payload_verdict verdict);

struct nai_payload_schemas;
/* From the tables nvtx_payload_schemas, _entries and _enums, which are borrowed; NULL for one that is not there. */
NAI_MUST_CHECK int nai_payload_schemas_new(struct nai_payload_schemas **out, const struct nai_table *schemas,
                                           const struct nai_table *entries, const struct nai_table *enums,
                                           struct nai_err *err);
void nai_payload_schemas_free(struct nai_payload_schemas *schemas);
NAI_OWNER(nai_payload_schemas)

/* Reads the blob of a range of domain `domain_id`; several payloads one behind the other add to each other. Nothing is
 * known of one that is not NAI_PAYLOAD_READ. Any bytes are safe. */
enum nai_payload_verdict nai_payload_read(struct nai_payload *out, const struct nai_payload_schemas *schemas,
                                          int64_t domain_id, const unsigned char *bytes, size_t len);
/* The same for hexadecimal digits, as nvtx_payloads has them. */
enum nai_payload_verdict nai_payload_read_hex(struct nai_payload *out, const struct nai_payload_schemas *schemas,
                                              int64_t domain_id, const char *hex, size_t len);
/* Reads an object of JSON whose names are those of entries, or those of nsys -t nccl. */
enum nai_payload_verdict nai_payload_read_json(struct nai_payload *out, const char *text, size_t len);
/* The same of a payload of a known schema, which also tells the enumeration of the reduction. */
enum nai_payload_verdict nai_payload_read_fields(struct nai_payload *out, const struct nai_payload_schemas *schemas,
                                                 int64_t domain_id, int64_t schema_id, const char *text, size_t len);
/* Takes over what `more` knows and `to` does not. */
void nai_payload_add(struct nai_payload *to, const struct nai_payload *more);
/* Name of the reduction, NULL where the trace does not tell. */
const char *nai_payload_redop(const struct nai_payload *payload, const struct nai_payload_schemas *schemas,
                              int64_t domain_id);
