/* src/base, against slow and simple versions of the same things. */
#include "unit.h"

#include "base/arena.h"
#include "base/array.h"
#include "base/buf.h"
#include "base/spill_array.h"
#include "base/fmt.h"
#include "base/fs.h"
#include "base/sort.h"
#include "base/sink.h"
#include "base/strings.h"
#include "base/text.h"
#include "base/threads.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static uint64_t random_state = 1;
static uint64_t next_random(void) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return random_state ^ random_state >> 29;
}

/* --- buf, err --------------------------------------------------------------------------------- */

TEST(test_buf) {
  struct nai_buf buf = {0};
  struct nai_err err = {0};
  assert_string_equal(nai_buf_str(&buf), "");
  for (int i = 0; i < 1000; i++)
    nai_buf_printf(&buf, "%03d", i);
  nai_buf_putc(&buf, '!');
  nai_buf_put(&buf, "", 0);
  assert_int_equal(buf.len, 3001);
  assert_memory_equal(buf.data + 2991, "997998999!", 11);
  nai_buf_clear(&buf);
  assert_string_equal(nai_buf_str(&buf), "");
  nai_buf_puts(&buf, "kept");
  assert_int_equal(nai_buf_check(&buf, &err), 0);
  assert_null(nai_buf_reserve(&buf, SIZE_MAX - 2));
  nai_buf_puts(&buf, "dropped"); /* out of memory is sticky */
  assert_string_equal(buf.data, "kept");
  assert_int_equal(nai_buf_check(&buf, &err), NAI_ELIMIT);
  nai_buf_free(&buf);
  nai_buf_free(NULL);
}

/* LEB128's own examples, and what decoding gives back, one by one and many at a time. */
TEST(test_varints) {
  static const uint64_t values[] = {0, 1, 127, 128, 300, 624485, UINT64_MAX, 5};
  enum { COUNT = sizeof values / sizeof *values };
  struct nai_buf one = {0}, many = {0};
  size_t at = 0;
  for (int i = 0; i < COUNT; i++)
    nai_buf_put_varint(&one, values[i]);
  nai_buf_put_varints(&many, values, COUNT);
  nai_buf_put_varints(&many, values, 0);
  assert_int_equal(many.len, one.len);
  assert_memory_equal(many.data, one.data, one.len);
  assert_memory_equal(many.data + 5, "\xac\x02\xe5\x8e\x26", 5);
  for (int i = 0; i < COUNT; i++) {
    uint64_t value = 0;
    for (int shift = 0; shift == 0 || many.data[at - 1] & 0x80; shift += 7)
      value |= (uint64_t)(many.data[at++] & 0x7f) << shift;
    assert_true(value == values[i]);
  }
  assert_int_equal(at, many.len);
  nai_buf_free(&one);
  nai_buf_free(&many);
}

TEST(test_err) {
  struct nai_err err = {0};
  assert_int_equal(nai_err_set(&err, NAI_EINPUT, "row %d", 7), NAI_EINPUT);
  assert_int_equal(nai_err_wrap(&err, NAI_EINPUT, "table \"%s\"", "x"), NAI_EINPUT);
  assert_int_equal(nai_err_wrap(NULL, NAI_EINPUT, "table"), NAI_EINPUT);
  assert_string_equal(err.msg, "table \"x\": row 7");
  assert_int_equal(nai_err_sys(&err, NAI_EIO, ENOENT, "open"), NAI_EIO);
  assert_string_equal(err.msg, "open: No such file or directory");
  assert_int_equal(nai_err_sys(&err, NAI_EIO, ENOMEM, "open"), NAI_ELIMIT);
  assert_int_equal(nai_err_set(NULL, NAI_EIO, "x"), NAI_EIO);
  nai_err_set(&err, NAI_ESTALE, "no table %d", 3);
  nai_err_set(&err, NAI_EINPUT, "%s", err.msg); /* another code for the same message */
  assert_string_equal(err.msg, "no table 3");
  for (int i = 0; i < 1000; i++)
    nai_err_wrap(&err, NAI_ELIMIT, "%0100d", i);
  assert_true(strlen(err.msg) < sizeof err.msg);
  assert_int_equal(err.code, NAI_ELIMIT);
  static const int exits[][2] = {{NAI_OK, 0},  {NAI_EUSAGE, 2}, {NAI_EINPUT, 3},
                                 {NAI_EIO, 5}, {NAI_ELIMIT, 6}, {-99, 70}};
  for (size_t i = 0; i < sizeof exits / sizeof *exits; i++)
    assert_int_equal(nai_err_exit_status(exits[i][0]), exits[i][1]);
}

/* --- strings ---------------------------------------------------------------------------------- */

