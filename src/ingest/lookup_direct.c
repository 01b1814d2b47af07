#include "ingest/direct_record.h"
#include "ingest/lookup_internal.h"

#include <stdlib.h>

struct direct_lookup {
  struct nai_lookup base;
  const struct nai_direct *direct;
  struct nai_record_plan plan;
  struct nai_record_reader reader;
  /* The leaf of the previous lookup, which holds exactly the rowids low..high that exist; 0 before the first. */
  uint32_t leaf, cells;
  int64_t low, high;
};

enum { MAX_DEPTH = 40 }; /* SQLite's own limit is 20 */

/* First of `cells` cells of an interior page whose key is not below `key` (cells: none); *found_key = its key. */
static int find_child(uint32_t *index, int64_t *found_key, const struct nai_direct *direct, uint32_t page, uint32_t cells,
                      int64_t key, struct nai_err *err) {
  const unsigned char *data = nai_direct_page(direct, page);
  const unsigned char *pointers = data + nai_page_header(page) + 12;
  uint32_t low = 0, high = cells;
  while (low < high) {
    uint32_t middle = (low + high) / 2, at = nai_be16(pointers + 2 * middle);
    uint64_t separator;
    if (at > direct->usable_bytes - 5 || at + 4 + nai_varint(&separator, data + at + 4) > direct->usable_bytes)
      return nai_direct_damaged(err, page, "a cell lies outside of the page");
    if ((int64_t)separator < key) {
      low = middle + 1;
    } else {
      high = middle;
      *found_key = (int64_t)separator;
    }
  }
  *index = low;
  return NAI_OK;
}

/* Goes down to the leaf where `key` would be and remembers it. */
static int descend(struct direct_lookup *self, int64_t key, struct nai_err *err) {
  const struct nai_direct *direct = self->direct;
  uint32_t page = (uint32_t)self->base.table->rootpage;
  self->leaf = 0;
  self->low = INT64_MIN;
  self->high = INT64_MAX;
  for (int depth = 0; depth < MAX_DEPTH; depth++) {
    const unsigned char *data = nai_direct_page(direct, page) + nai_page_header(page);
    if (data[0] != NAI_PAGE_INTERIOR) {
      int rc = nai_direct_leaf_cells(&self->cells, direct, page, nai_direct_page(direct, page), err);
      self->leaf = rc ? 0 : page;
      return rc;
    }
    uint32_t cells = nai_be16(data + 3), index = 0;
    if (nai_page_header(page) + 12 + 2 * cells > direct->usable_bytes)
      return nai_direct_damaged(err, page, "it has more cells than fit");
    int rc = find_child(&index, &self->high, direct, page, cells, key, err);
    if (rc)
      return rc;
    if (index) { /* the separator before bounds the leaf from below */
      uint64_t separator;
      nai_varint(&separator, nai_direct_page(direct, page) + nai_be16(data + 12 + 2 * (index - 1)) + 4);
      self->low = (int64_t)separator + ((int64_t)separator < INT64_MAX);
    }
    uint32_t child = nai_be32(index < cells ? nai_direct_page(direct, page) + nai_be16(data + 12 + 2 * index) : data + 8);
    if (!nai_direct_has_page(direct, child) || child == 1)
      return nai_direct_damaged(err, page, "it refers to a page that is not in the file");
    page = child;
  }
  return nai_direct_damaged(err, page, "the table is deeper than SQLite allows");
}

static int find_cell(bool *found, struct nai_payload *payload, const struct direct_lookup *self, int64_t key,
                     struct nai_err *err) {
  const unsigned char *data = nai_direct_page(self->direct, self->leaf);
  const unsigned char *pointers = data + nai_page_header(self->leaf) + 8;
  uint32_t low = 0, high = self->cells;
  payload->page = self->leaf;
  *found = false;
  while (low < high) {
    uint32_t middle = (low + high) / 2, at = nai_be16(pointers + 2 * middle);
    int64_t rowid;
    const char *wrong = at > self->direct->usable_bytes - 4 ? "a cell lies outside of the page"
                                                            : nai_leaf_cell(&rowid, payload, self->direct, data, at);
    if (wrong)
      return nai_direct_damaged(err, self->leaf, wrong);
    if (rowid == key) {
      *found = true;
      return NAI_OK;
    }
    if (rowid < key)
      low = middle + 1;
    else
      high = middle;
  }
  return NAI_OK;
}

static int get_direct(bool *found, struct nai_cell *cell, struct nai_lookup *lookup, int64_t key, struct nai_err *err) {
  struct direct_lookup *self = (struct direct_lookup *)lookup;
  struct nai_payload payload = {0};
  int rc = NAI_OK;
  *found = false;
  if (!self->leaf || key < self->low || key > self->high)
    rc = descend(self, key, err);
  if (!rc)
    rc = find_cell(found, &payload, self, key, err);
  if (!rc && *found) {
    /* A handle may be asked for the same long value any number of times. */
    self->reader.overflow_left = 2 * (uint64_t)self->direct->page_count;
    rc = nai_record_read(&self->reader, &payload, key, err);
    *cell = self->reader.cells[0];
  }
  return nai_direct_intact(self->direct, rc, err);
}

static void close_direct(struct nai_lookup *lookup) {
  struct direct_lookup *self = (struct direct_lookup *)lookup;
  nai_record_reader_free(&self->reader);
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
  int rc = nai_record_reader_init(&self->reader, &self->plan, err);
  if (rc) {
    free(self);
    return rc;
  }
  *out = &self->base;
  return NAI_OK;
}
