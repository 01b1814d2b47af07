/* The view in the terminal, without one: what the index of a row says, what is drawn, what keys do. */
#include "model_fixture.h"

#include "features/view/state.h"

#include <locale.h>
#include <stdio.h>
#include <time.h>

/* --- spans, against plain loops ------------------------------------------------------------------------- */

enum { TIMES = 4000, EVENTS = 20000 };

struct plain {
  int64_t start[EVENTS], end[EVENTS];
  uint32_t rows[EVENTS], count;
};

static void fill_plain(struct plain *p, uint32_t count, int64_t longest, uint64_t seed) {
  int64_t t = -500; /* times may lie before the session's start */
  p->count = count;
  for (uint32_t i = 0; i < count; i++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    t += (int64_t)(seed >> 62) % 2;
    int64_t length = (int64_t)(seed >> 33) % (i % 97 ? 4 : longest);
    p->start[count - 1 - i] = t; /* the table is in another order than the row */
    p->end[count - 1 - i] = i % 31 ? t + length : t - 1;
    p->rows[i] = count - 1 - i;
  }
}

static int64_t start_of(const struct plain *p, uint32_t i) { return p->start[p->rows[i]]; }
static int64_t end_of(const struct plain *p, uint32_t i) {
  int64_t end = p->end[p->rows[i]];
  return end < start_of(p, i) ? start_of(p, i) : end;
}

static void check_moment(const struct nai_spans *s, const struct plain *p, int64_t t) {
  uint32_t from = 0, open = 0, at = p->count;
  while (from < p->count && start_of(p, from) < t)
    from++;
  while (open < p->count && end_of(p, open) <= t)
    open++;
  for (uint32_t i = 0; i < p->count; i++)
    if (start_of(p, i) == t)
      at = i;
  assert_int_equal(nai_spans_from(s, t), from);
  assert_int_equal(nai_spans_open(s, t), open);
  uint32_t got = nai_spans_at(s, t);
  if (at < p->count)
    assert_int_equal(got, at);
  else if (got < p->count)
    assert_true(start_of(p, got) <= t && end_of(p, got) > t);
  else
    for (uint32_t i = 0; i < from; i++)
      assert_true(end_of(p, i) <= t);
}

static void check_lengths(const struct nai_spans *s, const struct plain *p, uint32_t i, uint32_t j, int64_t ns) {
  uint32_t next = i, longest = p->count;
  while (next < p->count && end_of(p, next) - start_of(p, next) < ns)
    next++;
  for (uint32_t k = i; k < j; k++)
    if (longest == p->count || end_of(p, k) - start_of(p, k) > end_of(p, longest) - start_of(p, longest))
      longest = k;
  assert_int_equal(nai_spans_long(s, i, ns), next);
  assert_int_equal(nai_spans_longest(s, i, j), longest);
}

static void check_covered(const struct nai_spans *s, const struct plain *p) {
  static bool busy[TIMES * 4];
  int64_t origin = -1000, covered = 0;
  memset(busy, 0, sizeof busy);
  for (uint32_t i = 0; i < p->count; i++)
    for (int64_t t = start_of(p, i); t < end_of(p, i); t++)
      busy[t - origin] = true;
  for (int64_t t = origin; t < origin + (int64_t)sizeof busy; t++) {
    assert_int_equal(nai_spans_covered(s, t), covered);
    covered += busy[t - origin];
  }
}

TEST(spans_as_defined) {
  static struct plain p;
  static const uint32_t counts[] = {0, 1, 63, 64, 65, 200, 4096, 4097, EVENTS};
  for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
    uint64_t random = c + 1;
    fill_plain(&p, counts[c], c % 2 ? 300 : 5, c + 1);
    struct nai_column start = nai_column_of(NAI_I64, p.start, 8, 0), end = nai_column_of(NAI_I64, p.end, 8, 0);
    struct nai_spans s = {.start = &start, .end = &end, .rows = p.rows, .count = p.count};
    NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
    ok(nai_spans_index(&s, &arena, err));
    check_covered(&s, &p);
    for (int i = 0; i < 150; i++) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      uint32_t a = (uint32_t)(random >> 33) % (p.count + 1), b = a + (uint32_t)(random >> 20) % (p.count - a + 1);
      check_moment(&s, &p, (int64_t)(random >> 40) % 12000 - 1000);
      check_lengths(&s, &p, a, b, (int64_t)(random >> 50) % 320);
    }
  }
}

