/* What did the capture catch, and did the program do its work? Tables capture_health, capture_time. */
#include "analyses/analysis.h"
#include "analyses/health/health.h"
#include "tables/active_spans.h"
#include "tables/capture_health.h"
#include "tables/capture_time.h"
#include "tables/gpu_active.h"
#include "tables/gpus.h"

/* --- was it recorded, did it work ------------------------------------------------------------- */

static enum nai_health_state judged(bool problem, bool known) {
  return problem ? HEALTH_PROBLEM : known ? HEALTH_OK : HEALTH_UNKNOWN;
}

static void check_recording(const struct nai_health_checks *c) {
  const struct nai_health *h = &c->h;
  const char *missing =
      !h->kernels_lost ? ""
      : h->operations  ? ": kernels are missing, so nothing can be said on whether the GPU was busy or idle"
                       : ": what the GPU did was not recorded, so nothing can be said on whether it was busy or idle";
  nai_health_put(c, "gpu_activity_recorded", judged(h->kernels_lost, h->operations), h->launches, NAI_NULL_I64,
                 "%s, %s on GPUs%s", nai_health_count(c, h->launches, "launch call"),
                 nai_health_count(c, h->operations, "operation"), missing);
}

static void check_cuda(const struct nai_health_checks *c) {
  bool cuda = c->m->apis.n || c->h.operations || c->h.kernels_lost;
  nai_health_put(c, "cuda_traced", judged(!cuda, cuda), c->m->apis.n, NAI_NULL_I64, "%s, %s%s",
                 nai_health_count(c, c->m->apis.n, "CUDA call"), nai_health_count(c, c->h.ranges, "NVTX range"),
                 cuda ? "" : ", no GPU activity");
}

static void check_kernels(const struct nai_health_checks *c) {
  int64_t kernels = c->m->kernels.n, own = c->h.own_kernels, graphs = c->m->graphs.n;
  nai_health_put(c, "kernels_of_the_program", judged(kernels && !own && !graphs, kernels || graphs), own, NAI_NULL_I64,
                 "%s of the program, %s of its runtime", nai_health_count(c, own, "kernel"),
                 nai_health_count(c, kernels - own, "kernel"));
}

/* What the program's output tells of, and errors that CUDA calls return. */
static void check_failures(const struct nai_health_checks *c) {
  const struct nai_health *h = &c->h;
  nai_health_put(c, "program_output", nai_health_noted(h->failure_kinds, h->output_held), h->failure_kinds,
                 NAI_NULL_I64, "%s",
                 h->failure_kinds ? h->failures
                 : h->output_held ? "no line tells of a failure"
                                  : "the export holds no output of the program");
  if (h->failure_line)
    nai_health_put(c, "program_output_line", HEALTH_NOTE, 1, NAI_NULL_I64, "%s", h->failure_line);
  if (h->hung_ns)
    nai_health_put_at(c, "hang", HEALTH_PROBLEM, h->hung_asks, h->hung_ns,
                      (struct nai_interval){h->last_call_end, h->capture_ns}, nai_health_time(c, h->hung_ns));
  nai_health_put(c, "cuda_errors", h->fatal_error ? HEALTH_PROBLEM : nai_health_noted(h->failed_calls, c->m->apis.n),
                 h->failed_calls, NAI_NULL_I64, "%s",
                 h->fatal_error     ? h->fatal_error
                 : !h->failed_calls ? "no CUDA call returned an error"
                                    : nai_health_say(c, "%s returned an error, which may be expected",
                                                     nai_health_count(c, h->failed_calls, "CUDA call")));
}

/* Why the program did not do its work, for sure; NULL: it may have. Nothing of its own ran in a whole capture, or an
 * error is known behind which nothing runs. */
static const char *why_not_done(const struct nai_health_checks *c) {
  const struct nai_health *h = &c->h;
  bool own = h->own_kernels || c->m->graphs.n;
  if (h->fatal_error)
    return nai_health_say(c, "a CUDA call failed: %s", h->fatal_error);
  if (h->hung_ns)
    return nai_health_say(c,
                          "no CUDA call ended in the last %s, while the driver was asked %s, and nothing was flushed",
                          nai_health_time(c, h->hung_ns), nai_health_count(c, h->hung_asks, "time"));
  if (h->failure_kinds && !h->launches && !h->operations)
    return nai_health_say(c, "nothing was launched, and the output tells of: %s", h->failures);
  if (c->m->apis.n && h->whole && !h->launches && !h->operations)
    return "CUDA was called, but nothing was launched";
  return c->m->kernels.n && !own ? "only kernels of its runtime ran, none of the program's own" : NULL;
}

