/* Where does the capture's wall time go? Table capture_time. Each moment is assigned once: to what GPUs do, else to
 * what is paid once, else to where in the course of the run it lies. */
#include "analyses/health/health.h"
#include "model/calls/call_class.h"
#include "model/cpu/activity.h"
#include "model/idle/idle.h"
#include "model/health/capture.h"
#include "tables/active_spans.h"
#include "tables/capture_time.h"
#include "tables/osrt_events.h"
#include "tables/overhead_events.h"
#include "tables/threads.h"

enum { MAX_PARTS = 40 };

struct part {
  enum nai_capture_phase phase;
  const char *name;
  int64_t ns, start, end;
};

struct division {
  const struct nai_health_checks *c;
  struct nai_intervals left;           /* what no part has yet */
  struct nai_intervals active, set_up; /* spans of any GPU */
  struct nai_intervals profiler, calls, input;
  int64_t work, done; /* of GPUs: from the first span to the last */
  struct part parts[MAX_PARTS];
  uint32_t count;
  int64_t end; /* of the capture */
};

static void division_free(struct division *d) {
  nai_intervals_free(&d->left);
  nai_intervals_free(&d->active);
  nai_intervals_free(&d->set_up);
  nai_intervals_free(&d->profiler);
  nai_intervals_free(&d->calls);
  nai_intervals_free(&d->input);
}

static void add(struct division *d, enum nai_capture_phase phase, const char *name, int64_t ns, int64_t start,
                int64_t end) {
  uint32_t i = 0;
  while (i < d->count && (d->parts[i].phase != phase || strcmp(d->parts[i].name, name) != 0))
    i++;
  if (ns <= 0 || i == MAX_PARTS)
    return;
  if (i == d->count)
    d->parts[d->count++] = (struct part){phase, name, 0, start, end};
  struct part *part = &d->parts[i];
  part->ns += ns;
  part->start = start < part->start ? start : part->start;
  part->end = end > part->end ? end : part->end;
}

/* --- sets of time --------------------------------------------------------------------------------- */

static void replace(struct nai_intervals *set, struct nai_intervals with) {
  with.oom |= set->oom;
  nai_intervals_free(set);
  *set = with;
}

/* From the first moment that two sets share to the last. They share some. */
static struct nai_interval span_of_both(const struct nai_intervals *a, const struct nai_intervals *b) {
  const struct nai_interval *x = a->v, *y = b->v;
  while (x->end <= y->start || y->end <= x->start)
    x->end < y->end ? x++ : y++;
  int64_t start = x->start > y->start ? x->start : y->start;
  for (x = a->v + a->count - 1, y = b->v + b->count - 1; x->end <= y->start || y->end <= x->start;)
    x->start > y->start ? x-- : y--;
  return (struct nai_interval){start, x->end < y->end ? x->end : y->end};
}

/* What of a set is left goes to a part. */
static void take(struct division *d, enum nai_capture_phase phase, const char *name, const struct nai_intervals *set) {
  struct nai_intervals rest = {0};
  if (!set->count)
    return;
  nai_intervals_subtract(&rest, &d->left, set);
  int64_t ns = rest.oom ? 0 : nai_intervals_total_ns(&d->left) - nai_intervals_total_ns(&rest);
  if (ns) {
    const struct nai_interval span = span_of_both(&d->left, set);
    add(d, phase, name, ns, span.start, span.end);
  }
  replace(&d->left, rest);
}

/* The same within `within`. */
static void take_within(struct division *d, enum nai_capture_phase phase, const char *name,
                        const struct nai_intervals *set, const struct nai_intervals *within) {
  NAI_SCOPED(nai_intervals) both = {0};
  size_t at = set->count ? nai_intervals_after(within, set->v->start) : within->count;
  bool inside =
      at < within->count && within->v[at].start <= set->v->start && set->v[set->count - 1].end <= within->v[at].end;
  if (!inside)
    nai_intervals_intersect(&both, set, within);
  d->left.oom |= both.oom;
  take(d, phase, name, inside ? set : &both);
}

/* What of [start, end) is left goes to a phase: to first use, to the profiler, to CUDA calls, to waits for input, and
 * the rest to `rest`. */