/* --- cells of text -------------------------------------------------------------------------------------- */

static void check_text(int width, bool ascii, const char *text, const char *want) {
  struct nai_screen s;
  struct nai_buf out = {0};
  ok(nai_screen_new(&s, width, 1, ascii, err));
  nai_screen_put(&s, 0, 0, width, text, 0, 0);
  nai_screen_text(&out, &s, 0, 1);
  assert_string_equal(nai_buf_str(&out), want);
  nai_buf_free(&out);
  nai_screen_free(&s);
}

TEST(text_keeps_its_cells) {
  check_text(8, false, "abc", "abc\n");
  check_text(8, false, "abcdefgh", "abcdefgh\n");
  check_text(8, false, "abcdefghi", "abcdefg\u2026\n");
  check_text(8, true, "abcdefghi", "abcdefg~\n");
  check_text(8, false, "\u8a08\u7b97\u6a5f", "\u8a08\u7b97\u6a5f\n"); /* two columns each */
  check_text(5, false, "\u8a08\u7b97\u6a5f", "\u8a08\u7b97\u2026\n"); /* exactly */
  check_text(4, false, "\u8a08\u7b97\u6a5f", "\u8a08\u2026\n");       /* half of one does not fit */
  check_text(1, false, "\u8a08\u7b97", "\u2026\n");
  check_text(9, true, "\u8a08 x", "? x\n");
  check_text(9, false, "e\u0301x", "ex\n"); /* no width of its own */
  check_text(40, false, "a\033[2Jb", "a\\u{1b}[2Jb\n");
  check_text(40, false, "\u202eabc", "\\u{202e}abc\n"); /* right to left */
  check_text(40, false, "a\nb\tc", "a b c\n");
  check_text(9, false, "\xff\xfe", "\ufffd\ufffd\n");
}

TEST(halves_of_wide_characters_do_not_stay) {
  struct nai_screen s;
  struct nai_buf out = {0};
  ok(nai_screen_new(&s, 6, 2, false, err));
  for (int y = 0; y < 2; y++)
    nai_screen_put(&s, y, 0, 6, "\u8a08\u7b97\u6a5f", 0, 0);
  nai_screen_set(&s, 0, 2, 'x', 0, 0); /* the left half */
  nai_screen_set(&s, 1, 3, 'x', 0, 0); /* the right one */
  nai_screen_set(&s, 5, 5, 'x', 0, 0); /* outside */
  nai_screen_text(&out, &s, 0, 2);
  assert_string_equal(nai_buf_str(&out), "\u8a08x \u6a5f\n\u8a08 x\u6a5f\n");
  nai_buf_free(&out);
  nai_screen_free(&s);
}

/* --- a trace ---------------------------------------------------------------------------------------------- */

enum { KERNELS = 600 };

/* Two GPUs; kernels launched inside of nested ranges; names that are hostile. */
static void fill_trace(struct fixture *f) {
  int32_t process = fixture_begin(f);
  fixture_gpu(f, 1);
  for (int i = 0; i < KERNELS; i++) {
    int64_t t = -1000 + 1000 * i;
    char name[64];
    snprintf(name, sizeof name, i % 7 ? "kernel_%d<float>" : "\033[31mevil_%d\u202e\u8a08", i % 5);
    fixture_nvtx(f, t, t + 900, 0, i % 2 ? "even" : "odd", NAI_NVTX_PUSH_POP);
    fixture_nvtx(f, t + 100, t + 800, 0, "inner", NAI_NVTX_PUSH_POP);
    fixture_nvtx(f, t + 10, t + 2000, 0, "async", NAI_NVTX_START_END);
    fixture_api(f, t + 200, t + 300, 0, "cudaLaunchKernel", i + 1);
    fixture_kernel(f, t + 400, t + 400 + 100 * (i % 6), name, i % 2, process, 7 + i % 3, i + 1);
  }
  fixture_memop(f, 50, 90, NAI_MEMOP_COPY, 0, process, 7, 9000, 4096, 1, 1, 2);
  fixture_build(f);
}

