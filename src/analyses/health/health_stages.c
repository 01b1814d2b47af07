/* Rows of capture_health on the course of the run: start-up, work, pauses, tear-down, what is paid once. */
#include "analyses/health/health.h"
#include "tables/active_spans.h"
#include "tables/gpu_active.h"

static void put_unknown(const struct nai_health_checks *c, const char *check, const char *detail) {
  nai_health_put(c, check, HEALTH_UNKNOWN, NAI_NULL_I64, NAI_NULL_I64, "%s", detail);
}

static void put_stretch(const struct nai_health_checks *c, const char *check, enum nai_health_state state,
                        int64_t start, int64_t end, const char *detail) {
  nai_health_put_at(c, check, state, NAI_NULL_I64, end - start, (struct nai_interval){start, end}, detail);
}

/* A stretch of so much of the capture, in percent, without CUDA is worth a note. */
enum { HALF = 50, FIFTH = 20 };

static void check_before(const struct nai_health_checks *c) {
  const struct nai_health *h = &c->h;
  if (h->first_call == NAI_NULL_I64) {
    put_unknown(c, "before_first_cuda_call", "no CUDA call is recorded");
    return;
  }
  int64_t ns = h->first_call - h->begin;
  double own = nai_percent((double)(ns - h->profiler_start_ns), (double)h->capture_ns);
  const char *said =
      nai_health_say(c, "%s%s before the first CUDA call",
                     h->whole ? "" : "the events begin in the middle of the run; ", nai_health_time(c, ns));
  if (h->profiler_start_ns)
    said = nai_health_say(c, "%s, %s of that in the profiler's initialization", said,
                          nai_health_time(c, h->profiler_start_ns));
  if (!h->host_watched)
    said = nai_health_say(c, "%s; what the CPU did then was not recorded", said);
  put_stretch(c, "before_first_cuda_call", own >= FIFTH && h->host_watched ? HEALTH_NOTE : HEALTH_OK, h->begin,
              h->first_call, said);
}

/* From `from` until the first GPU begins to work, at t: how much of it are pauses of that GPU. */
static int64_t pauses_before(const struct nai_health_checks *c, int64_t from, int64_t t) {
  int64_t ns = 0, device = NAI_NULL_I64;
  for (int64_t i = 0; i < c->active->rows && device == NAI_NULL_I64; i++)
    device = nai_get_i64(c->active, i, GPU_ACTIVE_active_start_ns) == t
               ? nai_get_i64(c->active, i, GPU_ACTIVE_device_id)
               : NAI_NULL_I64;
  for (int64_t i = 0; i < c->spans->rows; i++) {
    struct ACTIVE_SPANS_row span = ACTIVE_SPANS_at(c->spans, i);
    int64_t start = span.start_ns > from ? span.start_ns : from;
    if (span.device_id == device && span.end_ns <= t && span.end_ns > start && strcmp(span.kind, NAI_SPAN_PAUSE) == 0)
      ns += span.end_ns - start;
  }
  return ns;
}

static void check_set_up(const struct nai_health_checks *c) {
  int64_t start = c->h.first_call, end = nai_health_extreme(c->active, GPU_ACTIVE_active_start_ns, false);
  if (start == NAI_NULL_I64 || end == NAI_NULL_I64 || end < start) {
    put_unknown(c, "set_up",
                start == NAI_NULL_I64 || end == NAI_NULL_I64 ? "not both calls and GPU work are recorded"
                                                             : "the work had begun before the first recorded call");
    return;
  }
  int64_t pauses = pauses_before(c, start, end), ns = end - start - pauses;
  const char *said = nai_health_say(c, "%s from the first CUDA call to the first span of work", nai_health_time(c, ns));
  if (pauses)
    said = nai_health_say(c, "%s, besides %s of pauses", said, nai_health_time(c, pauses));
  nai_health_put_at(c, "set_up", HEALTH_OK, NAI_NULL_I64, ns, (struct nai_interval){start, end}, said);
}

