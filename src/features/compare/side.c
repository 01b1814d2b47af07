/* Runs of both sides, and the rows of their tables. */
#include "command/command.h"
#include "features/compare/compare.h"
#include "rundir/run.h"
#include "tables/call_site_kernels.h"
#include "tables/capabilities.h"
#include "tables/capture.h"
#include "tables/capture_health.h"
#include "tables/critical_path_summary.h"
#include "tables/data_quality.h"
#include "tables/findings.h"
#include "tables/gpu_active.h"
#include "tables/gpu_metrics.h"
#include "tables/gpu_utilization.h"
#include "tables/gpus.h"
#include "tables/idle_causes.h"
#include "tables/kernel_paths.h"
#include "tables/kernel_shape.h"
#include "tables/memory_transfers.h"
#include "tables/nvtx_phases.h"
#include "tables/nvtx_ranges.h"
#include "tables/nvtx_tree.h"
#include "tables/process_summary.h"
#include "tables/processes.h"
#include "tables/repeating_units.h"
#include "tables/serving_summary.h"
#include "tables/step_idle.h"
#include "tables/step_summary.h"
#include "tables/steps.h"
#include "tables/what_if.h"
#include "tables/what_if_plan.h"

const char *const nai_side_names[NAI_SIDES] = {"base", "new"};

const struct nai_schema *const nai_compared_tables[] = {&nai_metrics_schema,
                                                        &nai_capture_schema,
                                                        &nai_capture_health_schema,
                                                        &nai_capabilities_schema,
                                                        &nai_gpus_schema,
                                                        &nai_gpu_utilization_schema,
                                                        &nai_gpu_active_schema,
                                                        &nai_run_info_schema,
                                                        &nai_steps_schema,
                                                        &nai_step_idle_schema,
                                                        &nai_step_summary_schema,
                                                        &nai_idle_causes_schema,
                                                        &nai_kernel_paths_schema,
                                                        &nai_kernel_shape_schema,
                                                        &nai_call_site_kernels_schema,
                                                        &nai_data_quality_schema,
                                                        &nai_findings_schema,
                                                        &nai_process_summary_schema,
                                                        &nai_memory_transfers_schema,
                                                        &nai_nvtx_ranges_schema,
                                                        &nai_nvtx_phases_schema,
                                                        &nai_nvtx_tree_schema,
                                                        &nai_gpu_metrics_schema,
                                                        &nai_processes_schema,
                                                        &nai_repeating_units_schema,
                                                        &nai_serving_summary_schema,
                                                        &nai_what_if_schema,
                                                        &nai_what_if_plan_schema,
                                                        &nai_critical_path_summary_schema,
                                                        NULL};

/* --- taking a run ----------------------------------------------------------------------------- */

/* Where the last part of path[0, len) begins. */
static size_t last_part(const char *path, size_t len) {
  while (len > 0 && path[len - 1] != '/')
    len--;
  return len;
}

/* The last `parts` parts of a path, without the suffix of a trace; of a store's ID/captures/N the id. */
static const char *label_of(struct nai_arena *arena, const char *path, int parts) {
  static const char captures[] = "/captures";
  size_t len = strlen(path), inner = sizeof captures - 1;
  while (len > 1 && path[len - 1] == '/')
    len--;
  size_t start = last_part(path, len);
  bool stored = start > inner + 1 && strncmp(path + start - 1 - inner, captures, inner) == 0;
  if (stored && parts == 1) {
    len = start - 1 - inner;
    start = last_part(path, len);
  } else if (stored) {
    start = last_part(path, start - 1 - inner);
  } else if (parts > 1 && start > 1) {
    start = last_part(path, start - 1);
  }
  len -= nai_cmd_trace_suffix(path + start, len - start);
  return nai_arena_printf(arena, "%.*s", (int)(len - start), path + start);
}

static bool is_of_events(const struct nai_schema *schema) {
  for (int i = 0; i < NAI_IN_COUNT; i++)
    if (nai_event_tables[i] == schema)
      return true;
  return false;
}

/* Tables that earlier versions did not compare and removed from runs of a store, where each had a file of its own. */
static bool may_lack(struct nai_run *run, const struct nai_schema *schema) {
  static const struct nai_schema *const later[] = {&nai_repeating_units_schema,   &nai_serving_summary_schema,
                                                   &nai_gpu_active_schema,        &nai_capture_health_schema,
                                                   &nai_call_site_kernels_schema, &nai_kernel_shape_schema};
  char file[128];
  bool is_later = false;
  for (size_t i = 0; i < sizeof later / sizeof *later; i++)
    is_later |= schema == later[i];
  snprintf(file, sizeof file, "stages/%.100s.ntab", schema->name);
  return is_later && nai_manifest_lists(nai_run_manifest(run), file) && !nai_run_has_file(run, file);
}

int nai_capture_open_table(const struct nai_table **table, struct nai_run *run, const struct nai_schema *schema,
                           struct nai_err *err) {
  int rc = nai_run_table_if_any(table, run, schema->name, schema, err);
  if (rc == NAI_EINPUT && may_lack(run, schema)) {
    *table = NULL;
    return NAI_OK;
  }
  return rc;
}

