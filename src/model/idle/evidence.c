/* Evidence by thread: overhead rows in layers, and marks from which the calls around a moment are found. */
#include "model/idle/evidence.h"

#include "base/array.h"
#include "base/sort.h"
#include "model/build.h"
#include "model/idle/idle.h"
#include "tables/osrt_events.h"
#include "tables/overhead_events.h"

#include <stdlib.h>
#include <string.h>

/* Long enough to be no bookkeeping of the profiler's. */
enum { UNKNOWN_IS_LOADING_NS = 20000 };

/* --- marks on calls --------------------------------------------------------------------------- */

static enum nai_layer layer_of_call(const struct nai_model *m, uint32_t call) {
  enum nai_api_class class = m->api_class[nai_at_text(&m->apis.name, call)];
  if (class == NAI_API_BLOCKING || (class == NAI_API_BLOCKING_COPY && nai_model_api_blocks(m, call)))
    return NAI_LAYER_WAIT;
  return class == NAI_API_ALLOCATION ? NAI_LAYER_ALLOCATION
       : class == NAI_API_MODULE     ? NAI_LAYER_MODULE
                                     : NAI_LAYER_OTHER;
}

/* The mark before the calls from `place`, which is a multiple of NAI_CALLS_PER_MARK from the thread's first call. */
static struct nai_call_mark *mark_at(const struct nai_model *m, uint32_t thread, uint32_t place) {
  uint32_t first = m->api_by_thread.first[thread];
  return &m->evidence->marks[(size_t)first / NAI_CALLS_PER_MARK + thread + (place - first) / NAI_CALLS_PER_MARK];
}

static void add_call(struct nai_call_mark *mark, const struct nai_model *m, uint32_t call) {
  int layer = (int)layer_of_call(m, call) - NAI_LAYER_WAIT;
  int64_t end = nai_at(&m->apis.end_ns, call);
  if (end > mark->until[layer]) {
    mark->until[layer] = end;
    mark->row[layer] = call;
  }
}

static int mark_thread(void *ctx, int thread, struct nai_err *err) {
  (void)err;
  struct nai_model *m = ctx;
  const struct nai_groups *calls = &m->api_by_thread;
  struct nai_call_mark so_far = {0};
  for (int i = 0; i < NAI_LAYER_CALLS; i++)
    so_far.until[i] = INT64_MIN;
  uint32_t first = calls->first[thread], end = calls->first[thread + 1];
  for (uint32_t i = first;; i++) {
    if ((i - first) % NAI_CALLS_PER_MARK == 0)
      *mark_at(m, (uint32_t)thread, i) = so_far;
    if (i == end)
      return NAI_OK;
    add_call(&so_far, m, calls->order[i]);
  }
}

/* --- overhead --------------------------------------------------------------------------------- */

static bool begins(const char *text, const char *with) { return strncmp(text, with, strlen(with)) == 0; }

static enum nai_overhead_kind overhead_by_name(const char *name, bool driver) {
  if (strstr(name, "ptxjitcompiler") || strcasestr(name, "module loading") || strcasestr(name, "lazy function loading"))
    return NAI_OVERHEAD_LOADING;
  if (driver || begins(name, "TLS allocation") || begins(name, "Chunk Allocation") || begins(name, "dlopen") ||
      begins(name, "dlclose"))
    return NAI_OVERHEAD_OTHER;
  if (strcmp(name, "Unknown") == 0)
    return NAI_OVERHEAD_UNNAMED;
  return strcasestr(name, "flush") ? NAI_OVERHEAD_FLUSH : NAI_OVERHEAD_OF_PROFILER;
}

/* Whether a launch or an allocation of the thread is running at t and beyond `until`. */
static bool inside_launch(const struct nai_model *m, uint32_t thread, int64_t t, int64_t until) {
  struct nai_moment at = {0};
  nai_moment_find(&at, m, thread, t);
  return at.until[NAI_LAYER_ALLOCATION] >= until ||
         (at.until[NAI_LAYER_OTHER] >= until && m->api_owns[at.row[NAI_LAYER_OTHER]]);
}

