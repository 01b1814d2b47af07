/* JSON: what the writer writes, jansson reads. */
#include "unit.h"

#include "table/json.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static json_t *parse(const struct nai_buf *text) {
  json_error_t error;
  json_t *value = json_loadb(text->data, text->len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
  if (!value)
    fail_msg("line %d: %s in %s", error.line, error.text, text->data);
  return value;
}

TEST(test_layout) {
  struct nai_buf out = {0};
  struct nai_json json;
  nai_json_init(&json, &out, false);
  nai_json_begin_object(&json, NAI_JSON_LINES);
  nai_json_put_text(&json, "text", "a\"b");
  nai_json_put_text(&json, "none", NULL);
  nai_json_put_int(&json, "int", INT64_MIN);
  nai_json_put_bool(&json, "yes", true);
  nai_json_key(&json, "list");
  nai_json_begin_array(&json, NAI_JSON_INLINE);
  nai_json_int(&json, 1);
  nai_json_decimal(&json, "");
  nai_json_bool(&json, false);
  nai_json_decimal(&json, "0.10");
  nai_json_end(&json);
  nai_json_key(&json, "empty");
  nai_json_begin_object(&json, NAI_JSON_LINES);
  nai_json_end(&json);
  nai_json_key(&json, "nested");
  nai_json_begin_array(&json, NAI_JSON_LINES);
  nai_json_begin_array(&json, NAI_JSON_INLINE);
  nai_json_end(&json);
  nai_json_end(&json);
  nai_json_end(&json);
  nai_json_finish(&json);
  assert_string_equal(nai_buf_str(&out),
                      "{\n  \"text\": \"a\\\"b\",\n  \"none\": null,\n  \"int\": -9223372036854775808,\n"
                      "  \"yes\": true,\n  \"list\": [1, null, false, 0.10],\n  \"empty\": {},\n"
                      "  \"nested\": [\n    []\n  ]\n}");
  json_decref(parse(&out));
  nai_buf_free(&out);
}

/* The string a text becomes, as written. */
static void write_text(struct nai_buf *out, const char *text, bool for_script) {
  struct nai_json json;
  nai_json_init(&json, out, for_script);
  nai_json_text(&json, text);
  nai_json_finish(&json);
}

TEST(test_any_text_comes_back) {
  static const char *const pieces[] = {
      "a",       "\"", "\\", "/",         "\n",   "\t",       "\r",           "\x01",         "\x7f",
      "<",       ">",  "&",  "</script>", "<!--", "\xc3\xa9", "\xe2\x80\xa8", "\xe2\x80\xa9", "\xf0\x9f\x98\x80",
      "\\u0041", " "};
  uint32_t random = 1;
  for (int i = 0; i < 20000; i++) {
    struct nai_buf text = {0}, out = {0};
    for (int n = 0; n < 6; n++) {
      random = random * 1664525u + 1013904223u;
      nai_buf_puts(&text, pieces[(random >> 16) % (sizeof pieces / sizeof *pieces)]);
    }
    write_text(&out, text.data, i % 2);
    json_t *value = parse(&out);
    assert_string_equal(json_string_value(value), text.data);
    if (i % 2)
      assert_null(strpbrk(out.data, "<>&"));
    if (i % 2)
      assert_true(!strstr(out.data, "\xe2\x80\xa8") && !strstr(out.data, "\xe2\x80\xa9"));
    json_decref(value);
    nai_buf_free(&text);
    nai_buf_free(&out);
  }
}

TEST(test_invalid_utf8_is_cleaned) {
  struct nai_buf out = {0};
  write_text(&out, "a\xff<\"\xc3", true);
  assert_string_equal(out.data, "\"a\xef\xbf\xbd\\u003c\\\"\xef\xbf\xbd\"");
  nai_buf_free(&out);
}

/* What nobody can see stands as an escape, so that whoever reads the file sees it; pairs of escapes YAML does not know.
 */
TEST(test_hidden_characters) {
  struct nai_buf out = {0};
  write_text(&out, "a\x7f\xc2\xad\xe2\x80\x8b\xe2\x80\xae\xef\xbb\xbf\xef\xbf\xbe\xc3\xa4\xf3\xa0\x81\x81", false);
  assert_string_equal(nai_buf_str(&out), "\"a\\u007f\\u00ad\\u200b\\u202e\\ufeff\\ufffe\xc3\xa4\xf3\xa0\x81\x81\"");
  json_decref(parse(&out));
  nai_buf_free(&out);
}

TEST(test_each_character_at_each_place) {
  for (int c = 1; c < 0x80; c++)
    for (int place = 0; place < 20; place++)
      for (int for_script = 0; for_script < 2; for_script++) {
        struct nai_buf out = {0}, plain = {0};
        char text[] = "an eight-byte stretch";
        text[place] = (char)c;
        write_text(&out, text, for_script);
        nai_buf_printf(&plain, "\"%s\"", text);
        bool escaped = c < ' ' || c == 0x7f || strchr(for_script ? "\"\\<>&" : "\"\\", c);
        assert_int_equal(strcmp(out.data, plain.data) != 0, escaped);
        nai_buf_free(&out);
        nai_buf_free(&plain);
      }
}

