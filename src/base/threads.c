#include "base/threads.h"

#include "base/flow.h"

#include <sched.h>

int nai_parallel(int threads, int tasks, nai_task_fn *fn, void *ctx, struct nai_err *err) {
  NAI_SCOPED(nai_flow) flow = {0};
  for (int i = 0; i < tasks; i++)
    nai_flow_add(&flow, fn, ctx, i);
  return nai_flow_run(&flow, threads, err);
}

int nai_cpu_count(void) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0)
    return 1;
  int n = CPU_COUNT(&set);
  return n > 0 ? n : 1;
}
