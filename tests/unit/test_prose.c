/* Prose: cmark in safe mode, images as links, and out of memory without an abort. */
#include "unit.h"

#include "base/escape.h"
#include "report/prose.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static void expect(const char *markdown, const char *expected) {
  struct nai_buf out = {0};
  struct nai_err err = {0};
  assert_int_equal(nai_prose_html(&out, markdown, &err), 0);
  assert_string_equal(nai_buf_str(&out), expected);
  nai_buf_free(&out);
}

TEST(test_markdown) {
  expect("", "");
  expect("one *two* `a<b`\n\n- x\n- y\n",
         "<p>one <em>two</em> <code>a&lt;b</code></p>\n<ul>\n<li>x</li>\n<li>y</li>\n</ul>\n");
  expect("[docs](https://example.org/a?b&c)", "<p><a href=\"https://example.org/a?b&amp;c\">docs</a></p>\n");
  expect("[r](docs/root-causes/idle.md)", "<p><a href=\"docs/root-causes/idle.md\">r</a></p>\n");
}

TEST(test_nothing_dangerous) {
  expect("<script>alert(1)</script>\n", "<!-- raw HTML omitted -->\n");
  expect("a <b onclick=x>b</b>", "<p>a <!-- raw HTML omitted -->b<!-- raw HTML omitted --></p>\n");
  expect("[x](javascript:alert(1)) [y](JaVaScRiPt:x) [z](data:text/html,x) [f](file:///etc/passwd)",
         "<p><a href=\"\">x</a> <a href=\"\">y</a> <a href=\"\">z</a> <a href=\"\">f</a></p>\n");
}

TEST(test_images_become_links) {
  expect("![a *b*](http://x/y.png)", "<p><a href=\"http://x/y.png\">a <em>b</em></a></p>\n");
  expect("[![alt](http://x/y.png)](http://z)", "<p><a href=\"http://z\">alt</a></p>\n");
  expect("![a ![b](u) c](v)", "<p><a href=\"v\">a <a href=\"u\">b</a> c</a></p>\n");
  expect("![x](javascript:alert(1))", "<p><a href=\"\">x</a></p>\n");
}

TEST(test_escaped_text_stays_text) {
  struct nai_buf markdown = {0};
  const char *hostile = "*a* <img src=x onerror=alert(1)> [l](http://x)";
  nai_escape_markdown(&markdown, hostile, strlen(hostile));
  expect(markdown.data, "<p>*a* &lt;img src=x onerror=alert(1)&gt; [l](http://x)</p>\n");
  nai_buf_free(&markdown);
}

TEST(test_long_prose_is_cut) {
  struct nai_buf markdown = {0}, out = {0};
  struct nai_err err = {0};
  nai_buf_putc(&markdown, 'x');
  for (int i = 0; i < NAI_PROSE_MAX_BYTES; i++)
    nai_buf_puts(&markdown, "\xc3\xa9"); /* the limit falls into a character */
  assert_int_equal(nai_prose_html(&out, markdown.data, &err), 0);
  assert_int_equal(out.len, 3 + 1 + (NAI_PROSE_MAX_BYTES - 2) + 5);
  nai_buf_free(&markdown);
  nai_buf_free(&out);
}

TEST(test_patterns_that_cost_parsers_time) {
  static const char *const patterns[] = {"[",    "*a **a ", "`a``", "![[]()", "> ", "- ",
                                         "[a](", "<!-",     "](",   "_a ",    "\\`"};
  for (size_t p = 0; p < sizeof patterns / sizeof *patterns; p++) {
    struct nai_buf markdown = {0}, out = {0};
    struct nai_err err = {0};
    while (markdown.len < 200000)
      nai_buf_puts(&markdown, patterns[p]);
    assert_int_equal(nai_prose_html(&out, markdown.data, &err), 0);
    assert_true(out.len > 0);
    nai_buf_free(&markdown);
    nai_buf_free(&out);
  }
}

#if !defined(__SANITIZE_ADDRESS__)
TEST(test_out_of_memory) {
  /* Little memory: lists of many short lines need a node each. What was there before stays. */
  struct rlimit before, little;
  struct nai_buf markdown = {0}, out = {0};
  struct nai_err err = {0};
  while (markdown.len < NAI_PROSE_MAX_BYTES)
    nai_buf_puts(&markdown, "- *a*\n");
  nai_buf_puts(&out, "kept");
  assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
  little = before;
  little.rlim_cur = 1; /* nothing more than the process has */
  assert_int_equal(setrlimit(RLIMIT_AS, &little), 0);
  int rc = nai_prose_html(&out, markdown.data, &err);
  assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
  assert_int_equal(rc, NAI_ELIMIT);
  assert_string_equal(nai_buf_str(&out), "kept");
  nai_buf_free(&markdown);
  nai_buf_free(&out);
}
#endif
