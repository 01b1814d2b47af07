/* The leaf reader: rows of rowid tables straight from the pages of the mapped file. docs/readers.md says what it relies
 * on. Internal to src/trace. */
#pragma once

#include "trace/trace/trace_internal.h"

#include <pthread.h>
#include <stdatomic.h>

struct nai_shared_leaves; /* leaf lists of tables that are looked up in */

struct nai_direct {
  const unsigned char *map; /* the whole file, followed by at least NAI_DIRECT_SLACK readable zero bytes */
  size_t map_bytes;
  int fd;            /* the trace's */
  atomic_bool *lost; /* becomes true when the file was truncated under the map */
  uint32_t page_size, usable_bytes, page_count;
  uint32_t lock_page;                 /* the page that holds the lock bytes at 1 GiB: never part of a table */
  unsigned char *claimed, *contested; /* bit n: something refers to page n; more than one thing does */
  uint32_t *stray, stray_count;       /* leaf pages that nothing refers to */
  _Atomic uint64_t *overflow_from;    /* of each overflow page that was met where in the file the reference to it is */
  pthread_mutex_t sharing;
  struct nai_shared_leaves *shared;
  uint32_t max_local, min_local; /* payload bytes a cell keeps on its leaf, file format section 1.6 */
};

/* Varints and integers may be loaded before their end is checked: the longest such read past a page's end. */
enum { NAI_DIRECT_SLACK = 64 };

enum { NAI_PAGE_INTERIOR = 0x05, NAI_PAGE_LEAF = 0x0d };

/* direct.c */
/* Maps the trace's file, or sets trace->direct_refused when the leaf reader may not read it. */
NAI_MUST_CHECK int nai_direct_open(struct nai_trace *trace, const struct nai_sqlite_header *header,
                                   struct nai_err *err);
void nai_direct_close(struct nai_trace *trace);
/* Why the leaf reader must not serve these columns of the table, NULL when it may. */
const char *nai_direct_refuses(const struct nai_trace *trace, const struct nai_db_table *table, const int *columns,
                               int column_count);
/* NAI_EINPUT: "the file is damaged: page N: what". */
int nai_direct_damaged(struct nai_err *err, uint32_t page, const char *what);
/* To be asked after reading: NAI_EINPUT when the file was truncated meanwhile, which has turned what was read to zeros.
 */
NAI_MUST_CHECK int nai_direct_intact(const struct nai_direct *direct, int rc, struct nai_err *err);

/* direct_guard.c */
/* Keeps [base, base + bytes) readable although the mapped file may be truncated, and tells through *lost. NULL when all
 * places are taken. */
atomic_bool *nai_guard_add(const void *base, size_t bytes);
void nai_guard_remove(atomic_bool *lost);

/* direct_survey.c: fills claimed, contested and stray. `roots` are those of all tables and indexes but the schema's. */
NAI_MUST_CHECK int nai_direct_survey(struct nai_direct *direct, const uint32_t *roots, uint32_t count,
                                     struct nai_err *err);

/* direct_tree.c */
/* The leaf pages of a table in rowid order. */
struct nai_leaves {
  uint32_t *pages;
  int64_t *last; /* no rowid of leaf i is above last[i], none of leaf i + 1 at or below it */
  uint32_t count;
};
NAI_MUST_CHECK int nai_direct_leaves(struct nai_leaves *out, const struct nai_direct *direct, uint32_t root,
                                     struct nai_err *err);
void nai_leaves_free(struct nai_leaves *leaves);
/* The same, made once per table and kept until the trace is closed. */
NAI_MUST_CHECK int nai_direct_shared_leaves(const struct nai_leaves **out, struct nai_direct *direct, uint32_t root,
                                            struct nai_err *err);
void nai_direct_free_shared(struct nai_direct *direct);
/* Cells of leaf number `leaf`, whose page's content is at `data`: none only where it is the whole table. */
NAI_MUST_CHECK int nai_direct_leaf_cells(uint32_t *cells, const struct nai_direct *direct,
                                         const struct nai_leaves *leaves, uint32_t leaf, const unsigned char *data,
                                         struct nai_err *err);

