/* The state of a view, and the functions that change and draw parts of it. Internal to src/features/view. */
#pragma once

#include "features/view/scene.h"
#include "features/view/screen.h"
#include "features/view/range_lines.h"
#include "features/view/view.h"

enum { NAI_MIN_WIDTH = 40, NAI_MIN_HEIGHT = 10, NAI_PANEL_ROWS = 6 };

/* value * part / whole, rounded down, of numbers whose product may not fit; whole > 0. */
static inline int64_t nai_scale(int64_t value, int64_t part, int64_t whole) {
  __extension__ __int128 product = value;
  product *= part;
  int64_t quotient = (int64_t)(product / whole);
  return quotient - (product < 0 && product % whole != 0);
}

/* What is looked at: comes back with ` and Esc. */
struct nai_position {
  int64_t start, end, at; /* the window and the cursor in it, ns */
  uint32_t row;
};

/* Where `s` or `S` led last: they go on from there as long as it is what is selected, in the same row. */
struct nai_by_length {
  uint32_t row, events; /* events: how many of them are shown; 0: neither was pressed yet */
  uint32_t event, rank; /* rank: from 1, the longest, on */
  int64_t at;
};

struct nai_bookmark {
  struct nai_position position;
  const char *label;
};

enum nai_overlay { NAI_OVERLAY_NONE, NAI_OVERLAY_HELP, NAI_OVERLAY_CONFIG, NAI_OVERLAY_BOOKMARKS, NAI_OVERLAY_EXPLAIN };

/* A line that is being typed. */
struct nai_prompt {
  char key; /* '/', 'm', 'g', 'w'; 0 for none */
  char text[256];
  size_t len;
};

/* What the configuration panel changes. */
enum nai_setting {
  NAI_SET_SELECTED_ROWS,
  NAI_SET_OTHER_ROWS,
  NAI_SET_TICKS,
  NAI_SET_DEPTH,
  NAI_SET_MIN_US,
  NAI_SETTINGS
};

enum { NAI_BACK_MOST = 64, NAI_BOOKMARKS_MOST = 99 };

struct nai_term {
  const struct nai_term_options *options;
  const struct nai_key_use *keys; /* nai_key_uses */
  struct nai_scene scene;
  struct nai_tree tree;
  int width, height;

  struct nai_position now;
  uint32_t top;                   /* the first row on the screen */
  int64_t range_start, range_end; /* INT64_MIN: not set */
  struct nai_position back[NAI_BACK_MOST];
  int back_count;
  struct nai_position launched; /* where `l` came from */
  bool jumped;
  struct nai_by_length by_length;
  size_t place; /* the finding's place shown last + 1 */

  bool in_tree, tree_hides_times, full_names, relative, logical;
  int settings[NAI_SETTINGS];
  enum nai_overlay overlay;
  int overlay_top, overlay_left, overlay_row;
  struct nai_buf overlay_text, subject; /* what is to be explained next */
  struct nai_prompt prompt;
  struct nai_buf message, last_words;
  struct nai_bookmark bookmarks[NAI_BOOKMARKS_MOST];
  uint32_t bookmark_count, bookmark_at;
  struct nai_arena arena; /* of their labels */
  bool cursor, done;
  struct {
    bool held;
    int y, x;
  } press;
};

/* --- layout.c: what is where ----------------------------------------------------------------------------- */

struct nai_term_places {
  int label;             /* columns of labels */
  int x, columns;        /* of the plot */
  int y, rows;           /* of its rows */
  int axis;              /* row of the axis */
  int panel, panel_rows; /* of the details */
  int last;              /* row of keys and messages */
};
struct nai_term_places nai_term_layout(const struct nai_term *view);
/* The time at which a column begins; column `columns` is the window's end. */
int64_t nai_term_column_time(const struct nai_term *view, int column, int columns);
int nai_term_time_column(const struct nai_term *view, int64_t t, int columns); /* may lie outside */
/* Whether the row is shown at all (depths are limited), and its height. */
bool nai_term_shows(const struct nai_term *view, uint32_t row);
int nai_term_row_height(const struct nai_term *view, uint32_t row);
/* The row at a line of the plot; count for none. */
uint32_t nai_term_row_at(const struct nai_term *view, int line);
uint32_t nai_term_step_row(const struct nai_term *view, uint32_t row, int by); /* up or down, at the ends it stays */
void nai_term_scroll(struct nai_term *view); /* so that the selected row is in sight */

