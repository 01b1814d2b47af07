/* Sources of what CPUs and the operating system did: runtime calls, scheduling, samples, callchains. */
#include "trace/sources/source_cells.h"
#include "tables/callchain_frames.h"
#include "tables/osrt_events.h"
#include "tables/sample_events.h"
#include "tables/sched_events.h"

/* --- OS runtime ------------------------------------------------------------------------------- */

enum { O_THREAD = 2, O_NAME, O_LEVEL, O_CLASS, O_CALLCHAIN };
static const struct nai_field osrt_fields[] = {
    TIMES, FIELD("globalTid"), FIELD("nameId"), FIELD("nestingLevel"), FIELD("eventClass"), EXTRA("callchainId")};

static int osrt_row(struct nai_part *p, int64_t at, int64_t rowid, const struct nai_cell *cells, int *rc,
                    struct nai_err *err) {
  (void)rowid;
  enum { CLASS_OSRT = 27 };
  if (int_or(p, cells, O_CLASS, CLASS_OSRT) != CLASS_OSRT)
    return NAI_SKIP;
  int verdict = put_times(p, at, cells);
  if (verdict != NAI_KEEP)
    return verdict;
  int64_t level = int_or(p, cells, O_LEVEL, 0);
  put_thread(p, OSRT_EVENTS_thread, at, int_or(p, cells, O_THREAD, 0));
  put_name(p, OSRT_EVENTS_name, at, name_field(p, cells, O_NAME, NAI_NAME_PLAIN, rc, err));
  put_i32(p, OSRT_EVENTS_nesting_level, at, level < 0 ? 0 : level);
  put_field_i32(p, OSRT_EVENTS_callchain_id, at, cells, O_CALLCHAIN);
  return NAI_KEEP;
}

const struct nai_source nai_source_osrt = {
    .table = NAI_IN_OSRT,
    .capability = "OS runtime calls",
    .disables = "operating-system calls by name",
    .dictionary = {[OSRT_EVENTS_thread] = NAI_THREADS, [OSRT_EVENTS_name] = NAI_NAMES},
    .feeds = {FEED(osrt_fields, osrt_row, "OSRT_API")},
    .feed_count = 1};

/* --- scheduling and samples ------------------------------------------------------------------- */

enum { T_THREAD = 1, T_CPU };

/* Time, thread and CPU: columns 0 to 3 of both tables. */
static int put_seen(struct nai_part *p, int64_t at, const struct nai_cell *cells) {
  int verdict = put_time(p, at, cells);
  if (verdict != NAI_KEEP)
    return verdict;
  put_thread(p, SCHED_EVENTS_thread, at, int_or(p, cells, T_THREAD, 0));
  put_field_i64(p, SCHED_EVENTS_global_tid, at, cells, T_THREAD);
  put_field_i32(p, SCHED_EVENTS_cpu, at, cells, T_CPU);
  return NAI_KEEP;
}
_Static_assert((int)SCHED_EVENTS_thread == (int)SAMPLE_EVENTS_thread &&
                   (int)SCHED_EVENTS_global_tid == (int)SAMPLE_EVENTS_global_tid &&
                   (int)SCHED_EVENTS_cpu == (int)SAMPLE_EVENTS_cpu,
               "put_seen fills both tables");

enum { T_IN = 3, T_STATE, T_BLOCK };
static const struct nai_field sched_fields[] = {NEEDED("start"),     FIELD("globalTid"),   FIELD("cpu"),
                                                NEEDED("isSchedIn"), FIELD("threadState"), FIELD("threadBlock")};

static int sched_row(struct nai_part *p, int64_t at, int64_t rowid, const struct nai_cell *cells, int *rc,
                     struct nai_err *err) {
  (void)rowid, (void)rc, (void)err;
  if (field(p, cells, T_IN)->type != NAI_CELL_INT)
    return NAI_DROP_VALUE;
  int verdict = put_seen(p, at, cells);
  if (verdict != NAI_KEEP)
    return verdict;
  bool in = int_or(p, cells, T_IN, 0) != 0;
  put_i32(p, SCHED_EVENTS_is_in, at, in);
  put_field_i32(p, SCHED_EVENTS_thread_state, at, cells, T_STATE);
  put_i32(p, SCHED_EVENTS_thread_block, at, in ? INT64_MAX : int_or(p, cells, T_BLOCK, INT64_MAX));
  return NAI_KEEP;
}

