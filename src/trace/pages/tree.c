#include "trace/direct/direct_record.h"
#include "base/array.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_DEPTH = 20 }; /* BTCURSOR_MAX_DEPTH of btreeInt.h */

/* One level of the tree, left to right, in the form the leaf level has in the end. */
struct level {
  struct nai_leaves at;
  uint32_t page_capacity, last_capacity;
};

static int add_page(struct level *level, const struct nai_direct *direct, uint32_t parent, uint32_t page, int64_t last,
                    struct nai_err *err) {
  if (!nai_direct_has_page(direct, page) || page == 1)
    return nai_direct_damaged(err, parent, "it refers to a page that is not in the file");
  struct nai_leaves *at = &level->at;
  if (nai_direct_is_contested(direct, page) || at->count > direct->page_count)
    return nai_direct_damaged(err, parent, "it refers to a page that is part of something else, too");
  if (!nai_array_room(&at->pages, &level->page_capacity, at->count, sizeof *at->pages) ||
      !nai_array_room(&at->last, &level->last_capacity, at->count, sizeof *at->last))
    return nai_err_nomem(err);
  at->pages[at->count] = page;
  at->last[at->count++] = last;
  return NAI_OK;
}

/* Adds the children of an interior page to the next level. Its rowids lie above `below` (when bounded) and not above
 * `last`. */
static int add_children(struct level *next, const struct nai_direct *direct, uint32_t page, const int64_t *below,
                        int64_t last, struct nai_err *err) {
  const unsigned char *data = nai_direct_page(direct, page);
  uint32_t header = nai_page_header(page);
  if (data[header] != NAI_PAGE_INTERIOR)
    return nai_direct_damaged(err, page, "it is not an interior page of a table");
  uint32_t cells = nai_be16(data + header + 3), first = header + 12 + 2 * cells;
  if (first > direct->usable_bytes)
    return nai_direct_damaged(err, page, "it has more cells than fit");
  int64_t previous = below ? *below : INT64_MIN;
  struct nai_page_fill fill = {direct->usable_bytes, true};
  for (uint32_t i = 0; i < cells; i++) {
    uint32_t at = nai_be16(data + header + 12 + 2 * i);
    uint64_t key = 0;
    uint32_t bytes = at < first || at > direct->usable_bytes - 5 ? UINT16_MAX : 4 + nai_varint(&key, data + at + 4);
    if (at + bytes > direct->usable_bytes)
      return nai_direct_damaged(err, page, "a cell lies outside of the page");
    bool ascends = (int64_t)key > previous || (i == 0 && !below);
    if (!ascends || (int64_t)key > last)
      return nai_direct_damaged(err, page, "its rowids are out of order");
    previous = (int64_t)key;
    nai_page_fill_add(&fill, at, bytes);
    int rc = add_page(next, direct, page, nai_be32(data + at), previous, err);
    if (rc)
      return rc;
  }
  const char *wrong = nai_page_settle(&fill, direct, page, data);
  return wrong ? nai_direct_damaged(err, page, wrong)
               : add_page(next, direct, page, nai_be32(data + header + 8), last, err);
}

int nai_direct_leaves(struct nai_leaves *out, const struct nai_direct *direct, uint32_t root, struct nai_err *err) {
  struct level level = {{NULL, NULL, 0}, 0}, next = {{NULL, NULL, 0}, 0};
  int rc;
  if (nai_direct_is_contested(direct, root))
    return nai_direct_damaged(err, root, "it is part of something else, too");
  if (!nai_array_room(&level.at.pages, &level.page_capacity, 0, sizeof *level.at.pages) ||
      !nai_array_room(&level.at.last, &level.last_capacity, 0, sizeof *level.at.last)) {
    rc = nai_err_nomem(err);
    goto out;
  }
  level.at.pages[0] = root;
  level.at.last[0] = INT64_MAX;
  level.at.count = 1;
  rc = NAI_OK;
  /* All leaves are equally deep. No page is met twice unless somebody writes meanwhile. */
  for (int depth = 0; !rc; depth++) {
    uint32_t first = level.at.pages[0];
    if (nai_direct_page(direct, first)[nai_page_header(first)] != NAI_PAGE_INTERIOR)
      break;
    if (depth == MAX_DEPTH)
      rc = nai_direct_damaged(err, root, "its tree is deeper than SQLite allows");
    next.at.count = 0;
    for (uint32_t i = 0; i < level.at.count && !rc; i++)
      rc = add_children(&next, direct, level.at.pages[i], i ? &level.at.last[i - 1] : NULL, level.at.last[i], err);
    struct level swap = level;
    level = next;
    next = swap;
  }
out:
  nai_leaves_free(&next.at);
  if (rc)
    nai_leaves_free(&level.at);
  else
    *out = level.at;
  return rc;
}

