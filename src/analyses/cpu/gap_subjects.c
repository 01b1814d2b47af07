/* Finds the stretches of time for which is told what the CPU did. */
#include "analyses/cpu/gap_subjects.h"

#include "model/idle/active.h"
#include "analyses/idle/idle.h"
#include "base/array.h"
#include "base/sort.h"
#include "tables/osrt_events.h"
#include "tables/sample_events.h"
#include "tables/sched_events.h"
#include "tables/threads.h"
#include "tables/gpu_idle_gaps.h"
#include "tables/idle_patterns.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_GAPS = 200, MAX_PATTERNS = 100, SHORTEST_NS = 4000 /* as in idle_patterns */ };

void nai_gap_subjects_free(struct nai_gap_subjects *s) {
  for (uint32_t i = 0; i < s->count; i++)
    nai_activity_free(&s->v[i].does);
  free(s->v);
  nai_keyset_free(&s->keys);
  free(s->of_key);
  nai_collections_free(&s->collections);
}

static struct nai_gap_subject *add(struct nai_gap_subjects *s, const struct nai_gap_subject *like) {
  if (s->count == s->capacity && !nai_array_room(&s->v, &s->capacity, s->count, sizeof *s->v))
    return NULL;
  s->v[s->count] = *like;
  return &s->v[s->count++];
}

/* The subject of many gaps with that key, added when new; counts the gap. */
static struct nai_gap_subject *collect(struct nai_gap_subjects *s, const struct nai_gap_subject *like, int64_t key) {
  bool added;
  uint32_t i = nai_keyset_add(&s->keys, key, &added);
  if (s->keys.oom || (i == s->key_capacity && !nai_array_room(&s->of_key, &s->key_capacity, i, sizeof *s->of_key)))
    return NULL;
  if (added) {
    s->of_key[i] = s->count;
    if (!add(s, like))
      return NULL;
  }
  struct nai_gap_subject *subject = &s->v[s->of_key[i]];
  if (like->gap.end - like->gap.start > subject->gap.end - subject->gap.start)
    subject->gap = like->gap;
  subject->gaps++;
  return subject;
}

/* Adds what the subject's thread did in [start, end). */
static void look_at(struct nai_gap_subjects *s, struct nai_gap_subject *subject, int64_t start, int64_t end) {
  nai_activity_add(&subject->does, &s->at, s->m, (uint32_t)subject->thread, start, end);
  subject->does.gc_ranges_ns += nai_collections_within(&s->collections, (uint32_t)subject->thread, start, end);
}

static int32_t thread_of(const struct nai_model *m, const struct nai_idle_gap *gap) {
  return gap->launch == NAI_NO_ROW ? -1 : nai_at_i32(&m->apis.thread, gap->launch);
}

/* --- single gaps ------------------------------------------------------------------------------ */

static int take_gap(struct nai_gap_subjects *s, int64_t row, struct nai_err *err) {
  const struct nai_model *m = s->m;
  uint32_t gpu = nai_model_gpu_index(m, (int32_t)nai_get_i64(s->gaps, row, GPU_IDLE_GAPS_device_id));
  int64_t end = nai_get_i64(s->gaps, row, GPU_IDLE_GAPS_gap_end_ns);
  if (gpu == m->gpu_count)
    return NAI_OK;
  const struct nai_intervals *all = &m->gpus[gpu].all;
  size_t number = nai_bisect(all->v, all->count, sizeof *all->v, offsetof(struct nai_interval, start), end);
  struct nai_gap_subject like = {.scope = NAI_SCOPE_GAP, .gpu = gpu, .pattern = -1, .gaps = 1};
  like.gap = nai_idle_gap_at(m, gpu, (uint32_t)number);
  like.thread = thread_of(m, &like.gap);
  struct nai_gap_subject *subject = add(s, &like);
  if (!subject)
    return nai_err_nomem(err);
  if (like.thread >= 0) {
    look_at(s, subject, like.gap.start, like.gap.end);
    nai_activity_add_launch(&subject->does, m, like.gap.launch);
  }
  return subject->does.oom ? nai_err_nomem(err) : NAI_OK;
}