/* Older exporters call module loading inside launches and allocations "Unknown", and so a few microseconds of their
 * own. */
static enum nai_overhead_kind overhead_of(const struct nai_model *m, const struct nai_table *t, uint32_t row) {
  enum { JIT = 2, MODULE_LOADING = 6, LAZY_LOADING = 7 };
  int64_t source = nai_get_i64(t, row, OVERHEAD_EVENTS_source);
  bool driver = source == NAI_OVERHEAD_CUDA;
  int64_t type = nai_get_i64(t, row, OVERHEAD_EVENTS_overhead_type),
          start = nai_get_i64(t, row, OVERHEAD_EVENTS_start_ns), end = nai_get_i64(t, row, OVERHEAD_EVENTS_end_ns);
  int64_t thread = nai_get_i64(t, row, OVERHEAD_EVENTS_thread);
  if (source == NAI_OVERHEAD_JIT || (driver ? type == MODULE_LOADING || type == LAZY_LOADING : type == JIT))
    return NAI_OVERHEAD_LOADING;
  enum nai_overhead_kind kind = overhead_by_name(nai_get_str(t, row, OVERHEAD_EVENTS_name), driver);
  if (kind != NAI_OVERHEAD_UNNAMED)
    return kind;
  if (end - start < UNKNOWN_IS_LOADING_NS)
    return NAI_OVERHEAD_OF_PROFILER;
  return thread >= 0 && inside_launch(m, (uint32_t)thread, start, end) ? NAI_OVERHEAD_LOADING : kind;
}

static int grow(struct nai_layer_list *list, const struct nai_table *t, uint32_t row, struct nai_err *err) {
  int64_t end = nai_get_i64(t, row, OVERHEAD_EVENTS_end_ns);
  if (!nai_array_room(&list->v, &list->capacity, list->count, sizeof *list->v))
    return nai_err_nomem(err);
  struct nai_layer_entry *entry = &list->v[list->count++];
  *entry = (struct nai_layer_entry){nai_get_i64(t, row, OVERHEAD_EVENTS_start_ns), end, row};
  if (list->count > 1 && entry[-1].until >= end) {
    entry->until = entry[-1].until;
    entry->row = entry[-1].row;
  }
  return NAI_OK;
}

static int add_overhead(struct nai_model *m, const struct nai_table *t, uint32_t row, struct nai_err *err) {
  struct nai_evidence *e = m->evidence;
  int64_t thread = nai_get_i64(t, row, OVERHEAD_EVENTS_thread);
  enum nai_overhead_kind kind = overhead_of(m, t, row);
  m->overhead_kind[row] = (uint8_t)kind;
  if (thread < 0 || kind == NAI_OVERHEAD_OTHER || kind == NAI_OVERHEAD_UNNAMED)
    return NAI_OK;
  int32_t process = m->thread_process[thread];
  if (kind == NAI_OVERHEAD_FLUSH && process >= 0)
    return grow(&e->flush[process], t, row, err);
  return grow(kind == NAI_OVERHEAD_LOADING ? &e->loading[thread] : &e->profiler[thread], t, row, err);
}

/* --- the part --------------------------------------------------------------------------------- */

/* Outermost OS runtime calls by thread. */
static int group_osrt(struct nai_model *m, struct nai_err *err) {
  const struct nai_table *t = m->tables[NAI_IN_OSRT];
  uint32_t n = t ? (uint32_t)t->rows : 0;
  if (!n)
    return NAI_OK;
  int32_t *thread = malloc((size_t)n * sizeof *thread + 8);
  if (!thread)
    return nai_err_nomem(err);
  const struct nai_column level = nai_table_column(t, OSRT_EVENTS_nesting_level),
                          of = nai_table_column(t, OSRT_EVENTS_thread);
  for (uint32_t i = 0; i < n; i++)
    thread[i] = nai_at(&level, i) > 0 ? -1 : nai_at_i32(&of, i);
  const struct nai_column group = nai_column_of_i32(thread);
  const struct nai_row_order by = {.start = nai_table_column(t, OSRT_EVENTS_start_ns),
                                   .end = nai_table_column(t, OSRT_EVENTS_end_ns)};
  int rc = nai_groups_build(&m->evidence->osrt_by_thread, n, &group, m->thread_count, &by, &m->arena, err);
  free(thread);
  return rc;
}

