/* What did each GPU spend its time on? Table gpu_utilization: compute + exposed communication + exposed copy + idle =
 * window, exactly. */
#include "analyses/analysis.h"
#include "tables/gpu_utilization.h"
#include "tables/gpus.h"

/* Zero-length operations can stretch the window past the first or last busy interval. */
static int64_t count_gaps(const struct nai_gpu *gpu) {
  const struct nai_intervals *busy = &gpu->all;
  if (!busy->count)
    return gpu->window_end > gpu->window_start;
  return (int64_t)busy->count - 1 + (busy->v[0].start > gpu->window_start) +
         (busy->v[busy->count - 1].end < gpu->window_end);
}

static void put_gpu(struct nai_table *table, const struct nai_model *m, uint32_t index) {
  const struct nai_gpu *gpu = &m->gpus[index];
  const struct GPUS_row is = GPUS_at(m->tables[NAI_IN_GPUS], index);
  struct nai_value name = nai_table_value(m->tables[NAI_IN_GPUS], index, GPUS_gpu_name);
  int64_t window = gpu->window_end - gpu->window_start, busy = nai_intervals_total_ns(&gpu->all);
  int64_t exposed = nai_intervals_total_ns(&gpu->exposed_communication);
  int64_t exposed_copy = nai_intervals_total_ns(&gpu->exposed_copy);
  int64_t kernel_window = gpu->kernel_window_end - gpu->kernel_window_start;
  int64_t kernel_idle = kernel_window - gpu->kernel_busy_ns;
  double communication = (double)gpu->communication_ns;
#define PCT(ns) nai_percent((double)(ns), (double)window)
  NAI_ADD(GPU_UTILIZATION, table, .device_id = gpu->device_id, .gpu_name = name.null ? NULL : name.s, .gpu = is.label,
          .pid = is.pid, .window_ns = window, .window_start_ns = gpu->window_start, .window_end_ns = gpu->window_end,
          .operation_count = gpu->op_count, .gap_count = count_gaps(gpu), .busy_ns = busy, .busy_pct = PCT(busy),
          .idle_ns = window - busy, .idle_pct_of_window = PCT(window - busy), .compute_ns = gpu->compute_ns,
          .compute_pct = PCT(gpu->compute_ns), .comm_ns = gpu->communication_ns, .exposed_comm_ns = exposed,
          .exposed_comm_pct = PCT(exposed),
          .overlap_comm_pct =
              communication > 0 ? nai_percent(communication - (double)exposed, communication) : (double)NAN,
          .copy_ns = gpu->copy_ns, .exposed_copy_ns = exposed_copy, .exposed_copy_pct = PCT(exposed_copy),
          .graph_envelope_ns = gpu->graph_ns, .graph_envelope_pct = PCT(gpu->graph_ns),
          .kernel_window_ns = kernel_window, .kernel_busy_ns = gpu->kernel_busy_ns, .kernel_idle_ns = kernel_idle,
          .kernel_idle_pct = nai_percent((double)kernel_idle, (double)kernel_window));
#undef PCT
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_model *m = io->model;
  (void)err;
  for (uint32_t i = 0; i < m->gpu_count; i++)
    if (m->gpus[i].op_count)
      put_gpu(io->out[0], m, i);
  return NAI_OK;
}

NAI_ANALYSIS(utilization, .outputs = NAI_SCHEMAS(&nai_gpu_utilization_schema), .parts = NAI_PART(GPUS),
             .tables = NAI_IN(GPUS), .run = run)
