/* What did the capture catch, and did the program do its work? Table capture_health. */
#include "analyses/active_spans.h"
#include "analyses/analysis.h"
#include "analyses/health_facts.h"
#include "base/fmt.h"
#include "table/columns.h"

#include <inttypes.h>
#include <string.h>

enum { CHECK, STATE, COUNT, TIME, PCT, DETAIL, START, END };
static const struct nai_column_def columns[] = {
    [CHECK] = NAI_NAME_COLUMN("check", "what was looked at", .key = true),
    [STATE] = NAI_LABEL_COLUMN("state", "ok, note, problem, or unknown where the export cannot tell"),
    [COUNT] = NAI_COUNT_COLUMN("count", "rows, launches or spans concerned"),
    [TIME] = NAI_TIME_COLUMN("time_ns", "time concerned"),
    [PCT] = NAI_PCT_COLUMN("pct_of_capture", "time, of the capture"),
    [DETAIL] = NAI_LABEL_COLUMN("detail", "what was found, with numbers"),
    [START] = NAI_START_COLUMN("start_ns", "where it is, if it is one place"),
    [END] = NAI_END_COLUMN("end_ns", "its end"),
};
static const struct nai_schema schema =
    NAI_SCHEMA("capture_health", "Health of the capture",
               "One question on what the capture holds, to be asked before any number is judged", columns);

/* What the checks look at, and where they write. `said` is the detail of the row in hand. */
struct checks {
  struct nai_table *out;
  const struct nai_model *m;
  const struct nai_table *spans, *active;
  struct nai_health h;
  struct nai_first_use first_use;
  struct nai_buf said;
};

static const char ok[] = "ok", note[] = "note", problem[] = "problem", unknown[] = "unknown";

/* Ends a row: a count or time of NAI_NULL_I64 is left out. */
static int64_t put(struct checks *c, const char *check, const char *state, int64_t count, int64_t ns) {
  int64_t row = nai_table_add_row(c->out);
  nai_set_str(c->out, row, CHECK, check);
  nai_set_str(c->out, row, STATE, state);
  nai_set_i64(c->out, row, COUNT, count);
  nai_set_i64(c->out, row, TIME, ns);
  if (ns != NAI_NULL_I64)
    nai_set_f64(c->out, row, PCT, nai_percent((double)ns, (double)c->h.capture_ns));
  nai_set_str(c->out, row, DETAIL, nai_buf_str(&c->said));
  c->out->oom = c->out->oom || c->said.oom;
  nai_buf_clear(&c->said);
  return row;
}

static void put_place(struct checks *c, int64_t row, int64_t start, int64_t end) {
  nai_set_i64(c->out, row, START, start);
  nai_set_i64(c->out, row, END, end);
}

static void say_count(struct checks *c, int64_t n, const char *what) {
  size_t len = strlen(what);
  bool es = len > 2 && strcmp(what + len - 2, "ch") == 0; /* launch, launches */
  nai_fmt_count(&c->said, n);
  nai_buf_printf(&c->said, " %s%s", what, n == 1 ? "" : es ? "es" : "s");
}

static void say_time(struct checks *c, const char *before, int64_t ns, const char *behind) {
  nai_buf_puts(&c->said, before);
  nai_fmt_duration(&c->said, (double)ns);
  nai_buf_puts(&c->said, behind);
}

/* --- was it recorded, did it work ------------------------------------------------------------- */

