/* Markdown prose (texts of rules) as HTML, by cmark in safe mode: raw HTML is dropped, so are links with unsafe
 * schemes, and images become links, for a report loads nothing. */
#pragma once

#include "base/buf.h"

/* Longer prose is cut: cmark needs quadratic time for some inputs. */
enum { NAI_PROSE_MAX_BYTES = 16384 };

/* Appends the HTML of `markdown`: block elements, trusted from here on. Trace text inside must have passed
 * nai_escape_markdown or nai_escape_markdown_code. */
NAI_MUST_CHECK int nai_prose_html(struct nai_buf *out, const char *markdown, struct nai_err *err);
