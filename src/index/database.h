/* An index.sqlite in the making: rows come piece by piece, and those of a run can be read back, so that memory holds
 * neither. Internal to src/index. */
#pragma once

#include "base/scope.h"
#include "base/temporary.h"
#include "table/table.h"

#include <sqlite3.h>

enum { NAI_INDEX_TABLES = 5 }; /* runs, metrics, findings, kernels, and one more */

/* Zeroed to begin with. */
struct nai_index_database {
  struct nai_temporary aside;
  sqlite3 *sqlite;
  const struct nai_schema *schemas[NAI_INDEX_TABLES]; /* of its tables, NULL behind the last */
  sqlite3_stmt *inserts[NAI_INDEX_TABLES], *selects[NAI_INDEX_TABLES];
};

/* Begins a file beside `path`, which it is going to replace: nobody knows it yet, so nothing is locked and the
 * directory may be on a network. NAI_EIO. */
NAI_MUST_CHECK int nai_index_database_begin(struct nai_index_database *out, const char *path, struct nai_err *err);
/* Adds rows to the table of their name, which is made. */
NAI_MUST_CHECK int nai_index_database_add(struct nai_index_database *db, const struct nai_table *table,
                                          struct nai_err *err);
/* Puts the file in the place of `path`: no reader ever sees half of it. Its rows can be read until it is freed. */
NAI_MUST_CHECK int nai_index_database_publish(struct nai_index_database *db, const char *path, struct nai_err *err);
/* Appends the rows of a run, in the order of their keys. */
NAI_MUST_CHECK int nai_index_database_read(struct nai_table *to, struct nai_index_database *db, const char *run_id,
                                           struct nai_err *err);
/* And removes what was not published. */
void nai_index_database_free(struct nai_index_database *db);
