#include "model/nvtx/nvtx_open.h"
#include "base/sort.h"

/* --- checkpoints ------------------------------------------------------------------------------ */

enum { CHECKPOINT_EVERY = 64 }; /* ranges */

/* Makes an entry for the open range number `at`, which is inside of the one before. */
static int add_entry(struct nai_checkpoints *c, struct nai_open_ranges *open, uint32_t at, struct nai_arena *arena,
                     struct nai_err *err) {
  NAI_TRY(NAI_ROOM(c->entries, c->entry_capacity, c->entry_count, arena, err));
  c->entries[c->entry_count] = (struct nai_open_entry){open->v[at].range, at ? open->v[at - 1].entry : NAI_NO_ROW};
  open->v[at].entry = c->entry_count++;
  return NAI_OK;
}

int nai_checkpoint_note(struct nai_checkpoints *c, uint32_t place, struct nai_open_ranges *open,
                        struct nai_arena *arena, struct nai_err *err) {
  uint32_t known = open->depth; /* a range is entered once, however many checkpoints it outlasts */
  while (known && open->v[known - 1].entry == NAI_NO_ROW)
    known--;
  for (uint32_t i = known; i < open->depth; i++)
    NAI_TRY(add_entry(c, open, i, arena, err));
  NAI_TRY(NAI_ROOM(c->v, c->capacity, c->count, arena, err));
  c->v[c->count++] = (struct nai_checkpoint){place, open->depth ? nai_open_top(open)->entry : NAI_NO_ROW};
  c->next_place = place < NAI_NO_ROW - CHECKPOINT_EVERY ? place + CHECKPOINT_EVERY : NAI_NO_ROW;
  return NAI_OK;
}

struct checkpoint_place {
  const struct nai_checkpoint *checkpoints;
  uint32_t place;
};

static bool is_reached(const void *ctx, size_t i) {
  const struct checkpoint_place *at = ctx;
  return at->checkpoints[i].place <= at->place;
}

/* The last checkpoint at or before `place`, NULL when there is none. */
static const struct nai_checkpoint *checkpoint_before(const struct nai_checkpoints *c, uint32_t place) {
  size_t after = nai_search(0, c->count, is_reached, &(struct checkpoint_place){c->v, place});
  return after ? &c->v[after - 1] : NULL;
}

/* --- cursors ---------------------------------------------------------------------------------- */

void nai_open_cursor_free(struct nai_open_cursor *c) { nai_arena_free(&c->arena); }

/* The innermost range that counts as open, NAI_NO_ROW for none. */
static uint32_t top(const struct nai_open_cursor *c) {
  if (c->begun.depth)
    return nai_open_top(&c->begun)->range;
  return c->entry == NAI_NO_ROW ? NAI_NO_ROW : c->model->checkpoints[c->thread].entries[c->entry].range;
}

static void leave(struct nai_open_cursor *c) {
  if (c->begun.depth)
    c->begun.depth--;
  else
    c->entry = c->model->checkpoints[c->thread].entries[c->entry].parent;
}

int nai_open_find(struct nai_open_cursor *c, const struct nai_model *m, uint32_t thread, uint32_t place,
                  struct nai_err *err) {
  const struct nai_groups *ranges = &m->nvtx_by_thread;
  const struct nai_checkpoint *from = checkpoint_before(&m->checkpoints[thread], place);
  uint32_t at = from ? from->place : ranges->first[thread], parent;
  c->model = m;
  c->thread = thread;
  c->entry = from ? from->top : NAI_NO_ROW;
  c->begun.depth = 0;
  c->begun.arena = &c->arena;
  for (; at < place; at++)
    if (nai_val_i32(&m->nvtx.kind, ranges->order[at]) == NAI_NVTX_PUSH_POP)
      NAI_TRY(nai_open_begin(&parent, c, ranges->order[at], err));
  return NAI_OK;
}

/* The rule is that of find_parent in nvtx.c. */
int nai_open_begin(uint32_t *parent, struct nai_open_cursor *c, uint32_t range, struct nai_err *err) {
  const struct NVTX_EVENTS_columns *v = &c->model->nvtx;
  int64_t start = nai_val(&v->start_ns, range), end = nai_val(&v->end_ns, range);
  *parent = nai_open_at(c, start);
  while (*parent != NAI_NO_ROW && nai_val(&v->end_ns, *parent) < end) {
    leave(c);
    *parent = top(c);
  }
  if (start == end)
    return NAI_OK;
  return nai_open_push(&c->begun, (struct nai_open_range){end, range, NAI_NO_ROW, NAI_NO_ROW}, err);
}

uint32_t nai_open_at(struct nai_open_cursor *c, int64_t t) {
  uint32_t range = top(c);
  while (range != NAI_NO_ROW && nai_val(&c->model->nvtx.end_ns, range) <= t) {
    leave(c);
    range = top(c);
  }
  return range;
}
