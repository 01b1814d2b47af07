#include "base/program.h"

#include "base/fs.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* A file in memory, read from its beginning; -1 and errno. Unlike a pipe it takes any text without a reader. */
static int open_input(const char *text) {
  int fd = memfd_create("input", MFD_CLOEXEC);
  if (fd >= 0 && nai_fs_write_all(fd, text, strlen(text)) == 0 && lseek(fd, 0, SEEK_SET) == 0)
    return fd;
  if (fd >= 0)
    close(fd);
  return -1;
}

static int start(pid_t *pid, const struct nai_program *p, int input, int output) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (p->input)
    posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  if (p->output)
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  else
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  if (p->silent)
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  int failed = posix_spawnp(pid, p->argv[0], &actions, NULL, (char *const *)p->argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  return failed;
}

static int wait_for(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
    ;
  return WIFEXITED(status) ? WEXITSTATUS(status) : NAI_PROGRAM_SIGNAL + WTERMSIG(status);
}

int nai_program_run(int *status, const struct nai_program *p, struct nai_err *err) {
  NAI_CLOSED int input = p->input ? open_input(p->input) : -1, from = -1;
  int ends[2] = {-1, -1};
  pid_t pid;
  if ((p->input && input < 0) || (p->output && pipe2(ends, O_CLOEXEC) != 0))
    return nai_err_sys(err, NAI_ELIMIT, errno, "cannot run %s", p->argv[0]);
  from = ends[0];
  int failed = start(&pid, p, input, ends[1]);
  if (ends[1] >= 0)
    close(ends[1]);
  if (failed)
    return nai_err_sys(err, NAI_EUSAGE, failed, "cannot run %s", p->argv[0]);
  int rc = p->output ? nai_fs_read_fd(p->output, from, p->argv[0], p->output_max, NAI_ELIMIT, err) : NAI_OK;
  if (rc)
    kill(pid, SIGTERM); /* nobody reads on */
  *status = wait_for(pid);
  return rc;
}

bool nai_program_find(char out[PATH_MAX], const char *name) {
  const char *path = getenv("PATH");
  while (path && *path) {
    size_t n = strcspn(path, ":");
    if (n && snprintf(out, PATH_MAX, "%.*s/%s", (int)n, path, name) < PATH_MAX && access(out, X_OK) == 0)
      return true;
    path += n + (path[n] == ':');
  }
  return false;
}

bool nai_program_is_there(const char *name) { return nai_program_find((char[PATH_MAX]){0}, name); }