static void check_recording(struct checks *c) {
  const struct nai_health *h = &c->h;
  bool lost = h->launches && !h->operations && !h->kernel_table;
  say_count(c, h->launches, "launch call");
  nai_buf_puts(&c->said, ", ");
  say_count(c, h->operations, "operation");
  nai_buf_puts(&c->said, " on GPUs");
  if (lost)
    nai_buf_puts(&c->said,
                 ": what the GPU did was not recorded, so nothing can be said on whether it was busy or idle");
  put(c, "gpu_activity_recorded", lost ? problem : h->operations ? ok : unknown, h->launches, NAI_NULL_I64);

  bool cuda = c->m->apis.n || h->operations;
  say_count(c, c->m->apis.n, "CUDA call");
  nai_buf_puts(&c->said, ", ");
  say_count(c, h->ranges, "NVTX range");
  if (!cuda && h->ranges)
    nai_buf_puts(&c->said, ": CUDA was not traced; ranges tell where the host's time went, and nothing about GPUs");
  put(c, "cuda_traced", cuda ? ok : h->ranges ? problem : unknown, c->m->apis.n, NAI_NULL_I64);

  say_count(c, h->own_kernels, "kernel");
  nai_buf_puts(&c->said, " of the program, ");
  say_count(c, (int64_t)c->m->kernels.n - h->own_kernels, "kernel");
  nai_buf_puts(&c->said, " of its runtime");
  put(c, "kernels_of_the_program",
      !c->m->kernels.n && !c->m->graphs.n ? unknown
      : h->own_kernels || c->m->graphs.n  ? ok
                                          : problem,
      h->own_kernels, NAI_NULL_I64);
}

/* Kernels, but none of the program's: that decides. The rest supports it, or is worth a note. */
static void check_work(struct checks *c) {
  const struct nai_health *h = &c->h;
  bool decisive = c->m->kernels.n && !h->own_kernels && !c->m->graphs.n;
  const struct {
    bool there;
    const char *what;
  } signs[] = {
      {h->no_copy_back, "nothing was copied back from a GPU"},
      {h->no_release, "no memory was released"},
      {h->copy_not_awaited, "nothing waited for the last copy"},
      {h->ended_at_once, "the profiler's last flush follows the last CUDA call at once"},
      {h->wrote_errors, "the error stream is not empty"},
      {h->failing_streams > 0, "the captured output holds a traceback, a CUDA error or word of a killed program"},
  };
  int64_t count = 0;
  nai_buf_puts(&c->said, decisive             ? "only kernels of its runtime ran, none of the program's own"
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
    say_count(c, h->failed_calls, "CUDA call");
    nai_buf_puts(&c->said, " returned an error, which may be expected");
  }
  put(c, "did_its_work",
      decisive             ? problem
      : h->failing_streams ? note
      : h->operations      ? ok
                           : unknown,
      count, NAI_NULL_I64);
}

/* --- what of the capture is the program's work ------------------------------------------------ */

/* Of a column of gpu_active. */
static int64_t greatest(const struct nai_table *t, int column) {
  int64_t most = NAI_NULL_I64;
  for (int64_t i = 0; i < t->rows; i++)
    most = nai_get_i64(t, i, column) > most ? nai_get_i64(t, i, column) : most;
  return most;
}

static int64_t least(const struct nai_table *t, int column) {
  int64_t found = NAI_NULL_I64;
  for (int64_t i = 0; i < t->rows; i++) {
    int64_t v = nai_get_i64(t, i, column);
    if (v != NAI_NULL_I64 && (found == NAI_NULL_I64 || v < found))
      found = v;
  }
  return found;
}

static void put_stretch(struct checks *c, const char *check, const char *state, int64_t start, int64_t end) {
  put_place(c, put(c, check, state, NAI_NULL_I64, end - start), start, end);
}

static void check_before(struct checks *c) {
  enum { HALF = 50 };
  const struct nai_health *h = &c->h;
  if (h->first_call == NAI_NULL_I64) {
    nai_buf_puts(&c->said, "no CUDA call is recorded");
    put(c, "before_first_cuda_call", unknown, NAI_NULL_I64, NAI_NULL_I64);
    return;
  }
  int64_t ns = h->first_call - h->begin;
  if (!h->whole)
    nai_buf_puts(&c->said, "the events begin in the middle of the run; ");
  say_time(c, "", ns, " before the first CUDA call");
  if (h->profiler_start_ns)
    say_time(c, ", of it ", h->profiler_start_ns, " initialisation of the profiler");
  double own = nai_percent((double)(ns - h->profiler_start_ns), (double)h->capture_ns);
  if (!h->host_watched)
    nai_buf_puts(&c->said, "; what the CPU did then was not recorded");
  put_stretch(c, "before_first_cuda_call", own >= HALF && h->host_watched ? note : ok, h->begin, h->first_call);
}

