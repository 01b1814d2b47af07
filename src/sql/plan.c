/* Which way of reading a table is cheapest for what a statement asks of it. */
#include "sql/internal.h"

/* A way of reading the table: a code for xFilter, with the constraints whose values it takes. */
struct way {
  int code;
  double cost, rows;
  int taken[2];   /* constraints, -1 for none */
  bool ascending; /* rows come by number */
  bool unique;
};

static const struct nai_column_def *def_of(const struct nai_sql_table *t, int column) {
  return &t->table->schema->columns[t->columns[column].print.column];
}

/* Whether cells are integers in SQL, as they are stored. */
static bool is_integer(const struct nai_sql_table *t, int column) {
  return def_of(t, column)->type <= NAI_I32 && t->columns[column].divide == 1;
}

static bool is_text(const struct nai_sql_table *t, int column) { return def_of(t, column)->type == NAI_STR; }

/* Columns that are made on first use are not looked at before they are needed: that would build them. */
static bool has_facts(const struct nai_sql_table *t, int column) {
  const uint8_t *parts = t->source->parts;
  int stored = t->columns[column].print.column;
  return !parts || (t->built & parts[stored]) == parts[stored];
}

static bool is_binary(sqlite3_index_info *info, int constraint) {
  const char *collation = sqlite3_vtab_collation(info, constraint);
  return collation && strcmp(collation, "BINARY") == 0;
}

/* Rows that have one value of the column, on average. */
static double rows_of_value(struct nai_sql_table *t, int column) {
  double rows = (double)t->table->rows, distinct;
  if (!has_facts(t, column))
    return 1;
  if (is_text(t, column)) {
    distinct = t->table->strings.count;
  } else {
    const struct nai_facts *facts = nai_facts_of(t, t->columns[column].print.column);
    distinct = facts->min > facts->max ? 1 : (double)facts->max - (double)facts->min + 1;
  }
  return fmax(1, rows / fmax(1, fmin(distinct, rows)));
}

static void keep(struct way *best, struct way way) {
  if (way.cost < best->cost)
    *best = way;
}

static void try_equal(struct way *best, struct nai_sql_table *t, sqlite3_index_info *info, int i) {
  int column = info->aConstraint[i].iColumn;
  if (column < 0) {
    keep(best, (struct way){NAI_PLAN_ROWID, 1, 1, {i, -1}, true, true});
  } else if (t->table->rows < UINT32_MAX && (is_integer(t, column) || (is_text(t, column) && is_binary(info, i)))) {
    double rows = rows_of_value(t, column);
    keep(best, (struct way){NAI_PLAN_EQUAL | column * NAI_PLAN_COLUMN, 8 + 1.5 * rows, rows, {i, -1}, true, false});
  }
}

static bool is_sorted(struct nai_sql_table *t, int column) {
  return column >= 0 && is_integer(t, column) && has_facts(t, column) &&
         nai_facts_of(t, t->columns[column].print.column)->sorted;
}

/* Bounds on a column in order: the first of each side. */
static void try_range(struct way *best, struct nai_sql_table *t, const sqlite3_index_info *info, int column) {
  int low = -1, high = -1, code = NAI_PLAN_RANGE | column * NAI_PLAN_COLUMN;
  for (int i = 0; i < info->nConstraint; i++) {
    const struct sqlite3_index_constraint *c = &info->aConstraint[i];
    if (!c->usable || c->iColumn != column)
      continue;
    if (low < 0 && (c->op == SQLITE_INDEX_CONSTRAINT_GE || c->op == SQLITE_INDEX_CONSTRAINT_GT)) {
      low = i;
      code |= NAI_PLAN_LOW | (c->op == SQLITE_INDEX_CONSTRAINT_GT ? NAI_PLAN_LOW_OPEN : 0);
    }
    if (high < 0 && (c->op == SQLITE_INDEX_CONSTRAINT_LE || c->op == SQLITE_INDEX_CONSTRAINT_LT)) {
      high = i;
      code |= NAI_PLAN_HIGH | (c->op == SQLITE_INDEX_CONSTRAINT_LT ? NAI_PLAN_HIGH_OPEN : 0);
    }
  }
  double rows = (double)t->table->rows * (low >= 0 && high >= 0 ? 0.05 : 0.3);
  keep(best, (struct way){code,
                          rows + log2((double)t->table->rows + 2),
                          rows + 1,
                          {low >= 0 ? low : high, low >= 0 ? high : -1},
                          true,
                          false});
}

