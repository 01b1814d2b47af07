/* Panels over the rows: help, bookmarks, the configuration, what is known of a thing. */
#include "features/view/state.h"

#include "base/fmt.h"

/* --- configuration ------------------------------------------------------------------------------------ */

static const struct {
  const char *name;
  int least, most, step;
} settings[NAI_SETTINGS] = {
    [NAI_SET_SELECTED_ROWS] = {"lines of the selected stream", 1, 6, 1},
    [NAI_SET_OTHER_ROWS] = {"lines of other streams", 1, 4, 1},
    [NAI_SET_TICKS] = {"ticks on the axis", 2, 20, 1},
    [NAI_SET_DEPTH] = {"depths of ranges", 0, NAI_DEPTHS, 1},
    [NAI_SET_MIN_US] = {"shortest operation, \u00b5s", 0, 1000000000, 10},
};

int nai_term_set(struct nai_term *v, enum nai_setting setting, int value, struct nai_err *err) {
  value = value < settings[setting].least ? settings[setting].least : value;
  v->settings[setting] = value > settings[setting].most ? settings[setting].most : value;
  nai_term_scroll(v);
  if (setting != NAI_SET_MIN_US)
    return NAI_OK;
  return nai_scene_filter(&v->scene, v->scene.filter.text, (int64_t)v->settings[setting] * 1000, err);
}

static void print_settings(struct nai_buf *out, const struct nai_term *v) {
  for (int i = 0; i < NAI_SETTINGS; i++)
    nai_buf_printf(out, "%-30s < %d >\n", settings[i].name, v->settings[i]);
}

static int config_key(bool *taken, struct nai_term *v, uint32_t key, struct nai_err *err) {
  int step = settings[v->overlay_row].step, value = v->settings[v->overlay_row];
  if (key == NAI_KEY_UP || key == 'k')
    v->overlay_row -= v->overlay_row > 0;
  else if (key == NAI_KEY_DOWN || key == 'j')
    v->overlay_row += v->overlay_row + 1 < NAI_SETTINGS;
  else if (key == NAI_KEY_LEFT || key == NAI_KEY_RIGHT) {
    int rc = nai_term_set(v, (enum nai_setting)v->overlay_row, key == NAI_KEY_LEFT ? value - step : value + step, err);
    nai_buf_clear(&v->overlay_text);
    print_settings(&v->overlay_text, v);
    return rc;
  } else {
    v->overlay = NAI_OVERLAY_NONE;
    *taken = false;
  }
  return NAI_OK;
}

/* --- texts -------------------------------------------------------------------------------------------- */

static void print_help(struct nai_buf *out, const struct nai_term *v) {
  int place = v->in_tree ? NAI_IN_TREE : NAI_IN_TIMELINE;
  for (const struct nai_key_use *use = v->keys; use->does; use++)
    if (use->places & place)
      nai_buf_printf(out, "%-20s %s\n", use->names, use->does);
  if (v->in_tree)
    return;
  nai_buf_puts(out, "mouse                click selects, drag pans, on the axis sets a range;\n"
                    "                     the wheel zooms, with Shift it pans\n\n"
                    "A cell is as high as the row is busy then; [name 1.2 ms] is one event.\n"
                    "busy: anything runs; work: what most of the time goes to:\n");
  nai_draw_legend(out);
}

static void print_bookmarks(struct nai_buf *out, const struct nai_term *v) {
  for (uint32_t i = 0; i < v->bookmark_count; i++)
    nai_buf_printf(out, "%u  %s\n", i + 1, v->bookmarks[i].label);
  if (!v->bookmark_count)
    nai_buf_puts(out, "There are no bookmarks; B saves one.\n");
}

/* What the thing that is selected is called, where there is a page on it: a kernel, a range, a cause of idle time. */
static void print_subject(struct nai_buf *out, const struct nai_term *v) {
  const struct nai_model *m = v->scene.m;
  const struct nai_row *row = nai_term_row(v);
  if (v->in_tree && v->tree.selected < v->tree.line_count) {
    const struct nai_tree_line *line = &v->tree.lines[v->tree.selected];
    if (line->kind == NAI_LINE_KERNEL)
      nai_buf_puts(out, nai_strings_get(&m->tables[NAI_IN_KERNELS]->strings, v->tree.kernels[line->of].name));
    else if (line->kind == NAI_LINE_RANGE)
      nai_buf_puts(out, nai_strings_get(&m->tables[NAI_IN_NVTX]->strings, m->nodes[line->node].name));
  } else if (!v->in_tree && row->kind == NAI_ROW_GAPS) {
    nai_buf_puts(out, nai_gap_cause(&v->scene, row->gpu, nai_term_event(v)));
  } else if (!v->in_tree &&
             (row->lane == NAI_LANE_KERNEL || row->lane == NAI_LANE_NVTX || row->lane == NAI_LANE_NVTX_ASYNC)) {
    nai_event_name(out, &v->scene, row, nai_term_event(v), true);
  }
}

