/* The push/pop NVTX ranges that are open at a moment of a thread, each inside the one before it. To keep every range's
 * parent would take as much memory as its name and times; instead the sweep over a thread (nvtx.c) leaves checkpoints,
 * and what is open in between is found by sweeping on from there. */
#pragma once

#include "model/model.h"

struct nai_open_range {
  int64_t end;
  uint32_t range, node; /* row of nvtx_events; node of the thread's tree, while that is made */
  uint32_t entry;       /* in the thread's checkpoints, NAI_NO_ROW while no checkpoint has it */
};

struct nai_open_ranges {
  struct nai_open_range *v; /* outermost first */
  uint32_t depth, capacity;
  struct nai_arena *arena; /* that v is from */
};

/* The innermost open range, NULL when there is none. */
static inline struct nai_open_range *nai_open_top(const struct nai_open_ranges *open) {
  return open->depth ? &open->v[open->depth - 1] : NULL;
}
NAI_MUST_CHECK static inline int nai_open_push(struct nai_open_ranges *open, struct nai_open_range range,
                                               struct nai_err *err) {
  if (open->depth == open->capacity)
    NAI_TRY(NAI_ROOM(open->v, open->capacity, open->depth, open->arena, err));
  open->v[open->depth++] = range;
  return NAI_OK;
}

/* What was open now and then. */
struct nai_open_entry {
  uint32_t range, parent; /* row of nvtx_events; entry of the range around it, NAI_NO_ROW for none */
};
struct nai_checkpoint {
  uint32_t place, top; /* index in nvtx_by_thread.order; entry of the innermost range open before that one */
};
struct nai_checkpoints {
  struct nai_checkpoint *v;
  uint32_t count, capacity, next_place;
  struct nai_open_entry *entries;
  uint32_t entry_count, entry_capacity;
};
/* Notes what is open before the thread's range at `place` in nvtx_by_thread: due from next_place on. */
NAI_MUST_CHECK int nai_checkpoint_note(struct nai_checkpoints *checkpoints, uint32_t place,
                                       struct nai_open_ranges *open, struct nai_arena *arena, struct nai_err *err);

/* A moment of a thread, and the ranges open then. Begin with zeroed memory and nai_open_find. */
struct nai_open_cursor {
  const struct nai_model *model;
  uint32_t thread;
  uint32_t entry; /* in the thread's checkpoints: the innermost range that was open at the checkpoint and still is */
  struct nai_open_ranges begun; /* since the checkpoint; inside of `entry` */
  struct nai_arena arena;       /* that they are from */
};
void nai_open_cursor_free(struct nai_open_cursor *cursor);
/* Goes to the thread's range at `place` in nvtx_by_thread; ranges that have ended by then may still count as open. */
NAI_MUST_CHECK int nai_open_find(struct nai_open_cursor *cursor, const struct nai_model *model, uint32_t thread,
                                 uint32_t place, struct nai_err *err);
/* Begins a push/pop range, which may not start before those already begun. Returns the innermost range that wholly
 * contains it, NAI_NO_ROW for none. */
NAI_MUST_CHECK int nai_open_begin(uint32_t *parent, struct nai_open_cursor *cursor, uint32_t range,
                                  struct nai_err *err);
/* Forgets ranges that have ended at t; returns the innermost of those that have not, NAI_NO_ROW for none. */
uint32_t nai_open_at(struct nai_open_cursor *cursor, int64_t t);
