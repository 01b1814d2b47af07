/* The data of compare.html that its script reads: the tables of the comparison, and what there is to know of the two
 * timelines (docs/viewer.md, "The page of a comparison"). */
#include "features/compare/timeline.h"
#include "rundir/run.h"
#include "table/json.h"
#include "tables/capture.h"
#include "tables/comm_instances.h"
#include "tables/gpu_idle_gaps.h"
#include "tables/steps.h"
#include "viewer/slice.h"

enum { MAX_ROWS = 10000, MAX_TREE_ROWS = 20000 };

/* Tables of a run that the timeline shows beside its events, and their columns of times. */
static const struct {
  const struct nai_schema *schema;
  int start, end;
} shown[] = {{&nai_steps_schema, STEPS_gpu_start_ns, STEPS_gpu_end_ns},
             {&nai_gpu_idle_gaps_schema, GPU_IDLE_GAPS_gap_start_ns, GPU_IDLE_GAPS_gap_end_ns},
             {&nai_comm_instances_schema, COMM_INSTANCES_start_ns, COMM_INSTANCES_end_ns}};
enum { SHOWN = sizeof shown / sizeof *shown };

int nai_page_tables_open(struct nai_run *run, struct nai_err *err) {
  const struct nai_table *table;
  for (int i = 0; i < SHOWN; i++)
    if (nai_run_has(run, shown[i].schema->name))
      NAI_TRY(nai_run_table(&table, run, shown[i].schema->name, shown[i].schema, err));
  return NAI_OK;
}

static int find_shown(struct nai_table **rows, struct nai_run *run, int i, const struct nai_pair_timeline *timeline,
                      struct nai_err *err) {
  const struct nai_schema *schema = shown[i].schema;
  const struct nai_table *table;
  NAI_TRY(nai_run_table(&table, run, schema->name, schema, err));
  return nai_slice_rows(rows, table, schema->columns[shown[i].start].name, schema->columns[shown[i].end].name,
                        timeline->begin, timeline->end, err);
}

static void put_shown(struct nai_json *json, struct nai_run *run, const struct nai_pair_timeline *timeline) {
  nai_json_put_object(json, "tables", NAI_JSON_LINES);
  for (int i = 0; i < SHOWN; i++) {
    NAI_OWNED(nai_table) *rows = NULL;
    struct nai_err ignored;
    if (!nai_run_has(run, shown[i].schema->name))
      continue;
    int rc = find_shown(&rows, run, i, timeline, &ignored);
    json->out->oom |= rc == NAI_ELIMIT; /* a table that cannot be read is left out, but not for want of memory */
    if (rc)
      continue;
    nai_json_key(json, shown[i].schema->name);
    nai_json_table_packed(json, rows, MAX_ROWS);
  }
  nai_json_end(json);
}

/* Times beyond 2^53 ns do not occur; those since the epoch do, so they are text. */
static void put_epoch(struct nai_json *json, const struct nai_capture *capture) {
  int64_t utc = CAPTURE_at(nai_capture_table(capture, &nai_capture_schema), 0).utc_epoch_ns;
  char text[24];
  snprintf(text, sizeof text, "%" PRId64, utc);
  nai_json_put_text(json, "utc_epoch_ns", utc == NAI_NULL_I64 ? NULL : text);
}

static void put_anchor(struct nai_json *json, const struct nai_pair_timeline *timeline) {
  nai_json_put_object(json, "anchor", NAI_JSON_INLINE);
  nai_json_put_int(json, "start_ns", timeline->step_start);
  nai_json_put_int(json, "end_ns", timeline->step_end);
  nai_json_put_int(json, "device_id", timeline->device_id);
  nai_json_put_int(json, "step", timeline->step);
  nai_json_end(json);
}

static void put_side(struct nai_json *json, const struct nai_side *side, const struct nai_pair_timeline *timeline) {
  nai_json_begin_object(json, NAI_JSON_LINES);
  nai_json_put_array(json, "captures", NAI_JSON_INLINE);
  for (uint32_t i = 0; i < side->count; i++)
    nai_json_text(json, side->captures[i].label);
  nai_json_end(json);
  if (side->count) {
    const struct nai_capture *capture = &side->captures[timeline->capture];
    nai_json_put_text(json, "capture", capture->label);
    nai_json_put_text(json, "missing", timeline->missing);
    nai_json_put_bool(json, "whole", timeline->begin == INT64_MIN);
    if (timeline->begin != INT64_MIN) {
      nai_json_put_int(json, "begin_ns", timeline->begin);
      nai_json_put_int(json, "end_ns", timeline->end);
    }
    put_anchor(json, timeline);
    put_epoch(json, capture);
    put_shown(json, capture->run, timeline);
  }
  nai_json_end(json);
}

void nai_write_page_data(struct nai_buf *out, const struct nai_comparison *c,
                         const struct nai_pair_timeline timelines[NAI_SIDES]) {
  struct nai_json json;
  nai_json_init(&json, out, true);
  nai_json_begin_object(&json, NAI_JSON_LINES);
  nai_json_put_text(&json, "version", "1.0");
  nai_json_put_text(&json, "tool", "nsys-ai " NAI_VERSION);
  nai_json_put_text(&json, "per", nai_comparison_per(c));
  nai_json_put_bool(&json, "comparable", nai_comparison_has_basis(c) && !nai_comparison_obstacle(c));
  for (int s = 0; s < NAI_SIDES; s++) {
    nai_json_key(&json, nai_side_names[s]);
    put_side(&json, &c->sides[s], &timelines[s]);
  }
  nai_json_put_object(&json, "tables", NAI_JSON_LINES);
  for (int i = 0; i < NAI_COMPARED_COUNT; i++) {
    nai_json_key(&json, c->tables[i]->schema->name);
    nai_json_table_packed(&json, c->tables[i], i == NAI_COMPARED_TREE ? MAX_TREE_ROWS : MAX_ROWS);
  }
  nai_json_finish(&json);
}
