/* Rows of both sides by name: how many, and how much, over all captures of a side. Internal to src/features/compare. */
#pragma once

#include "base/strings.h"
#include "features/compare/compare.h"

struct nai_entry {
  bool has[NAI_SIDES];
  double count[NAI_SIDES], amount[NAI_SIDES]; /* sums over the captures of a side; 0 on one without it */
};

/* {.arena = NAI_ARENA(NULL)} to begin with. */
struct nai_entries {
  struct nai_arena arena;
  struct nai_strings names;
  struct nai_entry *list; /* by the numbers of the names */
  uint32_t capacity;
};
void nai_entries_free(struct nai_entries *entries);

/* Columns of a schema: a text, and two of integers that are added up. */
struct nai_entry_columns {
  int name, count, amount;
};
/* Adds all rows of a table. `fold`: names that differ in numbers alone are one, with '#' for these. */
NAI_MUST_CHECK int nai_entries_read(struct nai_entries *entries, const struct nai_comparison *c,
                                    const struct nai_schema *from, struct nai_entry_columns columns, bool fold,
                                    struct nai_err *err);
