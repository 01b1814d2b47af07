/* Which relation a question asks for. */
#include "features/ask/numbers.h"
#include "features/ask/relation_reading.h"

/* What is asked for first. */
static enum nai_statistic statistic_of(const struct nai_reading *r) {
  static const struct {
    enum nai_says says;
    enum nai_statistic statistic;
  } all[] = {{SAYS_P99, NAI_STATISTIC_P99},         {SAYS_P95, NAI_STATISTIC_P95},
             {SAYS_P90, NAI_STATISTIC_P90},         {SAYS_SPREAD, NAI_STATISTIC_SPREAD},
             {SAYS_MEDIAN, NAI_STATISTIC_MEDIAN},   {SAYS_AVERAGE, NAI_STATISTIC_AVERAGE},
             {SAYS_LONGEST, NAI_STATISTIC_LONGEST}, {SAYS_SHORTEST, NAI_STATISTIC_SHORTEST},
             {SAYS_TOTAL, NAI_STATISTIC_TOTAL},     {SAYS_BYTES, NAI_STATISTIC_BYTES},
             {SAYS_RATE, NAI_STATISTIC_RATE}};
  for (size_t word = 0; word < r->q->count; word++)
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
      if (r->at[word][all[i].says])
        return all[i].statistic;
  return r->says[SAYS_COUNT] ? NAI_STATISTIC_COUNT : r->says[SAYS_TIME] ? NAI_STATISTIC_TOTAL : NAI_STATISTIC_NONE;
}

static enum nai_relation_group group_of(const struct nai_reading *r) {
  return r->says[SAYS_STREAM]  ? NAI_GROUP_STREAM
       : r->says[SAYS_THREAD]  ? NAI_GROUP_THREAD
       : r->says[SAYS_PROCESS] ? NAI_GROUP_PROCESS
       : r->says[SAYS_GPU]     ? NAI_GROUP_GPU
                               : NAI_GROUP_NONE;
}

static bool q_says(const struct nai_reading *r, const char *word) {
  bool says = false;
  for (size_t i = 0; i < r->q->count; i++)
    says |= strcmp(r->q->words[i].text, word) == 0;
  return says;
}

static void swap_things(struct nai_relation *out) {
  const struct nai_thing thing = out->things[0];
  out->things[0] = out->things[1];
  out->things[1] = thing;
}

/* Which ones of a thing are meant: "the second X", "the first and the last X"; false: that is not said. */
static bool read_nth(struct nai_relation *out, const struct nai_reading *r) {
  const bool both = r->says[SAYS_FIRST] && r->says[SAYS_LAST] && r->says[SAYS_AND];
  size_t count = 0;
  for (size_t i = 0; i < r->q->count && count < 2; i++)
    if (r->at[i][SAYS_FIRST] || r->at[i][SAYS_NTH] || r->at[i][SAYS_LAST])
      out->nth[count++] = r->at[i][SAYS_LAST] ? -1 : nai_ordinal_of(r->q->words[i].text);
  if (count == 1 && out->nth[0] == 2 && (r->says[SAYS_SLOWER] || r->says[SAYS_FASTER])) /* than the first */
    out->nth[1] = 1;
  if (out->statistic == NAI_STATISTIC_LONGEST || out->statistic == NAI_STATISTIC_SHORTEST ||
      (r->says[SAYS_MORE] && !r->says[SAYS_OR]))
    return false; /* "the second slowest" */

  /* "when did the first X start" */
  const bool when = r->says[SAYS_FIRST] && r->says[SAYS_BEGIN] && q_says(r, "when");
  return r->says[SAYS_NTH] || both || when || (r->says[SAYS_LAST] && !r->says[SAYS_FIRST]);
}

/* "the end of the first X", "the start of the next X". */
static void read_edge(struct nai_relation *out, const struct nai_reading *r, bool to, size_t first, size_t behind) {
  const bool end = nai_is_said(r, SAYS_END, first, behind), begin = nai_is_said(r, SAYS_BEGIN, first, behind);
  const enum nai_relation_edge edge = nai_is_said(r, SAYS_FIRST, first, behind) ? NAI_EDGE_FIRST
                                    : nai_is_said(r, SAYS_LAST, first, behind)  ? NAI_EDGE_LAST
                                                                                : NAI_EDGE_ANY;
  if (to) {
    out->to.edge = edge;
    out->to.end = end;
  } else {
    out->from.edge = edge;
    out->from.end = end || (!begin && edge == NAI_EDGE_ANY);
  }
}

