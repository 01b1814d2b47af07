/* From an .nsys-rep to an export, by the user's own nsys. */
#include "command/command.h"

#include "base/cache.h"
#include "base/escape.h"
#include "base/fmt.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/program.h"
#include "base/stamp.h"
#include "trace/parquet/folder.h"

#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const int64_t max_cache_bytes = INT64_C(16) << 30;
enum { NAME_DIGITS = 32, MAX_HELP = 1 << 20 };

/* An export that is made. */
struct job {
  const char *report, *nsys;
  bool quiet, again;
  sigset_t signals; /* blocked meanwhile */
  int asked;        /* the signal that ends this process, 0 for none */
};

/* --- the program and the option ----------------------------------------------------------------------- */

/* The last of the files that match: versions are part of their directories' names. */
static bool last_match(char out[PATH_MAX], const char *pattern) {
  glob_t found;
  bool any = glob(pattern, 0, NULL, &found) == 0 && found.gl_pathc > 0;
  if (any)
    snprintf(out, PATH_MAX, "%s", found.gl_pathv[found.gl_pathc - 1]);
  globfree(&found);
  return any;
}

bool nai_cmd_find_nsys(char out[PATH_MAX]) {
  static const char *const places[] = {"/opt/nvidia/nsight-systems*/*/bin/nsys", "/usr/local/cuda/bin/nsys",
                                       "/usr/local/cuda-*/bin/nsys"};
  const char *told = getenv("NSYS");
  if (told) {
    snprintf(out, PATH_MAX, "%s", told);
    return *told && access(told, X_OK) == 0;
  }
  if (nai_program_find(out, "nsys"))
    return true;
  for (size_t i = 0; i < sizeof places / sizeof *places; i++)
    if (last_match(out, places[i]))
      return true;
  return false;
}

/* In the environment, for the processes that a batch or a server starts, too. */
static int set_no_export(void *args, const struct nai_cli_option *option, const char *const *values,
                         struct nai_err *err) {
  (void)args, (void)option, (void)values;
  return setenv("NSYS", "", 1) ? nai_err_nomem(err) : NAI_OK;
}
const struct nai_cli_type nai_cmd_no_export = {set_no_export, NULL};

/* Length of a report's name without its suffix, 0 for any other file. */
static size_t stem_of(const char *name) {
  static const char *const suffixes[] = {".nsys-rep", ".qdrep"};
  size_t n = strlen(name);
  for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
    size_t m = strlen(suffixes[i]);
    if (n > m && strcmp(name + n - m, suffixes[i]) == 0)
      return n - m;
  }
  return 0;
}

static bool runs_nsys(const char *path) {
  return stem_of(nai_fs_basename(path)) && nai_fs_is_regular(path) && nai_cmd_find_nsys((char[PATH_MAX]){0});
}

/* --- the cache ---------------------------------------------------------------------------------------- */

static bool is_own(const char *name) {
  return strlen(name) == NAME_DIGITS && strspn(name, "0123456789abcdef") == NAME_DIGITS;
}

/* The same for the same report, unchanged, and the same nsys. */
static int name_entry(char name[NAME_DIGITS + 1], const struct job *job, struct nai_err *err) {
  NAI_FREED char *report = realpath(job->report, NULL);
  NAI_FREED char *nsys = report ? realpath(job->nsys, NULL) : NULL;
  struct nai_stamp stamp, program;
  struct stat st;
  uint64_t hashes[2];
  if (!nsys || stat(report, &st) || nai_stamp_of(&stamp, report) || nai_stamp_of(&program, nsys))
    return nai_err_sys(err, NAI_EINPUT, errno, "cannot examine \"%s\"", job->report);
  const int64_t numbers[] = {(int64_t)st.st_ino, stamp.bytes, stamp.mtime_ns, program.bytes, program.mtime_ns};
  for (int i = 0; i < 2; i++) {
    hashes[i] = nai_hash_text(nai_hash_text((uint64_t)i, report), nsys);
    for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++)
      hashes[i] = nai_hash_int(hashes[i], numbers[n]);
  }
  snprintf(name, NAME_DIGITS + 1, "%016" PRIx64 "%016" PRIx64, hashes[0], hashes[1]);
  return NAI_OK;
}

