/* The YAML reader: shapes, positions, typed access, and everything it refuses, quickly. */
#include "unit.h"

#include "base/assets.h"
#include "base/text.h"
#include "config/yaml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct nai_yaml *parse(const char *text) {
  struct nai_yaml *doc = NULL;
  struct nai_err err = {0};
  if (nai_yaml_parse(&doc, "f.yaml", text, strlen(text), &err))
    fail_msg("%s", err.msg);
  return doc;
}

static void assert_refused_bytes(const char *text, size_t len, const char *message) {
  struct nai_yaml *doc = NULL;
  struct nai_err err = {0};
  assert_int_equal(nai_yaml_parse(&doc, "f.yaml", text, len, &err), NAI_EUSAGE);
  assert_null(doc);
  assert_string_equal(err.msg, message);
}

static void assert_refused(const char *text, const char *message) { assert_refused_bytes(text, strlen(text), message); }

TEST(keeps_shape_and_positions) {
  struct nai_yaml *doc = parse("a: 1\nlist:\n  - x\n  - {k: 'v w', é: z}\n");
  const struct nai_yaml_node *root = nai_yaml_root(doc), *a = nai_yaml_get(doc, root, "a"),
                             *list = nai_yaml_get(doc, root, "list");
  assert_int_equal(root->kind, NAI_YAML_MAP);
  assert_int_equal(root->count, 2);
  assert_string_equal(a->text, "1");
  assert_int_equal(a->line, 1);
  assert_int_equal(a->column, 4);
  assert_int_equal(list->kind, NAI_YAML_LIST);
  assert_int_equal(list->key_line, 2);
  const struct nai_yaml_node *x = nai_yaml_first(doc, list), *map = nai_yaml_next(doc, x);
  assert_string_equal(x->text, "x");
  assert_null(x->key);
  assert_null(nai_yaml_next(doc, map));
  const struct nai_yaml_node *k = nai_yaml_get(doc, map, "k"), *z = nai_yaml_get(doc, map, "é");
  assert_string_equal(k->text, "v w");
  assert_false(k->plain);
  assert_int_equal(k->line, 4);
  assert_int_equal(k->column, 9);
  assert_int_equal(z->column, 19); /* characters, not bytes */
  assert_null(nai_yaml_get(doc, map, "none"));
  assert_null(nai_yaml_get(doc, x, "k"));
  nai_yaml_free(doc);
}

static void assert_same(const struct nai_yaml *a, const struct nai_yaml *b, const char *text) {
  if (!a != !b || (a && a->count != b->count))
    fail_msg("read in one way only: %s", text);
  for (uint32_t i = 0; a && i < a->count; i++) {
    const struct nai_yaml_node *x = &a->nodes[i], *y = &b->nodes[i];
    if (x->kind != y->kind || x->plain != y->plain || x->one_line != y->one_line || x->line != y->line ||
        x->column != y->column || x->key_line != y->key_line || x->key_column != y->key_column ||
        x->count != y->count || x->first != y->first || x->next != y->next || strcmp(x->text, y->text) != 0 ||
        !x->key != !y->key || (x->key && strcmp(x->key, y->key) != 0))
      fail_msg("value %u differs: %s", i, text);
  }
}

/* JSON is read without libyaml; behind a comment, which JSON has not, with it. */
TEST(reads_json_as_libyaml_does) {
  static const char *const tokens[] = {"{",           "}",
                                       "[",           "]",
                                       ",",           ",",
                                       ":",           ":",
                                       " ",           "\n",
                                       "\"a\"",       "\"b\"",
                                       "\"c d\"",     "\"\"",
                                       "\"<<\"",      "\"q\\\"\\\\\\n\\/\"",
                                       "1",           "-2.5e+3",
                                       "true",        "-",
                                       "\"\\u0041\"", "\"\xc3\xa9\"",
                                       "\"\x7f\"",    "\"k\": ",
                                       "\"l\":",      "\"a\": 1, ",
                                       "{\"m\": []}", "\t",
                                       "'",           "#"};
  char text[256], other[sizeof text + 8];
  unsigned seed = 7, whole = 0;
  for (int round = 0; round < 60000; round++) {
    size_t len = 0;
    for (unsigned n = 2 + (unsigned)rand_r(&seed) % 9, i = 0; i < n; i++) {
      size_t token = i ? (unsigned)rand_r(&seed) % (sizeof tokens / sizeof *tokens) : (unsigned)rand_r(&seed) % 2 * 2;
      len += (size_t)snprintf(text + len, sizeof text - len, "%s", tokens[token]);
    }
    if (rand_r(&seed) % 2)
      snprintf(text + len, sizeof text - len, *text == '{' ? "}" : "]");
    snprintf(other, sizeof other, "%s\n# c", text);
    struct nai_yaml *json = NULL, *yaml = NULL;
    struct nai_err err;
    whole += nai_yaml_parse(&json, "f", text, strlen(text), &err) == NAI_OK;
    (void)!nai_yaml_parse(&yaml, "f", other, strlen(other), &err);
    assert_same(json, yaml, text);
    nai_yaml_free(json);
    nai_yaml_free(yaml);
  }
  assert_true(whole > 1000);
}