/* --- gaps that repeat ------------------------------------------------------------------------- */

/* Which row of idle_patterns a gap belongs to. */
struct patterns {
  struct nai_strings texts;
  struct nai_keyset keys;
  int64_t rows; /* looked at */
};

static int64_t key_of(uint32_t gpu, uint32_t cause, uint32_t op, uint32_t api, uint32_t range) {
  return (int64_t)gpu << 40 | (int64_t)cause << 36 | (int64_t)(op & 0xfff) << 24 | (int64_t)(api & 0xfff) << 12 |
         (int64_t)(range & 0xfff);
}

/* Number of a text, 0xfff for NULL; `add`: of those that are known already, NAI_NO_STRING for others. */
static uint32_t number_of(struct patterns *p, const char *text, bool add) {
  if (!text)
    return 0xfff;
  return add ? nai_strings_add(&p->texts, text, strlen(text)) : nai_strings_find(&p->texts, text, strlen(text));
}

static const char *text_of(const struct nai_table *t, int64_t row, int column) {
  struct nai_value v = nai_table_value(t, row, column);
  return v.null ? NULL : v.s;
}

static uint32_t cause_of(const char *name) {
  uint32_t c = 0;
  while (c < NAI_IDLE_CAUSES && strcmp(nai_idle_cause_name((enum nai_idle_cause)c), name) != 0)
    c++;
  return c;
}

static int list_patterns(struct patterns *p, const struct nai_gap_subjects *s, struct nai_err *err) {
  const struct nai_table *t = s->patterns;
  for (p->rows = 0; t && p->rows < t->rows && p->rows < MAX_PATTERNS; p->rows++) {
    bool added;
    int64_t row = p->rows;
    nai_keyset_add(&p->keys,
                   key_of(nai_model_gpu_index(s->m, (int32_t)nai_get_i64(t, row, IDLE_PATTERNS_device_id)),
                          cause_of(nai_get_str(t, row, IDLE_PATTERNS_cause)),
                          number_of(p, text_of(t, row, IDLE_PATTERNS_next_op), true),
                          number_of(p, text_of(t, row, IDLE_PATTERNS_launch_api), true),
                          number_of(p, text_of(t, row, IDLE_PATTERNS_nvtx_range), true)),
                   &added);
  }
  return p->keys.oom ? nai_err_nomem(err) : NAI_OK;
}

static int take_repeated(struct nai_gap_subjects *s, struct patterns *p, const struct nai_idle_gap *gap,
                         struct nai_err *err) {
  const struct nai_model *m = s->m;
  char room[NAI_KIND_NAME_MAX];
  uint32_t op = number_of(p, nai_next_op_name(room, m, gap), false),
           api = number_of(p, nai_model_api_name(m, gap->launch), false),
           range = number_of(p, nai_launch_range(m, gap->launch), false);
  if (op == NAI_NO_STRING || api == NAI_NO_STRING || range == NAI_NO_STRING)
    return NAI_OK;
  uint32_t row = nai_keyset_find(&p->keys, key_of(gap->gpu, m->idle[gap->gpu].cause[gap->number], op, api, range));
  if (row == UINT32_MAX)
    return NAI_OK;
  const struct nai_gap_subject like = {
      .scope = NAI_SCOPE_PATTERN, .gpu = gap->gpu, .thread = thread_of(m, gap), .pattern = row, .gap = *gap};
  struct nai_gap_subject *subject = collect(s, &like, nai_key_pair(row, (uint32_t)like.thread));
  if (!subject)
    return nai_err_nomem(err);
  look_at(s, subject, gap->start, gap->end);
  nai_activity_add_launch(&subject->does, m, gap->launch);
  return subject->does.oom ? nai_err_nomem(err) : NAI_OK;
}

/* --- the launching threads' own code ---------------------------------------------------------- */

