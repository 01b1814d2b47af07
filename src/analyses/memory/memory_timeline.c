/* How much memory was in use when? Table memory_timeline: few enough points to draw, with every extreme exact. */
#include "analyses/memory/memory_timeline.h"

#include "tables/memory_timeline.h"

#include <stdlib.h>

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

static void put_point(struct nai_table *table, const struct nai_model *m, const struct nai_memory_track *track,
                      struct walk *w, uint32_t i) {
  const struct nai_memory_point *p = &track->points[i];
  int64_t row = nai_table_add_row(table);
  nai_memory_put_place(table, row, MEMORY_TIMELINE_pid, MEMORY_TIMELINE_device_id, MEMORY_TIMELINE_memory_kind,
                       MEMORY_TIMELINE_memory_kind_id, m, &track->uses[p->use]);
  nai_set_i64(table, row, MEMORY_TIMELINE_point, ++w->written);
  nai_set_i64(table, row, MEMORY_TIMELINE_time_ns, p->time);
  nai_set_i64(table, row, MEMORY_TIMELINE_live_bytes, p->used);
  nai_set_i64(table, row, MEMORY_TIMELINE_reserved_bytes, p->held);
}

static int by_number(const void *pa, const void *pb) {
  uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
  return (a > b) - (a < b);
}

static void close_stretch(struct nai_table *table, const struct nai_model *m, const struct nai_memory_track *track,
                          struct walk *w) {
  qsort(w->kept, KEPT, sizeof *w->kept, by_number);
  for (int i = 0; i < KEPT; i++)
    if (i == 0 || w->kept[i] != w->kept[i - 1])
      put_point(table, m, track, w, w->kept[i]);
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

int nai_memory_timeline_put(struct nai_table *table, const struct nai_model *m, const struct nai_memory_track *track,
                            struct nai_err *err) {
  uint32_t stretches = track->use_count ? ALL_STRETCHES / track->use_count : 0;
  struct walk *walks = calloc((size_t)track->use_count + 1, sizeof *walks);
  if (!walks)
    return nai_err_nomem(err);
  stretches = stretches > MAX_STRETCHES ? MAX_STRETCHES : stretches;
  stretches = stretches < FEWEST_STRETCHES ? FEWEST_STRETCHES : stretches;
  measure(walks, track);
  for (uint32_t i = 0; i < track->point_count; i++) {
    const struct nai_memory_point *p = &track->points[i];
    struct walk *w = &walks[p->use];
    if (w->count <= KEPT * stretches) {
      put_point(table, m, track, w, i);
      continue;
    }
    uint32_t stretch = stretch_of(w, p->time, stretches);
    if (w->open && stretch != w->stretch)
      close_stretch(table, m, track, w);
    w->stretch = stretch;
    keep(w, track->points, i);
  }
  for (uint32_t u = 0; u < track->use_count; u++)
    if (walks[u].open)
      close_stretch(table, m, track, &walks[u]);
  free(walks);
  return NAI_OK;
}
