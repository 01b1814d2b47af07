#include "base/sort.h"
#include "trace/direct/record.h"
#include "trace/lookup_internal.h"

struct direct_lookup {
  struct nai_lookup base;
  struct nai_arena arena;
  const struct nai_pages *pages;
  const struct nai_leaves *leaves;
  struct nai_record_plan plan;
  struct nai_record_reader reader;
  /* The leaf of the previous lookup. */
  bool entered;
  uint32_t leaf, cells; /* its place in `leaves`, and how many rows it has */
  int64_t *rowids;      /* of its cells, ascending */
};

/* The leaf that holds `key` if any does: the first whose last rowid is not below, the last of all when none is. */
static uint32_t find_leaf(const struct nai_leaves *leaves, int64_t key) {
  return (uint32_t)nai_bisect(leaves->last, leaves->count - 1, sizeof *leaves->last, 0, key);
}

/* Goes to a leaf. Checking all its rowids here makes sure that a damaged page is reported instead of searched. */
static int enter_leaf(struct direct_lookup *self, uint32_t leaf, struct nai_err *err) {
  const struct nai_pages *pages = self->pages;
  struct nai_leaf_walk walk;
  struct nai_payload payload;
  if (self->entered && self->leaf == leaf)
    return NAI_OK;
  self->entered = false;
  self->cells = 0;
  NAI_TRY(nai_leaf_walk(&walk, pages, self->leaves, leaf, nai_page_at(pages, self->leaves->pages[leaf]), err));
  if (walk.cells > pages->usable_bytes / 6) /* 2 bytes of pointer and at least 4 of cell each */
    return nai_page_damaged(err, walk.page, "it has more cells than fit");
  while (walk.next < walk.cells) {
    uint32_t cell = walk.next;
    NAI_TRY(nai_leaf_next(&walk, &self->rowids[cell], &payload, err));
  }
  NAI_TRY(nai_leaf_end(&walk, err));
  self->entered = true;
  self->leaf = leaf;
  self->cells = walk.cells;
  return NAI_OK;
}

/* Whether `key` is between the previous leaf's first and last row. */
static bool in_same_leaf(const struct direct_lookup *self, int64_t key) {
  return self->cells && key >= self->rowids[0] && key <= self->rowids[self->cells - 1];
}

static bool find_cell(uint32_t *cell, const struct direct_lookup *self, int64_t key) {
  uint64_t distance = (uint64_t)key - (uint64_t)self->rowids[0];
  if (distance < self->cells && self->rowids[distance] == key) { /* no gaps before it, as is usual */
    *cell = (uint32_t)distance;
    return true;
  }
  *cell = (uint32_t)nai_bisect(self->rowids, self->cells, sizeof *self->rowids, 0, key);
  return *cell < self->cells && self->rowids[*cell] == key;
}

static int read_cell(struct nai_cell *cell, struct direct_lookup *self, uint32_t index, int64_t key,
                     struct nai_err *err) {
  uint32_t page = self->leaves->pages[self->leaf];
  const unsigned char *data = nai_page_at(self->pages, page);
  struct nai_payload payload = {.page = page};
  int64_t rowid;
  uint32_t at = nai_be16(data + nai_page_header(page) + 8 + 2 * index);
  const char *wrong = nai_leaf_cell(&rowid, &payload, self->pages, data, at);
  if (wrong)
    return nai_page_damaged(err, page, wrong);
  NAI_TRY(nai_record_read(&self->reader, &payload, key, err));
  *cell = self->reader.cells[0];
  return NAI_OK;
}

static int find(bool *found, struct nai_cell *cell, struct direct_lookup *self, int64_t key, struct nai_err *err) {
  uint32_t index;
  if (!in_same_leaf(self, key))
    NAI_TRY(enter_leaf(self, find_leaf(self->leaves, key), err));
  *found = in_same_leaf(self, key) && find_cell(&index, self, key);
  return *found ? read_cell(cell, self, index, key, err) : NAI_OK;
}

static int get_direct(bool *found, struct nai_cell *cell, struct nai_lookup *lookup, int64_t key, struct nai_err *err) {
  struct direct_lookup *self = (struct direct_lookup *)lookup;
  *found = false;
  return nai_pages_intact(self->pages, find(found, cell, self, key, err), err);
}

static void close_direct(struct nai_lookup *lookup) {
  struct direct_lookup *self = (struct direct_lookup *)lookup;
  nai_record_reader_free(&self->reader);
  nai_arena_free(&self->arena);
  free(self);
}

int nai_lookup_open_direct(struct nai_lookup **out, const struct nai_lookup *base, struct nai_err *err) {
  struct nai_pages *pages = base->trace->pages;
  struct direct_lookup *self = calloc(1, sizeof *self);
  NAI_TRY(nai_memory_check(self, err));
  *self = (struct direct_lookup){.base = *base, .arena = NAI_ARENA(NULL), .pages = pages};
  self->base.get = get_direct;
  self->base.close = close_direct;
  NAI_OWNED(nai_lookup) *owned = &self->base;
  nai_record_plan(&self->plan, pages, base->table, &base->column, 1);
  NAI_TRY(NAI_NEW(self->rowids, &self->arena, pages->usable_bytes / 6 + 1, err));
  NAI_TRY(nai_record_reader_init(&self->reader, &self->plan, &self->arena, err));
  NAI_TRY(nai_leaves_share(&self->leaves, pages, (uint32_t)base->table->rootpage, err));
  return NAI_GIVE(out, owned);
}
