#include "derive/model.h"

/* --- views ------------------------------------------------------------------------------------ */

static void view_tables(struct nai_model *m) {
  const struct nai_table *t = m->tables[NAI_IN_KERNELS];
  m->kernels = (struct nai_kernel_view){.n = (uint32_t)t->rows,
                                        .start = nai_table_column(t, KE_START),
                                        .end = nai_table_column(t, KE_END),
                                        .correlation = nai_table_column(t, KE_CORRELATION),
                                        .name = nai_table_column(t, KE_NAME),
                                        .device = nai_table_column(t, KE_DEVICE),
                                        .process = nai_table_column(t, KE_PROCESS),
                                        .context = nai_table_column(t, KE_CONTEXT),
                                        .stream = nai_table_column(t, KE_STREAM),
                                        .config = nai_table_column(t, KE_CONFIG),
                                        .graph = nai_table_column(t, KE_GRAPH)};
  t = m->tables[NAI_IN_MEMOPS];
  m->memops = (struct nai_memop_view){.n = (uint32_t)t->rows,
                                      .start = nai_table_column(t, MO_START),
                                      .end = nai_table_column(t, MO_END),
                                      .correlation = nai_table_column(t, MO_CORRELATION),
                                      .bytes = nai_table_column(t, MO_BYTES),
                                      .kind = nai_table_column(t, MO_KIND),
                                      .device = nai_table_column(t, MO_DEVICE),
                                      .process = nai_table_column(t, MO_PROCESS),
                                      .context = nai_table_column(t, MO_CONTEXT),
                                      .stream = nai_table_column(t, MO_STREAM),
                                      .copy_kind = nai_table_column(t, MO_COPY_KIND),
                                      .src_kind = nai_table_column(t, MO_SRC_KIND),
                                      .dst_kind = nai_table_column(t, MO_DST_KIND)};
  t = m->tables[NAI_IN_GRAPHS];
  m->graphs = (struct nai_graph_view){.n = (uint32_t)t->rows,
                                      .start = nai_table_column(t, GE_START),
                                      .end = nai_table_column(t, GE_END),
                                      .correlation = nai_table_column(t, GE_CORRELATION),
                                      .device = nai_table_column(t, GE_DEVICE),
                                      .process = nai_table_column(t, GE_PROCESS),
                                      .context = nai_table_column(t, GE_CONTEXT),
                                      .stream = nai_table_column(t, GE_STREAM),
                                      .graph = nai_table_column(t, GE_GRAPH)};
  t = m->tables[NAI_IN_APIS];
  m->apis = (struct nai_api_view){.n = (uint32_t)t->rows,
                                  .start = nai_table_column(t, AE_START),
                                  .end = nai_table_column(t, AE_END),
                                  .correlation = nai_table_column(t, AE_CORRELATION),
                                  .thread = nai_table_column(t, AE_THREAD),
                                  .name = nai_table_column(t, AE_NAME)};
  t = m->tables[NAI_IN_NVTX];
  m->nvtx = (struct nai_nvtx_view){.n = (uint32_t)t->rows,
                                   .start = nai_table_column(t, NE_START),
                                   .end = nai_table_column(t, NE_END),
                                   .thread = nai_table_column(t, NE_THREAD),
                                   .kind = nai_table_column(t, NE_KIND),
                                   .row_offset = nai_table_column(t, NE_ROW_OFFSET),
                                   .name = nai_table_column(t, NE_NAME)};
  m->process_count = (uint32_t)m->tables[NAI_IN_PROCESSES]->rows;
  m->thread_count = (uint32_t)m->tables[NAI_IN_THREADS]->rows;
  m->thread_process = nai_column_i32(m->tables[NAI_IN_THREADS], TH_PROCESS);
}

void nai_model_open(struct nai_model *m, struct nai_table *const tables[NAI_IN_COUNT],
                    const struct nai_model_options *options) {
  *m = (struct nai_model){.classes = options->classes,
                          .phases = options->phases,
                          .map_nvtx = options->map_nvtx,
                          .worker_count = options->worker_count,
                          .scratch_dir = options->scratch_dir};
  for (int i = 0; i < NAI_IN_COUNT; i++)
    m->tables[i] = tables[i];
  view_tables(m);
  m->gpu_count = (uint32_t)m->tables[NAI_IN_GPUS]->rows;
}

/* --- questions -------------------------------------------------------------------------------- */

