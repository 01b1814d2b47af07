/* What is on a timeline, in the order of the model's lanes. */
#include "features/export/timeline.h"
#include "model/calls/stream_info.h"

#include "tables/gpu_metric_samples.h"

/* --- rows of a lane ---------------------------------------------------------------------------------- */

struct rows {
  struct nai_arena *arena;
  struct nai_track like; /* what further rows are */
  struct nai_track *v;
  uint32_t count, capacity;
  struct nai_layout layout;
  int64_t *open; /* ends of the slices open in the first row, where they nest */
  uint32_t depth, open_capacity;
};

static int add_row(struct rows *rows, struct nai_track track, struct nai_err *err) {
  NAI_TRY(NAI_ROOM(rows->v, rows->capacity, rows->count, rows->arena, err));
  rows->v[rows->count++] = track;
  return NAI_OK;
}

static int open_row(struct nai_timeline *tl, struct rows *rows, uint32_t row, struct nai_err *err) {
  return row < rows->count ? NAI_OK : add_row(rows, nai_timeline_announce(tl, rows->like), err);
}

/* In the first row it fits into, from row `first` on. */
static int put_flat(uint32_t *row, struct nai_timeline *tl, struct rows *rows, const struct nai_track_slice *s,
                    uint32_t first, struct nai_err *err) {
  NAI_TRY(nai_layout_place(row, &rows->layout, s->start, s->end, err));
  *row += first;
  NAI_TRY(open_row(tl, rows, *row, err));
  tl->writer->begin(tl->writer, &rows->v[*row], s);
  tl->writer->end(tl->writer, &rows->v[*row], s->end);
  return NAI_OK;
}

static void close_until(struct nai_timeline *tl, struct rows *rows, int64_t at) {
  while (rows->depth && rows->open[rows->depth - 1] <= at)
    tl->writer->end(tl->writer, &rows->v[0], rows->open[--rows->depth]);
}

/* In the first row, or, when it would cross a slice there, in another. */
static int put_nested(uint32_t *row, struct nai_timeline *tl, struct rows *rows, const struct nai_track_slice *s,
                      struct nai_err *err) {
  close_until(tl, rows, s->start);
  if (rows->depth && s->end > rows->open[rows->depth - 1])
    return put_flat(row, tl, rows, s, 1, err);
  *row = 0;
  NAI_TRY(open_row(tl, rows, 0, err));
  NAI_TRY(NAI_ROOM(rows->open, rows->open_capacity, rows->depth, rows->arena, err));
  tl->writer->begin(tl->writer, &rows->v[0], s);
  rows->open[rows->depth++] = s->end;
  return NAI_OK;
}

/* --- what is shown ----------------------------------------------------------------------------------- */

static bool lane_shown(const struct nai_timeline *tl, const struct nai_lane *lane) {
  const struct nai_export_options *o = tl->options;
  bool ranges = lane->kind == NAI_LANE_NVTX || lane->kind == NAI_LANE_NVTX_ASYNC;
  if (lane->kind == NAI_LANE_API)
    return !o->no_calls;
  return ranges ? !o->no_ranges : o->gpu == INT64_MIN || o->gpu == lane->gpu;
}

/* Counts the operations that each call will have a flow to. */
static void count_flows(struct nai_timeline *tl) {
  const struct nai_model *m = tl->m;
  struct nai_track_slice s;
  for (uint32_t l = 0; l < m->lanes.count && !tl->options->no_flows && !tl->options->no_calls; l++) {
    const struct nai_lane *lane = &m->lanes.v[l];
    if (lane->thread >= 0 || !lane_shown(tl, lane))
      continue;
    for (uint32_t i = 0; i < lane->count; i++) {
      uint32_t call = nai_lane_call(m, lane->kind, lane->rows[i]);
      if (call != NAI_NO_ROW && tl->call_ops[call] < 2 && nai_timeline_cut(&s, tl, lane->kind, lane->rows[i]) &&
          nai_timeline_cut(&s, tl, NAI_LANE_API, call))
        tl->call_ops[call]++;
    }
  }
}

