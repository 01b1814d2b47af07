/* Timelines of compare.html, from the event tables that runs keep: no trace is opened. */
#include "features/compare/timeline.h"
#include "features/compare/internal.h"

#include "viewer/slice.h"
#include "tables/viewer_data.h"
#include "viewer/viewer.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- which capture, which step ---------------------------------------------------------------- */

struct ranked {
  double value;
  uint32_t capture;
};

static int by_value(const void *pa, const void *pb) {
  const struct ranked *a = pa, *b = pb;
  return a->value != b->value ? (a->value < b->value ? -1 : 1) : (a->capture > b->capture) - (a->capture < b->capture);
}

/* What captures are ranked by: the median step, or how long the GPUs worked. */
static double length_of(const struct nai_capture *capture, bool by_step) {
  const struct nai_table *metrics = nai_capture_table(capture, "metrics");
  for (int64_t row = 0; by_step && metrics && row < metrics->rows; row++)
    if (strcmp(nai_cell_str(metrics, row, "metric"), "step.time.median") == 0)
      return nai_cell_f64(metrics, row, "value");
  return (double)nai_capture_cell(capture, "run_info", "window_ns");
}

static int choose_capture(uint32_t *out, const struct nai_comparison *c, enum nai_side_id side, struct nai_err *err) {
  const struct nai_side *s = &c->sides[side];
  struct ranked *list = malloc(((size_t)s->count + 1) * sizeof *list);
  if (!list)
    return nai_err_nomem(err);
  for (uint32_t i = 0; i < s->count; i++) {
    double value = length_of(&s->captures[i], c->by_step);
    list[i] = (struct ranked){isnan(value) ? 0 : value, i};
  }
  qsort(list, s->count, sizeof *list, by_value);
  *out = list[(s->count - 1) / 2].capture;
  free(list);
  return NAI_OK;
}

static bool is_steady(const struct nai_table *steps, int64_t row, int64_t device) {
  return strcmp(nai_cell_str(steps, row, "state"), "steady") == 0 && nai_cell_i64(steps, row, "device_id") == device &&
         nai_cell_i64(steps, row, "gpu_start_ns") != NAI_NULL_I64 &&
         nai_cell_i64(steps, row, "gpu_end_ns") != NAI_NULL_I64;
}

/* The step of the first GPU with steady ones whose length is in the middle: of two the shorter, of equals the first. */
static int choose_step(struct nai_pair_timeline *out, const struct nai_capture *capture, struct nai_err *err) {
  const struct nai_table *steps = nai_capture_table(capture, "steps");
  int64_t device = INT64_MAX;
  uint32_t n = 0;
  for (int64_t row = 0; steps && row < steps->rows; row++) {
    int64_t id = nai_cell_i64(steps, row, "device_id");
    if (id < device && is_steady(steps, row, id))
      device = id;
  }
  out->step = -1;
  out->step_start = out->step_end = nai_capture_cell(capture, "run_info", "window_start_ns");
  if (device == INT64_MAX)
    return NAI_OK;
  struct ranked *list = malloc((size_t)steps->rows * sizeof *list);
  if (!list)
    return nai_err_nomem(err);
  for (int64_t row = 0; row < steps->rows && row < UINT32_MAX; row++)
    if (is_steady(steps, row, device))
      list[n++] = (struct ranked){nai_cell_f64(steps, row, "duration_ns"), (uint32_t)row};
  qsort(list, n, sizeof *list, by_value);
  int64_t row = list[(n - 1) / 2].capture;
  free(list);
  out->device_id = (int32_t)device;
  out->step = nai_cell_i64(steps, row, "step");
  out->step_start = nai_cell_i64(steps, row, "gpu_start_ns");
  out->step_end = nai_cell_i64(steps, row, "gpu_end_ns");
  return NAI_OK;
}

/* --- events ----------------------------------------------------------------------------------- */

/* Opens what the page's model reads. */
static int open_events(struct nai_table *tables[NAI_IN_COUNT], struct nai_run *run, struct nai_err *err) {
  uint64_t wanted = NAI_VIEWER_TABLES | nai_parts_tables(nai_parts_needed(NAI_VIEWER_PARTS));
  const struct nai_table *table;
  int rc = NAI_OK;
  for (int i = 0; !rc && i < NAI_IN_COUNT; i++) {
    if (wanted & NAI_IN_BIT(i))
      rc = nai_run_table(&table, run, nai_event_tables[i]->name, nai_event_tables[i], err);
    tables[i] = nai_run_find_loaded(run, nai_event_tables[i]->name);
  }
  return rc;
}