TEST(test_strings_against_a_list) {
  enum { ADDS = 20000, DISTINCT = 3000 };
  struct nai_strings strings = {0};
  static char texts[DISTINCT][16];
  static uint32_t ids[DISTINCT];
  uint32_t seen = 0;
  assert_int_equal(nai_strings_find(&strings, "x", 1), NAI_NO_STRING);
  for (int i = 0; i < DISTINCT; i++) {
    ids[i] = NAI_NO_STRING;
    snprintf(texts[i], sizeof texts[i], "%x", i * 2654435761u);
    if (i == 0)
      texts[i][0] = '\0'; /* the empty text is a text like any other */
  }
  for (int n = 0; n < ADDS; n++) {
    int i = (int)(next_random() >> 33) % DISTINCT;
    uint32_t id = nai_strings_add(&strings, texts[i], strlen(texts[i]));
    if (ids[i] == NAI_NO_STRING)
      ids[i] = seen++; /* dense, in order of first appearance */
    assert_int_equal(id, ids[i]);
    assert_string_equal(nai_strings_get(&strings, id), texts[i]);
    assert_int_equal(nai_strings_len(&strings, id), strlen(texts[i]));
    assert_int_equal(nai_strings_find(&strings, texts[i], strlen(texts[i])), id);
  }
  assert_int_equal(strings.count, seen);
  assert_int_equal(nai_strings_find(&strings, "not there", 9), NAI_NO_STRING);
  assert_string_equal(nai_strings_get(&strings, seen), "");
  assert_string_equal(nai_strings_get(&strings, NAI_NO_STRING), "");
  assert_int_equal(nai_strings_len(&strings, NAI_NO_STRING), 0);
  nai_strings_free(&strings);
}

/* Texts asked for lately are found by their ends: those of the same ends and length are different texts all the same.
 */
/* Of two dictionaries with some texts in common one becomes all; the first that is taken is taken as it is. */
TEST(test_strings_of_another) {
  enum { TEXTS = 1000 };
  struct nai_strings all = {0}, other = {0};
  struct nai_err err;
  uint32_t ids[TEXTS];
  char text[16];
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < TEXTS; i++)
      assert_int_equal(nai_strings_add(&other, text, (size_t)snprintf(text, sizeof text, "%d", i + round * TEXTS / 2)),
                       i);
    assert_int_equal(nai_strings_take(ids, &all, &other, &err), NAI_OK);
    assert_int_equal(other.count, 0);
    assert_int_equal(all.count, TEXTS + round * TEXTS / 2);
    for (int i = 0; i < TEXTS; i++) {
      assert_int_equal(ids[i], i + round * TEXTS / 2);
      snprintf(text, sizeof text, "%d", i + round * TEXTS / 2);
      assert_string_equal(nai_strings_get(&all, ids[i]), text);
    }
  }
  assert_int_equal(nai_strings_find(&all, "1999", 4), 1999);
  nai_strings_free(&all);
}

TEST(test_strings_with_the_same_ends) {
  enum { LONGEST = 40, VARIANTS = 3, ROUNDS = 5 };
  struct nai_strings strings = {0};
  uint32_t ids[LONGEST][LONGEST][VARIANTS];
  for (int round = 0; round < ROUNDS; round++)
    for (int len = 1; len < LONGEST; len++)
      for (int at = 0; at < len; at++) /* all bytes are alike but one */
        for (int variant = 0; variant < VARIANTS; variant++) {
          char text[LONGEST];
          memset(text, '-', (size_t)len);
          text[at] = (char)('a' + variant);
          uint32_t id = nai_strings_add(&strings, text, (size_t)len);
          if (!round)
            ids[len][at][variant] = id;
          assert_int_equal(id, ids[len][at][variant]);
          assert_int_equal(nai_strings_add(&strings, text, (size_t)len), id);
          assert_int_equal(nai_strings_find(&strings, text, (size_t)len), id);
          assert_memory_equal(nai_strings_get(&strings, id), text, (size_t)len);
        }
  assert_int_equal(strings.count, LONGEST * (LONGEST - 1) / 2 * VARIANTS);
  nai_strings_free(&strings);
}

/* --- sort ------------------------------------------------------------------------------------- */

static int by_key_then_value(const void *pa, const void *pb) {
  const struct nai_key *a = pa, *b = pb;
  int c = (a->key > b->key) - (a->key < b->key);
  return c ? c : (a->value > b->value) - (a->value < b->value);
}

