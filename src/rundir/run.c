#include "rundir/run.h"

#include "base/fs.h"
#include "rundir/outdir.h"
#include "rundir/pack.h"
#include "rundir/run_internal.h"
#include "table/set.h"
#include "tables/book.h"
#include "tables/capture.h"
#include "tables/events.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static int make(struct nai_run **out, const char *path, struct nai_err *err) {
  struct nai_run *run = *out = malloc(sizeof *run);
  NAI_TRY(nai_memory_check(run, err));
  *run = (struct nai_run){.arena = NAI_ARENA(NULL), .directory = -1, .lock = -1};
  run->path = nai_arena_printf(&run->arena, "%s", path);
  return nai_arena_check(&run->arena, err);
}

int nai_run_new(struct nai_run **out, struct nai_err *err) {
  NAI_OWNED(nai_run) *run = NULL;
  *out = NULL;
  NAI_TRY(make(&run, "", err));
  return NAI_GIVE(out, run);
}

/* The directory `name` below `at`. */
static int make_in(struct nai_run **out, int at, const char *name, const char *path, struct nai_err *err) {
  NAI_OWNED(nai_run) *run = NULL;
  *out = NULL;
  NAI_TRY(make(&run, path, err));
  run->directory = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (run->directory < 0)
    return nai_err_sys(err, NAI_EIO, errno, "cannot open the run \"%s\"", path);
  return NAI_GIVE(out, run);
}

int nai_run_create(struct nai_run **out, const char *path, struct nai_err *err) {
  return make_in(out, AT_FDCWD, path, path, err);
}

static bool has_tables(int at, const char *name) {
  NAI_CLOSED int directory = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  NAI_SCOPED(nai_manifest) manifest = {0};
  struct nai_err ignored;
  return directory >= 0 && nai_manifest_read(&manifest, directory, &ignored) == NAI_OK && manifest.node_count;
}

bool nai_run_find_inside(char out[PATH_MAX], const char *path) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  NAI_CLOSED int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const char **names;
  size_t count, len = strlen(path);
  while (len > 1 && path[len - 1] == '/')
    len--;
  if (directory < 0 || nai_fs_names(&names, &count, &arena, directory, ".") != 0)
    return false;
  for (size_t i = 0; i < count; i++)
    if (has_tables(directory, names[i]))
      return snprintf(out, PATH_MAX, "%.*s/%s", (int)len, path, names[i]) < PATH_MAX;
  return false;
}

static int check_manifest(const struct nai_run *run, struct nai_err *err) {
  char inside[PATH_MAX];
  if (!run->manifest.node_count && run->manifest.trace) /* of --no-stages, or of --stages DIR */
    return nai_err_set(
        err, NAI_EINPUT,
        "\"%s\" has reports but no tables: its run was made with --no-stages, or with --stages and another directory",
        run->path);
  if (!run->manifest.node_count && nai_run_find_inside(inside, run->path))
    return nai_err_set(err, NAI_EINPUT, "\"%s\" is no run, it holds runs: name one of them, such as \"%s\"", run->path,
                       inside);
  if (!run->manifest.node_count)
    return nai_err_set(err, NAI_EINPUT,
                       "\"%s\" is no run: it has no readable " NAI_MANIFEST_PATH
                       "; make one with nsys-ai analyze TRACE "
                       "--out DIR",
                       run->path);
  return NAI_OK;
}

int nai_run_open_at(struct nai_run **out, int directory, const char *path, struct nai_err *err) {
  NAI_OWNED(nai_run) *run = NULL;
  *out = NULL;
  NAI_TRY(make_in(&run, directory, ".", path, err)); /* opened anew: a duplicate would share the locks on it */
  int rc = nai_manifest_read(&run->manifest, run->directory, err);
  if (rc)
    return nai_err_wrap(err, rc, "cannot open the run \"%s\"", path);
  NAI_TRY(check_manifest(run, err));
  return NAI_GIVE(out, run);
}

/* A file that is read can be replaced or removed as anybody likes. */
static int open_pack(struct nai_run **out, const char *path, struct nai_err *err) {
  NAI_OWNED(nai_run) *run = NULL;
  NAI_SCOPED(nai_buf) text = {0};
  struct nai_err damage;
  NAI_TRY(make(&run, path, err));
  NAI_TRY(nai_fs_read(&run->pack, path, INT32_MAX, NAI_EINPUT, err));
  int rc = nai_pack_read(&text, &run->pack, NAI_MANIFEST_PATH, &damage);
  if (rc == NAI_ELIMIT)
    return nai_err_nomem(err);
  NAI_TRY(nai_manifest_parse(&run->manifest, &text, err));
  NAI_TRY(check_manifest(run, err));
  return NAI_GIVE(out, run);
}

