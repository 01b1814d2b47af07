/* Stage render: every output file, from tables only. */
#include "pipeline/state.h"

#include "base/assets.h"
#include "base/fs.h"
#include "base/sink.h"
#include "base/threads.h"
#include "report/output.h"
#include "tables/findings.h"
#include "tables/known_findings.h"
#include "tables/viewer_data.h"

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
    nai_buf_put_asset(text, asset);
    return nai_buf_check(text, err);
  }
  return nai_err_set(err, NAI_EUSAGE, "there is no template \"%s\"", name);
}

static const char *asset_text(const char *path) {
  const struct nai_asset *asset = nai_asset_find(path);
  return asset ? asset->data : "";
}

static const char *viewer_block(const struct nai_state *s, const char *name) {
  const struct nai_table *blocks = nai_run_find_loaded(s->run, nai_viewer_data_schema.name);
  int64_t row = blocks ? nai_find_str(blocks, VIEWER_DATA_block, name) : -1;
  return row < 0 ? "" : nai_get_str(blocks, row, VIEWER_DATA_text);
}

int nai_state_templates(struct nai_state *s, struct nai_err *err) {
  NAI_TRY(nai_templates_new(&s->templates, load_template, s, err));
  for (int i = 0; nai_outputs[i]; i++)
    if (nai_outputs[i]->template)
      NAI_TRY(nai_templates_check(s->templates, nai_outputs[i]->template, err));
  return NAI_OK;
}

/* One file: a format, of one table where it has a file per table. */
struct file {
  const struct nai_output *output;
  const struct nai_table *table;
  char path[128]; /* relative */
};

struct rendering {
  struct nai_state *s;
  struct nai_output_context context;
  struct file files[NAI_REPORT_MAX_TABLES + 8];
  int count;
};

static void add_file(struct rendering *r, const struct nai_output *output, const struct nai_table *table) {
  struct file *file = &r->files[r->count++];
  int before = (int)strcspn(output->path, "*");
  file->output = output;
  file->table = table;
  if (table)
    snprintf(file->path, sizeof file->path, "%.*s%.80s%s", before, output->path, table->schema->name,
             output->path + before + 1);
  else
    snprintf(file->path, sizeof file->path, "%s", output->path);
}

static void plan(struct rendering *r) {
  const struct nai_report *report = r->context.report;
  for (int i = 0; nai_outputs[i]; i++) {
    if (!strchr(nai_outputs[i]->path, '*'))
      add_file(r, nai_outputs[i], NULL);
    for (size_t t = 0; strchr(nai_outputs[i]->path, '*') && t < report->table_count; t++)
      if (nai_output_has_csv(&r->context, report->tables[t]))
        add_file(r, nai_outputs[i], report->tables[t]);
  }
}

static int render_file(const struct rendering *r, int task, struct nai_err *err) {
  const struct file *file = &r->files[task];
  struct nai_output_context context = r->context;
  struct nai_file_sink sink;
  char path[PATH_MAX];
  context.table = file->table;
  snprintf(path, sizeof path, "%s/%s", nai_outdir_work(r->s->out), file->path);
  int rc = nai_sink_create(&sink, path, err);
  if (!rc)
    rc = file->output->print(&sink.text, &context, err);
  rc = nai_sink_finish(&sink, rc, err);
  return rc ? nai_err_wrap(err, rc, "cannot render %s", file->path) : NAI_OK;
}

/* The files, and, beside them, giving back the memory of the model, which nothing needs any more. */
static int render_task(void *ctx, int task, struct nai_err *err) {
  struct rendering *r = ctx;
  if (task > 0)
    return render_file(r, task - 1, err);
  nai_run_drop_model(r->s->run);
  return NAI_OK;
}

