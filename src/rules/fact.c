/* Facts: statements about the run or one GPU that conditions name as fact.NAME. */
#include "rules/internal.h"

int nai_fact_compile(struct fact *fact, struct nai_rule_set *set, struct nai_err *err) {
  static const char *const keys[] = {"table", "where", NULL};
  struct builder b = {.doc = fact->doc, .names = {.set = set, .doc = fact->doc, .fact = true}, .err = err};
  int rc = nai_yaml_expect_keys(fact->doc, fact->node, keys, err);
  return rc ? rc : nai_selection_compile(&fact->rows, &b, fact->node, "table", NULL, 1, 1);
}
