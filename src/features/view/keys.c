/* What keys do: one table, which the help, the documentation and the tests are made from. */
#include "features/view/state.h"

#include "base/fmt.h"

/* --- timeline ----------------------------------------------------------------------------------------- */

static int64_t columns_ns(const struct nai_term *v, int columns) {
  int all = nai_term_layout(v).columns;
  int64_t ns = nai_scale(v->now.end - v->now.start, columns, all > 0 ? all : 1);
  return ns > 0 ? ns : 1;
}

static void pan(struct nai_term *v, uint32_t key) {
  nai_term_pan(v, key == NAI_KEY_LEFT ? -columns_ns(v, 1) : columns_ns(v, 1));
}

static void page(struct nai_term *v, uint32_t key) {
  int64_t ns = columns_ns(v, nai_term_layout(v).columns / 4);
  nai_term_pan(v, key == NAI_KEY_SHIFT_LEFT || key == NAI_KEY_PAGE_UP ? -ns : ns);
}

static void select_row(struct nai_term *v, uint32_t key) {
  v->now.row = nai_term_step_row(v, v->now.row, key == NAI_KEY_UP || key == 'k' ? -1 : 1);
  nai_term_scroll(v);
}

static void zoom(struct nai_term *v, uint32_t key) { nai_term_zoom(v, v->now.at, key == '+' || key == '='); }

static void go_end(struct nai_term *v, uint32_t key) {
  nai_term_push(v);
  nai_term_go(v, key == NAI_KEY_HOME ? v->scene.first : v->scene.last - 1);
}

/* What the GPUs did, or, when that is what is shown, everything. */
static void fit(struct nai_term *v) {
  const struct nai_model *m = v->scene.m;
  nai_term_push(v);
  bool whole = m->window_end <= m->window_start || (v->now.start == m->window_start && v->now.end == m->window_end);
  nai_term_window(v, whole ? v->scene.first : m->window_start, whole ? v->scene.last : m->window_end);
}

static void set_range(struct nai_term *v, uint32_t key) {
  int64_t *edge = key == '[' ? &v->range_start : &v->range_end, *other = key == '[' ? &v->range_end : &v->range_start;
  *edge = v->now.at;
  if (*other != INT64_MIN && v->range_end <= v->range_start)
    *other = INT64_MIN;
}

static void print_trim(struct nai_term *v) {
  bool range = v->range_start != INT64_MIN && v->range_end != INT64_MIN;
  int64_t start = range ? v->range_start : v->now.start, end = range ? v->range_end : v->now.end;
  NAI_SCOPED(nai_buf) line = {0};
  nai_buf_puts(&line, "--trim ");
  nai_fmt_scaled(&line, start, 9);
  nai_buf_putc(&line, ' ');
  nai_fmt_scaled(&line, end, 9);
  nai_term_say(v, "%s%s", nai_buf_str(&line), range ? "" : "   (the window; [ and ] set a range)");
  nai_buf_printf(&v->last_words, "%s\n", nai_buf_str(&line));
}

static void logical(struct nai_term *v) {
  v->logical = !v->logical;
  nai_term_say(v, v->logical ? "every event of the selected row takes the same width" : "time");
}

static void ticks(struct nai_term *v) {
  int *density = &v->settings[NAI_SET_TICKS];
  *density = *density >= 20 ? 2 : *density + 3 > 20 ? 20 : *density + 3;
  nai_term_say(v, "about %d ticks", *density);
}

/* --- tree --------------------------------------------------------------------------------------------- */

static void tree_select(struct nai_term *v, uint32_t key) {
  struct nai_tree *t = &v->tree;
  bool up = key == NAI_KEY_UP || key == 'k' || key == NAI_KEY_PAGE_UP;
  uint32_t by = key == NAI_KEY_PAGE_UP || key == NAI_KEY_PAGE_DOWN ? (uint32_t)(v->height / 2) : 1;
  if (up)
    t->selected -= t->selected < by ? t->selected : by;
  else if (t->line_count)
    t->selected = t->selected + by < t->line_count ? t->selected + by : t->line_count - 1;
}

static void tree_end(struct nai_term *v, uint32_t key) {
  v->tree.selected = key == NAI_KEY_HOME || !v->tree.line_count ? 0 : v->tree.line_count - 1;
}

static void tree_toggle(struct nai_term *v, uint32_t key) {
  bool opens = key == NAI_KEY_RIGHT || key == 'l', closes = key == NAI_KEY_LEFT || key == 'h';
  nai_tree_toggle(&v->tree, !closes, !opens);
}

static void tree_all(struct nai_term *v, uint32_t key) { nai_tree_all(&v->tree, key == 'e'); }
static void tree_depth(struct nai_term *v, uint32_t key) { nai_tree_to_depth(&v->tree, (int)(key - '0')); }

