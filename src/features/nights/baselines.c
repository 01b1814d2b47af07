/* baselines/NAME.json: names for runs. */
#include "base/fs.h"
#include "base/text.h"
#include "config/yaml.h"
#include "features/nights/store_internal.h"
#include "table/json.h"

#include <fcntl.h>

static int path_of(char out[PATH_MAX], const struct nai_store *store, const char *name, struct nai_err *err) {
  return (size_t)snprintf(out, PATH_MAX, "%s/baselines/%s.json", store->path, name) < PATH_MAX
           ? NAI_OK
           : nai_err_set(err, NAI_EUSAGE, "the names of the store and of the baseline are too long together");
}

static void print(struct nai_buf *out, const char *const *ids, size_t count, const char *reason) {
  struct nai_json json;
  nai_json_open(&json, out, NAI_JSON_LINES);
  nai_json_put_int(&json, "format_major", 1);
  nai_json_put_int(&json, "format_minor", 0);
  nai_json_put_text(&json, "reason", reason);
  nai_json_put_array(&json, "runs", NAI_JSON_LINES);
  for (size_t i = 0; i < count; i++)
    nai_json_text(&json, ids[i]);
  nai_json_close(&json);
}

/* Runs that can be compared: of one series, with captures. */
static int check_runs(const struct nai_store *store, const char *const *ids, size_t count, struct nai_err *err) {
  const char *series = NULL;
  for (size_t i = 0; i < count; i++) {
    const struct nai_store_run *run = nai_store_find(store, ids[i]);
    if (!run)
      return nai_err_set(err, NAI_EUSAGE, "the store has no run \"%.100s\"", ids[i]);
    if (!run->captures || strcmp(run->status, "ok") != 0)
      return nai_err_set(err, NAI_EUSAGE, "the run \"%s\" failed: it is no baseline", ids[i]);
    if (run->thinned)
      return nai_err_set(err, NAI_EUSAGE, "the run \"%s\" was thinned out: it is no baseline", ids[i]);
    if (series && strcmp(series, run->series) != 0)
      return nai_err_set(err, NAI_EUSAGE, "the runs are of two series, %s and %s", series, run->series);
    series = run->series;
  }
  return NAI_OK;
}

static bool is_reserved(const char *name) {
  return strcmp(name, "last-good") == 0 || strncmp(name, "run:", 4) == 0 || strncmp(name, "median:", 7) == 0;
}

int nai_store_set_baseline(const struct nai_store *store, const char *name, const char *const *ids, size_t count,
                           const char *reason, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  NAI_SCOPED(nai_buf) text = {0};
  char path[PATH_MAX];
  NAI_TRY(nai_store_check_name("the name of a baseline", name, err));
  if (is_reserved(name))
    return nai_err_set(err, NAI_EUSAGE, "\"%s\" is a selector of its own; choose another name", name);
  NAI_TRY(check_runs(store, ids, count, err));
  snprintf(path, sizeof path, "%s/baselines", store->path);
  NAI_TRY(nai_fs_mkdir(path, err));
  print(&text, ids, count, nai_store_clean(&arena, reason));
  NAI_TRY(nai_arena_check(&arena, err));
  NAI_TRY(nai_buf_check(&text, err));
  NAI_TRY(path_of(path, store, name, err));
  return nai_fs_replace(path, nai_buf_str(&text), text.len, err);
}

void nai_store_baseline_free(struct nai_store_baseline *baseline) {
  nai_strings_free(&baseline->ids);
  free(baseline->reason);
  *baseline = (struct nai_store_baseline){0};
}

static int read_baseline(struct nai_store_baseline *out, const char *path, struct nai_err *err) {
  NAI_OWNED(nai_yaml) *doc = NULL;
  NAI_TRY(nai_yaml_load(&doc, path, err));
  NAI_TRY(nai_yaml_expect(doc, nai_yaml_root(doc), NAI_YAML_MAP, err));
  const struct nai_yaml_node *list = nai_yaml_get(doc, nai_yaml_root(doc), "runs");
  const struct nai_yaml_node *reason = nai_yaml_get(doc, nai_yaml_root(doc), "reason");
  if (!list) /* nobody would know which runs are to stay */
    return nai_err_set(err, NAI_EUSAGE, "\"%s\" is damaged: it names no runs", path);
  NAI_TRY(nai_yaml_expect(doc, list, NAI_YAML_LIST, err));
  for (const struct nai_yaml_node *n = nai_yaml_first(doc, list); n; n = nai_yaml_next(doc, n))
    NAI_TRY(nai_strings_put(NULL, &out->ids, n->text, err));
  out->reason = strdup(reason ? reason->text : "");
  return out->reason ? NAI_OK : nai_err_nomem(err);
}

int nai_store_baseline(struct nai_store_baseline *out, const struct nai_store *store, const char *name,
                       struct nai_err *err) {
  char path[PATH_MAX];
  *out = (struct nai_store_baseline){0};
  if (path_of(path, store, name, NULL) || strchr(name, '/') || !nai_fs_exists(path))
    return nai_err_set(
        err, NAI_EUSAGE,
        "\"%.100s\" is no baseline of the store (nsys-ai store list names them), none of run:ID, last-good and "
        "median:N, and no artifacts directory",
        name);
  int rc = read_baseline(out, path, err);
  return rc == NAI_EUSAGE ? err->code = NAI_EINPUT : rc; /* a gate must not take damage for a mistake in the call */
}

int nai_store_baselines(struct nai_strings *names, const struct nai_store *store, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  char path[PATH_MAX];
  const char **files;
  size_t count;
  snprintf(path, sizeof path, "%s/baselines", store->path);
  int error = nai_fs_names(&files, &count, &arena, AT_FDCWD, path);
  if (error && (error != ENOENT || nai_fs_exists(path))) /* a link that leads nowhere is no store without baselines */
    return nai_err_sys(err, NAI_EIO, error, "cannot read \"%s\"", path);
  for (size_t i = 0; i < count; i++)
    if (nai_text_ends(files[i], ".json"))
      NAI_TRY(nai_strings_put(
          NULL, names, nai_arena_printf(&arena, "%.*s", (int)(strlen(files[i]) - strlen(".json")), files[i]), err));
  return nai_arena_check(&arena, err);
}

int nai_store_each_baseline(const struct nai_store *store, nai_store_baseline_fn *each, void *ctx,
                            struct nai_err *err) {
  NAI_SCOPED(nai_strings) names = {0};
  NAI_TRY(nai_store_baselines(&names, store, err));
  for (uint32_t i = 0; i < names.count; i++) {
    NAI_SCOPED(nai_store_baseline) baseline = {0};
    const char *name = nai_strings_get(&names, i);
    NAI_TRY(nai_store_baseline(&baseline, store, name, err));
    NAI_TRY(each(ctx, name, &baseline, err));
  }
  return NAI_OK;
}
