#include "features/view/view.h"

#include "features/view/state.h"

/* --- where to begin ----------------------------------------------------------------------------------- */

/* The first range of that name, by time. */
static int find_range(uint32_t *range, const struct nai_model *m, const char *name, struct nai_err *err) {
  *range = NAI_NO_ROW;
  for (uint32_t r = 0; r < m->nvtx.n; r++)
    if (nai_at_i32(&m->nvtx.kind, r) != NAI_NVTX_MARK && strcmp(nai_model_range_name(m, r), name) == 0 &&
        (*range == NAI_NO_ROW || nai_at(&m->nvtx.start_ns, r) < nai_at(&m->nvtx.start_ns, *range)))
      *range = r;
  return *range != NAI_NO_ROW
           ? NAI_OK
           : nai_err_set(err, NAI_EUSAGE, "--range \"%s\": no range has this name; nsys-ai tree SRC shows the names",
                         name);
}

static int print_outside(const struct nai_term *v, const char *option, struct nai_err *err) {
  NAI_SCOPED(nai_buf) text = {0};
  nai_print_time(&text, v, v->scene.first);
  nai_buf_puts(&text, " to ");
  nai_print_time(&text, v, v->scene.last);
  return nai_err_set(err, NAI_EUSAGE, "%s: nothing of the trace lies there; it has events from %s", option,
                     nai_buf_str(&text));
}

static int begin_at(struct nai_term *v, struct nai_err *err) {
  const struct nai_term_options *o = v->options;
  const struct nai_model *m = v->scene.m;
  int64_t start = m->window_start, end = m->window_end;
  if (o->range) {
    uint32_t range;
    NAI_TRY(find_range(&range, m, o->range, err));
    start = nai_at(&m->nvtx.start_ns, range);
    end = nai_at(&m->nvtx.end_ns, range);
  }
  if (o->start_ns != INT64_MIN) {
    start = o->start_ns;
    end = o->end_ns;
  }
  if (end <= start) {
    start = v->scene.first;
    end = v->scene.last;
  }
  v->now = (struct nai_position){v->scene.first, v->scene.last, v->scene.first, 0};
  if (start >= v->scene.last || end <= v->scene.first)
    return print_outside(v, "--trim", err);
  if (o->at_ns != INT64_MIN && (o->at_ns < v->scene.first || o->at_ns >= v->scene.last))
    return print_outside(v, "--at", err);
  v->now.start = start < v->scene.first ? v->scene.first : start;
  v->now.end = end > v->scene.last ? v->scene.last : end;
  v->now.at = v->now.start + (v->now.end - v->now.start) / 2;
  if (o->at_ns != INT64_MIN)
    nai_term_go(v, o->at_ns);
  v->cursor = o->cursor || o->at_ns != INT64_MIN;
  return NAI_OK;
}

/* Not the first row, which is a GPU's sum, but what ran there first. */
static void select_first(struct nai_term *v) {
  for (uint32_t r = 0; r < v->scene.count; r++)
    if (v->scene.rows[r].kind == NAI_ROW_EVENTS) {
      v->now.row = r;
      return;
    }
}

static int open_view(struct nai_term *v, struct nai_err *err) {
  const struct nai_term_options *o = v->options;
  NAI_TRY(nai_scene_open(&v->scene, o->model, o->gpus, o->gpu_count, err));
  NAI_TRY(nai_tree_open(&v->tree, o->model, err));
  NAI_TRY(begin_at(v, err));
  select_first(v);
  return nai_bookmarks_load(v, err);
}

int nai_term_new(struct nai_term **out, const struct nai_term_options *options, struct nai_err *err) {
  struct nai_term *v = calloc(1, sizeof *v);
  *out = NULL;
  NAI_TRY(nai_memory_check(v, err));
  *v = (struct nai_term){.options = options,
                         .keys = nai_key_uses,
                         .width = 80,
                         .height = 24,
                         .range_start = INT64_MIN,
                         .range_end = INT64_MIN,
                         .in_tree = options->tree,
                         .settings = {1, 1, 8, 4, 0},
                         .arena = NAI_ARENA(NULL)};
  int rc = open_view(v, err);
  if (rc)
    nai_term_free(v);
  else
    *out = v;
  return rc;
}

void nai_term_free(struct nai_term *v) {
  if (!v)
    return;
  nai_scene_free(&v->scene);
  nai_tree_free(&v->tree);
  nai_buf_free(&v->overlay_text);
  nai_buf_free(&v->subject);
  nai_buf_free(&v->message);
  nai_buf_free(&v->last_words);
  nai_arena_free(&v->arena);
  free(v);
}

