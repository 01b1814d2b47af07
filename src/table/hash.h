/* What a table in memory holds, as a number. */
#pragma once

#include "table/table.h"

/* Hash of a table's content: equal for tables with the same columns, cells and dictionary. */
uint64_t nai_table_hash(const struct nai_table *table);
