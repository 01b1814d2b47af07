/* Pages of unified memory: when they move, and how often each does. */
#pragma once

#include "model/model.h"

/* When pages move from or to a GPU, or the GPU handles faults. Empty where managed memory is not used. */
NAI_MUST_CHECK int nai_uvm_busy(struct nai_intervals *busy, const struct nai_model *model, const struct nai_gpu *gpu,
                                struct nai_err *err);

/* How often memory moves. Bytes are counted exactly: one page may arrive in several pieces. */
struct nai_uvm_pages {
  int64_t to_gpu_distinct, to_host_distinct; /* moved that way once at least */
  int64_t ping_pong;                         /* moved either way twice at least */
  bool known;                                /* the export tells addresses */
};
NAI_MUST_CHECK int nai_uvm_pages_count(struct nai_uvm_pages *pages, const struct nai_model *model,
                                       const struct nai_gpu *gpu, struct nai_err *err);

/* CUPTI's kinds of copies that are migrations, and their causes. */
enum { NAI_UVM_TO_GPU = 11, NAI_UVM_TO_HOST = 12, NAI_UVM_BETWEEN_GPUS = 13 };
static inline bool nai_op_migrates(const struct nai_model *m, const struct nai_op *op) {
  return op->type == NAI_OP_COPY && nai_at(&m->memops.migration, op->row) == 1;
}
