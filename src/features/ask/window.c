/* The stretch of time that a question is about. */
#include "features/ask/numbers.h"
#include "features/ask/relation_reading.h"

/* When the first call, range or sample begins that is recorded. */
static const char first_event[] =
    "select min(t) from (select (select start_ns from api_events limit 1) as t union all select (select start_ns from "
    "osrt_events limit 1) union all select (select start_ns from nvtx_events limit 1) union all select (select time_ns "
    "from sample_events limit 1))";
/* When the last thing ends that is recorded, or the session. */
static const char session_end[] =
    "select max(t) from (select window_end_ns as t from run_info union all select duration_ns from capture union all "
    "select (select end_ns from api_events order by rowid desc limit 1) union all select (select end_ns from osrt_events "
    "order by rowid desc limit 1) union all select (select end_ns from nvtx_events order by rowid desc limit 1))";

/* `otherwise`: where nothing is recorded. */
static int find_time(int64_t *out, const struct nai_asking *asking, const char *sql, int64_t otherwise,
                     struct nai_err *err) {
  NAI_SCOPED(nai_query_rows) found = {0};
  NAI_TRY(nai_facts_ask(&found, asking, sql, "events", err));
  *out = found.rows && !nai_query_cell(&found, 0, 0)->null ? nai_query_cell_int(&found, 0, 0) : otherwise;
  return NAI_OK;
}

/* The first second of a program is not that of its work on GPUs, and neither is a time that is longer than that. */
static bool is_of_host(const struct nai_question *q) {
  bool host = false;
  for (size_t i = 0; i < q->count; i++)
    host |= nai_word_is_of("cpu host program process script application app python session", q->words[i].text);
  return host;
}

/* "before any CUDA call" */
static bool is_before_cuda(const struct nai_question *q) {
  bool before = false, cuda = false;
  for (size_t i = 0; i < q->count; i++) {
    cuda |= before && strcmp(q->words[i].text, "cuda") == 0;
    before |= strcmp(q->words[i].text, "before") == 0;
  }
  return cuda;
}

int nai_window_place(const struct nai_asking *asking, struct nai_question *q, struct nai_err *err) {
  NAI_SCOPED(nai_query_rows) found = {0};
  if (q->time_count < 2)
    return NAI_OK;
  int64_t from = q->time_ns[0] < q->time_ns[1] ? q->time_ns[0] : q->time_ns[1];
  int64_t to = q->time_ns[0] + q->time_ns[1] - from;
  NAI_TRY(nai_facts_ask(&found, asking, "select window_start_ns, window_end_ns from run_info", "run_info", err));
  int64_t start = found.rows ? nai_query_cell_int(&found, 0, 0) : 0,
          end = found.rows ? nai_query_cell_int(&found, 0, 1) : 0;
  if (q->part)
    to = (end - start) / q->part;
  const bool before_cuda = q->from_start && is_before_cuda(q),
             host = q->from_start && !q->part && (is_of_host(q) || before_cuda || to > end - start);
  int64_t first = start;
  if (to <= start || host)
    NAI_TRY(find_time(&first, asking, first_event, start, err));
  if (q->from_end && !q->part && (is_of_host(q) || to > end - start)) { /* "the last 30 s" of a program */
    NAI_TRY(find_time(&end, asking, session_end, end, err));
    NAI_TRY(find_time(&start, asking, first_event, start, err));
  }
  if (before_cuda) /* there is no CUDA call in it */
    NAI_TRY(find_time(&end, asking, "select min(start_ns) from api_events", end, err));
  int64_t base = q->from_end ? end - to : host ? first : q->from_start || to <= first ? start : 0;
  if (q->to_end && from + base >= end)
    NAI_TRY(find_time(&end, asking, session_end, end, err));
  q->time_ns[0] = q->from_end && from + base < start ? start : from + base;
  q->time_ns[1] = (q->from_start && to + base > end) || (q->to_end && from + base < end) ? end : to + base;
  return NAI_OK;
}

/* --- around what happens ------------------------------------------------------------------------------------------ */

enum side { BEFORE, AFTER, DURING, BETWEEN, SIDES };
static const char *const sides[SIDES] = {
    [BEFORE] = "before until till", [AFTER] = "after behind", [DURING] = "while during", [BETWEEN] = "between"};

/* Which of several, words in front of it that say nothing, words behind it, and those of many, which are no stretch. */
static const char behind[] =
    "runs running run is was finished finishes done ends ended starts started begins called gets launched takes being "
    "executes executing happens begin start";
enum which { FIRST, SECOND, LAST, LONGEST, TWO, FRONT, BEHIND, MANY, WHICH };
static const char *const which_words[WHICH] = {[FIRST] = "first",     [SECOND] = "second",
                                               [LAST] = "last final", [LONGEST] = "longest slowest biggest",
                                               [TWO] = "two both",    [FRONT] = "the a and gpu launching our my",
                                               [BEHIND] = behind,     [MANY] = "every each any three"};

static bool says_when(const char *word) {
  bool says = false;
  for (int side = 0; side < SIDES; side++)
    says |= nai_word_is_of(sides[side], word);
  for (int which = 0; which < WHICH; which++)
    says |= which != FRONT && nai_word_is_of(which_words[which], word);
  return says;
}

/* "before the first cuda call": its words, and what is meant. */
struct around {
  enum side side;
  size_t first, behind;
  const struct nai_thing *thing;
  bool of[WHICH];
};

