/* Pages and texts from templates that are built into the program. */
#pragma once

#include "report/mustache.h"

/* Appends what template `name` ("many/index.html": asset templates/many/index.html.mustache) makes of a view. */
NAI_MUST_CHECK int nai_builtin_render(struct nai_buf *out, const char *name, const struct nai_view *root,
                                      enum nai_escape_mode mode, struct nai_err *err);
/* Puts an asset as trusted text, nothing where there is none of that path. */
void nai_view_put_asset(struct nai_view *map, const char *key, const char *path);