void nai_leaves_free(struct nai_leaves *leaves) {
  free(leaves->pages);
  free(leaves->last);
  *leaves = (struct nai_leaves){0};
}

struct nai_shared_leaves {
  struct nai_shared_leaves *next;
  uint32_t root;
  struct nai_leaves leaves;
};

int nai_direct_shared_leaves(const struct nai_leaves **out, struct nai_direct *direct, uint32_t root,
                             struct nai_err *err) {
  int rc = NAI_OK;
  pthread_mutex_lock(&direct->sharing);
  struct nai_shared_leaves *at = direct->shared;
  while (at && at->root != root)
    at = at->next;
  if (!at) {
    at = calloc(1, sizeof *at);
    rc = at ? nai_direct_leaves(&at->leaves, direct, root, err) : nai_err_nomem(err);
    if (rc) {
      free(at);
    } else {
      at->root = root;
      at->next = direct->shared;
      direct->shared = at;
    }
  }
  pthread_mutex_unlock(&direct->sharing);
  if (!rc)
    *out = &at->leaves;
  return rc;
}

void nai_direct_free_shared(struct nai_direct *direct) {
  while (direct->shared) {
    struct nai_shared_leaves *at = direct->shared;
    direct->shared = at->next;
    nai_leaves_free(&at->leaves);
    free(at);
  }
}

int nai_direct_leaf_cells(uint32_t *cells, const struct nai_direct *direct, const struct nai_leaves *leaves,
                          uint32_t leaf, const unsigned char *data, struct nai_err *err) {
  uint32_t page = leaves->pages[leaf];
  uint32_t header = nai_page_header(page);
  data += header;
  if (data[0] != NAI_PAGE_LEAF)
    return nai_direct_damaged(err, page, "it is not a leaf page of a table");
  *cells = nai_be16(data + 3);
  if (header + 8 + 2 * *cells > direct->usable_bytes)
    return nai_direct_damaged(err, page, "it has more cells than fit");
  if (!*cells && leaves->count > 1) /* SQLite frees a leaf with its last row */
    return nai_direct_damaged(err, page, "a leaf page of a table with rows has none");
  return NAI_OK;
}

int nai_direct_leaf_rowids(bool *empty, int64_t *first, int64_t *last, const struct nai_direct *direct,
                           const struct nai_leaves *leaves, uint32_t leaf, struct nai_err *err) {
  uint32_t cells = 0, page = leaves->pages[leaf];
  const unsigned char *data = nai_direct_page(direct, page);
  int rc = nai_direct_leaf_cells(&cells, direct, leaves, leaf, data, err);
  if (rc)
    return rc;
  *empty = cells == 0;
  if (*empty)
    return NAI_OK;
  const unsigned char *pointers = data + nai_page_header(page) + 8;
  struct nai_payload payload;
  uint32_t at[2] = {nai_be16(pointers), nai_be16(pointers + 2 * (cells - 1))};
  const char *wrong = at[0] > direct->usable_bytes - 4 || at[1] > direct->usable_bytes - 4
                        ? "a cell lies outside of the page"
                        : nai_leaf_cell(first, &payload, direct, data, at[0]);
  if (!wrong)
    wrong = nai_leaf_cell(last, &payload, direct, data, at[1]);
  return wrong ? nai_direct_damaged(err, page, wrong) : NAI_OK;
}
