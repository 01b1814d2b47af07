/* Sizes in range names, and what they say of a product. */
#include "unit.h"

#include "model/gemm/matrix_shape.h"

#include <string.h>

TEST(lists_are_read) {
  struct nai_sizes s;
  assert_true(nai_sizes_read(&s, "[[8, 1024], [], [1024, 4096, 2]]"));
  assert_int_equal(s.count, 3);
  assert_int_equal(s.input[0].dimensions, 2);
  assert_int_equal(s.input[0].v[1], 1024);
  assert_int_equal(s.input[1].dimensions, 0);
  assert_int_equal(s.input[2].v[2], 2);
  assert_true(nai_sizes_read(&s, "[]"));
  assert_int_equal(s.count, 0);
  /* a list of tensors, and a tensor of more dimensions than any: inputs without sizes */
  assert_true(nai_sizes_read(&s, "[[[2, 3], [4]], [1, 2, 3, 4, 5, 6, 7, 8, 9], [5]]"));
  assert_int_equal(s.count, 3);
  assert_int_equal(s.input[0].dimensions, -1);
  assert_int_equal(s.input[1].dimensions, -1);
  assert_int_equal(s.input[2].dimensions, 1);
}

TEST(other_texts_are_refused) {
  static const char *const texts[] = {"",       "[",         "[[2, 3]",   "[[2, 3",           "[[2, -3]]",
                                      "[2, 3]", "[[2, 3]]x", "[[2] [3]]", "[[2, x], [3, 4]]", "[[1234567890123456789]]",
                                      "]",      "[[]"};
  struct nai_sizes s;
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    if (nai_sizes_read(&s, texts[i]))
      fail_msg("%s", texts[i]);
}

static struct nai_matrix_shape shape_of(const char *op, const char *text) {
  struct nai_matrix_shape shape = {0};
  struct nai_sizes s;
  assert_true(nai_sizes_read(&s, text));
  if (!nai_matrix_shape_of(&shape, op, &s))
    shape.flop = -1;
  return shape;
}

/* By hand. */
TEST(operations_are_counted) {
  struct nai_matrix_shape s = shape_of("aten::mm", "[[2, 3], [3, 5]]");
  assert_true(s.flop == 60 && s.values == 6 + 15 + 10 && s.m == 2 && s.n == 5 && s.k == 3 && s.batch == 1);
  assert_true(shape_of("aten::addmm", "[[5], [2, 3], [3, 5], [], []]").flop == 60);
  assert_true(shape_of("aten::_scaled_mm", "[[2, 3], [3, 5], [], [], [], [], []]").flop == 60);
  s = shape_of("aten::bmm", "[[7, 2, 3], [7, 3, 5]]");
  assert_true(s.flop == 420 && s.values == 7 * 31 && s.batch == 7);
  assert_true(shape_of("aten::baddbmm", "[[7, 2, 5], [7, 2, 3], [7, 3, 5]]").flop == 420);
  /* 2 sequences of 8 query heads that share 4 key heads: (3 x 16) by (5 x 16), then by (5 x 6) */
  s = shape_of("aten::_scaled_dot_product_flash_attention", "[[2, 8, 3, 16], [2, 4, 5, 16], [2, 4, 5, 6], []]");
  assert_true(s.attention && s.flop == 2 * 2 * 8 * (3 * 5 * 16 + 3 * 5 * 6) && s.batch == 16);
  assert_true(s.values == 2 * (8 * 3 * 22 + 4 * 5 * 22));
  assert_true(shape_of("aten::_scaled_dot_product_flash_attention_backward",
                       "[[2, 8, 3, 16], [2, 8, 3, 16], [2, 4, 5, 16], [2, 4, 5, 6]]")
                  .flop == 2.5 * s.flop);
}

/* Values that are read and written, by hand. */
TEST(elementwise_operations_are_counted) {
  static const struct {
    const char *op, *sizes;
    int64_t elements;
    double values;
  } cases[] = {{"aten::mul", "[[2, 3], [2, 3]]", 6, 18},
               {"aten::add", "[[2, 3], [3], []]", 6, 15},
               {"aten::add_", "[[4, 1, 3], [5, 1]]", 60, 77},
               {"aten::copy_", "[[2, 3], [3], []]", 6, 9},
               {"aten::fill_", "[[7], []]", 7, 7},
               {"aten::gelu", "[[2, 3], []]", 6, 12},
               {"aten::mul", "[[2, 3], [4, 3]]", -1, -1},
               {"aten::mul", "[[], []]", -1, -1},
               {"aten::mul", "[[0, 3], [3]]", -1, -1},
               {"aten::mul", "[[[2], [3]], [3]]", -1, -1},
               {"aten::mul", "[[999999999999999999, 99], [99]]", -1, -1},
               {"aten::mul", "[[4000000000, 1000000000], [4000000000, 1000000000]]", -1, -1}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct nai_matrix_shape s = shape_of(cases[i].op, cases[i].sizes);
    if (s.flop == -1 ? cases[i].elements != -1
                     : !s.elementwise || s.flop != 0 || s.m != cases[i].elements || s.values != cases[i].values)
      fail_msg("%s %s: %g of %g values", cases[i].op, cases[i].sizes, (double)s.m, s.values);
  }
}

TEST(what_does_not_fit_is_unknown) {
  static const char *const cases[][2] = {
      {"aten::mm", "[[2, 3], [4, 5]]"},
      {"aten::mm", "[[2, 3]]"},
      {"aten::mm", "[[2, 3, 4], [4, 5]]"},
      {"aten::mm", "[[2, 0], [0, 5]]"},
      {"aten::bmm", "[[7, 2, 3], [8, 3, 5]]"},
      {"aten::linear", "[[2, 3], [5, 3]]"},
      {"aten::_scaled_dot_product_flash_attention", "[[2, 8, 3, 16], [2, 4, 5, 17], [2, 4, 5, 6]]"},
      {"aten::_scaled_dot_product_flash_attention",
       "[[999999999999999999, 999999999999999999, 3, 16], [999999999999999999, 4, 5, 16], [999999999999999999, 4, 5, 6]]"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    if (shape_of(cases[i][0], cases[i][1]).flop != -1)
      fail_msg("%s %s", cases[i][0], cases[i][1]);
}

/* Any cut of a text, and any byte of it changed, is read within its bounds. */
TEST(damaged_lists_are_harmless) {
  static const char text[] = "[[8, 1024], [[2], []], [1024, 4096, 2, 3, 4, 5, 6, 7, 8], [], [1]]";
  static const char bytes[] = "[],9 x";
  struct nai_sizes s;
  for (size_t len = 0; len < sizeof text; len++)
    for (size_t b = 0; b < sizeof bytes; b++) {
      char copy[sizeof text] = {0};
      memcpy(copy, text, len);
      copy[len / 2] = bytes[b];
      (void)nai_sizes_read(&s, copy);
      assert_in_range(s.count, 0, NAI_SIZES_MOST);
    }
}
