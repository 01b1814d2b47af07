/* Makes the man page of a file format from its page of documentation: man5 NAME VERSION FILE.md > NAME.5. A tool of the
 * build, which is not installed. */
#include <cmark.h>
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void die(const char *what) {
  fprintf(stderr, "man5: %s\n", what);
  exit(1);
}

static char *read_file(const char *path) {
  FILE *file = fopen(path, "r");
  size_t size = 1 << 20, len = 0;
  char *text = malloc(size + 1);
  if (!file || !text || (len = fread(text, 1, size, file)) == size || ferror(file))
    die(path);
  fclose(file);
  text[len] = '\0';
  return text;
}

/* Links are texts here: their targets are files of the documentation. */
static void drop_links(cmark_node *root) {
  cmark_iter *iter = cmark_iter_new(root);
  cmark_event_type event;
  while ((event = cmark_iter_next(iter)) != CMARK_EVENT_DONE) {
    cmark_node *link = cmark_iter_get_node(iter), *child;
    if (event != CMARK_EVENT_EXIT || cmark_node_get_type(link) != CMARK_NODE_LINK)
      continue;
    while ((child = cmark_node_first_child(link)))
      cmark_node_insert_before(link, child);
    cmark_node_unlink(link);
    cmark_node_free(link);
  }
  cmark_iter_free(iter);
}

/* What cmark makes of it. Its font for code, C, is none that a terminal has, and groff 1.23 says so for each page: code
 * is bold, as man-pages(7) wants it, and blocks of it are plain. Text cannot hold "\f[C]": its backslashes are escaped.
 */
static char *render(const char *text, size_t len) {
  static const char code[] = "\\f[C]", block[] = ".nf\n\\f[C]\n";
  cmark_node *root = cmark_parse_document(text, len, CMARK_OPT_DEFAULT);
  if (!root)
    die("out of memory");
  drop_links(root);
  char *page = cmark_render_man(root, CMARK_OPT_DEFAULT, 0);
  if (!page)
    die("out of memory");
  for (char *at = page; (at = strstr(at, code)); at += sizeof code - 1)
    at[3] = at - page >= 4 && strncmp(at - 4, block, sizeof block - 1) == 0 ? 'R' : 'B';
  cmark_node_free(root);
  return page;
}

static void put(const char *text, size_t len) {
  char *page = render(text, len);
  fputs(page, stdout);
  free(page);
}

/* A cell: what would be a paragraph, without its beginning. */
static void put_cell(const char *text, size_t len) {
  char *page = render(text, len), *at = strncmp(page, ".PP\n", 4) == 0 ? page + 4 : page;
  printf("%s%s", at, *at ? "" : "\\&\n");
  free(page);
}

/* A row of a table: the first cell names what the others are about. */
static void put_row(const char *line, size_t len) {
  const char *at = line + 1, *end = line + len;
  bool first = true;
  while (end > at && (end[-1] == ' ' || end[-1] == '|'))
    end--;
  fputs(".TP\n", stdout);
  while (at < end) {
    const char *stop = at;
    while (stop < end && (*stop != '|' || stop[-1] == '\\'))
      stop++;
    put_cell(at + strspn(at, " "), (size_t)(stop - at) > strspn(at, " ") ? (size_t)(stop - at) - strspn(at, " ") : 0);
    if (!first && stop < end)
      fputs(".br\n", stdout);
    first = false;
    at = stop + 1;
  }
}

static void put_table(const char **at) {
  int row = 0;
  for (; **at == '|'; row++) {
    size_t len = strcspn(*at, "\n");
    if (row > 1) /* behind the heads and the line below them */
      put_row(*at, len);
    *at += len + ((*at)[len] == '\n');
  }
  fputs(".PP\n", stdout);
}

int main(int argc, char **argv) {
  if (argc != 4)
    die("usage: man5 NAME VERSION FILE.md");
  char *text = read_file(argv[3]);
  const char *at = text, *from;
  if (strncmp(at, "# ", 2) != 0)
    die("the page has no title");
  size_t title = strcspn(at, "\n");
  fputs(".TH ", stdout);
  for (const char *c = argv[1]; *c; c++)
    printf(*c == '-' ? "\\-" : "%c", toupper((unsigned char)*c));
  printf(" 5 \"\" \"nsys-ai %s\" \"File Formats\"\n.SH NAME\n", argv[2]);
  for (const char *c = argv[1]; *c; c++)
    printf(*c == '-' ? "\\-" : "%c", *c);
  printf(" \\- %.*s\n.SH DESCRIPTION\n", (int)title - 2, at + 2);
  for (from = at += title; *at;) {
    bool code = strncmp(at, "```", 3) == 0;
    if (*at == '|') {
      put(from, (size_t)(at - from));
      put_table(&at);
      from = at;
      continue;
    }
    at += strcspn(at, "\n");
    at += *at == '\n';
    while (code && *at && strncmp(at, "```", 3) != 0) {
      at += strcspn(at, "\n");
      at += *at == '\n';
    }
    if (code && *at) {
      at += strcspn(at, "\n");
      at += *at == '\n';
    }
  }
  put(from, (size_t)(at - from));
  free(text);
  return 0;
}
