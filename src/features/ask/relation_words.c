/* What the words of a question say of the things it names. */
#include "features/ask/numbers.h"
#include "features/ask/relation_reading.h"

static const char nothing[] =
    "actually account accounts accounted for by that warm warmup launched distribution run runs used use inside within "
    "in of on spends wait waits waiting overhead pipeline whole across called execution far both passes pass factor thing things happens happened did "
    "behind running single individual";
static const char *const vocabulary[SAYS] = {
    [SAYS_AVERAGE] = "average mean averages",
    [SAYS_MEDIAN] = "median typical typically p50 usual usually",
    [SAYS_P90] = "p90",
    [SAYS_P95] = "p95",
    [SAYS_P99] = "p99",
    [SAYS_SHORTEST] = "shortest fastest quickest minimum min smallest cheapest",
    [SAYS_LONGEST] = "longest slowest maximum max biggest largest worst",
    [SAYS_SPREAD] =
        "std stddev dev stable stability variable variability variance variation deviation jitter jittery consistent vary varies",
    [SAYS_TOTAL] = "total sum summed together altogether",
    [SAYS_COUNT] = "many count number often times called executed",
    [SAYS_TIME] =
        "time long takes take took duration durations spend spends spent cost costs lasts expensive slow busy",
    [SAYS_BYTES] = "bytes big large size sizes data",
    [SAYS_RATE] = "bandwidth throughput rate rates speed",
    [SAYS_SHARE] = "percent percentage share fraction part proportion much",
    [SAYS_RATIO] = "ratio",
    [SAYS_OR] = "vs versus or than compared compare comparison difference differ against",
    [SAYS_AND] = "and",
    [SAYS_SLOWER] = "slower longer",
    [SAYS_FASTER] = "faster quicker shorter speedup",
    [SAYS_MORE] = "more most bigger highest greater dominates dominate dominating dominant hot hotter hottest",
    [SAYS_FEWER] = "less fewer least fewest lowest",
    [SAYS_PER] = "per each every",
    [SAYS_FROM] = "between from until till to",
    [SAYS_AFTER] = "after",
    [SAYS_ADJACENT] = "",
    [SAYS_END] = "end ends finish finishes finished ended finishing",
    [SAYS_BEGIN] = "start starts starting started begin begins beginning",
    [SAYS_FIRST] = "first 1st",
    [SAYS_NTH] = "second third fourth fifth sixth seventh eighth ninth tenth",
    [SAYS_LAST] = "last final",
    [SAYS_NEXT] = "next following subsequent",
    [SAYS_REST] = "rest others other remaining",
    [SAYS_OVER] =
        "over change changes changed getting gets become becomes drift drifts drifting trend degrade degrades towards toward",
    [SAYS_OUTLIER] = "outlier outliers",
    [SAYS_WITHOUT] = "excluding except without besides excluded",
    [SAYS_WHICH] = "which what whats when",
    [SAYS_GAP] = "idle gap gaps pause pauses distance interval apart",
    [SAYS_CONSECUTIVE] = "consecutive successive adjacent back",
    [SAYS_BALANCED] = "balanced imbalanced balance imbalance even evenly uneven",
    [SAYS_LATENCY] = "latency latencies delay",
    [SAYS_GPU] = "gpu gpus device devices",
    [SAYS_PROCESS] = "process processes pid pids rank ranks",
    [SAYS_STREAM] = "stream streams",
    [SAYS_THREAD] = "thread threads",
    [SAYS_BUSY] = "busy utilization utilized util usage active",
    [SAYS_WHILE] = "while during whilst",
    [SAYS_COVERED] = "covered covers cover overlapped overlapping overlaps overlap hidden hide hides",
    [SAYS_WHY] = "why wtf",
    [SAYS_HOST] = "host cpu",
    [SAYS_ALWAYS] = "always never",
    [SAYS_LAUNCH] = "launch launches",
    [SAYS_ON_GPU] = "",
    [SAYS_SOMEWHERE] = "",
    [SAYS_NOTHING] = nothing};

static bool says(enum nai_says what, const char *word) {
  return nai_word_is_of(vocabulary[what], word) || (what == SAYS_NTH && nai_ordinal_of(word) > 1);
}

bool nai_says_something(const char *word) {
  for (int s = 0; s < SAYS; s++)
    if (says((enum nai_says)s, word))
      return true;
  return false;
}

bool nai_is_adjacent(const struct nai_question *q, size_t i) {
  return i && nai_word_is_of("after before", q->words[i].text) &&
         nai_word_is_of("right directly immediately straight", q->words[i - 1].text);
}

