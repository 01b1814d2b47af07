#include "rundir/publish.h"

#include "base/fs.h"
#include "table/csv.h"

/* Where the list is lost: table files say themselves what they are. */
static int list_tables(struct nai_strings *files, int directory, struct nai_err *err) {
  char name[NAME_MAX + 16];
  NAI_CLOSED_DIR DIR *stages = nai_fs_entries(directory, "stages");
  if (!stages)
    return nai_fs_is_absent(errno) ? NAI_OK : nai_err_sys(err, NAI_EIO, errno, "cannot look through \"stages\"");
  for (const struct dirent *e; (e = readdir(stages));) {
    snprintf(name, sizeof name, "stages/%s", e->d_name);
    if (nai_table_is_file_at(directory, name))
      NAI_TRY(nai_strings_put(NULL, files, name, err));
  }
  return NAI_OK;
}

int nai_publish_list(struct nai_strings *files, bool *known, int directory, struct nai_err *err) {
  NAI_SCOPED(nai_manifest) manifest = {0};
  NAI_TRY(nai_manifest_read(&manifest, directory, err));
  if (!manifest.ours)
    NAI_TRY(list_tables(files, directory, err));
  *known = manifest.ours || files->count;
  for (uint32_t i = 0; i < manifest.files.count; i++)
    NAI_TRY(nai_strings_put(NULL, files, nai_strings_get(&manifest.files, i), err));
  return NAI_OK;
}

static int check_loss(const struct nai_outdir *out, const char *path, const struct nai_outdir_calls *calls,
                      nai_publish_loss_fn *loss, const void *ctx, struct nai_err *err) {
  NAI_SCOPED(nai_manifest) earlier = {0};
  if (nai_outdir_earlier(out) < 0)
    return NAI_OK;
  NAI_TRY(nai_manifest_read(&earlier, nai_outdir_earlier(out), err));
  const char *lost = loss(&earlier, ctx);
  return lost ? nai_err_set(err, NAI_EUSAGE, "%s \"%s\" holds %s, which would be lost; give another directory",
                            calls->option, path, lost)
              : NAI_OK;
}

/* Path of a file in the work directory. */
static int path_of(char path[PATH_MAX], const struct nai_outdir *out, const char *name, struct nai_err *err) {
  return nai_fs_join(path, PATH_MAX, nai_outdir_work(out), name)
           ? NAI_OK
           : nai_err_set(err, NAI_EIO, "the path of \"%s\" is too long", name);
}

int nai_publish_open(struct nai_outdir **out, const char *path, const struct nai_outdir_calls *calls,
                     nai_publish_loss_fn *loss, const void *ctx, struct nai_err *err) {
  char stages[PATH_MAX];
  NAI_TRY(nai_outdir_begin(out, path, calls, err));
  NAI_TRY(check_loss(*out, path, calls, loss, ctx, err));
  NAI_TRY(path_of(stages, *out, "stages", err));
  return nai_fs_mkdir(stages, err);
}

/* Something else in the target would be replaced by what is none of its kind. */
static const char *loss_of(const struct nai_manifest *earlier, const void *main_file) {
  if (earlier->node_count || earlier->identity)
    return "a run or its report";
  return earlier->ours && !nai_manifest_lists(earlier, main_file) ? "what another command wrote" : NULL;
}

int nai_publish_begin(struct nai_publication *p, const char *path, const char *main_file,
                      void (*note)(const char *line), struct nai_err *err) {
  const struct nai_outdir_calls calls = {.list = nai_publish_list, .note = note, .option = "--out"};
  *p = (struct nai_publication){.manifest = {.version = NAI_VERSION}};
  return nai_publish_open(&p->out, path, &calls, loss_of, main_file, err);
}

static int write_file(const struct nai_outdir *out, const char *name, const struct nai_buf *text, struct nai_err *err) {
  char path[PATH_MAX];
  NAI_TRY(nai_buf_check(text, err));
  NAI_TRY(path_of(path, out, name, err));
  if (strchr(name, '/')) {
    char *slash = strrchr(path, '/');
    *slash = '\0';
    NAI_TRY(nai_fs_mkdir(path, err));
    *slash = '/';
  }
  return nai_fs_write(path, nai_buf_str(text), text->len, err);
}

int nai_publish_file(struct nai_publication *p, const char *name, const struct nai_buf *text, struct nai_err *err) {
  NAI_TRY(write_file(p->out, name, text, err));
  nai_manifest_add_file(&p->manifest, name);
  return NAI_OK;
}

int nai_publish_table(struct nai_publication *p, const struct nai_table *table, struct nai_err *err) {
  NAI_SCOPED(nai_buf) text = {0};
  char name[128];
  snprintf(name, sizeof name, "tables/%s.csv", table->schema->name);
  nai_csv_table(&text, table);
  return nai_publish_file(p, name, &text, err);
}

int nai_publish_manifest(const struct nai_outdir *out, const struct nai_manifest *manifest,
                         const struct nai_table *readers, struct nai_err *err) {
  NAI_SCOPED(nai_buf) text = {0};
  NAI_TRY(nai_manifest_check(manifest, err));
  nai_manifest_print(&text, manifest, readers);
  return write_file(out, NAI_MANIFEST_PATH, &text, err);
}

int nai_publish_commit(struct nai_publication *p, struct nai_err *err) {
  nai_manifest_add_file(&p->manifest, NAI_MANIFEST_PATH);
  NAI_TRY(nai_publish_manifest(p->out, &p->manifest, NULL, err));
  return nai_outdir_commit(p->out, err);
}

void nai_publish_end(struct nai_publication *p) {
  nai_outdir_end(p->out);
  nai_manifest_free(&p->manifest);
  p->out = NULL;
}
