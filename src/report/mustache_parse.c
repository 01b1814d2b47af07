#include "report/mustache_parse.h"

enum { MAX_DELIMITER = 16, SHOWN_NAME = 64 };

struct parser {
  struct template *t;
  struct nai_arena *arena;
  struct nai_err *err;
  const char *text;
  size_t len;
  char open[MAX_DELIMITER + 1], close[MAX_DELIMITER + 1];
  size_t text_from;           /* start of literal text not yet stored */
  size_t counted, line_start; /* newlines before `counted` are in `line` */
  uint32_t line;
  uint32_t sections[NAI_MUSTACHE_MAX_NESTING];
  int depth;
};

int nai_template_error(const struct template *template, const struct tag *tag, struct nai_err *err, const char *fmt,
                       ...) {
  char message[512];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(message, sizeof message, fmt, ap);
  va_end(ap);
  return nai_err_set(err, NAI_EUSAGE, "%s.mustache:%u:%u: %s", template->name, tag->line, tag->column, message);
}

static bool blank(char c) { return c == ' ' || c == '\t'; }
static bool space(char c) { return blank(c) || c == '\n' || c == '\r'; }

static int add(struct parser *p, const struct tag *tag) {
  struct template *t = p->t;
  NAI_TRY(NAI_ROOM(t->tags, t->capacity, t->count, p->arena, p->err));
  t->tags[t->count++] = *tag;
  return NAI_OK;
}

static bool at_line_start(const struct parser *p, size_t at) { return at == 0 || p->text[at - 1] == '\n'; }

/* Stores literal text, one line a tag. */
static int add_text(struct parser *p, size_t from, size_t to) {
  while (from < to) {
    const char *newline = memchr(p->text + from, '\n', to - from);
    size_t end = newline ? (size_t)(newline - p->text) + 1 : to;
    if (at_line_start(p, from))
      NAI_TRY(add(p, &(struct tag){.kind = TAG_LINE}));
    NAI_TRY(add(p, &(struct tag){.kind = TAG_TEXT, .at = (uint32_t)from, .len = (uint32_t)(end - from)}));
    from = end;
  }
  return NAI_OK;
}

/* Line and column of a place that lies behind the one asked for before. */
static void locate(struct parser *p, struct tag *tag, size_t at) {
  for (; p->counted < at; p->counted++)
    if (p->text[p->counted] == '\n') {
      p->line++;
      p->line_start = p->counted + 1;
    }
  tag->tag_at = (uint32_t)at;
  tag->line = p->line;
  tag->column = (uint32_t)(at - p->line_start) + 1;
}

static size_t find(const struct parser *p, size_t from, const char *what) {
  const char *hit = memmem(p->text + from, p->len - from, what, strlen(what));
  return hit ? (size_t)(hit - p->text) : SIZE_MAX;
}

/* Takes blanks off both ends of [*from, *to). */
static void trim(const struct parser *p, size_t *from, size_t *to) {
  while (*from < *to && space(p->text[*from]))
    ++*from;
  while (*from < *to && space(p->text[*to - 1]))
    --*to;
}

static int bad_name(const struct parser *p, const struct tag *tag, const char *what) {
  int shown = (int)(tag->len < SHOWN_NAME ? tag->len : SHOWN_NAME);
  return nai_template_error(p->t, tag, p->err, "%s: \"%.*s\"", what, shown, p->text + tag->at);
}

static int check_name(const struct parser *p, const struct tag *tag) {
  const char *name = p->text + tag->at;
  if (tag->len == 0)
    return nai_template_error(p->t, tag, p->err, "this tag holds no name");
  bool only_dot = tag->len == 1 && *name == '.' && tag->kind != TAG_PARTIAL;
  for (uint32_t i = 0; i < tag->len && !only_dot; i++) {
    char c = name[i];
    bool part_start = i == 0 || name[i - 1] == (tag->kind == TAG_PARTIAL ? '/' : '.');
    if (space(c) || c == '\0' || (part_start && (c == '.' || c == '/')) || (c == '.' && i + 1 == tag->len))
      return bad_name(p, tag, "not a name");
    bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr("._-/", c);
    if (tag->kind == TAG_PARTIAL && !plain)
      return bad_name(p, tag, "names of templates hold only letters, digits and ._-/");
  }
  return NAI_OK;
}

/* {{=<% %>=}}; [from, to) is what stands between the equals signs. */
static int set_delimiters(struct parser *p, const struct tag *tag, size_t from, size_t to) {
  trim(p, &from, &to);
  size_t open_end = from, close_start = to;
  while (open_end < to && !space(p->text[open_end]))
    open_end++;
  while (close_start > open_end && !space(p->text[close_start - 1]))
    close_start--;
  size_t open_len = open_end - from, close_len = to - close_start;
  size_t gap_from = open_end, gap_to = close_start;
  trim(p, &gap_from, &gap_to);
  if (!open_len || !close_len || close_start == open_end || gap_from != gap_to || open_len > MAX_DELIMITER ||
      close_len > MAX_DELIMITER || memchr(p->text + from, '=', to - from) || memchr(p->text + from, '\0', to - from))
    return nai_template_error(p->t, tag, p->err, "delimiters are set like {{=<%% %%>=}}");
  memcpy(p->open, p->text + from, open_len);
  memcpy(p->close, p->text + close_start, close_len);
  p->open[open_len] = p->close[close_len] = '\0';
  return NAI_OK;
}

