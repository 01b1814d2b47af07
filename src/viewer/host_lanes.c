#include "viewer/host_lanes.h"

#include "base/keyset.h"
#include "base/sort.h"
#include "model/cpu/cpu.h"
#include "model/idle/evidence.h"
#include "model/idle/host_functions.h"
#include "tables/file_events.h"
#include "tables/file_names.h"
#include "tables/mpi_events.h"
#include "tables/openacc_events.h"
#include "tables/osrt_events.h"
#include "tables/overhead_events.h"
#include "tables/sample_events.h"
#include "tables/sched_events.h"
#include "tables/threads.h"

/* Of the page's lanes of host evidence together; beyond, what is short is shown as blocks. */
enum { MAX_EVENTS = 200 * 1000, BUCKETS = 4000 };

struct building {
  struct nai_host_lanes *lanes;
  const struct nai_model *m;
  int64_t origin, end;
  int64_t longest; /* event of the block that grows */
};

static uint64_t rows_of(const struct nai_table *t) { return t ? (uint64_t)t->rows : 0; }

/* --- lanes ------------------------------------------------------------------------------------ */

static int new_lane(struct nai_host_lane **out, struct building *b, enum nai_host_kind kind, int64_t pid, int64_t tid,
                    struct nai_err *err) {
  struct nai_host_lanes *lanes = b->lanes;
  NAI_TRY(NAI_ROOM(lanes->v, lanes->capacity, lanes->count, lanes->arena, err));
  *out = &lanes->v[lanes->count++];
  **out = (struct nai_host_lane){.kind = kind, .pid = pid, .tid = tid, .gpu = -1, .context = -1, .stream = -1};
  return NAI_OK;
}

static int new_lane_of(struct nai_host_lane **out, struct building *b, enum nai_host_kind kind, int64_t global_tid,
                       struct nai_err *err) {
  return new_lane(out, b, kind, global_tid >> 24 & 0xffffff, global_tid & 0xffffff, err);
}

/* Whether the event joins the lane's last item, and becomes part of it. */
static bool joins(struct building *b, const struct nai_host_lane *lane, struct nai_item event) {
  int64_t bucket = b->lanes->bucket_ns, length = event.end - event.start;
  if (!bucket || !lane->count || length >= bucket)
    return false;
  struct nai_item *last = &lane->v[lane->count - 1];
  if ((last->count == 1 && last->end - last->start >= bucket) ||
      (last->start - b->origin) / bucket != (event.start - b->origin) / bucket)
    return false;
  if (last->count == 1)
    b->longest = last->busy = last->end - last->start;
  last->count++;
  last->busy += length;
  last->end = event.end > last->end ? event.end : last->end;
  if (length > b->longest) {
    b->longest = length;
    last->row = event.row;
  }
  return true;
}

/* Adds what lies on the page of one event; events of a lane come by start. */
static int add_event(struct building *b, struct nai_host_lane *lane, int64_t start, int64_t end, const char *name,
                     bool marked, struct nai_err *err) {
  if (start == NAI_NULL_I64 || end < start || end < b->origin || start > b->end)
    return NAI_OK;
  uint32_t id = nai_strings_add(&b->lanes->names, name, strlen(name));
  struct nai_item event = {
      .start = start > b->origin ? start : b->origin, .end = end < b->end ? end : b->end, .row = id, .count = 1};
  event.mix = (start < b->origin ? NAI_HOST_BEGAN_BEFORE : 0) | (end > b->end ? NAI_HOST_ENDS_AFTER : 0) |
              (marked ? NAI_HOST_MARKED : 0);
  NAI_TRY(nai_memory_check(id != NAI_NO_STRING, err));
  if (joins(b, lane, event))
    return NAI_OK;
  NAI_TRY(NAI_ROOM(lane->v, lane->capacity, lane->count, b->lanes->arena, err));
  lane->v[lane->count++] = event;
  return NAI_OK;
}

/* --- calls and overhead ----------------------------------------------------------------------- */

/* A table of events with threads, and its columns. Of events inside one another the outermost are shown. */
struct source {
  enum nai_host_kind kind;
  const struct nai_table *t;
  int start, end, thread, name, level; /* level: -1 for none */
  int file, line;                      /* of the directive, part of the name; 0: the table has none */
  bool spans;                          /* the program's own work, as CUDA calls are: the page is as long as it */
};

