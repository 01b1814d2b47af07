/* A library to be preloaded: lets one call of a kind fail, the N-th that the program makes after main has begun.
 *
 *   NAI_FAULT_KIND    alloc, open, read, write, stat, space, rename, link, mkdir, remove, close, map, dir, lock,
 * thread; several separated by commas NAI_FAULT_N       the number of the call, from 1; 0 or absent: none fails
 *   NAI_FAULT_MODE    once (default); on: every one from then on; short: half of what was asked is read or written;
 *                     stop: none fails, but a debugger stops there
 *   NAI_FAULT_ERRNO   number of the error; default ENOMEM for alloc and map, EAGAIN for thread, EIO otherwise
 *   NAI_FAULT_REPORT  file that gets "KIND COUNT" lines when the program ends: how many calls there were
 *   NAI_FAULT_SITES   file that gets "KIND HASH HASH ..." lines: of each call, in order, where it comes from: the
 * return addresses within their files, so that runs of one build can be compared
 *
 * What the C library calls inside itself cannot be intercepted (fwrite's write), with the exception of allocations. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <malloc.h>
#include <unistd.h>
#include <unwind.h>

#define KINDS(X) \
  X(alloc)       \
  X(open)        \
  X(read)        \
  X(write)       \
  X(stat)        \
  X(space) X(rename) X(link) X(mkdir) X(remove) X(close) X(map) X(dir) X(lock) X(thread) X(pipe) X(process) X(mode)
enum kind {
#define ENUM(name) K_##name,
  KINDS(ENUM) KIND_COUNT
};
static const char *const kind_names[] = {
#define NAME(name) #name,
    KINDS(NAME)};

enum mode { ONCE, FROM_THEN_ON, SHORT, STOP };

static struct {
  bool on; /* in main */
  uint32_t kinds;
  uint64_t n;
  enum mode mode;
  int error;
  const char *report, *sites_file;
  uint32_t *sites[KIND_COUNT]; /* of each call where it comes from; NULL unless asked for */
  atomic_uint_fast64_t seen;   /* of the kinds that may fail */
  atomic_uint_fast64_t counts[KIND_COUNT];
} faults;

static int default_error(enum kind kind) {
  return kind == K_alloc || kind == K_map      ? ENOMEM
       : kind == K_thread || kind == K_process ? EAGAIN
       : kind == K_pipe                        ? EMFILE
                                               : EIO;
}

enum { SITES_MAX = 1 << 21, DEPTH_MAX = 48 };

/* The program's files in memory; dladdr would search their symbols. */
static struct { uintptr_t begin, end; } files[64];
static int file_count;

static int note_file(struct dl_phdr_info *info, size_t bytes, void *ctx) {
  (void)bytes, (void)ctx;
  if (file_count == sizeof files / sizeof *files)
    return 1;
  files[file_count].begin = files[file_count].end = info->dlpi_addr;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    uintptr_t end = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
    if (info->dlpi_phdr[i].p_type == PT_LOAD && end > files[file_count].end)
      files[file_count].end = end;
  }
  file_count++;
  return 0;
}

static uintptr_t within_file(void *address) {
  uintptr_t at = (uintptr_t)address;
  for (int i = 0; i < file_count; i++)
    if (at >= files[i].begin && at < files[i].end)
      return at - files[i].begin + ((uintptr_t)i << 40);
  return 0;
}

struct walk {
  void *frames[DEPTH_MAX];
  int depth;
};

/* Unlike backtrace(3) this loads no library, whose memory would look like a leak. */
static _Unwind_Reason_Code take_frame(struct _Unwind_Context *context, void *ctx) {
  struct walk *walk = ctx;
  if (walk->depth == DEPTH_MAX)
    return _URC_END_OF_STACK;
  walk->frames[walk->depth++] = (void *)_Unwind_GetIP(context);
  return _URC_NO_REASON;
}

/* A hash of the return addresses. The unwinder's own calls are none of the program's. */
static void note_site(enum kind kind, uint64_t index) {
  static _Thread_local bool inside;
  if (inside || index >= SITES_MAX)
    return;
  inside = true;
  struct walk walk = {.depth = 0};
  _Unwind_Backtrace(take_frame, &walk);
  uint64_t hash = 1469598103934665603u;
  for (int i = 0; i < walk.depth; i++)
    hash = (hash ^ within_file(walk.frames[i])) * 1099511628211u;
  faults.sites[kind][index] = (uint32_t)(hash >> 32);
  inside = false;
}

