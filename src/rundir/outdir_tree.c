#include "rundir/outdir_internal.h"

#include "base/fs.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define PROBE ".nsys-ai-probe"

/* Entries are visited at the top and in the directories that a run makes. */
struct entry {
  int dir;           /* the directory that holds it */
  const char *below; /* "", "tables/" or "stages/" */
  const char *name;
  char path[NAME_MAX + 16];
  struct statx st;
};

/* Returning nonzero (a code, below 0) stops the walk. */
typedef int visit_fn(void *ctx, const struct entry *e);
enum { UNREADABLE = 1 };

static bool is_mount(const struct statx *st) { return st->stx_attributes & STATX_ATTR_MOUNT_ROOT; }

static bool examine(struct entry *e) {
  snprintf(e->path, sizeof e->path, "%s%s", e->below, e->name);
  return statx(e->dir, e->name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_BASIC_STATS, &e->st) == 0;
}

static const char *inside_of(const struct entry *e) {
  if (*e->below || !S_ISDIR(e->st.stx_mode) || is_mount(&e->st))
    return NULL;
  return strcmp(e->name, "tables") == 0 ? "tables/" : strcmp(e->name, "stages") == 0 ? "stages/" : NULL;
}

/* 1, 0 at the end, -1 with errno when it cannot be told. What vanishes meanwhile is left out. */
static int next_entry(struct entry *e, DIR *dir) {
  e->dir = dirfd(dir);
  for (errno = 0;; errno = 0) {
    struct dirent *d = readdir(dir);
    if (!d)
      return errno ? -1 : 0;
    e->name = d->d_name;
    if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
      continue;
    if (examine(e))
      return 1;
    if (errno != ENOENT)
      return -1;
  }
}

static int walk(int at, const char *name, const char *below, visit_fn *visit, void *ctx) {
  NAI_CLOSED_DIR DIR *dir = nai_fs_entries(at, name);
  int stop = dir ? 0 : UNREADABLE;
  while (!stop) {
    struct entry e = {.below = below};
    int more = next_entry(&e, dir);
    if (!more)
      break;
    const char *inside = more > 0 ? inside_of(&e) : NULL;
    stop = more < 0 ? UNREADABLE : inside ? walk(e.dir, e.name, inside, visit, ctx) : visit(ctx, &e);
  }
  return stop;
}

/* 1, 0, or -1 when memory ran out. `patterns` end with NULL. */
static int matches(const char *const *patterns, const char *path) {
  for (; *patterns; patterns++) {
    int differs = fnmatch(*patterns, path, FNM_PATHNAME | FNM_PERIOD);
    if (differs != FNM_NOMATCH)
      return differs ? -1 : 1;
  }
  return 0;
}

int nai_outdir_is_of_run(const char *path) {
  static const char *const patterns[] = {"report.*", "tables/*.csv", "stages/*.ntab", NAI_STAMP_PATH, NULL};
  return matches(patterns, path);
}

/* Every name that commands give files of a directory that they exchange. A run that is killed leaves no list, and a
 * list may be forged: it cannot make a file of any other name ours. */
static bool has_our_name(const char *path, bool *failed) {
  static const char *const others[] = {"compare.*",
                                       "ranks.*",
                                       "trend.*",
                                       "suite.*",
                                       "fleet.*",
                                       "junit.xml",
                                       "metrics.prom",
                                       "bmf.json",
                                       "benchmark-*.json",
                                       NAI_MANIFEST_PATH,
                                       NAI_OUTDIR_WORK_MARK,
                                       NULL};
  int ours = nai_outdir_is_of_run(path);
  if (!ours)
    ours = matches(others, path);
  *failed |= ours < 0;
  return ours > 0;
}

static bool is_listed(const struct nai_strings *ours, const struct entry *e) {
  bool ignored = false;
  return S_ISREG(e->st.stx_mode) && !is_mount(&e->st) &&
         nai_strings_find(ours, e->path, strlen(e->path)) != NAI_NO_STRING && has_our_name(e->path, &ignored);
}

