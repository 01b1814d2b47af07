/* Sources of what CPUs and the operating system did: runtime calls, scheduling, samples, callchains. */
#include "trace/sources/source_cells.h"
#include "tables/callchain_frames.h"
#include "tables/file_events.h"
#include "tables/osrt_events.h"
#include "tables/sample_events.h"
#include "tables/sched_events.h"
#include "tables/syscall_events.h"

/* --- OS runtime ------------------------------------------------------------------------------- */

#define OSRT_FIELDS(F, L, T)                            \
  TIMES(F, L, T)                                        \
  F(L, T, thread, THREAD, OPTIONAL, "globalTid")        \
  F(L, T, name, NAME, OPTIONAL, "nameId")               \
  F(L, T, nesting_level, OWN, OPTIONAL, "nestingLevel") \
  F(L, T, event_class, OWN, OPTIONAL, "eventClass")     \
  F(L, T, callchain_id, I32, EXTRA, "callchainId")
NAI_FIELDS(osrt, OSRT_FIELDS, OSRT_EVENTS, put_times)

static int osrt_row(struct nai_part *p) {
  enum { CLASS_OSRT = 27 };
  if (int_or(p, osrt_event_class, CLASS_OSRT) != CLASS_OSRT)
    return NAI_SKIP;
  int64_t level = int_or(p, osrt_nesting_level, 0);
  put_i32(p, OSRT_EVENTS_nesting_level, level < 0 ? 0 : level);
  return put_osrt(p);
}

const struct nai_source nai_source_osrt = {.table = NAI_IN_OSRT,
                                           .capability = "OS runtime calls",
                                           .disables = "operating-system calls by name",
                                           .feeds = {NAI_FEED(osrt, osrt_row, 0, "OSRT_API")}};

/* --- files ------------------------------------------------------------------------------------ */

#define FILES_FIELDS(F, L, T)                \
  F(L, T, start, OWN, REQUIRED, "startedAt") \
  F(L, T, end, OWN, REQUIRED, "endedAt")     \
  F(L, T, file, I64, ABOUT, "fileAccessId")  \
  F(L, T, tid, I64, OPTIONAL, "threadId")    \
  F(L, T, kind, I32, OPTIONAL, "eventType")  \
  F(L, T, bytes, OWN, OPTIONAL, "bytesProcessed")
NAI_FIELDS(files, FILES_FIELDS, FILE_EVENTS, put_times)

/* A call that fails has a negative size. */
static int file_row(struct nai_part *p) {
  int64_t bytes = int_or(p, files_bytes, NAI_NULL_I64);
  bool sound = bytes >= 0 && bytes <= NAI_MAX_BYTES;
  put_i64(p, FILE_EVENTS_bytes, sound ? bytes : NAI_NULL_I64);
  nai_sum_add(&p->total_bytes, sound ? (uint64_t)bytes : 0);
  return put_files(p);
}

const struct nai_source nai_source_files = {.table = NAI_IN_FILES,
                                            .capability = "file accesses",
                                            .disables = "files that the program waits for",
                                            .brings = NAI_IN(FILE_NAMES),
                                            .witness = true,
                                            .only_with = "OSRT_FILE_ACCESS_EVENTS",
                                            .feeds = {NAI_QUIET_FEED(files, file_row, 0, "OSRT_FILE_ACCESS_EVENTS")}};

#define SYSCALL_FIELDS(F, L, T)                  \
  TIMES(F, L, T)                                 \
  F(L, T, thread, THREAD, OPTIONAL, "globalTid") \
  F(L, T, name, NAME, REQUIRED, "nameId")
NAI_FIELDS(syscall, SYSCALL_FIELDS, SYSCALL_EVENTS, put_times)

const struct nai_source nai_source_syscalls = {.table = NAI_IN_SYSCALLS,
                                               .capability = "system calls",
                                               .disables = "system calls by name",
                                               .only_with = "SYSCALL",
                                               .feeds = {NAI_QUIET_FEED(syscall, put_syscall, 0, "SYSCALL")}};

