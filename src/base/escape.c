#include "base/escape.h"

#include "base/scope.h"
#include "base/text.h"

void nai_escape(struct nai_buf *out, enum nai_escape_mode mode, const char *text, size_t len) {
  if (mode == NAI_ESCAPE_HTML)
    nai_escape_html(out, text, len);
  else if (mode == NAI_ESCAPE_MARKDOWN)
    nai_escape_markdown(out, text, len);
  else if (mode == NAI_ESCAPE_TERMINAL)
    nai_escape_terminal(out, text, len);
  else
    nai_buf_put(out, text, len);
}

void nai_escape_code(struct nai_buf *out, enum nai_escape_mode mode, const char *text, size_t len) {
  if (mode == NAI_ESCAPE_MARKDOWN) {
    nai_escape_markdown_code(out, text, len);
    return;
  }
  bool html = mode == NAI_ESCAPE_HTML && len > 0;
  nai_buf_puts(out, html ? "<code>" : "");
  nai_escape(out, mode, text, len);
  nai_buf_puts(out, html ? "</code>" : "");
}

void nai_escape_html(struct nai_buf *out, const char *text, size_t len) {
  static const char *const entities[256] = {
      ['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;", ['\''] = "&#39;", [0] = "\xef\xbf\xbd"};
  size_t from = 0;
  for (size_t i = 0; i < len; i++) {
    const char *entity = entities[(unsigned char)text[i]];
    if (!entity)
      continue;
    nai_buf_put(out, text + from, i - from);
    nai_buf_puts(out, entity);
    from = i + 1;
  }
  nai_buf_put(out, text + from, len - from);
}

/* --- Markdown --------------------------------------------------------------------------------- */

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static bool is_word(char c) { return is_letter(c) || is_digit(c); }

