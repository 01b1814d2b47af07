/* Which pages are referred to from more than one place, and which from none. A page of a database has one owner: a
 * table, an index, the list of free pages, a row's overflow chain. A reference that damage has turned to another
 * owner's page may find rows there that fit; that they are somebody else's is told by nothing but the second reference,
 * or by its own rows, which nothing refers to any more. */
#include "base/array.h"
#include "trace/direct/direct.h"

#include <stdlib.h>
#include <string.h>

enum { INDEX_INTERIOR = 0x02 };

struct pages {
  uint32_t *numbers, count, capacity;
};

static int push(struct pages *pages, uint32_t page, struct nai_err *err) {
  if (!nai_array_room(&pages->numbers, &pages->capacity, pages->count, sizeof *pages->numbers))
    return nai_err_nomem(err);
  pages->numbers[pages->count++] = page;
  return NAI_OK;
}

/* Whether it is the first reference to that page. What is no page is of no interest here: its reader says so. */
static bool claim(struct nai_direct *direct, uint32_t page) {
  if (!nai_direct_has_page(direct, page))
    return false;
  unsigned char bit = (unsigned char)(1 << page % 8), *claimed = &direct->claimed[page / 8];
  bool first = !(*claimed & bit);
  *claimed |= bit;
  direct->contested[page / 8] |= first ? 0 : bit;
  return first;
}

static int claim_child(struct pages *next, struct nai_direct *direct, uint32_t page, struct nai_err *err) {
  return claim(direct, page) ? push(next, page, err) : NAI_OK;
}

static int claim_children(struct pages *next, struct nai_direct *direct, uint32_t page, unsigned char type,
                          struct nai_err *err) {
  const unsigned char *data = nai_direct_page(direct, page), *header = data + nai_page_header(page);
  uint32_t cells = nai_be16(header + 3), pointers = nai_page_header(page) + 12;
  if (header[0] != type || pointers + 2 * cells > direct->usable_bytes)
    return NAI_OK; /* its reader says so */
  int rc = claim_child(next, direct, nai_be32(header + 8), err);
  for (uint32_t i = 0; i < cells && !rc; i++) {
    uint32_t at = nai_be16(data + pointers + 2 * i);
    if (at <= direct->usable_bytes - 4)
      rc = claim_child(next, direct, nai_be32(data + at), err);
  }
  return rc;
}

/* Leaves are as deep as the left-most one: the others need not be looked at. */
static int survey_tree(struct nai_direct *direct, uint32_t root, struct nai_err *err) {
  struct pages level = {0}, next = {0};
  int rc = claim_child(&level, direct, root, err);
  while (!rc && level.count) {
    uint32_t first = level.numbers[0];
    unsigned char type = nai_direct_page(direct, first)[nai_page_header(first)];
    if (type != NAI_PAGE_INTERIOR && type != INDEX_INTERIOR)
      break;
    next.count = 0;
    for (uint32_t i = 0; i < level.count && !rc; i++)
      rc = claim_children(&next, direct, level.numbers[i], type, err);
    struct pages swap = level;
    level = next;
    next = swap;
  }
  free(level.numbers);
  free(next.numbers);
  return rc;
}

/* Trunk pages: the next trunk's number, how many free pages are listed, their numbers. */
static void survey_free_pages(struct nai_direct *direct) {
  for (uint32_t trunk = nai_be32(direct->map + 32); trunk && claim(direct, trunk);) {
    const unsigned char *data = nai_direct_page(direct, trunk);
    for (uint32_t i = 0; i < nai_be32(data + 4) && i < direct->usable_bytes / 4 - 2; i++)
      claim(direct, nai_be32(data + 8 + 4 * i));
    trunk = nai_be32(data);
  }
}

/* Where the database can be vacuumed in steps, every so many pages one says who refers to those behind it. */
static void survey_pointer_maps(struct nai_direct *direct) {
  uint32_t step = direct->usable_bytes / 5 + 1;
  for (uint64_t page = 2; nai_be32(direct->map + 52) && page <= direct->page_count; page += step)
    claim(direct, (uint32_t)page + (page == direct->lock_page));
}

/* Whether a page is a table's leaf with rows and nothing refers to it. What is not claimed holds what did not fit into
 * rows, and begins with the number of another page or with 0. */
static bool is_stray(const struct nai_direct *direct, uint32_t page) {
  if (!nai_direct_has_page(direct, page) || nai_direct_is_claimed(direct, page))
    return false;
  const unsigned char *data = nai_direct_page(direct, page);
  return data[0] == NAI_PAGE_LEAF && nai_be32(data) > direct->page_count && nai_be16(data + 3);
}

static int survey_stray_pages(struct nai_direct *direct, struct nai_err *err) {
  struct pages stray = {0};
  int rc = NAI_OK;
  for (uint32_t page = 2; page <= direct->page_count && !rc; page++)
    if (is_stray(direct, page))
      rc = push(&stray, page, err);
  direct->stray = stray.numbers;
  direct->stray_count = stray.count;
  return rc;
}

int nai_direct_survey(struct nai_direct *direct, const uint32_t *roots, uint32_t count, struct nai_err *err) {
  int rc = survey_tree(direct, 1, err);
  for (uint32_t i = 0; i < count && !rc; i++)
    rc = survey_tree(direct, roots[i], err);
  if (!rc)
    survey_free_pages(direct);
  if (!rc)
    survey_pointer_maps(direct);
  return rc ? rc : survey_stray_pages(direct, err);
}
