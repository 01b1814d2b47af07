/* What the page knows exactly of an aggregated timeline: time and number of events per name and bin of a grid. A range
 * whose edges lie on the grid is a difference of running sums. */
#include "viewer/encoder.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

enum { OWN_SERIES = 100, LISTED_NAMES = 20000 }; /* names with sums of their own; names of a kind the page lists */

/* Dense sums of some series, turned into a stream when they are complete. */
struct dense {
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

static bool put_series(struct nai_sums *sums, const struct dense *d, int64_t index, struct nai_series series) {
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
    return true;
  if (!nai_array_room(&sums->list, &sums->capacity, sums->count, sizeof *sums->list))
    return false;
  sums->list[sums->count++] = series;
  return true;
}

/* --- one kind of events ----------------------------------------------------------------------- */

/* The names of one kind of events in the lanes of one GPU, or of the host. */
struct group {
  enum nai_lane_kind kind;
  int32_t gpu;
  const struct nai_column *name; /* of its event table; NULL: copies, named by the page */
  uint32_t names;                /* ids of that column are below */
};

static uint32_t id_of(struct nai_encoder *e, const struct group *group, uint32_t row) {
  return group->name ? nai_at_text(group->name, row) : nai_encoder_name(e, group->kind, row);
}

#define EACH_ROW(E, GROUP, LANE, ROW)                                                   \
  for (uint32_t l_ = 0; l_ < (E)->m->lanes.count; l_++)                                 \
    for (const struct nai_lane *LANE = &(E)->m->lanes.v[l_];                            \
         LANE && LANE->kind == (GROUP)->kind && LANE->gpu == (GROUP)->gpu; LANE = NULL) \
      for (uint32_t i_ = 0, ROW; i_ < LANE->count && (ROW = LANE->rows[i_], true); i_++)

struct total {
  uint32_t id, row; /* row: an event of that name */
  int64_t ns;
};

static int longest_first(const void *pa, const void *pb) {
  const struct total *a = pa, *b = pb;
  return a->ns != b->ns ? (a->ns > b->ns ? -1 : 1) : (a->id > b->id) - (a->id < b->id);
}

/* The names of a group with their total time, longest first. */
static uint32_t rank(struct total *totals, struct nai_encoder *e, const struct group *group) {
  const struct nai_column *start, *end;
  uint32_t n = 0;
  nai_lane_times(&start, &end, e->m, group->kind);
  for (uint32_t i = 0; i < group->names; i++)
    totals[i] = (struct total){i, UINT32_MAX, 0};
  EACH_ROW(e, group, lane, row) {
    struct total *total = &totals[id_of(e, group, row)];
    total->row = row;
    total->ns += nai_at(end, row) - nai_at(start, row);
  }
  for (uint32_t i = 0; i < group->names; i++)
    if (totals[i].row != UINT32_MAX)
      totals[n++] = totals[i];
  qsort(totals, n, sizeof *totals, longest_first);
  return n;
}

/* Series of the names that take longest, and one of all others. */
static int sum_group(struct nai_encoder *e, const struct group *group, enum nai_series_kind kind, struct dense *d,
                     struct nai_err *err) {
  const struct nai_column *start, *end;
  struct total *totals = malloc(((size_t)group->names + 1) * sizeof *totals);
  uint32_t *slot = malloc(((size_t)group->names + 1) * sizeof *slot);
  bool ok = totals && slot;
  uint32_t ranked = ok ? rank(totals, e, group) : 0, own = ranked < OWN_SERIES ? ranked : OWN_SERIES;
  nai_lane_times(&start, &end, e->m, group->kind);
  memset(d->cells, 0, (size_t)(OWN_SERIES + 1) * (size_t)d->bins * sizeof *d->cells);
  for (uint32_t i = 0; i < ranked; i++)
    slot[totals[i].id] = i < own ? i : own;
  if (ok)
    EACH_ROW(e, group, lane, row) {
      int64_t bytes = kind == NAI_SERIES_COPY ? nai_at(&e->m->memops.bytes, row) : 0;
      add(d, slot[id_of(e, group, row)], nai_at(start, row), nai_at(end, row), bytes > 0 ? bytes : 0);
    }
  for (uint32_t i = 0; ok && i <= own; i++) {
    int64_t name = i < own ? (int64_t)nai_encoder_name(e, group->kind, totals[i].row) : NAI_SERIES_OTHERS;
    ok = put_series(&e->sums, d, i, (struct nai_series){kind, group->gpu, name, 0});
  }
  free(totals);
  free(slot);
  return ok ? NAI_OK : nai_err_nomem(err);
}

/* Calls that block the host, and calls that launch GPU work. */
static int sum_calls(struct nai_encoder *e, const struct group *calls, struct dense *d, struct nai_err *err) {
  const struct nai_column *start, *end;
  nai_lane_times(&start, &end, e->m, NAI_LANE_API);
  memset(d->cells, 0, 2 * (size_t)d->bins * sizeof *d->cells);
  EACH_ROW(e, calls, lane, row) {
    if (nai_model_api_blocks(e->m, row))
      add(d, 0, nai_at(start, row), nai_at(end, row), 0);
    if (e->launches[row])
      add(d, 1, nai_at(start, row), nai_at(end, row), 0);
  }
  bool ok = put_series(&e->sums, d, 0, (struct nai_series){NAI_SERIES_BLOCKED, -1, NAI_SERIES_OTHERS, 0}) &&
            put_series(&e->sums, d, 1, (struct nai_series){NAI_SERIES_LAUNCH, -1, NAI_SERIES_OTHERS, 0});
  return ok ? NAI_OK : nai_err_nomem(err);
}

/* --- names ------------------------------------------------------------------------------------ */

/* The names of one kind: puts them on the page's list, as many as it takes, or counts the events of those on it. */
struct listing {
  enum nai_lane_kind kind;
  const struct nai_column *name; /* NULL: numbered by the page */
  uint32_t names;
  const uint32_t *numbers; /* name id -> number + 1; NULL: the id is the number */
  bool count;
};

static bool of_kind(const struct nai_lane *lane, enum nai_lane_kind kind) {
  return lane->kind == kind || (kind == NAI_LANE_NVTX && lane->kind == NAI_LANE_NVTX_ASYNC);
}

static void list_or_count(struct nai_encoder *e, const struct listing *l, const int64_t *counts, const uint32_t *rows) {
  int listed = 0;
  for (uint32_t i = 0; i < l->names && !e->names.oom; i++) {
    if (!counts[i])
      continue;
    if (!l->count && listed++ < LISTED_NAMES)
      nai_encoder_name(e, l->kind, rows[i]);
    if (!l->count || (l->numbers && !l->numbers[i]))
      continue;
    e->names.list[l->numbers ? l->numbers[i] - 1 : i].count += counts[i];
  }
  if (!l->count)
    e->sums.left_out += listed > LISTED_NAMES ? listed - LISTED_NAMES : 0;
}

static int go_through(struct nai_encoder *e, const struct listing *l, struct nai_err *err) {
  int64_t *counts = calloc((size_t)l->names + 1, sizeof *counts);
  uint32_t *rows = calloc((size_t)l->names + 1, sizeof *rows);
  bool ok = counts && rows;
  for (uint32_t i = 0; ok && i < e->m->lanes.count; i++) {
    const struct nai_lane *lane = &e->m->lanes.v[i];
    for (uint32_t k = 0; of_kind(lane, l->kind) && k < lane->count; k++) {
      uint32_t row = lane->rows[k];
      uint32_t id = l->name ? nai_at_text(l->name, row) : nai_encoder_name(e, l->kind, row);
      counts[id]++;
      rows[id] = row;
    }
  }
  if (ok)
    list_or_count(e, l, counts, rows);
  free(counts);
  free(rows);
  return ok && !e->names.oom ? NAI_OK : nai_err_nomem(err);
}

int nai_encoder_names(struct nai_encoder *e, bool count, struct nai_err *err) {
  const struct nai_model *m = e->m;
  /* Copies come first: the page numbers them itself, from 0 on. */
  const struct listing all[] = {
      {NAI_LANE_COPY, NULL, MAX_DIRECTIONS, NULL, count},
      {NAI_LANE_SET, NULL, MAX_DIRECTIONS, NULL, count},
      {NAI_LANE_GRAPH, NULL, MAX_DIRECTIONS, NULL, count},
      {NAI_LANE_KERNEL, &m->kernels.name, m->tables[NAI_IN_KERNELS]->strings.count, e->names.of_kernel, count},
      {NAI_LANE_API, &m->apis.name, m->tables[NAI_IN_APIS]->strings.count, e->names.of_api, count},
      {NAI_LANE_NVTX, &m->nvtx.name, m->tables[NAI_IN_NVTX]->strings.count, e->names.of_range, count}};
  int rc = NAI_OK;
  for (size_t i = 0; !rc && i < sizeof all / sizeof *all; i++)
    rc = go_through(e, &all[i], err);
  return rc;
}

int nai_encoder_sum(struct nai_encoder *e, struct nai_err *err) {
  enum { WINDOW_BINS = 1000, MAX_BINS = 5000 };
  const struct nai_model *m = e->m;
  int64_t window = m->window_end - m->window_start, span = e->end - e->origin;
  struct nai_sums *sums = &e->sums;
  sums->bin_ns = (window / WINDOW_BINS > span / MAX_BINS ? window / WINDOW_BINS : span / MAX_BINS) + 1;
  sums->bins = span / sums->bin_ns + 1;
  struct dense d = {sums->bin_ns, sums->bins, e->origin, NULL};
  int rc = NAI_OK;
  d.cells = malloc((size_t)(OWN_SERIES + 1) * (size_t)d.bins * sizeof *d.cells);
  if (!d.cells)
    return nai_err_nomem(err);
  for (uint32_t g = 0; !rc && g < m->gpu_count; g++) {
    int32_t id = m->gpus[g].device_id;
    struct group kernels = {NAI_LANE_KERNEL, id, &m->kernels.name, m->tables[NAI_IN_KERNELS]->strings.count};
    struct group copies = {NAI_LANE_COPY, id, NULL, e->names.count};
    rc = sum_group(e, &kernels, NAI_SERIES_KERNEL, &d, err);
    if (!rc)
      rc = sum_group(e, &copies, NAI_SERIES_COPY, &d, err);
  }
  struct group calls = {NAI_LANE_API, -1, &m->apis.name, m->tables[NAI_IN_APIS]->strings.count};
  if (!rc)
    rc = sum_group(e, &calls, NAI_SERIES_CALL, &d, err);
  if (!rc)
    rc = sum_calls(e, &calls, &d, err);
  free(d.cells);
  return rc ? rc : nai_buf_check(&sums->stream, err);
}
