/* What did each process do? Tables pids, kernels_by_pid. */
#include "analyses/analysis.h"

#include "base/array.h"
#include "base/keyset.h"
#include "tables/kernels_by_pid.h"
#include "tables/pids.h"
#include "tables/processes.h"

#include <inttypes.h>
#include <stdlib.h>

static void put_process(struct nai_table *table, const struct nai_model *m, uint32_t p, const struct nai_process_sum *s,
                        int64_t all_ns) {
  struct nai_buf devices = {0};
  const struct nai_groups *used = &m->process_gpus;
  for (uint32_t i = used->first[p]; i < used->first[p + 1]; i++)
    nai_buf_printf(&devices, "%s%" PRId32, devices.len ? " " : "", nai_model_device(m, used->order[i]));
  int64_t row = nai_table_add_row(table);
  struct nai_value name = nai_table_value(m->tables[NAI_IN_PROCESSES], p, PROCESSES_process_name);
  nai_set_i64(table, row, PIDS_pid, nai_model_pid(m, (int32_t)p));
  nai_set_str(table, row, PIDS_process_name, name.null ? NULL : name.s);
  nai_set_str(table, row, PIDS_devices, nai_buf_str(&devices));
  nai_set_i64(table, row, PIDS_kernel_count, s->kernels);
  nai_set_i64(table, row, PIDS_kernel_time_ns, s->kernel_ns);
  nai_set_f64(table, row, PIDS_pct_of_total_kernel_time, nai_percent((double)s->kernel_ns, (double)all_ns));
  nai_set_i64(table, row, PIDS_memcpy_bytes, s->copied_bytes);
  nai_set_i64(table, row, PIDS_api_calls, s->api_calls);
  nai_set_i64(table, row, PIDS_blocked_ns, s->blocked_ns);
  if (s->kernel_ns && m->map_nvtx && m->nvtx.n)
    nai_set_f64(table, row, PIDS_nvtx_coverage_pct, nai_percent((double)s->attributed_ns, (double)s->kernel_ns));
  table->oom |= devices.oom;
  nai_buf_free(&devices);
}

/* Calls and time of one kernel name on one GPU in one process. */
struct kernel_sum {
  int64_t calls, total_ns;
  uint32_t kernel; /* the first one */
};

static void put_kernel(struct nai_table *table, const struct nai_model *m, const struct kernel_sum *k,
                       const struct nai_process_sum *process, int64_t all_ns) {
  int64_t row = nai_table_add_row(table);
  nai_set_i64(table, row, KERNELS_BY_PID_pid, nai_model_pid(m, nai_at_i32(&m->kernels.process, k->kernel)));
  nai_set_i64(table, row, KERNELS_BY_PID_pid_total_kernel_time_ns, process->kernel_ns);
  nai_set_f64(table, row, KERNELS_BY_PID_pid_pct_of_total_kernel_time,
              nai_percent((double)process->kernel_ns, (double)all_ns));
  nai_set_str(table, row, KERNELS_BY_PID_kernel_name, nai_model_kernel_name(m, k->kernel));
  nai_set_i64(table, row, KERNELS_BY_PID_device_id, nai_at_i32(&m->kernels.device_id, k->kernel));
  nai_set_i64(table, row, KERNELS_BY_PID_call_count, k->calls);
  nai_set_i64(table, row, KERNELS_BY_PID_total_time_ns, k->total_ns);
  nai_set_f64(table, row, KERNELS_BY_PID_avg_duration_ns, (double)k->total_ns / (double)k->calls);
  nai_set_f64(table, row, KERNELS_BY_PID_pct_of_pid_kernel_time,
              nai_percent((double)k->total_ns, (double)process->kernel_ns));
  nai_set_f64(table, row, KERNELS_BY_PID_pct_of_total_kernel_time, nai_percent((double)k->total_ns, (double)all_ns));
}

static int put_kernels(struct nai_table *table, const struct nai_model *m, int64_t all_ns, struct nai_err *err) {
  struct nai_keyset groups = {0}; /* process, kernel group */
  struct kernel_sum *list = NULL;
  uint32_t capacity = 0;
  bool ok = true, added;
  for (uint32_t i = 0; ok && i < m->kernels.n; i++) {
    int64_t process = nai_at(&m->kernels.process, i);
    if (process < 0)
      continue;
    uint32_t group = nai_keyset_add(&groups, nai_key_pair(process, m->kernel_group[i]), &added);
    ok = !groups.oom && nai_array_room(&list, &capacity, group, sizeof *list);
    if (!ok)
      break;
    if (added)
      list[group] = (struct kernel_sum){0, 0, i};
    list[group].calls++;
    list[group].total_ns += nai_kernel_ns(m, i);
  }
  for (uint32_t i = 0; ok && i < groups.count; i++)
    put_kernel(table, m, &list[i], &m->process_sums[nai_at_i32(&m->kernels.process, list[i].kernel)], all_ns);
  free(list);
  nai_keyset_free(&groups);
  return ok ? NAI_OK : nai_err_nomem(err);
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_model *m = io->model;
  int64_t all_ns = nai_total_kernel_ns(m);
  for (uint32_t p = 0; p < m->process_count; p++)
    put_process(io->out[0], m, p, &m->process_sums[p], all_ns);
  return put_kernels(io->out[1], m, all_ns, err);
}

NAI_ANALYSIS(processes, .outputs = NAI_SCHEMAS(&nai_pids_schema, &nai_kernels_by_pid_schema),
             .parts = NAI_PART(KERNEL_GROUPS) | NAI_PART(PROCESS_SUMS) | NAI_PART(PROCESS_GPUS),
             .tables = NAI_IN(KERNELS) | NAI_IN(PROCESSES) | NAI_IN(GPUS), .run = run)
