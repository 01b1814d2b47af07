/* How much of the same work do captures hold of which neither steps nor units are known? What calls of most kernels and
 * ranges changed by, where that is one factor, and thread blocks do not tell otherwise. */
#include "features/compare/entries.h"
#include "base/fmt.h"
#include "base/sort.h"
#include "base/text.h"
#include "features/compare/internal.h"
#include "features/compare/shapes.h"
#include "tables/findings.h"
#include "tables/idle_causes.h"
#include "tables/kernel_paths.h"
#include "tables/memory_transfers.h"
#include "tables/nvtx_ranges.h"

enum {
  MIN_CALLS = 8, /* per capture: below, one more or less is more than a tenth */
};
static const double most_spread = 1.1; /* of the quartiles: the upper over the lower one */
static const double least_share = 0.5; /* of the kernel time of each side */

/* By how much one name's calls or blocks changed. */
struct ratio {
  double value, weight;
};

struct ratios {
  struct ratio *list;
  uint32_t count;
  double kernels; /* weight of kernels: the share of the time of kernels that are told by it */
  double share[NAI_SIDES];
};

NAI_ORDER_BY(by_value, struct ratio, NAI_SIGN(a->value, b->value))

/* The smallest value that a share of the weight does not exceed. */
static double quantile_of(const struct ratio *list, uint32_t count, double share) {
  double all = 0, below = 0;
  for (uint32_t i = 0; i < count; i++)
    all += list[i].weight;
  for (uint32_t i = 0; i < count; i++) {
    below += list[i].weight;
    if (below >= share * all)
      return list[i].value;
  }
  return NAN;
}

static double calls_of(const struct nai_entry *e, const struct nai_comparison *c, int side) {
  return e->count[side] / c->sides[side].count;
}

static double sum_of(const struct nai_entries *all, int side) {
  double sum = 0;
  for (uint32_t i = 0; i < all->names.count; i++)
    sum += all->list[i].amount[side];
  return sum;
}

static bool tells(const struct nai_entry *e, const struct nai_comparison *c) {
  return calls_of(e, c, NAI_BASE) >= MIN_CALLS && calls_of(e, c, NAI_CANDIDATE) >= MIN_CALLS;
}

static void add_ratio(struct ratios *to, const struct nai_entry *e, const struct nai_comparison *c, double weight) {
  to->list[to->count++] = (struct ratio){calls_of(e, c, NAI_CANDIDATE) / calls_of(e, c, NAI_BASE), weight};
}

/* Kernels weigh by their share of the time. */
static void add_kernels(struct ratios *to, const struct nai_entries *kernels, const struct nai_comparison *c) {
  double all[NAI_SIDES] = {sum_of(kernels, NAI_BASE), sum_of(kernels, NAI_CANDIDATE)};
  for (uint32_t i = 0; i < kernels->names.count; i++) {
    const struct nai_entry *e = &kernels->list[i];
    if (!tells(e, c))
      continue;
    double base = e->amount[NAI_BASE] / all[NAI_BASE], candidate = e->amount[NAI_CANDIDATE] / all[NAI_CANDIDATE];
    to->share[NAI_BASE] += base;
    to->share[NAI_CANDIDATE] += candidate;
    to->kernels += base + candidate;
    add_ratio(to, e, c, base + candidate);
  }
}

/* The same of the thread blocks of all kernels that both sides run, however often. */
static void add_blocks(struct ratios *to, const struct nai_entries *kernels, const struct nai_comparison *c) {
  double all[NAI_SIDES] = {sum_of(kernels, NAI_BASE), sum_of(kernels, NAI_CANDIDATE)};
  for (uint32_t i = 0; i < kernels->names.count; i++) {
    const struct nai_entry *e = &kernels->list[i];
    double blocks[NAI_SIDES];
    for (int s = 0; s < NAI_SIDES; s++)
      blocks[s] = nai_shapes_blocks(nai_shapes_of(c, s, nai_strings_get(&kernels->names, i))) / c->sides[s].count;
    if (!(blocks[NAI_BASE] > 0 && blocks[NAI_CANDIDATE] > 0))
      continue;
    double base = e->amount[NAI_BASE] / all[NAI_BASE], candidate = e->amount[NAI_CANDIDATE] / all[NAI_CANDIDATE];
    to->share[NAI_BASE] += base;
    to->share[NAI_CANDIDATE] += candidate;
    to->list[to->count++] = (struct ratio){blocks[NAI_CANDIDATE] / blocks[NAI_BASE], base + candidate};
  }
}

