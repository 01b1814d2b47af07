/* A folder of Parquet files, one per table, as `nsys export --type parquetdir` writes it. */
#pragma once

#include "base/err.h"

/* Makes an SQLite database of it, in which each table has the rows of its file in their order, as new file `to`;
 * `spare` is a name for a file beside it. NAI_EINPUT for what is damaged or not supported, NAI_EIO where `to` cannot be
 * written. */
NAI_MUST_CHECK int nai_parquet_import(const char *to, const char *spare, const char *path, struct nai_err *err);
