/* Stage render: every output file, from tables only. */
#include "pipeline/state.h"

#include "base/assets.h"
#include "base/fs.h"
#include "base/threads.h"
#include "render/csv.h"
#include "render/report.h"
#include "viewer/viewer.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* NAME.mustache of the user's directory, else the built-in template. "report.html" is stored without the suffix. */
static int load_template(struct nai_buf *text, void *ctx, const char *name, struct nai_err *err) {
  const struct nai_state *s = ctx;
  static const char *const suffixes[] = {".mustache", ""};
  char path[PATH_MAX];
  for (size_t i = 0; s->options->templates && i < 2; i++) {
    snprintf(path, sizeof path, "%s/%s%s", s->options->templates, name, suffixes[i]);
    if (nai_fs_exists(path))
      return nai_fs_read(text, path, NAI_MUSTACHE_MAX_BYTES, NAI_EUSAGE, err);
  }
  for (size_t i = 0; i < 2; i++) {
    snprintf(path, sizeof path, "templates/%s%s", name, suffixes[i]);
    const struct nai_asset *asset = nai_asset_find(path);
    if (!asset)
      continue;
    nai_buf_put(text, asset->data, (size_t)(asset->end - asset->data));
    return nai_buf_check(text, err);
  }
  return nai_err_set(err, NAI_EUSAGE, "there is no template \"%s\"", name);
}

static const char *asset_text(const char *path) {
  const struct nai_asset *asset = nai_asset_find(path);
  return asset ? asset->data : "";
}

static const char *viewer_block(const struct nai_state *s, const char *name) {
  for (int64_t i = 0; i < s->viewer->rows; i++)
    if (strcmp(nai_get_str(s->viewer, i, VD_BLOCK), name) == 0)
      return nai_get_str(s->viewer, i, VD_TEXT);
  return "";
}

/* One output file and how its text is made. */
struct output {
  char path[128]; /* relative */
  int (*print)(struct nai_buf *out, struct nai_state *s, const struct nai_report *report, const struct nai_table *table,
               struct nai_err *err);
  const struct nai_table *table;
};

static int print_markdown(struct nai_buf *out, struct nai_state *s, const struct nai_report *report,
                          const struct nai_table *table, struct nai_err *err) {
  (void)table;
  struct nai_templates *templates = NULL;
  int rc = nai_templates_new(&templates, load_template, s, err);
  if (!rc)
    rc = nai_report_markdown(out, report, templates, err);
  nai_templates_free(templates);
  return rc;
}

static int print_html(struct nai_buf *out, struct nai_state *s, const struct nai_report *report,
                      const struct nai_table *table, struct nai_err *err) {
  (void)table;
  struct nai_templates *templates = NULL;
  const struct nai_report_page page = {.timeline_json = viewer_block(s, "timeline_json"),
                                       .events_b64 = viewer_block(s, "events_b64"),
                                       .script = asset_text("templates/viewer/dist/viewer.js"),
                                       .script_sha256_b64 = asset_text("templates/viewer/dist/viewer.js.sha256"),
                                       .style = asset_text("templates/viewer/dist/viewer.css"),
                                       .style_sha256_b64 = asset_text("templates/viewer/dist/viewer.css.sha256")};
  int rc = nai_templates_new(&templates, load_template, s, err);
  if (!rc)
    rc = nai_report_html(out, report, &page, templates, err);
  nai_templates_free(templates);
  return rc;
}

static int print_json(struct nai_buf *out, struct nai_state *s, const struct nai_report *report,
                      const struct nai_table *table, struct nai_err *err) {
  (void)s, (void)table, (void)err;
  nai_report_json(out, report, false);
  return NAI_OK;
}

static int print_csv(struct nai_buf *out, struct nai_state *s, const struct nai_report *report,
                     const struct nai_table *table, struct nai_err *err) {
  (void)s, (void)report, (void)err;
  nai_csv_table(out, table);
  return NAI_OK;
}

struct rendering {
  struct nai_state *s;
  const struct nai_report *report;
  struct output outputs[NAI_MAX_TABLES + 4];
  int count;
};

static void add_output(struct rendering *r,
                       int (*print)(struct nai_buf *, struct nai_state *, const struct nai_report *,
                                    const struct nai_table *, struct nai_err *),
                       const struct nai_table *table, const char *path) {
  struct output *o = &r->outputs[r->count++];
  o->print = print;
  o->table = table;
  if (table)
    snprintf(o->path, sizeof o->path, "tables/%.100s.csv", table->schema->name);
  else
    snprintf(o->path, sizeof o->path, "%.100s", path);
}

static int render_output(void *ctx, int task, struct nai_err *err) {
  struct rendering *r = ctx;
  const struct output *o = &r->outputs[task];
  struct nai_buf text = {0};
  char path[PATH_MAX];
  int rc = o->print(&text, r->s, r->report, o->table, err);
  if (!rc)
    rc = nai_buf_check(&text, err);
  snprintf(path, sizeof path, "%s/%s", r->s->out.work, o->path);
  if (!rc)
    rc = nai_fs_write(path, nai_buf_str(&text), text.len, err);
  nai_buf_free(&text);
  return rc ? nai_err_wrap(err, "cannot render %s", o->path) : NAI_OK;
}

static int sum_up(struct nai_state *s, const struct nai_report *report, struct nai_err *err) {
  struct nai_result *result = s->result;
  const char *severity;
  int column = nai_schema_column(s->findings->schema, "severity"),
      title = nai_schema_column(s->findings->schema, "title");
  result->list = calloc((size_t)s->findings->rows + 1, sizeof *result->list);
  if (!result->list)
    return nai_err_nomem(err);
  for (int64_t i = 0; i < s->findings->rows; i++) {
    int level = nai_severity_from_name(nai_get_str(s->findings, i, column));
    if (level < 0)
      continue;
    struct nai_result_finding *finding = &result->list[result->list_count++];
    *finding = (struct nai_result_finding){level, strdup(nai_get_str(s->findings, i, title))};
    if (!finding->title)
      return nai_err_nomem(err);
    result->findings[level]++;
    result->worst = level > result->worst ? level : result->worst;
  }
  nai_report_verdict(&result->verdict, &severity, report);
  nai_report_summary(&result->summary, report);
  return nai_buf_check(&result->verdict, err);
}

int nai_state_render(struct nai_state *s, struct nai_err *err) {
  const struct nai_table *tables[NAI_MAX_TABLES];
  struct nai_report report = {.tables = tables, .version = NAI_VERSION, .top = s->options->top};
  struct rendering r = {.s = s, .report = &report};
  char dir[PATH_MAX];
  for (int i = 0; i < s->slot_count; i++)
    if (s->slots[i].report)
      tables[report.table_count++] = *s->slots[i].table;
  add_output(&r, print_html, NULL, "report.html"); /* the largest first */
  add_output(&r, print_json, NULL, "report.json");
  add_output(&r, print_markdown, NULL, "report.md");
  for (size_t i = 0; i < report.table_count; i++)
    add_output(&r, print_csv, tables[i], "");
  snprintf(dir, sizeof dir, "%s/tables", s->out.work);
  int rc = nai_fs_mkdir(dir, err);
  if (!rc)
    rc = nai_parallel(s->options->threads, r.count, render_output, &r, err);
  for (int i = 0; i < r.count && !rc; i++)
    if (nai_strings_add(&s->manifest.files, r.outputs[i].path, strlen(r.outputs[i].path)) == NAI_NO_STRING)
      rc = nai_err_nomem(err);
  return rc ? rc : sum_up(s, &report, err);
}
