/* The tree of a table, down to its leaves. */
#include "trace/pages/pages.h"

#include "base/threads.h"

enum { MAX_DEPTH = 20 }; /* BTCURSOR_MAX_DEPTH of btreeInt.h */

/* One level of the tree, left to right, in the form the leaf level has in the end. */
struct level {
  struct nai_arena *arena;
  struct nai_leaves at;
  uint32_t page_capacity, last_capacity;
};

static int push(struct level *level, uint32_t page, int64_t last, struct nai_err *err) {
  struct nai_leaves *at = &level->at;
  NAI_TRY(NAI_ROOM(at->pages, level->page_capacity, at->count, level->arena, err));
  NAI_TRY(NAI_ROOM(at->last, level->last_capacity, at->count, level->arena, err));
  at->pages[at->count] = page;
  at->last[at->count++] = last;
  return NAI_OK;
}

static int add_page(struct level *level, const struct nai_pages *pages, uint32_t parent, uint32_t page, int64_t last,
                    struct nai_err *err) {
  if (!nai_pages_have(pages, page) || page == 1)
    return nai_page_damaged(err, parent, "it refers to a page that is not in the file");
  if (nai_page_is_contested(pages, page) || level->at.count > pages->page_count)
    return nai_page_damaged(err, parent, "it refers to a page that is part of something else, too");
  return push(level, page, last, err);
}

/* Adds the children of an interior page to the next level. Its rowids lie above `below` (when bounded) and not above
 * `last`. */
static int add_children(struct level *next, const struct nai_pages *pages, uint32_t page, const int64_t *below,
                        int64_t last, struct nai_err *err) {
  const unsigned char *data = nai_page_at(pages, page);
  uint32_t header = nai_page_header(page);
  if (data[header] != NAI_PAGE_INTERIOR)
    return nai_page_damaged(err, page, "it is not an interior page of a table");
  uint32_t cells = nai_be16(data + header + 3), first = header + 12 + 2 * cells;
  if (first > pages->usable_bytes)
    return nai_page_damaged(err, page, "it has more cells than fit");
  int64_t previous = below ? *below : INT64_MIN;
  struct nai_page_fill fill = {pages->usable_bytes, true};
  for (uint32_t i = 0; i < cells; i++) {
    uint32_t at = nai_be16(data + header + 12 + 2 * i);
    uint64_t key = 0;
    uint32_t bytes = at < first || at > pages->usable_bytes - 5 ? UINT16_MAX : 4 + nai_varint(&key, data + at + 4);
    if (at + bytes > pages->usable_bytes)
      return nai_page_damaged(err, page, "a cell lies outside of the page");
    bool ascends = (int64_t)key > previous || (i == 0 && !below);
    if (!ascends || (int64_t)key > last)
      return nai_page_damaged(err, page, "its rowids are out of order");
    previous = (int64_t)key;
    nai_page_fill_add(&fill, at, bytes);
    NAI_TRY(add_page(next, pages, page, nai_be32(data + at), previous, err));
  }
  const char *wrong = nai_page_settle(&fill, pages, page, data);
  return wrong ? nai_page_damaged(err, page, wrong)
               : add_page(next, pages, page, nai_be32(data + header + 8), last, err);
}

int nai_leaves_find(struct nai_leaves *out, const struct nai_pages *pages, uint32_t root, struct nai_arena *arena,
                    struct nai_err *err) {
  struct level level = {.arena = arena}, next = {.arena = arena};
  if (nai_page_is_contested(pages, root))
    return nai_page_damaged(err, root, "it is part of something else, too");
  NAI_TRY(push(&level, root, INT64_MAX, err));
  /* All leaves are equally deep. No page is met twice unless somebody writes meanwhile. */
  for (int depth = 0;; depth++) {
    uint32_t first = level.at.pages[0];
    if (nai_page_at(pages, first)[nai_page_header(first)] != NAI_PAGE_INTERIOR)
      break;
    if (depth == MAX_DEPTH)
      return nai_page_damaged(err, root, "its tree is deeper than SQLite allows");
    next.at.count = 0;
    for (uint32_t i = 0; i < level.at.count; i++)
      NAI_TRY(add_children(&next, pages, level.at.pages[i], i ? &level.at.last[i - 1] : NULL, level.at.last[i], err));
    struct level swap = level;
    level = next;
    next = swap;
  }
  *out = level.at;
  return NAI_OK;
}

