/* Steps by NVTX ranges: a range name that says step, or that behaves like one.
 *
 * The ranges of a thread are put together by domain and canonical name (digits as '#'). Those that cannot be steps by
 * count are sorted out in one pass; the few that are left are looked at one by one.
 */
#include "model/steps/steps_build.h"

#include "base/sort.h"
#include "base/text.h"
#include "tables/nvtx_domains.h"

enum { FEWEST = 3, MAX_CANDIDATES = 64, NAME_CHARS = 80 };
/* Percent. In a loop: between the first range's start and the last one's end. */
enum {
  COVERS = 60,            /* of the loop's time are in ranges without a step's name */
  WORKING = 50,           /* of the ranges launch something */
  HOLDS = 90,             /* of the loop's launches are in the ranges; */
  HOLDS_OF_NUMBERED = 50, /* where the ranges are numbered and called steps */
  LOOP_OF_ALL = 50,       /* of the process's launches are in the loop */
  MAX_CV = 25             /* of launches per range */
};

struct candidate {
  uint32_t thread, name; /* canonical */
  int32_t domain;
  uint32_t count;
  int64_t total_ns, until;
};

struct candidates {
  struct nai_keyset keys; /* of one thread: name and domain */
  struct candidate *v;
  uint32_t count, capacity;
  uint32_t *recent; /* per canonical name: which candidate its last range was, maybe of another thread; NEVER */
};
enum { OFTEN = 16 };     /* ranges of a name, before it is read: there may be as many names as ranges */
#define NEVER UINT32_MAX /* a name that no step has */

/* What a candidate turns out to be. */
struct judged {
  enum nai_step_word word;
  bool numbered, steps;
  int rank; /* the better, the higher */
  int64_t mean_ns, start;
  double working_pct, held_pct, covered_pct, cv_pct;
};

/* --- sorting out ------------------------------------------------------------------------------ */

static bool may_be_step(const struct nai_step_search *s, uint32_t name) {
  enum nai_step_word word = nai_step_word_of(nai_strings_get(&s->names->texts, name));
  return word == NAI_WORD_STEP || word == NAI_WORD_NONE;
}

static int add_range(struct candidates *c, const struct nai_step_search *s, uint32_t thread, uint32_t row,
                     struct nai_err *err) {
  const struct NVTX_EVENTS_columns *v = &s->m->nvtx;
  uint32_t name = s->names->canonical[nai_val_text(&v->name, row)], i = c->recent[name];
  if (i == NEVER)
    return NAI_OK;
  int32_t in = nai_at_i32(&v->domain, row);
  if (i >= c->count || c->v[i].name != name || c->v[i].domain != in) {
    bool added;
    i = c->recent[name] = nai_keyset_add(&c->keys, nai_key_pair(in, name), &added);
    NAI_TRY(nai_memory_check(!c->keys.oom, err));
    NAI_TRY(NAI_ROOM(c->v, c->capacity, i, c->keys.arena, err));
    if (added)
      c->v[c->count++] = (struct candidate){.thread = thread, .name = name, .domain = in, .until = INT64_MIN};
  }
  int64_t start = nai_val(&v->start_ns, row), end = nai_val(&v->end_ns, row);
  if (start < c->v[i].until)
    return NAI_OK; /* inside another one of the name */
  if (++c->v[i].count == OFTEN && !may_be_step(s, name))
    c->recent[name] = NEVER;
  c->v[i].total_ns += end - start;
  c->v[i].until = end;
  return NAI_OK;
}

static bool is_library(const struct nai_step_search *s, int32_t domain) {
  static const char *const libraries[] = {"NCCL",  "CCCL",     "cub",      "cuBLAS", "cuDNN",
                                          "cuFFT", "cuSPARSE", "cuSOLVER", NULL};
  const struct nai_table *t = s->m->tables[NAI_IN_NVTX_DOMAINS];
  return t && domain >= 0 && domain < t->rows &&
         nai_name_matches(nai_get_str(t, domain, NVTX_DOMAINS_name), NAI_BEGINS_ANY_CASE, libraries);
}