static void check_active(const struct nai_health_checks *c) {
  int64_t spans = 0, active = nai_health_extreme(c->active, GPU_ACTIVE_active_ns, true);
  for (int64_t i = 0; i < c->spans->rows; i++)
    spans += strcmp(nai_get_str(c->spans, i, ACTIVE_SPANS_kind), NAI_SPAN_ACTIVE) == 0;
  const char *said = nai_health_say(c, "%s of work on %s", nai_health_count(c, spans, "span"),
                                    nai_health_count(c, c->active->rows, "GPU"));
  if (active != NAI_NULL_I64)
    said = nai_health_say(c, "%s, up to %s on one of them", said, nai_health_time(c, active));
  nai_health_put_at(c, "active", c->active->rows ? HEALTH_OK : HEALTH_UNKNOWN, spans, active,
                    (struct nai_interval){nai_health_extreme(c->active, GPU_ACTIVE_active_start_ns, false),
                                          nai_health_extreme(c->active, GPU_ACTIVE_active_end_ns, true)},
                    said);
}

static void check_pauses(const struct nai_health_checks *c) {
  struct ACTIVE_SPANS_row longest = NAI_ROW(ACTIVE_SPANS);
  int64_t pauses = 0;
  for (int64_t i = 0; i < c->spans->rows; i++) {
    struct ACTIVE_SPANS_row span = ACTIVE_SPANS_at(c->spans, i);
    if (strcmp(span.kind, NAI_SPAN_PAUSE) == 0 && (!pauses++ || span.duration_ns > longest.duration_ns))
      longest = span;
  }
  const char *said = nai_health_count(c, pauses, "pause");
  if (pauses)
    said = nai_health_say(c, "%s, the longest %s: %s%s%s", said, nai_health_time(c, longest.duration_ns),
                          nai_column_label(&c->spans->schema->columns[ACTIVE_SPANS_cause], longest.cause),
                          *longest.what ? ", " : "", longest.what);
  nai_health_put_at(c, "pauses", nai_health_noted(pauses, c->active->rows), pauses,
                    nai_health_extreme(c->active, GPU_ACTIVE_pause_ns, true),
                    (struct nai_interval){longest.start_ns, longest.end_ns}, said);
}

static void check_end(const struct nai_health_checks *c) {
  const struct nai_health *h = &c->h;
  int64_t work = h->last_operation_end, call = h->last_call_end;
  if (work == NAI_NULL_I64 || call == NAI_NULL_I64)
    put_unknown(c, "tear_down", "not both calls and GPU work are recorded");
  else
    put_stretch(c, "tear_down", HEALTH_OK, work, call > work ? call : work,
                nai_health_say(c, "%s from the last GPU work to the end of the last CUDA call",
                               nai_health_time(c, call > work ? call - work : 0)));
  if (call == NAI_NULL_I64 || !h->whole || h->capture_ns < call)
    return;
  double share = nai_percent((double)(h->capture_ns - call), (double)h->capture_ns);
  put_stretch(c, "after_last_cuda_call", share >= HALF ? HEALTH_NOTE : HEALTH_OK, call, h->capture_ns,
              nai_health_say(c, "%s after the last CUDA call", nai_health_time(c, h->capture_ns - call)));
}

static void check_repetition(const struct nai_health_checks *c) {
  int64_t steady = 0, gpus = c->active->rows;
  for (int64_t i = 0; i < gpus; i++)
    steady += nai_get_i64(c->active, i, GPU_ACTIVE_steady) == 1;
  const char *said = nai_health_say(c, "%s of %s with work that repeats", nai_health_count(c, steady, ""),
                                    nai_health_count(c, gpus, "GPU"));
  if (steady < gpus)
    said = nai_health_say(c, "%s; %s on one without: statistics of a single pass say little on how it runs when warm",
                          said,
                          nai_health_count(c, nai_health_extreme(c->active, GPU_ACTIVE_kernel_count, false), "kernel"));
  nai_health_put(c, "steady_state", nai_health_noted(steady < gpus, gpus), steady, NAI_NULL_I64, "%s", said);
}

