/* Viewers know processes by pid alone: it is unique here, whatever the traced programs had. */
#include "base/keyset.h"
#include "features/export/timeline.h"
#include "tables/threads.h"

#include <stdlib.h>

/* Its own number where that is free and no number that is made here. */
static int32_t number(struct nai_keyset *taken, int64_t own, uint32_t index, uint32_t gpus, bool *oom) {
  bool fits = own > 0 && own < NAI_MADE_ID && (own < NAI_GPU_PID || own >= (int64_t)NAI_GPU_PID + gpus);
  bool added = false;
  if (fits)
    nai_keyset_add(taken, own, &added);
  *oom |= taken->oom;
  return added ? (int32_t)own : (int32_t)(NAI_MADE_ID + index);
}

int nai_timeline_number(struct nai_timeline *tl, struct nai_err *err) {
  const struct nai_model *m = tl->m;
  struct nai_keyset taken = {0};
  bool oom = false;
  tl->pid = calloc((size_t)m->process_count + 1, sizeof *tl->pid);
  tl->tid = calloc((size_t)m->thread_count + 1, sizeof *tl->tid);
  for (uint32_t p = 0; tl->pid && p <= m->process_count; p++) /* the last: unknown ones */
    tl->pid[p] = number(&taken, p < m->process_count ? nai_model_pid(m, (int32_t)p) : 0, p, m->gpu_count, &oom);
  nai_keyset_free(&taken);
  for (uint32_t t = 0; tl->tid && t < m->thread_count; t++) {
    int64_t tid = nai_get_i64(m->tables[NAI_IN_THREADS], t, THREADS_tid);
    tl->tid[t] = number(&taken, tid, t, 0, &oom);
  }
  nai_keyset_free(&taken);
  return oom || !tl->pid || !tl->tid ? nai_err_nomem(err) : NAI_OK;
}
