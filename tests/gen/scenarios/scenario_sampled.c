/* Kernels under sampled metrics: which fill samples alone, and what they use then; and the same with samples that are
 * too far apart to tell. */
#include "gen/scenario.h"
#include "gen/truth/answers.h"

enum { US = 1000, PERIOD = 100 * US, COARSE = 1000 * US };
enum { TENSOR, READ, WRITE, ISSUE, SMS, CLOCK, METRICS };
static const char *const metric_names[METRICS] = {
    "Tensor Active [Throughput %]",        "DRAM Read Bandwidth [Throughput %]",
    "DRAM Write Bandwidth [Throughput %]", "SM Issue [Throughput %]",
    "SMs Active [Throughput %]",           "GPC Clock Frequency [MHz]"}; /* which is in Hz, whatever the name says */

static int64_t offset(int64_t period) { return 3 * period / 10; }

struct job {
  const char *name;
  int count;
  int64_t ns, gap_ns;      /* of an execution, and to the next one, but for what is rounded up to the next sample */
  int used[CLOCK];         /* percent */
  int samples, kept;       /* per execution that lie within it; of them not lost */
  const char *bound, *why; /* which of both holds */
  bool train, paired;      /* executions follow at once on one another; another kernel runs beside them */
};
/* Each begins 0.3 periods behind a sample, so that its first and last samples are not its own. */
static const struct job jobs[] = {
    {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64",
     20,
     2000 * US,
     0,
     {80, 25, 10, 40, 95},
     19,
     19,
     "tensor cores",
     NULL,
     false,
     false},
    {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_nt_n_tilesize64x64x64",
     10,
     2000 * US,
     0,
     {20, 30, 15, 25, 90},
     19,
     19,
     "mixed",
     NULL,
     false,
     false},
    {"stream_triad", 10, 2000 * US, 0, {0, 50, 35, 20, 95}, 19, 19, "memory", NULL, false, false},
    {"scan_blocks", 5, 1000 * US, 0, {0, 10, 5, 8, 20}, 9, 9, "few SMs", NULL, false, false},
    {"gather", 5, 1000 * US, 0, {0, 20, 10, 15, 80}, 9, 9, "latency", NULL, false, false},
    {"burst", 100, 40 * US, 1 * US, {0, 5, 5, 70, 90}, 40, 40, "issue", NULL, true, false}, /* of all together */
    {"tiny", 200, 5 * US, 0, {0, 5, 5, 70, 90}, 0, 0, NULL, "too_short", false, false},
    {"once", 1, 1000 * US, 0, {0, 5, 5, 70, 90}, 9, 9, NULL, "short_total", false, false},
    {"left", 5, 1000 * US, 0, {0, 5, 5, 70, 90}, 0, 0, NULL, "overlapped", false, true},
    {"sparse", 5, 1000 * US, 0, {0, 5, 5, 70, 90}, 9, 3, NULL, "lost", false, false}};
enum { JOBS = sizeof jobs / sizeof *jobs };

struct sampled {
  struct nai_gen_program p;
  int second; /* stream */
  int64_t first, period;
};

static void sample(struct sampled *s, int metric, int64_t at, int64_t value) {
  struct nai_gen_row row;
  nai_gen_row_start(&row, "GPU_METRICS");
  nai_gen_row_int(&row, "rawTimestamp", at);
  nai_gen_row_int(&row, "timestamp", at);
  nai_gen_row_int(&row, "typeId", INT64_C(0x1000000000));
  nai_gen_row_int(&row, "metricId", 20 + metric);
  nai_gen_row_int(&row, "value", value);
  nai_gen_raw_row(s->p.plan, &row, NULL);
}

/* What a time shows that a job has, but for its end; of executions with lost samples the first ones are there. */
static void sample_job(struct sampled *s, const struct job *job, int64_t start, int64_t end) {
  for (int64_t at = start - offset(s->period); at < end; at += s->period) {
    int64_t number = (at - start + offset(s->period)) / PERIOD; /* 0 and those behind the job's are of two */
    if (job->kept < job->samples && number > job->kept && number <= job->samples)
      continue;
    for (int m = 0; m < METRICS; m++)
      sample(s, m, at, m == CLOCK ? INT64_C(1410000000) : job->used[m] / (number == 0 ? 2 : 1));
  }
}

static int64_t next_sample(const struct sampled *s, int64_t t) {
  return s->first + (t - s->first + s->period - 1) / s->period * s->period;
}

static int64_t run_job(struct sampled *s, const struct job *job, int64_t t) {
  struct nai_gen_plan *plan = s->p.plan;
  int kernel = nai_gen_kernel(plan, job->name, NULL), other = job->paired ? nai_gen_kernel(plan, "right", NULL) : 0;
  int64_t start = t + offset(s->period), end = start;
  for (int i = 0; i < job->count; i++) {
    nai_gen_wait_until(plan, s->p.thread, start - 15 * US);
    if (job->paired)
      nai_gen_launch_at(plan, s->p.thread, s->second, other, start, job->ns);
    end = nai_gen_launch_at(plan, s->p.thread, s->p.stream, kernel, start, job->ns);
    if (!job->train) {
      sample_job(s, job, start, end);
      t = next_sample(s, end);
    }
    start = job->train ? end + job->gap_ns : t + offset(s->period);
  }
  if (job->train)
    sample_job(s, job, t + offset(s->period), end);
  return next_sample(s, end);
}