/* Its lowest and highest rowid, unless it is empty. */
NAI_MUST_CHECK int nai_direct_leaf_rowids(bool *empty, int64_t *first, int64_t *last, const struct nai_direct *direct,
                                          const struct nai_leaves *leaves, uint32_t leaf, struct nai_err *err);

static inline uint32_t nai_be16(const unsigned char *p) { return (uint32_t)p[0] << 8 | p[1]; }
static inline uint32_t nai_be32(const unsigned char *p) { return nai_be16(p) << 16 | nai_be16(p + 2); }

static inline bool nai_direct_has_page(const struct nai_direct *direct, uint32_t page) {
  return page - 1 < direct->page_count && page != direct->lock_page;
}

static inline bool nai_direct_is_claimed(const struct nai_direct *direct, uint32_t page) {
  return direct->claimed[page / 8] & 1 << page % 8;
}

static inline bool nai_direct_is_contested(const struct nai_direct *direct, uint32_t page) {
  return direct->contested[page / 8] & 1 << page % 8;
}

static inline const unsigned char *nai_direct_page(const struct nai_direct *direct, uint32_t page) {
  return direct->map + (size_t)(page - 1) * direct->page_size;
}

/* Where the b-tree page header begins: page 1 has the file header in front. */
static inline uint32_t nai_page_header(uint32_t page) { return page == 1 ? NAI_SQLITE_HEADER_BYTES : 0; }

/* Where its cells and free blocks begin. */
static inline uint32_t nai_page_content(const unsigned char *header) {
  return nai_be16(header + 5) ? nai_be16(header + 5) : 65536;
}

/* Cells of a page in their order. In a table that was written row after row each ends where the one before it begins,
 * and together they fill the page from its end: nothing is left to be looked at then. */
struct nai_page_fill {
  uint32_t begin;
  bool gapless;
};

static inline void nai_page_fill_add(struct nai_page_fill *fill, uint32_t at, uint32_t bytes) {
  fill->gapless &= at + bytes == fill->begin;
  fill->begin = at;
}

/* direct_page.c: whether cells, free blocks and fragments of a table's page are all of it and none twice; its cell
 * pointers fit. NULL, or what is wrong. */
const char *nai_page_account(const struct nai_direct *direct, uint32_t page, const unsigned char *data);

/* The same, where all cells went through nai_page_fill_add, beginning with {usable_bytes, true}. */
static inline const char *nai_page_settle(const struct nai_page_fill *fill, const struct nai_direct *direct,
                                          uint32_t page, const unsigned char *data) {
  const unsigned char *header = data + nai_page_header(page);
  bool plain = fill->gapless && fill->begin == nai_page_content(header) && !nai_be16(header + 1) && !header[7];
  uint32_t pointers_end = nai_page_header(page) + (header[0] == NAI_PAGE_LEAF ? 8 : 12) + 2 * nai_be16(header + 3);
  return plain && pointers_end <= fill->begin ? NULL : nai_page_account(direct, page, data);
}

/* Decodes a varint of at most 9 bytes and returns its length. */
static inline uint32_t nai_varint(uint64_t *value, const unsigned char *p) {
  if (p[0] < 0x80) {
    *value = p[0];
    return 1;
  }
  if (p[1] < 0x80) {
    *value = (uint64_t)(p[0] & 0x7f) << 7 | p[1];
    return 2;
  }
  uint64_t v = (uint64_t)(p[0] & 0x7f) << 7 | (p[1] & 0x7f);
  for (uint32_t i = 2; i < 8; i++) {
    v = v << 7 | (p[i] & 0x7f);
    if (p[i] < 0x80) {
      *value = v;
      return i + 1;
    }
  }
  *value = v << 8 | p[8];
  return 9;
}