static const char *const ordinals[] = {"last",  "first",   "second", "third", "fourth", "fifth",
                                       "sixth", "seventh", "eighth", "ninth", "tenth"};
enum { ORDINALS = sizeof ordinals / sizeof *ordinals };

int nai_ordinal_of(const char *word) {
  for (int i = 1; i < ORDINALS; i++)
    if (strcmp(word, ordinals[i]) == 0)
      return i;
  const size_t digits = strspn(word, "0123456789");
  return digits && digits < 9 && nai_word_is_of("st nd rd th", word + digits) ? atoi(word) : 0;
}

void nai_put_ordinal(struct nai_buf *out, int number) {
  static const char *const endings[] = {"th", "st", "nd", "rd"};
  const int last = number / 10 % 10 != 1 && number % 10 < 4 ? number % 10 : 0;
  if (number < ORDINALS)
    nai_buf_puts(out, ordinals[number < 0 ? 0 : number]);
  else
    nai_buf_printf(out, "%d%s", number, endings[last]);
}

bool nai_relation_is_likely(const struct nai_question *q) {
  static const enum nai_says related[] = {SAYS_SHARE,   SAYS_RATIO,  SAYS_OR,    SAYS_SLOWER,  SAYS_FASTER,
                                          SAYS_PER,     SAYS_FROM,   SAYS_FIRST, SAYS_NEXT,    SAYS_OVER,
                                          SAYS_OUTLIER, SAYS_SPREAD, SAYS_GAP,   SAYS_LATENCY, SAYS_CONSECUTIVE,
                                          SAYS_WITHOUT, SAYS_REST,   SAYS_AFTER, SAYS_TIME,    SAYS_WHILE,
                                          SAYS_COVERED, SAYS_NTH,    SAYS_LAST,  SAYS_RATE,    SAYS_BYTES,
                                          SAYS_BUSY};
  for (size_t i = 0; i < q->count; i++) {
    bool likely = nai_is_adjacent(q, i);
    for (size_t s = 0; s < sizeof related / sizeof *related && !likely; s++)
      likely = says(related[s], q->words[i].text);
    if (likely)
      return true;
  }
  return false;
}

/* --- what is said where ------------------------------------------------------------------------------------------- */

bool nai_is_said(const struct nai_reading *r, enum nai_says says, size_t first, size_t behind) {
  for (size_t i = first; i < behind; i++)
    if (r->at[i][says])
      return true;
  return false;
}

/* "stream 15", "pid 7"; *taken: its number. */
static void take_filter(struct nai_relation *out, bool *taken, const struct nai_reading *r, size_t i) {
  const bool of_stream = i && r->at[i - 1][SAYS_STREAM], of_process = i && r->at[i - 1][SAYS_PROCESS];
  const char *digits = r->q->words[i].text;
  *taken = false;
  if ((!of_stream && !of_process) || strspn(digits, "0123456789") != strlen(digits) || strlen(digits) > 9)
    return;
  int64_t *of = of_stream ? &out->filter.stream : &out->filter.pid;
  if (*of >= 0 || out->pair) { /* "pid 144 vs pid 145" */
    out->pair = of_stream ? NAI_GROUP_STREAM : NAI_GROUP_PROCESS;
    *of = -1;
  } else {
    *of = atoi(digits);
  }
  *taken = true;
}

/* "which process copies more, 1679 or 1680": numbers of those that are compared anyway. */
static bool is_one_of_both(const struct nai_question *q, size_t i) {
  const size_t or = i + 1 < q->count && strcmp(q->words[i + 1].text, "or") == 0 ? i + 1 : i ? i - 1 : 0;
  const bool number = strspn(q->words[i].text, "0123456789") == strlen(q->words[i].text);
  bool process = false;
  for (size_t w = 0; w < i; w++)
    process |= nai_word_is_of(vocabulary[SAYS_PROCESS], q->words[w].text);
  return number && process && strcmp(q->words[or].text, "or") == 0;
}

/* "longer than 80 ms", "under 80 ms": its number and unit, and the word before it. */
static bool is_limit(const struct nai_question *q, size_t i) {
  const bool limited = q->least_ns != INT64_MIN || q->most_ns != INT64_MIN;
  const size_t at = i && nai_number_is_unit(q->words[i].text)                                             ? i - 1
                  : i + 1 < q->count && nai_question_limit_of(q->words[i].text, strlen(q->words[i].text)) ? i + 1
                                                                                                          : i;
  return limited && isdigit((unsigned char)q->words[at].text[0]);
}

