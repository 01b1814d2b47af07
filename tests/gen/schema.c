#include "gen/schema.h"

#define COLUMN(table, column, type, null, first, last) {#column, #type, NAI_GEN_##null, first, last},
#define COLUMNS(id, name, first, last)                                                    \
  static const struct nai_gen_column_def columns_##id[] = {NAI_GEN_COLUMNS_##id(COLUMN)}; \
  _Static_assert(C_##id##_count <= NAI_GEN_MAX_COLUMNS, "raise NAI_GEN_MAX_COLUMNS for " name);
NAI_GEN_TABLES(COLUMNS)

#define TABLE(id, name, first, last) {name, columns_##id, C_##id##_count, first, last},
static const struct nai_gen_table_def tables[] = {NAI_GEN_TABLES(TABLE)};

const struct nai_gen_table_def *nai_gen_schema_table(enum nai_gen_table table) { return &tables[table]; }