/* The directory of the report's export, made or not; "" where none can be kept, or the report itself is not (bisect).
 */
static int find_entry(char entry[PATH_MAX], char place[PATH_MAX], const struct job *job, struct nai_err *err) {
  char name[NAME_DIGITS + 1];
  struct nai_err ignored;
  *entry = '\0';
  if (strstr(job->report, NAI_TEMPORARY_SUFFIX "/") || !nai_cache_place(place, "exports") ||
      nai_fs_mkdir_all(place, &ignored) || chmod(place, 0700))
    return NAI_OK;
  NAI_TRY(name_entry(name, job, err));
  if (!nai_fs_join(entry, PATH_MAX, place, name))
    *entry = '\0';
  return NAI_OK;
}

/* SQLite cannot write where files cannot be locked, which is so on some file systems of clusters. */
static bool has_locks(int fd) {
  struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  return fcntl(fd, F_SETLK, &whole) == 0;
}

/* A directory for the export: beside what it is going to be in the cache, else below TMPDIR. */
static int make_directory(struct nai_temporary *out, bool *kept, const char *entry, const char *place,
                          struct nai_err *err) {
  if (*kept) {
    nai_temporary_sweep(place);
    *kept = nai_temporary_beside(out, entry, err) == NAI_OK;
  }
  if (*kept && has_locks(out->mark))
    return NAI_OK;
  if (*kept)
    nai_cmd_remove(out);
  *kept = false;
  return nai_temporary_in(out, nai_temporary_place(), err);
}

/* Name of the export: that of the report with another suffix, so that it appears in the outputs. */
static char *export_path(const char *directory, const char *report) {
  const char *name = nai_fs_basename(report);
  char *path = NULL;
  return asprintf(&path, "%s/%.*s.sqlite", directory, (int)stem_of(name), name) < 0 ? NULL : path;
}

/* --- running it --------------------------------------------------------------------------------------- */

static _Noreturn void become(const char *const *argv, const struct job *job, int output, bool silent, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent || dup2(output, STDOUT_FILENO) < 0 || (silent && dup2(output, STDERR_FILENO) < 0))
    _exit(EXIT_FAILURE);
  sigprocmask(SIG_UNBLOCK, &job->signals, NULL);
  execv(argv[0], (char *const *)argv);
  dprintf(STDERR_FILENO, "nsys-ai: cannot run nsys: %s\n", strerror(errno));
  _exit(EXIT_FAILURE);
}

static void show(const struct job *job, const char *output, int64_t seconds) {
  NAI_SCOPED(nai_buf) line = {0};
  const char *name = nai_fs_basename(job->report);
  struct stat st;
  nai_escape_terminal(&line, name, strlen(name));
  nai_buf_printf(&line, ": exporting, %" PRId64 " s", seconds);
  if (stat(output, &st) == 0) {
    nai_buf_puts(&line, ", ");
    nai_fmt_bytes(&line, (double)st.st_size);
  }
  fprintf(stderr, "\r\033[Knsys-ai: %s", nai_buf_str(&line));
}

/* Until it ends. A signal that ends this process is passed on; the second one kills. */
static int await(pid_t child, struct job *job, const char *output) {
  const bool shown = output && !job->quiet && isatty(STDERR_FILENO);
  const struct timespec second = {.tv_sec = 1};
  const time_t begun = time(NULL);
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    int got = sigtimedwait(&job->signals, NULL, &second);
    if (got > 0 && got != SIGCHLD) {
      kill(child, job->asked ? SIGKILL : SIGTERM);
      job->asked = got;
    }
    if (shown)
      show(job, output, time(NULL) - begun);
  }
  if (shown)
    fprintf(stderr, "\r\033[K");
  return WIFSIGNALED(status) ? NAI_PROGRAM_SIGNAL + WTERMSIG(status) : WEXITSTATUS(status);
}

