/* All of a comparison, in order. */
#include "features/compare/internal.h"
#include "features/compare/shapes.h"
#include "base/sort.h"
#include "rundir/run.h"
#include "tables/kernel_paths.h"
#include "tables/repeating_units.h"
#include "tables/compared_checks.h"
#include "tables/compared_copies.h"
#include "tables/compared_findings.h"
#include "tables/compared_kernels.h"
#include "tables/compared_metrics.h"
#include "tables/compared_phases.h"
#include "tables/compared_ranges.h"
#include "tables/compared_time.h"
#include "tables/compared_tree.h"
#include "tables/compared_values.h"
#include "tables/gpu_utilization.h"

static uint64_t identity_of(const struct nai_capture *capture) { return nai_run_manifest(capture->run)->identity; }

/* By the time of capture, then by content: the order in which they are given says nothing. */
NAI_ORDER_BY(by_time, struct nai_capture, NAI_SIGN(nai_run_utc(a->run), nai_run_utc(b->run)),
             NAI_SIGN(identity_of(a), identity_of(b)), strcmp(a->label, b->label))

static bool is_ambiguous(const struct nai_comparison *c, const struct nai_capture *capture) {
  for (int s = 0; s < NAI_SIDES; s++)
    for (uint32_t i = 0; i < c->sides[s].count; i++) {
      const struct nai_capture *other = &c->sides[s].captures[i];
      if (other != capture && strcmp(other->label, capture->label) == 0)
        return true;
    }
  return false;
}

/* base/r1 and new/r1 rather than r1 twice. All are found before any is renamed. */
static int tell_apart(struct nai_comparison *c, struct nai_err *err) {
  uint32_t n = 0;
  struct nai_capture **list;
  NAI_TRY(NAI_NEW(list, &c->arena, (size_t)c->sides[NAI_BASE].count + c->sides[NAI_CANDIDATE].count, err));
  for (int s = 0; s < NAI_SIDES; s++)
    for (uint32_t i = 0; i < c->sides[s].count; i++)
      if (is_ambiguous(c, &c->sides[s].captures[i]))
        list[n++] = &c->sides[s].captures[i];
  for (uint32_t i = 0; i < n; i++) {
    const char *label = list[i]->label;
    list[i]->label = list[i]->longer;
    list[i]->longer = label;
  }
  return NAI_OK;
}

/* Kernels of the unit that a capture repeats, 0 where its GPUs repeat different ones or none. */
static int64_t unit_of(const struct nai_capture *capture) {
  const struct nai_table *t = nai_capture_table(capture, &nai_repeating_units_schema);
  int64_t kernels = 0;
  for (int64_t row = 0; row < t->rows; row++) {
    struct REPEATING_UNITS_row unit = REPEATING_UNITS_at(t, row);
    if (unit.unit == 0 && kernels && unit.kernel_count != kernels)
      return 0;
    if (unit.unit == 0)
      kernels = unit.kernel_count;
  }
  return kernels;
}

/* The one that all captures of both sides repeat; 0: there is none. */
static int64_t common_unit(const struct nai_comparison *c) {
  int64_t common = 0;
  for (int s = 0; s < NAI_SIDES; s++)
    for (uint32_t i = 0; i < c->sides[s].count; i++) {
      int64_t kernels = unit_of(&c->sides[s].captures[i]);
      if (!kernels || (common && kernels != common))
        return 0;
      common = kernels;
    }
  return common;
}

/* How often all GPUs of a side did the unit. The last time may be cut off by the end of the capture: how much of it
 * there is, the kernels tell that compute, as far as they are not more than the unit's. */
static double repetitions(const struct nai_comparison *c, int side) {
  int64_t begun = 0, units = 0, kernels = 0;
  for (struct nai_side_rows r = nai_rows_of_side(c->sides, side, &nai_repeating_units_schema); nai_next_row(&r);) {
    struct REPEATING_UNITS_row unit = REPEATING_UNITS_at(r.table, r.row);
    begun += unit.unit == 0 ? unit.repetitions : 0;
    units += unit.unit == 0;
  }
  for (struct nai_side_rows r = nai_rows_of_side(c->sides, side, &nai_kernel_paths_schema); nai_next_row(&r);) {
    struct KERNEL_PATHS_row k = KERNEL_PATHS_at(r.table, r.row);
    kernels += strcmp(k.category, "communication") == 0 ? 0 : k.call_count;
  }
  return fmax((double)(begun - units), fmin((double)begun, (double)kernels / (double)c->unit));
}

/* Per GPU and steady step where every capture has some; else per repetition of what all repeat, for how long a capture
 * is somebody chose; else per GPU and as much work as the base's runs hold; else per GPU and run. */