/* --- move.c: the window and the cursor ---------------------------------------------------------------- */

void nai_term_window(struct nai_term *view, int64_t start, int64_t end); /* within the trace */
void nai_term_pan(struct nai_term *view, int64_t ns);                    /* window and cursor */
void nai_term_zoom(struct nai_term *view, int64_t around, bool in);
void nai_term_go(struct nai_term *view, int64_t t);                     /* the cursor, and the window if it has to */
void nai_term_go_to(struct nai_term *view, int64_t start, int64_t end); /* so that all of it is seen */
void nai_term_push(struct nai_term *view);                              /* remembers the position */
bool nai_term_pop(struct nai_term *view);
/* The selected event; count of the row's spans for none. */
uint32_t nai_term_event(const struct nai_term *view);
const struct nai_row *nai_term_row(const struct nai_term *view);                      /* NULL without rows */
uint32_t nai_term_find_row(const struct nai_term *view, int64_t device, int64_t pid); /* count for none */
void nai_term_say(struct nai_term *view, const char *fmt, ...) NAI_PRINTF(2, 3);

/* --- jump.c: to other events; the key says which way --------------------------------------------------- */

void nai_term_snap(struct nai_term *view, uint32_t key);
void nai_term_same_name(struct nai_term *view, uint32_t key);
void nai_term_by_length(struct nai_term *view, uint32_t key);
void nai_term_launch(struct nai_term *view);
void nai_term_finding(struct nai_term *view, uint32_t key);
void nai_term_next_gpu(struct nai_term *view);
void nai_term_switch(struct nai_term *view); /* timeline <-> tree */

/* --- bookmarks.c -------------------------------------------------------------------------------------- */

void nai_term_bookmark(struct nai_term *view);
void nai_term_go_bookmark(struct nai_term *view, uint32_t number);
void nai_term_cycle_bookmark(struct nai_term *view, uint32_t key);
NAI_MUST_CHECK int nai_bookmarks_load(struct nai_term *view, struct nai_err *err);

/* --- keys.c ------------------------------------------------------------------------------------------- */

enum nai_key_place { NAI_IN_TIMELINE = 1, NAI_IN_TREE = 2 };
struct nai_key_use {
  int places;        /* enum nai_key_place */
  const char *names; /* for people: "Left Right" */
  uint32_t keys[6];
  const char *does;
  void (*act)(struct nai_term *view); /* one of these three */
  void (*act_on)(struct nai_term *view, uint32_t key);
  size_t toggles; /* offset of a bool */
};
extern const struct nai_key_use nai_key_uses[]; /* ends with does == NULL */

/* prompts.c: lines that are typed */
void nai_prompt_open(struct nai_term *view, char key);
NAI_MUST_CHECK int nai_prompt_key(struct nai_term *view, uint32_t key, struct nai_err *err);

/* overlays.c: panels over the rows */
void nai_overlay_open(struct nai_term *view, enum nai_overlay overlay);
/* *taken: the panel scrolled, changed something, or was closed. Any other key closes it, too, and is still to be acted
 * on: were the / of a filter lost, its text would run as commands. */
NAI_MUST_CHECK int nai_overlay_key(bool *taken, struct nai_term *view, uint32_t key, struct nai_err *err);
void nai_overlay_draw(struct nai_screen *screen, const struct nai_term *view);
NAI_MUST_CHECK int nai_term_set(struct nai_term *view, enum nai_setting setting, int value, struct nai_err *err);

/* --- drawing ------------------------------------------------------------------------------------------ */

/* One row over a width of columns: of the plot's cells, and of its height. */
void nai_draw_row(struct nai_screen *screen, const struct nai_term *view, uint32_t row, int y, int x, int columns,
                  int height);
void nai_draw_axis(struct nai_screen *screen, const struct nai_term *view, int y, int x, int columns);
void nai_draw_panel(struct nai_screen *screen, const struct nai_term *view, int y, int rows);
void nai_draw_tree(struct nai_screen *screen, const struct nai_term *view, int y, int rows);
void nai_draw_header(struct nai_screen *screen, const struct nai_term *view, int y);

/* texts.c: "60.251234 s", with as many places as the window asks for; without the unit, with as many as the step does
 */
void nai_print_time(struct nai_buf *out, const struct nai_term *view, int64_t t);
void nai_print_tick(struct nai_buf *out, const struct nai_term *view, int64_t t, int64_t step);
void nai_draw_legend(struct nai_buf *out);
