#include "rundir/run.h"

#include "base/array.h"
#include "base/fs.h"
#include "config/kernel_classes.h"
#include "rundir/stages_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static void close_if(int fd) {
  if (fd >= 0)
    close(fd);
}

/* Takes `directory`, also on failure; -1: errno says why it could not be opened, which is a `code`. */
static int create(struct nai_run **out, int directory, const char *path, int code, struct nai_err *err) {
  int failed = errno;
  struct nai_run *run = *out = calloc(1, sizeof *run);
  if (run) {
    run->directory = directory;
    run->lock = -1;
  }
  if (directory >= 0 && run && (run->path = strdup(path)))
    return NAI_OK;
  if (!run)
    close_if(directory);
  int rc = directory < 0 ? nai_err_sys(err, code, failed, "cannot open the run \"%s\"", path) : nai_err_nomem(err);
  nai_run_close(run);
  *out = NULL;
  return rc;
}

int nai_run_create(struct nai_run **out, const char *path, struct nai_err *err) {
  return create(out, open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), path, NAI_EIO, err);
}

int nai_run_open_at(struct nai_run **out, int directory, const char *path, struct nai_err *err) {
  /* Opened anew: a duplicate would share the locks on it. */
  int rc = create(out, openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), path, NAI_EIO, err);
  if (rc)
    return rc;
  rc = nai_manifest_read(&(*out)->manifest, (*out)->directory, err);
  if (!rc && (*out)->manifest.node_count)
    return NAI_OK;
  bool apart = !rc && (*out)->manifest.trace; /* of --no-stages, or of --stages DIR */
  nai_run_close(*out);
  *out = NULL;
  return rc ? nai_err_wrap(err, rc, "cannot open the run \"%s\"", path)
       : apart
           ? nai_err_set(
                 err, NAI_EINPUT,
                 "\"%s\" has reports but no tables: its run was made with --no-stages, or with --stages and another directory",
                 path)
           : nai_err_set(err, NAI_EINPUT,
                         "\"%s\" is no run: it has no readable " NAI_MANIFEST_PATH
                         "; make one with nsys-ai analyze TRACE "
                         "--out DIR",
                         path);
}

