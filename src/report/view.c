#include "report/view.h"

#include "base/fmt.h"

/* All nodes and texts of a tree, freed together: pieces of blocks of an arena, which are cheaper than its own. */
struct nai_view_owner {
  struct nai_arena arena;
  char *at; /* what is left of the block */
  size_t left;
  bool oom;
  struct nai_err failed; /* what else is missing, the first one; code 0: nothing */
};

enum { BLOCK_BYTES = 16384 };

static void *take(struct nai_view_owner *owner, size_t bytes) {
  size_t need = (bytes + sizeof(max_align_t) - 1) & ~(sizeof(max_align_t) - 1);
  char *taken = NULL;
  if (owner->oom || need < bytes)
    return NULL;
  if (need > owner->left) { /* a big text has a block of its own */
    char **block = need > BLOCK_BYTES ? &taken : &owner->at;
    owner->oom = nai_arena_get_unset(block, &owner->arena, need > BLOCK_BYTES ? need : BLOCK_BYTES, 1, NULL);
    if (owner->oom || taken)
      return taken;
    owner->left = BLOCK_BYTES;
  }
  taken = owner->at;
  owner->at += need;
  owner->left -= need;
  return taken;
}

static char *copy(struct nai_view_owner *owner, const char *text, size_t len) {
  char *at = take(owner, len + 1);
  if (!at)
    return NULL;
  memcpy(at, text, len);
  at[len] = '\0';
  return at;
}

static struct nai_view *new_node(struct nai_view_owner *owner, enum nai_view_kind kind) {
  struct nai_view *view = take(owner, sizeof *view);
  if (view)
    *view = (struct nai_view){.kind = kind, .owner = owner};
  return view;
}

struct nai_view *nai_view_new(void) {
  struct nai_view_owner *owner = calloc(1, sizeof *owner);
  if (!owner)
    return NULL;
  owner->arena = (struct nai_arena)NAI_ARENA(NULL);
  struct nai_view *root = new_node(owner, NAI_VIEW_MAP);
  if (!root)
    free(owner);
  return root;
}

void nai_view_free(struct nai_view *root) {
  if (!root)
    return;
  struct nai_view_owner *owner = root->owner;
  nai_arena_free(&owner->arena);
  free(owner);
}

int nai_view_check(const struct nai_view *root, struct nai_err *err) {
  if (!root || root->owner->oom)
    return nai_err_nomem(err);
  const struct nai_err *failed = &root->owner->failed;
  return failed->code ? nai_err_set(err, failed->code, "%s", failed->msg) : NAI_OK;
}

static struct nai_view *find(const struct nai_view *map, const char *key, size_t key_len) {
  for (struct nai_view *entry = map->first; entry; entry = entry->next)
    if (entry->key_len == key_len && memcmp(entry->key, key, key_len) == 0)
      return entry;
  return NULL;
}

void nai_view_put_late(struct nai_view *map, nai_view_fill_fn *fill, const void *ctx) {
  if (!map)
    return;
  map->fill = fill;
  map->fill_ctx = ctx;
}

const struct nai_view *nai_view_get(const struct nai_view *map, const char *key, size_t key_len) {
  if (!map || map->kind != NAI_VIEW_MAP)
    return NULL;
  const struct nai_view *found = find(map, key, key_len);
  struct nai_view *late = map->fill && !found ? (struct nai_view *)map : NULL; /* no view is const memory */
  if (!late || !late->fill(late, key, key_len, late->fill_ctx))
    return found;
  late->fill = NULL;
  return find(map, key, key_len);
}

static void append(struct nai_view *parent, struct nai_view *entry) {
  if (parent->last)
    parent->last->next = entry;
  else
    parent->first = entry;
  parent->last = entry;
  parent->len++;
}

/* The entry `key` of a map, made or emptied to take a value of the given kind; NULL when that is impossible. */
static struct nai_view *put(struct nai_view *map, const char *key, enum nai_view_kind kind) {
  if (!map || map->kind != NAI_VIEW_MAP)
    return NULL;
  size_t key_len = strlen(key);
  struct nai_view *entry = find(map, key, key_len);
  if (entry) {
    *entry = (struct nai_view){
        .kind = kind, .owner = map->owner, .key = entry->key, .key_len = key_len, .next = entry->next};
    return entry;
  }
  entry = new_node(map->owner, kind);
  const char *name = entry ? copy(map->owner, key, key_len) : NULL;
  if (!name)
    return NULL;
  entry->key = name;
  entry->key_len = key_len;
  append(map, entry);
  return entry;
}

static struct nai_view *add(struct nai_view *list, enum nai_view_kind kind) {
  if (!list || list->kind != NAI_VIEW_LIST)
    return NULL;
  struct nai_view *entry = new_node(list->owner, kind);
  if (entry)
    append(list, entry);
  return entry;
}

