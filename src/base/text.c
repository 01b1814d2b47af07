#include "base/text.h"

/* Length of the valid UTF-8 sequence at s (RFC 3629), 0 when invalid; *cp receives the code point. */
static size_t decode(const unsigned char *s, size_t len, uint32_t *cp) {
  if (s[0] < 0x80) {
    *cp = s[0];
    return 1;
  }
  size_t n = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
  if (s[0] < 0xc2 || s[0] > 0xf4 || n > len)
    return 0;
  uint32_t c = s[0] & (0x7fu >> n);
  for (size_t i = 1; i < n; i++) {
    if ((s[i] & 0xc0) != 0x80)
      return 0;
    c = c << 6 | (s[i] & 0x3f);
  }
  static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (c < smallest[n] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
    return 0;
  *cp = c;
  return n;
}

static bool is_space(uint32_t c) { return (c >= 9 && c <= 13) || c == 0x85 || c == 0x2028 || c == 0x2029; }

/* Characters a reader cannot see or that reorder the line around them. */
static bool is_hidden(uint32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xad || c == 0x61c || c == 0x180e ||
         (c >= 0x200b && c <= 0x200f) || (c >= 0x202a && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff ||
         (c >= 0xfff9 && c <= 0xfffb) || (c >= 0xfe00 && c <= 0xfe0f) || (c >= 0xe0000 && c <= 0xe0fff) ||
         (c & 0xfffe) == 0xfffe;
}

bool nai_text_is_clean(const char *text, size_t len) {
  const unsigned char *s = (const unsigned char *)text;
  size_t i = 0;
  while (i < len) {
    if (len - i >= 8) {
      uint64_t w;
      memcpy(&w, s + i, 8);
      const uint64_t ones = 0x0101010101010101u, high = ones * 0x80;
      /* no byte >= 0x80, none < 0x20, none == 0x7f */
      uint64_t below = (w - ones * 0x20) & ~w, del = w ^ ones * 0x7f;
      if (!((w | below | ((del - ones) & ~del)) & high)) {
        i += 8;
        continue;
      }
    }
    uint32_t c;
    size_t n = decode(s + i, len - i, &c);
    if (!n || is_space(c) || is_hidden(c))
      return false;
    i += n;
  }
  return true;
}

size_t nai_text_hidden(uint32_t *c, const char *text, size_t len) {
  size_t n = len ? decode((const unsigned char *)text, len, c) : 0;
  return n && (is_space(*c) || is_hidden(*c)) ? n : 0;
}

void nai_text_clean(struct nai_buf *out, const char *text, size_t len) {
  const unsigned char *s = (const unsigned char *)text;
  for (size_t i = 0; i < len;) {
    uint32_t c;
    size_t n = decode(s + i, len - i, &c);
    if (!n) {
      nai_buf_puts(out, "\xef\xbf\xbd");
      n = 1;
    } else if (is_space(c)) {
      nai_buf_putc(out, ' ');
    } else if (is_hidden(c)) {
      nai_buf_printf(out, "\\u{%x}", c);
    } else {
      nai_buf_put(out, s + i, n);
    }
    i += n;
  }
}

void nai_text_repair(struct nai_buf *out, const char *text, size_t len) {
  const unsigned char *s = (const unsigned char *)text;
  for (size_t i = 0, n; i < len; i += n ? n : 1) {
    uint32_t c;
    n = decode(s + i, len - i, &c);
    nai_buf_put(out, n ? text + i : "\xef\xbf\xbd", n ? n : 3);
  }
}

size_t nai_text_prefix(const char *text, size_t len, size_t max) {
  if (len <= max)
    return len;
  while (max > 0 && ((unsigned char)text[max] & 0xc0) == 0x80)
    max--;
  return max;
}

bool nai_text_is_one(const char *text, size_t len, const char *const *words) {
  while (*words && !(strlen(*words) == len && memcmp(*words, text, len) == 0))
    words++;
  return *words;
}

bool nai_text_begins(const char *text, const char *const *words) {
  while (*words && strncmp(text, *words, strlen(*words)) != 0)
    words++;
  return *words;
}

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

void nai_text_fold_digits(struct nai_buf *out, const char *text) {
  while (*text) {
    size_t digits = strspn(text, "0123456789");
    char after = text[digits];
    bool dimensions = digits && (after == 'd' || after == 'D') && !is_letter(text[digits + 1]);
    if (digits && !dimensions)
      nai_buf_putc(out, '#');
    else
      nai_buf_put(out, text, digits ? digits : 1);
    text += digits ? digits : 1;
  }
}

enum { DISTANCE_MAX = 64 };

int nai_text_distance(const char *a, const char *b) {
  int la = (int)strnlen(a, DISTANCE_MAX), lb = (int)strnlen(b, DISTANCE_MAX);
  int rows[3][DISTANCE_MAX + 1];
  int *before = rows[0], *last = rows[1], *now = rows[2];
  for (int j = 0; j <= lb; j++)
    last[j] = j;
  for (int i = 1; i <= la; i++) {
    now[0] = i;
    for (int j = 1; j <= lb; j++) {
      int best = last[j - 1] + (a[i - 1] != b[j - 1]);
      if (last[j] + 1 < best)
        best = last[j] + 1;
      if (now[j - 1] + 1 < best)
        best = now[j - 1] + 1;
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before[j - 2] + 1 < best)
        best = before[j - 2] + 1;
      now[j] = best;
    }
    int *spare = before;
    before = last;
    last = now;
    now = spare;
  }
  return last[lb];
}

const char *nai_text_suggest(const char *word, const char *const *candidates, size_t count) {
  const char *best = NULL;
  int nearest = (int)(strnlen(word, DISTANCE_MAX) / 3) + 1;
  for (size_t i = 0; i < count; i++) {
    int distance = nai_text_distance(word, candidates[i]);
    if (distance < nearest + (best == NULL)) {
      nearest = distance;
      best = candidates[i];
    }
  }
  return best;
}

/* Eight bytes at a time: those that go on with a character have 10 as their upper bits. */
size_t nai_text_chars(const char *text, size_t len) {
  size_t n = len, i = 0;
  for (uint64_t w; i + 8 <= len; i += 8) {
    memcpy(&w, text + i, 8);
    n -= (size_t)((w >> 7 & ~w >> 6 & 0x0101010101010101u) * 0x0101010101010101u >> 56);
  }
  for (; i < len; i++)
    n -= ((unsigned char)text[i] & 0xc0) == 0x80;
  return n;
}

/* Bytes of the first n code points. */
static size_t prefix(const char *text, size_t len, size_t n) {
  size_t i = 0;
  while (i < len && (n > 0 || ((unsigned char)text[i] & 0xc0) == 0x80))
    n -= ((unsigned char)text[i++] & 0xc0) != 0x80;
  return i;
}

void nai_text_cut(struct nai_buf *out, const char *text, size_t len, size_t max) {
  size_t total = nai_text_chars(text, len);
  if (total <= max) {
    nai_buf_put(out, text, len);
    return;
  }
  nai_buf_put(out, text, prefix(text, len, max / 2));
  nai_buf_puts(out, "\xe2\x80\xa6");
  size_t skip = prefix(text, len, total - (max - max / 2 - 1));
  nai_buf_put(out, text + skip, len - skip);
}

/* Whether the blank there stands between a number and its unit. */
static bool is_before_unit(const char *text, size_t len, size_t blank) {
  static const char *const units[] = {"%", "ns",  "\u00b5s", "ms",  "s",   "min",  "h",
                                      "B", "KiB", "MiB",     "GiB", "TiB", "GB/s", NULL};
  size_t end = blank + 1;
  while (end < len && text[end] != ' ' && !strchr(",;:.)", text[end]))
    end++;
  return blank && text[blank - 1] >= '0' && text[blank - 1] <= '9' &&
         nai_text_is_one(text + blank + 1, end - blank - 1, units);
}

static void wrap_line(struct nai_buf *out, const char *text, size_t len, int indent, int width) {
  int column = 0;
  for (size_t at = 0, end; at < len; at = end) {
    size_t blanks = at;
    while (blanks < len && text[blanks] == ' ')
      blanks++;
    for (end = blanks; end < len && (text[end] != ' ' || is_before_unit(text, len, end));)
      end++;
    int chars = (int)nai_text_chars(text + blanks, end - blanks);
    bool fits = !width || !column || column + (int)(blanks - at) + chars <= width;
    nai_buf_printf(out, fits ? "%*s" : "\n%*s", fits ? (int)(blanks - at) : indent, "");
    nai_buf_put(out, text + blanks, end - blanks);
    column = (fits ? column + (int)(blanks - at) : indent) + chars;
  }
  nai_buf_putc(out, '\n');
}

void nai_text_wrap(struct nai_buf *out, const char *text, size_t len, int indent, int width) {
  const char *end = text + len, *next;
  for (; (next = memchr(text, '\n', (size_t)(end - text))); text = next + 1)
    wrap_line(out, text, (size_t)(next - text), indent, width);
  wrap_line(out, text, (size_t)(end - text), indent, width);
}