/* From one to the next: "between the end of X and the start of the next Y", "from the first X to the last one". */
static enum nai_relation_kind read_between(struct nai_relation *out, const struct nai_reading *r) {
  const struct nai_question *q = r->q;
  size_t from = 0, middle = out->things[0].behind;
  while (from < q->count && !nai_word_is_of("between from", q->words[from].text))
    from++;
  while (middle < q->count && !nai_word_is_of("and to until till", q->words[middle].text))
    middle++;
  if (from >= out->things[0].first || middle == q->count || (out->count == 2 && out->things[1].first < middle))
    return NAI_RELATION_NONE;
  if (out->count == 1) /* "the last one" */
    out->things[1] = out->things[0];
  out->count = 2;
  read_edge(out, r, false, from, middle);
  read_edge(out, r, true, middle, q->count);
  const bool each = out->from.edge == NAI_EDGE_ANY && out->to.edge == NAI_EDGE_ANY;
  const bool call = out->things[0].kind == NAI_THING_CALLS || out->things[0].kind == NAI_THING_LAUNCHES;
  const bool launch = call && nai_thing_is_on_gpu(&out->things[1]) && each;
  return launch || r->says[SAYS_LATENCY] ? NAI_RELATION_LATENCY : NAI_RELATION_BETWEEN;
}

/* "what runs right after the first X": X, and behind it what is looked for, operations or the like of X. */
static enum nai_relation_kind read_follows(struct nai_relation *out, const struct nai_reading *r) {
  size_t at = 0, named = 0;
  while (!r->at[at][SAYS_ADJACENT])
    at++;
  while (named < out->count && out->things[named].first < at)
    named++;
  if (named > 1 || named + 1 != out->count)
    return NAI_RELATION_NONE;
  const struct nai_thing x = out->things[named];
  const enum nai_thing_kind like = nai_thing_is_on_gpu(&x) ? NAI_THING_OPERATIONS : x.kind;
  out->things[1] = named ? out->things[0] : (struct nai_thing){.kind = like};
  out->things[0] = x;
  out->count = 2;
  out->before = strcmp(r->q->words[at].text, "before") == 0;
  read_edge(out, r, false, at, r->q->count);
  return nai_thing_is_on_gpu(&x) == nai_thing_is_on_gpu(&out->things[1]) ? NAI_RELATION_FOLLOWS : NAI_RELATION_NONE;
}

/* "how long after X begins does the first Y start", "how long until the first Y after X": the first one after each. */
static enum nai_relation_kind read_after(struct nai_relation *out, const struct nai_reading *r) {
  bool until = false;
  for (size_t i = 0; i < out->things[0].first; i++)
    until |= nai_word_is_of("until till", r->q->words[i].text);
  if (until && nai_is_said(r, SAYS_AFTER, out->things[0].behind, out->things[1].first)) {
    read_edge(out, r, true, 0, out->things[0].behind);
    read_edge(out, r, false, out->things[0].behind, r->q->count);
    out->to.edge = out->to.edge == NAI_EDGE_FIRST ? NAI_EDGE_ANY : out->to.edge;
    swap_things(out);
    return NAI_RELATION_BETWEEN;
  }
  size_t middle = out->things[0].behind;
  while (middle < out->things[1].first && !nai_word_is_of("does do did until", r->q->words[middle].text))
    middle++;
  if (!nai_is_said(r, SAYS_AFTER, 0, out->things[0].first) || middle == out->things[1].first)
    return NAI_RELATION_NONE;
  read_edge(out, r, false, 0, middle);
  read_edge(out, r, true, middle, r->q->count);
  out->to.edge = out->to.edge == NAI_EDGE_FIRST ? NAI_EDGE_ANY : out->to.edge;
  return NAI_RELATION_BETWEEN;
}

/* The whole stands behind "of" and the word for a share: "how much of Y is X", "what percent of Y is spent in X"; but
 * "share of X in Y". */
static void read_share(struct nai_relation *out, const struct nai_reading *r) {
  size_t at = 0;
  bool of = false, in = false;
  while (at < r->q->count && !r->at[at][SAYS_SHARE])
    at++;
  for (at++; at < out->things[0].first; at++)
    of |= strcmp(r->q->words[at].text, "of") == 0;
  for (at = out->things[0].behind; at < out->things[1].first; at++)
    in |= nai_word_is_of("in of inside within", r->q->words[at].text);
  const bool spent = nai_is_said(r, SAYS_TIME, out->things[0].behind, out->things[1].first);
  const bool all = out->things[0].kind == NAI_THING_OPERATIONS && nai_thing_is_on_gpu(&out->things[1]);
  if (of && (all || spent || !in))
    swap_things(out);
}

