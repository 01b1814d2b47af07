/* Rows of capture_health on the course of the run: start-up, work, pauses, tear-down, what is paid once. */
#include "analyses/analysis.h"
#include "analyses/health/health_checks.h"

#include "base/fmt.h"
#include "table/table.h"
#include "tables/active_spans.h"
#include "tables/gpu_active.h"

#include <string.h>

/* Of a column of gpu_active. */
static int64_t least(const struct nai_table *t, int column) {
  int64_t found = NAI_NULL_I64;
  for (int64_t i = 0; i < t->rows; i++) {
    int64_t v = nai_get_i64(t, i, column);
    if (v != NAI_NULL_I64 && (found == NAI_NULL_I64 || v < found))
      found = v;
  }
  return found;
}

static void put_stretch(struct nai_health_checks *c, const char *check, enum nai_health_state state, int64_t start,
                        int64_t end) {
  nai_health_place(c, nai_health_put(c, check, state, NAI_NULL_I64, end - start), start, end);
}

/* A stretch of so much of the capture, in percent, without CUDA is worth a note. */
enum { HALF = 50 };

static void check_before(struct nai_health_checks *c) {
  const struct nai_health *h = &c->h;
  if (h->first_call == NAI_NULL_I64) {
    nai_buf_puts(&c->said, "no CUDA call is recorded");
    nai_health_put(c, "before_first_cuda_call", HEALTH_UNKNOWN, NAI_NULL_I64, NAI_NULL_I64);
    return;
  }
  int64_t ns = h->first_call - h->begin;
  if (!h->whole)
    nai_buf_puts(&c->said, "the events begin in the middle of the run; ");
  nai_health_say_time(c, "", ns, " before the first CUDA call");
  if (h->profiler_start_ns)
    nai_health_say_time(c, ", of it ", h->profiler_start_ns, " initialisation of the profiler");
  double own = nai_percent((double)(ns - h->profiler_start_ns), (double)h->capture_ns);
  if (!h->host_watched)
    nai_buf_puts(&c->said, "; what the CPU did then was not recorded");
  put_stretch(c, "before_first_cuda_call", own >= HALF && h->host_watched ? HEALTH_NOTE : HEALTH_OK, h->begin,
              h->first_call);
}

/* From `from` until the first GPU begins to work, at t: how much of it are pauses of that GPU. */
static int64_t pauses_before(const struct nai_health_checks *c, int64_t from, int64_t t) {
  int64_t ns = 0, device = NAI_NULL_I64;
  for (int64_t i = 0; i < c->active->rows && device == NAI_NULL_I64; i++)
    device = nai_get_i64(c->active, i, GPU_ACTIVE_active_start_ns) == t
               ? nai_get_i64(c->active, i, GPU_ACTIVE_device_id)
               : NAI_NULL_I64;
  for (int64_t i = 0; i < c->spans->rows; i++) {
    int64_t start = nai_get_i64(c->spans, i, ACTIVE_SPANS_start_ns),
            end = nai_get_i64(c->spans, i, ACTIVE_SPANS_end_ns);
    start = start > from ? start : from;
    if (nai_get_i64(c->spans, i, ACTIVE_SPANS_device_id) == device && end <= t && end > start &&
        strcmp(nai_get_str(c->spans, i, ACTIVE_SPANS_kind), NAI_SPAN_PAUSE) == 0)
      ns += end - start;
  }
  return ns;
}

static void check_set_up(struct nai_health_checks *c) {
  int64_t start = c->h.first_call, end = least(c->active, GPU_ACTIVE_active_start_ns);
  if (start == NAI_NULL_I64 || end == NAI_NULL_I64 || end < start) {
    nai_buf_puts(&c->said, start == NAI_NULL_I64 || end == NAI_NULL_I64
                               ? "not both calls and GPU work are recorded"
                               : "the work had begun before the first recorded call");
    nai_health_put(c, "set_up", HEALTH_UNKNOWN, NAI_NULL_I64, NAI_NULL_I64);
    return;
  }
  int64_t pauses = pauses_before(c, start, end), ns = end - start - pauses;
  nai_health_say_time(c, "", ns, " from the first CUDA call to the first span of work");
  if (pauses)
    nai_health_say_time(c, ", besides ", pauses, " of pauses");
  nai_health_place(c, nai_health_put(c, "set_up", HEALTH_OK, NAI_NULL_I64, ns), start, end);
}

