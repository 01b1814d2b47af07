/* Can the two sides be compared? What their captures hold, how they were made, and what they lost. */
#include "base/strings.h"
#include "base/text.h"
#include "features/compare/internal.h"
#include "rundir/run.h"
#include "tables/capabilities.h"
#include "tables/capture.h"
#include "tables/capture_health.h"
#include "tables/data_quality.h"
#include "tables/gpu_metrics.h"
#include "tables/serving_summary.h"
#include "tables/step_summary.h"

enum { MIN_STEPS = 3 };

/* --- captures --------------------------------------------------------------------------------- */

/* What a capture is wrong for; NULL where it is not. */
typedef const char *fault_fn(const struct nai_capture *capture);

/* Adds a check that names the captures with a fault, if any has one. */
static int check_faults(struct nai_comparison *c, struct nai_check check, fault_fn *fault_of, struct nai_err *err) {
  for (int s = 0; s < NAI_SIDES; s++) {
    NAI_SCOPED(nai_buf) text = {0};
    for (uint32_t i = 0; i < c->sides[s].count; i++) {
      const struct nai_capture *capture = &c->sides[s].captures[i];
      const char *fault = fault_of(capture);
      if (fault)
        nai_buf_printf(&text, "%s%s%s%s", text.len ? *fault ? "; " : ", " : "", capture->label, *fault ? ": " : "",
                       fault);
    }
    NAI_TRY(nai_check_text(&check.says[s], c, &text, err));
  }
  return check.says[NAI_BASE] || check.says[NAI_CANDIDATE] ? nai_check_add(c, check, err) : NAI_OK;
}

static const char *no_work_of(const struct nai_capture *capture) {
  struct RUN_INFO_row info = nai_capture_info(capture);
  bool works = nai_or_zero(info.kernel_count) + nai_or_zero(info.graph_envelope_count) > 0 && info.window_ns > 0;
  return works ? NULL : "";
}

/* What the capture says of a program that did not do its work, or told of errors; NULL where it did. */
static const char *failure_of(const struct nai_capture *capture) {
  const struct nai_table *t = nai_capture_table(capture, &nai_capture_health_schema);
  for (int64_t row = 0; row < t->rows; row++) {
    struct CAPTURE_HEALTH_row health = CAPTURE_HEALTH_at(t, row);
    if (strcmp(health.check, "did_its_work") == 0 &&
        (strcmp(health.state, "problem") == 0 || strcmp(health.state, "note") == 0))
      return health.detail;
  }
  return NULL;
}

/* One trace twice is no second capture. */
static int check_content(struct nai_comparison *c, struct nai_err *err) {
  const struct nai_capture *all[2 * NAI_VALUES_MAX];
  uint32_t n = 0;
  for (int s = 0; s < NAI_SIDES; s++)
    for (uint32_t i = 0; i < c->sides[s].count && n < sizeof all / sizeof *all; i++)
      all[n++] = &c->sides[s].captures[i];
  for (uint32_t i = 1; i < n; i++)
    for (uint32_t j = 0; j < i; j++)
      if (nai_run_manifest(all[i]->run)->identity == nai_run_manifest(all[j]->run)->identity) {
        NAI_TRY(nai_check_add(c,
                              (struct nai_check){NAI_CHECK_SAME_CONTENT, NAI_CHECK_HARD, NAI_SCOPE_ALL,
                                                 "the same trace twice: it is one capture, however often it is given",
                                                 .says = {all[j]->label, all[i]->label}},
                              err));
        break;
      }
  return NAI_OK;
}

int nai_check_captures(struct nai_comparison *c, struct nai_err *err) {
  const struct nai_check broken = {NAI_CHECK_PROGRAM_FAILED, NAI_CHECK_SOFT, NAI_SCOPE_NONE,
                                   "the program failed, or reported errors: its times may be of less work"},
                         idle = {NAI_CHECK_NO_KERNELS, NAI_CHECK_HARD, NAI_SCOPE_ALL,
                                 "captures in which no kernel ran: there is nothing to compare"};
  NAI_TRY(check_faults(c, broken, failure_of, err));
  NAI_TRY(check_faults(c, idle, no_work_of, err));
  return nai_comparison_is_whole(c) ? check_content(c, err) : NAI_OK;
}

