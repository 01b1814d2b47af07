#include "table/hash.h"

#include "base/hash.h"

uint64_t nai_table_hash(const struct nai_table *table) {
  uint64_t hash = nai_hash_int(nai_hash_text(0, table->schema->name), table->rows);
  for (uint32_t c = 0; c < table->schema->column_count; c++) {
    hash = nai_hash_text(hash, table->schema->columns[c].name);
    hash = nai_hash_bytes(hash, table->columns[c], (size_t)table->rows * nai_type_size(table->schema->columns[c].type));
  }
  return nai_hash_bytes(hash, table->strings.bytes, table->strings.bytes_len);
}