static void check_active(struct nai_health_checks *c) {
  int64_t spans = 0, pauses = 0, longest = -1;
  for (int64_t i = 0; i < c->spans->rows; i++) {
    bool pause = strcmp(nai_get_str(c->spans, i, ACTIVE_SPANS_kind), NAI_SPAN_PAUSE) == 0;
    spans += strcmp(nai_get_str(c->spans, i, ACTIVE_SPANS_kind), NAI_SPAN_ACTIVE) == 0;
    pauses += pause;
    if (pause && (longest < 0 || nai_get_i64(c->spans, i, ACTIVE_SPANS_duration_ns) >
                                     nai_get_i64(c->spans, longest, ACTIVE_SPANS_duration_ns)))
      longest = i;
  }
  int64_t active = nai_health_greatest(c->active, GPU_ACTIVE_active_ns);
  nai_health_say_count(c, spans, "span");
  nai_buf_puts(&c->said, " of work on ");
  nai_health_say_count(c, c->active->rows, "GPU");
  if (active != NAI_NULL_I64)
    nai_health_say_time(c, ", up to ", active, " on one of them");
  int64_t row = nai_health_put(c, "active", c->active->rows ? HEALTH_OK : HEALTH_UNKNOWN, spans, active);
  nai_health_place(c, row, least(c->active, GPU_ACTIVE_active_start_ns),
                   nai_health_greatest(c->active, GPU_ACTIVE_active_end_ns));

  nai_health_say_count(c, pauses, "pause");
  if (longest >= 0) {
    nai_health_say_time(c, ", the longest ", nai_get_i64(c->spans, longest, ACTIVE_SPANS_duration_ns), ": ");
    nai_buf_puts(&c->said, nai_get_str(c->spans, longest, ACTIVE_SPANS_cause));
    if (*nai_get_str(c->spans, longest, ACTIVE_SPANS_what))
      nai_buf_printf(&c->said, ", %s", nai_get_str(c->spans, longest, ACTIVE_SPANS_what));
  }
  row = nai_health_put(c, "pauses",
                       pauses            ? HEALTH_NOTE
                       : c->active->rows ? HEALTH_OK
                                         : HEALTH_UNKNOWN,
                       pauses, nai_health_greatest(c->active, GPU_ACTIVE_pause_ns));
  if (longest >= 0)
    nai_health_place(c, row, nai_get_i64(c->spans, longest, ACTIVE_SPANS_start_ns),
                     nai_get_i64(c->spans, longest, ACTIVE_SPANS_end_ns));
}

static void check_end(struct nai_health_checks *c) {
  const struct nai_health *h = &c->h;
  int64_t work = h->last_operation_end, call = h->last_call_end, end = h->begin + h->capture_ns;
  if (h->whole)
    end = h->capture_ns;
  if (work == NAI_NULL_I64 || call == NAI_NULL_I64) {
    nai_buf_puts(&c->said, "not both calls and GPU work are recorded");
    nai_health_put(c, "tear_down", HEALTH_UNKNOWN, NAI_NULL_I64, NAI_NULL_I64);
  } else {
    nai_health_say_time(c, "", call > work ? call - work : 0,
                        " from the last GPU work to the end of the last CUDA call");
    put_stretch(c, "tear_down", HEALTH_OK, work, call > work ? call : work);
  }
  if (call == NAI_NULL_I64 || !h->whole || end < call)
    return;
  nai_health_say_time(c, "", end - call, " after the last CUDA call");
  double share = nai_percent((double)(end - call), (double)h->capture_ns);
  put_stretch(c, "after_last_cuda_call", share >= HALF ? HEALTH_NOTE : HEALTH_OK, call, end);
}

static void check_repetition(struct nai_health_checks *c) {
  int64_t steady = 0, fewest = least(c->active, GPU_ACTIVE_kernel_count);
  for (int64_t i = 0; i < c->active->rows; i++)
    steady += nai_get_i64(c->active, i, GPU_ACTIVE_steady) == 1;
  nai_fmt_count(&c->said, steady);
  nai_buf_puts(&c->said, " of ");
  nai_health_say_count(c, c->active->rows, "GPU");
  nai_buf_puts(&c->said, " with work that repeats");
  if (steady < c->active->rows) {
    nai_buf_puts(&c->said, "; ");
    nai_health_say_count(c, fewest, "kernel");
    nai_buf_puts(&c->said, " on one without: statistics of a single pass say little on how it runs when warm");
  }
  nai_health_put(c, "steady_state",
                 !c->active->rows            ? HEALTH_UNKNOWN
                 : steady == c->active->rows ? HEALTH_OK
                                             : HEALTH_NOTE,
                 steady, NAI_NULL_I64);
}

static void check_first_use(struct nai_health_checks *c) {
  const struct nai_first_use *f = &c->first_use;
  int64_t kinds = (f->contexts > 0) + (f->loading_rows > 0) + (f->loading_calls > 0) + (f->slow_launches > 0);
  if (f->context_call) {
    nai_buf_puts(&c->said, f->context_call);
    nai_health_say_time(c, ", the longest call before any work, ", f->context_ns, ", mostly to create the context");
    if (f->contexts > 1) {
      nai_buf_puts(&c->said, "; ");
      nai_fmt_count(&c->said, f->contexts);
      nai_buf_puts(&c->said, " processes each make such a call");
    }
  }
  if (f->loading_rows) {
    nai_buf_puts(&c->said, c->said.len ? "; " : "");
    nai_health_say_count(c, f->loading_rows, "record");
    nai_health_say_time(c, " of code being loaded, ", f->loading_rows_ns, "");
  }
  if (f->loading_calls) {
    nai_buf_puts(&c->said, c->said.len ? "; " : "");
    nai_health_say_count(c, f->loading_calls, "loading call");
    nai_health_say_time(c, ", ", f->loading_calls_ns, "");
  }
  if (f->slow_launches) {
    nai_buf_puts(&c->said, c->said.len ? "; " : "");
    nai_health_say_count(c, f->slow_launches, "first launch");
    nai_health_say_time(c, f->slow_launches > 1 ? ", together " : ", ", f->slow_launches_ns,
                        " longer than usual: loading or compiling");
  }
  bool seen = c->m->apis.n || c->h.operations;
  if (!kinds)
    nai_buf_puts(&c->said, seen ? "nothing that is paid once: the capture began warm, or the export does not tell"
                                : "no CUDA call is recorded");
  nai_health_put(c, "first_use",
                 kinds  ? HEALTH_NOTE
                 : seen ? HEALTH_OK
                        : HEALTH_UNKNOWN,
                 kinds, seen ? f->total_ns : NAI_NULL_I64);
}

void nai_health_check_stages(struct nai_health_checks *c) {
  check_before(c);
  check_set_up(c);
  check_active(c);
  check_end(c);
  check_repetition(c);
  check_first_use(c);
}