/* The event's name, as it is searched for: a directive's with its place. */
static int name_of(const char **name, struct nai_buf *room, const struct source *s, uint32_t row, struct nai_err *err) {
  struct nai_value text = nai_table_value(s->t, row, s->name);
  *name = text.null ? "unnamed" : text.s;
  struct nai_value file = s->file ? nai_table_value(s->t, row, s->file) : (struct nai_value){.null = true};
  int64_t line = file.null ? NAI_NULL_I64 : nai_get_i64(s->t, row, s->line);
  if (file.null || line == NAI_NULL_I64)
    return NAI_OK;
  nai_buf_clear(room);
  nai_buf_printf(room, "%s at %s:%" PRId64, *name, file.s, line);
  *name = nai_buf_str(room);
  return nai_buf_check(room, err);
}

static int add_rows(struct building *b, const struct source *s, const struct nai_key *keys, uint32_t n,
                    struct nai_err *err) {
  struct nai_host_lane *lane = NULL;
  const struct nai_table *threads = b->m->tables[NAI_IN_THREADS];
  int64_t until = INT64_MIN; /* end of the outermost event so far */
  NAI_SCOPED(nai_buf) room = {0};
  for (uint32_t i = 0; i < n; i++) {
    uint32_t row = keys[i].value;
    int64_t thread = nai_get_i64(s->t, row, s->thread), end = nai_get_i64(s->t, row, s->end);
    const char *name;
    if (!lane || keys[i].key != keys[i - 1].key) {
      NAI_TRY(new_lane_of(&lane, b, s->kind, nai_get_i64(threads, thread, THREADS_global_tid), err));
      until = INT64_MIN;
    }
    if (s->level < 0 && end <= until)
      continue;
    until = end;
    NAI_TRY(name_of(&name, &room, s, row, err));
    NAI_TRY(add_event(b, lane, nai_get_i64(s->t, row, s->start), end, name, false, err));
  }
  return NAI_OK;
}

static int sort_by(struct nai_key *keys, uint32_t n, const struct source *s, int column, struct nai_err *err) {
  for (uint32_t i = 0; i < n; i++)
    keys[i].key = nai_key_from_i64(nai_get_i64(s->t, keys[i].value, column)) ^ (column == s->end ? UINT64_MAX : 0);
  return nai_sort_keys(keys, n, err);
}

static int add_source(struct building *b, const struct source *s, struct nai_err *err) {
  uint32_t n = (uint32_t)rows_of(s->t), count = 0;
  if (!n)
    return NAI_OK;
  NAI_FREED struct nai_key *keys = malloc((size_t)n * sizeof *keys);
  NAI_TRY(nai_memory_check(keys, err));
  for (uint32_t i = 0; i < n; i++)
    if (nai_get_i64(s->t, i, s->thread) >= 0 && (s->level < 0 || nai_get_i64(s->t, i, s->level) <= 0))
      keys[count++].value = i;
  if (s->level < 0)
    NAI_TRY(sort_by(keys, count, s, s->end, err)); /* longest first */
  NAI_TRY(sort_by(keys, count, s, s->start, err));
  NAI_TRY(sort_by(keys, count, s, s->thread, err));
  return add_rows(b, s, keys, count, err);
}

/* --- files ------------------------------------------------------------------------------------ */

/* Openings of files by their numbers. */
struct openings {
  const struct nai_table *names;
  struct nai_keyset known;
  uint32_t *row; /* of `names`, by number in `known` */
};

static int read_openings(struct openings *o, const struct nai_model *m, struct nai_err *err) {
  bool added;
  o->names = m->tables[NAI_IN_FILE_NAMES];
  NAI_TRY(NAI_NEW(o->row, o->known.arena, rows_of(o->names), err));
  for (uint32_t i = 0; i < rows_of(o->names); i++) {
    uint32_t at = nai_keyset_add(&o->known, nai_get_i64(o->names, i, FILE_NAMES_file), &added);
    NAI_TRY(nai_memory_check(!o->known.oom, err));
    if (added)
      o->row[at] = i;
  }
  return NAI_OK;
}

/* The row of an access's opening, NAI_NO_ROW without one. */
static uint32_t opening_of(const struct openings *o, const struct nai_table *t, uint32_t row) {
  uint32_t at = nai_keyset_find(&o->known, nai_get_i64(t, row, FILE_EVENTS_file));
  return at == UINT32_MAX ? NAI_NO_ROW : o->row[at];
}