uint32_t nai_model_gpu_index(const struct nai_model *m, int32_t device_id) {
  const struct nai_column devices = nai_table_column(m->tables[NAI_IN_GPUS], GP_DEVICE);
  uint32_t lo = 0, hi = m->gpu_count;
  while (lo < hi) {
    uint32_t mid = lo + (hi - lo) / 2;
    if (nai_at_i32(&devices, mid) < device_id)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo < m->gpu_count && nai_at_i32(&devices, lo) == device_id ? lo : m->gpu_count;
}

int32_t nai_model_device(const struct nai_model *m, uint32_t gpu) {
  return (int32_t)nai_get_i64(m->tables[NAI_IN_GPUS], gpu, GP_DEVICE);
}

const char *nai_model_gpu_label(const struct nai_model *m, int32_t device_id) {
  uint32_t index = nai_model_gpu_index(m, device_id);
  return index < m->gpu_count ? nai_get_str(m->tables[NAI_IN_GPUS], index, GP_LABEL) : "GPU ?";
}

/* What operations of a type have in the column of that name. */
#define OP_COLUMN(m, op, column)                       \
  ((op)->type == NAI_OP_KERNEL  ? &(m)->kernels.column \
   : (op)->type == NAI_OP_GRAPH ? &(m)->graphs.column  \
                                : &(m)->memops.column)

int64_t nai_model_op_start(const struct nai_model *m, const struct nai_op *op) {
  return nai_at(OP_COLUMN(m, op, start), op->row);
}

int64_t nai_model_op_end(const struct nai_model *m, const struct nai_op *op) {
  return nai_at(OP_COLUMN(m, op, end), op->row);
}

int32_t nai_model_op_process(const struct nai_model *m, const struct nai_op *op) {
  return nai_at_i32(OP_COLUMN(m, op, process), op->row);
}

int32_t nai_model_op_context(const struct nai_model *m, const struct nai_op *op) {
  return nai_at_i32(OP_COLUMN(m, op, context), op->row);
}

int32_t nai_model_op_stream(const struct nai_model *m, const struct nai_op *op) {
  return nai_at_i32(OP_COLUMN(m, op, stream), op->row);
}

uint32_t nai_model_op_api(const struct nai_model *m, const struct nai_op *op) {
  return op->type == NAI_OP_KERNEL ? m->kernel_api[op->row]
       : op->type == NAI_OP_GRAPH  ? m->graph_api[op->row]
                                   : m->memop_api[op->row];
}

bool nai_model_api_blocks(const struct nai_model *m, uint32_t api) {
  enum nai_api_class c = m->api_class[nai_at_text(&m->apis.name, api)];
  return c == NAI_API_BLOCKING ||
         (c == NAI_API_BLOCKING_COPY && (m->api_owns[api] & (1 << NAI_OP_COPY | 1 << NAI_OP_SET)));
}

const char *nai_model_api_name(const struct nai_model *m, uint32_t api) {
  return nai_strings_get(&m->tables[NAI_IN_APIS]->strings, nai_at_text(&m->apis.name, api));
}

const char *nai_model_kernel_name(const struct nai_model *m, uint32_t kernel) {
  return nai_strings_get(&m->tables[NAI_IN_KERNELS]->strings, nai_at_text(&m->kernels.name, kernel));
}

const char *nai_model_range_name(const struct nai_model *m, uint32_t range) {
  return nai_strings_get(&m->tables[NAI_IN_NVTX]->strings, nai_at_text(&m->nvtx.name, range));
}

int64_t nai_model_pid(const struct nai_model *m, int32_t process) {
  return process < 0 ? NAI_NULL_I64 : nai_get_i64(m->tables[NAI_IN_PROCESSES], process, PR_PID);
}

const char *nai_model_label(const struct nai_model *m, int enumeration, int32_t id) {
  for (int64_t i = 0; i < m->tables[NAI_IN_LABELS]->rows; i++)
    if (nai_get_i64(m->tables[NAI_IN_LABELS], i, LB_KIND) == enumeration &&
        nai_get_i64(m->tables[NAI_IN_LABELS], i, LB_ID) == id)
      return nai_get_str(m->tables[NAI_IN_LABELS], i, LB_LABEL);
  return enumeration == NAI_LABEL_COPY ? nai_copy_kind_label(id) : nai_mem_kind_label(id);
}

const char *nai_model_direction(const struct nai_model *m, uint32_t memop) {
  if (nai_at_i32(&m->memops.kind, memop) == NAI_MEMOP_SET)
    return "memset";
  const char *label = nai_model_label(m, NAI_LABEL_COPY, nai_at_i32(&m->memops.copy_kind, memop));
  return label && *label ? label : "Unknown";
}