static void take_stretch(struct division *d, enum nai_capture_phase phase, int64_t start, int64_t end,
                         const char *rest) {
  struct nai_intervals within = {.v = &(struct nai_interval){start, end}, .count = 1};
  if (start >= end)
    return;
  take_within(d, phase, "first_use", &d->c->first_use.once, &within);
  take_within(d, phase, "profiler", &d->profiler, &within);
  take_within(d, phase, "calls", &d->calls, &within);
  take_within(d, phase, NAI_CAPTURE_INPUT, &d->input, &within);
  take(d, phase, rest, &within);
}

/* --- GPUs ----------------------------------------------------------------------------------------- */

/* What computes on a GPU, per GPU. */
static int gather_compute(struct nai_intervals **out, struct division *d, struct nai_err *err) {
  const struct nai_model *m = d->c->m;
  NAI_TRY(NAI_NEW(*out, d->c->io->arena, m->gpu_count, err));
  for (uint32_t g = 0; g < m->gpu_count; g++) {
    NAI_SCOPED(nai_intervals) running = {0};
    nai_intervals_subtract(&running, &m->gpus[g].all, &m->gpus[g].exposed_copy);
    (*out)[g].arena = d->c->io->arena;
    nai_intervals_subtract(&(*out)[g], &running, &m->gpus[g].exposed_communication);
  }
  return NAI_OK;
}

/* Compute of any GPU goes before communication, and that before copies. Of idle time between spans, more is said. */
static void take_spans(struct division *d, const struct nai_intervals *compute, enum nai_capture_phase phase,
                       const struct nai_intervals *within) {
  const struct nai_model *m = d->c->m;
  for (uint32_t g = 0; g < m->gpu_count; g++)
    take_within(d, phase, "compute", &compute[g], within);
  for (uint32_t g = 0; g < m->gpu_count; g++)
    take_within(d, phase, "communication", &m->gpus[g].exposed_communication, within);
  for (uint32_t g = 0; g < m->gpu_count; g++)
    take_within(d, phase, "copy", &m->gpus[g].exposed_copy, within);
  take_within(d, phase, "first_use", &d->c->first_use.once, within);
  if (phase != NAI_CAPTURE_BETWEEN)
    take(d, phase, "idle", within);
}

/* Spans that are no pauses, of any GPU: what is active goes before set-up, and what checks results is neither. */
static int gather_spans(struct division *d, struct nai_err *err) {
  const struct nai_table *spans = d->c->spans;
  struct nai_interval *active, *set_up;
  size_t actives = 0, set_ups = 0;
  NAI_TRY(NAI_NEW(active, d->c->io->arena, (size_t)spans->rows, err));
  NAI_TRY(NAI_NEW(set_up, d->c->io->arena, (size_t)spans->rows, err));
  d->work = INT64_MAX;
  for (int64_t i = 0; i < spans->rows; i++) {
    const struct ACTIVE_SPANS_row span = ACTIVE_SPANS_at(spans, i);
    struct nai_interval at = {span.start_ns, span.end_ns};
    if (strcmp(span.kind, NAI_SPAN_PAUSE) == 0)
      continue;
    d->work = at.start < d->work ? at.start : d->work;
    d->done = at.end > d->done ? at.end : d->done;
    if (strcmp(span.kind, NAI_SPAN_ACTIVE) == 0)
      active[actives++] = at;
    else if (strcmp(span.kind, NAI_SPAN_SET_UP) == 0)
      set_up[set_ups++] = at;
  }
  nai_intervals_gather(&d->active, active, actives);
  nai_intervals_gather(&d->set_up, set_up, set_ups);
  return d->active.oom || d->set_up.oom ? nai_err_nomem(err) : NAI_OK;
}

/* --- the host ------------------------------------------------------------------------------------- */

