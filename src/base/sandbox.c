#include "base/sandbox.h"

#include "base/fs.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__linux__) && __has_include(<linux/landlock.h>) && __has_include(<linux/seccomp.h>)

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>

/* --- files ------------------------------------------------------------------------------------ */

/* Rights in the order of the versions of Landlock that brought them; headers may be older than the kernel. */
enum { READ = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR };
static const uint64_t all_of_version_1 = (UINT64_C(1) << 13) - 1, refer = UINT64_C(1) << 13,
                      truncate_file = UINT64_C(1) << 14, execute = LANDLOCK_ACCESS_FS_EXECUTE;

struct ruleset {
  uint64_t files, network; /* version 4: connecting and listening over TCP */
};

/* Below a directory these rights are kept. False where it could not be opened for want of something. */
static bool allow(int ruleset, int directory, uint64_t rights) {
  const struct landlock_path_beneath_attr rule = {.allowed_access = rights, .parent_fd = directory};
  if (directory >= 0)
    return syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0 || errno != ENOMEM;
  return errno != EMFILE && errno != ENFILE && errno != ENOMEM && errno != EIO && errno != EINTR;
}

static bool allow_path(int ruleset, const char *path, uint64_t rights) {
  NAI_CLOSED int directory = open(path, O_PATH | O_CLOEXEC);
  return allow(ruleset, directory, rights);
}

/* The nearest directory above `path` that exists, -1 for none. */
static int open_above(const char *path) {
  char above[PATH_MAX];
  size_t len = strlen(path);
  if (len >= sizeof above)
    return -1;
  memcpy(above, path, len + 1);
  for (int fd;;) {
    while (len && above[len - 1] == '/')
      len--;
    while (len && above[len - 1] != '/')
      len--;
    above[len] = '\0';
    fd = open(len ? above : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0 || len <= 1)
      return fd;
  }
}

static bool allow_above(int ruleset, const char *path, uint64_t rights) {
  NAI_CLOSED int above = path ? open_above(path) : -1;
  return allow(ruleset, above, rights);
}

static void restrict_files(const struct nai_sandbox *sandbox) {
  long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (version < 2) /* the first one forbids renaming from one directory to another altogether */
    return;
  const struct ruleset handled = {all_of_version_1 | refer | (version >= 3 ? truncate_file : 0), version >= 4 ? 3 : 0};
  NAI_CLOSED int ruleset =
      (int)syscall(SYS_landlock_create_ruleset, &handled, version >= 4 ? sizeof handled : sizeof handled.files, 0);
  if (ruleset < 0)
    return;
  errno = 0;
  bool whole = sandbox->reads_all ? allow_path(ruleset, "/", READ) : allow(ruleset, sandbox->readable, READ);
  whole &= allow_path(ruleset, "/dev/null", LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE);
  for (int i = 0; sandbox->writable && sandbox->writable[i]; i++) {
    char real[PATH_MAX];
    whole &= allow_above(ruleset, sandbox->writable[i], handled.files & ~execute);
    const char *elsewhere = realpath(sandbox->writable[i], real); /* where a link leads to */
    whole &= allow_above(ruleset, elsewhere, handled.files & ~execute);
  }
  if (whole) /* else what is allowed would be refused, and a wrong reason told */
    syscall(SYS_landlock_restrict_self, ruleset, 0);
}

/* --- system calls ----------------------------------------------------------------------------- */

#if defined(__x86_64__)
#define THIS_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define THIS_ARCH AUDIT_ARCH_AARCH64
#endif

#if defined(__SANITIZE_ADDRESS__)
#define NAI_LEAKS_ARE_SOUGHT
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define NAI_LEAKS_ARE_SOUGHT
#endif
#endif

#ifdef THIS_ARCH
/* What no analysis and no statement does. The leak sanitizer uses ptrace. */
static const uint32_t refused[] = {
    SYS_execve,
    SYS_execveat,
    SYS_socket,
    SYS_socketpair,
#ifndef NAI_LEAKS_ARE_SOUGHT
    SYS_ptrace,
#endif
    SYS_truncate, /* by name; Landlock knows it from version 3 on only (Linux 6.2) */
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_chroot,
    SYS_unshare,
    SYS_setns,
    SYS_bpf,
    SYS_perf_event_open,
    SYS_userfaultfd,
    SYS_keyctl,
    SYS_add_key,
    SYS_request_key,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_kexec_load,
    SYS_reboot,
    SYS_swapon,
    SYS_swapoff,
    SYS_personality,
    425 /* io_uring_setup */,
    434 /* pidfd_open */,
    438 /* pidfd_getfd */,
};
enum { REFUSED = sizeof refused / sizeof *refused };

static void restrict_calls(void) {
  struct sock_filter program[REFUSED + 8];
  size_t n = 0;
  program[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
  program[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, THIS_ARCH, 1, 0);
  program[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
  program[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  program[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, REFUSED + 1, 0); /* x32 */
  for (size_t i = 0; i < REFUSED; i++)
    program[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, refused[i], (uint8_t)(REFUSED - i), 0);
  program[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  program[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
  const struct sock_fprog filter = {.len = (unsigned short)n, .filter = program};
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}
#else
static void restrict_calls(void) {}
#endif

void nai_sandbox_enter(const struct nai_sandbox *sandbox) {
  int failed = errno;
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0) {
    restrict_files(sandbox);
    restrict_calls();
  }
  errno = failed;
}

#else
void nai_sandbox_enter(const struct nai_sandbox *sandbox) { (void)sandbox; }
#endif
