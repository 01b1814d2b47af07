#include "features/nights/store_internal.h"

#include <ctype.h>
#include <string.h>
#include <time.h>

int nai_store_check_name(const char *what, const char *name, struct nai_err *err) {
  bool ok = isalnum((unsigned char)name[0]) || name[0] == '_';
  for (const char *c = name; *c; c++)
    ok &= isalnum((unsigned char)*c) || strchr("._-", *c) != NULL;
  if (ok && strlen(name) < NAI_STORE_NAME_MAX)
    return NAI_OK;
  return nai_err_set(
      err, NAI_EUSAGE,
      "%s \"%.120s\" must begin with a letter, a digit or _, and hold only those, . and -, fewer than %d "
      "of them",
      what, name, NAI_STORE_NAME_MAX);
}

void nai_store_put_utc(struct nai_buf *out, int64_t utc_ns) {
  struct tm parts;
  char text[32];
  if (utc_ns == NAI_NULL_I64)
    return;
  time_t seconds = utc_ns / 1000000000 - (utc_ns % 1000000000 < 0);
  strftime(text, sizeof text, "%Y%m%dT%H%M%SZ", gmtime_r(&seconds, &parts));
  nai_buf_puts(out, text);
}

bool nai_store_matches(const char *series, const char *wanted) {
  size_t n = wanted ? strlen(wanted) : 0;
  return !wanted || (strncmp(series, wanted, n) == 0 && (!series[n] || series[n] == '/'));
}

bool nai_store_is_good(const struct nai_store_run *run) {
  return run->captures > 0 && !run->ignored && strcmp(run->status, "ok") == 0 && strcmp(run->verdict, "fail") != 0 &&
         strcmp(run->verdict, "error") != 0;
}
