/* Where the artifacts directory is: names, moves and locks. */
#include "rundir/outdir_internal.h"

#include "base/fs.h"
#include "base/hash.h"
#include "base/lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

void nai_outdir_note(const struct nai_outdir *out, const char *fmt, ...) {
  char line[PATH_MAX + 512];
  va_list args;
  va_start(args, fmt);
  vsnprintf(line, sizeof line, fmt, args);
  va_end(args);
  if (out->calls.note)
    out->calls.note(line);
}

void nai_outdir_name(char name[NAME_MAX + 1], const struct nai_outdir *out, const char *tag, const char *unique) {
  snprintf(name, NAME_MAX + 1, ".%s.%s.%s", out->stem, tag, unique);
}

const char *nai_outdir_beside(char path[PATH_MAX], const struct nai_outdir *out, const char *name) {
  snprintf(path, PATH_MAX, "%s%s", out->above, name);
  return path;
}

int nai_outdir_open(int parent, const char *name) {
  return openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

int nai_outdir_move(const struct nai_outdir *out, const char *from, const char *to, unsigned flags) {
  return out->calls.rename(out->parent, from, out->parent, to, flags) == 0 ? 0 : errno;
}

bool nai_outdir_cannot(int failed) { return failed == EINVAL || failed == ENOSYS || failed == EOPNOTSUPP; }

int nai_outdir_move_free(const struct nai_outdir *out, const char *from, const char *to) {
  int failed = nai_outdir_move(out, from, to, RENAME_NOREPLACE);
  return nai_outdir_cannot(failed) ? nai_outdir_move(out, from, to, 0) : failed;
}

/* A path whose last component does not exist yet; what is above it is made. */
static int resolve_new(char **out, const char *path, const char *given, struct nai_err *err) {
  NAI_FREED char *copy = strdup(path), *parent = NULL;
  NAI_TRY(nai_memory_check(copy, err));
  for (size_t len = strlen(copy); len > 1 && copy[len - 1] == '/';)
    copy[--len] = '\0';
  char *slash = strrchr(copy, '/');
  const char *name = slash ? slash + 1 : copy;
  if (slash)
    *slash = '\0';
  const char *above = slash ? (*copy ? copy : "/") : ".";
  NAI_TRY(nai_fs_mkdir_all(above, err));
  parent = realpath(above, NULL);
  if (!parent)
    return nai_err_sys(err, NAI_EIO, errno, "cannot resolve \"%s\"", above);
  if (*name == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
    return nai_err_set(err, NAI_EUSAGE, "%s: not a directory name", given);
  if (asprintf(out, "%s/%s", strcmp(parent, "/") == 0 ? "" : parent, name) >= 0)
    return NAI_OK;
  *out = NULL;
  return nai_err_nomem(err);
}

/* Absolute path with links resolved; the last component may not exist yet. */
static int resolve(char **out, const char *path, const char *given, struct nai_err *err) {
  *out = realpath(path, NULL);
  if (*out)
    return NAI_OK;
  if (errno == ENOMEM || errno == EIO) /* it may well exist */
    return nai_err_sys(err, NAI_EIO, errno, "cannot resolve \"%s\"", path);
  return resolve_new(out, path, given, err);
}

int nai_outdir_set_names(struct nai_outdir *out, const char *path, struct nai_err *err) {
  enum { LONG_NAME = 180, KEPT_OF_IT = 160 };
  NAI_FREED char *whole = NULL;
  if (strlen(path) > PATH_MAX - 512)
    return nai_err_set(err, NAI_EUSAGE, "%s: the path is too long", out->calls.option);
  out->given = nai_arena_printf(&out->arena, "%s \"%s\"", out->calls.option, path);
  NAI_TRY(nai_arena_check(&out->arena, err));
  NAI_TRY(resolve(&whole, path, out->given, err));
  const char *name = strrchr(whole, '/') + 1;
  if (!*name)
    return nai_err_set(err, NAI_EUSAGE, "%s: not a directory name", out->given);
  out->target = nai_arena_printf(&out->arena, "%s", whole);
  out->above = nai_arena_printf(&out->arena, "%.*s", (int)(name - whole), whole);
  out->name = nai_arena_printf(&out->arena, "%s", name);
  size_t len = strlen(name);
  if (len <= LONG_NAME)
    snprintf(out->stem, sizeof out->stem, "%s", name);
  else
    snprintf(out->stem, sizeof out->stem, "%.*s~%016llx", KEPT_OF_IT, name,
             (unsigned long long)nai_hash_bytes(0, name, len));
  return nai_arena_check(&out->arena, err);
}

int nai_outdir_open_parent(struct nai_outdir *out, struct nai_err *err) {
  out->parent = open(out->above, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return out->parent >= 0
           ? NAI_OK
           : nai_err_sys(err, NAI_EIO, errno, "%s: cannot read the directory it is to be in", out->given);
}

static void say_waiting(void *ctx) {
  const struct nai_outdir *out = ctx;
  nai_outdir_note(out, "waiting for another program that has locked the directory of %s", out->given);
}

int nai_outdir_lock(struct nai_outdir *out, struct nai_err *err) {
  if (nai_lock(out->parent, LOCK_EX, out->calls.patience_s, say_waiting, out) != EWOULDBLOCK)
    return NAI_OK;
  return nai_err_set(err, NAI_EIO,
                     "%s: another program has kept the directory it is to be in locked for %d seconds; see "
                     "who has it open (lsof), or choose another directory",
                     out->given, out->calls.patience_s);
}

int nai_stages_lock(int *lock, int directory, int operation) {
  *lock = nai_outdir_open(directory, "stages");
  return *lock < 0 ? errno : nai_lock(*lock, operation, 0, NULL, NULL);
}

int nai_outdir_claim(int *lock, int directory) {
  *lock = -1;
  int failed = nai_lock(directory, LOCK_EX, 0, NULL, NULL); /* runs that take tables over, and the one that writes it */
  if (!failed)
    failed = nai_stages_lock(lock, directory, LOCK_EX);
  return failed == ENOENT ? 0 : failed;
}

int nai_outdir_list(struct nai_strings *files, bool *known, const struct nai_outdir *out, int directory,
                    struct nai_err *err) {
  bool ignored;
  return out->calls.list(files, known ? known : &ignored, directory, err);
}