static int gather_profiler(struct division *d, struct nai_err *err) {
  const struct nai_table *t = d->c->m->tables[NAI_IN_OVERHEAD];
  struct nai_interval *v;
  size_t count = 0;
  NAI_TRY(NAI_NEW(v, d->c->io->arena, (size_t)t->rows, err));
  for (int64_t i = 0; i < t->rows; i++)
    if (nai_is_profilers(d->c->m, i))
      v[count++] =
          (struct nai_interval){nai_get_i64(t, i, OVERHEAD_EVENTS_start_ns), nai_get_i64(t, i, OVERHEAD_EVENTS_end_ns)};
  nai_intervals_gather(&d->profiler, v, count);
  return d->profiler.oom ? nai_err_nomem(err) : NAI_OK;
}

/* What the calls of a class cover of what is left; a class below 0: of any. */
static int gather_calls(struct nai_intervals *out, const struct division *d, const int *class_of, int class,
                        struct nai_err *err) {
  const struct nai_model *m = d->c->m;
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(m->scratch_dir);
  struct nai_interval *v = NULL;
  uint32_t count = 0, capacity = 0;
  const struct nai_column starts = m->apis.start_ns, ends = m->apis.end_ns;
  const struct nai_interval *left = d->left.v, *end = left + d->left.count;
  const struct nai_interval *next =
      left; /* the first that ends behind the start of a call; calls are nearly in order */
  for (uint32_t i = 0; i < m->apis.n; i++) {
    int64_t start = nai_val(&starts, i);
    if (class >= 0 && class_of[nai_val_text(&m->apis.name, i)] != class)
      continue;
    if (next > left && next[-1].end > start)
      next = left + nai_intervals_after(&d->left, start);
    while (next < end && next->end <= start)
      next++;
    if (next == end || next->start >= nai_val(&ends, i))
      continue;
    NAI_TRY(NAI_ROOM(v, capacity, count, &arena, err));
    v[count++] = (struct nai_interval){start, nai_val(&ends, i)};
  }
  nai_intervals_gather(out, v, count);
  return out->oom ? nai_err_nomem(err) : NAI_OK;
}

enum host_class { CLASS_LAUNCH, CLASS_COPY, CLASS_ALLOCATION, CLASS_WAIT, CLASS_OTHER, CLASSES };

static int host_class_of(const char *name) {
  switch (nai_call_class_of(name)) {
  case NAI_CALL_CLASS_LAUNCH:
  case NAI_CALL_CLASS_GRAPH_LAUNCH:
    return CLASS_LAUNCH;
  case NAI_CALL_CLASS_COPY:
  case NAI_CALL_CLASS_BLOCKING_COPY:
    return CLASS_COPY;
  case NAI_CALL_CLASS_ALLOCATION:
  case NAI_CALL_CLASS_FREE:
    return CLASS_ALLOCATION;
  case NAI_CALL_CLASS_BLOCKING:
    return CLASS_WAIT;
  default:
    return CLASS_OTHER;
  }
}

/* Without GPU work: what CUDA calls are for. */
static int take_calls(struct division *d, struct nai_err *err) {
  static const char *const names[] = {"launch", "copy", "allocation", "wait", "other calls"};
  const struct nai_strings *texts = &d->c->m->tables[NAI_IN_APIS]->strings;
  int *class_of;
  NAI_TRY(NAI_NEW(class_of, d->c->io->arena, texts->count, err));
  for (uint32_t i = 0; i < texts->count; i++)
    class_of[i] = host_class_of(nai_strings_get(texts, i));
  for (int class = 0; class < CLASSES; class ++) {
    NAI_SCOPED(nai_intervals) calls = {0};
    NAI_TRY(gather_calls(&calls, d, class_of, class, err));
    take(d, NAI_CAPTURE_CALLS, names[class], &calls);
  }
  return NAI_OK;
}

/* Without a CUDA call: ranges are what there is. */
static int take_ranges(struct division *d, struct nai_err *err) {
  const struct nai_model *m = d->c->m;
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(m->scratch_dir);
  NAI_SCOPED(nai_intervals) ranges = {0};
  struct nai_interval *v;
  NAI_TRY(NAI_NEW(v, &arena, m->nvtx.n, err));
  for (uint32_t i = 0; i < m->nvtx.n; i++)
    v[i] = (struct nai_interval){nai_val(&m->nvtx.start_ns, i), nai_val(&m->nvtx.end_ns, i)};
  nai_intervals_gather(&ranges, v, m->nvtx.n);
  take(d, NAI_CAPTURE_HOST, "ranges", &ranges);
  return ranges.oom ? nai_err_nomem(err) : NAI_OK;
}

