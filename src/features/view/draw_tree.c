/* The lines of the tree. */
#include "features/view/state.h"

#include "base/fmt.h"
#include "tables/threads.h"

enum { NUMBERS = 46, NEAR = 130 }; /* columns of the numbers; where they end, so that one sees what they belong to */

static int end_of_numbers(const struct nai_screen *s, const struct nai_term *v) {
  return v->full_names || s->width < NEAR ? s->width : NEAR;
}

static void put_right(struct nai_screen *s, int y, int end, struct nai_buf *text, uint8_t attributes) {
  int width = nai_screen_width(s, nai_buf_str(text));
  nai_screen_put(s, y, end - width, width, nai_buf_str(text), attributes, 0);
  nai_buf_clear(text);
}

static int64_t kernel_ns_of_thread(const struct nai_term *v, uint32_t thread) {
  const struct nai_tree *t = &v->tree;
  int64_t ns = 0;
  for (uint32_t r = t->first_root[thread]; r < t->first_root[thread + 1]; r++)
    ns += t->m->nodes[t->roots[r]].inclusive_kernel_ns;
  return ns;
}

/* count, wall time, kernel time, share of the thread's kernel time. */
static void draw_numbers(struct nai_screen *s, int right, int y, int64_t count, int64_t wall, int64_t kernel,
                         int64_t whole, uint8_t attributes) {
  NAI_SCOPED(nai_buf) text = {0};
  nai_fmt_count(&text, count);
  nai_buf_putc(&text, 'x');
  put_right(s, y, right - NUMBERS + 10, &text, attributes);
  if (wall >= 0)
    nai_fmt_duration(&text, (double)wall);
  put_right(s, y, right - NUMBERS + 22, &text, attributes);
  nai_fmt_duration(&text, (double)kernel);
  put_right(s, y, right - NUMBERS + 35, &text, attributes);
  if (whole)
    nai_fmt_percent(&text, 100.0 * (double)kernel / (double)whole);
  put_right(s, y, right, &text, attributes);
}

static void print_thread_name(struct nai_buf *out, const struct nai_model *m, uint32_t thread) {
  const char *name = nai_get_str(m->tables[NAI_IN_THREADS], thread, THREADS_thread_name);
  int64_t pid = nai_model_pid(m, m->thread_process[thread]),
          tid = nai_get_i64(m->tables[NAI_IN_THREADS], thread, THREADS_tid);
  if (pid != NAI_NULL_I64)
    nai_buf_printf(out, "pid %lld  ", (long long)pid);
  if (tid != NAI_NULL_I64)
    nai_buf_printf(out, "thread %lld  ", (long long)tid);
  nai_buf_puts(out, name);
}

static bool is_open(const struct nai_tree *t, const struct nai_tree_line *line) {
  return line->kind == NAI_LINE_THREAD ? !t->thread_closed[line->of] : t->open[line->node] || t->filter;
}

static bool has_inside(const struct nai_tree *t, const struct nai_tree_line *line) {
  return line->kind == NAI_LINE_THREAD ||
         (line->kind == NAI_LINE_RANGE && (t->first_child[line->node] < t->first_child[line->node + 1] ||
                                           t->first_kernel[line->node] < t->first_kernel[line->node + 1]));
}

static void print_name(struct nai_buf *out, const struct nai_screen *s, const struct nai_term *v,
                       const struct nai_tree_line *line) {
  const struct nai_tree *t = &v->tree;
  const struct nai_model *m = t->m;
  bool inside = has_inside(t, line), open = inside && is_open(t, line);
  nai_buf_printf(out, "%*s", 2 * line->depth, "");
  if (line->kind == NAI_LINE_THREAD || line->kind == NAI_LINE_RANGE)
    nai_buf_puts(out, s->ascii ? (open ? "- " : inside ? "+ " : "  ") : open ? "\u25be " : inside ? "\u25b8 " : "  ");
  switch (line->kind) {
  case NAI_LINE_THREAD:
    print_thread_name(out, m, line->of);
    break;
  case NAI_LINE_RANGE:
    nai_buf_puts(out, nai_strings_get(&m->tables[NAI_IN_NVTX]->strings, m->nodes[line->node].name));
    break;
  case NAI_LINE_KERNEL: {
    uint32_t name = t->kernels[line->of].name;
    nai_buf_printf(out, "* %s",
                   v->full_names ? nai_strings_get(&m->tables[NAI_IN_KERNELS]->strings, name)
                                 : v->scene.short_names[name]);
    break;
  }
  case NAI_LINE_MORE:
    nai_buf_printf(out, "* %u more kernels", t->first_kernel[line->node + 1] - line->of);
    break;
  }
}

static void draw_line(struct nai_screen *s, const struct nai_term *v, uint32_t i, int y) {
  const struct nai_tree *t = &v->tree;
  const struct nai_tree_line *line = &t->lines[i];
  uint8_t attributes = (uint8_t)((i == t->selected ? NAI_REVERSE : 0) | (line->kind == NAI_LINE_THREAD ? NAI_BOLD : 0));
  bool numbers = !v->tree_hides_times && s->width >= NUMBERS + 20 &&
                 (line->kind == NAI_LINE_RANGE || line->kind == NAI_LINE_KERNEL);
  int end = end_of_numbers(s, v);
  struct nai_buf name = {0};
  nai_screen_fill(s, y, 0, s->width, attributes);
  print_name(&name, s, v, line);
  nai_screen_put(s, y, 0, numbers ? end - NUMBERS : s->width, nai_buf_str(&name), attributes, 0);
  nai_buf_free(&name);
  if (!numbers)
    return;
  const struct nai_nvtx_node *node = &t->m->nodes[line->node];
  int64_t whole = kernel_ns_of_thread(v, (uint32_t)node->thread);
  if (line->kind == NAI_LINE_RANGE)
    draw_numbers(s, end, y, node->count, node->total_ns, node->inclusive_kernel_ns, whole, attributes);
  else
    draw_numbers(s, end, y, t->kernels[line->of].count, -1, t->kernels[line->of].ns, whole, attributes);
}

void nai_draw_tree(struct nai_screen *s, const struct nai_term *v, int y, int rows) {
  const struct nai_tree *t = &v->tree;
  struct nai_buf title = {0};
  const char *const heads[] = {"count", "wall time", "kernels", "share"};
  const int ends[] = {10, 22, 35, NUMBERS};
  for (int i = 0; i < 4 && !v->tree_hides_times && s->width >= NUMBERS + 20; i++) {
    nai_buf_puts(&title, heads[i]);
    put_right(s, y, end_of_numbers(s, v) - NUMBERS + ends[i], &title, NAI_UNDERLINE);
  }
  nai_buf_free(&title);
  rows--;
  uint32_t top = nai_tree_top(t, (uint32_t)rows);
  for (int i = 0; i < rows && top + (uint32_t)i < t->line_count; i++)
    draw_line(s, v, top + (uint32_t)i, y + 1 + i);
  if (!t->line_count)
    nai_screen_put(s, y + 1, 0, s->width,
                   t->filter ? "No range has that in its name; n shows all." : "The trace has no NVTX ranges.", 0, 0);
}
