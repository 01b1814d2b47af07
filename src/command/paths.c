/* What a path is: an export, a run. */
#include "base/fs.h"
#include "command/command.h"
#include "rundir/pack.h"

bool nai_cmd_is_run(const char *path) {
  char manifest[PATH_MAX];
  if (!nai_fs_is_dir(path))
    return nai_pack_is(path);
  return nai_fs_join(manifest, sizeof manifest, path, "stages/manifest.json") && nai_fs_exists(manifest);
}

bool nai_cmd_is_parquet(const char *path) {
  char file[PATH_MAX];
  return nai_fs_join(file, sizeof file, path, "META_DATA_EXPORT.parquet") && nai_fs_is_regular(file);
}

size_t nai_cmd_trace_suffix(const char *name, size_t len) {
  static const char *const suffixes[] = {".sqlite", ".nsys-rep", ".sqlite.gz", ".sqlite.zst"};
  for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
    size_t n = strlen(suffixes[i]);
    if (len > n && memcmp(name + len - n, suffixes[i], n) == 0)
      return n;
  }
  return 0;
}

bool nai_cmd_is_trace(const char *path) {
  static const char magic[] = "SQLite format 3";
  char head[sizeof magic] = "";
  if (nai_cmd_trace_suffix(path, strlen(path)) || nai_cmd_is_parquet(path))
    return true;
  FILE *file = nai_fs_is_regular(path) ? fopen(path, "rbe") : NULL;
  bool is = file && fread(head, 1, sizeof magic, file) == sizeof magic && memcmp(head, magic, sizeof magic) == 0;
  if (file)
    fclose(file);
  return is;
}
