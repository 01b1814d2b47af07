/* Evidence by thread: overhead rows in layers, and marks from which the calls around a moment are found. */
#include "model/idle/evidence.h"

#include "base/sort.h"
#include "model/build.h"
#include "model/idle/idle.h"

/* --- marks on calls --------------------------------------------------------------------------- */

static enum nai_layer layer_of_call(const struct nai_model *m, uint32_t call) {
  static const enum nai_layer layers[] = {
      [NAI_API_OTHER] = NAI_LAYER_OTHER,           [NAI_API_BLOCKING] = NAI_LAYER_WAIT,
      [NAI_API_ORDERING] = NAI_LAYER_OTHER,        [NAI_API_POLL] = NAI_LAYER_OTHER,
      [NAI_API_ALLOCATION] = NAI_LAYER_ALLOCATION, [NAI_API_MODULE] = NAI_LAYER_MODULE};
  enum nai_api_class class = m->api_class[nai_val_text(&m->apis.name, call)];
  if (nai_model_api_blocks(m, call))
    return NAI_LAYER_WAIT;
  return class == NAI_API_BLOCKING_COPY ? NAI_LAYER_OTHER : layers[class];
}

/* The mark before the calls from `place`, which is a multiple of NAI_CALLS_PER_MARK from the thread's first call. */
static struct nai_call_mark *mark_at(const struct nai_model *m, uint32_t thread, uint32_t place) {
  uint32_t first = m->api_by_thread.first[thread];
  return &m->evidence->marks[(size_t)first / NAI_CALLS_PER_MARK + thread + (place - first) / NAI_CALLS_PER_MARK];
}

/* Of calls so far, which ends last, by layer. */
static void note_call(int64_t *until, uint32_t *row, const struct nai_model *m, uint32_t call) {
  int layer = (int)layer_of_call(m, call) - NAI_LAYER_WAIT;
  int64_t end = nai_val(&m->apis.end_ns, call);
  if (end > until[layer]) {
    until[layer] = end;
    row[layer] = call;
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
    note_call(so_far.until, so_far.row, m, calls->order[i]);
  }
}

/* --- overhead --------------------------------------------------------------------------------- */