/* The directory that `path` leads to, locked: one that was replaced before the lock was there may be being removed. The
 * last try is good enough: on a file system without locks nothing better is to be had. -1 with errno set. */
static int open_locked(int *lock, const char *path) {
  enum { TRIES = 10 };
  for (int tries = 1;; tries++) {
    NAI_CLOSED int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    NAI_CLOSED int held = -1;
    if (directory < 0)
      return -1;
    /* Without a lock it is no run, there are no locks, or it is being removed, which is seen next. */
    int failed = nai_stages_lock(&held, directory, LOCK_SH), found = directory;
    if (failed == EMFILE || failed == ENFILE) {
      errno = failed;
      return -1;
    }
    if (!nai_fs_is_same(directory, AT_FDCWD, path, 0) && tries < TRIES)
      continue;
    *lock = held;
    held = directory = -1;
    return found;
  }
}

int nai_run_open(struct nai_run **out, const char *path, struct nai_err *err) {
  NAI_CLOSED int lock = -1;
  NAI_CLOSED int directory = open_locked(&lock, path);
  *out = NULL;
  if (directory < 0 && errno == ENOTDIR && nai_pack_is(path))
    return open_pack(out, path, err);
  if (directory < 0)
    return nai_err_sys(err, NAI_EINPUT, errno, "cannot open the run \"%s\"", path);
  NAI_TRY(nai_run_open_at(out, directory, path, err));
  (*out)->lock = lock;
  lock = -1;
  return NAI_OK;
}

void nai_run_drop_model(struct nai_run *run) {
  if (run->model)
    nai_model_free(run->model);
  free(run->model);
  run->model = NULL;
}

static void forget_stages(struct nai_run *run) {
  for (uint32_t i = 0; i < run->stage_count; i++) {
    nai_table_free(run->stages[i].list);
    nai_buf_free(&run->stages[i].content);
  }
  run->stage_count = 0;
}

void nai_run_close(struct nai_run *run) {
  if (!run)
    return;
  nai_run_drop_model(run);
  for (uint32_t i = 0; i < run->table_count; i++)
    nai_table_free(run->tables[i]);
  forget_stages(run);
  nai_manifest_free(&run->manifest);
  nai_buf_free(&run->pack);
  nai_close_descriptor(&run->lock);
  nai_close_descriptor(&run->directory);
  nai_arena_free(&run->arena);
  free(run);
}

const struct nai_manifest *nai_run_manifest(const struct nai_run *run) { return &run->manifest; }

struct nai_manifest *nai_run_manifest_to_fill(struct nai_run *run) {
  return &run->manifest;
}

bool nai_run_is_of_events(const char *name) {
  for (int i = NAI_IN_FIRST_EVENTS; i < NAI_IN_COUNT; i++)
    if (strcmp(nai_event_tables[i]->name, name) == 0)
      return true;
  return false;
}

/* What the run calls a table: one of an earlier version, as it was called then. */
static const char *stored_name(const struct nai_run *run, const char *name) {
  const struct nai_schema *schema = nai_manifest_maker(&run->manifest, name) ? NULL : nai_book_find_named(name);
  return schema && schema->was ? schema->was : name;
}

bool nai_run_has(const struct nai_run *run, const char *name) {
  return nai_manifest_table(NULL, &run->manifest, stored_name(run, name));
}

const char *nai_run_path(const struct nai_run *run) { return run->path; }

int nai_run_directory(const struct nai_run *run) { return run->directory; }

const struct nai_buf *nai_run_content(const struct nai_run *run) { return &run->pack; }

bool nai_run_has_file(const struct nai_run *run, const char *file) {
  struct nai_err absent = {0};
  NAI_SCOPED(nai_buf) content = {0};
  if (!run->pack.len)
    return nai_fs_exists_at(run->directory, file);
  return nai_pack_read(&content, &run->pack, file, &absent) == NAI_OK || absent.errnum != ENOENT;
}

