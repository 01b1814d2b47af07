/* Idle gaps whose parts are planned: the host does what the parts say, at exactly those times. */
#include "gen/plan_internal.h"
#include "gen/truth/answers.h"

#include <string.h>

int64_t nai_gen_gpu_ready(const struct nai_gen_plan *plan, int stream) {
  int gpu = plan->contexts[plan->streams[stream].context].gpu;
  int64_t ready = 0;
  for (int i = 0; i < plan->stream_count; i++) {
    if (plan->contexts[plan->streams[i].context].gpu == gpu && plan->streams[i].ready > ready) {
      ready = plan->streams[i].ready;
    }
  }
  return ready;
}

int64_t nai_gen_call_at(struct nai_gen_plan *plan, int thread, enum nai_gen_api api, int64_t start_ns, int64_t end_ns) {
  struct nai_gen_thread *host = &plan->threads[thread];
  if (start_ns < host->now || end_ns < start_ns) {
    nai_gen_fail(NAI_GEN_EUSAGE, plan->err, "the scenario calls %s at %lld ns, when its thread is at %lld ns",
                 nai_gen_api(api)->canonical, (long long)start_ns, (long long)host->now);
    return -1;
  }
  host->now = start_ns;
  int64_t call = nai_gen_call(plan, thread, api, end_ns - start_ns);
  host->now = end_ns;
  return call;
}

static void add_os_call(struct nai_gen_plan *plan, int thread, const char *function, int callchain, int64_t start_ns,
                        int64_t end_ns) {
  struct nai_gen_row row;
  nai_gen_row_start(&row, "OSRT_API");
  nai_gen_row_int(&row, "start", start_ns);
  nai_gen_row_int(&row, "end", end_ns);
  nai_gen_row_int(&row, "eventClass", 27);
  nai_gen_row_int(&row, "globalTid", plan->threads[thread].global_tid);
  nai_gen_row_int(&row, "nameId", nai_gen_string(plan, function, strlen(function)));
  nai_gen_row_int(&row, "returnValue", 0);
  nai_gen_row_int(&row, "nestingLevel", 0);
  if (callchain) {
    nai_gen_row_int(&row, "callchainId", callchain);
  }
  nai_gen_raw_row(plan, &row, NULL);
  nai_gen_plan_saw(plan, end_ns);
  plan->threads[thread].now = end_ns;
}

void nai_gen_wait_event(struct nai_gen_plan *plan, int thread, int stream, int other, int event) {
  const struct nai_gen_stream *queue = &plan->streams[other];
  const struct nai_gen_context *context = &plan->contexts[queue->context];
  const struct nai_gen_process *process = &plan->processes[context->process];
  int64_t recorded = nai_gen_call(plan, thread, API_EVENT_RECORD, 1000);
  struct nai_gen_row row;
  if (recorded < 0) {
    return;
  }
  nai_gen_row_start(&row, "CUPTI_ACTIVITY_KIND_CUDA_EVENT");
  nai_gen_row_int(&row, "timestamp", queue->ready);
  nai_gen_row_int(&row, "deviceId", context->device_id);
  nai_gen_row_int(&row, "contextId", context->context_id);
  nai_gen_row_int(&row, "streamId", queue->stream_id);
  nai_gen_row_int(&row, "correlationId", ((const struct nai_gen_call *)plan->calls.items)[recorded].correlation);
  nai_gen_row_int(&row, "globalPid", process->global_pid);
  nai_gen_row_int(&row, "eventId", event);
  nai_gen_row_int(&row, "eventSyncId", event);
  nai_gen_raw_row(plan, &row, NULL);
  int64_t call = nai_gen_call(plan, thread, API_STREAM_WAIT, 1200);
  if (call >= 0) {
    struct nai_gen_sync *sync = nai_gen_add_sync(plan, thread, stream, call);
    if (sync) {
      sync->event = event;
    }
    nai_gen_hold(plan, stream, queue->ready);
  }
}

/* --- gaps ------------------------------------------------------------------------------------- */

