/* The two kinds of lookup behind nai_lookup_open. Internal to src/trace. */
#pragma once

#include "trace/trace/trace_internal.h"

#include <pthread.h>

/* First member of each kind's own structure. */
struct nai_lookup {
  int (*get)(bool *found, struct nai_cell *cell, struct nai_lookup *lookup, int64_t key, struct nai_err *err);
  void (*close)(struct nai_lookup *lookup); /* frees the lookup too */
  const struct nai_trace *trace;
  const struct nai_db_table *table;
  int column;
};

/* Of one trace. */
struct nai_lookups {
  pthread_mutex_t lock;
  const struct nai_db_table *checked; /* all its rows were looked at */
  struct nai_key_map *key_maps;       /* lookup_keyed.c */
};
NAI_MUST_CHECK int nai_lookups_new(struct nai_trace *trace, struct nai_err *err);
void nai_lookups_free(struct nai_trace *trace);

NAI_MUST_CHECK int nai_lookup_open_sqlite(struct nai_lookup **out, const struct nai_lookup *base, struct nai_err *err);
NAI_MUST_CHECK int nai_lookup_open_direct(struct nai_lookup **out, const struct nai_lookup *base, struct nai_err *err);

/* lookup_keyed.c: by the values of `key_column`, on top of a lookup by rowid, of which it takes ownership on success.
 */
NAI_MUST_CHECK int nai_lookup_open_keyed(struct nai_lookup **out, struct nai_lookup *by_rowid, struct nai_trace *trace,
                                         int key_column, struct nai_err *err);
