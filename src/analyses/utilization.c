/* What did each GPU spend its time on? Table gpu_utilization: compute + exposed communication + exposed copy + idle =
 * window, exactly. */
#include "analyses/analysis.h"

enum {
  DEVICE,
  WINDOW_MS,
  BUSY_MS,
  IDLE_MS,
  IDLE_PCT,
  COMPUTE_MS,
  COMM_MS,
  COPY_MS,
  OVERLAP_PCT,
  K_WINDOW_MS,
  K_BUSY_MS,
  K_IDLE_MS,
  K_IDLE_PCT,
  GAPS,
  WINDOW_NS,
  BUSY_NS,
  IDLE_NS,
  COMPUTE_NS,
  COMM_NS,
  COPY_NS,
  K_WINDOW_NS,
  K_BUSY_NS,
  K_IDLE_NS,
  ALL_COMM_NS,
  ALL_COPY_NS,
  GRAPH_NS,
  BUSY_PCT,
  COMPUTE_PCT,
  COMM_PCT,
  COPY_PCT,
  GRAPH_PCT,
  START,
  END,
  OP_COUNT,
  GPU_NAME,
  LABEL,
  PID
};
static const struct nai_column_def columns[] = {
    [DEVICE] = {"device_id", NAI_I32, NAI_ID, "GPU", NULL},
    [WINDOW_MS] = {"window_ms", NAI_I64, NAI_MS, "first operation start to last operation end", "window_ns"},
    [BUSY_MS] = {"busy_ms", NAI_I64, NAI_MS, "time with any kernel, copy, set or graph running", "busy_ns"},
    [IDLE_MS] = {"idle_ms", NAI_I64, NAI_MS, "window minus busy", "idle_ns"},
    [IDLE_PCT] = {"idle_pct_of_window", NAI_F64, NAI_PCT, "idle, of the window", NULL},
    [COMPUTE_MS] = {"compute_ms", NAI_I64, NAI_MS, "time with a compute kernel or a graph running", "compute_ns"},
    [COMM_MS] = {"exposed_comm_ms", NAI_I64, NAI_MS, "communication kernels and no compute running", "exposed_comm_ns"},
    [COPY_MS] = {"exposed_copy_ms", NAI_I64, NAI_MS, "copies or sets and no kernel running", "exposed_copy_ns"},
    [OVERLAP_PCT] = {"overlap_comm_pct", NAI_F64, NAI_PCT, "share of communication hidden behind compute", NULL},
    [K_WINDOW_MS] = {"kernel_window_ms", NAI_I64, NAI_MS, "first kernel start to last kernel end", "kernel_window_ns"},
    [K_BUSY_MS] = {"kernel_busy_ms", NAI_I64, NAI_MS, "time with any kernel running", "kernel_busy_ns"},
    [K_IDLE_MS] = {"kernel_idle_ms", NAI_I64, NAI_MS, "kernel window minus kernel busy", "kernel_idle_ns"},
    [K_IDLE_PCT] = {"kernel_idle_pct", NAI_F64, NAI_PCT, "the kernel-only idle estimate other tools print", NULL},
    [GAPS] = {"gap_count", NAI_I64, NAI_COUNT, "idle gaps inside the window", NULL},
    [WINDOW_NS] = {"window_ns", NAI_I64, NAI_NS, "first operation start to last operation end", NULL},
    [BUSY_NS] = {"busy_ns", NAI_I64, NAI_NS, "time with anything running", NULL},
    [IDLE_NS] = {"idle_ns", NAI_I64, NAI_NS, "window minus busy", NULL},
    [COMPUTE_NS] = {"compute_ns", NAI_I64, NAI_NS, "time with a compute kernel or a graph running", NULL},
    [COMM_NS] = {"exposed_comm_ns", NAI_I64, NAI_NS, "communication kernels and no compute running", NULL},
    [COPY_NS] = {"exposed_copy_ns", NAI_I64, NAI_NS, "copies or sets and no kernel running", NULL},
    [K_WINDOW_NS] = {"kernel_window_ns", NAI_I64, NAI_NS, "first kernel start to last kernel end", NULL},
    [K_BUSY_NS] = {"kernel_busy_ns", NAI_I64, NAI_NS, "time with any kernel running", NULL},
    [K_IDLE_NS] = {"kernel_idle_ns", NAI_I64, NAI_NS, "kernel window minus kernel busy", NULL},
    [ALL_COMM_NS] = {"comm_ns", NAI_I64, NAI_NS, "time with a communication kernel running, hidden or not", NULL},
    [ALL_COPY_NS] = {"copy_ns", NAI_I64, NAI_NS, "time with a copy or set running, hidden or not", NULL},
    [GRAPH_NS] = {"graph_envelope_ns", NAI_I64, NAI_NS, "time inside CUDA graphs traced as one envelope", NULL},
    [BUSY_PCT] = {"busy_pct", NAI_F64, NAI_PCT, "busy, of the window", NULL},
    [COMPUTE_PCT] = {"compute_pct", NAI_F64, NAI_PCT, "compute, of the window", NULL},
    [COMM_PCT] = {"exposed_comm_pct", NAI_F64, NAI_PCT, "exposed communication, of the window", NULL},
    [COPY_PCT] = {"exposed_copy_pct", NAI_F64, NAI_PCT, "exposed copy, of the window", NULL},
    [GRAPH_PCT] = {"graph_envelope_pct", NAI_F64, NAI_PCT, "graph envelopes, of the window", NULL},
    [START] = {"window_start_ns", NAI_I64, NAI_TIMESTAMP_NS, "first operation start", NULL},
    [END] = {"window_end_ns", NAI_I64, NAI_TIMESTAMP_NS, "last operation end", NULL},
    [OP_COUNT] = {"operation_count", NAI_I64, NAI_COUNT, "kernels, copies, sets and graph launches", NULL},
    [GPU_NAME] = {"gpu_name", NAI_STR, NAI_TEXT, "product name", NULL},
    [LABEL] = {"gpu", NAI_STR, NAI_TEXT, "how reports call this GPU", NULL},
    [PID] = {"pid", NAI_I64, NAI_ID, "the process, where GPUs are told apart by process only", NULL},
};
static const struct nai_schema schema =
    NAI_SCHEMA("gpu_utilization", "GPU utilisation",
               "One GPU; compute + exposed communication + exposed copy + idle = window", columns);

