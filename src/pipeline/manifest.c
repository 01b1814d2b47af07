#include "pipeline/manifest.h"

#include "config/yaml.h"
#include "pipeline/outdir.h"
#include "render/json.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MANIFEST_FORMAT = 1 };

void nai_manifest_free(struct nai_manifest *manifest) { nai_strings_free(&manifest->files); }

static int read_doc(struct nai_manifest *m, const struct nai_yaml *doc, struct nai_err *err) {
  const struct nai_yaml_node *root = nai_yaml_root(doc);
  if (nai_yaml_expect(doc, root, NAI_YAML_MAP, err))
    return NAI_ESTALE;
  const struct nai_yaml_node *number = nai_yaml_get(doc, root, "format"), *stages = nai_yaml_get(doc, root, "stages"),
                             *files = nai_yaml_get(doc, root, "files");
  int64_t format;
  if (!number || !stages || !files || nai_yaml_int(&format, doc, number, MANIFEST_FORMAT, MANIFEST_FORMAT, err) ||
      nai_yaml_expect(doc, stages, NAI_YAML_MAP, err) || nai_yaml_expect(doc, files, NAI_YAML_LIST, err))
    return NAI_ESTALE;
  for (const struct nai_yaml_node *n = nai_yaml_first(doc, stages); n && m->stage_count < NAI_MANIFEST_MAX_STAGES;
       n = nai_yaml_next(doc, n)) {
    struct nai_manifest_stage *stage = &m->stages[m->stage_count++];
    snprintf(stage->name, sizeof stage->name, "%.15s", n->key ? n->key : "");
    stage->key = strtoull(n->text, NULL, 16);
  }
  for (const struct nai_yaml_node *n = nai_yaml_first(doc, files); n; n = nai_yaml_next(doc, n))
    if (nai_strings_add(&m->files, n->text, strlen(n->text)) == NAI_NO_STRING)
      return nai_err_nomem(err);
  return NAI_OK;
}

void nai_manifest_read(struct nai_manifest *manifest, const char *directory) {
  char path[PATH_MAX];
  struct nai_yaml *doc = NULL;
  struct nai_err err;
  *manifest = (struct nai_manifest){0};
  snprintf(path, sizeof path, "%s/%s", directory, NAI_OUTDIR_MARK);
  if (nai_yaml_load(&doc, path, &err) != 0 || read_doc(manifest, doc, &err) != 0)
    manifest->stage_count = 0;
  nai_yaml_free(doc);
}

bool nai_manifest_has(const struct nai_manifest *manifest, const char *stage, uint64_t key) {
  for (int i = 0; i < manifest->stage_count; i++)
    if (strcmp(manifest->stages[i].name, stage) == 0)
      return manifest->stages[i].key == key;
  return false;
}

static void put_hex(struct nai_json *json, const char *key, uint64_t value) {
  char text[24];
  snprintf(text, sizeof text, "%016" PRIx64, value);
  nai_json_put_text(json, key, text);
}

void nai_manifest_print(struct nai_buf *out, const struct nai_manifest *manifest, const char *version, const char *file,
                        uint64_t identity, const struct nai_table *readers) {
  struct nai_json json;
  nai_json_init(&json, out, false);
  nai_json_begin_object(&json, NAI_JSON_LINES);
  nai_json_put_int(&json, "format", MANIFEST_FORMAT);
  nai_json_put_text(&json, "version", version);
  nai_json_put_text(&json, "trace", file);
  put_hex(&json, "identity", identity);
  nai_json_key(&json, "stages");
  nai_json_begin_object(&json, NAI_JSON_LINES);
  for (int i = 0; i < manifest->stage_count; i++)
    put_hex(&json, manifest->stages[i].name, manifest->stages[i].key);
  nai_json_end(&json);
  if (readers) {
    nai_json_key(&json, "readers");
    nai_json_begin_array(&json, NAI_JSON_LINES);
    for (int64_t i = 0; i < readers->rows; i++) {
      nai_json_begin_object(&json, NAI_JSON_INLINE);
      for (uint32_t c = 0; c < readers->schema->column_count; c++) {
        struct nai_value value = nai_table_value(readers, i, (int)c);
        nai_json_key(&json, readers->schema->columns[c].name);
        nai_json_value(&json, readers->schema->columns[c].unit, &value);
      }
      nai_json_end(&json);
    }
    nai_json_end(&json);
  }
  nai_json_key(&json, "files");
  nai_json_begin_array(&json, NAI_JSON_LINES);
  for (uint32_t i = 0; i < manifest->files.count; i++)
    nai_json_text(&json, nai_strings_get(&manifest->files, i));
  nai_json_end(&json);
  nai_json_end(&json);
  nai_json_finish(&json);
  nai_buf_putc(out, '\n');
}
