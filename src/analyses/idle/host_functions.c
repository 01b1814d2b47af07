/* Which functions did streams run on the host, and for how long had the GPU nothing to do because of them? Table
 * host_functions. */
#include "analyses/analysis.h"
#include "base/sort.h"
#include "model/idle/evidence.h"
#include "model/idle/idle.h"
#include "tables/host_functions.h"

/* What the executions of a function add up to. */
struct sum {
  int64_t count, stream_ns, host_ns, idle_ns, delay_count;
  const struct nai_host_run *longest;
};

static int add_idle(struct sum *sums, const struct nai_model *m, uint32_t gpu, struct nai_err *err) {
  NAI_SCOPED(nai_idle_shares) shares = {0};
  for (struct nai_idle_gap gap = nai_idle_first(gpu); nai_idle_next(&gap, m);) {
    struct nai_idle_split split;
    NAI_TRY(nai_idle_split_again(&split, &shares, NULL, m, &gap, err));
  }
  for (uint32_t i = 0; i < shares.keys.count; i++) {
    enum nai_idle_cause cause;
    struct nai_idle_culprit share = nai_idle_share_at(&cause, &shares, i);
    if (cause == NAI_IDLE_HOST_FUNCTION)
      sums[share.id].idle_ns += share.ns;
  }
  return NAI_OK;
}

/* delays: those of a function side by side, begin[f] its first. */
static void add_runs(struct sum *sums, int64_t *delays, const uint32_t *begin, const struct nai_host_functions *host) {
  for (uint32_t i = 0; i < host->run_count; i++) {
    const struct nai_host_run *run = &host->runs[i];
    struct sum *sum = &sums[run->function];
    sum->count++;
    sum->stream_ns += run->end - run->start;
    if (!sum->longest || run->end - run->start > sum->longest->end - sum->longest->start)
      sum->longest = run;
    if (run->called == NAI_NULL_I64)
      continue;
    sum->host_ns += run->returned - run->called;
    delays[begin[run->function] + sum->delay_count++] = run->called - run->start;
  }
}

static void put(const struct nai_node_io *io, const struct nai_host_function *f, const struct sum *sum,
                int64_t *delays) {
  const struct nai_strings *names = &io->model->tables[NAI_IN_HOST_FUNCTIONS]->strings;
  NAI_ADD(HOST_FUNCTIONS, io->out[0], .pid = nai_model_pid(io->model, f->process), .device_id = f->device_id,
          .context_id = f->context, .stream_id = f->stream,
          .function = f->name == NAI_NO_STRING ? NULL : nai_strings_get(names, f->name),
          .kind = f->in_graph ? "graph" : "stream", .call_count = sum->count, .stream_time_ns = sum->stream_ns,
          .host_time_ns = sum->delay_count ? sum->host_ns : NAI_NULL_I64,
          .start_delay_ns = sum->delay_count ? (double)nai_median_i64(delays, (size_t)sum->delay_count) : NAN,
          .idle_ns = sum->idle_ns, .longest_start_ns = sum->longest->start, .longest_end_ns = sum->longest->end);
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_model *m = io->model;
  const struct nai_host_functions *host = m->evidence->host;
  struct sum *sums;
  int64_t *delays;
  uint32_t *begin;
  if (!host)
    return NAI_OK;
  NAI_TRY(NAI_NEW(sums, io->arena, host->function_count, err));
  NAI_TRY(NAI_NEW(begin, io->arena, host->function_count + 1, err));
  NAI_TRY(NAI_NEW(delays, io->arena, host->run_count, err));
  for (uint32_t i = 0; i < host->run_count; i++)
    begin[host->runs[i].function + 1]++;
  for (uint32_t f = 0; f < host->function_count; f++)
    begin[f + 1] += begin[f];
  add_runs(sums, delays, begin, host);
  for (uint32_t gpu = 0; gpu < m->gpu_count; gpu++)
    NAI_TRY(add_idle(sums, m, gpu, err));
  for (uint32_t f = 0; f < host->function_count; f++)
    put(io, &host->functions[f], &sums[f], delays + begin[f]);
  return NAI_OK;
}

NAI_ANALYSIS(host_functions, .outputs = NAI_SCHEMAS(&nai_host_functions_schema),
             .parts = NAI_PART(IDLE) | NAI_PART(EVIDENCE) | NAI_PART(GPUS),
             .tables = NAI_IN(HOST_FUNCTIONS) | NAI_IN(PROCESSES), .run = run)
