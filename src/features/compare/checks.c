/* Can the two sides be compared? Reasons, each with a code: hard ones make metrics undecidable, soft ones are said. */
#include "features/compare/internal.h"

#include "base/array.h"
#include "base/fmt.h"

#include <inttypes.h>
#include <stdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FEWEST_STEPS = 3 };

const char *nai_check_name(enum nai_check_code code) {
  static const char *const names[NAI_CHECK_COUNT] = {
      [NAI_CHECK_NO_KERNELS] = "no_kernels",
      [NAI_CHECK_SAME_CONTENT] = "same_content",
      [NAI_CHECK_GPU_MODEL] = "gpu_model",
      [NAI_CHECK_GPU_COUNT] = "gpu_count",
      [NAI_CHECK_PROCESS_COUNT] = "process_count",
      [NAI_CHECK_NO_STEPS] = "no_steps",
      [NAI_CHECK_STEPS_MISSING] = "steps_missing",
      [NAI_CHECK_STEP_METHOD] = "step_method",
      [NAI_CHECK_FEW_STEPS] = "few_steady_steps",
      [NAI_CHECK_GRAPH_MODE] = "graph_mode",
      [NAI_CHECK_CAPABILITY] = "capability",
      [NAI_CHECK_DATA_QUALITY] = "data_quality",
      [NAI_CHECK_KERNELS_DIFFER] = "kernels_differ",
      [NAI_CHECK_PRODUCT_VERSION] = "nsys_version",
      [NAI_CHECK_DRIVER] = "driver",
      [NAI_CHECK_CUDA] = "cuda_version",
      [NAI_CHECK_PROFILER_OPTIONS] = "profiler_options",
      [NAI_CHECK_CLOCK] = "sm_clock",
      [NAI_CHECK_OPTIONS] = "options",
      [NAI_CHECK_LAUNCHES] = "launches_per_step",
      [NAI_CHECK_DRIFT] = "uniform_drift",
  };
  return code < NAI_CHECK_COUNT ? names[code] : NULL;
}

static char *copy(const char *text) { return text ? strdup(text) : NULL; }

int nai_check_add(struct nai_comparison *c, const struct nai_check *check, struct nai_err *err) {
  if (!nai_array_room(&c->checks, &c->check_capacity, c->check_count, sizeof *c->checks))
    return nai_err_nomem(err);
  struct nai_check *to = &c->checks[c->check_count++];
  *to = *check;
  if (c->options.allow & 1u << check->code)
    to->level = NAI_CHECK_SOFT;
  to->capability = copy(check->capability);
  to->base = copy(check->base);
  to->fresh = copy(check->fresh);
  to->reason = copy(check->reason);
  bool whole = to->reason && (to->base || !check->base) && (to->fresh || !check->fresh) &&
               (to->capability || !check->capability);
  return whole ? NAI_OK : nai_err_nomem(err);
}

/* A reason with what the sides say, which is freed; nothing is said of a side whose text is empty. */
int nai_check_add_with(struct nai_comparison *c, struct nai_buf texts[NAI_SIDES], struct nai_check check,
                       struct nai_err *err) {
  int rc = nai_buf_check(&texts[NAI_BASE], err);
  if (!rc)
    rc = nai_buf_check(&texts[NAI_NEW], err);
  check.base = texts[NAI_BASE].len ? texts[NAI_BASE].data : NULL;
  check.fresh = texts[NAI_NEW].len ? texts[NAI_NEW].data : NULL;
  return rc ? rc : nai_check_add(c, &check, err);
}

void nai_check_free_texts(struct nai_buf texts[NAI_SIDES]) {
  nai_buf_free(&texts[NAI_BASE]);
  nai_buf_free(&texts[NAI_NEW]);
}

/* --- what tables say -------------------------------------------------------------------------- */

static int check_kernels(struct nai_comparison *c, struct nai_err *err) {
  struct nai_buf texts[NAI_SIDES] = {{0}};
  bool any = false;
  int rc = NAI_OK;
  for (int s = 0; s < NAI_SIDES; s++)
    for (uint32_t i = 0; i < c->sides[s].count; i++) {
      const struct nai_capture *capture = &c->sides[s].captures[i];
      if (nai_capture_cell(capture, "run_info", "kernel_count") +
                  nai_capture_cell(capture, "run_info", "graph_envelope_count") >
              0 &&
          nai_capture_cell(capture, "run_info", "window_ns") > 0)
        continue;
      nai_buf_printf(&texts[s], "%s%s", texts[s].len ? ", " : "", capture->label);
      any = true;
    }
  if (any)
    rc = nai_check_add_with(
        c, texts,
        (struct nai_check){.code = NAI_CHECK_NO_KERNELS,
                           .level = NAI_CHECK_HARD,
                           .scope = NAI_SCOPE_ALL,
                           .reason = (char *)"captures in which no kernel ran: there is nothing to compare"},
        err);
  nai_check_free_texts(texts);
  return rc;
}

