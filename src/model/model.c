#include "model/model.h"
#include "base/sort.h"
#include "tables/api_events.h"
#include "tables/gpus.h"
#include "tables/graph_events.h"
#include "tables/kernel_events.h"
#include "tables/labels.h"
#include "tables/memop_events.h"
#include "tables/nvtx_events.h"
#include "tables/processes.h"
#include "tables/threads.h"

/* --- columns ---------------------------------------------------------------------------------- */

/* Tables that nobody asked for are empty to the model. */
static uint32_t rows(const struct nai_table *table) { return table ? (uint32_t)table->rows : 0; }

static void find_columns(struct nai_model *m) {
  m->kernels = KERNEL_EVENTS_columns_of(m->tables[NAI_IN_KERNELS]);
  m->memops = MEMOP_EVENTS_columns_of(m->tables[NAI_IN_MEMOPS]);
  m->graphs = GRAPH_EVENTS_columns_of(m->tables[NAI_IN_GRAPHS]);
  m->apis = API_EVENTS_columns_of(m->tables[NAI_IN_APIS]);
  m->nvtx = NVTX_EVENTS_columns_of(m->tables[NAI_IN_NVTX]);
  m->process_count = rows(m->tables[NAI_IN_PROCESSES]);
  m->thread_count = rows(m->tables[NAI_IN_THREADS]);
  m->thread_process = m->thread_count ? nai_column_i32(m->tables[NAI_IN_THREADS], THREADS_process) : NULL;
}

void nai_model_open(struct nai_model *m, struct nai_table *const tables[NAI_IN_COUNT],
                    const struct nai_model_options *options) {
  *m = (struct nai_model){.classes = options->classes,
                          .phases = options->phases,
                          .phases_chosen = options->phases_chosen,
                          .workload = options->workload,
                          .gpu_facts = options->gpu_facts,
                          .flops = options->flops,
                          .step = options->step,
                          .comm_names = options->comm_names,
                          .map_nvtx = options->map_nvtx,
                          .page_events = options->page_events,
                          .worker_count = options->worker_count,
                          .scratch_dir = options->scratch_dir,
                          .arena = NAI_ARENA(options->scratch_dir)};
  for (int i = 0; i < NAI_IN_COUNT; i++)
    m->tables[i] = tables[i];
  find_columns(m);
  m->gpu_count = rows(m->tables[NAI_IN_GPUS]);
  m->gpu_device = m->gpu_count ? nai_column_i32(m->tables[NAI_IN_GPUS], GPUS_device_id) : NULL;
}

/* --- questions -------------------------------------------------------------------------------- */

uint32_t nai_model_gpu_search(const struct nai_model *m, int32_t device_id) {
  const struct nai_column devices = nai_column_of_i32(m->gpu_device);
  uint32_t index = nai_rows_from(NULL, 0, m->gpu_count, &devices, device_id);
  return index < m->gpu_count && m->gpu_device[index] == device_id ? index : m->gpu_count;
}

int32_t nai_model_device(const struct nai_model *m, uint32_t gpu) {
  return (int32_t)nai_get_i64(m->tables[NAI_IN_GPUS], gpu, GPUS_device_id);
}

const char *nai_model_gpu_label(const struct nai_model *m, int32_t device_id) {
  uint32_t index = nai_model_gpu_index(m, device_id);
  return index < m->gpu_count ? nai_get_str(m->tables[NAI_IN_GPUS], index, GPUS_label) : "GPU ?";
}

struct op_moment {
  const struct nai_op *ops;
  int64_t t;
};

static bool op_before(const void *ctx, size_t i) {
  const struct op_moment *at = ctx;
  return at->ops[i].start < at->t;
}

uint32_t nai_gpu_op_from(const struct nai_gpu *gpu, int64_t t) {
  return (uint32_t)nai_search(0, gpu->op_count, op_before, &(struct op_moment){gpu->ops, t});
}

uint32_t nai_gpu_op_behind(const struct nai_gpu *gpu, uint32_t first, int64_t t) {
  return (uint32_t)nai_search_near(first, gpu->op_count, op_before, &(struct op_moment){gpu->ops, t});
}

const char *nai_model_api_name(const struct nai_model *m, uint32_t api) {
  return nai_strings_get(&m->tables[NAI_IN_APIS]->strings, nai_val_text(&m->apis.name, api));
}

const char *nai_model_kernel_name(const struct nai_model *m, uint32_t kernel) {
  return nai_strings_get(&m->tables[NAI_IN_KERNELS]->strings, nai_val_text(&m->kernels.name, kernel));
}

const char *nai_model_range_name(const struct nai_model *m, uint32_t range) {
  return nai_strings_get(&m->tables[NAI_IN_NVTX]->strings, nai_val_text(&m->nvtx.name, range));
}

int64_t nai_model_pid(const struct nai_model *m, int32_t process) {
  return process < 0 ? NAI_NULL_I64 : nai_get_i64(m->tables[NAI_IN_PROCESSES], process, PROCESSES_pid);
}

int32_t nai_model_process(const struct nai_model *m, int64_t pid) {
  return (int32_t)nai_find_i64(m->tables[NAI_IN_PROCESSES], PROCESSES_pid, pid);
}

struct nai_range_place nai_model_range_place(const struct nai_model *m, uint32_t range) {
  if (range == NAI_NO_ROW)
    return (struct nai_range_place){NAI_NULL_I64, NAI_NULL_I64, NAI_NULL_I64, NAI_NULL_I64};
  int32_t thread = nai_val_i32(&m->nvtx.thread, range);
  return (struct nai_range_place){nai_val(&m->nvtx.start_ns, range), nai_val(&m->nvtx.end_ns, range),
                                  nai_get_i64(m->tables[NAI_IN_THREADS], thread, THREADS_pid),
                                  nai_get_i64(m->tables[NAI_IN_THREADS], thread, THREADS_tid)};
}

int64_t nai_total_kernel_ns(const struct nai_model *m) {
  int64_t total = 0;
  for (uint32_t i = 0; i < m->kernel_group_count; i++)
    total += m->kernel_groups[i].total_ns;
  return total;
}

const char *nai_model_kind_name(char room[NAI_KIND_NAME_MAX], const struct nai_model *m, int enumeration,
                                int32_t kind) {
  if (kind == NAI_NULL_I32)
    return "Unknown";
  const char *label = NULL;
  for (int64_t i = 0; i < m->tables[NAI_IN_LABELS]->rows && !label; i++)
    if (nai_get_i64(m->tables[NAI_IN_LABELS], i, LABELS_enumeration) == enumeration &&
        nai_get_i64(m->tables[NAI_IN_LABELS], i, LABELS_id) == kind)
      label = nai_get_str(m->tables[NAI_IN_LABELS], i, LABELS_label);
  if (!label || !*label)
    label = enumeration == NAI_LABEL_COPY ? nai_copy_kind_label(kind) : nai_mem_kind_label(kind);
  if (label)
    return label;
  snprintf(room, NAI_KIND_NAME_MAX, "kind %" PRId32, kind);
  return room;
}

const char *nai_model_direction(char room[NAI_KIND_NAME_MAX], const struct nai_model *m, uint32_t memop) {
  if (nai_val_i32(&m->memops.kind, memop) == NAI_MEMOP_SET)
    return "memset";
  return nai_model_kind_name(room, m, NAI_LABEL_COPY, nai_at_i32(&m->memops.copy_kind, memop));
}
