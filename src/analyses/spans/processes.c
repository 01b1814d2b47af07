/* What did each process do? Tables process_summary, kernels_by_pid. */
#include "analyses/analysis.h"
#include "tables/kernels_by_pid.h"
#include "tables/process_summary.h"
#include "tables/processes.h"
#include "tables/threads.h"

/* Older exports do not say what was run; a main thread has the name of it. NULL: nothing tells. */
static int names_of(const struct nai_node_io *io, const char ***out, struct nai_err *err) {
  const struct nai_model *m = io->model;
  const struct nai_table *threads = m->tables[NAI_IN_THREADS];
  const char **names;
  NAI_TRY(NAI_NEW(names, io->arena, m->process_count, err));
  for (uint32_t p = 0; p < m->process_count; p++) {
    const char *name = nai_get_str(m->tables[NAI_IN_PROCESSES], p, PROCESSES_process_name);
    names[p] = *name ? name : NULL;
  }
  for (int64_t i = 0; i < threads->rows; i++) {
    const struct THREADS_row thread = THREADS_at(threads, i);
    if (thread.process >= 0 && thread.tid == thread.pid && !names[thread.process] && *thread.thread_name)
      names[thread.process] = thread.thread_name;
  }
  *out = names;
  return NAI_OK;
}

static void put_process(struct nai_table *table, const struct nai_model *m, uint32_t p, const char *name,
                        int64_t all_ns) {
  const struct nai_process_sum *s = &m->process_sums[p];
  NAI_SCOPED(nai_buf) devices = {0};
  const struct nai_groups *used = &m->process_gpus;
  for (uint32_t i = used->first[p]; i < used->first[p + 1]; i++)
    nai_buf_printf(&devices, "%s%" PRId32, devices.len ? " " : "", nai_model_device(m, used->order[i]));
  struct PROCESS_SUMMARY_row row =
      NAI_ROW(PROCESS_SUMMARY, .pid = nai_model_pid(m, (int32_t)p), .process_name = name,
              .devices = nai_buf_str(&devices), .kernel_count = s->kernels, .kernel_time_ns = s->kernel_ns,
              .pct_of_total_kernel_time = nai_percent((double)s->kernel_ns, (double)all_ns),
              .memcpy_bytes = s->copied_bytes, .api_calls = s->api_calls, .blocked_ns = s->blocked_ns);
  if (s->kernel_ns && m->map_nvtx && m->nvtx.n)
    row.nvtx_coverage_pct = nai_percent((double)s->attributed_ns, (double)s->kernel_ns);
  PROCESS_SUMMARY_add(table, &row);
  table->oom |= devices.oom;
}

/* Calls and time of one kernel name on one GPU in one process. */
struct kernel_sum {
  int64_t calls, total_ns;
  uint32_t kernel; /* the first one */
};

static void put_kernel(struct nai_table *table, const struct nai_model *m, const struct kernel_sum *k, int64_t all_ns) {
  int32_t process = nai_val_i32(&m->kernels.process, k->kernel);
  double ns = (double)k->total_ns, process_ns = (double)m->process_sums[process].kernel_ns;
  NAI_ADD(KERNELS_BY_PID, table, .pid = nai_model_pid(m, process),
          .pid_total_kernel_time_ns = m->process_sums[process].kernel_ns,
          .pid_pct_of_total_kernel_time = nai_percent(process_ns, (double)all_ns),
          .kernel_name = nai_model_kernel_name(m, k->kernel),
          .device_id = nai_val_i32(&m->kernels.device_id, k->kernel), .call_count = k->calls,
          .total_time_ns = k->total_ns, .avg_duration_ns = ns / (double)k->calls,
          .pct_of_pid_kernel_time = nai_percent(ns, process_ns),
          .pct_of_total_kernel_time = nai_percent(ns, (double)all_ns));
}

static int put_kernels(const struct nai_node_io *io, int64_t all_ns, struct nai_err *err) {
  const struct nai_model *m = io->model;
  struct nai_keyset groups = {.arena = io->arena}; /* process, kernel group */
  struct kernel_sum *list = NULL;
  uint32_t capacity = 0;
  for (uint32_t i = 0; i < m->kernel_kind_count; i++) {
    const struct nai_kernel_kind *kind = &m->kernel_kinds[i];
    bool added;
    if (kind->process < 0)
      continue;
    uint32_t group = nai_keyset_add(&groups, nai_key_pair(kind->process, kind->group), &added);
    NAI_TRY(nai_memory_check(!groups.oom, err));
    NAI_TRY(NAI_ROOM(list, capacity, group, io->arena, err));
    if (added)
      list[group].kernel = kind->first;
    list[group].calls += kind->calls;
    list[group].total_ns += kind->total_ns;
  }
  for (uint32_t i = 0; i < groups.count; i++)
    put_kernel(io->out[1], m, &list[i], all_ns);
  return NAI_OK;
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_model *m = io->model;
  int64_t all_ns = nai_total_kernel_ns(m);
  const char **names;
  NAI_TRY(names_of(io, &names, err));
  for (uint32_t p = 0; p < m->process_count; p++)
    put_process(io->out[0], m, p, names[p], all_ns);
  return put_kernels(io, all_ns, err);
}

NAI_ANALYSIS(processes, .outputs = NAI_SCHEMAS(&nai_process_summary_schema, &nai_kernels_by_pid_schema),
             .parts = NAI_PART(KERNEL_GROUPS) | NAI_PART(PROCESS_SUMS) | NAI_PART(PROCESS_GPUS),
             .tables = NAI_IN(KERNELS) | NAI_IN(PROCESSES) | NAI_IN(THREADS) | NAI_IN(GPUS), .run = run)
