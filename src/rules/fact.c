/* Facts: statements about the run or one GPU that conditions name as fact.NAME. */
#include "rules/internal.h"

int nai_fact_compile(struct fact *fact, struct nai_rule_set *set, struct nai_err *err) {
  static const char *const keys[] = {"table", "where", NULL};
  struct builder b = {.doc = fact->doc, .names = {.set = set, .doc = fact->doc}, .err = err};
  int rc = nai_yaml_expect_keys(fact->doc, fact->node, keys, err);
  if (!rc)
    rc = nai_selection_compile(&fact->rows, &b, fact->node, "table", NULL, 1, 1);
  if (!rc)
    fact->device_column = nai_schema_role(fact->rows.schema, NAI_ROLE_DEVICE);
  return rc;
}
