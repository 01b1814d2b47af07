/* What derived tables are filled from, and their columns' memory. */
#include "query/internal.h"

#include "base/spill_array.h"
#include "base/threads.h"
#include "model/nvtx/projection.h"

/* A run says with which options it was made. */
static bool maps_nvtx(const struct nai_run *run) {
  static const char option[] = "--no-nvtx-kernel-map";
  return nai_strings_find(&nai_run_manifest(run)->options, option, strlen(option)) == NAI_NO_STRING;
}

/* The event tables, some of which a statement may have opened before, unchecked. */
static int open_events(struct nai_run *run, uint64_t tables, struct nai_err *err) {
  NAI_TRY(nai_run_open_events(run, tables, err));
  return nai_run_check(run, err);
}

int nai_derived_model(struct nai_model **out, struct nai_database *db, uint32_t parts, struct nai_err *err) {
  const uint64_t all = NAI_IN(KERNELS) | NAI_IN(MEMOPS) | NAI_IN(GRAPHS) | NAI_IN(APIS) | NAI_IN(LABELS) |
                       NAI_IN(THREADS) | NAI_IN(PROCESSES) |
                       nai_parts_tables(NAI_PART(NVTX_TREE) | NAI_PART(DEPENDENCIES) |
                                        NAI_PROJECTION_PARTS); /* also those later parts read */
  NAI_TRY(nai_database_classes(db, err));
  const struct nai_model_options options = {
      .classes = db->classes, .map_nvtx = maps_nvtx(db->run), .worker_count = nai_cpu_count()};
  int rc = nai_run_held_model(db->run) ? NAI_OK : open_events(db->run, all, err);
  if (!rc)
    rc = nai_run_model(out, db->run, &options, all, parts, err);
  if (rc == NAI_ESTALE)
    rc = nai_err_wrap(err, NAI_EINPUT, "the run's event tables cannot be read; make it again with nsys-ai analyze");
  return rc;
}

int nai_derived_new(struct nai_sql_table *t, int64_t rows, struct nai_err *err) {
  NAI_TRY(nai_table_new(&t->own, t->source->schema, err));
  t->own->rows = t->own->capacity = rows;
  t->table = t->own;
  return NAI_OK;
}

int nai_derived_column(struct nai_sql_table *t, int column, struct nai_err *err) {
  size_t bytes = nai_type_size(t->table->schema->columns[column].type);
  return t->own->columns[column]
           ? NAI_OK
           : nai_spill_array_new(&t->own->columns[column], NULL, (size_t)(t->own->rows + 1) * bytes, 0, err);
}
