/* The stretch of time that a question is about. */
#include "features/ask/numbers.h"
#include "features/ask/relation.h"

/* When the first call, range or sample begins that is recorded; `otherwise` where there is none. */
static int first_event(int64_t *out, const struct nai_asking *asking, int64_t otherwise, struct nai_err *err) {
  static const char sql[] =
      "select min(t) from (select (select start_ns from api_events limit 1) as t union all select (select start_ns "
      "from osrt_events limit 1) union all select (select start_ns from nvtx_events limit 1) union all select (select "
      "time_ns from sample_events limit 1))";
  NAI_SCOPED(nai_query_rows) found = {0};
  NAI_TRY(nai_facts_ask(&found, asking, sql, "events", err));
  *out = found.rows && !nai_query_cell(&found, 0, 0)->null ? nai_query_cell_int(&found, 0, 0) : otherwise;
  return NAI_OK;
}

/* When the last thing ends that is recorded, or the session. */
static int session_end(int64_t *out, const struct nai_asking *asking, struct nai_err *err) {
  static const char sql[] =
      "select max(t) from (select window_end_ns as t from run_info union all select duration_ns from capture union all "
      "select (select end_ns from api_events order by rowid desc limit 1) union all select (select end_ns from "
      "osrt_events order by rowid desc limit 1) union all select (select end_ns from nvtx_events order by rowid desc "
      "limit 1))";
  NAI_SCOPED(nai_query_rows) found = {0};
  NAI_TRY(nai_facts_ask(&found, asking, sql, "events", err));
  *out = found.rows ? nai_query_cell_int(&found, 0, 0) : 0;
  return NAI_OK;
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
  int64_t first = start;
  if (to <= start)
    NAI_TRY(first_event(&first, asking, start, err));
  int64_t base = q->from_end ? end - to : q->from_start || to <= first ? start : 0;
  if (q->to_end && from + base >= end)
    NAI_TRY(session_end(&end, asking, err));
  q->time_ns[0] = q->from_end && from + base < start ? start : from + base;
  q->time_ns[1] = (q->from_start && to + base > end) || (q->to_end && from + base < end) ? end : to + base;
  return NAI_OK;
}

/* --- around what happens ------------------------------------------------------------------------------------------ */

enum side { BEFORE, AFTER, DURING, SIDES };
static const char *const sides[SIDES] = {
    [BEFORE] = "before until till", [AFTER] = "after behind", [DURING] = "while during"};
static const char
    first_words[] = "first",
    last_words[] = "last final", longest_words[] = "longest slowest biggest",
    between_words[] = "the a gpu launching our my",
    behind_words[] =
        "runs running run is was finished finishes finish done ends ended starts started begins called gets "
        "launched takes being executes executing place happens begin start",
    many_words[] = "every each any two three";

static bool says_when(const char *word) {
  bool says = nai_word_is_of(first_words, word) || nai_word_is_of(last_words, word) ||
              nai_word_is_of(longest_words, word) || nai_word_is_of(behind_words, word) ||
              nai_word_is_of(many_words, word);
  for (int side = 0; side < SIDES; side++)
    says |= nai_word_is_of(sides[side], word);
  return says;
}

/* "before the first cuda call": its words, and what is meant. */
struct around {
  enum side side;
  size_t first, behind;
  const struct nai_thing *thing;
  bool of_first, of_last, of_longest;
};

/* False: nothing of the kind is said, or of several things. */
static bool read_around(struct around *out, const struct nai_question *q, const struct nai_thing *things,
                        size_t count) {
  *out = (struct around){.side = SIDES};
  for (size_t i = 0; i < q->count && out->side == SIDES; i++)
    for (int side = 0; side < SIDES && out->side == SIDES; side++)
      if (nai_word_is_of(sides[side], q->words[i].text))
        *out = (struct around){.side = (enum side)side, .first = i};
  for (size_t t = 0; t < count && out->side != SIDES && !out->thing; t++)
    if (things[t].first > out->first)
      out->thing = &things[t];
  if (!out->thing)
    return false;
  for (size_t i = 0; i < out->first; i++) /* "from the start until": a length */
    if (nai_word_is_of("from between", q->words[i].text))
      return false;
  for (size_t i = out->first + 1; i < out->thing->first; i++) {
    const char *word = q->words[i].text;
    out->of_first |= nai_word_is_of(first_words, word);
    out->of_last |= nai_word_is_of(last_words, word);
    out->of_longest |= nai_word_is_of(longest_words, word);
    if (nai_word_is_of(many_words, word) || (!says_when(word) && !nai_word_is_of(between_words, word)))
      return false;
  }
  out->behind = out->thing->behind;
  while (out->behind < q->count && nai_word_is_of(behind_words, q->words[out->behind].text))
    out->behind++;
  return true;
}

/* Which of the events is meant: of several the one that is said; NULL: none is. */
static const struct nai_thing_event *choose_event(const struct around *around, const struct nai_thing_events *events) {
  const struct nai_thing_event *first = events->at, *last = events->at, *longest = events->at;
  for (uint32_t i = 0; i < events->count; i++) {
    const struct nai_thing_event *e = &events->at[i];
    last = e->end > last->end ? e : last;
    longest = e->end - e->start > longest->end - longest->start ? e : longest;
  }
  return around->of_longest ? longest : around->of_last ? last : around->of_first || events->count == 1 ? first : NULL;
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
  static const struct nai_thing_filter all = {-1, -1, -1, -1, -1};
  struct nai_thing things[NAI_RELATION_MAX_THINGS];
  struct nai_thing_events events;
  struct around around;
  int64_t from, to;
  size_t count;
  *said = NULL;
  if (q->time_count)
    return NAI_OK;
  NAI_TRY(nai_things_find(things, &count, asking, q, says_when, err));
  if (!read_around(&around, q, things, count))
    return NAI_OK;
  NAI_TRY(nai_things_load(&events, around.thing, &all, asking, err));
  const struct nai_thing_event *event = choose_event(&around, &events);
  if (!event)
    return NAI_OK;
  NAI_TRY(first_event(&from, asking, 0, err));
  NAI_TRY(session_end(&to, asking, err));
  from = around.side == BEFORE ? from : around.side == AFTER ? event->end : event->start;
  to = around.side == AFTER ? to : around.side == BEFORE ? event->start : event->end;
  if (from >= to)
    return NAI_OK;
  *said = words_of(q, &around, asking->arena);
  nai_question_read(q, asking->intents, without(q, &around, asking->arena));
  q->time_ns[0] = from;
  q->time_ns[1] = to;
  q->time_count = 2;
  q->around = true;
  return nai_arena_check(asking->arena, err);
}