/* Counts a call. True when it is to fail, with errno set; a short one succeeds in part. */
static bool hit(enum kind kind) {
  if (!faults.on)
    return false;
  uint64_t index = atomic_fetch_add(&faults.counts[kind], 1);
  if (faults.sites_file)
    note_site(kind, index);
  if (!(faults.kinds & 1u << kind) || !faults.n)
    return false;
  uint64_t number = atomic_fetch_add(&faults.seen, 1) + 1;
  if (number < faults.n || (number > faults.n && faults.mode != FROM_THEN_ON))
    return false;
  if (faults.mode == STOP)
    raise(SIGTRAP);
  errno = faults.error ? faults.error : default_error(kind);
  return faults.mode != STOP;
}

static bool fails(enum kind kind) { return hit(kind) && faults.mode != SHORT; }

/* For calls that may do less than they were asked to; *bytes becomes how much. */
static bool fails_or_short(enum kind kind, size_t *bytes) {
  if (!hit(kind))
    return false;
  if (faults.mode == SHORT)
    *bytes = (*bytes + 1) / 2;
  return faults.mode != SHORT;
}

/* --- allocations: of whatever allocator comes next, so that sanitizers keep theirs ------------- */

static void *(*next_malloc)(size_t), *(*next_calloc)(size_t, size_t), *(*next_realloc)(void *, size_t);
static void *(*next_memalign)(size_t, size_t);
static void (*next_free)(void *);

/* dlsym itself may allocate before anything is found. */
static _Alignas(16) char early[8192];
static size_t early_used;
static bool is_early(const void *p) { return (const char *)p >= early && (const char *)p < early + sizeof early; }

static void *early_alloc(size_t bytes) {
  size_t need = (bytes + 15) / 16 * 16;
  if (need > sizeof early - early_used)
    abort();
  early_used += need;
  return early + early_used - need;
}

/* ISO C has no conversion from dlsym's result to a function. */
static void look_up(void *function, const char *name) {
  void *found = dlsym(RTLD_NEXT, name);
  memcpy(function, &found, sizeof found);
}

static void find_allocator(void) {
  static bool looking;
  if (looking)
    return;
  looking = true;
  look_up(&next_calloc, "calloc");
  look_up(&next_realloc, "realloc");
  look_up(&next_memalign, "memalign");
  look_up(&next_free, "free");
  look_up(&next_malloc, "malloc");
}

void *malloc(size_t bytes) {
  if (!next_malloc)
    find_allocator();
  if (!next_malloc)
    return early_alloc(bytes);
  return fails(K_alloc) ? NULL : next_malloc(bytes);
}

void *calloc(size_t count, size_t bytes) {
  if (!next_malloc)
    find_allocator();
  if (!next_malloc)
    return early_alloc(count * bytes);
  return fails(K_alloc) ? NULL : next_calloc(count, bytes);
}

void *realloc(void *old, size_t bytes) {
  if (!next_malloc)
    find_allocator();
  if (is_early(old)) {
    void *fresh = malloc(bytes);
    return fresh ? memcpy(fresh, old,
                          bytes < (size_t)(early + sizeof early - (char *)old)
                              ? bytes
                              : (size_t)(early + sizeof early - (char *)old))
                 : NULL;
  }
  return fails(K_alloc) ? NULL : next_realloc(old, bytes);
}

void *reallocarray(void *old, size_t count, size_t bytes) {
  if (bytes && count > SIZE_MAX / bytes) {
    errno = ENOMEM;
    return NULL;
  }
  return realloc(old, count * bytes);
}

