/* Escapers, judged by parsers that know nothing of them: libcmark and, where installed, the cmark-gfm command for
 * Markdown. A text must come out of the parser letter for letter, as text or code and nothing else. */
#include "unit.h"

#include "tier.h"

#include "base/text.h"
#include "base/escape.h"

#include <cmark.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const pieces[] = {
    "www.",
    "WWW.",
    "http://x.y",
    "https://",
    "ftp://a.b/",
    "@user",
    "@",
    "@@",
    "a@b.co",
    "#12",
    "#",
    "##1",
    "GH-7",
    "gh-",
    "$",
    "$x$",
    "$$",
    "`",
    "``",
    "```",
    "*",
    "**",
    "***",
    "_",
    "__",
    "~",
    "~~",
    "~~~",
    "[",
    "](",
    "]",
    "]:",
    "[^1]",
    "[x] ",
    "![",
    "!",
    "<",
    "<b>",
    "</a>",
    "<!--",
    "<?",
    "<http:/",
    "&",
    "&amp;",
    "&#60;",
    "&lt",
    "\\",
    "\\\\",
    "|",
    "||",
    "---",
    "- ",
    "-",
    "+ ",
    "+",
    "* ",
    "1. ",
    "2) ",
    "17.",
    "3)",
    "# ",
    "=",
    "===",
    ">",
    "> ",
    ":-",
    ":--:",
    ":",
    "://",
    "\"",
    "'",
    "(",
    ")",
    "{",
    "}",
    " ",
    "  ",
    "    ",
    "a",
    "B9",
    "kernel_name",
    "int",
    "::",
    "\xc3\xa9",
    "\xe2\x80\x94",
    "\xe3\x80\x80",
    "\n",
    "\t",
    "\r",
    "\x01",
    "mailto:",
    "x.y",
    "_a_",
    "*a*",
    ".",
    ",",
    "elementwise_kernel<128, 4, AddFunctor<float>>(int, T1 *, const T2 &)",
    "[lambda(float) (instance 1)]",
    "operator&&",
};

static uint32_t seed;
static uint32_t random_below(uint32_t n) {
  seed = seed * 1664525u + 1013904223u;
  return (uint32_t)((uint64_t)seed * n >> 32);
}

/* A text of some pieces, the same for the same number. */
static void make_text(struct nai_buf *out, uint32_t number) {
  nai_buf_clear(out);
  seed = number * 2654435761u + 17;
  for (uint32_t n = 1 + random_below(number % 3 ? 5 : 12); n > 0; n--)
    nai_buf_puts(out, pieces[random_below(sizeof pieces / sizeof *pieces)]);
}

/* What a reader should see: controls are blanks. */
static void expected_text(struct nai_buf *out, const char *text, size_t len) {
  for (size_t i = 0; i < len; i++)
    nai_buf_putc(out, (unsigned char)text[i] < ' ' ? ' ' : text[i]);
}

/* GitHub acts on text after Markdown: mentions, issues, formulas. */
static bool is_inert(const char *text) {
  for (const char *c = text; *c; c++) {
    bool digit = c[1] >= '0' && c[1] <= '9';
    bool letter = (c[1] >= 'a' && c[1] <= 'z') || (c[1] >= 'A' && c[1] <= 'Z');
    if ((*c == '@' && (digit || letter)) || (*c == '#' && digit) || *c == '$')
      return false;
    if (strncasecmp(c, "GH-", 3) == 0 && c[3] >= '0' && c[3] <= '9' && (c == text || c[-1] == ' '))
      return false;
  }
  return true;
}

/* --- libcmark --------------------------------------------------------------------------------- */

/* The text of a document that must consist of one block with nothing but text and code in it; false otherwise. */
static bool plain_text(struct nai_buf *out, cmark_node *document, cmark_node_type block) {
  cmark_iter *iter = cmark_iter_new(document);
  cmark_event_type event;
  int blocks = 0;
  bool plain = true;
  while ((event = cmark_iter_next(iter)) != CMARK_EVENT_DONE) {
    cmark_node *node = cmark_iter_get_node(iter);
    cmark_node_type type = cmark_node_get_type(node);
    if (event == CMARK_EVENT_EXIT || type == CMARK_NODE_DOCUMENT)
      continue;
    if (type == block)
      blocks++;
    else if (type == CMARK_NODE_SOFTBREAK)
      nai_buf_putc(out, '\n');
    else if (type == CMARK_NODE_TEXT || type == CMARK_NODE_CODE)
      nai_buf_puts(out, cmark_node_get_literal(node));
    else
      plain = false;
    if (type == CMARK_NODE_TEXT && !is_inert(cmark_node_get_literal(node)))
      plain = false;
  }
  cmark_iter_free(iter);
  return plain && blocks <= 1;
}

