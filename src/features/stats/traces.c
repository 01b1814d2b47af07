/* Every operation of the GPUs, every CUDA call, by start. */
#include "features/stats/operations.h"

#include "base/sort.h"

/* --- operations --------------------------------------------------------------------------------------- */

struct gpu_trace {
  struct nai_stats_events events[3];     /* by enum nai_stats_what */
  struct nai_key *order;                 /* rows of all of them, one behind the other */
  struct nai_stats_events gpus;          /* id, name */
  struct nai_stats_events devices;       /* of processes: pid, number there, id of the GPU; none: as in the export */
  int64_t kinds[NAI_STATS_MEMORY_KINDS]; /* of memory: their names, of source->texts */
  bool exact;                            /* rates */
};

/* The operation of a row, and what it is. */
static const struct nai_stats_events *find(uint32_t *event, const struct nai_stats_rows *rows, uint32_t row) {
  const struct gpu_trace *trace = rows->state;
  const struct nai_stats_events *events = trace->events;
  *event = trace->order[row].value;
  while (*event >= events->count)
    *event -= events++->count;
  return events;
}

/* By start; of equal starts kernels, copies, memsets. */
static int order_operations(struct gpu_trace *trace, struct nai_stats_rows *rows, struct nai_err *err) {
  uint64_t count = 0;
  uint32_t base = 0;
  for (int what = 0; what < 3; what++)
    count += trace->events[what].count;
  if (count >= UINT32_MAX)
    return nai_err_set(err, NAI_ELIMIT, "the report has more events than it can hold");
  NAI_TRY(NAI_NEW(trace->order, &rows->source->arena, count, err));
  for (int what = 0; what < 3; what++) {
    const struct nai_stats_events *events = &trace->events[what];
    for (uint32_t i = 0; i < events->count; i++)
      if (events->at[NAI_STATS_OP_NAME][i] != NAI_NO_STRING || what == NAI_STATS_KERNELS)
        trace->order[rows->count++] = (struct nai_key){nai_key_from_i64(events->at[NAI_STATS_OP_START][i]), base + i};
    base += events->count;
  }
  return nai_sort_keys(trace->order, rows->count, err);
}

int nai_stats_make_gpu_trace(struct nai_stats_rows *rows, const struct nai_stats_options *options,
                             struct nai_err *err) {
  static const char *const columns[] = {"id", "$name", NULL}, *const device_columns[] = {"pid", "cudaId", "gpuId",
                                                                                         NULL};
  struct gpu_trace *trace = NULL;
  const uint32_t all = (1u << NAI_STATS_OP_COLUMNS) - 1, unshown = options->old ? 1u << NAI_STATS_OP_GREEN : 0;
  NAI_TRY(NAI_NEW(trace, &rows->source->arena, 1, err));
  for (int what = 0; what < 3; what++)
    NAI_TRY(nai_stats_load_operations(&trace->events[what], rows->source, (enum nai_stats_what)what, all & ~unshown,
                                      options, err));
  NAI_TRY(nai_stats_load(&trace->gpus, rows->source, "TARGET_INFO_GPU", columns, err));
  NAI_TRY(nai_stats_name_memory(trace->kinds, rows->source, options->old, err));
  if (options->flag[1])
    NAI_TRY(nai_stats_load(&trace->devices, rows->source, "TARGET_INFO_CUDA_DEVICE", device_columns, err));
  trace->exact = options->flag[0];
  rows->state = trace;
  return order_operations(trace, rows, err);
}

static int64_t op_cell(const struct nai_stats_rows *rows, uint32_t row, size_t column) {
  uint32_t event;
  const struct nai_stats_events *events = find(&event, rows, row);
  return events->at[column][event];
}
NAI_STATS_CELL(op_number, nai_stats_put_int(out, op_cell(rows, row, at)))

static int64_t op_ns(const struct nai_stats_rows *rows, uint32_t row) {
  int64_t start = op_cell(rows, row, NAI_STATS_OP_START), end = op_cell(rows, row, NAI_STATS_OP_END);
  return nai_stats_has_times(start, end) ? end - start : NAI_STATS_NULL;
}
NAI_STATS_CELL(op_duration, nai_stats_put_int(out, op_ns(rows, row)))

static void op_throughput(struct nai_stats_cell *out, struct nai_stats_rows *rows, uint32_t row, size_t at) {
  int64_t ns = op_ns(rows, row), bytes = op_cell(rows, row, at);
  *out = (struct nai_stats_cell){.type = NAI_STATS_BLANK};
  if (bytes != NAI_STATS_NULL && ns > 0)
    nai_stats_put_real(out, ((const struct gpu_trace *)rows->state)->exact ? (double)bytes * 1e9 / (double)ns
                                                                           : nai_stats_rate(bytes, ns));
}

