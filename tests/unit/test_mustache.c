/* The template engine: the cases of the Mustache specification where they are at hand (NAI_SHARED_DIR), and cases of
 * our own that always run. */
#include "unit.h"

#include "tier.h"

#include "report/mustache.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Templates by name from a JSON object; a missing one is empty, as the specification wants it. */
static int load_json(struct nai_buf *text, void *ctx, const char *name, struct nai_err *err) {
  (void)err;
  const json_t *found = json_object_get(ctx, name);
  nai_buf_puts(text, found ? json_string_value(found) : "");
  return NAI_OK;
}

/* --- the specification ------------------------------------------------------------------------ */

static void put_json(struct nai_view *map, const char *key, const json_t *value);

/* Test data is small and ours, so recursion is fine here. */
static void add_json(struct nai_view *list, const json_t *value) {
  struct nai_view *holder = nai_view_new();
  put_json(holder, "v", value);
  const struct nai_view *v = nai_view_get(holder, "v", 1);
  if (v->kind == NAI_VIEW_TEXT) {
    nai_view_add(list, NAI_TEXT_TRUSTED, v->text);
  } else if (json_is_object(value)) {
    struct nai_view *map = nai_view_add_map(list);
    const char *k;
    json_t *member;
    json_object_foreach((json_t *)value, k, member) put_json(map, k, member);
  } else if (json_is_array(value)) {
    struct nai_view *inner = nai_view_add_list(list);
    for (size_t i = 0; i < json_array_size(value); i++)
      add_json(inner, json_array_get(value, i));
  } else {
    fail_msg("a kind of list entry the specification does not use");
  }
  nai_view_free(holder);
}

static void put_json(struct nai_view *map, const char *key, const json_t *value) {
  char number[64];
  switch (json_typeof(value)) {
  case JSON_OBJECT: {
    struct nai_view *inner = nai_view_put_map(map, key);
    const char *k;
    json_t *member;
    json_object_foreach((json_t *)value, k, member) put_json(inner, k, member);
    break;
  }
  case JSON_ARRAY: {
    struct nai_view *list = nai_view_put_list(map, key);
    for (size_t i = 0; i < json_array_size(value); i++)
      add_json(list, json_array_get(value, i));
    break;
  }
  case JSON_STRING:
    nai_view_put_trusted(map, key, json_string_value(value));
    break;
  case JSON_INTEGER:
    nai_view_put_int(map, key, json_integer_value(value));
    break;
  case JSON_REAL:
    snprintf(number, sizeof number, "%.15g", json_real_value(value));
    nai_view_put_trusted(map, key, number);
    break;
  case JSON_TRUE:
  case JSON_FALSE:
    nai_view_put_bool(map, key, json_is_true(value));
    break;
  case JSON_NULL:
    nai_view_put_trusted(map, key, NULL);
    break;
  }
}

static int run_case(const json_t *test) {
  struct nai_err err = {0};
  struct nai_buf out = {0};
  struct nai_templates *set = NULL;
  json_t *partials = json_object_get(test, "partials");
  json_t *all = partials ? json_copy(partials) : json_object();
  json_object_set(all, "main", json_object_get(test, "template"));
  struct nai_view *root = nai_view_new();
  put_json(root, "data", json_object_get(test, "data"));
  assert_int_equal(nai_view_check(root, &err), 0);
  assert_int_equal(nai_templates_new(&set, load_json, all, &err), 0);
  int rc = nai_mustache_render(&out, set, "main", nai_view_get(root, "data", 4), NAI_ESCAPE_HTML, &err);
  const char *expected = json_string_value(json_object_get(test, "expected"));
  int bad = rc != 0 || strcmp(nai_buf_str(&out), expected) != 0;
  if (bad)
    print_error("%s: expected [%s], got [%s] %s\n", json_string_value(json_object_get(test, "name")), expected,
                nai_buf_str(&out), err.msg);
  nai_buf_free(&out);
  nai_templates_free(set);
  nai_view_free(root);
  json_decref(all);
  return bad;
}

TEST(test_specification) {
  static const char *const modules[] = {"comments", "delimiters", "interpolation", "inverted", "partials", "sections"};
  const char *shared = getenv("NAI_SHARED_DIR");
  int cases = 0, failed = 0;
  for (size_t m = 0; m < sizeof modules / sizeof *modules; m++) {
    char path[4096];
    snprintf(path, sizeof path, "%s/mustache-spec/%s.json", shared ? shared : ".", modules[m]);
    json_t *file = json_load_file(path, 0, NULL);
    if (!file)
      skip_because("no specification of Mustache beside the checkout");
    const json_t *tests = json_object_get(file, "tests");
    for (size_t i = 0; i < json_array_size(tests); i++, cases++)
      failed += run_case(json_array_get(tests, i));
    json_decref(file);
  }
  assert_int_equal(failed, 0);
  assert_true(cases >= 130);
}

