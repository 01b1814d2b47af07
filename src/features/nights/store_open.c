/* What is in a store. */
#include "base/fs.h"
#include "base/hash.h"
#include "base/sort.h"
#include "base/temporary.h"
#include "config/yaml.h"
#include "features/nights/store_internal.h"

#include <dirent.h>
#include <sys/stat.h>

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
  int rc = nai_store_read_run(run, path, &store->arena, err);
  if (rc)
    return nai_fs_exists(path) ? rc : nai_err_set(err, NAI_EINPUT, "\"%s\" is gone", path);
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

/* Which runs are read: the names of their three directories, NULL where all are; or how the last one begins. */
enum { NAME, ENVIRONMENT, ID, LEVELS };
struct wanted {
  const char *names[LEVELS];
  const char *begin;
  struct nai_strings *series; /* then no run is read: what is wanted is in which series they are */
};

static int scan(struct nai_store *store, const char *path, int level, const struct wanted *wanted, struct nai_err *err);

/* What lies in a directory: at the bottom a run, else a directory of others, as `is_dir` may know. */
static int look_into(struct nai_store *store, const char *path, const char *name, bool is_dir, int level,
                     const struct wanted *wanted, struct nai_err *err) {
  char inner[PATH_MAX];
  struct stat st;
  bool fits =
      (size_t)snprintf(inner, sizeof inner, "%s/%s%s", path, name, level == ID ? "/run.json" : "") < sizeof inner;
  if (!fits)
    return NAI_OK;
  if (level == ID)
    return add_run(store, inner, err);
  if (!is_dir && stat(inner, &st) != 0)
    return nai_fs_is_absent(errno) ? NAI_OK : nai_err_sys(err, NAI_EIO, errno, "cannot examine \"%s\"", inner);
  return is_dir || S_ISDIR(st.st_mode) ? scan(store, inner, level + 1, wanted, err) : NAI_OK;
}

static int scan_entries(struct nai_store *store, DIR *directory, const char *path, int level,
                        const struct wanted *wanted, struct nai_err *err) {
  const char *begin = level == ID && wanted->begin ? wanted->begin : "";
  for (;;) {
    errno = 0;
    const struct dirent *e = readdir(directory);
    if (!e) /* a run that is not listed would leave the index without a word */
      return errno ? nai_err_sys(err, NAI_EIO, errno, "cannot read \"%s\"", path) : NAI_OK;
    if (e->d_name[0] != '.' && strncmp(e->d_name, begin, strlen(begin)) == 0)
      NAI_TRY(look_into(store, path, e->d_name, e->d_type == DT_DIR, level, wanted, err));
  }
}

/* Directories of a directory, hidden ones left out; a name that is known is not searched for. */
static int scan(struct nai_store *store, const char *path, int level, const struct wanted *wanted,
                struct nai_err *err) {
  if (level == ID && wanted->series)
    return nai_strings_put(NULL, wanted->series, path + strlen(store->path) + strlen("/runs/"), err);
  if (wanted->names[level])
    return look_into(store, path, wanted->names[level], false, level, wanted, err);
  DIR *directory = opendir(path);
  if (!directory)
    return errno == ENOENT ? NAI_OK : nai_err_sys(err, NAI_EIO, errno, "cannot read \"%s\"", path);
  int rc = scan_entries(store, directory, path, level, wanted, err);
  closedir(directory);
  return rc;
}

static int read_wanted(struct nai_store *store, const struct wanted *wanted, struct nai_err *err) {
  char runs[PATH_MAX];
  snprintf(runs, sizeof runs, "%s/runs", store->path);
  NAI_TRY(scan(store, runs, NAME, wanted, err));
  NAI_TRY(nai_store_sort(store, err));
  return nai_store_read_annotations(store, err);
}