TEST(test_sort_is_stable_and_right) {
  static const int shifts[] = {0, 8, 32, 56, 60, 63};
  for (size_t round = 0; round < 60; round++) {
    size_t n = round < 10 ? round * 7 : (size_t)(next_random() % 3000);
    struct nai_key *keys = calloc(n + 1, sizeof *keys), *expected = calloc(n + 1, sizeof *expected);
    for (size_t i = 0; i < n; i++) {
      uint64_t key = next_random() >> shifts[round % 6];
      keys[i].key = round % 7 == 0 ? nai_key_from_i64((int64_t)key) : key;
      keys[i].value = (uint32_t)i; /* ascending, so that stable means sorted by (key, value) */
      expected[i] = keys[i];
    }
    qsort(expected, n, sizeof *expected, by_key_then_value);
    assert_int_equal(nai_sort_keys(keys, n, NULL), 0);
    for (size_t i = 0; i < n; i++)
      assert_true(keys[i].key == expected[i].key && keys[i].value == expected[i].value);
    free(keys);
    free(expected);
  }
  assert_true(nai_key_from_i64(INT64_MIN) < nai_key_from_i64(-1) && nai_key_from_i64(-1) < nai_key_from_i64(0) &&
              nai_key_from_i64(0) < nai_key_from_i64(INT64_MAX));
}

/* From one sorted list to more in a row than are merged, with keys that several of them have. */
TEST(test_sort_of_sorted_lists) {
  enum { MOST = 3000 };
  static struct nai_key keys[MOST], expected[MOST], scratch[MOST];
  for (uint32_t lists = 1; lists <= 12; lists++)
    for (uint32_t in_place = 0; in_place < 2; in_place++) {
      for (uint32_t i = 0, next = 0; i < MOST; i++) {
        next = i % ((MOST + lists - 1) / lists) ? next + (uint32_t)(next_random() % 3) : 0;
        keys[i] = expected[i] = (struct nai_key){next, i};
      }
      qsort(expected, MOST, sizeof *expected, by_key_then_value);
      if (in_place)
        assert_int_equal(nai_sort_keys(keys, MOST, NULL), 0);
      else
        nai_sort_keys_in(keys, scratch, MOST);
      for (uint32_t i = 0; i < MOST; i++)
        assert_true(keys[i].key == expected[i].key && keys[i].value == expected[i].value);
    }
}

static uint64_t by_digits(const void *ctx, uint32_t value) { return value % *(const uint32_t *)ctx; }

static int by_key_then_digits(const void *pa, const void *pb) {
  const struct nai_key *a = pa, *b = pb;
  const uint64_t left[] = {a->key, a->value % 7, a->value}, right[] = {b->key, b->value % 7, b->value};
  int i = 0;
  while (i < 2 && left[i] == right[i])
    i++;
  return (left[i] > right[i]) - (left[i] < right[i]);
}

TEST(test_sort_keys_by_another) {
  enum { MOST = 3000 };
  static struct nai_key keys[MOST], expected[MOST];
  for (uint32_t kinds = 1; kinds <= MOST; kinds *= 3) { /* from one run of equal keys to hardly any */
    for (uint32_t i = 0; i < MOST; i++)
      keys[i] = expected[i] = (struct nai_key){next_random() % kinds, i};
    qsort(expected, MOST, sizeof *expected, by_key_then_digits);
    assert_int_equal(nai_sort_keys_by(keys, MOST, by_digits, &(uint32_t){7}, NULL), 0);
    for (uint32_t i = 0; i < MOST; i++)
      assert_true(keys[i].key == expected[i].key && keys[i].value == expected[i].value);
  }
  assert_int_equal(nai_sort_keys_by(keys, 0, by_digits, NULL, NULL), 0);
}

static int by_i64(const void *pa, const void *pb) {
  int64_t a = *(const int64_t *)pa, b = *(const int64_t *)pb;
  return (a > b) - (a < b);
}

TEST(test_quantiles_against_sorting) {
  static const double qs[] = {0, 0.01, 0.25, 0.5, 0.9, 0.95, 0.99, 1};
  for (int round = 0; round < 300; round++) {
    size_t n = 1 + (size_t)(next_random() % 200);
    int64_t *v = calloc(n, sizeof *v), *sorted = calloc(n, sizeof *sorted);
    for (size_t i = 0; i < n; i++)
      v[i] = sorted[i] = round % 3 == 0 ? (int64_t)(next_random() % 5) : (int64_t)next_random() >> 12;
    qsort(sorted, n, sizeof *sorted, by_i64);
    for (size_t q = 0; q < sizeof qs / sizeof *qs; q++) {
      double position = qs[q] * (double)(n - 1);
      size_t below = (size_t)floor(position), above = (size_t)ceil(position);
      double expected = (double)sorted[below] + (position - floor(position)) * (double)(sorted[above] - sorted[below]);
      assert_true(fabs(nai_quantile_i64(v, n, qs[q]) - expected) <= 1e-9 * fabs(expected));
    }
    size_t k = (size_t)(next_random() % n);
    nai_select_i64(v, n, k);
    assert_int_equal(v[k], sorted[k]);
    for (size_t i = 0; i < n; i++)
      assert_true(i < k ? v[i] <= v[k] : v[i] >= v[k]);
    free(v);
    free(sorted);
  }
  assert_true(isnan(nai_quantile_i64(NULL, 0, 0.5)));
  int64_t extremes[] = {INT64_MAX, INT64_MIN};
  assert_true(fabs(nai_quantile_i64(extremes, 2, 0.5)) <= 1);
}