/* --- lanes ------------------------------------------------------------------------------------------- */

static const char *name_of_stream(struct nai_arena *arena, const struct nai_timeline *tl, const struct nai_lane *lane) {
  static const char *const kinds[] = {[NAI_LANE_KERNEL] = "kernels",
                                      [NAI_LANE_COPY] = "copies",
                                      [NAI_LANE_SET] = "memsets",
                                      [NAI_LANE_GRAPH] = "graphs"};
  struct nai_stream_info info = nai_stream_info_of(tl->m, lane->process, lane->context, lane->stream);
  const char *stream = lane->stream < 0 ? "other streams" : nai_arena_printf(arena, "stream %d", lane->stream);
  if (lane->stream >= 0 && info.name)
    stream = nai_arena_printf(arena, "%s (%s)", stream, info.name);
  if (lane->stream >= 0 && info.priority != NAI_NULL_I64 && info.priority)
    stream = nai_arena_printf(arena, "%s \u00b7 priority %lld", stream, (long long)info.priority);
  const char *context = lane->context < 0 ? "" : nai_arena_printf(arena, " \u00b7 context %d", lane->context);
  int32_t pid = tl->pid[lane->process < 0 ? tl->m->process_count : (uint32_t)lane->process];
  return nai_arena_printf(arena, "%s \u00b7 %s \u00b7 pid %d%s", stream, kinds[lane->kind], pid, context);
}

/* What the rows of a lane are; a lane of push/pop ranges begins on the track of its thread. */
static int plan_rows(struct rows *rows, struct nai_timeline *tl, const struct nai_lane *lane, struct nai_err *err) {
  uint32_t thread = (uint32_t)lane->thread;
  if (lane->thread < 0) {
    uint32_t gpu = nai_model_gpu_index(tl->m, lane->gpu);
    rows->like = (struct nai_track){.kind = NAI_TRACK_DEVICE,
                                    .parent = nai_timeline_gpu(tl, gpu),
                                    .name = name_of_stream(rows->arena, tl, lane),
                                    .gpu = gpu,
                                    .rank = (uint32_t)(lane - tl->m->lanes.v) + 1};
    return nai_arena_check(rows->arena, err);
  }
  const char *what = lane->kind == NAI_LANE_API  ? "CUDA API"
                   : lane->kind == NAI_LANE_NVTX ? "ranges that cross others"
                                                 : "start/end ranges";
  struct nai_track first = nai_timeline_thread(tl, thread);
  rows->like = nai_timeline_host(tl, NAI_TRACK_HOST, thread, what);
  rows->like.parent = first.number;
  return lane->kind == NAI_LANE_NVTX ? add_row(rows, first, err) : NAI_OK;
}

static int put_event(struct nai_timeline *tl, struct rows *rows, const struct nai_lane *lane, struct nai_track_slice *s,
                     struct nai_err *err) {
  bool nested = lane->kind == NAI_LANE_API || lane->kind == NAI_LANE_NVTX;
  uint32_t call = lane->kind == NAI_LANE_API ? s->row : nai_lane_call(tl->m, s->kind, s->row), row;
  if (call != NAI_NO_ROW && tl->call_ops[call] &&
      (lane->kind == NAI_LANE_API || tl->call_row[call] != NAI_CALL_LEFT_OUT))
    s->call = call;
  nai_labels_name(tl, s);
  tl->events++;
  NAI_TRY(nested ? put_nested(&row, tl, rows, s, err) : put_flat(&row, tl, rows, s, 0, err));
  if (lane->kind != NAI_LANE_API)
    return NAI_OK;
  tl->call_row[s->row] = row < NAI_CALL_LEFT_OUT ? (uint8_t)row : NAI_CALL_LEFT_OUT;
  tl->calls_track[lane->thread] = rows->v[0].number;
  return NAI_OK;
}