static void op_memory(struct nai_stats_cell *out, struct nai_stats_rows *rows, uint32_t row, size_t at) {
  const struct gpu_trace *trace = rows->state;
  int64_t kind = op_cell(rows, row, at);
  nai_stats_put_text(
      out, kind >= 0 && kind < NAI_STATS_MEMORY_KINDS ? nai_stats_text_of(rows->source, trace->kinds[kind]) : NULL);
}

/* The GPU behind the number that a process calls it by. */
static int64_t gpu_of(const struct gpu_trace *trace, int64_t process, int64_t device) {
  const struct nai_stats_events *known = &trace->devices;
  for (uint32_t i = 0; i < known->count; i++)
    if (known->at[0][i] == process && known->at[1][i] == device && known->at[2][i] != NAI_STATS_NULL)
      return known->at[2][i];
  return device;
}

static void op_device(struct nai_stats_cell *out, struct nai_stats_rows *rows, uint32_t row, size_t at) {
  const struct gpu_trace *trace = rows->state;
  uint32_t gpu = 0;
  int64_t device = gpu_of(trace, nai_stats_pid(op_cell(rows, row, NAI_STATS_OP_PROCESS)), op_cell(rows, row, at));
  while (gpu < trace->gpus.count && trace->gpus.at[0][gpu] != device)
    gpu++;
  const char *name = gpu < trace->gpus.count ? nai_stats_text_of(rows->source, trace->gpus.at[1][gpu]) : NULL;
  nai_buf_clear(&rows->scratch);
  nai_buf_printf(&rows->scratch, "%s (%lld)", name ? name : "GPU", (long long)device);
  nai_stats_put_text(out, device == NAI_STATS_NULL ? NULL : nai_buf_str(&rows->scratch));
}

NAI_STATS_CELL(op_green, int64_t green = op_cell(rows, row, at);
               nai_stats_put_int(out, green == 0 ? NAI_STATS_NULL : green))
NAI_STATS_CELL(op_name, const char *name = nai_stats_text_of(rows->source, op_cell(rows, row, at));
               nai_stats_put_text(out, name ? name : ""))

#define NUMBER(column) op_number, NAI_STATS_OP_##column
#define OPERATION                                                                                                    \
  {"Start", NAI_STATS_STAMP, NUMBER(START)}, {"Duration", NAI_STATS_TIME, op_duration},                              \
      {"CorrId", 0, NUMBER(CORRELATION)}, {"GrdX", 0, NUMBER(GRID)}, {"GrdY", 0, NUMBER(GRID) + 1},                  \
      {"GrdZ", 0, NUMBER(GRID) + 2}, {"BlkX", 0, NUMBER(BLOCK)}, {"BlkY", 0, NUMBER(BLOCK) + 1},                     \
      {"BlkZ", 0, NUMBER(BLOCK) + 2}, {"Reg/Trd", 0, NUMBER(REGISTERS)},                                             \
      {"StcSMem", NAI_STATS_MEMORY, NUMBER(STATIC)}, {"DymSMem", NAI_STATS_MEMORY, NUMBER(DYNAMIC)},                 \
      {"Bytes", NAI_STATS_MEMORY, NUMBER(BYTES)}, {"Throughput", NAI_STATS_RATE, op_throughput, NAI_STATS_OP_BYTES}, \
      {"SrcMemKd", 0, op_memory, NAI_STATS_OP_FROM}, {"DstMemKd", 0, op_memory, NAI_STATS_OP_TO},                    \
      {"Device", 0, op_device, NAI_STATS_OP_DEVICE}, {                                                               \
    "Ctx", 0, NUMBER(CONTEXT)                                                                                        \
  }
#define LAST \
  {"Strm", 0, NUMBER(STREAM)}, {"Name", 0, op_name, NAI_STATS_OP_NAME}, { 0 }
const struct nai_stats_column nai_stats_gpu_trace_columns[] = {
    OPERATION, {"GreenCtx", 0, op_green, NAI_STATS_OP_GREEN}, LAST};
const struct nai_stats_column nai_stats_old_gpu_trace_columns[] = {OPERATION, LAST};

/* --- calls ---------------------------------------------------------------------------------------------- */

struct call_trace {
  struct nai_stats_events calls, threads; /* of threads: globalTid, priority, nameId, then its text */
  struct nai_strings known;               /* threads that have a name, 8 bytes each */
  uint32_t *named;                        /* their rows: of several the first */
  struct nai_key *order;
};

