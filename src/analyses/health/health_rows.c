/* How rows of capture_health are written. */
#include "analyses/health/health.h"
#include "base/fmt.h"
#include "tables/capture_health.h"

void nai_health_put_at(const struct nai_health_checks *c, const char *check, enum nai_health_state state, int64_t count,
                       int64_t ns, struct nai_interval at, const char *detail) {
  static const char *const names[] = {
      [HEALTH_OK] = "ok", [HEALTH_NOTE] = "note", [HEALTH_PROBLEM] = "problem", [HEALTH_UNKNOWN] = "unknown"};
  NAI_ADD(CAPTURE_HEALTH, c->io->out[0], .check = check, .state = names[state], .count = count, .time_ns = ns,
          .pct_of_capture = ns == NAI_NULL_I64 ? NAN : nai_percent((double)ns, (double)c->h.capture_ns),
          .detail = detail, .start_ns = at.start, .end_ns = at.end);
}

static const char *text_of(const struct nai_health_checks *c, const struct nai_buf *text) {
  c->io->arena->oom |= text->oom;
  return nai_health_say(c, "%s", nai_buf_str(text));
}

const char *nai_health_count(const struct nai_health_checks *c, int64_t n, const char *what) {
  NAI_SCOPED(nai_buf) text = {0};
  size_t len = strlen(what);
  bool es = len > 2 && strcmp(what + len - 2, "ch") == 0; /* launch, launches */
  nai_fmt_count(&text, n);
  if (len)
    nai_buf_printf(&text, " %s%s", what, n == 1 ? "" : es ? "es" : "s");
  return text_of(c, &text);
}

const char *nai_health_time(const struct nai_health_checks *c, int64_t ns) {
  NAI_SCOPED(nai_buf) text = {0};
  nai_fmt_duration(&text, (double)ns);
  return text_of(c, &text);
}

int64_t nai_health_extreme(const struct nai_table *t, int column, bool greatest) {
  int64_t found = NAI_NULL_I64;
  for (int64_t i = 0; i < t->rows; i++) {
    int64_t v = nai_get_i64(t, i, column);
    if (v != NAI_NULL_I64 && (found == NAI_NULL_I64 || (greatest ? v > found : v < found)))
      found = v;
  }
  return found;
}
