/* Every operation of the GPUs, every CUDA call, by start. */
#include "features/stats/operations.h"

#include "base/sort.h"

/* --- operations --------------------------------------------------------------------------------------- */

struct gpu_trace {
  struct nai_stats_operations operations[3]; /* by enum nai_stats_what */
  struct nai_stats_keys kinds;               /* devices and memory are texts */
  struct nai_key *order;                     /* rows of all of them, one behind the other */
  bool exact;                                /* rates */
};

/* By start; of equal starts kernels, copies, memsets. */
static int order_operations(struct gpu_trace *trace, struct nai_stats_rows *rows, struct nai_err *err) {
  uint64_t count = 0;
  uint32_t base = 0;
  for (int what = 0; what < 3; what++)
    count += trace->operations[what].events.count;
  if (count >= UINT32_MAX)
    return nai_err_set(err, NAI_ELIMIT, "the report has more events than it can hold");
  NAI_TRY(NAI_NEW(trace->order, &rows->source->arena, count, err));
  for (int what = 0; what < 3; what++) {
    const struct nai_stats_operations *some = &trace->operations[what];
    const int64_t *start = some->events.at[NAI_STATS_OP_START];
    for (uint32_t i = 0; i < some->events.count; i++)
      if (what == NAI_STATS_KERNELS ||
          *nai_stats_of_kind(&trace->kinds, some->kind[i], NAI_STATS_OP_NAME) != NAI_NO_STRING)
        trace->order[rows->count++] = (struct nai_key){nai_key_from_i64(start[i]), base + i};
    base += some->events.count;
  }
  return nai_sort_keys(trace->order, rows->count, err);
}

/* Names of GPUs by id, and which of them a process knows by a number; nothing of that: as in the export. */
struct gpus {
  struct nai_stats_events names, devices;
};

static int64_t id_of(const struct gpus *gpus, int64_t process, int64_t device) {
  const struct nai_stats_events *known = &gpus->devices;
  for (uint32_t i = 0; i < known->count; i++)
    if (known->at[0][i] == process && known->at[1][i] == device && known->at[2][i] != NAI_STATS_NULL)
      return known->at[2][i];
  return device;
}

/* NAME (id), of a number that a process has for a GPU. */
static int name_gpu(int64_t *text, struct nai_stats_source *source, const struct gpus *gpus, int64_t process,
                    int64_t device, struct nai_err *err) {
  const int64_t id = id_of(gpus, process, device);
  uint32_t gpu = 0;
  *text = NAI_NO_STRING;
  if (id == NAI_STATS_NULL)
    return NAI_OK;
  while (gpu < gpus->names.count && gpus->names.at[0][gpu] != id)
    gpu++;
  const char *name = gpu < gpus->names.count ? nai_stats_text_of(source, gpus->names.at[1][gpu]) : NULL;
  const char *words = nai_arena_printf(&source->arena, "%s (%lld)", name ? name : "GPU", (long long)id);
  NAI_TRY(nai_arena_check(&source->arena, err));
  return nai_stats_text(text, source, words, err);
}

/* Devices become texts, those of memory too; a green context of 0 is none. */
static int name_kinds(struct gpu_trace *trace, struct nai_stats_source *source, const struct nai_stats_options *options,
                      struct nai_err *err) {
  static const char *const columns[] = {"id", "$name", NULL}, *const device_columns[] = {"pid", "cudaId", "gpuId",
                                                                                         NULL};
  int64_t memory[NAI_STATS_MEMORY_KINDS];
  struct gpus gpus = {0};
  NAI_TRY(nai_stats_load(&gpus.names, source, "TARGET_INFO_GPU", columns, err));
  if (options->flag[1])
    NAI_TRY(nai_stats_load(&gpus.devices, source, "TARGET_INFO_CUDA_DEVICE", device_columns, err));
  NAI_TRY(nai_stats_name_memory(memory, source, options->old, err));
  for (uint32_t kind = 0; kind < trace->kinds.count; kind++) {
    int64_t *device = nai_stats_of_kind(&trace->kinds, kind, NAI_STATS_OP_DEVICE),
            *green = nai_stats_of_kind(&trace->kinds, kind, NAI_STATS_OP_GREEN);
    const int64_t process = nai_stats_pid(*nai_stats_of_kind(&trace->kinds, kind, NAI_STATS_OP_PROCESS));
    NAI_TRY(name_gpu(device, source, &gpus, process, *device, err));
    for (int c = NAI_STATS_OP_FROM; c <= NAI_STATS_OP_TO; c++) {
      int64_t *place = nai_stats_of_kind(&trace->kinds, kind, c);
      *place = *place >= 0 && *place < NAI_STATS_MEMORY_KINDS ? memory[*place] : NAI_STATS_NULL;
    }
    *green = *green ? *green : NAI_STATS_NULL;
  }
  return NAI_OK;
}