static bool is_around(const struct nai_thing *thing) {
  return thing->kind == NAI_THING_RANGES || thing->kind == NAI_THING_STEPS;
}

/* X in Y: around others are ranges, and calls of what was launched in them. */
static enum nai_relation_kind read_inside(struct nai_relation *out, const struct nai_reading *r) {
  const struct nai_thing *first = &out->things[0], *second = &out->things[1];
  bool in = false;
  for (size_t i = first->behind; i < second->first; i++)
    in |= nai_word_is_of("in inside within during of by does", r->q->words[i].text);
  const bool calls = second->kind == NAI_THING_CALLS && second->names &&
                     (nai_thing_is_on_gpu(first) || first->kind == NAI_THING_OS_CALLS);
  if ((is_around(first) == is_around(second) && !(is_around(first) ? in : calls)))
    return NAI_RELATION_NONE;
  if (is_around(first) && !is_around(second))
    swap_things(out);
  return NAI_RELATION_INSIDE;
}

/* "X and Y", "X vs Y", "is X or Y faster": not "of X in Y". */
static bool are_together(const struct nai_relation *of, const struct nai_reading *r) {
  const size_t first = of->things[0].behind, behind = of->things[1].first;
  static const enum nai_says beside[] = {SAYS_AVERAGE, SAYS_MEDIAN, SAYS_TOTAL,  SAYS_LONGEST, SAYS_SHORTEST,
                                         SAYS_OR,      SAYS_AND,    SAYS_SLOWER, SAYS_FASTER,  SAYS_NOTHING,
                                         SAYS_REST,    SAYS_SHARE,  SAYS_MORE,   SAYS_FEWER,   SAYS_TIME,
                                         SAYS_HOST,    SAYS_ON_GPU};
  bool either = false;
  for (size_t i = first; i < behind; i++) {
    if (nai_word_is_of("problem issue bug normal fine ok okay", r->q->words[i].text)) /* "is X a problem or just Y?" */
      return false;
    either |= nai_says_compared(r) && strcmp(r->q->words[i].text, "or") == 0;
    bool is = r->q->words[i].ignored || r->of_thing[i] || isdigit((unsigned char)r->q->words[i].text[0]); /* "2x" */
    for (size_t s = 0; s < sizeof beside / sizeof *beside; s++)
      is |= r->at[i][beside[s]];
    if (!is)
      return false;
  }
  return either || nai_is_said(r, SAYS_OR, first, behind) || nai_is_said(r, SAYS_AND, first, behind) ||
         (r->says[SAYS_RATIO] && nai_is_said(r, SAYS_FROM, first, behind));
}

/* "GPU utilization while X runs", "how busy is the GPU in X", and not "X while the GPU is idle". */
static bool is_while(const struct nai_relation *of, const struct nai_reading *r) {
  const size_t first = of->things[0].first;
  const bool in = !nai_thing_is_on_gpu(&of->things[0]) && (r->says[SAYS_BUSY] || q_says(r, "idle"));
  size_t at = 0;
  while (at < first && !r->at[at][SAYS_WHILE] && !(in && nai_word_is_of("in inside within", r->q->words[at].text)))
    at++;
  return at < first && (r->says[SAYS_BUSY] || r->says[SAYS_GAP]) && !nai_is_said(r, SAYS_BUSY, at, first) &&
         !nai_is_said(r, SAYS_GAP, at, first);
}

/* "time between kernels", "latency between kernel launches": from each to the next one. */
static bool is_from_each(const struct nai_relation *of, const struct nai_reading *r) {
  size_t at = of->things[0].first;
  while (at && nai_word_is_of("the two consecutive successive subsequent adjacent", r->q->words[at - 1].text))
    at--;
  return at && strcmp(r->q->words[at - 1].text, "between") == 0 && !r->says[SAYS_AND] && !r->says[SAYS_FIRST] &&
         !r->says[SAYS_LAST] && !r->says[SAYS_NEXT];
}