/* --- contents --------------------------------------------------------------------------------- */

/* Without any little can be judged, and a check that passes says little. */
static int check_any_steps(struct nai_comparison *c, struct nai_err *err) {
  for (int s = 0; s < NAI_SIDES; s++)
    if (nai_side_count(c->sides, s, &nai_step_summary_schema))
      return NAI_OK;
  struct nai_check check = {NAI_CHECK_NO_STEPS, NAI_CHECK_SOFT, NAI_SCOPE_NONE};
  check.reason = nai_arena_printf(&c->arena, "no steps were found: times and counts per step cannot be judged; %s",
                                  nai_steps_advice(c));
  if (c->unit) {
    check.reason =
        nai_arena_printf(&c->arena,
                         "no steps were found: times are per repetition of the unit of %" PRId64 " kernels; %s",
                         c->unit, nai_steps_advice(c));
    for (int s = 0; s < NAI_SIDES; s++)
      check.says[s] = nai_arena_printf(&c->arena, "%.1f repetitions in %.1f ms of GPU time", c->divisor[s],
                                       (double)nai_gpu_time(c, s, NAI_GPU_WHOLE) / 1e6);
  }
  return nai_check_add(c, check, err);
}

static int check_few_steps(struct nai_comparison *c, struct nai_err *err) {
  struct nai_check check = {NAI_CHECK_FEW_STEPS, NAI_CHECK_HARD, NAI_SCOPE_STEP,
                            "fewer than 3 steady steps in a capture; capture more steps", .says = {"", ""}};
  bool few = false;
  for (int s = 0; s < NAI_SIDES; s++) {
    int64_t least = INT64_MAX;
    for (struct nai_side_rows r = nai_rows_of_side(c->sides, s, &nai_step_summary_schema); nai_next_row(&r);) {
      int64_t steady = nai_get_i64(r.table, r.row, STEP_SUMMARY_steady_steps);
      least = steady < least ? steady : least;
    }
    if (least != INT64_MAX)
      check.says[s] = nai_arena_printf(&c->arena, "%" PRId64, least);
    few |= least < MIN_STEPS;
  }
  return few ? nai_check_add(c, check, err) : NAI_OK;
}

static bool has_capability(const struct nai_capture *capture, const char *name) {
  const struct nai_table *t = nai_capture_table(capture, &nai_capabilities_schema);
  for (int64_t row = 0; row < t->rows; row++)
    if (nai_get_i64(t, row, CAPABILITIES_available) == 1 &&
        strcmp(nai_get_str(t, row, CAPABILITIES_capability), name) == 0)
      return true;
  return false;
}

/* Whether any metric needs it. */
static bool is_needed(const struct nai_comparison *c, const char *name) {
  for (struct nai_side_rows r = nai_all_rows(c->sides, &nai_metrics_schema); nai_next_row(&r);)
    if (strcmp(nai_get_str(r.table, r.row, METRICS_needs), name) == 0)
      return true;
  return false;
}

static int check_capability(struct nai_comparison *c, const char *name, struct nai_err *err) {
  struct nai_check check = {NAI_CHECK_CAPABILITY, is_needed(c, name) ? NAI_CHECK_HARD : NAI_CHECK_SOFT,
                            NAI_SCOPE_CAPABILITY, .capability = name};
  uint32_t have = 0;
  for (int s = 0; s < NAI_SIDES; s++) {
    uint32_t with = 0;
    for (uint32_t i = 0; i < c->sides[s].count; i++)
      with += has_capability(&c->sides[s].captures[i], name);
    check.says[s] = nai_arena_printf(&c->arena, "%u of %u captures", with, c->sides[s].count);
    have += with;
  }
  if (have == 0 || have == c->sides[NAI_BASE].count + c->sides[NAI_CANDIDATE].count)
    return NAI_OK;
  check.reason = nai_arena_printf(&c->arena, "\"%s\" was recorded in some captures only", name);
  return nai_check_add(c, check, err);
}

