#include "derive/model.h"

#include "base/big.h"
#include "base/threads.h"
#include "derive/nvtx_open.h"

#include <stdio.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* --- views ------------------------------------------------------------------------------------ */

static void view_tables(struct nai_model *m) {
  const struct nai_table *t = m->kernel_table;
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
  t = m->memop_table;
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
  t = m->graph_table;
  m->graphs = (struct nai_graph_view){.n = (uint32_t)t->rows,
                                      .start = nai_table_column(t, GE_START),
                                      .end = nai_table_column(t, GE_END),
                                      .correlation = nai_table_column(t, GE_CORRELATION),
                                      .device = nai_table_column(t, GE_DEVICE),
                                      .process = nai_table_column(t, GE_PROCESS),
                                      .context = nai_table_column(t, GE_CONTEXT),
                                      .stream = nai_table_column(t, GE_STREAM),
                                      .graph = nai_table_column(t, GE_GRAPH)};
  t = m->api_table;
  m->apis = (struct nai_api_view){.n = (uint32_t)t->rows,
                                  .start = nai_table_column(t, AE_START),
                                  .end = nai_table_column(t, AE_END),
                                  .correlation = nai_table_column(t, AE_CORRELATION),
                                  .thread = nai_table_column(t, AE_THREAD),
                                  .name = nai_table_column(t, AE_NAME)};
  t = m->nvtx_table;
  m->nvtx = (struct nai_nvtx_view){.n = (uint32_t)t->rows,
                                   .start = nai_table_column(t, NE_START),
                                   .end = nai_table_column(t, NE_END),
                                   .thread = nai_table_column(t, NE_THREAD),
                                   .kind = nai_table_column(t, NE_KIND),
                                   .row_offset = nai_table_column(t, NE_ROW_OFFSET),
                                   .name = nai_table_column(t, NE_NAME)};
  m->process_count = (uint32_t)m->processes->rows;
  m->thread_count = (uint32_t)m->threads->rows;
  m->thread_process = nai_column_i32(m->threads, TH_PROCESS);
}

/* --- names ------------------------------------------------------------------------------------ */

static bool has(const char *name, const char *part) { return strcasestr(name, part) != NULL; }

static enum nai_api_class classify_api(const char *name) {
  static const char *const waits[] = {"cudaDeviceSynchronize", "cudaThreadSynchronize", "cudaStreamSynchronize",
                                      "cudaEventSynchronize",  "cuCtxSynchronize",      "cuStreamSynchronize",
                                      "cuEventSynchronize"};
  static const char *const orders[] = {"cudaStreamWaitEvent", "cuStreamWaitEvent", "cuStreamWaitValue",
                                       "cuStreamWaitValue32", "cuStreamWaitValue64"};
  static const char *const polls[] = {"cudaEventQuery", "cudaStreamQuery", "cuEventQuery", "cuStreamQuery"};
  /* Driver functions may carry a version: cuCtxSynchronize_v2. */
  size_t len = strlen(name);
  size_t base = len > 3 && name[len - 3] == '_' && name[len - 2] == 'v' ? len - 3 : len;
#define IS_ONE_OF(list)                                   \
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) \
    if (strlen(list[i]) == base && memcmp(list[i], name, base) == 0)
  IS_ONE_OF(waits) return NAI_API_BLOCKING;
  IS_ONE_OF(orders) return NAI_API_ORDERING;
  IS_ONE_OF(polls) return NAI_API_POLL;
#undef IS_ONE_OF
  if ((has(name, "memcpy") || has(name, "memset")) && !has(name, "async"))
    return NAI_API_BLOCKING_COPY;
  return NAI_API_OTHER;
}

