#include "cmd/setters.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int nai_set_int(int64_t *out, const char *option, const char *text, int64_t min, int64_t max, struct nai_err *err) {
  char *end;
  errno = 0;
  long long v = strtoll(text, &end, 10);
  if (errno || end == text || *end || v < min || v > max)
    return nai_err_set(err, NAI_EUSAGE, "%s %.60s: expected a whole number from %" PRId64 " to %" PRId64, option, text,
                       min, max);
  *out = v;
  return NAI_OK;
}

int nai_set_number(double *out, const char *option, const char *text, double min, double max, struct nai_err *err) {
  char *end;
  double v = strtod(text, &end);
  if (end == text || *end || !isfinite(v) || v < min || v > max)
    return nai_err_set(err, NAI_EUSAGE, "%s %.60s: expected a number from %g to %g", option, text, min, max);
  *out = v;
  return NAI_OK;
}

int nai_set_seconds(int64_t *out_ns, const char *option, const char *text, struct nai_err *err) {
  double seconds = 0;
  int rc = nai_set_number(&seconds, option, text, -1e9, 1e9, err);
  *out_ns = (int64_t)llround(seconds * 1e9);
  return rc;
}

int nai_set_bytes(int64_t *out, const char *option, const char *text, struct nai_err *err) {
  static const char suffixes[] = "KMGT";
  char *end;
  double v = strtod(text, &end);
  const char *suffix = *end ? strchr(suffixes, *end) : NULL;
  for (const char *s = suffixes; suffix && s <= suffix; s++)
    v *= 1024;
  if (end == text || (*end && (!suffix || end[1])) || !(v >= 1) || v > 1e15)
    return nai_err_set(err, NAI_EUSAGE, "%s %.60s: expected a size such as 512M or 4G", option, text);
  *out = (int64_t)v;
  return NAI_OK;
}

int nai_set_jobs(struct nai_args *args, const char *const *values, struct nai_err *err) {
  int64_t n = 0;
  int rc = nai_set_int(&n, "-j", values[0], 1, 256, err);
  args->run.threads = (int)n;
  return rc;
}

int nai_set_reader(struct nai_args *args, const char *const *values, struct nai_err *err) {
  static const struct {
    const char *name;
    enum nai_reader_choice choice;
  } kinds[] = {{"auto", NAI_READER_AUTO}, {"direct", NAI_READER_DIRECT}, {"sqlite", NAI_READER_SQLITE}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (strcmp(values[0], kinds[i].name) == 0) {
      args->run.reader = kinds[i].choice;
      return NAI_OK;
    }
  return nai_err_set(err, NAI_EUSAGE, "--reader %.60s: expected auto, direct or sqlite", values[0]);
}

#define SWITCH(function, field)                                                         \
  int function(struct nai_args *args, const char *const *values, struct nai_err *err) { \
    (void)values, (void)err;                                                            \
    args->field = true;                                                                 \
    return NAI_OK;                                                                      \
  }
SWITCH(nai_set_quiet, quiet)
SWITCH(nai_set_verbose, verbose)
SWITCH(nai_set_json, json)
SWITCH(nai_set_help, help)
SWITCH(nai_set_check, run.check)
