/* The export as SQLite's pages: mapped, each of one owner, its cells and bytes adding up. SQLite believes what stands
 * at the head of a page or of a row, so what it reads is looked through here first; the leaf reader (src/trace/direct)
 * finds its rows by it. docs/readers.md says what is relied on. Internal to src/trace. */
#pragma once

#include "trace/trace/trace_internal.h"

#include <pthread.h>
#include <stdatomic.h>

struct nai_shared_leaves; /* leaf lists of tables that are looked up in */

struct nai_pages {
  const unsigned char *map; /* the whole file, followed by at least NAI_PAGE_SLACK readable zero bytes */
  size_t map_bytes;
  int fd;            /* the trace's */
  atomic_bool *lost; /* becomes true when the file was truncated under the map */
  uint32_t page_size, usable_bytes, page_count;
  uint32_t lock_page;                 /* the page that holds the lock bytes at 1 GiB: never part of a table */
  unsigned char *claimed, *contested; /* bit n: something refers to page n; more than one thing does */
  uint32_t *stray, stray_count;       /* leaf pages that nothing refers to */
  _Atomic uint64_t *overflow_from;    /* of each overflow page that was met where in the file the reference to it is */
  struct nai_arena *arena;            /* the trace's */
  pthread_mutex_t sharing;
  struct nai_shared_leaves *shared;
  uint32_t max_local, min_local; /* payload bytes a cell keeps on its leaf, file format section 1.6 */
};

/* Varints and integers may be loaded before their end is checked: the longest such read past a page's end. */
enum { NAI_PAGE_SLACK = 64 };

enum { NAI_PAGE_INTERIOR = 0x05, NAI_PAGE_LEAF = 0x0d };

/* --- pages.c ---------------------------------------------------------------------------------- */

/* Maps the trace's file and finds the owners of its pages, or sets trace->pages_refused when that cannot be. */
NAI_MUST_CHECK int nai_pages_open(struct nai_trace *trace, const struct nai_sqlite_header *header, struct nai_err *err);
void nai_pages_close(struct nai_trace *trace);
/* Why these columns of the table cannot be read from the pages, NULL when they can. */
const char *nai_pages_refuse(const struct nai_trace *trace, const struct nai_db_table *table, const int *columns,
                             int column_count);
/* To be asked after reading: NAI_EINPUT when the file was truncated meanwhile, which has turned what was read to zeros.
 */
NAI_MUST_CHECK int nai_pages_intact(const struct nai_pages *pages, int rc, struct nai_err *err);

/* --- guard.c ---------------------------------------------------------------------------------- */

/* Keeps [base, base + bytes) readable although the mapped file may be truncated, and tells through *lost. NULL when all
 * places are taken. */
atomic_bool *nai_guard_add(const void *base, size_t bytes);
void nai_guard_remove(atomic_bool *lost);

/* --- owners.c --------------------------------------------------------------------------------- */

/* Fills claimed, contested and stray. `roots` are those of all tables and indexes but the schema's. */
NAI_MUST_CHECK int nai_pages_find_owners(struct nai_pages *pages, const uint32_t *roots, uint32_t count,
                                         struct nai_err *err);

/* --- audit.c ---------------------------------------------------------------------------------- */

/* Looks at every page and row of a table, whichever reader is going to read these columns of it. NAI_EINPUT where the
 * pages tell damage; where they cannot be read, where SQLite's quick_check finds something. */
NAI_MUST_CHECK int nai_pages_check(const struct nai_trace *trace, const struct nai_db_table *table, const int *columns,
                                   int column_count, struct nai_err *err);
/* The same of the table that says which tables there are. */
NAI_MUST_CHECK int nai_pages_check_schema(const struct nai_trace *trace, struct nai_err *err);
/* Damage where a leaf that nothing refers to has rows like the table's. */
NAI_MUST_CHECK int nai_pages_check_strays(const struct nai_pages *pages, const struct nai_db_table *table,
                                          struct nai_err *err);

/* --- reading a page --------------------------------------------------------------------------- */