static void try_pattern(struct way *best, const struct nai_sql_table *t, const sqlite3_index_info *info, int i) {
  int column = info->aConstraint[i].iColumn;
  double rows = (double)t->table->rows;
  if (column < 0 || !is_text(t, column) || !has_facts(t, column))
    return;
  int code = info->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_LIKE ? NAI_PLAN_LIKE : NAI_PLAN_GLOB;
  keep(best, (struct way){code | column * NAI_PLAN_COLUMN, rows * 0.9, rows * 0.25 + 1, {i, -1}, true, false});
}

static struct way choose(struct nai_sql_table *t, sqlite3_index_info *info) {
  struct way best = {NAI_PLAN_FULL, (double)t->table->rows + 1, (double)t->table->rows + 1, {-1, -1}, true, false};
  for (int i = 0; i < info->nConstraint; i++) {
    const struct sqlite3_index_constraint *c = &info->aConstraint[i];
    if (!c->usable)
      continue;
    if (c->op == SQLITE_INDEX_CONSTRAINT_EQ)
      try_equal(&best, t, info, i);
    else if (c->op == SQLITE_INDEX_CONSTRAINT_GE || c->op == SQLITE_INDEX_CONSTRAINT_GT ||
             c->op == SQLITE_INDEX_CONSTRAINT_LE || c->op == SQLITE_INDEX_CONSTRAINT_LT) {
      if (is_sorted(t, c->iColumn))
        try_range(&best, t, info, c->iColumn);
    } else if (c->op == SQLITE_INDEX_CONSTRAINT_LIKE || c->op == SQLITE_INDEX_CONSTRAINT_GLOB) {
      try_pattern(&best, t, info, i);
    }
  }
  return best;
}

/* Whether rows can be had with the column's values side by side, and that is worth it. */
static bool can_group(struct nai_sql_table *t, int column) {
  return column >= 0 && column < NAI_PLAN_COLUMNS && column + 1 < NAI_PLAN_SECONDS && t->table->rows < UINT32_MAX &&
         (is_text(t, column) || is_integer(t, column)) && has_facts(t, column) && rows_of_value(t, column) >= 4;
}

/* What the rows' order saves: a column they are sorted by, or groups side by side, of one column or two. */
static void use_order(struct way *way, struct nai_sql_table *t, sqlite3_index_info *info) {
  if (info->nOrderBy < 1 || info->nOrderBy > 2)
    return;
  int column = info->aOrderBy[0].iColumn, mode = sqlite3_vtab_distinct(info);
  bool by_number = column < 0 || is_sorted(t, column);
  if (info->nOrderBy == 1 && by_number && way->ascending && !info->aOrderBy[0].desc) {
    info->orderByConsumed = 1;
    return;
  }
  if ((mode != 1 && mode != 2) || way->code != NAI_PLAN_FULL || !can_group(t, column))
    return;
  int second = info->nOrderBy == 2 ? info->aOrderBy[1].iColumn : -1;
  if (info->nOrderBy == 2 && !can_group(t, second))
    return;
  way->code = NAI_PLAN_GROUPS | column * NAI_PLAN_COLUMN | (second + 1) * NAI_PLAN_SECOND;
  way->cost *= 1.3;
  info->orderByConsumed = 1;
}

int nai_plan_best(sqlite3_vtab *vtab, sqlite3_index_info *info) {
  struct nai_sql_table *t = ((struct nai_vtab *)vtab)->t;
  struct way way = choose(t, info);
  use_order(&way, t, info);
  for (int i = 0; i < 2; i++)
    if (way.taken[i] >= 0)
      info->aConstraintUsage[way.taken[i]].argvIndex = i + 1; /* SQLite tests the rows again */
  info->idxNum = way.code;
  info->estimatedCost = way.cost;
  info->estimatedRows = (sqlite3_int64)way.rows;
  if (way.unique)
    info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
  return SQLITE_OK;
}