/* --- our own cases ---------------------------------------------------------------------------- */

/* Templates by name from pairs of strings; a missing one is an error. */
static int load_pairs(struct nai_buf *text, void *ctx, const char *name, struct nai_err *err) {
  for (const char *const *pair = ctx; *pair; pair += 2)
    if (strcmp(pair[0], name) == 0) {
      nai_buf_puts(text, pair[1]);
      return NAI_OK;
    }
  return nai_err_set(err, NAI_EUSAGE, "no template \"%s\"", name);
}

static struct nai_view *sample(void) {
  struct nai_view *root = nai_view_new();
  nai_view_put_text(root, "name", "a<b>|&\"c\"");
  nai_view_put_code(root, "code", "f<int>|`x`");
  nai_view_put_trusted(root, "markup", "<b>|</b>");
  nai_view_put_bool(root, "yes", true);
  nai_view_put_bool(root, "no", false);
  nai_view_put_text(root, "empty", "");
  nai_view_put_text(root, "null", NULL);
  nai_view_put_int(root, "n", -42);
  struct nai_view *rows = nai_view_put_list(root, "rows");
  for (int i = 1; i <= 3; i++) {
    struct nai_view *row = nai_view_add_map(rows);
    nai_view_put_int(row, "i", i);
    struct nai_view *inner = nai_view_put_map(row, "in");
    nai_view_put_int(inner, "sq", i * i);
  }
  struct nai_view *words = nai_view_put_list(root, "words");
  nai_view_add_text(words, "<x>");
  nai_view_add(words, NAI_TEXT_TRUSTED, "<y>");
  nai_view_put_list(root, "none");
  return root;
}

static int render(struct nai_buf *out, const char *const *pairs, enum nai_escape_mode mode, struct nai_err *err) {
  struct nai_templates *set = NULL;
  struct nai_view *root = sample();
  assert_int_equal(nai_view_check(root, err), 0);
  assert_int_equal(nai_templates_new(&set, load_pairs, (void *)pairs, err), 0);
  int rc = nai_mustache_render(out, set, "t", root, mode, err);
  nai_templates_free(set);
  nai_view_free(root);
  return rc;
}

static void expect(const char *template, const char *partial, enum nai_escape_mode mode, const char *expected) {
  const char *const pairs[] = {"t", template, "p", partial, NULL};
  struct nai_buf out = {0};
  struct nai_err err = {0};
  int rc = render(&out, pairs, mode, &err);
  if (rc)
    fail_msg("%s: %s", template, err.msg);
  assert_string_equal(nai_buf_str(&out), expected);
  nai_buf_free(&out);
}

static void html(const char *template, const char *expected) { expect(template, "", NAI_ESCAPE_HTML, expected); }

TEST(test_tags) {
  html("", "");
  html("no tags", "no tags");
  html("{{n}}|{{missing}}|{{null}}|{{yes}}", "-42|||true");
  html("{{#yes}}a{{/yes}}{{^yes}}b{{/yes}}{{#no}}c{{/no}}{{^no}}d{{/no}}", "ad");
  html("{{#empty}}a{{/empty}}{{^empty}}b{{/empty}}{{^none}}c{{/none}}{{^null}}d{{/null}}", "bcd");
  html("{{#rows}}{{i}}:{{in.sq}};{{/rows}}", "1:1;2:4;3:9;");
  html("{{#rows}}{{#rows}}{{i}}{{/rows}} {{/rows}}", "123 123 123 ");
  html("{{#rows}}{{#in}}{{i}}{{sq}}{{^no}}{{#yes}}!{{/yes}}{{/no}}{{/in}}{{/rows}}", "11!24!39!");
  html("{{#rows}}{{in.missing}}{{n.sq}}{{/rows}}", "");
  html("a\n  {{! gone }}\nb {{!x}} c\n", "a\nb  c\n");
  html("{{=<% %>=}}<%n%>{{n}}<%={{ }}=%>{{n}}", "-42{{n}}-42");
  html("{{#rows}}\n{{i}}\n{{/rows}}\nend", "1\n2\n3\nend");
  html("{{#rows}}\r\n{{i}}\r\n{{/rows}}\r\n", "1\r\n2\r\n3\r\n");
}