struct times {
  int64_t start, end;
};

static bool launches(const struct nai_gen_part *part) {
  return part->doing == DOING_LAUNCH || part->doing == DOING_LOAD || part->doing == DOING_LAZY_LOAD;
}

static struct times part_times(const struct nai_gen_gap *gap, int part, int64_t gap_start) {
  int64_t start = gap_start;
  for (int i = 0; i < part; i++) {
    start += gap->parts[i].ns;
  }
  return (struct times){start - (part == 0 ? gap->lead_ns : 0), start + gap->parts[part].ns};
}

static void add_flush(struct nai_gen_plan *plan, int thread, const char *name, struct times at) {
  nai_gen_add_overhead(plan, &(struct nai_gen_overhead){.start = at.start,
                                                        .end = at.end,
                                                        .thread = thread,
                                                        .correlation = -1,
                                                        .kind = 3,
                                                        .name = name ? name : "CUPTI Buffer flush"});
  plan->profiler_ns += at.end - at.start;
}

/* Exporters before 2026 show loading as an overhead of the profiler without a name. */
static void add_load(struct nai_gen_plan *plan, int thread, int64_t call, int kind, struct times at) {
  struct nai_gen_overhead load = {.start = at.start, .end = at.end, .thread = thread, .kind = kind};
  load.correlation = ((const struct nai_gen_call *)plan->calls.items)[call].correlation;
  if (plan->schema < NAI_GEN_2026) {
    load.correlation = -1;
    load.name = "Unknown";
    plan->profiler_ns += at.end - at.start;
  }
  nai_gen_add_overhead(plan, &load);
}

static enum nai_gen_api launching_api(const struct nai_gen_plan *plan, const struct nai_gen_gap *gap) {
  return !gap->copy          ? nai_gen_kernel_at(plan, gap->kernel)->launch_api
       : gap->copy->blocking ? API_MEMCPY
                             : API_MEMCPY_ASYNC;
}

/* The launch call; a copy that blocks returns 2 us after its end, which is known by then. */
static int64_t make_launch(struct nai_gen_plan *plan, const struct nai_gen_gap *gap, int64_t gap_start,
                           int64_t gap_end) {
  int64_t now = plan->threads[gap->thread].now;
  struct times at = {now, now + 4000};
  for (int i = gap->count - 1; i >= 0; i--) {
    if (launches(&gap->parts[i])) {
      struct times part = part_times(gap, i, gap_start);
      at.end = at.start == now ? part.end : at.end;
      at.start = part.start;
    }
  }
  if (gap->copy && gap->copy->blocking) {
    at.end = gap_end + gap->copy->duration_ns + 2000;
  }
  return nai_gen_call_at(plan, gap->thread, launching_api(plan, gap), at.start, at.end);
}

static void add_other_call(struct nai_gen_plan *plan, const struct nai_gen_gap *gap, enum nai_gen_api api,
                           struct times at) {
  int64_t call = nai_gen_call_at(plan, gap->thread, api, at.start, at.end);
  if (call >= 0 && nai_gen_api(api)->class == API_CLASS_BLOCKING) {
    (void)nai_gen_add_sync(plan, gap->thread, gap->stream, call);
  }
}

/* What the host does in one part; the launch call is made by the first part that belongs to it. */
static void do_part(struct nai_gen_plan *plan, const struct nai_gen_gap *gap, int part, struct times at, int64_t call) {
  const struct nai_gen_part *p = &gap->parts[part];
  int64_t chain = plan->threads[gap->thread].callchain;
  switch (p->doing) {
  case DOING_CALL:
    nai_gen_callchain(plan, gap->thread, p->callchain);
    add_other_call(plan, gap, p->api, at);
    nai_gen_callchain(plan, gap->thread, chain);
    break;
  case DOING_OS_CALL:
    add_os_call(plan, gap->thread, p->name, p->callchain, at.start, at.end);
    break;
  case DOING_LOAD:
    add_load(plan, gap->thread, call, 6, at);
    break;
  case DOING_LAZY_LOAD:
    add_load(plan, gap->thread, call, 7, at);
    break;
  case DOING_FLUSH:
    add_flush(plan, gap->thread, p->name, at);
    break;
  case DOING_FLUSH_BESIDE:
    add_flush(plan, gap->beside, p->name, at);
    break;
  case DOING_OWN_CODE:
  case DOING_LAUNCH:
  case DOING_AFTER_LAUNCH:
    break;
  }
}