/* Whether a candidate is worth a second look. */
static bool is_likely(const struct candidate *c, const struct nai_step_search *s) {
  enum nai_step_word word = nai_step_word_of(nai_strings_get(&s->names->texts, c->name));
  int64_t window = s->launches[s->launch_count - 1] - s->launches[0];
  return c->count >= FEWEST && !is_library(s, c->domain) &&
         (word == NAI_WORD_STEP || (word == NAI_WORD_NONE && c->total_ns >= window / 4));
}

static int by_total(const void *pa, const void *pb, void *texts) {
  const struct candidate *a = pa, *b = pb;
  int order = NAI_COMPARE({b->total_ns, a->total_ns});
  order = order ? order : strcmp(nai_strings_get(texts, a->name), nai_strings_get(texts, b->name));
  return order ? order : NAI_COMPARE({a->domain, b->domain}); /* whatever the order of rows */
}

/* The likely candidates of a thread, those with the most time first. */
static int list_candidates(struct candidates *c, const struct nai_step_search *s, uint32_t thread,
                           struct nai_err *err) {
  const struct nai_groups *g = &s->m->nvtx_by_thread;
  for (uint32_t i = g->first[thread]; i < g->first[thread + 1]; i++)
    NAI_TRY(add_range(c, s, thread, g->order[i], err));
  uint32_t kept = 0;
  for (uint32_t i = 0; i < c->count; i++)
    if (is_likely(&c->v[i], s))
      c->v[kept++] = c->v[i];
  c->count = kept;
  if (kept)
    qsort_r(c->v, kept, sizeof *c->v, by_total, (void *)&s->names->texts);
  c->count = kept < MAX_CANDIDATES ? kept : MAX_CANDIDATES;
  return NAI_OK;
}

/* Rows of a candidate's ranges that lie in no other one of it. */
static void collect(uint32_t *rows, const struct candidate *c, const struct nai_step_search *s) {
  const struct nai_model *m = s->m;
  const struct nai_groups *g = &m->nvtx_by_thread;
  int64_t until = INT64_MIN;
  uint32_t n = 0;
  for (uint32_t i = g->first[c->thread]; i < g->first[c->thread + 1]; i++) {
    uint32_t row = g->order[i];
    if (s->names->canonical[nai_val_text(&m->nvtx.name, row)] != c->name ||
        nai_at_i32(&m->nvtx.domain, row) != c->domain || nai_val(&m->nvtx.start_ns, row) < until)
      continue;
    until = nai_val(&m->nvtx.end_ns, row);
    rows[n++] = row;
  }
}

/* --- a second look ---------------------------------------------------------------------------- */

/* launches[i] = those in range rows[i]. */
static void count_launches(uint32_t *launches, const struct nai_step_search *s, const uint32_t *rows, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    launches[i] = nai_step_launches(s, nai_val(&s->m->nvtx.start_ns, rows[i]), nai_val(&s->m->nvtx.end_ns, rows[i]));
}

/* Variation of launches per range, of the middle four fifths. */
static double launch_cv(const uint32_t *launches, uint32_t count) {
  uint32_t skip = count / 10 ? count / 10 : count > 4;
  double sum = 0, squares = 0, n = 0;
  for (uint32_t i = skip; i + skip < count; i++) {
    double v = launches[i];
    n++;
    sum += v;
    squares += v * v;
  }
  double mean = n > 0 ? sum / n : 0, variance = n > 0 ? squares / n - mean * mean : 0;
  return mean > 0 ? 100 * sqrt(variance > 0 ? variance : 0) / mean : 100;
}

/* Whether a thread of the process waits for a GPU between two moments. */
static bool waits(const struct nai_step_search *s, int64_t from, int64_t to) {
  for (uint32_t t = 0; t < s->thread_count; t++) {
    const struct nai_intervals *blocked = &s->m->blocked[s->threads[t]];
    size_t i = nai_intervals_after(blocked, from);
    if (i < blocked->count && blocked->v[i].start < to)
      return true;
  }
  return false;
}

