/* What the name of a communication kernel says: which collective, of which library, on which type
 * (rules/comm-kernels.yaml). */
#pragma once

#include "base/err.h"
#include "base/scope.h"

struct nai_comm_names;

/* Texts are borrowed from the patterns; NULL where the name does not say. */
struct nai_comm_name {
  const char *family; /* "NCCL", "DeepEP"; NULL for kernels that only somebody's own patterns call communication */
  const char *op;     /* "AllReduce", "SendRecv" */
  const char *dtype;  /* "bf16"; integers of a width, signed or not: "int32" */
  const char *redop;  /* "sum" */
  bool entry;         /* an entry point: algorithm, protocol and reduction in its name are not what runs */
  bool fused;         /* does other work, too */
};

/* The built-in patterns. */
NAI_MUST_CHECK int nai_comm_names_load(struct nai_comm_names **out, struct nai_err *err);
void nai_comm_names_free(struct nai_comm_names *names);
NAI_OWNER(nai_comm_names)
uint64_t nai_comm_names_hash(const struct nai_comm_names *names);

/* Safe from several threads. */
struct nai_comm_name nai_comm_names_parse(const struct nai_comm_names *names, const char *kernel_name);
/* Peak rate of a GPU's links in one direction, 10^9 bytes per second; 0 unknown. */
double nai_comm_names_link(const struct nai_comm_names *names, const char *gpu_name);
/* Call once after the last match: NAI_EUSAGE when a regular expression gave up on some name. */
NAI_MUST_CHECK int nai_comm_names_check(const struct nai_comm_names *names, struct nai_err *err);