/* --- both --------------------------------------------------------------------------------------------- */

static void open_prompt(struct nai_term *v, uint32_t key) { nai_prompt_open(v, (char)key); }

static void clear(struct nai_term *v) {
  struct nai_err ignored; /* nothing is allocated without a filter */
  int rc = v->in_tree ? nai_tree_filter(&v->tree, NULL, &ignored) : nai_scene_filter(&v->scene, NULL, 0, &ignored);
  if (!v->in_tree)
    v->settings[NAI_SET_MIN_US] = 0;
  nai_term_say(v, rc ? "out of memory" : "no filter");
}

static void back(struct nai_term *v) {
  if (!nai_term_pop(v))
    nai_term_say(v, "there is no earlier place");
}

static void open_overlay(struct nai_term *v, uint32_t key) {
  nai_overlay_open(v, key == '\''  ? NAI_OVERLAY_BOOKMARKS
                      : key == 'C' ? NAI_OVERLAY_CONFIG
                      : key == '?' ? NAI_OVERLAY_EXPLAIN
                                   : NAI_OVERLAY_HELP);
}

static void quit(struct nai_term *v) { v->done = true; }

enum { TIME = NAI_IN_TIMELINE, TREE = NAI_IN_TREE, BOTH = TIME | TREE };
const struct nai_key_use nai_key_uses[] = {
    {TIME, "Left Right", {NAI_KEY_LEFT, NAI_KEY_RIGHT}, "pan by a column", .act_on = pan},
    {TIME, "S-Left S-Right", {NAI_KEY_SHIFT_LEFT, NAI_KEY_SHIFT_RIGHT}, "pan by a quarter", .act_on = page},
    {TIME, "PgUp PgDn", {NAI_KEY_PAGE_UP, NAI_KEY_PAGE_DOWN}, "the same", .act_on = page},
    {TIME, "Up Down k j", {NAI_KEY_UP, NAI_KEY_DOWN, 'k', 'j'}, "select a row", .act_on = select_row},
    {TIME,
     "Tab S-Tab",
     {NAI_KEY_TAB, NAI_KEY_SHIFT_TAB},
     "the next, the previous event of the row",
     .act_on = nai_term_snap},
    {TIME, "N P", {'N', 'P'}, "the next, the previous event of the same name", .act_on = nai_term_same_name},
    {TIME,
     "s S",
     {'s', 'S'},
     "the longest event of the row, then the next longest; back",
     .act_on = nai_term_by_length},
    {TIME, "l", {'l'}, "from an operation to its launch, and back", .act = nai_term_launch},
    {BOTH, "! @", {'!', '@'}, "the next, the previous finding", .act_on = nai_term_finding},
    {TIME, "G", {'G'}, "go to the next GPU", .act = nai_term_next_gpu},
    {TIME, "g", {'g'}, "go to a time, in seconds", .act_on = open_prompt},
    {TIME, "+ = -", {'+', '=', '-'}, "zoom in, out, around the cursor", .act_on = zoom},
    {TIME, "f", {'f'}, "fit what the GPUs did; again: everything", .act = fit},
    {TIME, "Home End", {NAI_KEY_HOME, NAI_KEY_END}, "go to the begin, the end", .act_on = go_end},
    {TIME, "` Esc", {'`', NAI_KEY_ESCAPE}, "back to the previous place", .act = back},
    {TREE, "Up Down k j", {NAI_KEY_UP, NAI_KEY_DOWN, 'k', 'j'}, "select a line", .act_on = tree_select},
    {TREE, "PgUp PgDn", {NAI_KEY_PAGE_UP, NAI_KEY_PAGE_DOWN}, "half a screen", .act_on = tree_select},
    {TREE, "Home End", {NAI_KEY_HOME, NAI_KEY_END}, "the first, the last line", .act_on = tree_end},
    {TREE, "Left h", {NAI_KEY_LEFT, 'h'}, "close a range, or go to the one around it", .act_on = tree_toggle},
    {TREE, "Right l", {NAI_KEY_RIGHT, 'l'}, "open a range", .act_on = tree_toggle},
    {TREE, "Enter Space", {NAI_KEY_ENTER, ' '}, "open or close a range", .act_on = tree_toggle},
    {TREE, "e c", {'e', 'c'}, "open, close all", .act_on = tree_all},
    {TREE, "0 1 2 3 4 5", {'0', '1', '2', '3', '4', '5'}, "open ranges down to that depth", .act_on = tree_depth},
    {TREE, "t", {'t'}, "times on or off", .toggles = offsetof(struct nai_term, tree_hides_times)},
    {BOTH, "v", {'v'}, "timeline or tree, at the same place", .act = nai_term_switch},
    {BOTH, "/", {'/'}, "only kernels (tree: ranges) with this in their name", .act_on = open_prompt},
    {TREE, "F", {'F'}, "the same, while it is typed", .act_on = open_prompt},
    {TIME, "m", {'m'}, "only operations that take so many us or more", .act_on = open_prompt},
    {BOTH, "n", {'n'}, "no filter", .act = clear},
    {BOTH, "d", {'d'}, "kernels by whole or by short names", .toggles = offsetof(struct nai_term, full_names)},
    {TIME, "[ ]", {'[', ']'}, "a range begins, ends at the cursor", .act_on = set_range},
    {TIME, "y", {'y'}, "the --trim of the range or window; printed at the end", .act = print_trim},
    {TIME, "w", {'w'}, "write the window as text to a file", .act_on = open_prompt},
    {TIME, "B", {'B'}, "save a bookmark", .act = nai_term_bookmark},
    {TIME, "'", {'\''}, "list bookmarks; 1 to 9 go there", .act_on = open_overlay},
    {TIME, ", .", {',', '.'}, "the previous, the next bookmark", .act_on = nai_term_cycle_bookmark},
    {TIME,
     "a",
     {'a'},
     "times since the session or since the trace began",
     .toggles = offsetof(struct nai_term, relative)},
    {TIME, "T", {'T'}, "more ticks on the axis", .act = ticks},
    {TIME, "L", {'L'}, "logical order: each event of the row equally wide", .act = logical},
    {TIME, "C", {'C'}, "configure: Up Down select, Left Right change", .act_on = open_overlay},
    {BOTH, "?", {'?'}, "explain what is selected", .act_on = open_overlay},
    {TIME, "h", {'h'}, "this help", .act_on = open_overlay},
    {TREE, "H", {'H'}, "this help", .act_on = open_overlay},
    {BOTH, "q", {'q'}, "quit", .act = quit},
    {0},
};

