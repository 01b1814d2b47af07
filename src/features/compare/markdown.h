/* Parts of compare.md. Internal to src/features/compare. */
#pragma once

#include "features/compare/compare.h"

/* Whether no further row fits below NAI_MARKDOWN_MAX. */
bool nai_markdown_full(const struct nai_buf *out);
/* A text of a trace, cut: as code, and escaped. */
void nai_markdown_put_code(struct nai_buf *out, const char *text);
void nai_markdown_put_text(struct nai_buf *out, const char *text);
void nai_markdown_put_ns(struct nai_buf *out, double ns, bool sign);

void nai_markdown_put_kernels(struct nai_buf *out, const struct nai_comparison *c);
/* Ranges, phases or copies that both sides have; nothing when none differs. */
void nai_markdown_put_differences(struct nai_buf *out, struct nai_table *t, const char *title, const char *unit);