static int begin_evidence(void *ctx, int task, struct nai_err *err) {
  (void)task;
  struct nai_model *m = ctx;
  struct nai_evidence *e = m->evidence = calloc(1, sizeof *m->evidence);
  if (!e)
    return nai_err_nomem(err);
  e->profiler = calloc((size_t)m->thread_count + 1, sizeof *e->profiler);
  e->loading = calloc((size_t)m->thread_count + 1, sizeof *e->loading);
  e->flush = calloc((size_t)m->process_count + 1, sizeof *e->flush);
  e->marks = malloc(((size_t)m->apis.n / NAI_CALLS_PER_MARK + m->thread_count + 1) * sizeof *e->marks);
  return e->profiler && e->loading && e->flush && e->marks ? group_osrt(m, err) : nai_err_nomem(err);
}

static int thread_count(const struct nai_model *m) { return (int)m->thread_count; }

static int end_evidence(void *ctx, int task, struct nai_err *err) {
  (void)task;
  struct nai_model *m = ctx;
  const struct nai_table *t = m->tables[NAI_IN_OVERHEAD];
  uint32_t n = t ? (uint32_t)t->rows : 0;
  if (!n)
    return NAI_OK;
  uint32_t *order = malloc((size_t)n * sizeof *order);
  const struct nai_row_order by = {.start = nai_table_column(t, OVERHEAD_EVENTS_start_ns),
                                   .end = nai_table_column(t, OVERHEAD_EVENTS_end_ns)};
  for (uint32_t i = 0; order && i < n; i++)
    order[i] = i;
  m->overhead_kind = malloc(n);
  int rc = order && m->overhead_kind ? nai_rows_sort(order, n, &by, m->scratch_dir, err) : nai_err_nomem(err);
  for (uint32_t i = 0; !rc && i < n; i++)
    rc = add_overhead(m, t, order[i], err);
  free(order);
  return rc;
}

static void free_lists(struct nai_layer_list *lists, uint32_t count) {
  for (uint32_t i = 0; lists && i < count; i++)
    free(lists[i].v);
  free(lists);
}

static void free_evidence(struct nai_model *m) {
  free(m->overhead_kind);
  if (!m->evidence)
    return;
  free_lists(m->evidence->profiler, m->thread_count);
  free_lists(m->evidence->loading, m->thread_count);
  free_lists(m->evidence->flush, m->process_count);
  free(m->evidence->marks);
  free(m->evidence);
}

static int64_t evidence_bytes(const struct nai_model *m) {
  const struct nai_table *osrt = m->tables[NAI_IN_OSRT], *overhead = m->tables[NAI_IN_OVERHEAD];
  return (int64_t)m->apis.n * 3 + (int64_t)m->thread_count * 80 + (osrt ? osrt->rows * 12 : 0) +
         (overhead ? overhead->rows * 64 : 0);
}

const struct nai_part_def nai_part_evidence = {.name = "evidence",
                                               .needs = NAI_PART(NAMES) | NAI_PART(LAUNCHES) | NAI_PART(CALLS),
                                               .tables = NAI_IN(APIS) | NAI_IN(THREADS) | NAI_IN(PROCESSES) |
                                                         NAI_IN(OVERHEAD) | NAI_IN(OSRT),
                                               .begin = begin_evidence,
                                               .tasks = thread_count,
                                               .task = mark_thread,
                                               .end = end_evidence,
                                               .free = free_evidence,
                                               .bytes = evidence_bytes};

const struct nai_groups *nai_model_osrt_calls(const struct nai_model *m) {
  return m->evidence->osrt_by_thread.order ? &m->evidence->osrt_by_thread : NULL;
}