static void add_gpu(struct nai_table *table, const struct nai_model *m, uint32_t index) {
  const struct nai_gpu *gpu = &m->gpus[index];
  int64_t window = gpu->window_end - gpu->window_start, busy = nai_intervals_total(&gpu->all);
  int64_t communication = gpu->communication_ns, kernel_busy = gpu->kernel_busy_ns;
  int64_t kernel_window = gpu->kernel_window_end - gpu->kernel_window_start;
  int64_t exposed = nai_intervals_total(&gpu->exposed_communication);
  int64_t row = nai_table_add_row(table);
  const struct {
    int ns, pct;
    int64_t value;
  } parts[] = {
      {WINDOW_NS, -1, window},
      {BUSY_NS, BUSY_PCT, busy},
      {IDLE_NS, IDLE_PCT, window - busy},
      {COMPUTE_NS, COMPUTE_PCT, gpu->compute_ns},
      {COMM_NS, COMM_PCT, exposed},
      {COPY_NS, COPY_PCT, nai_intervals_total(&gpu->exposed_copy)},
      {GRAPH_NS, GRAPH_PCT, gpu->graph_ns},
      {ALL_COMM_NS, -1, communication},
      {ALL_COPY_NS, -1, gpu->copy_ns},
      {K_WINDOW_NS, -1, kernel_window},
      {K_BUSY_NS, -1, kernel_busy},
      {K_IDLE_NS, -1, kernel_window - kernel_busy},
  };
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    nai_set_i64(table, row, parts[i].ns, parts[i].value);
    if (parts[i].pct >= 0)
      nai_set_f64(table, row, parts[i].pct, nai_percent((double)parts[i].value, (double)window));
  }
  nai_set_i64(table, row, DEVICE, gpu->device_id);
  if (communication)
    nai_set_f64(table, row, OVERLAP_PCT, nai_percent((double)(communication - exposed), (double)communication));
  nai_set_f64(table, row, K_IDLE_PCT, nai_percent((double)(kernel_window - kernel_busy), (double)kernel_window));
  /* Zero-length operations can stretch the window past the first or last busy interval. */
  int64_t gaps = gpu->all.count ? (int64_t)gpu->all.count - 1 : 0;
  if (gpu->all.count)
    gaps += (gpu->all.v[0].start > gpu->window_start) + (gpu->all.v[gpu->all.count - 1].end < gpu->window_end);
  else
    gaps += window > 0;
  nai_set_i64(table, row, GAPS, gaps);
  nai_set_i64(table, row, START, gpu->window_start);
  nai_set_i64(table, row, END, gpu->window_end);
  nai_set_i64(table, row, OP_COUNT, gpu->op_count);
  struct nai_value name = nai_table_value(m->tables[NAI_IN_GPUS], index, GP_NAME);
  nai_set_str(table, row, GPU_NAME, name.null ? NULL : name.s);
  nai_set_str(table, row, LABEL, nai_get_str(m->tables[NAI_IN_GPUS], index, GP_LABEL));
  nai_set_i64(table, row, PID, nai_get_i64(m->tables[NAI_IN_GPUS], index, GP_PID));
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

static const struct nai_schema *const schemas[] = {&schema, NULL};
const struct nai_node nai_analysis_utilization = {
    .name = "utilization", .outputs = schemas, .parts = NAI_PART(GPUS), .tables = NAI_IN(GPUS), .run = run};