TEST(test_no_unescaped_form_for_foreign_text) {
  html("{{name}}", "a&lt;b&gt;|&amp;&quot;c&quot;");
  html("{{{name}}}{{&name}}", "a&lt;b&gt;|&amp;&quot;c&quot;a&lt;b&gt;|&amp;&quot;c&quot;");
  html("{{markup}}{{{markup}}}{{&markup}}", "&lt;b&gt;|&lt;/b&gt;<b>|</b><b>|</b>");
  html("{{#words}}{{{.}}}{{/words}}", "&lt;x&gt;<y>");
  html("{{code}}{{{code}}}", "<code>f&lt;int&gt;|`x`</code><code>f&lt;int&gt;|`x`</code>");
  expect("{{{name}}} {{{code}}}", "", NAI_ESCAPE_MARKDOWN, "a&lt;b>\\|&\"c\" `f<int>`\\|`` `x` ``");
  expect("{{name}} {{{code}}}", "", NAI_ESCAPE_NONE, "a<b>|&\"c\" f<int>|`x`");
}

TEST(test_partials) {
  expect("[{{>p}}]", "{{n}}", NAI_ESCAPE_HTML, "[-42]");
  expect("  {{>p}}\nx\n", "1\n{{#rows}}\n- {{i}}\n{{/rows}}\n{{n}} a\n", NAI_ESCAPE_HTML,
         "  1\n  - 1\n  - 2\n  - 3\n  -42 a\nx\n");
  const char *const nested[] = {"t", " {{>p}}\n", "p", "a\n\t{{>q}}\nb\n", "q", "c\n{{{markup}}}d\n", NULL};
  struct nai_buf out = {0};
  struct nai_err err = {0};
  assert_int_equal(render(&out, nested, NAI_ESCAPE_HTML, &err), 0);
  assert_string_equal(nai_buf_str(&out), " a\n \tc\n \t<b>|</b>d\n b\n");
  nai_buf_free(&out);
}

static void expect_error(const char *template, const char *partial, const char *expected) {
  const char *const pairs[] = {"t", template, "p", partial, NULL};
  struct nai_buf out = {0};
  struct nai_err err = {0};
  assert_int_equal(render(&out, pairs, NAI_ESCAPE_HTML, &err), NAI_EUSAGE);
  assert_string_equal(err.msg, expected);
  nai_buf_free(&out);
}

TEST(test_errors_name_the_place) {
  expect_error("a\n  {{#rows}}x", "", "t.mustache:2:3: section is not closed: \"rows\"");
  expect_error("a\n{{/rows}}x", "", "t.mustache:2:1: closes a section that is not open: \"rows\"");
  expect_error("{{#a}}\n {{#b}}{{/a}}{{/b}}", "",
               "t.mustache:2:8: closes \"a\", but the open section is \"b\" of line 2");
  expect_error("x{{n", "", "t.mustache:1:2: this tag is not closed by \"}}\"");
  expect_error("x{{{n}}", "", "t.mustache:1:2: this tag is not closed by \"}}}\"");
  expect_error("\n\n{{ }}", "", "t.mustache:3:1: this tag holds no name");
  expect_error("{{a b}}", "", "t.mustache:1:1: not a name: \"a b\"");
  expect_error("{{a..b}}", "", "t.mustache:1:1: not a name: \"a..b\"");
  expect_error("{{.a}}", "", "t.mustache:1:1: not a name: \".a\"");
  expect_error("{{=| =}}", "", "t.mustache:1:1: delimiters are set like {{=<% %>=}}");
  expect_error("{{={ =a=}}", "", "t.mustache:1:1: delimiters are set like {{=<% %>=}}");
  expect_error("\n {{>nope}}", "", "t.mustache:2:2: no template \"nope\"");
  expect_error("{{>p}}", "\n{{/x}}", "t.mustache:1:1: p.mustache:2:1: closes a section that is not open: \"x\"");
  expect_error("{{>../../etc/passwd}}", "", "t.mustache:1:1: not a name: \"../../etc/passwd\"");
  expect_error("{{>a\"b}}", "", "t.mustache:1:1: names of templates hold only letters, digits and ._-/: \"a\"b\"");
  expect_error("{{rows}}", "", "t.mustache:1:1: \"rows\" is a list, not a text");
  expect_error("{{#rows}}{{in}}{{/rows}}", "", "t.mustache:1:10: \"in\" is a map, not a text");
  expect_error("{{>p}}", "{{>p}}", "p.mustache:1:1: partials are nested more than 32 deep; does one include itself?");
  expect_error("{{>p}}",
               "{{#rows}}{{#rows}}{{#rows}}{{#rows}}{{#rows}}{{#rows}}{{#rows}}{{#rows}}{{#rows}}{{#rows}}"
               "{{#rows}}{{#rows}}{{#rows}}{{#rows}}{{#rows}}{{#rows}}x{{/rows}}{{/rows}}{{/rows}}{{/rows}}"
               "{{/rows}}{{/rows}}{{/rows}}{{/rows}}{{/rows}}{{/rows}}{{/rows}}{{/rows}}{{/rows}}{{/rows}}"
               "{{/rows}}{{/rows}}",
               "p.mustache: the result is too large; does a partial include itself?");
}

