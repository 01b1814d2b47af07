/* Reference partition of idle time, moment by moment, from the finished events.
 *
 * At any moment of a gap the cause follows from what was going on then; this asks anew at every moment where something
 * begins or ends. It knows neither what a wait did to the queue nor what an operation waited for: time that may be due
 * to a drained queue counts as what the host did, and a late start without visible reason as unknown.
 */
#include "gen/plan_internal.h"

#include <string.h>

enum { LATENCY_NS = 20000 };

struct moment {
  int64_t now;
  int64_t next; /* when something begins or ends */
};

/* Whether the interval holds the moment; either way its ends may be the next moment. */
static bool holds(struct moment *moment, int64_t start, int64_t end) {
  bool inside = start <= moment->now && moment->now < end;
  int64_t bound = inside ? end : start;
  if (bound > moment->now && bound < moment->next) {
    moment->next = bound;
  }
  return inside;
}

/* Bookkeeping of the profiler that stops nobody. */
static bool is_bookkeeping(const char *name) {
  return name && (strcmp(name, "TLS allocation") == 0 || strcmp(name, "Chunk Allocation") == 0);
}

/* Profiler or module loading of the launching thread, or a flush of another one of its process. */
static enum nai_gen_idle overhead_at(const struct nai_gen_plan *plan, int thread, struct moment *moment) {
  const struct nai_gen_overhead *overheads = plan->overheads.items;
  enum nai_gen_idle cause = IDLE_UNKNOWN;
  for (size_t i = 0; i < plan->overheads.count; i++) {
    const struct nai_gen_overhead *o = &overheads[i];
    bool loads = o->kind == 6 || o->kind == 7;
    bool mine = o->thread == thread;
    bool beside = !mine && !loads && plan->threads[o->thread].process == plan->threads[thread].process;
    bool counts = loads || (o->correlation < 0 && !is_bookkeeping(o->name));
    if ((mine || beside) && counts && holds(moment, o->start, o->end)) {
      cause = loads && cause != IDLE_PROFILER ? IDLE_MODULE_LOAD : IDLE_PROFILER;
    }
  }
  return cause;
}

static enum nai_gen_idle cause_of_call(enum nai_gen_api api) {
  switch (api) {
  case API_MALLOC:
  case API_HOST_ALLOC:
  case API_FREE:
  case API_MALLOC_ASYNC:
  case API_FREE_ASYNC:
  case API_DRIVER_ALLOC:
  case API_DRIVER_HOST_ALLOC:
    return IDLE_ALLOCATION;
  case API_MODULE_LOAD:
  case API_MODULE_UNLOAD:
    return IDLE_MODULE_LOAD;
  default: {
    enum nai_gen_api_class class = nai_gen_api(api)->class;
    return class == API_CLASS_BLOCKING || class == API_CLASS_COPY ? IDLE_BLOCKING_CALL : IDLE_CUDA_CALL;
  }
  }
}

/* What the launching thread did; its calls are planned in time order, so walk back from the launch. Own code before a
 * call that loads code makes what is loaded. */
static enum nai_gen_idle host_at(const struct nai_gen_plan *plan, int64_t launch, struct moment *moment) {
  const struct nai_gen_call *calls = plan->calls.items;
  bool loads = false;
  if (holds(moment, calls[launch].start, calls[launch].end)) {
    return IDLE_IN_LAUNCH_CALL;
  }
  for (int64_t i = launch - 1; i >= 0; i--) {
    if (calls[i].thread != calls[launch].thread) {
      continue;
    }
    if (holds(moment, calls[i].start, calls[i].end)) {
      return cause_of_call(calls[i].api);
    }
    if (calls[i].end <= moment->now) {
      break;
    }
    loads = loads || calls[i].api == API_MODULE_LOAD;
  }
  return loads ? IDLE_MODULE_LOAD : IDLE_HOST_CODE;
}

void nai_gen_sweep_gap(const struct nai_gen_plan *plan, struct nai_gen_gpu *gpu, int64_t launch, int64_t start,
                       int64_t end) {
  const struct nai_gen_call *call = launch < 0 ? NULL : (const struct nai_gen_call *)plan->calls.items + launch;
  if (!call) {
    gpu->swept[IDLE_UNKNOWN] += end - start;
    return;
  }
  int64_t late_ns = end - (call->end > start ? call->end : start);
  enum nai_gen_idle after = late_ns <= LATENCY_NS ? IDLE_LAUNCH_LATENCY : IDLE_UNKNOWN;
  for (struct moment at = {.now = start}; at.now < end; at.now = at.next) {
    at.next = at.now < call->end && call->end < end ? call->end : end;
    /* Once the call has returned, nothing that its thread does can delay the work. */
    enum nai_gen_idle overhead = at.now < call->end ? overhead_at(plan, call->thread, &at) : IDLE_UNKNOWN;
    enum nai_gen_idle cause = at.now >= call->end      ? after
                            : overhead != IDLE_UNKNOWN ? overhead
                                                       : host_at(plan, launch, &at);
    gpu->swept[cause] += at.next - at.now;
  }
}
