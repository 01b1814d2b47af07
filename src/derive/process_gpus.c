/* Which GPUs each process used. */
#include "derive/model.h"

#include <stdlib.h>

int nai_process_gpus(struct nai_model *m, struct nai_err *err) {
  uint32_t pairs = 0, n = 0;
  for (uint32_t g = 0; g < m->gpu_count; g++)
    pairs += m->gpus[g].processes.count;
  int32_t *process = calloc((size_t)pairs + 2, sizeof *process);
  uint32_t *gpu = malloc(((size_t)pairs + 1) * sizeof *gpu);
  for (uint32_t g = 0; process && gpu && g < m->gpu_count; g++)
    for (uint32_t i = 0; i < m->gpus[g].processes.count; i++) {
      process[n] = (int32_t)m->gpus[g].processes.keys[i];
      gpu[n++] = g;
    }
  struct nai_groups *groups = &m->process_gpus;
  struct nai_column group = nai_column_of_i32(process);
  int rc = process && gpu ? nai_groups_collect(groups, n, &group, m->process_count, NULL, err) : nai_err_nomem(err);
  for (uint32_t i = 0; !rc && i < groups->first[m->process_count]; i++)
    groups->order[i] = gpu[groups->order[i]];
  free(process);
  free(gpu);
  return rc;
}