static int write_lane(struct nai_timeline *tl, const struct nai_lane *lane, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  struct rows rows = {.arena = &arena, .layout = {.arena = &arena}};
  struct nai_track_slice s;
  bool planned = false;
  for (uint32_t i = 0; i < lane->count; i++) {
    bool shown = nai_timeline_cut(&s, tl, lane->kind, lane->rows[i]);
    if (s.start >= tl->options->end_ns)
      break;
    if (!shown)
      continue;
    if (!planned)
      NAI_TRY(plan_rows(&rows, tl, lane, err));
    planned = true;
    NAI_TRY(put_event(tl, &rows, lane, &s, err));
  }
  close_until(tl, &rows, INT64_MAX);
  if (tl->writer->complete)
    tl->writer->complete(tl->writer);
  return nai_arena_check(&tl->arena, err);
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

static int open_sites(struct nai_timeline *tl, struct nai_err *err) {
  const struct nai_model *m = tl->m;
  if (!m->tables[NAI_IN_CALLCHAINS] || !m->tables[NAI_IN_GRAPH_NODES] || !nai_call_stacks_any(m))
    return NAI_OK;
  NAI_TRY(nai_call_stacks_open(&tl->stacks, m, &tl->arena, err));
  NAI_TRY(nai_graph_nodes_new(&tl->nodes, m, err));
  return NAI_NEW(tl->site_value, &tl->arena, tl->stacks.site_count, err);
}

int nai_timeline_open(struct nai_timeline *tl, const struct nai_model *m, const struct nai_export_options *options,
                      struct nai_err *err) {
  *tl = (struct nai_timeline){.m = m, .options = options, .arena = NAI_ARENA(NULL)};
  int64_t first = first_event(m);
  tl->first_ns = options->start_ns > first ? options->start_ns : first;
  NAI_TRY(NAI_NEW(tl->call_ops, &tl->arena, m->apis.n, err));
  NAI_TRY(NAI_NEW(tl->call_row, &tl->arena, m->apis.n, err));
  NAI_TRY(NAI_NEW(tl->calls_track, &tl->arena, m->thread_count, err));
  memset(tl->call_row, NAI_CALL_LEFT_OUT, m->apis.n);
  NAI_TRY(nai_tracks_open(tl, err));
  NAI_TRY(open_sites(tl, err));
  return nai_labels_open(tl, err);
}

int nai_timeline_write(struct nai_timeline *tl, struct nai_timeline_writer *writer, struct nai_err *err) {
  const struct nai_model *m = tl->m;
  const struct nai_export_options *o = tl->options;
  tl->writer = writer;
  count_flows(tl);
  for (uint32_t i = 0; i < m->lanes.count; i++)
    if (lane_shown(tl, &m->lanes.v[i]))
      NAI_TRY(write_lane(tl, &m->lanes.v[i], err));
  if (!o->no_calls)
    NAI_TRY(nai_timeline_mpi(tl, err));
  for (uint32_t g = 0; g < m->gpu_count && m->idle; g++)
    if (o->gpu == INT64_MIN || o->gpu == m->gpus[g].device_id)
      nai_timeline_idle(tl, g);
  if (!o->no_ranges)
    NAI_TRY(nai_timeline_marks(tl, err));
  NAI_TRY(nai_timeline_metrics(tl, err));
  NAI_TRY(nai_arena_check(&tl->arena, err));
  if (!tl->events && o->start_ns != INT64_MIN)
    return nai_err_set(err, NAI_EUSAGE,
                       "no GPU work, CUDA call or range lies in that time; nsys-ai probe TRACE prints where they are");
  return NAI_OK;
}

void nai_timeline_free(struct nai_timeline *tl) {
  nai_strings_free(&tl->names);
  nai_strings_free(&tl->categories);
  nai_strings_free(&tl->values);
  nai_call_stacks_free(&tl->stacks);
  nai_graph_nodes_free(&tl->nodes);
  nai_arena_free(&tl->arena);
  free(tl->short_names);
}