TEST(test_check_finds_mistakes_in_partials) {
  const char *const pairs[] = {"t", "{{#no}}{{>p}}{{/no}}", "p", "{{>q}}", "q", "\n{{", NULL};
  struct nai_templates *set = NULL;
  struct nai_err err = {0};
  assert_int_equal(nai_templates_new(&set, load_pairs, (void *)pairs, &err), 0);
  assert_int_equal(nai_templates_check(set, "t", &err), NAI_EUSAGE);
  assert_string_equal(err.msg, "p.mustache:1:1: q.mustache:2:1: this tag is not closed by \"}}\"");
  nai_templates_free(set);
}

TEST(test_deep_nesting_is_refused) {
  struct nai_buf text = {0};
  for (int i = 0; i < 300; i++)
    nai_buf_puts(&text, "{{#a}}");
  expect_error(nai_buf_str(&text), "", "t.mustache:1:1537: sections are nested more than 256 deep");
  nai_buf_free(&text);
}

TEST(test_views) {
  struct nai_err err = {0};
  struct nai_view *root = nai_view_new();
  nai_view_put_text(root, "k", "one");
  nai_view_put_text(root, "k", "two-2");
  assert_string_equal(nai_view_get(root, "k", 1)->text, "two-2");
  assert_int_equal(nai_view_get(root, "k", 1)->text_kind, NAI_TEXT_FOREIGN);
  assert_int_equal(root->len, 1);
  struct nai_value ms = {.type = NAI_I64, .i = 136355595}, none = {.type = NAI_I64, .null = true},
                   text = {.type = NAI_STR, .s = "x"};
  nai_view_put_value(root, "ms", NAI_MS, &ms);
  nai_view_put_value(root, "none", NAI_MS, &none);
  nai_view_put_value(root, "text", NAI_TEXT, &text);
  assert_string_equal(nai_view_get(root, "ms", 2)->text, "136.4 ms");
  assert_int_equal(nai_view_get(root, "ms", 2)->text_kind, NAI_TEXT_TRUSTED);
  assert_string_equal(nai_view_get(root, "none", 4)->text, "-");
  assert_int_equal(nai_view_get(root, "text", 4)->text_kind, NAI_TEXT_FOREIGN);
  /* Everything accepts what an earlier failure returned. */
  nai_view_put_text(NULL, "k", "v");
  nai_view_put_value(NULL, "k", NAI_MS, &ms);
  nai_view_add_text(nai_view_put_list(nai_view_add_map(NULL), "k"), "v");
  nai_view_add_text(root, "not a list");
  assert_int_equal(nai_view_check(root, &err), 0);
  assert_int_equal(nai_view_check(NULL, &err), NAI_ELIMIT);
  nai_view_free(root);
  nai_view_free(NULL);
}

TEST(test_big_borrowed_text_is_not_copied_twice) {
  size_t len = 20 << 20;
  char *big = malloc(len);
  memset(big, '<', len);
  const char *const pairs[] = {"t", "[{{{big}}}]", NULL};
  struct nai_buf out = {0};
  struct nai_err err = {0};
  struct nai_templates *set = NULL;
  struct nai_view *root = nai_view_new();
  nai_view_put_borrowed(root, "big", big, len);
  assert_ptr_equal(nai_view_get(root, "big", 3)->text, big);
  assert_int_equal(nai_templates_new(&set, load_pairs, (void *)pairs, &err), 0);
  assert_int_equal(nai_mustache_render(&out, set, "t", root, NAI_ESCAPE_HTML, &err), 0);
  assert_int_equal(out.len, len + 2);
  assert_memory_equal(out.data + 1, big, len);
  nai_templates_free(set);
  nai_view_free(root);
  nai_buf_free(&out);
  free(big);
}