static const struct nai_table *look_up(void *slice, const char *name) {
  for (int i = 0; i < NAI_IN_COUNT; i++)
    if (strcmp(nai_event_tables[i]->name, name) == 0)
      return ((struct nai_slice *)slice)->tables[i];
  return NULL;
}

/* Tables from files may hold anything, and refer to rows that are not there; of long ones only what was taken matters.
 */
static int check_rows(struct nai_slice *slice, struct nai_err *err) {
  int rc = NAI_OK;
  for (int i = 0; !rc && i < NAI_IN_COUNT; i++)
    if (slice->tables[i])
      rc = nai_table_check_refs(slice->tables[i], look_up, slice, err);
  for (int i = 0; !rc && i < NAI_IN_COUNT; i++)
    if (slice->tables[i])
      rc = nai_table_check_cells(slice->tables[i], err);
  return rc;
}

static int encode(struct nai_pair_timeline *out, struct nai_run *run, const struct nai_slice *slice,
                  struct nai_err *err) {
  struct nai_kernel_classes *classes = NULL;
  struct nai_model model;
  int rc = nai_kernel_classes_load(&classes, NULL, err);
  if (!rc)
    rc = nai_run_tell_classes(classes, run, err);
  if (rc) {
    nai_kernel_classes_free(classes);
    return rc;
  }
  const struct nai_model_options options = {.classes = classes, .page_events = INT_MAX, .worker_count = 1};
  nai_model_open(&model, slice->tables, &options);
  rc = nai_model_build(&model, NAI_VIEWER_PARTS, err);
  if (!rc)
    rc = nai_viewer_data(&out->blocks, &model, NULL, 0, err);
  nai_model_free(&model);
  nai_kernel_classes_free(classes);
  return rc;
}

static int set_missing(struct nai_pair_timeline *out, const struct nai_err *why, struct nai_err *err) {
  out->missing = strdup(why->msg);
  return out->missing ? NAI_OK : nai_err_nomem(err);
}

static int make_blocks(struct nai_pair_timeline *out, struct nai_run *run, struct nai_table *const tables[NAI_IN_COUNT],
                       struct nai_err *err) {
  struct nai_slice slice = {.whole = true};
  struct nai_err why;
  int rc = nai_slice_find(&out->begin, &out->end, tables, out->step_start, out->step_end, NAI_PAIR_EVENTS, err);
  if (!rc)
    rc = nai_slice_new(&slice, tables, out->begin, out->end, err);
  if (!rc && check_rows(&slice, &why))
    rc = set_missing(out, &why, err);
  else if (!rc)
    rc = encode(out, run, &slice, err);
  nai_slice_free(&slice);
  return rc;
}

int nai_pair_timeline_make(struct nai_pair_timeline *out, const struct nai_comparison *c, enum nai_side_id side,
                           struct nai_err *err) {
  struct nai_table *tables[NAI_IN_COUNT] = {0};
  struct nai_err why;
  *out = (struct nai_pair_timeline){0};
  int rc = choose_capture(&out->capture, c, side, err);
  const struct nai_capture *capture = &c->sides[side].captures[out->capture];
  if (!rc)
    rc = choose_step(out, capture, err);
  if (rc)
    return rc;
  int failed = open_events(tables, capture->run, &why);
  if (!failed)
    failed = nai_page_tables_open(capture->run, &why);
  if (failed == NAI_ELIMIT) /* nothing is wrong with the run */
    return nai_err_set(err, failed, "%s", why.msg);
  if (failed)
    return set_missing(out, &why, err);
  return make_blocks(out, capture->run, tables, err);
}

void nai_pair_timeline_free(struct nai_pair_timeline *timeline) {
  nai_table_free(timeline->blocks);
  free(timeline->missing);
}

const char *nai_pair_timeline_block(const struct nai_pair_timeline *timeline, const char *name) {
  const struct nai_table *t = timeline->blocks;
  for (int64_t row = 0; t && row < t->rows; row++)
    if (strcmp(nai_get_str(t, row, VIEWER_DATA_block), name) == 0)
      return nai_get_str(t, row, VIEWER_DATA_text);
  return "";
}
