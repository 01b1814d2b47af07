/* Any bytes as a rule file; what compiles is evaluated on small tables. */
#include "rules/rules.h"
#include "small_tables.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct nai_rule_set *set = NULL;
  struct nai_err err = {0};
  int rc = nai_rules_parse(&set, "fuzz.yaml", (const char *)data, size, small_schemas, 2, &err);
  if (rc) {
    if (rc != err.code || !*err.msg || set)
      abort(); /* every failure says why and leaves nothing behind */
    return 0;
  }
  struct nai_table *a = small_table(&small_a), *b = small_table(&small_b), *findings = NULL, *evidence = NULL;
  const struct nai_table *const tables[] = {a, b};
  const struct nai_rules_input input = {.tables = tables, .table_count = 2};
  if (a && b && nai_rules_evaluate(&findings, &evidence, set, &input, &err) == 0) {
    for (int64_t i = 0; i < evidence->rows; i++)
      if (nai_get_i64(evidence, i, 0) < 0 || nai_get_i64(evidence, i, 0) >= findings->rows)
        abort();
  }
  struct nai_buf text = {0};
  nai_rules_list(&text, set);
  (void)!nai_rules_explain(&text, set, "x", NULL);
  nai_buf_free(&text);
  nai_table_free(findings);
  nai_table_free(evidence);
  nai_table_free(a);
  nai_table_free(b);
  nai_rules_free(set);
  return 0;
}