static int close_section(struct parser *p, struct tag *tag) {
  if (p->depth == 0)
    return bad_name(p, tag, "closes a section that is not open");
  uint32_t opener = p->sections[--p->depth];
  struct tag *open = &p->t->tags[opener];
  if (open->len != tag->len || memcmp(p->text + open->at, p->text + tag->at, tag->len) != 0)
    return nai_template_error(p->t, tag, p->err, "closes \"%.*s\", but the open section is \"%.*s\" of line %u",
                              (int)(tag->len < SHOWN_NAME ? tag->len : SHOWN_NAME), p->text + tag->at,
                              (int)(open->len < SHOWN_NAME ? open->len : SHOWN_NAME), p->text + open->at, open->line);
  open->pair = p->t->count;
  tag->pair = opener;
  return NAI_OK;
}

static int open_section(struct parser *p, const struct tag *tag) {
  if (p->depth == NAI_MUSTACHE_MAX_NESTING)
    return nai_template_error(p->t, tag, p->err, "sections are nested more than %d deep", NAI_MUSTACHE_MAX_NESTING);
  p->sections[p->depth++] = p->t->count;
  return NAI_OK;
}

/* One tag, whose opening delimiter is at `at`; *next = where parsing goes on. */
static int parse_tag(struct parser *p, size_t at, size_t *next) {
  static const char sigils[] = "#^/>!=&{";
  static const enum tag_kind kinds[] = {TAG_SECTION, TAG_INVERTED, TAG_CLOSE, TAG_PARTIAL, 0, 0, TAG_RAW, TAG_RAW};
  struct tag tag = {.kind = TAG_NAME};
  locate(p, &tag, at);
  size_t from = at + strlen(p->open);
  char sigil = from < p->len ? p->text[from] : '\0';
  const char *known = sigil ? strchr(sigils, sigil) : NULL;
  char closing[MAX_DELIMITER + 2];
  snprintf(closing, sizeof closing, "%s%s", sigil == '{' ? "}" : sigil == '=' ? "=" : "", p->close);
  if (known) {
    tag.kind = kinds[known - sigils];
    from++;
  }
  size_t to = from <= p->len ? find(p, from, closing) : SIZE_MAX;
  if (to == SIZE_MAX)
    return nai_template_error(p->t, &tag, p->err, "this tag is not closed by \"%s\"", closing);
  size_t end = to + strlen(closing), name_to = to;
  /* A tag that prints nothing and has a line for itself takes the whole line with it. */
  size_t before = at, after = end;
  while (before > p->text_from && blank(p->text[before - 1]))
    before--;
  while (after < p->len && blank(p->text[after]))
    after++;
  bool crlf = after + 1 < p->len && p->text[after] == '\r' && p->text[after + 1] == '\n';
  bool standalone = tag.kind != TAG_NAME && tag.kind != TAG_RAW && at_line_start(p, before) &&
                    (after == p->len || p->text[after] == '\n' || crlf);
  NAI_TRY(add_text(p, p->text_from, standalone ? before : at));
  if (!standalone && at_line_start(p, at))
    NAI_TRY(add(p, &(struct tag){.kind = TAG_LINE}));
  *next = p->text_from = !standalone ? end : after + (after < p->len) + crlf;
  if (sigil == '!')
    return NAI_OK;
  if (sigil == '=')
    return set_delimiters(p, &tag, from, to);
  trim(p, &from, &name_to);
  tag.at = (uint32_t)from;
  tag.len = (uint32_t)(name_to - from);
  if (standalone && tag.kind == TAG_PARTIAL)
    tag.indent_bytes = (uint32_t)(at - before);
  NAI_TRY(check_name(p, &tag));
  if (tag.kind == TAG_CLOSE)
    NAI_TRY(close_section(p, &tag));
  else if (tag.kind == TAG_SECTION || tag.kind == TAG_INVERTED)
    NAI_TRY(open_section(p, &tag));
  return add(p, &tag);
}

int nai_template_parse(struct template *template, struct nai_arena *arena, struct nai_err *err) {
  struct parser p = {.t = template,
                     .arena = arena,
                     .err = err,
                     .text = template->text,
                     .len = template->len,
                     .open = "{{",
                     .close = "}}",
                     .line = 1};
  if (p.len > NAI_MUSTACHE_MAX_BYTES)
    return nai_err_set(err, NAI_EUSAGE, "%s.mustache: larger than %d bytes", template->name, NAI_MUSTACHE_MAX_BYTES);
  for (size_t next = 0, at; (at = find(&p, next, p.open)) != SIZE_MAX;)
    NAI_TRY(parse_tag(&p, at, &next));
  NAI_TRY(add_text(&p, p.text_from, p.len));
  return p.depth ? bad_name(&p, &template->tags[p.sections[p.depth - 1]], "section is not closed") : NAI_OK;
}
