#include "features/view/screen.h"

#include "base/escape.h"

#include <wchar.h>

int nai_screen_new(struct nai_screen *screen, int width, int height, bool ascii, struct nai_err *err) {
  width = width < 1 ? 1 : width > NAI_SCREEN_MOST ? NAI_SCREEN_MOST : width;
  height = height < 1 ? 1 : height > NAI_SCREEN_MOST ? NAI_SCREEN_MOST : height;
  *screen = (struct nai_screen){.width = width, .height = height, .ascii = ascii};
  screen->cells = calloc((size_t)width * (size_t)height, sizeof *screen->cells);
  NAI_TRY(nai_memory_check(screen->cells, err));
  for (int i = 0; i < width * height; i++)
    screen->cells[i].character = ' ';
  return NAI_OK;
}

void nai_screen_free(struct nai_screen *screen) {
  free(screen->cells);
  *screen = (struct nai_screen){0};
}

struct nai_glyph *nai_screen_cell(const struct nai_screen *s, int y, int x) {
  return y < 0 || x < 0 || y >= s->height || x >= s->width ? NULL : &s->cells[(size_t)y * (size_t)s->width + (size_t)x];
}

void nai_screen_set(struct nai_screen *s, int y, int x, uint32_t character, uint8_t attributes, uint8_t color) {
  struct nai_glyph *cell = nai_screen_cell(s, y, x), *left = nai_screen_cell(s, y, x - 1),
                   *right = nai_screen_cell(s, y, x + 1);
  if (!cell)
    return;
  if (!cell->character && left) /* half of a wide character does not stay */
    left->character = ' ';
  if (right && !right->character && character)
    right->character = ' ';
  *cell = (struct nai_glyph){character, attributes, color};
}

void nai_screen_fill(struct nai_screen *s, int y, int x, int width, uint8_t attributes) {
  for (int i = 0; i < width; i++)
    nai_screen_set(s, y, x + i, ' ', attributes, 0);
}

/* --- text --------------------------------------------------------------------------------------------- */

/* The next character of clean text. */
static uint32_t next_character(const char **text) {
  const unsigned char *p = (const unsigned char *)*text;
  int more = *p < 0x80 ? 0 : *p < 0xe0 ? 1 : *p < 0xf0 ? 2 : 3;
  uint32_t c = more ? *p & (0x3fu >> more) : *p;
  for (p++; more-- && (*p & 0xc0) == 0x80; p++)
    c = c << 6 | (*p & 0x3f);
  *text = (const char *)p;
  return c;
}

/* How a character is shown, and its columns. */
static int columns_of(const struct nai_screen *s, uint32_t *c) {
  if (*c >= 0x20 && *c < 0x7f)
    return 1;
  int width = s->ascii ? -1 : wcwidth((wchar_t)*c);
  if (width < 0)
    *c = '?';
  return width < 0 ? 1 : width;
}

static int width_of_clean(const struct nai_screen *s, const char *text) {
  int width = 0;
  while (*text && width < NAI_SCREEN_MOST) {
    uint32_t c = next_character(&text);
    width += columns_of(s, &c);
  }
  return width;
}

void nai_screen_drop(struct nai_screen *s, struct nai_buf *text) {
  s->oom |= text->oom;
  nai_buf_free(text);
}

int nai_screen_width(struct nai_screen *s, const char *text) {
  struct nai_buf clean = {0};
  nai_escape_terminal(&clean, text, strlen(text));
  int width = width_of_clean(s, nai_buf_str(&clean));
  nai_screen_drop(s, &clean);
  return width;
}

int nai_screen_put(struct nai_screen *s, int y, int x, int room, const char *text, uint8_t attributes, uint8_t color) {
  struct nai_buf clean = {0};
  int at = 0;
  room = room > s->width - x ? s->width - x : room;
  nai_escape_terminal(&clean, text, strlen(text)); /* when out of memory, a part of it or nothing is shown */
  const char *p = nai_buf_str(&clean);
  bool cut = width_of_clean(s, p) > room;
  while (*p && at < room) {
    uint32_t c = next_character(&p);
    int columns = columns_of(s, &c);
    if (cut && at + columns > room - 1) {
      nai_screen_set(s, y, x + at++, s->ascii ? '~' : 0x2026, attributes, color);
      break;
    }
    if (columns)
      nai_screen_set(s, y, x + at, c, attributes, color);
    if (columns == 2)
      nai_screen_set(s, y, x + at + 1, 0, attributes, color);
    at += columns;
  }
  nai_screen_drop(s, &clean);
  return at;
}

/* --- as lines ----------------------------------------------------------------------------------------- */

static void put_utf8(struct nai_buf *out, uint32_t c) {
  char bytes[4];
  size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
  static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
  for (size_t i = n; i-- > 1; c >>= 6)
    bytes[i] = (char)(0x80 | (c & 0x3f));
  bytes[0] = (char)(lead[n] | c);
  nai_buf_put(out, bytes, n);
}

void nai_screen_text(struct nai_buf *out, const struct nai_screen *s, int first, int end) {
  out->oom |= s->oom;
  for (int y = first; y < end && y < s->height; y++) {
    const struct nai_glyph *row = nai_screen_cell(s, y, 0);
    int last = s->width;
    while (last && row[last - 1].character == ' ')
      last--;
    for (int x = 0; x < last; x++)
      if (row[x].character)
        put_utf8(out, row[x].character);
    nai_buf_putc(out, '\n');
  }
}
