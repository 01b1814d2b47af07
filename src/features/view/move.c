/* The window and the cursor. */
#include "features/view/state.h"

enum { SHORTEST_NS = 10 };

static int columns_of(const struct nai_term *v) {
  int columns = nai_term_layout(v).columns;
  return columns < 1 ? 1 : columns;
}

void nai_term_window(struct nai_term *v, int64_t start, int64_t end) {
  const struct nai_scene *s = &v->scene;
  int64_t whole = s->last - s->first, length = end - start;
  length = length < SHORTEST_NS ? SHORTEST_NS : length;
  length = length > whole ? whole : length;
  start = start < s->first ? s->first : start;
  start = start > s->last - length ? s->last - length : start;
  v->now.start = start;
  v->now.end = start + length;
  v->now.at = v->now.at < start ? start : v->now.at >= v->now.end ? v->now.end - 1 : v->now.at;
}

void nai_term_pan(struct nai_term *v, int64_t ns) {
  int64_t at = v->now.at + ns; /* at an end of the trace the cursor goes on alone */
  nai_term_window(v, v->now.start + ns, v->now.end + ns);
  v->now.at = at < v->now.start ? v->now.start : at >= v->now.end ? v->now.end - 1 : at;
}

void nai_term_zoom(struct nai_term *v, int64_t around, bool in) {
  int64_t before = around - v->now.start, length = v->now.end - v->now.start;
  int64_t to = in ? length / 2 : length > INT64_MAX / 4 ? length : length * 2;
  to = to < SHORTEST_NS ? SHORTEST_NS : to;
  int64_t start = around - nai_scale(before, to, length);
  nai_term_window(v, start, start + to);
}

void nai_term_go(struct nai_term *v, int64_t t) {
  int64_t length = v->now.end - v->now.start;
  t = t < v->scene.first ? v->scene.first : t >= v->scene.last ? v->scene.last - 1 : t;
  if (t < v->now.start || t >= v->now.end)
    nai_term_window(v, t - length / 2, t - length / 2 + length);
  v->now.at = t;
}

void nai_term_go_to(struct nai_term *v, int64_t start, int64_t end) {
  int64_t length = end - start, now = v->now.end - v->now.start;
  bool inside = start >= v->now.start && end <= v->now.end && length >= now / columns_of(v) * 3;
  if (!inside) {
    int64_t margin = length / 2 > SHORTEST_NS ? length / 2 : SHORTEST_NS;
    nai_term_window(v, start - margin, end + margin);
  }
  nai_term_go(v, start);
}

void nai_term_push(struct nai_term *v) {
  if (v->back_count == NAI_BACK_MOST) {
    for (int i = 1; i < NAI_BACK_MOST; i++)
      v->back[i - 1] = v->back[i];
    v->back_count--;
  }
  v->back[v->back_count++] = v->now;
}

bool nai_term_pop(struct nai_term *v) {
  if (!v->back_count)
    return false;
  v->now = v->back[--v->back_count];
  nai_term_scroll(v);
  return true;
}

uint32_t nai_term_event(const struct nai_term *v) {
  const struct nai_row *row = nai_term_row(v);
  return row ? nai_spans_at(nai_row_spans(&v->scene, row), v->now.at) : 0;
}

uint32_t nai_term_find_row(const struct nai_term *v, int64_t device, int64_t pid) {
  const struct nai_model *m = v->scene.m;
  uint32_t of_process = v->scene.count;
  for (uint32_t r = 0; r < v->scene.count; r++) {
    const struct nai_row *row = &v->scene.rows[r];
    if (device != NAI_NULL_I64 && row->thread < 0 && m->gpus[row->gpu].device_id == device)
      return r;
    if (of_process == v->scene.count && pid != NAI_NULL_I64 && row->thread >= 0 && nai_term_shows(v, r) &&
        nai_model_pid(m, row->process) == pid)
      of_process = r;
  }
  return of_process;
}

void nai_term_say(struct nai_term *v, const char *fmt, ...) {
  char line[512];
  va_list args;
  va_start(args, fmt);
  vsnprintf(line, sizeof line, fmt, args);
  va_end(args);
  nai_buf_clear(&v->message);
  nai_buf_puts(&v->message, line);
}