TEST(reads_json) {
  struct nai_yaml *doc =
      parse("{\"prefill\": [\"a\\u0041\", \"b\"],\n \"n\": -1.5e2, \"empty\": [], \"no\": null, \"t\": true}");
  const struct nai_yaml_node *root = nai_yaml_root(doc);
  struct nai_err err = {0};
  double number = 0;
  bool flag = false;
  assert_string_equal(nai_yaml_first(doc, nai_yaml_get(doc, root, "prefill"))->text, "aA");
  assert_int_equal(nai_yaml_number(&number, doc, nai_yaml_get(doc, root, "n"), &err), 0);
  assert_true(number == -150);
  assert_int_equal(nai_yaml_get(doc, root, "empty")->count, 0);
  assert_int_equal(nai_yaml_bool(&flag, doc, nai_yaml_get(doc, root, "t"), &err), 0);
  assert_true(flag);
  nai_yaml_free(doc);
}

TEST(refuses_with_a_position) {
  assert_refused("", "f.yaml:1:1: empty file");
  assert_refused("# only a comment\n", "f.yaml:1:1: empty file");
  assert_refused("a: &x 1\nb: *x\n", "f.yaml:1:4: anchors are not supported");
  assert_refused("b: *x\n", "f.yaml:1:4: aliases are not supported");
  assert_refused("a: !!int 1\n", "f.yaml:1:4: tags are not supported");
  assert_refused("x:\n  <<: {a: 1}\n", "f.yaml:2:3: merge keys are not supported");
  assert_refused("a: 1\nb: 2\na: 3\nb: 4\n", "f.yaml:3:1: duplicate key \"a\" (first on line 1)");
  assert_refused("x: {a: 1, 'a': 2}\n", "f.yaml:1:11: duplicate key \"a\" (first on line 1)");
  assert_refused("a: 1\n---\nb: 1\n", "f.yaml:2:1: a second document; one is expected");
  assert_refused("? [a]\n: b\n", "f.yaml:1:3: a key must be text");
  assert_refused("'': b\n", "f.yaml:1:1: empty key");
  assert_refused("a: \"\\u202e\"\n", "f.yaml:1:4: text with a control or invisible character");
  assert_refused("a: \"x\\0y\"\n", "f.yaml:1:4: text with a control or invisible character");
  assert_refused("a: \"\\e[31m\"\n", "f.yaml:1:4: text with a control or invisible character");
  assert_refused("a: [1, 2\nb: 3\n", "f.yaml:2:2: did not find expected ',' or ']' (while parsing a flow sequence)");
  assert_refused_bytes("a: b\nc: \xff", 9, "f.yaml:2:4: invalid leading UTF-8 octet");
}

/* A text of `count` times `unit`. */
static char *repeat(const char *unit, size_t count) {
  size_t len = strlen(unit);
  char *text = malloc(len * count + 1);
  assert_non_null(text);
  for (size_t i = 0; i < count; i++)
    memcpy(text + i * len, unit, len);
  text[len * count] = '\0';
  return text;
}

TEST(hostile_input_costs_little) {
  static const struct {
    const char *unit;
    size_t count;
  } inputs[] = {{"[", 100000},           {"[\n", 100000},  {"{", 100000},     {"{a: ", 100000},   {"? ", 100000},
                {"- ", 100000},          {"[a: ", 100000}, {"!", 1048000},    {"&a ", 340000},    {"*", 1000000},
                {"'", 1048575},          {":", 1048575},   {": ", 500000},    {"\n", 1048575},    {"#\n", 524000},
                {"a ", 524000},          {"%", 1000000},   {"---\n", 260000}, {"\"a\",", 260000}, {"a,", 500000},
                {"%TAG ! x:\n", 100000}, {"a: [", 260000}, {"\t", 1000000},   {"x", 1048577}};
  for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
    char *text = repeat(inputs[i].unit, inputs[i].count);
    struct nai_yaml *doc = NULL;
    struct nai_err err = {0};
    clock_t start = clock();
    int rc = nai_yaml_parse(&doc, "f.yaml", text, strlen(text), &err);
    double ms = (double)(clock() - start) * 1000 / CLOCKS_PER_SEC;
    assert_true(rc == 0 || rc == NAI_EUSAGE);
#ifndef __SANITIZE_ADDRESS__
    if (ms >= 100)
      fail_msg("%zu times \"%s\" took %.0f ms", inputs[i].count, inputs[i].unit, ms);
#endif
    (void)ms;
    nai_yaml_free(doc);
    free(text);
  }
}