static bool leads_to(const char *path, int directory) {
  struct stat a, b;
  return stat(path, &a) == 0 && fstat(directory, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* The directory that `path` leads to, locked: one that was replaced before the lock was there may be being removed. The
 * last try is good enough: on a file system without locks nothing better is to be had. -1 with errno set. */
static int open_locked(int *lock, const char *path) {
  enum { TRIES = 10 };
  for (int tries = 1;; tries++) {
    int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    *lock = -1;
    if (directory < 0)
      return -1;
    /* Without a lock it is no run, there are no locks, or it is being removed, which is seen next. */
    int failed = nai_stages_lock(lock, directory, LOCK_SH);
    bool none_left = failed == EMFILE || failed == ENFILE;
    if (!none_left && (leads_to(path, directory) || tries == TRIES))
      return directory;
    close_if(*lock);
    close(directory);
    if (none_left) {
      errno = failed;
      return -1;
    }
  }
}

int nai_run_open(struct nai_run **out, const char *path, struct nai_err *err) {
  int lock, directory = open_locked(&lock, path);
  if (directory < 0)
    return nai_err_sys(err, NAI_EINPUT, errno, "cannot open the run \"%s\"", path);
  int rc = nai_run_open_at(out, directory, path, err);
  if (rc)
    close_if(lock);
  else
    (*out)->lock = lock;
  close(directory);
  return rc;
}

void nai_run_drop_model(struct nai_run *run) {
  if (run->model)
    nai_model_free(run->model);
  free(run->model);
  run->model = NULL;
}

void nai_run_close(struct nai_run *run) {
  if (!run)
    return;
  nai_run_drop_model(run);
  for (uint32_t i = 0; i < run->table_count; i++)
    nai_table_free(run->tables[i]);
  free(run->tables);
  nai_manifest_free(&run->manifest);
  close_if(run->lock);
  close_if(run->directory);
  free(run->path);
  free(run);
}

/* --- tables ----------------------------------------------------------------------------------- */

static struct nai_table **find(const struct nai_run *run, const char *name) {
  for (uint32_t i = 0; i < run->table_count; i++)
    if (strcmp(run->tables[i]->schema->name, name) == 0)
      return &run->tables[i];
  return NULL;
}

struct nai_table *nai_run_find_loaded(const struct nai_run *run, const char *name) {
  struct nai_table **table = find(run, name);
  return table ? *table : NULL;
}

int64_t nai_run_utc(const struct nai_run *run) {
  const struct nai_table *capture = nai_run_find_loaded(run, "capture");
  int64_t utc, epoch = capture && capture->rows ? nai_cell_i64(capture, 0, "utc_epoch_ns") : NAI_NULL_I64;
  int64_t start = epoch > 0 ? nai_cell_i64(capture, 0, "capture_start_ns") : NAI_NULL_I64; /* NULL is below 0 */
  bool told = epoch > 0 && !__builtin_add_overflow(epoch, start == NAI_NULL_I64 ? 0 : start, &utc);
  return told ? utc : NAI_NULL_I64;
}

int nai_run_add(struct nai_run *run, struct nai_table *table, struct nai_err *err) {
  struct nai_table **old = find(run, table->schema->name);
  if (old && *old != table)
    nai_table_free(*old);
  if (!old && !nai_array_room(&run->tables, &run->table_capacity, run->table_count, sizeof(struct nai_table *))) {
    nai_table_free(table);
    return nai_err_nomem(err);
  }
  *(old ? old : &run->tables[run->table_count++]) = table;
  return NAI_OK;
}

bool nai_run_table_path(char *path, size_t size, const struct nai_run *run, const char *name) {
  return (size_t)snprintf(path, size, "%s/stages/%s.ntab", run->path, name) < size;
}

void nai_run_remove(struct nai_run *run, const char *name) {
  struct nai_table **table = find(run, name);
  char path[PATH_MAX];
  if (table) {
    nai_table_free(*table);
    *table = run->tables[--run->table_count];
  }
  /* Its file may be a link to another run's: never write through it. */
  if (nai_run_table_path(path, sizeof path, run, name))
    unlink(path);
}

int nai_run_table(const struct nai_table **out, struct nai_run *run, const char *name, const struct nai_schema *schema,
                  struct nai_err *err) {
  *out = nai_run_find_loaded(run, name);
  if (*out)
    return NAI_OK;
  char file[NAME_MAX + 16];
  struct nai_table *table = NULL;
  const struct nai_manifest_node *maker = nai_manifest_maker(&run->manifest, name);
  if (run->manifest.oom) /* what is missing may be there */
    return nai_err_nomem(err);
  if (!maker)
    return nai_err_set(err, NAI_ESTALE, "the run \"%s\" has no table \"%s\"", run->path, name);
  if ((size_t)snprintf(file, sizeof file, "stages/%s.ntab", name) >= sizeof file)
    return nai_err_set(err, NAI_ESTALE, "\"%s\" is no name of a table", name);
  int rc = nai_table_open_at(&table, run->directory, file, schema, err);
  if (rc)
    rc = nai_err_wrap(err, rc, "cannot read the run \"%s\"", run->path);
  if (!rc && table->key != maker->key) {
    nai_table_free(table);
    rc = nai_err_set(err, NAI_ESTALE, "%s/%s is not the table this run made", run->path, file);
  }
  if (!rc)
    rc = nai_run_add(run, table, err);
  if (!rc)
    *out = table;
  return rc;
}

int nai_run_table_if_any(const struct nai_table **out, struct nai_run *run, const char *name,
                         const struct nai_schema *schema, struct nai_err *err) {
  *out = nai_run_find_loaded(run, name);
  if (*out || (!run->manifest.oom && !nai_manifest_maker(&run->manifest, name)))
    return NAI_OK;
  int rc = nai_run_table(out, run, name, schema, err);
  return rc == NAI_ESTALE ? err->code = NAI_EINPUT : rc;
}

/* --- model ------------------------------------------------------------------------------------ */

static const struct nai_table *look_up(void *run, const char *name) { return nai_run_find_loaded(run, name); }

int nai_run_check(struct nai_run *run, struct nai_err *err) {
  int rc = NAI_OK;
  for (uint32_t i = 0; i < run->table_count && !rc; i++)
    rc = nai_table_check_refs(run->tables[i], look_up, run, err);
  for (uint32_t i = 0; i < run->table_count && !rc; i++)
    rc = nai_table_check_cells(run->tables[i], err);
  return rc;
}

int nai_run_open_events(struct nai_run *run, uint64_t tables, struct nai_err *err) {
  uint32_t held = run->table_count;
  const struct nai_table *table;
  int rc = NAI_OK;
  for (int i = 0; i < NAI_IN_COUNT && !rc; i++)
    if (tables & NAI_IN_BIT(i))
      rc = nai_run_table(&table, run, nai_event_tables[i]->name, nai_event_tables[i], err);
  /* What this program has just made is right; tables from files may hold anything. */
  return rc || run->table_count == held ? rc : nai_run_check(run, err);
}

int nai_run_model(struct nai_model **out, struct nai_run *run, const struct nai_model_options *options, uint64_t tables,
                  uint32_t parts, struct nai_err *err) {
  struct nai_table *held[NAI_IN_COUNT];
  int rc = run->model ? NAI_OK : nai_run_open_events(run, tables | nai_parts_tables(parts), err);
  if (rc)
    return rc;
  if (!run->model) {
    for (int i = 0; i < NAI_IN_COUNT; i++)
      held[i] = nai_run_find_loaded(run, nai_event_tables[i]->name);
    run->model = malloc(sizeof *run->model);
    if (!run->model)
      return nai_err_nomem(err);
    nai_model_open(run->model, held, options);
  }
  *out = run->model;
  return parts ? nai_model_build(run->model, parts, err) : NAI_OK;
}

/* Options stand in the manifest with their values. */
static bool has_own_classes(const struct nai_run *run) {
  static const char option[] = "--kernel-classes ";
  const struct nai_strings *options = &run->manifest.options;
  for (uint32_t i = 0; i < options->count; i++)
    if (strncmp(nai_strings_get(options, i), option, strlen(option)) == 0)
      return true;
  return false;
}

int nai_run_tell_classes(struct nai_kernel_classes *classes, struct nai_run *run, struct nai_err *err) {
  const struct nai_table *kernels;
  if (!has_own_classes(run))
    return NAI_OK;
  int rc = nai_run_table(&kernels, run, "kernels", NULL, err);
  for (int64_t i = 0; !rc && i < kernels->rows; i++)
    if (*nai_cell_str(kernels, i, "category"))
      rc = nai_kernel_classes_tell(classes, nai_cell_str(kernels, i, "kernel_name"),
                                   nai_cell_str(kernels, i, "category"), err);
  return rc == NAI_ESTALE ? err->code = NAI_EINPUT : rc;
}
