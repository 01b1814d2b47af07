/* Which tables and columns an Nsight Systems SQLite export has, by generation of the exporter.
 *
 * schema_tables.h is the data; everything here is derived from it. T_<table> names a table and
 * C_<table>_<column> a column's place in the canonical (2026) order; an older generation has the
 * subset whose [first, last] range contains it.
 */
#ifndef NAI_GEN_SCHEMA_H
#define NAI_GEN_SCHEMA_H

#include <stddef.h>

#include "gen/schema_tables.h"

#define NAI_GEN_MAX_COLUMNS 48

/* Exporter generations, named by the year of a release that wrote them. */
enum { NAI_GEN_2019 = 2019, NAI_GEN_2021 = 2021, NAI_GEN_2024 = 2024, NAI_GEN_2026 = 2026 };

#define NAI_GEN_TABLE_ENUM(id, name, first, last) T_##id,
enum nai_gen_table { NAI_GEN_TABLES(NAI_GEN_TABLE_ENUM) T_COUNT };
#undef NAI_GEN_TABLE_ENUM

#define NAI_GEN_COLUMN_ENUM(table, column, type, null, first, last) C_##table##_##column,
#define NAI_GEN_COLUMNS_ENUM(id, name, first, last) \
  enum nai_gen_columns_##id{NAI_GEN_COLUMNS_##id(NAI_GEN_COLUMN_ENUM) C_##id##_count};
NAI_GEN_TABLES(NAI_GEN_COLUMNS_ENUM)
#undef NAI_GEN_COLUMNS_ENUM
#undef NAI_GEN_COLUMN_ENUM

enum nai_gen_null { NAI_GEN_NULLABLE, NAI_GEN_NOT_NULL, NAI_GEN_PRIMARY_KEY };

struct nai_gen_column_def {
  const char *name;
  const char *type; /* declared SQL type: INTEGER, REAL or TEXT */
  enum nai_gen_null null;
  int first, last; /* generations that have the column, both included */
};

struct nai_gen_table_def {
  const char *name;
  const struct nai_gen_column_def *columns;
  size_t column_count;
  int first, last;
};

/* Borrowed; never NULL for a valid table. */
const struct nai_gen_table_def *nai_gen_schema_table(enum nai_gen_table table);

#endif
