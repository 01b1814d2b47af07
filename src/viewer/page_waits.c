/* Which calls the rows of table launch_waits count, so that the page can mark them. */
#include "viewer/encoder.h"

#include "model/idle/wait_rounds.h"

/* The number of what counts a call that `before` counts already; `before` where there are too many. */
static uint8_t number_of(struct nai_encoder *e, uint8_t before, int32_t gpu, const char *place) {
  struct nai_page_waits *waits = &e->waits;
  for (uint32_t i = 0; i < waits->count; i++)
    if (waits->list[i].before == before && waits->list[i].gpu == gpu && strcmp(waits->list[i].place, place) == 0)
      return (uint8_t)(i + 1);
  if (waits->count == NAI_PAGE_MAX_WAITS)
    return before;
  waits->list[waits->count] = (struct nai_page_wait){before, gpu, nai_arena_printf(&e->arena, "%s", place)};
  return e->arena.oom ? 0 : (uint8_t)++waits->count;
}

static int mark_gpu(struct nai_encoder *e, uint32_t gpu, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(e->m->scratch_dir);
  NAI_SCOPED(nai_wait_rounds) rounds = {0};
  NAI_TRY(nai_wait_rounds_find(&rounds, e->m, gpu, &arena, err));
  for (uint32_t i = 0; i < rounds.count; i++) {
    const char *place = nai_wait_row_place(&rounds, nai_wait_row(&rounds, &rounds.v[i]));
    uint8_t *of = &e->waits.of[rounds.v[i].wait];
    *of = number_of(e, *of, e->m->gpus[gpu].device_id, place);
  }
  return nai_arena_check(&e->arena, err);
}

int nai_encoder_find_waits(struct nai_encoder *e, struct nai_err *err) {
  if (!e->m->idle)
    return NAI_OK; /* of a part of a run nobody asks for them */
  NAI_TRY(NAI_NEW(e->waits.of, &e->arena, e->m->apis.n, err));
  for (uint32_t gpu = 0; gpu < e->m->gpu_count; gpu++)
    NAI_TRY(mark_gpu(e, gpu, err));
  return NAI_OK;
}
