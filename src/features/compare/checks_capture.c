/* What captures differ in that may explain a difference: options of the profiler, clocks. Never more than caveats. */
#include "features/compare/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- options of the profiler ------------------------------------------------------------------ */

/* An option, and how many captures of each side have it. */
struct options {
  struct nai_strings names;
  uint32_t *captures[NAI_SIDES];
  uint32_t known[NAI_SIDES]; /* captures that say their options */
};

static const char *options_of(const struct nai_capture *capture) {
  return nai_cell_str(nai_capture_table(capture, "capture"), 0, "profiler_options");
}

static int count_options(struct options *o, const struct nai_comparison *c, struct nai_err *err) {
  enum { MOST = 256 };
  for (int s = 0; s < NAI_SIDES; s++) {
    o->captures[s] = calloc(MOST, sizeof *o->captures[s]);
    if (!o->captures[s])
      return nai_err_nomem(err);
    for (uint32_t i = 0; i < c->sides[s].count; i++) {
      const char *text = options_of(&c->sides[s].captures[i]);
      o->known[s] += *text != '\0';
      for (size_t len; *text; text += len + (text[len] == ' ')) {
        len = strcspn(text, " ");
        if (o->names.count == MOST)
          break;
        uint32_t at = nai_strings_add(&o->names, text, len);
        if (at == NAI_NO_STRING)
          return nai_err_nomem(err);
        if (at < MOST)
          o->captures[s][at]++;
      }
    }
  }
  return NAI_OK;
}

int nai_check_profiler_options(struct nai_comparison *c, struct nai_err *err) {
  struct options o = {0};
  struct nai_buf texts[NAI_SIDES] = {{0}};
  int rc = count_options(&o, c, err);
  /* Of a side that does not say its options nothing is known. */
  bool known = !rc && o.known[NAI_BASE] == c->sides[NAI_BASE].count && o.known[NAI_NEW] == c->sides[NAI_NEW].count;
  for (uint32_t i = 0; known && i < o.names.count; i++) {
    if (o.captures[NAI_BASE][i] == o.known[NAI_BASE] && o.captures[NAI_NEW][i] == o.known[NAI_NEW])
      continue;
    for (int s = 0; s < NAI_SIDES; s++)
      if (o.captures[s][i])
        nai_buf_printf(&texts[s], "%s%s", texts[s].len ? ", " : "", nai_strings_get(&o.names, i));
  }
  if (!rc && (texts[NAI_BASE].len || texts[NAI_NEW].len)) {
    for (int s = 0; s < NAI_SIDES; s++)
      if (!texts[s].len)
        nai_buf_puts(&texts[s], "without");
    rc = nai_check_add_with(c, texts,
                            (struct nai_check){.code = NAI_CHECK_PROFILER_OPTIONS,
                                               .level = NAI_CHECK_SOFT,
                                               .scope = NAI_SCOPE_NONE,
                                               .reason =
                                                   (char *)"captured with different options of the profiler, which "
                                                           "cost different amounts of time"},
                            err);
  }
  nai_check_free_texts(texts);
  nai_strings_free(&o.names);
  free(o.captures[NAI_BASE]);
  free(o.captures[NAI_NEW]);
  return rc;
}

/* --- clocks ----------------------------------------------------------------------------------- */

/* Mean over GPUs of a capture of the SMs' median clock while something ran, MHz; NaN where it was not sampled. */
static double clock_of(const struct nai_capture *capture) {
  const struct nai_table *t = nai_capture_table(capture, "gpu_metrics");
  double sum = 0, n = 0;
  for (int64_t row = 0; t && row < t->rows; row++) {
    double mhz = nai_cell_f64(t, row, "p50");
    if (strcmp(nai_cell_str(t, row, "during"), "busy") != 0 || isnan(mhz) ||
        !strstr(nai_cell_str(t, row, "metric"), "GPC Clock Frequency"))
      continue;
    sum += mhz;
    n++;
  }
  return n > 0 ? sum / n : NAN;
}

int nai_check_clock(struct nai_comparison *c, struct nai_err *err) {
  const double most = 0.02;
  struct nai_buf texts[NAI_SIDES] = {{0}};
  double mhz[NAI_SIDES] = {0, 0};
  int rc = NAI_OK;
  for (int s = 0; s < NAI_SIDES; s++) {
    for (uint32_t i = 0; i < c->sides[s].count; i++)
      mhz[s] += clock_of(&c->sides[s].captures[i]) / c->sides[s].count;
    nai_buf_printf(&texts[s], "%.0f MHz", mhz[s]);
  }
  if (fabs(mhz[NAI_NEW] / mhz[NAI_BASE] - 1) > most)
    rc = nai_check_add_with(
        c, texts,
        (struct nai_check){.code = NAI_CHECK_CLOCK,
                           .level = NAI_CHECK_SOFT,
                           .scope = NAI_SCOPE_NONE,
                           .reason =
                               (char *)"the SMs ran at different clocks while they worked: lock them, or look for "
                                       "power caps and heat"},
        err);
  nai_check_free_texts(texts);
  return rc;
}
