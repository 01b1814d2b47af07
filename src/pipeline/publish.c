#include "pipeline/publish.h"

#include "base/fs.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int nai_publish_list(void *ctx, struct nai_strings *files, int directory, struct nai_err *err) {
  (void)ctx;
  struct nai_manifest manifest;
  int rc = nai_manifest_read(&manifest, directory, err);
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

/* A run in the target would be replaced by something that is none. */
static int check_no_run(const struct nai_publication *p, const char *path, struct nai_err *err) {
  struct nai_manifest earlier;
  if (!p->out.exists)
    return NAI_OK;
  int rc = nai_manifest_read(&earlier, p->out.earlier, err);
  if (!rc && (earlier.node_count || earlier.identity))
    rc = nai_err_set(err, NAI_EUSAGE,
                     "--out \"%s\" holds a run or its report, which would be lost; give another directory", path);
  nai_manifest_free(&earlier);
  return rc;
}

int nai_publish_begin(struct nai_publication *p, const char *path, void (*note)(const char *line),
                      struct nai_err *err) {
  char stages[PATH_MAX];
  *p = (struct nai_publication){.note = note};
  const struct nai_outdir_calls calls = {.list = nai_publish_list, .note = pass_note, .ctx = p, .option = "--out"};
  int rc = nai_outdir_begin(&p->out, path, &calls, err);
  if (!rc)
    rc = check_no_run(p, path, err);
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
