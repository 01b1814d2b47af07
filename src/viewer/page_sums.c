/* What the page knows exactly of an aggregated timeline: time and number of events per name and bin of a grid. A range
 * whose edges lie on the grid is a difference of running sums. */
#include "viewer/encoder.h"

#include "base/sort.h"
#include "base/threads.h"

enum { OWN_SERIES = 100 }; /* names with sums of their own */

/* Dense sums of some series, turned into a stream when they are complete. */
struct dense {
  struct nai_arena *arena; /* of the series */
  int64_t bin_ns, bins, origin;
  struct cell {
    int64_t ns, count, bytes;
  } * cells; /* series x bins */
};

static void add(struct dense *d, int64_t series, int64_t start, int64_t end, int64_t bytes) {
  struct cell *cells = d->cells + series * d->bins;
  int64_t bin = (start - d->origin) / d->bin_ns;
  cells[bin < d->bins ? bin : d->bins - 1].count++;
  cells[bin < d->bins ? bin : d->bins - 1].bytes += bytes;
  for (int64_t at = start; at < end && bin < d->bins; bin++) {
    int64_t edge = d->origin + (bin + 1) * d->bin_ns, until = edge < end ? edge : end;
    cells[bin].ns += until - at;
    at = until;
  }
}

static int put_series(struct nai_sums *sums, const struct dense *d, int64_t index, struct nai_series series,
                      struct nai_err *err) {
  const struct cell *cells = d->cells + index * d->bins;
  int64_t last = -1;
  for (int64_t b = 0; b < d->bins; b++) {
    if (!cells[b].ns && !cells[b].count)
      continue;
    nai_buf_put_varint(&sums->stream, (uint64_t)(b - last - 1));
    nai_buf_put_varint(&sums->stream, (uint64_t)cells[b].ns);
    nai_buf_put_varint(&sums->stream, (uint64_t)cells[b].count);
    nai_buf_put_varint(&sums->stream, (uint64_t)cells[b].bytes);
    last = b;
    series.entries++;
  }
  if (!series.entries)
    return NAI_OK;
  NAI_TRY(NAI_ROOM(sums->list, sums->capacity, sums->count, d->arena, err));
  sums->list[sums->count++] = series;
  return NAI_OK;
}

/* --- one kind of events ----------------------------------------------------------------------- */

struct ranked {
  uint32_t id;
  int64_t ns;
};

NAI_ORDER(longest_first, struct ranked, {b->ns, a->ns}, {a->id, b->id})

/* The names with events, longest first. */
static uint32_t rank(struct ranked *ranked, const struct nai_name_totals *totals) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < totals->names; i++)
    if (totals->v[i].count)
      ranked[n++] = (struct ranked){i, totals->v[i].ns};
  qsort(ranked, n, sizeof *ranked, longest_first);
  return n;
}

static void add_rows(struct dense *d, struct nai_encoder *e, const struct nai_name_totals *totals,
                     const uint32_t *slot) {
  const struct nai_column *start, *end;
  nai_lane_times(&start, &end, e->m, totals->kind);
  NAI_EACH_ROW(e->m, totals, lane, row) {
    uint32_t id = totals->name ? nai_at_text(totals->name, row) : nai_encoder_name(e, totals->kind, row);
    int64_t bytes = totals->kind == NAI_LANE_COPY ? nai_at(&e->m->memops.bytes, row) : 0;
    add(d, slot[id], nai_at(start, row), nai_at(end, row), bytes > 0 ? bytes : 0);
  }
}

/* Series of the names that take longest, and one of all others. */
static int sum_names(struct nai_sums *sums, struct dense *d, struct nai_encoder *e,
                     const struct nai_name_totals *totals, enum nai_series_kind kind, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  struct ranked *ranked;
  uint32_t *slot;
  NAI_TRY(NAI_NEW(ranked, &arena, totals->names, err));
  NAI_TRY(NAI_NEW(slot, &arena, totals->names, err));
  uint32_t count = rank(ranked, totals), own = count < OWN_SERIES ? count : OWN_SERIES;
  for (uint32_t i = 0; i < count; i++)
    slot[ranked[i].id] = i < own ? i : own;
  add_rows(d, e, totals, slot);
  for (uint32_t i = 0; i <= own; i++) {
    int64_t name = i < own ? (int64_t)ranked[i].id : NAI_SERIES_OTHERS;
    NAI_TRY(put_series(sums, d, i, (struct nai_series){kind, totals->gpu, name, 0}, err));
  }
  return NAI_OK;
}

/* Calls that block the host, and calls that launch GPU work. */
static int sum_calls(struct nai_sums *sums, struct dense *d, const struct nai_encoder *e,
                     const struct nai_name_totals *calls, struct nai_err *err) {
  const struct nai_column *start, *end;
  nai_lane_times(&start, &end, e->m, NAI_LANE_API);
  NAI_EACH_ROW(e->m, calls, lane, row) {
    if (nai_model_api_blocks(e->m, row))
      add(d, 0, nai_at(start, row), nai_at(end, row), 0);
    if (e->launches[row])
      add(d, 1, nai_at(start, row), nai_at(end, row), 0);
  }
  NAI_TRY(put_series(sums, d, 0, (struct nai_series){NAI_SERIES_BLOCKED, NAI_ANY_GPU, NAI_SERIES_OTHERS, 0}, err));
  return put_series(sums, d, 1, (struct nai_series){NAI_SERIES_LAUNCH, NAI_ANY_GPU, NAI_SERIES_OTHERS, 0}, err);
}

