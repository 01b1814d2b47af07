/* What is in a store. */
#include "features/nights/store_internal.h"

#include "base/array.h"
#include "base/fs.h"
#include "base/lock.h"
#include "base/sort.h"
#include "base/temporary.h"
#include "config/yaml.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char format[] = "{\"format_major\": 1, \"format_minor\": 0}\n";

void nai_store_close(struct nai_store *store) {
  for (uint32_t i = 0; i < store->count; i++)
    nai_store_free_run(&store->runs[i]);
  for (uint32_t i = 0; i < store->annotation_count; i++) {
    free(store->annotations[i].run);
    free(store->annotations[i].kind);
    free(store->annotations[i].text);
  }
  free(store->annotations);
  free(store->runs);
  free(store->path);
  *store = (struct nai_store){0};
}

bool nai_store_directory(char *out, size_t size, const struct nai_store *store, const struct nai_store_run *run,
                         int capture) {
  size_t n = (size_t)snprintf(out, size, "%s/runs/%s/%s", store->path, run->series, run->id);
  if (capture >= 0 && n < size)
    n += (size_t)snprintf(out + n, size - n, "/captures/%d", capture);
  return n < size;
}

const struct nai_store_run *nai_store_find(const struct nai_store *store, const char *id) {
  for (uint32_t i = 0; i < store->count; i++)
    if (strcmp(store->runs[i].id, id) == 0)
      return &store->runs[i];
  return NULL;
}

/* --- reading ---------------------------------------------------------------------------------- */

/* Where a run lies is made of what its record says, so a record says no other place than the one it lies in. */
static int add_run(struct nai_store *store, const char *path, struct nai_err *err) {
  if (!nai_array_room(&store->runs, &store->capacity, store->count, sizeof *store->runs))
    return nai_err_nomem(err);
  const struct nai_store_run *run = &store->runs[store->count++];
  char where[PATH_MAX];
  int rc = nai_store_read_run(&store->runs[store->count - 1], path, err);
  if (rc == NAI_EUSAGE || rc == NAI_EINPUT) /* a gate must not take a damaged file for a mistake in the call */
    return nai_err_wrap(err, NAI_EINPUT,
                        "the record of a run cannot be read; put it back from a copy, or move the run's "
                        "directory out of the store");
  if (rc || ((size_t)snprintf(where, sizeof where, "%s/runs/%s/%s/run.json", store->path, run->series, run->id) <
                 sizeof where &&
             strcmp(where, path) == 0))
    return rc;
  return nai_err_set(err, NAI_EINPUT,
                     "\"%s\" says that it is the run \"%.100s\" of the series \"%.200s\"; move it there", path, run->id,
                     run->series);
}

static int scan(struct nai_store *store, const char *path, int depth, struct nai_err *err);

/* A directory of runs, or at the bottom the record of one. */
static int look_into(struct nai_store *store, const char *path, int depth, struct nai_err *err) {
  struct stat st;
  if (stat(path, &st) != 0)
    return nai_fs_is_absent(errno) ? NAI_OK : nai_err_sys(err, NAI_EIO, errno, "cannot examine \"%s\"", path);
  if (!depth)
    return add_run(store, path, err);
  return S_ISDIR(st.st_mode) ? scan(store, path, depth - 1, err) : NAI_OK;
}

/* Directories of a directory, hidden ones left out; `depth` levels down lie the runs. */
static int scan(struct nai_store *store, const char *path, int depth, struct nai_err *err) {
  char inner[PATH_MAX];
  DIR *directory = opendir(path);
  int rc = NAI_OK;
  if (!directory)
    return errno == ENOENT ? NAI_OK : nai_err_sys(err, NAI_EIO, errno, "cannot read \"%s\"", path);
  for (;;) {
    errno = 0;
    const struct dirent *e = rc ? NULL : readdir(directory);
    if (!rc && !e && errno) /* a run that is not listed would leave the index without a word */
      rc = nai_err_sys(err, NAI_EIO, errno, "cannot read \"%s\"", path);
    if (!e)
      break;
    if (e->d_name[0] != '.' &&
        (size_t)snprintf(inner, sizeof inner, "%s/%s%s", path, e->d_name, depth ? "" : "/run.json") < sizeof inner)
      rc = look_into(store, inner, depth, err);
  }
  closedir(directory);
  return rc;
}

static int in_order(const void *pa, const void *pb) {
  const struct nai_store_run *a = pa, *b = pb;
  int order = strcmp(a->series, b->series);
  if (order)
    return order;
  bool known_a = a->utc_ns != NAI_NULL_I64, known_b = b->utc_ns != NAI_NULL_I64;
  if (known_a != known_b)
    return known_b - known_a;
  if (a->utc_ns != b->utc_ns)
    return a->utc_ns < b->utc_ns ? -1 : 1;
  return strcmp(a->id, b->id);
}