void *memalign(size_t alignment, size_t bytes) {
  if (!next_malloc)
    find_allocator();
  return fails(K_alloc) ? NULL : next_memalign(alignment, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }

int posix_memalign(void **out, size_t alignment, size_t bytes) {
  void *p = memalign(alignment, bytes);
  if (p)
    *out = p;
  return p ? 0 : ENOMEM;
}

void free(void *p) {
  if (p && !is_early(p) && next_free)
    next_free(p);
}

/* --- other calls: each counted, then made by the library that comes next ----------------------- */

#define NEXT(type, name, ...)       \
  static type (*next)(__VA_ARGS__); \
  if (!next)                        \
  look_up(&next, name)

static int open_at(int directory, const char *path, int flags, mode_t mode) {
  return fails(K_open) ? -1 : (int)syscall(SYS_openat, directory, path, flags, mode);
}

static mode_t mode_of(int flags, va_list ap) {
  return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(ap, mode_t) : 0;
}

#define OPEN(name)                               \
  int name(const char *path, int flags, ...) {   \
    va_list ap;                                  \
    va_start(ap, flags);                         \
    mode_t mode = mode_of(flags, ap);            \
    va_end(ap);                                  \
    return open_at(AT_FDCWD, path, flags, mode); \
  }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                          \
  int name(int directory, const char *path, int flags, ...) { \
    va_list ap;                                               \
    va_start(ap, flags);                                      \
    mode_t mode = mode_of(flags, ap);                         \
    va_end(ap);                                               \
    return open_at(directory, path, flags, mode);             \
  }
OPENAT(openat)
OPENAT(openat64)

ssize_t read(int fd, void *to, size_t bytes) {
  return fails_or_short(K_read, &bytes) ? -1 : syscall(SYS_read, fd, to, bytes);
}

ssize_t pread(int fd, void *to, size_t bytes, off_t at) {
  return fails_or_short(K_read, &bytes) ? -1 : syscall(SYS_pread64, fd, to, bytes, at);
}
ssize_t pread64(int fd, void *to, size_t bytes, off_t at) { return pread(fd, to, bytes, at); }

ssize_t write(int fd, const void *from, size_t bytes) {
  return fails_or_short(K_write, &bytes) ? -1 : syscall(SYS_write, fd, from, bytes);
}

ssize_t pwrite(int fd, const void *from, size_t bytes, off_t at) {
  return fails_or_short(K_write, &bytes) ? -1 : syscall(SYS_pwrite64, fd, from, bytes, at);
}
ssize_t pwrite64(int fd, const void *from, size_t bytes, off_t at) { return pwrite(fd, from, bytes, at); }

ssize_t copy_file_range(int from, off_t *from_at, int to, off_t *to_at, size_t bytes, unsigned flags) {
  return fails_or_short(K_write, &bytes) ? -1 : syscall(SYS_copy_file_range, from, from_at, to, to_at, bytes, flags);
}

#define STAT(name, type, result)                \
  int name(type what, struct result *st) {      \
    NEXT(int, #name, type, struct result *);    \
    return fails(K_stat) ? -1 : next(what, st); \
  }
STAT(fstat, int, stat)
STAT(fstat64, int, stat64)
STAT(stat, const char *, stat)
STAT(stat64, const char *, stat64)
STAT(lstat, const char *, stat)
STAT(lstat64, const char *, stat64)

int fstatat(int directory, const char *path, struct stat *st, int flags) {
  NEXT(int, "fstatat", int, const char *, struct stat *, int);
  return fails(K_stat) ? -1 : next(directory, path, st, flags);
}

int statx(int directory, const char *path, int flags, unsigned mask, struct statx *st) {
  return fails(K_stat) ? -1 : (int)syscall(SYS_statx, directory, path, flags, mask, st);
}

int faccessat(int directory, const char *path, int how, int flags) {
  NEXT(int, "faccessat", int, const char *, int, int);
  return fails(K_stat) ? -1 : next(directory, path, how, flags);
}
int access(const char *path, int how) { return faccessat(AT_FDCWD, path, how, 0); }

int ftruncate(int fd, off_t bytes) { return fails(K_space) ? -1 : (int)syscall(SYS_ftruncate, fd, bytes); }
int ftruncate64(int fd, off_t bytes) { return ftruncate(fd, bytes); }

int posix_fallocate(int fd, off_t at, off_t bytes) {
  NEXT(int, "posix_fallocate", int, off_t, off_t);
  return fails(K_space) ? errno : next(fd, at, bytes);
}
int posix_fallocate64(int fd, off_t at, off_t bytes) { return posix_fallocate(fd, at, bytes); }

int fsync(int fd) { return fails(K_space) ? -1 : (int)syscall(SYS_fsync, fd); }
int fdatasync(int fd) { return fails(K_space) ? -1 : (int)syscall(SYS_fdatasync, fd); }

int renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags) {
  return fails(K_rename) ? -1 : (int)syscall(SYS_renameat2, from_dir, from, to_dir, to, flags);
}
int renameat(int from_dir, const char *from, int to_dir, const char *to) {
  return renameat2(from_dir, from, to_dir, to, 0);
}
int rename(const char *from, const char *to) { return renameat2(AT_FDCWD, from, AT_FDCWD, to, 0); }

int linkat(int from_dir, const char *from, int to_dir, const char *to, int flags) {
  return fails(K_link) ? -1 : (int)syscall(SYS_linkat, from_dir, from, to_dir, to, flags);
}
int link(const char *from, const char *to) { return linkat(AT_FDCWD, from, AT_FDCWD, to, 0); }

int mkdirat(int directory, const char *path, mode_t mode) {
  return fails(K_mkdir) ? -1 : (int)syscall(SYS_mkdirat, directory, path, mode);
}
int mkdir(const char *path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }

char *mkdtemp(char *pattern) {
  NEXT(char *, "mkdtemp", char *);
  return fails(K_mkdir) ? NULL : next(pattern);
}

int mkostemp(char *pattern, int flags) {
  NEXT(int, "mkostemp", char *, int);
  return fails(K_open) ? -1 : next(pattern, flags);
}
int mkostemp64(char *pattern, int flags) { return mkostemp(pattern, flags); }

int unlinkat(int directory, const char *path, int flags) {
  return fails(K_remove) ? -1 : (int)syscall(SYS_unlinkat, directory, path, flags);
}
int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }
int rmdir(const char *path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }

