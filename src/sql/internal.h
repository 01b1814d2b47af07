/* Shared by the files behind sql.h. Internal to src/sql. */
#pragma once

#include "sql/sql.h"

/* What is known of a stored column, found out when it is first of use. */
struct nai_facts {
  bool known;       /* the three below */
  bool sorted;      /* ascending, without NULL */
  int64_t min, max; /* min > max: no values */
  uint32_t *order;  /* rows by value, then number, NULL first; NULL: not made yet, or no memory */
  uint32_t *slots;  /* of text columns: hash table of the dictionary, id + 1 */
  uint32_t slot_mask;
};

/* facts.c */
const struct nai_facts *nai_facts_of(struct nai_sql_table *t, int column);
/* facts->order, made now; NULL when there is no memory. */
const uint32_t *nai_facts_order(struct nai_sql_table *t, int column);
/* Rows by the values of one column, then of another; NULL when there is no memory. Freed with free. */
uint32_t *nai_facts_order_by_two(struct nai_sql_table *t, int first, int second);
/* NAI_NO_STRING when the column's dictionary lacks the text. */
uint32_t nai_facts_text(struct nai_sql_table *t, int column, const char *text, size_t len);
/* First of `count` places whose row has no less than `least`; `order` may be NULL: rows in their own order. */
uint32_t nai_facts_bisect(const struct nai_sql_table *t, int column, const uint32_t *order, int64_t least);
void nai_facts_clear(struct nai_sql_table *t);

/* vtab.c, plan.c */
enum nai_plan {
  NAI_PLAN_FULL,
  NAI_PLAN_ROWID,
  NAI_PLAN_EQUAL,
  NAI_PLAN_RANGE,
  NAI_PLAN_GROUPS,
  NAI_PLAN_LIKE,
  NAI_PLAN_GLOB
};
enum { NAI_PLAN_LOW = 8, NAI_PLAN_LOW_OPEN = 16, NAI_PLAN_HIGH = 32, NAI_PLAN_HIGH_OPEN = 64, NAI_PLAN_COLUMN = 128 };
/* NAI_PLAN_GROUPS: the second column + 1, above the first; 0: none. */
enum { NAI_PLAN_COLUMNS = 1 << 10, NAI_PLAN_SECOND = NAI_PLAN_COLUMN * NAI_PLAN_COLUMNS, NAI_PLAN_SECONDS = 1 << 13 };
struct nai_vtab {
  sqlite3_vtab base;
  struct nai_sql_table *t;
};
extern const sqlite3_module nai_sql_module;
int nai_plan_best(sqlite3_vtab *vtab, sqlite3_index_info *info);

/* database.c: tells of the name of a table, or of a column, that a statement reads and that is a former one. */
void nai_sql_tell_former(const struct nai_sql *sql, const char *table, const char *column);

/* functions.c, aggregates.c: SQLite's code. */
int nai_functions_add(struct nai_sql *sql);
int nai_aggregates_add(sqlite3 *sqlite);