void nai_term_print_keys(struct nai_buf *out) {
  nai_buf_puts(out, "| key | in | does |\n|---|---|---|\n");
  for (const struct nai_key_use *use = nai_key_uses; use->does; use++) {
    nai_buf_puts(out, "| ");
    for (const char *p = use->names; *p; p += strcspn(p, " ") + (p[strcspn(p, " ")] == ' ')) {
      const char *fence = *p == '`' ? "``" : "`", *pad = *p == '`' ? " " : "";
      nai_buf_printf(out, "%s%s%s%.*s%s%s", p == use->names ? "" : " ", fence, pad, (int)strcspn(p, " "), p, pad,
                     fence);
    }
    nai_buf_printf(out, " | %s | %s |\n",
                   use->places == BOTH   ? "both"
                   : use->places == TIME ? "timeline"
                                         : "tree",
                   use->does);
  }
}

/* --- keys --------------------------------------------------------------------------------------------- */

static const struct nai_key_use *find_use(const struct nai_term *v, uint32_t key) {
  int place = v->in_tree ? NAI_IN_TREE : NAI_IN_TIMELINE;
  for (const struct nai_key_use *use = nai_key_uses; use->does; use++)
    for (size_t i = 0; use->places & place && i < sizeof use->keys / sizeof *use->keys && use->keys[i]; i++)
      if (use->keys[i] == key)
        return use;
  return NULL;
}

/* What the key does, panels and prompts aside. */
static void act(struct nai_term *v, uint32_t key) {
  const struct nai_key_use *use = find_use(v, key);
  if (use && use->act)
    use->act(v);
  else if (use && use->act_on)
    use->act_on(v, key);
  else if (use)
    *((bool *)v + use->toggles) ^= true;
  else if (key > ' ' && key < 0x7f)
    nai_term_say(v, "%c does nothing here; %c shows what keys do", (char)key, v->in_tree ? 'H' : 'h');
}

int nai_term_key(struct nai_term *v, uint32_t key, struct nai_err *err) {
  key = key == '\r' ? NAI_KEY_ENTER : key == '\b' ? NAI_KEY_BACKSPACE : key;
  nai_buf_clear(&v->message);
  v->cursor = true;
  if (v->prompt.key)
    return nai_prompt_key(v, key, err);
  enum nai_overlay open = v->overlay;
  if (open != NAI_OVERLAY_NONE) {
    bool taken;
    NAI_TRY(nai_overlay_key(&taken, v, key, err));
    if (taken)
      return NAI_OK;
  }
  act(v, key);
  if (open != NAI_OVERLAY_NONE && v->overlay == open) /* the key that opens a panel closes it, too */
    v->overlay = NAI_OVERLAY_NONE;
  return NAI_OK;
}
