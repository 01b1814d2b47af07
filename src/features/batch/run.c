/* One process per item: what goes wrong in one costs that one. */
#include "features/batch/internal.h"

#include "base/clock.h"
#include "base/fs.h"
#include "features/batch/scratch.h"
#include "base/escape.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Measured is 0.6 times the trace's size for large ones (docs/batch.md), and 15 MiB at least. */
int64_t nai_batch_memory(int64_t trace_bytes) {
  enum { BASE_MIB = 256 };
  return ((int64_t)BASE_MIB << 20) + trace_bytes;
}

struct worker {
  pid_t pid; /* 0: free */
  uint32_t item;
  int64_t started_ms;
  bool timed_out;
  struct nai_batch_scratch scratch;
};

struct pool {
  const struct nai_batch *b;
  struct worker *workers;
  int size, running;
  int threads;
  sigset_t mask; /* the one children get back */
};

/* --- in the child ----------------------------------------------------------------------------- */

/* Everything it writes on stderr is in its log; it does not outlive the pool. */
static void prepare_child(const struct pool *pool, const char *log, pid_t parent) {
  int null = open("/dev/null", O_RDWR), out;
  const struct rlimit no_core = {0, 0};
  unlink(log); /* whatever it may be linked to stays as it is */
  out = open(log, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0666);
  if (null < 0 || out < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0 ||
      dup2(out, STDERR_FILENO) < 0)
    _exit(nai_err_exit_status(NAI_EIO));
  setpgid(0, 0);
  setrlimit(RLIMIT_CORE, &no_core);
  sigprocmask(SIG_SETMASK, &pool->mask, NULL);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) /* it died before that */
    _exit(128 + SIGKILL);
}

static void exec_analyze(const struct pool *pool, const char *trace, const char *out) {
  enum { FIXED = 10 };
  const struct nai_batch *b = pool->b;
  char threads[16], memory[32];
  const char **argv = calloc(FIXED + b->option_count + 1, sizeof *argv);
  size_t n = 0;
  if (!argv)
    _exit(nai_err_exit_status(NAI_ELIMIT));
  snprintf(threads, sizeof threads, "-j%d", pool->threads);
  snprintf(memory, sizeof memory, "--memory-limit=%lld", (long long)b->memory_limit_bytes);
  const char *const fixed[] = {"nsys-ai", "analyze", "-q", threads, "--out", out};
  for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
    argv[n++] = fixed[i];
  if (b->memory_limit_bytes)
    argv[n++] = memory;
  for (uint32_t i = 0; i < b->option_count; i++)
    argv[n++] = b->options[i];
  argv[n++] = "--";
  argv[n++] = trace;
  execv("/proc/self/exe", (char *const *)argv);
  dprintf(STDERR_FILENO, "nsys-ai: cannot run itself: %s\n", strerror(errno));
  _exit(70);
}

/* --- in the pool ------------------------------------------------------------------------------ */

static int start(struct pool *pool, struct worker *w, uint32_t item, struct nai_err *err) {
  const struct nai_batch *b = pool->b;
  char log[PATH_MAX], out[PATH_MAX];
  pid_t self = getpid();
  *w = (struct worker){.item = item, .started_ms = nai_clock_ms()};
  nai_batch_path(log, sizeof log, b, "logs", b->manifest.items[item].id, ".log");
  nai_batch_path(out, sizeof out, b, "items", b->manifest.items[item].id, "");
  NAI_TRY(nai_batch_scratch_begin(&w->scratch, b, item, err));
  w->pid = fork();
  if (w->pid == 0) {
    prepare_child(pool, log, self);
    exec_analyze(pool, *w->scratch.trace ? w->scratch.trace : b->manifest.items[item].path,
                 *w->scratch.out ? w->scratch.out : out);
  }
  if (w->pid < 0)
    return nai_err_sys(err, NAI_ELIMIT, errno, "cannot start a process");
  setpgid(w->pid, w->pid); /* whichever of the two comes first */
  pool->running++;
  return NAI_OK;
}

/* Of a message what may stand in any output; NULL where nothing is left. The caller frees it. */
static char *clean_message(const char *text) {
  struct nai_buf clean = {0};
  nai_escape_terminal(&clean, text, strlen(text));
  return clean.data;
}

/* The last message of the log, clean and on one line. A log without anything is removed. */
static char *read_message(const struct nai_batch *b, uint32_t item) {
  enum { MAX_LOG = 1 << 20 };
  static const char prefix[] = "nsys-ai: ";
  char path[PATH_MAX];
  NAI_SCOPED(nai_buf) text = {0};
  struct nai_err ignored;
  nai_batch_path(path, sizeof path, b, "logs", b->manifest.items[item].id, ".log");
  if (nai_fs_read(&text, path, MAX_LOG, NAI_EIO, &ignored) == NAI_OK && !text.len)
    unlink(path);
  while (text.len && text.data[text.len - 1] == '\n')
    text.data[--text.len] = '\0';
  const char *last = text.len ? strrchr(text.data, '\n') : NULL;
  last = last ? last + 1 : nai_buf_str(&text);
  if (strncmp(last, prefix, strlen(prefix)) == 0)
    last += strlen(prefix);
  return clean_message(last);
}

static char *explain_end(const struct worker *w, const struct nai_batch *b, int status) {
  char *out = NULL;
  int n = 0;
  if (w->timed_out)
    n = asprintf(&out, "stopped after %lld s (--time-limit)", (long long)b->time_limit_s);
  else if (WIFSIGNALED(status))
    n = asprintf(&out, "ended by signal %d (%s)%s", WTERMSIG(status), strsignal(WTERMSIG(status)),
                 WTERMSIG(status) == SIGKILL ? "; perhaps the machine ran out of memory: try --memory-limit or fewer -j"
                                             : "");
  else
    out = read_message(b, w->item);
  return n < 0 ? NULL : out;
}

