/* A process that runs a command of this program, and its pipes. */
#include "features/mcp/internal.h"

#include "base/text.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PIPE_BLOCK = 64 << 10 };

void nai_agent_put_words(struct nai_agent_words *words, ...) {
  va_list args;
  va_start(args, words);
  for (const char *text; (text = va_arg(args, const char *));) {
    if (words->count < NAI_AGENT_MAX_WORDS)
      words->words[words->count++] = nai_arena_printf(words->arena, "%s", text);
    else
      words->arena->oom = true;
  }
  va_end(args);
}

/* It has a group of its own, to be ended with all that it started, and does not outlive the server. */
static _Noreturn void become(const struct nai_agent_words *words, int out, int said, pid_t parent) {
  const struct rlimit no_core = {0, 0};
  int null = open("/dev/null", O_RDONLY);
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent || null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
      dup2(said, STDERR_FILENO) < 0)
    _exit(EXIT_FAILURE);
  setrlimit(RLIMIT_CORE, &no_core);
  execv("/proc/self/exe", (char *const *)words->words);
  _exit(EXIT_FAILURE);
}

static void close_open(int fd) {
  if (fd >= 0)
    close(fd);
}

int nai_agent_start(struct nai_agent_worker *worker, const struct nai_agent_words *words, struct nai_err *err) {
  int out[2] = {-1, -1}, said[2] = {-1, -1};
  pid_t self = getpid();
  *worker = (struct nai_agent_worker){-1, -1, -1};
  if (pipe2(out, O_CLOEXEC) == 0 && pipe2(said, O_CLOEXEC) == 0)
    worker->pid = fork();
  if (worker->pid == 0)
    become(words, out[1], said[1], self);
  int failed = errno;
  if (worker->pid > 0)
    setpgid(worker->pid, worker->pid); /* whichever of the two comes first */
  close_open(out[1]);
  close_open(said[1]);
  worker->out = out[0];
  worker->said = said[0];
  if (worker->pid > 0)
    return NAI_OK;
  close_open(out[0]);
  close_open(said[0]);
  return nai_err_sys(err, NAI_ELIMIT, failed, "cannot start a process");
}

int nai_agent_wait(struct nai_agent_worker *worker) {
  int status = 0;
  close_open(worker->out);
  close_open(worker->said);
  while (waitpid(worker->pid, &status, 0) < 0 && errno == EINTR) {
  }
  *worker = (struct nai_agent_worker){-1, -1, -1};
  return status;
}

void nai_agent_kill(struct nai_agent_worker *worker) {
  kill(-worker->pid, SIGKILL);
  nai_agent_wait(worker);
}

bool nai_agent_read_pipe(struct nai_buf *out, int *fd, size_t most, bool keep) {
  char *room = nai_buf_reserve(out, PIPE_BLOCK);
  ssize_t n = room ? read(*fd, room, PIPE_BLOCK) : 0;
  if (n < 0 && (errno == EINTR || errno == EAGAIN))
    return true;
  if (n <= 0) {
    close(*fd);
    *fd = -1;
    return room != NULL;
  }
  out->len += (size_t)n;
  if (out->len <= most)
    return true;
  out->len = most;
  return keep;
}

void nai_agent_put_said(struct nai_buf *out, const struct nai_buf *said) {
  static const char prefix[] = "nsys-ai: ";
  size_t len = said->len;
  while (len && said->data[len - 1] == '\n')
    len--;
  const char *text = nai_buf_str(said), *line = text + len;
  while (line > text && line[-1] != '\n')
    line--;
  len -= (size_t)(line - text);
  if (len > strlen(prefix) && strncmp(line, prefix, strlen(prefix)) == 0) {
    line += strlen(prefix);
    len -= strlen(prefix);
  }
  nai_text_clean(out, line, len);
}