/* Whether nine in ten of the ranges are followed by the next one not before the host waited for a GPU. */
static bool is_bounded(const struct nai_step_search *s, const uint32_t *rows, uint32_t count) {
  uint32_t bounded = 0;
  for (uint32_t i = 0; i + 1 < count; i++)
    bounded += waits(s, nai_val(&s->m->nvtx.start_ns, rows[i]), nai_val(&s->m->nvtx.start_ns, rows[i + 1]));
  return bounded * 10 >= (count - 1) * 9;
}

/* Whether a range lies in another one whose name comes as often as steps do: then that one is what repeats. */
static bool lies_in_repeated(const struct nai_step_search *s, const struct candidate *c, uint32_t row) {
  const struct NVTX_EVENTS_columns *v = &s->m->nvtx;
  const uint32_t *order = s->m->nvtx_by_thread.order, *first = &s->m->nvtx_by_thread.first[c->thread];
  for (uint32_t i = first[0]; i < first[1] && nai_val(&v->start_ns, order[i]) <= nai_val(&v->start_ns, row); i++) {
    uint32_t name = s->names->canonical[nai_val_text(&v->name, order[i])], times = 0;
    if (nai_val(&v->end_ns, order[i]) < nai_val(&v->end_ns, row) || name == c->name)
      continue;
    for (uint32_t k = first[0]; k < first[1] && times < FEWEST; k++)
      times += s->names->canonical[nai_val_text(&v->name, order[k])] == name;
    if (times == FEWEST)
      return true;
  }
  return false;
}

static struct judged judge(const struct nai_step_search *s, const struct candidate *c, const uint32_t *rows,
                           const uint32_t *launches) {
  const struct nai_model *m = s->m;
  int64_t from = nai_val(&m->nvtx.start_ns, rows[0]), to = nai_val(&m->nvtx.end_ns, rows[c->count - 1]);
  uint32_t held = 0, working = 0, loop = nai_step_launches(s, from, to);
  struct judged j = {.word = nai_step_word_of(nai_strings_get(&s->names->texts, c->name)), .start = from};
  for (uint32_t i = 0; i < c->count; i++) {
    held += launches[i];
    working += launches[i] > 0;
  }
  j.numbered = nai_step_numbered(m, rows, c->count);
  j.mean_ns = c->total_ns / c->count;
  j.held_pct = loop ? 100.0 * held / loop : 0;
  j.working_pct = 100.0 * working / c->count;
  j.covered_pct = to > from ? 100.0 * (double)c->total_ns / (double)(to - from) : 0;
  j.cv_pct = launch_cv(launches, c->count);
  bool word = j.word == NAI_WORD_STEP, called = word && j.numbered;
  bool loop_is_it = (int64_t)loop * 100 >= (int64_t)LOOP_OF_ALL * s->launch_count;
  j.rank = called ? 3 : word ? 2 : j.numbered ? 1 : 0;
  j.steps = loop && loop_is_it && j.working_pct >= WORKING && j.held_pct >= (called ? HOLDS_OF_NUMBERED : HOLDS) &&
            (called || j.cv_pct <= MAX_CV) &&
            (word ||
             (j.covered_pct >= COVERS && is_bounded(s, rows, c->count) && !lies_in_repeated(s, c, rows[c->count / 2])));
  return j;
}

static bool is_better(const struct judged *a, const struct judged *b) {
  if (a->rank != b->rank)
    return a->rank > b->rank;
  return a->mean_ns != b->mean_ns ? a->mean_ns > b->mean_ns : a->start < b->start;
}

/* --- the best --------------------------------------------------------------------------------- */

struct best {
  struct candidate candidate, refused;
  struct judged judged, why_not;
  uint32_t *rows; /* of `candidate` */
};