static struct nai_term *new_view(const struct nai_term_options *options, int width, int height) {
  struct nai_term *v = NULL;
  ok(nai_term_new(&v, options, err));
  nai_term_resize(v, width, height);
  return v;
}

static void draw(struct nai_buf *out, struct nai_term *v) {
  struct nai_screen s;
  nai_buf_clear(out);
  ok(nai_term_draw(&s, v, err));
  nai_screen_text(out, &s, 0, s.height);
  nai_screen_free(&s);
}

static void press(struct nai_term *v, const char *keys) {
  for (; *keys; keys++)
    ok(nai_term_key(v, (uint32_t)*keys, err));
}

TEST(columns_and_times_agree) {
  struct fixture f;
  fill_trace(&f);
  const struct nai_term_options options = {
      .model = &f.m, .title = "t", .start_ns = INT64_MIN, .at_ns = INT64_MIN, .cursor = true};
  struct nai_term *v = new_view(&options, 100, 30);
  for (int logical = 0; logical < 2; logical++)
    for (int64_t length = 10; length < 600000; length = length * 3 + 7) {
      v->logical = logical;
      nai_term_window(v, 3000, 3000 + length);
      for (int columns = 1; columns < 300; columns += 41) {
        assert_int_equal(nai_term_column_time(v, 0, columns), v->now.start);
        assert_int_equal(nai_term_column_time(v, columns, columns), v->now.end);
        for (int c = 0; c < columns; c++) {
          int64_t a = nai_term_column_time(v, c, columns), b = nai_term_column_time(v, c + 1, columns);
          assert_true(a <= b);
          if (a < b) {
            assert_int_equal(nai_term_time_column(v, a, columns), c);
            assert_int_equal(nai_term_time_column(v, b - 1, columns), c);
          }
        }
      }
    }
  nai_term_free(v);
  fixture_free(&f);
}

/* The gap before a GPU's first operation and that behind its last are often empty, and have no cause. */
TEST(gaps_have_a_length) {
  struct fixture f;
  fill_trace(&f);
  const struct nai_term_options options = {.model = &f.m, .title = "t", .start_ns = INT64_MIN, .at_ns = INT64_MIN};
  struct nai_term *v = new_view(&options, 100, 30);
  for (uint32_t g = 0; g < f.m.gpu_count; g++) {
    const struct nai_spans *gaps = &v->scene.bands[g].gaps;
    int64_t sum = 0;
    assert_true(gaps->count > 0);
    for (uint32_t i = 0; i < gaps->count; i++) {
      assert_true(nai_spans_end(gaps, i) > nai_spans_start(gaps, i));
      assert_string_not_equal(nai_gap_cause(&v->scene, g, i), "cause not known");
      sum += nai_spans_end(gaps, i) - nai_spans_start(gaps, i);
    }
    assert_int_equal(sum, f.m.gpus[g].window_end - f.m.gpus[g].window_start - nai_intervals_total_ns(&f.m.gpus[g].all));
  }
  nai_term_free(v);
  fixture_free(&f);
}

/* Whatever the width, the cells of a row add up to what it is busy. */
TEST(cells_add_up) {
  struct fixture f;
  fill_trace(&f);
  const struct nai_term_options options = {.model = &f.m, .title = "t", .start_ns = INT64_MIN, .at_ns = INT64_MIN};
  struct nai_term *v = new_view(&options, 100, 30);
  for (int width = 40; width < 300; width += 37) {
    struct nai_buf out = {0};
    ok(nai_term_print_json(&out, v, width, err));
    const char *row = strstr(nai_buf_str(&out), "\"row\": \"GPU busy\"");
    assert_non_null(row);
    char *p = strchr(strstr(row, "\"busy_ns\""), '[') + 1;
    int64_t sum = 0;
    for (; *p != ']'; p += *p == ',')
      sum += strtoll(p, &p, 10);
    assert_int_equal(sum, nai_intervals_total_ns(&f.m.gpus[0].all));
    nai_buf_free(&out);
  }
  nai_term_free(v);
  fixture_free(&f);
}