/* What is asked of one thing over time. */
static enum nai_relation_kind of_time(struct nai_relation *out, const struct nai_reading *r) {
  const bool limited = out->filter.least_ns >= 0 || out->filter.most_ns >= 0; /* "over 5 ms" */
  if (r->says[SAYS_OUTLIER] || (out->times > 0 && nai_says_compared(r) && r->says[SAYS_MEDIAN]))
    return NAI_RELATION_OUTLIERS;
  out->span =
      r->says[SAYS_FROM] && r->says[SAYS_FIRST] && r->says[SAYS_LAST] && (r->says[SAYS_BUSY] || q_says(r, "idle"));
  /* "how much of the range is the GPU idle" */
  const bool part =
      nai_says_share(r) && (q_says(r, "idle") || r->says[SAYS_BUSY]) && !nai_thing_is_on_gpu(&out->things[0]);
  if (out->span || part || is_while(out, r)) {
    out->idle = !r->says[SAYS_BUSY];
    out->yes_no = false; /* the share says it */
    out->things[1] = (struct nai_thing){.kind = NAI_THING_OPERATIONS};
    out->count = 2;
    return NAI_RELATION_COVER;
  }
  for (size_t i = 0; i + 1 < r->q->count; i++) /* between "the two longest": these need not follow each other */
    if (strcmp(r->q->words[i].text, "two") == 0 && (r->at[i + 1][SAYS_LONGEST] || r->at[i + 1][SAYS_SHORTEST]))
      return NAI_RELATION_NONE;
  const size_t thing = out->things[0].first; /* "the longest gap and which call was it in": no gap between calls */
  if (thing > 1 && r->says[SAYS_GAP] && nai_word_is_of("which what", r->q->words[thing - 1].text))
    return NAI_RELATION_NONE;
  if (r->says[SAYS_GAP] || (r->says[SAYS_CONSECUTIVE] && r->says[SAYS_TIME]) ||
      ((r->says[SAYS_TIME] || r->says[SAYS_LATENCY]) && !r->says[SAYS_LAUNCH] && is_from_each(out, r))) {
    out->starts = r->says[SAYS_BEGIN] && !r->says[SAYS_END];
    for (size_t i = 0; i < thing; i++) /* "the gap between two kernels" */
      out->neighbors |= strcmp(r->q->words[i].text, "between") == 0;
    return NAI_RELATION_GAPS;
  }
  if (r->says[SAYS_LATENCY])
    return NAI_RELATION_LATENCY;
  if (r->says[SAYS_FROM] && (r->says[SAYS_FIRST] || r->says[SAYS_NEXT]) && !out->compares)
    return read_between(out, r);
  if (r->says[SAYS_OVER] && !limited && (r->says[SAYS_SLOWER] || r->says[SAYS_FASTER] || r->says[SAYS_TIME]))
    return NAI_RELATION_TREND;
  if (out->group)
    return NAI_RELATION_NONE;
  out->compares |= nai_says_compared(r) || r->says[SAYS_OR];
  return read_nth(out, r)                           ? NAI_RELATION_NTH
       : r->says[SAYS_FIRST] && !r->says[SAYS_LAST] ? NAI_RELATION_FIRST
                                                    : NAI_RELATION_NONE;
}

/* "which gemm is faster", "what is the slower kernel", "is one gemm faster than the other": of what is called so. What
 * would be if it were faster is another question. */
static bool asks_of_names(const struct nai_relation *of, const struct nai_reading *r) {
  const struct nai_thing *thing = &of->things[0];
  const size_t first = thing->first;
  bool supposes = of->why;
  for (size_t i = 0; i < r->q->count; i++)
    supposes |= nai_word_is_of("if would could should were make makes made get gets got", r->q->words[i].text);
  const bool kind = thing->kind <= NAI_THING_COPIES && !thing->direction && thing->name_count != 1;
  if (of->count != 1 || !kind || supposes || !(r->says[SAYS_SLOWER] || r->says[SAYS_FASTER]))
    return false;
  bool which = first && q_says(r, "what") && (r->at[first - 1][SAYS_SLOWER] || r->at[first - 1][SAYS_FASTER]);
  for (size_t i = 0; i < first; i++)
    which |= strcmp(r->q->words[i].text, "which") == 0;
  const bool other = first && strcmp(r->q->words[first - 1].text, "one") == 0 && r->says[SAYS_REST];
  return other || (which && !r->says[SAYS_OR]);
}

