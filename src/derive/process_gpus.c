/* Which GPUs each process used. */
#include "derive/model.h"

#include "base/big.h"

#include <stdlib.h>

/* Counts turn into positions, which end as the next process's start. */
static uint32_t place(uint32_t *at, uint32_t processes) {
  uint32_t total = 0;
  for (uint32_t p = 0; p < processes; p++) {
    uint32_t count = at[p];
    at[p] = total;
    total += count;
  }
  return total;
}

int nai_process_gpus(struct nai_model *m, struct nai_err *err) {
  struct nai_groups *groups = &m->process_gpus;
  uint32_t *last = malloc(((size_t)m->process_count + 1) * sizeof *last); /* GPU of the process met last */
  groups->groups = m->process_count;
  groups->first = calloc((size_t)m->process_count + 2, sizeof *groups->first);
  int rc = last && groups->first ? NAI_OK : nai_err_nomem(err);
  for (int pass = 0; !rc && pass < 2; pass++) {
    uint32_t *at = groups->first + 1;
    for (uint32_t p = 0; p < m->process_count; p++)
      last[p] = NAI_NO_ROW;
    for (uint32_t g = 0; g < m->gpu_count; g++)
      for (uint32_t i = 0; i < m->gpus[g].op_count; i++) {
        int32_t process = nai_model_op_process(m, &m->gpus[g].ops[i]);
        if (process < 0 || last[process] == g)
          continue;
        last[process] = g;
        if (pass)
          groups->order[at[process]] = g;
        at[process]++;
      }
    if (pass == 0)
      groups->order = nai_big_new(NULL, ((size_t)place(at, m->process_count) + 1) * sizeof *groups->order, err);
    rc = groups->order ? NAI_OK : NAI_ELIMIT;
  }
  free(last);
  return rc;
}
