/* What is on a timeline, in the order of the model's lanes. */
#include "features/export/timeline.h"

#include "base/array.h"
#include "tables/gpu_metric_samples.h"

#include <stdlib.h>
#include <string.h>

/* --- rows of a lane ---------------------------------------------------------------------------------- */

struct rows {
  struct nai_track like; /* what further rows are */
  struct nai_track *v;
  uint32_t count, capacity;
  struct nai_layout layout;
  int64_t *open; /* ends of the slices open in the first row, where they nest */
  uint32_t depth, open_capacity;
};

static const struct nai_track *row_track(struct nai_timeline *tl, struct rows *rows, uint32_t row) {
  if (row == rows->count) {
    if (!nai_array_room(&rows->v, &rows->capacity, row, sizeof *rows->v)) {
      tl->oom = true;
      return NULL;
    }
    rows->v[rows->count++] = nai_timeline_announce(tl, rows->like);
  }
  return &rows->v[row];
}

/* In the first row it fits into, from row `first` on. */
static uint32_t put_flat(struct nai_timeline *tl, struct rows *rows, const struct nai_slice *s, uint32_t first) {
  uint32_t place = nai_layout_place(&rows->layout, s->start, s->end);
  const struct nai_track *track = place == UINT32_MAX ? NULL : row_track(tl, rows, first + place);
  tl->oom |= !track;
  if (!track)
    return 0;
  tl->writer->begin(tl->writer, track, s);
  tl->writer->end(tl->writer, track, s->end);
  return first + place;
}

static void close_until(struct nai_timeline *tl, struct rows *rows, int64_t at) {
  while (rows->depth && rows->open[rows->depth - 1] <= at)
    tl->writer->end(tl->writer, &rows->v[0], rows->open[--rows->depth]);
}

/* In the first row, or, when it would cross a slice there, in another. */
static uint32_t put_nested(struct nai_timeline *tl, struct rows *rows, const struct nai_slice *s) {
  close_until(tl, rows, s->start);
  if (rows->depth && s->end > rows->open[rows->depth - 1])
    return put_flat(tl, rows, s, 1);
  const struct nai_track *track = row_track(tl, rows, 0);
  bool room = nai_array_room(&rows->open, &rows->open_capacity, rows->depth, sizeof *rows->open);
  tl->oom |= !room;
  if (!track || !room)
    return 0;
  tl->writer->begin(tl->writer, track, s);
  rows->open[rows->depth++] = s->end;
  return 0;
}

static void free_rows(struct rows *rows) {
  nai_layout_free(&rows->layout);
  free(rows->v);
  free(rows->open);
}

/* --- what is shown ----------------------------------------------------------------------------------- */

/* The part of an event that is shown; false for none. */
bool nai_timeline_cut(struct nai_slice *s, const struct nai_timeline *tl, enum nai_lane_kind kind, uint32_t row) {
  const struct nai_export_options *o = tl->options;
  const struct nai_column *start, *end;
  nai_lane_times(&start, &end, tl->m, kind);
  *s = (struct nai_slice){
      .kind = kind, .row = row, .start = nai_at(start, row), .end = nai_at(end, row), .call = NAI_NO_ROW};
  s->end = s->end < s->start ? s->start : s->end;
  bool overlaps = s->start < o->end_ns && (s->end > o->start_ns || (s->start == s->end && s->start == o->start_ns));
  bool shown = overlaps && s->end - s->start >= o->min_ns;
  s->start = s->start < o->start_ns ? o->start_ns : s->start;
  s->end = s->end > o->end_ns ? o->end_ns : s->end;
  return shown;
}

static bool lane_shown(const struct nai_timeline *tl, const struct nai_lane *lane) {
  const struct nai_export_options *o = tl->options;
  bool ranges = lane->kind == NAI_LANE_NVTX || lane->kind == NAI_LANE_NVTX_ASYNC;
  if (lane->kind == NAI_LANE_API)
    return !o->no_calls;
  return ranges ? !o->no_ranges : o->gpu == INT64_MIN || o->gpu == lane->gpu;
}

static uint32_t call_of(const struct nai_model *m, enum nai_lane_kind kind, uint32_t row) {
  return kind == NAI_LANE_KERNEL                       ? m->kernel_api[row]
       : kind == NAI_LANE_COPY || kind == NAI_LANE_SET ? m->memop_api[row]
       : kind == NAI_LANE_GRAPH                        ? m->graph_api[row]
                                                       : NAI_NO_ROW;
}

