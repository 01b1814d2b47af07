/* When a thread waited for a GPU. */
#include "derive/model.h"

int nai_host_blocked(struct nai_model *m, uint32_t thread, struct nai_err *err) {
  const struct nai_groups *calls = &m->api_by_thread;
  for (uint32_t i = calls->first[thread]; i < calls->first[thread + 1]; i++)
    if (nai_model_api_blocks(m, calls->order[i]))
      nai_intervals_add(&m->blocked[thread], nai_at(&m->apis.start, calls->order[i]),
                        nai_at(&m->apis.end, calls->order[i]));
  return m->blocked[thread].oom ? nai_err_nomem(err) : NAI_OK;
}
