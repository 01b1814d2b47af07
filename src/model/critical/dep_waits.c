/* What calls wait for: by the record of the synchronisation, which names the stream or the event, or all streams of the
 * process. */
#include "model/critical/dep_build.h"

#include "base/sort.h"

/* The call of a record, NAI_NO_ROW for none: by the process and the correlation id, as operations are joined. */
struct call_index {
  struct nai_keyset keys;
  uint32_t *call, capacity;
};

static int index_calls(struct call_index *index, const struct dep_builder *b, const bool *asked, struct nai_err *err) {
  const struct nai_model *m = b->m;
  index->keys.arena = b->arena;
  for (uint32_t api = 0; api < m->apis.n; api++) {
    if (!asked[nai_val_text(&m->apis.name, api)] || b->call_of_api[api] == NAI_NO_ROW)
      continue;
    int32_t process = m->thread_process[nai_val_i32(&m->apis.thread, api)];
    int64_t id = nai_at(&m->apis.correlation_id, api);
    if (process < 0 || id <= 0 || id > UINT32_MAX)
      continue;
    bool added;
    uint32_t at = nai_keyset_add(&index->keys, nai_key_pair(process, (uint32_t)id), &added);
    NAI_TRY(NAI_ROOM(index->call, index->capacity, at, b->arena, err));
    if (added)
      index->call[at] = b->call_of_api[api];
  }
  return index->keys.oom ? nai_err_nomem(err) : NAI_OK;
}

static uint32_t call_of(const struct call_index *index, int32_t process, int64_t id) {
  if (process < 0 || id <= 0 || id > UINT32_MAX)
    return NAI_NO_ROW;
  uint32_t at = nai_keyset_find(&index->keys, nai_key_pair(process, (uint32_t)id));
  return at == UINT32_MAX ? NAI_NO_ROW : index->call[at];
}

/* Names of functions that wait, or record events: few calls of a trace. */
static int names_asked(bool **asked, const struct dep_builder *b, struct nai_err *err) {
  const struct nai_model *m = b->m;
  const struct nai_strings *names = &m->tables[NAI_IN_APIS]->strings;
  NAI_TRY(NAI_NEW(*asked, b->arena, names->count, err));
  for (uint32_t i = 0; i < names->count; i++)
    (*asked)[i] = m->api_class[i] == NAI_API_BLOCKING || m->api_class[i] == NAI_API_ORDERING ||
                  strstr(nai_strings_get(names, i), "EventRecord");
  return NAI_OK;
}

static enum dep_wait wait_of(enum nai_api_class class, const char *name) {
  if (class == NAI_API_BLOCKING)
    return strstr(name, "EventSynchronize")  ? DEP_WAIT_FOR_EVENT
         : strstr(name, "StreamSynchronize") ? DEP_WAIT_FOR_STREAM
                                             : DEP_WAIT_FOR_ALL;
  if (class == NAI_API_BLOCKING_COPY)
    return DEP_COPIES;
  if (class == NAI_API_ORDERING)
    return strstr(name, "WaitEvent") ? DEP_STREAM_WAITS : DEP_NO_WAIT;
  return class == NAI_API_ALLOCATION && strstr(name, "Free") && !strstr(name, "Async") && !strstr(name, "Host")
           ? DEP_FREES
           : DEP_NO_WAIT;
}

static int name_waits(struct dep_builder *b, struct nai_err *err) {
  const struct nai_model *m = b->m;
  const struct nai_strings *names = &m->tables[NAI_IN_APIS]->strings;
  uint8_t *of_name;
  NAI_TRY(NAI_NEW(of_name, b->arena, names->count, err));
  NAI_TRY(NAI_NEW(b->wait, b->arena, b->d->call_count, err));
  NAI_TRY(NAI_NEW_UNSET(b->waits, b->arena, b->d->call_count, err));
  for (uint32_t i = 0; i < names->count; i++)
    of_name[i] = (uint8_t)wait_of((enum nai_api_class)m->api_class[i], nai_strings_get(names, i));
  for (uint32_t call = 0; call < b->d->call_count; call++) {
    b->wait[call] = of_name[nai_val_text(&m->apis.name, b->d->call_api[call])];
    if (b->wait[call] != DEP_NO_WAIT)
      b->waits[b->wait_count++] = call;
  }
  return NAI_OK;
}

static int note_syncs(struct dep_builder *b, const struct call_index *index, struct nai_err *err) {
  const struct nai_table *t = b->m->tables[NAI_IN_SYNCS];
  NAI_TRY(NAI_NEW(b->sync_of_call, b->arena, b->d->call_count, err));
  for (int64_t row = 0; row < t->rows; row++) {
    uint32_t call = call_of(index, (int32_t)nai_get_i64(t, row, SYNC_EVENTS_process),
                            nai_get_i64(t, row, SYNC_EVENTS_correlation_id));
    if (call != NAI_NO_ROW && !b->sync_of_call[call])
      b->sync_of_call[call] = (uint32_t)row + 1;
  }
  return NAI_OK;
}