/* `output`: the file that grows meanwhile, or NULL. */
static int run_nsys(int *status, struct job *job, const char *const *argv, int to, const char *output,
                    struct nai_err *err) {
  pid_t self = getpid(), child;
  fflush(NULL);
  child = fork();
  if (child == 0)
    become(argv, job, to, !output, self);
  if (child < 0)
    return nai_err_sys(err, NAI_ELIMIT, errno, "cannot run %s", job->nsys);
  *status = await(child, job, output);
  return job->asked ? nai_err_set(err, NAI_EINPUT, "the export of \"%s\" was ended", job->report) : NAI_OK;
}

/* Payloads of NVTX ranges, which say what NCCL calls transfer, as bytes and (nsys -t nccl) as JSON: not all versions
 * can export them. */
enum { PAYLOADS = 2 };
static const char *const payloads[PAYLOADS] = {"--include-blobs=true", "--include-json=true"};

static int takes_payloads(bool takes[PAYLOADS], struct job *job, struct nai_err *err) {
  const char *const argv[] = {job->nsys, "export", "--help", NULL};
  NAI_SCOPED(nai_buf) help = {0};
  NAI_CLOSED int fd = nai_fs_unnamed(nai_temporary_place());
  struct nai_err ignored;
  int status = 0;
  if (fd < 0)
    return nai_err_sys(err, NAI_EIO, errno, "cannot write to \"%s\"", nai_temporary_place());
  NAI_TRY(run_nsys(&status, job, argv, fd, NULL, err));
  bool read = lseek(fd, 0, SEEK_SET) == 0 && nai_fs_read_fd(&help, fd, "help", MAX_HELP, NAI_EIO, &ignored) == NAI_OK;
  for (int i = 0; i < PAYLOADS; i++) {
    char option[24];
    snprintf(option, sizeof option, "%.*s", (int)strcspn(payloads[i], "="), payloads[i]);
    takes[i] = read && strstr(nai_buf_str(&help), option);
  }
  return NAI_OK;
}

static void show_command(const char *const *argv) {
  NAI_SCOPED(nai_buf) line = {0};
  for (; *argv; argv++) {
    bool plain = !strpbrk(*argv, " \t\n'\"\\$`&|;<>()*?[]#~!{}");
    plain ? nai_buf_puts(&line, *argv) : nai_cmd_put_quoted(&line, *argv);
    nai_buf_puts(&line, argv[1] ? " " : "");
  }
  nai_cmd_note(nai_buf_str(&line));
}

/* Whether a file is there that begins as SQLite's do. */
static int look_for_database(bool *is, const char *path, struct nai_err *err) {
  static const char magic[] = "SQLite format 3";
  char head[sizeof magic] = "";
  NAI_CLOSED int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  ssize_t n = fd < 0 ? -1 : nai_fs_read_upto(fd, head, sizeof head, 0);
  *is = n == sizeof head && memcmp(head, magic, sizeof head) == 0;
  return n >= 0 || nai_fs_is_absent(errno) ? NAI_OK
                                           : nai_err_sys(err, NAI_EINPUT, errno, "cannot read the export \"%s\"", path);
}

static int refuse_status(int status, const struct job *job, struct nai_err *err) {
  const char *said = "its messages are above; --no-export leaves it to you";
  if (status > NAI_PROGRAM_SIGNAL)
    return nai_err_set(err, NAI_EINPUT, "nsys export failed for \"%s\": it was ended by signal %d; %s", job->report,
                       status - NAI_PROGRAM_SIGNAL, said);
  return nai_err_set(err, NAI_EINPUT, "nsys export failed for \"%s\" with exit status %d; %s", job->report, status,
                     said);
}

/* A word that is no option, whatever the report is called. */
static int put_operand(struct nai_buf *out, const char *path, struct nai_err *err) {
  nai_buf_printf(out, "%s%s", *path == '-' ? "./" : "", path);
  return nai_buf_check(out, err);
}

