/* Putting a run into a store. */
#include "features/nights/store_internal.h"

#include "base/array.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/temporary.h"
#include "base/text.h"
#include "table/json.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- environment ------------------------------------------------------------------------------ */

static int by_text(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

/* "2 x NVIDIA H100, 1 x NVIDIA A100": models in order of their names. */
static int put_gpus(struct nai_buf *out, const struct nai_table *gpus, struct nai_err *err) {
  const char **names = malloc(((size_t)gpus->rows + 1) * sizeof *names);
  if (!names)
    return nai_err_nomem(err);
  for (int64_t i = 0; i < gpus->rows; i++) {
    names[i] = nai_cell_str(gpus, i, "gpu_name");
    names[i] = *names[i] ? names[i] : "GPU";
  }
  qsort(names, (size_t)gpus->rows, sizeof *names, by_text);
  for (int64_t i = 0, j; i < gpus->rows; i = j) {
    for (j = i + 1; j < gpus->rows && strcmp(names[i], names[j]) == 0; j++)
      ;
    nai_buf_printf(out, "%s%" PRId64 " x %s", i ? ", " : "", j - i, names[i]);
  }
  if (!gpus->rows)
    nai_buf_puts(out, "no GPU");
  free(names);
  return NAI_OK;
}

/* "2026.2" of "2026.2.1.210": what a release changes is more than what a fix does. */
static void put_release(struct nai_buf *out, const char *version) {
  const char *dot = strchr(version, '.'), *end = dot ? strchr(dot + 1, '.') : NULL;
  if (*version)
    nai_buf_printf(out, "; nsys %.*s", end ? (int)(end - version) : (int)strlen(version), version);
}

int nai_store_environment(char **out, struct nai_run *run, const char *more, struct nai_err *err) {
  const struct nai_table *gpus, *info, *capture;
  struct nai_buf text = {0};
  *out = NULL;
  int rc = nai_run_table(&gpus, run, "gpus", NULL, err);
  if (!rc)
    rc = nai_run_table(&info, run, "run_info", NULL, err);
  if (!rc)
    rc = nai_run_table(&capture, run, "capture", NULL, err);
  if (!rc)
    rc = put_gpus(&text, gpus, err);
  if (rc) {
    nai_buf_free(&text);
    return rc;
  }
  nai_buf_printf(&text, "; %" PRId64 " process%s", nai_cell_i64(info, 0, "process_count"),
                 nai_cell_i64(info, 0, "process_count") == 1 ? "" : "es");
  put_release(&text, nai_cell_str(capture, 0, "product_version"));
  if (*nai_cell_str(capture, 0, "driver_version")) /* not in every export */
    nai_buf_printf(&text, "; driver %s", nai_cell_str(capture, 0, "driver_version"));
  if (more && *more) {
    nai_buf_puts(&text, "; ");
    nai_text_clean(&text, more, strlen(more));
  }
  rc = nai_buf_check(&text, err);
  *out = text.data;
  return rc;
}

static int environment_of(char **out, const struct nai_store_add *a, struct nai_err *err) {
  if (!a->capture_count) {
    *out = strdup("unknown");
    return *out ? NAI_OK : nai_err_nomem(err);
  }
  int rc = nai_store_environment(out, a->captures[0], a->environment, err);
  for (int i = 1; i < a->capture_count && !rc; i++) {
    char *other;
    rc = nai_store_environment(&other, a->captures[i], a->environment, err);
    if (!rc && strcmp(other, *out) != 0)
      rc = nai_err_set(err, NAI_EUSAGE, "captures of one run differ in what they ran on: \"%s\" and \"%s\"", *out,
                       other);
    free(other);
  }
  return rc;
}

/* --- describing ------------------------------------------------------------------------------- */

static int print_labels(struct nai_buf *out, const struct nai_store_add *a, struct nai_err *err) {
  struct nai_json json;
  struct nai_buf clean = {0};
  int rc = NAI_OK;
  if (!a->label_count)
    return NAI_OK;
  nai_json_init(&json, out, false);
  nai_json_begin_object(&json, NAI_JSON_INLINE);
  for (size_t i = 0; i < a->label_count && !rc; i++) {
    char key[NAI_STORE_NAME_MAX];
    size_t n = strcspn(a->labels[i], "=");
    if (!a->labels[i][n] || n >= sizeof key)
      rc = nai_err_set(err, NAI_EUSAGE, "--label \"%.100s\": expected KEY=VALUE", a->labels[i]);
    snprintf(key, sizeof key, "%.*s", (int)n, a->labels[i]);
    if (!rc)
      rc = nai_store_check_name("the key of --label", key, err);
    for (size_t before = 0; before < i && !rc; before++)
      if (strncmp(a->labels[before], a->labels[i], n + 1) == 0)
        rc = nai_err_set(err, NAI_EUSAGE, "--label %.100s is given twice", key);
    nai_buf_clear(&clean);
    nai_text_clean(&clean, a->labels[i] + n + 1, strlen(a->labels[i] + n + 1));
    if (!rc)
      nai_json_put_text(&json, key, nai_buf_str(&clean));
  }
  nai_json_end(&json);
  nai_json_finish(&json);
  out->oom |= clean.oom;
  nai_buf_free(&clean);
  return rc ? rc : nai_buf_check(out, err);
}

/* A capture that counts twice would make the night surer than it is. */
static int check_captures(const struct nai_store_add *a, struct nai_err *err) {
  for (int i = 0; i < a->capture_count; i++)
    for (int k = 0; k < i; k++)
      if (nai_run_manifest(a->captures[i])->identity == nai_run_manifest(a->captures[k])->identity)
        return nai_err_set(err, NAI_EUSAGE, "\"%s\" and \"%s\" are of the same trace", nai_run_path(a->captures[k]),
                           nai_run_path(a->captures[i]));
  if (!a->capture_count && !a->refused && !a->id && a->utc_ns == NAI_NULL_I64)
    return nai_err_set(err, NAI_EUSAGE,
                       "a night without captures needs --time UTC or --id ID: nothing else tells it from other nights");
  return NAI_OK;
}

static int by_identity(const void *pa, const void *pb) {
  uint64_t a = nai_run_manifest(*(struct nai_run *const *)pa)->identity,
           b = nai_run_manifest(*(struct nai_run *const *)pb)->identity;
  return (a > b) - (a < b);
}

/* From the captures alone, in order of their identities: when the first began, and which they are; of a night without,
 * from what was refused. */
static char *make_id(const struct nai_store_add *a, int64_t utc_ns) {
  struct nai_buf text = {0};
  uint64_t hash = 0;
  for (int i = 0; i < a->capture_count; i++)
    hash = nai_hash_int(hash, (int64_t)nai_run_manifest(a->captures[i])->identity);
  if (!a->capture_count)
    hash = nai_hash_int(nai_hash_text(hash, a->error), (int64_t)a->refused);
  nai_store_put_utc(&text, utc_ns);
  nai_buf_printf(&text, "%s%08x", text.len ? "-" : "", (unsigned)(hash >> 32));
  return text.oom ? NULL : text.data;
}

static int add_bytes(int64_t *bytes, struct nai_run *run, struct nai_err *err) {
  const struct nai_table *capture;
  int rc = nai_run_table_if_any(&capture, run, "capture", NULL, err);
  int64_t size = !rc && capture ? nai_cell_i64(capture, 0, "size_bytes") : 0;
  *bytes += size > 0 ? size : 0;
  return rc;
}

static int find_utc(int64_t *utc_ns, const struct nai_store_add *a, struct nai_err *err) {
  *utc_ns = a->utc_ns;
  for (int i = 0; i < a->capture_count; i++) {
    int64_t utc;
    int rc = nai_index_utc(&utc, a->captures[i], err);
    if (rc)
      return rc;
    if (a->utc_ns == NAI_NULL_I64 && utc != NAI_NULL_I64 && (*utc_ns == NAI_NULL_I64 || utc < *utc_ns))
      *utc_ns = utc;
  }
  return NAI_OK;
}

static const char *name_of(const struct nai_store_add *a) { return a->name ? a->name : "default"; }

static char *series_of(const struct nai_store_add *a, const char *environment) {
  char *series = NULL;
  if (!a->capture_count)
    return asprintf(&series, "%s/unknown", name_of(a)) < 0 ? NULL : series;
  uint64_t hash = nai_hash_text(0, environment);
  return asprintf(&series, "%s/%08x", name_of(a), (unsigned)(hash >> 32)) < 0 ? NULL : series;
}

static int describe(struct nai_store_run *run, const struct nai_store_add *a, struct nai_err *err) {
  struct nai_buf labels = {0}, error = {0};
  int rc = nai_store_check_name("the series", name_of(a), err);
  if (!rc)
    rc = check_captures(a, err);
  if (!rc && a->id)
    rc = nai_store_check_name("the id", a->id, err);
  if (!rc)
    rc = environment_of(&run->environment, a, err);
  if (!rc)
    rc = find_utc(&run->utc_ns, a, err);
  if (!rc)
    rc = print_labels(&labels, a, err);
  if (a->error)
    nai_text_clean(&error, a->error, strlen(a->error));
  if (!rc) {
    run->id = a->id ? strdup(a->id) : make_id(a, run->utc_ns);
    run->series = series_of(a, run->environment);
    run->status = strdup(a->error ? "failed" : "ok");
    run->error = strdup(nai_buf_str(&error));
    run->verdict = strdup(a->verdict ? a->verdict : "");
    run->labels = strdup(nai_buf_str(&labels));
    run->note = strdup("");
    run->captures = a->capture_count;
    if (!run->id || !run->series || !run->status || !run->error || !run->verdict || !run->labels || !run->note ||
        error.oom)
      rc = nai_err_nomem(err);
  }
  for (int i = 0; i < a->capture_count && !rc; i++)
    rc = add_bytes(&run->bytes, a->captures[i], err);
  nai_buf_free(&labels);
  nai_buf_free(&error);
  return rc;
}

/* --- writing ---------------------------------------------------------------------------------- */

static int too_long(struct nai_err *err) { return nai_err_set(err, NAI_EUSAGE, "the name of the store is too long"); }

/* What cannot be read would be found out by every comparison to come, when the trace may be gone. */
static int check_readable(const struct nai_store_add *a, struct nai_err *err) {
  int rc = NAI_OK;
  for (int i = 0; i < a->capture_count && !rc; i++) {
    rc = nai_store_check_capture(a->captures[i], err);
    if (rc == NAI_EINPUT)
      nai_err_wrap(err, rc, "\"%s\" is not stored; analyse its trace again", nai_run_path(a->captures[i]));
  }
  return rc;
}

/* Files may be absent that the store would have pruned. */
static int copy_file(const char *to, const struct nai_run *from, const char *name, struct nai_err *err) {
  char path[PATH_MAX];
  if (!nai_fs_exists_at(nai_run_directory(from), name) && nai_fs_is_absent(errno))
    return nai_store_may_prune(name)
             ? NAI_OK
             : nai_err_set(err, NAI_EINPUT, "\"%s\" is not stored; analyse its trace again: it has no \"%s\"",
                           nai_run_path(from), name);
  return nai_fs_join(path, sizeof path, to, name) ? nai_fs_link_or_copy_at(nai_run_directory(from), name, path, err)
                                                  : too_long(err);
}

/* The files that the capture's manifest lists; whatever else lies in its directory is somebody else's. The stamp is of
 * use where the trace is. */
static int copy_capture(const char *to, const struct nai_run *from, struct nai_err *err) {
  static const char *const directories[] = {".", "stages", "tables"};
  char path[PATH_MAX];
  int rc = NAI_OK;
  for (size_t i = 0; i < sizeof directories / sizeof *directories && !rc; i++) {
    rc = nai_fs_join(path, sizeof path, to, directories[i]) ? nai_fs_mkdir_all(path, err) : too_long(err);
  }
  for (uint32_t i = 0; i < nai_run_manifest(from)->files.count && !rc; i++) {
    const char *name = nai_strings_get(&nai_run_manifest(from)->files, i);
    if (strcmp(name, NAI_STAMP_PATH) != 0)
      rc = copy_file(to, from, name, err);
  }
  return rc;
}

static int fill(const char *directory, const struct nai_store_run *run, const struct nai_store_add *a,
                struct nai_err *err) {
  char path[PATH_MAX];
  int rc = nai_fs_mkdir_all(directory, err);
  for (int i = 0; i < a->capture_count && !rc; i++) {
    char name[32];
    snprintf(name, sizeof name, "captures/%d", i);
    rc = nai_fs_join(path, sizeof path, directory, name) ? copy_capture(path, a->captures[i], err) : too_long(err);
  }
  if (!rc)
    rc = nai_fs_join(path, sizeof path, directory, "run.json") ? nai_store_write_run(run, path, err) : too_long(err);
  return rc;
}

/* Whether the run's captures are these, in whatever order they were added. */
static int has_captures(bool *same, const struct nai_store *store, const struct nai_store_run *there,
                        const struct nai_store_add *a, struct nai_err *err) {
  int rc = NAI_OK;
  *same = there->captures == a->capture_count;
  for (int i = 0; i < a->capture_count && *same && !rc; i++) {
    char path[PATH_MAX];
    struct nai_run *capture = NULL;
    rc = nai_store_directory(path, sizeof path, store, there, i) ? nai_run_open(&capture, path, err) : too_long(err);
    *same = !rc && bsearch(&capture, a->captures, (size_t)a->capture_count, sizeof capture, by_identity);
    nai_run_close(capture);
  }
  return rc;
}

/* Whether the captures of an earlier run of that id are these, or it failed as this one did. */
static int compare_with(bool *same, const struct nai_store *store, const struct nai_store_run *there,
                        const struct nai_store_run *run, const struct nai_store_add *a, struct nai_err *err) {
  int rc = has_captures(same, store, there, a, err);
  *same &= strcmp(there->error, run->error) == 0;
  return rc ? nai_err_wrap(err, rc, "the store has a run \"%.100s\" already, and whether it is this one cannot be told",
                           there->id)
            : NAI_OK;
}

/* Earlier versions made the id of the captures in the order of the call: the same night may be there under another.
 * What cannot be read is not this one. */
static const struct nai_store_run *find_reordered(const struct nai_store *store, const struct nai_store_run *run,
                                                  const struct nai_store_add *a) {
  for (uint32_t i = 0; i < store->count && a->capture_count > 1 && !a->id; i++) {
    const struct nai_store_run *there = &store->runs[i];
    struct nai_err ignored;
    bool same;
    if (there->utc_ns == run->utc_ns && has_captures(&same, store, there, a, &ignored) == NAI_OK && same)
      return there;
  }
  return NULL;
}

static int put_in_place(struct nai_store *store, const struct nai_store_run *run, const struct nai_store_add *a,
                        struct nai_err *err) {
  char path[PATH_MAX], series[PATH_MAX];
  struct nai_temporary aside = {0};
  if (!nai_store_directory(path, sizeof path, store, run, -1))
    return nai_err_set(err, NAI_EUSAGE, "the name of the store is too long");
  snprintf(series, sizeof series, "%.*s", (int)(nai_fs_basename(path) - path), path);
  int rc = nai_fs_mkdir_all(series, err);
  if (!rc)
    rc = nai_temporary_beside(&aside, path, err);
  if (!rc)
    rc = fill(aside.path, run, a, err);
  int failed = rc ? 0 : nai_temporary_become(&aside, path);
  if (failed)
    rc = nai_err_sys(err, NAI_EIO, failed, "cannot create \"%s\"", path);
  nai_temporary_remove(&aside);
  return rc;
}

/* A verdict or labels that are said now of a run that is there take the place of those of before. */
static int tell(bool *told, const struct nai_store *store, const struct nai_store_run *there,
                const struct nai_store_run *run, const struct nai_store_add *a, struct nai_err *err) {
  struct nai_store_run as = *there;
  char path[PATH_MAX], file[PATH_MAX];
  as.verdict = a->verdict ? run->verdict : there->verdict;
  as.labels = a->label_count ? run->labels : there->labels;
  *told = strcmp(as.verdict, there->verdict) != 0 || strcmp(as.labels, there->labels) != 0;
  if (!*told)
    return NAI_OK;
  if (!nai_store_directory(path, sizeof path, store, there, -1) || !nai_fs_join(file, sizeof file, path, "run.json"))
    return too_long(err);
  return nai_store_write_run(&as, file, err);
}

/* --series and --environment that were left out are those of before. */
static bool is_elsewhere(const struct nai_store_run *there, const struct nai_store_run *run,
                         const struct nai_store_add *a) {
  return (a->name || a->environment) && strcmp(there->series, run->series) != 0;
}

/* The run that is there can still be compared: else this one, which could, would be lost without a word. */
static int check_stored(const struct nai_store *store, const struct nai_store_run *there, struct nai_err *err) {
  int rc = nai_store_check_run(store, there, err);
  return rc == NAI_EINPUT
           ? nai_err_wrap(err, rc,
                          "the store has the run \"%.100s\" already, damaged; remove it (nsys-ai store remove), then "
                          "add it again",
                          there->id)
           : rc;
}

/* What is there is this run, of this series. */
static int check_there(const struct nai_store *store, const struct nai_store_run *there,
                       const struct nai_store_run *run, const struct nai_store_add *a, struct nai_err *err) {
  bool same;
  int rc = compare_with(&same, store, there, run, a, err);
  if (!rc && (!same || is_elsewhere(there, run, a)))
    rc = nai_err_set(err, NAI_EUSAGE, "the store has %s run \"%s\" already, in the series %s", same ? "the" : "another",
                     there->id, there->series);
  return rc ? rc : check_stored(store, there, err);
}

static int add(char **id, enum nai_store_added *added, struct nai_store *store, const struct nai_store_add *a,
               struct nai_err *err) {
  struct nai_store_run run = {.utc_ns = NAI_NULL_I64};
  bool told = false;
  int rc = check_readable(a, err);
  if (!rc)
    rc = describe(&run, a, err);
  const struct nai_store_run *there = rc ? NULL : nai_store_find(store, run.id);
  if (!rc && !there)
    there = find_reordered(store, &run, a);
  if (there)
    rc = check_there(store, there, &run, a, err);
  *added = there ? NAI_STORE_SAME : NAI_STORE_NEW;
  if (!rc)
    rc = there ? tell(&told, store, there, &run, a, err) : put_in_place(store, &run, a, err);
  if (told)
    *added = NAI_STORE_TOLD;
  if (!rc && !(*id = strdup(there ? there->id : run.id)))
    rc = nai_err_nomem(err);
  nai_store_free_run(&run);
  return !rc && *added != NAI_STORE_SAME ? nai_store_reopen(store, err) : rc;
}

/* One night is one run, in whatever order its captures are named. */
int nai_store_add(char **id, enum nai_store_added *added, struct nai_store *store, const struct nai_store_add *a,
                  struct nai_err *err) {
  struct nai_store_add sorted = *a;
  struct nai_run **captures = malloc(((size_t)a->capture_count + 1) * sizeof *captures);
  *id = NULL;
  if (!captures)
    return nai_err_nomem(err);
  for (int i = 0; i < a->capture_count; i++)
    captures[i] = a->captures[i];
  qsort(captures, (size_t)a->capture_count, sizeof *captures, by_identity);
  sorted.captures = captures;
  int rc = add(id, added, store, &sorted, err);
  free(captures);
  return rc;
}