/* "does every X take less than 5 ms", "do all", "does X never take longer": on each GPU is another question. */
static bool asks_of_every(struct nai_relation *out, const struct nai_reading *r) {
  const bool least = out->filter.least_ns >= 0, most = out->filter.most_ns >= 0;
  bool every = false;
  for (size_t i = 0; i < r->q->count; i++)
    every |= nai_word_is_of("every each all always never", r->q->words[i].text);
  out->never = q_says(r, "never");
  return every && out->yes_no && !out->any && least != most && !out->group && !out->sizes;
}

static enum nai_relation_kind of_one(struct nai_relation *out, const struct nai_reading *r) {
  const struct nai_thing *thing = &out->things[0];
  const bool many = thing->name_count > 1 || (!thing->names && thing->kind == NAI_THING_RANGES);
  const bool limited = out->filter.least_ns >= 0 || out->filter.most_ns >= 0;
  if (asks_of_names(out, r) && !limited && !out->group) {
    out->yes_no = false; /* which one it is says it */
    return NAI_RELATION_NAMES;
  }
  if (asks_of_every(out, r))
    return NAI_RELATION_EVERY;
  const enum nai_relation_kind over_time = of_time(out, r);
  if (over_time)
    return over_time;
  if (out->group == NAI_GROUP_THREAD && r->says[SAYS_COUNT] && thing->names && thing->kind == NAI_THING_KERNELS)
    return NAI_RELATION_NONE; /* "how many threads has a launch of X": those of its grid */
  if (out->group) {
    const bool edge = r->says[SAYS_FIRST] || r->says[SAYS_LAST], moment = r->says[SAYS_BEGIN] || r->says[SAYS_END];
    const bool when = moment && q_says(r, "when");
    if (moment && (edge || when)) { /* "which process finishes first", "when does X start on each rank" */
      out->moment = r->says[SAYS_END] ? NAI_MOMENT_END : NAI_MOMENT_BEGIN;
      out->less = r->says[SAYS_FIRST] || (when && !r->says[SAYS_LAST] && !r->says[SAYS_END]);
    }
    out->balanced = r->says[SAYS_BALANCED];
    const bool names = thing->first && r->at[thing->first - 1][SAYS_WHICH]; /* "which OS call": not by thread */
    return names || (edge != moment && !when) || (out->yes_no && !out->balanced) ? NAI_RELATION_NONE
                                                                                 : NAI_RELATION_GROUPS;
  }
  if (many && (r->says[SAYS_LONGEST] || r->says[SAYS_SHORTEST] || r->says[SAYS_WHICH]))
    return NAI_RELATION_RANKING;
  return limited || (out->statistic && !out->yes_no) ? NAI_RELATION_NUMBERS : NAI_RELATION_NONE;
}

static enum nai_relation_kind of_two(struct nai_relation *out, const struct nai_reading *r) {
  const size_t between = out->things[0].behind, second = out->things[1].first;
  if (nai_is_said(r, SAYS_WITHOUT, between, second) && out->things[1].names) {
    out->without = out->things[1].names;
    out->count = 1;
    return out->things[0].name_count > 1 ? NAI_RELATION_RANKING : NAI_RELATION_NONE;
  }
  if (r->says[SAYS_WITHOUT] || (r->says[SAYS_REST] && !nai_says_compared(r) && !r->says[SAYS_OR]))
    return NAI_RELATION_NONE;
  out->without = r->says[SAYS_REST] ? out->things[0].names : NULL;
  if (r->says[SAYS_AFTER])
    return read_after(out, r);
  if (r->says[SAYS_COVERED])
    return NAI_RELATION_COVER;
  bool differs = r->says[SAYS_RATIO]; /* "the difference between X and Y" */
  for (size_t i = 0; i < r->q->count; i++)
    differs |= nai_word_is_of("difference differ compare compared comparison", r->q->words[i].text);
  const enum nai_relation_kind from =
      r->says[SAYS_FROM] && !r->says[SAYS_SHARE] && !differs ? read_between(out, r) : NAI_RELATION_NONE;
  if (from)
    return from;
  const bool again = r->says[SAYS_NTH] && strcmp(out->things[0].called, out->things[1].called) == 0;
  if (out->things[0].kind == out->things[1].kind &&
      (again ||
       (nai_thing_is_plain(&out->things[0]) &&
        nai_thing_is_plain(&out->things[1])))) { /* "how many streams run kernels, and how many kernels on each" */
    out->count = 1;
    return of_one(out, r);
  }
  if (r->says[SAYS_PER]) {
    if (nai_is_said(r, SAYS_PER, 0, out->things[0].first) && !nai_is_said(r, SAYS_PER, between, second))
      swap_things(out);
    return NAI_RELATION_PER;
  }
  out->ratio = r->says[SAYS_RATIO];
  const size_t begin = out->things[0].first; /* "which kernel takes the GPU time, and what share": of one of them */
  const bool which = begin && nai_thing_is_plain(&out->things[0]) && r->at[begin - 1][SAYS_WHICH];
  if (which && nai_says_share(r))
    return NAI_RELATION_NONE;
  if (nai_says_share(r) && !are_together(out, r) && !nai_says_compared(r) && !out->ratio) {
    read_share(out, r);
    return NAI_RELATION_SHARE;
  }
  out->leads = is_around(&out->things[0]) && out->things[0].name_count != 1 && !is_around(&out->things[1]) &&
               nai_is_said(r, SAYS_WHICH, 0, out->things[0].first) &&
               (nai_is_said(r, SAYS_MORE, between, second) || nai_is_said(r, SAYS_FEWER, between, second));
  if (out->leads) { /* "which level has the fewest kernels" */
    swap_things(out);
    return NAI_RELATION_PER;
  }
  const struct nai_thing *all = nai_thing_is_plain(&out->things[0]) ? &out->things[0] : &out->things[1];
  if (nai_thing_is_plain(all) && out->things[0].kind == out->things[1].kind && !r->says[SAYS_OR] && !r->says[SAYS_REST])
    return NAI_RELATION_NONE; /* "average pre_forward and the worst range" */
  return are_together(out, r) ? NAI_RELATION_COMPARE : nai_says_compared(r) ? NAI_RELATION_NONE : read_inside(out, r);
}

