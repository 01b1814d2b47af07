#include "pipeline/state.h"

#include "base/assets.h"
#include "base/fs.h"
#include "config/yaml.h"

#include <string.h>
#include <sys/stat.h>

/* Hash of a configuration: the file's content, or the built-in of that name (which the version stands for). */
static int hash_file(uint64_t *key, const char *path, struct nai_err *err) {
  struct nai_buf text = {0};
  if (!path || !nai_fs_exists(path)) {
    *key = nai_key_text(*key, path);
    return NAI_OK;
  }
  int rc = nai_fs_read(&text, path, NAI_YAML_MAX_BYTES, NAI_EUSAGE, err);
  *key = nai_key_bytes(*key, nai_buf_str(&text), text.len);
  nai_buf_free(&text);
  return rc;
}

static uint64_t hash_assets(const char *prefix) {
  uint64_t key = 0;
  for (const struct nai_asset *asset = nai_assets; asset->path; asset++)
    if (strncmp(asset->path, prefix, strlen(prefix)) == 0)
      key = nai_key_bytes(nai_key_text(key, asset->path), asset->data, (size_t)(asset->end - asset->data));
  return key;
}

/* A directory that is not there would quietly mean the built-in templates. */
static int check_templates(const char *path, struct nai_err *err) {
  struct stat st;
  if (!path || (stat(path, &st) == 0 && S_ISDIR(st.st_mode)))
    return NAI_OK;
  return nai_err_set(err, NAI_EUSAGE, "--templates \"%s\" is no directory", path);
}

int nai_state_config(struct nai_state *state, struct nai_err *err) {
  const struct nai_options *o = state->options;
  const struct nai_schema *const *schemas;
  size_t schema_count;
  nai_run_schemas(&schemas, &schema_count);
  int rc = check_templates(o->templates, err);
  if (!rc)
    rc = nai_state_templates(state, err);
  if (!rc)
    rc = nai_kernel_classes_load(&state->classes, o->kernel_classes, err);
  if (!rc && o->phase_map)
    rc = nai_phase_map_load(&state->phases, o->phase_map, err);
  if (!rc)
    rc = nai_rules_load(&state->rules, o->rules, o->rule_count, schemas, schema_count, err);
  if (!rc && o->nvtx_coverage_warn_threshold >= 0)
    rc = nai_rules_set_parameter(state->rules, "nvtx_coverage_warn_threshold", o->nvtx_coverage_warn_threshold, err);
  uint64_t analyze = hash_assets("rules/kernel-classes"), recommend = hash_assets("rules/default");
  if (!rc)
    rc = hash_file(&analyze, o->kernel_classes, err);
  if (!rc)
    rc = hash_file(&analyze, o->phase_map, err);
  for (size_t i = 0; !rc && i < o->rule_count; i++)
    rc = hash_file(&recommend, o->rules[i], err);
  state->config_keys[NAI_STAGE_ANALYZE] = nai_key_int(analyze ^ hash_assets("phase-maps/"), o->map_nvtx);
  state->config_keys[NAI_STAGE_RECOMMEND] =
      nai_key_bytes(recommend, &o->nvtx_coverage_warn_threshold, sizeof o->nvtx_coverage_warn_threshold);
  return rc;
}
