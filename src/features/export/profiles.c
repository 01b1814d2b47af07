/* Rows of the timeline as evented profiles of speedscope: what opens and closes on each, by number of its frame. */
#include "features/export/timeline.h"

#include "base/array.h"
#include "table/json.h"

/* A row whose profile is being gathered: rows of one lane come mixed. */
struct row {
  uint32_t track;
  const char *name;
  struct nai_buf events;
  uint32_t *open, depth, capacity; /* frames of the slices that are open */
  int64_t last;                    /* the latest time written */
};

struct profiles {
  struct nai_timeline_writer writer; /* its first member */
  struct nai_timeline *tl;
  const struct nai_export_profiles *into;
  const char **names; /* of tracks, by number - 1 */
  uint32_t name_capacity;
  struct row *rows;
  uint32_t row_count, row_capacity;
};

static void put_row(struct profiles *p, struct row *row) {
  struct nai_json *json = p->into->json;
  nai_json_begin_object(json, NAI_JSON_INLINE);
  nai_json_put_text(json, "type", "evented");
  nai_json_put_text(json, "name", row->name);
  nai_json_put_text(json, "unit", "nanoseconds");
  nai_json_put_int(json, "startValue", 0);
  nai_json_put_int(json, "endValue", row->last);
  nai_json_key(json, "events");
  nai_buf_putc(&row->events, ']');
  nai_json_decimal(json, nai_buf_str(&row->events)); /* a value that is printed already */
  nai_json_end(json);
}

/* Everything gathered is complete. */
static void flush_rows(struct nai_timeline_writer *writer) {
  struct profiles *p = (struct profiles *)writer;
  for (uint32_t i = 0; i < p->row_count; i++) {
    struct row *row = &p->rows[i];
    p->tl->arena.oom |= row->events.oom;
    if (!p->tl->arena.oom)
      put_row(p, row);
    nai_buf_free(&row->events);
    free(row->open);
  }
  p->row_count = 0;
}

static void put_track(struct nai_timeline_writer *writer, const struct nai_track *track) {
  struct profiles *p = (struct profiles *)writer;
  struct nai_arena *arena = &p->tl->arena;
  struct nai_err ignored;
  if (NAI_ROOM(p->names, p->name_capacity, track->number, arena, &ignored)) {
    arena->oom = true;
    return;
  }
  p->names[track->number - 1] = track->kind == NAI_TRACK_THREAD ? nai_arena_printf(arena, "%s (pid %d, thread %d)",
                                                                                   track->name, track->pid, track->tid)
                                                                : nai_arena_printf(arena, "%s", track->name);
}

/* Of further rows of a thread, and of rows of a GPU, that is said first. */
static const char *name_of(const struct profiles *p, const struct nai_track *track) {
  const char *name = p->names[track->number - 1];
  return track->kind == NAI_TRACK_THREAD || !track->parent
           ? name
           : nai_arena_printf(&p->tl->arena, "%s \u00b7 %s", p->names[track->parent - 1], name);
}

/* NULL: out of memory. */
static struct row *row_of(struct profiles *p, const struct nai_track *track) {
  struct nai_err ignored;
  for (uint32_t i = 0; i < p->row_count; i++)
    if (p->rows[i].track == track->number)
      return &p->rows[i];
  if (p->tl->arena.oom || NAI_ROOM(p->rows, p->row_capacity, p->row_count, &p->tl->arena, &ignored)) {
    p->tl->arena.oom = true;
    return NULL;
  }
  struct row *row = &p->rows[p->row_count++];
  *row = (struct row){.track = track->number, .name = name_of(p, track)};
  nai_buf_putc(&row->events, '[');
  return row;
}

static void put_event(struct profiles *p, struct row *row, char what, uint32_t frame, int64_t at) {
  row->last = at - p->tl->first_ns;
  nai_buf_printf(&row->events, "%s{\"type\":\"%c\",\"frame\":%u,\"at\":%" PRId64 "}", row->events.len > 1 ? "," : "",
                 what, frame, row->last);
}

static void begin_slice(struct nai_timeline_writer *writer, const struct nai_track *track,
                        const struct nai_track_slice *s) {
  struct profiles *p = (struct profiles *)writer;
  const char *name = nai_strings_get(&p->tl->names, s->name);
  struct row *row = row_of(p, track);
  uint32_t frame = nai_strings_add(p->into->frames, name, strlen(name));
  if (!row || frame == NAI_NO_STRING || !nai_array_room(&row->open, &row->capacity, row->depth, sizeof *row->open)) {
    p->tl->arena.oom = true;
    return;
  }
  row->open[row->depth++] = frame;
  put_event(p, row, 'O', frame, s->start);
}

static void end_slice(struct nai_timeline_writer *writer, const struct nai_track *track, int64_t at) {
  struct profiles *p = (struct profiles *)writer;
  struct row *row = row_of(p, track);
  if (row && row->depth)
    put_event(p, row, 'C', row->open[--row->depth], at);
}

/* speedscope has neither. */
static void no_instant(struct nai_timeline_writer *writer, const struct nai_track *track,
                       const struct nai_track_slice *s) {
  (void)writer, (void)track, (void)s;
}
static void no_counter(struct nai_timeline_writer *writer, const struct nai_track *track, int64_t at, double value) {
  (void)writer, (void)track, (void)at, (void)value;
}

int nai_export_profiles(const struct nai_export_profiles *into, const struct nai_model *model,
                        const struct nai_export_options *options, struct nai_err *err) {
  NAI_SCOPED(nai_timeline) tl = {0};
  struct profiles p = {
      .writer = {put_track, begin_slice, end_slice, no_instant, no_counter, flush_rows}, .tl = &tl, .into = into};
  NAI_TRY(nai_timeline_open(&tl, model, options, err));
  int rc = nai_timeline_write(&tl, &p.writer, err);
  flush_rows(&p.writer);
  return rc;
}
