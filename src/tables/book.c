#include "tables/book.h"

#include <string.h>

const struct nai_schema *nai_book_find(const char *id) {
  for (const struct nai_book_entry *entry = nai_book; entry->id; entry++)
    if (strcmp(entry->id, id) == 0)
      return entry->schema;
  return NULL;
}
