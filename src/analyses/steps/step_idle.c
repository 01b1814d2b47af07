/* Why is a GPU idle in a step? Table step_idle: the causes of idle time, per step. */
#include "analyses/analysis.h"
#include "base/sort.h"
#include "model/idle/idle.h"
#include "tables/step_idle.h"
#include "tables/steps.h"

static bool is_steady(const struct nai_table *steps, int64_t row) {
  return strcmp(nai_get_str(steps, row, STEPS_state), "steady") == 0;
}

/* Idle time in [from, to) by cause. A gap that lies across an end is cut there, in time. */
static void add_gaps(int64_t ns[NAI_IDLE_CAUSES], const struct nai_model *m, uint32_t gpu, int64_t from, int64_t to) {
  struct nai_idle_gap gap = nai_idle_gap_at(m, gpu, (uint32_t)nai_intervals_after(&m->gpus[gpu].all, from));
  for (bool more = from < to; more && gap.start < to; more = nai_idle_next(&gap, m))
    nai_idle_split_within(ns, (struct nai_interval){from, to}, m, &gap);
}

/* The steady steps of one process and GPU, the first of which is a row of table steps; ns[cause * count + step]. */
static void put_causes(struct nai_table *out, const struct STEPS_row *first, int64_t *ns, int64_t count,
                       int64_t duration_ns) {
  for (int cause = 0; cause < NAI_IDLE_CAUSES; cause++) {
    int64_t *mine = ns + cause * count, total = 0;
    for (int64_t i = 0; i < count; i++)
      total += mine[i];
    if (!total)
      continue;
    nai_select_i64(mine, (size_t)count, (size_t)(count - 1) / 2);
    NAI_ADD(STEP_IDLE, out, .pid = first->pid, .device_id = first->device_id,
            .cause = nai_idle_cause_name((enum nai_idle_cause)cause), .median_ns = mine[(count - 1) / 2],
            .total_ns = total, .pct_of_steps = nai_percent((double)total, (double)duration_ns));
  }
}

/* Rows first .. end - 1 of table steps, of one process and GPU. */
static int put_list(const struct nai_node_io *io, int64_t first, int64_t end, struct nai_err *err) {
  const struct STEPS_row row = STEPS_at(io->in[0], first);
  uint32_t gpu = nai_model_gpu_index(io->model, (int32_t)row.device_id);
  int64_t count = 0, done = 0, duration_ns = 0, *ns;
  if (gpu == io->model->gpu_count)
    return NAI_OK;
  for (int64_t i = first; i < end; i++)
    count += is_steady(io->in[0], i);
  NAI_TRY(NAI_NEW(ns, io->arena, (size_t)count * NAI_IDLE_CAUSES, err));
  for (int64_t i = first; i < end; i++) {
    int64_t by_cause[NAI_IDLE_CAUSES] = {0};
    if (!is_steady(io->in[0], i))
      continue;
    struct STEPS_row step = STEPS_at(io->in[0], i);
    add_gaps(by_cause, io->model, gpu, step.gpu_start_ns, step.gpu_end_ns);
    for (int cause = 0; cause < NAI_IDLE_CAUSES; cause++)
      ns[cause * count + done] = by_cause[cause];
    duration_ns += step.duration_ns;
    done++;
  }
  put_causes(io->out[0], &row, ns, count, duration_ns);
  return NAI_OK;
}

static bool same_list(const struct nai_table *steps, int64_t a, int64_t b) {
  return nai_get_i64(steps, a, STEPS_pid) == nai_get_i64(steps, b, STEPS_pid) &&
         nai_get_i64(steps, a, STEPS_device_id) == nai_get_i64(steps, b, STEPS_device_id);
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  for (int64_t i = 0, j; i < io->in[0]->rows; i = j) {
    for (j = i + 1; j < io->in[0]->rows && same_list(io->in[0], i, j); j++)
      ;
    NAI_TRY(put_list(io, i, j, err));
  }
  return NAI_OK;
}

NAI_ANALYSIS(step_idle, .outputs = NAI_SCHEMAS(&nai_step_idle_schema), .inputs = NAI_SCHEMAS(&nai_steps_schema),
             .parts = NAI_PART(IDLE) | NAI_PART(GPUS) | NAI_PART(LAUNCHES), .run = run)
