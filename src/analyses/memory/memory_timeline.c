/* How much memory was in use when? Table memory_timeline: few enough points to draw, with every extreme exact. */
#include "analyses/analysis.h"
#include "base/sort.h"
#include "model/memory/memory_track.h"
#include "tables/memory_timeline.h"

/* Stretches of equal length per use, of whose points the extremes are kept; fewer where there are many uses. */
enum { MAX_STRETCHES = 256, FEWEST_STRETCHES = 16, ALL_STRETCHES = 8192 };

/* Points that stand for a stretch, by their number; some may be the same. */
enum { FIRST, LOWEST_LIVE, HIGHEST_LIVE, LOWEST_HELD, HIGHEST_HELD, LAST, KEPT };

/* One use's way through its points. */
struct walk {
  int64_t from, until, written; /* time of its first and last point; points in the table */
  uint32_t count, stretch, kept[KEPT];
  bool open; /* whether `kept` holds points */
};

static void put_point(const struct nai_node_io *io, struct walk *w, uint32_t i) {
  const struct nai_memory_point *p = &io->model->memory->points[i];
  const struct nai_memory_use *use = &io->model->memory->uses[p->use];
  NAI_ADD(MEMORY_TIMELINE, io->out[0], .pid = use->pid, .device_id = use->device_id, .memory_kind = use->kind,
          .memory_kind_id = use->kind_id, .point = ++w->written, .time_ns = p->time, .live_bytes = p->used,
          .reserved_bytes = p->held);
}

NAI_ORDER_BY(by_number, uint32_t, NAI_SIGN(*a, *b))

static void close_stretch(const struct nai_node_io *io, struct walk *w) {
  qsort(w->kept, KEPT, sizeof *w->kept, by_number);
  for (int i = 0; i < KEPT; i++)
    if (i == 0 || w->kept[i] != w->kept[i - 1])
      put_point(io, w, w->kept[i]);
  w->open = false;
}

/* Of equal extremes the first. */
static void keep(struct walk *w, const struct nai_memory_point *points, uint32_t i) {
  const struct nai_memory_point *p = &points[i];
  for (int k = 0; !w->open && k < KEPT; k++)
    w->kept[k] = i;
  w->open = true;
  w->kept[LAST] = i;
  if (p->used < points[w->kept[LOWEST_LIVE]].used)
    w->kept[LOWEST_LIVE] = i;
  if (p->used > points[w->kept[HIGHEST_LIVE]].used)
    w->kept[HIGHEST_LIVE] = i;
  if (p->held < points[w->kept[LOWEST_HELD]].held)
    w->kept[LOWEST_HELD] = i;
  if (p->held > points[w->kept[HIGHEST_HELD]].held)
    w->kept[HIGHEST_HELD] = i;
}

static void measure(struct walk *walks, const struct nai_memory_track *track) {
  for (uint32_t i = 0; i < track->point_count; i++) {
    struct walk *w = &walks[track->points[i].use];
    w->from = w->count++ ? w->from : track->points[i].time;
    w->until = track->points[i].time;
  }
}

static uint32_t stretch_of(const struct walk *w, int64_t time, uint32_t stretches) {
  double part = ((double)time - (double)w->from) / ((double)w->until - (double)w->from + 1);
  uint32_t stretch = (uint32_t)(part * stretches);
  return stretch < stretches ? stretch : stretches - 1;
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_memory_track *track = io->model->memory;
  uint32_t stretches = track->use_count ? ALL_STRETCHES / track->use_count : 0;
  struct walk *walks;
  NAI_TRY(NAI_NEW(walks, io->arena, track->use_count, err));
  stretches = stretches > MAX_STRETCHES ? MAX_STRETCHES : stretches;
  stretches = stretches < FEWEST_STRETCHES ? FEWEST_STRETCHES : stretches;
  measure(walks, track);
  for (uint32_t i = 0; i < track->point_count; i++) {
    const struct nai_memory_point *p = &track->points[i];
    struct walk *w = &walks[p->use];
    if (w->count <= KEPT * stretches) {
      put_point(io, w, i);
      continue;
    }
    uint32_t stretch = stretch_of(w, p->time, stretches);
    if (w->open && stretch != w->stretch)
      close_stretch(io, w);
    w->stretch = stretch;
    keep(w, track->points, i);
  }
  for (uint32_t u = 0; u < track->use_count; u++)
    if (walks[u].open)
      close_stretch(io, &walks[u]);
  return NAI_OK;
}

NAI_ANALYSIS(memory_timeline, .outputs = NAI_SCHEMAS(&nai_memory_timeline_schema), .parts = NAI_PART(MEMORY),
             .run = run)
