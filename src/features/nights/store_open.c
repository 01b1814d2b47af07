/* What is in a store. */
#include "base/fs.h"
#include "base/hash.h"
#include "base/temporary.h"
#include "config/yaml.h"
#include "features/nights/store_internal.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

static const char format[] = "{\"format_major\": 1, \"format_minor\": 0}\n";

/* --- runs ------------------------------------------------------------------------------------- */

/* "20260105T020000Z-1a2b3c4d" begins with when it was. */
static int64_t time_of(const char *id) {
  struct tm parts = {0};
  int64_t utc_ns;
  const char *end = strptime(id, "%Y%m%dT%H%M%SZ", &parts);
  return end && *end == '-' && !__builtin_mul_overflow((int64_t)timegm(&parts), 1000000000, &utc_ns) ? utc_ns
                                                                                                     : NAI_NULL_I64;
}

/* "STORE/runs/NAME/ENVIRONMENT/ID/run.json"; false where these are no names that a store gives. */
static bool split_path(struct nai_store_run *run, struct nai_store *store, const char *path) {
  char names[3][NAI_STORE_NAME_MAX];
  const char *at = path + strlen(store->path) + strlen("/runs/");
  for (int i = 0; i < 3; i++, at += strcspn(at, "/") + 1) {
    struct nai_err ignored;
    int n = (int)strcspn(at, "/");
    if (n >= NAI_STORE_NAME_MAX)
      return false;
    snprintf(names[i], sizeof names[i], "%.*s", n, at);
    if (nai_store_check_name("", names[i], &ignored) != NAI_OK)
      return false;
  }
  run->series = nai_arena_printf(&store->arena, "%s/%s", names[0], names[1]);
  run->id = nai_arena_printf(&store->arena, "%s", names[2]);
  return true;
}

/* A record that cannot be read costs its run, not the store: of the run is known where it lies. */
static int add_damaged(struct nai_store *store, struct nai_store_run *run, const char *path, const char *why,
                       struct nai_err *err) {
  *run = (struct nai_store_run){
      .environment = "", .status = "damaged", .verdict = "", .labels = "", .note = "", .damaged = true};
  if (!split_path(run, store, path))
    return nai_err_set(err, NAI_EINPUT, "%s; its directory has no name of a store: move it away", why);
  run->error = nai_store_clean(&store->arena, why);
  run->utc_ns = time_of(run->id);
  snprintf(run->record, sizeof run->record, "%016" PRIx64, nai_hash_text(0, run->error));
  return nai_arena_check(&store->arena, err);
}

/* Where a run lies is made of what its record says, so a record says no other place than the one it lies in. */
static int read_run(struct nai_store_run *run, struct nai_store *store, const char *path, struct nai_err *err) {
  char directory[PATH_MAX], where[PATH_MAX];
  if (!nai_fs_exists(path))
    return nai_err_set(err, NAI_EINPUT, "\"%s\" is gone", path);
  NAI_TRY(nai_store_read_run(run, path, &store->arena, err));
  if (nai_store_directory(directory, store, run, -1, NULL) == NAI_OK &&
      nai_store_join(where, directory, "run.json", NULL) == NAI_OK && strcmp(where, path) == 0)
    return NAI_OK;
  return nai_err_set(err, NAI_EINPUT, "\"%s\" says that it is the run \"%.100s\" of the series \"%.200s\"", path,
                     run->id, run->series);
}

/* `path` without its last name is that of a directory. */
static bool lies_in_directory(const char *path) {
  char directory[PATH_MAX];
  snprintf(directory, sizeof directory, "%.*s", (int)(nai_fs_basename(path) - path), path);
  return nai_fs_is_dir(directory);
}

static int add_run(struct nai_store *store, const char *path, struct nai_err *err) {
  struct nai_err why = {0};
  NAI_TRY(NAI_ROOM(store->runs, store->capacity, store->count, &store->arena, err));
  struct nai_store_run *run = &store->runs[store->count];
  int rc = read_run(run, store, path, &why);
  if (rc && !lies_in_directory(path)) /* somebody removes the run meanwhile */
    return NAI_OK;
  if (rc && !nai_fs_exists(path) && !split_path(run, store, path)) /* nobody's */
    return NAI_OK;
  if (rc == NAI_EUSAGE || rc == NAI_EINPUT)
    NAI_TRY(add_damaged(store, run, path, why.msg, err));
  else if (rc)
    return nai_err_set(err, rc, "%s", why.msg);
  store->count++;
  return NAI_OK;
}

static int scan(struct nai_store *store, const char *path, int depth, struct nai_err *err);

