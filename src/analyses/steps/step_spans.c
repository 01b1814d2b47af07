#include "analyses/steps/step_spans.h"

#include "model/nvtx/projection.h"
#include "model/steps/steps.h"

static int add(void *ctx, const struct nai_projection *p, struct nai_err *err) {
  struct nai_step_spans *spans = ctx;
  bool added;
  if (p->gpu == NAI_NO_ROW)
    return NAI_OK;
  uint32_t slot = nai_keyset_add(&spans->known, nai_key_pair(p->range, p->gpu), &added);
  NAI_TRY(nai_memory_check(!spans->known.oom, err));
  NAI_TRY(NAI_ROOM(spans->at, spans->capacity, slot, spans->arena, err));
  spans->at[slot] = (struct nai_step_span){p->start, p->end, p->busy_ns};
  return NAI_OK;
}

int nai_step_spans_find(struct nai_step_spans *out, const struct nai_model *m, struct nai_arena *arena,
                        struct nai_err *err) {
  bool *wanted, any = false;
  *out = (struct nai_step_spans){.known = {.arena = arena}, .arena = arena};
  if (!m->map_nvtx)
    return NAI_OK;
  NAI_TRY(NAI_NEW(wanted, arena, m->nvtx.n, err));
  for (uint32_t p = 0; p < m->process_count; p++) {
    const struct nai_process_steps *steps = &m->steps->processes[p];
    for (uint32_t i = 0; i < steps->count; i++)
      if (steps->v[i].range != NAI_NO_ROW)
        any = wanted[steps->v[i].range] = true;
  }
  return any ? nai_project_ranges(m, wanted, add, out, err) : NAI_OK;
}

const struct nai_step_span *nai_step_span_of(const struct nai_step_spans *spans, uint32_t range, uint32_t gpu) {
  uint32_t slot = range == NAI_NO_ROW || !spans->known.count ? UINT32_MAX
                                                             : nai_keyset_find(&spans->known, nai_key_pair(range, gpu));
  return slot == UINT32_MAX ? NULL : &spans->at[slot];
}