/* Linux closes the descriptor whatever it returns. */
int close(int fd) {
  bool failed = fails(K_close);
  int error = errno, rc = (int)syscall(SYS_close, fd);
  if (failed)
    errno = error;
  return failed ? -1 : rc;
}

void *mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset) {
  return fails(K_map) ? MAP_FAILED : (void *)syscall(SYS_mmap, at, bytes, protection, flags, fd, offset);
}
void *mmap64(void *at, size_t bytes, int protection, int flags, int fd, off_t offset) {
  return mmap(at, bytes, protection, flags, fd, offset);
}

DIR *fdopendir(int fd) {
  NEXT(DIR *, "fdopendir", int);
  return fails(K_dir) ? NULL : next(fd);
}

struct dirent *readdir(DIR *dir) {
  NEXT(struct dirent *, "readdir", DIR *);
  return fails(K_dir) ? NULL : next(dir);
}
struct dirent64 *readdir64(DIR *dir) {
  return (struct dirent64 *)readdir(dir);
}

DIR *opendir(const char *path) {
  NEXT(DIR *, "opendir", const char *);
  return fails(K_dir) ? NULL : next(path);
}

typedef int choose_fn(const struct dirent *);
typedef int compare_fn(const struct dirent **, const struct dirent **);
int scandir(const char *path, struct dirent ***list, choose_fn *choose, compare_fn *compare) {
  NEXT(int, "scandir", const char *, struct dirent ***, choose_fn *, compare_fn *);
  return fails(K_dir) ? -1 : next(path, list, choose, compare);
}
int scandir64(const char *path, struct dirent64 ***list, int (*choose)(const struct dirent64 *),
              int (*compare)(const struct dirent64 **, const struct dirent64 **)) {
  return scandir(path, (struct dirent ***)list, (choose_fn *)choose, (compare_fn *)compare);
}

char *getcwd(char *to, size_t bytes) {
  NEXT(char *, "getcwd", char *, size_t);
  return fails(K_dir) ? NULL : next(to, bytes);
}

char *realpath(const char *path, char *to) {
  NEXT(char *, "realpath", const char *, char *);
  return fails(K_dir) ? NULL : next(path, to);
}
/* What a release build calls. */
char *__realpath_chk(const char *path, char *to, size_t bytes);
char *__realpath_chk(const char *path, char *to, size_t bytes) {
  (void)bytes;
  return realpath(path, to);
}

