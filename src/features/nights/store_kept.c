/* What is kept of a run for ever, and whether it can be read. */
#include "features/nights/store_internal.h"

#include "rundir/outdir.h"

#include <limits.h>
#include <string.h>

/* What the index is made of, beside what comparisons read. */
static const char *const indexed[] = {"kernels", NULL};

static bool is_table_of(const char *const *names, const char *file) {
  static const char directory[] = "stages/", suffix[] = ".ntab";
  const char *name = file + strlen(directory);
  for (; strncmp(file, directory, strlen(directory)) == 0 && *names; names++)
    if (strncmp(name, *names, strlen(*names)) == 0 && strcmp(name + strlen(*names), suffix) == 0)
      return true;
  return false;
}

/* Everything that comparisons and the index read. The rest is for people, or made of events. */
static bool is_kept(const char *file) {
  return strcmp(file, NAI_MANIFEST_PATH) == 0 || is_table_of(nai_run_compared, file) || is_table_of(indexed, file);
}

/* Lists of files may be forged. */
bool nai_store_may_prune(const char *file) { return !is_kept(file) && nai_outdir_is_of_run(file) == 1; }

static int open_tables(struct nai_run *run, const char *const *names, struct nai_err *err) {
  const struct nai_table *table;
  int rc = NAI_OK;
  for (; *names && !rc; names++)
    rc = nai_run_table_if_any(&table, run, *names, NULL, err);
  return rc;
}

int nai_store_check_capture(struct nai_run *run, struct nai_err *err) {
  int rc = open_tables(run, nai_run_compared, err);
  return rc ? rc : open_tables(run, indexed, err);
}

int nai_store_check_run(const struct nai_store *store, const struct nai_store_run *run, struct nai_err *err) {
  char path[PATH_MAX];
  int rc = NAI_OK;
  for (int i = 0; i < run->captures && !rc; i++) {
    struct nai_run *capture = NULL;
    if (!nai_store_directory(path, sizeof path, store, run, i))
      return nai_err_set(err, NAI_EUSAGE, "the name of the store is too long");
    rc = nai_run_open(&capture, path, err);
    if (!rc)
      rc = nai_store_check_capture(capture, err);
    nai_run_close(capture);
  }
  return rc;
}