typedef void escape_fn(struct nai_buf *out, const char *text, size_t len);

/* `before` + escaped text + `after` must read as `before_text` + text + `after_text`. */
static void expect_literal(escape_fn *escape, const char *text, size_t len, const char *before, const char *before_text,
                           const char *after) {
  struct nai_buf markdown = {0}, seen = {0}, expected = {0};
  nai_buf_puts(&markdown, before);
  escape(&markdown, text, len);
  nai_buf_puts(&markdown, after);
  nai_buf_puts(&expected, before_text);
  expected_text(&expected, text, len);
  /* A parser drops one blank at the end of a line. */
  if (*after != ' ' && escape == nai_escape_markdown && expected.len && expected.data[expected.len - 1] == ' ' &&
      (expected.len == 1 || expected.data[expected.len - 2] != ' ') && len != 1)
    expected.len--;
  nai_buf_puts(&expected, after);
  cmark_node *document = cmark_parse_document(nai_buf_str(&markdown), markdown.len, CMARK_OPT_DEFAULT);
  cmark_consolidate_text_nodes(document);
  bool ok = plain_text(&seen, document, CMARK_NODE_PARAGRAPH);
  if (!ok || strcmp(nai_buf_str(&seen), nai_buf_str(&expected)) != 0) {
    char *xml = cmark_render_xml(document, CMARK_OPT_DEFAULT);
    fail_msg("text [%s]\nmarkdown [%s]\nexpected [%s]\nseen [%s]\n%s", text, nai_buf_str(&markdown),
             nai_buf_str(&expected), nai_buf_str(&seen), xml);
  }
  cmark_node_free(document);
  nai_buf_free(&markdown);
  nai_buf_free(&seen);
  nai_buf_free(&expected);
}

TEST(test_markdown_reads_literally) {
  struct nai_buf text = {0};
  for (uint32_t i = 0; i < 30000; i++) {
    make_text(&text, i);
    if (strspn(text.data, " \n\t\r\x01") == text.len)
      continue;
    expect_literal(nai_escape_markdown, text.data, text.len, "", "", "");
    expect_literal(nai_escape_markdown, text.data, text.len, "", "", "\nnext");
    expect_literal(nai_escape_markdown, text.data, text.len, "before\n", "before\n", "");
    expect_literal(nai_escape_markdown, text.data, text.len, "see ", "see ", " and on");
    expect_literal(nai_escape_markdown_code, text.data, text.len, "see ", "see ", " and on");
  }
  nai_buf_free(&text);
}

/* Two values next to each other must not act together either. */
static size_t split_at;
static void escape_in_two(struct nai_buf *out, const char *text, size_t len) {
  nai_escape_markdown(out, text, split_at);
  nai_escape_markdown(out, text + split_at, len - split_at);
}

TEST(test_markdown_of_neighbours) {
  struct nai_buf text = {0}, first = {0};
  for (uint32_t i = 0; i < 30000; i++) {
    make_text(&text, i + 200000);
    split_at = random_below((uint32_t)text.len + 1);
    nai_buf_clear(&first);
    nai_escape_markdown(&first, text.data, split_at);
    /* Two code spans that touch read as one that holds backticks: harmless, but not literal. */
    size_t n = first.len;
    bool spans_touch = n && first.data[n - 1] == '`' && (n < 2 || first.data[n - 2] != '\\');
    if (spans_touch || strchr(" \n\t\r\x01", text.data[text.len - 1]))
      continue;
    expect_literal(escape_in_two, text.data, text.len, "x\n", "x\n", "");
    expect_literal(escape_in_two, text.data, text.len, "", "", "");
  }
  nai_buf_free(&text);
  nai_buf_free(&first);
}

TEST(test_markdown_inside_a_link) {
  struct nai_buf out = {0};
  nai_buf_puts(&out, "[");
  nai_escape_markdown(&out, "a](http://evil) [b", 18);
  nai_buf_puts(&out, "](#here)");
  char *html = cmark_markdown_to_html(out.data, out.len, CMARK_OPT_DEFAULT);
  assert_string_equal(html, "<p><a href=\"#here\">a](http://evil) [b</a></p>\n");
  free(html);
  nai_buf_free(&out);
}