/* A range weighs as much as the mean kernel, all of them together no more than the kernels: what is inside of what is
 * not told here. */
static void add_ranges(struct ratios *to, const struct nai_entries *ranges, const struct nai_comparison *c) {
  uint32_t telling = 0, names = to->count;
  for (uint32_t i = 0; i < ranges->names.count; i++)
    telling += tells(&ranges->list[i], c);
  for (uint32_t i = 0; i < ranges->names.count; i++)
    if (tells(&ranges->list[i], c))
      add_ratio(to, &ranges->list[i], c, to->kernels / (telling > names ? telling : names));
}

/* Whether each kernel is called equally often on both sides. */
static bool are_equal(const struct nai_entries *kernels, const struct nai_comparison *c) {
  double calls = 0;
  for (uint32_t i = 0; i < kernels->names.count; i++) {
    const struct nai_entry *e = &kernels->list[i];
    calls += calls_of(e, c, NAI_BASE);
    if (fabs(calls_of(e, c, NAI_BASE) - calls_of(e, c, NAI_CANDIDATE)) > 0)
      return false;
  }
  return calls > 0;
}

static void decide(struct nai_comparison *c, const struct ratios *r) {
  double low = quantile_of(r->list, r->count, 0.25), high = quantile_of(r->list, r->count, 0.75);
  if (fmin(r->share[NAI_BASE], r->share[NAI_CANDIDATE]) < least_share) {
    c->work.why = "less than half of the kernel time is of kernels that both sides run often";
  } else if (high > most_spread * low) {
    c->work.why = nai_arena_printf(
        &c->arena, "calls of kernels and ranges changed by different factors (quartiles x %.2f and x %.2f)", low, high);
  } else {
    bool may_be_equal = low <= 1 && high >= 1;
    c->work =
        (struct nai_work){.factor = may_be_equal ? 1 : quantile_of(r->list, r->count, 0.5), .low = low, .high = high};
  }
}

static double blocks_of(const struct nai_comparison *c, int side) {
  return nai_shapes_blocks(c->shapes[side]) / c->sides[side].count;
}

/* As many blocks in fewer launches are no less work, where none are of kernels that one side lacks; and where blocks
 * changed by another factor than launches, neither tells how much there is. */
static void ask_blocks(struct nai_comparison *c, const struct ratios *blocks) {
  const double same = 0.01;
  double low = quantile_of(blocks->list, blocks->count, 0.25), high = quantile_of(blocks->list, blocks->count, 0.75),
         middle = quantile_of(blocks->list, blocks->count, 0.5), factor = c->work.factor;
  if (fmin(blocks->share[NAI_BASE], blocks->share[NAI_CANDIDATE]) < least_share || fabs(factor - 1) <= 0)
    return; /* not known, or as much by both */
  bool is_one = high <= most_spread * low,
       as_many = fabs(low - 1) <= same && fabs(high - 1) <= same &&
                 fabs(blocks_of(c, NAI_CANDIDATE) / blocks_of(c, NAI_BASE) - 1) <= same;
  if (as_many && !(fabs(middle - factor) < fabs(middle - 1))) {
    c->work.factor = 1;
    c->work.relaunched = true;
    c->work.why = NULL;
  } else if (!isnan(factor) && !(is_one && fmax(middle / factor, factor / middle) <= most_spread)) {
    c->work.why = is_one
                    ? nai_arena_printf(&c->arena, "calls of kernels changed by x %.2f, their thread blocks by x %.2f",
                                       factor, middle)
                    : nai_arena_printf(&c->arena,
                                       "calls of kernels changed by x %.2f, their thread blocks by different "
                                       "factors (quartiles x %.2f and x %.2f)",
                                       factor, low, high);
    c->work.factor = NAN;
  }
}

/* Copies from GPUs to the host, per capture. */
struct results {
  double copies[NAI_SIDES], bytes[NAI_SIDES];
};

