/* A GPU that starves behind its host: one gap of known length for every cause, again and again. */
#include "gen/scenario.h"

struct starving {
  struct nai_gen_plan *plan;
  int thread, stream, gpu;
  int loading;
};

/* Each function starts a kernel at start_ns, which is later than the stream needs, and keeps the host
 * busy in the way that its cause describes until then. */

static void leave_unknown(struct starving *s, int kernel, int64_t start_ns, int64_t duration_ns) {
  nai_gen_orphan(s->plan, s->stream, kernel, start_ns, duration_ns);
}

/* Queued long before it may start. */
static void leave_dependency(struct starving *s, int kernel, int64_t start_ns, int64_t duration_ns) {
  nai_gen_launch_at(s->plan, s->thread, s->stream, kernel, start_ns, duration_ns);
}

/* The launch happens 10 us before start_ns, after the host spent its time as the cause says. */
enum { LAUNCH_LEAD_NS = 10000 };

static void leave_host_sync(struct starving *s, int kernel, int64_t start_ns, int64_t duration_ns) {
  int64_t wait_ns = start_ns - LAUNCH_LEAD_NS - nai_gen_ready(s->plan, s->stream);
  nai_gen_synchronize(s->plan, s->thread, s->stream, API_STREAM_SYNC, wait_ns * 9 / 10);
  nai_gen_wait_until(s->plan, s->thread, start_ns - LAUNCH_LEAD_NS);
  nai_gen_launch_at(s->plan, s->thread, s->stream, kernel, start_ns, duration_ns);
}

static void leave_host_api(struct starving *s, int kernel, int64_t start_ns, int64_t duration_ns) {
  int64_t idle_from = nai_gen_ready(s->plan, s->stream);
  int64_t late_ns = start_ns - LAUNCH_LEAD_NS - idle_from;
  nai_gen_wait_until(s->plan, s->thread, idle_from + late_ns / 10);
  nai_gen_call(s->plan, s->thread, API_HOST_ALLOC, late_ns * 8 / 10);
  nai_gen_wait_until(s->plan, s->thread, start_ns - LAUNCH_LEAD_NS);
  nai_gen_launch_at(s->plan, s->thread, s->stream, kernel, start_ns, duration_ns);
}

static void leave_host_code(struct starving *s, int kernel, int64_t start_ns, int64_t duration_ns) {
  nai_gen_push(s->plan, s->thread, s->loading, NULL);
  nai_gen_wait_until(s->plan, s->thread, start_ns - 2 * LAUNCH_LEAD_NS);
  nai_gen_pop(s->plan, s->thread);
  nai_gen_wait_until(s->plan, s->thread, start_ns - LAUNCH_LEAD_NS);
  nai_gen_launch_at(s->plan, s->thread, s->stream, kernel, start_ns, duration_ns);
}

void nai_gen_plan_host_bound(struct nai_gen_plan *plan, int64_t target_bytes) {
  (void)target_bytes;
  static const struct {
    void (*leave)(struct starving *s, int kernel, int64_t start_ns, int64_t duration_ns);
    int64_t gap_ns;
  } gaps[] = {{leave_host_sync, 800000},
              {leave_host_code, 350000},
              {leave_host_api, 180000},
              {leave_dependency, 90000},
              {leave_unknown, 60000}};
  enum { GAPS = sizeof gaps / sizeof gaps[0] };
  static const char *const names[GAPS] = {"void step_a<float>(T1 *, int)", "void step_b<float>(T1 *, int)",
                                          "void step_c<float>(T1 *, int)", "void step_d<float>(T1 *, int)",
                                          "void step_e<float>(T1 *, int)"};
  static const char *const short_names[GAPS] = {"step_a", "step_b", "step_c", "step_d", "step_e"};
  struct starving s = {.plan = plan};
  int process = nai_gen_process(plan, 7001, "python3");
  s.thread = nai_gen_thread(plan, process, 7001, "python3");
  s.gpu = nai_gen_gpu(plan, 0);
  s.stream = nai_gen_stream(plan, nai_gen_context(plan, process, 0, 1, s.gpu), 7);
  s.loading = nai_gen_name(plan, "data_loading");
  int step = nai_gen_name(plan, "train_step");
  struct nai_gen_rng *rng = nai_gen_rng(plan);
  int kernels[GAPS];
  for (int i = 0; i < GAPS; i++) {
    kernels[i] = nai_gen_kernel(plan, names[i], short_names[i]);
  }
  nai_gen_push(plan, s.thread, step, NULL);
  nai_gen_launch(plan, s.thread, s.stream, kernels[0], 250000);
  nai_gen_pop(plan, s.thread);
  for (int round = 0; round < nai_gen_scaled(plan, 20); round++) {
    nai_gen_push(plan, s.thread, step, NULL);
    for (int i = 0; i < GAPS; i++) {
      int64_t gap_ns = nai_gen_rng_vary(rng, gaps[i].gap_ns, 20);
      gaps[i].leave(&s, kernels[i], nai_gen_ready(plan, s.stream) + gap_ns, nai_gen_rng_vary(rng, 250000, 10));
    }
    nai_gen_pop(plan, s.thread);
  }
  nai_gen_expect_findings(plan, "idle-queue-drained"); /* waits, and what follows them: one finding */
  nai_gen_expect_no_findings(plan, "launch-bound exposed-copy exposed-communication "
                                   "pageable-copies no-nvtx low-nvtx-coverage "
                                   "profiler-overhead");
}
