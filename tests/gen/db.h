/* Writes rows into a fresh SQLite file, whose tables are those of a generation of the exporter: schemas.sql.
 *
 * Tables are created when their first row arrives, like the exporter's lazy mode. Everything
 * happens in one transaction without a journal: the file is temporary until nai_gen_db_commit
 * renames it.
 */
#pragma once

#include "gen/base.h"

/* Exporter generations, named by the year of a release that wrote them. */
enum { NAI_GEN_2019 = 2019, NAI_GEN_2021 = 2021, NAI_GEN_2024 = 2024, NAI_GEN_2026 = 2026 };

enum nai_gen_cell_type { NAI_GEN_CELL_NULL, NAI_GEN_CELL_INT, NAI_GEN_CELL_REAL, NAI_GEN_CELL_TEXT, NAI_GEN_CELL_BLOB };

struct nai_gen_cell {
  const char *column;
  enum nai_gen_cell_type type;
  int size; /* bytes, for text and blob */
  union {
    int64_t integer;
    double real;
    const char *bytes; /* borrowed until the row is inserted */
  } as;
};

enum { NAI_GEN_MAX_CELLS = 64 };

/* One row: a table and the columns that have a value, by name. Of two cells of a column the later one counts. */
struct nai_gen_row {
  const char *table;
  bool zeroed; /* columns without a cell are 0, not NULL */
  int cell_count;
  struct nai_gen_cell cells[NAI_GEN_MAX_CELLS];
};

void nai_gen_row_start(struct nai_gen_row *row, const char *table);
void nai_gen_row_null(struct nai_gen_row *row, const char *column);
void nai_gen_row_int(struct nai_gen_row *row, const char *column, int64_t value);
void nai_gen_row_real(struct nai_gen_row *row, const char *column, double value);
void nai_gen_row_text(struct nai_gen_row *row, const char *column, const char *text);
void nai_gen_row_bytes(struct nai_gen_row *row, const char *column, const void *bytes, size_t size);
void nai_gen_row_blob(struct nai_gen_row *row, const char *column, const void *bytes, size_t size);

struct nai_gen_db;

struct nai_gen_db_options {
  int schema;          /* NAI_GEN_2019 .. NAI_GEN_2026 */
  bool without_checks; /* leave NOT NULL out, so that invalid rows can be written */
  bool replace;        /* overwrite an existing file at close */
};

/* Opens a temporary file beside `path`. The caller ends it with close or discard. */
int nai_gen_db_open(struct nai_gen_db **out, const char *path, const struct nai_gen_db_options *options,
                    struct nai_gen_err *err);
/* Creates every table this generation has, like an export with lazy mode off. */
int nai_gen_db_create_all(struct nai_gen_db *db, struct nai_gen_err *err);
/* Inserts a row. A table or column that the generation lacks is left out; the newest has to have all. A column that
 * must have a value, and has none, gets what exporters without NULLs write: 0 or ''. */
int nai_gen_db_insert(struct nai_gen_db *db, const struct nai_gen_row *row, struct nai_gen_err *err);
/* Size of the database so far, in bytes; negative NAI_GEN_E* on failure. */
int64_t nai_gen_db_size(struct nai_gen_db *db, struct nai_gen_err *err);
int64_t nai_gen_db_row_count(const struct nai_gen_db *db, const char *table);
/* The generation's tables in order; NULL behind the last. */
const char *nai_gen_db_table(const struct nai_gen_db *db, int index);
/* Commits and moves the file into place. `db` still needs nai_gen_db_free. */
int nai_gen_db_commit(struct nai_gen_db *db, struct nai_gen_err *err);
/* Frees; removes the temporary file unless committed. Accepts NULL. */
void nai_gen_db_free(struct nai_gen_db *db);
