/* Why is a GPU idle in a step? Table step_idle: the causes of idle time, per step. */
#include "analyses/analysis.h"
#include "base/sort.h"
#include "model/idle/idle.h"
#include "tables/step_idle.h"
#include "tables/steps.h"

#include <stdlib.h>
#include <string.h>

/* Idle time in [from, to) by cause. A gap that lies across an end is cut there, in time. */
static void add_gaps(int64_t ns[NAI_IDLE_CAUSES], const struct nai_model *m, uint32_t gpu, int64_t from, int64_t to) {
  struct nai_idle_gap gap = nai_idle_gap_at(m, gpu, (uint32_t)nai_intervals_after(&m->gpus[gpu].all, from));
  for (bool more = from < to; more && gap.start < to; more = nai_idle_next(&gap, m))
    nai_idle_split_within(ns, (struct nai_interval){from, to}, m, &gap);
}

/* The steady steps of one process and GPU: rows first .. end - 1 of table steps; ns[cause * steps + step]. */
static void put_causes(struct nai_table *out, const struct nai_table *steps, int64_t first, int64_t *ns, int64_t count,
                       int64_t duration_ns) {
  for (int cause = 0; cause < NAI_IDLE_CAUSES; cause++) {
    int64_t *mine = ns + cause * count, total = 0;
    for (int64_t i = 0; i < count; i++)
      total += mine[i];
    if (!total)
      continue;
    nai_select_i64(mine, (size_t)count, (size_t)(count - 1) / 2);
    int64_t row = nai_table_add_row(out);
    nai_set_i64(out, row, STEP_IDLE_pid, nai_get_i64(steps, first, STEPS_pid));
    nai_set_i64(out, row, STEP_IDLE_device_id, nai_get_i64(steps, first, STEPS_device_id));
    nai_set_str(out, row, STEP_IDLE_cause, nai_idle_cause_name((enum nai_idle_cause)cause));
    nai_set_i64(out, row, STEP_IDLE_median_ns, mine[(count - 1) / 2]);
    nai_set_i64(out, row, STEP_IDLE_total_ns, total);
    nai_set_f64(out, row, STEP_IDLE_pct_of_steps, nai_percent((double)total, (double)duration_ns));
  }
}

static bool same_list(const struct nai_table *steps, int64_t a, int64_t b) {
  return nai_get_i64(steps, a, STEPS_pid) == nai_get_i64(steps, b, STEPS_pid) &&
         nai_get_i64(steps, a, STEPS_device_id) == nai_get_i64(steps, b, STEPS_device_id);
}

static int put_list(const struct nai_node_io *io, int64_t first, int64_t end, struct nai_err *err) {
  const struct nai_table *steps = io->in[0];
  uint32_t gpu = nai_model_gpu_index(io->model, (int32_t)nai_get_i64(steps, first, STEPS_device_id));
  int64_t count = 0, done = 0, duration_ns = 0;
  for (int64_t i = first; i < end; i++)
    count += strcmp(nai_get_str(steps, i, STEPS_state), "steady") == 0;
  int64_t *ns = calloc((size_t)count * NAI_IDLE_CAUSES + 1, sizeof *ns);
  if (!ns)
    return nai_err_nomem(err);
  for (int64_t i = first; i < end && gpu < io->model->gpu_count; i++) {
    int64_t by_cause[NAI_IDLE_CAUSES] = {0};
    if (strcmp(nai_get_str(steps, i, STEPS_state), "steady") != 0)
      continue;
    add_gaps(by_cause, io->model, gpu, nai_get_i64(steps, i, STEPS_gpu_start_ns),
             nai_get_i64(steps, i, STEPS_gpu_end_ns));
    for (int cause = 0; cause < NAI_IDLE_CAUSES; cause++)
      ns[cause * count + done] = by_cause[cause];
    duration_ns += nai_get_i64(steps, i, STEPS_duration_ns);
    done++;
  }
  if (count)
    put_causes(io->out[0], steps, first, ns, count, duration_ns);
  free(ns);
  return NAI_OK;
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_table *steps = io->in[0];
  int rc = NAI_OK;
  for (int64_t i = 0, j; !rc && i < steps->rows; i = j) {
    for (j = i + 1; j < steps->rows && same_list(steps, i, j); j++)
      ;
    rc = put_list(io, i, j, err);
  }
  return rc;
}

NAI_ANALYSIS(step_idle, .outputs = NAI_SCHEMAS(&nai_step_idle_schema), .inputs = NAI_SCHEMAS(&nai_steps_schema),
             .parts = NAI_PART(IDLE) | NAI_PART(GPUS) | NAI_PART(LAUNCHES),
             .tables = NAI_IN(KERNELS) | NAI_IN(MEMOPS) | NAI_IN(GRAPHS) | NAI_IN(APIS) | NAI_IN(OVERHEAD) |
                       NAI_IN(GPUS),
             .run = run)
