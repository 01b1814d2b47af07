/* Files embedded in the program at build time (cmake/embed.cmake): rules, phase maps, templates, the viewer bundle. */
#pragma once

#include "base/buf.h"

struct nai_asset {
  const char *path; /* relative to the source tree, e.g. "rules/default.yaml" */
  const char *data, *end;
};

extern const struct nai_asset nai_assets[]; /* ends with path == NULL */

/* The asset at exactly `path`, or NULL. Length is end - data; data[length] is NUL. */
static inline const struct nai_asset *nai_asset_find(const char *path) {
  for (const struct nai_asset *asset = nai_assets; asset->path; asset++)
    if (strcmp(asset->path, path) == 0)
      return asset;
  return NULL;
}
static inline void nai_buf_put_asset(struct nai_buf *out, const struct nai_asset *asset) {
  nai_buf_put(out, asset->data, (size_t)(asset->end - asset->data));
}