static bool can_link(const struct entry *e) {
  return (S_ISREG(e->st.stx_mode) || S_ISLNK(e->st.stx_mode)) && !is_mount(&e->st);
}

/* --- check ------------------------------------------------------------------------------------ */

struct check {
  const struct nai_strings *ours;
  int work;
  const char *given;
  struct nai_err *err;
};

#define ADVICE "; move it away or choose another directory; nothing was changed"

static int check_entry(void *ctx, const struct entry *e) {
  struct check *c = ctx;
  if (is_listed(c->ours, e))
    return NAI_OK;
  if (!can_link(e))
    return nai_err_set(c->err, NAI_EUSAGE, "%s holds a %s: \"%s\"" ADVICE, c->given,
                       is_mount(&e->st)          ? "mount point"
                       : S_ISDIR(e->st.stx_mode) ? "directory that is not nsys-ai's"
                                                 : "special file",
                       e->path);
  if (strcmp(e->path, NAI_OUTDIR_WORK_MARK) == 0 || strcmp(e->path, PROBE) == 0)
    return nai_err_set(c->err, NAI_EUSAGE, "%s holds a file of a name that nsys-ai needs: \"%s\"" ADVICE, c->given,
                       e->path);
  if (c->work < 0)
    return NAI_OK;
  int failed = linkat(e->dir, e->name, c->work, PROBE, 0) == 0 ? 0 : errno;
  if (!failed && unlinkat(c->work, PROBE, 0) != 0)
    failed = errno;
  if (!failed || failed == ENOENT)
    return NAI_OK;
  int rc = nai_err_sys(c->err, NAI_EUSAGE, failed, "a hard link to \"%s\" cannot be made", e->path);
  return nai_err_wrap(c->err, rc, "%s holds a file that is not nsys-ai's and cannot be kept" ADVICE, c->given);
}

static int check_access(int at, const char *name, const char *given, struct nai_err *err) {
  if (faccessat(at, name, R_OK | W_OK | X_OK, AT_EACCESS) == 0 || errno == ENOENT)
    return NAI_OK;
  int failed = errno;
  return nai_err_sys(err, NAI_EIO, failed, "%s cannot be replaced: no access to its directory \"%s\"", given, name);
}

int nai_outdir_check(int directory, const struct nai_strings *ours, int work, const char *given, struct nai_err *err) {
  static const char *const directories[] = {".", "tables", "stages"};
  struct check check = {ours, work, given, err};
  for (size_t i = 0; i < sizeof directories / sizeof *directories; i++)
    NAI_TRY(check_access(directory, directories[i], given, err));
  int rc = walk(directory, ".", "", check_entry, &check);
  return rc == UNREADABLE ? nai_err_sys(err, NAI_EIO, errno, "cannot look through %s", given) : rc;
}

/* --- keep ------------------------------------------------------------------------------------- */

/* The n-th path that an entry may be kept under: NAME, NAME.kept, NAME.kept.2, ... */
static bool candidate(char *path, size_t size, const struct entry *e, int n) {
  char suffix[24] = "";
  if (n == 1)
    snprintf(suffix, sizeof suffix, ".kept");
  else if (n > 1)
    snprintf(suffix, sizeof suffix, ".kept.%d", n);
  return (size_t)snprintf(path, size, "%s%s", e->path, suffix) < size;
}

static bool is_file(int directory, const char *path, const struct entry *e) {
  struct statx st;
  return statx(directory, path, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &st) == 0 && st.stx_ino == e->st.stx_ino &&
         st.stx_dev_major == e->st.stx_dev_major && st.stx_dev_minor == e->st.stx_dev_minor;
}