static int read_threads(struct call_trace *trace, struct nai_stats_source *source, struct nai_err *err) {
  static const char *const columns[] = {"globalTid", "priority", "nameId", NULL};
  trace->known.arena = &source->arena;
  NAI_TRY(nai_stats_load(&trace->threads, source, "ThreadNames", columns, err));
  NAI_TRY(NAI_NEW(trace->named, &source->arena, trace->threads.count, err));
  for (uint32_t i = 0; i < trace->threads.count; i++) {
    uint32_t before = trace->known.count;
    uint32_t slot = nai_strings_add(&trace->known, (const char *)&trace->threads.at[0][i], sizeof(int64_t));
    NAI_TRY(nai_memory_check(slot != NAI_NO_STRING, err));
    if (slot == before)
      trace->named[slot] = i;
    NAI_TRY(nai_stats_name(&trace->threads.at[2][i], source, trace->threads.at[2][i], err));
  }
  return NAI_OK;
}

int nai_stats_make_call_trace(struct nai_stats_rows *rows, const struct nai_stats_options *options,
                              struct nai_err *err) {
  struct call_trace *trace = NULL;
  (void)options;
  NAI_TRY(NAI_NEW(trace, &rows->source->arena, 1, err));
  NAI_TRY(nai_stats_load_calls(&trace->calls, rows->source, (1u << NAI_STATS_CALL_COLUMNS) - 1, err));
  NAI_TRY(read_threads(trace, rows->source, err));
  NAI_TRY(NAI_NEW(trace->order, &rows->source->arena, trace->calls.count, err));
  for (uint32_t i = 0; i < trace->calls.count; i++)
    trace->order[i] = (struct nai_key){nai_key_from_i64(trace->calls.at[NAI_STATS_CALL_START][i]), i};
  rows->state = trace;
  rows->count = trace->calls.count;
  return nai_sort_keys(trace->order, rows->count, err);
}

static int64_t call_cell(const struct nai_stats_rows *rows, uint32_t row, size_t column) {
  const struct call_trace *trace = rows->state;
  return trace->calls.at[column][trace->order[row].value];
}

/* A cell of the row that names the call's thread. */
static int64_t thread_cell(const struct nai_stats_rows *rows, uint32_t row, size_t column) {
  const struct call_trace *trace = rows->state;
  int64_t thread = call_cell(rows, row, NAI_STATS_CALL_THREAD);
  uint32_t slot =
      trace->known.count ? nai_strings_find(&trace->known, (const char *)&thread, sizeof thread) : NAI_NO_STRING;
  return slot == NAI_NO_STRING ? NAI_STATS_NULL : trace->threads.at[column][trace->named[slot]];
}

NAI_STATS_CELL(call_number, nai_stats_put_int(out, call_cell(rows, row, at)))
NAI_STATS_CELL(call_duration, int64_t start = call_cell(rows, row, NAI_STATS_CALL_START),
               end = call_cell(rows, row, NAI_STATS_CALL_END);
               nai_stats_put_int(out, nai_stats_has_times(start, end) ? end - start : NAI_STATS_NULL))
NAI_STATS_CELL(call_name, nai_stats_put_text(out, nai_stats_text_of(rows->source, call_cell(rows, row, at))))
NAI_STATS_CELL(call_pid, nai_stats_put_int(out, nai_stats_pid(call_cell(rows, row, at))))
NAI_STATS_CELL(call_tid, nai_stats_put_int(out, nai_stats_tid(call_cell(rows, row, at))))
NAI_STATS_CELL(call_priority, nai_stats_put_int(out, thread_cell(rows, row, 1)))
NAI_STATS_CELL(call_thread, nai_stats_put_text(out, nai_stats_text_of(rows->source, thread_cell(rows, row, 2))))

const struct nai_stats_column nai_stats_call_trace_columns[] = {{"Start", NAI_STATS_STAMP, call_number,
                                                                 NAI_STATS_CALL_START},
                                                                {"Duration", NAI_STATS_TIME, call_duration},
                                                                {"Name", 0, call_name, NAI_STATS_CALL_NAME},
                                                                {"Result", 0, call_number, NAI_STATS_CALL_RESULT},
                                                                {"CorrID", 0, call_number, NAI_STATS_CALL_CORRELATION},
                                                                {"Pid", 0, call_pid, NAI_STATS_CALL_THREAD},
                                                                {"Tid", 0, call_tid, NAI_STATS_CALL_THREAD},
                                                                {"T-Pri", 0, call_priority},
                                                                {"Thread Name", 0, call_thread},
                                                                {0}};