/* Of the call that makes the context, what follows once that is there; 0 where that is little, or not known. */
static int64_t after_context(const struct nai_first_use *f) {
  enum { LEAST_NS = 50 * 1000 * 1000 };
  const int64_t rest = f->ready_ns == NAI_NULL_I64 ? 0 : f->context_ns - f->ready_ns;
  return rest >= LEAST_NS && rest >= f->context_ns / 2 ? rest : 0;
}

static const char *say_context(const struct nai_health_checks *c, const struct nai_first_use *f) {
  const char *took = nai_health_time(c, f->context_ns);
  if (!after_context(f))
    return nai_health_say(c, "%s, the longest call before any work, %s, mostly to create the context", f->context_call,
                          took);
  if (!f->ready_ns)
    return nai_health_say(
        c, "%s, the longest call before any work, %s; the context was there before: likely loading of code",
        f->context_call, took);
  return nai_health_say(
      c,
      "%s, the longest call before any work, %s; its context was there after %s, what followed is likely loading of code",
      f->context_call, took, nai_health_time(c, f->ready_ns));
}

/* What is paid once, in words; "" for nothing. */
static const char *say_first_use(const struct nai_health_checks *c, const struct nai_first_use *f) {
  const char *said = "";
  if (f->context_call)
    said = say_context(c, f);
  if (f->contexts > 1)
    said = nai_health_say(c, "%s; %s processes each make such a call", said, nai_health_count(c, f->contexts, ""));
  if (f->unrecorded_ns)
    said = nai_health_say(c, "%s%s%s without a recorded call, in which the profiler attached to a new context", said,
                          *said ? "; " : "", nai_health_time(c, f->unrecorded_ns));
  if (f->loading_rows)
    said = nai_health_say(c, "%s%s%s of code being loaded, %s", said, *said ? "; " : "",
                          nai_health_count(c, f->loading_rows, "record"), nai_health_time(c, f->loading_rows_ns));
  if (f->loading_calls)
    said =
        nai_health_say(c, "%s%s%s, %s", said, *said ? "; " : "", nai_health_count(c, f->loading_calls, "loading call"),
                       nai_health_time(c, f->loading_calls_ns));
  if (f->slow_launches)
    said = nai_health_say(c, "%s%s%s, %s%s more than warm ones take: likely loading or compiling", said,
                          *said ? "; " : "", nai_health_count(c, f->slow_launches, "slow first launch"),
                          f->slow_launches > 1 ? "together " : "", nai_health_time(c, f->slow_launches_ns));
  return said;
}

static void check_first_use(const struct nai_health_checks *c) {
  const struct nai_first_use *f = &c->first_use;
  int64_t kinds = (f->contexts > 0) + (f->unrecorded_ns > 0) + (f->loading_rows > 0) + (f->loading_calls > 0) +
                  (f->slow_launches > 0);
  bool seen = c->m->apis.n || c->h.operations;
  nai_health_put(c, "first_use", nai_health_noted(kinds, seen), kinds, seen ? f->total_ns : NAI_NULL_I64, "%s",
                 kinds  ? say_first_use(c, f)
                 : seen ? "no one-time cost is seen: the capture began warm, or the export does not show it"
                        : "no CUDA call is recorded");
}

/* What loads code at the start, beside the context: another remedy. */
static void check_loading(const struct nai_health_checks *c) {
  const int64_t rest = after_context(&c->first_use);
  if (c->first_use.ready_ns != NAI_NULL_I64)
    nai_health_put(c, "code_loading", nai_health_noted(rest > 0, true), rest > 0, rest, "%s",
                   rest ? "the longest call before any work goes on after its context is there: likely it loads kernels"
                        : "the longest call before any work ends soon after its context is there");
}

void nai_health_check_stages(const struct nai_health_checks *c) {
  check_before(c);
  check_set_up(c);
  check_active(c);
  check_pauses(c);
  check_end(c);
  check_repetition(c);
  check_first_use(c);
  check_loading(c);
}
