/* run.json: what a store knows of a run beside its captures. */
#include "base/fs.h"
#include "config/yaml.h"
#include "features/nights/store_internal.h"
#include "table/json.h"

#include <sys/stat.h>

enum { MAJOR = 1, MINOR = 1 };

static void print_run(struct nai_buf *out, const struct nai_store_run *run) {
  struct nai_json json;
  nai_json_open(&json, out, NAI_JSON_LINES);
  nai_json_put_int(&json, "format_major", MAJOR);
  nai_json_put_int(&json, "format_minor", MINOR);
  nai_json_put_text(&json, "id", run->id);
  nai_json_put_text(&json, "series", run->series);
  nai_json_put_text(&json, "environment", run->environment);
  if (run->utc_ns != NAI_NULL_I64)
    nai_json_put_int(&json, "utc_ns", run->utc_ns);
  nai_json_put_text(&json, "status", run->status);
  nai_json_put_text(&json, "error", run->error);
  nai_json_put_text(&json, "verdict", run->verdict);
  nai_json_put_text(&json, "labels", run->labels); /* JSON in a text: nobody has to know its keys to pass it on */
  nai_json_put_int(&json, "captures", run->captures);
  if (run->trace_count) { /* since 1.1 */
    nai_json_put_array(&json, "traces", NAI_JSON_INLINE);
    for (int i = 0; i < run->trace_count; i++)
      nai_json_text(&json, run->traces[i]);
    nai_json_end(&json);
  }
  nai_json_put_int(&json, "bytes", run->bytes);
  if (run->thinned)
    nai_json_put_bool(&json, "thinned", true);
  nai_json_close(&json);
}

/* A record that could not be read back would make the whole store unreadable. */
int nai_store_write_run(const struct nai_store_run *run, const char *path, struct nai_err *err) {
  NAI_SCOPED(nai_buf) text = {0};
  NAI_OWNED(nai_yaml) *doc = NULL;
  print_run(&text, run);
  NAI_TRY(nai_buf_check(&text, err));
  if (text.len > NAI_YAML_MAX_BYTES)
    return nai_err_set(err, NAI_EUSAGE,
                       "the labels, the environment and the error of the run \"%s\" have more than 1 MiB together",
                       run->id);
  int rc = nai_yaml_parse(&doc, "run.json", nai_buf_str(&text), text.len, err);
  if (rc)
    return nai_err_wrap(err, rc, "the record of the run \"%s\" could not be read back", run->id);
  return nai_fs_replace(path, nai_buf_str(&text), text.len, err);
}

static const char *text_of(struct nai_arena *arena, const struct nai_yaml *doc, const char *key) {
  const struct nai_yaml_node *node = nai_yaml_get(doc, nai_yaml_root(doc), key);
  return nai_arena_printf(arena, "%s", node ? node->text : "");
}

static int64_t int_of(const struct nai_yaml *doc, const char *key, int64_t otherwise) {
  const struct nai_yaml_node *node = nai_yaml_get(doc, nai_yaml_root(doc), key);
  return node ? strtoll(node->text, NULL, 10) : otherwise;
}

static int read_traces(struct nai_store_run *out, const struct nai_yaml *doc, struct nai_arena *arena,
                       struct nai_err *err) {
  const struct nai_yaml_node *list = nai_yaml_get(doc, nai_yaml_root(doc), "traces");
  const char **names;
  if (!list || list->kind != NAI_YAML_LIST)
    return NAI_OK;
  NAI_TRY(NAI_NEW(names, arena, NAI_STORE_MAX_CAPTURES, err));
  for (const struct nai_yaml_node *n = nai_yaml_first(doc, list); n && out->trace_count < NAI_STORE_MAX_CAPTURES;
       n = nai_yaml_next(doc, n))
    names[out->trace_count++] = nai_arena_printf(arena, "%s", n->kind == NAI_YAML_SCALAR ? n->text : "");
  out->traces = names;
  return NAI_OK;
}

int nai_store_read_run(struct nai_store_run *out, const char *path, struct nai_arena *arena, struct nai_err *err) {
  NAI_OWNED(nai_yaml) *doc = NULL;
  struct stat st;
  *out = (struct nai_store_run){0};
  if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode)) /* messages quote what cannot be read */
    return nai_err_set(err, NAI_EUSAGE, "\"%s\" is a link, no record of a store", path);
  NAI_TRY(nai_yaml_load(&doc, path, err));
  NAI_TRY(nai_yaml_expect(doc, nai_yaml_root(doc), NAI_YAML_MAP, err));
  if (int_of(doc, "format_major", 0) != MAJOR)
    return nai_err_set(err, NAI_EUSAGE, "\"%s\" is of another version of this program", path);
  *out = (struct nai_store_run){.id = text_of(arena, doc, "id"),
                                .series = text_of(arena, doc, "series"),
                                .environment = text_of(arena, doc, "environment"),
                                .utc_ns = int_of(doc, "utc_ns", NAI_NULL_I64),
                                .status = text_of(arena, doc, "status"),
                                .error = text_of(arena, doc, "error"),
                                .verdict = text_of(arena, doc, "verdict"),
                                .labels = text_of(arena, doc, "labels"),
                                .note = "",
                                .captures = (int)int_of(doc, "captures", 0),
                                .bytes = int_of(doc, "bytes", 0),
                                .thinned = nai_yaml_get(doc, nai_yaml_root(doc), "thinned") != NULL};
  snprintf(out->record, sizeof out->record, "%016" PRIx64, doc->hash);
  if (out->captures < 0 || out->captures > NAI_STORE_MAX_CAPTURES)
    return nai_err_set(err, NAI_EUSAGE, "\"%s\" is damaged: %d captures", path, out->captures);
  NAI_TRY(read_traces(out, doc, arena, err));
  return nai_arena_check(arena, err);
}