static void fact(struct sampled *s, const struct job *job) {
  int64_t count = (job->train ? 1 : job->count) * (int64_t)job->kept;
  nai_gen_fact(s->p.plan, &(struct nai_gen_fact){.table = "kernel_bounds",
                                                 .key = job->name,
                                                 .value = job->bound,
                                                 .count = count,
                                                 .exact_ns = job->count * job->ns});
  if (job->why)
    nai_gen_fact(s->p.plan, &(struct nai_gen_fact){
                                .table = "kernel_metrics", .key = job->name, .value = job->why, .count = count});
}

static void begin(struct sampled *s, struct nai_gen_plan *plan, int64_t period) {
  struct nai_gen_row row;
  nai_gen_program(&s->p, plan, 7002, "train");
  s->second = nai_gen_stream(plan, 0, 21);
  s->period = period;
  s->first = nai_gen_now(plan, s->p.thread) + COARSE;
  for (int m = 0; m < METRICS; m++) {
    nai_gen_row_start(&row, "TARGET_INFO_GPU_METRICS");
    nai_gen_row_int(&row, "typeId", INT64_C(0x1000000000));
    nai_gen_row_int(&row, "sourceId", 1);
    nai_gen_row_text(&row, "typeName", "GPU Metrics [0]");
    nai_gen_row_int(&row, "metricId", 20 + m);
    nai_gen_row_text(&row, "metricName", metric_names[m]);
    nai_gen_raw_row(plan, &row, NULL);
  }
}

void nai_gen_plan_sampled(struct nai_gen_plan *plan, int64_t target_bytes) {
  (void)target_bytes;
  struct sampled s;
  begin(&s, plan, PERIOD);
  int64_t t = s.first;
  for (int i = 0; i < JOBS; i++) {
    if (i == 0) /* around both products */
      nai_gen_push(plan, s.p.thread, nai_gen_name(plan, "matmul"), NULL);
    t = run_job(&s, &jobs[i], t);
    fact(&s, &jobs[i]);
    if (i == 1 || i == 2)
      nai_gen_pop(plan, s.p.thread);
    if (i == 1) /* around the kernel that reads and writes most */
      nai_gen_push(plan, s.p.thread, nai_gen_name(plan, "stream"), NULL);
  }
  nai_gen_fact(plan, &(struct nai_gen_fact){.table = "range_metrics",
                                            .key = "stream",
                                            .value = "measured",
                                            .count = jobs[2].count * (jobs[2].samples + 1),
                                            .exact_ns = METRICS * jobs[2].count * jobs[2].ns});
  /* one more sample of each execution lies in it for the greater part; a row per metric */
  nai_gen_fact(plan, &(struct nai_gen_fact){
                         .table = "range_metrics",
                         .key = "matmul",
                         .value = "measured",
                         .count = jobs[0].count * (jobs[0].samples + 1) + jobs[1].count * (jobs[1].samples + 1),
                         .exact_ns = METRICS * (jobs[0].count * jobs[0].ns + jobs[1].count * jobs[1].ns)});
  nai_gen_expect_findings(plan, "kernel-bound-by-memory range-bound-by-memory gemm-tensor-low");
  nai_gen_expect_no_findings(plan, "metrics-too-coarse");
}

/* One sample of a millisecond lies in each execution of two. */
void nai_gen_plan_sampled_coarse(struct nai_gen_plan *plan, int64_t target_bytes) {
  (void)target_bytes;
  struct sampled s;
  begin(&s, plan, COARSE);
  int64_t t = s.first;
  for (int i = 1; i < 3; i++) {
    t = run_job(&s, &jobs[i], t);
    nai_gen_fact(plan, &(struct nai_gen_fact){
                           .table = "kernel_metrics", .key = jobs[i].name, .value = "edges", .count = jobs[i].count});
  }
  const struct job rare = {"rare", 1, 2000 * US, 0, {0, 50, 35, 20, 95}, 19, 19, NULL, "short_total", false, false};
  nai_gen_push(plan, s.p.thread, nai_gen_name(plan, "rarely"), NULL);
  run_job(&s, &rare, t);
  nai_gen_pop(plan, s.p.thread);
  nai_gen_fact(plan, &(struct nai_gen_fact){.table = "range_metrics",
                                            .key = "rarely",
                                            .value = "unsampled",
                                            .count = 2,
                                            .exact_ns = METRICS * rare.ns});
  nai_gen_expect_findings(plan, "metrics-too-coarse");
  nai_gen_expect_no_findings(plan, "kernel-bound-by-memory range-bound-by-memory gemm-tensor-low");
}
