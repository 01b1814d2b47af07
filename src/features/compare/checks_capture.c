/* How captures were made that may explain a difference: options of the profiler, clocks. Never more than caveats. */
#include "base/strings.h"
#include "features/compare/internal.h"
#include "tables/capture.h"
#include "tables/gpu_metrics.h"

#include <math.h>
#include <string.h>

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
    if (at == NAI_NO_STRING)
      return nai_err_nomem(err);
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

static int check_clock(struct nai_comparison *c, struct nai_err *err) {
  const double allowed = 0.02;
  double mhz[NAI_SIDES] = {0, 0};
  struct nai_check check = {NAI_CHECK_CLOCK, NAI_CHECK_SOFT, NAI_SCOPE_NONE,
                            "the SMs ran at different clocks while they worked: lock them, or look for power caps and "
                            "heat"};
  for (int s = 0; s < NAI_SIDES; s++)
    for (uint32_t i = 0; i < c->sides[s].count; i++)
      mhz[s] += clock_of(&c->sides[s].captures[i]) / c->sides[s].count;
  if (!(fabs(mhz[NAI_CANDIDATE] / mhz[NAI_BASE] - 1) > allowed))
    return NAI_OK;
  for (int s = 0; s < NAI_SIDES; s++)
    check.says[s] = nai_arena_printf(&c->arena, "%.0f MHz", mhz[s]);
  return nai_check_add(c, check, err);
}

int nai_check_conditions(struct nai_comparison *c, struct nai_err *err) {
  NAI_TRY(check_profiler_options(c, err));
  return check_clock(c, err);
}