/* --- moments ---------------------------------------------------------------------------------- */

static uint32_t entries_until(const struct nai_layer_list *list, int64_t t) {
  return (uint32_t)nai_bisect(list->v, list->count, sizeof *list->v, offsetof(struct nai_layer_entry, start), t + 1);
}

/* The state after `next` entries of the list. */
static void enter(struct nai_moment *at, int list, uint32_t next) {
  at->next[list] = next;
  if (next) {
    at->until[list] = at->lists[list].v[next - 1].until;
    at->row[list] = at->lists[list].v[next - 1].row;
  }
}

static void look_ahead(struct nai_moment *at) {
  const struct nai_model *m = at->model;
  at->next_call = at->call < at->call_end ? nai_at(&m->apis.start_ns, m->api_by_thread.order[at->call]) : INT64_MAX;
}

static void take_call(struct nai_moment *at) {
  const struct nai_model *m = at->model;
  uint32_t call = m->api_by_thread.order[at->call++];
  enum nai_layer layer = layer_of_call(m, call);
  int64_t end = nai_at(&m->apis.end_ns, call);
  if (end > at->until[layer]) {
    at->until[layer] = end;
    at->row[layer] = call;
  }
  look_ahead(at);
}

/* Whether t is few calls ahead, so that going on is quicker than looking it up. */
static bool is_near(const struct nai_moment *at, const struct nai_model *m, uint32_t thread, int64_t t) {
  return at->model == m && at->thread == thread && at->time <= t &&
         (at->call_end - at->call <= NAI_CALLS_PER_MARK ||
          nai_at(&m->apis.start_ns, m->api_by_thread.order[at->call + NAI_CALLS_PER_MARK]) > t);
}

void nai_moment_find(struct nai_moment *at, const struct nai_model *m, uint32_t thread, int64_t t) {
  if (is_near(at, m, thread, t)) {
    nai_moment_move(at, t);
    return;
  }
  const struct nai_evidence *e = m->evidence;
  const struct nai_groups *calls = &m->api_by_thread;
  int32_t process = m->thread_process[thread];
  *at = (struct nai_moment){.model = m, .thread = thread, .time = t, .call_end = calls->first[thread + 1]};
  at->lists[NAI_LAYER_PROFILER] = e->profiler[thread];
  at->lists[NAI_LAYER_LOADING] = e->loading[thread];
  if (process >= 0)
    at->lists[NAI_LAYER_FLUSH] = e->flush[process];
  for (int i = 0; i < NAI_LAYERS; i++)
    at->until[i] = INT64_MIN;
  for (int i = 0; i < NAI_LAYER_LISTS; i++)
    enter(at, i, entries_until(&at->lists[i], t));
  uint32_t first = calls->first[thread], place = nai_rows_from(calls->order, first, at->call_end, &m->apis.start_ns, t);
  at->call = place - (place - first) % NAI_CALLS_PER_MARK;
  const struct nai_call_mark *mark = mark_at(m, thread, at->call);
  memcpy(at->until + NAI_LAYER_WAIT, mark->until, sizeof mark->until);
  memcpy(at->row + NAI_LAYER_WAIT, mark->row, sizeof mark->row);
  look_ahead(at);
  nai_moment_move(at, t);
}

void nai_moment_move(struct nai_moment *at, int64_t t) {
  at->time = t;
  for (int i = 0; i < NAI_LAYER_LISTS; i++)
    while (at->next[i] < at->lists[i].count && at->lists[i].v[at->next[i]].start <= t)
      enter(at, i, at->next[i] + 1);
  while (at->next_call <= t && at->call < at->call_end)
    take_call(at);
}

int64_t nai_moment_next(const struct nai_moment *at) {
  int64_t next = at->next_call;
  for (int i = 0; i < NAI_LAYER_LISTS; i++)
    if (at->next[i] < at->lists[i].count && at->lists[i].v[at->next[i]].start < next)
      next = at->lists[i].v[at->next[i]].start;
  return next;
}
