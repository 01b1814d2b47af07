#include "base/sort.h"
#include "trace/direct/direct_record.h"
#include "trace/lookup_internal.h"

#include <stdlib.h>

struct direct_lookup {
  struct nai_lookup base;
  const struct nai_direct *direct;
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

static uint32_t cell_at(const struct nai_direct *direct, uint32_t page, uint32_t cell) {
  return nai_be16(nai_direct_page(direct, page) + nai_page_header(page) + 8 + 2 * cell);
}

/* Goes to a leaf. Checking all its rowids here makes sure that a damaged page is reported instead of searched. */
static int enter_leaf(struct direct_lookup *self, uint32_t leaf, struct nai_err *err) {
  const struct nai_direct *direct = self->direct;
  const struct nai_leaves *leaves = self->leaves;
  uint32_t page = leaves->pages[leaf], cells;
  const unsigned char *data = nai_direct_page(direct, page);
  struct nai_payload payload;
  if (self->entered && self->leaf == leaf)
    return NAI_OK;
  self->entered = false;
  self->cells = 0;
  int rc = nai_direct_leaf_cells(&cells, direct, leaves, leaf, data, err);
  if (rc)
    return rc;
  if (cells > direct->usable_bytes / 6) /* 2 bytes of pointer and at least 4 of cell each */
    return nai_direct_damaged(err, page, "it has more cells than fit");
  struct nai_page_fill fill = {direct->usable_bytes, true};
  for (uint32_t i = 0; i < cells; i++) {
    uint32_t at = cell_at(direct, page, i);
    const char *wrong = at > direct->usable_bytes - 4 ? "a cell lies outside of the page"
                                                      : nai_leaf_cell(&self->rowids[i], &payload, direct, data, at);
    if (wrong)
      return nai_direct_damaged(err, page, wrong);
    nai_page_fill_add(&fill, at, nai_cell_bytes(&payload, data + at));
    int64_t rowid = self->rowids[i];
    bool ascends = i ? rowid > self->rowids[i - 1] : !leaf || rowid > leaves->last[leaf - 1];
    if (!ascends || rowid > leaves->last[leaf])
      return nai_direct_damaged(err, page, "its rowids are out of order");
  }
  const char *wrong = nai_page_settle(&fill, direct, page, data);
  if (wrong)
    return nai_direct_damaged(err, page, wrong);
  self->entered = true;
  self->leaf = leaf;
  self->cells = cells;
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

static int get_direct(bool *found, struct nai_cell *cell, struct nai_lookup *lookup, int64_t key, struct nai_err *err) {
  struct direct_lookup *self = (struct direct_lookup *)lookup;
  uint32_t index;
  int rc = in_same_leaf(self, key) ? NAI_OK : enter_leaf(self, find_leaf(self->leaves, key), err);
  *found = !rc && in_same_leaf(self, key) && find_cell(&index, self, key);
  if (*found) {
    uint32_t page = self->leaves->pages[self->leaf];
    struct nai_payload payload = {.page = page};
    int64_t rowid;
    const char *wrong = nai_leaf_cell(&rowid, &payload, self->direct, nai_direct_page(self->direct, page),
                                      cell_at(self->direct, page, index));
    rc = wrong ? nai_direct_damaged(err, page, wrong) : nai_record_read(&self->reader, &payload, key, err);
    *cell = self->reader.cells[0];
  }
  return nai_direct_intact(self->direct, rc, err);
}

static void close_direct(struct nai_lookup *lookup) {
  struct direct_lookup *self = (struct direct_lookup *)lookup;
  nai_record_reader_free(&self->reader);
  free(self->rowids);
  free(self);
}

static const struct nai_lookup_ops direct_ops = {.get = get_direct, .close = close_direct};

int nai_lookup_open_direct(struct nai_lookup **out, const struct nai_lookup *base, struct nai_err *err) {
  struct direct_lookup *self = calloc(1, sizeof *self);
  if (!self)
    return nai_err_nomem(err);
  self->base = *base;
  self->base.ops = &direct_ops;
  self->direct = base->trace->direct;
  nai_record_plan(&self->plan, self->direct, base->table, &base->column, 1);
  self->rowids = calloc(self->direct->usable_bytes / 6 + 1, sizeof *self->rowids);
  int rc = self->rowids ? nai_record_reader_init(&self->reader, &self->plan, err) : nai_err_nomem(err);
  if (!rc)
    rc = nai_direct_shared_leaves(&self->leaves, base->trace->direct, (uint32_t)base->table->rootpage, err);
  if (rc)
    close_direct(&self->base);
  else
    *out = &self->base;
  return rc;
}
