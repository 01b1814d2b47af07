/* Finds the stretches of time for which is told what the CPU did. */
#include "analyses/cpu/gap_subjects.h"

#include "base/sort.h"
#include "model/idle/active.h"
#include "model/idle/gap_names.h"
#include "tables/gpu_idle_gaps.h"
#include "tables/idle_patterns.h"
#include "tables/osrt_events.h"
#include "tables/sample_events.h"
#include "tables/sched_events.h"
#include "tables/threads.h"

enum { MAX_GAPS = 200, MAX_PATTERNS = 100, SHORTEST_NS = 4000 /* as in idle_patterns */, STRETCH_NS = 1000 * 1000 };

void nai_gap_subjects_free(struct nai_gap_subjects *s) {
  for (uint32_t i = 0; i < s->count; i++)
    nai_activity_free(&s->v[i].does);
  nai_collections_free(&s->collections);
}

static int add(struct nai_gap_subjects *s, const struct nai_gap_subject *like, struct nai_err *err) {
  NAI_TRY(NAI_ROOM(s->v, s->capacity, s->count, s->arena, err));
  s->v[s->count++] = *like;
  return NAI_OK;
}

/* The subject of many gaps with that key, added when new; counts the gap. */
static int collect(struct nai_gap_subject **out, struct nai_gap_subjects *s, const struct nai_gap_subject *like,
                   int64_t key, struct nai_err *err) {
  bool added;
  uint32_t i = nai_keyset_add(&s->keys, key, &added);
  NAI_TRY(nai_memory_check(!s->keys.oom, err));
  NAI_TRY(NAI_ROOM(s->of_key, s->key_capacity, i, s->arena, err));
  if (added) {
    s->of_key[i] = s->count;
    NAI_TRY(add(s, like, err));
  }
  struct nai_gap_subject *subject = *out = &s->v[s->of_key[i]];
  if (like->gap.end - like->gap.start > subject->gap.end - subject->gap.start)
    subject->gap = like->gap;
  subject->gaps++;
  return NAI_OK;
}

/* Adds what the subject's thread did in [start, end). */
static int look_at(struct nai_gap_subjects *s, struct nai_gap_subject *subject, int64_t start, int64_t end,
                   struct nai_err *err) {
  nai_activity_add(&subject->does, &s->at, s->m, (uint32_t)subject->thread, start, end);
  subject->does.gc_ranges_ns += nai_collections_within(&s->collections, (uint32_t)subject->thread, start, end);
  return subject->does.oom ? nai_err_nomem(err) : NAI_OK;
}

static int look_at_gap(struct nai_gap_subjects *s, struct nai_gap_subject *subject, const struct nai_idle_gap *gap,
                       struct nai_err *err) {
  NAI_TRY(look_at(s, subject, gap->start, gap->end, err));
  nai_activity_add_launch(&subject->does, s->m, gap->launch);
  return subject->does.oom ? nai_err_nomem(err) : NAI_OK;
}

static int32_t thread_of(const struct nai_model *m, const struct nai_idle_gap *gap) {
  return gap->launch == NAI_NO_ROW ? -1 : nai_val_i32(&m->apis.thread, gap->launch);
}

/* --- single gaps ------------------------------------------------------------------------------ */

static int take_gap(struct nai_gap_subjects *s, int64_t row, struct nai_err *err) {
  const struct nai_model *m = s->m;
  uint32_t gpu = nai_model_gpu_index(m, (int32_t)nai_get_i64(s->gaps, row, GPU_IDLE_GAPS_device_id));
  if (gpu == m->gpu_count)
    return NAI_OK;
  const struct nai_intervals *all = &m->gpus[gpu].all;
  size_t number = nai_bisect(all->v, all->count, sizeof *all->v, offsetof(struct nai_interval, start),
                             nai_get_i64(s->gaps, row, GPU_IDLE_GAPS_gap_end_ns));
  struct nai_gap_subject like = {.scope = NAI_SCOPE_GAP, .gpu = gpu, .pattern = -1, .gaps = 1};
  like.gap = nai_idle_gap_at(m, gpu, (uint32_t)number);
  like.thread = thread_of(m, &like.gap);
  NAI_TRY(add(s, &like, err));
  return like.thread >= 0 ? look_at_gap(s, &s->v[s->count - 1], &like.gap, err) : NAI_OK;
}