/* "GPU time of X vs Y", "does X take more GPU time than Y", of ranges: their work there is compared. */
static bool take_work(struct nai_relation *out) {
  size_t work = 0;
  while (work < out->count && out->things[work].kind != NAI_THING_OPERATIONS)
    work++;
  const size_t first = work == 0, second = work == 2 ? 1 : 2;
  if (out->count != 3 || work == 3 || !is_around(&out->things[first]) || !is_around(&out->things[second]))
    return false;
  out->things[0] = out->things[first];
  out->things[1] = out->things[second];
  out->count = 2;
  return out->work = true;
}

/* "does X take more GPU time than Y", of what runs there: their times are that. */
static void take_gpu_time(struct nai_relation *out) {
  size_t at = 0;
  while (at < out->count && out->things[at].kind != NAI_THING_OPERATIONS)
    at++;
  const size_t first = at == 0, second = at == 2 ? 1 : 2;
  if (out->count != 3 || at == 3 || out->things[first].kind != NAI_THING_KERNELS ||
      out->things[second].kind != NAI_THING_KERNELS)
    return;
  out->things[0] = out->things[first];
  out->things[1] = out->things[second];
  out->count = 2;
}

/* "migrations h2d vs d2h": of both directions. */
static void take_directions(struct nai_relation *out) {
  if (out->count != 3 || out->things[0].kind != NAI_THING_MIGRATIONS || out->things[0].direction)
    return;
  for (size_t t = 1; t < 3; t++)
    if (out->things[t].kind != NAI_THING_COPIES || !out->things[t].direction)
      return;
  out->things[0] = out->things[1]; /* where there are no other copies, migrations are meant */
  out->things[1] = out->things[2];
  out->count = 2;
}

/* "layers", "blocks" where no range is called so: any range, which the answer may rank, but not all of them. */
static bool may_be_none(const struct nai_thing *thing, const struct nai_reading *r) {
  bool ranges = false;
  for (size_t i = thing->first; i < thing->behind; i++)
    ranges |= nai_word_is_of("range ranges nvtx", r->q->words[i].text);
  return thing->kind == NAI_THING_RANGES && nai_thing_is_plain(thing) && !ranges;
}

