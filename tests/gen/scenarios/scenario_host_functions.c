/* Functions that streams run on the host: what stands behind one waits for it, in its stream, behind an event, and in
 * calls that wait for that stream; nobody else does. */
#include "gen/scenario.h"
#include "gen/plan_internal.h"
#include "gen/truth/answers.h"

#include <string.h>

enum { US = 1000, ROUNDS = 12, GRAPH = 5 };

struct functions {
  struct nai_gen_program p;
  int other, kernel; /* second stream */
  int64_t correlation;
};

/* A function in a stream; its callback begins delay_ns later. No name: the callback is not recorded. */
static void run(struct functions *f, int stream, const char *name, int64_t start_ns, int64_t duration_ns,
                int64_t delay_ns, bool in_graph) {
  struct nai_gen_plan *plan = f->p.plan;
  const struct nai_gen_stream *queue = &plan->streams[stream];
  const struct nai_gen_context *context = &plan->contexts[queue->context];
  struct nai_gen_row row;
  f->correlation++;
  nai_gen_row_start(&row, "CUPTI_ACTIVITY_KIND_GRAPH_HOST_NODE_AND_HOST_LAUNCH");
  nai_gen_row_int(&row, "start", start_ns);
  nai_gen_row_int(&row, "end", start_ns + duration_ns);
  nai_gen_row_int(&row, "deviceId", context->device_id);
  nai_gen_row_int(&row, "contextId", context->context_id);
  nai_gen_row_int(&row, "streamId", queue->stream_id);
  nai_gen_row_int(&row, "correlationId", f->correlation);
  nai_gen_row_int(&row, "globalPid", plan->processes[context->process].global_pid);
  if (in_graph) {
    nai_gen_row_int(&row, "graphId", GRAPH);
    nai_gen_row_int(&row, "graphNodeId", (INT64_C(1) << 32) * GRAPH + 1);
  }
  nai_gen_raw_row(plan, &row, NULL);
  if (!name) {
    return;
  }
  nai_gen_row_start(&row, "CUDA_HOST_CALLBACK");
  nai_gen_row_int(&row, "start", start_ns + delay_ns);
  nai_gen_row_int(&row, "end", start_ns + duration_ns);
  nai_gen_row_int(&row, "eventClass", 1);
  nai_gen_row_int(&row, "globalTid", plan->threads[f->p.thread].global_tid);
  nai_gen_row_int(&row, "correlationId", f->correlation);
  nai_gen_row_int(&row, "nameId", nai_gen_string(plan, name, strlen(name)));
  nai_gen_raw_row(plan, &row, NULL);
}

static void gap(struct functions *f, int stream, const struct nai_gen_part *parts, int count) {
  nai_gen_gap(f->p.plan, &(struct nai_gen_gap){.thread = f->p.thread,
                                               .stream = stream,
                                               .parts = parts,
                                               .count = count,
                                               .kernel = f->kernel,
                                               .duration_ns = 500 * US});
}
#define GAP(f, stream, parts) gap(f, stream, parts, (int)(sizeof(parts) / sizeof((parts)[0])))

static const struct nai_gen_part behind[] = {
    {.doing = DOING_AFTER_LAUNCH, .cause = IDLE_LAUNCH_LATENCY, .ns = 4 * US},
    {.doing = DOING_AFTER_LAUNCH, .cause = IDLE_HOST_FUNCTION, .ns = 200 * US},
    {.doing = DOING_AFTER_LAUNCH, .cause = IDLE_LAUNCH_LATENCY, .ns = 3 * US},
};
/* Short enough to be taken for launch latency. */
static const struct nai_gen_part short_one[] = {
    {.doing = DOING_AFTER_LAUNCH, .cause = IDLE_HOST_FUNCTION, .ns = 12 * US},
    {.doing = DOING_AFTER_LAUNCH, .cause = IDLE_LAUNCH_LATENCY, .ns = 2 * US},
};
static const struct nai_gen_part waited_for[] = {
    {.doing = DOING_CALL, .cause = IDLE_HOST_FUNCTION, .ns = 100 * US, .api = API_STREAM_SYNC},
    {.doing = DOING_OWN_CODE, .cause = IDLE_QUEUE_DRAINED, .ns = 6 * US},
    {.doing = DOING_LAUNCH, .cause = IDLE_IN_LAUNCH_CALL, .ns = 4 * US},
    {.doing = DOING_AFTER_LAUNCH, .cause = IDLE_LAUNCH_LATENCY, .ns = 2 * US},
};
static const struct nai_gen_part device_waited_for[] = {
    {.doing = DOING_CALL, .cause = IDLE_HOST_FUNCTION, .ns = 50 * US, .api = API_DEVICE_SYNC},
    {.doing = DOING_OWN_CODE, .cause = IDLE_QUEUE_DRAINED, .ns = 6 * US},
    {.doing = DOING_LAUNCH, .cause = IDLE_IN_LAUNCH_CALL, .ns = 4 * US},
    {.doing = DOING_AFTER_LAUNCH, .cause = IDLE_LAUNCH_LATENCY, .ns = 2 * US},
};
/* A function of another stream runs meanwhile. */
static const struct nai_gen_part beside_wait[] = {
    {.doing = DOING_CALL, .cause = IDLE_BLOCKING_CALL, .ns = 70 * US, .api = API_STREAM_SYNC},
    {.doing = DOING_OWN_CODE, .cause = IDLE_QUEUE_DRAINED, .ns = 6 * US},
    {.doing = DOING_LAUNCH, .cause = IDLE_IN_LAUNCH_CALL, .ns = 4 * US},
    {.doing = DOING_AFTER_LAUNCH, .cause = IDLE_LAUNCH_LATENCY, .ns = 2 * US},
};
static const struct nai_gen_part beside_code[] = {
    {.doing = DOING_OWN_CODE, .cause = IDLE_HOST_CODE, .ns = 600 * US},
    {.doing = DOING_LAUNCH, .cause = IDLE_IN_LAUNCH_CALL, .ns = 4 * US},
    {.doing = DOING_AFTER_LAUNCH, .cause = IDLE_LAUNCH_LATENCY, .ns = 2 * US},
};
static const struct nai_gen_part beside_stream[] = {
    {.doing = DOING_AFTER_LAUNCH, .cause = IDLE_UNKNOWN, .ns = 45 * US},
};
static const struct nai_gen_part behind_event[] = {
    {.doing = DOING_AFTER_LAUNCH, .cause = IDLE_HOST_FUNCTION, .ns = 60 * US},
    {.doing = DOING_AFTER_LAUNCH, .cause = IDLE_LAUNCH_LATENCY, .ns = 2 * US},
};

