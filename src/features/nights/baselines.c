/* baselines/NAME.json: names for runs. */
#include "features/nights/store_internal.h"

#include "base/fs.h"
#include "base/sort.h"
#include "base/text.h"
#include "config/yaml.h"
#include "table/json.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool file_of(char *path, size_t size, const struct nai_store *store, const char *name) {
  return (size_t)snprintf(path, size, "%s/baselines/%s.json", store->path, name) < size;
}

static void print(struct nai_buf *out, const char *const *ids, size_t count, const char *reason) {
  struct nai_json json;
  nai_json_init(&json, out, false);
  nai_json_begin_object(&json, NAI_JSON_LINES);
  nai_json_put_int(&json, "format_major", 1);
  nai_json_put_int(&json, "format_minor", 0);
  nai_json_put_text(&json, "reason", reason);
  nai_json_key(&json, "runs");
  nai_json_begin_array(&json, NAI_JSON_LINES);
  for (size_t i = 0; i < count; i++)
    nai_json_text(&json, ids[i]);
  nai_json_end(&json);
  nai_json_end(&json);
  nai_json_finish(&json);
  nai_buf_putc(out, '\n');
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
  char path[PATH_MAX];
  struct nai_buf text = {0}, clean = {0};
  int rc = nai_store_check_name("the name of a baseline", name, err);
  if (!rc && is_reserved(name))
    rc = nai_err_set(err, NAI_EUSAGE, "\"%s\" is a selector of its own; choose another name", name);
  if (!rc)
    rc = check_runs(store, ids, count, err);
  snprintf(path, sizeof path, "%s/baselines", store->path);
  if (!rc)
    rc = nai_fs_mkdir(path, err);
  nai_text_clean(&clean, reason, strlen(reason));
  print(&text, ids, count, nai_buf_str(&clean));
  text.oom |= clean.oom;
  if (!rc)
    rc = nai_buf_check(&text, err);
  if (!rc && !file_of(path, sizeof path, store, name))
    rc = nai_err_set(err, NAI_EUSAGE, "the names of the store and of the baseline are too long together");
  if (!rc)
    rc = nai_fs_replace(path, nai_buf_str(&text), text.len, err);
  nai_buf_free(&text);
  nai_buf_free(&clean);
  return rc;
}

void nai_store_baseline_free(struct nai_store_baseline *baseline) {
  nai_strings_free(&baseline->ids);
  free(baseline->reason);
  *baseline = (struct nai_store_baseline){0};
}

int nai_store_baseline(struct nai_store_baseline *out, const struct nai_store *store, const char *name,
                       struct nai_err *err) {
  char path[PATH_MAX];
  struct nai_yaml *doc = NULL;
  *out = (struct nai_store_baseline){0};
  if (!file_of(path, sizeof path, store, name) || strchr(name, '/') || !nai_fs_exists(path))
    return nai_err_set(
        err, NAI_EUSAGE,
        "\"%.100s\" is no baseline of the store (nsys-ai store list names them), none of run:ID, last-good and "
        "median:N, and no artifacts directory",
        name);
  int rc = nai_yaml_load(&doc, path, err);
  if (!rc)
    rc = nai_yaml_expect(doc, nai_yaml_root(doc), NAI_YAML_MAP, err);
  const struct nai_yaml_node *list = rc ? NULL : nai_yaml_get(doc, nai_yaml_root(doc), "runs");
  if (!rc) /* without, nobody would know which runs are to stay */
    rc = list ? nai_yaml_expect(doc, list, NAI_YAML_LIST, err)
              : nai_err_set(err, NAI_EUSAGE, "\"%s\" is damaged: it names no runs", path);
  const struct nai_yaml_node *reason = rc ? NULL : nai_yaml_get(doc, nai_yaml_root(doc), "reason");
  for (const struct nai_yaml_node *n = rc ? NULL : nai_yaml_first(doc, list); n && !rc; n = nai_yaml_next(doc, n))
    if (nai_strings_add(&out->ids, n->text, strlen(n->text)) == NAI_NO_STRING)
      rc = nai_err_nomem(err);
  if (!rc && !(out->reason = strdup(reason ? reason->text : "")))
    rc = nai_err_nomem(err);
  nai_yaml_free(doc);
  return rc == NAI_EUSAGE ? err->code = NAI_EINPUT : rc; /* a gate must not take damage for a mistake in the call */
}

static int is_file(const struct dirent *e) {
  const char *dot = strrchr(e->d_name, '.');
  return e->d_name[0] != '.' && dot && strcmp(dot, ".json") == 0;
}

static int by_name(const struct dirent **a, const struct dirent **b) { return strcmp((*a)->d_name, (*b)->d_name); }

int nai_store_baselines(struct nai_strings *names, const struct nai_store *store, struct nai_err *err) {
  char path[PATH_MAX];
  struct dirent **entries = NULL;
  snprintf(path, sizeof path, "%s/baselines", store->path);
  int n = scandir(path, &entries, is_file, by_name);
  int rc = n < 0 ? nai_err_sys(err, NAI_EIO, errno, "cannot read \"%s\"", path) : NAI_OK;
  if (n < 0 && errno == ENOENT && !nai_fs_exists(path)) /* a link that leads nowhere is no store without baselines */
    rc = NAI_OK;
  for (int i = 0; i < n; i++) {
    if (!rc &&
        nai_strings_add(names, entries[i]->d_name, strlen(entries[i]->d_name) - strlen(".json")) == NAI_NO_STRING)
      rc = nai_err_nomem(err);
    free(entries[i]);
  }
  free(entries);
  return rc;
}

int nai_store_each_baseline(const struct nai_store *store, nai_store_baseline_fn *each, void *ctx,
                            struct nai_err *err) {
  struct nai_strings names = {0};
  int rc = nai_store_baselines(&names, store, err);
  for (uint32_t i = 0; i < names.count && !rc; i++) {
    struct nai_store_baseline baseline;
    const char *name = nai_strings_get(&names, i);
    rc = nai_store_baseline(&baseline, store, name, err);
    if (!rc)
      rc = each(ctx, name, &baseline, err);
    nai_store_baseline_free(&baseline);
  }
  nai_strings_free(&names);
  return rc;
}
