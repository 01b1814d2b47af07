/* What makes reading a part of a table cheap: whether a column is in order, rows by value, texts by hash. */
#include "sql/internal.h"

#include "base/sort.h"
#include "base/hash.h"

const struct nai_facts *nai_facts_of(struct nai_sql_table *t, int column) {
  struct nai_facts *facts = &t->facts[column];
  if (facts->known)
    return facts;
  struct nai_column c = nai_table_column(t->table, column);
  int64_t before = INT64_MIN;
  facts->known = facts->sorted = true; /* `slots` may be there already */
  facts->min = INT64_MAX;
  facts->max = INT64_MIN;
  for (int64_t row = 0; row < t->table->rows; row++) {
    int64_t value = nai_at(&c, (uint64_t)row);
    if (value == c.null_value) {
      facts->sorted = false;
      continue;
    }
    facts->sorted &= value >= before;
    before = value;
    facts->min = value < facts->min ? value : facts->min;
    facts->max = value > facts->max ? value : facts->max;
  }
  return facts;
}

/* 0 for NULL, so that it comes first. */
static uint64_t key_of(const struct nai_column *c, const struct nai_facts *facts, uint32_t row) {
  int64_t value = nai_at(c, row);
  return value == c->null_value ? 0 : (uint64_t)value - (uint64_t)facts->min + 1;
}

/* Radix sort of row numbers, least significant digit first: stable, and linear in the rows. */
static bool sort_rows(uint32_t *rows, uint32_t *other, uint32_t count, const struct nai_column *c,
                      const struct nai_facts *facts) {
  enum { FEW = 1 << 14 };
  const int bits = count < FEW ? 8 : 16; /* of few rows, the digits would cost more */
  const uint32_t digits = 1u << bits;
  uint64_t largest = facts->min > facts->max ? 0 : (uint64_t)facts->max - (uint64_t)facts->min + 1;
  NAI_FREED uint32_t *counts = malloc((digits + 1) * sizeof *counts);
  bool swapped = false;
  for (int shift = 0; counts && shift < 64 && largest >> shift; shift += bits) {
    const uint32_t *from = swapped ? other : rows;
    uint32_t *to = swapped ? rows : other;
    memset(counts, 0, (digits + 1) * sizeof *counts);
    for (uint32_t i = 0; i < count; i++)
      counts[(key_of(c, facts, from[i]) >> shift & (digits - 1)) + 1]++;
    for (uint32_t d = 0; d < digits; d++)
      counts[d + 1] += counts[d];
    for (uint32_t i = 0; i < count; i++)
      to[counts[key_of(c, facts, from[i]) >> shift & (digits - 1)]++] = from[i];
    swapped = !swapped;
  }
  if (swapped)
    memcpy(rows, other, count * sizeof *rows);
  return counts != NULL;
}

/* The rows of a table as `before` has them (NULL: in their own order), sorted by a column. */
static uint32_t *order_by(struct nai_sql_table *t, int column, const uint32_t *before) {
  uint32_t count = (uint32_t)t->table->rows, *sorted = NULL;
  struct nai_column c = nai_table_column(t->table, column);
  NAI_FREED uint32_t *rows = malloc(((size_t)count + 1) * sizeof *rows);
  NAI_FREED uint32_t *other = malloc(((size_t)count + 1) * sizeof *other);
  for (uint32_t i = 0; rows && i < count; i++)
    rows[i] = before ? before[i] : i;
  if (!rows || !other || !sort_rows(rows, other, count, &c, nai_facts_of(t, column)))
    return NULL;
  sorted = rows;
  rows = NULL;
  return sorted;
}

const uint32_t *nai_facts_order(struct nai_sql_table *t, int column) {
  struct nai_facts *facts = &t->facts[column];
  if (!facts->order && t->table->rows < UINT32_MAX)
    facts->order = order_by(t, column, NULL);
  return facts->order;
}

uint32_t *nai_facts_order_by_two(struct nai_sql_table *t, int first, int second) {
  const uint32_t *by_second = nai_facts_order(t, second);
  return by_second ? order_by(t, first, by_second) : NULL;
}

struct ordered {
  struct nai_column column;
  const uint32_t *order;
  int64_t least;
};

static bool is_less(const void *ctx, size_t i) {
  const struct ordered *o = ctx;
  int64_t value = nai_at(&o->column, o->order ? o->order[i] : (uint32_t)i);
  return value == o->column.null_value || value < o->least;
}

uint32_t nai_facts_bisect(const struct nai_sql_table *t, int column, const uint32_t *order, int64_t least) {
  struct ordered o = {nai_table_column(t->table, column), order, least};
  return (uint32_t)nai_search(0, (size_t)t->table->rows, is_less, &o);
}

/* Open addressing over the texts of the dictionary. */
static bool hash_texts(struct nai_facts *facts, const struct nai_strings *texts) {
  uint64_t size = 64;
  while (size < (uint64_t)texts->count * 2)
    size *= 2;
  facts->slots = size <= UINT32_MAX ? calloc(size, sizeof *facts->slots) : NULL;
  facts->slot_mask = (uint32_t)(size - 1);
  for (uint32_t id = 0; facts->slots && id < texts->count; id++) {
    uint32_t at =
        (uint32_t)nai_hash_bytes(0, nai_strings_get(texts, id), nai_strings_len(texts, id)) & facts->slot_mask;
    while (facts->slots[at])
      at = (at + 1) & facts->slot_mask;
    facts->slots[at] = id + 1;
  }
  return facts->slots != NULL;
}

uint32_t nai_facts_text(struct nai_sql_table *t, int column, const char *text, size_t len) {
  struct nai_facts *facts = &t->facts[column];
  const struct nai_strings *texts = &t->table->strings;
  if (!facts->slots && !hash_texts(facts, texts))
    return nai_strings_find(texts, text, len);
  for (uint32_t at = (uint32_t)nai_hash_bytes(0, text, len) & facts->slot_mask; facts->slots[at];
       at = (at + 1) & facts->slot_mask) {
    uint32_t id = facts->slots[at] - 1;
    if (nai_strings_len(texts, id) == len && memcmp(nai_strings_get(texts, id), text, len) == 0)
      return id;
  }
  return NAI_NO_STRING;
}

void nai_facts_clear(struct nai_sql_table *t) {
  for (uint32_t c = 0; t->facts && c < t->table->schema->column_count; c++) {
    free(t->facts[c].order);
    free(t->facts[c].slots);
    t->facts[c] = (struct nai_facts){0};
  }
}
