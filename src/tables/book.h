/* Every declared table. */
#pragma once

#include "table/schema.h"

struct nai_book_entry {
  const char *id; /* of NAI_TABLE: its file, and its name unless another table has that */
  const struct nai_schema *schema;
};
extern const struct nai_book_entry nai_book[]; /* by id; the last one's id is NULL */
/* NULL for none. */
const struct nai_schema *nai_book_find(const char *id);
/* The table of a report that has that name, or had it before; NULL for none. */
const struct nai_schema *nai_book_find_named(const char *name);
bool nai_book_has_named(const char *name);
const struct nai_schema *nai_book_find_former(const char *was);