static int64_t ready(const struct functions *f) { return nai_gen_gpu_ready(f->p.plan, f->p.stream); }

static void plan_round(struct functions *f, int round) {
  int own = f->p.stream, other = f->other;
  run(f, own, "save_checkpoint(void*)", ready(f) + 4 * US, 200 * US, 30 * US, false);
  GAP(f, own, behind);
  run(f, own, "publish(void*)", ready(f) - 100 * US, 60 * US, US, false); /* hidden by the kernel */
  run(f, own, "publish_node(void*)", ready(f), 12 * US, 2 * US, true);
  GAP(f, own, short_one);
  run(f, own, "save_checkpoint(void*)", ready(f), 100 * US, 20 * US, false);
  GAP(f, own, waited_for);
  run(f, other, NULL, ready(f), 50 * US, 0, false);
  GAP(f, own, device_waited_for);
  run(f, other, NULL, ready(f), 70 * US, 0, false);
  GAP(f, own, beside_wait);
  run(f, own, "publish(void*)", ready(f), 80 * US, US, false);
  GAP(f, own, beside_code);
  run(f, other, NULL, ready(f), 30 * US, 0, false);
  GAP(f, own, beside_stream);
  nai_gen_wait_event(f->p.plan, f->p.thread, other, own, 40 + round);
  run(f, own, "publish(void*)", ready(f), 60 * US, US, false);
  GAP(f, other, behind_event);
}

static void fact(struct nai_gen_plan *plan, const char *function, const char *kind, int64_t calls, int64_t stream_ns,
                 int64_t idle_ns) {
  nai_gen_fact(plan, &(struct nai_gen_fact){.table = "host_functions",
                                            .key = function,
                                            .value = kind,
                                            .count = calls,
                                            .exact_ns = stream_ns,
                                            .gain_ns = idle_ns});
}

static void begin(struct functions *f, struct nai_gen_plan *plan) {
  *f = (struct functions){.correlation = 900000};
  nai_gen_program(&f->p, plan, 7101, "train");
  f->other = nai_gen_stream(plan, 0, 13);
  f->kernel = nai_gen_kernel(plan, "void step<float>(T1 *, int)", "step");
  nai_gen_follow(plan, f->p.thread, f->p.stream, f->kernel, 500 * US);
}

void nai_gen_plan_host_functions(struct nai_gen_plan *plan, int64_t target_bytes) {
  struct functions f;
  (void)target_bytes;
  begin(&f, plan);
  for (int round = 0; round < ROUNDS; round++) {
    plan_round(&f, round);
  }
  fact(plan, "save_checkpoint(void*)", "stream", INT64_C(2) * ROUNDS, INT64_C(300) * US * ROUNDS,
       INT64_C(300) * US * ROUNDS);
  fact(plan, "publish(void*)", "stream", INT64_C(3) * ROUNDS, INT64_C(200) * US * ROUNDS, INT64_C(60) * US * ROUNDS);
  fact(plan, "publish_node(void*)", "graph", ROUNDS, INT64_C(12) * US * ROUNDS, INT64_C(12) * US * ROUNDS);
  fact(plan, "", "stream", INT64_C(3) * ROUNDS, INT64_C(150) * US * ROUNDS, INT64_C(50) * US * ROUNDS);
  nai_gen_expect_findings(plan, "host-function-stalls");
}

/* The same functions, all of them beside kernels. */
void nai_gen_plan_host_functions_hidden(struct nai_gen_plan *plan, int64_t target_bytes) {
  static const struct nai_gen_part spacing[] = {
      {.doing = DOING_AFTER_LAUNCH, .cause = IDLE_LAUNCH_LATENCY, .ns = 2 * US}};
  struct functions f;
  (void)target_bytes;
  begin(&f, plan);
  for (int round = 0; round < 8 * ROUNDS; round++) {
    run(&f, f.other, "save_checkpoint(void*)", ready(&f) - 300 * US, 200 * US, 30 * US, false);
    GAP(&f, f.p.stream, spacing);
  }
  fact(plan, "save_checkpoint(void*)", "stream", INT64_C(8) * ROUNDS, INT64_C(1600) * US * ROUNDS, 0);
  nai_gen_expect_no_findings(plan, "host-function-stalls");
}
