/* What questions are about, by their words alone: tests/data/questions.tsv. */
#include "unit.h"

#include "features/ask/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct nai_intents *intents;

static int load(void **state) {
  struct nai_err err = {0};
  (void)state;
  return nai_intents_load(&intents, NULL, 0, &err);
}

static int unload(void **state) {
  (void)state;
  nai_intents_free(intents);
  return 0;
}

/* As of a trace in which nothing has a name that is a word of the question. */
static const char *subject_of(struct nai_question *q, const char *text) {
  const struct nai_intent *found[NAI_QUESTION_MAX_MATCHES];
  nai_question_read(q, intents, text);
  nai_question_spell(q, intents);
  nai_question_take_spelling(q, intents);
  bool strange = false;
  for (size_t i = 0; i < q->count; i++)
    strange |= nai_question_is_strange(&q->words[i]);
  return nai_question_match(found, q, intents, !strange) ? found[0]->name : "-";
}

TEST(test_each_question_is_about_its_subject) {
  const char *root = getenv("NAI_SOURCE_DIR");
  char path[4096], line[512];
  struct nai_question *q = calloc(1, sizeof *q);
  size_t count = 0, wrong = 0;
  snprintf(path, sizeof path, "%s/tests/data/questions.tsv", root ? root : ".");
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  assert_non_null(q);
  for (; fgets(line, sizeof line, file); count++) {
    char *tab = strchr(line, '\t');
    assert_non_null(tab);
    *tab = '\0';
    tab[1 + strcspn(tab + 1, "\n")] = '\0';
    const char *subject = subject_of(q, tab + 1);
    if (strcmp(subject, line) != 0)
      print_error("\"%s\" is about %s, not %s\n", tab + 1, line, subject);
    wrong += strcmp(subject, line) != 0;
  }
  fclose(file);
  free(q);
  assert_true(count > 500);
  assert_int_equal(wrong, 0);
}

TEST(test_numbers_of_a_question) {
  struct nai_question *q = calloc(1, sizeof *q);
  assert_non_null(q);
  subject_of(q, "the top 5 kernels on GPU 1");
  assert_int_equal(q->number, 5);
  assert_int_equal(q->gpu_count, 1);
  assert_int_equal(q->gpus[0], 1);
  assert_int_equal(q->time_count, 0);
  static const char *const pairs[] = {"is gpu 0 busier than gpu 3", "gpu0 vs gpu3", "does rank 0 wait for rank 3",
                                      "compare gpus 0 and 3"};
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    subject_of(q, pairs[i]);
    assert_int_equal(q->gpu_count, 2);
    assert_int_equal(q->gpus[0], 0);
    assert_int_equal(q->gpus[1], 3);
  }
  subject_of(q, "is step 3 slower than step 4 of rank 1");
  assert_int_equal(q->gpu_count, 0); /* a rank alone need not be that GPU */
  assert_int_equal(q->number, 3);
  assert_int_equal(q->other, 4);
  subject_of(q, "kernels shorter than 2.5 us in the first second");
  assert_int_equal(q->most_ns, 2500);
  assert_int_equal(q->least_ns, INT64_MIN);
  assert_true(q->from_start && q->time_count == 2 && q->time_ns[0] == 1000000000);
  subject_of(q, "h2d copies > 1 MB that take more than 3 ms");
  assert_int_equal(q->least_bytes, 1000000);
  assert_int_equal(q->least_ns, 3000000);
  subject_of(q, "kernels from 10 to 20 us");
  assert_true(q->least_ns == 10000 && q->most_ns == 20000 && q->time_count == 0);
  subject_of(q, "gaps that are between 1 and 5 ms");
  assert_true(q->least_ns == 1000000 && q->most_ns == 5000000 && q->time_count == 0);
  subject_of(q, "wie viele kernel sind länger als 2 us");
  assert_int_equal(q->least_ns, 2000);
  subject_of(q, "the 5 ms gap");
  assert_true(q->time_count == 1 && q->least_ns == INT64_MIN);
  static const char *const spans[] = {"between 0.2 and 0.3 s", "from 200 ms to 300 ms", "0.2-0.3 s", "0.2 s to 300ms"};
  for (size_t i = 0; i < sizeof spans / sizeof *spans; i++) {
    assert_string_equal(subject_of(q, spans[i]), "window");
    assert_int_equal(q->time_ns[0], 200000000);
    assert_int_equal(q->time_ns[1], 300000000);
  }
  subject_of(q, "between 99999999999999999999 h and 9e99 s");
  assert_true(q->time_count < 2);
  assert_string_equal(subject_of(q, "what runs in the last 10 ms"), "window");
  assert_true(q->from_end && !q->from_start);
  free(q);
}

static const char *read_as(struct nai_question *q, const char *word) {
  subject_of(q, word);
  return q->words[0].meant;
}

TEST(test_spelling) {
  struct nai_question *q = calloc(1, sizeof *q);
  assert_non_null(q);
  assert_string_equal(read_as(q, "kernal"), "kernel");
  assert_string_equal(read_as(q, "memroy"), "memory");
  assert_string_equal(read_as(q, "utlization"), "utilization");
  assert_string_equal(read_as(q, "wich"), "which");
  /* other words, or nothing like it */
  static const char *const others[] = {"world", "stable", "prompt", "penguin", "kernel", "cup", "xkernel"};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    assert_string_equal(read_as(q, others[i]), "");
  free(q);
}

static const char *chosen(const struct nai_question *q, const char *key) {
  for (size_t i = 0; i < q->choice_count; i++)
    if (strcmp(q->choices[i].key, key) == 0)
      return q->choices[i].value;
  return NULL;
}

TEST(test_choices) {
  struct nai_question *q = calloc(1, sizeof *q);
  assert_non_null(q);
  subject_of(q, "p95 of the matmuls copied to the gpu");
  assert_string_equal(chosen(q, "kind"), "gemm");
  assert_string_equal(chosen(q, "statistic"), "p95");
  assert_string_equal(chosen(q, "direction"), "Host-to-Device");
  assert_null(chosen(q, "measure"));
  subject_of(q, "memory bandwith"); /* corrected first */
  assert_string_equal(chosen(q, "measure"), "rate");
  free(q);
}

/* A word that is the name of a kernel is not one that only begins like a word of an intent. */
TEST(test_whole_names) {
  struct nai_question *q = calloc(1, sizeof *q);
  const char *names[NAI_QUESTION_MAX_NAMES];
  const struct nai_intent *found[NAI_QUESTION_MAX_MATCHES];
  assert_non_null(q);
  nai_question_read(q, intents, "is hot1 idle");
  assert_int_equal(nai_question_whole_names(names, q), 1);
  assert_string_equal(names[0], "hot1");
  nai_question_read(q, intents, "idle2");
  assert_int_equal(nai_question_match(found, q, intents, true), 1);
  q->words[0].names = true;
  assert_int_equal(nai_question_match(found, q, intents, true), 0);
  free(q);
}

UNIT_FIXTURE(load, unload)
