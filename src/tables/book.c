#include "tables/book.h"

const struct nai_schema *nai_book_find(const char *id) {
  for (const struct nai_book_entry *entry = nai_book; entry->id; entry++)
    if (strcmp(entry->id, id) == 0)
      return entry->schema;
  return NULL;
}

/* Tables that share their name with another one have an id of their own. */
static bool is_named(const struct nai_book_entry *entry) { return strcmp(entry->id, entry->schema->name) == 0; }

const struct nai_schema *nai_book_find_named(const char *name) {
  const struct nai_schema *schema = nai_book_find(name);
  return schema && strcmp(schema->name, name) == 0 ? schema : NULL;
}

bool nai_book_has_named(const char *name) { return nai_book_find_named(name); }

const struct nai_schema *nai_book_find_former(const char *was) {
  for (const struct nai_book_entry *entry = nai_book; entry->id; entry++)
    if (entry->schema->was && strcmp(entry->schema->was, was) == 0 && is_named(entry))
      return entry->schema;
  return NULL;
}