int flock(int fd, int operation) { return fails(K_lock) ? -1 : (int)syscall(SYS_flock, fd, operation); }

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *ctx) {
  NEXT(int, "pthread_create", pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  return fails(K_thread) ? errno : next(thread, attributes, run, ctx);
}

int pipe2(int ends[2], int flags) { return fails(K_pipe) ? -1 : (int)syscall(SYS_pipe2, ends, flags); }
int pipe(int ends[2]) { return pipe2(ends, 0); }
int dup(int fd) { return fails(K_pipe) ? -1 : (int)syscall(SYS_dup, fd); }
int dup2(int from, int to) { return fails(K_pipe) ? -1 : (int)syscall(SYS_dup3, from, to, 0); }

pid_t fork(void) {
  NEXT(pid_t, "fork", void);
  return fails(K_process) ? -1 : next();
}

int fchmod(int fd, mode_t mode) { return fails(K_mode) ? -1 : (int)syscall(SYS_fchmod, fd, mode); }
int chmod(const char *path, mode_t mode) {
  return fails(K_mode) ? -1 : (int)syscall(SYS_fchmodat, AT_FDCWD, path, mode);
}
int fchmodat(int directory, const char *path, mode_t mode, int flags) {
  NEXT(int, "fchmodat", int, const char *, mode_t, int);
  return fails(K_mode) ? -1 : next(directory, path, mode, flags);
}
int utimensat(int directory, const char *path, const struct timespec times[2], int flags) {
  return fails(K_mode) ? -1 : (int)syscall(SYS_utimensat, directory, path, times, flags);
}

/* --- the program's main ----------------------------------------------------------------------- */

static void configure(void) {
  const char *kinds = getenv("NAI_FAULT_KIND"), *n = getenv("NAI_FAULT_N"), *mode = getenv("NAI_FAULT_MODE");
  const char *error = getenv("NAI_FAULT_ERRNO");
  for (int k = 0; kinds && k < KIND_COUNT; k++)
    for (const char *at = kinds; (at = strstr(at, kind_names[k])); at++) {
      char behind = at[strlen(kind_names[k])];
      if ((at == kinds || at[-1] == ',') && (!behind || behind == ','))
        faults.kinds |= 1u << k;
    }
  faults.n = n ? strtoull(n, NULL, 10) : 0;
  faults.mode = !mode || !strcmp(mode, "once") ? ONCE
              : !strcmp(mode, "on")            ? FROM_THEN_ON
              : !strcmp(mode, "stop")          ? STOP
                                               : SHORT;
  faults.error = error ? atoi(error) : 0;
  faults.report = getenv("NAI_FAULT_REPORT");
  faults.sites_file = getenv("NAI_FAULT_SITES");
  for (int k = 0; faults.sites_file && k < KIND_COUNT; k++)
    faults.sites[k] = (uint32_t *)syscall(SYS_mmap, NULL, SITES_MAX * sizeof(uint32_t), PROT_READ | PROT_WRITE,
                                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (faults.sites_file) {
    _Unwind_Backtrace(take_frame, &(struct walk){.depth = 0}); /* what the first one sets up is none of the program's */
    dl_iterate_phdr(note_file, NULL);
  }
}

static void report_sites(void) {
  FILE *f = faults.sites_file ? fopen(faults.sites_file, "w") : NULL;
  for (int k = 0; f && k < KIND_COUNT; k++) {
    uint64_t count = atomic_load(&faults.counts[k]);
    fprintf(f, "%s", kind_names[k]);
    for (uint64_t i = 0; i < count && i < SITES_MAX; i++)
      fprintf(f, " %x", faults.sites[k][i]);
    fputc('\n', f);
  }
  if (f)
    fclose(f);
}

static void report(void) {
  faults.on = false;
  report_sites();
  int fd = faults.report ? (int)syscall(SYS_openat, AT_FDCWD, faults.report, O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;
  for (int k = 0; fd >= 0 && k < KIND_COUNT; k++)
    dprintf(fd, "%s %llu\n", kind_names[k], (unsigned long long)atomic_load(&faults.counts[k]));
  if (fd >= 0)
    syscall(SYS_close, fd);
}

static int (*real_main)(int, char **, char **);

static int counted_main(int argc, char **argv, char **environment) {
  configure();
  faults.on = true;
  int rc = real_main(argc, argv, environment);
  report();
  return rc;
}

int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*linker_fini)(void), void *stack_end);
int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void), void (*fini)(void),
                      void (*linker_fini)(void), void *stack_end) {
  int (*next)(int (*)(int, char **, char **), int, char **, void (*)(void), void (*)(void), void (*)(void), void *);
  look_up(&next, "__libc_start_main");
  real_main = main;
  return next(counted_main, argc, argv, init, fini, linker_fini, stack_end);
}