/* --- gaps that repeat ------------------------------------------------------------------------- */

/* Which row of idle_patterns a gap belongs to. */
struct patterns {
  struct nai_strings texts;
  struct nai_keyset keys; /* as many as rows that are looked at */
};
static void patterns_free(struct patterns *p) { nai_strings_free(&p->texts); }

static int64_t key_of(uint32_t gpu, uint32_t cause, uint32_t op, uint32_t api, uint32_t range) {
  return (int64_t)gpu << 48 | (int64_t)(cause & 0xfff) << 36 | (int64_t)(op & 0xfff) << 24 |
         (int64_t)(api & 0xfff) << 12 | (int64_t)(range & 0xfff);
}

/* Number of a text that is known already, 0xfff for NULL, NAI_NO_STRING for others. */
static uint32_t find_text(const struct patterns *p, const char *text) {
  return text ? nai_strings_find(&p->texts, text, strlen(text)) : 0xfff;
}

static uint32_t add_text(struct patterns *p, int64_t row, int column, const struct nai_table *t) {
  struct nai_value v = nai_table_value(t, row, column);
  return v.null ? 0xfff : nai_strings_add(&p->texts, v.s, strlen(v.s));
}

static int list_patterns(struct patterns *p, const struct nai_gap_subjects *s, struct nai_err *err) {
  const struct nai_table *t = s->patterns;
  for (int64_t row = 0; row < t->rows && row < MAX_PATTERNS; row++) {
    bool added;
    nai_keyset_add(&p->keys,
                   key_of(nai_model_gpu_index(s->m, (int32_t)nai_get_i64(t, row, IDLE_PATTERNS_device_id)),
                          add_text(p, row, IDLE_PATTERNS_cause, t), add_text(p, row, IDLE_PATTERNS_next_op, t),
                          add_text(p, row, IDLE_PATTERNS_launch_api, t), add_text(p, row, IDLE_PATTERNS_nvtx_range, t)),
                   &added);
  }
  return p->keys.oom ? nai_err_nomem(err) : NAI_OK;
}

static int take_repeated(struct nai_gap_subjects *s, const struct patterns *p, const struct nai_idle_gap *gap,
                         struct nai_err *err) {
  const struct nai_model *m = s->m;
  char room[NAI_KIND_NAME_MAX];
  enum nai_idle_cause largest = (enum nai_idle_cause)m->idle[gap->gpu].cause[gap->number];
  uint32_t cause = find_text(p, nai_idle_cause_name(largest)), op = find_text(p, nai_next_op_name(room, m, gap)),
           api = find_text(p, nai_model_api_name(m, gap->launch)),
           range = find_text(p, nai_launch_range(m, gap->launch));
  if (cause == NAI_NO_STRING || op == NAI_NO_STRING || api == NAI_NO_STRING || range == NAI_NO_STRING)
    return NAI_OK;
  uint32_t row = nai_keyset_find(&p->keys, key_of(gap->gpu, cause, op, api, range));
  if (row == UINT32_MAX)
    return NAI_OK;
  struct nai_gap_subject *subject,
      like = {.scope = NAI_SCOPE_PATTERN, .gpu = gap->gpu, .thread = thread_of(m, gap), .pattern = row, .gap = *gap};
  NAI_TRY(collect(&subject, s, &like, nai_key_pair(row, (uint32_t)like.thread), err));
  return look_at_gap(s, subject, gap, err);
}

/* --- the launching threads' own code ---------------------------------------------------------- */