/* NAI_EINPUT: "the file is damaged: page N: what". */
static inline int nai_page_damaged(struct nai_err *err, uint32_t page, const char *what) {
  return nai_err_damaged(err, "the file is damaged: page %u: %s", page, what);
}

static inline uint32_t nai_be16(const unsigned char *p) { return (uint32_t)p[0] << 8 | p[1]; }
static inline uint32_t nai_be32(const unsigned char *p) { return nai_be16(p) << 16 | nai_be16(p + 2); }

static inline bool nai_pages_have(const struct nai_pages *pages, uint32_t page) {
  return page - 1 < pages->page_count && page != pages->lock_page;
}

static inline bool nai_page_is_claimed(const struct nai_pages *pages, uint32_t page) {
  return pages->claimed[page / 8] & 1 << page % 8;
}

static inline bool nai_page_is_contested(const struct nai_pages *pages, uint32_t page) {
  return pages->contested[page / 8] & 1 << page % 8;
}

static inline const unsigned char *nai_page_at(const struct nai_pages *pages, uint32_t page) {
  return pages->map + (size_t)(page - 1) * pages->page_size;
}

/* Where the b-tree page header begins: page 1 has the file header in front. */
static inline uint32_t nai_page_header(uint32_t page) { return page == 1 ? NAI_SQLITE_HEADER_BYTES : 0; }