static int export_to(const char *output, struct job *job, struct nai_err *err) {
  NAI_SCOPED(nai_buf) report = {0};
  NAI_CLOSED int null = open("/dev/null", O_WRONLY | O_CLOEXEC); /* stdout is for our data */
  bool takes[PAYLOADS] = {false}, made;
  int status = 0;
  NAI_TRY(put_operand(&report, job->report, err));
  NAI_TRY(takes_payloads(takes, job, err));
  const char *argv[12] = {job->nsys, "export", "--type", "sqlite", "--force-overwrite", "true"};
  size_t n = 6;
  for (int i = 0; i < PAYLOADS; i++)
    if (takes[i])
      argv[n++] = payloads[i];
  argv[n++] = "--output";
  argv[n++] = output;
  argv[n++] = nai_buf_str(&report);
  if (!job->quiet)
    show_command(argv);
  if (null < 0)
    return nai_err_sys(err, NAI_ELIMIT, errno, "cannot run %s", job->nsys);
  NAI_TRY(run_nsys(&status, job, argv, null, output, err));
  if (status)
    return refuse_status(status, job, err);
  NAI_TRY(look_for_database(&made, output, err));
  return made ? NAI_OK : nai_err_set(err, NAI_EINPUT, "nsys export wrote no SQLite file for \"%s\"", job->report);
}