/* A store.json of another program's makes no store of its directory. */
static int check_format(const char *path, struct nai_err *err) {
  struct nai_yaml *doc = NULL;
  struct nai_err why;
  int64_t major = 0;
  int rc = nai_yaml_load(&doc, path, &why);
  if (!rc)
    rc = nai_yaml_expect(doc, nai_yaml_root(doc), NAI_YAML_MAP, &why);
  const struct nai_yaml_node *node = rc ? NULL : nai_yaml_get(doc, nai_yaml_root(doc), "format_major");
  if (!rc && node)
    rc = nai_yaml_int(&major, doc, node, 1, INT32_MAX, &why);
  nai_yaml_free(doc);
  if (rc == NAI_ELIMIT)
    return nai_err_nomem(err);
  return major == 1 ? NAI_OK : nai_err_set(err, NAI_EUSAGE, "\"%s\" is not of a store that this version knows", path);
}

/* How many entries a directory has, hidden ones left out. */
static int count_entries(int *count, const char *path, struct nai_err *err) {
  DIR *directory = opendir(path);
  *count = 0;
  if (!directory)
    return nai_err_sys(err, NAI_EIO, errno, "cannot read \"%s\"", path);
  for (const struct dirent *e; (e = readdir(directory));)
    *count += e->d_name[0] != '.';
  closedir(directory);
  return NAI_OK;
}

/* Two that make the store at once write the same, before anything else: what is there now may be the other's. */
static int create_store(const char *path, const char *file, struct nai_err *err) {
  int entries, rc = nai_fs_mkdir_all(path, err);
  if (!rc)
    rc = count_entries(&entries, path, err);
  if (rc)
    return rc;
  if (!entries)
    return nai_fs_replace(file, format, strlen(format), err);
  return nai_fs_exists(file)
           ? check_format(file, err)
           : nai_err_set(err, NAI_EUSAGE, "\"%s\" is no store, and not empty: it has no store.json", path);
}

int nai_store_open(struct nai_store *store, const char *path, bool create, struct nai_err *err) {
  char inner[PATH_MAX];
  *store = (struct nai_store){0};
  if ((size_t)snprintf(inner, sizeof inner, "%s/store.json", path) >= sizeof inner - 300)
    return nai_err_set(err, NAI_EUSAGE, "the name of the store is too long");
  int rc = NAI_OK;
  if (nai_fs_exists(inner))
    rc = check_format(inner, err);
  else
    rc = create ? create_store(path, inner, err)
                : nai_err_set(err, NAI_EUSAGE, "\"%s\" is no store: it has no store.json; nsys-ai store add makes one",
                              path);
  if (!rc && !(store->path = realpath(path, NULL)))
    rc = nai_err_sys(err, NAI_EIO, errno, "cannot open \"%s\"", path);
  if (rc)
    return rc;
  snprintf(inner, sizeof inner, "%s/runs", store->path);
  rc = scan(store, inner, 2, err);
  if (rc)
    return rc;
  if (store->count)
    qsort(store->runs, store->count, sizeof *store->runs, in_order);
  return nai_store_read_annotations(store, err);
}

int nai_store_reopen(struct nai_store *store, struct nai_err *err) {
  char *path = store->path;
  store->path = NULL;
  nai_store_close(store);
  int rc = nai_store_open(store, path, false, err);
  free(path);
  return rc;
}

int nai_store_lock(int *lock, const struct nai_store *store, struct nai_err *err) {
  enum { PATIENCE_S = 60 };
  *lock = open(store->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (*lock < 0)
    return nai_err_sys(err, NAI_EIO, errno, "cannot open \"%s\"", store->path);
  if (nai_lock(*lock, LOCK_EX, PATIENCE_S, NULL, NULL) != EWOULDBLOCK)
    return NAI_OK; /* where there are no locks, too */
  close(*lock);
  *lock = -1;
  return nai_err_set(err, NAI_EIO, "another program has kept the store \"%s\" locked for %d seconds", store->path,
                     PATIENCE_S);
}

/* --- tidying ---------------------------------------------------------------------------------- */

/* Below a directory `depth` levels of directories; nothing hidden is entered. */
static void sweep(const char *path, int depth) {
  char inner[PATH_MAX];
  DIR *directory = depth ? opendir(path) : NULL;
  nai_temporary_sweep(path);
  for (const struct dirent *e; directory && (e = readdir(directory));)
    if (e->d_name[0] != '.' && nai_fs_join(inner, sizeof inner, path, e->d_name))
      sweep(inner, depth - 1);
  if (directory)
    closedir(directory);
}

void nai_store_sweep(const struct nai_store *store) {
  char path[PATH_MAX];
  sweep(store->path, 0);
  if (nai_fs_join(path, sizeof path, store->path, "baselines"))
    sweep(path, 0);
  if (nai_fs_join(path, sizeof path, store->path, "runs"))
    sweep(path, 3); /* NAME, ENVIRONMENT, ID */
}