/* "read ~/shard_#.bin" */
static int access_name(struct nai_buf *room, const struct openings *o, uint32_t opening, int64_t kind,
                       struct nai_err *err) {
  static const char *const kinds[] = {"access", "open", "close", "read", "write", "access", "metadata"};
  struct nai_value path = nai_table_value(o->names, opening, FILE_NAMES_path);
  nai_buf_clear(room);
  nai_buf_printf(room, "%s %s", kinds[kind > 0 && kind < (int64_t)(sizeof kinds / sizeof *kinds) ? kind : 0],
                 path.null ? "unknown file" : path.s);
  return nai_buf_check(room, err);
}

static int add_accesses(struct building *b, const struct openings *o, const struct nai_key *keys, uint32_t n,
                        struct nai_err *err) {
  const struct nai_table *t = b->m->tables[NAI_IN_FILES];
  struct nai_host_lane *lane = NULL;
  NAI_SCOPED(nai_buf) name = {0};
  for (uint32_t i = 0; i < n; i++) {
    struct FILE_EVENTS_row row = FILE_EVENTS_at(t, keys[i].value);
    uint32_t opening = opening_of(o, t, keys[i].value);
    if (!lane || keys[i].key != keys[i - 1].key)
      NAI_TRY(new_lane(&lane, b, NAI_HOST_FILE, nai_get_i64(o->names, opening, FILE_NAMES_pid), row.tid, err));
    NAI_TRY(access_name(&name, o, opening, row.kind, err));
    NAI_TRY(add_event(b, lane, row.start_ns, row.end_ns, nai_buf_str(&name), false, err));
  }
  return NAI_OK;
}

static int add_files(struct building *b, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(b->m->scratch_dir);
  struct openings o = {.known.arena = &arena};
  const struct nai_table *t = b->m->tables[NAI_IN_FILES];
  uint32_t n = (uint32_t)rows_of(t), count = 0;
  struct nai_key *keys;
  if (!n)
    return NAI_OK;
  NAI_TRY(read_openings(&o, b->m, err));
  NAI_TRY(NAI_NEW(keys, &arena, n, err));
  for (uint32_t i = 0; i < n; i++)
    if (opening_of(&o, t, i) != NAI_NO_ROW)
      keys[count++] = (struct nai_key){nai_key_from_i64(nai_get_i64(t, i, FILE_EVENTS_start_ns)), i};
  NAI_TRY(nai_sort_keys(keys, count, err));
  for (uint32_t i = 0; i < count; i++) {
    int64_t pid = nai_get_i64(o.names, opening_of(&o, t, keys[i].value), FILE_NAMES_pid);
    int64_t thread = nai_key_pair(pid, (uint32_t)nai_get_i64(t, keys[i].value, FILE_EVENTS_tid));
    keys[i].key = nai_key_from_i64(thread);
  }
  NAI_TRY(nai_sort_keys(keys, count, err));
  return add_accesses(b, &o, keys, count, err);
}

/* --- functions of streams --------------------------------------------------------------------- */

static bool is_on_page(const struct nai_model *m, int32_t device) {
  for (uint32_t g = 0; g < m->gpu_count; g++)
    if (m->gpus[g].device_id == device)
      return true;
  return false;
}

static bool in_one_stream(const struct nai_host_function *a, const struct nai_host_function *b) {
  return a->process == b->process && a->device_id == b->device_id && a->context == b->context && a->stream == b->stream;
}

static const struct nai_host_functions *functions_of(const struct nai_model *m) {
  return m->evidence ? m->evidence->host : NULL;
}

/* A lane for each stream; of each function its number and 1, 0 for none. */
static int add_streams(uint32_t *lane_of, struct building *b, const struct nai_host_functions *host,
                       struct nai_err *err) {
  for (uint32_t i = 0; i < host->function_count; i++) {
    const struct nai_host_function *f = &host->functions[i];
    struct nai_host_lane *lane;
    if (i && in_one_stream(f - 1, f)) {
      lane_of[i] = lane_of[i - 1];
      continue;
    }
    if (!is_on_page(b->m, f->device_id))
      continue;
    NAI_TRY(new_lane(&lane, b, NAI_HOST_FUNCTION, nai_model_pid(b->m, f->process), 0, err));
    lane->gpu = f->device_id;
    lane->context = f->context;
    lane->stream = f->stream;
    lane_of[i] = b->lanes->count;
  }
  return NAI_OK;
}

