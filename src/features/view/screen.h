/* A picture of the terminal: cells with a character, attributes and a colour each. Everything is drawn into one; what
 * shows it (display.c) or prints it (nai_screen_text) knows nothing of what it means. Internal to src/features/view. */
#pragma once

#include "base/buf.h"

enum nai_attribute { NAI_BOLD = 1, NAI_REVERSE = 2, NAI_DIM = 4, NAI_UNDERLINE = 8 };
enum { NAI_COLORS = 7 }; /* 0 is the terminal's own, then red, green, yellow, blue, magenta, cyan */

struct nai_glyph {
  uint32_t character; /* Unicode; 0 in the right half of a wide one */
  uint8_t attributes; /* enum nai_attribute */
  uint8_t color;
};

struct nai_screen {
  int width, height;
  bool ascii;              /* nothing else is drawn */
  struct nai_glyph *cells; /* row by row */
  bool oom;                /* a text is missing, or a part of it */
};

/* Blank, of that size: at least one cell, at most NAI_SCREEN_MOST a side. */
enum { NAI_SCREEN_MOST = 10000 };
NAI_MUST_CHECK int nai_screen_new(struct nai_screen *screen, int width, int height, bool ascii, struct nai_err *err);
void nai_screen_free(struct nai_screen *screen);

/* A cell, NULL outside. */
struct nai_glyph *nai_screen_cell(const struct nai_screen *screen, int y, int x);
/* Draws text from (y, x) on, at most `room` columns of it, and returns how many it took. Any bytes are safe: controls
 * and invisible characters are shown by their number, characters without a width of their own are left out, wide ones
 * take two columns or, where only one is left, none. What did not fit is shown by an ellipsis. */
int nai_screen_put(struct nai_screen *screen, int y, int x, int room, const char *text, uint8_t attributes,
                   uint8_t color);
/* One character, which has one column. */
void nai_screen_set(struct nai_screen *screen, int y, int x, uint32_t character, uint8_t attributes, uint8_t color);
/* Blank cells. */
void nai_screen_fill(struct nai_screen *screen, int y, int x, int width, uint8_t attributes);
/* Columns that a text takes. */
int nai_screen_width(struct nai_screen *screen, const char *text);
/* Frees a text that was drawn, and notes whether all of it was there. */
void nai_screen_drop(struct nai_screen *screen, struct nai_buf *text);

/* Appends rows [first, end) as lines without blanks at their ends: characters only. Where a text is missing, memory has
 * run out for `out`, too: what is looked at may have holes, what is printed may not. */
void nai_screen_text(struct nai_buf *out, const struct nai_screen *screen, int first, int end);
