/* A program whose memory grows: every step allocates something that it never releases. */
#include "gen/scenario.h"
#include "gen/truth/answers.h"

#include <stdio.h>
#include <string.h>

enum { PID = 6801, STEPS = 24, KERNELS = 20, DEVICE_MEMORY = 2, PINNED_MEMORY = 1 };
#define MIB (INT64_C(1) << 20)
#define GLOBAL_PID ((INT64_C(1) << 48) | ((int64_t)PID << 24))

/* An allocation or release by a call that takes 10 us. */
static void use(struct nai_gen_plan *plan, int thread, bool frees, int kind, int64_t address, int64_t bytes) {
  struct nai_gen_row row;
  nai_gen_call(plan, thread, frees ? API_FREE : API_MALLOC, 10000);
  nai_gen_row_start(&row, "CUDA_GPU_MEMORY_USAGE_EVENTS");
  nai_gen_row_int(&row, "start", nai_gen_now(plan, thread) - 1000);
  nai_gen_row_int(&row, "globalPid", GLOBAL_PID);
  nai_gen_row_int(&row, "deviceId", kind == PINNED_MEMORY ? -1 : 0);
  nai_gen_row_int(&row, "contextId", 1);
  nai_gen_row_int(&row, "address", address);
  nai_gen_row_int(&row, "bytes", bytes);
  nai_gen_row_int(&row, "memKind", kind);
  nai_gen_row_int(&row, "memoryOperationType", frees);
  nai_gen_raw_row(plan, &row, NULL);
}

static void state_use(struct nai_gen_plan *plan, const char *column, int64_t value) {
  nai_gen_fact(plan, &(struct nai_gen_fact){.table = "memory_use", .key = column, .count = value});
}

void nai_gen_plan_memory(struct nai_gen_plan *plan, int64_t target_bytes) {
  struct nai_gen_program p;
  (void)target_bytes;
  nai_gen_program(&p, plan, PID, "grows");
  int kernel = nai_gen_kernel(plan, "void update<float>(T1 *)", "update");
  use(plan, p.thread, true, DEVICE_MEMORY, 0x9000000000, 8 * MIB); /* allocated before the capture */
  use(plan, p.thread, false, DEVICE_MEMORY, 0x1000000000, 256 * MIB);
  for (int i = 0; i < STEPS; i++) {
    char name[32];
    snprintf(name, sizeof name, "step %d", i);
    nai_gen_push(plan, p.thread, nai_gen_name(plan, name), NULL);
    use(plan, p.thread, false, DEVICE_MEMORY, 0x2000000000 + i * 16 * MIB, 16 * MIB);
    use(plan, p.thread, false, DEVICE_MEMORY, 0x3000000000, 64 * MIB);
    for (int k = 0; k < KERNELS; k++) {
      nai_gen_launch(plan, p.thread, p.stream, kernel, 200000);
    }
    nai_gen_synchronize(plan, p.thread, p.stream, API_STREAM_SYNC, 0);
    use(plan, p.thread, true, DEVICE_MEMORY, 0x3000000000, 64 * MIB);
    nai_gen_pop(plan, p.thread);
  }
  nai_gen_expect_findings(plan, "memory-growth");
  nai_gen_fact(plan,
               &(struct nai_gen_fact){.table = "memory_growth", .key = "grew_bytes", .count = (STEPS - 1) * 16 * MIB});
  nai_gen_fact(plan,
               &(struct nai_gen_fact){.table = "memory_growth", .key = "growth_bytes_per_step", .count = 16 * MIB});
  state_use(plan, "alloc_count", 1 + 2 * STEPS);
  state_use(plan, "unknown_frees", 1);
  state_use(plan, "peak_bytes", (256 + 16 * STEPS + 64) * MIB);
  state_use(plan, "end_bytes", (256 + 16 * STEPS) * MIB);
  state_use(plan, "end_count", 1 + STEPS);
}