static int consider(struct best *best, const struct nai_step_search *s, const struct candidate *c,
                    struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(s->m->scratch_dir);
  uint32_t *rows, *launches;
  NAI_TRY(NAI_NEW(rows, &arena, c->count, err));
  NAI_TRY(NAI_NEW(launches, &arena, c->count, err));
  collect(rows, c, s);
  count_launches(launches, s, rows, c->count);
  struct judged j = judge(s, c, rows, launches);
  if (j.steps && (!best->rows || is_better(&j, &best->judged))) {
    best->candidate = *c;
    best->judged = j;
    NAI_TRY(NAI_NEW(best->rows, s->arena, c->count, err));
    memcpy(best->rows, rows, c->count * sizeof *rows);
  }
  if (!j.steps && (!best->refused.count || is_better(&j, &best->why_not))) {
    best->refused = *c;
    best->why_not = j;
  }
  return NAI_OK;
}

/* Why ranges that are called steps are none. */
static void explain(struct nai_buf *why, const struct nai_step_search *s, const struct best *best) {
  const struct judged *j = &best->why_not;
  const char *name = nai_strings_get(&s->names->texts, best->refused.name);
  nai_buf_printf(why, "the %u ranges \"", best->refused.count);
  nai_text_cut(why, name, strlen(name), NAME_CHARS);
  nai_buf_puts(why, "\" are no steps: ");
  if (j->working_pct < WORKING)
    nai_buf_printf(why, "%.0f %% of them launch anything", j->working_pct);
  else if (j->held_pct < HOLDS)
    nai_buf_printf(why, "they hold %.0f %% of the launches from the first to the last of them", j->held_pct);
  else if (j->cv_pct > MAX_CV)
    nai_buf_printf(why, "the number of launches in them varies by %.0f %%", j->cv_pct);
  else if (j->covered_pct < COVERS)
    nai_buf_printf(why, "they cover %.0f %% of the time from the first to the last of them", j->covered_pct);
  else
    nai_buf_puts(why, "nothing tells that one is over before the next begins");
}

static int conclude(const struct best *best, struct nai_step_search *s, struct nai_err *err) {
  static const int confidence[] = {60, 70, 85, 95};
  NAI_SCOPED(nai_buf) text = {0};
  struct nai_process_steps *out = s->out;
  if (!best->rows) {
    if (best->why_not.word != NAI_WORD_STEP)
      return NAI_OK;
    explain(&text, s, best);
    return nai_step_keep(&out->why, s->m, &text, err);
  }
  out->method = NAI_STEPS_NVTX;
  out->confidence = confidence[best->judged.rank];
  out->thread = best->candidate.thread;
  nai_buf_puts(&text, nai_strings_get(&s->names->texts, best->candidate.name));
  NAI_TRY(nai_step_keep(&out->name, s->m, &text, err));
  return nai_steps_from_ranges(out, s->m, best->rows, best->candidate.count, err);
}

static int consider_thread(struct best *best, const struct nai_step_search *s, uint32_t thread, uint32_t *recent,
                           struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(s->m->scratch_dir);
  struct candidates c = {.keys.arena = &arena, .recent = recent};
  NAI_TRY(list_candidates(&c, s, thread, err));
  for (uint32_t i = 0; i < c.count; i++)
    NAI_TRY(consider(best, s, &c.v[i], err));
  return NAI_OK;
}

int nai_steps_by_ranges(struct nai_step_search *s, struct nai_err *err) {
  const struct nai_groups *g = &s->m->nvtx_by_thread;
  struct best best = {0};
  uint32_t *recent;
  if (!s->m->nvtx.n || s->launch_count < FEWEST)
    return NAI_OK;
  NAI_TRY(NAI_NEW(recent, s->arena, s->names->texts.count, err));
  for (uint32_t t = 0; t < s->thread_count; t++)
    if (g->first[s->threads[t] + 1] - g->first[s->threads[t]] >= FEWEST)
      NAI_TRY(consider_thread(&best, s, s->threads[t], recent, err));
  return conclude(&best, s, err);
}