static int classify_names(struct nai_model *m, struct nai_err *err) {
  uint32_t kernels = m->kernel_table->strings.count, apis = m->api_table->strings.count;
  m->kernel_category = calloc((size_t)kernels + 1, sizeof *m->kernel_category);
  m->kernel_communication = calloc((size_t)kernels + 1, sizeof *m->kernel_communication);
  m->api_class = calloc((size_t)apis + 1, 1);
  if (!m->kernel_category || !m->kernel_communication || !m->api_class)
    return nai_err_nomem(err);
  for (uint32_t i = 0; i < kernels; i++) {
    m->kernel_category[i] = nai_kernel_classes_match(m->classes, nai_strings_get(&m->kernel_table->strings, i));
    m->kernel_communication[i] =
        strcmp(nai_kernel_classes_name(m->classes, m->kernel_category[i]), "communication") == 0;
  }
  for (uint32_t i = 0; i < apis; i++)
    m->api_class[i] = (uint8_t)classify_api(nai_strings_get(&m->api_table->strings, i));
  return NAI_OK;
}

/* --- building --------------------------------------------------------------------------------- */

static int group_nvtx(struct nai_model *m, struct nai_err *err) {
  uint32_t marks = 0;
  for (uint32_t i = 0; i < m->nvtx.n; i++)
    marks += nai_at_i32(&m->nvtx.kind, i) == NAI_NVTX_MARK;
  int32_t *group = marks ? malloc(((size_t)m->nvtx.n + 2) * sizeof *group) : NULL;
  if (marks && !group)
    return nai_err_nomem(err);
  for (uint32_t i = 0; marks && i < m->nvtx.n; i++) /* marks take no part in nesting or attribution */
    group[i] = nai_at_i32(&m->nvtx.kind, i) == NAI_NVTX_MARK ? -1 : nai_at_i32(&m->nvtx.thread, i);
  struct nai_row_order by = {m->nvtx.start, m->nvtx.end, m->nvtx.name, &m->nvtx_table->strings};
  struct nai_column thread = group ? nai_column_of_i32(group) : m->nvtx.thread;
  int rc = nai_groups_build(&m->nvtx_by_thread, m->nvtx.n, &thread, m->thread_count, &by, m->scratch_dir, err);
  free(group);
  return rc;
}

static int group_apis(struct nai_model *m, struct nai_err *err) {
  struct nai_row_order by = {m->apis.start, m->apis.end, m->apis.name, &m->api_table->strings};
  return nai_groups_build(&m->api_by_thread, m->apis.n, &m->apis.thread, m->thread_count, &by, m->scratch_dir, err);
}

/* What needs nothing but the event tables, the longest first. */
enum { STEP_NVTX, STEP_JOIN, STEP_APIS, STEP_FIRST_GPU };
struct first_steps {
  struct nai_model *m;
  struct nai_gpu_rows gpu_rows;
};

static int first_step(void *ctx, int task, struct nai_err *err) {
  struct first_steps *steps = ctx;
  switch (task) {
  case STEP_JOIN:
    return nai_launch_join(steps->m, err);
  case STEP_NVTX:
    return group_nvtx(steps->m, err);
  case STEP_APIS:
    return group_apis(steps->m, err);
  default:
    return nai_gpu_build(steps->m, (uint32_t)(task - STEP_FIRST_GPU), &steps->gpu_rows, err);
  }
}

static int run_first_steps(struct nai_model *m, struct nai_err *err) {
  struct first_steps steps = {.m = m};
  int rc = nai_gpu_rows_collect(&steps.gpu_rows, m, err);
  if (!rc)
    rc = nai_parallel(m->worker_count, (int)m->gpu_count + STEP_FIRST_GPU, first_step, &steps, err);
  nai_gpu_rows_free(&steps.gpu_rows);
  return rc;
}

/* A thread's part of the NVTX tree on its way into the model. */
struct tree_parts {
  struct nai_model *m;
  struct nai_nvtx_node **nodes;
  uint32_t *counts;
};

static int thread_steps(void *ctx, int task, struct nai_err *err) {
  struct tree_parts *parts = ctx;
  struct nai_model *m = parts->m;
  uint32_t thread = (uint32_t)task;
  int rc = nai_host_blocked(m, thread, err);
  return rc ? rc : nai_nvtx_nest(&parts->nodes[thread], &parts->counts[thread], m, thread, err);
}