/* Each capability that some capture lists, once. */
static int check_capabilities(struct nai_comparison *c, struct nai_err *err) {
  NAI_SCOPED(nai_strings) names = {0};
  for (struct nai_side_rows r = nai_all_rows(c->sides, &nai_capabilities_schema); nai_next_row(&r);) {
    const char *name = nai_get_str(r.table, r.row, CAPABILITIES_capability);
    uint32_t known = names.count;
    NAI_TRY(nai_strings_put(NULL, &names, name, err));
    if (names.count > known)
      NAI_TRY(check_capability(c, name, err));
  }
  return NAI_OK;
}

/* Requests in a decode step: the mean of the captures' medians; NaN where nothing tells them. */
static double batch_of(const struct nai_comparison *c, int side) {
  double sum = 0;
  uint32_t n = 0;
  for (struct nai_side_rows r = nai_rows_of_side(c->sides, side, &nai_serving_summary_schema); nai_next_row(&r);) {
    struct SERVING_SUMMARY_row row = SERVING_SUMMARY_at(r.table, r.row);
    if (strcmp(row.kind, "decode") != 0 || row.median_requests == NAI_NULL_I64)
      continue;
    sum += (double)row.median_requests;
    n++;
  }
  return n ? sum / n : NAN;
}

/* A step with more requests takes longer, and is no slower for that. */
static int check_batch(struct nai_comparison *c, struct nai_err *err) {
  struct nai_check check = {NAI_CHECK_BATCH, NAI_CHECK_SOFT, NAI_SCOPE_NONE,
                            "decode steps serve different numbers of requests, by more than 10 %: compare table "
                            "serving_batch, batch by batch"};
  double base = batch_of(c, NAI_BASE), candidate = batch_of(c, NAI_CANDIDATE);
  if (!(fabs(base - candidate) > 0.1 * fmin(base, candidate)))
    return NAI_OK;
  for (int s = 0; s < NAI_SIDES; s++)
    check.says[s] = nai_arena_printf(&c->arena, "%.1f", s == NAI_BASE ? base : candidate);
  return nai_check_add(c, check, err);
}

int nai_check_contents(struct nai_comparison *c, struct nai_err *err) {
  NAI_TRY(check_any_steps(c, err));
  NAI_TRY(check_few_steps(c, err));
  NAI_TRY(check_batch(c, err));
  return check_capabilities(c, err);
}

/* --- options of the profiler ------------------------------------------------------------------ */

enum { MAX_OPTIONS = 256 };

/* An option, and how many captures of each side have it. */
struct options {
  struct nai_strings names;
  uint32_t captures[NAI_SIDES][MAX_OPTIONS];
  uint32_t known[NAI_SIDES]; /* captures that say their options */
};

static void options_free(struct options *o) { nai_strings_free(&o->names); }

static int count_options(struct options *o, int side, const char *text, struct nai_err *err) {
  o->known[side] += *text != '\0';
  for (size_t len; *text && o->names.count < MAX_OPTIONS; text += len + (text[len] == ' ')) {
    len = strcspn(text, " ");
    uint32_t at = nai_strings_add(&o->names, text, len);
    NAI_TRY(nai_memory_check(at != NAI_NO_STRING, err));
    o->captures[side][at]++;
  }
  return NAI_OK;
}

/* Of a side that does not say its options nothing is known. */
static bool are_known(const struct options *o, const struct nai_comparison *c) {
  return o->known[NAI_BASE] == c->sides[NAI_BASE].count && o->known[NAI_CANDIDATE] == c->sides[NAI_CANDIDATE].count;
}

