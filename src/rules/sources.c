/* The tables that expressions of rules see. */
#include "rules/evaluation.h"

#include <stdlib.h>
#include <string.h>

/* A few seconds of a statement; counted, so that a rule fails on any machine or on none. */
enum { STEPS_AT_ONCE = 1000000, MAX_TIMES = 300 };

static const struct nai_schema *schema_of(const struct nai_sql_table *t) { return t->source->schema; }

static int open_empty(struct nai_sql_table *t, struct nai_err *err) {
  int rc = nai_table_new(&t->own, schema_of(t), err);
  t->table = t->own;
  return rc;
}

/* The connection with its sources, one for each schema. */
struct catalogue {
  struct nai_sql sql; /* first: what a rule set holds */
  int times;          /* that a million steps were taken */
  struct nai_sql_source sources[];
};

static int took_too_many(void *ctx) { return ++((struct catalogue *)ctx)->times > MAX_TIMES; }

int nai_rule_set_open(struct nai_rule_set *set, const struct nai_schema *const *schemas, size_t count,
                      struct nai_err *err) {
  struct catalogue *c = calloc(1, sizeof *c + count * sizeof *c->sources);
  int rc = c ? NAI_OK : nai_err_nomem(err);
  set->schemas = schemas;
  set->schema_count = count;
  set->sql = c ? &c->sql : NULL;
  for (size_t i = 0; i < count && !rc; i++) {
    c->sources[i] = (struct nai_sql_source){.schema = schemas[i], .open = open_empty};
    rc = nai_sql_add(set->sql, schemas[i]->name, &c->sources[i], err);
  }
  if (!rc)
    rc = nai_sql_open(set->sql, err);
  int failed = rc ? SQLITE_OK : nai_sql_guard(set->sql, 0);
  if (failed)
    rc = nai_sql_open_error(set->sql, failed, err);
  if (rc)
    return rc;
  sqlite3_progress_handler(set->sql->sqlite, STEPS_AT_ONCE, took_too_many, c);
  return NAI_OK;
}

void nai_rule_set_close(struct nai_rule_set *set) {
  for (uint32_t i = 0; i < set->expressions.count; i++) {
    struct expression *e = POOL_AT(set->expressions, struct expression, i);
    sqlite3_finalize(e->statement);
    nai_buf_free(&e->sql);
  }
  if (set->sql)
    nai_sql_close(set->sql);
  free(set->sql);
}

int nai_rules_enter(const struct nai_rule_set *set, const struct nai_rules_input *input, struct nai_err *err) {
  int rc = NAI_OK;
  set->sql->failure.code = 0;
  for (size_t i = 0; i < input->table_count && !rc; i++) {
    const struct nai_table *table = input->tables[i];
    struct nai_sql_table *t = table ? nai_sql_find(set->sql, table->schema->name) : NULL;
    if (t && (table->schema == schema_of(t) || nai_schema_equal(table->schema, schema_of(t))))
      rc = nai_sql_show(t, table, err);
  }
  return rc;
}

void nai_rules_count_steps(const struct nai_rule_set *set) { ((struct catalogue *)set->sql)->times = 0; }

int nai_rules_leave(const struct nai_rule_set *set, int rc, struct nai_err *err) {
  struct nai_err again = {0};
  for (uint32_t i = 0; i < set->sql->table_count; i++)
    if (set->sql->tables[i].facts && nai_sql_show(&set->sql->tables[i], NULL, &again) && !rc)
      rc = nai_err_nomem(err);
  if (rc || !set->sql->failure.code)
    return rc;
  *err = set->sql->failure;
  return err->code;
}