static const char looking[] = "Looking it up ...\n";

/* All events of the row that have the selected one's name. */
static void print_sums(struct nai_buf *out, const struct nai_term *v, const struct nai_row *row, uint32_t event) {
  const struct nai_spans *s = nai_row_spans(&v->scene, row);
  uint64_t name = nai_event_name_id(&v->scene, row, event);
  int64_t count = 0, total = 0, least = INT64_MAX, most = 0;
  for (uint32_t i = 0; i < s->count; i++) {
    int64_t ns = nai_spans_end(s, i) - nai_spans_start(s, i);
    if (nai_event_name_id(&v->scene, row, i) != name)
      continue;
    count++;
    total += ns;
    least = ns < least ? ns : least;
    most = ns > most ? ns : most;
  }
  nai_event_name(out, &v->scene, row, event, v->full_names);
  nai_buf_puts(out, "\nin this row ");
  nai_fmt_count(out, count);
  nai_buf_puts(out, " of this name: ");
  nai_fmt_duration(out, (double)total);
  nai_buf_puts(out, " together, from ");
  nai_fmt_duration(out, (double)least);
  nai_buf_puts(out, " to ");
  nai_fmt_duration(out, (double)most);
  nai_buf_putc(out, '\n');
}

static void print_how_to_select(struct nai_buf *out, const struct nai_term *v) {
  const struct nai_row *row = nai_term_row(v);
  bool sums = row && (row->kind == NAI_ROW_BUSY || row->kind == NAI_ROW_WORK);
  nai_buf_puts(out, "No event, range or kernel is selected.\n");
  nai_buf_puts(out, v->in_tree ? "Up and Down select a line.\n"
                    : sums     ? "This row sums up a GPU: Up and Down select another, Tab its next event.\n"
                               : "Tab selects the next event of the row, S-Tab the previous one, s the longest.\n");
}

/* What can be said at once; the page, which may take a while in a large trace, follows (nai_term_work). */
static void print_explanation(struct nai_buf *out, struct nai_term *v) {
  const struct nai_row *row = nai_term_row(v);
  uint32_t event = nai_term_event(v);
  bool sums = !v->in_tree && row && row->kind != NAI_ROW_BUSY && row->kind != NAI_ROW_WORK &&
              event < nai_row_spans(&v->scene, row)->count;
  nai_buf_clear(&v->subject);
  if (sums)
    print_sums(out, v, row, event);
  if (sums || v->in_tree)
    print_subject(&v->subject, v);
  if (!sums && !v->subject.len)
    print_how_to_select(out, v);
  if (!v->options->explain)
    nai_buf_clear(&v->subject);
  if (v->subject.len)
    nai_buf_puts(out, looking);
}

bool nai_term_busy(const struct nai_term *v) { return v->overlay == NAI_OVERLAY_EXPLAIN && v->subject.len; }

void nai_term_work(struct nai_term *v) {
  struct nai_err err;
  struct nai_buf *out = &v->overlay_text;
  if (!nai_term_busy(v))
    return;
  out->len -= strlen(looking);
  out->data[out->len] = 0;
  if (v->options->explain(out, v->options->ctx, nai_buf_str(&v->subject), &err))
    nai_buf_printf(out, "%s\n", err.msg);
  nai_buf_clear(&v->subject);
}

/* --- panels ------------------------------------------------------------------------------------------- */

void nai_overlay_open(struct nai_term *v, enum nai_overlay overlay) {
  v->overlay = overlay;
  v->overlay_top = v->overlay_left = v->overlay_row = 0;
  nai_buf_clear(&v->overlay_text);
  if (overlay == NAI_OVERLAY_HELP)
    print_help(&v->overlay_text, v);
  else if (overlay == NAI_OVERLAY_CONFIG)
    print_settings(&v->overlay_text, v);
  else if (overlay == NAI_OVERLAY_BOOKMARKS)
    print_bookmarks(&v->overlay_text, v);
  else if (overlay == NAI_OVERLAY_EXPLAIN)
    print_explanation(&v->overlay_text, v);
}