TEST(names_are_safe_on_every_screen) {
  struct fixture f;
  struct nai_buf out = {0};
  fill_trace(&f);
  for (int ascii = 0; ascii < 2; ascii++) {
    const struct nai_term_options options = {
        .model = &f.m, .title = "\033]0;x", .start_ns = 0, .end_ns = 9000, .at_ns = INT64_MIN, .ascii = ascii};
    struct nai_term *v = new_view(&options, 120, 40);
    press(v, "\t\t\t");
    for (const char *key = "hC'?vedB"; *key; key++) {
      ok(nai_term_key(v, (uint32_t)*key, err));
      draw(&out, v);
      for (const char *p = nai_buf_str(&out); *p; p++)
        assert_true(*p == '\n' || ((unsigned char)*p >= 0x20 && *p != 0x7f && (!ascii || (unsigned char)*p < 0x80)));
      assert_null(strstr(nai_buf_str(&out), "\u202e"));
    }
    nai_term_free(v);
  }
  nai_buf_free(&out);
  fixture_free(&f);
}

/* --- keys ------------------------------------------------------------------------------------------------- */

TEST(a_key_has_one_use_in_each_place) {
  for (const struct nai_key_use *a = nai_key_uses; a->does; a++) {
    assert_true(a->keys[0] && a->places && *a->names && *a->does);
    for (const struct nai_key_use *b = a + 1; b->does; b++)
      for (size_t i = 0; i < 6; i++)
        for (size_t j = 0; j < 6 && a->keys[i]; j++)
          assert_false(a->places & b->places && a->keys[i] == b->keys[j]);
  }
}

TEST(keys_move) {
  struct fixture f;
  struct nai_buf out = {0};
  fill_trace(&f);
  const struct nai_term_options options = {
      .model = &f.m, .title = "t", .start_ns = 0, .end_ns = 100000, .at_ns = 0, .cursor = true};
  struct nai_term *v = new_view(&options, 100, 40);
  assert_int_equal(nai_term_row(v)->kind, NAI_ROW_EVENTS);
  press(v, "\t");
  uint32_t first = nai_term_event(v);
  press(v, "\t\t");
  assert_int_equal(nai_term_event(v), first + 2);
  press(v, "l"); /* to its launch, and back */
  assert_int_equal(nai_term_row(v)->lane, NAI_LANE_API);
  press(v, "l");
  assert_int_equal(nai_term_event(v), first + 2);
  assert_int_equal(nai_term_row(v)->lane, NAI_LANE_KERNEL);
  uint64_t name = nai_event_name_id(&v->scene, nai_term_row(v), first + 2);
  press(v, "N");
  assert_true(nai_term_event(v) > first + 2);
  assert_int_equal(nai_event_name_id(&v->scene, nai_term_row(v), nai_term_event(v)), name);
  press(v, "P");
  assert_int_equal(nai_term_event(v), first + 2);
  press(v, "`");
  assert_true(nai_term_event(v) > first + 2);
  press(v, "/KERNEL_1\n");
  uint64_t want = 0;
  for (uint32_t k = 0; k < f.m.kernels.n; k++)
    want += strstr(nai_model_kernel_name(&f.m, k), "kernel_1") != NULL;
  assert_int_equal(v->scene.matches, want);
  press(v, "n");
  assert_false(nai_scene_filtered(&v->scene));
  press(v, "m0.3\n"); /* rounded up to a microsecond: longer than any */
  assert_int_equal(v->scene.matches, 0);
  press(v, "n[");
  int64_t start = v->now.at;
  ok(nai_term_key(v, NAI_KEY_RIGHT, err));
  press(v, "]y");
  char trim[96];
  snprintf(trim, sizeof trim, "--trim %lld.%09lld %lld.%09lld\n", (long long)(start / 1000000000),
           (long long)(start % 1000000000), (long long)(v->now.at / 1000000000), (long long)(v->now.at % 1000000000));
  assert_string_equal(nai_term_last_words(v), trim);
  press(v, "q");
  assert_true(nai_term_done(v));
  nai_buf_free(&out);
  nai_term_free(v);
  fixture_free(&f);
}