/* --- records of events ------------------------------------------------------------------------ */

struct record {
  int64_t process, context, event, time, sync_id, stream;
};

NAI_ORDER(compare_records, struct record, {a->process, b->process}, {a->context, b->context}, {a->event, b->event},
          {a->time, b->time}, {a->stream, b->stream}, {a->sync_id, b->sync_id})

static int read_records(struct record **out, uint32_t *count, const struct dep_builder *b,
                        const struct call_index *index, struct nai_err *err) {
  const struct nai_table *t = b->m->tables[NAI_IN_CUDA_EVENTS];
  NAI_TRY(NAI_NEW(*out, b->arena, (size_t)t->rows, err));
  for (int64_t row = 0; row < t->rows; row++) {
    int64_t process = nai_get_i64(t, row, CUDA_EVENT_EVENTS_process);
    uint32_t call = call_of(index, (int32_t)process, nai_get_i64(t, row, CUDA_EVENT_EVENTS_correlation_id));
    if (call == NAI_NO_ROW)
      continue;
    (*out)[(*count)++] = (struct record){.process = process,
                                         .context = nai_get_i64(t, row, CUDA_EVENT_EVENTS_context_id),
                                         .event = nai_get_i64(t, row, CUDA_EVENT_EVENTS_event_id),
                                         .time = b->d->time[2 * call],
                                         .sync_id = nai_get_i64(t, row, CUDA_EVENT_EVENTS_event_sync_id),
                                         .stream = nai_get_i64(t, row, CUDA_EVENT_EVENTS_stream_id)};
  }
  if (*count)
    qsort(*out, *count, sizeof **out, compare_records);
  return NAI_OK;
}

struct record_search {
  const struct record *v;
  struct record key;
};
static bool record_before(const void *ctx, size_t i) {
  const struct record_search *s = ctx;
  return compare_records(&s->v[i], &s->key) < 0;
}

/* The last record of the event before the wait; where both have an id, the one with the wait's. */
static const struct record *find_record(const struct record *v, uint32_t count, const struct record *wait) {
  enum { LOOK_BACK = 16 };
  size_t end = nai_search(0, count, record_before, &(struct record_search){v, *wait});
  for (size_t i = end; i > 0 && end - i < LOOK_BACK; i--) {
    const struct record *r = &v[i - 1];
    if (r->process != wait->process || r->context != wait->context || r->event != wait->event)
      break;
    if (r->sync_id == NAI_NULL_I64 || wait->sync_id == NAI_NULL_I64 || r->sync_id == wait->sync_id)
      return r;
  }
  return NULL;
}

/* The operation behind which the event was recorded, NAI_NO_ROW for none. */
static uint32_t operation_before(const struct dep_builder *b, const struct record *r) {
  uint32_t stream = nai_dep_stream_number(b, (int32_t)r->process, (int32_t)r->context, (int32_t)r->stream);
  return stream == NAI_NO_ROW ? NAI_NO_ROW : nai_dep_last_submitted(b, stream, r->time);
}

static struct record wait_at(const struct dep_builder *b, uint32_t call, int64_t row) {
  const struct nai_table *t = b->m->tables[NAI_IN_SYNCS];
  return (struct record){.process = nai_get_i64(t, row, SYNC_EVENTS_process),
                         .context = nai_get_i64(t, row, SYNC_EVENTS_context_id),
                         .event = nai_get_i64(t, row, SYNC_EVENTS_event_id),
                         .time = b->d->time[2 * call],
                         .sync_id = nai_get_i64(t, row, SYNC_EVENTS_event_sync_id),
                         .stream = nai_get_i64(t, row, SYNC_EVENTS_stream_id)};
}

/* A stream waits: what is launched behind the call depends on what had been before the record. */
static void add_event_source(struct dep_builder *b, const struct record *wait, const struct record *r) {
  uint32_t source = operation_before(b, r);
  uint32_t stream = nai_dep_stream_number(b, (int32_t)wait->process, (int32_t)wait->context, (int32_t)wait->stream);
  uint32_t target = stream == NAI_NO_ROW ? NAI_NO_ROW : nai_dep_first_behind(b, stream, wait->time);
  if (source == NAI_NO_ROW || target == NAI_NO_ROW || b->stream_of_op[source] == stream)
    return;
  if (b->d->time[nai_node_of_op(b->d, source) + 1] > b->d->time[nai_node_of_op(b->d, target)])
    b->d->quality.kinds[NAI_DEP_DROPPED]++;
  else
    b->event_sources[b->event_source_count++] = (struct nai_key){target, source};
}

