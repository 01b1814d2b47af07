/* GPUs, times, sizes and counts that a question names. */
#include "features/ask/internal.h"
#include "features/ask/numbers.h"

#include <strings.h>

static bool is_number(const char *word) {
  return *word && strlen(word) < 6 && strspn(word, "0123456789") == strlen(word);
}

/* Whether another number follows the one at i: "0 and 1", "0 vs 1". */
static bool goes_on(const struct nai_question *q, size_t i) {
  return i + 2 < q->count && nai_word_is_of("and or vs versus with to than", q->words[i + 1].text) &&
         is_number(q->words[i + 2].text);
}

static void add_gpu(struct nai_question *q, const char *digits) {
  int64_t gpu = strtoll(digits, NULL, 10);
  if (q->gpu_count < NAI_QUESTION_MAX_GPUS && (!q->gpu_count || q->gpus[0] != gpu))
    q->gpus[q->gpu_count++] = gpu;
}

/* "gpu 1", "device 1", "gpu1"; "ranks 0 and 1": those of a pair are GPUs, too. */
void nai_question_read_gpus(struct nai_question *q) {
  bool ranks = false;
  for (size_t i = 0; i < q->count; i++) {
    const char *word = q->words[i].text, *digits = NULL;
    size_t at = i;
    bool rank = nai_word_is_of("rank ranks", word);
    if (rank || nai_word_is_of("gpu gpus device devices", word))
      digits = i + 1 < q->count ? q->words[at = i + 1].text : NULL;
    else if (strncmp(word, "gpu", 3) == 0)
      digits = word + 3;
    if (!digits || !is_number(digits))
      continue;
    q->words[at].of_gpu = true;
    ranks |= rank;
    add_gpu(q, digits);
    if (goes_on(q, at)) {
      q->words[at + 2].of_gpu = true;
      add_gpu(q, q->words[at + 2].text);
    }
  }
  if (ranks && q->gpu_count < 2) /* a rank alone need not be that GPU */
    q->gpu_count = 0;
  for (size_t i = 0; i < q->count && !q->gpu_count; i++)
    q->words[i].of_gpu = false;
}

/* Whether a word and a space stand before a place in a text. */
static bool stands_before(const char *text, const char *at, const char *word) {
  const size_t len = strlen(word);
  if (at - text < (ptrdiff_t)len || strncasecmp(at - len, word, len) != 0)
    return false;
  return at - len == text || !isalnum((unsigned char)at[-(ptrdiff_t)len - 1]); /* "that 2 s thing" is not "at 2 s" */
}

/* "the first 100 ms", "the last 2 s": a stretch that is counted from an end of the capture. */
static void take_end(struct nai_question *q, const char *text, const char *number) {
  bool begins = stands_before(text, number, "first "), ends = stands_before(text, number, "last ");
  if ((!begins && !ends) || q->time_count != 1)
    return;
  q->from_start = begins;
  q->from_end = ends;
  q->time_ns[q->time_count++] = 0;
}

/* Sums of two that are taken fit into an int64_t. */
static void take_time(struct nai_question *q, double ns) {
  enum { MAX_S = 1000000000 };
  if (q->time_count < 2 && ns < MAX_S * 1e9)
    q->time_ns[q->time_count++] = (int64_t)ns;
}

/* "around 60.3 s": as far as the last digit that is written reaches; "takes around 60 ms" is a length. */
static bool take_around(struct nai_question *q, const char *text, const struct nai_number *number) {
  enum { LEAST_NS = 5000000 };
  static const char *const lengths[] = {"take ",  "takes ", "took ",    "of ",  "is ",
                                        "lasts ", "for ",   "kernels ", "gaps "};
  const char *at = number->text;
  const size_t len = stands_before(text, at, "around ") ? strlen("around ") : strlen("near ");
  bool is = stands_before(text, at, "around ") || stands_before(text, at, "near ");
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths && is; i++)
    is = !stands_before(text, at - len, lengths[i]);
  const int64_t reach = 2 * number->slack > LEAST_NS ? (int64_t)(2 * number->slack) : LEAST_NS;
  if (!is || q->time_ns[0] < reach)
    return false;
  q->time_ns[1] = q->time_ns[0] + reach;
  q->time_ns[0] -= reach;
  q->time_count = 2;
  return true;
}

