/* Putting a run into a store. */
#include "base/fs.h"
#include "base/hash.h"
#include "base/sort.h"
#include "base/temporary.h"
#include "base/text.h"
#include "features/nights/store_internal.h"
#include "table/json.h"
#include "tables/capture.h"
#include "tables/gpus.h"
#include "tables/run_info.h"

/* --- environment ------------------------------------------------------------------------------ */

/* "2 x NVIDIA H100, 1 x NVIDIA A100": models in order of their names. */
static int put_gpus(struct nai_buf *out, const struct nai_table *gpus, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  const char **names;
  NAI_TRY(NAI_NEW(names, &arena, (size_t)gpus->rows, err));
  for (int64_t i = 0; i < gpus->rows; i++) {
    names[i] = nai_get_str(gpus, i, GPUS_gpu_name);
    names[i] = *names[i] ? names[i] : "GPU";
  }
  qsort(names, (size_t)gpus->rows, sizeof *names, nai_by_text);
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

/* A run on its way into a store. */
struct adding {
  struct nai_store *store;
  struct nai_store_add call; /* with captures in order of their identities: one night is one run, however it is named */
  struct nai_store_run run;
  struct nai_arena arena; /* of its texts */
};

static void adding_free(struct adding *a) { nai_arena_free(&a->arena); }

static int find_environment(struct adding *a, struct nai_err *err) {
  NAI_SCOPED(nai_buf) first = {0};
  if (!a->call.capture_count)
    nai_buf_puts(&first, "unknown");
  for (int i = 0; i < a->call.capture_count; i++) {
    NAI_SCOPED(nai_buf) other = {0};
    NAI_TRY(nai_store_environment(i ? &other : &first, a->call.captures[i], a->call.environment, err));
    if (i && strcmp(nai_buf_str(&other), nai_buf_str(&first)) != 0)
      return nai_err_set(err, NAI_EUSAGE, "captures of one run differ in what they ran on: \"%s\" and \"%s\"",
                         nai_buf_str(&first), nai_buf_str(&other));
  }
  a->run.environment = nai_arena_printf(&a->arena, "%s", nai_buf_str(&first));
  return nai_buf_check(&first, err);
}

/* --- describing ------------------------------------------------------------------------------- */

/* The key of label number `i`, which is none of those before. */
static int read_key(char key[NAI_STORE_NAME_MAX], const char *const *labels, size_t i, struct nai_err *err) {
  size_t n = strcspn(labels[i], "=");
  if (!labels[i][n] || n >= NAI_STORE_NAME_MAX)
    return nai_err_set(err, NAI_EUSAGE, "--label \"%.100s\": expected KEY=VALUE", labels[i]);
  snprintf(key, NAI_STORE_NAME_MAX, "%.*s", (int)n, labels[i]);
  NAI_TRY(nai_store_check_name("the key of --label", key, err));
  for (size_t before = 0; before < i; before++)
    if (strncmp(labels[before], labels[i], n + 1) == 0)
      return nai_err_set(err, NAI_EUSAGE, "--label %.100s is given twice", key);
  return NAI_OK;
}

static bool is_commit(const char *text) {
  size_t n = text ? strspn(text, "0123456789abcdefABCDEF") : 0;
  return n >= 7 && n <= 64 && !text[n];
}

/* With the commit that the environment names, where no label does. */
static int find_labels(struct adding *a, struct nai_err *err) {
  const struct nai_store_add *call = &a->call;
  char keys[NAI_STORE_MAX_LABELS][NAI_STORE_NAME_MAX];
  NAI_SCOPED(nai_buf) text = {0};
  struct nai_json json;
  bool adds_commit = is_commit(call->commit);
  a->run.labels = "";
  for (size_t i = 0; i < call->label_count; i++) {
    NAI_TRY(read_key(keys[i], call->labels, i, err));
    adds_commit = adds_commit && strcmp(keys[i], "commit") != 0;
  }
  if (!call->label_count && !adds_commit)
    return NAI_OK;
  nai_json_open(&json, &text, NAI_JSON_INLINE);
  for (size_t i = 0; i < call->label_count; i++)
    nai_json_put_text(&json, keys[i], nai_store_clean(&a->arena, call->labels[i] + strlen(keys[i]) + 1));
  if (adds_commit)
    nai_json_put_text(&json, "commit", call->commit);
  nai_json_finish(&json);
  a->run.labels = nai_arena_printf(&a->arena, "%s", nai_buf_str(&text));
  return nai_buf_check(&text, err);
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

NAI_ORDER_BY(by_identity, struct nai_run *const,
             NAI_SIGN(nai_run_manifest(*a)->identity, nai_run_manifest(*b)->identity))

/* "20260105T020000Z" of a time; nothing for NAI_NULL_I64. */
static void print_utc(char out[32], int64_t utc_ns) {
  struct tm parts;
  out[0] = '\0';
  if (utc_ns == NAI_NULL_I64)
    return;
  time_t seconds = utc_ns / 1000000000 - (utc_ns % 1000000000 < 0);
  strftime(out, 32, "%Y%m%dT%H%M%SZ", gmtime_r(&seconds, &parts));
}

/* From the captures alone: when the first began, and which they are; of a night without, from what was refused. */
static const char *make_id(struct adding *a) {
  const struct nai_store_add *call = &a->call;
  char utc[32];
  uint64_t hash = 0;
  for (int i = 0; i < call->capture_count; i++)
    hash = nai_hash_int(hash, (int64_t)nai_run_manifest(call->captures[i])->identity);
  if (!call->capture_count)
    hash = nai_hash_int(nai_hash_text(hash, call->error), (int64_t)call->refused);
  print_utc(utc, a->run.utc_ns);
  return nai_arena_printf(&a->arena, "%s%s%08x", utc, *utc ? "-" : "", (unsigned)(hash >> 32));
}

static const char *series_of(struct adding *a) {
  const char *name = a->call.name ? a->call.name : "default";
  if (!a->call.capture_count)
    return nai_arena_printf(&a->arena, "%s/unknown", name);
  return nai_arena_printf(&a->arena, "%s/%08x", name, (unsigned)(nai_hash_text(0, a->run.environment) >> 32));
}

/* When the first capture began, and how large all are. */
static int measure(struct adding *a, struct nai_err *err) {
  const struct nai_table *capture;
  a->run.utc_ns = a->call.utc_ns;
  for (int i = 0; i < a->call.capture_count; i++) {
    int64_t utc;
    NAI_TRY(nai_index_utc(&utc, a->call.captures[i], err));
    if (a->call.utc_ns == NAI_NULL_I64 && utc != NAI_NULL_I64 && (a->run.utc_ns == NAI_NULL_I64 || utc < a->run.utc_ns))
      a->run.utc_ns = utc;
    NAI_TRY(nai_run_table(&capture, a->call.captures[i], "capture", &nai_capture_schema, err));
    int64_t size = CAPTURE_at(capture, 0).size_bytes;
    a->run.bytes += size > 0 ? size : 0;
  }
  return NAI_OK;
}

static int find_traces(struct adding *a, struct nai_err *err) {
  const char **names;
  NAI_TRY(NAI_NEW(names, &a->arena, (size_t)a->call.capture_count, err));
  for (int i = 0; i < a->call.capture_count; i++) {
    const char *name = nai_run_manifest(a->call.captures[i])->trace;
    names[i] = nai_store_clean(&a->arena, name ? name : "");
  }
  a->run.traces = names;
  a->run.trace_count = a->call.capture_count;
  return NAI_OK;
}

static int describe(struct adding *a, struct nai_err *err) {
  const struct nai_store_add *call = &a->call;
  NAI_TRY(nai_store_check_name("the series", call->name ? call->name : "default", err));
  NAI_TRY(check_captures(call, err));
  if (call->id)
    NAI_TRY(nai_store_check_name("the id", call->id, err));
  NAI_TRY(find_environment(a, err));
  NAI_TRY(measure(a, err));
  NAI_TRY(find_labels(a, err));
  NAI_TRY(find_traces(a, err));
  a->run.id = call->id ? call->id : make_id(a);
  a->run.series = series_of(a);
  a->run.status = call->error ? "failed" : "ok";
  a->run.error = call->error ? nai_store_clean(&a->arena, call->error) : "";
  a->run.verdict = call->verdict ? call->verdict : "";
  a->run.note = "";
  a->run.captures = call->capture_count;
  return nai_arena_check(&a->arena, err);
}

/* --- writing ---------------------------------------------------------------------------------- */

/* What cannot be read would be found out by every comparison to come, when the trace may be gone. */
static int check_readable(const struct nai_store_add *a, struct nai_err *err) {
  for (int i = 0; i < a->capture_count; i++) {
    int rc = nai_store_check_capture(a->captures[i], err);
    if (rc == NAI_EINPUT)
      return nai_err_wrap(err, rc, "\"%s\" is not stored; analyze its trace again", nai_run_path(a->captures[i]));
    if (rc)
      return rc;
  }
  return NAI_OK;
}

/* Files may be absent that comparisons do not need. */
static int copy_file(const char *to, const struct nai_run *from, const char *name, struct nai_err *err) {
  char path[PATH_MAX];
  if (!nai_fs_exists_at(nai_run_directory(from), name) && nai_fs_is_absent(errno))
    return NAI_OK;
  NAI_TRY(nai_store_join(path, to, name, err));
  return nai_fs_link_or_copy_at(nai_run_directory(from), name, path, err);
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
  for (uint32_t i = 0; i < nai_run_manifest(from)->files.count; i++) {
    const char *name = nai_strings_get(&nai_run_manifest(from)->files, i);
    if (strcmp(name, NAI_STAMP_PATH) != 0)
      NAI_TRY(copy_file(to, from, name, err));
  }
  return NAI_OK;
}

static int pack_capture(const char *to, const struct nai_run *from, struct nai_err *err) {
  NAI_SCOPED(nai_buf) pack = {0};
  NAI_TRY(nai_run_pack(&pack, from, err));
  return nai_fs_write(to, pack.data, pack.len, err);
}

static int fill(const char *directory, const struct adding *a, struct nai_err *err) {
  char path[PATH_MAX];
  NAI_TRY(nai_store_join(path, directory, a->call.capture_count ? "captures" : ".", err));
  NAI_TRY(nai_fs_mkdir_all(path, err));
  for (int i = 0; i < a->call.capture_count; i++) {
    const struct nai_run *capture = a->call.captures[i];
    char name[32];
    snprintf(name, sizeof name, "captures/%d", i);
    NAI_TRY(nai_store_join(path, directory, name, err));
    NAI_TRY(a->call.whole && nai_run_directory(capture) >= 0 ? copy_capture(path, capture, err)
                                                             : pack_capture(path, capture, err));
  }
  if (a->call.capture_count)
    NAI_TRY(nai_store_summarize(a->store, &a->run, directory, err));
  NAI_TRY(nai_store_join(path, directory, "run.json", err));
  return nai_store_write_run(&a->run, path, err);
}

/* *taken: somebody else put a run there meanwhile. */
static int put_in_place(bool *taken, const struct adding *a, struct nai_err *err) {
  char path[PATH_MAX], series[PATH_MAX];
  struct nai_temporary aside = {0};
  NAI_TRY(nai_store_directory(path, a->store, &a->run, -1, err));
  snprintf(series, sizeof series, "%.*s", (int)(nai_fs_basename(path) - path), path);
  NAI_TRY(nai_fs_mkdir_all(series, err));
  NAI_TRY(nai_temporary_beside(&aside, path, err));
  int rc = fill(aside.path, a, err);
  int failed = rc ? 0 : nai_temporary_become(&aside, path);
  nai_temporary_remove(&aside);
  *taken = failed == ENOTEMPTY || failed == EEXIST;
  return failed && !*taken ? nai_err_sys(err, NAI_EIO, failed, "cannot create \"%s\"", path) : rc;
}

/* --- what is there already -------------------------------------------------------------------- */

/* Whether a run's captures are these, in whatever order they were added. */
static int has_captures(bool *same, const struct adding *a, const struct nai_store_run *there, struct nai_err *err) {
  size_t count = (size_t)a->call.capture_count;
  *same = there->captures == a->call.capture_count;
  for (int i = 0; i < there->captures && *same; i++) {
    char path[PATH_MAX];
    NAI_OWNED(nai_run) *capture = NULL;
    *same = false;
    NAI_TRY(nai_store_directory(path, a->store, there, i, err));
    NAI_TRY(nai_run_open(&capture, path, err));
    *same = bsearch(&capture, a->call.captures, count, sizeof capture, by_identity);
  }
  return NAI_OK;
}

/* Earlier versions made the id of the captures in the order of the call: the same night may be there under another.
 * What cannot be read is not this one. */
static int find_other(const struct nai_store_run **found, const struct adding *a, struct nai_err *err) {
  char begin[32];
  if (a->call.capture_count < 2 || a->call.id)
    return NAI_OK;
  print_utc(begin, a->run.utc_ns);
  NAI_TRY(nai_store_read_like(a->store, a->run.series, begin, err));
  for (uint32_t i = 0; i < a->store->count && !*found; i++) {
    const struct nai_store_run *there = &a->store->runs[i];
    struct nai_err ignored;
    bool same;
    if (there->utc_ns == a->run.utc_ns && has_captures(&same, a, there, &ignored) == NAI_OK && same)
      *found = there;
  }
  return NAI_OK;
}

/* The run of that id, or the same under another; NULL: there is none. Of the store nothing else is read. */
static int find_there(const struct nai_store_run **found, const struct adding *a, struct nai_err *err) {
  NAI_TRY(nai_store_reread(a->store, a->run.id, err));
  *found = nai_store_find(a->store, a->run.id);
  return *found ? NAI_OK : find_other(found, a, err);
}

/* What is there is this run, of this series: --series and --environment that were left out are those of before; a run
 * that failed did so for the same reason. And it can still be compared: else this one, which could, would be lost
 * without a word. */
static int check_there(const struct adding *a, const struct nai_store_run *there, struct nai_err *err) {
  bool same;
  if (there->damaged)
    return nai_err_set(
        err, NAI_EINPUT,
        "the store has the run \"%.100s\" already, damaged; remove it (nsys-ai store remove), then add it "
        "again: %s",
        there->id, there->error);
  if (there->thinned)
    return nai_err_set(
        err, NAI_EUSAGE,
        "the store has the run \"%.100s\" already, thinned out; remove it (nsys-ai store remove), then add "
        "it again",
        there->id);
  int rc = has_captures(&same, a, there, err);
  if (rc)
    return nai_err_wrap(err, rc, "the store has a run \"%.100s\" already, and whether it is this one cannot be told",
                        there->id);
  same &= strcmp(there->error, a->run.error) == 0;
  if (!same || ((a->call.name || a->call.environment) && strcmp(there->series, a->run.series) != 0))
    return nai_err_set(err, NAI_EUSAGE, "the store has %s run \"%s\" already, in the series %s",
                       same ? "the" : "another", there->id, there->series);
  rc = nai_store_check_run(a->store, there, err);
  return rc == NAI_EINPUT
           ? nai_err_wrap(err, rc,
                          "the store has the run \"%.100s\" already, damaged; remove it (nsys-ai store remove), then "
                          "add it again",
                          there->id)
           : rc;
}

/* A verdict or labels that are said of a run that is there take the place of those of before; what the environment
 * names is then no commit of the run. */
static int tell(enum nai_store_added *added, struct adding *a, const struct nai_store_run *there, struct nai_err *err) {
  struct nai_store_run as = *there;
  char path[PATH_MAX], file[PATH_MAX];
  a->call.commit = NULL;
  NAI_TRY(find_labels(a, err));
  as.verdict = a->call.verdict ? a->run.verdict : there->verdict;
  as.labels = a->call.label_count ? a->run.labels : there->labels;
  *added = NAI_STORE_SAME;
  if (strcmp(as.verdict, there->verdict) == 0 && strcmp(as.labels, there->labels) == 0)
    return NAI_OK;
  *added = NAI_STORE_TOLD;
  NAI_TRY(nai_store_directory(path, a->store, there, -1, err));
  NAI_TRY(nai_store_join(file, path, "run.json", err));
  return nai_store_write_run(&as, file, err);
}

int nai_store_add(struct nai_buf *id, enum nai_store_added *added, struct nai_store *store,
                  const struct nai_store_add *call, struct nai_err *err) {
  NAI_SCOPED(adding) a = {.store = store, .call = *call, .arena = NAI_ARENA(NULL)};
  struct nai_run **captures;
  NAI_TRY(NAI_NEW(captures, &a.arena, (size_t)call->capture_count, err));
  memcpy(captures, call->captures, (size_t)call->capture_count * sizeof *captures);
  qsort(captures, (size_t)call->capture_count, sizeof *captures, by_identity);
  a.call.captures = captures;
  NAI_TRY(check_readable(&a.call, err));
  NAI_TRY(describe(&a, err));
  const struct nai_store_run *there;
  bool taken = false;
  NAI_TRY(find_there(&there, &a, err));
  nai_store_sweep_run(store, there ? there : &a.run);
  *added = NAI_STORE_NEW;
  if (!there)
    NAI_TRY(put_in_place(&taken, &a, err));
  if (taken) {
    NAI_TRY(find_there(&there, &a, err));
    if (!there)
      return nai_err_set(err, NAI_EIO, "the run \"%.100s\" came and went while it was added", a.run.id);
  }
  nai_buf_puts(id, there ? there->id : a.run.id);
  if (there) {
    NAI_TRY(check_there(&a, there, err));
    NAI_TRY(tell(added, &a, there, err));
  }
  return nai_buf_check(id, err);
}
