/* What a process cannot do any more, tried in children. Kernels without Landlock or seccomp are passed over. */
#include "unit.h"

#include "tier.h"

#include "base/fs.h"
#include "base/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char directory[] = "/tmp/nai-sandbox-XXXXXX";
static char secret[64], inside[64], inner[64];

/* Runs `tries` in a child; its exit status. */
static int in_child(int (*tries)(void)) {
  int status = 0;
  pid_t child = fork();
  if (child == 0)
    _exit(tries());
  assert_true(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
  return WEXITSTATUS(status);
}

static bool has_landlock(void) { return syscall(SYS_landlock_create_ruleset, NULL, 0, 1) >= 2; }

static bool may_open(const char *path, int flags) {
  int fd = open(path, flags | O_CLOEXEC, 0600);
  if (fd >= 0)
    close(fd);
  return fd >= 0;
}

/* Bits of what was possible though it must not be. */
static int try_calls(void) {
  char *const words[] = {(char *)"true", NULL};
  int found = socket(AF_INET, SOCK_STREAM, 0) >= 0;
  found |= (socket(AF_UNIX, SOCK_STREAM, 0) >= 0) << 1;
  execve("/bin/true", words, words);
  found |= (errno != EPERM && errno != EACCES) << 2;
  found |= (prctl(PR_GET_SECCOMP) != 2) << 3;
  found |= (syscall(SYS_truncate, NULL, 0) == 0 || errno != EPERM) << 4; /* EFAULT: it was let in */
  return found;
}

static int try_without_files(void) {
  int fd = open(inner, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  char path[128];
  nai_sandbox_enter(&(struct nai_sandbox){.readable = fd});
  snprintf(path, sizeof path, "%s/new", inner);
  int found = !may_open(inside, O_RDONLY);
  found |= may_open(secret, O_RDONLY) << 1;
  found |= may_open(inside, O_WRONLY) << 2;
  found |= may_open(path, O_WRONLY | O_CREAT) << 3;
  found |= (unlink(inside) == 0) << 4;
  found |= (truncate(inside, 0) == 0) << 5;
  return found;
}

static int try_calls_within(void) {
  nai_sandbox_enter(&(struct nai_sandbox){.readable = -1});
  return try_calls();
}

/* Below the directory of `writable` everything, elsewhere only reading. */
static int try_writing(void) {
  char out[128], beside[128], moved[128];
  snprintf(out, sizeof out, "%s/not/there/yet", inner);
  const char *const writable[] = {out, NULL};
  nai_sandbox_enter(&(struct nai_sandbox){.writable = writable, .reads_all = true, .readable = -1});
  snprintf(beside, sizeof beside, "%s/beside", directory);
  snprintf(moved, sizeof moved, "%s/moved", inner);
  struct nai_err err;
  int found = nai_fs_mkdir_all(out, &err) != 0;
  found |= !may_open(secret, O_RDONLY) << 1;
  found |= may_open(secret, O_WRONLY) << 2;
  found |= may_open(beside, O_WRONLY | O_CREAT) << 3;
  found |= (rename(inside, moved) != 0) << 4;
  found |= (link(secret, inside) == 0) << 5; /* would bring it where it may be written */
  found |= !may_open("/dev/null", O_WRONLY) << 6;
  return found;
}

static void write_files(void) {
  struct nai_err err;
  assert_int_equal(nai_fs_write(secret, "s", 1, &err), 0);
  assert_int_equal(nai_fs_write(inside, "i", 1, &err), 0);
}

TEST(test_files) {
  if (!has_landlock())
    skip_because("no Landlock in this kernel");
  write_files();
  assert_int_equal(in_child(try_without_files), 0);
  assert_int_equal(in_child(try_writing), 0);
}

TEST(test_calls) {
  if (prctl(PR_GET_SECCOMP) < 0)
    skip_because("no seccomp in this kernel");
#if defined(__x86_64__) || defined(__aarch64__)
  assert_int_equal(in_child(try_calls_within), 0);
#endif
}

static int begin(void **state) {
  (void)state;
  if (!mkdtemp(directory))
    return -1;
  snprintf(secret, sizeof secret, "%s/secret", directory);
  snprintf(inner, sizeof inner, "%s/inner", directory);
  snprintf(inside, sizeof inside, "%s/inner/file", directory);
  return mkdir(inner, 0700);
}

static int end(void **state) {
  (void)state;
  return nai_fs_remove_tree(directory, NULL);
}

UNIT_FIXTURE(begin, end)