struct own_code {
  struct nai_intervals when;
  struct nai_idle_shares shares;
  uint32_t span; /* of its GPU the one that the last gap was in */
};

static bool is_active(struct nai_gap_subjects *s, struct own_code *own, const struct nai_idle_gap *gap) {
  return !s->m->active || nai_gpu_is_active(&s->m->active[gap->gpu], &own->span, gap->start);
}

static int take_own_code(struct nai_gap_subjects *s, struct own_code *own, const struct nai_idle_gap *gap,
                         struct nai_err *err) {
  struct nai_idle_split split;
  if (nai_at(&s->m->apis.start_ns, gap->launch) <= gap->start || !is_active(s, own, gap))
    return NAI_OK;
  int rc = nai_idle_split_again(&split, &own->shares, &own->when, s->m, gap, err);
  if (rc || !own->when.count)
    return rc;
  const struct nai_gap_subject like = {
      .scope = NAI_SCOPE_HOST_CODE, .gpu = gap->gpu, .thread = thread_of(s->m, gap), .pattern = -1, .gap = *gap};
  int64_t key = INT64_MIN | nai_key_pair(gap->gpu, (uint32_t)like.thread);
  struct nai_gap_subject *subject = collect(s, &like, key);
  if (!subject)
    return nai_err_nomem(err);
  for (size_t i = 0; i < own->when.count; i++)
    look_at(s, subject, own->when.v[i].start, own->when.v[i].end);
  return subject->does.oom ? nai_err_nomem(err) : NAI_OK;
}

/* Every gap of every GPU. */
static int take_many(struct nai_gap_subjects *s, struct nai_err *err) {
  const struct nai_model *m = s->m;
  struct patterns patterns = {0};
  struct own_code own = {0};
  int rc = list_patterns(&patterns, s, err);
  for (uint32_t g = 0; !rc && g < m->gpu_count; g++) {
    own.span = 0;
    for (struct nai_idle_gap gap = nai_idle_first(g); !rc && nai_idle_next(&gap, m);) {
      if (gap.launch == NAI_NO_ROW || gap.end - gap.start < SHORTEST_NS)
        continue;
      rc = take_repeated(s, &patterns, &gap, err);
      if (!rc && m->idle[g].ns[NAI_IDLE_HOST_CODE])
        rc = take_own_code(s, &own, &gap, err);
    }
  }
  nai_strings_free(&patterns.texts);
  nai_keyset_free(&patterns.keys);
  nai_intervals_free(&own.when);
  nai_idle_shares_free(&own.shares);
  return rc;
}

/* --- before the first CUDA call --------------------------------------------------------------- */

static int64_t first_of(const struct nai_cpu_rows *rows, const struct nai_table *t, int column, int64_t global_tid) {
  const struct nai_cpu_thread *thread = nai_cpu_find(rows, global_tid);
  return thread ? nai_get_i64(t, rows->order[thread->first], column) : INT64_MAX;
}

/* When the thread is heard of first, INT64_MAX for never. */
static int64_t first_seen(const struct nai_model *m, int32_t thread) {
  int64_t tid = nai_get_i64(m->tables[NAI_IN_THREADS], thread, THREADS_global_tid);
  int64_t sched = first_of(&m->cpu->sched, m->tables[NAI_IN_SCHED], SCHED_EVENTS_time_ns, tid),
          sample = first_of(&m->cpu->samples, m->tables[NAI_IN_SAMPLES], SAMPLE_EVENTS_time_ns, tid), osrt = INT64_MAX;
  const struct nai_groups *g = nai_model_osrt_calls(m);
  if (g && g->first[thread] < g->first[thread + 1])
    osrt = nai_get_i64(m->tables[NAI_IN_OSRT], g->order[g->first[thread]], OSRT_EVENTS_start_ns);
  int64_t first = sched < sample ? sched : sample;
  first = first < osrt ? first : osrt;
  return first > 0 ? first : 0;
}

