#include "report/builtin.h"

#include "base/assets.h"

static int load(struct nai_buf *text, void *ctx, const char *name, struct nai_err *err) {
  char path[128];
  (void)ctx;
  snprintf(path, sizeof path, "templates/%.80s.mustache", name);
  const struct nai_asset *asset = nai_asset_find(path);
  if (!asset)
    return nai_err_set(err, NAI_EUSAGE, "there is no template \"%s\"", name);
  nai_buf_put_asset(text, asset);
  return nai_buf_check(text, err);
}

int nai_builtin_render(struct nai_buf *out, const char *name, const struct nai_view *root, enum nai_escape_mode mode,
                       struct nai_err *err) {
  NAI_OWNED(nai_templates) *templates = NULL;
  NAI_TRY(nai_view_check(root, err));
  NAI_TRY(nai_templates_new(&templates, load, NULL, err));
  NAI_TRY(nai_mustache_render(out, templates, name, root, mode, err));
  return nai_buf_check(out, err);
}

void nai_view_put_asset(struct nai_view *map, const char *key, const char *path) {
  const struct nai_asset *asset = nai_asset_find(path);
  nai_view_put_borrowed(map, key, asset ? asset->data : "", asset ? (size_t)(asset->end - asset->data) : 0);
}