/* Where its cells and free blocks begin. */
static inline uint32_t nai_page_content(const unsigned char *header) {
  return nai_be16(header + 5) ? nai_be16(header + 5) : 65536;
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

/* A payload as it lies in the file: `local` bytes at `data`, the rest in a chain of overflow pages. */
struct nai_payload {
  const unsigned char *data;
  uint64_t bytes;
  uint32_t local;
  uint32_t link;          /* where in its page the number of its first overflow page stands; 0 when all is local */
  uint32_t overflow_page; /* that number */
  uint32_t page;          /* the leaf, for messages */
};

/* The cell at byte `at` of a leaf page: its rowid and payload. NULL, or what is wrong. */
static inline const char *nai_leaf_cell(int64_t *rowid, struct nai_payload *payload, const struct nai_pages *pages,
                                        const unsigned char *data, uint32_t at) {
  uint64_t bytes, key;
  const unsigned char *p = data + at;
  p += nai_varint(&bytes, p);
  p += nai_varint(&key, p);
  uint32_t begin = (uint32_t)(p - data), local = (uint32_t)bytes, link = 0;
  if (__builtin_expect(bytes > pages->max_local, 0)) {
    if (bytes > INT32_MAX)
      return "a cell is longer than SQLite allows";
    link = 4;
    uint32_t rest = (uint32_t)((bytes - pages->min_local) % (pages->usable_bytes - 4));
    local = pages->min_local + rest;
    local = local > pages->max_local ? pages->min_local : local;
  }
  if (begin + local + link > pages->usable_bytes)
    return "a cell reaches beyond the page's end";
  *rowid = (int64_t)key;
  payload->data = p;
  payload->bytes = bytes;
  payload->local = local;
  payload->link = link ? begin + local : 0;
  payload->overflow_page = link ? nai_be32(p + local) : 0;
  return NULL;
}

/* Bytes of the cell at `cell` whose payload nai_leaf_cell has found: SQLite gives a cell no fewer than 4. */
static inline uint32_t nai_cell_bytes(const struct nai_payload *payload, const unsigned char *cell) {
  uint32_t bytes = (uint32_t)(payload->data - cell) + payload->local + (payload->link ? 4 : 0);
  return bytes < 4 ? 4 : bytes;
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

/* page_bytes.c: whether cells, free blocks and fragments of a table's page are all of it and none twice; its cell
 * pointers fit. NULL, or what is wrong. */
const char *nai_page_account(const struct nai_pages *pages, uint32_t page, const unsigned char *data);

/* The same, where all cells went through nai_page_fill_add, beginning with {usable_bytes, true}. */
static inline const char *nai_page_settle(const struct nai_page_fill *fill, const struct nai_pages *pages,
                                          uint32_t page, const unsigned char *data) {
  const unsigned char *header = data + nai_page_header(page);
  bool plain = fill->gapless && fill->begin == nai_page_content(header) && !nai_be16(header + 1) && !header[7];
  uint32_t pointers_end = nai_page_header(page) + (header[0] == NAI_PAGE_LEAF ? 8 : 12) + 2 * nai_be16(header + 3);
  return plain && pointers_end <= fill->begin ? NULL : nai_page_account(pages, page, data);
}

/* --- tree.c: the leaves of a table ------------------------------------------------------------ */

/* The leaf pages of a table in rowid order; the memory is an arena's. */
struct nai_leaves {
  uint32_t *pages;
  int64_t *last; /* no rowid of leaf i is above last[i], none of leaf i + 1 at or below it */
  uint32_t count;
};
NAI_MUST_CHECK int nai_leaves_find(struct nai_leaves *out, const struct nai_pages *pages, uint32_t root,
                                   struct nai_arena *arena, struct nai_err *err);
/* The same, made once per table and kept until the trace is closed. */
NAI_MUST_CHECK int nai_leaves_share(const struct nai_leaves **out, struct nai_pages *pages, uint32_t root,
                                    struct nai_err *err);
/* Cells of leaf number `leaf`, whose page's content is at `data`: none only where it is the whole table. */
NAI_MUST_CHECK int nai_leaf_cells(uint32_t *cells, const struct nai_pages *pages, const struct nai_leaves *leaves,
                                  uint32_t leaf, const unsigned char *data, struct nai_err *err);
/* Its lowest and highest rowid, unless it is empty. */
NAI_MUST_CHECK int nai_leaf_rowids(bool *empty, int64_t *first, int64_t *last, const struct nai_pages *pages,
                                   const struct nai_leaves *leaves, uint32_t leaf, struct nai_err *err);

/* A walk over the cells of a leaf that checks that they are where its table has them, and nothing else is there. */
struct nai_leaf_walk {
  const struct nai_pages *pages;
  const unsigned char *data;
  const unsigned char *pointers; /* to its cells, */
  uint32_t content;              /* none of which begins before that byte */
  uint32_t page, cells, next;    /* the number of its next cell */
  int64_t previous, last;        /* bounds of the next rowid */
  bool bounded;                  /* rowids lie above `previous` */
  struct nai_page_fill fill;
};
/* Begins with leaf number `leaf`, whose page's content is at `data`. */
NAI_MUST_CHECK int nai_leaf_walk(struct nai_leaf_walk *walk, const struct nai_pages *pages,
                                 const struct nai_leaves *leaves, uint32_t leaf, const unsigned char *data,
                                 struct nai_err *err);
/* The next cell, of which there have to be some left. */
NAI_MUST_CHECK static inline int nai_leaf_next(struct nai_leaf_walk *walk, int64_t *rowid, struct nai_payload *payload,
                                               struct nai_err *err) {
  const struct nai_pages *pages = walk->pages;
  uint32_t at = nai_be16(walk->pointers + 2 * walk->next++);
  if (at < walk->content || at > pages->usable_bytes - 4)
    return nai_page_damaged(err, walk->page, "a cell lies outside of the page");
  payload->page = walk->page;
  const char *wrong = nai_leaf_cell(rowid, payload, pages, walk->data, at);
  if (wrong)
    return nai_page_damaged(err, walk->page, wrong);
  if ((*rowid <= walk->previous && walk->bounded) || *rowid > walk->last)
    return nai_page_damaged(err, walk->page, "its rowids are out of order");
  walk->previous = *rowid;
  walk->bounded = true;
  nai_page_fill_add(&walk->fill, at, nai_cell_bytes(payload, walk->data + at));
  return NAI_OK;
}
/* To be asked behind the last cell. */
NAI_MUST_CHECK static inline int nai_leaf_end(const struct nai_leaf_walk *walk, struct nai_err *err) {
  const char *wrong = nai_page_settle(&walk->fill, walk->pages, walk->page, walk->data);
  return wrong ? nai_page_damaged(err, walk->page, wrong) : NAI_OK;
}

/* --- window.c --------------------------------------------------------------------------------- */

/* Leaf pages of one part, read in stretches: filling a small buffer over and over is faster than taking a page fault
 * for every few pages of the map, and leaves the pages in the processor's cache. */
struct nai_window {
  const struct nai_pages *pages;
  struct nai_arena *arena; /* that the buffer is from */
  unsigned char *buffer;   /* followed by NAI_PAGE_SLACK bytes */
  size_t room;             /* of the buffer, with those */
  uint32_t first_page, page_count;
};
/* Content of leaf i, valid until the next call; leaves up to `end` are going to follow. */
NAI_MUST_CHECK int nai_window_leaf(const unsigned char **data, struct nai_window *window,
                                   const struct nai_leaves *leaves, uint32_t i, uint32_t end, struct nai_err *err);

/* --- overflow.c ------------------------------------------------------------------------------- */

/* Whether the chain of a payload that does not end on its leaf is as long as it has to be and nobody else's. */
NAI_MUST_CHECK int nai_overflow_check(const struct nai_pages *pages, const struct nai_payload *payload,
                                      struct nai_err *err);
/* Reads a payload forward. */
struct nai_chain {
  const struct nai_pages *pages;
  const struct nai_payload *payload;
  const unsigned char *data; /* content of the current stretch */
  uint64_t begin, end;       /* which payload bytes it holds */
  uint32_t next;             /* the overflow page after it */
};
struct nai_chain nai_chain_start(const struct nai_pages *pages, const struct nai_payload *payload);
/* Copies payload bytes from..from+bytes; `from` never decreases between calls. */
NAI_MUST_CHECK int nai_chain_copy(struct nai_chain *chain, char *to, uint64_t from, uint64_t bytes,
                                  struct nai_err *err);

/* --- record_head.c ---------------------------------------------------------------------------- */

/* What the rows of a table may look like, and how many leading columns of a record are looked at one by one. */
struct nai_row_rules {
  const struct nai_db_column *columns;
  int table_columns;  /* all that a record may have */
  int absent_columns; /* so many of the last ones may be missing: those of a row older than they are */
  int looked_at;
};
struct nai_row_rules nai_row_rules_of(const struct nai_db_table *table, int looked_at);

/* What a record's head came to. */
struct nai_record_head {
  const unsigned char *data; /* its bytes, with NAI_PAGE_SLACK readable ones behind them */
  uint32_t bytes;
  uint64_t end;       /* where in the payload the last value looked at ends */
  uint32_t looked_at; /* how many bytes of the head said so */
  int columns;        /* of how many columns */
};
/* Checks a record's head and fills types[] and offsets[] of the columns looked at. `memory`: of a head that does not
 * lie on the leaf as a whole. */
NAI_MUST_CHECK int nai_record_head(struct nai_record_head *out, uint64_t *types, uint32_t *offsets,
                                   const struct nai_row_rules *rules, const struct nai_pages *pages,
                                   const struct nai_payload *payload, struct nai_buf *memory, struct nai_err *err);
/* Whether a head's types from p on, which `columns` columns are left for, make a row that ends with its payload when
 * their values begin at `at`. Nobody asked for these values, but a type before them that damage has changed moves the
 * end. */
bool nai_record_ends(const unsigned char *p, const unsigned char *stop, const struct nai_row_rules *rules, int columns,
                     uint64_t at, uint64_t payload_bytes);
/* Whether the row is one that the table's declaration allows, so far as the row's head tells. */
bool nai_record_fits(const struct nai_payload *payload, const struct nai_db_table *table);

/* Bytes of a value of serial type `type`. */
static inline uint64_t nai_serial_bytes(uint64_t type) {
  static const uint8_t sizes[12] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0};
  return type >= 12 ? (type - 12) / 2 : sizes[type];
}
