/* Putting a run into a store. */
#include "base/fs.h"
#include "base/hash.h"
#include "base/temporary.h"
#include "base/text.h"
#include "features/nights/store_internal.h"
#include "table/json.h"
#include "tables/capture.h"
#include "tables/gpus.h"
#include "tables/run_info.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* --- environment ------------------------------------------------------------------------------ */

static int by_text(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

/* "2 x NVIDIA H100, 1 x NVIDIA A100": models in order of their names. */
static int put_gpus(struct nai_buf *out, const struct nai_table *gpus, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  const char **names;
  NAI_TRY(NAI_NEW(names, &arena, (size_t)gpus->rows, err));
  for (int64_t i = 0; i < gpus->rows; i++) {
    names[i] = nai_get_str(gpus, i, GPUS_gpu_name);
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
  return NAI_OK;
}

/* "2026.2" of "2026.2.1.210": what a release changes is more than what a fix does. */
static void put_release(struct nai_buf *out, const char *version) {
  const char *dot = strchr(version, '.'), *end = dot ? strchr(dot + 1, '.') : NULL;
  if (*version)
    nai_buf_printf(out, "; nsys %.*s", end ? (int)(end - version) : (int)strlen(version), version);
}

int nai_store_environment(struct nai_buf *out, struct nai_run *run, const char *more, struct nai_err *err) {
  const struct nai_table *gpus, *info, *captures;
  NAI_TRY(nai_run_table(&gpus, run, "gpus", &nai_gpus_schema, err));
  NAI_TRY(nai_run_table(&info, run, "run_info", &nai_run_info_schema, err));
  NAI_TRY(nai_run_table(&captures, run, "capture", &nai_capture_schema, err));
  int64_t processes = RUN_INFO_at(info, 0).process_count;
  struct CAPTURE_row capture = CAPTURE_at(captures, 0);
  NAI_TRY(put_gpus(out, gpus, err));
  nai_buf_printf(out, "; %" PRId64 " process%s", processes, processes == 1 ? "" : "es");
  put_release(out, capture.product_version);
  if (*capture.driver_version) /* not in every export */
    nai_buf_printf(out, "; driver %s", capture.driver_version);
  if (more && *more) {
    nai_buf_puts(out, "; ");
    nai_text_clean(out, more, strlen(more));
  }
  return nai_buf_check(out, err);
}

static int find_environment(const char **out, const struct nai_store_add *a, struct nai_arena *arena,
                            struct nai_err *err) {
  NAI_SCOPED(nai_buf) first = {0};
  if (!a->capture_count)
    nai_buf_puts(&first, "unknown");
  for (int i = 0; i < a->capture_count; i++) {
    NAI_SCOPED(nai_buf) other = {0};
    NAI_TRY(nai_store_environment(i ? &other : &first, a->captures[i], a->environment, err));
    if (i && strcmp(nai_buf_str(&other), nai_buf_str(&first)) != 0)
      return nai_err_set(err, NAI_EUSAGE, "captures of one run differ in what they ran on: \"%s\" and \"%s\"",
                         nai_buf_str(&first), nai_buf_str(&other));
  }
  *out = nai_arena_printf(arena, "%s", nai_buf_str(&first));
  return nai_buf_check(&first, err);
}

/* --- describing ------------------------------------------------------------------------------- */

/* The key of label number `i`, which is none of those before. */
static int read_key(char key[NAI_STORE_NAME_MAX], const struct nai_store_add *a, size_t i, struct nai_err *err) {
  size_t n = strcspn(a->labels[i], "=");
  if (!a->labels[i][n] || n >= NAI_STORE_NAME_MAX)
    return nai_err_set(err, NAI_EUSAGE, "--label \"%.100s\": expected KEY=VALUE", a->labels[i]);
  snprintf(key, NAI_STORE_NAME_MAX, "%.*s", (int)n, a->labels[i]);
  NAI_TRY(nai_store_check_name("the key of --label", key, err));
  for (size_t before = 0; before < i; before++)
    if (strncmp(a->labels[before], a->labels[i], n + 1) == 0)
      return nai_err_set(err, NAI_EUSAGE, "--label %.100s is given twice", key);
  return NAI_OK;
}

static int print_labels(struct nai_buf *out, const struct nai_store_add *a, struct nai_arena *arena,
                        struct nai_err *err) {
  char keys[NAI_STORE_MAX_LABELS][NAI_STORE_NAME_MAX];
  struct nai_json json;
  for (size_t i = 0; i < a->label_count; i++)
    NAI_TRY(read_key(keys[i], a, i, err));
  if (!a->label_count)
    return NAI_OK;
  nai_json_init(&json, out, false);
  nai_json_begin_object(&json, NAI_JSON_INLINE);
  for (size_t i = 0; i < a->label_count; i++)
    nai_json_put_text(&json, keys[i], nai_store_clean(arena, a->labels[i] + strlen(keys[i]) + 1));
  nai_json_end(&json);
  nai_json_finish(&json);
  return nai_buf_check(out, err);
}

/* A capture that counts twice would make the night surer than it is. */
static int check_captures(const struct nai_store_add *a, struct nai_err *err) {
  for (int i = 0; i < a->capture_count; i++)
    for (int k = 0; k < i; k++)
      if (a->captures[i]->manifest.identity == a->captures[k]->manifest.identity)
        return nai_err_set(err, NAI_EUSAGE, "\"%s\" and \"%s\" are of the same trace", a->captures[k]->path,
                           a->captures[i]->path);
  if (!a->capture_count && !a->refused && !a->id && a->utc_ns == NAI_NULL_I64)
    return nai_err_set(err, NAI_EUSAGE,
                       "a night without captures needs --time UTC or --id ID: nothing else tells it from other nights");
  return NAI_OK;
}

static int by_identity(const void *pa, const void *pb) {
  uint64_t a = (*(struct nai_run *const *)pa)->manifest.identity, b = (*(struct nai_run *const *)pb)->manifest.identity;
  return (a > b) - (a < b);
}

/* "20260105T020000Z" of a time; nothing for NAI_NULL_I64. */
static void print_utc(char out[32], int64_t utc_ns) {
  struct tm parts;
  out[0] = '\0';
  if (utc_ns == NAI_NULL_I64)
    return;
  time_t seconds = utc_ns / 1000000000 - (utc_ns % 1000000000 < 0);
  strftime(out, 32, "%Y%m%dT%H%M%SZ", gmtime_r(&seconds, &parts));
}

/* From the captures alone, in order of their identities: when the first began, and which they are; of a night without,
 * from what was refused. */
static const char *make_id(const struct nai_store_add *a, int64_t utc_ns, struct nai_arena *arena) {
  char utc[32];
  uint64_t hash = 0;
  for (int i = 0; i < a->capture_count; i++)
    hash = nai_hash_int(hash, (int64_t)a->captures[i]->manifest.identity);
  if (!a->capture_count)
    hash = nai_hash_int(nai_hash_text(hash, a->error), (int64_t)a->refused);
  print_utc(utc, utc_ns);
  return nai_arena_printf(arena, "%s%s%08x", utc, *utc ? "-" : "", (unsigned)(hash >> 32));
}

static int find_utc(int64_t *utc_ns, const struct nai_store_add *a, struct nai_err *err) {
  *utc_ns = a->utc_ns;
  for (int i = 0; i < a->capture_count; i++) {
    int64_t utc;
    NAI_TRY(nai_index_utc(&utc, a->captures[i], err));
    if (a->utc_ns == NAI_NULL_I64 && utc != NAI_NULL_I64 && (*utc_ns == NAI_NULL_I64 || utc < *utc_ns))
      *utc_ns = utc;
  }
  return NAI_OK;
}

static int add_bytes(int64_t *bytes, struct nai_run *run, struct nai_err *err) {
  const struct nai_table *capture;
  NAI_TRY(nai_run_table_if_any(&capture, run, "capture", &nai_capture_schema, err));
  int64_t size = capture ? CAPTURE_at(capture, 0).size_bytes : 0;
  *bytes += size > 0 ? size : 0;
  return NAI_OK;
}

static const char *series_of(const struct nai_store_add *a, const char *environment, struct nai_arena *arena) {
  const char *name = a->name ? a->name : "default";
  return a->capture_count ? nai_arena_printf(arena, "%s/%08x", name, (unsigned)(nai_hash_text(0, environment) >> 32))
                          : nai_arena_printf(arena, "%s/unknown", name);
}

static int describe(struct nai_store_run *run, const struct nai_store_add *a, struct nai_arena *arena,
                    struct nai_err *err) {
  NAI_SCOPED(nai_buf) labels = {0};
  NAI_TRY(nai_store_check_name("the series", a->name ? a->name : "default", err));
  NAI_TRY(check_captures(a, err));
  if (a->id)
    NAI_TRY(nai_store_check_name("the id", a->id, err));
  NAI_TRY(find_environment(&run->environment, a, arena, err));
  NAI_TRY(find_utc(&run->utc_ns, a, err));
  NAI_TRY(print_labels(&labels, a, arena, err));
  run->id = a->id ? a->id : make_id(a, run->utc_ns, arena);
  run->series = series_of(a, run->environment, arena);
  run->status = a->error ? "failed" : "ok";
  run->error = a->error ? nai_store_clean(arena, a->error) : "";
  run->verdict = a->verdict ? a->verdict : "";
  run->labels = nai_arena_printf(arena, "%s", nai_buf_str(&labels));
  run->note = "";
  run->captures = a->capture_count;
  for (int i = 0; i < a->capture_count; i++)
    NAI_TRY(add_bytes(&run->bytes, a->captures[i], err));
  return nai_arena_check(arena, err);
}

/* --- writing ---------------------------------------------------------------------------------- */

/* What cannot be read would be found out by every comparison to come, when the trace may be gone. */
static int check_readable(const struct nai_store_add *a, struct nai_err *err) {
  for (int i = 0; i < a->capture_count; i++) {
    int rc = nai_store_check_capture(a->captures[i], err);
    if (rc)
      return rc == NAI_EINPUT
               ? nai_err_wrap(err, rc, "\"%s\" is not stored; analyse its trace again", a->captures[i]->path)
               : rc;
  }
  return NAI_OK;
}

/* Files may be absent that the store would have pruned. */
static int copy_file(const char *to, const struct nai_run *from, const char *name, struct nai_err *err) {
  char path[PATH_MAX];
  if (!nai_fs_exists_at(from->directory, name) && nai_fs_is_absent(errno))
    return nai_store_may_prune(name)
             ? NAI_OK
             : nai_err_set(err, NAI_EINPUT, "\"%s\" is not stored; analyse its trace again: it has no \"%s\"",
                           from->path, name);
  NAI_TRY(nai_store_join(path, to, name, err));
  return nai_fs_link_or_copy_at(from->directory, name, path, err);
}

/* The files that the capture's manifest lists; whatever else lies in its directory is somebody else's. The stamp is of
 * use where the trace is. */
static int copy_capture(const char *to, const struct nai_run *from, struct nai_err *err) {
  static const char *const directories[] = {".", "stages", "tables"};
  char path[PATH_MAX];
  for (size_t i = 0; i < sizeof directories / sizeof *directories; i++) {
    NAI_TRY(nai_store_join(path, to, directories[i], err));
    NAI_TRY(nai_fs_mkdir_all(path, err));
  }
  for (uint32_t i = 0; i < from->manifest.files.count; i++) {
    const char *name = nai_strings_get(&from->manifest.files, i);
    if (strcmp(name, NAI_STAMP_PATH) != 0)
      NAI_TRY(copy_file(to, from, name, err));
  }
  return NAI_OK;
}

static int fill(const char *directory, const struct nai_store_run *run, const struct nai_store_add *a,
                struct nai_err *err) {
  char path[PATH_MAX];
  NAI_TRY(nai_fs_mkdir_all(directory, err));
  for (int i = 0; i < a->capture_count; i++) {
    char name[32];
    snprintf(name, sizeof name, "captures/%d", i);
    NAI_TRY(nai_store_join(path, directory, name, err));
    NAI_TRY(copy_capture(path, a->captures[i], err));
  }
  NAI_TRY(nai_store_join(path, directory, "run.json", err));
  return nai_store_write_run(run, path, err);
}

static int put_in_place(const struct nai_store *store, const struct nai_store_run *run, const struct nai_store_add *a,
                        struct nai_err *err) {
  char path[PATH_MAX], series[PATH_MAX];
  struct nai_temporary aside = {0};
  NAI_TRY(nai_store_directory(path, store, run, -1, err));
  snprintf(series, sizeof series, "%.*s", (int)(nai_fs_basename(path) - path), path);
  NAI_TRY(nai_fs_mkdir_all(series, err));
  NAI_TRY(nai_temporary_beside(&aside, path, err));
  int rc = fill(aside.path, run, a, err);
  int failed = rc ? 0 : nai_temporary_become(&aside, path);
  nai_temporary_remove(&aside);
  return failed ? nai_err_sys(err, NAI_EIO, failed, "cannot create \"%s\"", path) : rc;
}

/* --- what is there already -------------------------------------------------------------------- */

/* Whether the run's captures are these, in whatever order they were added. */
static int has_captures(bool *same, const struct nai_store *store, const struct nai_store_run *there,
                        const struct nai_store_add *a, struct nai_err *err) {
  *same = there->captures == a->capture_count;
  for (int i = 0; i < a->capture_count && *same; i++) {
    char path[PATH_MAX];
    NAI_OWNED(nai_run) *capture = NULL;
    *same = false;
    NAI_TRY(nai_store_directory(path, store, there, i, err));
    NAI_TRY(nai_run_open(&capture, path, err));
    *same = bsearch(&capture, a->captures, (size_t)a->capture_count, sizeof capture, by_identity);
  }
  return NAI_OK;
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

/* What is there is this run, of this series: --series and --environment that were left out are those of before; a run
 * that failed did so for the same reason. And it can still be compared: else this one, which could, would be lost
 * without a word. */
static int check_there(const struct nai_store *store, const struct nai_store_run *there,
                       const struct nai_store_run *run, const struct nai_store_add *a, struct nai_err *err) {
  bool same;
  int rc = has_captures(&same, store, there, a, err);
  if (rc)
    return nai_err_wrap(err, rc, "the store has a run \"%.100s\" already, and whether it is this one cannot be told",
                        there->id);
  same &= strcmp(there->error, run->error) == 0;
  if (!same || ((a->name || a->environment) && strcmp(there->series, run->series) != 0))
    return nai_err_set(err, NAI_EUSAGE, "the store has %s run \"%s\" already, in the series %s",
                       same ? "the" : "another", there->id, there->series);
  rc = nai_store_check_run(store, there, err);
  return rc == NAI_EINPUT
           ? nai_err_wrap(err, rc,
                          "the store has the run \"%.100s\" already, damaged; remove it (nsys-ai store remove), then "
                          "add it again",
                          there->id)
           : rc;
}

/* A verdict or labels that are said of a run that is there take the place of those of before. */
static int tell(enum nai_store_added *added, const struct nai_store *store, const struct nai_store_run *there,
                const struct nai_store_run *run, const struct nai_store_add *a, struct nai_err *err) {
  struct nai_store_run as = *there;
  char path[PATH_MAX], file[PATH_MAX];
  as.verdict = a->verdict ? run->verdict : there->verdict;
  as.labels = a->label_count ? run->labels : there->labels;
  *added = NAI_STORE_SAME;
  if (strcmp(as.verdict, there->verdict) == 0 && strcmp(as.labels, there->labels) == 0)
    return NAI_OK;
  *added = NAI_STORE_TOLD;
  NAI_TRY(nai_store_directory(path, store, there, -1, err));
  NAI_TRY(nai_store_join(file, path, "run.json", err));
  return nai_store_write_run(&as, file, err);
}

/* One night is one run, in whatever order its captures are named. */
int nai_store_add(struct nai_buf *id, enum nai_store_added *added, struct nai_store *store,
                  const struct nai_store_add *a, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  struct nai_store_run run = {.utc_ns = NAI_NULL_I64};
  struct nai_store_add sorted = *a;
  struct nai_run **captures;
  NAI_TRY(NAI_NEW(captures, &arena, (size_t)a->capture_count, err));
  memcpy(captures, a->captures, (size_t)a->capture_count * sizeof *captures);
  qsort(captures, (size_t)a->capture_count, sizeof *captures, by_identity);
  sorted.captures = captures;
  NAI_TRY(check_readable(&sorted, err));
  NAI_TRY(describe(&run, &sorted, &arena, err));
  const struct nai_store_run *there = nai_store_find(store, run.id);
  if (!there)
    there = find_reordered(store, &run, &sorted);
  nai_buf_puts(id, there ? there->id : run.id);
  *added = NAI_STORE_NEW;
  if (there) {
    NAI_TRY(check_there(store, there, &run, &sorted, err));
    NAI_TRY(tell(added, store, there, &run, &sorted, err));
  } else {
    NAI_TRY(put_in_place(store, &run, &sorted, err));
  }
  NAI_TRY(nai_buf_check(id, err));
  return *added == NAI_STORE_SAME ? NAI_OK : nai_store_reopen(store, err);
}