TEST(limits_depth_and_size) {
  char *open = repeat("[", 65), *close = repeat("]", 65), text[200];
  struct nai_yaml *doc = NULL;
  struct nai_err err = {0};
  snprintf(text, sizeof text, "%.64s%.64s", open, close);
  assert_int_equal(nai_yaml_parse(&doc, "f.yaml", text, strlen(text), &err), 0);
  nai_yaml_free(doc);
  snprintf(text, sizeof text, "%s%s", open, close);
  assert_refused(text, "f.yaml:1:65: nested more than 64 levels deep");
  free(open);
  free(close);
  char *many = repeat("- a\n", 65536), *big = repeat("a", (1 << 20) + 1);
  assert_refused(many, "f.yaml:65536:3: more than 65536 values");
  assert_refused(big, "f.yaml:1:1: larger than 1 MiB");
  free(many);
  free(big);
}

TEST(typed_access) {
  struct nai_yaml *doc =
      parse("n: 12\nq: '12'\nlist: [1]\nempty:\nnan: .nan\nhex: 0x10\nbig: 1e999\nyes: yes\nfrac: 1.5\n"
            "word: hello\n");
  const struct nai_yaml_node *root = nai_yaml_root(doc);
  struct nai_err err = {0};
  double number;
  int64_t integer;
  bool flag;
  const char *text;
#define GET(name) nai_yaml_get(doc, root, name)
#define REFUSES(call, message)             \
  do {                                     \
    assert_int_equal(call, NAI_EUSAGE);    \
    assert_string_equal(err.msg, message); \
  } while (0)
  assert_int_equal(nai_yaml_int(&integer, doc, GET("n"), 0, 100, &err), 0);
  assert_int_equal(integer, 12);
  assert_int_equal(nai_yaml_text(&text, doc, GET("n"), &err), 0);
  assert_string_equal(text, "12");
  REFUSES(nai_yaml_int(&integer, doc, GET("n"), 0, 11, &err), "f.yaml:1:4: \"n\": 12 is not within 0..11");
  REFUSES(nai_yaml_number(&number, doc, GET("q"), &err), "f.yaml:2:4: \"q\": expected a number, got \"12\"");
  REFUSES(nai_yaml_number(&number, doc, GET("list"), &err), "f.yaml:3:7: \"list\": expected a number, got a list");
  REFUSES(nai_yaml_text(&text, doc, GET("empty"), &err), "f.yaml:4:7: \"empty\": expected text, got nothing");
  REFUSES(nai_yaml_number(&number, doc, GET("nan"), &err), "f.yaml:5:6: \"nan\": expected a number, got \".nan\"");
  REFUSES(nai_yaml_number(&number, doc, GET("hex"), &err), "f.yaml:6:6: \"hex\": expected a number, got \"0x10\"");
  REFUSES(nai_yaml_number(&number, doc, GET("big"), &err),
          "f.yaml:7:6: \"big\": expected a finite number, got \"1e999\"");
  REFUSES(nai_yaml_bool(&flag, doc, GET("yes"), &err), "f.yaml:8:6: \"yes\": expected true or false, got \"yes\"");
  REFUSES(nai_yaml_int(&integer, doc, GET("frac"), 0, 9, &err),
          "f.yaml:9:7: \"frac\": expected a whole number, got \"1.5\"");
  REFUSES(nai_yaml_expect(doc, GET("word"), NAI_YAML_MAP, &err),
          "f.yaml:10:7: \"word\": expected a map, got \"hello\"");
  static const char *const keys[] = {"n", "q", "list", "empty", "nan", "hex", "big", "yes", "frac", "words", NULL};
  REFUSES(nai_yaml_expect_keys(doc, root, keys, &err), "f.yaml:10:1: unknown key \"word\"; did you mean \"words\"?");
  REFUSES(nai_yaml_error_in(doc, GET("q"), 1, &err, "here"), "f.yaml:2:6: here");
  nai_yaml_free(doc);
}

TEST(missing_file) {
  struct nai_yaml *doc = NULL;
  struct nai_err err = {0};
  assert_int_equal(nai_yaml_load(&doc, "/nonexistent/rules.yaml", &err), NAI_EUSAGE);
  assert_int_equal(nai_yaml_load(&doc, "/", &err), NAI_EUSAGE);
  assert_null(doc);
}

/* What the build has parsed is what the texts say. */
TEST(built_in_trees_equal_their_texts) {
  struct nai_err err = {0};
  int seen = 0;
  for (const struct nai_asset *asset = nai_assets; asset->path; asset++) {
    struct nai_yaml *built_in, *doc;
    bool by_name = strncmp(asset->path, "skills/", 7) == 0 || strncmp(asset->path, "pages/", 6) == 0; /* not by path */
    if (by_name || !nai_text_ends(asset->path, ".yaml"))
      continue;
    assert_int_equal(nai_yaml_load_builtin(&built_in, asset->path, &err), 0);
    assert_int_equal(nai_yaml_parse(&doc, asset->path, asset->data, (size_t)(asset->end - asset->data), &err), 0);
    assert_same(built_in, doc, asset->path);
    assert_int_equal(built_in->hash, doc->hash);
    assert_string_equal(built_in->file, doc->file);
    nai_yaml_free(built_in);
    nai_yaml_free(doc);
    seen++;
  }
  assert_true(seen > 10);
  struct nai_yaml *none;
  assert_int_equal(nai_yaml_load_builtin(&none, "rules/none.yaml", &err), NAI_EUSAGE);
}
