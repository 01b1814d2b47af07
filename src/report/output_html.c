/* report.html: one page with all its data, none of which is copied on the way. */
#include "report/output.h"

#include <string.h>

static void print_report(struct nai_buf *out, const void *report) { nai_report_json(out, report, true); }

static int print(struct nai_buf *out, const struct nai_output_context *context, struct nai_err *err) {
  const struct nai_report_page *page = context->page;
  struct nai_view *view = nai_report_view(context->report, context->report->top, true);
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
  int rc = nai_view_check(view, err);
  if (!rc)
    rc = nai_mustache_render(out, context->templates, nai_output_html.template, view, NAI_ESCAPE_HTML, err);
  nai_view_free(view);
  return rc;
}

const struct nai_output nai_output_html = {
    .name = "html", .path = "report.html", .template = "report.html", .needs_timeline = true, .print = print};
