/* A program that reads its input between kernels, in many small reads, and opens an index each time, which is slow; and
 * the same where another thread does so. Another process reads for it in two threads. */
#include "gen/scenario.h"
#include "gen/plan_internal.h"
#include "gen/truth/answers.h"

#include <stdio.h>
#include <string.h>

enum { ROUNDS = 120, READS = 10, US = 1000, PID = 5981, WORKER = 5990 };
enum { OPEN = 1, READ = 3, METADATA = 6 };
enum { SHARD = 100, INDEX = 1000, BATCH, STATUS, LIBRARY, NOWHERE, TWICE };
enum { PASSES = 3, PARTS = 8, PART = 8 << 20 };

static void access_file(struct nai_gen_plan *plan, int file, int64_t tid, int kind, int64_t start, int64_t ns,
                        int64_t bytes) {
  struct nai_gen_row row;
  nai_gen_row_start(&row, "OSRT_FILE_ACCESS_EVENTS");
  nai_gen_row_int(&row, "fileAccessId", file);
  nai_gen_row_int(&row, "threadId", tid);
  nai_gen_row_int(&row, "startedAt", start);
  nai_gen_row_int(&row, "endedAt", start + ns);
  nai_gen_row_int(&row, "eventType", kind);
  nai_gen_row_int(&row, "bytesProcessed", bytes);
  nai_gen_evidence_row(plan, &row);
}

/* A call of the kernel in what the reading thread does. */
static void call_kernel(struct nai_gen_plan *plan, int64_t global_tid, const char *name, int64_t start, int64_t ns) {
  struct nai_gen_row row;
  nai_gen_row_start(&row, "SYSCALL");
  nai_gen_row_int(&row, "start", start);
  nai_gen_row_int(&row, "end", start + ns);
  nai_gen_row_int(&row, "eventClass", 107);
  nai_gen_row_int(&row, "globalTid", global_tid);
  nai_gen_row_int(&row, "nameId", nai_gen_string(plan, name, strlen(name)));
  nai_gen_evidence_row(plan, &row);
}

static void describe(struct nai_gen_plan *plan, int file, int64_t pid, const char *path) {
  struct nai_gen_row row;
  nai_gen_row_start(&row, "OSRT_FILE_ACCESS_DESCRIPTORS");
  nai_gen_row_int(&row, "fileAccessId", file);
  nai_gen_row_int(&row, "processId", pid);
  nai_gen_row_int(&row, "openedAt", 0);
  nai_gen_row_int(&row, "closedAt", 0);
  nai_gen_row_text(&row, "filePath", path);
  nai_gen_evidence_row(plan, &row);
}

static void fact(struct nai_gen_plan *plan, const char *file, const char *group, int64_t reads, int64_t busy_ns,
                 int64_t launcher_idle_ns) {
  nai_gen_fact(plan, &(struct nai_gen_fact){.table = "file_access",
                                            .key = file,
                                            .value = group,
                                            .count = reads,
                                            .exact_ns = busy_ns,
                                            .gain_ns = launcher_idle_ns});
}

/* Calls of equal length; while the launching thread is in those before the last round's the GPU idles. */
static void syscall_fact(struct nai_gen_plan *plan, const char *name, int count, int64_t ns, bool idle) {
  nai_gen_fact(plan, &(struct nai_gen_fact){.table = "syscalls",
                                            .key = name,
                                            .count = count,
                                            .exact_ns = count * ns,
                                            .gain_ns = idle ? count / ROUNDS * (ROUNDS - 1) * ns : 0});
}

/* A file of 64 MiB is read three times in parts by a thread of another process, the first time in 8 ms each. */
static void read_again(struct nai_gen_plan *plan, int64_t first, bool ahead) {
  int64_t t = first + 100 * US, busy = 0;
  for (int pass = 0; pass < PASSES; pass++) {
    int64_t ns = (pass || ahead ? 1 : 8) * INT64_C(1000) * US;
    describe(plan, TWICE + pass, WORKER, "/data/alice/twice.npy");
    for (int part = 0; part < PARTS; part++, t += ns) {
      access_file(plan, TWICE + pass, WORKER + 2, READ, t, ns, PART);
      busy += ns;
    }
  }
  fact(plan, "~/twice.npy", "data", PASSES * PARTS, busy, 0);
}