static int check_profiler_options(struct nai_comparison *c, struct nai_err *err) {
  NAI_SCOPED(options) o = {0};
  struct nai_check check = {NAI_CHECK_PROFILER_OPTIONS, NAI_CHECK_SOFT, NAI_SCOPE_NONE,
                            "captured with different options of the profiler, which cost different amounts of time"};
  for (struct nai_side_rows r = nai_all_rows(c->sides, &nai_capture_schema); nai_next_row(&r);)
    NAI_TRY(count_options(&o, r.side, CAPTURE_at(r.table, r.row).profiler_options, err));
  if (!are_known(&o, c))
    return NAI_OK;
  for (int s = 0; s < NAI_SIDES; s++) {
    NAI_SCOPED(nai_buf) text = {0};
    for (uint32_t i = 0; i < o.names.count; i++)
      if (o.captures[s][i] && (o.captures[s][i] < o.known[s] || o.captures[!s][i] < o.known[!s]))
        nai_buf_printf(&text, "%s%s", text.len ? ", " : "", nai_strings_get(&o.names, i));
    NAI_TRY(nai_check_text(&check.says[s], c, &text, err));
  }
  if (!check.says[NAI_BASE] && !check.says[NAI_CANDIDATE])
    return NAI_OK;
  for (int s = 0; s < NAI_SIDES; s++)
    check.says[s] = check.says[s] ? check.says[s] : "without";
  return nai_check_add(c, check, err);
}

/* --- clocks ----------------------------------------------------------------------------------- */

/* Mean over GPUs of a capture of the SMs' median clock while something ran, MHz; NaN where it was not sampled. */
static double clock_of(const struct nai_capture *capture) {
  const struct nai_table *t = nai_capture_table(capture, &nai_gpu_metrics_schema);
  double sum = 0, n = 0;
  for (int64_t row = 0; row < t->rows; row++) {
    struct GPU_METRICS_row sampled = GPU_METRICS_at(t, row);
    if (strcmp(sampled.during, "busy") != 0 || isnan(sampled.p50) || !strstr(sampled.metric, "GPC Clock Frequency"))
      continue;
    sum += sampled.p50;
    n++;
  }
  return n > 0 ? sum / n : NAN;
}

/* The longest distance of samples of GPU metrics, us; NaN where there are none. */
static double period_of(const struct nai_capture *capture) {
  const struct nai_table *t = nai_capture_table(capture, &nai_gpu_metrics_schema);
  double longest = NAN;
  for (int64_t row = 0; row < t->rows; row++)
    longest = fmax(longest, GPU_METRICS_at(t, row).period_ns / 1e3);
  return longest;
}

/* Adds a check where the means of a number of the two sides differ by more than a share. */
static int check_means(struct nai_comparison *c, struct nai_check check, double (*of)(const struct nai_capture *),
                       double allowed, const char *unit, struct nai_err *err) {
  double mean[NAI_SIDES] = {0, 0};
  for (int s = 0; s < NAI_SIDES; s++)
    for (uint32_t i = 0; i < c->sides[s].count; i++)
      mean[s] += of(&c->sides[s].captures[i]) / c->sides[s].count;
  if (!(fabs(mean[NAI_CANDIDATE] / mean[NAI_BASE] - 1) > allowed))
    return NAI_OK;
  for (int s = 0; s < NAI_SIDES; s++)
    check.says[s] = nai_arena_printf(&c->arena, "%.0f %s", mean[s], unit);
  return nai_check_add(c, check, err);
}

int nai_check_conditions(struct nai_comparison *c, struct nai_err *err) {
  const struct nai_check clock = {NAI_CHECK_CLOCK, NAI_CHECK_SOFT, NAI_SCOPE_NONE,
                                  "the SMs ran at different clocks while they worked: lock them, or look for power "
                                  "caps and heat"},
                         period = {NAI_CHECK_PERIOD, NAI_CHECK_SOFT, NAI_SCOPE_NONE,
                                   "GPU metrics were sampled at different frequencies: what they say of kernels, and "
                                   "findings that come of it, are not comparable"};
  NAI_TRY(check_profiler_options(c, err));
  NAI_TRY(check_means(c, clock, clock_of, 0.02, "MHz", err));
  return check_means(c, period, period_of, 0.1, "\u00b5s", err);
}

/* --- losses ----------------------------------------------------------------------------------- */

