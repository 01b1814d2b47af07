#include "trace/file_paths.h"

#include "base/hash.h"
#include "base/text.h"

static bool begins_with(const char *path, const char *prefix) { return strncmp(path, prefix, strlen(prefix)) == 0; }

/* Behind one directory of the path, whose slash it includes; `path` where there is none. */
static const char *behind_directory(const char *path) {
  const char *slash = strchr(path, '/');
  return slash ? slash + 1 : path;
}

/* Behind what is a user's directory; `path` where it is none. */
static const char *behind_home(const char *path) {
  static const char *const above[] = {"/home/", "/Users/", "/scratch/", "/data/", "/mnt/"};
  if (begins_with(path, "/root/"))
    return path + strlen("/root/");
  for (size_t i = 0; i < sizeof above / sizeof *above; i++) {
    const char *first = path + strlen(above[i]);
    if (!begins_with(path, above[i]))
      continue;
    const char *user = strcmp(above[i], "/mnt/") == 0 ? behind_directory(first) : first;
    const char *end = behind_directory(user);
    return end > user && (user > first || user == first) ? end : path;
  }
  return path;
}

void nai_path_mask(struct nai_buf *out, const char *path, uint64_t key) {
  static const char *const system[] = {"/usr/", "/opt/", "/lib/", "/lib64/", "/etc/", "/proc/",
                                       "/sys/", "/dev/", "/tmp/", "/var/",   NULL};
  const char *rest = behind_home(path);
  if (rest > path) {
    nai_buf_puts(out, "~/");
  } else if (*path == '/') {
    rest = nai_text_begins(path, system) ? behind_directory(path + 1) : path + 1;
    nai_buf_put(out, path, (size_t)(rest - path));
  }
  for (const char *next; (next = behind_directory(rest)) > rest; rest = next)
    nai_buf_printf(out, "%06x/", (unsigned)(nai_hash_bytes(key, rest, (size_t)(next - rest)) & 0xffffff));
  for (; *rest; rest++) {
    bool digit = isdigit((unsigned char)*rest);
    if (!digit || !isdigit((unsigned char)rest[1]))
      nai_buf_put(out, digit ? "#" : rest, 1);
  }
}

const char *nai_path_group(const char *path) {
  static const char *const pseudo[] = {"/proc/", "/sys/", "/dev/", NULL},
                           *const code[] = {"/usr/", "/opt/", "/lib", NULL}, *const endings[] = {".so", ".py", ".pyc"};
  if (nai_text_begins(path, pseudo))
    return "pseudo";
  bool is_code = nai_text_begins(path, code) || strstr(path, ".so.");
  for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
    is_code |= nai_text_ends(path, endings[i]);
  return is_code ? "code" : "data";
}