/* One trace twice is no second capture. */
static int check_content(struct nai_comparison *c, struct nai_err *err) {
  int rc = NAI_OK;
  const struct nai_capture *all[2 * 1024];
  uint32_t n = 0;
  for (int s = 0; s < NAI_SIDES; s++)
    for (uint32_t i = 0; i < c->sides[s].count && n < sizeof all / sizeof *all; i++)
      all[n++] = &c->sides[s].captures[i];
  for (uint32_t i = 1; !rc && i < n; i++)
    for (uint32_t j = 0; !rc && j < i; j++)
      if (nai_run_manifest(all[i]->run)->identity == nai_run_manifest(all[j]->run)->identity) {
        rc =
            nai_check_add(c,
                          &(struct nai_check){
                              NAI_CHECK_SAME_CONTENT, NAI_CHECK_HARD, NAI_SCOPE_ALL, NULL, all[j]->label, all[i]->label,
                              (char *)"the same trace twice: it is one capture, however often it is given"},
                          err);
        break;
      }
  return rc;
}

/* Then little can be judged, and a check that passes says little. */
static int check_any_steps(struct nai_comparison *c, struct nai_err *err) {
  int64_t found = 0;
  for (int s = 0; s < NAI_SIDES; s++)
    found += nai_side_rows(&c->sides[s], "step_summary", NULL, NULL);
  if (found)
    return NAI_OK;
  return nai_check_add(c,
                       &(struct nai_check){.code = NAI_CHECK_NO_STEPS,
                                           .level = NAI_CHECK_SOFT,
                                           .scope = NAI_SCOPE_NONE,
                                           .reason = (char *)"no steps were found: times and counts per step cannot be "
                                                             "judged; name the ranges with analyze --step"},
                       err);
}

static int64_t least_steady(const struct nai_side *side) {
  int64_t least = INT64_MAX;
  for (uint32_t i = 0; i < side->count; i++) {
    const struct nai_table *t = nai_capture_table(&side->captures[i], "step_summary");
    for (int64_t row = 0; t && row < t->rows; row++) {
      int64_t n = nai_cell_i64(t, row, "steady_steps");
      least = n < least ? n : least;
    }
  }
  return least;
}

static int check_few_steps(struct nai_comparison *c, struct nai_err *err) {
  char texts[NAI_SIDES][24] = {"", ""};
  bool few = false;
  for (int s = 0; s < NAI_SIDES; s++) {
    int64_t least = least_steady(&c->sides[s]);
    if (least != INT64_MAX)
      snprintf(texts[s], sizeof texts[s], "%" PRId64, least);
    few |= least < FEWEST_STEPS;
  }
  if (!few)
    return NAI_OK;
  return nai_check_add(c,
                       &(struct nai_check){NAI_CHECK_FEW_STEPS, NAI_CHECK_HARD, NAI_SCOPE_STEP, NULL, texts[0],
                                           texts[1],
                                           (char *)"fewer than 3 steady steps in a capture; capture more steps"},
                       err);
}

static bool has_capability(const struct nai_capture *capture, const char *name) {
  const struct nai_table *t = nai_capture_table(capture, "capabilities");
  for (int64_t row = 0; t && row < t->rows; row++)
    if (nai_cell_i64(t, row, "available") == 1 && strcmp(nai_cell_str(t, row, "capability"), name) == 0)
      return true;
  return false;
}

/* Whether any metric of the side needs it. */
static bool is_needed(const struct nai_comparison *c, const char *name) {
  for (int s = 0; s < NAI_SIDES; s++)
    for (uint32_t i = 0; i < c->sides[s].count; i++) {
      const struct nai_table *t = nai_capture_table(&c->sides[s].captures[i], "metrics");
      for (int64_t row = 0; t && row < t->rows; row++)
        if (strcmp(nai_cell_str(t, row, "needs"), name) == 0)
          return true;
    }
  return false;
}

static int check_capability(struct nai_comparison *c, const char *name, struct nai_err *err) {
  uint32_t with[NAI_SIDES] = {0};
  char texts[NAI_SIDES][64];
  for (int s = 0; s < NAI_SIDES; s++) {
    for (uint32_t i = 0; i < c->sides[s].count; i++)
      with[s] += has_capability(&c->sides[s].captures[i], name);
    snprintf(texts[s], sizeof texts[s], "%u of %u captures", with[s], c->sides[s].count);
  }
  uint32_t all = c->sides[0].count + c->sides[1].count, have = with[0] + with[1];
  if (have == 0 || have == all)
    return NAI_OK;
  struct nai_buf reason = {0};
  nai_buf_printf(&reason, "\"%s\" was recorded in some captures only", name);
  int rc = nai_buf_check(&reason, err);
  if (!rc)
    rc = nai_check_add(c,
                       &(struct nai_check){NAI_CHECK_CAPABILITY, is_needed(c, name) ? NAI_CHECK_HARD : NAI_CHECK_SOFT,
                                           NAI_SCOPE_CAPABILITY, (char *)name, texts[0], texts[1], reason.data},
                       err);
  nai_buf_free(&reason);
  return rc;
}

