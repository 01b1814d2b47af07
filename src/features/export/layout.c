/* Which part of an event is shown, and in which row of its lane. */
#include "features/export/timeline.h"

bool nai_timeline_cut(struct nai_track_slice *s, const struct nai_timeline *tl, enum nai_lane_kind kind, uint32_t row) {
  const struct nai_export_options *o = tl->options;
  const struct nai_column *start, *end;
  nai_lane_times(&start, &end, tl->m, kind);
  *s = (struct nai_track_slice){
      .kind = kind, .row = row, .start = nai_at(start, row), .end = nai_at(end, row), .call = NAI_NO_ROW};
  s->end = s->end < s->start ? s->start : s->end;
  bool overlaps = s->start < o->end_ns && (s->end > o->start_ns || (s->start == s->end && s->start == o->start_ns));
  bool shown = overlaps && s->end - s->start >= o->min_ns;
  s->start = s->start < o->start_ns ? o->start_ns : s->start;
  s->end = s->end > o->end_ns ? o->end_ns : s->end;
  return shown;
}

static bool less(struct nai_layout_entry a, struct nai_layout_entry b) {
  return a.key != b.key ? a.key < b.key : a.row < b.row;
}

static int push(struct nai_layout_heap *heap, struct nai_layout_entry entry, struct nai_arena *arena,
                struct nai_err *err) {
  NAI_TRY(NAI_ROOM(heap->v, heap->capacity, heap->count, arena, err));
  uint32_t at = heap->count++;
  for (; at && less(entry, heap->v[(at - 1) / 2]); at = (at - 1) / 2)
    heap->v[at] = heap->v[(at - 1) / 2];
  heap->v[at] = entry;
  return NAI_OK;
}

static struct nai_layout_entry pop(struct nai_layout_heap *heap) {
  struct nai_layout_entry top = heap->v[0], last = heap->v[--heap->count];
  uint32_t at = 0, child;
  while ((child = 2 * at + 1) < heap->count) {
    child += child + 1 < heap->count && less(heap->v[child + 1], heap->v[child]);
    if (!less(heap->v[child], last))
      break;
    heap->v[at] = heap->v[child];
    at = child;
  }
  heap->v[at] = last;
  return top;
}

int nai_layout_place(uint32_t *row, struct nai_layout *layout, int64_t start, int64_t end, struct nai_err *err) {
  while (layout->busy.count && layout->busy.v[0].key <= start) {
    *row = pop(&layout->busy).row;
    NAI_TRY(push(&layout->vacant, (struct nai_layout_entry){*row, *row}, layout->arena, err));
  }
  *row = layout->vacant.count ? pop(&layout->vacant).row : layout->rows++;
  return push(&layout->busy, (struct nai_layout_entry){end, *row}, layout->arena, err);
}
