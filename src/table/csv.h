/* Tables as CSV (RFC 4180, lines end with LF): column names, then rows. Numbers as nai_value_print writes them,
 * never quoted; NULL is nothing, the empty text is "". Texts are quoted by libcsv where they need it, and guarded
 * against being taken for formulas (nai_escape_csv_guard). */
#pragma once

#include "table/table.h"

/* Appends a text cell. `scratch` is emptied and used; one for many cells saves allocating. */
void nai_csv_text(struct nai_buf *out, struct nai_buf *scratch, const char *text, size_t len);
/* Appends the names of columns, then rows; or both. */
void nai_csv_names(struct nai_buf *out, const struct nai_schema *schema);
void nai_csv_rows(struct nai_buf *out, const struct nai_table *table);
void nai_csv_table(struct nai_buf *out, const struct nai_table *table);
