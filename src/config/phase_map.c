#include "config/phase_map.h"

#include "base/assets.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/text.h"

enum { BUILTIN_MAX = 64 };
static const char folder[] = "phase-maps/", suffix[] = ".yaml";

/* Length of the map's name within an asset's path, 0 when the asset is no phase map. */
static size_t builtin_name(const char **name, const struct nai_asset *asset) {
  size_t len = strlen(asset->path), around = sizeof folder + sizeof suffix - 2;
  if (len <= around || strncmp(asset->path, folder, sizeof folder - 1) != 0 ||
      strcmp(asset->path + len - (sizeof suffix - 1), suffix) != 0)
    return 0;
  *name = asset->path + sizeof folder - 1;
  return len - around;
}

uint64_t nai_phase_map_builtins_hash(void) {
  const char *name;
  uint64_t hash = 0;
  for (const struct nai_asset *asset = nai_assets; asset->path; asset++)
    if (builtin_name(&name, asset))
      hash = nai_hash_bytes(hash, asset->data, (size_t)(asset->end - asset->data));
  return hash;
}

static const struct nai_asset *find_builtin(const char *word) {
  char path[BUILTIN_MAX];
  snprintf(path, sizeof path, "%s%.*s%s", folder, BUILTIN_MAX / 2, word, suffix);
  return nai_asset_find(path);
}

static int unknown_name(const char *word, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  NAI_SCOPED(nai_buf) names = {0};
  const char *list[BUILTIN_MAX], *name;
  size_t count = 0;
  for (const struct nai_asset *asset = nai_assets; asset->path && count < BUILTIN_MAX; asset++) {
    int len = (int)builtin_name(&name, asset);
    if (len) {
      nai_buf_printf(&names, "%s%.*s", count ? ", " : "", len, name);
      list[count++] = nai_arena_printf(&arena, "%.*s", len, name);
    }
  }
  const char *guess = nai_text_suggest(word, list, count);
  return guess ? nai_err_set(err, NAI_EUSAGE, "unknown phase map \"%s\"; did you mean \"%s\"?", word, guess)
               : nai_err_set(err, NAI_EUSAGE, "unknown phase map \"%s\": neither a file nor one of %s", word,
                             nai_buf_str(&names));
}

int nai_phase_map_load(struct nai_patterns **out, uint64_t *hash, const char *path, struct nai_err *err) {
  const struct nai_asset *asset = find_builtin(path);
  NAI_OWNED(nai_patterns) *map = NULL;
  uint64_t unused = 0;
  *out = NULL;
  if (!asset && !strpbrk(path, "./") && !nai_fs_exists(path))
    return unknown_name(path, err);
  NAI_TRY(nai_patterns_load(&map, hash ? hash : &unused, asset ? asset->path : path, asset != NULL, err));
  return NAI_GIVE(out, map);
}
