/* Escaping: one function per place a text can be put, and no other code that escapes. Input is UTF-8 as
 * nai_text_clean leaves it; anything else is survived, never trusted: line breaks become spaces, NUL becomes U+FFFD. */
#pragma once

#include "base/buf.h"

enum nai_escape_mode {
  NAI_ESCAPE_NONE,     /* plain text */
  NAI_ESCAPE_HTML,     /* element content and quoted attributes */
  NAI_ESCAPE_MARKDOWN, /* inline text of GitHub-flavoured Markdown, table cells included */
  NAI_ESCAPE_TERMINAL  /* a terminal, or a CI log */
};

/* By mode. */
void nai_escape(struct nai_buf *out, enum nai_escape_mode mode, const char *text, size_t len);
/* By mode, shown as code: a code span, a <code> element, or the plain text. */
void nai_escape_code(struct nai_buf *out, enum nai_escape_mode mode, const char *text, size_t len);

/* & < > " ' as entities: literal in element content and in quoted attributes. Bytes other than these are kept. */
void nai_escape_html(struct nai_buf *out, const char *text, size_t len);

/* Text that reads literally in GitHub-flavoured Markdown, anywhere inline and in table cells: no emphasis, code, link,
 * autolink, HTML, entity, table break or, at the start of a line, list, heading, quote or rule. What stands in `out`
 * before the text tells whether a line starts here; an empty buffer counts as one. Characters GitHub looks at after
 * Markdown (@ of a mention, # of an issue reference, $ of a formula) stand in a code span of their own, because a
 * backslash does not stop those. */
void nai_escape_markdown(struct nai_buf *out, const char *text, size_t len);

/* The text as one code span or several: the pipe, which no code span can hold alike inside and outside of a table,
 * stands between two spans as \|. Nothing for empty text. */
void nai_escape_markdown_code(struct nai_buf *out, const char *text, size_t len);

/* JSON text made safe for a <script> element: < > & and U+2028, U+2029 become \uXXXX. They can occur only inside
 * JSON strings, so the value stays the same. */
void nai_escape_script_json(struct nai_buf *out, const char *json, size_t len);

/* JSON text with what no reader can see, or what reorders its surroundings (base/text.h), as \uXXXX. It can occur only
 * inside JSON strings, so the value stays the same. Characters beyond U+FFFF stay as they are: their escapes are pairs,
 * which YAML, as which the program reads its own files, does not know. */
void nai_escape_hidden_json(struct nai_buf *out, const char *json, size_t len);

/* A path as part of a URL: all but letters, digits and what paths are made of as %XX. Not yet safe for HTML. */
void nai_escape_url(struct nai_buf *out, const char *path, size_t len);

/* Text for a CSV cell, before quoting: a leading = + - @ tab, CR or LF, which a spreadsheet would take for a formula,
 * gets a ' in front. */
void nai_escape_csv_guard(struct nai_buf *out, const char *text, size_t len);

/* Text for a terminal or a CI log: cleaned by nai_text_clean, and without anything a CI runner reads as a command
 * (:: at the start of a line, ## anywhere). */
void nai_escape_terminal(struct nai_buf *out, const char *text, size_t len);