/* The thread whose waits are looked at: the one with most CUDA calls; without any, the first main thread with OS calls.
 * -1: none. */
static int32_t main_thread(const struct nai_model *m, const struct nai_groups *os) {
  const struct nai_groups *calls = &m->api_by_thread;
  const struct nai_table *threads = m->tables[NAI_IN_THREADS];
  int32_t found = -1;
  for (uint32_t t = 0, most = 0; t < m->thread_count; t++) {
    uint32_t count = calls->first[t + 1] - calls->first[t];
    bool leads = nai_get_i64(threads, t, THREADS_pid) == nai_get_i64(threads, t, THREADS_tid);
    if (count > most || (!most && found < 0 && leads && os->first[t] < os->first[t + 1])) {
      most = count;
      found = (int32_t)t;
    }
  }
  return found;
}

enum os_kind { OS_OTHER, OS_WAITS, OS_READS, OS_INPUT };

/* Per name of an OS runtime call. */
static int list_os_kinds(enum os_kind **out, const struct nai_table *t, struct nai_arena *arena, struct nai_err *err) {
  static const enum os_kind kinds[] = {
      [NAI_OSRT_OTHER] = OS_OTHER, [NAI_OSRT_LOCK] = OS_WAITS,  [NAI_OSRT_IO] = OS_READS,
      [NAI_OSRT_POLL] = OS_WAITS,  [NAI_OSRT_SLEEP] = OS_WAITS, [NAI_OSRT_PROCESS] = OS_WAITS};
  NAI_TRY(NAI_NEW(*out, arena, t->strings.count, err));
  for (uint32_t i = 0; i < t->strings.count; i++) {
    const char *name = nai_strings_get(&t->strings, i);
    (*out)[i] = nai_osrt_reads_input(name) ? OS_INPUT : kinds[nai_osrt_class(name)];
  }
  return NAI_OK;
}

/* Where that thread is in a call of a kind in [start, end). Input that comes at once is a file's. */
static int gather_os_calls(struct nai_intervals *out, const struct nai_model *m, const enum os_kind *kind_of,
                           enum os_kind kind, int64_t start, int64_t end, struct nai_err *err) {
  enum { SOMEBODY_NS = 100 * 1000 * 1000 };
  const struct nai_table *t = m->tables[NAI_IN_OSRT];
  const struct nai_groups *os = nai_model_osrt_calls(m);
  const struct nai_column names = nai_table_column(t, OSRT_EVENTS_name);
  const int32_t thread = os ? main_thread(m, os) : -1;
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(m->scratch_dir);
  struct nai_interval *v;
  uint32_t count = 0;
  if (thread < 0)
    return NAI_OK;
  NAI_TRY(NAI_NEW(v, &arena, os->first[thread + 1] - os->first[thread], err));
  for (uint32_t i = os->first[thread]; i < os->first[thread + 1]; i++) {
    uint32_t row = os->order[i];
    struct nai_interval call = {nai_get_i64(t, row, OSRT_EVENTS_start_ns), nai_get_i64(t, row, OSRT_EVENTS_end_ns)};
    enum os_kind is = kind_of[nai_at_text(&names, row)];
    is = is == OS_INPUT && call.end - call.start < SOMEBODY_NS ? OS_READS : is;
    call.start = call.start > start ? call.start : start;
    call.end = call.end < end ? call.end : end;
    if (call.start < call.end && is == kind)
      v[count++] = call;
  }
  nai_intervals_gather(out, v, count);
  return out->oom ? nai_err_nomem(err) : NAI_OK;
}

/* Without GPU work: what that thread asked the operating system for in [start, end), of what is left. */
static int take_os_calls(struct division *d, enum nai_capture_phase phase, int64_t start, int64_t end,
                         struct nai_err *err) {
  NAI_SCOPED(nai_intervals) waits = {0};
  NAI_SCOPED(nai_intervals) reads = {0};
  enum os_kind *kind_of;
  NAI_TRY(list_os_kinds(&kind_of, d->c->m->tables[NAI_IN_OSRT], d->c->io->arena, err));
  NAI_TRY(gather_os_calls(&waits, d->c->m, kind_of, OS_WAITS, start, end, err));
  NAI_TRY(gather_os_calls(&reads, d->c->m, kind_of, OS_READS, start, end, err));
  take(d, phase, "os_wait", &waits);
  take(d, phase, "io", &reads);
  return NAI_OK;
}

