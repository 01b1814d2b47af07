#include "base/memory.h"

#include "base/fs.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

/* The beginning of a small file as a string. */
static bool read_start(char *text, size_t size, const char *path) {
  NAI_CLOSED int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);
  text[n > 0 ? n : 0] = '\0';
  return n > 0;
}

/* Lowers *least to the lowest limit in `file` of the group and of those around it, up to the root. */
static void lower(int64_t *least, const char *root, const char *group, size_t len, const char *file) {
  char path[PATH_MAX], text[64], *digits_end;
  for (;;) {
    if ((size_t)snprintf(path, sizeof path, "%s%.*s/%s", root, (int)len, group, file) < sizeof path &&
        read_start(text, sizeof text, path)) {
      long long limit = strtoll(text, &digits_end, 10);
      if (digits_end != text && limit > 0 && limit < *least) /* else "max" */
        *least = limit;
    }
    if (!len)
      return;
    while (len && group[--len] != '/')
      ;
  }
}

/* Of a line "4:cpu,memory:/a/b" whether `name` is among what the second field lists. */
static bool is_listed(const char *list, const char *end, const char *name) {
  size_t len = strlen(name);
  for (const char *comma; list <= end; list = comma + 1) {
    comma = list + strcspn(list, ",:");
    if ((size_t)(comma - list) == len && memcmp(list, name, len) == 0)
      return true;
  }
  return false;
}

int64_t nai_memory_of_cgroup(const char *membership, const char *root) {
  char groups[4096], of_memory[PATH_MAX];
  int64_t least = INT64_MAX;
  snprintf(of_memory, sizeof of_memory, "%s/memory", root);
  if (!read_start(groups, sizeof groups, membership))
    return least;
  for (const char *line = groups, *next; *line; line = next) {
    size_t len = strcspn(line, "\n");
    const char *list = memchr(line, ':', len),
               *group = list ? memchr(list + 1, ':', len - (size_t)(list + 1 - line)) : NULL;
    next = line + len + (line[len] == '\n');
    if (!group || group[1] != '/')
      continue;
    size_t group_len = (size_t)(line + len - (group + 1));
    if (strncmp(line, "0::", 3) == 0)
      lower(&least, root, group + 1, group_len, "memory.max");
    else if (is_listed(list + 1, group - 1, "memory"))
      lower(&least, of_memory, group + 1, group_len, "memory.limit_in_bytes");
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