/* Counts the operations that each call will have a flow to. */
static void count_flows(struct nai_timeline *tl) {
  const struct nai_model *m = tl->m;
  struct nai_slice s;
  for (uint32_t l = 0; l < m->lanes.count && !tl->options->no_flows && !tl->options->no_calls; l++) {
    const struct nai_lane *lane = &m->lanes.v[l];
    if (lane->thread >= 0 || !lane_shown(tl, lane))
      continue;
    for (uint32_t i = 0; i < lane->count; i++) {
      uint32_t call = call_of(m, lane->kind, lane->rows[i]);
      if (call != NAI_NO_ROW && tl->call_ops[call] < 2 && nai_timeline_cut(&s, tl, lane->kind, lane->rows[i]) &&
          nai_timeline_cut(&s, tl, NAI_LANE_API, call))
        tl->call_ops[call]++;
    }
  }
}

/* --- lanes ------------------------------------------------------------------------------------------- */

static void print_stream(struct nai_buf *text, const struct nai_timeline *tl, const struct nai_lane *lane) {
  static const char *const kinds[] = {[NAI_LANE_KERNEL] = "kernels",
                                      [NAI_LANE_COPY] = "copies",
                                      [NAI_LANE_SET] = "memsets",
                                      [NAI_LANE_GRAPH] = "graphs"};
  if (lane->stream < 0)
    nai_buf_printf(text, "other streams \u00b7 %s", kinds[lane->kind]);
  else
    nai_buf_printf(text, "stream %d \u00b7 %s", lane->stream, kinds[lane->kind]);
  nai_buf_printf(text, " \u00b7 pid %d", tl->pid[lane->process < 0 ? tl->m->process_count : (uint32_t)lane->process]);
  if (lane->context >= 0)
    nai_buf_printf(text, " \u00b7 context %d", lane->context);
}

/* What the rows of a lane are; a lane of push/pop ranges begins on the track of its thread. */
static void plan_rows(struct rows *rows, struct nai_buf *name, struct nai_timeline *tl, const struct nai_lane *lane) {
  uint32_t thread = (uint32_t)lane->thread;
  if (lane->thread < 0) {
    print_stream(name, tl, lane);
    uint32_t gpu = nai_model_gpu_index(tl->m, lane->gpu);
    rows->like = (struct nai_track){.kind = NAI_TRACK_DEVICE,
                                    .parent = nai_timeline_gpu(tl, gpu),
                                    .name = nai_buf_str(name),
                                    .gpu = gpu,
                                    .rank = (uint32_t)(lane - tl->m->lanes.v) + 1};
    return;
  }
  const char *what = lane->kind == NAI_LANE_API  ? "CUDA API"
                   : lane->kind == NAI_LANE_NVTX ? "ranges that cross others"
                                                 : "start/end ranges";
  struct nai_track first = nai_timeline_thread(tl, thread);
  rows->like = nai_timeline_host(tl, NAI_TRACK_HOST, thread, what);
  rows->like.parent = first.number;
  if (lane->kind != NAI_LANE_NVTX)
    return;
  tl->oom |= !nai_array_room(&rows->v, &rows->capacity, 0, sizeof *rows->v);
  if (rows->v)
    rows->v[rows->count++] = first;
}

static void put_event(struct nai_timeline *tl, struct rows *rows, const struct nai_lane *lane, struct nai_slice *s) {
  bool nested = lane->kind == NAI_LANE_API || lane->kind == NAI_LANE_NVTX;
  uint32_t call = lane->kind == NAI_LANE_API ? s->row : call_of(tl->m, s->kind, s->row);
  if (call != NAI_NO_ROW && tl->call_ops[call] &&
      (lane->kind == NAI_LANE_API || tl->call_row[call] != NAI_CALL_LEFT_OUT))
    s->call = call;
  nai_labels_name(tl, s);
  tl->events++;
  uint32_t row = nested ? put_nested(tl, rows, s) : put_flat(tl, rows, s, 0);
  if (lane->kind != NAI_LANE_API)
    return;
  tl->call_row[s->row] = row < NAI_CALL_LEFT_OUT ? (uint8_t)row : NAI_CALL_LEFT_OUT;
  tl->calls_track[lane->thread] = rows->v ? rows->v[0].number : 0;
}

static void write_lane(struct nai_timeline *tl, const struct nai_lane *lane) {
  struct rows rows = {0};
  struct nai_buf name = {0};
  struct nai_slice s;
  bool planned = false;
  for (uint32_t i = 0; i < lane->count && !tl->oom; i++) {
    bool shown = nai_timeline_cut(&s, tl, lane->kind, lane->rows[i]);
    if (s.start >= tl->options->end_ns)
      break;
    if (!shown)
      continue;
    if (!planned)
      plan_rows(&rows, &name, tl, lane);
    planned = true;
    put_event(tl, &rows, lane, &s);
  }
  close_until(tl, &rows, INT64_MAX);
  if (tl->writer->complete)
    tl->writer->complete(tl->writer);
  tl->oom |= name.oom;
  nai_buf_free(&name);
  free_rows(&rows);
}