struct operation {
  int64_t at[NAI_STATS_OP_COLUMNS];
  int64_t ns, kind;
  double rate;
};

/* Where the row-th operation lies among those of its table. */
static const struct nai_stats_operations *find_operation(const struct gpu_trace *trace, uint32_t row, uint32_t *at) {
  const struct nai_stats_operations *some = trace->operations;
  *at = trace->order[row].value;
  while (*at >= some->events.count)
    *at -= some++->events.count;
  return some;
}

static void fill_operation(void *record, const struct nai_stats_rows *rows, uint32_t row) {
  const struct gpu_trace *trace = rows->state;
  struct operation *out = record;
  uint32_t at;
  const struct nai_stats_operations *some = find_operation(trace, row, &at);
  for (int c = 0; c < NAI_STATS_OP_KIND; c++)
    out->at[c] = some->events.at[c][at];
  out->kind = some->kind[at];
  memcpy(&out->at[NAI_STATS_OP_KIND], nai_stats_of_kind(&trace->kinds, some->kind[at], NAI_STATS_OP_KIND),
         NAI_STATS_KIND_COLUMNS * sizeof *out->at);
  const int64_t start = out->at[NAI_STATS_OP_START], end = out->at[NAI_STATS_OP_END],
                bytes = out->at[NAI_STATS_OP_BYTES];
  out->ns = nai_stats_has_times(start, end) ? end - start : NAI_STATS_NULL;
  out->rate = bytes == NAI_STATS_NULL || out->ns <= 0 ? NAN
            : trace->exact                            ? (double)bytes * 1e9 / (double)out->ns
                                                      : nai_stats_rate(bytes, out->ns);
}
_Static_assert(sizeof(struct operation) <= NAI_STATS_RECORD_BYTES, "rows->record has room");

static int show_kinds(struct nai_stats_rows *rows, const struct gpu_trace *trace, struct nai_err *err) {
  uint32_t *first, at;
  NAI_TRY(NAI_NEW(first, &rows->source->arena, trace->kinds.count, err));
  for (uint32_t row = rows->count; row-- > 0;) {
    const struct nai_stats_operations *some = find_operation(trace, row, &at);
    first[some->kind[at]] = row;
  }
  nai_stats_show_kinds(rows, first, trace->kinds.count, offsetof(struct operation, kind));
  return NAI_OK;
}

int nai_stats_make_gpu_trace(struct nai_stats_rows *rows, const struct nai_stats_options *options,
                             struct nai_err *err) {
  struct gpu_trace *trace = NULL;
  const uint32_t all = (1u << NAI_STATS_OP_DEMANGLED) - 1, unshown = options->old ? 1u << NAI_STATS_OP_GREEN : 0;
  NAI_TRY(NAI_NEW(trace, &rows->source->arena, 1, err));
  trace->kinds = (struct nai_stats_keys){.arena = &rows->source->arena, .width = NAI_STATS_KIND_COLUMNS};
  for (int what = 0; what < 3; what++)
    NAI_TRY(nai_stats_load_kinds(&trace->operations[what], &trace->kinds, rows->source, (enum nai_stats_what)what,
                                 all & ~unshown, options, err));
  NAI_TRY(name_kinds(trace, rows->source, options, err));
  trace->exact = options->flag[0];
  rows->state = trace;
  rows->fill = fill_operation;
  NAI_TRY(order_operations(trace, rows, err));
  return show_kinds(rows, trace, err);
}

/* Without a rate it is empty under either name. */
static void show_rate(struct nai_stats_cell *out, struct nai_stats_rows *rows, const void *record, size_t at) {
  const double rate = ((const struct operation *)record)->rate;
  (void)rows, (void)at;
  nai_stats_put_real(out, rate);
  if (!isfinite(rate))
    out->type = NAI_STATS_BLANK;
}