/* From the longest event of the row to the shortest, each once, and back; a filter begins anew. */
TEST(events_by_length) {
  struct fixture f;
  struct nai_buf out = {0};
  fill_trace(&f);
  const struct nai_term_options options = {
      .model = &f.m, .title = "t", .start_ns = 0, .end_ns = 100000, .at_ns = 0, .cursor = true};
  struct nai_term *v = new_view(&options, 80, 24);
  const struct nai_row *row = nai_term_row(v);
  const struct nai_spans *s = nai_row_spans(&v->scene, row);
  press(v, "S"); /* from nowhere */
  assert_non_null(strstr(nai_buf_str(&v->message), "s goes to the longest"));
  int64_t before = INT64_MAX, start = INT64_MIN;
  for (uint32_t i = 0; i < s->count; i++) {
    press(v, i % 3 ? "s" : "s+"); /* the window is of no matter */
    uint32_t event = nai_term_event(v);
    int64_t length = nai_spans_end(s, event) - nai_spans_start(s, event);
    assert_true(length < before || (length == before && nai_spans_start(s, event) > start));
    assert_int_equal(v->now.at, nai_spans_start(s, event));
    if (i == 0)
      assert_int_equal(event, nai_spans_longest(s, 0, s->count));
    before = length;
    start = v->now.at;
  }
  press(v, "s");
  assert_string_equal(nai_buf_str(&v->message), "the shortest of this row");
  for (uint32_t i = 1; i < s->count; i++)
    press(v, "S");
  draw(&out, v);
  assert_non_null(strstr(nai_buf_str(&out), "\n1 of 100 in this row, the longest first"));
  press(v, "S");
  assert_string_equal(nai_buf_str(&v->message), "the longest of this row");
  assert_int_equal(nai_term_event(v), nai_spans_longest(s, 0, s->count));
  press(v, "ss\ts"); /* another one is selected */
  assert_int_equal(nai_term_event(v), nai_spans_longest(s, 0, s->count));
  press(v, "s/kernel_3\ns");
  s = nai_row_spans(&v->scene, row);
  assert_int_equal(nai_term_event(v), nai_spans_longest(s, 0, s->count));
  press(v, "/no such name\ns");
  assert_string_equal(nai_buf_str(&v->message), "nothing in this row");
  nai_buf_free(&out);
  nai_term_free(v);
  fixture_free(&f);
}

/* The number comes before the name, which may be long. */
TEST(a_column_tells_its_longest) {
  struct fixture f;
  struct nai_buf out = {0};
  int32_t process = fixture_begin(&f);
  for (int i = 0; i < 100; i++)
    fixture_kernel(&f, 1000 * i, 1000 * i + 100 + i,
                   "a_kernel_with_a_name_that_is_much_longer_than_what_is_left_of_a_narrow_line", 0, process, 7, 0);
  fixture_build(&f);
  const struct nai_term_options options = {
      .model = &f.m, .title = "t", .start_ns = 0, .end_ns = 1000000, .at_ns = 0, .cursor = true};
  struct nai_term *v = new_view(&options, 80, 24);
  draw(&out, v);
  assert_non_null(strstr(nai_buf_str(&out), "events begin, longest 1"));
  assert_non_null(strstr(nai_buf_str(&out), " ns: a_kernel"));
  nai_buf_free(&out);
  nai_term_free(v);
  fixture_free(&f);
}