/* From `from` until the first GPU begins to work, at t: how much of it are pauses of that GPU. */
static int64_t pauses_before(const struct checks *c, int64_t from, int64_t t) {
  int64_t ns = 0, device = NAI_NULL_I64;
  for (int64_t i = 0; i < c->active->rows && device == NAI_NULL_I64; i++)
    device = nai_get_i64(c->active, i, GA_START) == t ? nai_get_i64(c->active, i, GA_DEVICE) : NAI_NULL_I64;
  for (int64_t i = 0; i < c->spans->rows; i++) {
    int64_t start = nai_get_i64(c->spans, i, AS_START), end = nai_get_i64(c->spans, i, AS_END);
    start = start > from ? start : from;
    if (nai_get_i64(c->spans, i, AS_DEVICE) == device && end <= t && end > start &&
        strcmp(nai_get_str(c->spans, i, AS_KIND), NAI_SPAN_PAUSE) == 0)
      ns += end - start;
  }
  return ns;
}

static void check_set_up(struct checks *c) {
  int64_t start = c->h.first_call, end = least(c->active, GA_START);
  if (start == NAI_NULL_I64 || end == NAI_NULL_I64 || end < start) {
    nai_buf_puts(&c->said, start == NAI_NULL_I64 || end == NAI_NULL_I64
                               ? "not both calls and GPU work are recorded"
                               : "the work had begun before the first recorded call");
    put(c, "set_up", unknown, NAI_NULL_I64, NAI_NULL_I64);
    return;
  }
  int64_t pauses = pauses_before(c, start, end), ns = end - start - pauses;
  say_time(c, "", ns, " from the first CUDA call to the first span of work");
  if (pauses)
    say_time(c, ", besides ", pauses, " of pauses");
  put_place(c, put(c, "set_up", ok, NAI_NULL_I64, ns), start, end);
}

static void check_active(struct checks *c) {
  int64_t spans = 0, pauses = 0, longest = -1;
  for (int64_t i = 0; i < c->spans->rows; i++) {
    bool pause = strcmp(nai_get_str(c->spans, i, AS_KIND), NAI_SPAN_PAUSE) == 0;
    spans += strcmp(nai_get_str(c->spans, i, AS_KIND), NAI_SPAN_ACTIVE) == 0;
    pauses += pause;
    if (pause && (longest < 0 || nai_get_i64(c->spans, i, AS_DURATION) > nai_get_i64(c->spans, longest, AS_DURATION)))
      longest = i;
  }
  int64_t active = greatest(c->active, GA_ACTIVE);
  say_count(c, spans, "span");
  nai_buf_puts(&c->said, " of work on ");
  say_count(c, c->active->rows, "GPU");
  if (active != NAI_NULL_I64)
    say_time(c, ", up to ", active, " on one of them");
  int64_t row = put(c, "active", c->active->rows ? ok : unknown, spans, active);
  put_place(c, row, least(c->active, GA_START), greatest(c->active, GA_END));

  say_count(c, pauses, "pause");
  if (longest >= 0) {
    say_time(c, ", the longest ", nai_get_i64(c->spans, longest, AS_DURATION), ": ");
    nai_buf_puts(&c->said, nai_get_str(c->spans, longest, AS_CAUSE));
    if (*nai_get_str(c->spans, longest, AS_WHAT))
      nai_buf_printf(&c->said, ", %s", nai_get_str(c->spans, longest, AS_WHAT));
  }
  row = put(c, "pauses", pauses ? note : c->active->rows ? ok : unknown, pauses, greatest(c->active, GA_PAUSE));
  if (longest >= 0)
    put_place(c, row, nai_get_i64(c->spans, longest, AS_START), nai_get_i64(c->spans, longest, AS_END));
}

static void check_end(struct checks *c) {
  const struct nai_health *h = &c->h;
  int64_t work = h->last_operation_end, call = h->last_call_end, end = h->begin + h->capture_ns;
  if (h->whole)
    end = h->capture_ns;
  if (work == NAI_NULL_I64 || call == NAI_NULL_I64) {
    nai_buf_puts(&c->said, "not both calls and GPU work are recorded");
    put(c, "tear_down", unknown, NAI_NULL_I64, NAI_NULL_I64);
  } else {
    say_time(c, "", call > work ? call - work : 0, " from the last GPU work to the end of the last CUDA call");
    put_stretch(c, "tear_down", ok, work, call > work ? call : work);
  }
  if (call == NAI_NULL_I64 || !h->whole || end < call)
    return;
  say_time(c, "", end - call, " after the last CUDA call");
  put_stretch(c, "after_last_cuda_call", ok, call, end);
}