/* "2x": as many times. */
static bool take_times(struct nai_relation *out, const char *word) {
  char *end;
  double times = strtod(word, &end);
  if (end == word || strcmp(end, "x") != 0)
    return false;
  out->times = times;
  return true;
}

/* "per stream", "which process", "in each thread", "GPUs": for each of them; "on the GPU" is not. */
static bool is_group(const struct nai_reading *r, size_t i) {
  static const char before[] = "per each every which what by many across among between all both";
  const char *word = r->q->words[i].text;
  size_t at = i; /* "many of the 7 GPUs" */
  while (at && (nai_word_is_of("of the", r->q->words[at - 1].text) ||
                (r->q->words[at - 1].ignored && isdigit((unsigned char)r->q->words[at - 1].text[0]))))
    at--;
  const bool of_number = i + 1 < r->q->count && isdigit((unsigned char)r->q->words[i + 1].text[0]);
  return !of_number && (strncmp(word, "rank", 4) == 0 || (at && nai_word_is_of(before, r->q->words[at - 1].text)));
}

/* Words for GPUs, processes, streams and threads that mean no group, and "last" that is no place in an order. */
static void drop_places(struct nai_reading *r, const struct nai_relation *out) {
  const struct nai_question *q = r->q;
  for (size_t i = 0; i < q->count; i++)
    for (int s = SAYS_GPU; s <= SAYS_THREAD; s++)
      if (r->at[i][s] && !is_group(r, i)) {
        const bool place = nai_word_is_of("stream process pid thread", q->words[i].text);
        r->at[i][s] = false;
        r->at[i][SAYS_ON_GPU] = s == SAYS_GPU;
        r->at[i][SAYS_SOMEWHERE] = place && out->filter.stream < 0 && out->filter.pid < 0 && !out->pair;
      }
  for (size_t i = 0; i < q->count; i++) /* "per second", "in a second" */
    r->at[i][SAYS_NTH] &= !(i && nai_word_is_of("per a one each every", q->words[i - 1].text));
  if (nai_is_said(r, SAYS_TIME, 0, q->count - 1)) /* "how long does it last" */
    r->at[q->count - 1][SAYS_LAST] = false;
}

bool nai_take_words(struct nai_relation *out, struct nai_reading *r) {
  const struct nai_question *q = r->q;
  for (size_t t = 0; t < out->count; t++)
    for (size_t i = out->things[t].first; i < out->things[t].behind; i++)
      r->of_thing[i] = true;
  for (size_t i = 0; i < q->count; i++) {
    const struct nai_question_word *w = &q->words[i];
    bool known = r->of_thing[i] || w->ignored || w->of_gpu || is_limit(q, i) || is_one_of_both(q, i);
    for (int s = 0; s < SAYS && !r->of_thing[i]; s++)
      known |= r->at[i][s] = says((enum nai_says)s, w->text);
    known |= (r->at[i][SAYS_ADJACENT] = nai_is_adjacent(q, i)) || (i + 1 < q->count && nai_is_adjacent(q, i + 1));
    if (!known && !take_times(out, w->text)) {
      take_filter(out, &known, r, i);
      if (!known)
        return false;
    }
  }
  for (size_t i = 0; i + 1 < q->count; i++) /* "slower per call": on average */
    if (r->at[i][SAYS_PER] && nai_word_is_of("call launch invocation execution instance", q->words[i + 1].text) &&
        !r->of_thing[i + 1]) {
      r->at[i][SAYS_PER] = r->at[i + 1][SAYS_LAUNCH] = r->at[i + 1][SAYS_NOTHING] = false;
      r->at[i][SAYS_AVERAGE] = true;
    }
  drop_places(r, out);
  for (int s = 0; s < SAYS; s++)
    r->says[s] = nai_is_said(r, (enum nai_says)s, 0, q->count);
  return true;
}

bool nai_says_compared(const struct nai_reading *r) {
  return r->says[SAYS_SLOWER] || r->says[SAYS_FASTER] || r->says[SAYS_MORE] || r->says[SAYS_FEWER];
}

bool nai_says_share(const struct nai_reading *r) {
  for (size_t i = 0; i < r->q->count; i++)
    if (r->at[i][SAYS_SHARE] && (!nai_word_is_of("much part", r->q->words[i].text) ||
                                 (i + 1 < r->q->count && strcmp(r->q->words[i + 1].text, "of") == 0)))
      return true;
  return false;
}