static struct results results_of(const struct nai_comparison *c) {
  enum { DEVICE_TO_HOST = 2 };
  struct results out = {{0, 0}, {0, 0}};
  for (struct nai_side_rows r = nai_all_rows(c->sides, &nai_memory_transfers_schema); nai_next_row(&r);) {
    struct MEMORY_TRANSFERS_row row = MEMORY_TRANSFERS_at(r.table, r.row);
    if (row.copy_kind != DEVICE_TO_HOST)
      continue;
    out.copies[r.side] += (double)nai_or_zero(row.count) / c->sides[r.side].count;
    out.bytes[r.side] += (double)nai_or_zero(row.total_bytes) / c->sides[r.side].count;
  }
  return out;
}

/* As many copies of results of another size: likely of another input, whatever the launches are. */
static int ask_results(struct nai_comparison *c, struct nai_err *err) {
  struct results r = results_of(c);
  const double *bytes = r.bytes;
  bool any = r.copies[NAI_BASE] > 0, as_many = any && fabs(r.copies[NAI_BASE] - r.copies[NAI_CANDIDATE]) <= 0;
  c->work.same_results = any && fabs(bytes[NAI_BASE] - bytes[NAI_CANDIDATE]) <= 0;
  if (!as_many || !(fabs(c->work.factor - 1) <= 0) ||
      fmax(bytes[NAI_BASE], bytes[NAI_CANDIDATE]) <= most_spread * fmin(bytes[NAI_BASE], bytes[NAI_CANDIDATE]))
    return NAI_OK;
  NAI_SCOPED(nai_buf) why = {0};
  nai_buf_puts(&why, "as many Device-to-Host copies hold ");
  nai_fmt_bytes(&why, bytes[NAI_CANDIDATE]);
  nai_buf_puts(&why, " instead of ");
  nai_fmt_bytes(&why, bytes[NAI_BASE]);
  nai_buf_puts(&why, " (likely another input)");
  c->work = (struct nai_work){.factor = NAN, .why = nai_arena_printf(&c->arena, "%s", nai_buf_str(&why))};
  return nai_buf_check(&why, err);
}

static bool is_around_most(const struct nai_entries *ranges, const struct nai_entries *launched,
                           const struct nai_entries *kernels, uint32_t i, const struct nai_comparison *c) {
  const double base = calls_of(&ranges->list[i], c, NAI_BASE), candidate = calls_of(&ranges->list[i], c, NAI_CANDIDATE);
  bool most = base > 0 && fabs(base - candidate) <= 0;
  for (int s = 0; s < NAI_SIDES; s++)
    most = most && launched->list[i].amount[s] > least_share * sum_of(kernels, s) &&
           ranges->list[i].amount[s] / c->sides[s].count > least_share * nai_gpu_longest_mean(c, s);
  return most;
}

/* Whether the longest gap of some cause, as long as that or longer, lies in a stretch of a capture. */
static bool has_gap(const struct nai_capture *capture, int64_t start, int64_t end, int64_t least) {
  const struct nai_table *causes = nai_capture_table(capture, &nai_idle_causes_schema);
  bool has = false;
  for (int64_t i = 0; i < causes->rows; i++) {
    const struct IDLE_CAUSES_row gap = IDLE_CAUSES_at(causes, i);
    has |= gap.longest_start_ns >= start && gap.longest_end_ns <= end &&
           gap.longest_end_ns - gap.longest_start_ns >= least;
  }
  return has;
}

/* The longest pause of a capture for loading a module, if it lies in that stretch. */
static double loading_in(const struct nai_capture *capture, int64_t start, int64_t end) {
  const struct nai_table *findings = nai_capture_table(capture, &nai_findings_schema);
  int64_t longest = 0;
  for (int64_t i = 0; i < findings->rows; i++) {
    const struct FINDINGS_row finding = FINDINGS_at(findings, i);
    if (strcmp(finding.id, "pause-module-load") == 0 && finding.saving_ns > longest &&
        has_gap(capture, start, end, finding.saving_ns))
      longest = finding.saving_ns;
  }
  return (double)longest;
}