static int choose_basis(struct nai_comparison *c, struct nai_err *err) {
  c->by_step = true;
  for (int s = 0; s < NAI_SIDES; s++)
    for (uint32_t i = 0; i < c->sides[s].count; i++) {
      const struct nai_side one = {&c->sides[s].captures[i], 1};
      c->by_step &= nai_steady_count(&one, 0) > 0;
    }
  c->by_active = nai_gpu_active_is_known(c);
  c->unit = c->by_step ? 0 : common_unit(c);
  c->work.factor = NAN;
  if (nai_comparison_is_whole(c) && !c->by_step && !c->unit)
    NAI_TRY(nai_work_find(c, err));
  for (int s = 0; s < NAI_SIDES; s++)
    c->divisor[s] = c->by_step ? (double)nai_steady_count(c->sides, s)
                  : c->unit    ? repetitions(c, s)
                               : (double)nai_side_count(c->sides, s, &nai_gpu_utilization_schema);
  if (!isnan(c->work.factor))
    c->divisor[NAI_CANDIDATE] *= c->work.factor;
  return NAI_OK;
}

const char *nai_comparison_per(const struct nai_comparison *c) {
  return c->by_step ? "step" : c->unit ? "repetition" : isnan(c->work.factor) ? "run" : "run of the base's work";
}

/* In their order: it is that of the output. */
static int find_checks(struct nai_comparison *c, struct nai_err *err) {
  NAI_TRY(nai_check_captures(c, err));
  if (!nai_comparison_is_whole(c))
    return NAI_OK;
  NAI_TRY(nai_check_equality(c, err));
  NAI_TRY(nai_check_contents(c, err));
  NAI_TRY(nai_check_conditions(c, err));
  return nai_check_quality(c, err);
}

static int make_tables(struct nai_comparison *c, struct nai_err *err) {
  static const struct {
    const struct nai_schema *schema;
    nai_compared_fill_fn *fill;
  } made[NAI_COMPARED_COUNT] = {[NAI_COMPARED_METRICS] = {&nai_compared_metrics_schema, nai_fill_metrics},
                                [NAI_COMPARED_VALUES] = {&nai_compared_values_schema, nai_fill_values},
                                [NAI_COMPARED_CHECKS] = {&nai_compared_checks_schema, nai_fill_checks},
                                [NAI_COMPARED_TIME] = {&nai_compared_time_schema, nai_fill_time},
                                [NAI_COMPARED_KERNELS] = {&nai_compared_kernels_schema, nai_fill_kernels},
                                [NAI_COMPARED_RANGES] = {&nai_compared_ranges_schema, nai_fill_ranges},
                                [NAI_COMPARED_PHASES] = {&nai_compared_phases_schema, nai_fill_phases},
                                [NAI_COMPARED_COPIES] = {&nai_compared_copies_schema, nai_fill_copies},
                                [NAI_COMPARED_FINDINGS] = {&nai_compared_findings_schema, nai_fill_findings},
                                [NAI_COMPARED_TREE] = {&nai_compared_tree_schema, nai_fill_tree}};
  for (int i = 0; i < NAI_COMPARED_COUNT; i++) {
    NAI_TRY(nai_table_new(&c->tables[i], made[i].schema, err));
    NAI_TRY(made[i].fill(c->tables[i], c, err));
    NAI_TRY(nai_table_check(c->tables[i], err));
    NAI_TRY(nai_table_sort(c->tables[i], err));
  }
  return NAI_OK;
}

int nai_compare(struct nai_comparison *c, const struct nai_compare_options *options, struct nai_err *err) {
  c->options = *options;
  for (int s = 0; s < NAI_SIDES; s++)
    if (c->sides[s].count)
      qsort(c->sides[s].captures, c->sides[s].count, sizeof *c->sides[s].captures, by_time);
  NAI_TRY(nai_shapes_read(c, err));
  NAI_TRY(choose_basis(c, err));
  NAI_TRY(tell_apart(c, err));
  NAI_TRY(find_checks(c, err));
  NAI_TRY(nai_kernels_match(c, err));
  NAI_TRY(nai_check_kernels(c, err));
  NAI_TRY(nai_results_find(c, err));
  return make_tables(c, err);
}

void nai_comparison_free(struct nai_comparison *c) {
  for (int s = 0; s < NAI_SIDES; s++)
    for (uint32_t i = 0; i < c->sides[s].count; i++)
      nai_run_close(c->sides[s].captures[i].run);
  for (int i = 0; i < NAI_COMPARED_COUNT; i++)
    nai_table_free(c->tables[i]);
  nai_arena_free(&c->arena);
  *c = (struct nai_comparison)NAI_COMPARISON;
}