static enum nai_relation_kind kind_of(struct nai_relation *out, const struct nai_reading *r) {
  if (r->says[SAYS_ADJACENT])
    return read_follows(out, r);
  bool on_gpu = false, on_host = false; /* the host's time of what runs on GPUs is another question */
  for (size_t t = 0; t < out->count; t++)
    *(nai_thing_is_on_gpu(&out->things[t]) ? &on_gpu : &on_host) = true;
  if (out->count == 1 && nai_is_said(r, SAYS_WHILE, 0, out->things[0].first) && r->says[SAYS_HOST] && !out->statistic &&
      (q_says(r, "doing") || q_says(r, "do") || q_says(r, "does")))
    return NAI_RELATION_BESIDE;
  if (r->says[SAYS_HOST] && on_gpu && !on_host)
    return NAI_RELATION_NONE;
  const bool limited = out->filter.least_ns >= 0 || out->filter.most_ns >= 0;
  if (limited && (out->count > 1 || may_be_none(&out->things[0], r))) /* of which one? */
    return NAI_RELATION_NONE;
  out->shares = out->count == 3 && out->things[0].kind == NAI_THING_OPERATIONS && r->says[SAYS_SHARE];
  if (out->shares) { /* "share of GPU time in X vs Y" */
    out->things[0] = out->things[1];
    out->things[1] = out->things[2];
    out->count = 2;
    return are_together(out, r) ? NAI_RELATION_COMPARE : NAI_RELATION_NONE;
  }
  if (out->count == 3 && nai_thing_is_plain(&out->things[0]) && out->things[1].kind == out->things[0].kind &&
      out->things[2].kind == out->things[0].kind) { /* "which kernel is slower, X or Y" */
    out->things[0] = out->things[1];
    out->things[1] = out->things[2];
    out->count = 2;
  }
  take_gpu_time(out);
  take_directions(out);
  if (take_work(out))
    return are_together(out, r) ? NAI_RELATION_COMPARE : NAI_RELATION_NONE;
  return out->count == 1 ? of_one(out, r) : out->count == 2 ? of_two(out, r) : NAI_RELATION_NONE;
}

/* Whether it is the process or rank that begins or ends first or last on GPUs. */
static bool asks_for_work(const struct nai_question *q) {
  static const char *const needed[] = {
      "process processes pid rank", "first last",
      "start starts started begin begins began end ends ended finish finishes finished", "gpu gpus"};
  size_t found = 0;
  for (size_t n = 0; n < sizeof needed / sizeof *needed; n++) {
    size_t i = 0;
    while (i < q->count && !nai_word_is_of(needed[n], q->words[i].text))
      i++;
    found += i < q->count;
  }
  return found == sizeof needed / sizeof *needed;
}

/* Whether times limit what is asked: "first X takes 300 ms, why" only tells one. */
static bool has_times(const struct nai_question *q) {
  bool asked = false;
  for (size_t i = 0; i < q->count; i++)
    asked |= isdigit((unsigned char)q->words[i].text[0]) && !q->words[i].ignored;
  return q->time_count > 1 || (q->time_count && asked);
}

/* "which takes most, X, Y or Z": a ranking of their names. */
static void join_named(struct nai_relation *out, const struct nai_reading *r, struct nai_arena *arena) {
  size_t count = 0;
  for (size_t t = 0; t < out->count && out->count > 3; t++) /* "which kernel takes most GPU time, X, ..." */
    if (!nai_thing_is_plain(&out->things[t]))
      out->things[count++] = out->things[t];
  out->count = count > 2 ? count : out->count;
  bool named = out->count > 2 && r->says[SAYS_OR] && r->says[SAYS_WHICH] && (r->says[SAYS_MORE] || r->says[SAYS_FEWER]);
  for (size_t t = 0; t < out->count; t++)
    named &= out->things[t].names && out->things[t].kind == out->things[0].kind;
  if (!named)
    return;
  for (size_t t = 1; t < out->count; t++) {
    out->things[0].names = nai_arena_printf(arena, "%s%s", out->things[0].names, out->things[t].names);
    out->things[0].name_count += out->things[t].name_count;
  }
  out->count = 1;
  out->several = true;
}