/* --- fmt -------------------------------------------------------------------------------------- */

TEST(test_exact_numbers) {
  static const struct {
    int64_t value;
    int decimals;
    const char *text;
  } cases[] = {{136355595, 6, "136.355595"},
               {0, 6, "0.000000"},
               {-1, 3, "-0.001"},
               {12, 0, "12"},
               {INT64_MIN, 0, "-9223372036854775808"},
               {INT64_MIN, 18, "-9.223372036854775808"},
               {INT64_MAX, 9, "9223372036.854775807"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct nai_buf out = {0};
    nai_fmt_scaled(&out, cases[i].value, cases[i].decimals);
    assert_string_equal(out.data, cases[i].text);
    nai_buf_free(&out);
  }
}

/* As printf says them, but for the sign of what rounds to nothing: of any size, and in the middle between two that can
 * be printed. */
TEST(test_reals_against_printf) {
  uint64_t random = 1;
  for (int i = 0; i < 300000; i++) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    int decimals = (int)(random >> 60) % 8;
    double value = ldexp((double)(int64_t)random, -(int)(random >> 33 & 127));
    if (i % 3 == 1)
      value = (double)(int32_t)(random >> 32) / 1000;
    if (i % 3 == 2) /* halves, quarters ... */
      value = (double)(int32_t)(random >> 40) / (double)(1u << (random >> 20) % 12);
    struct nai_buf out = {0};
    char want[512];
    snprintf(want, sizeof want, "%.*f", decimals, value);
    nai_fmt_real(&out, value, decimals);
    assert_string_equal(nai_buf_str(&out), want + (want[0] == '-' && !strpbrk(want, "123456789")));
    nai_buf_free(&out);
  }
}

