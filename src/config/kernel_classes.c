#include "config/kernel_classes.h"

#include "base/assets.h"
#include "base/hash.h"
#include "config/patterns.h"

#include <stdlib.h>

/* The two categories the program itself knows; everything else is only a name. */
static const char fallback[] = "other", communication[] = "communication";

struct nai_kernel_classes {
  uint64_t hash;
  struct nai_patterns *patterns;
  int fallback, communication;
};

static int add_file(struct nai_kernel_classes *classes, const char *path, struct nai_err *err) {
  struct nai_yaml *doc = NULL;
  int rc = nai_yaml_load(&doc, path, err);
  if (!rc)
    rc = nai_patterns_add(classes->patterns, doc, err);
  if (!rc)
    classes->hash = nai_hash_int(classes->hash, (int64_t)doc->hash);
  nai_yaml_free(doc);
  return rc;
}

static int add_builtin(struct nai_kernel_classes *classes, struct nai_err *err) {
  static const char path[] = "rules/kernel-classes.yaml";
  const struct nai_asset *asset = nai_asset_find(path);
  struct nai_yaml *doc = NULL;
  if (!asset)
    return nai_err_set(err, NAI_EUSAGE, "%s is not built into this program", path);
  int rc = nai_yaml_parse(&doc, path, asset->data, (size_t)(asset->end - asset->data), err);
  if (!rc)
    rc = nai_patterns_add(classes->patterns, doc, err);
  if (!rc)
    classes->hash = nai_hash_int(classes->hash, (int64_t)doc->hash);
  nai_yaml_free(doc);
  return rc;
}

int nai_kernel_classes_load(struct nai_kernel_classes **out, const char *user_path, struct nai_err *err) {
  struct nai_kernel_classes *classes = calloc(1, sizeof *classes);
  *out = NULL;
  int rc = classes ? nai_patterns_new(&classes->patterns, err) : nai_err_nomem(err);
  if (!rc && user_path)
    rc = add_file(classes, user_path, err);
  if (!rc)
    rc = add_builtin(classes, err);
  if (rc) {
    nai_kernel_classes_free(classes);
    return rc;
  }
  classes->fallback = nai_patterns_find_class(classes->patterns, fallback);
  classes->communication = nai_patterns_find_class(classes->patterns, communication);
  *out = classes;
  return 0;
}

void nai_kernel_classes_free(struct nai_kernel_classes *classes) {
  if (!classes)
    return;
  nai_patterns_free(classes->patterns);
  free(classes);
}

int nai_kernel_classes_match(const struct nai_kernel_classes *classes, const char *kernel_name) {
  int category = nai_patterns_match(classes->patterns, kernel_name);
  return category < 0 ? classes->fallback : category;
}

int nai_kernel_classes_check(const struct nai_kernel_classes *classes, struct nai_err *err) {
  return nai_patterns_check(classes->patterns, err);
}

int nai_kernel_classes_count(const struct nai_kernel_classes *classes) {
  return nai_patterns_class_count(classes->patterns);
}

const char *nai_kernel_classes_name(const struct nai_kernel_classes *classes, int category) {
  return nai_patterns_class(classes->patterns, category);
}

int nai_kernel_classes_communication(const struct nai_kernel_classes *classes) { return classes->communication; }

uint64_t nai_kernel_classes_hash(const struct nai_kernel_classes *classes) { return classes->hash; }