struct nai_shared_leaves {
  struct nai_shared_leaves *next;
  uint32_t root;
  struct nai_leaves leaves;
};

int nai_leaves_share(const struct nai_leaves **out, struct nai_pages *pages, uint32_t root, struct nai_err *err) {
  NAI_LOCKED(&pages->sharing);
  struct nai_shared_leaves *at = pages->shared;
  while (at && at->root != root)
    at = at->next;
  if (!at) {
    NAI_TRY(NAI_NEW(at, pages->arena, 1, err));
    NAI_TRY(nai_leaves_find(&at->leaves, pages, root, pages->arena, err));
    at->root = root;
    at->next = pages->shared;
    pages->shared = at;
  }
  *out = &at->leaves;
  return NAI_OK;
}

int nai_leaf_cells(uint32_t *cells, const struct nai_pages *pages, const struct nai_leaves *leaves, uint32_t leaf,
                   const unsigned char *data, struct nai_err *err) {
  uint32_t page = leaves->pages[leaf];
  uint32_t header = nai_page_header(page);
  data += header;
  if (data[0] != NAI_PAGE_LEAF)
    return nai_page_damaged(err, page, "it is not a leaf page of a table");
  *cells = nai_be16(data + 3);
  if (header + 8 + 2 * *cells > pages->usable_bytes)
    return nai_page_damaged(err, page, "it has more cells than fit");
  if (!*cells && leaves->count > 1) /* SQLite frees a leaf with its last row */
    return nai_page_damaged(err, page, "a leaf page of a table with rows has none");
  return NAI_OK;
}

int nai_leaf_walk(struct nai_leaf_walk *walk, const struct nai_pages *pages, const struct nai_leaves *leaves,
                  uint32_t leaf, const unsigned char *data, struct nai_err *err) {
  *walk = (struct nai_leaf_walk){.pages = pages,
                                 .data = data,
                                 .page = leaves->pages[leaf],
                                 .previous = leaf ? leaves->last[leaf - 1] : INT64_MIN,
                                 .last = leaves->last[leaf],
                                 .bounded = leaf > 0,
                                 .fill = {pages->usable_bytes, true}};
  NAI_TRY(nai_leaf_cells(&walk->cells, pages, leaves, leaf, data, err));
  uint32_t header = nai_page_header(walk->page) + 8;
  walk->pointers = data + header;
  walk->content = header + 2 * walk->cells;
  return NAI_OK;
}

int nai_leaf_rowids(bool *empty, int64_t *first, int64_t *last, const struct nai_pages *pages,
                    const struct nai_leaves *leaves, uint32_t leaf, struct nai_err *err) {
  uint32_t cells = 0, page = leaves->pages[leaf];
  const unsigned char *data = nai_page_at(pages, page);
  NAI_TRY(nai_leaf_cells(&cells, pages, leaves, leaf, data, err));
  *empty = cells == 0;
  if (*empty)
    return NAI_OK;
  const unsigned char *pointers = data + nai_page_header(page) + 8;
  struct nai_payload payload;
  uint32_t at[2] = {nai_be16(pointers), nai_be16(pointers + 2 * (cells - 1))};
  const char *wrong = at[0] > pages->usable_bytes - 4 || at[1] > pages->usable_bytes - 4
                        ? "a cell lies outside of the page"
                        : nai_leaf_cell(first, &payload, pages, data, at[0]);
  if (!wrong)
    wrong = nai_leaf_cell(last, &payload, pages, data, at[1]);
  return wrong ? nai_page_damaged(err, page, wrong) : NAI_OK;
}