static int lines_of(const struct nai_buf *text) {
  int lines = 0;
  for (size_t i = 0; i < text->len; i++)
    lines += text->data[i] == '\n';
  return lines + (text->len && text->data[text->len - 1] != '\n');
}

static int shown_lines(const struct nai_term *v) { return v->height - 4; }

/* How far a key scrolls, down and to the right; false: it does not. */
static bool scroll_by(int *down, int *right, uint32_t key, int shown) {
  enum { SIDEWAYS = 16 };
  *down = key == NAI_KEY_DOWN || key == 'j'      ? 1
        : key == NAI_KEY_UP || key == 'k'        ? -1
        : key == NAI_KEY_PAGE_DOWN || key == ' ' ? shown
        : key == NAI_KEY_PAGE_UP                 ? -shown
        : key == NAI_KEY_HOME                    ? -NAI_SCREEN_MOST
        : key == NAI_KEY_END                     ? NAI_SCREEN_MOST
                                                 : 0;
  *right = key == NAI_KEY_RIGHT ? SIDEWAYS : key == NAI_KEY_LEFT ? -SIDEWAYS : 0;
  return *down || *right;
}

static int within(int value, int most) { return value > most ? (most > 0 ? most : 0) : value < 0 ? 0 : value; }

int nai_overlay_key(bool *taken, struct nai_term *v, uint32_t key, struct nai_err *err) {
  int down, right, shown = shown_lines(v);
  *taken = true;
  if (key == NAI_KEY_ESCAPE || key == NAI_KEY_ENTER || key == 'q') {
    v->overlay = NAI_OVERLAY_NONE;
    return NAI_OK;
  }
  if (v->overlay == NAI_OVERLAY_CONFIG)
    return config_key(taken, v, key, err);
  if (v->overlay == NAI_OVERLAY_BOOKMARKS && key >= '1' && key <= '9') {
    v->overlay = NAI_OVERLAY_NONE;
    nai_term_go_bookmark(v, key - '1');
    return NAI_OK;
  }
  if (!scroll_by(&down, &right, key, shown)) {
    v->overlay = NAI_OVERLAY_NONE;
    *taken = false;
    return NAI_OK;
  }
  v->overlay_top = within(v->overlay_top + down, lines_of(&v->overlay_text) - shown);
  v->overlay_left = within(v->overlay_left + right, 1000);
  return NAI_OK;
}

/* Clean text without its first `left` characters. */
static const char *from_character(const char *text, const char *end, int left) {
  for (; left > 0 && text < end; left--)
    do
      text++;
    while (text < end && (*text & 0xc0) == 0x80);
  return text;
}

static void draw_line(struct nai_screen *s, int y, int width, const char *line, size_t len, uint8_t attributes) {
  char text[1024];
  snprintf(text, sizeof text, "%.*s", (int)(len < sizeof text ? len : sizeof text - 1), line);
  nai_screen_fill(s, y, 0, width, attributes);
  nai_screen_put(s, y, 1, width - 2, text, attributes, 0);
}

void nai_overlay_draw(struct nai_screen *s, const struct nai_term *v) {
  static const char *const titles[] = {[NAI_OVERLAY_HELP] = "Keys",
                                       [NAI_OVERLAY_CONFIG] = "Configuration",
                                       [NAI_OVERLAY_BOOKMARKS] = "Bookmarks",
                                       [NAI_OVERLAY_EXPLAIN] = "What is known of it"};
  char title[96];
  int all = lines_of(&v->overlay_text), shown = shown_lines(v), y = 1;
  if (v->overlay == NAI_OVERLAY_NONE)
    return;
  const char *p = nai_buf_str(&v->overlay_text);
  for (int i = 0; i < v->overlay_top; i++)
    p += strcspn(p, "\n") + 1;
  snprintf(title, sizeof title, "%s%s", titles[v->overlay],
           v->overlay == NAI_OVERLAY_CONFIG ? "   (arrows select and change; Esc closes, other keys act)"
           : all > shown                    ? "   (arrows, PgUp, PgDn scroll; Esc closes, other keys act)"
                                            : "   (Esc closes, other keys act)");
  draw_line(s, y++, s->width, title, strlen(title), NAI_REVERSE);
  for (int i = 0; i < shown && *p; i++) {
    size_t len = strcspn(p, "\n");
    const char *from = from_character(p, p + len, v->overlay_left);
    draw_line(s, y++, s->width, from, (size_t)(p + len - from),
              v->overlay == NAI_OVERLAY_CONFIG && i == v->overlay_row ? NAI_REVERSE : 0);
    p += len + (p[len] == '\n');
  }
  draw_line(s, y, s->width, "", 0, 0);
}