static void check_repetition(struct checks *c) {
  int64_t steady = 0, fewest = least(c->active, GA_LAUNCHES);
  for (int64_t i = 0; i < c->active->rows; i++)
    steady += nai_get_i64(c->active, i, GA_STEADY) == 1;
  nai_fmt_count(&c->said, steady);
  nai_buf_puts(&c->said, " of ");
  say_count(c, c->active->rows, "GPU");
  nai_buf_puts(&c->said, " with work that repeats");
  if (steady < c->active->rows) {
    nai_buf_puts(&c->said, "; ");
    say_count(c, fewest, "kernel");
    nai_buf_puts(&c->said, " on one without: statistics of a single pass say little on how it runs when warm");
  }
  put(c, "steady_state", !c->active->rows ? unknown : steady == c->active->rows ? ok : note, steady, NAI_NULL_I64);
}

static void check_first_use(struct checks *c) {
  const struct nai_first_use *f = &c->first_use;
  int64_t kinds = (f->context_ns > 0) + (f->loading_rows > 0) + (f->loading_calls > 0) + (f->slow_launches > 0);
  if (f->context_call) {
    nai_buf_puts(&c->said, f->context_call);
    say_time(c, ", the longest call before any work, ", f->context_ns, ": most of it creation of the context");
  }
  if (f->loading_rows) {
    nai_buf_puts(&c->said, c->said.len ? "; " : "");
    say_count(c, f->loading_rows, "record");
    say_time(c, " of module or function loading, ", f->loading_rows_ns, "");
  }
  if (f->loading_calls) {
    nai_buf_puts(&c->said, c->said.len ? "; " : "");
    say_count(c, f->loading_calls, "call");
    say_time(c, " that load modules, ", f->loading_calls_ns, "");
  }
  if (f->slow_launches) {
    nai_buf_puts(&c->said, c->said.len ? "; " : "");
    say_count(c, f->slow_launches, "first launch");
    say_time(c, " longer than usual by ", f->slow_launches_ns, " in all: loading or compiling");
  }
  if (!kinds)
    nai_buf_puts(&c->said, "nothing that is paid once: the capture began warm, or the export does not tell");
  put(c, "first_use", kinds ? note : ok, kinds, f->total_ns);
}

/* --- what bends numbers ----------------------------------------------------------------------- */

static void check_profiler(struct checks *c) {
  int64_t active = greatest(c->active, GA_ACTIVE);
  double share = active == NAI_NULL_I64 ? 0 : nai_percent((double)c->h.profiler_ns, (double)active);
  say_count(c, c->h.profiler_count, "record");
  say_time(c, " of the profiler's own work within the window, ", c->h.profiler_ns, "");
  put(c, "profiler", share >= 1 ? note : ok, c->h.profiler_count, c->h.profiler_ns);
}

static void check_ranges(struct checks *c) {
  enum { PER_KERNEL = 2, PER_SECOND = 10000, NS_PER_S = 1000000000, FEW = 50 };
  const struct nai_health *h = &c->h;
  int64_t span = c->m->window_end - c->m->window_start;
  double rate = span > 0 ? (double)h->ranges * NS_PER_S / (double)span : 0;
  bool dense = h->kernels && h->ranges >= FEW && h->ranges >= PER_KERNEL * h->kernels && rate >= PER_SECOND;
  say_count(c, h->ranges, "NVTX range");
  nai_buf_puts(&c->said, " for ");
  say_count(c, h->kernels, "kernel");
  if (dense)
    nai_buf_puts(&c->said, ": so many that host times are inflated; launch-bound conclusions are weak");
  put(c, "nvtx_dense", dense ? note : ok, h->ranges, NAI_NULL_I64);
}