/* A name that no series has stands for no run, and is no path. */
static bool split_series(char name[NAI_STORE_NAME_MAX], const char **environment, const char *series) {
  struct nai_err ignored;
  size_t n = strcspn(series, "/");
  *environment = series[n] ? series + n + 1 : NULL;
  if (n >= NAI_STORE_NAME_MAX)
    return false;
  snprintf(name, NAI_STORE_NAME_MAX, "%.*s", (int)n, series);
  return nai_store_check_name("", name, &ignored) == NAI_OK &&
         (!*environment || nai_store_check_name("", *environment, &ignored) == NAI_OK);
}

int nai_store_read(struct nai_store *store, const char *series, struct nai_err *err) {
  char name[NAI_STORE_NAME_MAX];
  struct wanted wanted = {0};
  if (series && !split_series(name, &wanted.names[ENVIRONMENT], series))
    return nai_store_sort(store, err);
  wanted.names[NAME] = series ? name : NULL;
  if (wanted.names[ENVIRONMENT] && nai_store_has_homeless(store, name))
    wanted.names[ENVIRONMENT] = NULL;
  NAI_TRY(read_wanted(store, &wanted, err));
  nai_store_adopt(store, series);
  return nai_store_sort(store, err);
}

int nai_store_series(struct nai_strings *names, const struct nai_store *store, const char *series,
                     struct nai_err *err) {
  NAI_SCOPED(nai_strings) found = {0};
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  char name[NAI_STORE_NAME_MAX], runs[PATH_MAX];
  struct nai_store none = *store; /* nothing is added to it */
  struct wanted wanted = {.series = &found};
  const char **sorted;
  if (series && !split_series(name, &wanted.names[ENVIRONMENT], series))
    return NAI_OK;
  wanted.names[NAME] = series ? name : NULL;
  snprintf(runs, sizeof runs, "%s/runs", store->path);
  NAI_TRY(scan(&none, runs, NAME, &wanted, err));
  NAI_TRY(NAI_NEW(sorted, &arena, found.count, err));
  for (uint32_t i = 0; i < found.count; i++)
    sorted[i] = nai_strings_get(&found, i);
  qsort(sorted, found.count, sizeof *sorted, nai_by_text);
  for (uint32_t i = 0; i < found.count; i++)
    NAI_TRY(nai_strings_put(NULL, names, sorted[i], err));
  return NAI_OK;
}

int nai_store_read_like(struct nai_store *store, const char *series, const char *begin, struct nai_err *err) {
  char name[NAI_STORE_NAME_MAX];
  struct wanted wanted = {.begin = begin};
  if (!split_series(name, &wanted.names[ENVIRONMENT], series))
    return nai_store_sort(store, err);
  wanted.names[NAME] = name;
  return read_wanted(store, &wanted, err);
}

int nai_store_read_id(struct nai_store *store, const char *id, struct nai_err *err) {
  struct nai_err ignored;
  if (nai_store_find(store, id) || nai_store_check_name("", id, &ignored))
    return NAI_OK;
  return read_wanted(store, &(struct wanted){.names = {[ID] = id}}, err);
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
  return nai_arena_check(&store->arena, err);
}

int nai_store_reread(struct nai_store *store, const char *id, struct nai_err *err) {
  char path[PATH_MAX], name[NAI_STORE_NAME_MAX];
  snprintf(path, sizeof path, "%s", store->path);
  snprintf(name, sizeof name, "%s", id); /* may be a text of the store's */
  nai_store_free(store);
  NAI_TRY(nai_store_open(store, path, false, err));
  return nai_store_read_id(store, name, err);
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
    sweep(path, LEVELS);
}

void nai_store_sweep_run(const struct nai_store *store, const struct nai_store_run *run) {
  char path[PATH_MAX], series[PATH_MAX];
  sweep(store->path, 0);
  if (nai_store_directory(path, store, run, -1, NULL) != NAI_OK)
    return;
  sweep(path, 0);
  snprintf(series, sizeof series, "%.*s", (int)(nai_fs_basename(path) - path), path);
  sweep(series, 0);
}
