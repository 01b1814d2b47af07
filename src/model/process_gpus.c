/* Which GPUs each process used. */
#include "model/build.h"

#include <stdlib.h>

static int find_process_gpus(void *ctx, int task, struct nai_err *err) {
  (void)task;
  struct nai_model *m = ctx;
  uint32_t pairs = 0, n = 0;
  for (uint32_t g = 0; g < m->gpu_count; g++)
    pairs += m->gpus[g].processes.count;
  int32_t *process = nai_cells_new(pairs, sizeof *process);
  uint32_t *gpu = malloc(((size_t)pairs + 1) * sizeof *gpu);
  for (uint32_t g = 0; process && gpu && g < m->gpu_count; g++)
    for (uint32_t i = 0; i < m->gpus[g].processes.count; i++) {
      process[n] = (int32_t)m->gpus[g].processes.keys[i];
      gpu[n++] = g;
    }
  struct nai_groups *groups = &m->process_gpus;
  struct nai_column group = nai_column_of_i32(process);
  int rc =
      process && gpu ? nai_groups_collect(groups, n, &group, m->process_count, &m->arena, err) : nai_err_nomem(err);
  for (uint32_t i = 0; !rc && i < groups->first[m->process_count]; i++)
    groups->order[i] = gpu[groups->order[i]];
  free(process);
  free(gpu);
  return rc;
}

const struct nai_part_def nai_part_process_gpus = {
    .name = "GPUs of processes", .needs = NAI_PART(GPUS), .tables = NAI_IN(PROCESSES), .begin = find_process_gpus};
