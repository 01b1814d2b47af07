#include "model/idle/host_functions.h"

#include "base/sort.h"
#include "model/build.h"
#include "model/idle/evidence.h"
#include "model/idle/idle.h"

/* --- executions and their callbacks --------------------------------------------------------------- */

/* Callbacks by process and correlation id, as the rows of host_function_events that they are. */
struct callbacks {
  const struct HOST_FUNCTION_EVENTS_columns *c;
  uint32_t *rows, count;
};

static bool callback_before(const void *ctx, size_t i) {
  const struct {
    const struct callbacks *in;
    int64_t process, correlation;
  } *at = ctx;
  const struct HOST_FUNCTION_EVENTS_columns *c = at->in->c;
  int64_t process = nai_at_i32(&c->process, at->in->rows[i]);
  return process != at->process ? process < at->process : nai_at(&c->correlation_id, at->in->rows[i]) < at->correlation;
}

static int64_t overlap(int64_t a0, int64_t a1, int64_t b0, int64_t b1) {
  return (a1 < b1 ? a1 : b1) - (a0 > b0 ? a0 : b0);
}

/* The callback of the same call that overlaps the most; of equal ones the first. Those of a graph share its launch. */
static uint32_t callback_of(const struct callbacks *in, const struct nai_host_run *run) {
  const struct HOST_FUNCTION_EVENTS_columns *c = in->c;
  struct {
    const struct callbacks *in;
    int64_t process, correlation;
  } at = {in, nai_at_i32(&c->process, run->row), nai_at(&c->correlation_id, run->row)};
  uint32_t best = NAI_NO_ROW;
  int64_t best_ns = 0;
  if (at.correlation <= 0) /* none recorded: NULL is less */
    return best;
  for (size_t i = nai_search(0, in->count, callback_before, &at); i < in->count; i++) {
    uint32_t row = in->rows[i];
    if (nai_at_i32(&c->process, row) != at.process || nai_at(&c->correlation_id, row) != at.correlation ||
        nai_val(&c->start_ns, row) >= run->end)
      break;
    int64_t ns = overlap(nai_val(&c->start_ns, row), nai_val(&c->end_ns, row), run->start, run->end);
    if (ns > best_ns) {
      best = row;
      best_ns = ns;
    }
  }
  return best;
}

static int collect(struct nai_host_functions *h, struct callbacks *callbacks, struct nai_arena *work,
                   struct nai_arena *arena, struct nai_err *err) {
  const struct HOST_FUNCTION_EVENTS_columns *c = &h->c;
  const struct nai_column *const order[] = {&c->process, &c->correlation_id, &c->start_ns, &c->end_ns};
  NAI_TRY(NAI_NEW(h->runs, arena, c->n, err));
  NAI_TRY(NAI_NEW(callbacks->rows, work, c->n, err));
  for (uint32_t row = 0; row < c->n; row++) {
    if (nai_at(&c->side, row) == NAI_HOST_CALLBACK)
      callbacks->rows[callbacks->count++] = row;
    else if (nai_val(&c->end_ns, row) > nai_val(&c->start_ns, row) && nai_at_i32(&c->process, row) >= 0)
      h->runs[h->run_count++] =
          (struct nai_host_run){.start = nai_val(&c->start_ns, row), .end = nai_val(&c->end_ns, row), .row = row};
  }
  return nai_rows_arrange(callbacks->rows, callbacks->count, order, 4, err);
}

/* --- functions ------------------------------------------------------------------------------------ */

static int by_function(const void *pa, const void *pb, void *ctx) {
  const struct nai_host_function *functions = ctx;
  const struct nai_host_function *a = &functions[*(const uint32_t *)pa], *b = &functions[*(const uint32_t *)pb];
  return NAI_COMPARE({a->process, b->process}, {a->device_id, b->device_id}, {a->context, b->context},
                     {a->stream, b->stream}, {a->name, b->name}, {a->in_graph, b->in_graph});
}