static const struct nai_column_def columns[] = {
    {"name", NAI_STR, NAI_TEXT, "a \"name\"", .role = NAI_ROLE_NAME, .key = true},
    {"t_ns", NAI_I64, NAI_NS, "time", .display_units = NAI_AS_NS | NAI_AS_MS, .role = NAI_ROLE_METRIC, .sum = true,
     .better = NAI_BETTER_LOWER},
    {"share", NAI_F64, NAI_PCT, "share"},
};
static const struct nai_schema schema = NAI_SCHEMA("t", "Title", "What a row is", columns);

TEST(test_table) {
  struct nai_table *table = NULL;
  struct nai_err err = {0};
  assert_int_equal(nai_table_new(&table, &schema, &err), 0);
  for (int i = 0; i < 3; i++) {
    int64_t row = nai_table_add_row(table);
    nai_set_str(table, row, 0, i ? "</script>" : "a");
    nai_set_i64(table, row, 1, i ? -1 : 136355595);
    nai_set_f64(table, row, 2, i ? INFINITY : 41.25);
    if (i == 2)
      nai_set_str(table, row, 0, NULL), nai_set_i64(table, row, 1, NAI_NULL_I64), nai_set_f64(table, row, 2, NAN);
  }
  struct nai_buf out = {0};
  struct nai_json json;
  nai_json_init(&json, &out, true);
  nai_json_table(&json, table, 3);
  nai_json_finish(&json);
  assert_string_equal(
      out.data,
      "{\n  \"title\": \"Title\",\n  \"description\": \"What a row is\",\n  \"columns\": [\n"
      "    {\"name\": \"name\", \"type\": \"text\", \"unit\": \"text\", \"description\": \"a \\\"name\\\"\", \"role\": \"name\", \"key\": true},\n"
      "    {\"name\": \"t_ns\", \"type\": \"int\", \"unit\": \"ns\", \"description\": \"time\", "
      "\"role\": \"metric\", \"better\": \"lower\", \"sum\": true},\n"
      "    {\"name\": \"t_ms\", \"type\": \"float\", \"unit\": \"ms\", \"description\": \"time\", "
      "\"stored\": \"t_ns\", \"role\": \"metric\", \"better\": \"lower\", \"sum\": true},\n"
      "    {\"name\": \"share\", \"type\": \"float\", \"unit\": \"percent\", \"description\": \"share\", \"role\": \"label\"}\n  ],\n"
      "  \"rows\": [\n    [\"a\", 136355595, 136.355595, 41.2500],\n"
      "    [\"\\u003c/script\\u003e\", -1, -0.000001, null],\n    [null, null, null, null]\n  ]\n}");
  json_t *value = parse(&out);
  assert_int_equal(json_array_size(json_object_get(value, "rows")), 3);
  json_decref(value);
  nai_buf_clear(&out); /* the first rows, and how many there are */
  nai_json_init(&json, &out, false);
  nai_json_table(&json, table, 2);
  nai_json_finish(&json);
  value = parse(&out);
  assert_int_equal(json_array_size(json_object_get(value, "rows")), 2);
  assert_int_equal(json_integer_value(json_object_get(value, "row_count")), 3);
  json_decref(value);
  nai_buf_free(&out);
  nai_table_free(table);
}

/* More than a megabyte of different texts, of which each stands in two rows, and is escaped. */
TEST(test_many_texts) {
  enum { TEXTS = 3000, BYTES = 500 };
  struct nai_table *table = NULL;
  assert_int_equal(nai_table_new(&table, &schema, NULL), 0);
  char text[BYTES + 1];
  memset(text, '"', BYTES);
  text[BYTES] = '\0';
  for (int i = 0; i < 2 * TEXTS; i++) {
    sprintf(text, "%06d", i % TEXTS);
    text[6] = '"';
    nai_set_str(table, nai_table_add_row(table), 0, text);
  }
  struct nai_buf out = {0};
  struct nai_json json;
  nai_json_init(&json, &out, false);
  nai_json_table(&json, table, INT64_MAX);
  nai_json_finish(&json);
  json_t *value = parse(&out), *rows = json_object_get(value, "rows");
  assert_int_equal(json_array_size(rows), 2 * TEXTS);
  for (int i = 0; i < 2 * TEXTS; i++) {
    sprintf(text, "%06d", i % TEXTS);
    text[6] = '"';
    assert_string_equal(json_string_value(json_array_get(json_array_get(rows, (size_t)i), 0)), text);
  }
  json_decref(value);
  nai_buf_free(&out);
  nai_table_free(table);
}
