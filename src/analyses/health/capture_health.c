/* What did the capture catch, and did the program do its work? Table capture_health. */
#include "analyses/analysis.h"
#include "analyses/health/health_checks.h"
#include "base/fmt.h"
#include "tables/active_spans.h"
#include "tables/capture_health.h"
#include "tables/gpu_active.h"
#include "tables/gpus.h"

#include <inttypes.h>
#include <string.h>

int64_t nai_health_put(struct nai_health_checks *c, const char *check, enum nai_health_state state, int64_t count,
                       int64_t ns) {
  static const char *const names[] = {
      [HEALTH_OK] = "ok", [HEALTH_NOTE] = "note", [HEALTH_PROBLEM] = "problem", [HEALTH_UNKNOWN] = "unknown"};
  int64_t row = nai_table_add_row(c->out);
  nai_set_str(c->out, row, CAPTURE_HEALTH_check, check);
  nai_set_str(c->out, row, CAPTURE_HEALTH_state, names[state]);
  nai_set_i64(c->out, row, CAPTURE_HEALTH_count, count);
  nai_set_i64(c->out, row, CAPTURE_HEALTH_time_ns, ns);
  if (ns != NAI_NULL_I64)
    nai_set_f64(c->out, row, CAPTURE_HEALTH_pct_of_capture, nai_percent((double)ns, (double)c->h.capture_ns));
  nai_set_str(c->out, row, CAPTURE_HEALTH_detail, nai_buf_str(&c->said));
  c->out->oom = c->out->oom || c->said.oom;
  nai_buf_clear(&c->said);
  return row;
}

void nai_health_place(struct nai_health_checks *c, int64_t row, int64_t start, int64_t end) {
  nai_set_i64(c->out, row, CAPTURE_HEALTH_start_ns, start);
  nai_set_i64(c->out, row, CAPTURE_HEALTH_end_ns, end);
}

void nai_health_say_count(struct nai_health_checks *c, int64_t n, const char *what) {
  size_t len = strlen(what);
  bool es = len > 2 && strcmp(what + len - 2, "ch") == 0; /* launch, launches */
  nai_fmt_count(&c->said, n);
  nai_buf_printf(&c->said, " %s%s", what, n == 1 ? "" : es ? "es" : "s");
}

void nai_health_say_time(struct nai_health_checks *c, const char *before, int64_t ns, const char *behind) {
  nai_buf_puts(&c->said, before);
  nai_fmt_duration(&c->said, (double)ns);
  nai_buf_puts(&c->said, behind);
}

int64_t nai_health_greatest(const struct nai_table *t, int column) {
  int64_t most = NAI_NULL_I64;
  for (int64_t i = 0; i < t->rows; i++)
    most = nai_get_i64(t, i, column) > most ? nai_get_i64(t, i, column) : most;
  return most;
}

/* --- was it recorded, did it work ------------------------------------------------------------- */

static void check_recording(struct nai_health_checks *c) {
  const struct nai_health *h = &c->h;
  nai_health_say_count(c, h->launches, "launch call");
  nai_buf_puts(&c->said, ", ");
  nai_health_say_count(c, h->operations, "operation");
  nai_buf_puts(&c->said, " on GPUs");
  if (h->kernels_lost)
    nai_buf_puts(&c->said,
                 h->operations
                     ? ": kernels are missing, so nothing can be said on whether the GPU was busy or idle"
                     : ": what the GPU did was not recorded, so nothing can be said on whether it was busy or idle");
  nai_health_put(c, "gpu_activity_recorded",
                 h->kernels_lost ? HEALTH_PROBLEM
                 : h->operations ? HEALTH_OK
                                 : HEALTH_UNKNOWN,
                 h->launches, NAI_NULL_I64);

  bool cuda = c->m->apis.n || h->operations;
  nai_health_say_count(c, c->m->apis.n, "CUDA call");
  nai_buf_puts(&c->said, ", ");
  nai_health_say_count(c, h->ranges, "NVTX range");
  if (!cuda && h->ranges)
    nai_buf_puts(&c->said, ": CUDA was not traced; ranges tell where the host's time went, and nothing about GPUs");
  nai_health_put(c, "cuda_traced",
                 cuda        ? HEALTH_OK
                 : h->ranges ? HEALTH_PROBLEM
                             : HEALTH_UNKNOWN,
                 c->m->apis.n, NAI_NULL_I64);

  nai_health_say_count(c, h->own_kernels, "kernel");
  nai_buf_puts(&c->said, " of the program, ");
  nai_health_say_count(c, (int64_t)c->m->kernels.n - h->own_kernels, "kernel");
  nai_buf_puts(&c->said, " of its runtime");
  nai_health_put(c, "kernels_of_the_program",
                 !c->m->kernels.n && !c->m->graphs.n ? HEALTH_UNKNOWN
                 : h->own_kernels || c->m->graphs.n  ? HEALTH_OK
                                                     : HEALTH_PROBLEM,
                 h->own_kernels, NAI_NULL_I64);
}

