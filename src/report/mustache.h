/* Mustache templates (docs/templates.md): interpolation, sections, inverted sections, partials, comments,
 * set-delimiter. Differs from the specification in two points: a foreign text (view.h) has no unescaped form,
 * and a list or map where a text is expected is an error. */
#pragma once

#include "base/escape.h"
#include "base/scope.h"
#include "report/view.h"

enum {
  NAI_MUSTACHE_MAX_BYTES = 64 << 20,     /* of one template */
  NAI_MUSTACHE_MAX_PARTIAL_DEPTH = 32,   /* partials inside partials */
  NAI_MUSTACHE_MAX_NESTING = 256,        /* sections inside sections of one template */
  NAI_MUSTACHE_MAX_STEPS = 50 * 1000000, /* tags and lines rendered by one nai_mustache_render */
  NAI_MUSTACHE_MAX_OUTPUT = 1 << 30      /* bytes of a result */
};

/* Appends the text of template `name` (for example "report.md", the file report.md.mustache) to `text`. Returns 0,
 * or an error: the engine puts the position of the partial tag in front. Names hold only letters, digits and ._-/,
 * no component that starts with a dot. */
typedef int nai_template_load_fn(struct nai_buf *text, void *ctx, const char *name, struct nai_err *err);

/* Templates by name, each loaded and parsed once, on first use. Several threads may render at a time what
 * nai_templates_check has seen, for nothing is loaded then. */
struct nai_templates;
NAI_MUST_CHECK int nai_templates_new(struct nai_templates **out, nai_template_load_fn *load, void *ctx,
                                     struct nai_err *err);
void nai_templates_free(struct nai_templates *set);
NAI_OWNER(nai_templates)
/* Loads and parses `name` and all partials it can reach: finds mistakes before any work starts. */
NAI_MUST_CHECK int nai_templates_check(struct nai_templates *set, const char *name, struct nai_err *err);

/* Appends the rendered template to `out`; on failure `out` holds a part of it. Mistakes in a template are NAI_EUSAGE:
 * `report.md.mustache:12:3: section "gpus" is not closed`. */
NAI_MUST_CHECK int nai_mustache_render(struct nai_buf *out, struct nai_templates *set, const char *name,
                                       const struct nai_view *root, enum nai_escape_mode mode, struct nai_err *err);