/* `span`: of its GPU the one that the last gap was in. */
static int take_own_code(struct nai_gap_subjects *s, uint32_t *span, struct nai_intervals *when,
                         const struct nai_idle_gap *gap, struct nai_err *err) {
  const struct nai_model *m = s->m;
  struct nai_idle_split split;
  if (!m->idle[gap->gpu].ns[NAI_IDLE_HOST_CODE] || nai_val(&m->apis.start_ns, gap->launch) <= gap->start ||
      !nai_idle_gap_active(span, m, gap->gpu, gap->number))
    return NAI_OK;
  NAI_TRY(nai_idle_split_again(&split, NULL, when, m, gap, err));
  if (!when->count)
    return NAI_OK;
  struct nai_gap_subject *subject, like = {.scope = NAI_SCOPE_HOST_CODE,
                                           .gpu = gap->gpu,
                                           .thread = thread_of(m, gap),
                                           .pattern = -1,
                                           .gap = *gap,
                                           .stretches = {.arena = s->arena}};
  NAI_TRY(collect(&subject, s, &like, INT64_MIN | nai_key_pair(gap->gpu, (uint32_t)like.thread), err));
  const int64_t tid = nai_get_i64(m->tables[NAI_IN_THREADS], like.thread, THREADS_global_tid);
  for (size_t i = 0; i < when->count; i++) {
    NAI_TRY(look_at(s, subject, when->v[i].start, when->v[i].end, err));
    NAI_TRY(nai_wakes_add(&subject->wakes, m, tid, when->v[i].start, when->v[i].end, s->arena, err));
    if (when->v[i].end - when->v[i].start >= STRETCH_NS)
      nai_intervals_add(&subject->stretches, when->v[i].start, when->v[i].end);
  }
  return subject->stretches.oom ? nai_err_nomem(err) : NAI_OK;
}

/* Every gap of every GPU. */
static int take_many(struct nai_gap_subjects *s, struct nai_err *err) {
  const struct nai_model *m = s->m;
  struct nai_intervals when = {.arena = s->arena};
  NAI_SCOPED(patterns) patterns = {.keys = {.arena = s->arena}};
  NAI_TRY(list_patterns(&patterns, s, err));
  for (uint32_t g = 0; g < m->gpu_count; g++) {
    uint32_t span = 0;
    for (struct nai_idle_gap gap = nai_idle_first(g); nai_idle_next(&gap, m);) {
      if (gap.launch == NAI_NO_ROW || gap.end - gap.start < SHORTEST_NS)
        continue;
      NAI_TRY(take_repeated(s, &patterns, &gap, err));
      NAI_TRY(take_own_code(s, &span, &when, &gap, err));
    }
  }
  return NAI_OK;
}

/* --- before and after GPU work -------------------------------------------------------------------- */

/* The CUDA calls of a process that begin first and last, NAI_NO_ROW for none. */
struct outer_calls {
  uint32_t first, last;
};

static void find_outer_calls(struct outer_calls *of, const struct nai_model *m) {
  const struct nai_groups *calls = &m->api_by_thread;
  for (uint32_t p = 0; p < m->process_count; p++)
    of[p] = (struct outer_calls){NAI_NO_ROW, NAI_NO_ROW};
  for (uint32_t t = 0; t < m->thread_count; t++) {
    if (m->thread_process[t] < 0 || calls->first[t] == calls->first[t + 1])
      continue;
    struct outer_calls *outer = &of[m->thread_process[t]];
    uint32_t first = calls->order[calls->first[t]], last = calls->order[calls->first[t + 1] - 1];
    if (outer->first == NAI_NO_ROW || nai_val(&m->apis.start_ns, first) < nai_val(&m->apis.start_ns, outer->first))
      outer->first = first;
    if (outer->last == NAI_NO_ROW || nai_val(&m->apis.start_ns, last) > nai_val(&m->apis.start_ns, outer->last))
      outer->last = last;
  }
}