/* Those of events are the timeline's, which says when one is missing. */
static int open_tables(struct nai_run *run, struct nai_err *err) {
  for (const struct nai_schema *const *schema = nai_compared_tables; *schema; schema++) {
    const struct nai_table *table;
    struct nai_table *none;
    NAI_TRY(nai_capture_open_table(&table, run, *schema, err));
    if (table || is_of_events(*schema))
      continue;
    NAI_TRY(nai_table_new(&none, *schema, err));
    NAI_TRY(nai_run_add(run, none, err));
  }
  return NAI_OK;
}

int nai_comparison_add(struct nai_comparison *c, enum nai_side_id side, struct nai_run *run, const char *path,
                       struct nai_err *err) {
  static const struct nai_schema *const needed[] = {&nai_metrics_schema, &nai_kernel_paths_schema, &nai_steps_schema,
                                                    &nai_gpu_utilization_schema};
  struct nai_side *s = &c->sides[side];
  int rc = NAI_ROOM(s->captures, s->capacity, s->count, &c->arena, err);
  if (rc) {
    nai_run_close(run);
    return rc;
  }
  s->captures[s->count++] = (struct nai_capture){run, label_of(&c->arena, path, 1), label_of(&c->arena, path, 2)};
  NAI_TRY(nai_arena_check(&c->arena, err));
  for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
    if (!nai_run_has(run, needed[i]->name))
      return nai_err_set(err, NAI_EINPUT,
                         "the run \"%s\" has no table \"%s\": it was made by another version (%s), or stopped early; "
                         "analyze its trace again",
                         path, needed[i]->name,
                         nai_run_manifest(run)->version ? nai_run_manifest(run)->version : "unknown");
  return open_tables(run, err);
}

int nai_capture_replace(struct nai_capture *capture, struct nai_run *run, struct nai_err *err) {
  nai_run_close(capture->run);
  capture->run = run;
  return open_tables(run, err);
}

/* --- rows ------------------------------------------------------------------------------------- */

const struct nai_table *nai_capture_table(const struct nai_capture *capture, const struct nai_schema *schema) {
  return nai_run_find_loaded(capture->run, schema->name);
}

struct RUN_INFO_row nai_capture_info(const struct nai_capture *capture) {
  return RUN_INFO_at(nai_capture_table(capture, &nai_run_info_schema), 0);
}

struct nai_side_rows nai_rows_of_side(const struct nai_side *sides, int side, const struct nai_schema *schema) {
  return (struct nai_side_rows){.sides = sides, .schema = schema, .side = side, .end = side + 1, .row = -1};
}

struct nai_side_rows nai_all_rows(const struct nai_side *sides, const struct nai_schema *schema) {
  return (struct nai_side_rows){.sides = sides, .schema = schema, .end = NAI_SIDES, .row = -1};
}

bool nai_next_row(struct nai_side_rows *r) {
  for (; r->side < r->end; r->side++, r->capture = 0)
    for (; r->capture < r->sides[r->side].count; r->capture++, r->row = -1) {
      if (r->row < 0)
        r->table = nai_capture_table(&r->sides[r->side].captures[r->capture], r->schema);
      if (++r->row < r->table->rows)
        return true;
    }
  return false;
}

int64_t nai_or_zero(int64_t value) { return value == NAI_NULL_I64 ? 0 : value; }

int64_t nai_side_count(const struct nai_side *sides, int side, const struct nai_schema *schema) {
  int64_t rows = 0;
  for (uint32_t i = 0; i < sides[side].count; i++)
    rows += nai_capture_table(&sides[side].captures[i], schema)->rows;
  return rows;
}

int64_t nai_side_sum(const struct nai_side *sides, int side, const struct nai_schema *schema, int column) {
  int64_t sum = 0;
  for (struct nai_side_rows r = nai_rows_of_side(sides, side, schema); nai_next_row(&r);)
    sum += nai_or_zero(nai_get_i64(r.table, r.row, column));
  return sum;
}

static bool is_steady(const struct nai_side_rows *r) {
  return strcmp(nai_get_str(r->table, r->row, STEPS_state), "steady") == 0;
}

int64_t nai_steady_count(const struct nai_side *sides, int side) {
  int64_t steps = 0;
  for (struct nai_side_rows r = nai_rows_of_side(sides, side, &nai_steps_schema); nai_next_row(&r);)
    steps += is_steady(&r);
  return steps;
}

int64_t nai_steady_sum(const struct nai_side *sides, int side, int column) {
  int64_t sum = 0;
  for (struct nai_side_rows r = nai_rows_of_side(sides, side, &nai_steps_schema); nai_next_row(&r);)
    sum += is_steady(&r) ? nai_or_zero(nai_get_i64(r.table, r.row, column)) : 0;
  return sum;
}

bool nai_comparison_is_whole(const struct nai_comparison *c) {
  return c->sides[NAI_BASE].count && c->sides[NAI_CANDIDATE].count;
}

double nai_comparison_divisor(const struct nai_comparison *c, int side) {
  return c->divisor[side] > 0 ? c->divisor[side] : 1;
}