int nai_relation_read(struct nai_relation *out, const struct nai_asking *asking, const struct nai_question *q,
                      struct nai_err *err) {
  struct nai_reading r = {.q = q};
  *out = (struct nai_relation){.filter = {.gpu = asking->gpu == INT64_MIN ? -1 : asking->gpu,
                                          .stream = -1,
                                          .pid = -1,
                                          .least_ns = q->least_ns == INT64_MIN ? -1 : q->least_ns,
                                          .most_ns = q->most_ns == INT64_MIN ? -1 : q->most_ns}};
  NAI_TRY(nai_things_find(out->things, &out->count, asking, q, nai_says_something, err));
  if (!out->count && asks_for_work(q)) { /* "which process started first on the GPU" */
    out->things[0] =
        (struct nai_thing){.kind = NAI_THING_OPERATIONS, .called = "GPU work", .first = q->count, .behind = q->count};
    out->count = 1;
  }
  if (!out->count || has_times(q) || !nai_take_words(out, &r))
    return NAI_OK;
  if (q->gpu_count > 1) { /* "sendrecv on GPU 0 against GPU 1" */
    if (out->count > 1 || nai_thing_is_plain(&out->things[0]) || !nai_thing_is_on_gpu(&out->things[0]))
      return NAI_OK;
    out->pair = NAI_GROUP_GPU;
  }
  out->why = r.says[SAYS_WHY] || (q_says(&r, "how") && q_says(&r, "come"));
  out->statistic = statistic_of(&r);
  for (size_t t = 0; t < out->count && !out->statistic; t++) /* "GPU time" is asked for by its name */
    if (out->things[t].kind == NAI_THING_OPERATIONS)
      out->statistic = NAI_STATISTIC_TOTAL;
  for (size_t i = 0; i < q->count && !out->statistic; i++)
    out->statistic = strncmp(q->words[i].text, "domina", strlen("domina")) == 0 ? NAI_STATISTIC_TOTAL : out->statistic;
  out->group = out->pair ? out->pair : group_of(&r);
  const size_t thing = out->things[0].first; /* "which process has more kernels" */
  if (!out->statistic && out->group && thing && (r.at[thing - 1][SAYS_MORE] || r.at[thing - 1][SAYS_FEWER]))
    out->statistic = NAI_STATISTIC_COUNT;
  const bool sized = nai_thing_has_bytes(&out->things[0]) &&
                     (out->count == 2 ? nai_thing_has_bytes(&out->things[1]) : asks_of_names(out, &r));
  if (sized && !out->statistic && /* of copies it is a matter of rates */
      (r.says[SAYS_FASTER] || r.says[SAYS_SLOWER]))
    out->statistic = NAI_STATISTIC_RATE;
  const bool sized_words = q_says(&r, "biggest") || q_says(&r, "largest") || q_says(&r, "smallest");
  out->sizes = (r.says[SAYS_BYTES] || (sized_words && !r.says[SAYS_TIME])) && nai_thing_has_bytes(&out->things[0]);
  if (out->sizes && out->statistic == NAI_STATISTIC_TOTAL)
    out->statistic = NAI_STATISTIC_BYTES;
  if (out->statistic == NAI_STATISTIC_BYTES && out->count == 2 && !sized && r.says[SAYS_TIME])
    out->statistic = NAI_STATISTIC_TOTAL; /* kernels move none that is known */
  const enum nai_says slow = out->statistic == NAI_STATISTIC_RATE ? SAYS_SLOWER : SAYS_FASTER;
  out->less = r.says[SAYS_FEWER] || r.says[SAYS_SHORTEST] || r.says[slow];
  out->yes_no = q->count && nai_word_is_of("is are was were does do did has have any", q->words[0].text) && !q->either;
  for (size_t i = 0; i < q->count; i++) {
    out->compares |= nai_word_is_of("compare compared comparison", q->words[i].text);
    out->any |= nai_word_is_of("there any", q->words[i].text);
  }
  join_named(out, &r, asking->arena);
  out->kind = kind_of(out, &r);
  const bool amount = q_says(&r, "much") || q_says(&r, "many") || q_says(&r, "data") || q_says(&r, "bytes");
  if (out->kind == NAI_RELATION_NUMBERS && out->statistic == NAI_STATISTIC_BYTES && amount && !q_says(&r, "big") &&
      !q_says(&r, "large") && !q_says(&r, "size") && !q_says(&r, "sizes")) /* of all, not of each */
    out->statistic = NAI_STATISTIC_TOTAL;
  if (out->kind == NAI_RELATION_COMPARE && out->why && out->statistic == NAI_STATISTIC_TOTAL)
    out->statistic = NAI_STATISTIC_NONE; /* "why is X so slow compared to" */
  if (out->kind && !nai_relation_is_meant(out, &r))
    out->kind = NAI_RELATION_NONE;
  if (out->why && out->kind != NAI_RELATION_COMPARE && out->kind != NAI_RELATION_FIRST &&
      out->kind != NAI_RELATION_TREND && out->kind != NAI_RELATION_NTH)
    out->kind = NAI_RELATION_NONE;
  return NAI_OK;
}
