/* The data a template sees: a tree of maps, lists, texts and booleans. One root owns everything below it.
 * Builders are sticky on out-of-memory: they accept NULL, return NULL, and nai_view_check tells at the end. */
#pragma once

#include "base/arena.h"
#include "table/schema.h"

enum nai_view_kind { NAI_VIEW_NULL, NAI_VIEW_BOOL, NAI_VIEW_TEXT, NAI_VIEW_LIST, NAI_VIEW_MAP };

/* How a text may be shown. */
enum nai_text_kind {
  NAI_TEXT_FOREIGN, /* came from a trace or a configuration file: escaped in every form of interpolation */
  NAI_TEXT_CODE,    /* the same, shown as code: a code span in Markdown, <code> in HTML */
  NAI_TEXT_TRUSTED  /* made by this program, possibly markup already: {{{x}}} shows it as it is */
};

/* Appends a text to `out`; failures show there. */
typedef void nai_view_print_fn(struct nai_buf *out, const void *ctx);

/* Puts what a key that a map lacks stands for, or returns false: not its key. Called until it has put something. */
struct nai_view;
typedef bool nai_view_fill_fn(struct nai_view *map, const char *key, size_t key_len, const void *ctx);

/* Read-only for everyone but view.c. */
struct nai_view {
  enum nai_view_kind kind;
  enum nai_text_kind text_kind;
  bool truth;               /* NAI_VIEW_BOOL */
  bool absent;              /* NAI_VIEW_TEXT: prints as a dash, counts as false */
  const char *text;         /* NAI_VIEW_TEXT; not NUL-terminated when borrowed */
  size_t len;               /* bytes of text; entries of a list or map */
  nai_view_print_fn *print; /* NAI_VIEW_TEXT that is printed when needed: in place of text; `len` is 1 */
  const void *print_ctx;
  nai_view_fill_fn *fill; /* NAI_VIEW_MAP: see nai_view_put_late */
  const void *fill_ctx;
  const char *key; /* name in the enclosing map, NULL elsewhere */
  size_t key_len;
  struct nai_view *first, *last; /* entries of a list or map, in the order they were added */
  struct nai_view *next;         /* in the enclosing list or map */
  struct nai_view_owner *owner;
};

/* A new root: an empty map. NULL when out of memory, which all functions below accept. */
struct nai_view *nai_view_new(void);
void nai_view_free(struct nai_view *root);
NAI_OWNER(nai_view)
/* 0, or NAI_ELIMIT when anything in the tree could not be stored, or what nai_view_lacks was told. */
NAI_MUST_CHECK int nai_view_check(const struct nai_view *root, struct nai_err *err);

/* Entries of a map. Keys and texts are copied. A key put a second time replaces the first value. NULL text is null. */
void nai_view_put(struct nai_view *map, const char *key, enum nai_text_kind kind, const char *text);
static inline void nai_view_put_text(struct nai_view *map, const char *key, const char *text) {
  nai_view_put(map, key, NAI_TEXT_FOREIGN, text);
}
static inline void nai_view_put_code(struct nai_view *map, const char *key, const char *text) {
  nai_view_put(map, key, NAI_TEXT_CODE, text);
}
static inline void nai_view_put_trusted(struct nai_view *map, const char *key, const char *text) {
  nai_view_put(map, key, NAI_TEXT_TRUSTED, text);
}
/* Memory ran out on the way to what should be in the view; or it did when the text was printed, which does not go into
 * it as a buffer. */
void nai_view_fail(struct nai_view *view);
/* Something could not be read that should be in the view; nothing where the code is 0. */
void nai_view_lacks(struct nai_view *view, const struct nai_err *unread);
void nai_view_inherit(struct nai_view *view, const struct nai_buf *text);
/* What was printed, as a text of that kind. */
void nai_view_put_buf(struct nai_view *map, const char *key, enum nai_text_kind kind, const struct nai_buf *text);
void nai_view_add_buf(struct nai_view *list, enum nai_text_kind kind, const struct nai_buf *text);
/* Trusted text that is not copied and must outlive the tree: for megabytes. */
void nai_view_put_borrowed(struct nai_view *map, const char *key, const char *text, size_t len);
/* Trusted text that is printed anew wherever a template shows it. `ctx` must outlive the tree. */
void nai_view_put_printed(struct nai_view *map, const char *key, nai_view_print_fn *print, const void *ctx);
/* Entries that are costly, and that not every template reads. `ctx` must outlive the tree. */
void nai_view_put_late(struct nai_view *map, nai_view_fill_fn *fill, const void *ctx);
void nai_view_put_bool(struct nai_view *map, const char *key, bool truth);
void nai_view_put_int(struct nai_view *map, const char *key, int64_t number); /* plain digits, trusted */
/* nai_fmt_real and nai_fmt_percent, trusted. */
void nai_view_put_real(struct nai_view *map, const char *key, double number, int decimals);
void nai_view_put_percent(struct nai_view *map, const char *key, double percent);
/* A cell as people read it (nai_value_print_human): numbers trusted, text foreign, NULL a trusted "-". */
void nai_view_put_value(struct nai_view *map, const char *key, enum nai_unit unit, const struct nai_value *value);
struct nai_view *nai_view_put_map(struct nai_view *map, const char *key);
struct nai_view *nai_view_put_list(struct nai_view *map, const char *key);

/* Entries of a list, appended. */
void nai_view_add(struct nai_view *list, enum nai_text_kind kind, const char *text);
static inline void nai_view_add_text(struct nai_view *list, const char *text) {
  nai_view_add(list, NAI_TEXT_FOREIGN, text);
}
struct nai_view *nai_view_add_map(struct nai_view *list);
struct nai_view *nai_view_add_list(struct nai_view *list);

/* The entry of a map, NULL when there is none or `map` is no map. */
const struct nai_view *nai_view_get(const struct nai_view *map, const char *key, size_t key_len);
/* Whether a section shows it: false for NULL, null, false, the empty list and the empty text. */
bool nai_view_truth(const struct nai_view *view);
