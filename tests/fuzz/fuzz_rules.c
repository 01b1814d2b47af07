/* Any bytes as a rule file; what compiles is evaluated on small tables. */
#include "rules/rules.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct nai_column_def columns[] = {
    {"device_id", NAI_I32, NAI_ID, "", .role = NAI_ROLE_DEVICE},
    {"name", NAI_STR, NAI_TEXT, "", .role = NAI_ROLE_NAME},
    {"total_ns", NAI_I64, NAI_NS, "", .prints = NAI_AS_MS},
    {"p50_ns", NAI_F64, NAI_NS, "", .prints = NAI_AS_US},
    {"share_pct", NAI_F64, NAI_PCT, ""},
    {"count", NAI_I64, NAI_COUNT, ""},
    {"start_ns", NAI_I64, NAI_TIMESTAMP_NS, ""},
    {"end_ns", NAI_I64, NAI_TIMESTAMP_NS, ""},
    {"pid", NAI_I64, NAI_ID, "", .role = NAI_ROLE_PROCESS},
    {"bytes", NAI_I64, NAI_BYTES, ""},
};
static const struct nai_schema a_schema = NAI_SCHEMA("a", "A", "One row of a", columns);
static const struct nai_schema b_schema = NAI_SCHEMA("b", "B", "One row of b", columns);
static const struct nai_schema *const schemas[] = {&a_schema, &b_schema};

static struct nai_table *make_table(const struct nai_schema *schema) {
  struct nai_table *table = NULL;
  if (nai_table_new(&table, schema, NULL))
    return NULL;
  for (int i = 0; i < 5; i++) {
    int64_t row = nai_table_add_row(table);
    if (i == 4)
      break; /* a row of NULLs */
    nai_set_i64(table, row, 0, i % 2);
    nai_set_str(table, row, 1, i % 2 ? "it's `a` {{name}} | <b>" : "host_code");
    nai_set_i64(table, row, 2, 1000000 * (i + 1));
    nai_set_f64(table, row, 3, 1000.0 * i);
    nai_set_f64(table, row, 4, 25.0 * i);
    nai_set_i64(table, row, 5, 10 - i);
    nai_set_i64(table, row, 6, 5 * i);
    nai_set_i64(table, row, 7, ((int64_t)1 << 52) - i);
    nai_set_i64(table, row, 8, 100 + i);
  }
  return table;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct nai_rule_set *set = NULL;
  struct nai_err err = {0};
  int rc = nai_rules_parse(&set, "fuzz.yaml", (const char *)data, size, schemas, 2, &err);
  if (rc) {
    if (rc != err.code || !*err.msg || set)
      abort(); /* every failure says why and leaves nothing behind */
    return 0;
  }
  struct nai_table *a = make_table(&a_schema), *b = make_table(&b_schema), *findings = NULL, *evidence = NULL;
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
