/* Each escaper against a reader of its format: whatever the bytes, the result must read as plain text. */
#include "base/text.h"
#include "table/csv.h"
#include "base/escape.h"
#include "table/json.h"
#include "table/kernel_name.h"

#include <cmark.h>
#include <csv.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int truth) {
  if (!truth)
    abort();
}

/* One paragraph (or nothing) with only text and code in it. */
static void require_plain(const struct nai_buf *markdown) {
  cmark_node *document = cmark_parse_document(nai_buf_str(markdown), markdown->len, CMARK_OPT_DEFAULT);
  cmark_iter *iter = cmark_iter_new(document);
  cmark_event_type event;
  int paragraphs = 0;
  while ((event = cmark_iter_next(iter)) != CMARK_EVENT_DONE) {
    cmark_node_type type = cmark_node_get_type(cmark_iter_get_node(iter));
    paragraphs += event == CMARK_EVENT_ENTER && type == CMARK_NODE_PARAGRAPH;
    require(type == CMARK_NODE_DOCUMENT || type == CMARK_NODE_PARAGRAPH || type == CMARK_NODE_TEXT ||
            type == CMARK_NODE_CODE || type == CMARK_NODE_SOFTBREAK);
  }
  require(paragraphs <= 1);
  cmark_iter_free(iter);
  cmark_node_free(document);
}

static void check_markdown(const char *text, size_t len) {
  static const char *const before[] = {"", "x\n", "see ", ""}, *const after[] = {"", "\nx", " x", "b>"};
  for (size_t i = 0; i < 4 && len > 0; i++) {
    struct nai_buf out = {0};
    nai_buf_puts(&out, before[i]);
    nai_escape_markdown(&out, text, len);
    nai_buf_puts(&out, after[i]);
    require_plain(&out);
    nai_buf_clear(&out);
    nai_buf_puts(&out, "x ");
    nai_escape_markdown_code(&out, text, len);
    require_plain(&out);
    for (size_t c = 0; c < out.len; c++) /* a table row must not gain cells */
      require(out.data[c] != '|' || out.data[c - 1] == '\\');
    nai_buf_free(&out);
  }
}

static void check_html(const char *text, size_t len) {
  struct nai_buf out = {0};
  nai_escape_html(&out, text, len);
  require(strpbrk(nai_buf_str(&out), "<>\"'") == NULL && strlen(nai_buf_str(&out)) == out.len);
  nai_buf_free(&out);
}

static void check_json(const char *text, size_t len) {
  struct nai_buf out = {0};
  struct nai_json json;
  nai_json_init(&json, &out, true);
  nai_json_text(&json, text);
  nai_json_finish(&json);
  json_t *value = json_loadb(out.data, out.len, JSON_DECODE_ANY, NULL);
  require(json_is_string(value) && strpbrk(out.data, "<>&") == NULL);
  require(!nai_text_is_clean(text, len) || strcmp(json_string_value(value), text) == 0);
  json_decref(value);
  nai_buf_free(&out);
}

static void on_cell(void *bytes, size_t len, void *ctx) {
  const char *text = ctx;
  size_t guard = len && *(char *)bytes == '\'' && *text != '\'';
  require(strlen(text) == len - guard && memcmp((char *)bytes + guard, text, len - guard) == 0);
  require(!len || !memchr("=+-@\t\r\n", *(char *)bytes, 7));
}

static void on_row(int c, void *ctx) {
  (void)c;
  (void)ctx;
}

/* A table of one cell. */
static void print_cell(struct nai_buf *out, const char *text, size_t len) {
  static const struct nai_column_def columns[] = {{"c", NAI_STR, NAI_TEXT, "a text"}};
  static const struct nai_schema schema = NAI_SCHEMA("t", "T", "One text", columns);
  struct nai_table *table;
  require(nai_table_new(&table, &schema, NULL) == 0);
  int64_t row = nai_table_add_row(table);
  nai_column_str(table, 0)[row] = nai_strings_add(&table->strings, text, len);
  nai_csv_table(out, table);
  require(!out->oom && strncmp(out->data, "c\n", 2) == 0);
  nai_table_free(table);
}

static void check_csv(const char *text, size_t len) {
  struct nai_buf out = {0};
  struct csv_parser parser;
  print_cell(&out, text, len);
  require(csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI) == 0);
  require(csv_parse(&parser, out.data + 2, out.len - 2, on_cell, on_row, (void *)text) == out.len - 2);
  require(csv_fini(&parser, on_cell, on_row, (void *)text) == 0);
  csv_free(&parser);
  nai_buf_free(&out);
}

static void check_terminal(const char *text, size_t len) {
  struct nai_buf out = {0};
  nai_escape_terminal(&out, text, len);
  const char *start = nai_buf_str(&out) + strspn(nai_buf_str(&out), " ");
  require(nai_text_is_clean(nai_buf_str(&out), out.len) && strncmp(start, "::", 2) != 0);
  require(!strstr(nai_buf_str(&out), "##"));
  nai_buf_free(&out);
}

static void check_kernel_names(const char *text, size_t len) {
  struct nai_buf other = {0};
  nai_buf_put(&other, text, len / 2);
  const char *names[] = {text, nai_buf_str(&other)};
  char **out = NULL;
  require(nai_kernel_names_short(&out, names, 2, 40, NULL) == 0);
  require((strcmp(out[0], out[1]) == 0) == (strcmp(names[0], names[1]) == 0));
  free(out);
  nai_buf_free(&other);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct nai_buf text = {0}, clean = {0};
  nai_buf_put(&text, data, size);
  nai_text_clean(&clean, (const char *)data, size);
  check_markdown(nai_buf_str(&text), size);
  check_html(nai_buf_str(&text), size);
  check_terminal(nai_buf_str(&text), size);
  /* C strings from here on. */
  check_json(nai_buf_str(&clean), clean.len);
  check_csv(nai_buf_str(&clean), clean.len);
  check_kernel_names(nai_buf_str(&clean), clean.len);
  if (!memchr(data, 0, size))
    check_json(nai_buf_str(&text), size);
  nai_buf_free(&text);
  nai_buf_free(&clean);
  return 0;
}