/* When the program waits for somebody: most programs call nothing that could. */
static int gather_input(struct division *d, struct nai_err *err) {
  const struct nai_table *t = d->c->m->tables[NAI_IN_OSRT];
  enum os_kind *kind_of;
  bool input = false;
  NAI_TRY(list_os_kinds(&kind_of, t, d->c->io->arena, err));
  for (uint32_t i = 0; i < t->strings.count; i++)
    input |= kind_of[i] == OS_INPUT;
  return input ? gather_os_calls(&d->input, d->c->m, kind_of, OS_INPUT, 0, d->end, err) : NAI_OK;
}

/* --- the course of the run ------------------------------------------------------------------------ */

static int divide_host(struct division *d, struct nai_err *err) {
  const struct nai_health *h = &d->c->h;
  bool calls = h->first_call != NAI_NULL_I64;
  if (!calls) {
    NAI_TRY(take_ranges(d, err));
    NAI_TRY(take_os_calls(d, NAI_CAPTURE_HOST, 0, d->end, err));
    take_stretch(d, NAI_CAPTURE_HOST, 0, d->end, "host");
    return NAI_OK;
  }
  take_stretch(d, NAI_CAPTURE_BEFORE, 0, h->first_call, "host");
  take(d, NAI_CAPTURE_CALLS, "first_use", &d->c->first_use.once);
  NAI_TRY(take_calls(d, err));
  NAI_TRY(take_os_calls(d, NAI_CAPTURE_CALLS, h->first_call, h->last_call_end, err));
  take_stretch(d, NAI_CAPTURE_CALLS, h->first_call, h->last_call_end, "host");
  take_stretch(d, NAI_CAPTURE_AFTER, h->last_call_end, d->end, "host");
  return NAI_OK;
}

static int divide_gpus(struct division *d, struct nai_err *err) {
  const struct nai_health *h = &d->c->h;
  const struct nai_intervals between = {.v = &(struct nai_interval){d->work, d->done}, .count = 1};
  int64_t first = h->first_call == NAI_NULL_I64 || h->first_call > d->work ? d->work : h->first_call;
  struct nai_intervals *compute;
  NAI_TRY(gather_compute(&compute, d, err));
  take_spans(d, compute, NAI_CAPTURE_GPU, &d->active);
  take_spans(d, compute, NAI_CAPTURE_SET_UP, &d->set_up);
  take_spans(d, compute, NAI_CAPTURE_BETWEEN, &between);
  NAI_TRY(gather_calls(&d->calls, d, NULL, -1, err));
  take_stretch(d, NAI_CAPTURE_BEFORE, 0, first, "host");
  take_stretch(d, NAI_CAPTURE_SET_UP, first, d->work, "host");
  take_stretch(d, NAI_CAPTURE_BETWEEN, d->work, d->done, "host");
  take_stretch(d, NAI_CAPTURE_AFTER, d->done, d->end, "host");
  return NAI_OK;
}

/* Whether the program's start is in the capture: something saw it, or CUDA is called for the first time. */
static bool start_is_recorded(const struct nai_health_checks *c) {
  return c->h.whole && (c->h.host_watched || c->h.profiler_start_ns || c->first_use.contexts);
}

/* The profiler's last work in a process. Before 2023 it has the name of any flush, behind the last CUDA call: then
 * *sure is false, and the program may go on. */
static bool program_has_exited(bool *sure, const struct nai_model *m, int64_t last_call) {
  const struct nai_table *t = m->tables[NAI_IN_OVERHEAD];
  bool flushed = false;
  *sure = false;
  for (int64_t i = 0; i < t->rows && !*sure; i++) {
    const char *name = nai_get_str(t, i, OVERHEAD_EVENTS_name);
    const bool flush = strcmp(name, "CUDA profiling data flush") == 0 || strstr(name, "data flush overhead");
    *sure = strstr(name, "flush on process exit") != NULL;
    flushed = flushed || (flush && nai_get_i64(t, i, OVERHEAD_EVENTS_start_ns) >= last_call);
  }
  return *sure || flushed;
}

