#include "command/command.h"

#include "base/assets.h"
#include "trace/reader.h"
#include "pipeline/analyze.h"
#include "skills/skill.h"
#include "rules/rules.h"

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
  char names[256][48];
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

/* Built-in and the user's; the built-in ones where a file of the user's is wrong. */
const char *nai_cmd_skill_ids(size_t i, const char *before) {
  static struct asset_names list;
  static struct nai_skills skills; /* borrowed until the program ends */
  static int state;                /* 0: not tried, 1: loaded, -1: failed */
  struct nai_err ignored;
  (void)before;
  if (!state)
    state = nai_skills_load(&skills, NULL, 0, &ignored) ? -1 : 1;
  if (state < 0)
    return asset_name(&list, "skills/", ".yaml", i);
  return i < skills.skills.count ? skills.skills.all[i]->id : NULL;
}

const char *nai_cmd_page_names(size_t i, const char *before) {
  static struct asset_names list;
  (void)before;
  return i == 0 ? "list" : asset_name(&list, "pages/", ".yaml", i - 1);
}

static int by_text(const void *a, const void *b) { return strcmp(a, b); }

/* Tables that a run directory holds. */
static void list_tables(struct asset_names *list, const char *path) {
  NAI_OWNED(nai_run) *run = NULL;
  struct nai_err ignored;
  if (nai_run_open(&run, path, &ignored))
    return;
  const struct nai_manifest *m = nai_run_manifest(run);
  for (uint32_t n = 0; n < m->node_count; n++)
    for (uint32_t t = m->nodes[n].table; t < m->nodes[n].table_end; t++)
      if (list->count < sizeof list->names / sizeof *list->names)
        snprintf(list->names[list->count++], sizeof *list->names, "%s", nai_manifest_name(m, m->entries[t].name));
  qsort(list->names, list->count, sizeof *list->names, by_text);
}

const char *nai_cmd_table_names(size_t i, const char *before) {
  static struct asset_names list;
  static const struct nai_schema *schemas[NAI_REPORT_MAX_TABLES];
  static size_t schema_count;
  if (!list.count && !schema_count) {
    list_tables(&list, before);
    schema_count = nai_report_schemas(schemas, NAI_STAGE_RENDER);
  }
  if (list.count)
    return i < list.count ? list.names[i] : NULL;
  return i < schema_count ? schemas[i]->name : NULL; /* a trace, which is not looked at for this */
}

const char *nai_cmd_things(size_t i, const char *before) {
  size_t tables = 0;
  while (nai_cmd_table_names(tables, before))
    tables++;
  return i < tables ? nai_cmd_table_names(i, before) : nai_cmd_rule_ids(i - tables, "");
}
