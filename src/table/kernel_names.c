#include "base/arena.h"
#include "base/strings.h"
#include "table/kernel_name.h"
#include "table/kernel_name_parse.h"

enum { MIN_CHARS = 32 }; /* room for a distinction */

/* One different name. Sorted by (short form, name), so that those in need of a distinction stand together. */
struct entry {
  const char *name;
  size_t len;
  uint32_t id;
  size_t text; /* the short form, in `texts` */
  bool settled;
};

struct set {
  struct nai_arena arena;
  struct entry *entries;
  size_t count, max_chars;
  struct nai_buf texts;     /* short forms, each followed by NUL */
  struct nai_strings taken; /* short forms in use */
  struct nai_strings bases; /* short forms that got numbers */
  uint32_t *last_number;    /* by base id */
};

static void set_free(struct set *set) {
  nai_buf_free(&set->texts);
  nai_strings_free(&set->taken);
  nai_strings_free(&set->bases);
  nai_arena_free(&set->arena);
}

static int by_short_form(const void *pa, const void *pb, void *ctx) {
  const struct entry *a = pa, *b = pb;
  const struct set *set = ctx;
  int c = strcmp(set->texts.data + a->text, set->texts.data + b->text);
  return c ? c : strcmp(a->name, b->name);
}

static bool same_short_form(const struct set *set, const struct entry *a, const struct entry *b) {
  return strcmp(set->texts.data + a->text, set->texts.data + b->text) == 0;
}

/* Gives the entry the text appended at `text` if no other name has it. */
static bool settle(struct set *set, struct entry *entry, size_t text) {
  uint32_t before = set->taken.count;
  if (set->texts.oom)
    return false;
  if (nai_strings_add(&set->taken, set->texts.data + text, strlen(set->texts.data + text)) == NAI_NO_STRING)
    set->texts.oom = true;
  if (set->taken.count == before) {
    set->texts.len = text;
    return false;
  }
  entry->text = text;
  entry->settled = true;
  return true;
}

/* Puts what tells the names of a group apart behind their short forms: the part between what all names start with and
 * what all end with. */
static void distinguish(struct set *set, struct entry *group, size_t count) {
  const struct entry *first = &group[0], *last = &group[count - 1];
  size_t head = 0, tail = SIZE_MAX;
  while (first->name[head] && first->name[head] == last->name[head]) /* sorted: common to all between them */
    head++;
  while (head > 0 && nai_is_word(first->name[head - 1]))
    head--;
  for (size_t i = 0; i < count; i++) {
    size_t same = 0, room = group[i].len < first->len ? group[i].len : first->len;
    while (same < room - head && same < tail &&
           group[i].name[group[i].len - 1 - same] == first->name[first->len - 1 - same])
      same++;
    tail = same;
  }
  while (tail > 0 && nai_is_word(first->name[first->len - tail]))
    tail--;
  NAI_SCOPED(nai_buf) part = {0};
  for (size_t i = 0; i < count; i++) {
    nai_buf_clear(&part);
    nai_name_simplify(&part, group[i].name + head, group[i].len - head - tail);
    size_t text = set->texts.len, extra = part.len + 3;
    if (part.len == 0 || part.len > set->max_chars / 3)
      continue;
    nai_kernel_name_short(&set->texts, group[i].name, set->max_chars - extra);
    nai_buf_printf(&set->texts, " [%s]", part.data);
    nai_buf_putc(&set->texts, '\0');
    settle(set, &group[i], text);
  }
  set->texts.oom |= part.oom;
}

/* The last resort: a number. */
static void number(struct set *set, struct entry *entry) {
  char suffix[16];
  int width = snprintf(suffix, sizeof suffix, " #%zu", set->count + 1);
  NAI_SCOPED(nai_buf) base = {0};
  nai_kernel_name_short(&base, entry->name, set->max_chars - (size_t)width);
  uint32_t id = nai_strings_add(&set->bases, nai_buf_str(&base), base.len);
  set->texts.oom |= base.oom || id == NAI_NO_STRING;
  while (!entry->settled && !set->texts.oom) {
    size_t text = set->texts.len;
    uint32_t n = ++set->last_number[id];
    nai_buf_puts(&set->texts, nai_buf_str(&base));
    if (n > 1)
      nai_buf_printf(&set->texts, " #%u", n);
    nai_buf_putc(&set->texts, '\0');
    settle(set, entry, text);
  }
}