TEST(changes_that_round_to_nothing_have_no_sign) {
  static const struct {
    double pct;
    int digits;
    const char *want;
  } cases[] = {{6.613, 2, "+6.61 %"}, {-6.613, 1, "-6.6 %"}, {-0.004, 2, "0.00 %"}, {0.004, 2, "0.00 %"},
               {0, 1, "0.0 %"},       {-0.0, 2, "0.00 %"},   {-0.006, 2, "-0.01 %"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct nai_buf text = {0};
    nai_fmt_change(&text, cases[i].pct, cases[i].digits);
    assert_string_equal(nai_buf_str(&text), cases[i].want);
    nai_buf_free(&text);
  }
}

TEST(test_human_numbers) {
  static const struct {
    char what;
    double value;
    const char *text;
  } cases[] = {
      {'d', 0, "0 ns"},
      {'d', 5, "5 ns"},
      {'d', 999.4, "999 ns"},
      {'d', 999.6, "1.00 µs"},
      {'d', 7940, "7.94 µs"},
      {'d', 136355595, "136.4 ms"},
      {'d', 999949999, "999.9 ms"},
      {'d', 999950000, "1.00 s"},
      {'d', 2.35e9, "2.35 s"},
      {'d', 119.4e9, "119.4 s"},
      {'d', 200e9, "3 min 20 s"},
      {'d', 119.6e9, "2 min 0 s"},
      {'d', -200e9, "-3 min 20 s"},
      {'d', -0.2, "0 ns"},
      {'d', -7940, "-7.94 µs"},
      {'d', NAN, "-"},
      {'d', 7.2e12, "120 min 0 s"},
      {'c', 1234567, "1,234,567"},
      {'c', -999, "-999"},
      {'c', 1000, "1,000"},
      {'b', 512, "512 B"},
      {'b', 1024, "1.0 KiB"},
      {'b', 95840000, "91.4 MiB"},
      {'b', 1e18, "888.2 PiB"},
      {'p', 41.9, "41.9 %"},
      {'p', 0.04, "0.04 %"},
      {'p', 0.001, "<0.01 %"},
      {'p', 0, "0.0 %"},
      {'p', 100, "100.0 %"},
      {'p', 99.96, ">99.9 %"}, /* not all */
      {'p', 99.94, "99.9 %"},
      {'r', -0.0001, "0.00"},
      {'r', 1.005e3, "1005.00"},
      {'r', INFINITY, ""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct nai_buf out = {0};
    double v = cases[i].value;
    switch (cases[i].what) {
    case 'd':
      nai_fmt_duration(&out, v);
      break;
    case 'c':
      nai_fmt_count(&out, (int64_t)v);
      break;
    case 'b':
      nai_fmt_bytes(&out, v);
      break;
    case 'p':
      nai_fmt_percent(&out, v);
      break;
    default:
      nai_fmt_real(&out, v, 2);
    }
    assert_string_equal(nai_buf_str(&out), cases[i].text);
    nai_buf_free(&out);
  }
}

TEST(test_time_column) {
  static const struct {
    double low, high, value;
    bool sign;
    const char *text;
  } cases[] = {
      {2e6, 5e6, 2.633e6, false, "2,633 µs"}, /* four digits fit */
      {2e6, 5e7, 2.633e6, false, "2.633 ms"},
      {2e6, 5e7, 0, true, "0 ms"},
      {2e3, 5e7, 2653, false, "2.653 µs"}, /* little would be left of it in ms */
      {2, 5e7, 2, false, "0.002 µs"},      /* the longest does not bear ns */
      {2e3, 5e7, -154167, true, "-154.2 µs"},
      {2e3, 5e7, 154167, true, "+154.2 µs"},
      {2e3, 5e7, -0.1, true, "0.000 µs"},
      {1e12, 9e12, 9e12, false, "9,000 s"},
      {0, 0, 0, false, "0 ns"},
      {1, 1, NAN, false, "-"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct nai_time_column column = {0};
    struct nai_buf out = {0};
    nai_time_column_add(&column, cases[i].high);
    nai_time_column_add(&column, -cases[i].low);
    nai_time_column_add(&column, NAN);
    nai_fmt_time_in(&out, &column, cases[i].value, cases[i].sign);
    assert_string_equal(nai_buf_str(&out), cases[i].text);
    nai_buf_free(&out);
  }
}

/* --- text ------------------------------------------------------------------------------------- */

/* UTF-8 of any code point, surrogates included. */
static size_t encode(char *out, uint32_t c) {
  size_t len = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
  static const unsigned char marks[] = {0, 0, 0xc0, 0xe0, 0xf0};
  for (size_t i = len - 1; i > 0; i--, c >>= 6)
    out[i] = (char)(0x80 | (c & 63));
  out[0] = (char)(marks[len] | c);
  return len;
}

static void clean(const char *text, size_t len, const char *expected) {
  struct nai_buf out = {0};
  nai_text_clean(&out, text, len);
  assert_string_equal(nai_buf_str(&out), expected);
  assert_true(nai_text_is_clean(nai_buf_str(&out), out.len));
  assert_int_equal(nai_text_is_clean(text, len), strlen(expected) == len && memcmp(text, expected, len) == 0);
  nai_buf_free(&out);
}

TEST(test_nouns) {
  static const char *const nouns[][2] = {{"calls", "call"},
                                         {"copies", "copy"},
                                         {"launches", "launch"},
                                         {"pauses", "pause"},
                                         {"processes", "process"},
                                         {"matches", "match"},
                                         {"", ""}};
  for (size_t i = 0; i < sizeof nouns / sizeof *nouns; i++)
    for (int one = 0; one < 2; one++) {
      struct nai_buf out = {0};
      nai_fmt_noun(&out, one, nouns[i][0], strlen(nouns[i][0]));
      assert_string_equal(nai_buf_str(&out), nouns[i][one]);
      nai_buf_free(&out);
    }
}

TEST(test_cleaning) {
  clean("", 0, "");
  clean("void f<int>()", 13, "void f<int>()");
  clean("a\tb\nc\r", 6, "a b c ");
  clean("a\0b", 3, "a\\u{0}b");
  clean("\x1b[31m", 5, "\\u{1b}[31m");
  clean("\x7f", 1, "\\u{7f}");
  clean("\xe2\x80\xae", 3, "\\u{202e}");
  clean("\xe2\x80\xa8", 3, " ");
  clean("\xc2\x85\xc2\x9b", 4, " \\u{9b}");
  clean("\xc3\xa9\xf0\x9f\x98\x80", 6, "\xc3\xa9\xf0\x9f\x98\x80");
  clean("\xff", 1, "\xef\xbf\xbd");
  clean("a\xe2\x82", 3, "a\xef\xbf\xbd\xef\xbf\xbd");               /* cut */
  clean("\xc0\xaf", 2, "\xef\xbf\xbd\xef\xbf\xbd");                 /* overlong */
  clean("\xed\xa0\x80", 3, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"); /* surrogate */
  clean("\xf4\x90\x80\x80", 4, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
  /* A bad byte at each place of a word, because eight are checked at a time. */
  for (size_t at = 0; at < 20; at++)
    for (int c = 1; c < 256; c++) {
      char text[] = "abcdefghijklmnopqrst";
      text[at] = (char)c;
      assert_int_equal(nai_text_is_clean(text, 20), c >= 0x20 && c < 0x7f);
    }
}

TEST(test_every_code_point_is_cleaned_or_kept) {
  for (uint32_t c = 1; c <= 0x10ffff; c++) {
    char text[8];
    size_t len = encode(text, c);
    bool surrogate = c >= 0xd800 && c < 0xe000;
    bool kept = nai_text_is_clean(text, len);
    bool control = c < 0x20 || (c >= 0x7f && c < 0xa0);
    bool bidi = (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
    bool latin = (c >= 0x20 && c < 0x7f) || (c >= 0xc0 && c < 0x300);
    if (surrogate || control || bidi || c == 0xfeff || c == 0xad)
      assert_false(kept);
    if (latin || (c >= 0x4e00 && c < 0xa000) || (c >= 0x1f300 && c < 0x1f700))
      assert_true(kept);
  }
}

TEST(test_prefix_and_suggestions) {
  assert_int_equal(nai_text_prefix("abc", 3, 5), 3);
  assert_int_equal(nai_text_prefix("a\xc3\xa9z", 4, 2), 1);
  assert_int_equal(nai_text_prefix("a\xc3\xa9z", 4, 3), 3);
  assert_int_equal(nai_text_distance("", ""), 0);
  assert_int_equal(nai_text_distance("kitten", "sitting"), 3);
  assert_int_equal(nai_text_distance("ab", "ba"), 1);
  assert_int_equal(nai_text_distance("", "abc"), 3);
  static const char *const options[] = {"--rules", "--templates", "--trim", "--top"};
  assert_string_equal(nai_text_suggest("--rule", options, 4), "--rules");
  assert_string_equal(nai_text_suggest("--tpo", options, 4), "--top");
  assert_string_equal(nai_text_suggest("--tempaltes", options, 4), "--templates");
  assert_null(nai_text_suggest("--verbose-output", options, 4));
  assert_null(nai_text_suggest("x", options, 0));
}

/* --- fs --------------------------------------------------------------------------------------- */

TEST(test_files) {
  char top[] = "/tmp/nai-base-XXXXXX", path[256], other[256];
  struct nai_err err = {0};
  struct nai_buf text = {0};
  assert_non_null(mkdtemp(top));
  snprintf(path, sizeof path, "%s/a/b/c", top);
  assert_int_equal(nai_fs_mkdir_all(path, &err), 0);
  assert_int_equal(nai_fs_mkdir_all(path, &err), 0);
  assert_true(nai_fs_is_dir(path));
  assert_int_equal(nai_fs_mkdir_all("", &err), NAI_EIO);
  snprintf(path, sizeof path, "%s/a/file", top);
  assert_int_equal(nai_fs_write(path, "hello", 5, &err), 0);
  assert_int_equal(nai_fs_read(&text, path, 5, NAI_EINPUT, &err), 0);
  assert_string_equal(text.data, "hello");
  assert_int_equal(nai_fs_read(&text, path, 4, NAI_EINPUT, &err), NAI_EINPUT);
  assert_int_equal(nai_fs_read(&text, top, 4, NAI_EUSAGE, &err), NAI_EUSAGE);
  snprintf(other, sizeof other, "%s/a/fifo", top);
  assert_int_equal(mkfifo(other, 0600), 0);
  assert_int_equal(nai_fs_read(&text, other, 5, NAI_EINPUT, &err), NAI_EINPUT); /* and does not hang */
  assert_int_equal(nai_fs_write("/nonexistent/x", "", 0, &err), NAI_EIO);
  assert_int_equal(nai_fs_write("/dev/full", "x", 1, &err), NAI_EIO);
  snprintf(other, sizeof other, "%s/a/link", top);
  assert_int_equal(symlink("/tmp", other), 0);
  assert_true(nai_fs_exists(other));
  assert_int_equal(nai_fs_remove_tree(top, &err), 0); /* the link, not what it points to */
  assert_false(nai_fs_exists(top));
  assert_true(nai_fs_is_dir("/tmp"));
  assert_int_equal(nai_fs_remove_tree(top, &err), 0);
  assert_string_equal(nai_fs_basename("/a/x.sqlite"), "x.sqlite");
  assert_string_equal(nai_fs_basename("x"), "x");
  char way[64];
  static const char *const ways[][3] = {{"/a/b", "/a/c/d", "../c/d"},
                                        {"/a/b", "/a/b/c", "c"},
                                        {"/a/b/", "/a", "../"},
                                        {"/a/b", "/a/bc", "../bc"},
                                        {"/a", "/a", "."},
                                        {"/", "/x", "x"},
                                        {"no/such", "no/file", "../file"},
                                        {"/ab/c", "/x/y", "../../x/y"}};
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
    assert_int_equal(nai_fs_relative(way, sizeof way, ways[i][0], ways[i][1], &err), NAI_OK);
    assert_string_equal(way, ways[i][2]);
  }
  assert_int_equal(nai_fs_relative(way, 4, "/a/b", "/a/c/d", &err), NAI_EIO);
  nai_buf_free(&text);
}

/* --- threads ---------------------------------------------------------------------------------- */

enum { TASKS = 64 };
struct work {
  int runs[TASKS];
  bool fails; /* tasks 13, 14 and 15 of each 16 */
};

static int work(void *ctx, int task, struct nai_err *err) {
  struct work *w = ctx;
  w->runs[task]++;
  for (volatile unsigned spin = (unsigned)(task * 7919) % 5000; spin > 0; spin--)
    continue;
  return w->fails && task % 16 >= 13 ? nai_err_set(err, NAI_EINPUT, "task %d", task) : 0;
}

TEST(test_parallel) {
  static const int threads[] = {-1, 0, 1, 2, 3, 8, 1000};
  for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
    struct work w = {.fails = false};
    assert_int_equal(nai_parallel(threads[t], TASKS, work, &w, NULL), 0);
    for (int i = 0; i < TASKS; i++)
      assert_int_equal(w.runs[i], 1);
    for (int round = 0; round < 200; round++) {
      struct work failing = {.fails = true};
      struct nai_err err = {0};
      assert_int_equal(nai_parallel(threads[t], TASKS, work, &failing, &err), NAI_EINPUT);
      assert_string_equal(err.msg, "task 13"); /* for any number of threads */
      for (int i = 0; i <= 13; i++)
        assert_int_equal(failing.runs[i], 1);
    }
  }
  assert_int_equal(nai_parallel(4, 0, work, NULL, NULL), 0);
  assert_true(nai_cpu_count() >= 1);
}

/* What is put comes back, from memory and from a file. */
TEST(test_spool) {
  char directory[] = "/tmp/nai-spool-XXXXXX";
  assert_non_null(mkdtemp(directory));
  static const size_t sizes[] = {0, 1, 4096, 100000, 131072, 1000000, 3000001};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    struct nai_file_sink spool;
    struct nai_map map;
    struct nai_err err = {0};
    char piece[997];
    nai_sink_spool(&spool, directory);
    for (size_t at = 0, n; at < sizes[i]; at += n) {
      n = sizes[i] - at < sizeof piece ? sizes[i] - at : sizeof piece;
      for (size_t k = 0; k < n; k++)
        piece[k] = (char)((at + k) * 7 % 251);
      nai_buf_put(&spool.text, piece, n);
    }
    assert_int_equal(nai_sink_read(&map, &spool, &err), 0);
    assert_int_equal(map.size, sizes[i]);
    assert_int_equal(spool.fd, -1);
    for (size_t k = 0; k < sizes[i]; k++)
      if (map.data[k] != k * 7 % 251)
        fail_msg("byte %zu of %zu", k, sizes[i]);
    nai_file_sink_free(&spool);
  }
  struct nai_file_sink unused = {0}, lost;
  struct nai_map map;
  struct nai_err err = {0};
  nai_file_sink_free(&unused);
  static char much[200000];
  nai_sink_spool(&lost, "/nonexistent");
  nai_buf_put(&lost.text, much, sizeof much);
  assert_int_equal(nai_sink_read(&map, &lost, &err), NAI_EIO);
  assert_non_null(strstr(err.msg, "/nonexistent"));
  nai_file_sink_free(&lost);
  assert_int_equal(rmdir(directory), 0); /* no file is left */
}

TEST(test_big_arrays_grow) {
  const char *const directories[] = {NULL, "/tmp", "/nonexistent"};
  const size_t sizes[] = {100, 4096, 5 << 20, 20 << 20, 6 << 20, 1000}; /* plain, in a file, and back */
  for (size_t d = 0; d < sizeof directories / sizeof *directories; d++) {
    unsigned char *array = NULL;
    size_t had = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
      array = nai_spill_array_grow(array, directories[d], had, sizes[i]);
      assert_non_null(array);
      assert_int_equal((uintptr_t)array % 16, 0);
      for (size_t k = 0; k < had && k < sizes[i]; k += 61)
        assert_int_equal(array[k], k % 251);
      for (size_t k = 0; k < sizes[i]; k++)
        array[k] = (unsigned char)(k % 251);
      had = sizes[i];
    }
    nai_spill_array_free(array);
  }
}

TEST(test_dictionary_in_files) {
  enum { TEXTS = 400000 };
  struct nai_strings strings = {.directory = "/tmp"};
  char text[32];
  for (int round = 0; round < 2; round++)
    for (uint32_t i = 0; i < TEXTS; i++) {
      int len = snprintf(text, sizeof text, "a longer name %u", i);
      assert_int_equal(nai_strings_add(&strings, text, (size_t)len), i);
    }
  assert_string_equal(nai_strings_get(&strings, 0), "a longer name 0");
  assert_string_equal(nai_strings_get(&strings, TEXTS - 1), "a longer name 399999");
  nai_strings_free(&strings);
}

/* --- arrays ----------------------------------------------------------------------------------- */

TEST(test_arrays_grow) {
  uint32_t *numbers = NULL, capacity = 0;
  for (uint32_t i = 0; i < 1000; i++) {
    assert_true(nai_array_room(&numbers, &capacity, i, sizeof *numbers));
    assert_true(capacity > i && capacity <= 2 * i + 32);
    numbers[i] = i;
  }
  assert_true(nai_array_room(&numbers, &capacity, 100000, sizeof *numbers)); /* far behind the last */
  assert_true(capacity > 100000);
  numbers[100000] = 1;
  for (uint32_t i = 0; i < 1000; i++)
    assert_int_equal(numbers[i], i);
  uint32_t *before = numbers, had = capacity;
  assert_false(nai_array_room(&numbers, &capacity, UINT32_MAX, sizeof *numbers)); /* no capacity above it */
  assert_ptr_equal(numbers, before);
  assert_int_equal(capacity, had);
  free(numbers);
}

/* Small and large things side by side keep what is written in them, are zeroed, and grow. */
TEST(test_arena) {
  struct nai_err err = {0};
  for (int in_files = 0; in_files < 2; in_files++) {
    NAI_SCOPED(nai_arena) arena = NAI_ARENA(in_files ? "/tmp" : NULL);
    unsigned char *things[200];
    uint32_t *grown = NULL, capacity = 0;
    for (uint32_t i = 0; i < 200; i++) {
      size_t bytes = i % 50 == 49 ? 700000 : i * 7;
      assert_int_equal(NAI_NEW(things[i], &arena, bytes, &err), NAI_OK);
      assert_int_equal((uintptr_t)things[i] % 16, 0);
      for (size_t k = 0; k < bytes; k++)
        assert_int_equal(things[i][k], 0);
      memset(things[i], (int)i, bytes);
      for (uint32_t k = i * 1000; k < (i + 1) * 1000; k++) {
        assert_int_equal(NAI_ROOM(grown, capacity, k, &arena, &err), NAI_OK);
        assert_int_equal(grown[k], 0);
        grown[k] = k;
      }
    }
    for (uint32_t i = 0; i < 200; i++)
      for (size_t k = 0; k < (i % 50 == 49 ? 700000 : i * 7); k++)
        assert_int_equal(things[i][k], (unsigned char)i);
    for (uint32_t k = 0; k < 200000; k++)
      assert_int_equal(grown[k], k);
    assert_string_equal(nai_arena_printf(&arena, "%d of %s", 3, "three"), "3 of three");
    assert_int_equal(nai_arena_check(&arena, &err), NAI_OK);
    assert_int_equal(nai_arena_get(&things[0], &arena, SIZE_MAX / 2, 4, &err), NAI_ELIMIT);
    assert_int_equal(NAI_ROOM(grown, capacity, UINT32_MAX, &arena, &err), NAI_ELIMIT);
  }
}

static int leave_early(int *freed, int at) {
  struct nai_err err = {0};
  NAI_SCOPED(nai_buf) text = {0};
  NAI_FREED char *copy = NULL;
  nai_buf_puts(&text, "text");
  NAI_TRY(at == 1 ? nai_err_set(&err, NAI_EINPUT, "first") : NAI_OK);
  copy = strdup(nai_buf_str(&text)); /* the sanitizer tells what is not freed */
  *freed = (int)strlen(copy);
  NAI_TRY(at == 2 ? nai_err_set(&err, NAI_EIO, "second") : NAI_OK);
  return NAI_OK;
}

TEST(test_scopes_end_early) {
  int length = 0;
  assert_int_equal(leave_early(&length, 1), NAI_EINPUT);
  assert_int_equal(length, 0);
  assert_int_equal(leave_early(&length, 2), NAI_EIO);
  assert_int_equal(length, 4);
  assert_int_equal(leave_early(&length, 0), NAI_OK);
}

TEST(test_bisect_against_a_walk) {
  enum { MOST = 40 };
  struct record {
    uint32_t other;
    int64_t key;
  } records[MOST];
  assert_int_equal(nai_bisect(NULL, 0, sizeof *records, 8, 0), 0);
  for (size_t n = 1; n <= MOST; n++) {
    for (size_t i = 0; i < n; i++)
      records[i].key = i ? records[i - 1].key + (int64_t)(next_random() % 3) : -20;
    if (n % 7 == 0)
      records[0].key = INT64_MIN;
    if (n % 5 == 0)
      records[n - 1].key = INT64_MAX;
    for (int64_t least = -22; least < 100; least++) {
      size_t expected = 0;
      while (expected < n && records[expected].key < least)
        expected++;
      assert_int_equal(nai_bisect(records, n, sizeof *records, offsetof(struct record, key), least), expected);
    }
    assert_int_equal(nai_bisect(records, n, sizeof *records, offsetof(struct record, key), INT64_MIN), 0);
    assert_int_equal(nai_bisect(records, n, sizeof *records, offsetof(struct record, key), INT64_MAX),
                     records[n - 1].key == INT64_MAX ? n - 1 : n);
  }
}
