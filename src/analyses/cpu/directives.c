/* What do OpenACC and OpenMP do on the host, and where in the source? Table directives. */
#include "analyses/analysis.h"
#include "base/strings.h"
#include "tables/directives.h"
#include "tables/openacc_events.h"
#include "tables/openmp_events.h"
#include "tables/threads.h"

enum { OPENACC, OPENMP };

/* What tells a row: names are those of the model's table, NAI_NO_STRING for none. */
struct place {
  int64_t model, kind, name, file, line;
};
struct sum {
  struct place place;
  int64_t bytes, longest_start, longest_end, thread;
};
struct work {
  struct nai_arena *arena;
  struct nai_strings known; /* places */
  struct sum *sums;
  uint32_t capacity;
  uint32_t *group; /* of each event */
  int64_t *ns;
  uint32_t count;
};

static uint32_t text_at(const struct nai_table *t, int column, int64_t row) {
  struct nai_column texts = nai_table_column(t, column);
  return nai_at_text(&texts, (uint64_t)row);
}

static int add(struct work *w, const struct place *place, int64_t start, int64_t end, int64_t bytes, int64_t thread,
               struct nai_err *err) {
  uint32_t before = w->known.count, slot = nai_strings_add(&w->known, (const char *)place, sizeof *place);
  NAI_TRY(nai_memory_check(slot != NAI_NO_STRING, err));
  NAI_TRY(NAI_ROOM(w->sums, w->capacity, slot, w->arena, err));
  struct sum *sum = &w->sums[slot];
  if (slot == before)
    *sum = (struct sum){
        .place = *place, .bytes = NAI_NULL_I64, .longest_start = start, .longest_end = end, .thread = thread};
  if (bytes != NAI_NULL_I64)
    sum->bytes = (sum->bytes == NAI_NULL_I64 ? 0 : sum->bytes) + bytes;
  int64_t longest = sum->longest_end - sum->longest_start;
  if (end - start > longest || (end - start == longest && start < sum->longest_start)) {
    sum->longest_start = start;
    sum->longest_end = end;
    sum->thread = thread;
  }
  w->group[w->count] = slot;
  w->ns[w->count++] = end - start;
  return NAI_OK;
}

static int add_openacc(struct work *w, const struct nai_table *t, struct nai_err *err) {
  for (int64_t i = 0; i < t->rows; i++) {
    int64_t line = nai_get_i64(t, i, OPENACC_EVENTS_line);
    const struct place place = {OPENACC, nai_get_i64(t, i, OPENACC_EVENTS_kind), text_at(t, OPENACC_EVENTS_name, i),
                                text_at(t, OPENACC_EVENTS_file, i), line > 0 ? line : NAI_NULL_I64};
    NAI_TRY(add(w, &place, nai_get_i64(t, i, OPENACC_EVENTS_start_ns), nai_get_i64(t, i, OPENACC_EVENTS_end_ns),
                nai_get_i64(t, i, OPENACC_EVENTS_bytes), nai_get_i64(t, i, OPENACC_EVENTS_thread), err));
  }
  return NAI_OK;
}

static int add_openmp(struct work *w, const struct nai_table *t, struct nai_err *err) {
  for (int64_t i = 0; i < t->rows; i++) {
    const struct place place = {OPENMP, nai_get_i64(t, i, OPENMP_EVENTS_kind), text_at(t, OPENMP_EVENTS_name, i),
                                NAI_NO_STRING, NAI_NULL_I64};
    NAI_TRY(add(w, &place, nai_get_i64(t, i, OPENMP_EVENTS_start_ns), nai_get_i64(t, i, OPENMP_EVENTS_end_ns),
                NAI_NULL_I64, nai_get_i64(t, i, OPENMP_EVENTS_thread), err));
  }
  return NAI_OK;
}

static void tell_block(const void *ctx, uint32_t first, uint32_t count, uint32_t *group, int64_t *value) {
  const struct work *w = ctx;
  for (uint32_t i = 0; i < count; i++) {
    group[i] = w->group[first + i];
    value[i] = w->ns[first + i];
  }
}

static const char *text_of(const struct nai_table *t, int64_t text) {
  return text < t->strings.count ? nai_strings_get(&t->strings, (uint32_t)text) : NULL;
}

static void put(struct nai_table *out, const struct nai_model *m, const struct sum *sum, const struct nai_stats *s) {
  const struct nai_table *t = m->tables[sum->place.model == OPENACC ? NAI_IN_OPENACC : NAI_IN_OPENMP];
  const struct nai_table *threads = m->tables[NAI_IN_THREADS];
  bool known = sum->thread >= 0 && sum->thread < threads->rows;
  NAI_ADD(DIRECTIVES, out, .model = sum->place.model == OPENACC ? "OpenACC" : "OpenMP",
          .event_name = text_of(t, sum->place.name), .kind = sum->place.kind, .file = text_of(t, sum->place.file),
          .line = sum->place.line, .event_count = s->count, .total_time_ns = s->total, .avg_duration_ns = s->mean,
          .p50_duration_ns = s->p50, .min_duration_ns = s->min, .max_duration_ns = s->max, .bytes = sum->bytes,
          .longest_start_ns = sum->longest_start, .longest_end_ns = sum->longest_end,
          .pid = known ? nai_get_i64(threads, sum->thread, THREADS_pid) : NAI_NULL_I64,
          .tid = known ? nai_get_i64(threads, sum->thread, THREADS_tid) : NAI_NULL_I64);
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_model *m = io->model;
  const struct nai_table *acc = m->tables[NAI_IN_OPENACC], *omp = m->tables[NAI_IN_OPENMP];
  struct work w = {.arena = io->arena, .known = {.arena = io->arena}};
  struct nai_stats *stats;
  if (!acc->rows && !omp->rows)
    return NAI_OK;
  NAI_TRY(NAI_NEW(w.group, io->arena, (size_t)(acc->rows + omp->rows), err));
  NAI_TRY(NAI_NEW(w.ns, io->arena, (size_t)(acc->rows + omp->rows), err));
  NAI_TRY(add_openacc(&w, acc, err));
  NAI_TRY(add_openmp(&w, omp, err));
  NAI_TRY(NAI_NEW(stats, io->arena, w.known.count, err));
  const struct nai_values values = {w.count, tell_block, &w, m->scratch_dir};
  NAI_TRY(nai_group_stats(stats, w.known.count, &values, err));
  for (uint32_t i = 0; i < w.known.count; i++)
    put(io->out[0], m, &w.sums[i], &stats[i]);
  return NAI_OK;
}

NAI_ANALYSIS(directives, .outputs = NAI_SCHEMAS(&nai_directives_schema),
             .tables = NAI_IN(OPENACC) | NAI_IN(OPENMP) | NAI_IN(THREADS), .run = run)