const struct nai_source nai_source_sched = {.table = NAI_IN_SCHED,
                                            .capability = "thread scheduling",
                                            .disables = "when threads ran and when they waited for a CPU",
                                            .dictionary = {[SCHED_EVENTS_thread] = NAI_THREADS},
                                            .witness = true,
                                            .feeds = {FEED(sched_fields, sched_row, "SCHED_EVENTS")},
                                            .feed_count = 1};

enum { P_STATE = 3, P_CYCLES, P_ID };
static const struct nai_field sample_fields[] = {NEEDED("start"),      FIELD("globalTid"), FIELD("cpu"),
                                                 FIELD("threadState"), FIELD("cpuCycles"), FIELD("id")};

static int sample_row(struct nai_part *p, int64_t at, int64_t rowid, const struct nai_cell *cells, int *rc,
                      struct nai_err *err) {
  (void)rowid, (void)rc, (void)err;
  int verdict = put_seen(p, at, cells);
  if (verdict != NAI_KEEP)
    return verdict;
  put_field_i32(p, SAMPLE_EVENTS_thread_state, at, cells, P_STATE);
  put_field_i64(p, SAMPLE_EVENTS_cpu_cycles, at, cells, P_CYCLES);
  put_field_i64(p, SAMPLE_EVENTS_callchain_id, at, cells, P_ID);
  return NAI_KEEP;
}

const struct nai_source nai_source_samples = {.table = NAI_IN_SAMPLES,
                                              .capability = "CPU samples",
                                              .disables = "what code threads were in",
                                              .dictionary = {[SAMPLE_EVENTS_thread] = NAI_THREADS},
                                              .witness = true,
                                              .feeds = {FEED(sample_fields, sample_row, "COMPOSITE_EVENTS")},
                                              .feed_count = 1};

/* --- callchains ------------------------------------------------------------------------------- */

enum { C_ID, C_DEPTH, C_SYMBOL, C_MODULE, C_KERNEL, C_UNRESOLVED };
static const struct nai_field callchain_fields[] = {NEEDED("id"),    NEEDED("stackDepth"), FIELD("symbol"),
                                                    FIELD("module"), FIELD("kernelMode"),  FIELD("unresolved")};

static int frame_row(struct nai_part *p, int64_t at, const struct nai_cell *cells, int kind, int *rc,
                     struct nai_err *err) {
  int64_t depth = int_or(p, cells, C_DEPTH, -1);
  if (field(p, cells, C_ID)->type != NAI_CELL_INT || depth < 0 || depth > INT32_MAX)
    return NAI_DROP_VALUE;
  put_i32(p, CALLCHAIN_FRAMES_kind, at, kind);
  put_field_i64(p, CALLCHAIN_FRAMES_callchain_id, at, cells, C_ID);
  put_i32(p, CALLCHAIN_FRAMES_depth, at, depth);
  put_optional_name(p, CALLCHAIN_FRAMES_symbol, at, cells, C_SYMBOL, rc, err);
  put_optional_name(p, CALLCHAIN_FRAMES_module, at, cells, C_MODULE, rc, err);
  put_field_i32(p, CALLCHAIN_FRAMES_kernel_mode, at, cells, C_KERNEL);
  put_field_i32(p, CALLCHAIN_FRAMES_unresolved, at, cells, C_UNRESOLVED);
  return NAI_KEEP;
}

#define FRAME_ROW(name, kind)                                                                           \
  static int name(struct nai_part *p, int64_t at, int64_t rowid, const struct nai_cell *cells, int *rc, \
                  struct nai_err *err) {                                                                \
    (void)rowid;                                                                                        \
    return frame_row(p, at, cells, kind, rc, err);                                                      \
  }
FRAME_ROW(sampling_frame_row, NAI_CALLCHAIN_SAMPLE)
FRAME_ROW(cuda_frame_row, NAI_CALLCHAIN_CUDA)
FRAME_ROW(osrt_frame_row, NAI_CALLCHAIN_OSRT)

const struct nai_source nai_source_callchains = {
    .table = NAI_IN_CALLCHAINS,
    .capability = "callchains",
    .disables = "which code samples and calls came from",
    .dictionary = {[CALLCHAIN_FRAMES_symbol] = NAI_NAMES, [CALLCHAIN_FRAMES_module] = NAI_NAMES},
    .witness = true,
    .feeds = {FEED(callchain_fields, sampling_frame_row, "SAMPLING_CALLCHAINS"),
              FEED(callchain_fields, cuda_frame_row, "CUDA_CALLCHAINS"),
              FEED(callchain_fields, osrt_frame_row, "OSRT_CALLCHAINS")},
    .feed_count = 3};