bool nai_run_recall(uint64_t *identity, const struct nai_run *run, uint64_t stamp) {
  NAI_SCOPED(nai_buf) text = {0};
  struct nai_err ignored;
  uint64_t then = 0;
  return nai_fs_read_at(&text, run->directory, NAI_STAMP_PATH, 256, NAI_ESTALE, &ignored) == NAI_OK &&
         sscanf(nai_buf_str(&text), "%16" SCNx64 " %16" SCNx64, &then, identity) == 2 && then == stamp;
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

const struct nai_table *nai_run_loaded(const struct nai_run *run, uint32_t i) {
  return i < run->table_count ? run->tables[i] : NULL;
}

int64_t nai_run_utc(const struct nai_run *run) {
  const struct nai_table *capture = nai_run_find_loaded(run, nai_capture_schema.name);
  if (!capture || !capture->rows)
    return NAI_NULL_I64;
  int64_t utc, epoch = nai_get_i64(capture, 0, CAPTURE_utc_epoch_ns),
               start = nai_get_i64(capture, 0, CAPTURE_capture_start_ns);
  bool told =
      epoch > 0 && !__builtin_add_overflow(epoch, start == NAI_NULL_I64 ? 0 : start, &utc); /* NULL is below 0 */
  return told ? utc : NAI_NULL_I64;
}

int nai_run_add(struct nai_run *run, struct nai_table *table, struct nai_err *err) {
  NAI_OWNED(nai_table) *owned = table;
  struct nai_table **place = find(run, table->schema->name);
  if (!place) {
    NAI_TRY(NAI_ROOM(run->tables, run->table_capacity, run->table_count, &run->arena, err));
    place = &run->tables[run->table_count++];
  } else if (*place != table) {
    nai_table_free(*place);
  }
  *place = table;
  owned = NULL;
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

/* stages/NAME.ntab */
static int name_file(char file[NAME_MAX + 16], const char *name, struct nai_err *err) {
  return (size_t)snprintf(file, NAME_MAX + 16, "stages/%s.ntab", name) < NAME_MAX + 16
           ? NAI_OK
           : nai_err_set(err, NAI_ESTALE, "\"%s\" is no name of a table", name);
}

/* A table that has a file of its own, or the list of others. */
static int open_file(struct nai_table **out, struct nai_buf *content, const struct nai_run *run, const char *file,
                     const struct nai_schema *schema, struct nai_err *err) {
  if (!run->pack.len)
    return nai_table_open_at(out, run->directory, file, schema, err);
  NAI_TRY(nai_pack_read(content, &run->pack, file, err));
  return nai_table_held_open(out, content, file, NULL, 0, schema, err);
}

/* The file of a stage. */
static int find_stage(const struct stage_file **out, struct nai_run *run, const char *stage, const char *file,
                      struct nai_err *err) {
  NAI_SCOPED(nai_buf) content = {0};
  NAI_OWNED(nai_table) *list = NULL;
  for (uint32_t i = 0; i < run->stage_count; i++)
    if (strcmp(run->stages[i].name, stage) == 0) {
      *out = &run->stages[i];
      return NAI_OK;
    }
  NAI_TRY(NAI_ROOM(run->stages, run->stage_capacity, run->stage_count, &run->arena, err));
  NAI_TRY(open_file(&list, &content, run, file, &nai_table_set_schema, err));
  const char *name = nai_arena_printf(&run->arena, "%s", stage); /* names of a manifest move as it grows */
  NAI_TRY(nai_arena_check(&run->arena, err));
  *out = &run->stages[run->stage_count];
  run->stages[run->stage_count++] = (struct stage_file){name, list, content};
  list = NULL;
  content = (struct nai_buf){0};
  return NAI_OK;
}

/* Opens a table of the file of its stage, or of a file of its own; `file` is the one. */
static int open_table(struct nai_table **out, char file[NAME_MAX + 16], struct nai_run *run, const char *stored,
                      const struct nai_manifest_node *maker, const struct nai_schema *schema, struct nai_err *err) {
  const char *stage = maker->stage == NAI_NO_STRING ? NULL : nai_manifest_name(&run->manifest, maker->stage);
  const struct stage_file *from;
  NAI_TRY(name_file(file, stored, err));
  if (!stage || nai_run_is_of_events(stored)) {
    NAI_SCOPED(nai_buf) content = {0};
    struct nai_err own = {0};
    int rc = open_file(out, &content, run, file, schema, &own);
    bool absent = rc && own.errnum && nai_fs_is_absent(own.errnum);
    if (!stage || !absent) {
      if (rc && err)
        *err = own;
      return rc;
    }
  }
  NAI_TRY(name_file(file, stage, err));
  NAI_TRY(find_stage(&from, run, stage, file, err));
  int64_t row = nai_table_set_find(from->list, stored);
  if (row < 0 && run->pack.len && nai_run_is_of_events(stored))
    return nai_err_set(err, NAI_ESTALE, "its events \"%s\" were not stored (nsys-ai store add --keep all)", stored);
  if (row < 0)
    return nai_err_set(err, NAI_ESTALE, "\"%s\" has no table \"%s\"", file, stored);
  if (!nai_get_i64(from->list, row, TABLE_SET_row_count) && !schema)
    schema = nai_book_find_named(stored);
  return run->pack.len ? nai_table_held_open(out, &from->content, file, from->list, row, schema, err)
                       : nai_table_set_open(out, run->directory, file, from->list, row, schema, err);
}

/* Reads a table of the run's and puts it into it. */
static int read_table(const struct nai_table **out, struct nai_run *run, const char *name,
                      const struct nai_schema *schema, struct nai_err *err) {
  char file[NAME_MAX + 16];
  NAI_OWNED(nai_table) *table = NULL;
  const char *stored = stored_name(run, name);
  const struct nai_manifest_node *maker = nai_manifest_maker(&run->manifest, stored);
  if (run->manifest.oom) /* what is missing may be there */
    return nai_err_nomem(err);
  if (!maker)
    return nai_err_set(err, NAI_ESTALE, "the run \"%s\" has no table \"%s\"", run->path, name);
  if (!schema && stored != name)
    schema = nai_book_find_named(name);
  int rc = open_table(&table, file, run, stored, maker, schema, err);
  if (rc)
    return nai_err_wrap(err, rc, "cannot read the run \"%s\"", run->path);
  if (table->key != maker->key)
    return nai_err_set(err, NAI_ESTALE, "%s/%s: table \"%s\" is not the one this run made", run->path, file, stored);
  struct nai_table *read = table;
  table = NULL;
  NAI_TRY(nai_run_add(run, read, err));
  *out = read;
  return NAI_OK;
}

int nai_run_table(const struct nai_table **out, struct nai_run *run, const char *name, const struct nai_schema *schema,
                  struct nai_err *err) {
  *out = nai_run_find_loaded(run, name);
  return *out ? NAI_OK : read_table(out, run, name, schema, err);
}

int nai_run_take(struct nai_run *run, struct nai_run *from, const char *name, const struct nai_schema *schema,
                 struct nai_err *err) {
  const struct nai_table *table;
  NAI_TRY(nai_run_table(&table, from, name, schema, err));
  struct nai_table **place = find(from, name), *taken = *place;
  *place = from->tables[--from->table_count];
  run->unchecked |= nai_run_is_of_events(name);
  return nai_run_add(run, taken, err);
}

int nai_run_table_if_any(const struct nai_table **out, struct nai_run *run, const char *name,
                         const struct nai_schema *schema, struct nai_err *err) {
  *out = nai_run_find_loaded(run, name);
  if (*out || (!run->manifest.oom && !nai_run_has(run, name)))
    return NAI_OK;
  int rc = nai_run_table(out, run, name, schema, err);
  return rc == NAI_ESTALE ? err->code = NAI_EINPUT : rc;
}

/* --- files of stages -------------------------------------------------------------------------- */

int nai_run_write_stage(struct nai_run *run, const char *stage, struct nai_table *const *tables, size_t count,
                        struct nai_err *err) {
  char path[PATH_MAX];
  if (!nai_run_table_path(path, sizeof path, run, stage))
    return nai_err_set(err, NAI_EIO, "the path of stage \"%s\" is too long", stage);
  forget_stages(run);
  unlink(path); /* may be a link to another run's: never write through it */
  int rc = nai_table_set_write(tables, count, nai_book_has_named, path, err);
  return rc ? nai_err_wrap(err, rc, "cannot write the tables of stage \"%s\"", stage) : NAI_OK;
}

bool nai_run_stage_is(struct nai_run *run, const char *stage, struct nai_table *const *tables, size_t count) {
  char file[NAME_MAX + 16];
  const struct stage_file *held;
  struct nai_err ignored;
  struct stat st;
  if (name_file(file, stage, &ignored) || find_stage(&held, run, stage, file, &ignored))
    return false;
  const struct nai_table *list = held->list;
  if (list->rows != (int64_t)count || fstatat(run->directory, file, &st, 0) ||
      (uint64_t)st.st_size != nai_table_set_end(list))
    return false;
  for (size_t i = 0; i < count; i++)
    if (strcmp(nai_get_str(list, (int64_t)i, TABLE_SET_table_name), tables[i]->schema->name) != 0 ||
        (uint64_t)nai_get_i64(list, (int64_t)i, TABLE_SET_key) != tables[i]->key)
      return false;
  return true;
}