static struct nai_host_function function_of(const struct nai_host_functions *h, struct nai_host_run *run,
                                            const struct callbacks *callbacks) {
  const struct HOST_FUNCTION_EVENTS_columns *c = &h->c;
  uint32_t callback = callback_of(callbacks, run);
  bool known = callback != NAI_NO_ROW;
  run->called = known ? nai_val(&c->start_ns, callback) : NAI_NULL_I64;
  run->returned = known ? nai_val(&c->end_ns, callback) : NAI_NULL_I64;
  return (struct nai_host_function){.process = nai_at_i32(&c->process, run->row),
                                    .device_id = nai_at_i32(&c->device_id, run->row),
                                    .context = nai_at_i32(&c->context_id, run->row),
                                    .stream = nai_at_i32(&c->stream_id, run->row),
                                    .name = known ? nai_at_text(&c->name, callback) : NAI_NO_STRING,
                                    .in_graph = nai_at_i32(&c->graph_id, run->row) != NAI_NULL_I32};
}

/* Functions of all executions, equal ones once. */
static int number_functions(struct nai_host_functions *h, const struct callbacks *callbacks, struct nai_arena *work,
                            struct nai_arena *arena, struct nai_err *err) {
  struct nai_host_function *each;
  uint32_t *order;
  NAI_TRY(NAI_NEW(each, work, h->run_count, err));
  NAI_TRY(NAI_NEW(order, work, h->run_count, err));
  NAI_TRY(NAI_NEW(h->functions, arena, h->run_count, err));
  for (uint32_t i = 0; i < h->run_count; i++) {
    order[i] = i;
    each[i] = function_of(h, &h->runs[i], callbacks);
  }
  qsort_r(order, h->run_count, sizeof *order, by_function, each);
  for (uint32_t i = 0; i < h->run_count; i++) {
    if (!i || by_function(&order[i - 1], &order[i], each))
      h->functions[h->function_count++] = each[order[i]];
    h->runs[order[i]].function = h->function_count - 1;
  }
  return NAI_OK;
}

static int by_process(const void *pa, const void *pb, void *ctx) {
  const struct nai_host_functions *h = ctx;
  const struct nai_host_run *a = pa, *b = pb;
  return NAI_COMPARE({h->functions[a->function].process, h->functions[b->function].process}, {a->start, b->start},
                     {a->end, b->end}, {a->function, b->function}, {a->row, b->row});
}

static int arrange(struct nai_host_functions *h, const struct nai_model *m, struct nai_arena *arena,
                   struct nai_err *err) {
  uint32_t i = 0;
  NAI_TRY(NAI_NEW(h->first, arena, m->process_count + 1, err));
  qsort_r(h->runs, h->run_count, sizeof *h->runs, by_process, h);
  for (uint32_t process = 0; process < m->process_count; process++) {
    int64_t until = INT64_MIN;
    for (h->first[process] = i; i < h->run_count && h->functions[h->runs[i].function].process == (int32_t)process; i++)
      h->runs[i].until = until = h->runs[i].end > until ? h->runs[i].end : until;
  }
  h->first[m->process_count] = i;
  return NAI_OK;
}

/* --- waits ---------------------------------------------------------------------------------------- */

static int note_waits(struct nai_host_functions *h, const struct nai_model *m, struct nai_arena *arena,
                      struct nai_err *err) {
  const struct nai_table *syncs = m->tables[NAI_IN_SYNCS];
  h->waits.arena = arena;
  NAI_TRY(NAI_NEW(h->wait_row, arena, (size_t)syncs->rows, err));
  for (int64_t row = 0; row < syncs->rows; row++) {
    bool added;
    uint32_t i = nai_keyset_add(&h->waits,
                                nai_key_pair(nai_get_i64(syncs, row, SYNC_EVENTS_correlation_id),
                                             (uint32_t)nai_get_i64(syncs, row, SYNC_EVENTS_process)),
                                &added);
    NAI_TRY(nai_memory_check(!h->waits.oom, err));
    if (added)
      h->wait_row[i] = (uint32_t)row;
  }
  return NAI_OK;
}

