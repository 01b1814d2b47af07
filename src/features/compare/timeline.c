/* Timelines of compare.html, from the event tables that runs keep: no trace is opened. */
#include "features/compare/timeline.h"
#include "base/fs.h"
#include "base/sort.h"
#include "rundir/run.h"
#include "tables/metrics.h"
#include "tables/steps.h"
#include "tables/viewer_data.h"
#include "viewer/slice.h"
#include "viewer/viewer.h"

/* --- which capture, which step ---------------------------------------------------------------- */

struct ranked {
  double value;
  int64_t number; /* of a capture; row of a step */
};

NAI_ORDER_BY(by_value, struct ranked, NAI_SIGN(a->value, b->value), NAI_SIGN(a->number, b->number))

/* The one in the middle; of two the lower. */
static int64_t middle_of(struct ranked *list, uint32_t n) {
  qsort(list, n, sizeof *list, by_value);
  return list[(n - 1) / 2].number;
}

/* What captures are ranked by: the median step, or how long the GPUs worked. */
static double length_of(const struct nai_capture *capture, bool by_step) {
  const struct nai_table *metrics = nai_capture_table(capture, &nai_metrics_schema);
  int64_t row = by_step ? nai_find_str(metrics, METRICS_metric, "step.time.median") : -1;
  return row < 0 ? (double)nai_or_zero(nai_capture_info(capture).window_ns) : nai_get_f64(metrics, row, METRICS_value);
}

static int choose_capture(uint32_t *out, const struct nai_comparison *c, enum nai_side_id side, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  const struct nai_side *s = &c->sides[side];
  struct ranked *list;
  NAI_TRY(NAI_NEW(list, &arena, s->count, err));
  for (uint32_t i = 0; i < s->count; i++) {
    double value = length_of(&s->captures[i], c->by_step);
    list[i] = (struct ranked){isnan(value) ? 0 : value, i};
  }
  *out = (uint32_t)middle_of(list, s->count);
  return NAI_OK;
}

static bool is_steady(const struct STEPS_row *step) {
  return strcmp(step->state, "steady") == 0 && step->gpu_start_ns != NAI_NULL_I64 && step->gpu_end_ns != NAI_NULL_I64;
}

/* The step of the first GPU with steady ones whose length is in the middle: of two the shorter, of equals the first. */
static int choose_step(struct nai_pair_timeline *out, const struct nai_capture *capture, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  const struct nai_table *steps = nai_capture_table(capture, &nai_steps_schema);
  int64_t device = INT64_MAX;
  struct ranked *list;
  uint32_t n = 0;
  out->step = -1;
  out->step_start = out->step_end = nai_or_zero(nai_capture_info(capture).window_start_ns);
  NAI_TRY(NAI_NEW(list, &arena, (size_t)steps->rows, err));
  for (int64_t row = 0; row < steps->rows && row < UINT32_MAX; row++) {
    struct STEPS_row step = STEPS_at(steps, row);
    if (!is_steady(&step) || step.device_id > device)
      continue;
    n = step.device_id < device ? 0 : n;
    device = step.device_id;
    list[n++] = (struct ranked){step.duration_ns == NAI_NULL_I64 ? (double)NAN : (double)step.duration_ns, row};
  }
  if (!n)
    return NAI_OK;
  struct STEPS_row step = STEPS_at(steps, middle_of(list, n));
  out->device_id = (int32_t)device;
  out->step = step.step;
  out->step_start = step.gpu_start_ns;
  out->step_end = step.gpu_end_ns;
  return NAI_OK;
}

/* --- events ----------------------------------------------------------------------------------- */

/* Opens what the page's model reads. */
static int open_events(struct nai_table *tables[NAI_IN_COUNT], struct nai_run *run, struct nai_err *err) {
  uint64_t wanted = NAI_VIEWER_TABLES | nai_parts_tables(nai_parts_needed(NAI_VIEWER_PARTS));
  const struct nai_table *table;
  for (int i = 0; i < NAI_IN_COUNT; i++) {
    if (wanted & NAI_IN_BIT(i))
      NAI_TRY(nai_run_table(&table, run, nai_event_tables[i]->name, nai_event_tables[i], err));
    tables[i] = nai_run_find_loaded(run, nai_event_tables[i]->name);
  }
  return NAI_OK;
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
  for (int i = 0; i < NAI_IN_COUNT; i++)
    if (slice->tables[i])
      NAI_TRY(nai_table_check_refs(slice->tables[i], look_up, slice, err));
  for (int i = 0; i < NAI_IN_COUNT; i++)
    if (slice->tables[i])
      NAI_TRY(nai_table_check_cells(slice->tables[i], err));
  return NAI_OK;
}

static int encode(struct nai_pair_timeline *out, struct nai_run *run, const struct nai_slice *slice,
                  struct nai_err *err) {
  NAI_OWNED(nai_kernel_classes) *classes = NULL;
  NAI_TRY(nai_kernel_classes_load(&classes, NULL, err));
  NAI_TRY(nai_run_tell_classes(classes, run, err));
  const struct nai_model_options options = {.classes = classes, .page_events = INT_MAX, .worker_count = 1};
  NAI_SCOPED(nai_model) model = {0};
  nai_model_open(&model, slice->tables, &options);
  NAI_TRY(nai_model_build(&model, NAI_VIEWER_PARTS, err));
  return nai_viewer_data(&out->blocks, &model, &(struct nai_viewer_input){0}, err);
}

/* Tables that are gone are nobody's failure; those that cannot be read are. */
static int set_missing(struct nai_pair_timeline *out, const struct nai_err *why, struct nai_err *err) {
  out->unread = nai_fs_is_unread(why);
  out->missing = strdup(why->msg);
  return out->missing ? NAI_OK : nai_err_nomem(err);
}

static int make_blocks(struct nai_pair_timeline *out, struct nai_run *run, struct nai_table *const tables[NAI_IN_COUNT],
                       struct nai_err *err) {
  NAI_SCOPED(nai_slice) slice = {.whole = true};
  struct nai_err why;
  NAI_TRY(nai_slice_find(&out->begin, &out->end, tables, out->step_start, out->step_end, NAI_PAIR_EVENTS, err));
  NAI_TRY(nai_slice_new(&slice, tables, out->begin, out->end, err));
  return check_rows(&slice, &why) ? set_missing(out, &why, err) : encode(out, run, &slice, err);
}

static int open_tables(struct nai_table *tables[NAI_IN_COUNT], struct nai_run *run, struct nai_err *err) {
  NAI_TRY(open_events(tables, run, err));
  return nai_page_tables_open(run, err);
}

int nai_pair_timeline_make(struct nai_pair_timeline *out, const struct nai_comparison *c, enum nai_side_id side,
                           struct nai_err *err) {
  struct nai_table *tables[NAI_IN_COUNT] = {0};
  struct nai_err why;
  *out = (struct nai_pair_timeline){0};
  NAI_TRY(choose_capture(&out->capture, c, side, err));
  const struct nai_capture *capture = &c->sides[side].captures[out->capture];
  NAI_TRY(choose_step(out, capture, err));
  int failed = open_tables(tables, capture->run, &why);
  if (failed == NAI_ELIMIT) /* nothing is wrong with the run */
    return nai_err_set(err, failed, "%s", why.msg);
  return failed ? set_missing(out, &why, err) : make_blocks(out, capture->run, tables, err);
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