/* A program whose output tells of a failure before it launched anything; scheduling tells when it ran last. */
static bool program_gave_up(const struct nai_health_checks *c) {
  return c->h.failure_kinds && !c->h.launches && !c->h.operations && c->m->cpu->sched.thread_count;
}

/* The last sign of processes that call CUDA, of all where none does, and of what ran for them. */
static int find_last_sign(int64_t *last, const struct nai_health_checks *c, struct nai_err *err) {
  const struct nai_model *m = c->m;
  bool *calls;
  NAI_TRY(NAI_NEW(calls, c->io->arena, m->process_count, err));
  *last = c->h.last_event;
  for (uint32_t t = 0; t < m->thread_count; t++)
    if (m->thread_process[t] >= 0 && m->api_by_thread.first[t + 1] > m->api_by_thread.first[t])
      calls[m->thread_process[t]] = true;
  for (uint32_t t = 0; t < m->thread_count; t++) {
    const bool of_program = m->thread_process[t] >= 0 && (calls[m->thread_process[t]] || !m->apis.n);
    const int64_t seen = of_program ? nai_thread_seen(m, (int32_t)t, true) : NAI_NULL_I64;
    *last = seen != NAI_NULL_I64 && seen > *last ? seen : *last;
  }
  return NAI_OK;
}

/* A cut of a longer session, and a capture that goes on behind the program's exit: events are what there is. */
static int take_not_recorded(struct division *d, struct nai_err *err) {
  const struct nai_health *h = &d->c->h;
  struct nai_interval head = {0, h->first_event}, tail = {h->last_event, d->end};
  bool sure;
  const bool exited = (program_has_exited(&sure, d->c->m, h->last_call_end) || program_gave_up(d->c)) && h->whole;
  if (h->first_event == NAI_NULL_I64 && !exited)
    return NAI_OK;
  if (h->first_event != NAI_NULL_I64 && !start_is_recorded(d->c) && head.start < head.end)
    take(d, NAI_CAPTURE_NOT_RECORDED, "host", &(struct nai_intervals){.v = &head, .count = 1});
  if (exited && !sure)
    NAI_TRY(find_last_sign(&tail.start, d->c, err));
  if ((!h->whole || exited) && tail.start < tail.end)
    take(d, exited ? NAI_CAPTURE_EXITED : NAI_CAPTURE_NOT_RECORDED, "host",
         &(struct nai_intervals){.v = &tail, .count = 1});
  return NAI_OK;
}

static void put_parts(const struct division *d) {
  for (int phase = 0; phase < NAI_CAPTURE_PHASE_COUNT; phase++)
    for (uint32_t i = 0; i < d->count; i++) {
      const struct part *part = &d->parts[i];
      if ((int)part->phase == phase)
        NAI_ADD(CAPTURE_TIME, d->c->io->out[1], .phase = nai_phase_labels[phase].value, .part = part->name,
                .duration_ns = part->ns, .pct_of_capture = nai_percent((double)part->ns, (double)d->end),
                .counted = nai_capture_phase_is_recorded(phase) && strcmp(part->name, NAI_CAPTURE_INPUT) != 0,
                .start_ns = part->start, .end_ns = part->end);
    }
}

int nai_capture_time_put(const struct nai_health_checks *c, struct nai_err *err) {
  NAI_SCOPED(division) d = {.c = c, .end = c->h.capture_ns > c->h.last_event ? c->h.capture_ns : c->h.last_event};
  nai_intervals_add(&d.left, 0, d.end);
  NAI_TRY(gather_profiler(&d, err));
  NAI_TRY(gather_input(&d, err));
  NAI_TRY(take_not_recorded(&d, err));
  NAI_TRY(gather_spans(&d, err));
  NAI_TRY(d.done ? divide_gpus(&d, err) : divide_host(&d, err));
  put_parts(&d);
  return d.left.oom ? nai_err_nomem(err) : NAI_OK;
}
