/* Which pages are referred to from more than one place, and which from none. A page of a database has one owner: a
 * table, an index, the list of free pages, a row's overflow chain. A reference that damage has turned to another
 * owner's page may find rows there that fit; that they are somebody else's is told by nothing but the second reference,
 * or by its own rows, which nothing refers to any more. */
#include "trace/pages/pages.h"

enum { INDEX_INTERIOR = 0x02 };

struct list {
  struct nai_arena *arena;
  uint32_t *numbers, count, capacity;
};

static int push(struct list *list, uint32_t page, struct nai_err *err) {
  NAI_TRY(NAI_ROOM(list->numbers, list->capacity, list->count, list->arena, err));
  list->numbers[list->count++] = page;
  return NAI_OK;
}

/* Whether it is the first reference to that page. What is no page is of no interest here: its reader says so. */
static bool claim(struct nai_pages *pages, uint32_t page) {
  if (!nai_pages_have(pages, page))
    return false;
  unsigned char bit = (unsigned char)(1 << page % 8), *claimed = &pages->claimed[page / 8];
  bool first = !(*claimed & bit);
  *claimed |= bit;
  pages->contested[page / 8] |= first ? 0 : bit;
  return first;
}

static int claim_child(struct list *next, struct nai_pages *pages, uint32_t page, struct nai_err *err) {
  return claim(pages, page) ? push(next, page, err) : NAI_OK;
}

static int claim_children(struct list *next, struct nai_pages *pages, uint32_t page, unsigned char type,
                          struct nai_err *err) {
  const unsigned char *data = nai_page_at(pages, page), *header = data + nai_page_header(page);
  uint32_t cells = nai_be16(header + 3), pointers = nai_page_header(page) + 12;
  if (header[0] != type || pointers + 2 * cells > pages->usable_bytes)
    return NAI_OK; /* its reader says so */
  NAI_TRY(claim_child(next, pages, nai_be32(header + 8), err));
  for (uint32_t i = 0; i < cells; i++) {
    uint32_t at = nai_be16(data + pointers + 2 * i);
    if (at <= pages->usable_bytes - 4)
      NAI_TRY(claim_child(next, pages, nai_be32(data + at), err));
  }
  return NAI_OK;
}

/* Leaves are as deep as the left-most one: the others need not be looked at. */
static int survey_tree(struct nai_pages *pages, uint32_t root, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  struct list level = {.arena = &arena}, next = {.arena = &arena};
  NAI_TRY(claim_child(&level, pages, root, err));
  while (level.count) {
    uint32_t first = level.numbers[0];
    unsigned char type = nai_page_at(pages, first)[nai_page_header(first)];
    if (type != NAI_PAGE_INTERIOR && type != INDEX_INTERIOR)
      break;
    next.count = 0;
    for (uint32_t i = 0; i < level.count; i++)
      NAI_TRY(claim_children(&next, pages, level.numbers[i], type, err));
    struct list swap = level;
    level = next;
    next = swap;
  }
  return NAI_OK;
}

/* Trunk pages: the next trunk's number, how many free pages are listed, their numbers. */
static void survey_free_pages(struct nai_pages *pages) {
  for (uint32_t trunk = nai_be32(pages->map + 32); trunk && claim(pages, trunk);) {
    const unsigned char *data = nai_page_at(pages, trunk);
    for (uint32_t i = 0; i < nai_be32(data + 4) && i < pages->usable_bytes / 4 - 2; i++)
      claim(pages, nai_be32(data + 8 + 4 * i));
    trunk = nai_be32(data);
  }
}

/* Where the database can be vacuumed in steps, every so many pages one says who refers to those behind it. */
static void survey_pointer_maps(struct nai_pages *pages) {
  uint32_t step = pages->usable_bytes / 5 + 1;
  for (uint64_t page = 2; nai_be32(pages->map + 52) && page <= pages->page_count; page += step)
    claim(pages, (uint32_t)page + (page == pages->lock_page));
}

/* Whether a page is a table's leaf with rows and nothing refers to it. What is not claimed holds what did not fit into
 * rows, and begins with the number of another page or with 0. */
static bool is_stray(const struct nai_pages *pages, uint32_t page) {
  if (!nai_pages_have(pages, page) || nai_page_is_claimed(pages, page))
    return false;
  const unsigned char *data = nai_page_at(pages, page);
  return data[0] == NAI_PAGE_LEAF && nai_be32(data) > pages->page_count && nai_be16(data + 3);
}

static int survey_stray_pages(struct nai_pages *pages, struct nai_err *err) {
  struct list stray = {.arena = pages->arena};
  for (uint32_t page = 2; page <= pages->page_count; page++)
    if (is_stray(pages, page))
      NAI_TRY(push(&stray, page, err));
  pages->stray = stray.numbers;
  pages->stray_count = stray.count;
  return NAI_OK;
}

int nai_pages_find_owners(struct nai_pages *pages, const uint32_t *roots, uint32_t count, struct nai_err *err) {
  NAI_TRY(survey_tree(pages, 1, err));
  for (uint32_t i = 0; i < count; i++)
    NAI_TRY(survey_tree(pages, roots[i], err));
  survey_free_pages(pages);
  survey_pointer_maps(pages);
  return survey_stray_pages(pages, err);
}
