/* What lies on a timeline beside lanes: marks, MPI calls, idle gaps, sampled metrics. */
#include "features/export/timeline.h"

#include "base/sort.h"
#include "model/idle/idle.h"
#include "tables/gpu_metric_names.h"
#include "tables/gpu_metric_samples.h"
#include "tables/mpi_events.h"

int nai_timeline_marks(struct nai_timeline *tl, struct nai_err *err) {
  const struct nai_model *m = tl->m;
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  struct nai_groups groups = {0};
  struct nai_track_slice s;
  uint32_t n = 0, count = 0, *rows;
  int32_t *threads;
  for (uint32_t i = 0; i < m->nvtx.n; i++)
    n += nai_at(&m->nvtx.kind, i) == NAI_NVTX_MARK;
  NAI_TRY(NAI_NEW(rows, &arena, n, err));
  NAI_TRY(NAI_NEW(threads, &arena, n, err));
  for (uint32_t i = 0; i < m->nvtx.n; i++)
    if (nai_at(&m->nvtx.kind, i) == NAI_NVTX_MARK) {
      threads[count] = nai_at_i32(&m->nvtx.thread, i);
      rows[count++] = i;
    }
  struct nai_column of = nai_column_of_i32(threads);
  NAI_TRY(nai_groups_collect(&groups, n, &of, m->thread_count, &arena, err));
  for (uint32_t t = 0; t < m->thread_count; t++)
    for (uint32_t i = groups.first[t]; i < groups.first[t + 1]; i++) {
      if (!nai_timeline_cut(&s, tl, NAI_LANE_NVTX, rows[groups.order[i]]))
        continue;
      struct nai_track track = nai_timeline_thread(tl, t);
      nai_labels_name(tl, &s);
      tl->events++;
      tl->writer->instant(tl->writer, &track, &s);
    }
  return NAI_OK;
}

struct mpi_call {
  int64_t thread, start, end, row;
};
NAI_ORDER(by_thread, struct mpi_call, {a->thread, b->thread}, {a->start, b->start}, {b->end, a->end}, {a->row, b->row})

/* A thread is in one call at a time: further rows of it are those of its requests. */
int nai_timeline_mpi(struct nai_timeline *tl, struct nai_err *err) {
  const struct nai_table *t = tl->m->tables[NAI_IN_MPI];
  const struct nai_export_options *o = tl->options;
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  struct nai_track track = {0};
  struct mpi_call *calls;
  size_t n = 0;
  if (!t || !t->rows)
    return NAI_OK;
  NAI_TRY(NAI_NEW(calls, &arena, (size_t)t->rows, err));
  for (int64_t i = 0; i < t->rows; i++) {
    struct MPI_EVENTS_row row = MPI_EVENTS_at(t, i);
    if (row.thread >= 0 && row.end_ns > row.start_ns && row.start_ns < o->end_ns && row.end_ns > o->start_ns &&
        row.end_ns - row.start_ns >= o->min_ns)
      calls[n++] = (struct mpi_call){row.thread, row.start_ns, row.end_ns, i};
  }
  qsort(calls, n, sizeof *calls, by_thread);
  uint32_t category = nai_labels_add(tl, &tl->categories, "mpi");
  for (size_t i = 0, last = 0; i < n; i++) {
    bool first = !i || calls[i].thread != calls[last].thread;
    struct nai_track_slice s = {.bare = true, .call = NAI_NO_ROW, .category = category};
    if (!first && calls[i].start < calls[last].end)
      continue;
    if (first) {
      uint32_t parent = nai_timeline_thread(tl, (uint32_t)calls[i].thread).number;
      track = nai_timeline_host(tl, NAI_TRACK_HOST, (uint32_t)calls[i].thread, "MPI");
      track.parent = parent;
      track = nai_timeline_announce(tl, track);
    }
    last = i;
    s.start = calls[i].start < o->start_ns ? o->start_ns : calls[i].start;
    s.end = calls[i].end > o->end_ns ? o->end_ns : calls[i].end;
    s.name = nai_labels_add(tl, &tl->names, nai_get_str(t, calls[i].row, MPI_EVENTS_name));
    tl->events++;
    tl->writer->begin(tl->writer, &track, &s);
    tl->writer->end(tl->writer, &track, s.end);
  }
  return NAI_OK;
}

void nai_timeline_idle(struct nai_timeline *tl, uint32_t gpu) {
  const struct nai_model *m = tl->m;
  const struct nai_export_options *o = tl->options;
  struct nai_track track = {0};
  uint32_t category = nai_labels_add(tl, &tl->categories, "idle");
  for (struct nai_idle_gap gap = nai_idle_first(gpu); nai_idle_next(&gap, m);) {
    struct nai_track_slice s = {.kind = NAI_LANE_GRAPH, .bare = true, .call = NAI_NO_ROW, .category = category};
    s.start = gap.start < o->start_ns ? o->start_ns : gap.start;
    s.end = gap.end > o->end_ns ? o->end_ns : gap.end;
    if (s.end <= s.start || gap.end - gap.start < o->min_ns)
      continue;
    if (!track.number)
      track = nai_timeline_announce(tl, (struct nai_track){.kind = NAI_TRACK_DEVICE,
                                                           .parent = nai_timeline_gpu(tl, gpu),
                                                           .name = "idle gaps",
                                                           .gpu = gpu});
    s.name = nai_labels_add(tl, &tl->names, nai_idle_cause_name((enum nai_idle_cause)m->idle[gpu].cause[gap.number]));
    tl->writer->begin(tl->writer, &track, &s);
    tl->writer->end(tl->writer, &track, s.end);
  }
}

int nai_timeline_metrics(struct nai_timeline *tl, struct nai_err *err) {
  const struct nai_table *samples = tl->m->tables[NAI_IN_GPU_METRIC_SAMPLES],
                         *names = tl->m->tables[NAI_IN_GPU_METRICS];
  const struct nai_export_options *o = tl->options;
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  struct nai_groups groups = {0};
  struct nai_track root = {.kind = NAI_TRACK_METRICS, .name = "GPU metrics", .rank = tl->m->gpu_count};
  if (!samples || !names || !samples->rows)
    return NAI_OK;
  const struct nai_column metric = nai_table_column(samples, GPU_METRIC_SAMPLES_metric),
                          time = nai_table_column(samples, GPU_METRIC_SAMPLES_time_ns),
                          value = nai_table_column(samples, GPU_METRIC_SAMPLES_value);
  NAI_TRY(nai_groups_collect(&groups, (uint32_t)samples->rows, &metric, (uint32_t)names->rows, &arena, err));
  root = nai_timeline_announce(tl, root);
  for (uint32_t g = 0; g < (uint32_t)names->rows; g++) {
    struct nai_track track = {.kind = NAI_TRACK_COUNTER, .parent = root.number};
    track.name = nai_arena_printf(&arena, "%s (GPU %lld)", nai_get_str(names, g, GPU_METRIC_NAMES_metric_name),
                                  (long long)nai_get_i64(names, g, GPU_METRIC_NAMES_gpu_id));
    track = groups.first[g] < groups.first[g + 1] ? nai_timeline_announce(tl, track) : track;
    for (uint32_t i = groups.first[g]; i < groups.first[g + 1]; i++) {
      uint32_t row = groups.order[i];
      int64_t at = nai_at(&time, row);
      if (at >= o->start_ns && at < o->end_ns && nai_at(&value, row) != NAI_NULL_I64)
        tl->writer->counter(tl->writer, &track, at, (double)nai_at(&value, row));
    }
  }
  return nai_arena_check(&arena, err);
}