TEST(keys_in_panels) {
  struct fixture f;
  struct nai_buf out = {0};
  fill_trace(&f);
  const struct nai_term_options options = {
      .model = &f.m, .title = "t", .start_ns = 0, .end_ns = 100000, .at_ns = 20, .cursor = true};
  struct nai_term *v = new_view(&options, 80, 24);
  press(v, "?"); /* between two kernels */
  assert_int_equal(v->overlay, NAI_OVERLAY_EXPLAIN);
  draw(&out, v);
  assert_non_null(strstr(nai_buf_str(&out), "Tab selects the next event of the row"));
  assert_non_null(strstr(nai_buf_str(&out), "(Esc closes, other keys act)"));
  int64_t start = v->now.start, end = v->now.end;
  press(v, "/kernel_fah\n"); /* no commands: f fits, a changes times, h helps */
  assert_int_equal(v->overlay, NAI_OVERLAY_NONE);
  assert_string_equal(v->scene.filter.text, "kernel_fah");
  assert_int_equal(v->now.start, start);
  assert_int_equal(v->now.end, end);
  assert_false(v->relative);
  press(v, "nha"); /* a key that begins no prompt acts, too */
  assert_int_equal(v->overlay, NAI_OVERLAY_NONE);
  assert_true(v->relative);
  static const char *const closed[] = {"hh", "??", "h\n", "hq", "h\033", "''", "CC", "Cq", "C\n"};
  for (size_t i = 0; i < sizeof closed / sizeof *closed; i++) {
    press(v, closed[i]);
    assert_int_equal(v->overlay, NAI_OVERLAY_NONE);
    assert_false(v->done);
  }
  press(v, "hj");
  assert_int_equal(v->overlay, NAI_OVERLAY_HELP);
  assert_int_equal(v->overlay_top, 1);
  press(v, "?");
  assert_int_equal(v->overlay, NAI_OVERLAY_EXPLAIN);
  press(v, "Cm");
  assert_int_equal(v->prompt.key, 'm');
  nai_buf_free(&out);
  nai_term_free(v);
  fixture_free(&f);
}

TEST(tree_opens_and_closes) {
  struct fixture f;
  struct nai_buf out = {0};
  fill_trace(&f);
  const struct nai_term_options options = {
      .model = &f.m, .title = "t", .start_ns = INT64_MIN, .at_ns = INT64_MIN, .tree = true};
  struct nai_term *v = new_view(&options, 100, 40);
  press(v, "c");
  assert_int_equal(v->tree.line_count, 1 + 3); /* the thread; odd, even, async */
  press(v, "e");
  int64_t kernels = 0, ns = 0;
  for (uint32_t i = 0; i < v->tree.first_kernel[f.m.node_count]; i++) {
    kernels += v->tree.kernels[i].count;
    ns += v->tree.kernels[i].ns;
  }
  assert_int_equal(kernels, KERNELS);
  for (uint32_t k = 0; k < f.m.kernels.n; k++)
    ns -= nai_kernel_ns(&f.m, k);
  assert_int_equal(ns, 0);
  press(v, "/inner\n");
  draw(&out, v);
  assert_non_null(strstr(nai_buf_str(&out), "inner"));
  assert_null(strstr(nai_buf_str(&out), "async"));
  press(v, "njjv"); /* a range, then the same place on the timeline and back */
  assert_false(v->in_tree);
  assert_int_equal(nai_term_row(v)->lane, NAI_LANE_NVTX);
  uint32_t node = nai_tree_node(&v->tree);
  press(v, "v");
  assert_int_equal(nai_tree_node(&v->tree), node);
  nai_buf_free(&out);
  nai_term_free(v);
  fixture_free(&f);
}