/* Of each process, the thread that makes its first CUDA call. */
static int take_set_up(struct nai_gap_subjects *s, struct nai_err *err) {
  const struct nai_model *m = s->m;
  uint32_t *first = malloc(((size_t)m->process_count + 1) * sizeof *first);
  int rc = first ? NAI_OK : nai_err_nomem(err);
  for (uint32_t p = 0; first && p < m->process_count; p++)
    first[p] = NAI_NO_ROW;
  for (uint32_t i = 0; !rc && i < m->apis.n; i++) {
    int32_t thread = nai_at_i32(&m->apis.thread, i), process = thread < 0 ? -1 : m->thread_process[thread];
    if (process >= 0 &&
        (first[process] == NAI_NO_ROW || nai_at(&m->apis.start_ns, i) < nai_at(&m->apis.start_ns, first[process])))
      first[process] = i;
  }
  for (uint32_t p = 0; !rc && p < m->process_count; p++) {
    if (first[p] == NAI_NO_ROW)
      continue;
    struct nai_gap_subject like = {.scope = NAI_SCOPE_SET_UP, .gpu = NAI_NO_ROW, .pattern = -1, .gaps = 1};
    like.thread = nai_at_i32(&m->apis.thread, first[p]);
    like.gap = (struct nai_idle_gap){.start = first_seen(m, like.thread),
                                     .end = nai_at(&m->apis.start_ns, first[p]),
                                     .op = NAI_NO_ROW,
                                     .launch = NAI_NO_ROW};
    if (like.gap.start >= like.gap.end)
      continue;
    struct nai_gap_subject *subject = add(s, &like);
    if (!subject)
      rc = nai_err_nomem(err);
    else
      look_at(s, subject, like.gap.start, like.gap.end);
  }
  free(first);
  return rc;
}

/* --- all -------------------------------------------------------------------------------------- */

/* Whether anything beside CUDA tells what threads did. */
static bool is_witnessed(const struct nai_gap_subjects *s) {
  const struct nai_model *m = s->m;
  return s->collections.count || nai_model_osrt_calls(m) || m->cpu->sched.thread_count || m->cpu->samples.thread_count;
}

/* By scope, then most time; among equals by GPU, time and thread. */
static int compare(const void *pa, const void *pb) {
  const struct nai_gap_subject *a = pa, *b = pb;
  int64_t a_ns = a->scope == NAI_SCOPE_GAP ? a->gap.end - a->gap.start : a->does.ns,
          b_ns = b->scope == NAI_SCOPE_GAP ? b->gap.end - b->gap.start : b->does.ns;
  if (a->scope != b->scope)
    return a->scope < b->scope ? -1 : 1;
  if (a_ns != b_ns)
    return a_ns > b_ns ? -1 : 1;
  if (a->gpu != b->gpu)
    return a->gpu < b->gpu ? -1 : 1;
  if (a->gap.start != b->gap.start)
    return a->gap.start < b->gap.start ? -1 : 1;
  if (a->pattern != b->pattern)
    return a->pattern < b->pattern ? -1 : 1;
  return (a->thread > b->thread) - (a->thread < b->thread);
}

int nai_gap_subjects_find(struct nai_gap_subjects *s, struct nai_err *err) {
  int rc = nai_collections_find(&s->collections, s->m, err);
  for (int64_t row = 0; s->gaps && !rc && row < s->gaps->rows && row < MAX_GAPS; row++)
    rc = take_gap(s, row, err);
  if (!rc && is_witnessed(s))
    rc = take_many(s, err);
  if (!rc && is_witnessed(s))
    rc = take_set_up(s, err);
  for (uint32_t i = 0; !rc && i < s->count; i++) {
    nai_activity_finish(&s->v[i].does, s->m);
    rc = s->v[i].does.oom ? nai_err_nomem(err) : NAI_OK;
  }
  if (!rc && s->count)
    qsort(s->v, s->count, sizeof *s->v, compare);
  return rc;
}