/* Each capability that some capture lists, once. */
static int check_capabilities(struct nai_comparison *c, struct nai_err *err) {
  struct nai_strings names = {0};
  int rc = NAI_OK;
  for (int s = 0; !rc && s < NAI_SIDES; s++)
    for (uint32_t i = 0; !rc && i < c->sides[s].count; i++) {
      const struct nai_table *t = nai_capture_table(&c->sides[s].captures[i], "capabilities");
      for (int64_t row = 0; !rc && t && row < t->rows; row++) {
        const char *name = nai_cell_str(t, row, "capability");
        uint32_t known = names.count;
        if (nai_strings_add(&names, name, strlen(name)) == NAI_NO_STRING)
          rc = nai_err_nomem(err);
        else if (names.count > known)
          rc = check_capability(c, name, err);
      }
    }
  nai_strings_free(&names);
  return rc;
}

static void bad_rows(struct nai_buf *out, const struct nai_capture *capture) {
  int64_t dropped = nai_capture_cell(capture, "run_info", "dropped_rows");
  int64_t errors = nai_capture_cell(capture, "run_info", "diagnostics_errors");
  if (dropped || errors)
    nai_buf_printf(out, "%" PRId64 " rows dropped, %" PRId64 " errors while capturing", dropped, errors);
}

/* Of the kernels, copies, sets, graphs, calls and ranges of a capture, how many are lost, in percent. */
static double lost_pct(const struct nai_capture *capture) {
  static const char *const kept[] = {"kernel_count", "memory_operation_count", "graph_envelope_count", "api_call_count",
                                     "nvtx_range_count"};
  static const char *const tables[] = {"CUPTI_ACTIVITY_KIND_KERNEL",  "CUPTI_ACTIVITY_KIND_MEMCPY",
                                       "CUPTI_ACTIVITY_KIND_MEMSET",  "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
                                       "CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS"};
  const struct nai_table *quality = nai_capture_table(capture, "data_quality");
  double lost = 0, all = 0;
  for (int64_t i = 0; quality && i < quality->rows; i++)
    for (size_t k = 0; k < sizeof tables / sizeof *tables; k++)
      if (strncmp(nai_cell_str(quality, i, "check"), "rows-", strlen("rows-")) == 0 &&
          strcmp(nai_cell_str(quality, i, "source_table"), tables[k]) == 0 && nai_cell_i64(quality, i, "count") > 0)
        lost += (double)nai_cell_i64(quality, i, "count");
  for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
    all += (double)nai_capture_cell(capture, "run_info", kept[i]);
  return lost > 0 ? 100 * lost / (all + lost) : 0;
}

/* What one capture lost and another did not looks like less work: more than a point of difference decides nothing. */
static int check_quality(struct nai_comparison *c, struct nai_err *err) {
  enum { POINTS = 1 };
  struct nai_buf texts[NAI_SIDES] = {{0}};
  double least = 100, most = 0;
  bool agrees;
  int rc = NAI_OK;
  for (int s = 0; s < NAI_SIDES; s++) {
    nai_side_describe(&texts[s], &agrees, &c->sides[s], bad_rows);
    for (uint32_t i = 0; i < c->sides[s].count; i++) {
      double lost = lost_pct(&c->sides[s].captures[i]);
      least = fmin(least, lost);
      most = fmax(most, lost);
    }
  }
  bool apart = most - least > POINTS;
  if (texts[0].len || texts[1].len || texts[0].oom || texts[1].oom)
    rc = nai_check_add_with(c, texts,
                            (struct nai_check){.code = NAI_CHECK_DATA_QUALITY,
                                               .level = apart ? NAI_CHECK_HARD : NAI_CHECK_SOFT,
                                               .scope = apart ? NAI_SCOPE_ALL : NAI_SCOPE_NONE,
                                               .reason = apart ? (char *)"captures lost different shares of their rows"
                                                               : (char *)"part of the data is missing or damaged"},
                            err);
  nai_check_free_texts(texts);
  return rc;
}

int nai_checks_find(struct nai_comparison *c, struct nai_err *err) {
  if (!c->sides[NAI_BASE].count || !c->sides[NAI_NEW].count)
    return check_kernels(c, err);
  int rc = check_kernels(c, err);
  if (!rc)
    rc = check_content(c, err);
  if (!rc)
    rc = nai_checks_of_equality(c, err);
  if (!rc)
    rc = check_any_steps(c, err);
  if (!rc)
    rc = check_few_steps(c, err);
  if (!rc)
    rc = check_capabilities(c, err);
  if (!rc)
    rc = nai_check_profiler_options(c, err);
  if (!rc)
    rc = nai_check_clock(c, err);
  return rc ? rc : check_quality(c, err);
}

const char *nai_check_word(const struct nai_check *check) {
  static const char *const words[] = {"no", "not per step", "not by what needs it", "no"};
  return check->level == NAI_CHECK_HARD ? words[check->scope] : "caveat";
}