bool nai_host_scope_of_wait(struct nai_host_scope *scope, const struct nai_model *m, uint32_t call) {
  const struct nai_host_functions *h = m->evidence->host;
  const struct nai_table *syncs = m->tables[NAI_IN_SYNCS];
  int32_t process = m->thread_process[nai_val_text(&m->apis.thread, call)];
  *scope = (struct nai_host_scope){
      .process = process,
      .ended_by = nai_val(&m->apis.end_ns, call) + NAI_CLOCK_TOLERANCE_NS,
      .any_stream = nai_name_matches(nai_model_api_name(m, call), NAI_BEGINS,
                                     NAI_WORDS("cudaDeviceSynchronize", "cuCtxSynchronize", "cudaThreadSynchronize"))};
  uint32_t wait = nai_keyset_find(&h->waits, nai_key_pair(nai_at(&m->apis.correlation_id, call), (uint32_t)process));
  if (process < 0 || scope->any_stream || wait == UINT32_MAX)
    return process >= 0 && scope->any_stream;
  int64_t context = nai_get_i64(syncs, h->wait_row[wait], SYNC_EVENTS_context_id);
  int64_t stream = nai_get_i64(syncs, h->wait_row[wait], SYNC_EVENTS_stream_id);
  scope->context = (int32_t)context;
  scope->stream = (int32_t)stream;
  return context != NAI_NULL_I64 && stream != NAI_NULL_I64;
}

/* --- all of it ------------------------------------------------------------------------------------ */

int nai_host_functions_find(struct nai_host_functions **out, struct nai_model *m, struct nai_err *err) {
  struct nai_host_functions *h;
  struct nai_arena *work = &m->work->arenas[NAI_PART_EVIDENCE];
  if (!m->tables[NAI_IN_HOST_FUNCTIONS] || !m->tables[NAI_IN_HOST_FUNCTIONS]->rows)
    return NAI_OK;
  NAI_TRY(NAI_NEW(h, &m->arena, 1, err));
  h->c = HOST_FUNCTION_EVENTS_columns_of(m->tables[NAI_IN_HOST_FUNCTIONS]);
  struct callbacks callbacks = {.c = &h->c};
  NAI_TRY(collect(h, &callbacks, work, &m->arena, err));
  if (!h->run_count)
    return NAI_OK;
  NAI_TRY(number_functions(h, &callbacks, work, &m->arena, err));
  NAI_TRY(arrange(h, m, &m->arena, err));
  NAI_TRY(note_waits(h, m, &m->arena, err));
  *out = h;
  return NAI_OK;
}

static bool is_in_scope(const struct nai_host_functions *h, const struct nai_host_run *run,
                        const struct nai_host_scope *scope) {
  const struct nai_host_function *f = &h->functions[run->function];
  return run->end <= scope->ended_by &&
         (scope->any_stream || (f->context == scope->context && f->stream == scope->stream));
}

bool nai_host_function_within(struct nai_interval *out, uint32_t *function, const struct nai_host_functions *h,
                              const struct nai_host_scope *scope, int64_t start, int64_t end) {
  uint32_t last = h->first[scope->process + 1], i = h->first[scope->process];
  i += (uint32_t)nai_bisect(h->runs + i, last - i, sizeof *h->runs, offsetof(struct nai_host_run, until), start + 1);
  while (i < last && h->runs[i].start < end && (h->runs[i].end <= start || !is_in_scope(h, &h->runs[i], scope)))
    i++;
  if (i == last || h->runs[i].start >= end)
    return false;
  const struct nai_host_run *first = &h->runs[i];
  *out = (struct nai_interval){first->start > start ? first->start : start, first->end < end ? first->end : end};
  *function = first->function;
  return true;
}

const char *nai_host_function_name(const struct nai_model *m, uint32_t function) {
  uint32_t name = m->evidence->host->functions[function].name;
  return name == NAI_NO_STRING ? "host function" : nai_strings_get(&m->tables[NAI_IN_HOST_FUNCTIONS]->strings, name);
}

int64_t nai_host_functions_bytes(const struct nai_model *m) {
  const struct nai_table *t = m->tables[NAI_IN_HOST_FUNCTIONS];
  return t && t->rows ? t->rows * 160 + m->tables[NAI_IN_SYNCS]->rows * 32 : 0;
}