/* Each 3 ms: a kernel of 500 us, then the index is opened in 1.2 ms, then 10 reads of 4 KiB take 10 us each. Another
 * process reads a MiB in 200 us on two threads, which overlap by 100 us. One read fails; one file has no descriptor. */
static void plan_files(struct nai_gen_plan *plan, bool ahead) {
  struct nai_gen_program p;
  char path[64];
  nai_gen_program(&p, plan, PID, "./train");
  int kernel = nai_gen_kernel(plan, "void step(const float *, float *, int)", NULL);
  int64_t first = nai_gen_now(plan, p.thread) + 1000 * US;
  int64_t reader = (plan->threads[p.thread].global_tid & 0xffffff) + (ahead ? 1 : 0);
  for (int i = 0; i < ROUNDS; i++) {
    int64_t t = first + (int64_t)i * 3000 * US;
    nai_gen_wait_until(plan, p.thread, t - 10 * US);
    nai_gen_launch_at(plan, p.thread, p.stream, kernel, t, 500 * US);
    snprintf(path, sizeof path, "/home/alice/shard_%05d.bin", i);
    describe(plan, SHARD + i, PID, path);
    access_file(plan, INDEX, reader, OPEN, t + 600 * US, 1200 * US, 0);
    call_kernel(plan, plan->threads[p.thread].global_tid + (ahead ? 1 : 0), "openat", t + 610 * US, 1000 * US);
    for (int r = 0; r < READS; r++) {
      bool failed = i == 0 && r == 0;
      access_file(plan, SHARD + i, reader, READ, t + (1900 + 12 * r) * US, 10 * US, failed ? -1 : 4096);
      call_kernel(plan, plan->threads[p.thread].global_tid + (ahead ? 1 : 0), "pread64", t + (1901 + 12 * r) * US,
                  8 * US);
    }
    access_file(plan, BATCH, WORKER, READ, t + 2100 * US, 200 * US, 1 << 20);
    access_file(plan, BATCH, WORKER + 1, READ, t + 2200 * US, 200 * US, 1 << 20);
  }
  describe(plan, INDEX, PID, "/scratch/alice/part-7.idx");
  describe(plan, BATCH, WORKER, "/mnt/lake/alice/batch_9.tar");
  describe(plan, STATUS, PID, "/proc/5981/statm");
  describe(plan, LIBRARY, PID, "/usr/lib/alice/secret/libio.so");
  access_file(plan, STATUS, reader, READ, first + 2500 * US, 2 * US, 64);
  access_file(plan, LIBRARY, reader, METADATA, first + 2510 * US, 2 * US, 0);
  access_file(plan, NOWHERE, reader, READ, first + 2520 * US, 2 * US, 4096);
  read_again(plan, first, ahead);
  /* The last kernel ends the GPU's window: what follows it leaves nothing idle. */
  fact(plan, "~/shard_#.bin", "data", ROUNDS * READS, ROUNDS * INT64_C(100) * US,
       ahead ? 0 : (ROUNDS - 1) * INT64_C(100) * US);
  fact(plan, "~/part-#.idx", "data", 0, ROUNDS * INT64_C(1200) * US, ahead ? 0 : (ROUNDS - 1) * INT64_C(1200) * US);
  fact(plan, "~/batch_#.tar", "data", 2 * ROUNDS, ROUNDS * INT64_C(300) * US, 0);
  syscall_fact(plan, "openat", ROUNDS, 1000 * US, !ahead);
  syscall_fact(plan, "pread64", ROUNDS * READS, 8 * US, !ahead);
  if (ahead) {
    nai_gen_expect_no_findings(plan, "small-reads slow-opens cold-files");
    return;
  }
  nai_gen_expect_findings(plan, "small-reads slow-opens cold-files");
}

void nai_gen_plan_files(struct nai_gen_plan *plan, int64_t target_bytes) {
  (void)target_bytes;
  plan_files(plan, false);
}

void nai_gen_plan_files_ahead(struct nai_gen_plan *plan, int64_t target_bytes) {
  (void)target_bytes;
  plan_files(plan, true);
}
