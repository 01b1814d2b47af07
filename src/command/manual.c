/* A page of the documentation for a terminal: the Markdown that docs/root-causes use, as plain text. */
#include "command/command.h"

enum { MAX_COLUMNS = 8 };
static const char bold[] = "\033[1m", plain[] = "\033[0m";

struct span {
  const char *text;
  size_t len;
};

static struct span next_line(const char **at, const char *end) {
  const char *newline = memchr(*at, '\n', (size_t)(end - *at));
  struct span line = {*at, (size_t)((newline ? newline : end) - *at)};
  *at = newline ? newline + 1 : end;
  return line;
}

static bool begins(struct span s, const char *prefix) {
  return s.len >= strlen(prefix) && memcmp(s.text, prefix, strlen(prefix)) == 0;
}

/* Inline markup away: `code`, *emphasis*, [text](link), \escapes. Code keeps everything inside it. */
static void put_inline(struct nai_buf *out, struct span s) {
  bool code = false;
  for (size_t i = 0; i < s.len; i++) {
    char c = s.text[i];
    if (c == '`') {
      code = !code;
    } else if (c == '\\' && i + 1 < s.len && strchr("\\`*_|[]<>#", s.text[i + 1])) {
      nai_buf_putc(out, s.text[++i]);
    } else if (!code && c == ']' && i + 1 < s.len && s.text[i + 1] == '(') {
      while (i < s.len && s.text[i] != ')')
        i++;
    } else if (code || (c != '*' && c != '[')) {
      nai_buf_putc(out, c);
    }
  }
}

/* Columns of UTF-8 text. */
static int columns_of(const char *text, size_t len) {
  int n = 0;
  for (size_t i = 0; i < len; i++)
    n += (text[i] & 0xC0) != 0x80;
  return n;
}

/* A paragraph or list item (spaces and newlines count the same) in lines of `width`, all but the first indented. */
static void put_filled(struct nai_buf *out, const char *text, int indent, int width) {
  int column = 0;
  while (*(text += strspn(text, " \n"))) {
    size_t len = strcspn(text, " \n");
    int word = columns_of(text, len);
    if (column && column + 1 + word > width) {
      nai_buf_printf(out, "\n%*s", indent, "");
      column = indent;
    } else if (column) {
      nai_buf_putc(out, ' ');
      column++;
    }
    nai_buf_put(out, text, len);
    column += word;
    text += len;
  }
  nai_buf_putc(out, '\n');
}

/* Takes the next cell off a table's line. */
static bool next_cell(struct span *cell, struct span *line) {
  size_t n = 0;
  if (line->len && line->text[0] == '|')
    line->text++, line->len--;
  if (line->len == 0)
    return false;
  while (n < line->len && (line->text[n] != '|' || (n && line->text[n - 1] == '\\')))
    n++;
  *cell = (struct span){line->text, n};
  line->text += n;
  line->len -= n;
  while (cell->len && cell->text[0] == ' ')
    cell->text++, cell->len--;
  while (cell->len && cell->text[cell->len - 1] == ' ')
    cell->len--;
  return true;
}

/* Lines from `line` on that begin with a bar: columns as wide as their widest cell, the last one as it comes. */
static const char *put_table(struct nai_buf *out, const char *from, const char *end, int width) {
  int widths[MAX_COLUMNS] = {0};
  const char *after = from;
  for (int pass = 0; pass < 2; pass++) {
    for (const char *at = from; at < end && *at == '|'; after = at) {
      struct span line = next_line(&at, end), cell;
      NAI_SCOPED(nai_buf) row = {0};
      int indent = 0;
      if (begins(line, "|--"))
        continue;
      for (int c = 0; c < MAX_COLUMNS && next_cell(&cell, &line); c++) {
        NAI_SCOPED(nai_buf) text = {0};
        put_inline(&text, cell);
        int have = columns_of(nai_buf_str(&text), text.len);
        if (pass == 0 && have > widths[c])
          widths[c] = have;
        if (pass && line.len > 1) {
          nai_buf_printf(&row, "%s%*s", nai_buf_str(&text), widths[c] - have + 2, "");
          indent += widths[c] + 2;
        } else if (pass) {
          put_filled(&row, nai_buf_str(&text), 2, width - indent);
          for (const char *t = nai_buf_str(&row); *t; t++) {
            nai_buf_putc(out, *t);
            if (*t == '\n' && t[1])
              nai_buf_printf(out, "%*s", indent, "");
          }
        }
        row.oom |= text.oom;
      }
      out->oom |= row.oom;
    }
  }
  return after;
}

static size_t list_marker(struct span line) {
  size_t digits = strspn(line.text, "0123456789");
  if (begins(line, "- "))
    return 2;
  return digits && digits + 1 < line.len && line.text[digits] == '.' && line.text[digits + 1] == ' ' ? digits + 2 : 0;
}

/* Lines up to an empty one or the next list item: one paragraph. */
static const char *put_paragraph(struct nai_buf *out, const char *at, const char *end, int width) {
  struct span line = next_line(&at, end);
  int indent = (int)list_marker(line);
  NAI_SCOPED(nai_buf) text = {0};
  put_inline(&text, line);
  while (at < end && *at != '\n' && *at != '|' && *at != '#') {
    const char *next = at;
    line = next_line(&next, end);
    if (list_marker(line))
      break;
    nai_buf_putc(&text, '\n');
    put_inline(&text, line);
    at = next;
  }
  put_filled(out, nai_buf_str(&text), indent, width);
  out->oom |= text.oom;
  return at;
}

void nai_cmd_page(struct nai_buf *out, const char *markdown, size_t len, int width, bool color) {
  const char *at = markdown, *end = markdown + len;
  while (at < end) {
    if (*at == '#') {
      struct span line = next_line(&at, end);
      while (line.len && (*line.text == '#' || *line.text == ' '))
        line.text++, line.len--;
      nai_buf_puts(out, color ? bold : "");
      put_inline(out, line);
      nai_buf_printf(out, "%s\n", color ? plain : "");
    } else if (*at == '\n') {
      nai_buf_putc(out, '\n');
      at++;
    } else if (*at == '|') {
      at = put_table(out, at, end, width);
    } else {
      at = put_paragraph(out, at, end, width);
    }
  }
}