static void md(const char *text, const char *expected) {
  struct nai_buf out = {0};
  nai_escape_markdown(&out, text, strlen(text));
  assert_string_equal(nai_buf_str(&out), expected);
  nai_buf_free(&out);
}

TEST(test_markdown_escapes_little) {
  md("", "");
  md("elementwise_kernel<128, 4>", "elementwise_kernel<128, 4>");
  md("nvjet_tst_192x192_64x4_2x1_v_bz_coopB_bias_TNN", "nvjet_tst_192x192_64x4_2x1_v_bz_coopB_bias_TNN");
  md("at::native::foo(int, T1)", "at::native::foo(int, T1)");
  md("41.9 %", "41.9 %");
  md("-5.2 ms", "-5.2 ms");
  md("1,234", "1,234");
  md("\\u{202e}", "\\u{202e}");
  md("a & b && c * d", "a & b && c * d");
  md("Foo<float>", "Foo&lt;float>");
  md("-", "\\-");
  md("1. x", "1\\. x");
  md("@user", "`@`user");
  md("__global__ x", "\\_\\_global\\_\\_ x");
  md("a|b", "a\\|b");
}

TEST(test_markdown_knows_the_line) {
  struct nai_buf out = {0};
  nai_buf_puts(&out, "| x | ");
  nai_escape_markdown(&out, "-", 1);
  nai_buf_puts(&out, " | ");
  nai_escape_markdown(&out, "# 1. x", 6);
  nai_buf_puts(&out, " |\n- ");
  nai_escape_markdown(&out, "# y", 3);
  assert_string_equal(out.data, "| x | - | # 1. x |\n- \\# y");
  nai_buf_free(&out);
}

TEST(test_code_spans) {
  static const char *const cases[][2] = {
      {"", ""},           {"a<b>", "`a<b>`"}, {"a`b", "``a`b``"}, {"`", "`` ` ``"},         {"a|b", "`a`\\|`b`"},
      {"|", "\\|"},       {" a ", "`  a  `"}, {" ", "` `"},       {"``a`", "``` ``a` ```"}, {"a\nb", "`a b`"},
      {"a``b", "`a``b`"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct nai_buf out = {0};
    nai_escape_markdown_code(&out, cases[i][0], strlen(cases[i][0]));
    assert_string_equal(nai_buf_str(&out), cases[i][1]);
    nai_buf_free(&out);
  }
}

/* --- cmark-gfm -------------------------------------------------------------------------------- */

/* What the command makes of a document; false when it is not installed. */
static bool run_cmark_gfm(struct nai_buf *xml, const struct nai_buf *markdown) {
  char path[] = "/tmp/nai-escape-XXXXXX", command[256];
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, markdown->data, markdown->len), markdown->len);
  close(fd);
  snprintf(command, sizeof command,
           "cmark-gfm -e table -e autolink -e strikethrough -e tasklist -e footnotes -t xml %s 2>/dev/null", path);
  FILE *pipe = popen(command, "r");
  assert_non_null(pipe);
  char chunk[65536];
  size_t n;
  while ((n = fread(chunk, 1, sizeof chunk, pipe)) > 0)
    nai_buf_put(xml, chunk, n);
  int status = pclose(pipe);
  unlink(path);
  return status == 0;
}

/* Appends XML character data as text. */
static void put_unescaped(struct nai_buf *out, const char *from, const char *to) {
  static const char *const entities[][2] = {{"&lt;", "<"}, {"&gt;", ">"}, {"&amp;", "&"}, {"&quot;", "\""}};
  while (from < to) {
    size_t e = 0;
    while (e < 4 && strncmp(from, entities[e][0], strlen(entities[e][0])) != 0)
      e++;
    nai_buf_putc(out, e < 4 ? entities[e][1][0] : *from);
    from += e < 4 ? strlen(entities[e][0]) : 1;
  }
}

/* Element by element: cells of a table end in a tab, rows in a newline, all text in between. Anything but tables,
 * paragraphs, text and code fails. */