/* --- scheduling and samples ------------------------------------------------------------------- */

#define SEEN(F, L, T)                            \
  F(L, T, start, OWN, REQUIRED, "start")         \
  F(L, T, thread, THREAD, OPTIONAL, "globalTid") \
  F(L, T, global_tid, I64, EXTRA, "globalTid")   \
  F(L, T, cpu, I32, OPTIONAL, "cpu")

#define SCHED_FIELDS(F, L, T)                         \
  SEEN(F, L, T)                                       \
  F(L, T, is_in, OWN, ABOUT, "isSchedIn")             \
  F(L, T, thread_state, I32, OPTIONAL, "threadState") \
  F(L, T, thread_block, OWN, OPTIONAL, "threadBlock")
NAI_FIELDS(sched, SCHED_FIELDS, SCHED_EVENTS, put_time)

static int sched_row(struct nai_part *p) {
  bool in = int_or(p, sched_is_in, 0) != 0;
  put_i32(p, SCHED_EVENTS_is_in, in);
  put_i32(p, SCHED_EVENTS_thread_block, in ? INT64_MAX : int_or(p, sched_thread_block, INT64_MAX));
  return put_sched(p);
}

const struct nai_source nai_source_sched = {.table = NAI_IN_SCHED,
                                            .capability = "thread scheduling",
                                            .disables = "when threads ran and when they waited for a CPU",
                                            .witness = true,
                                            .feeds = {NAI_FEED(sched, sched_row, 0, "SCHED_EVENTS")}};

#define SAMPLE_FIELDS(F, L, T)                        \
  SEEN(F, L, T)                                       \
  F(L, T, thread_state, I32, OPTIONAL, "threadState") \
  F(L, T, cpu_cycles, I64, OPTIONAL, "cpuCycles")     \
  F(L, T, callchain_id, I64, OPTIONAL, "id")
NAI_FIELDS(sample, SAMPLE_FIELDS, SAMPLE_EVENTS, put_time)

const struct nai_source nai_source_samples = {.table = NAI_IN_SAMPLES,
                                              .capability = "CPU samples",
                                              .disables = "what code threads were in",
                                              .witness = true,
                                              .feeds = {NAI_FEED(sample, put_sample, 0, "COMPOSITE_EVENTS")}};

/* --- callchains ------------------------------------------------------------------------------- */

#define FRAME_FIELDS(F, L, T)                    \
  F(L, T, callchain_id, I64, ABOUT, "id")        \
  F(L, T, depth, I32, REQUIRED, "stackDepth")    \
  F(L, T, kind, KIND, EXTRA, NULL)               \
  F(L, T, symbol, TEXT, OPTIONAL, "symbol")      \
  F(L, T, module, TEXT, OPTIONAL, "module")      \
  F(L, T, kernel_mode, I32, EXTRA, "kernelMode") \
  F(L, T, unresolved, I32, OPTIONAL, "unresolved")

static int check_depth(const struct nai_part *p) {
  enum { DEPTH = 1 };
  int64_t depth = int_or(p, DEPTH, -1);
  return depth < 0 || depth > INT32_MAX ? NAI_DROP_VALUE : NAI_KEEP;
}
NAI_FIELDS(frame, FRAME_FIELDS, CALLCHAIN_FRAMES, check_depth)

const struct nai_source nai_source_callchains = {
    .table = NAI_IN_CALLCHAINS,
    .capability = "callchains",
    .disables = "which code samples and calls came from",
    .witness = true,
    .feeds = {NAI_FEED(frame, put_frame, NAI_CALLCHAIN_SAMPLE, "SAMPLING_CALLCHAINS"),
              NAI_FEED(frame, put_frame, NAI_CALLCHAIN_CUDA, "CUDA_CALLCHAINS"),
              NAI_FEED(frame, put_frame, NAI_CALLCHAIN_OSRT, "OSRT_CALLCHAINS")}};