/* --- all --------------------------------------------------------------------------------------------- */

static int64_t first_event(const struct nai_model *m) {
  int64_t first = INT64_MAX;
  for (uint32_t i = 0; i < m->lanes.count; i++) {
    const struct nai_column *start, *end;
    nai_lane_times(&start, &end, m, m->lanes.v[i].kind);
    int64_t at = nai_at(start, m->lanes.v[i].rows[0]);
    first = at < first ? at : first;
  }
  for (uint32_t i = 0; i < m->nvtx.n; i++)
    if (nai_at(&m->nvtx.kind, i) == NAI_NVTX_MARK && nai_at(&m->nvtx.start_ns, i) < first)
      first = nai_at(&m->nvtx.start_ns, i);
  const struct nai_table *samples = m->tables[NAI_IN_GPU_METRIC_SAMPLES];
  for (int64_t i = 0; samples && i < samples->rows; i++) {
    int64_t at = nai_get_i64(samples, i, GPU_METRIC_SAMPLES_time_ns);
    first = at < first ? at : first;
  }
  return first == INT64_MAX ? 0 : first;
}

int nai_timeline_open(struct nai_timeline *tl, const struct nai_model *m, const struct nai_export_options *options,
                      struct nai_err *err) {
  *tl = (struct nai_timeline){.m = m, .options = options};
  int64_t first = first_event(m);
  tl->first_ns = options->start_ns > first ? options->start_ns : first;
  tl->call_ops = calloc((size_t)m->apis.n + 1, 1);
  tl->call_row = malloc((size_t)m->apis.n + 1);
  tl->process_track = calloc((size_t)m->process_count + 1, sizeof *tl->process_track);
  tl->thread_track = calloc((size_t)m->thread_count + 1, sizeof *tl->thread_track);
  tl->calls_track = calloc((size_t)m->thread_count + 1, sizeof *tl->calls_track);
  tl->gpu_track = calloc((size_t)m->gpu_count + 1, sizeof *tl->gpu_track);
  if (!tl->call_ops || !tl->call_row || !tl->process_track || !tl->thread_track || !tl->calls_track || !tl->gpu_track)
    return nai_err_nomem(err);
  memset(tl->call_row, NAI_CALL_LEFT_OUT, (size_t)m->apis.n + 1);
  NAI_TRY(nai_timeline_number(tl, err));
  return nai_labels_open(tl, err);
}

int nai_timeline_write(struct nai_timeline *tl, struct nai_timeline_writer *writer, struct nai_err *err) {
  const struct nai_model *m = tl->m;
  const struct nai_export_options *o = tl->options;
  tl->writer = writer;
  count_flows(tl);
  for (uint32_t i = 0; i < m->lanes.count && !tl->oom; i++)
    if (lane_shown(tl, &m->lanes.v[i]))
      write_lane(tl, &m->lanes.v[i]);
  for (uint32_t g = 0; g < m->gpu_count && m->idle && !tl->oom; g++)
    if (o->gpu == INT64_MIN || o->gpu == m->gpus[g].device_id)
      nai_timeline_idle(tl, g);
  if (!(tl->oom || o->no_ranges))
    NAI_TRY(nai_timeline_marks(tl, err));
  NAI_TRY(nai_timeline_metrics(tl, err));
  if (tl->oom)
    return nai_err_nomem(err);
  if (!tl->events && o->start_ns != INT64_MIN)
    return nai_err_set(err, NAI_EUSAGE,
                       "no GPU work, CUDA call or range lies in that time; nsys-ai probe TRACE prints where they are");
  return NAI_OK;
}

void nai_timeline_free(struct nai_timeline *tl) {
  uint32_t *const maps[] = {tl->kernel_name, tl->kernel_value,  tl->api_name,     tl->range_name,  tl->grid,
                            tl->block,       tl->process_track, tl->thread_track, tl->calls_track, tl->gpu_track};
  nai_strings_free(&tl->names);
  nai_strings_free(&tl->categories);
  nai_strings_free(&tl->values);
  for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
    free(maps[i]);
  free(tl->short_names);
  free(tl->call_ops);
  free(tl->call_row);
  free(tl->pid);
  free(tl->tid);
}