/* Kernels, but none of the program's, or calls and nothing launched in a whole capture: that decides. The rest supports
 * it, or is worth a note. */
static void check_work(struct nai_health_checks *c) {
  const struct nai_health *h = &c->h;
  bool nothing = c->m->apis.n && h->whole && !h->launches && !h->operations;
  bool decisive = nothing || (c->m->kernels.n && !h->own_kernels && !c->m->graphs.n);
  const struct {
    bool there;
    const char *what;
  } signs[] = {
      {h->no_copy_back, "nothing was copied back"},
      {h->no_release, "no memory was released"},
      {h->copy_not_awaited, "the last copy was not waited for"},
      {h->ended_at_once, "the profiler ended with the last CUDA call"},
      {h->wrote_errors, "the error stream is not empty"},
      {h->failing_streams > 0, "the captured output holds a traceback, a CUDA error or word of a killed program"},
  };
  int64_t count = 0;
  nai_buf_puts(&c->said, nothing              ? "CUDA was called, but nothing was launched"
                         : decisive           ? "only kernels of its runtime ran, none of the program's own"
                         : h->failing_streams ? "the captured output holds a traceback, a CUDA error or word of a "
                                                "killed program"
                         : h->operations      ? "kernels or copies of the program ran"
                                              : "no work on a GPU is recorded");
  for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
    count += signs[i].there;
    if (decisive && signs[i].there)
      nai_buf_printf(&c->said, "; %s", signs[i].what);
  }
  if (h->failed_calls) {
    nai_buf_puts(&c->said, "; ");
    nai_health_say_count(c, h->failed_calls, "CUDA call");
    nai_buf_puts(&c->said, " returned an error, which may be expected");
  }
  nai_health_put(c, "did_its_work",
                 decisive             ? HEALTH_PROBLEM
                 : h->failing_streams ? HEALTH_NOTE
                 : h->operations      ? HEALTH_OK
                                      : HEALTH_UNKNOWN,
                 count, NAI_NULL_I64);
}

/* --- what bends numbers ----------------------------------------------------------------------- */

static void check_profiler(struct nai_health_checks *c) {
  int64_t active = nai_health_greatest(c->active, GPU_ACTIVE_active_ns);
  double share = active == NAI_NULL_I64 ? 0 : nai_percent((double)c->h.profiler_ns, (double)active);
  nai_health_say_count(c, c->h.profiler_count, "record");
  nai_health_say_time(c, " of the profiler's own work within the window, ", c->h.profiler_ns, "");
  nai_health_put(c, "profiler", share >= 1 ? HEALTH_NOTE : HEALTH_OK, c->h.profiler_count, c->h.profiler_ns);
}

/* A program that times its own work should time nothing else. */
static void check_timed(struct nai_health_checks *c) {
  const struct nai_timed_sections *t = &c->timed;
  if (!t->count)
    return;
  nai_health_say_count(c, t->count, "section");
  nai_buf_puts(&c->said, " that the program times with events");
  if (t->bent_count) {
    nai_buf_puts(&c->said, ", ");
    nai_fmt_count(&c->said, t->bent_count);
    nai_health_say_time(c, " of them with time that is not the work's: ", t->foreign_ns, " of ");
    nai_fmt_duration(&c->said, (double)(t->end - t->start));
    nai_buf_puts(&c->said, " is loading, compiling or the profiler");
  }
  int64_t row = nai_health_put(c, "timed_sections", t->bent_count ? HEALTH_NOTE : HEALTH_OK, t->count,
                               t->bent_count ? t->foreign_ns : NAI_NULL_I64);
  if (t->bent_count)
    nai_health_place(c, row, t->start, t->end);
}

