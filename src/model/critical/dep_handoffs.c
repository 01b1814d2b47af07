/* Threads that take turns: one makes no call until another has done its part. No export says who woke whom, so this is
 * inferred from a pattern that holds over the whole trace, and where OS runtime calls are recorded from the wait and
 * the signal as well. Where either is missing nothing depends on another thread. */
#include "model/critical/dep_build.h"

#include "base/sort.h"
#include "model/idle/evidence.h"

enum {
  QUIET_NS = 200 * 1000,  /* a thread that makes no call for so long may wait for another, */
  LEAST_QUIET_NS = 50000, /* which makes none for so long, or so long as this one's turn lasts, */
  PROMPT_NS = 200 * 1000, /* which it then follows within this, */
  LEAST_TURNS = 5,        /* in this many cases at least, */
  TURNS_PCT = 90,         /* and in so many of those in which the other one made calls meanwhile */
  MOST_THREADS = 16       /* of a process; of more nobody knows who waits for whom */
};
enum wake { NO_WAKE, WAITS, SIGNALS };

struct turns {
  struct dep_builder *b;
  uint8_t *wake;                   /* per name of osrt_events: enum wake */
  uint32_t *gaps, gap_count;       /* of the thread that may wait: calls behind a long time without one */
  uint32_t capacity;               /* of b->handoffs */
  uint32_t *threads, *per_process; /* those that make calls */
  uint32_t thread_count;
};

/* --- by the calls ----------------------------------------------------------------------------- */

/* How the other thread spent the time before a call of the one that may wait. */
struct turn {
  uint32_t first, last; /* its calls in that time */
  uint32_t from;        /* node that handed off */
  bool active, handed;
};

/* A turn that begins with that call lasts until `turn_end`. */
static struct turn turn_before(const struct dep_builder *b, uint32_t call, int64_t turn_end, uint32_t other) {
  const struct nai_dependencies *d = b->d;
  int64_t since = d->time[2 * call - 1], until = d->time[2 * call];
  uint32_t end = d->first_call[other + 1];
  uint32_t first = nai_dep_call_from(d, other, since), next = nai_dep_call_from(d, other, until);
  struct turn turn = {.first = first, .last = next - 1, .active = next > first};
  if (!turn.active)
    return turn;
  bool waits = d->time[2 * turn.last + 1] > until; /* then it handed off before that call, which must be a wait */
  turn.from = 2 * turn.last + !waits;
  int64_t done = d->time[turn.from];
  int64_t quiet_until = waits ? d->time[2 * turn.last + 1] : next < end ? d->time[2 * next] : INT64_MAX;
  int64_t lasts = turn_end - done, quiet = lasts < LEAST_QUIET_NS ? LEAST_QUIET_NS
                                         : lasts < QUIET_NS       ? lasts
                                                                  : QUIET_NS;
  bool filled = d->time[2 * first] - since <= (until - since) / 2;
  turn.handed = filled && until - done <= PROMPT_NS && quiet_until - done >= quiet &&
                (!waits || nai_model_api_blocks(b->m, d->call_api[turn.last]));
  return turn;
}

/* --- by the OS runtime calls ------------------------------------------------------------------ */

static enum wake wake_of(const char *name) {
  if (nai_name_matches(name, NAI_BEGINS,
                       NAI_WORDS("pthread_cond_wait", "pthread_cond_timedwait", "pthread_cond_clockwait",
                                 "pthread_mutex_lock", "sem_wait", "sem_timedwait", "sem_clockwait")))
    return WAITS;
  return nai_name_matches(name, NAI_BEGINS,
                          NAI_WORDS("pthread_cond_signal", "pthread_cond_broadcast", "sem_post",
                                    "pthread_mutex_unlock"))
           ? SIGNALS
           : NO_WAKE;
}

static int name_wakes(struct turns *t, struct nai_err *err) {
  const struct nai_strings *names = &t->b->m->tables[NAI_IN_OSRT]->strings;
  NAI_TRY(NAI_NEW(t->wake, t->b->arena, names->count, err));
  for (uint32_t i = 0; i < names->count; i++)
    t->wake[i] = (uint8_t)wake_of(nai_strings_get(names, i));
  return NAI_OK;
}

struct os_calls {
  const struct nai_evidence *e;
  int64_t t;
};
static bool begins_before(const void *ctx, size_t i) {
  const struct os_calls *s = ctx;
  return nai_val(&s->e->osrt.start_ns, s->e->osrt_by_thread.order[i]) < s->t;
}

/* The last OS runtime call of a kind that a thread began in [from, until) and, of waits, ended by then. */
static uint32_t last_of_kind(const struct turns *t, uint32_t thread, enum wake kind, int64_t from, int64_t until) {
  const struct nai_evidence *e = t->b->m->evidence;
  const struct nai_groups *g = &e->osrt_by_thread;
  size_t i = nai_search(g->first[thread], g->first[thread + 1], begins_before, &(struct os_calls){e, until});
  while (i-- > g->first[thread] && nai_val(&e->osrt.start_ns, g->order[i]) >= from)
    if (t->wake[nai_at_text(&e->osrt.name, g->order[i])] == kind &&
        (kind == SIGNALS || nai_val(&e->osrt.end_ns, g->order[i]) <= until))
      return g->order[i];
  return NAI_NO_ROW;
}

