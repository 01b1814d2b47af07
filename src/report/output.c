/* The formats of a report, each with how it is printed. */
#include "report/output.h"

#include "base/deflate.h"
#include "table/csv.h"
#include "tables/table_list.h"

/* --- report.html: one page with all its data, none of which is copied on the way ------------------- */

/* With as many rows of a table as the page can have, which has to stay one that browsers open. */
static void print_report(struct nai_buf *out, const void *report) {
  enum { ROWS = 10000, MIN_ROWS = 100, MAX_BYTES = 2 << 20 };
  NAI_SCOPED(nai_buf) block = {0};
  for (int64_t rows = ROWS; rows == ROWS || (block.len > MAX_BYTES && rows >= MIN_ROWS); rows /= 2) {
    struct nai_buf json = {0};
    nai_buf_clear(&block);
    nai_report_json(&json, report, rows);
    nai_buf_put_block(&block, &json);
  }
  nai_buf_put(out, nai_buf_str(&block), block.len);
  out->oom |= block.oom;
}

static int print_html(struct nai_buf *out, const struct nai_output_context *context, struct nai_err *err) {
  const struct nai_report_page *page = context->page;
  NAI_OWNED(nai_view) *view = nai_report_view(context->report, context->report->top, true);
  const struct {
    const char *key, *text;
  } blocks[] = {{"timeline_json", page->timeline_json},
                {"events_b64", page->events_b64},
                {"script", page->script},
                {"style", page->style},
                {"script_sha256_b64", page->script_sha256_b64},
                {"style_sha256_b64", page->style_sha256_b64}};
  nai_view_put_printed(view, "report_json", print_report, context->report);
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
    nai_view_put_borrowed(view, blocks[i].key, blocks[i].text, strlen(blocks[i].text));
  NAI_TRY(nai_view_check(view, err));
  NAI_TRY(nai_mustache_render(out, context->templates, "report.html", view, NAI_ESCAPE_HTML, err));
  return nai_view_check(view, err); /* of tables that the template asked for */
}

/* --- report.md: rendered ever shorter until it fits, saying what was left out ----------------------- */

/* Of one view: `top` rows a table, with the long parts or without them. */
static int render(struct nai_buf *out, const struct nai_output_context *context, int top, bool details, bool shortened,
                  struct nai_err *err) {
  NAI_OWNED(nai_view) *view = nai_report_view(context->report, top > 0 ? top : 1, details);
  if (shortened)
    nai_view_put_bool(view, "shortened", true);
  NAI_TRY(nai_view_check(view, err));
  NAI_TRY(nai_mustache_render(out, context->templates, "report.md", view, NAI_ESCAPE_MARKDOWN, err));
  return nai_view_check(view, err);
}

/* One's own template can be longer than any table: cut at a line and say so. */
static void cut(struct nai_buf *text) {
  static const char note[] =
      "\n\n_Cut here: the report would exceed the size GitHub accepts. report.json holds everything._\n";
  size_t keep = NAI_REPORT_MD_MAX - sizeof note;
  while (keep > 0 && text->data[keep] != '\n')
    keep--;
  text->len = keep;
  nai_buf_puts(text, note);
}

static int print_markdown(struct nai_buf *out, const struct nai_output_context *context, struct nai_err *err) {
  /* Ever shorter: fewer rows first, then without the long parts. */
  const struct {
    int divide;
    bool details;
  } levels[] = {{1, true}, {2, true}, {3, true}, {2, false}, {5, false}, {10, false}};
  enum { LEVELS = sizeof levels / sizeof *levels };
  NAI_SCOPED(nai_buf) text = {0};
  for (int i = 0; i < LEVELS && (i == 0 || text.len >= NAI_REPORT_MD_MAX); i++) {
    nai_buf_clear(&text);
    NAI_TRY(render(&text, context, context->report->top / levels[i].divide, levels[i].details, i > 0, err));
  }
  if (text.len >= NAI_REPORT_MD_MAX)
    cut(&text);
  NAI_TRY(nai_buf_check(&text, err));
  nai_buf_put(out, nai_buf_str(&text), text.len);
  return NAI_OK;
}

/* --- all of them ------------------------------------------------------------------------------------ */

static int print_json(struct nai_buf *out, const struct nai_output_context *context, struct nai_err *err) {
  nai_report_json(out, context->report, INT64_MAX);
  return nai_buf_check(out, err);
}

static int print_csv(struct nai_buf *out, const struct nai_output_context *context, struct nai_err *err) {
  nai_csv_table(out, context->table);
  return nai_buf_check(out, err);
}

bool nai_output_has_csv(const struct nai_output_context *context, const struct nai_table *table) {
  return context->all_csv || (table->rows && table->schema->csv);
}

/* What says of every table how many rows it has and how to get them, so that not every table needs a file. */
static int print_list(struct nai_buf *out, const struct nai_output_context *context, struct nai_err *err) {
  const struct nai_report *report = context->report;
  NAI_OWNED(nai_table) *list = NULL;
  NAI_TRY(nai_table_new(&list, &nai_table_list_schema, err));
  for (size_t i = 0; i < report->table_count; i++) {
    const struct nai_table *table = report->tables[i];
    char csv[128];
    snprintf(csv, sizeof csv, nai_output_has_csv(context, table) ? "%s.csv" : "nsys-ai table SRC %s --csv",
             table->schema->name);
    NAI_ADD(TABLE_LIST, list, .table_name = table->schema->name, .row_count = table->rows,
            .title = table->schema->title, .csv = csv);
  }
  NAI_TRY(nai_table_check(list, err));
  nai_csv_table(out, list);
  return nai_buf_check(out, err);
}

const struct nai_output nai_output_html = {
    .name = "html", .path = "report.html", .template = "report.html", .print = print_html};
static const struct nai_output json = {.name = "json", .path = "report.json", .print = print_json};
static const struct nai_output markdown = {
    .name = "markdown", .path = "report.md", .template = "report.md", .print = print_markdown};
static const struct nai_output csv = {.name = "csv", .path = "tables/*.csv", .print = print_csv};
static const struct nai_output list = {.name = "list", .path = "tables/index.csv", .print = print_list};

const struct nai_output *const nai_outputs[] = {&nai_output_html, &json, &markdown, &csv, &list, NULL};