/* Joins waits for events with records. awaited_event[call] = operation + 1 that a thread waits for. */
static int join_events(struct dep_builder *b, const struct record *records, uint32_t count, struct nai_err *err) {
  struct nai_dep_quality *q = &b->d->quality;
  NAI_TRY(NAI_NEW(b->event_sources, b->arena, (size_t)b->m->tables[NAI_IN_SYNCS]->rows, err));
  NAI_TRY(NAI_NEW(b->event_awaited, b->arena, b->d->call_count, err));
  for (uint32_t i = 0; i < b->wait_count; i++) {
    uint32_t call = b->waits[i];
    bool thread_waits = b->wait[call] == DEP_WAIT_FOR_EVENT;
    if (!thread_waits && b->wait[call] != DEP_STREAM_WAITS)
      continue;
    uint32_t row = b->sync_of_call[call];
    const struct record wait = row ? wait_at(b, call, row - 1) : (struct record){0};
    const struct record *r = row ? find_record(records, count, &wait) : NULL;
    q->event_waits += !thread_waits;
    q->events_without_record += !thread_waits && !r;
    if (r && thread_waits)
      b->event_awaited[call] = operation_before(b, r) + 1; /* NAI_NO_ROW + 1 is none */
    else if (r)
      add_event_source(b, &wait, r);
  }
  return nai_sort_keys(b->event_sources, b->event_source_count, err);
}

int nai_dep_find_waits(struct dep_builder *b, struct nai_err *err) {
  struct call_index index = {0};
  struct record *records;
  uint32_t count = 0;
  bool *asked;
  NAI_TRY(name_waits(b, err));
  NAI_TRY(names_asked(&asked, b, err));
  NAI_TRY(index_calls(&index, b, asked, err));
  NAI_TRY(note_syncs(b, &index, err));
  NAI_TRY(read_records(&records, &count, b, &index, err));
  return join_events(b, records, count, err);
}

/* --- what a call waits for -------------------------------------------------------------------- */

static uint32_t awaited_of_process(const struct dep_builder *b, int32_t process, int64_t t,
                                   uint32_t ops[DEP_MAX_AWAITED], bool *known) {
  const struct nai_groups *g = &b->process_streams;
  uint32_t count = 0, first = process < 0 ? 0 : g->first[process], end = process < 0 ? 0 : g->first[process + 1];
  *known = process >= 0 && end - first <= DEP_MAX_AWAITED;
  for (uint32_t i = first; *known && i < end; i++) {
    uint32_t op = nai_dep_last_submitted(b, g->order[i], t);
    if (op != NAI_NO_ROW)
      ops[count++] = op;
  }
  return count;
}

static uint32_t awaited_of_stream(const struct dep_builder *b, uint32_t row, int64_t t, uint32_t ops[DEP_MAX_AWAITED]) {
  const struct nai_table *t_syncs = b->m->tables[NAI_IN_SYNCS];
  uint32_t stream = nai_dep_stream_number(b, (int32_t)nai_get_i64(t_syncs, row, SYNC_EVENTS_process),
                                          (int32_t)nai_get_i64(t_syncs, row, SYNC_EVENTS_context_id),
                                          (int32_t)nai_get_i64(t_syncs, row, SYNC_EVENTS_stream_id));
  ops[0] = stream == NAI_NO_ROW ? NAI_NO_ROW : nai_dep_last_submitted(b, stream, t);
  return ops[0] != NAI_NO_ROW;
}

struct stream_ends {
  const struct dep_builder *b;
  const struct dep_stream *stream;
  int64_t until;
};
static bool ended_by(const void *ctx, size_t i) {
  const struct stream_ends *s = ctx;
  return s->b->d->time[nai_node_of_op(s->b->d, s->b->stream_ops[s->stream->first + i]) + 1] <= s->until;
}

/* Where no record says what a call waits for: the operation that ended just before it returned, of those launched
 * before the call and still running then. NAI_NO_ROW for none. */
static uint32_t awaited_by_time(const struct dep_builder *b, uint32_t call, int32_t process) {
  const struct nai_dependencies *d = b->d;
  const struct nai_groups *g = &b->process_streams;
  int64_t begin = d->time[2 * call], end = d->time[2 * call + 1];
  int64_t latest = end - NAI_CLOCK_TOLERANCE_NS > begin ? end - NAI_CLOCK_TOLERANCE_NS : begin;
  uint32_t found = NAI_NO_ROW, first = process < 0 ? 0 : g->first[process],
           last = process < 0 ? 0 : g->first[process + 1];
  for (uint32_t i = first; last - first <= DEP_MAX_AWAITED && i < last; i++) {
    const struct dep_stream *s = &b->streams[g->order[i]];
    size_t n = nai_search(0, s->count, ended_by, &(struct stream_ends){b, s, end});
    if (!n || b->submitted[s->first + n - 1] >= begin)
      continue;
    int64_t ended = d->time[nai_node_of_op(d, b->stream_ops[s->first + n - 1]) + 1];
    if (ended <= latest)
      continue;
    found = b->stream_ops[s->first + n - 1];
    latest = ended;
  }
  return found;
}