static void book_parts(struct nai_gen_plan *plan, const struct nai_gen_gap *gap) {
  struct nai_gen_gpu *gpu = nai_gen_stream_gpu(plan, gap->stream);
  int64_t sums[IDLE_COUNT] = {0};
  plan->parts_planned = true;
  for (int i = 0; i < gap->count; i++) {
    sums[gap->parts[i].cause] += gap->parts[i].ns;
  }
  for (int cause = 0; cause < IDLE_COUNT; cause++) {
    if (sums[cause] > 0) {
      nai_gen_stat_add(&gpu->parts[cause], sums[cause]);
    }
  }
}

int64_t nai_gen_gap(struct nai_gen_plan *plan, const struct nai_gen_gap *gap) {
  int64_t start = nai_gen_gpu_ready(plan, gap->stream), end = start, call = -1;
  if (nai_gen_failed(plan)) {
    return 0;
  }
  for (int i = 0; i < gap->count; i++) {
    end += gap->parts[i].ns;
  }
  for (int i = 0; i < gap->count && !nai_gen_failed(plan); i++) {
    if (launches(&gap->parts[i]) && call < 0) {
      call = make_launch(plan, gap, start, end);
    }
    do_part(plan, gap, i, part_times(gap, i, start), call);
  }
  if (call < 0) {
    call = make_launch(plan, gap, start, end);
  }
  if (call < 0 || nai_gen_failed(plan)) {
    return 0;
  }
  book_parts(plan, gap);
  if (start == 0) { /* the first work of the GPU begins its window */
    end = plan->threads[gap->thread].now;
  }
  if (gap->copy) {
    return nai_gen_add_copy(plan, call, gap->thread, gap->stream, end, gap->copy);
  }
  nai_gen_attribute(plan, gap->thread, gap->duration_ns);
  return nai_gen_add_kernel(plan, call, gap->stream, gap->kernel, end, gap->duration_ns, 0);
}

int64_t nai_gen_follow(struct nai_gen_plan *plan, int thread, int stream, int kernel, int64_t duration_ns) {
  return nai_gen_gap(
      plan, &(struct nai_gen_gap){.thread = thread, .stream = stream, .kernel = kernel, .duration_ns = duration_ns});
}

void nai_gen_kernel_shape(struct nai_gen_plan *plan, int kernel, int grid, int block) {
  if (!nai_gen_failed(plan)) {
    nai_gen_kernel_at(plan, kernel)->grid = grid;
    nai_gen_kernel_at(plan, kernel)->block = block;
  }
}

void nai_gen_kernel_resources(struct nai_gen_plan *plan, int kernel, int registers, int shared_bytes, int local_bytes) {
  if (!nai_gen_failed(plan)) {
    nai_gen_kernel_at(plan, kernel)->registers = registers;
    nai_gen_kernel_at(plan, kernel)->shared_bytes = shared_bytes;
    nai_gen_kernel_at(plan, kernel)->local_bytes = local_bytes;
  }
}

void nai_gen_even_shapes(struct nai_gen_plan *plan) { plan->even_shapes = true; }

void nai_gen_program(struct nai_gen_program *program, struct nai_gen_plan *plan, int pid, const char *name) {
  program->plan = plan;
  nai_gen_even_shapes(plan);
  program->process = nai_gen_process(plan, pid, name);
  program->thread = nai_gen_thread(plan, program->process, pid, name);
  program->gpu = nai_gen_gpu(plan, 0);
  program->stream = nai_gen_stream(plan, nai_gen_context(plan, program->process, 0, 1, program->gpu), 7);
}