static int add_host_functions(struct building *b, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(b->m->scratch_dir);
  const struct nai_host_functions *host = functions_of(b->m);
  uint32_t *lane_of;
  if (!host)
    return NAI_OK;
  NAI_TRY(NAI_NEW(lane_of, &arena, host->function_count, err));
  NAI_TRY(add_streams(lane_of, b, host, err));
  for (uint32_t i = 0; i < host->run_count; i++) {
    const struct nai_host_run *run = &host->runs[i];
    const uint32_t lane = lane_of[run->function];
    if (lane)
      NAI_TRY(add_event(b, &b->lanes->v[lane - 1], run->start, run->end, nai_host_function_name(b->m, run->function),
                        host->functions[run->function].in_graph, err));
  }
  return NAI_OK;
}

/* --- scheduling and samples ------------------------------------------------------------------- */

/* From each beginning to the stop that follows it; where records do not alternate, nothing is known. */
static int add_sched(struct building *b, const struct nai_cpu_thread *thread, struct nai_err *err) {
  const struct nai_table *t = b->m->tables[NAI_IN_SCHED];
  const uint32_t *order = b->m->cpu->sched.order + thread->first;
  struct nai_host_lane *lane;
  NAI_TRY(new_lane_of(&lane, b, NAI_HOST_SCHED, thread->global_tid, err));
  for (uint32_t i = 0; i + 1 < thread->count; i++) {
    char name[32];
    if (nai_get_i64(t, order[i], SCHED_EVENTS_is_in) != 1 || nai_get_i64(t, order[i + 1], SCHED_EVENTS_is_in) == 1)
      continue;
    snprintf(name, sizeof name, "CPU %" PRId64, nai_get_i64(t, order[i], SCHED_EVENTS_cpu));
    NAI_TRY(add_event(b, lane, nai_get_i64(t, order[i], SCHED_EVENTS_time_ns),
                      nai_get_i64(t, order[i + 1], SCHED_EVENTS_time_ns), name, false, err));
  }
  return NAI_OK;
}

static int add_samples(struct building *b, const struct nai_cpu_thread *thread, struct nai_err *err) {
  const struct nai_model *m = b->m;
  const struct nai_table *t = m->tables[NAI_IN_SAMPLES];
  struct nai_host_lane *lane;
  NAI_TRY(new_lane_of(&lane, b, NAI_HOST_SAMPLE, thread->global_tid, err));
  for (uint32_t i = 0; i < thread->count; i++) {
    uint32_t row = m->cpu->samples.order[thread->first + i];
    const struct nai_chain *chain =
        nai_cpu_chain(m, NAI_CALLCHAIN_SAMPLE, nai_get_i64(t, row, SAMPLE_EVENTS_callchain_id));
    int64_t time = nai_get_i64(t, row, SAMPLE_EVENTS_time_ns);
    if (nai_sample_is_timed(m, row))
      NAI_TRY(add_event(b, lane, time, time, chain ? nai_chain_name(m, chain) : "sample without a stack",
                        chain && chain->flags & NAI_CHAIN_NOT_INLINED, err));
  }
  return NAI_OK;
}

static int add_threads(struct building *b, const struct nai_cpu_rows *rows,
                       int (*add)(struct building *, const struct nai_cpu_thread *, struct nai_err *),
                       struct nai_err *err) {
  for (uint32_t i = 0; i < rows->thread_count; i++)
    if (rows->threads[i].global_tid != NAI_NULL_I64)
      NAI_TRY(add(b, &rows->threads[i], err));
  return NAI_OK;
}

/* --- all of it -------------------------------------------------------------------------------- */

static void drop_empty(struct nai_host_lanes *lanes) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < lanes->count; i++)
    if (lanes->v[i].count)
      lanes->v[kept++] = lanes->v[i];
  lanes->count = kept;
}

enum { SOURCES = 4 };