static void bad_rows(struct nai_buf *out, const struct nai_capture *capture) {
  struct RUN_INFO_row info = nai_capture_info(capture);
  int64_t dropped = nai_or_zero(info.dropped_rows), errors = nai_or_zero(info.diagnostics_errors);
  if (dropped || errors)
    nai_buf_printf(out, "%" PRId64 " rows dropped, %" PRId64 " errors while capturing", dropped, errors);
}

static bool is_loss(const struct DATA_QUALITY_row *row) {
  const char *const *tables =
      NAI_WORDS("CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET",
                "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS");
  return nai_text_is_one(row->source_table, strlen(row->source_table), tables) &&
         strncmp(row->check, "rows-", strlen("rows-")) == 0 && row->count > 0;
}

/* Of the kernels, copies, memsets, graphs, calls and ranges of a capture, how many are lost, in percent. */
static double lost_pct(const struct nai_capture *capture) {
  const struct nai_table *quality = nai_capture_table(capture, &nai_data_quality_schema);
  struct RUN_INFO_row info = nai_capture_info(capture);
  const int64_t kept[] = {info.kernel_count, info.memory_operation_count, info.graph_envelope_count,
                          info.api_call_count, info.nvtx_range_count};
  double lost = 0, all = 0;
  for (int64_t i = 0; i < quality->rows; i++) {
    struct DATA_QUALITY_row row = DATA_QUALITY_at(quality, i);
    lost += is_loss(&row) ? (double)row.count : 0;
  }
  for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
    all += (double)nai_or_zero(kept[i]);
  return lost > 0 ? 100 * lost / (all + lost) : 0;
}

/* What one capture lost and another did not looks like less work: more than a point of difference decides nothing. */
int nai_check_quality(struct nai_comparison *c, struct nai_err *err) {
  enum { POINTS = 1 };
  struct nai_check check = {NAI_CHECK_DATA_QUALITY, NAI_CHECK_SOFT, NAI_SCOPE_NONE,
                            "part of the data is missing or damaged"};
  double least = 100, most = 0;
  bool agrees;
  for (int s = 0; s < NAI_SIDES; s++) {
    NAI_TRY(nai_check_describe(&check.says[s], &agrees, c, s, bad_rows, err));
    for (uint32_t i = 0; i < c->sides[s].count; i++) {
      double lost = lost_pct(&c->sides[s].captures[i]);
      least = fmin(least, lost);
      most = fmax(most, lost);
    }
  }
  if (!check.says[NAI_BASE] && !check.says[NAI_CANDIDATE])
    return NAI_OK;
  if (most - least > POINTS) {
    check.level = NAI_CHECK_HARD;
    check.scope = NAI_SCOPE_ALL;
    check.reason = "captures lost different shares of their rows";
  }
  return nai_check_add(c, check, err);
}

/* The names of metrics whose values on a side are of another definition; whoever looks for them has to be told. */
int nai_check_definitions(struct nai_comparison *c, struct nai_err *err) {
  enum { NAMED = 5 };
  NAI_SCOPED(nai_buf) names = {0};
  const char *list;
  uint32_t count = 0;
  for (uint32_t i = 0; i < c->result_count; i++)
    if (c->results[i].defined_differently && count++ < NAMED)
      nai_buf_printf(&names, "%s%s", names.len ? ", " : "", c->results[i].def.metric);
  if (count > NAMED)
    nai_buf_printf(&names, " and %u more", count - NAMED);
  NAI_TRY(nai_check_text(&list, c, &names, err));
  if (!list)
    return NAI_OK;
  struct nai_check check = {NAI_CHECK_DEFINITIONS, NAI_CHECK_SOFT, NAI_SCOPE_NONE};
  check.reason =
      nai_arena_printf(&c->arena,
                       "another version of nsys-ai defined these metrics differently, and its values of them "
                       "are left out; analyze its traces again: %s",
                       list);
  for (int s = 0; s < NAI_SIDES; s++)
    check.says[s] = c->sides[s].count ? nai_run_manifest(c->sides[s].captures[0].run)->version : NULL;
  return nai_check_add(c, check, err);
}
