/* What did each GPU spend its time on? Table gpu_utilization: compute + exposed communication + exposed copy + idle =
 * window, exactly. */
#include "analyses/analysis.h"
#include "table/columns.h"

enum {
  DEVICE,
  WINDOW_NS,
  BUSY_NS,
  IDLE_NS,
  IDLE_PCT,
  COMPUTE_NS,
  COMM_NS,
  COPY_NS,
  OVERLAP_PCT,
  K_WINDOW_NS,
  K_BUSY_NS,
  K_IDLE_NS,
  K_IDLE_PCT,
  GAPS,
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
/* Times that outputs show both in ns and in ms. */
#define BOTH_COLUMN(name, what, ...) \
  { name, NAI_I64, NAI_NS, what, .prints = NAI_AS_NS | NAI_AS_MS, .role = NAI_ROLE_METRIC, .sum = true, __VA_ARGS__ }
#define NS_COLUMN(name, what, ...) \
  { name, NAI_I64, NAI_NS, what, .role = NAI_ROLE_METRIC, .sum = true, __VA_ARGS__ }
static const struct nai_column_def columns[] = {
    [DEVICE] = NAI_DEVICE_COLUMN("GPU", .key = true),
    [WINDOW_NS] = BOTH_COLUMN("window_ns", "first operation start to last operation end", .better = NAI_BETTER_LOWER),
    [BUSY_NS] = BOTH_COLUMN("busy_ns", "time with any kernel, copy, set or graph running"),
    [IDLE_NS] = BOTH_COLUMN("idle_ns", "window minus busy", .better = NAI_BETTER_LOWER),
    [IDLE_PCT] = NAI_PCT_COLUMN("idle_pct_of_window", "idle, of the window", .better = NAI_BETTER_LOWER),
    [COMPUTE_NS] = BOTH_COLUMN("compute_ns", "time with a compute kernel or a graph running"),
    [COMM_NS] =
        BOTH_COLUMN("exposed_comm_ns", "communication kernels and no compute running", .better = NAI_BETTER_LOWER),
    [COPY_NS] = BOTH_COLUMN("exposed_copy_ns", "copies or sets and no kernel running", .better = NAI_BETTER_LOWER),
    [OVERLAP_PCT] =
        NAI_PCT_COLUMN("overlap_comm_pct", "share of communication hidden behind compute", .better = NAI_BETTER_HIGHER),
    [K_WINDOW_NS] =
        BOTH_COLUMN("kernel_window_ns", "first kernel start to last kernel end", .better = NAI_BETTER_LOWER),
    [K_BUSY_NS] = BOTH_COLUMN("kernel_busy_ns", "time with any kernel running"),
    [K_IDLE_NS] = BOTH_COLUMN("kernel_idle_ns", "kernel window minus kernel busy", .better = NAI_BETTER_LOWER),
    [K_IDLE_PCT] = NAI_PCT_COLUMN("kernel_idle_pct", "the kernel-only idle estimate other tools print",
                                  .better = NAI_BETTER_LOWER),
    [GAPS] = NAI_COUNT_COLUMN("gap_count", "idle gaps inside the window", .better = NAI_BETTER_LOWER, .sum = true),
    [ALL_COMM_NS] =
        NS_COLUMN("comm_ns", "time with a communication kernel running, hidden or not", .better = NAI_BETTER_LOWER),
    [ALL_COPY_NS] = NS_COLUMN("copy_ns", "time with a copy or set running, hidden or not", .better = NAI_BETTER_LOWER),
    [GRAPH_NS] = NS_COLUMN("graph_envelope_ns", "time inside CUDA graphs traced as one envelope"),
    [BUSY_PCT] = NAI_PCT_COLUMN("busy_pct", "busy, of the window", .better = NAI_BETTER_HIGHER),
    [COMPUTE_PCT] = NAI_PCT_COLUMN("compute_pct", "compute, of the window", .better = NAI_BETTER_HIGHER),
    [COMM_PCT] = NAI_PCT_COLUMN("exposed_comm_pct", "exposed communication, of the window", .better = NAI_BETTER_LOWER),
    [COPY_PCT] = NAI_PCT_COLUMN("exposed_copy_pct", "exposed copy, of the window", .better = NAI_BETTER_LOWER),
    [GRAPH_PCT] = NAI_PCT_COLUMN("graph_envelope_pct", "graph envelopes, of the window"),
    [START] = NAI_START_COLUMN("window_start_ns", "first operation start"),
    [END] = NAI_END_COLUMN("window_end_ns", "last operation end"),
    [OP_COUNT] = NAI_COUNT_COLUMN("operation_count", "kernels, copies, sets and graph launches", .sum = true),
    [GPU_NAME] = NAI_NAME_COLUMN("gpu_name", "product name"),
    [LABEL] = NAI_LABEL_COLUMN("gpu", "how reports call this GPU"),
    [PID] = NAI_PID_COLUMN("the process, where GPUs are told apart by process only"),
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
