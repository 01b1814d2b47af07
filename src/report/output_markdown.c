/* report.md: rendered ever shorter until it fits, saying what was left out. */
#include "report/output.h"

/* Of one view: `top` rows a table, with the long parts or without them. */
static int render(struct nai_buf *out, const struct nai_output_context *context, int top, bool details, bool shortened,
                  struct nai_err *err) {
  struct nai_view *view = nai_report_view(context->report, top > 0 ? top : 1, details);
  if (shortened)
    nai_view_put_bool(view, "shortened", true);
  int rc = nai_view_check(view, err);
  if (!rc)
    rc = nai_mustache_render(out, context->templates, nai_output_markdown.template, view, NAI_ESCAPE_MARKDOWN, err);
  nai_view_free(view);
  return rc;
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

static int print(struct nai_buf *out, const struct nai_output_context *context, struct nai_err *err) {
  /* Ever shorter: fewer rows first, then without the long parts. */
  const struct {
    int divide;
    bool details;
  } levels[] = {{1, true}, {2, true}, {3, true}, {2, false}, {5, false}, {10, false}};
  enum { LEVELS = sizeof levels / sizeof *levels };
  struct nai_buf text = {0};
  int rc = NAI_OK;
  for (int i = 0; i < LEVELS && !rc && (i == 0 || text.len >= NAI_REPORT_MD_MAX); i++) {
    nai_buf_clear(&text);
    rc = render(&text, context, context->report->top / levels[i].divide, levels[i].details, i > 0, err);
  }
  if (!rc && text.len >= NAI_REPORT_MD_MAX)
    cut(&text);
  if (!rc)
    rc = nai_buf_check(&text, err);
  if (!rc)
    nai_buf_put(out, nai_buf_str(&text), text.len);
  nai_buf_free(&text);
  return rc;
}

const struct nai_output nai_output_markdown = {
    .name = "markdown", .path = "report.md", .template = "report.md", .print = print};