/* Signs that support it, or are worth a note. */
static void check_work(const struct nai_health_checks *c) {
  const struct nai_health *h = &c->h;
  const char *why = why_not_done(c);
  bool work = h->own_kernels || c->m->graphs.n || h->copies;
  const char *telling = nai_health_say(c, "the output tells of: %s", h->failures);
  const struct {
    bool there;
    const char *what;
  } signs[] = {
      {h->no_copy_back && c->m->apis.n, "nothing was copied back"},
      {h->no_release && c->m->apis.n, "no memory was released"},
      {h->copy_not_awaited, "the last copy was not waited for"},
      {h->ended_at_once, "the recording ended with the last CUDA call"},
      {h->wrote_errors, "the error stream is not empty"},
      {h->failure_kinds > 0, telling},
  };
  const char *said = why              ? why
                   : h->failure_kinds ? telling
                   : work             ? "kernels or copies of the program ran"
                   : h->operations    ? "memory was set, and neither a kernel nor a copy ran"
                                      : "no work on a GPU is recorded";
  int64_t count = 0;
  for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
    count += signs[i].there;
    if (why && signs[i].there && !strstr(said, signs[i].what))
      said = nai_health_say(c, "%s; %s", said, signs[i].what);
  }
  if (h->failed_calls)
    said = nai_health_say(c, "%s; %s returned an error, which may be expected", said,
                          nai_health_count(c, h->failed_calls, "CUDA call"));
  nai_health_put(c, "did_its_work", why ? HEALTH_PROBLEM : nai_health_noted(h->failure_kinds, work), count,
                 NAI_NULL_I64, "%s", said);
}

/* --- what bends numbers ----------------------------------------------------------------------- */

static void check_profiler(const struct nai_health_checks *c) {
  int64_t active = nai_health_extreme(c->active, GPU_ACTIVE_active_ns, true);
  double share = active == NAI_NULL_I64 ? 0 : nai_percent((double)c->h.profiler_ns, (double)active);
  nai_health_put(c, "profiler", share >= 1 ? HEALTH_NOTE : HEALTH_OK, c->h.profiler_count, c->h.profiler_ns,
                 "%s of the profiler's own work within the window, %s",
                 nai_health_count(c, c->h.profiler_count, "record"), nai_health_time(c, c->h.profiler_ns));
}

/* A program that times its own work should time nothing else. */
static void check_timed(const struct nai_health_checks *c) {
  const struct nai_timed_sections *t = &c->timed;
  const char *said =
      nai_health_say(c, "%s that the program times with events", nai_health_count(c, t->count, "section"));
  if (!t->count)
    return;
  if (!t->bent_count) {
    nai_health_put(c, "timed_sections", HEALTH_OK, t->count, NAI_NULL_I64, "%s", said);
    return;
  }
  said = nai_health_say(c, "%s; loading, compiling or the profiler takes %s of %s in %s of them", said,
                        nai_health_time(c, t->foreign_ns), nai_health_time(c, t->end - t->start),
                        nai_health_count(c, t->bent_count, ""));
  nai_health_put_at(c, "timed_sections", HEALTH_NOTE, t->count, t->foreign_ns, (struct nai_interval){t->start, t->end},
                    said);
}

static void check_ranges(const struct nai_health_checks *c) {
  enum { PER_KERNEL = 2, PER_SECOND = 10000, NS_PER_S = 1000000000, FEW = 50 };
  const struct nai_health *h = &c->h;
  int64_t span = c->m->window_end - c->m->window_start;
  double rate = span > 0 ? (double)h->ranges * NS_PER_S / (double)span : 0;
  bool dense = h->kernels && h->ranges >= FEW && h->ranges >= PER_KERNEL * h->kernels && rate >= PER_SECOND;
  nai_health_put(c, "nvtx_dense", nai_health_noted(dense, h->operations), h->ranges, NAI_NULL_I64, "%s for %s%s",
                 nai_health_count(c, h->ranges, "NVTX range"), nai_health_count(c, h->kernels, "kernel"),
                 dense ? ": so many that host times are inflated; launch-bound conclusions are weak" : "");
}