static bool is_punctuation(char c) {
  return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

/* A byte as Markdown may see it: no line breaks, tabs or other controls, which would act on the line. */
static char plain(char c) { return ((unsigned char)c < ' ' && c != '\0') || c == 0x7f ? ' ' : c; }

/* Whether a block construct could start where `out` ends: since the line break there are only blanks and the marks
 * of quotes, lists and tasks around. Long runs of those count as a line start without looking further. */
static bool at_line_start(const struct nai_buf *out) {
  enum { LOOK_BACK = 64 };
  for (size_t i = 0; i < out->len && i < LOOK_BACK; i++) {
    char c = out->data[out->len - 1 - i];
    if (c == '\n' || c == '\r')
      return true;
    if (!is_digit(c) && !strchr(" \t>-+*.)", c))
      return false;
  }
  return true;
}

/* The text being escaped. What follows it is not known and shown as NUL. */
struct span {
  const char *text;
  size_t len;
  char before[4]; /* the last bytes in front of it, NUL where there are none */
};

static char char_at(const struct span *s, size_t i) { return i < s->len ? plain(s->text[i]) : '\0'; }

/* The character `back` places in front of the one at i. */
static char char_before(const struct span *s, size_t i, size_t back) {
  return i >= back ? plain(s->text[i - back]) : plain(s->before[sizeof s->before - (back - i)]);
}

/* Whether `word`, in lower case, stands in front of the character at i. */
static bool follows(const struct span *s, size_t i, const char *word) {
  for (size_t len = strlen(word), k = 0; k < len; k++)
    if ((char_before(s, i, len - k) | 0x20) != word[k])
      return false;
  return true;
}

/* Whether the character at `i`, the first of its line, would make a block. */
static bool acts_at_line_start(const struct span *s, size_t i) {
  char c = char_at(s, i), next = char_at(s, i + 1);
  switch (c) {
  case '#':
    return true;
  case '-':
    return next == '\0' || next == ' ' || next == '-' || next == ':' || next == '|';
  case '+':
    return next == '\0' || next == ' ';
  case ':':
    return next == '\0' || next == '-';
  case '>':
  case '=':
    return true;
  default:
    return false;
  }
}

/* Whether GitHub would act on the character after Markdown is done, where a backslash no longer helps. */
static bool acts_after_markdown(const struct span *s, size_t i) {
  char next = char_at(s, i + 1);
  switch (s->text[i]) {
  case '@': /* a mention, a mail address */
    return next != ' ';
  case '#': /* an issue */
    return next == '\0' || is_digit(next);
  case '-': /* an issue, GH-123 */
    return (next == '\0' || is_digit(next)) && follows(s, i, "gh") && !is_word(char_before(s, i, 3));
  case '$': /* a formula */
    return true;
  default:
    return false;
  }
}

/* A run of underscores between words is text, so is a run of either mark between blanks. */
static bool run_acts(const struct span *s, size_t from, size_t to) {
  char before = char_before(s, from, 1), after = char_at(s, to);
  if (before == ' ' && after == ' ')
    return false;
  return s->text[from] == '*' || !is_word(before) || !is_word(after);
}

/* What stands for the character at `i` when it would act inline, else NULL. Entities rather than backslashes for < and
 * & because they hold inside of HTML blocks, too. */
static const char *inline_escape(const struct span *s, size_t i) {
  char next = char_at(s, i + 1);
  bool last = i + 1 == s->len;
  switch (s->text[i]) {
  case '\0':
    return "\xef\xbf\xbd";
  case '\\':
    return last || is_punctuation(next) ? "\\\\" : NULL;
  case '`':
    return "\\`";
  case '[':
    return "\\[";
  case ']':
    return "\\]";
  case '|':
    return "\\|";
  case '~':
    return "\\~";
  case '<':
    return last || is_letter(next) || next == '/' || next == '!' || next == '?' ? "&lt;" : NULL;
  case '&':
    return last || is_word(next) || next == '#' ? "&amp;" : NULL;
  case '!':
    return last ? "\\!" : NULL;
  case ':':
    return last || next == '/' ? "\\:" : NULL;
  case '.':
    return follows(s, i, "www") ? "\\." : NULL;
  default:
    return NULL;
  }
}

void nai_escape_markdown(struct nai_buf *out, const char *text, size_t len) {
  struct span s = {.text = text, .len = len};
  for (size_t k = 1; k <= sizeof s.before && k <= out->len; k++)
    s.before[sizeof s.before - k] = out->data[out->len - k];
  bool number_start = at_line_start(out); /* up to here the line may be the number of a list item */
  bool in_code = false;                   /* inside a code span for characters that act after Markdown */
  size_t run_end = 0;                     /* of the run of _ or * examined last */
  bool run_escaped = false;
  size_t mark = out->len == 0 && len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
  nai_buf_puts(out, mark ? "&#65279;" : ""); /* readers skip a byte order mark: the line would start behind it */
  for (size_t i = mark; i < len; i++) {
    bool line_start = number_start && i == 0, code = acts_after_markdown(&s, i);
    char c = char_at(&s, i), next = char_at(&s, i + 1);
    if ((c == '_' || c == '*') && i >= run_end) {
      for (run_end = i + 1; run_end < len && text[run_end] == c;)
        run_end++;
      run_escaped = line_start || run_acts(&s, i, run_end);
    }
    bool marked = ((c == '_' || c == '*') && run_escaped) || (line_start && acts_at_line_start(&s, i)) ||
                  (number_start && (c == '.' || c == ')') && (next == '\0' || next == ' '));
    const char *escape = marked ? NULL : inline_escape(&s, i);
    if (code != in_code)
      nai_buf_putc(out, '`');
    in_code = code;
    if (marked && !code)
      nai_buf_putc(out, '\\');
    if (c == ' ' && text[i] != '\0' && (line_start || (i + 1 == len && char_before(&s, i, 1) == ' ')))
      nai_buf_puts(out, "&#32;"); /* neither an indented code block nor a hard line break */
    else if (escape && !code)
      nai_buf_puts(out, escape);
    else
      nai_buf_putc(out, c);
    number_start = number_start && is_digit(c);
  }
  if (in_code)
    nai_buf_putc(out, '`');
}

/* --- code spans ------------------------------------------------------------------------------- */

/* The shortest run of backticks that does not occur in the text. */
static size_t fence_length(const char *text, size_t len) {
  uint64_t seen = 1;
  size_t longest = 0;
  for (size_t i = 0, run = 0; i <= len; i++) {
    if (i < len && text[i] == '`') {
      run++;
      continue;
    }
    if (run < 64)
      seen |= (uint64_t)1 << run;
    longest = run > longest ? run : longest;
    run = 0;
  }
  return ~seen ? (size_t)__builtin_ctzll(~seen) : longest + 1;
}

static void put_fence(struct nai_buf *out, size_t length) {
  for (size_t i = 0; i < length && !nai_buf_failed(out); i++)
    nai_buf_putc(out, '`');
}

static void put_code_span(struct nai_buf *out, const char *text, size_t len) {
  size_t fence = fence_length(text, len), blanks = 0;
  while (blanks < len && plain(text[blanks]) == ' ' && text[blanks] != '\0')
    blanks++;
  bool outer_blanks = plain(text[0]) == ' ' && plain(text[len - 1]) == ' ';
  /* A blank on both sides is taken off by the reader, so that a span can begin or end with a backtick. */
  bool pad = text[0] == '`' || text[len - 1] == '`' || (outer_blanks && blanks < len);
  put_fence(out, fence);
  if (pad)
    nai_buf_putc(out, ' ');
  for (size_t i = 0; i < len; i++) {
    if (text[i] == '\0')
      nai_buf_puts(out, "\xef\xbf\xbd");
    else
      nai_buf_putc(out, plain(text[i]));
  }
  if (pad)
    nai_buf_putc(out, ' ');
  put_fence(out, fence);
}

void nai_escape_markdown_code(struct nai_buf *out, const char *text, size_t len) {
  const char *end = text + len;
  while (text < end) {
    const char *pipe = memchr(text, '|', (size_t)(end - text));
    size_t part = (size_t)((pipe ? pipe : end) - text);
    if (part)
      put_code_span(out, text, part);
    if (pipe)
      nai_buf_puts(out, "\\|");
    text += part + (pipe != NULL);
  }
}

/* --- scripts, spreadsheets, terminals --------------------------------------------------------- */

void nai_escape_script_json(struct nai_buf *out, const char *json, size_t len) {
  size_t from = 0;
  for (size_t i = 0; i < len; i++) {
    unsigned char c = (unsigned char)json[i];
    bool separator =
        c == 0xe2 && len - i >= 3 && (unsigned char)json[i + 1] == 0x80 && ((unsigned char)json[i + 2] & 0xfe) == 0xa8;
    if (c != '<' && c != '>' && c != '&' && !separator)
      continue;
    nai_buf_put(out, json + from, i - from);
    nai_buf_printf(out, "\\u%04x", separator ? 0x2000u | ((unsigned char)json[i + 2] & 0x3fu) : c);
    i += separator ? 2 : 0;
    from = i + 1;
  }
  nai_buf_put(out, json + from, len - from);
}

void nai_escape_hidden_json(struct nai_buf *out, const char *json, size_t len) {
  bool clean = nai_text_is_clean(json, len); /* as most are */
  if (clean)
    nai_buf_put(out, json, len);
  for (size_t i = clean ? len : 0, n; i < len; i += n) {
    uint32_t c;
    n = nai_text_hidden(&c, json + i, len - i);
    if (n && c <= 0xffff)
      nai_buf_printf(out, "\\u%04x", c);
    else
      nai_buf_put(out, json + i, n = n ? n : 1);
  }
}

void nai_escape_csv_guard(struct nai_buf *out, const char *text, size_t len) {
  static const char first[] = {'=', '+', '-', '@', '\t', '\r', '\n'};
  if (len && memchr(first, text[0], sizeof first))
    nai_buf_putc(out, '\'');
  nai_buf_put(out, text, len);
}

void nai_escape_terminal(struct nai_buf *out, const char *text, size_t len) {
  NAI_SCOPED(nai_buf) clean = {0};
  nai_text_clean(&clean, text, len);
  size_t at = out->len;
  while (at > 0 && (out->data[at - 1] == ' ' || out->data[at - 1] == ':'))
    at--;
  bool line_start = at == 0 || out->data[at - 1] == '\n' || out->data[at - 1] == '\r';
  char previous = out->len ? out->data[out->len - 1] : '\0';
  for (size_t i = 0; i < clean.len; i++) {
    char c = clean.data[i];
    if ((c == '#' && previous == '#') || (c == ':' && previous == ':' && line_start))
      nai_buf_putc(out, ' ');
    nai_buf_putc(out, c);
    line_start &= c == ' ' || c == ':';
    previous = c;
  }
  out->oom |= clean.oom;
}

void nai_escape_url(struct nai_buf *out, const char *path, size_t len) {
  for (size_t i = 0; i < len; i++) {
    unsigned char c = (unsigned char)path[i];
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr("/-._~=,+@", c))
      nai_buf_putc(out, (char)c);
    else
      nai_buf_printf(out, "%%%02X", c);
  }
}
