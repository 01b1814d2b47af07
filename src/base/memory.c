#include "base/memory.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* The beginning of a small file as a string. */
static bool read_start(char *text, size_t size, const char *path) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);
  if (fd >= 0)
    close(fd);
  text[n > 0 ? n : 0] = '\0';
  return n > 0;
}

int64_t nai_memory_of_cgroup(const char *membership, const char *root) {
  char groups[4096], path[PATH_MAX], text[64];
  int64_t least = INT64_MAX;
  const char *group = read_start(groups, sizeof groups, membership) ? strstr(groups, "0::/") : NULL;
  if (!group || (group != groups && group[-1] != '\n'))
    return least;
  char *end = groups + (group - groups) + strcspn(group, "\n");
  for (*end = '\0', group += strlen("0::"); end >= group; *end = '\0') { /* from the group itself up to the root */
    char *digits_end;
    if ((size_t)snprintf(path, sizeof path, "%s%s/memory.max", root, group) < sizeof path &&
        read_start(text, sizeof text, path)) {
      long long max = strtoll(text, &digits_end, 10);
      if (digits_end != text && max > 0 && max < least) /* else "max" */
        least = max;
    }
    while (end >= group && *end != '/')
      end--;
  }
  return least;
}

/* Private writable memory, as RLIMIT_DATA counts it; -1 when unknown. */
static int64_t data_in_use(void) {
  char text[256];
  long long data = -1;
  if (!read_start(text, sizeof text, "/proc/self/statm") || sscanf(text, "%*d %*d %*d %*d %*d %lld", &data) != 1)
    return -1;
  return data * sysconf(_SC_PAGESIZE);
}

void nai_memory_restrict(int64_t bytes, int threads) {
  enum { USUAL_STACK = 8 << 20 };
  struct rlimit stack, limit;
  int64_t used = data_in_use();
  if (used < 0 || used > bytes || getrlimit(RLIMIT_STACK, &stack) != 0 || getrlimit(RLIMIT_DATA, &limit) != 0)
    return;
  int64_t of_stacks = (int64_t)threads * (stack.rlim_cur == RLIM_INFINITY ? USUAL_STACK : (int64_t)stack.rlim_cur);
  if (limit.rlim_cur == RLIM_INFINITY || (int64_t)limit.rlim_cur > bytes + of_stacks)
    limit.rlim_cur = (rlim_t)(bytes + of_stacks);
  setrlimit(RLIMIT_DATA, &limit);
}
