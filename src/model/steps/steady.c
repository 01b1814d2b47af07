#include "model/steps/steady.h"

#include "model/steps/step_stats.h"

static int find_list(struct nai_steady *s, const struct nai_step_list *list, struct nai_arena *arena,
                     struct nai_err *err) {
  const struct nai_process_steps *steps = &s->m->steps->processes[list->process];
  struct nai_steady_steps *of = &s->of[(size_t)list->process * s->m->gpu_count + list->gpu];
  NAI_SCOPED(nai_step_stats) stats = {0};
  NAI_TRY(NAI_NEW(of->steady, arena, steps->count, err));
  NAI_TRY(nai_step_stats_new(&stats, steps, list, err));
  for (uint32_t i = 0; i < list->count; i++)
    of->steady[list->v[i].step] = stats.state[i] == NAI_STEP_STEADY;
  of->count = stats.states[NAI_STEP_STEADY];
  return NAI_OK;
}

int nai_steady_find(struct nai_steady *out, const struct nai_model *m, struct nai_arena *arena, struct nai_err *err) {
  *out = (struct nai_steady){.m = m};
  NAI_TRY(NAI_NEW(out->of, arena, (size_t)m->process_count * m->gpu_count, err));
  for (uint32_t i = 0; i < m->steps->list_count; i++)
    NAI_TRY(find_list(out, &m->steps->lists[i], arena, err));
  return NAI_OK;
}

bool nai_steady_kernel(struct nai_steady *s, uint32_t process, uint32_t gpu, uint32_t kernel) {
  const struct nai_steady_steps *of = &s->of[(size_t)process * s->m->gpu_count + gpu];
  if (!of->steady)
    return false;
  uint32_t step = nai_step_of(s->m, &s->m->steps->processes[process], s->m->kernel_api[kernel],
                              nai_val(&s->m->kernels.start_ns, kernel), &s->near);
  return step != UINT32_MAX && of->steady[step];
}