/* Unique short forms first, so that no distinction made up for others takes them away. */
static void settle_all(struct set *set) {
  struct entry *e = set->entries;
  for (size_t i = 0, end; i < set->count && !set->texts.oom; i = end) {
    for (end = i + 1; end < set->count && same_short_form(set, &e[i], &e[end]);)
      end++;
    if (end == i + 1)
      settle(set, &e[i], e[i].text);
  }
  for (size_t i = 0, end; i < set->count && !set->texts.oom; i = end) {
    for (end = i + 1; end < set->count && !e[i].settled && same_short_form(set, &e[i], &e[end]);)
      end++;
    if (end > i + 1)
      distinguish(set, e + i, end - i);
  }
  for (size_t i = 0; i < set->count && !set->texts.oom; i++)
    if (!e[i].settled)
      number(set, &e[i]);
}

/* One block: `count` pointers, then the texts. */
static int pack(char ***out, struct set *set, const uint32_t *ids, size_t count, struct nai_err *err) {
  char **by_id;
  size_t bytes = 0;
  NAI_TRY(NAI_NEW(by_id, &set->arena, set->count, err));
  for (size_t i = 0; i < set->count; i++)
    bytes += strlen(set->texts.data + set->entries[i].text) + 1;
  *out = malloc(count * sizeof **out + bytes + 1);
  NAI_TRY(nai_memory_check(*out, err));
  char *at = (char *)(*out + count);
  for (size_t i = 0; i < set->count; i++) {
    by_id[set->entries[i].id] = at;
    at = stpcpy(at, set->texts.data + set->entries[i].text) + 1;
  }
  for (size_t i = 0; i < count; i++)
    (*out)[i] = by_id[ids[i]];
  return NAI_OK;
}

static int add_entries(struct set *set, uint32_t *ids, struct nai_strings *distinct, const char *const *names,
                       size_t count, struct nai_err *err) {
  for (size_t i = 0; i < count; i++) {
    ids[i] = nai_strings_add(distinct, names[i], strlen(names[i]));
    NAI_TRY(nai_memory_check(ids[i] != NAI_NO_STRING, err));
  }
  set->count = distinct->count;
  NAI_TRY(NAI_NEW(set->entries, &set->arena, set->count, err));
  NAI_TRY(NAI_NEW(set->last_number, &set->arena, set->count, err));
  for (uint32_t id = 0; id < set->count; id++) {
    set->entries[id] =
        (struct entry){nai_strings_get(distinct, id), nai_strings_len(distinct, id), id, set->texts.len, false};
    nai_kernel_name_short(&set->texts, set->entries[id].name, set->max_chars);
    nai_buf_putc(&set->texts, '\0');
  }
  return nai_buf_check(&set->texts, err);
}

int nai_kernel_names_short(char ***out, const char *const *names, size_t count, size_t max_chars, struct nai_err *err) {
  NAI_SCOPED(set) set = {.arena = NAI_ARENA(NULL), .max_chars = max_chars < MIN_CHARS ? MIN_CHARS : max_chars};
  NAI_SCOPED(nai_strings) distinct = {0};
  uint32_t *ids;
  NAI_TRY(NAI_NEW(ids, &set.arena, count, err));
  NAI_TRY(add_entries(&set, ids, &distinct, names, count, err));
  qsort_r(set.entries, set.count, sizeof *set.entries, by_short_form, &set);
  settle_all(&set);
  NAI_TRY(nai_buf_check(&set.texts, err));
  return pack(out, &set, ids, count, err);
}

int nai_kernel_names_of(char ***out, const struct nai_strings *names, struct nai_err *err) {
  NAI_FREED const char **list = calloc((size_t)names->count + 1, sizeof *list);
  NAI_TRY(nai_memory_check(list, err));
  for (uint32_t i = 0; i < names->count; i++)
    list[i] = nai_strings_get(names, i);
  return nai_kernel_names_short(out, list, names->count, NAI_SHORT_NAME, err);
}
