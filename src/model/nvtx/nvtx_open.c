#include "model/nvtx/nvtx_open.h"
#include "base/sort.h"

#include <stdlib.h>

void nai_open_free(struct nai_open_ranges *open) {
  free(open->v);
  *open = (struct nai_open_ranges){0};
}

/* --- checkpoints ------------------------------------------------------------------------------ */

enum { CHECKPOINT_EVERY = 256 }; /* ranges */

/* The number of an entry for a range around which the entry `parent` is open, NAI_NO_ROW when out of memory. */
static uint32_t add_entry(struct nai_checkpoints *c, uint32_t range, uint32_t parent) {
  if (!nai_array_room(&c->entries, &c->entry_capacity, c->entry_count, sizeof *c->entries))
    return NAI_NO_ROW;
  c->entries[c->entry_count] = (struct nai_open_entry){range, parent};
  return c->entry_count++;
}

bool nai_checkpoint_note(struct nai_checkpoints *c, uint32_t place, struct nai_open_ranges *open) {
  if (place < c->next_place)
    return true;
  if (!nai_array_room(&c->v, &c->capacity, c->count, sizeof *c->v))
    return false;
  uint32_t known = open->depth; /* a range is entered once, however many checkpoints it outlasts */
  while (known && open->v[known - 1].entry == NAI_NO_ROW)
    known--;
  for (uint32_t i = known; i < open->depth; i++) {
    open->v[i].entry = add_entry(c, open->v[i].range, i ? open->v[i - 1].entry : NAI_NO_ROW);
    if (open->v[i].entry == NAI_NO_ROW)
      return false;
  }
  c->v[c->count++] = (struct nai_checkpoint){place, open->depth ? nai_open_top(open)->entry : NAI_NO_ROW};
  c->next_place = place < NAI_NO_ROW - CHECKPOINT_EVERY ? place + CHECKPOINT_EVERY : NAI_NO_ROW;
  return true;
}

void nai_checkpoints_free(struct nai_checkpoints *c) {
  free(c->v);
  free(c->entries);
  *c = (struct nai_checkpoints){0};
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

void nai_open_cursor_free(struct nai_open_cursor *c) { nai_open_free(&c->begun); }

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
  int rc = NAI_OK;
  for (; !rc && at < place; at++)
    if (nai_at_i32(&m->nvtx.kind, ranges->order[at]) == NAI_NVTX_PUSH_POP)
      rc = nai_open_begin(&parent, c, ranges->order[at], err);
  return rc;
}

/* The rule is that of find_parent in nvtx.c. */
int nai_open_begin(uint32_t *parent, struct nai_open_cursor *c, uint32_t range, struct nai_err *err) {
  const struct NVTX_EVENTS_columns *v = &c->model->nvtx;
  int64_t start = nai_at(&v->start_ns, range), end = nai_at(&v->end_ns, range);
  *parent = nai_open_at(c, start);
  while (*parent != NAI_NO_ROW && nai_at(&v->end_ns, *parent) < end) {
    leave(c);
    *parent = top(c);
  }
  bool holds = start == end || nai_open_push(&c->begun, (struct nai_open_range){end, range, NAI_NO_ROW, NAI_NO_ROW});
  return holds ? NAI_OK : nai_err_nomem(err);
}

uint32_t nai_open_at(struct nai_open_cursor *c, int64_t t) {
  uint32_t range = top(c);
  while (range != NAI_NO_ROW && nai_at(&c->model->nvtx.end_ns, range) <= t) {
    leave(c);
    range = top(c);
  }
  return range;
}