static void read_xml(struct nai_buf *out, const char *xml) {
  static const char *const allowed[] = {"?xml",       "!DOCTYPE",  "document",      "/document",
                                        "table",      "/table",    "table_header",  "table_row",
                                        "table_cell", "paragraph", "/table_header", NULL};
  struct nai_buf text = {0};
  for (const char *at = strchr(xml, '<'); at; at = strchr(at, '<')) {
    size_t name = strcspn(at + 1, " />\n") + (at[1] == '/' ? 1 + strcspn(at + 2, " />\n") : 0);
    const char *end = strchr(at, '>');
    if (strncmp(at, "<text", 5) == 0 || strncmp(at, "<code ", 6) == 0) {
      const char *close = strchr(end, '<');
      nai_buf_clear(&text);
      put_unescaped(&text, end + 1, close);
      if (at[1] == 't' && !is_inert(nai_buf_str(&text)))
        fail_msg("GitHub would act on [%s]", nai_buf_str(&text));
      nai_buf_put(out, nai_buf_str(&text), text.len);
      at = strchr(close, '>');
      continue;
    }
    if (strncmp(at, "<softbreak", 10) == 0) {
      nai_buf_putc(out, '\n');
    } else if (strncmp(at, "</table_cell", 12) == 0) {
      nai_buf_putc(out, '\t');
    } else if (strncmp(at, "</table_row", 11) == 0 || strncmp(at, "</table_header", 14) == 0 ||
               strncmp(at, "</paragraph", 11) == 0) {
      nai_buf_putc(out, '\n');
    } else {
      int known = 0;
      for (int a = 0; allowed[a]; a++)
        known |= strlen(allowed[a]) == name && strncmp(at + 1, allowed[a], name) == 0;
      if (!known)
        fail_msg("text became <%.*s>\nnear %.*s", (int)name, at + 1, 600, at - 300 > xml ? at - 300 : xml);
    }
    at = end;
  }
  nai_buf_free(&text);
}

/* One text a line of what the parser saw. */
static void expect_lines(const struct nai_buf *seen, const struct nai_buf *expected) {
  const char *s = nai_buf_str(seen), *e = nai_buf_str(expected);
  for (int line = 1; *s || *e; line++) {
    size_t ls = strcspn(s, "\n"), le = strcspn(e, "\n");
    if (ls != le || memcmp(s, e, ls) != 0)
      fail_msg("line %d\nexpected [%.*s]\nseen     [%.*s]", line, (int)le, e, (int)ls, s);
    s += ls + (s[ls] == '\n');
    e += le + (e[le] == '\n');
  }
}

/* Blanks at the ends of a cell or paragraph are the parser's. */
static void put_expected(struct nai_buf *out, const struct nai_buf *text) {
  struct nai_buf blank = {0};
  expected_text(&blank, text->data, text->len);
  nai_buf_put(out, nai_buf_str(&blank), blank.len);
  nai_buf_free(&blank);
}

/* What GitHub's parser makes of `markdown` is `expected`; frees both. */
static void expect_rendered(struct nai_buf *markdown, struct nai_buf *expected) {
  struct nai_buf xml = {0}, seen = {0};
  bool parsed = run_cmark_gfm(&xml, markdown);
  if (parsed) {
    read_xml(&seen, nai_buf_str(&xml));
    expect_lines(&seen, expected);
  }
  nai_buf_free(markdown);
  nai_buf_free(expected);
  nai_buf_free(&xml);
  nai_buf_free(&seen);
  if (!parsed)
    skip_because("no cmark-gfm");
}

TEST(test_github_tables_keep_their_shape) {
  struct nai_buf text = {0}, markdown = {0}, expected = {0};
  nai_buf_puts(&markdown, "| n | text | code |\n|---|---|---|\n");
  nai_buf_puts(&expected, "n\ttext\tcode\t\n");
  for (uint32_t i = 0; i < 6000; i++) {
    make_text(&text, i + 50000);
    if (strchr("\n\r\t\x01 ", text.data[0]) || strchr("\n\r\t\x01 ", text.data[text.len - 1]))
      continue;
    nai_buf_printf(&markdown, "| %u | ", i);
    nai_escape_markdown(&markdown, text.data, text.len);
    nai_buf_puts(&markdown, " | ");
    nai_escape_markdown_code(&markdown, text.data, text.len);
    nai_buf_puts(&markdown, " |\n");
    nai_buf_printf(&expected, "%u\t", i);
    put_expected(&expected, &text);
    nai_buf_putc(&expected, '\t');
    put_expected(&expected, &text);
    nai_buf_puts(&expected, "\t\n");
  }
  nai_buf_free(&text);
  expect_rendered(&markdown, &expected);
}