static uint32_t awaited_by_record(const struct dep_builder *b, uint32_t call, uint32_t ops[DEP_MAX_AWAITED],
                                  bool *known) {
  const struct nai_model *m = b->m;
  const enum dep_wait wait = b->wait[call];
  int32_t process = m->thread_process[nai_val_i32(&m->apis.thread, b->d->call_api[call])];
  int64_t t = b->d->time[2 * call];
  *known = true;
  if (!nai_dep_waits(b, call))
    return 0;
  if (wait == DEP_WAIT_FOR_EVENT) {
    *known = b->event_awaited[call] != 0;
    ops[0] = b->event_awaited[call] - 1;
    return *known;
  }
  if (wait == DEP_WAIT_FOR_STREAM && b->sync_of_call[call])
    return awaited_of_stream(b, b->sync_of_call[call] - 1, t, ops);
  uint32_t count = awaited_of_process(b, process, t, ops, known);
  /* Which stream it is does not matter where there is one. */
  bool one = process >= 0 && b->process_streams.first[process + 1] - b->process_streams.first[process] <= 1;
  *known = *known && (one || wait != DEP_WAIT_FOR_STREAM);
  return *known ? count : 0;
}

uint32_t nai_dep_awaited(const struct dep_builder *b, uint32_t call, uint32_t ops[DEP_MAX_AWAITED],
                         enum dep_knowledge *how) {
  bool known;
  uint32_t count = awaited_by_record(b, call, ops, &known);
  *how = DEP_RECORDED;
  if (known)
    return count;
  ops[0] = awaited_by_time(b, call, b->m->thread_process[nai_val_i32(&b->m->apis.thread, b->d->call_api[call])]);
  *how = ops[0] == NAI_NO_ROW ? DEP_UNKNOWN : DEP_BY_TIME;
  return ops[0] != NAI_NO_ROW;
}

uint32_t nai_dep_awaited_by_free(const struct dep_builder *b, uint32_t call, uint32_t ops[DEP_MAX_AWAITED]) {
  bool known;
  if (b->wait[call] != DEP_FREES)
    return 0;
  return awaited_of_process(b, b->m->thread_process[nai_val_i32(&b->m->apis.thread, b->d->call_api[call])],
                            b->d->time[2 * call], ops, &known);
}

/* --- how fast waits return -------------------------------------------------------------------- */

int nai_dep_measure_returns(struct dep_builder *b, struct nai_err *err) {
  const struct nai_dependencies *d = b->d;
  struct nai_key *all; /* GPU, then latency */
  size_t count = 0;
  NAI_TRY(NAI_NEW(all, b->arena, b->wait_count, err));
  NAI_TRY(NAI_NEW(b->return_latency, b->arena, b->m->gpu_count, err));
  for (uint32_t k = 0; k < b->wait_count; k++) {
    uint32_t call = b->waits[k], ops[DEP_MAX_AWAITED], last = NAI_NO_ROW;
    int64_t end = d->time[2 * call];
    enum dep_knowledge how;
    if (!nai_dep_waits(b, call))
      continue;
    for (uint32_t i = 0, n = nai_dep_awaited(b, call, ops, &how); i < n; i++)
      if (d->time[nai_node_of_op(d, ops[i]) + 1] > end) {
        last = ops[i];
        end = d->time[nai_node_of_op(d, last) + 1];
      }
    int64_t latency = d->time[2 * call + 1] - end;
    if (last != NAI_NO_ROW && latency > -NAI_CLOCK_TOLERANCE_NS && latency < INT32_MAX)
      all[count++] = (struct nai_key){
          (uint64_t)b->streams[b->stream_of_op[last]].gpu << 32 | (uint32_t)(latency + NAI_CLOCK_TOLERANCE_NS), 0};
  }
  NAI_TRY(nai_sort_keys(all, count, err));
  for (size_t first = 0, end; first < count; first = end) {
    uint64_t gpu = all[first].key >> 32;
    end = first + nai_keys_from(all + first, count - first, (gpu + 1) << 32);
    int64_t median = (int64_t)(uint32_t)all[first + (end - first) / 2].key - NAI_CLOCK_TOLERANCE_NS;
    b->return_latency[gpu] = median > 0 ? median : 0;
  }
  return NAI_OK;
}