static void find_sources(struct source sources[SOURCES], const struct nai_model *m) {
  const struct source all[SOURCES] = {{NAI_HOST_OVERHEAD, m->tables[NAI_IN_OVERHEAD], OVERHEAD_EVENTS_start_ns,
                                       OVERHEAD_EVENTS_end_ns, OVERHEAD_EVENTS_thread, OVERHEAD_EVENTS_name,
                                       .level = -1},
                                      {NAI_HOST_MPI, m->tables[NAI_IN_MPI], MPI_EVENTS_start_ns, MPI_EVENTS_end_ns,
                                       MPI_EVENTS_thread, MPI_EVENTS_name, .level = -1, .spans = true},
                                      {NAI_HOST_OPENACC, m->tables[NAI_IN_OPENACC], OPENACC_EVENTS_start_ns,
                                       OPENACC_EVENTS_end_ns, OPENACC_EVENTS_thread, OPENACC_EVENTS_name, .level = -1,
                                       .file = OPENACC_EVENTS_file, .line = OPENACC_EVENTS_line, .spans = true},
                                      {NAI_HOST_OSRT, m->tables[NAI_IN_OSRT], OSRT_EVENTS_start_ns, OSRT_EVENTS_end_ns,
                                       OSRT_EVENTS_thread, OSRT_EVENTS_name, .level = OSRT_EVENTS_nesting_level}};
  memcpy(sources, all, sizeof all);
}

static void widen(int64_t *origin, int64_t *end, int64_t from, int64_t to) {
  if (from == NAI_NULL_I64 || to < from)
    return;
  *origin = from < *origin ? from : *origin;
  *end = to > *end ? to : *end;
}

/* Of files those with data: a program's code is read while it starts. */
static int widen_by_files(int64_t *origin, int64_t *end, const struct nai_model *m, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(m->scratch_dir);
  struct openings o = {.known.arena = &arena};
  const struct nai_table *t = m->tables[NAI_IN_FILES];
  if (!rows_of(t))
    return NAI_OK;
  NAI_TRY(read_openings(&o, m, err));
  for (uint32_t i = 0; i < rows_of(t); i++) {
    uint32_t opening = opening_of(&o, t, i);
    if (opening != NAI_NO_ROW && strcmp(nai_get_str(o.names, opening, FILE_NAMES_group), "data") == 0)
      widen(origin, end, nai_get_i64(t, i, FILE_EVENTS_start_ns), nai_get_i64(t, i, FILE_EVENTS_end_ns));
  }
  return NAI_OK;
}

int nai_host_widen(int64_t *origin, int64_t *end, const struct nai_model *m, struct nai_err *err) {
  struct source sources[SOURCES];
  find_sources(sources, m);
  for (int i = 0; i < SOURCES; i++)
    for (uint64_t row = 0; sources[i].spans && row < rows_of(sources[i].t); row++)
      widen(origin, end, nai_get_i64(sources[i].t, (int64_t)row, sources[i].start),
            nai_get_i64(sources[i].t, (int64_t)row, sources[i].end));
  const struct nai_host_functions *host = functions_of(m);
  for (uint32_t i = 0; host && i < host->run_count; i++)
    widen(origin, end, host->runs[i].start, host->runs[i].end);
  return widen_by_files(origin, end, m, err);
}

int nai_host_build(struct nai_host_lanes *out, const struct nai_items *items, const struct nai_model *m, int64_t origin,
                   int64_t end, struct nai_err *err) {
  struct building b = {.lanes = out, .m = m, .origin = origin, .end = end};
  struct source sources[SOURCES];
  find_sources(sources, m);
  uint64_t rows = 0;
  for (size_t i = 0; i < SOURCES; i++)
    rows += rows_of(sources[i].t);
  rows += rows_of(m->tables[NAI_IN_FILES]) + (functions_of(m) ? functions_of(m)->run_count : 0);
  if (m->cpu)
    rows += rows_of(m->tables[NAI_IN_SCHED]) / 2 + rows_of(m->tables[NAI_IN_SAMPLES]);
  bool all = rows <= (uint64_t)nai_items_share(items, MAX_EVENTS);
  *out = (struct nai_host_lanes){.arena = items->arena,
                                 .bucket_ns = all ? 0 : (end - origin) / nai_items_share(items, BUCKETS) + 1};
  for (size_t i = 0; i < SOURCES; i++)
    NAI_TRY(add_source(&b, &sources[i], err));
  NAI_TRY(add_files(&b, err));
  NAI_TRY(add_host_functions(&b, err));
  if (m->cpu)
    NAI_TRY(add_threads(&b, &m->cpu->sched, add_sched, err));
  if (m->cpu)
    NAI_TRY(add_threads(&b, &m->cpu->samples, add_samples, err));
  drop_empty(out);
  return NAI_OK;
}
