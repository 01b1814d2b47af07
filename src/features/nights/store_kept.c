/* What is kept of a run for ever, and whether it can be read. */
#include "features/compare/side.h"
#include "features/nights/store_internal.h"
#include "rundir/outdir.h"
#include "tables/kernels.h"

#include <stdio.h>
#include <string.h>

/* Whether a file holds that table. */
static bool is_table(const char *file, const struct nai_schema *schema) {
  char path[128];
  snprintf(path, sizeof path, "stages/%s.ntab", schema->name);
  return strcmp(file, path) == 0;
}

/* What comparisons and the index read. The rest is for people, or made of events. */
static bool is_kept(const char *file) {
  bool kept = strcmp(file, NAI_MANIFEST_PATH) == 0 || is_table(file, &nai_kernels_schema);
  for (const struct nai_schema *const *schema = nai_compared_tables; *schema; schema++)
    kept |= is_table(file, *schema);
  return kept;
}

/* Lists of files may be forged. */
bool nai_store_may_prune(const char *file) { return !is_kept(file) && nai_outdir_is_of_run(file) == 1; }

static int check_table(struct nai_run *run, const struct nai_schema *schema, struct nai_err *err) {
  const struct nai_table *table;
  return nai_run_table_if_any(&table, run, schema->name, schema, err);
}

int nai_store_check_capture(struct nai_run *run, struct nai_err *err) {
  for (const struct nai_schema *const *schema = nai_compared_tables; *schema; schema++)
    NAI_TRY(check_table(run, *schema, err));
  return check_table(run, &nai_kernels_schema, err);
}

int nai_store_check_run(const struct nai_store *store, const struct nai_store_run *run, struct nai_err *err) {
  char path[PATH_MAX];
  for (int i = 0; i < run->captures; i++) {
    NAI_OWNED(nai_run) *capture = NULL;
    NAI_TRY(nai_store_directory(path, store, run, i, err));
    NAI_TRY(nai_run_open(&capture, path, err));
    NAI_TRY(nai_store_check_capture(capture, err));
  }
  return NAI_OK;
}
