/* A GPU that a process in a container shares with others by time slices, as context switches tell; and the same kernels
 * where nobody else has the GPU. */
#include "gen/scenario.h"
#include "gen/truth/answers.h"

enum {
  PID = 7001,
  HOST_PID = 4242,
  OTHER_HOST_PID = 4243,
  KERNELS = 40,
  US = 1000,
  PERIOD = 1000 * US,
  KERNEL_NS = 900 * US
};
enum { SAVED = 7, RESTORED = 8, STARTED = 9, INVALID = 10, RESET = 11 };
enum { OWN_CONTEXT = 1, SECOND_CONTEXT = 2, OTHER_CONTEXT = 0 };

struct switches {
  struct nai_gen_plan *plan;
  int64_t seq;
};

static void add(struct switches *s, int64_t time, int tag, int context, int host_pid) {
  struct nai_gen_row row;
  nai_gen_row_start(&row, "GPU_CONTEXT_SWITCH_EVENTS");
  nai_gen_row_int(&row, "tag", tag);
  nai_gen_row_int(&row, "vmId", 0);
  nai_gen_row_int(&row, "seqNo", ++s->seq);
  nai_gen_row_int(&row, "contextId", context);
  nai_gen_row_int(&row, "timestamp", time);
  nai_gen_row_int(&row, "globalPid", (INT64_C(1) << 48) | ((int64_t)host_pid << 24));
  nai_gen_row_int(&row, "gpuId", 0);
  nai_gen_raw_row(s->plan, &row, tag == INVALID ? "missing_time" : NULL);
}

static void fact(struct switches *s, const char *owner, int64_t slices, int64_t resident_ns, int64_t away_ns) {
  nai_gen_fact(s->plan, &(struct nai_gen_fact){.table = "gpu_residency",
                                               .key = owner,
                                               .count = slices,
                                               .exact_ns = resident_ns,
                                               .gain_ns = away_ns});
}

/* Of each kernel's 900 us the process is away for the last 100 us but of the last one; then others have the GPU, first
 * one without a pid, then one whose kernels are not in the trace. */
static void add_slices(struct switches *s, int64_t first) {
  for (int i = 0; i < KERNELS; i++) {
    int64_t t = first + (int64_t)i * PERIOD;
    int context = i % 2 ? SECOND_CONTEXT : OWN_CONTEXT;
    add(s, t - 20 * US, RESTORED, context, HOST_PID);
    if (i + 1 == KERNELS)
      break;                                        /* nothing ends the last slice */
    add(s, t + 800 * US, SAVED, context, HOST_PID); /* at the time of the next row */
    add(s, t + 800 * US, RESTORED, OTHER_CONTEXT, 0);
    add(s, t + 850 * US, STARTED, OTHER_CONTEXT, 0);
    add(s, t + 870 * US, INVALID, OWN_CONTEXT, HOST_PID);
    if (i == 3) {
      add(s, t + 940 * US, RESET, OTHER_CONTEXT, 0);
      continue;
    }
    add(s, t + 900 * US, SAVED, OTHER_CONTEXT, 0);
    add(s, t + 900 * US, RESTORED, OTHER_CONTEXT, OTHER_HOST_PID);
    add(s, t + 940 * US, SAVED, OTHER_CONTEXT, OTHER_HOST_PID);
  }
  /* From 20 us before a kernel on, but for the first, where the window begins; 800 us of each, of the last one 900. */
  fact(s, "process", KERNELS, (KERNELS - 1) * INT64_C(820) * US - 20 * US + 920 * US,
       (KERNELS - 1) * INT64_C(100) * US);
  fact(s, "other", 2 * (KERNELS - 1) - 1, (KERNELS - 1) * INT64_C(140) * US, 0);
}

static void plan_switches(struct nai_gen_plan *plan, bool shared) {
  struct switches s = {plan, 0};
  struct nai_gen_program p;
  nai_gen_program(&p, plan, PID, "train");
  int kernel = nai_gen_kernel(plan, "work", NULL);
  int64_t first = nai_gen_now(plan, p.thread) + PERIOD;
  for (int i = 0; i < KERNELS; i++) {
    nai_gen_wait_until(plan, p.thread, first + (int64_t)i * PERIOD - 15 * US);
    nai_gen_launch_at(plan, p.thread, p.stream, kernel, first + (int64_t)i * PERIOD, KERNEL_NS);
  }
  if (shared) {
    add_slices(&s, first);
    nai_gen_expect_findings(plan, "gpu-time-sliced");
    return;
  }
  add(&s, first - PERIOD, RESTORED, OWN_CONTEXT, HOST_PID);
  fact(&s, "process", 1, (KERNELS - 1) * (int64_t)PERIOD + KERNEL_NS, 0);
  nai_gen_expect_no_findings(plan, "gpu-time-sliced");
}

void nai_gen_plan_switches(struct nai_gen_plan *plan, int64_t target_bytes) {
  (void)target_bytes;
  plan_switches(plan, true);
}

void nai_gen_plan_switches_alone(struct nai_gen_plan *plan, int64_t target_bytes) {
  (void)target_bytes;
  plan_switches(plan, false);
}
