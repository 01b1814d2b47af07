/* What a page says of itself has to add up. SQLite keeps books of every byte behind a page's content start: it belongs
 * to a cell, to a free block, or is one of the fragments that are counted in the header (file format, section 1.6;
 * PRAGMA integrity_check asks the same). A number of cells, a pointer, a length that is not what SQLite wrote leaves
 * bytes that nothing owns, or that two own: rows that would be missing without a word. */
#include "trace/pages/pages.h"

enum { MAX_PAGE_BYTES = 65536, FREE_BLOCK_HEAD = 4 };

struct page_use {
  uint64_t taken[MAX_PAGE_BYTES / 64]; /* a bit for each byte */
  uint32_t begin, end;                 /* what has to be accounted for */
  uint32_t bytes;                      /* what has been so far */
};

/* Takes bytes [from, from + count): false where they are not all there, or not all free. */
static bool take(struct page_use *use, uint32_t from, uint32_t count) {
  if (from < use->begin || count > use->end - from)
    return false;
  use->bytes += count;
  while (count) {
    uint32_t bit = from % 64, n = 64 - bit < count ? 64 - bit : count;
    uint64_t bits = (n == 64 ? ~0ull : (1ull << n) - 1) << bit;
    if (use->taken[from / 64] & bits)
      return false;
    use->taken[from / 64] |= bits;
    from += n;
    count -= n;
  }
  return true;
}

/* Bytes of the cell at byte `at`; 0 where it reaches beyond the page. */
static uint32_t cell_bytes(const struct nai_pages *pages, const unsigned char *data, uint32_t at, bool leaf) {
  uint64_t key;
  int64_t rowid;
  struct nai_payload payload;
  if (at > pages->usable_bytes - 4)
    return 0;
  if (!leaf)
    return 4 + nai_varint(&key, data + at + 4);
  return nai_leaf_cell(&rowid, &payload, pages, data, at) ? 0 : nai_cell_bytes(&payload, data + at);
}

const char *nai_page_account(const struct nai_pages *pages, uint32_t page, const unsigned char *data) {
  static const char overlap[] = "its cells and free blocks overlap";
  const unsigned char *header = data + nai_page_header(page);
  bool leaf = header[0] == NAI_PAGE_LEAF;
  uint32_t cells = nai_be16(header + 3), pointers = nai_page_header(page) + (leaf ? 8 : 12);
  struct page_use use = {.begin = nai_page_content(header), .end = pages->usable_bytes};
  if (use.begin > use.end || use.begin < pointers + 2 * cells)
    return "its content does not begin where it says";
  for (uint32_t i = 0; i < cells; i++) {
    uint32_t at = nai_be16(data + pointers + 2 * i), bytes = cell_bytes(pages, data, at, leaf);
    if (!bytes || !take(&use, at, bytes))
      return overlap;
  }
  for (uint32_t at = nai_be16(header + 1), next; at; at = next) {
    if (at > use.end - FREE_BLOCK_HEAD || nai_be16(data + at + 2) < FREE_BLOCK_HEAD ||
        !take(&use, at, nai_be16(data + at + 2)))
      return overlap;
    next = nai_be16(data + at);
    if (next && next <= at) /* they ascend, so this ends */
      return "its free blocks are out of order";
  }
  return use.bytes + header[7] == use.end - use.begin ? NULL : "it has bytes that belong to no row";
}