static enum nai_batch_outcome judge(const struct worker *w, int status) {
  if (w->timed_out)
    return NAI_BATCH_TIMEOUT;
  if (WIFSIGNALED(status))
    return NAI_BATCH_CRASHED;
  return WEXITSTATUS(status) == 0 ? NAI_BATCH_OK : WEXITSTATUS(status) == 3 ? NAI_BATCH_REFUSED : NAI_BATCH_FAILED;
}

static int record(struct nai_batch_status *out, const struct pool *pool, struct worker *w, int status,
                  const struct rusage *used, struct nai_err *err) {
  *out = (struct nai_batch_status){.outcome = judge(w, status),
                                   .exit = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
                                   .signal = WIFSIGNALED(status) && !w->timed_out ? WTERMSIG(status) : 0,
                                   .error = explain_end(w, pool->b, status),
                                   .stamp = pool->b->manifest.items[w->item].stamp,
                                   .program = pool->b->program,
                                   .options = pool->b->options_hash,
                                   .wall_ms = nai_clock_ms() - w->started_ms,
                                   .max_rss_bytes = (int64_t)used->ru_maxrss * 1024};
  struct nai_err failed = {0};
  int rc = nai_batch_scratch_end(&w->scratch, pool->b, w->item, out->outcome == NAI_BATCH_OK, &failed);
  if (out->outcome == NAI_BATCH_OK) { /* what it said on the way is in the log */
    free(out->error);
    out->error = rc ? clean_message(failed.msg) : NULL;
    out->outcome = rc ? NAI_BATCH_FAILED : NAI_BATCH_OK;
    out->exit = rc ? nai_err_exit_status(rc) : 0;
  }
  return nai_batch_status_write(out, pool->b, w->item, err);
}

/* Kills who has had his time; returns the ms until the next one has. */
static int64_t enforce_limits(struct pool *pool) {
  int64_t now = nai_clock_ms(), next = 60000;
  for (int i = 0; i < pool->size && pool->b->time_limit_s; i++) {
    struct worker *w = &pool->workers[i];
    int64_t left = w->started_ms + pool->b->time_limit_s * 1000 - now;
    if (!w->pid || w->timed_out)
      continue;
    if (left <= 0) {
      w->timed_out = true;
      kill(-w->pid, SIGKILL);
    } else if (left < next) {
      next = left;
    }
  }
  return next;
}

static struct worker *find(struct pool *pool, pid_t pid) {
  for (int i = 0; i < pool->size; i++)
    if (pool->workers[i].pid == pid)
      return &pool->workers[i];
  return NULL;
}

/* Waits until a worker has ended. */
static struct worker *wait_for_one(struct pool *pool, int *status, struct rusage *used) {
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  for (;;) {
    pid_t pid = wait4(-1, status, WNOHANG, used);
    struct worker *w = pid > 0 ? find(pool, pid) : NULL;
    if (w) {
      kill(-pid, SIGKILL); /* what it started and left behind */
      w->pid = 0;
      pool->running--;
      return w;
    }
    if (pid > 0)
      continue;
    int64_t ms = enforce_limits(pool);
    const struct timespec patience = {ms / 1000, ms % 1000 * 1000000};
    sigtimedwait(&child, NULL, &patience);
  }
}

static void stop_all(struct pool *pool) {
  struct nai_err ignored;
  for (int i = 0; i < pool->size; i++) {
    struct worker *w = &pool->workers[i];
    if (w->pid > 0) {
      kill(-w->pid, SIGKILL);
      waitpid(w->pid, NULL, 0);
    }
    if (nai_batch_scratch_end(&w->scratch, pool->b, w->item, false, &ignored) != NAI_OK) {
      /* The next batch there takes it away. */
    }
  }
}

static int run_all(struct pool *pool, const uint32_t *order, uint32_t count, nai_batch_progress_fn *progress, void *ctx,
                   struct nai_err *err) {
  uint32_t next = 0;
  for (uint32_t done = 1; done <= count; done++) {
    while (next < count && pool->running < pool->size)
      NAI_TRY(start(pool, find(pool, 0), order[next++], err));
    NAI_SCOPED(nai_batch_status) result = {0};
    struct rusage used;
    int status;
    struct worker *w = wait_for_one(pool, &status, &used);
    NAI_TRY(record(&result, pool, w, status, &used, err));
    if (progress)
      progress(ctx, pool->b, w->item, &result, done, count);
  }
  return NAI_OK;
}

int nai_batch_run(const struct nai_batch *b, const uint32_t *items, uint32_t count, int jobs, int threads,
                  nai_batch_progress_fn *progress, void *ctx, struct nai_err *err) {
  struct pool pool = {.b = b, .size = jobs, .threads = threads};
  uint32_t *order;
  sigset_t child;
  NAI_TRY(NAI_NEW(pool.workers, b->arena, (size_t)jobs, err));
  NAI_TRY(NAI_NEW(order, b->arena, count, err));
  memcpy(order, items, count * sizeof *order);
  qsort_r(order, count, sizeof *order, nai_batch_by_size, (void *)b);
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  sigprocmask(SIG_BLOCK, &child, &pool.mask);
  int rc = run_all(&pool, order, count, progress, ctx, err);
  if (rc)
    stop_all(&pool);
  sigprocmask(SIG_SETMASK, &pool.mask, NULL);
  return rc;
}