/* The thread of a call from `start` to `end`. */
static int take_stretch(struct nai_gap_subjects *s, enum nai_gap_scope scope, uint32_t call, int64_t start, int64_t end,
                        struct nai_err *err) {
  struct nai_gap_subject like = {.scope = scope, .gpu = NAI_NO_ROW, .pattern = -1, .gaps = 1};
  if (start >= end)
    return NAI_OK;
  like.thread = nai_val_i32(&s->m->apis.thread, call);
  like.gap = (struct nai_idle_gap){.start = start, .end = end, .op = NAI_NO_ROW, .launch = NAI_NO_ROW};
  NAI_TRY(add(s, &like, err));
  return look_at(s, &s->v[s->count - 1], start, end, err);
}

/* From the begin of the first GPU work to the end of the last; of a process's calls where no GPU work is recorded. */
static struct nai_interval work_of(const struct nai_model *m, const struct outer_calls *calls) {
  struct nai_interval work = {INT64_MAX, INT64_MIN};
  for (uint32_t g = 0; g < m->gpu_count; g++) {
    const struct nai_intervals *all = &m->gpus[g].all;
    if (!all->count)
      continue;
    work.start = all->v[0].start < work.start ? all->v[0].start : work.start;
    work.end = all->v[all->count - 1].end > work.end ? all->v[all->count - 1].end : work.end;
  }
  return work.end > INT64_MIN
           ? work
           : (struct nai_interval){nai_val(&m->apis.start_ns, calls->first), nai_val(&m->apis.end_ns, calls->last)};
}

/* Of each process: the thread of its first CUDA call until that call, and from there to the first GPU work; the thread
 * of its last one from the last GPU work on. */
static int take_outside(struct nai_gap_subjects *s, struct nai_err *err) {
  const struct nai_model *m = s->m;
  struct outer_calls *of;
  NAI_TRY(NAI_NEW(of, s->arena, m->process_count, err));
  find_outer_calls(of, m);
  for (uint32_t p = 0; p < m->process_count; p++) {
    if (of[p].first == NAI_NO_ROW)
      continue;
    struct nai_interval work = work_of(m, &of[p]);
    int32_t last_thread = nai_val_i32(&m->apis.thread, of[p].last);
    int64_t call = nai_val(&m->apis.start_ns, of[p].first), left = nai_val(&m->apis.end_ns, of[p].last),
            begin = nai_thread_seen(m, nai_val_i32(&m->apis.thread, of[p].first), false),
            end = nai_thread_seen(m, last_thread, true);
    if (begin != NAI_NULL_I64)
      NAI_TRY(take_stretch(s, NAI_SCOPE_SET_UP, of[p].first, begin > 0 ? begin : 0, call, err));
    NAI_TRY(take_stretch(s, NAI_SCOPE_BEFORE_WORK, of[p].first, call, work.start, err));
    end = end == NAI_NULL_I64 || end < left ? left : end;
    NAI_TRY(take_stretch(s, NAI_SCOPE_AFTER_WORK, of[p].last, work.end, end, err));
  }
  return NAI_OK;
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
  return NAI_COMPARE({a->scope, b->scope}, {b_ns, a_ns}, {a->gpu, b->gpu}, {a->gap.start, b->gap.start},
                     {a->pattern, b->pattern}, {a->thread, b->thread});
}

int nai_gap_subjects_find(struct nai_gap_subjects *s, const struct nai_node_io *io, struct nai_err *err) {
  *s = (struct nai_gap_subjects){
      .m = io->model, .gaps = io->in[0], .patterns = io->in[1], .arena = io->arena, .keys = {.arena = io->arena}};
  NAI_TRY(nai_collections_find(&s->collections, s->m, err));
  NAI_TRY(nai_workers_find(&s->workers, s->m, s->arena, err));
  for (int64_t row = 0; row < s->gaps->rows && row < MAX_GAPS; row++)
    NAI_TRY(take_gap(s, row, err));
  if (is_witnessed(s))
    NAI_TRY(take_many(s, err));
  NAI_TRY(take_outside(s, err));
  for (uint32_t i = 0; i < s->count; i++) {
    nai_activity_finish(&s->v[i].does, s->m);
    NAI_TRY(nai_memory_check(!s->v[i].does.oom, err));
  }
  if (s->count)
    qsort(s->v, s->count, sizeof *s->v, compare);
  return NAI_OK;
}