TEST(test_github_paragraphs_gain_nothing) {
  struct nai_buf text = {0}, markdown = {0}, expected = {0};
  for (uint32_t i = 0; i < 6000; i++) {
    make_text(&text, i + 70000);
    if (strchr("\n\r\t\x01 ", text.data[0]) || strchr("\n\r\t\x01 ", text.data[text.len - 1]))
      continue;
    /* Below a line of text, a line could become the rule of a heading or the second line of a table. */
    nai_buf_puts(&markdown, i % 2 ? "above\n" : "");
    nai_buf_puts(&expected, i % 2 ? "above\n" : "");
    nai_escape_markdown(&markdown, text.data, text.len);
    nai_buf_puts(&markdown, "\n\n");
    put_expected(&expected, &text);
    nai_buf_putc(&expected, '\n');
  }
  nai_buf_free(&text);
  expect_rendered(&markdown, &expected);
}

/* --- the others ------------------------------------------------------------------------------- */

static void expect(escape_fn *escape, const char *text, const char *expected) {
  struct nai_buf out = {0};
  escape(&out, text, strlen(text));
  assert_string_equal(nai_buf_str(&out), expected);
  nai_buf_free(&out);
}

TEST(test_html) {
  expect(nai_escape_html, "", "");
  expect(nai_escape_html, "plain \xc3\xa9", "plain \xc3\xa9");
  expect(nai_escape_html, "<a href=\"x\" b='y'>&amp;", "&lt;a href=&quot;x&quot; b=&#39;y&#39;&gt;&amp;amp;");
  struct nai_buf out = {0};
  nai_escape_html(&out, "a\0<", 3);
  assert_string_equal(out.data, "a\xef\xbf\xbd&lt;");
  nai_buf_free(&out);
}

TEST(test_script_json) {
  expect(nai_escape_script_json, "{\"a\":\"</script><!-- & \xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xa6\"}",
         "{\"a\":\"\\u003c/script\\u003e\\u003c!-- \\u0026 \\u2028\\u2029\xe2\x80\xa6\"}");
  expect(nai_escape_script_json, "\xe2\x80", "\xe2\x80");
}

TEST(test_csv_guard) {
  static const char *const cases[][2] = {{"=cmd()", "'=cmd()"}, {"+1", "'+1"},   {"-1", "'-1"},
                                         {"@x", "'@x"},         {"\tx", "'\tx"}, {"\rx", "'\rx"},
                                         {"\nx", "'\nx"},       {"a=b", "a=b"},  {"", ""},
                                         {"'x", "'x"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    expect(nai_escape_csv_guard, cases[i][0], cases[i][1]);
}

TEST(test_terminal) {
  expect(nai_escape_terminal, "::error::x::y", ": :error::x::y");
  expect(nai_escape_terminal, "  :::", "  : : :");
  expect(nai_escape_terminal, "at::native", "at::native");
  expect(nai_escape_terminal, "a ##[group]x ###", "a # #[group]x # # #");
  expect(nai_escape_terminal, "\x1b[31mred\n::stop", "\\u{1b}[31mred ::stop");
  expect(nai_escape_terminal, "\xff\xe2\x80\xae", "\xef\xbf\xbd\\u{202e}");
  struct nai_buf out = {0};
  nai_buf_puts(&out, "nsys-ai: ");
  nai_escape_terminal(&out, "::x", 3);
  nai_buf_puts(&out, "\n:");
  nai_escape_terminal(&out, ":x", 2);
  assert_string_equal(out.data, "nsys-ai: ::x\n: :x");
  nai_buf_free(&out);
}

TEST(test_any_bytes_are_survived) {
  static escape_fn *const all[] = {nai_escape_html,        nai_escape_markdown,  nai_escape_markdown_code,
                                   nai_escape_script_json, nai_escape_csv_guard, nai_escape_terminal};
  seed = 7;
  for (int round = 0; round < 2000; round++) {
    size_t len = random_below(40);
    char *text = malloc(len + 1); /* no NUL behind it: reading past the end is found by the sanitizer */
    for (size_t i = 0; i < len; i++)
      text[i] = (char)random_below(round % 2 ? 256 : 64);
    char *exact = realloc(text, len ? len : 1);
    for (size_t f = 0; f < sizeof all / sizeof *all; f++) {
      struct nai_buf out = {0};
      all[f](&out, exact, len);
      assert_false(out.oom);
      nai_buf_free(&out);
    }
    free(exact);
  }
}
