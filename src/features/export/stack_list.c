/* Stacks in a list, whatever they are of. */
#include "features/export/stacks.h"

int nai_stacks_add(struct nai_stacks *s, const char *const *frames, uint32_t count, int64_t ns, struct nai_err *err) {
  NAI_TRY(NAI_ROOM(s->v, s->capacity, s->count, &s->arena, err));
  struct nai_stack *stack = &s->v[s->count++];
  NAI_TRY(NAI_NEW(stack->frames, &s->arena, count, err));
  memcpy(stack->frames, frames, count * sizeof *frames);
  stack->count = count;
  stack->ns = ns;
  return NAI_OK;
}

void nai_stacks_free(struct nai_stacks *s) {
  nai_query_rows_free(&s->rows);
  nai_query_rows_free(&s->nodes);
  nai_arena_free(&s->arena);
}

const char *nai_stacks_thread(struct nai_stacks *s, int64_t pid, int64_t tid) {
  const char *process = pid == NAI_NULL_I64 ? "pid unknown" : nai_arena_printf(&s->arena, "pid %" PRId64, pid);
  return tid == NAI_NULL_I64 ? nai_arena_printf(&s->arena, "%s (launch not in the trace)", process)
                             : nai_arena_printf(&s->arena, "%s thread %" PRId64, process, tid);
}
