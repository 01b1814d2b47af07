#include "base/assets.h"

#include <string.h>

const struct nai_asset *nai_asset_find(const char *path) {
  for (const struct nai_asset *asset = nai_assets; asset->path; asset++)
    if (strcmp(asset->path, path) == 0)
      return asset;
  return NULL;
}
