#include "rundir/publish.h"

#include "base/fs.h"
#include "table/table.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Where the list is lost: table files say themselves what they are. */
static int list_tables(struct nai_strings *files, int directory, struct nai_err *err) {
  char name[NAME_MAX + 16];
  int fd = openat(directory, "stages", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), failed = errno;
  DIR *stages = fd >= 0 ? fdopendir(fd) : NULL;
  if (!stages) {
    if (fd >= 0)
      close(fd);
    return fd < 0 && nai_fs_is_absent(failed)
             ? NAI_OK
             : nai_err_sys(err, NAI_EIO, fd < 0 ? failed : ENOMEM, "cannot look through \"stages\"");
  }
  int rc = NAI_OK;
  for (const struct dirent *e; !rc && (e = readdir(stages));) {
    snprintf(name, sizeof name, "stages/%s", e->d_name);
    if (nai_table_is_file_at(directory, name) && nai_strings_add(files, name, strlen(name)) == NAI_NO_STRING)
      rc = nai_err_nomem(err);
  }
  closedir(stages);
  return rc;
}

int nai_publish_list(void *ctx, struct nai_strings *files, bool *known, int directory, struct nai_err *err) {
  (void)ctx;
  struct nai_manifest manifest;
  int rc = nai_manifest_read(&manifest, directory, err);
  if (!rc && !manifest.ours)
    rc = list_tables(files, directory, err);
  *known = manifest.ours || files->count;
  for (uint32_t i = 0; i < manifest.files.count && !rc; i++) {
    const char *name = nai_strings_get(&manifest.files, i);
    if (nai_strings_add(files, name, strlen(name)) == NAI_NO_STRING)
      rc = nai_err_nomem(err);
  }
  nai_manifest_free(&manifest);
  return rc;
}

static void pass_note(void *ctx, const char *line) {
  const struct nai_publication *p = ctx;
  if (p->note)
    p->note(line);
}

/* Something else in the target would be replaced by what is none of its kind. */
static int check_kind(const struct nai_publication *p, const char *main_file, const char *path, struct nai_err *err) {
  struct nai_manifest earlier;
  if (!p->out.exists)
    return NAI_OK;
  int rc = nai_manifest_read(&earlier, p->out.earlier, err);
  bool run = earlier.node_count || earlier.identity;
  if (!rc && (run || (earlier.ours && !nai_manifest_lists(&earlier, main_file))))
    rc = nai_err_set(err, NAI_EUSAGE, "--out \"%s\" holds %s, which would be lost; give another directory", path,
                     run ? "a run or its report" : "what another command wrote");
  nai_manifest_free(&earlier);
  return rc;
}

int nai_publish_begin(struct nai_publication *p, const char *path, const char *main_file,
                      void (*note)(const char *line), struct nai_err *err) {
  char stages[PATH_MAX];
  *p = (struct nai_publication){.note = note};
  const struct nai_outdir_calls calls = {.list = nai_publish_list, .note = pass_note, .ctx = p, .option = "--out"};
  int rc = nai_outdir_begin(&p->out, path, &calls, err);
  if (!rc)
    rc = check_kind(p, main_file, path, err);
  if (rc)
    return rc;
  if ((size_t)snprintf(stages, sizeof stages, "%s/stages", p->out.work) >= sizeof stages)
    return nai_err_set(err, NAI_EIO, "the path of \"%s\" is too long", path);
  p->manifest.version = strdup(NAI_VERSION);
  return p->manifest.version ? nai_fs_mkdir(stages, err) : nai_err_nomem(err);
}

static int write_file(const struct nai_publication *p, const char *name, const struct nai_buf *text,
                      struct nai_err *err) {
  char path[PATH_MAX];
  const char *slash = strrchr(name, '/');
  int rc = nai_buf_check(text, err);
  if (!rc && (size_t)snprintf(path, sizeof path, "%s/%s", p->out.work, name) >= sizeof path)
    rc = nai_err_set(err, NAI_EIO, "the path of \"%s\" is too long", name);
  if (!rc && slash) {
    size_t end = strlen(path) - strlen(slash);
    path[end] = '\0';
    rc = nai_fs_mkdir(path, err);
    path[end] = '/';
  }
  return rc ? rc : nai_fs_write(path, nai_buf_str(text), text->len, err);
}

int nai_publish_file(struct nai_publication *p, const char *name, const struct nai_buf *text, struct nai_err *err) {
  int rc = write_file(p, name, text, err);
  if (!rc)
    nai_manifest_add_file(&p->manifest, name);
  return rc;
}

int nai_publish_commit(struct nai_publication *p, struct nai_err *err) {
  struct nai_buf text = {0};
  nai_manifest_add_file(&p->manifest, NAI_MANIFEST_PATH);
  int rc = nai_manifest_check(&p->manifest, err);
  if (!rc) {
    nai_manifest_print(&text, &p->manifest, NULL);
    rc = write_file(p, NAI_MANIFEST_PATH, &text, err);
  }
  nai_buf_free(&text);
  return rc ? rc : nai_outdir_commit(&p->out, err);
}

void nai_publish_end(struct nai_publication *p) {
  nai_outdir_end(&p->out);
  nai_manifest_free(&p->manifest);
}