static bool is_there(int directory, const char *path) {
  struct stat st;
  return fstatat(directory, path, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static bool has_twin(int directory, const struct entry *e) {
  char path[sizeof e->path + 32];
  bool more = directory >= 0 && can_link(e);
  for (int n = 0; more && candidate(path, sizeof path, e, n); n++) {
    if (is_file(directory, path, e))
      return true;
    more = n < 2 || is_there(directory, path);
  }
  return false;
}

/* 0 or errno. */
static int keep(const struct entry *e, int fresh) {
  char path[sizeof e->path + 32];
  if (has_twin(fresh, e))
    return 0;
  if (*e->below && mkdirat(fresh, strcmp(e->below, "tables/") == 0 ? "tables" : "stages", 0777) != 0 && errno != EEXIST)
    return errno;
  for (int n = 0; candidate(path, sizeof path, e, n); n++) {
    if (n && is_there(e->dir, path + strlen(e->below))) /* that file wants to keep its name */
      continue;
    if (linkat(e->dir, e->name, fresh, path, 0) == 0 || errno == ENOENT)
      return 0;
    if (errno != EEXIST)
      return errno;
  }
  return ENAMETOOLONG;
}

struct transfer {
  const struct nai_strings *ours;
  int directory, fresh;
  const char *given;
  struct nai_err *err;
};

/* Owner, group and mode of what is replaced, as far as this user may set them: a group that is another one gets
 * nothing. */
static void take_permissions(int directory, int fresh, const char *path) {
  struct stat old, made;
  if (fstatat(directory, path, &old, AT_SYMLINK_NOFOLLOW) != 0 ||
      fstatat(fresh, path, &made, AT_SYMLINK_NOFOLLOW) != 0 || (made.st_mode & S_IFMT) != (old.st_mode & S_IFMT))
    return;
  if ((old.st_uid != made.st_uid || old.st_gid != made.st_gid) &&
      fchownat(fresh, path, old.st_uid, old.st_gid, AT_SYMLINK_NOFOLLOW) != 0 &&
      fchownat(fresh, path, (uid_t)-1, old.st_gid, AT_SYMLINK_NOFOLLOW) != 0)
    old.st_mode &= (mode_t)~070;
  if (old.st_mode != made.st_mode && fchmodat(fresh, path, old.st_mode & 07777, 0) != 0)
    return;
}

/* Who else may enter, where that is said in more words. */
static void take_access_lists(int directory, int fresh, const char *path) {
  static const char *const lists[] = {"system.posix_acl_access", "system.posix_acl_default"};
  char list[4096];
  NAI_CLOSED int from = nai_outdir_open(directory, path);
  NAI_CLOSED int to = nai_outdir_open(fresh, path);
  for (size_t i = 0; from >= 0 && to >= 0 && i < sizeof lists / sizeof *lists; i++) {
    ssize_t length = fgetxattr(from, lists[i], list, sizeof list);
    if (length > 0 && fsetxattr(to, lists[i], list, (size_t)length, 0) != 0)
      break;
  }
}

static int link_entry(void *ctx, const struct entry *e) {
  struct transfer *t = ctx;
  if (is_listed(t->ours, e)) {
    take_permissions(t->directory, t->fresh, e->path);
    return NAI_OK;
  }
  int failed = can_link(e) ? keep(e, t->fresh) : EISDIR;
  return failed ? nai_err_sys(t->err, NAI_EIO, failed, "%s: cannot keep \"%s\"; nothing was changed", t->given, e->path)
                : NAI_OK;
}

int nai_outdir_link(int directory, const struct nai_strings *ours, int fresh, const char *given, struct nai_err *err) {
  static const char *const directories[] = {"tables", "stages", "."};
  struct transfer transfer = {ours, directory, fresh, given, err};
  int rc = walk(directory, ".", "", link_entry, &transfer);
  for (size_t i = 0; !rc && i < sizeof directories / sizeof *directories; i++) {
    take_permissions(directory, fresh, directories[i]);
    take_access_lists(directory, fresh, directories[i]);
  }
  return rc == UNREADABLE ? nai_err_sys(err, NAI_EIO, errno, "cannot look through %s", given) : rc;
}

static int adopt_entry(void *ctx, const struct entry *e) {
  struct transfer *t = ctx;
  if (is_listed(t->ours, e))
    return 0;
  int failed = can_link(e) ? keep(e, t->fresh) : renameat2(e->dir, e->name, t->fresh, e->path, RENAME_NOREPLACE);
  (void)failed; /* then it stays where it is, and cleaning up says so */
  return 0;
}

void nai_outdir_adopt(int directory, const struct nai_strings *ours, int fresh) {
  struct transfer transfer = {.ours = ours, .directory = directory, .fresh = fresh};
  walk(directory, ".", "", adopt_entry, &transfer);
}

/* --- clean ------------------------------------------------------------------------------------ */

struct cleaning {
  const struct nai_strings *ours;
  bool unfinished; /* a work directory: what has a name of ours is ours */
  int target;
  bool failed; /* something of ours is still there */
  char *left;
  size_t left_size;
};

/* Where files have no names at once, they have one for a moment (nai_fs_unnamed). */
static bool is_scratch(const char *path) {
  return fnmatch(".scratch-??????", path, FNM_PATHNAME) == 0 ||
         fnmatch("stages/.scratch-??????", path, FNM_PATHNAME) == 0;
}

static int clean_entry(void *ctx, const struct entry *e) {
  struct cleaning *c = ctx;
  bool plain = S_ISREG(e->st.stx_mode) && !is_mount(&e->st);
  bool ours =
      is_listed(c->ours, e) || (c->unfinished && plain && (has_our_name(e->path, &c->failed) || is_scratch(e->path)));
  if (plain && (strcmp(e->path, NAI_MANIFEST_PATH) == 0 || strcmp(e->path, NAI_OUTDIR_WORK_MARK) == 0) && ours)
    return 0; /* last: they are what the rest is judged by */
  bool probe = strcmp(e->path, PROBE) == 0 && can_link(e) && e->st.stx_nlink > 1;
  if ((ours || probe || has_twin(c->target, e)) && unlinkat(e->dir, e->name, 0) == 0)
    return 0;
  c->failed |= ours;
  if (!*c->left)
    snprintf(c->left, c->left_size, "%s", e->path);
  return 0;
}

bool nai_outdir_clean(int parent, const char *name, int directory, const struct nai_strings *ours, int target,
                      char *left, size_t size) {
  struct cleaning c = {.ours = ours, .target = target, .left = left, .left_size = size};
  c.unfinished = is_there(directory, NAI_OUTDIR_WORK_MARK);
  *left = '\0';
  c.failed |= walk(directory, ".", "", clean_entry, &c) != 0;
  unlinkat(directory, "tables", AT_REMOVEDIR);
  if (!c.failed &&
      (c.unfinished || nai_strings_find(ours, NAI_MANIFEST_PATH, strlen(NAI_MANIFEST_PATH)) != NAI_NO_STRING))
    unlinkat(directory, NAI_MANIFEST_PATH, 0);
  unlinkat(directory, "stages", AT_REMOVEDIR);
  if (!c.failed && c.unfinished)
    unlinkat(directory, NAI_OUTDIR_WORK_MARK, 0);
  return unlinkat(parent, name, AT_REMOVEDIR) == 0;
}

bool nai_outdir_is_mount(int directory, const char *name) {
  struct statx st, above;
  if (statx(directory, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_BASIC_STATS, &st) != 0)
    return false;
  if (is_mount(&st))
    return true;
  return statx(directory, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &above) == 0 &&
         (st.stx_dev_major != above.stx_dev_major || st.stx_dev_minor != above.stx_dev_minor);
}

int nai_outdir_is_empty(bool *empty, int directory, const char *given, struct nai_err *err) {
  struct entry e = {.below = ""};
  NAI_CLOSED_DIR DIR *dir = nai_fs_entries(directory, ".");
  int more = dir ? next_entry(&e, dir) : -1;
  *empty = more == 0;
  return more < 0 ? nai_err_sys(err, NAI_EIO, errno, "cannot look through %s", given) : NAI_OK;
}
