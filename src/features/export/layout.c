#include "base/array.h"
#include "features/export/timeline.h"

#include <stdlib.h>

static bool less(struct nai_layout_entry a, struct nai_layout_entry b) {
  return a.key != b.key ? a.key < b.key : a.row < b.row;
}

static bool push(struct nai_layout_heap *heap, struct nai_layout_entry entry) {
  if (!nai_array_room(&heap->v, &heap->capacity, heap->count, sizeof *heap->v))
    return false;
  uint32_t at = heap->count++;
  for (; at && less(entry, heap->v[(at - 1) / 2]); at = (at - 1) / 2)
    heap->v[at] = heap->v[(at - 1) / 2];
  heap->v[at] = entry;
  return true;
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

uint32_t nai_layout_place(struct nai_layout *layout, int64_t start, int64_t end) {
  while (layout->busy.count && layout->busy.v[0].key <= start) {
    uint32_t row = pop(&layout->busy).row;
    if (!push(&layout->vacant, (struct nai_layout_entry){row, row}))
      return UINT32_MAX;
  }
  uint32_t row = layout->vacant.count ? pop(&layout->vacant).row : layout->rows++;
  return push(&layout->busy, (struct nai_layout_entry){end, row}) ? row : UINT32_MAX;
}

void nai_layout_free(struct nai_layout *layout) {
  free(layout->busy.v);
  free(layout->vacant.v);
}
