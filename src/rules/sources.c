/* The tables that expressions of rules see. */
#include "rules/evaluation.h"

#include <stdlib.h>
#include <string.h>

static const struct nai_schema *schema_of(const struct nai_sql_table *t) { return t->source->schema; }

int nai_rule_set_open(struct nai_rule_set *set, const struct nai_schema *const *schemas, size_t count,
                      struct nai_err *err) {
  set->schemas = schemas;
  set->schema_count = count;
  return nai_sql_new(&set->sql, schemas, count, err);
}

void nai_rule_set_close(struct nai_rule_set *set) {
  for (uint32_t i = 0; i < set->expressions.count; i++) {
    struct expression *e = POOL_AT(set->expressions, struct expression, i);
    sqlite3_finalize(e->statement);
    nai_buf_free(&e->sql);
  }
  nai_sql_free(set->sql);
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