#define NUMBER(column) NAI_STATS_NUMBER(operation, at[NAI_STATS_OP_##column])
#define KIND(column) NUMBER(column), .of_kind = true
#define WORDS(shows, column) NAI_STATS_##shows(operation, at[NAI_STATS_OP_##column]), .of_kind = true
#define OPERATION                                                                                                 \
  {"Start", NAI_STATS_STAMP, NUMBER(START)}, {"Duration", NAI_STATS_TIME, NAI_STATS_NUMBER(operation, ns)},       \
      {"CorrId", 0, NUMBER(CORRELATION)}, {"GrdX", 0, KIND(GRID)}, {"GrdY", 0, KIND(GRID + 1)},                   \
      {"GrdZ", 0, KIND(GRID + 2)}, {"BlkX", 0, KIND(BLOCK)}, {"BlkY", 0, KIND(BLOCK + 1)},                        \
      {"BlkZ", 0, KIND(BLOCK + 2)}, {"Reg/Trd", 0, KIND(REGISTERS)}, {"StcSMem", NAI_STATS_MEMORY, KIND(STATIC)}, \
      {"DymSMem", NAI_STATS_MEMORY, KIND(DYNAMIC)}, {"Bytes", NAI_STATS_MEMORY, NUMBER(BYTES)},                   \
      {"Throughput", NAI_STATS_RATE, NAI_STATS_MADE(show_rate)}, {"SrcMemKd", 0, WORDS(WORDS, FROM)},             \
      {"DstMemKd", 0, WORDS(WORDS, TO)}, {"Device", 0, WORDS(WORDS, DEVICE)}, {                                   \
    "Ctx", 0, KIND(CONTEXT)                                                                                       \
  }
#define LAST \
  {"Strm", 0, KIND(STREAM)}, {"Name", 0, WORDS(NAME, NAME)}, { 0 }
const struct nai_stats_column nai_stats_gpu_trace_columns[] = {OPERATION, {"GreenCtx", 0, KIND(GREEN)}, LAST};
const struct nai_stats_column nai_stats_old_gpu_trace_columns[] = {OPERATION, LAST};

/* --- calls ---------------------------------------------------------------------------------------------- */

struct call_trace {
  struct nai_stats_events calls, threads; /* of threads: globalTid, priority, nameId, then its text */
  struct nai_keyset known;                /* threads that have a name */
  uint32_t *named;                        /* their rows: of several the first */
  struct nai_key *order;
};

static int read_threads(struct call_trace *trace, struct nai_stats_source *source, struct nai_err *err) {
  static const char *const columns[] = {"globalTid", "priority", "nameId", NULL};
  trace->known.arena = &source->arena;
  NAI_TRY(nai_stats_load(&trace->threads, source, "ThreadNames", columns, err));
  NAI_TRY(NAI_NEW(trace->named, &source->arena, trace->threads.count, err));
  for (uint32_t i = 0; i < trace->threads.count; i++) {
    bool added;
    uint32_t slot = nai_keyset_add(&trace->known, trace->threads.at[0][i], &added);
    NAI_TRY(nai_memory_check(!trace->known.oom, err));
    if (added)
      trace->named[slot] = i;
    NAI_TRY(nai_stats_name(&trace->threads.at[2][i], source, trace->threads.at[2][i], err));
  }
  return NAI_OK;
}

struct call {
  int64_t at[NAI_STATS_CALL_COLUMNS];
  int64_t ns, process, tid, priority, thread_name;
};

static void fill_call(void *record, const struct nai_stats_rows *rows, uint32_t row) {
  const struct call_trace *trace = rows->state;
  struct call *out = record;
  for (int c = 0; c < NAI_STATS_CALL_COLUMNS; c++)
    out->at[c] = trace->calls.at[c][trace->order[row].value];
  const int64_t start = out->at[NAI_STATS_CALL_START], end = out->at[NAI_STATS_CALL_END];
  const int64_t thread = out->at[NAI_STATS_CALL_THREAD];
  const uint32_t slot = nai_keyset_find(&trace->known, thread);
  out->ns = nai_stats_has_times(start, end) ? end - start : NAI_STATS_NULL;
  out->process = nai_stats_pid(thread);
  out->tid = nai_stats_tid(thread);
  out->priority = slot == UINT32_MAX ? NAI_STATS_NULL : trace->threads.at[1][trace->named[slot]];
  out->thread_name = slot == UINT32_MAX ? NAI_STATS_NULL : trace->threads.at[2][trace->named[slot]];
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
  rows->fill = fill_call;
  rows->count = trace->calls.count;
  return nai_sort_keys(trace->order, rows->count, err);
}

#define CALL(column) NAI_STATS_NUMBER(call, at[NAI_STATS_CALL_##column])
const struct nai_stats_column nai_stats_call_trace_columns[] = {
    {"Start", NAI_STATS_STAMP, CALL(START)},
    {"Duration", NAI_STATS_TIME, NAI_STATS_NUMBER(call, ns)},
    {"Name", 0, NAI_STATS_WORDS(call, at[NAI_STATS_CALL_NAME])},
    {"Result", 0, CALL(RESULT)},
    {"CorrID", 0, CALL(CORRELATION)},
    {"Pid", 0, NAI_STATS_NUMBER(call, process)},
    {"Tid", 0, NAI_STATS_NUMBER(call, tid)},
    {"T-Pri", 0, NAI_STATS_NUMBER(call, priority)},
    {"Thread Name", 0, NAI_STATS_WORDS(call, thread_name)},
    {0}};
