/* What did each GPU spend its time on? Table gpu_utilization: compute + exposed communication + exposed copy + idle =
 * window, exactly. */
#include "analyses/analysis.h"
#include "tables/gpu_utilization.h"
#include "tables/gpus.h"

/* Times that outputs show both in ns and in ms. */

static void add_gpu(struct nai_table *table, const struct nai_model *m, uint32_t index) {
  const struct nai_gpu *gpu = &m->gpus[index];
  int64_t window = gpu->window_end - gpu->window_start, busy = nai_intervals_total_ns(&gpu->all);
  int64_t communication = gpu->communication_ns, kernel_busy = gpu->kernel_busy_ns;
  int64_t kernel_window = gpu->kernel_window_end - gpu->kernel_window_start;
  int64_t exposed = nai_intervals_total_ns(&gpu->exposed_communication);
  int64_t row = nai_table_add_row(table);
  const struct {
    int ns, pct;
    int64_t value;
  } parts[] = {
      {GPU_UTILIZATION_window_ns, -1, window},
      {GPU_UTILIZATION_busy_ns, GPU_UTILIZATION_busy_pct, busy},
      {GPU_UTILIZATION_idle_ns, GPU_UTILIZATION_idle_pct_of_window, window - busy},
      {GPU_UTILIZATION_compute_ns, GPU_UTILIZATION_compute_pct, gpu->compute_ns},
      {GPU_UTILIZATION_exposed_comm_ns, GPU_UTILIZATION_exposed_comm_pct, exposed},
      {GPU_UTILIZATION_exposed_copy_ns, GPU_UTILIZATION_exposed_copy_pct, nai_intervals_total_ns(&gpu->exposed_copy)},
      {GPU_UTILIZATION_graph_envelope_ns, GPU_UTILIZATION_graph_envelope_pct, gpu->graph_ns},
      {GPU_UTILIZATION_comm_ns, -1, communication},
      {GPU_UTILIZATION_copy_ns, -1, gpu->copy_ns},
      {GPU_UTILIZATION_kernel_window_ns, -1, kernel_window},
      {GPU_UTILIZATION_kernel_busy_ns, -1, kernel_busy},
      {GPU_UTILIZATION_kernel_idle_ns, -1, kernel_window - kernel_busy},
  };
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    nai_set_i64(table, row, parts[i].ns, parts[i].value);
    if (parts[i].pct >= 0)
      nai_set_f64(table, row, parts[i].pct, nai_percent((double)parts[i].value, (double)window));
  }
  nai_set_i64(table, row, GPU_UTILIZATION_device_id, gpu->device_id);
  if (communication)
    nai_set_f64(table, row, GPU_UTILIZATION_overlap_comm_pct,
                nai_percent((double)(communication - exposed), (double)communication));
  nai_set_f64(table, row, GPU_UTILIZATION_kernel_idle_pct,
              nai_percent((double)(kernel_window - kernel_busy), (double)kernel_window));
  /* Zero-length operations can stretch the window past the first or last busy interval. */
  int64_t gaps = gpu->all.count ? (int64_t)gpu->all.count - 1 : 0;
  if (gpu->all.count)
    gaps += (gpu->all.v[0].start > gpu->window_start) + (gpu->all.v[gpu->all.count - 1].end < gpu->window_end);
  else
    gaps += window > 0;
  nai_set_i64(table, row, GPU_UTILIZATION_gap_count, gaps);
  nai_set_i64(table, row, GPU_UTILIZATION_window_start_ns, gpu->window_start);
  nai_set_i64(table, row, GPU_UTILIZATION_window_end_ns, gpu->window_end);
  nai_set_i64(table, row, GPU_UTILIZATION_operation_count, gpu->op_count);
  struct nai_value name = nai_table_value(m->tables[NAI_IN_GPUS], index, GPUS_gpu_name);
  nai_set_str(table, row, GPU_UTILIZATION_gpu_name, name.null ? NULL : name.s);
  nai_set_str(table, row, GPU_UTILIZATION_gpu, nai_get_str(m->tables[NAI_IN_GPUS], index, GPUS_label));
  nai_set_i64(table, row, GPU_UTILIZATION_pid, nai_get_i64(m->tables[NAI_IN_GPUS], index, GPUS_pid));
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  struct nai_table *const *tables = io->out;
  const struct nai_model *m = io->model;
  (void)err;
  for (uint32_t i = 0; i < m->gpu_count; i++)
    if (m->gpus[i].op_count)
      add_gpu(tables[0], m, i);
  return NAI_OK;
}

NAI_ANALYSIS(utilization, .outputs = NAI_SCHEMAS(&nai_gpu_utilization_schema), .parts = NAI_PART(GPUS),
             .tables = NAI_IN(GPUS), .run = run)