/* --- all of them ------------------------------------------------------------------------------ */

/* Sums that are made side by side, in the order in which they stand on the page. */
struct summing {
  struct nai_encoder *e;
  struct nai_sums *parts;
  uint32_t count;
};

static void summing_free(struct summing *s) {
  for (uint32_t i = 0; s->parts && i < s->count; i++)
    nai_buf_free(&s->parts[i].stream);
}

/* The kernels of a GPU and its copies, GPU by GPU, then calls by name, then calls by what they do. */
static int sum_part(struct nai_sums *part, struct dense *d, struct nai_encoder *e, uint32_t i, struct nai_err *err) {
  uint32_t gpus = e->m->gpu_count;
  const struct nai_name_totals *calls = nai_encoder_totals_of(e, NAI_LANE_API, NAI_ANY_GPU);
  if (i == 2 * gpus)
    return sum_names(part, d, e, calls, NAI_SERIES_CALL, err);
  if (i > 2 * gpus)
    return sum_calls(part, d, e, calls, err);
  int32_t gpu = e->m->gpus[i / 2].device_id;
  return i % 2 ? sum_names(part, d, e, nai_encoder_totals_of(e, NAI_LANE_COPY, gpu), NAI_SERIES_COPY, err)
               : sum_names(part, d, e, nai_encoder_totals_of(e, NAI_LANE_KERNEL, gpu), NAI_SERIES_KERNEL, err);
}

static int make_part(const struct summing *s, uint32_t i, struct nai_err *err) {
  const struct nai_sums *sums = &s->e->sums;
  NAI_FREED struct cell *cells = calloc((size_t)(OWN_SERIES + 1) * (size_t)sums->bins, sizeof *cells);
  struct dense d = {&s->e->arena, sums->bin_ns, sums->bins, s->e->origin, cells};
  NAI_TRY(nai_memory_check(cells, err));
  NAI_TRY(sum_part(&s->parts[i], &d, s->e, i, err));
  return nai_buf_check(&s->parts[i].stream, err);
}

/* One task for the copies of all GPUs, whose names the encoder is asked for, and one for each other part. */
static int sum_task(void *ctx, int task, struct nai_err *err) {
  const struct summing *s = ctx;
  uint32_t gpus = s->e->m->gpu_count, t = (uint32_t)task;
  if (t > 0)
    return make_part(s, t <= gpus ? 2 * (t - 1) : gpus + t - 1, err);
  for (uint32_t g = 0; g < gpus; g++)
    NAI_TRY(make_part(s, 2 * g + 1, err));
  return NAI_OK;
}

/* Appends a part, whose series get the page's numbers of their names: those of copies have them. */
static int append(struct nai_encoder *e, const struct nai_sums *part, struct nai_err *err) {
  struct nai_sums *sums = &e->sums;
  for (uint32_t i = 0; i < part->count; i++) {
    struct nai_series series = part->list[i];
    NAI_TRY(NAI_ROOM(sums->list, sums->capacity, sums->count, &e->arena, err));
    if (series.name != NAI_SERIES_OTHERS && series.kind != NAI_SERIES_COPY)
      series.name = (int64_t)nai_encoder_named(e, series.kind == NAI_SERIES_KERNEL ? NAI_LANE_KERNEL : NAI_LANE_API,
                                               (uint32_t)series.name);
    sums->list[sums->count++] = series;
  }
  if (part->stream.len)
    nai_buf_put(&sums->stream, part->stream.data, part->stream.len);
  return NAI_OK;
}

int nai_encoder_sum(struct nai_encoder *e, struct nai_err *err) {
  enum { WINDOW_BINS = 1000, MAX_BINS = 5000 };
  const struct nai_model *m = e->m;
  int64_t window = m->window_end - m->window_start, span = e->end - e->origin;
  struct nai_sums *sums = &e->sums;
  NAI_SCOPED(summing) s = {e, NULL, 2 * m->gpu_count + 2};
  NAI_TRY(NAI_NEW(s.parts, &e->arena, s.count, err));
  int64_t bins = nai_items_share(&e->items, WINDOW_BINS), most = nai_items_share(&e->items, MAX_BINS);
  sums->bin_ns = (window / bins > span / most ? window / bins : span / most) + 1;
  sums->bins = span / sums->bin_ns + 1;
  NAI_TRY(nai_parallel(m->worker_count, (int)m->gpu_count + 3, sum_task, &s, err));
  for (uint32_t i = 0; i < s.count; i++)
    NAI_TRY(append(e, &s.parts[i], err));
  return nai_buf_check(&sums->stream, err);
}