static void check_ranges(struct nai_health_checks *c) {
  enum { PER_KERNEL = 2, PER_SECOND = 10000, NS_PER_S = 1000000000, FEW = 50 };
  const struct nai_health *h = &c->h;
  int64_t span = c->m->window_end - c->m->window_start;
  double rate = span > 0 ? (double)h->ranges * NS_PER_S / (double)span : 0;
  bool dense = h->kernels && h->ranges >= FEW && h->ranges >= PER_KERNEL * h->kernels && rate >= PER_SECOND;
  nai_health_say_count(c, h->ranges, "NVTX range");
  nai_buf_puts(&c->said, " for ");
  nai_health_say_count(c, h->kernels, "kernel");
  if (dense)
    nai_buf_puts(&c->said, ": so many that host times are inflated; launch-bound conclusions are weak");
  nai_health_put(c, "nvtx_dense",
                 dense           ? HEALTH_NOTE
                 : h->operations ? HEALTH_OK
                                 : HEALTH_UNKNOWN,
                 h->ranges, NAI_NULL_I64);
}

static void check_launches(struct nai_health_checks *c) {
  enum nai_health_state fine = c->h.operations ? HEALTH_OK : HEALTH_UNKNOWN;
  nai_health_say_count(c, c->h.without_launch, "operation");
  nai_buf_puts(&c->said, " whose launching call is not in the export");
  nai_health_put(c, "launches_outside_capture", c->h.without_launch ? HEALTH_NOTE : fine, c->h.without_launch,
                 NAI_NULL_I64);
  nai_health_say_count(c, c->m->graphs.n, "CUDA graph launch");
  nai_buf_puts(&c->said, " recorded as one envelope");
  if (c->m->graphs.n)
    nai_buf_puts(&c->said, ": the kernels inside are invisible; capture with --cuda-graph-trace=node to see them");
  nai_health_put(c, "graph_envelopes", c->m->graphs.n ? HEALTH_NOTE : fine, c->m->graphs.n, c->h.graphs_ns);
}

static void check_gpus(struct nai_health_checks *c) {
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
  nai_health_say_count(c, shared, "GPU");
  nai_buf_puts(&c->said, " used by several processes");
  if (shared)
    nai_buf_printf(&c->said, ", up to %" PRId64 "; time in which one of them leaves it idle may be another's", most);
  nai_health_put(c, "gpus_shared", !used ? HEALTH_UNKNOWN : shared ? HEALTH_NOTE : HEALTH_OK, shared, NAI_NULL_I64);
  nai_health_say_count(c, used, "GPU");
  nai_buf_puts(&c->said, " used");
  if (assumed) {
    nai_buf_puts(&c->said, "; of ");
    nai_fmt_count(&c->said, assumed);
    nai_buf_puts(&c->said, " the export does not say for sure which of the machine's it is");
  }
  nai_health_put(c, "gpu_identity", !used ? HEALTH_UNKNOWN : assumed ? HEALTH_NOTE : HEALTH_OK, assumed, NAI_NULL_I64);
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  struct nai_health_checks c = {.out = io->out[0], .m = io->model, .spans = io->in[0], .active = io->in[1]};
  int rc = nai_health_collect(&c.h, c.m, err);
  if (!rc)
    rc = nai_first_use_collect(&c.first_use, c.m, err);
  if (!rc)
    rc = nai_timed_sections_collect(&c.timed, c.m, &c.first_use.once, err);
  nai_first_use_free(&c.first_use);
  if (rc)
    return rc;
  check_recording(&c);
  check_work(&c);
  nai_health_check_stages(&c);
  check_profiler(&c);
  check_timed(&c);
  check_ranges(&c);
  check_launches(&c);
  check_gpus(&c);
  rc = nai_buf_check(&c.said, err);
  nai_buf_free(&c.said);
  return rc;
}

NAI_ANALYSIS(capture_health, .outputs = NAI_SCHEMAS(&nai_capture_health_schema),
             .inputs = NAI_SCHEMAS(&nai_active_spans_schema, &nai_gpu_active_schema),
             .parts = NAI_PART(NAMES) | NAI_PART(GPUS) | NAI_PART(LAUNCHES) | NAI_PART(CALLS) | NAI_PART(RANGES) |
                      NAI_PART(WINDOW) | NAI_PART(EVIDENCE),
             .tables = NAI_IN(CAPTURE) | NAI_IN(CAPABILITIES) | NAI_IN(READERS) | NAI_IN(GPUS) | NAI_IN(KERNELS) |
                       NAI_IN(MEMOPS) | NAI_IN(GRAPHS) | NAI_IN(APIS) | NAI_IN(NVTX) | NAI_IN(THREADS) |
                       NAI_IN(PROCESSES) | NAI_IN(OVERHEAD) | NAI_IN(PROGRAM_OUTPUTS),
             .config = NAI_CONFIG(KERNEL_CLASSES), .run = run)