/* "at 60.3 s": a stretch that begins there; "after 60.3 s": to the end of the capture; "before 60.3 s": up to that. */
static void take_point(struct nai_question *q, const char *text, const struct nai_number *of) {
  enum { LENGTH_NS = 1000000 };
  const char *number = of->text;
  if (q->time_count != 1 || take_around(q, text, of))
    return;
  if (stands_before(text, number, "before ") || stands_before(text, number, "until "))
    q->time_ns[q->time_count++] = 0;
  q->to_end = stands_before(text, number, "after ");
  if (q->to_end || stands_before(text, number, "at "))
    q->time_ns[q->time_count++] = q->time_ns[0] + LENGTH_NS;
}

/* "between 10 and 20 us", "between 1 and 5 ms long": no stretch of a capture by its times since the start. */
static void take_lengths(struct nai_question *q) {
  enum { BRIEF_NS = 1000000, SHORT_NS = 100000000 };
  bool says = q->count && strcmp(q->words[q->count - 1].text, "long") == 0;
  for (size_t i = 0; i + 1 < q->count; i++)
    says |= strcmp(q->words[i + 1].text, "between") == 0 &&
            nai_word_is_of("are is took take takes last lasts lasting of", q->words[i].text);
  int64_t below = says ? SHORT_NS : BRIEF_NS;
  if (q->time_count != 2 || q->from_start || q->from_end || q->time_ns[0] >= below || q->time_ns[1] >= below)
    return;
  q->least_ns = q->time_ns[0] < q->time_ns[1] ? q->time_ns[0] : q->time_ns[1];
  q->most_ns = q->time_ns[0] + q->time_ns[1] - q->least_ns;
  q->time_count = 0;
}

int nai_question_limit_of(const char *word, size_t len) {
  static const char least[] =
      "over above exceed exceeding beyond longer more greater larger bigger slower higher least "
      "länger größer mehr über exactly",
                    most[] = "under below shorter less fewer smaller faster quicker lower most within kürzer kleiner "
                             "weniger unter exactly";
  return (nai_word_place(least, word, len) ? NAI_LIMIT_LEAST : 0) |
         (nai_word_place(most, word, len) ? NAI_LIMIT_MOST : 0);
}

/* "in the first second", "in the first half"; "more than a second" */
static void take_unit(struct nai_question *q) {
  for (size_t i = 1; i < q->count && !q->time_count; i++) {
    const char *unit = q->words[i].text, *before = q->words[i - 1].text;
    int64_t ns = strcmp(unit, "second") == 0 ? 1000000000 : strcmp(unit, "millisecond") == 0 ? 1000000 : 0;
    bool first = strcmp(before, "first") == 0, last = strcmp(before, "last") == 0;
    size_t part = nai_word_place("half third quarter", unit, strlen(unit));
    last |= part == 1 && strcmp(before, "second") == 0;
    if ((ns || part) && (first || last)) {
      q->part = part ? (int64_t)part + 1 : 0;
      q->from_start = first;
      q->from_end = last;
      q->time_ns[0] = ns;
      q->time_ns[1] = 0;
      q->time_count = 2;
    }
    size_t at = i < 2 || (strcmp(before, "a") != 0 && strcmp(before, "one") != 0) ? 0 : i - 2;
    at -= at && strcmp(q->words[at].text, "than") == 0;
    int sides = ns && at ? nai_question_limit_of(q->words[at].text, strlen(q->words[at].text)) : 0;
    q->least_ns = sides & NAI_LIMIT_LEAST ? ns : q->least_ns;
    q->most_ns = sides & NAI_LIMIT_MOST ? ns : q->most_ns;
  }
}

/* "longer than 5 ms", "> 5 ms", "under 5 ms", "exactly 5 ms": of which sides a number is a limit. *itself: one that
 * meets it, "at least 5 ms". */
static int find_limit(bool *itself, const char *text, const char *number) {
  const char *end = number, *at;
  *itself = false;
  for (int back = 0; back < 2; back++, end = at) {
    for (; end > text && strchr(" =", end[-1]); end--)
      *itself |= end[-1] == '=';
    if (end > text && strchr("<>", end[-1]))
      return end[-1] == '>' ? NAI_LIMIT_LEAST : NAI_LIMIT_MOST;
    for (at = end; at > text && (isalpha((unsigned char)at[-1]) || at[-1] & 0x80);)
      at--;
    int sides = nai_question_limit_of(at, (size_t)(end - at));
    *itself |= sides && stands_before(text, at, "at ");
    if (sides)
      return sides;
    if (!nai_word_place("than als a", at, (size_t)(end - at)))
      return 0;
  }
  return 0;
}