void nai_cmd_ending_signals(sigset_t *signals) {
  static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
  sigemptyset(signals);
  sigaddset(signals, SIGCHLD);
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
    struct sigaction now;
    if (sigaction(ends[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
      sigaddset(signals, ends[i]);
  }
}

/* --- all of it ---------------------------------------------------------------------------------------- */

/* Puts an export into the cache, unless the report has become another one meanwhile. Where another process was faster,
 * its export is taken. */
static int publish(struct nai_cmd_export *out, const char *entry, const char *place, const struct job *job,
                   struct nai_err *err) {
  char now[NAME_DIGITS + 1];
  NAI_TRY(name_entry(now, job, err));
  if (strcmp(now, nai_fs_basename(entry)) != 0)
    return nai_err_set(err, NAI_EINPUT, "\"%s\" was written to while it was exported; run again", job->report);
  if (job->again)
    NAI_TRY(nai_fs_remove_tree(entry, err));
  int busy = nai_temporary_become(&out->directory, entry);
  free(out->path);
  out->path = export_path(entry, job->report);
  NAI_TRY(nai_memory_check(out->path, err));
  if (busy) {
    bool theirs;
    NAI_TRY(look_for_database(&theirs, out->path, err));
    if (!theirs)
      return nai_err_sys(err, NAI_EIO, busy, "cannot keep the export \"%s\"", entry);
    nai_cmd_remove(&out->directory);
  }
  nai_cache_sweep(place, is_own, max_cache_bytes);
  return NAI_OK;
}

static int make_export(struct nai_cmd_export *out, const char *entry, const char *place, struct job *job,
                       struct nai_err *err) {
  bool kept = *entry;
  NAI_TRY(make_directory(&out->directory, &kept, entry, place, err));
  out->path = export_path(out->directory.path, job->report);
  NAI_TRY(nai_memory_check(out->path, err));
  NAI_TRY(export_to(out->path, job, err));
  return kept ? publish(out, entry, place, job, err) : NAI_OK;
}

/* What is asked to end ends when nothing is left behind. */
static int make_uninterrupted(struct nai_cmd_export *out, const char *entry, const char *place, struct job *job,
                              struct nai_err *err) {
  sigset_t before;
  nai_cmd_ending_signals(&job->signals);
  sigprocmask(SIG_BLOCK, &job->signals, &before);
  int rc = make_export(out, entry, place, job, err);
  if (rc) {
    nai_cmd_export_free(out);
    *out = (struct nai_cmd_export){0};
  }
  if (job->asked)
    raise(job->asked); /* once it is no longer blocked */
  sigprocmask(SIG_SETMASK, &before, NULL);
  return rc;
}

/* out->path stays NULL where none is kept. */
static int take_kept(struct nai_cmd_export *out, const char *entry, const struct job *job, struct nai_err *err) {
  NAI_FREED char *path = export_path(entry, job->report);
  bool is = false;
  NAI_TRY(nai_memory_check(path, err));
  NAI_TRY(look_for_database(&is, path, err));
  if (!is)
    return NAI_OK;
  nai_cache_touch(entry);
  if (!job->quiet) {
    NAI_SCOPED(nai_buf) line = {0};
    nai_buf_printf(&line, "exported before: %s", path);
    nai_cmd_note(nai_buf_str(&line));
  }
  out->path = path;
  path = NULL;
  return NAI_OK;
}

bool nai_cmd_export_runs(const char *path) {
  return runs_nsys(path) || nai_cmd_is_compressed(path) || nai_cmd_is_parquet(path);
}

/* The outputs name the folder. */
static int open_folder(struct nai_cmd_export *out, const char *path, bool quiet, struct nai_err *err) {
  NAI_FREED char *whole = realpath(path, NULL), *spare = NULL;
  NAI_TRY(nai_temporary_in(&out->directory, nai_temporary_place(), err));
  if (!whole || asprintf(&out->path, "%s/%s", out->directory.path, nai_fs_basename(whole)) < 0 ||
      asprintf(&spare, "%s/.pages", out->directory.path) < 0)
    return nai_err_nomem(err);
  if (!quiet)
    nai_cmd_note("reading a Parquet folder, which is experimental: no folder that nsys wrote was seen yet");
  return nai_parquet_import(out->path, spare, path, err);
}

static int refuse_directory(const char *path, struct nai_err *err) {
  NAI_SCOPED(nai_buf) word = {0};
  nai_cmd_put_quoted(&word, path);
  return nai_err_set(err, NAI_EINPUT,
                     nai_cmd_is_run(path)
                         ? "\"%s\" is a run, not a trace: nsys-ai summary %s prints what it found"
                         : "\"%s\" is a directory: nsys-ai batch %s --out DIR reports on the traces in it",
                     path, nai_buf_str(&word));
}

int nai_cmd_export_open(struct nai_cmd_export *out, const char *path, int how, struct nai_err *err) {
  char nsys[PATH_MAX], entry[PATH_MAX], place[PATH_MAX];
  struct job job = {
      .report = path, .nsys = nsys, .quiet = how & NAI_CMD_EXPORT_QUIET, .again = how & NAI_CMD_EXPORT_AGAIN};
  *out = (struct nai_cmd_export){0};
  if (nai_cmd_is_parquet(path))
    return open_folder(out, path, job.quiet, err);
  if (nai_fs_is_dir(path) || nai_cmd_is_run(path))
    return refuse_directory(path, err);
  if (nai_cmd_is_compressed(path))
    return nai_cmd_decompress(out, path, err);
  if (!runs_nsys(path)) {
    out->path = strdup(path); /* the message for a report that cannot be exported here comes from opening it */
    return out->path ? NAI_OK : nai_err_nomem(err);
  }
  (void)nai_cmd_find_nsys(nsys);
  NAI_TRY(find_entry(entry, place, &job, err));
  if (*entry && !job.again)
    NAI_TRY(take_kept(out, entry, &job, err));
  job.again = job.again || nai_fs_exists(entry); /* what is there is no export (any longer) */
  return out->path ? NAI_OK : make_uninterrupted(out, entry, place, &job, err);
}

void nai_cmd_export_free(struct nai_cmd_export *out) {
  nai_cmd_remove(&out->directory);
  free(out->path);
}

void nai_cmd_remove(struct nai_temporary *temporary) {
  struct nai_temporary t = *temporary;
  if (!nai_temporary_remove(temporary))
    fprintf(stderr, "nsys-ai: cannot remove %s\n", t.path);
}
