/* status/ID.json, and what is still to be done. */
#include "features/batch/internal.h"

#include "base/fs.h"
#include "index/index.h"

static const char *const names[NAI_BATCH_OUTCOMES] = {
    [NAI_BATCH_OK] = "ok",           [NAI_BATCH_REFUSED] = "refused", [NAI_BATCH_FAILED] = "failed",
    [NAI_BATCH_CRASHED] = "crashed", [NAI_BATCH_TIMEOUT] = "timeout", [NAI_BATCH_MISSING] = "missing"};

const char *nai_batch_outcome_name(enum nai_batch_outcome outcome) { return names[outcome]; }

void nai_batch_status_free(struct nai_batch_status *s) {
  free(s->error);
  s->error = NULL;
}

int nai_batch_status_write(const struct nai_batch_status *s, const struct nai_batch *b, uint32_t item,
                           struct nai_err *err) {
  NAI_SCOPED(nai_buf) text = {0};
  struct nai_json json;
  char path[PATH_MAX];
  nai_batch_path(path, sizeof path, b, "status", b->manifest.items[item].id, ".json");
  nai_json_open(&json, &text, NAI_JSON_LINES);
  nai_json_put_int(&json, "format_major", 1);
  nai_json_put_text(&json, "outcome", names[s->outcome]);
  nai_json_put_int(&json, "exit", s->exit);
  nai_json_put_int(&json, "signal", s->signal);
  nai_json_put_text(&json, "error", s->error ? s->error : "");
  nai_json_put_int(&json, "bytes", s->stamp.bytes);
  nai_json_put_int(&json, "mtime_ns", s->stamp.mtime_ns);
  nai_json_put_hex(&json, "beside", s->stamp.beside);
  nai_json_put_hex(&json, "program", s->program);
  nai_json_put_hex(&json, "options", s->options);
  nai_json_put_int(&json, "wall_ms", s->wall_ms);
  nai_json_put_int(&json, "max_rss_bytes", s->max_rss_bytes);
  nai_json_close(&json);
  NAI_TRY(nai_buf_check(&text, err));
  return nai_fs_replace(path, nai_buf_str(&text), text.len, err);
}

static int read_doc(struct nai_batch_status *s, const struct nai_yaml *doc, struct nai_err *err) {
  for (int i = 0; i < NAI_BATCH_OUTCOMES; i++)
    if (strcmp(names[i], nai_batch_text_of(doc, "outcome")) == 0)
      s->outcome = (enum nai_batch_outcome)i;
  s->exit = (int)nai_batch_int_of(doc, "exit");
  s->signal = (int)nai_batch_int_of(doc, "signal");
  s->stamp = (struct nai_stamp){.bytes = nai_batch_int_of(doc, "bytes"),
                                .mtime_ns = nai_batch_int_of(doc, "mtime_ns"),
                                .beside = nai_batch_hex_of(doc, "beside")}; /* "": of an earlier version */
  s->program = nai_batch_hex_of(doc, "program");
  s->options = nai_batch_hex_of(doc, "options");
  s->wall_ms = nai_batch_int_of(doc, "wall_ms");
  s->max_rss_bytes = nai_batch_int_of(doc, "max_rss_bytes");
  if (*nai_batch_text_of(doc, "error") && !(s->error = strdup(nai_batch_text_of(doc, "error"))))
    return nai_err_nomem(err);
  return NAI_OK;
}

static bool fits(const struct nai_batch_status *s, const struct nai_batch *b, uint32_t item) {
  return nai_stamp_equal(&s->stamp, &b->manifest.items[item].stamp) && s->program == b->program &&
         s->options == b->options_hash;
}

int nai_batch_status_read(struct nai_batch_status *s, const struct nai_batch *b, uint32_t item, struct nai_err *err) {
  static const struct nai_batch_status missing = {.outcome = NAI_BATCH_MISSING, .exit = -1};
  char path[PATH_MAX];
  NAI_OWNED(nai_yaml) *doc = NULL;
  struct nai_err ignored = {0};
  *s = missing;
  nai_batch_path(path, sizeof path, b, "status", b->manifest.items[item].id, ".json");
  if (!nai_fs_exists(path))
    return NAI_OK;
  int rc = nai_yaml_load(&doc, path, &ignored);
  if (rc == NAI_ELIMIT)
    return nai_err_nomem(err);
  if (!rc && nai_yaml_expect(doc, nai_yaml_root(doc), NAI_YAML_MAP, &ignored) == NAI_OK)
    NAI_TRY(read_doc(s, doc, err));
  if (!fits(s, b, item)) {
    nai_batch_status_free(s);
    *s = missing;
  }
  return NAI_OK;
}

/* A status says that there was a run, not that it is still there. */
static int has_run(bool *has, const struct nai_batch *b, uint32_t item, struct nai_err *err) {
  char directory[PATH_MAX];
  struct nai_err failed = {0};
  nai_batch_path(directory, sizeof directory, b, "items", b->manifest.items[item].id, "");
  int rc = nai_index_check_capture(directory, &failed);
  *has = rc == NAI_OK;
  return rc == NAI_ELIMIT ? nai_err_set(err, rc, "%s", failed.msg) : NAI_OK;
}

static int is_needed(bool *needed, const struct nai_batch *b, uint32_t item, struct nai_err *err) {
  NAI_SCOPED(nai_batch_status) status = {0};
  bool has = false;
  NAI_TRY(nai_batch_status_read(&status, b, item, err));
  if (status.outcome == NAI_BATCH_OK)
    NAI_TRY(has_run(&has, b, item, err));
  *needed = status.outcome == NAI_BATCH_REFUSED ? b->retry_refused : !has;
  return NAI_OK;
}

int nai_batch_todo(uint32_t **items, uint32_t *count, const uint32_t *among, uint32_t among_count,
                   const struct nai_batch *b, struct nai_err *err) {
  NAI_TRY(NAI_NEW(*items, b->arena, among_count, err));
  *count = 0;
  for (uint32_t i = 0; i < among_count; i++) {
    uint32_t item = among ? among[i] : i;
    bool needed;
    NAI_TRY(is_needed(&needed, b, item, err));
    if (needed)
      (*items)[(*count)++] = item;
  }
  return NAI_OK;
}
