/* Numbers in prose, and whether a text keeps to the facts. */
#include "unit.h"

#include "features/ask/llm.h"
#include "features/ask/numbers.h"

#include <string.h>

static struct nai_number number_in(const char *text) {
  struct nai_number n = {0};
  const char *at = text;
  assert_true(nai_number_next(&n, text, &at, text + strlen(text)));
  return n;
}

TEST(test_numbers_are_read) {
  static const struct {
    const char *text;
    enum nai_number_kind kind;
    double value;
  } cases[] = {{"29.6 ms", NAI_NUMBER_TIME, 29.6e6},
               {"1,234 calls", NAI_NUMBER_PLAIN, 1234},
               {"at 5us.", NAI_NUMBER_TIME, 5e3},
               {"53.9 %", NAI_NUMBER_PERCENT, 53.9},
               {"2 GiB", NAI_NUMBER_BYTES, 2147483648.0},
               {"12.5 GB/s", NAI_NUMBER_RATE, 12.5e9},
               {"3 seconds", NAI_NUMBER_TIME, 3e9},
               {"7 \xc2\xb5s", NAI_NUMBER_TIME, 7e3},
               {"1,23", NAI_NUMBER_PLAIN, 1},
               {"128x64", NAI_NUMBER_PLAIN, 128},
               {"GPU 1 steps", NAI_NUMBER_PLAIN, 1},
               {"10 sm", NAI_NUMBER_PLAIN, 10}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct nai_number n = number_in(cases[i].text);
    assert_int_equal(n.kind, cases[i].kind);
    assert_float_equal(n.value, cases[i].value, 1e-3);
  }
}

TEST(test_names_are_no_numbers) {
  for (const char *const *t = (const char *const[]){"fp16 and H100", "sm_90.5", "nvjet_tst_192x192", "", "no", NULL};
       *t; t++) {
    struct nai_number n;
    const char *at = *t;
    assert_false(nai_number_next(&n, *t, &at, *t + strlen(*t)));
  }
}

static bool good(const char *text) {
  struct nai_fact_value exact = {
      .column = (char *)"idle_ns", .unit = NAI_NS, .value = {.type = NAI_I64, .i = 29634752}};
  struct nai_answer answer = {.facts = {{.table = (char *)"t", .text = (char *)"GPU 0 is idle for 29.6 ms (53.9 %)"},
                                        {.table = (char *)"t", .text = (char *)"step_b: 20 calls, 1.2 µs"}},
                              .fact_count = 2};
  struct nai_buf why = {0};
  answer.facts[0].values[answer.facts[0].value_count++] = exact;
  bool kept = nai_llm_check(&why, text, "why does GPU 3 wait", &answer, 2);
  assert_int_equal(kept, why.len == 0);
  nai_buf_free(&why);
  return kept;
}

TEST(test_texts_that_keep_to_the_facts) {
  for (const char *const *t =
           (const char *const[]){"", "No numbers at all.", "GPU 0 is idle for 29.6 ms [F1].", "Idle: 53.9 %. [F1]",
                                 "29.634752 ms [F1]", "29.63 ms [F1]", "30 ms [F1]", "It has 20 calls of 1200 ns [F2].",
                                 "1. Idle for 29.6 ms [F1].\n2. 20 calls [F2]", "29.6 ms and 20 calls [F1][F2].",
                                 "29.6 ms and 20 calls [F1, F2].", "You ask about GPU 3.", "fp16 kernels are fine.",
                                 "step_b: 20 calls [F2].", "Idle (29.6 msec) [F1]", NULL};
       *t; t++)
    assert_true(good(*t));
}

TEST(test_texts_that_do_not) {
  for (const char *const *t = (const char *const[]){"GPU 0 is idle for 29.6 ms.",
                                                    "29.5 ms [F1]",
                                                    "29.6 us [F1]",
                                                    "29.6 % [F1]",
                                                    "20 calls [F1]",
                                                    "29.6 ms [F2]",
                                                    "It is so [F3].",
                                                    "It is so [F64].",
                                                    "It is so [F99999999999999999999].",
                                                    "53.9 % [F1]. So 46.1 % are busy.",
                                                    "It is 2x as fast [F1].",
                                                    "29.6 ms [F1] \n 29.6 ms",
                                                    "29.6 ms [f1].",
                                                    "29.6 ms [F0]",
                                                    "GPU 4 waits.",
                                                    "GPU 3 is idle for 29.6 ms [F1].",
                                                    "GPU 2 is idle for 29.6 ms [F1].",
                                                    "-29.6 ms [F1]",
                                                    "20.4 calls [F2]",
                                                    "29.62 ms [F1]",
                                                    "step_a has 20 calls [F2].",
                                                    "aten::copy_ takes 29.6 ms [F1].",
                                                    "cudaFree takes 29.6 ms [F1].",
                                                    NULL};
       *t; t++)
    assert_false(good(*t));
}