static bool take_limit(struct nai_question *q, const char *text, const struct nai_number *number) {
  bool itself, bytes = number->kind == NAI_NUMBER_BYTES;
  int sides = number->value < 1e18 ? find_limit(&itself, text, number->text) : 0;
  if (sides & NAI_LIMIT_LEAST)
    *(bytes ? &q->least_bytes : &q->least_ns) = (int64_t)number->value - itself;
  if (sides & NAI_LIMIT_MOST)
    *(bytes ? &q->most_bytes : &q->most_ns) = (int64_t)number->value + itself;
  return sides;
}

/* "between 1 KB and 1 MB" */
static void take_size(struct nai_question *q, const struct nai_number *from, const struct nai_number *to) {
  double least = from->kind == NAI_NUMBER_PLAIN ? from->value * to->value / strtod(to->text, NULL) : from->value;
  q->least_bytes = (int64_t)(least < to->value ? least : to->value);
  q->most_bytes = (int64_t)(least < to->value ? to->value : least);
}

/* Whether only "and", "to" or a dash stands between two numbers. */
static bool are_joined(const struct nai_number *from, const struct nai_number *to) {
  enum { MAX_JOIN = 7 }; /* " until " */
  char between[MAX_JOIN + 1];
  const char *begin = from->text + from->len;
  if (!from->text || to->text - begin > MAX_JOIN)
    return false;
  begin += strspn(begin, " ");
  snprintf(between, sizeof between, "%.*s", begin < to->text ? (int)(to->text - begin) : 0, begin);
  between[strcspn(between, " ")] = '\0';
  return *between && nai_word_is_of("and to until till und bis - \xe2\x80\x93", between);
}

/* Durations and points of time: "5 us", "between 0.2 and 0.3 s"; and the first number that is none of those. */
void nai_question_read_numbers(struct nai_question *q, const char *text) {
  enum { MAX_PLAIN = 1000000000 }; /* a process id */
  struct nai_number plain = {0}, last = {0}, number;
  const char *end = text + strlen(text);
  bool apart = false; /* two times that are no stretch: "up in 56 ms but back in 271 ms" */
  q->number = q->other = q->least_ns = q->most_ns = q->least_bytes = q->most_bytes = INT64_MIN;
  for (const char *at = text; nai_number_next(&number, text, &at, end);) {
    bool near = are_joined(&last, &number), joined = near && plain.text;
    double written = strtod(number.text, NULL);
    bool limit =
        number.kind == NAI_NUMBER_BYTES || number.kind == NAI_NUMBER_TIME ? take_limit(q, text, &number) : false;
    if (number.kind == NAI_NUMBER_TIME && !limit) {
      apart |= q->time_count && !near;
      if (joined && written > 0)
        take_time(q, plain.value * number.value / written);
      take_time(q, number.value);
      take_end(q, text, number.text);
      take_point(q, text, &number);
    }
    if (near && number.kind == NAI_NUMBER_BYTES && (joined || last.kind == NAI_NUMBER_BYTES) && number.value < 1e18 &&
        (stands_before(text, last.text, "between ") || stands_before(text, last.text, "from ")))
      take_size(q, &last, &number);
    last = number;
    plain = number.kind == NAI_NUMBER_PLAIN ? number : (struct nai_number){0};
    bool plain_or_share = plain.text || number.kind == NAI_NUMBER_PERCENT;
    int64_t *place = q->number == INT64_MIN ? &q->number : q->other == INT64_MIN ? &q->other : NULL;
    if (plain_or_share && place && number.value < MAX_PLAIN)
      *place = (int64_t)number.value;
  }
  q->time_count = apart ? 0 : q->time_count;
  for (size_t i = 0, place; i < q->count && q->number == INT64_MIN; i++) /* one is mostly no number: "the slow one" */
    if ((place = nai_word_place("two three four five six seven eight nine ten", q->words[i].text,
                                strlen(q->words[i].text))))
      q->number = (int64_t)place + 1;
  take_lengths(q);
  take_unit(q);
}