static void check_launches(struct checks *c) {
  say_count(c, c->h.without_launch, "operation");
  nai_buf_puts(&c->said, " whose launching call is not in the export");
  put(c, "launches_outside_capture", c->h.without_launch ? note : ok, c->h.without_launch, NAI_NULL_I64);
  int64_t ns = 0;
  for (uint32_t g = 0; g < c->m->gpu_count; g++)
    ns += c->m->gpus[g].graph_ns;
  say_count(c, c->m->graphs.n, "CUDA graph launch");
  nai_buf_puts(&c->said, " recorded as one envelope");
  if (c->m->graphs.n)
    nai_buf_puts(&c->said, ": the kernels inside are invisible; capture with --cuda-graph-trace=node to see them");
  put(c, "graph_envelopes", c->m->graphs.n ? note : ok, c->m->graphs.n, ns);
}

static void check_gpus(struct checks *c) {
  int64_t shared = 0, most = 0, assumed = 0, used = 0;
  for (uint32_t g = 0; g < c->m->gpu_count; g++) {
    const struct nai_gpu *gpu = &c->m->gpus[g];
    if (!gpu->op_count)
      continue;
    int64_t processes = 0;
    for (uint32_t p = 0; p < gpu->processes.count; p++)
      processes += gpu->processes.keys[p] >= 0;
    const char *by = nai_get_str(c->m->tables[NAI_IN_GPUS], g, GP_IDENTIFIED_BY);
    used++;
    shared += processes > 1;
    most = processes > most ? processes : most;
    assumed += strcmp(by, "map") != 0 && strcmp(by, "only GPU") != 0;
  }
  say_count(c, shared, "GPU");
  nai_buf_puts(&c->said, " used by several processes");
  if (shared)
    nai_buf_printf(&c->said, ", up to %" PRId64 "; time in which one of them leaves it idle may be another's", most);
  put(c, "gpus_shared", shared ? note : ok, shared, NAI_NULL_I64);
  say_count(c, used, "GPU");
  nai_buf_puts(&c->said, " used");
  if (assumed) {
    nai_buf_puts(&c->said, "; of ");
    nai_fmt_count(&c->said, assumed);
    nai_buf_puts(&c->said, " the export does not say for sure which of the machine's it is");
  }
  put(c, "gpu_identity", !used ? unknown : assumed ? note : ok, assumed, NAI_NULL_I64);
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  struct checks c = {.out = io->out[0], .m = io->model, .spans = io->in[0], .active = io->in[1]};
  int rc = nai_health_collect(&c.h, c.m, err);
  if (!rc)
    rc = nai_first_use_collect(&c.first_use, c.m, err);
  if (rc)
    return rc;
  check_recording(&c);
  check_work(&c);
  check_before(&c);
  check_set_up(&c);
  check_active(&c);
  check_end(&c);
  check_repetition(&c);
  check_first_use(&c);
  check_profiler(&c);
  check_ranges(&c);
  check_launches(&c);
  check_gpus(&c);
  rc = nai_buf_check(&c.said, err);
  nai_buf_free(&c.said);
  return rc;
}

static const char *const inputs[] = {"active_spans", "gpu_active", NULL};
static const struct nai_schema *const schemas[] = {&schema, NULL};
const struct nai_node nai_analysis_capture_health = {
    .name = "capture_health",
    .outputs = schemas,
    .inputs = inputs,
    .parts =
        NAI_PART(NAMES) | NAI_PART(GPUS) | NAI_PART(LAUNCHES) | NAI_PART(CALLS) | NAI_PART(RANGES) | NAI_PART(WINDOW),
    .tables = NAI_IN(CAPTURE) | NAI_IN(CAPABILITIES) | NAI_IN(READERS) | NAI_IN(GPUS) | NAI_IN(KERNELS) |
              NAI_IN(MEMOPS) | NAI_IN(GRAPHS) | NAI_IN(APIS) | NAI_IN(NVTX) | NAI_IN(THREADS) | NAI_IN(PROCESSES) |
              NAI_IN(OVERHEAD) | NAI_IN(PROGRAM_OUTPUTS),
    .config = NAI_CONFIG(KERNEL_CLASSES),
    .run = run};
