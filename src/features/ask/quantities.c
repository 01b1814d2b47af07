/* GPUs, times, sizes and counts that a question names. */
#include "features/ask/internal.h"
#include "features/ask/numbers.h"

#include <strings.h>

static bool is_number(const char *word) {
  return *word && strlen(word) < 6 && strspn(word, "0123456789") == strlen(word);
}

/* Whether another number follows the one at i: "0 and 1", "0 vs 1". */
static bool goes_on(const struct nai_question *q, size_t i) {
  static const char *const links[] = {"and", "or", "vs", "versus", "with", "to", "than"};
  bool linked = false;
  for (size_t l = 0; i + 2 < q->count && l < sizeof links / sizeof *links; l++)
    linked |= strcmp(q->words[i + 1].text, links[l]) == 0;
  return linked && is_number(q->words[i + 2].text);
}

static void add_gpu(struct nai_question *q, const char *digits) {
  int64_t gpu = strtoll(digits, NULL, 10);
  if (q->gpu_count < NAI_QUESTION_MAX_GPUS && (!q->gpu_count || q->gpus[0] != gpu))
    q->gpus[q->gpu_count++] = gpu;
}

/* "gpu 1", "device 1", "gpu1"; "ranks 0 and 1": those of a pair are GPUs, too. */
void nai_question_read_gpus(struct nai_question *q) {
  static const char *const words[] = {"gpu", "gpus", "device", "devices", "rank", "ranks"};
  enum { RANK = 4 };
  bool ranks = false;
  for (size_t i = 0; i < q->count; i++) {
    const char *word = q->words[i].text, *digits = NULL;
    size_t at = i, w = 0;
    while (w < sizeof words / sizeof *words && strcmp(word, words[w]) != 0)
      w++;
    if (w < sizeof words / sizeof *words)
      digits = i + 1 < q->count ? q->words[at = i + 1].text : NULL;
    else if (strncmp(word, "gpu", 3) == 0)
      digits = word + 3;
    if (!digits || !is_number(digits))
      continue;
    q->words[at].of_gpu = true;
    ranks |= w >= RANK && w < sizeof words / sizeof *words;
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

/* "the first 100 ms", "the last 2 s": a stretch that is counted from an end of the capture. */
static void take_end(struct nai_question *q, const char *text, const char *number) {
  static const char first[] = "first ", last[] = "last ";
  bool begins =
      number - text >= (ptrdiff_t)strlen(first) && strncasecmp(number - strlen(first), first, strlen(first)) == 0;
  bool ends = number - text >= (ptrdiff_t)strlen(last) && strncasecmp(number - strlen(last), last, strlen(last)) == 0;
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

/* "at 60.3 s": a stretch that begins there. */
static void take_point(struct nai_question *q, const char *text, const char *number) {
  enum { LENGTH_NS = 1000000 };
  static const char at[] = "at ";
  bool point = number - text >= (ptrdiff_t)strlen(at) && strncasecmp(number - strlen(at), at, strlen(at)) == 0;
  if (point && q->time_count == 1)
    q->time_ns[q->time_count++] = q->time_ns[0] + LENGTH_NS;
}

/* "gaps are between 1 and 5 ms", "between 1 and 5 ms long" */
static bool says_length(const struct nai_question *q) {
  static const char *const verbs[] = {"are", "is", "took", "take", "takes", "last", "lasts", "lasting", "of"};
  enum { SHORT_NS = 100000000 };
  bool says = q->count && strcmp(q->words[q->count - 1].text, "long") == 0;
  for (size_t i = 0; i + 1 < q->count; i++)
    for (size_t v = 0; v < sizeof verbs / sizeof *verbs; v++)
      says |= strcmp(q->words[i + 1].text, "between") == 0 && strcmp(q->words[i].text, verbs[v]) == 0;
  return says && q->time_ns[0] < SHORT_NS && q->time_ns[1] < SHORT_NS;
}

/* "between 10 and 20 us": nobody asks for such a stretch of a capture by its times since the start. */
static void take_lengths(struct nai_question *q) {
  enum { SHORT_NS = 1000000 };
  bool brief = q->time_ns[0] < SHORT_NS && q->time_ns[1] < SHORT_NS;
  if (q->time_count != 2 || q->from_start || q->from_end || (!brief && !says_length(q)))
    return;
  q->least_ns = q->time_ns[0] < q->time_ns[1] ? q->time_ns[0] : q->time_ns[1];
  q->most_ns = q->time_ns[0] + q->time_ns[1] - q->least_ns;
  q->time_count = 0;
}

static const struct {
  const char *word;
  bool above;
} comparisons[] = {{"over", true},     {"above", true},  {"exceed", true},   {"exceeding", true}, {"beyond", true},
                   {"longer", true},   {"more", true},   {"greater", true},  {"larger", true},    {"bigger", true},
                   {"slower", true},   {"higher", true}, {"least", true},    {"under", false},    {"below", false},
                   {"shorter", false}, {"less", false},  {"fewer", false},   {"smaller", false},  {"faster", false},
                   {"quicker", false}, {"lower", false}, {"most", false},    {"within", false},   {"länger", true},
                   {"kürzer", false},  {"größer", true}, {"kleiner", false}, {"mehr", true},      {"weniger", false},
                   {"über", true},     {"unter", false}};
enum { COMPARISONS = sizeof comparisons / sizeof *comparisons };

bool nai_question_is_comparison(const char *word, size_t len, bool *above) {
  for (size_t i = 0; i < COMPARISONS; i++)
    if (strlen(comparisons[i].word) == len && strncasecmp(comparisons[i].word, word, len) == 0) {
      *above = comparisons[i].above;
      return true;
    }
  return false;
}

/* "in the first second"; "more than a second" */
static void take_unit(struct nai_question *q) {
  for (size_t i = 1; i < q->count && !q->time_count; i++) {
    const char *unit = q->words[i].text, *before = q->words[i - 1].text;
    int64_t ns = strcmp(unit, "second") == 0 ? 1000000000 : strcmp(unit, "millisecond") == 0 ? 1000000 : 0;
    bool first = strcmp(before, "first") == 0, last = strcmp(before, "last") == 0, above;
    if (ns && (first || last)) {
      q->from_start = first;
      q->from_end = last;
      q->time_ns[0] = ns;
      q->time_ns[1] = 0;
      q->time_count = 2;
    }
    size_t at = i < 2 || (strcmp(before, "a") != 0 && strcmp(before, "one") != 0) ? 0 : i - 2;
    at -= at && strcmp(q->words[at].text, "than") == 0;
    if (ns && at && nai_question_is_comparison(q->words[at].text, strlen(q->words[at].text), &above))
      *(above ? &q->least_ns : &q->most_ns) = ns;
  }
}

/* "longer than 5 ms", "> 5 ms", "under 5 ms": that the number is a limit, and of which side. */
static bool is_limit(bool *above, const char *text, const char *number) {
  const char *end = number, *at;
  for (int back = 0; back < 2; back++, end = at) {
    while (end > text && strchr(" =", end[-1]))
      end--;
    if (end > text && strchr("<>", end[-1])) {
      *above = end[-1] == '>';
      return true;
    }
    for (at = end; at > text && (isalpha((unsigned char)at[-1]) || at[-1] & 0x80);)
      at--;
    if (nai_question_is_comparison(at, (size_t)(end - at), above))
      return true;
    if ((end - at != 4 || strncasecmp(at, "than", 4) != 0) && (end - at != 3 || strncasecmp(at, "als", 3) != 0) &&
        (end - at != 1 || *at != 'a'))
      return false;
  }
  return false;
}

static bool take_limit(struct nai_question *q, const char *text, const struct nai_number *number) {
  bool above, bytes = number->kind == NAI_NUMBER_BYTES;
  if (!is_limit(&above, text, number->text) || number->value >= 1e18)
    return false;
  *(bytes ? above ? &q->least_bytes : &q->most_bytes : above ? &q->least_ns : &q->most_ns) = (int64_t)number->value;
  return true;
}

/* "the three slowest". One is mostly no number: "is it the slow one". */
static int64_t of_word(const char *word) {
  static const char *const words[] = {"two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strcmp(word, words[i]) == 0)
      return (int64_t)i + 2;
  return INT64_MIN;
}

/* Durations and points of time: "5 us", "between 0.2 and 0.3 s"; and the first number that is none of those. */
void nai_question_read_numbers(struct nai_question *q, const char *text) {
  enum { MAX_JOIN = 5, MAX_PLAIN = 1000000000 }; /* " and "; a process id */
  struct nai_number plain = {0}, number;
  const char *end = text + strlen(text);
  q->number = q->other = q->least_ns = q->most_ns = q->least_bytes = q->most_bytes = INT64_MIN;
  for (const char *at = text; nai_number_next(&number, text, &at, end);) {
    bool joined = plain.text && number.text - (plain.text + plain.len) <= MAX_JOIN;
    double written = strtod(number.text, NULL);
    bool limit =
        number.kind == NAI_NUMBER_BYTES || number.kind == NAI_NUMBER_TIME ? take_limit(q, text, &number) : false;
    if (number.kind == NAI_NUMBER_TIME && !limit) {
      if (joined && written > 0)
        take_time(q, plain.value * number.value / written);
      take_time(q, number.value);
      take_end(q, text, number.text);
      take_point(q, text, number.text);
    }
    plain = number.kind == NAI_NUMBER_PLAIN ? number : (struct nai_number){0};
    bool plain_or_share = plain.text || number.kind == NAI_NUMBER_PERCENT;
    int64_t *place = q->number == INT64_MIN ? &q->number : q->other == INT64_MIN ? &q->other : NULL;
    if (plain_or_share && place && number.value < MAX_PLAIN)
      *place = (int64_t)number.value;
  }
  for (size_t i = 0; i < q->count && q->number == INT64_MIN; i++)
    q->number = of_word(q->words[i].text);
  take_lengths(q);
  take_unit(q);
}