static int build_threads(struct nai_model *m, struct nai_err *err) {
  struct tree_parts parts = {m, calloc((size_t)m->thread_count + 1, sizeof *parts.nodes),
                             calloc((size_t)m->thread_count + 1, sizeof *parts.counts)};
  int rc = parts.nodes && parts.counts ? nai_parallel(m->worker_count, (int)m->thread_count, thread_steps, &parts, err)
                                       : nai_err_nomem(err);
  if (!rc)
    rc = nai_nvtx_collect(m, parts.nodes, parts.counts, err);
  if (!rc && m->map_nvtx)
    rc = nai_nvtx_attribute(m, err);
  for (uint32_t t = 0; parts.nodes && t < m->thread_count; t++)
    free(parts.nodes[t]);
  free(parts.nodes);
  free(parts.counts);
  return rc;
}

static void find_window(struct nai_model *m) {
  m->window_start = INT64_MAX;
  m->window_end = INT64_MIN;
  for (uint32_t g = 0; g < m->gpu_count; g++) {
    const struct nai_gpu *gpu = &m->gpus[g];
    if (!gpu->op_count)
      continue;
    m->window_start = gpu->window_start < m->window_start ? gpu->window_start : m->window_start;
    m->window_end = gpu->window_end > m->window_end ? gpu->window_end : m->window_end;
  }
  if (m->window_start <= m->window_end)
    return;
  for (uint32_t i = 0; i < m->apis.n; i++) {
    m->window_start = nai_at(&m->apis.start, i) < m->window_start ? nai_at(&m->apis.start, i) : m->window_start;
    m->window_end = nai_at(&m->apis.end, i) > m->window_end ? nai_at(&m->apis.end, i) : m->window_end;
  }
  for (uint32_t i = 0; i < m->nvtx.n; i++) {
    m->window_start = nai_at(&m->nvtx.start, i) < m->window_start ? nai_at(&m->nvtx.start, i) : m->window_start;
    m->window_end = nai_at(&m->nvtx.end, i) > m->window_end ? nai_at(&m->nvtx.end, i) : m->window_end;
  }
  if (m->window_start > m->window_end)
    m->window_start = m->window_end = 0;
}

static int allocate(struct nai_model *m, struct nai_err *err) {
  m->gpus = calloc((size_t)m->gpu_count + 1, sizeof *m->gpus);
  m->blocked = calloc((size_t)m->thread_count + 1, sizeof *m->blocked);
  m->first_node = calloc((size_t)m->thread_count + 2, sizeof *m->first_node);
  m->crossing = calloc((size_t)m->thread_count + 1, sizeof *m->crossing);
  m->checkpoints = calloc((size_t)m->thread_count + 1, sizeof *m->checkpoints);
  int rc = m->gpus && m->blocked && m->first_node && m->crossing && m->checkpoints ? NAI_OK : nai_err_nomem(err);
  void *depth = NULL, *node = NULL;
  if (!rc)
    rc = nai_big_new(&depth, m->scratch_dir, (size_t)m->nvtx.n + 1, err);
  if (!rc)
    rc = nai_big_new(&node, m->scratch_dir, ((size_t)m->apis.n + 1) * sizeof *m->api_node, err);
  m->nvtx_depth = depth;
  m->api_node = node;
  return rc;
}

int nai_model_build(struct nai_model *m, struct nai_err *err) {
  view_tables(m);
  m->gpu_count = (uint32_t)m->gpu_table->rows;
  int rc = allocate(m, err);
  for (uint32_t g = 0; !rc && g < m->gpu_count; g++)
    m->gpus[g].device_id = (int32_t)nai_get_i64(m->gpu_table, g, GP_DEVICE);
  if (!rc)
    rc = classify_names(m, err);
  if (!rc)
    rc = run_first_steps(m, err);
  if (!rc)
    rc = nai_process_gpus(m, err);
  if (!rc)
    rc = build_threads(m, err);
  if (!rc)
    find_window(m);
  return rc;
}