/* What the thread does itself before the call; false where OS runtime calls are recorded and tell of no hand-off. Then
 * the other thread's last call before the signal handed off. */
static bool own_code(struct dep_handoff *h, struct turn *turn, const struct turns *t, uint32_t waiter, uint32_t other) {
  const struct nai_dependencies *d = t->b->d;
  const struct OSRT_EVENTS_columns *osrt = &t->b->m->evidence->osrt;
  int64_t since = d->time[2 * h->call - 1], until = d->time[2 * h->call];
  h->own = until - d->time[turn->from];
  if (!osrt->n)
    return true;
  uint32_t wait = last_of_kind(t, waiter, WAITS, since, until);
  if (wait == NAI_NO_ROW)
    return false;
  int64_t begin = nai_val(&osrt->start_ns, wait), end = nai_val(&osrt->end_ns, wait);
  uint32_t signal = last_of_kind(t, other, SIGNALS, end - PROMPT_NS > begin ? end - PROMPT_NS : begin, end + 1);
  if (signal == NAI_NO_ROW)
    return false;
  int64_t signaled = nai_val(&osrt->start_ns, signal);
  while (turn->last > turn->first && d->time[2 * turn->last + 1] > signaled)
    turn->last--;
  turn->from = 2 * turn->last + 1;
  h->own = begin - since + until - end;
  return d->time[turn->from] <= signaled;
}

/* --- pairs of threads ------------------------------------------------------------------------- */

static int find_gaps(struct turns *t, uint32_t waiter, struct nai_err *err) {
  const struct dep_builder *b = t->b;
  uint32_t first = b->d->first_call[waiter], end = b->d->first_call[waiter + 1];
  t->gap_count = 0;
  NAI_TRY(NAI_NEW(t->gaps, b->arena, end - first, err));
  for (uint32_t call = first + 1; call < end; call++)
    if (b->d->time[2 * call] - b->d->time[2 * call - 1] >= QUIET_NS)
      t->gaps[t->gap_count++] = call;
  return NAI_OK;
}

static int try_pair(struct turns *t, uint32_t waiter, uint32_t other, struct nai_err *err) {
  struct dep_builder *b = t->b;
  uint32_t before = b->handoff_count, turns = 0, handed = 0;
  for (uint32_t i = 0; i < t->gap_count; i++) {
    struct dep_handoff h = {.call = t->gaps[i]};
    uint32_t next = i + 1 < t->gap_count ? t->gaps[i + 1] : b->d->first_call[waiter + 1];
    struct turn turn = turn_before(b, h.call, b->d->time[2 * next - 1], other);
    turns += turn.active;
    handed += turn.handed;
    if (!turn.handed || !own_code(&h, &turn, t, waiter, other))
      continue;
    h.from = turn.from;
    h.after = b->d->time[2 * h.call] - b->d->time[turn.from];
    NAI_TRY(NAI_ROOM(b->handoffs, t->capacity, b->handoff_count, b->arena, err));
    b->handoffs[b->handoff_count++] = h;
  }
  if (handed < LEAST_TURNS || (uint64_t)handed * 100 < (uint64_t)turns * TURNS_PCT)
    b->handoff_count = before;
  return NAI_OK;
}

NAI_ORDER(compare_handoffs, struct dep_handoff, {a->call, b->call}, {a->after, b->after}, {a->from, b->from})

/* Of several threads the one that was done last is waited for. */
static void keep_last_of_each(struct dep_builder *b) {
  uint32_t kept = 0;
  if (b->handoff_count)
    qsort(b->handoffs, b->handoff_count, sizeof *b->handoffs, compare_handoffs);
  for (uint32_t i = 0; i < b->handoff_count; i++)
    if (!kept || b->handoffs[kept - 1].call != b->handoffs[i].call)
      b->handoffs[kept++] = b->handoffs[i];
  b->handoff_count = kept;
}

static int find_threads(struct turns *t, struct nai_err *err) {
  const struct nai_model *m = t->b->m;
  NAI_TRY(NAI_NEW(t->threads, t->b->arena, m->thread_count, err));
  NAI_TRY(NAI_NEW(t->per_process, t->b->arena, m->process_count, err));
  for (uint32_t i = 0; i < m->thread_count; i++) {
    if (t->b->d->first_call[i] == t->b->d->first_call[i + 1] || m->thread_process[i] < 0)
      continue;
    t->threads[t->thread_count++] = i;
    t->per_process[m->thread_process[i]]++;
  }
  return NAI_OK;
}

int nai_dep_find_handoffs(struct dep_builder *b, struct nai_err *err) {
  const int32_t *process = b->m->thread_process;
  struct turns t = {.b = b};
  NAI_TRY(find_threads(&t, err));
  NAI_TRY(name_wakes(&t, err));
  for (uint32_t i = 0; i < t.thread_count; i++) {
    uint32_t waiter = t.threads[i], beside = t.per_process[process[waiter]];
    if (beside < 2 || beside > MOST_THREADS)
      continue;
    NAI_TRY(find_gaps(&t, waiter, err));
    for (uint32_t k = 0; k < t.thread_count && t.gap_count >= LEAST_TURNS; k++)
      if (k != i && process[t.threads[k]] == process[waiter])
        NAI_TRY(try_pair(&t, waiter, t.threads[k], err));
  }
  keep_last_of_each(b);
  return NAI_OK;
}
