/* An output that is a program: -o @COMMAND. */
#include "features/stats/request.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* Words are parted by blanks; no shell. */
static _Noreturn void run_words(char *words) {
  enum { MOST = 256 };
  char *arguments[MOST + 1] = {0}, *rest = NULL;
  size_t count = 0;
  for (char *word = strtok_r(words, " ", &rest); word && count < MOST; word = strtok_r(NULL, " ", &rest))
    arguments[count++] = word;
  if (count)
    execvp(arguments[0], arguments);
  dprintf(STDERR_FILENO, "nsys-ai: cannot start \"%s\": %s\n", count ? arguments[0] : "", strerror(errno));
  _exit(127);
}

/* Becomes the program once there is something to read: a report without data starts none. */
static _Noreturn void await(int fd, char *words) {
  struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
  if (dup2(fd, STDIN_FILENO) < 0)
    _exit(127);
  while (poll(&input, 1, -1) < 0 && errno == EINTR)
    ;
  if (!(input.revents & POLLIN))
    _exit(0);
  signal(SIGPIPE, SIG_DFL);
  run_words(words);
}

int nai_stats_program_start(struct nai_stats_program *programs, size_t number, const char *words, struct nai_err *err) {
  struct nai_stats_program *program = &programs[number];
  int ends[2];
  NAI_FREED char *copy = strdup(words);
  *program = (struct nai_stats_program){.fd = -1};
  NAI_TRY(nai_memory_check(copy, err));
  if (pipe2(ends, O_CLOEXEC) != 0)
    return nai_err_sys(err, NAI_ELIMIT, errno, "cannot start \"%.60s\"", words);
  program->pid = fork();
  if (program->pid == 0) {
    close(ends[1]);
    for (size_t i = 0; i < number; i++) /* open here, they would have no end */
      if (programs[i].pid)
        close(programs[i].fd);
    await(ends[0], copy);
  }
  close(ends[0]);
  program->fd = ends[1];
  return program->pid > 0 ? NAI_OK : nai_err_sys(err, NAI_ELIMIT, errno, "cannot start \"%.60s\"", words);
}

/* A program that has seen enough may have closed its end. */
static void write_all(int fd, const struct nai_buf *text) {
  const char *at = nai_buf_str(text);
  for (size_t left = text->len; left;) {
    ssize_t done = write(fd, at, left);
    if (done < 0 && errno != EINTR)
      return;
    at += done > 0 ? done : 0;
    left -= done > 0 ? (size_t)done : 0;
  }
}

static int end(struct nai_stats_program *program) {
  int status = 0;
  close(program->fd);
  while (waitpid(program->pid, &status, 0) < 0 && errno == EINTR)
    ;
  *program = (struct nai_stats_program){.fd = -1};
  return status;
}

int nai_stats_program_give(struct nai_stats_program *program, const struct nai_buf *text, const char *words,
                           struct nai_err *err) {
  write_all(program->fd, text);
  int status = end(program);
  if (WIFSIGNALED(status))
    return nai_err_set(err, NAI_EIO, "\"%.60s\" was ended by signal %d", words, WTERMSIG(status));
  return WEXITSTATUS(status) == 0
           ? NAI_OK
           : nai_err_set(err, NAI_EIO, "\"%.60s\" ended with status %d", words, WEXITSTATUS(status));
}

void nai_stats_program_free(struct nai_stats_program *program) {
  if (program->pid > 0)
    end(program);
}