/* A directory of runs, or at the bottom the place of a run's record. */
static int look_into(struct nai_store *store, const char *path, int depth, struct nai_err *err) {
  struct stat st;
  if (!depth)
    return lies_in_directory(path) ? add_run(store, path, err) : NAI_OK;
  if (stat(path, &st) != 0)
    return nai_fs_is_absent(errno) ? NAI_OK : nai_err_sys(err, NAI_EIO, errno, "cannot examine \"%s\"", path);
  return S_ISDIR(st.st_mode) ? scan(store, path, depth - 1, err) : NAI_OK;
}

static int scan_entries(struct nai_store *store, DIR *directory, const char *path, int depth, struct nai_err *err) {
  char inner[PATH_MAX];
  for (;;) {
    errno = 0;
    const struct dirent *e = readdir(directory);
    if (!e) /* a run that is not listed would leave the index without a word */
      return errno ? nai_err_sys(err, NAI_EIO, errno, "cannot read \"%s\"", path) : NAI_OK;
    if (e->d_name[0] != '.' &&
        (size_t)snprintf(inner, sizeof inner, "%s/%s%s", path, e->d_name, depth ? "" : "/run.json") < sizeof inner)
      NAI_TRY(look_into(store, inner, depth, err));
  }
}

/* Directories of a directory, hidden ones left out; `depth` levels down lie the runs. */
static int scan(struct nai_store *store, const char *path, int depth, struct nai_err *err) {
  DIR *directory = opendir(path);
  if (!directory)
    return errno == ENOENT ? NAI_OK : nai_err_sys(err, NAI_EIO, errno, "cannot read \"%s\"", path);
  int rc = scan_entries(store, directory, path, depth, err);
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

/* --- opening ---------------------------------------------------------------------------------- */

static int read_major(int64_t *major, const char *path, struct nai_err *err) {
  NAI_OWNED(nai_yaml) *doc = NULL;
  *major = 0;
  NAI_TRY(nai_yaml_load(&doc, path, err));
  NAI_TRY(nai_yaml_expect(doc, nai_yaml_root(doc), NAI_YAML_MAP, err));
  const struct nai_yaml_node *node = nai_yaml_get(doc, nai_yaml_root(doc), "format_major");
  return node ? nai_yaml_int(major, doc, node, 1, INT32_MAX, err) : NAI_OK;
}

/* A store.json of another program's makes no store of its directory. */
static int check_format(const char *path, struct nai_err *err) {
  struct nai_err why;
  int64_t major;
  if (read_major(&major, path, &why) == NAI_ELIMIT)
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

/* Two that make the store at once write the same, before anything else: what is there may be the other's. */
static int create_store(const char *path, const char *file, struct nai_err *err) {
  int entries;
  NAI_TRY(nai_fs_mkdir_all(path, err));
  NAI_TRY(count_entries(&entries, path, err));
  if (!entries)
    return nai_fs_replace(file, format, strlen(format), err);
  return nai_fs_exists(file)
           ? check_format(file, err)
           : nai_err_set(err, NAI_EUSAGE, "\"%s\" is no store, and not empty: it has no store.json", path);
}

int nai_store_open(struct nai_store *store, const char *path, bool create, struct nai_err *err) {
  char inner[PATH_MAX];
  *store = (struct nai_store){.arena = NAI_ARENA(NULL)};
  if ((size_t)snprintf(inner, sizeof inner, "%s/store.json", path) >= sizeof inner - 300)
    return nai_err_set(err, NAI_EUSAGE, "the name of the store is too long");
  if (nai_fs_exists(inner))
    NAI_TRY(check_format(inner, err));
  else if (create)
    NAI_TRY(create_store(path, inner, err));
  else
    return nai_err_set(err, NAI_EUSAGE, "\"%s\" is no store: it has no store.json; nsys-ai store add makes one", path);
  NAI_FREED char *whole = realpath(path, NULL);
  if (!whole)
    return nai_err_sys(err, NAI_EIO, errno, "cannot open \"%s\"", path);
  store->path = nai_arena_printf(&store->arena, "%s", whole);
  NAI_TRY(nai_arena_check(&store->arena, err));
  snprintf(inner, sizeof inner, "%s/runs", store->path);
  NAI_TRY(scan(store, inner, 2, err));
  if (store->count)
    qsort(store->runs, store->count, sizeof *store->runs, in_order);
  return nai_store_read_annotations(store, err);
}

int nai_store_reopen(struct nai_store *store, struct nai_err *err) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s", store->path);
  nai_store_free(store);
  return nai_store_open(store, path, false, err);
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