/* Whatever is typed, at whatever size. */
TEST(any_keys) {
  static const uint32_t special[] = {NAI_KEY_LEFT,
                                     NAI_KEY_RIGHT,
                                     NAI_KEY_UP,
                                     NAI_KEY_DOWN,
                                     NAI_KEY_SHIFT_LEFT,
                                     NAI_KEY_SHIFT_RIGHT,
                                     NAI_KEY_PAGE_UP,
                                     NAI_KEY_PAGE_DOWN,
                                     NAI_KEY_HOME,
                                     NAI_KEY_END,
                                     NAI_KEY_SHIFT_TAB,
                                     NAI_KEY_TAB,
                                     NAI_KEY_ENTER,
                                     NAI_KEY_ESCAPE,
                                     NAI_KEY_BACKSPACE,
                                     0xe9,
                                     0x8a08,
                                     0x1f600};
  struct fixture f;
  struct nai_buf out = {0};
  fill_trace(&f);
  const struct nai_term_place places[] = {{0, "title", "high", "text", 100, 5000, 0, NAI_NULL_I64},
                                          {0, "title", "high", "text", 7000, 9000, 1, NAI_NULL_I64},
                                          {2, "other", "low", "text", -500, 400000, NAI_NULL_I64, 10}};
  const struct nai_term_options options = {.model = &f.m,
                                           .title = "t",
                                           .start_ns = INT64_MIN,
                                           .at_ns = INT64_MIN,
                                           .color = true,
                                           .places = places,
                                           .place_count = 3,
                                           .finding_count = 3};
  struct nai_term *v = new_view(&options, 80, 24);
  for (int i = 0; i < 10000; i++) {
    int64_t r = fixture_random(&f, 1000);
    uint32_t key = r < 300 ? special[fixture_random(&f, sizeof special / sizeof *special)]
                           : (uint32_t)(0x20 + fixture_random(&f, 0x5f));
    if (key == 'w' || v->prompt.key == 'w') /* writes files */
      key = NAI_KEY_ESCAPE;
    if (r > 980)
      nai_term_resize(v, (int)fixture_random(&f, 210), (int)fixture_random(&f, 60));
    if (r > 950)
      ok(nai_term_mouse(v, (enum nai_mouse)fixture_random(&f, 4), r % 2, (int)fixture_random(&f, 60),
                        (int)fixture_random(&f, 210), err));
    ok(nai_term_key(v, key, err));
    if (i % 20 == 0)
      draw(&out, v);
    assert_true(v->now.start >= v->scene.first && v->now.end <= v->scene.last && v->now.start < v->now.end);
    assert_true(v->now.at >= v->now.start && v->now.at < v->now.end);
  }
  nai_buf_free(&out);
  nai_term_free(v);
  fixture_free(&f);
}

/* --- traces without much, and with much ------------------------------------------------------------------- */

TEST(nothing_to_show) {
  struct fixture f;
  struct nai_buf out = {0};
  fixture_init(&f);
  fixture_build(&f);
  const struct nai_term_options options = {.model = &f.m, .title = "t", .start_ns = INT64_MIN, .at_ns = INT64_MIN};
  struct nai_term *v = new_view(&options, 80, 24);
  draw(&out, v);
  assert_non_null(strstr(nai_buf_str(&out), "no events"));
  press(v, "\t!NPl?CfGvhedcn/x\n");
  draw(&out, v);
  nai_term_resize(v, 20, 5);
  draw(&out, v);
  assert_non_null(strstr(nai_buf_str(&out), "too small"));
  nai_buf_free(&out);
  nai_term_free(v);
  fixture_free(&f);
}

static double cpu_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* A frame costs about the same whether a row has a thousand events or two million. */
static double frame_ms(int kernels) {
  struct fixture f;
  struct nai_buf out = {0};
  int32_t process = fixture_begin(&f);
  for (int64_t i = 0; i < kernels; i++)
    fixture_kernel(&f, 1000 * i, 1000 * i + 100 + i % 1300, i % 3 ? "a" : "b", 0, process, 7 + i % 4, 0);
  fixture_build(&f);
  const struct nai_term_options options = {
      .model = &f.m, .title = "t", .start_ns = INT64_MIN, .at_ns = INT64_MIN, .color = true, .cursor = true};
  struct nai_term *v = new_view(&options, 200, 50);
  double before = cpu_ms();
  enum { FRAMES = 60 };
  for (int i = 0; i < FRAMES; i++) {
    int64_t length = (int64_t)kernels * 1000 >> (i % 12), at = fixture_random(&f, (int64_t)kernels * 1000);
    nai_term_window(v, at, at + length);
    draw(&out, v);
  }
  double spent = (cpu_ms() - before) / FRAMES;
  nai_buf_free(&out);
  nai_term_free(v);
  fixture_free(&f);
  return spent;
}

TEST(frames_do_not_cost_by_events) {
  double few = frame_ms(1000), many = frame_ms(1000000);
  printf("a frame: %.2f ms of 1,000 events, %.2f ms of 1,000,000\n", few, many);
  assert_true(many < 50 || many < 8 * few);
}

static int use_utf8(void **state) {
  (void)state;
  return setlocale(LC_CTYPE, "C.UTF-8") ? 0 : -1;
}

UNIT_FIXTURE(use_utf8, NULL)