/* What is paid once makes the one range longer than the other, though neither program is slower. */
static int find_loading(struct nai_comparison *c, struct nai_err *err) {
  NAI_SCOPED(nai_buf) folded = {0};
  for (struct nai_side_rows r = nai_all_rows(c->sides, &nai_nvtx_ranges_schema); nai_next_row(&r);) {
    const struct NVTX_RANGES_row range = NVTX_RANGES_at(r.table, r.row);
    nai_buf_clear(&folded);
    nai_text_fold_digits(&folded, range.range_name);
    NAI_TRY(nai_buf_check(&folded, err));
    if (strcmp(nai_buf_str(&folded), c->outer.name) == 0)
      c->outer.loading[r.side] +=
          loading_in(&c->sides[r.side].captures[r.capture], range.longest_start_ns, range.longest_end_ns) /
          c->sides[r.side].count;
  }
  return NAI_OK;
}

/* Both tables of ranges have the same names in the same order. */
static int find_outer(struct nai_comparison *c, const struct nai_entries *ranges, const struct nai_entries *kernels,
                      struct nai_err *err) {
  NAI_SCOPED(nai_entries) launched = {.arena = NAI_ARENA(NULL)};
  NAI_TRY(nai_entries_read(&launched, c, &nai_nvtx_ranges_schema,
                           (struct nai_entry_columns){NVTX_RANGES_range_name, NVTX_RANGES_attributed_kernel_count,
                                                      NVTX_RANGES_attributed_kernel_time_ns},
                           true, err));
  for (uint32_t i = 0; i < ranges->names.count; i++) {
    const double *ns = ranges->list[i].amount;
    if (ns[NAI_BASE] + ns[NAI_CANDIDATE] <= c->outer.ns[NAI_BASE] + c->outer.ns[NAI_CANDIDATE] ||
        !is_around_most(ranges, &launched, kernels, i, c))
      continue;
    c->outer = (struct nai_outer_range){.name = nai_arena_printf(&c->arena, "%s", nai_strings_get(&ranges->names, i)),
                                        .count = calls_of(&ranges->list[i], c, NAI_BASE),
                                        .ns = {ns[NAI_BASE], ns[NAI_CANDIDATE]}};
  }
  for (int s = 0; s < NAI_SIDES; s++)
    c->outer.ns[s] /= c->sides[s].count;
  if (c->outer.name)
    NAI_TRY(find_loading(c, err));
  return nai_arena_check(&c->arena, err);
}

int nai_work_find(struct nai_comparison *c, struct nai_err *err) {
  NAI_SCOPED(nai_entries) kernels = {.arena = NAI_ARENA(NULL)}, ranges = {.arena = NAI_ARENA(NULL)};
  struct ratios r = {0}, blocks = {0};
  NAI_TRY(nai_entries_read(&kernels, c, &nai_kernel_paths_schema,
                           (struct nai_entry_columns){KERNEL_PATHS_kernel_name, KERNEL_PATHS_call_count,
                                                      KERNEL_PATHS_total_time_ns},
                           false, err));
  NAI_TRY(nai_entries_read(
      &ranges, c, &nai_nvtx_ranges_schema,
      (struct nai_entry_columns){NVTX_RANGES_range_name, NVTX_RANGES_count, NVTX_RANGES_total_time_ns}, true, err));
  NAI_TRY(find_outer(c, &ranges, &kernels, err));
  if (are_equal(&kernels, c)) {
    c->work = (struct nai_work){.factor = 1, .low = 1, .high = 1};
  } else {
    NAI_TRY(NAI_NEW(r.list, &kernels.arena, (size_t)kernels.names.count + ranges.names.count, err));
    NAI_TRY(NAI_NEW(blocks.list, &kernels.arena, kernels.names.count, err));
    add_kernels(&r, &kernels, c);
    add_ranges(&r, &ranges, c);
    add_blocks(&blocks, &kernels, c);
    qsort(r.list, r.count, sizeof *r.list, by_value);
    qsort(blocks.list, blocks.count, sizeof *blocks.list, by_value);
    decide(c, &r);
    ask_blocks(c, &blocks);
  }
  NAI_TRY(ask_results(c, err));
  for (uint32_t i = 0; i < kernels.names.count; i++)
    for (int s = 0; s < NAI_SIDES; s++)
      c->work.launches[s] += calls_of(&kernels.list[i], c, s);
  return nai_arena_check(&c->arena, err);
}

bool nai_comparison_has_basis(const struct nai_comparison *c) {
  return c->by_step || c->unit || !isnan(c->work.factor);
}