void nai_term_resize(struct nai_term *v, int width, int height) {
  v->width = width < 1 ? 1 : width > NAI_SCREEN_MOST ? NAI_SCREEN_MOST : width;
  v->height = height < 1 ? 1 : height > NAI_SCREEN_MOST ? NAI_SCREEN_MOST : height;
  nai_term_scroll(v);
}

bool nai_term_done(const struct nai_term *v) { return v->done; }

const char *nai_term_last_words(const struct nai_term *v) { return nai_buf_str(&v->last_words); }

/* --- mouse -------------------------------------------------------------------------------------------- */

static int64_t time_at(const struct nai_term *v, const struct nai_term_places *l, int x) {
  int column = x - l->x;
  column = column < 0 ? 0 : column >= l->columns ? l->columns - 1 : column;
  return nai_term_column_time(v, column, l->columns);
}

/* The event of a cell that is longest, or, where nothing begins, the time of the cell. */
static void click(struct nai_term *v, const struct nai_term_places *l, int y, int x) {
  uint32_t r = y >= l->y && y < l->y + l->rows ? nai_term_row_at(v, y - l->y) : v->scene.count;
  if (r < v->scene.count)
    v->now.row = r;
  if (x < l->x || x >= l->x + l->columns || r == v->scene.count)
    return;
  int64_t a = time_at(v, l, x), b = nai_term_column_time(v, x - l->x + 1, l->columns);
  const struct nai_spans *s = nai_row_spans(&v->scene, &v->scene.rows[r]);
  uint32_t first = nai_spans_from(s, a), end = nai_spans_from(s, b);
  v->now.at = first < end && nai_spans_at(s, a) == s->count ? nai_spans_start(s, nai_spans_longest(s, first, end)) : a;
}

/* Selects a line of the tree; the selected one opens or closes. */
static void click_tree(struct nai_term *v, int y) {
  enum { FIRST = 2 }; /* below the header and the heads of the columns */
  int rows = v->height - 3;
  uint32_t line = nai_tree_top(&v->tree, (uint32_t)rows) + (uint32_t)(y - FIRST);
  if (y < FIRST || y >= FIRST + rows || line >= v->tree.line_count)
    return;
  if (line == v->tree.selected)
    nai_tree_toggle(&v->tree, true, true);
  v->tree.selected = line < v->tree.line_count ? line : v->tree.selected;
}

static void release(struct nai_term *v, const struct nai_term_places *l, int y, int x) {
  int64_t from = time_at(v, l, v->press.x), to = time_at(v, l, x);
  bool moved = v->press.x != x;
  v->press.held = false;
  if (v->press.y == l->axis && moved) {
    v->range_start = from < to ? from : to;
    v->range_end = from < to ? to : from;
  } else if (moved && v->press.y >= l->y && v->press.y < l->y + l->rows) {
    nai_term_pan(v, from - to);
  } else {
    click(v, l, y, x);
  }
}

int nai_term_mouse(struct nai_term *v, enum nai_mouse what, bool shift, int y, int x, struct nai_err *err) {
  struct nai_term_places l = nai_term_layout(v);
  bool up = what == NAI_MOUSE_WHEEL_UP;
  (void)err;
  if (v->prompt.key || v->width < NAI_MIN_WIDTH || v->height < NAI_MIN_HEIGHT)
    return NAI_OK;
  nai_buf_clear(&v->message);
  v->cursor = true;
  if (v->in_tree || v->overlay != NAI_OVERLAY_NONE) { /* the wheel scrolls, a click selects a line */
    if (what == NAI_MOUSE_WHEEL_UP || what == NAI_MOUSE_WHEEL_DOWN)
      return nai_term_key(v, up ? NAI_KEY_UP : NAI_KEY_DOWN, err);
    if (what == NAI_MOUSE_RELEASE && v->overlay == NAI_OVERLAY_NONE)
      click_tree(v, y);
    return NAI_OK;
  }
  if (what == NAI_MOUSE_PRESS) {
    v->press.held = true;
    v->press.y = y;
    v->press.x = x;
  } else if (what == NAI_MOUSE_RELEASE && v->press.held) {
    release(v, &l, y, x);
  } else if (what != NAI_MOUSE_RELEASE && shift) {
    nai_term_pan(v, (v->now.end - v->now.start) / (up ? -8 : 8));
  } else if (what != NAI_MOUSE_RELEASE) {
    nai_term_zoom(v, time_at(v, &l, x), up);
  }
  return NAI_OK;
}
