#include "model/idle/process_gpu.h"

#include "model/idle/active.h"

void nai_process_gpu_free(struct nai_process_gpu *time) {
  nai_intervals_free(&time->active);
  nai_intervals_free(&time->busy);
  nai_intervals_free(&time->idle);
}

static void add_union(struct nai_intervals *set, const struct nai_intervals *more) {
  struct nai_intervals both = {0};
  nai_intervals_union(&both, set, more);
  nai_intervals_free(set);
  *set = both;
}

int nai_process_gpu_find(struct nai_process_gpu *out, const struct nai_model *m, int32_t process, struct nai_err *err) {
  bool all = process < 0;
  uint32_t first = all ? 0 : m->process_gpus.first[process],
           end = all ? m->gpu_count : m->process_gpus.first[process + 1];
  out->any = out->alone = first < end;
  out->device_id = end - first == 1 ? nai_model_device(m, all ? first : m->process_gpus.order[first]) : NAI_NULL_I64;
  for (uint32_t g = first; g < end; g++) {
    uint32_t gpu = all ? g : m->process_gpus.order[g];
    add_union(&out->active, &m->active[gpu].active);
    add_union(&out->busy, &m->gpus[gpu].all);
    out->alone &= m->gpus[gpu].processes.count == 1;
  }
  nai_intervals_subtract(&out->idle, &out->active, &out->busy);
  return out->active.oom || out->busy.oom || out->idle.oom ? nai_err_nomem(err) : NAI_OK;
}
