/* Ids of items: names of files and directories in OUT, whatever the traces are called. */
#include "features/batch/internal.h"

#include "base/fs.h"
#include "base/hash.h"
#include "base/sort.h"
#include "command/command.h"

enum { NAME_MAX_BYTES = 100 };

static bool is_id_char(char c) { return isalnum((unsigned char)c) || c == '.' || c == '_' || c == '-'; }

static bool is_id(const char *id) {
  if (!isalnum((unsigned char)id[0]) && id[0] != '_')
    return false;
  for (const char *c = id; *c; c++)
    if (!is_id_char(*c))
      return false;
  return strlen(id) < NAI_BATCH_ID_MAX;
}

/* The file's name without its suffix, with _ for what an id cannot hold. True when that lost nothing. */
static bool plain_id(char out[NAI_BATCH_ID_MAX], const char *path) {
  const char *name = nai_fs_basename(path), *dot = strrchr(name, '.');
  size_t len = strlen(name), suffix = nai_cmd_trace_suffix(name, len), n = 0;
  len -= !suffix && dot && dot > name ? strlen(dot) : suffix;
  bool exact = len > 0 && len <= NAME_MAX_BYTES;
  for (; n < len && n < NAME_MAX_BYTES; n++) {
    out[n] = is_id_char(name[n]) ? name[n] : '_';
    exact &= out[n] == name[n];
  }
  if (n == 0 || !isalnum((unsigned char)out[0])) {
    exact &= n > 0 && out[0] == '_';
    out[0] = '_';
    n += n == 0;
  }
  out[n] = '\0';
  return exact;
}

static void add_hash(char out[NAI_BATCH_ID_MAX], const char *path) {
  size_t n = strlen(out);
  snprintf(out + n, NAI_BATCH_ID_MAX - n, "-%08x", (unsigned)(nai_hash_text(0, path) >> 32));
}

struct named {
  char id[NAI_BATCH_ID_MAX];
  uint32_t item;
  bool exact, given;
};

NAI_ORDER_BY(by_id, struct named, strcmp(a->id, b->id), NAI_SIGN(a->item, b->item))

/* Of several items with one name all get the hash of their path, so that none depends on which came first. */
static void tell_apart(struct named *names, const struct nai_batch_manifest *m) {
  for (uint32_t i = 0, j; i < m->count; i = j) {
    for (j = i + 1; j < m->count && strcmp(names[i].id, names[j].id) == 0; j++)
      ;
    for (uint32_t k = i; k < j; k++)
      names[k].exact &= j - i == 1;
  }
  for (uint32_t i = 0; i < m->count; i++)
    if (!names[i].exact && !names[i].given)
      add_hash(names[i].id, m->items[names[i].item].path);
}

static int check_unique(struct named *names, struct nai_batch_manifest *m, struct nai_err *err) {
  qsort(names, m->count, sizeof *names, by_id);
  for (uint32_t i = 1; i < m->count; i++)
    if (strcmp(names[i - 1].id, names[i].id) == 0)
      return nai_err_set(err, NAI_EUSAGE, "two items have the id \"%s\": \"%.200s\" and \"%.200s\"", names[i].id,
                         m->items[names[i - 1].item].path, m->items[names[i].item].path);
  return NAI_OK;
}

static int name_item(struct named *name, const struct nai_batch_item *item, struct nai_err *err) {
  name->given = item->id != NULL;
  name->exact = item->id || plain_id(name->id, item->path);
  if (item->id && !is_id(item->id))
    return nai_err_set(err, NAI_EUSAGE,
                       "the id \"%.100s\" must begin with a letter, a digit or _, and hold only those, . and -, fewer "
                       "than %d of them",
                       item->id, NAI_BATCH_ID_MAX);
  if (item->id)
    snprintf(name->id, sizeof name->id, "%s", item->id);
  return NAI_OK;
}

int nai_batch_name_items(struct nai_batch_manifest *m, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  struct named *names;
  NAI_TRY(NAI_NEW(names, &arena, m->count, err));
  for (uint32_t i = 0; i < m->count; i++) {
    names[i].item = i;
    NAI_TRY(name_item(&names[i], &m->items[i], err));
  }
  qsort(names, m->count, sizeof *names, by_id);
  tell_apart(names, m);
  NAI_TRY(check_unique(names, m, err));
  for (uint32_t i = 0; i < m->count; i++)
    if (!names[i].given)
      m->items[names[i].item].id = nai_arena_printf(m->arena, "%s", names[i].id);
  return nai_arena_check(m->arena, err);
}