void nai_model_free(struct nai_model *m) {
  free(m->api_class);
  free(m->kernel_category);
  free(m->kernel_communication);
  free(m->kernel_api);
  free(m->memop_api);
  free(m->graph_api);
  free(m->api_owns);
  for (uint32_t t = 0; m->blocked && t < m->thread_count; t++)
    nai_intervals_free(&m->blocked[t]);
  free(m->blocked);
  free(m->crossing);
  free(m->nodes);
  nai_big_free(m->nvtx_depth);
  free(m->first_node);
  for (uint32_t t = 0; m->checkpoints && t < m->thread_count; t++)
    nai_checkpoints_free(&m->checkpoints[t]);
  free(m->checkpoints);
  nai_big_free(m->api_node);
  nai_groups_free(&m->api_by_thread);
  nai_groups_free(&m->nvtx_by_thread);
  nai_groups_free(&m->process_gpus);
  for (uint32_t g = 0; m->gpus && g < m->gpu_count; g++)
    nai_gpu_free(&m->gpus[g]);
  free(m->gpus);
}

/* --- questions -------------------------------------------------------------------------------- */

uint32_t nai_model_gpu_index(const struct nai_model *m, int32_t device_id) {
  uint32_t lo = 0, hi = m->gpu_count;
  while (lo < hi) {
    uint32_t mid = lo + (hi - lo) / 2;
    if (m->gpus[mid].device_id < device_id)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo < m->gpu_count && m->gpus[lo].device_id == device_id ? lo : m->gpu_count;
}

const struct nai_gpu *nai_model_gpu(const struct nai_model *m, int32_t device_id) {
  uint32_t index = nai_model_gpu_index(m, device_id);
  return index < m->gpu_count ? &m->gpus[index] : NULL;
}

const char *nai_model_gpu_label(const struct nai_model *m, int32_t device_id) {
  uint32_t index = nai_model_gpu_index(m, device_id);
  return index < m->gpu_count ? nai_get_str(m->gpu_table, index, GP_LABEL) : "GPU ?";
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
  return nai_strings_get(&m->api_table->strings, nai_at_text(&m->apis.name, api));
}

const char *nai_model_kernel_name(const struct nai_model *m, uint32_t kernel) {
  return nai_strings_get(&m->kernel_table->strings, nai_at_text(&m->kernels.name, kernel));
}

const char *nai_model_range_name(const struct nai_model *m, uint32_t range) {
  return nai_strings_get(&m->nvtx_table->strings, nai_at_text(&m->nvtx.name, range));
}

int64_t nai_model_pid(const struct nai_model *m, int32_t process) {
  return process < 0 ? NAI_NULL_I64 : nai_get_i64(m->processes, process, PR_PID);
}

const char *nai_model_kind_name(char room[NAI_KIND_NAME_MAX], const struct nai_model *m, int enumeration,
                                int32_t kind) {
  if (kind == NAI_NULL_I32)
    return "Unknown";
  const char *label = NULL;
  for (int64_t i = 0; i < m->labels->rows && !label; i++)
    if (nai_get_i64(m->labels, i, LB_KIND) == enumeration && nai_get_i64(m->labels, i, LB_ID) == kind)
      label = nai_get_str(m->labels, i, LB_LABEL);
  if (!label || !*label)
    label = enumeration == NAI_LABEL_COPY ? nai_copy_kind_label(kind) : nai_mem_kind_label(kind);
  if (label)
    return label;
  snprintf(room, NAI_KIND_NAME_MAX, "kind %" PRId32, kind);
  return room;
}

const char *nai_model_direction(char room[NAI_KIND_NAME_MAX], const struct nai_model *m, uint32_t memop) {
  if (nai_at_i32(&m->memops.kind, memop) == NAI_MEMOP_SET)
    return "memset";
  return nai_model_kind_name(room, m, NAI_LABEL_COPY, nai_at_i32(&m->memops.copy_kind, memop));
}