static enum nai_overhead_kind overhead_by_name(const char *name, bool driver) {
  if (strstr(name, "ptxjitcompiler") ||
      nai_name_matches(name, NAI_HOLDS_ANY_CASE, NAI_WORDS("module loading", "lazy function loading")))
    return NAI_OVERHEAD_LOADING;
  if (driver ||
      nai_name_matches(name, NAI_BEGINS, NAI_WORDS("TLS allocation", "Chunk Allocation", "dlopen", "dlclose")))
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
static enum nai_overhead_kind overhead_of(const struct nai_model *m, uint32_t row) {
  enum { JIT = 2, MODULE_LOADING = 6, LAZY_LOADING = 7 };
  enum { UNKNOWN_IS_LOADING_NS = 20000 }; /* long enough to be no bookkeeping of the profiler's */
  const struct OVERHEAD_EVENTS_columns *c = &m->evidence->overheads;
  int64_t source = nai_at(&c->source, row), type = nai_at(&c->overhead_type, row);
  int64_t start = nai_val(&c->start_ns, row), end = nai_val(&c->end_ns, row), thread = nai_at_i32(&c->thread, row);
  bool driver = source == NAI_OVERHEAD_CUDA;
  if (source == NAI_OVERHEAD_JIT || (driver ? type == MODULE_LOADING || type == LAZY_LOADING : type == JIT))
    return NAI_OVERHEAD_LOADING;
  const char *name = nai_strings_get(&m->tables[NAI_IN_OVERHEAD]->strings, nai_at_text(&c->name, row));
  enum nai_overhead_kind kind = overhead_by_name(name, driver);
  if (kind != NAI_OVERHEAD_UNNAMED)
    return kind;
  if (end - start < UNKNOWN_IS_LOADING_NS)
    return NAI_OVERHEAD_OF_PROFILER;
  return thread >= 0 && inside_launch(m, (uint32_t)thread, start, end) ? NAI_OVERHEAD_LOADING : kind;
}

static int add_entry(struct nai_layer_list *list, struct nai_model *m, uint32_t row, struct nai_err *err) {
  const struct OVERHEAD_EVENTS_columns *c = &m->evidence->overheads;
  int64_t end = nai_val(&c->end_ns, row);
  NAI_TRY(NAI_ROOM(list->v, list->capacity, list->count, &m->arena, err));
  struct nai_layer_entry *entry = &list->v[list->count++];
  *entry = (struct nai_layer_entry){nai_val(&c->start_ns, row), end, row};
  if (list->count > 1 && entry[-1].until >= end) {
    entry->until = entry[-1].until;
    entry->row = entry[-1].row;
  }
  return NAI_OK;
}

static int add_overhead(struct nai_model *m, uint32_t row, struct nai_err *err) {
  struct nai_evidence *e = m->evidence;
  int32_t thread = nai_at_i32(&e->overheads.thread, row);
  enum nai_overhead_kind kind = overhead_of(m, row);
  m->overhead_kind[row] = (uint8_t)kind;
  if (thread < 0 || kind == NAI_OVERHEAD_OTHER || kind == NAI_OVERHEAD_UNNAMED)
    return NAI_OK;
  int32_t process = m->thread_process[thread];
  return add_entry(kind == NAI_OVERHEAD_FLUSH && process >= 0 ? &e->flush[process]
                   : kind == NAI_OVERHEAD_LOADING             ? &e->loading[thread]
                                                              : &e->profiler[thread],
                   m, row, err);
}

/* --- the part --------------------------------------------------------------------------------- */

/* Outermost OS runtime calls by thread. */
static int group_osrt(struct nai_model *m, struct nai_err *err) {
  struct nai_evidence *e = m->evidence;
  const struct OSRT_EVENTS_columns *c = &e->osrt;
  int32_t *thread;
  if (!c->n)
    return NAI_OK;
  NAI_TRY(NAI_NEW(thread, &m->work->arenas[NAI_PART_EVIDENCE], c->n, err));
  for (uint32_t i = 0; i < c->n; i++)
    thread[i] = nai_at(&c->nesting_level, i) > 0 ? -1 : nai_at_i32(&c->thread, i);
  const struct nai_column group = nai_column_of_i32(thread);
  const struct nai_row_order by = {.start = c->start_ns, .end = c->end_ns};
  NAI_TRY(nai_groups_build(&e->osrt_by_thread, c->n, &group, m->thread_count, &by, &m->arena, err));
  nai_part_forget(m, NAI_PART_EVIDENCE);
  return NAI_OK;
}

static int begin_evidence(struct nai_model *m, struct nai_err *err) {
  NAI_TRY(NAI_NEW(m->evidence, &m->arena, 1, err));
  struct nai_evidence *e = m->evidence;
  e->overheads = OVERHEAD_EVENTS_columns_of(m->tables[NAI_IN_OVERHEAD]);
  e->osrt = OSRT_EVENTS_columns_of(m->tables[NAI_IN_OSRT]);
  NAI_TRY(NAI_NEW(e->profiler, &m->arena, m->thread_count, err));
  NAI_TRY(NAI_NEW(e->loading, &m->arena, m->thread_count, err));
  NAI_TRY(NAI_NEW(e->flush, &m->arena, m->process_count, err));
  NAI_TRY(NAI_NEW(e->marks, &m->arena, (size_t)m->apis.n / NAI_CALLS_PER_MARK + m->thread_count + 1, err));
  NAI_TRY(group_osrt(m, err));
  return nai_host_functions_find(&e->host, m, err);
}

static int end_evidence(struct nai_model *m, struct nai_err *err) {
  const struct OVERHEAD_EVENTS_columns *c = &m->evidence->overheads;
  uint32_t *order;
  NAI_TRY(NAI_NEW(m->overhead_kind, &m->arena, c->n, err));
  NAI_TRY(NAI_NEW(order, &m->work->arenas[NAI_PART_EVIDENCE], c->n, err));
  for (uint32_t i = 0; i < c->n; i++)
    order[i] = i;
  const struct nai_row_order by = {.start = c->start_ns, .end = c->end_ns};
  NAI_TRY(nai_rows_sort(order, c->n, &by, m->scratch_dir, err));
  for (uint32_t i = 0; i < c->n; i++)
    NAI_TRY(add_overhead(m, order[i], err));
  return NAI_OK;
}

static int64_t evidence_bytes(const struct nai_model *m) {
  const struct nai_table *osrt = m->tables[NAI_IN_OSRT], *overhead = m->tables[NAI_IN_OVERHEAD];
  return (int64_t)m->apis.n * 3 + (int64_t)m->thread_count * 80 + (osrt ? osrt->rows * 12 : 0) +
         (overhead ? overhead->rows * 64 : 0) + nai_host_functions_bytes(m);
}

const struct nai_part_def nai_part_evidence = {.name = "evidence",
                                               .needs = NAI_PART(NAMES) | NAI_PART(LAUNCHES) | NAI_PART(CALLS),
                                               .tables = NAI_IN(APIS) | NAI_IN(THREADS) | NAI_IN(PROCESSES) |
                                                         NAI_IN(OVERHEAD) | NAI_IN(OSRT) | NAI_IN(SYNCS) |
                                                         NAI_IN(HOST_FUNCTIONS),
                                               .begin = begin_evidence,
                                               .tasks = nai_each_thread,
                                               .task = mark_thread,
                                               .end = end_evidence,
                                               .bytes = evidence_bytes};

const struct nai_groups *nai_model_osrt_calls(const struct nai_model *m) {
  return m->evidence->osrt_by_thread.order ? &m->evidence->osrt_by_thread : NULL;
}

/* --- moments ---------------------------------------------------------------------------------- */

static uint32_t entries_until(const struct nai_layer_list *list, int64_t t) {
  return (uint32_t)nai_bisect(list->v, list->count, sizeof *list->v, offsetof(struct nai_layer_entry, start), t + 1);
}

/* The state at t of the lists, which is not before theirs. */
static void enter_lists(struct nai_moment *at, int64_t t) {
  at->next_entry = INT64_MAX;
  for (int i = 0; i < NAI_LAYER_LISTS; i++) {
    const struct nai_layer_list *list = &at->lists[i];
    for (; at->next[i] < list->count && list->v[at->next[i]].start <= t; at->next[i]++) {
      at->until[i] = list->v[at->next[i]].until;
      at->row[i] = list->v[at->next[i]].row;
    }
    if (at->next[i] < list->count && list->v[at->next[i]].start < at->next_entry)
      at->next_entry = list->v[at->next[i]].start;
  }
}

static void look_ahead(struct nai_moment *at) {
  const struct nai_model *m = at->model;
  at->next_call = at->call < at->call_end ? nai_val(&m->apis.start_ns, m->api_by_thread.order[at->call]) : INT64_MAX;
}

static void take_call(struct nai_moment *at) {
  uint32_t call = at->model->api_by_thread.order[at->call++];
  note_call(at->until + NAI_LAYER_WAIT, at->row + NAI_LAYER_WAIT, at->model, call);
  look_ahead(at);
}

/* Whether t is few calls ahead, so that going on is quicker than looking it up. */
static bool is_near(const struct nai_moment *at, const struct nai_model *m, uint32_t thread, int64_t t) {
  return at->model == m && at->thread == thread && at->time <= t &&
         (at->call_end - at->call <= NAI_CALLS_PER_MARK ||
          nai_val(&m->apis.start_ns, m->api_by_thread.order[at->call + NAI_CALLS_PER_MARK]) > t);
}

void nai_moment_find(struct nai_moment *at, const struct nai_model *m, uint32_t thread, int64_t t) {
  if (is_near(at, m, thread, t)) {
    nai_moment_move(at, t);
    return;
  }
  const struct nai_evidence *e = m->evidence;
  const struct nai_groups *calls = &m->api_by_thread;
  int32_t process = m->thread_process[thread];
  *at = (struct nai_moment){
      .model = m, .thread = thread, .time = t, .call_end = calls->first[thread + 1], .next_entry = INT64_MIN};
  at->lists[NAI_LAYER_PROFILER] = e->profiler[thread];
  at->lists[NAI_LAYER_LOADING] = e->loading[thread];
  if (process >= 0)
    at->lists[NAI_LAYER_FLUSH] = e->flush[process];
  for (int i = 0; i < NAI_LAYERS; i++)
    at->until[i] = INT64_MIN;
  for (int i = 0; i < NAI_LAYER_LISTS; i++) {
    at->next[i] = entries_until(&at->lists[i], t);
    at->next[i] -= at->next[i] > 0; /* the move enters the last one that began */
  }
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
  if (at->next_entry <= t)
    enter_lists(at, t);
  while (at->next_call <= t && at->call < at->call_end)
    take_call(at);
}
