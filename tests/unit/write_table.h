/* A table held in memory as a file of its own: the program itself writes those of a stage into one (table/set.h). */
#pragma once

#include "base/sink.h"
#include "table/file.h"

/* `key` says what it was made from and becomes table->key. */
static inline int write_table(struct nai_table *table, const char *path, uint64_t key, struct nai_err *err) {
  NAI_SCOPED(nai_table_image) image = {0};
  struct nai_file_sink sink;
  table->key = key;
  NAI_TRY(nai_table_image_make(&image, table, err));
  int rc = nai_sink_create(&sink, path, err);
  if (!rc)
    nai_table_image_put(&sink.text, &image);
  return nai_sink_finish(&sink, rc, err);
}