static void check_launches(const struct nai_health_checks *c) {
  nai_health_put(c, "launches_outside_capture", nai_health_noted(c->h.without_launch, c->h.operations),
                 c->h.without_launch, NAI_NULL_I64, "%s whose launching call is not in the export",
                 nai_health_count(c, c->h.without_launch, "operation"));
  nai_health_put(
      c, "graph_envelopes", nai_health_noted(c->m->graphs.n, c->h.operations), c->m->graphs.n, c->h.graphs_ns,
      "%s recorded as one envelope%s", nai_health_count(c, c->m->graphs.n, "CUDA graph launch"),
      c->m->graphs.n ? ": the kernels inside are invisible; capture with --cuda-graph-trace=node to see them" : "");
}

static void check_gpus(const struct nai_health_checks *c) {
  int64_t shared = 0, most = 0, assumed = 0, used = 0;
  for (uint32_t g = 0; g < c->m->gpu_count; g++) {
    const struct nai_gpu *gpu = &c->m->gpus[g];
    if (!gpu->op_count)
      continue;
    int64_t processes = 0;
    for (uint32_t p = 0; p < gpu->processes.count; p++)
      processes += gpu->processes.keys[p] >= 0;
    const char *by = nai_get_str(c->m->tables[NAI_IN_GPUS], g, GPUS_identified_by);
    used++;
    shared += processes > 1;
    most = processes > most ? processes : most;
    assumed += strcmp(by, "map") != 0 && strcmp(by, "only GPU") != 0;
  }
  const char *said = nai_health_say(c, "%s used by several processes", nai_health_count(c, shared, "GPU"));
  if (shared)
    said = nai_health_say(c, "%s, up to %" PRId64 "; time in which one of them leaves it idle may be another's", said,
                          most);
  nai_health_put(c, "gpus_shared", nai_health_noted(shared, used), shared, NAI_NULL_I64, "%s", said);
  said = nai_health_say(c, "%s used", nai_health_count(c, used, "GPU"));
  if (assumed)
    said = nai_health_say(c, "%s; for %s of them the export leaves open which of the machine's GPUs that is", said,
                          nai_health_count(c, assumed, ""));
  nai_health_put(c, "gpu_identity", nai_health_noted(assumed, used), assumed, NAI_NULL_I64, "%s", said);
}

static void nai_health_checks_free(struct nai_health_checks *c) { nai_first_use_free(&c->first_use); }

static int run(const struct nai_node_io *io, struct nai_err *err) {
  NAI_SCOPED(nai_health_checks) c = {.io = io, .m = io->model, .spans = io->in[0], .active = io->in[1]};
  NAI_TRY(nai_health_collect(&c.h, io, err));
  NAI_TRY(nai_first_use_collect(&c.first_use, c.m, err));
  NAI_TRY(nai_timed_sections_collect(&c.timed, io, &c.first_use.once, err));
  check_recording(&c);
  check_cuda(&c);
  check_kernels(&c);
  check_work(&c);
  check_failures(&c);
  nai_health_check_stages(&c);
  check_profiler(&c);
  check_timed(&c);
  check_ranges(&c);
  check_launches(&c);
  check_gpus(&c);
  return nai_capture_time_put(&c, err);
}

NAI_ANALYSIS(capture_health, .outputs = NAI_SCHEMAS(&nai_capture_health_schema, &nai_capture_time_schema),
             .inputs = NAI_SCHEMAS(&nai_active_spans_schema, &nai_gpu_active_schema),
             .parts = NAI_PART(NAMES) | NAI_PART(GPUS) | NAI_PART(LAUNCHES) | NAI_PART(CALLS) | NAI_PART(CALL_STATS) |
                      NAI_PART(RANGES) | NAI_PART(WINDOW) | NAI_PART(EVIDENCE) | NAI_PART(CPU) |
                      NAI_PART(KERNEL_GROUPS),
             .tables = NAI_IN(CAPTURE) | NAI_IN(CAPABILITIES) | NAI_IN(READERS) | NAI_IN(PROGRAM_OUTPUTS) |
                       NAI_IN(PROGRAM_MARKS) | NAI_IN(OSRT) | NAI_IN(THREADS),
             .config = NAI_CONFIG(KERNEL_CLASSES), .cost = 2, .run = run)