static bool is_point(const struct nai_question *q, size_t at) {
  return strcmp(q->words[at].text, "at") == 0 && isdigit((unsigned char)q->words[at + 1].text[0]) &&
         nai_number_is_unit(q->words[at + 2].text);
}

/* False: nothing of the kind is said, or of several things. */
static bool read_around(struct around *out, const struct nai_question *q, const struct nai_thing *things,
                        size_t count) {
  *out = (struct around){.side = SIDES};
  for (size_t i = 0; i < q->count && out->side == SIDES; i++)
    for (int side = 0; side < SIDES && out->side == SIDES; side++)
      if (nai_word_is_of(sides[side], q->words[i].text) && !nai_is_adjacent(q, i)) /* "right after": one event */
        *out = (struct around){.side = (enum side)side, .first = i};
  for (size_t t = 0; t < count && out->side != SIDES && !out->thing; t++)
    if (things[t].first > out->first)
      out->thing = &things[t];
  if (!out->thing)
    return false;
  for (size_t i = 0; i < out->first; i++) /* "from the start until": a length */
    if (nai_word_is_of("from", q->words[i].text))
      return false;
  for (size_t i = out->first + 1; i < out->thing->first; i++) {
    const char *word = q->words[i].text;
    bool known = false;
    for (int which = 0; which < WHICH; which++) {
      const bool is = nai_word_is_of(which_words[which], word);
      out->of[which] |= is;
      known |= is;
    }
    if (!known || out->of[MANY])
      return false;
  }
  out->behind = out->thing->behind;
  while (out->behind < q->count && nai_word_is_of(which_words[BEHIND], q->words[out->behind].text))
    out->behind++;
  if (out->behind + 3 == q->count && is_point(q, out->behind)) /* "at 1.3 s" tells when that was */
    out->behind = q->count;
  return !q->time_count || out->behind == q->count;
}

/* Cuts the session down to what is meant; false: of several events it is not said which. */
static bool cut_stretch(int64_t *from, int64_t *to, const struct around *around,
                        const struct nai_thing_events *events) {
  const struct nai_thing_event *first = events->at, *last = events->at, *longest = events->at;
  const bool pair =
      around->of[FIRST] && around->of[SECOND] ? events->count >= 2 : around->of[TWO] && events->count == 2;
  if (around->side == BETWEEN) { /* "the two kernels", "the first and the second kernel" */
    *from = pair ? first[0].end : *to;
    *to = pair ? first[1].start : *to;
    return *from < *to;
  }
  if (around->of[SECOND])
    return false;
  for (uint32_t i = 0; i < events->count; i++) {
    const struct nai_thing_event *e = &events->at[i];
    last = e->end > last->end ? e : last;
    longest = e->end - e->start > longest->end - longest->start ? e : longest;
  }
  const struct nai_thing_event *one = around->of[LONGEST]                     ? longest
                                    : around->of[LAST]                        ? last
                                    : around->of[FIRST] || events->count == 1 ? first
                                                                              : NULL;
  if (!one)
    return false;
  if (around->side == BEFORE && one->start <= *from) /* it is the first thing recorded */
    *from = 0;
  *from = around->side == BEFORE ? *from : around->side == AFTER ? one->end : one->start;
  *to = around->side == AFTER ? *to : around->side == BEFORE ? one->start : one->end;
  return *from < *to;
}

/* The question without these words. */
static const char *without(const struct nai_question *q, const struct around *around, struct nai_arena *arena) {
  NAI_SCOPED(nai_buf) text = {0};
  for (size_t i = 0; i < q->count; i++)
    if (i < around->first || i >= around->behind)
      nai_buf_printf(&text, q->words[i].quoted ? " \"%s\"" : " %s", q->words[i].typed);
  arena->oom |= text.oom;
  return nai_arena_printf(arena, "%s", nai_buf_str(&text));
}

static const char *words_of(const struct nai_question *q, const struct around *around, struct nai_arena *arena) {
  NAI_SCOPED(nai_buf) text = {0};
  for (size_t i = around->first; i < around->behind; i++)
    nai_buf_printf(&text, "%s%s", text.len ? " " : "", q->words[i].typed);
  arena->oom |= text.oom;
  return nai_arena_printf(arena, "%s", nai_buf_str(&text));
}

int nai_window_around(const char **said, const struct nai_asking *asking, struct nai_question *q, struct nai_err *err) {
  const struct nai_thing_filter filter = {asking->gpu == INT64_MIN ? -1 : asking->gpu, -1, -1, -1, -1};
  struct nai_thing things[NAI_RELATION_MAX_THINGS];
  struct nai_thing_events events;
  struct around around;
  int64_t from, to;
  size_t count;
  *said = NULL;
  NAI_TRY(nai_things_find(things, &count, asking, q, says_when, err));
  if (!read_around(&around, q, things, count))
    return NAI_OK;
  NAI_TRY(nai_things_load(&events, around.thing, &filter, asking, err));
  NAI_TRY(find_time(&from, asking, first_event, 0, err));
  NAI_TRY(find_time(&to, asking, session_end, 0, err));
  if (!cut_stretch(&from, &to, &around, &events))
    return NAI_OK;
  *said = words_of(q, &around, asking->arena);
  nai_question_read(q, asking->intents, without(q, &around, asking->arena));
  q->time_ns[0] = from;
  q->time_ns[1] = to;
  q->time_count = 2;
  q->around = true;
  return nai_arena_check(asking->arena, err);
}
