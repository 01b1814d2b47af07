#include "cmd/cmd.h"

#include "base/assets.h"
#include "ingest/reader.h"
#include "pipeline/analyze.h"
#include "rules/rules.h"

#include <string.h>

const char *nai_cmd_stages(size_t i, const char *before) {
  (void)before;
  return i < NAI_STAGE_COUNT ? nai_stages[i].name : NULL;
}

const char *nai_cmd_severities(size_t i, const char *before) {
  (void)before;
  return nai_severity_name((int)i);
}

const char *nai_cmd_readers(size_t i, const char *before) {
  static const char *const names[] = {
      [NAI_READER_AUTO] = "auto", [NAI_READER_SQLITE] = "sqlite", [NAI_READER_DIRECT] = "direct"};
  (void)before;
  return i < sizeof names / sizeof *names ? names[i] : NULL;
}

/* Names of the embedded files of a folder. Filled on first use, by the only thread there is; choices are borrowed. */
struct asset_names {
  size_t count;
  char names[64][48];
};

static const char *asset_name(struct asset_names *list, const char *folder, const char *suffix, size_t index) {
  size_t before = strlen(folder), after = strlen(suffix), room = sizeof list->names / sizeof *list->names;
  for (const struct nai_asset *a = index || list->count ? NULL : nai_assets; a && a->path && list->count < room; a++) {
    size_t len = strlen(a->path), name = len - before - after;
    if (len <= before + after || name >= sizeof *list->names || strncmp(a->path, folder, before) != 0 ||
        strcmp(a->path + len - after, suffix) != 0)
      continue;
    memcpy(list->names[list->count++], a->path + before, name); /* zeros follow */
  }
  return index < list->count ? list->names[index] : NULL;
}

const char *nai_cmd_phase_maps(size_t i, const char *before) {
  static struct asset_names list;
  (void)before;
  return asset_name(&list, "phase-maps/", ".yaml", i);
}

const char *nai_cmd_rule_ids(size_t i, const char *before) {
  static struct asset_names list;
  (void)before;
  return asset_name(&list, "docs/root-causes/", ".md", i);
}