static void set_text(struct nai_view *view, enum nai_text_kind kind, const char *text, size_t len) {
  if (!view)
    return;
  view->text = copy(view->owner, text, len);
  view->len = view->text ? len : 0;
  view->text_kind = kind;
}

void nai_view_put(struct nai_view *map, const char *key, enum nai_text_kind kind, const char *text) {
  if (text)
    set_text(put(map, key, NAI_VIEW_TEXT), kind, text, strlen(text));
  else
    put(map, key, NAI_VIEW_NULL);
}

void nai_view_add(struct nai_view *list, enum nai_text_kind kind, const char *text) {
  if (text)
    set_text(add(list, NAI_VIEW_TEXT), kind, text, strlen(text));
  else
    add(list, NAI_VIEW_NULL);
}

void nai_view_fail(struct nai_view *view) {
  if (view)
    view->owner->oom = true;
}

void nai_view_lacks(struct nai_view *view, const struct nai_err *unread) {
  if (view && !view->owner->failed.code)
    view->owner->failed = *unread;
}

void nai_view_inherit(struct nai_view *view, const struct nai_buf *text) {
  if (text->oom)
    nai_view_fail(view);
}

static void set_buf(struct nai_view *view, enum nai_text_kind kind, const struct nai_buf *text) {
  nai_view_inherit(view, text);
  set_text(view, kind, nai_buf_str(text), text->len);
}

void nai_view_put_buf(struct nai_view *map, const char *key, enum nai_text_kind kind, const struct nai_buf *text) {
  set_buf(put(map, key, NAI_VIEW_TEXT), kind, text);
}

void nai_view_add_buf(struct nai_view *list, enum nai_text_kind kind, const struct nai_buf *text) {
  set_buf(add(list, NAI_VIEW_TEXT), kind, text);
}

void nai_view_put_borrowed(struct nai_view *map, const char *key, const char *text, size_t len) {
  struct nai_view *view = put(map, key, NAI_VIEW_TEXT);
  if (!view)
    return;
  view->text = text;
  view->len = len;
  view->text_kind = NAI_TEXT_TRUSTED;
}

void nai_view_put_printed(struct nai_view *map, const char *key, nai_view_print_fn *print, const void *ctx) {
  struct nai_view *view = put(map, key, NAI_VIEW_TEXT);
  if (!view)
    return;
  view->print = print;
  view->print_ctx = ctx;
  view->len = 1; /* not empty: what a section asks */
  view->text_kind = NAI_TEXT_TRUSTED;
}

void nai_view_put_bool(struct nai_view *map, const char *key, bool truth) {
  struct nai_view *view = put(map, key, NAI_VIEW_BOOL);
  if (view)
    view->truth = truth;
}

void nai_view_put_int(struct nai_view *map, const char *key, int64_t number) {
  char text[24];
  snprintf(text, sizeof text, "%lld", (long long)number);
  nai_view_put_trusted(map, key, text);
}

void nai_view_put_real(struct nai_view *map, const char *key, double number, int decimals) {
  NAI_SCOPED(nai_buf) text = {0};
  nai_fmt_real(&text, number, decimals);
  nai_view_put_buf(map, key, NAI_TEXT_TRUSTED, &text);
}

void nai_view_put_percent(struct nai_view *map, const char *key, double percent) {
  NAI_SCOPED(nai_buf) text = {0};
  nai_fmt_percent(&text, percent);
  nai_view_put_buf(map, key, NAI_TEXT_TRUSTED, &text);
}

void nai_view_put_value(struct nai_view *map, const char *key, enum nai_unit unit, const struct nai_value *value) {
  NAI_SCOPED(nai_buf) text = {0};
  nai_value_print_human(&text, unit, value);
  bool foreign = value->type == NAI_STR && !value->null;
  struct nai_view *view = put(map, key, NAI_VIEW_TEXT);
  set_buf(view, foreign ? NAI_TEXT_FOREIGN : NAI_TEXT_TRUSTED, &text);
  if (view)
    view->absent = value->null;
}

struct nai_view *nai_view_put_map(struct nai_view *map, const char *key) {
  return put(map, key, NAI_VIEW_MAP);
}

struct nai_view *nai_view_put_list(struct nai_view *map, const char *key) {
  return put(map, key, NAI_VIEW_LIST);
}

struct nai_view *nai_view_add_map(struct nai_view *list) {
  return add(list, NAI_VIEW_MAP);
}

struct nai_view *nai_view_add_list(struct nai_view *list) {
  return add(list, NAI_VIEW_LIST);
}

bool nai_view_truth(const struct nai_view *view) {
  if (!view)
    return false;
  switch (view->kind) {
  case NAI_VIEW_BOOL:
    return view->truth;
  case NAI_VIEW_TEXT:
  case NAI_VIEW_LIST:
    return view->len > 0 && !view->absent;
  case NAI_VIEW_MAP:
    return true;
  case NAI_VIEW_NULL:
    break;
  }
  return false;
}
