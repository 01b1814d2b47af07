/* A run in one file: writing it, getting its files back, and its page beside it. */
#include "base/fs.h"
#include "rundir/pack.h"
#include "rundir/run_internal.h"

#include <unistd.h>

/* Files of stages. Lists of files may be forged. */
static bool is_of_stages(bool *events, const char *file) {
  static const char before[] = "stages/", after[] = ".ntab";
  char name[NAME_MAX];
  size_t len = strlen(file), around = strlen(before) + strlen(after);
  if (len <= around || len - around >= sizeof name || strncmp(file, before, strlen(before)) != 0 ||
      strcmp(file + len - strlen(after), after) != 0)
    return false;
  snprintf(name, sizeof name, "%.*s", (int)(len - around), file + strlen(before));
  *events = nai_run_is_of_events(name);
  return !strchr(name, '/');
}

/* Event tables that have files of their own may be as large as the trace. Files may be absent that an earlier version
 * pruned. */
static int pack_file(struct nai_buf *pack, struct nai_buf *directory, const struct nai_run *run, const char *file,
                     struct nai_err *err) {
  NAI_SCOPED(nai_buf) content = {0};
  bool events = false;
  if (strcmp(file, NAI_MANIFEST_PATH) != 0 && (!is_of_stages(&events, file) || events))
    return NAI_OK;
  if (!nai_fs_exists_at(nai_run_directory(run), file) && nai_fs_is_absent(errno))
    return NAI_OK;
  NAI_TRY(nai_fs_read_at(&content, nai_run_directory(run), file, INT32_MAX, NAI_EINPUT, err));
  return nai_pack_add(pack, directory, file, &content, err);
}

int nai_run_pack(struct nai_buf *out, const struct nai_run *run, struct nai_err *err) {
  NAI_SCOPED(nai_buf) directory = {0};
  const struct nai_strings *files = &nai_run_manifest(run)->files;
  if (nai_run_content(run)->len) {
    nai_buf_put(out, nai_run_content(run)->data, nai_run_content(run)->len);
    return nai_buf_check(out, err);
  }
  for (uint32_t i = 0; i < files->count; i++)
    NAI_TRY(pack_file(out, &directory, run, nai_strings_get(files, i), err));
  return nai_pack_end(out, &directory, err);
}

static int unpack_file(const struct nai_run *run, const char *file, const char *path, struct nai_err *err) {
  NAI_SCOPED(nai_buf) content = {0};
  struct nai_err why = {0};
  if (!nai_run_content(run)->len)
    return nai_fs_link_or_copy_at(nai_run_directory(run), file, path, err);
  int rc = nai_pack_read(&content, nai_run_content(run), file, &why);
  if (rc)
    return nai_err_set(err, rc == NAI_ESTALE ? NAI_EINPUT : rc, "\"%s\": %s", nai_run_path(run), why.msg);
  return nai_fs_write(path, nai_buf_str(&content), content.len, err);
}

int nai_run_unpack(const struct nai_run *run, const char *to, struct nai_err *err) {
  const struct nai_strings *files = &nai_run_manifest(run)->files;
  char path[PATH_MAX];
  bool events;
  for (uint32_t i = 0; i < files->count; i++) {
    const char *file = nai_strings_get(files, i);
    if (!is_of_stages(&events, file) || !nai_run_has_file(run, file))
      continue;
    if (!nai_fs_join(path, sizeof path, to, file))
      return nai_err_set(err, NAI_EIO, "the path of \"%s\" is too long", file);
    NAI_TRY(unpack_file(run, file, path, err));
  }
  return NAI_OK;
}

/* What cannot be looked at is not there for a link. */
static bool is_below(const char *root, const char *path, struct nai_err *unread) {
  char file[PATH_MAX];
  if ((size_t)snprintf(file, sizeof file, "%s%s%s", root, *root ? "/" : "", path) >= sizeof file)
    return false;
  if (access(file, F_OK) == 0)
    return true;
  if (unread && !nai_fs_is_absent(errno))
    nai_err_sys(unread, NAI_EIO, errno, "cannot look at \"%s\", to which there is no link now", file);
  return false;
}

bool nai_run_find_report(char out[PATH_MAX], const char *root, const char *path, struct nai_err *unread) {
  static const char captures[] = "captures/";
  const char *number = nai_fs_basename(path);
  size_t before = (size_t)(number - path), n = strlen(captures);
  if (!*path || (size_t)snprintf(out, PATH_MAX, "%s/report.html", path) >= PATH_MAX)
    return false;
  if (!root || is_below(root, out, unread))
    return true;
  return before >= n && memcmp(number - n, captures, n) == 0 &&
         (size_t)snprintf(out, PATH_MAX, "%.*sreports/%s.html", (int)(before - n), path, number) < PATH_MAX &&
         is_below(root, out, unread);
}