/* What is known of each finding, whose rows come first, and what was fixed. */
static void sum_up_known(struct nai_state *s, const struct nai_table *findings) {
  const struct nai_table *known = nai_run_find_loaded(s->run, nai_known_findings_schema.name);
  struct nai_result *result = s->result;
  for (int64_t i = 0; known && findings && i < known->rows; i++) {
    const char *state = nai_get_str(known, i, KNOWN_FINDINGS_state);
    if (i >= findings->rows) {
      result->fixed++;
      continue;
    }
    struct nai_result_finding *finding = &result->list[i];
    finding->state = nai_arena_printf(&result->arena, "%s", state);
    if (strcmp(state, "new") == 0 && finding->severity > result->worst_new)
      result->worst_new = finding->severity;
  }
  if (known && findings)
    nai_known_write(&result->known_text, &s->known, findings);
}

/* Number of the first finding of a rule, from 1; 0 for none. */
static uint32_t whole_of(const struct nai_table *findings, const char *rule) {
  return *rule ? (uint32_t)(nai_find_str(findings, FINDINGS_id, rule) + 1) : 0;
}

static int sum_up(struct nai_state *s, const struct nai_report *report, struct nai_err *err) {
  struct nai_result *result = s->result;
  const struct nai_table *findings = nai_run_find_loaded(s->run, nai_findings_schema.name);
  int64_t count = findings ? findings->rows : 0;
  enum nai_severity severity;
  NAI_TRY(NAI_NEW(result->list, &result->arena, (size_t)count, err));
  for (int64_t i = 0; i < count; i++) {
    int level = (int)nai_report_severity(findings, i);
    struct FINDINGS_row row = FINDINGS_at(findings, i);
    result->list[result->list_count++] =
        (struct nai_result_finding){.severity = level,
                                    .saving_ns = row.saving_ns,
                                    .pct = row.pct_of_active,
                                    .share_of = nai_arena_printf(&result->arena, "%s", row.share_of),
                                    .id = nai_arena_printf(&result->arena, "%s", row.id),
                                    .scope = nai_arena_printf(&result->arena, "%s", row.scope),
                                    .title = nai_arena_printf(&result->arena, "%s", row.title),
                                    .place = nai_arena_printf(&result->arena, "%s", row.place),
                                    .part_of = whole_of(findings, row.part_of)};
    result->findings[level]++;
    result->worst = level > result->worst ? level : result->worst;
  }
  sum_up_known(s, findings);
  NAI_TRY(nai_buf_check(&result->known_text, err));
  NAI_TRY(nai_arena_check(&result->arena, err));
  nai_report_verdict(&result->verdict, &severity, report);
  nai_report_summary(&result->summary, report);
  return nai_buf_check(&result->verdict, err);
}

int nai_state_render(struct nai_state *s, struct nai_err *err) {
  const struct nai_table *tables[NAI_REPORT_MAX_TABLES];
  const struct nai_schema *schemas[NAI_REPORT_MAX_TABLES];
  struct nai_report report = {.tables = tables, .version = NAI_VERSION, .top = s->options->top};
  const struct nai_report_page page = {.timeline_json = viewer_block(s, "timeline_json"),
                                       .events_b64 = viewer_block(s, "events_b64"),
                                       .script = asset_text("templates/viewer/dist/viewer.js"),
                                       .script_sha256_b64 = asset_text("templates/viewer/dist/viewer.js.sha256"),
                                       .style = asset_text("templates/viewer/dist/viewer.css"),
                                       .style_sha256_b64 = asset_text("templates/viewer/dist/viewer.css.sha256")};
  struct rendering r = {
      .s = s, .context = {.report = &report, .templates = s->templates, .page = &page, .all_csv = s->options->all_csv}};
  char dir[PATH_MAX];
  size_t count = nai_state_schemas(schemas, s, NAI_STAGE_COUNT);
  for (size_t i = 0; i < count; i++)
    if ((tables[report.table_count] = nai_run_find_loaded(s->run, schemas[i]->name)))
      report.table_count++;
  plan(&r);
  snprintf(dir, sizeof dir, "%s/tables", nai_outdir_work(s->out));
  NAI_TRY(nai_fs_mkdir(dir, err));
  NAI_TRY(nai_parallel(s->options->threads, r.count + 1, render_task, &r, err));
  for (int i = 0; i < r.count; i++)
    NAI_TRY(nai_strings_put(NULL, &s->outputs, r.files[i].path, err));
  return sum_up(s, &report, err);
}
