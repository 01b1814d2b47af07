/* Rules of `nsys analyze` about calls: copies and memsets that wait or are not asynchronous, synchronisation. */
#include "features/stats/operations.h"

#include "base/sort.h"

#include <strings.h>

enum {
  START,
  END,
  CORRELATION,
  PROCESS,
  FROM, /* of memsets: where */
  TO,
  BYTES,
  DEVICE,
  CONTEXT,
  STREAM,
  KIND,
  FROM_DEVICE,
  TO_DEVICE
};
static const char *const copy_columns[] = {"start",    "end",         "correlationId", "globalPid", "srcKind",
                                           "dstKind",  "bytes",       "deviceId",      "contextId", "streamId",
                                           "copyKind", "srcDeviceId", "dstDeviceId",   NULL};
static const char *const set_columns[] = {"start", "end",      "correlationId", "globalPid", "memKind", "-",
                                          "bytes", "deviceId", "contextId",     "streamId",  NULL};

/* A copy or a memset; or a call itself. */
struct found {
  int64_t ns, start, from, to, bytes, process, thread, device, context, stream, call;
  uint32_t row;
};

static bool is_cuda(const char *name, const char *begin, bool async) {
  size_t len = strlen(begin);
  return name && strncasecmp(name, begin, len) == 0 && (strcasestr(name + len, "async") != NULL) == async;
}

/* --- which ones ------------------------------------------------------------------------------------------ */

enum { PAGEABLE = 0, PINNED = 1, MANAGED = 4, TO_THE_DEVICE = 1, SMALL_BYTES = 64000 };

static bool is_async_copy(const struct nai_stats_events *e, uint32_t row, const char *name) {
  return is_cuda(name, "cudaMemcpy", true) && (e->at[FROM][row] == PAGEABLE || e->at[TO][row] == PAGEABLE);
}

static bool is_sync_copy(const struct nai_stats_events *e, uint32_t row, const char *name) {
  bool small = e->at[KIND][row] == TO_THE_DEVICE && e->at[BYTES][row] <= SMALL_BYTES;
  bool stays = e->at[FROM_DEVICE][row] != NAI_STATS_NULL && e->at[FROM_DEVICE][row] == e->at[TO_DEVICE][row];
  return is_cuda(name, "cudaMemcpy", false) && !small && !stays;
}

static bool is_sync_set(const struct nai_stats_events *e, uint32_t row, const char *name) {
  return is_cuda(name, "cudaMemset", false) && (e->at[FROM][row] == PINNED || e->at[FROM][row] == MANAGED);
}

/* --- rows ------------------------------------------------------------------------------------------------ */

NAI_ORDER(by_time, struct found, {b->ns, a->ns}, {a->start, b->start}, {a->row, b->row})

static void show(struct nai_stats_rows *rows, struct found *found, uint32_t count, int64_t most) {
  if (count)
    qsort(found, count, sizeof *found, by_time);
  nai_stats_show_records(rows, found, sizeof *found, count, most);
}

static int64_t name_kind(const int64_t memory[NAI_STATS_MEMORY_KINDS], int64_t kind) {
  return kind >= 0 && kind < NAI_STATS_MEMORY_KINDS ? memory[kind] : NAI_STATS_NULL;
}

int nai_stats_make_copy_rule(struct nai_stats_rows *rows, const struct nai_stats_options *options,
                             struct nai_err *err) {
  static bool (*const are_found[])(const struct nai_stats_events *, uint32_t,
                                   const char *) = {[NAI_STATS_ASYNC_COPIES] = is_async_copy,
                                                    [NAI_STATS_SYNC_COPIES] = is_sync_copy,
                                                    [NAI_STATS_SYNC_SETS] = is_sync_set};
  const int what = options->report->what;
  struct nai_stats_calls calls;
  struct nai_stats_events events;
  struct found *found;
  int64_t memory[NAI_STATS_MEMORY_KINDS];
  uint32_t *calls_of, count = 0;
  NAI_TRY(nai_stats_index_calls(&calls, rows->source, 1u << NAI_STATS_CALL_WHOLE, err));
  NAI_TRY(nai_stats_load(&events, rows->source, options->report->tables[0],
                         what == NAI_STATS_SYNC_SETS ? set_columns : copy_columns, err));
  NAI_TRY(nai_stats_name_memory(memory, rows->source, options->old, err));
  NAI_TRY(NAI_NEW(found, &rows->source->arena, events.count, err));
  int64_t *const *e = events.at;
  NAI_TRY(nai_stats_find_calls(&calls_of, &calls, &events, PROCESS, CORRELATION, &rows->source->arena, err));
  for (uint32_t i = 0; i < events.count; i++) {
    const uint32_t call = calls_of[i];
    int64_t name = call == UINT32_MAX ? NAI_STATS_NULL : calls.events.at[NAI_STATS_CALL_NAME][call];
    if (call == UINT32_MAX || !nai_stats_has_times(e[START][i], e[END][i]) ||
        !are_found[what](&events, i, nai_stats_text_of(rows->source, name)))
      continue;
    found[count++] = (struct found){.ns = e[END][i] - e[START][i],
                                    .start = e[START][i],
                                    .from = name_kind(memory, e[FROM][i]),
                                    .to = name_kind(memory, e[TO][i]),
                                    .bytes = e[BYTES][i],
                                    .process = nai_stats_pid(e[PROCESS][i]),
                                    .device = e[DEVICE][i],
                                    .context = e[CONTEXT][i],
                                    .stream = e[STREAM][i],
                                    .call = name,
                                    .row = i};
  }
  show(rows, found, count, options->rows);
  return NAI_OK;
}

int nai_stats_make_sync_calls(struct nai_stats_rows *rows, const struct nai_stats_options *options,
                              struct nai_err *err) {
  struct nai_stats_events calls;
  struct found *found;
  uint32_t count = 0;
  NAI_TRY(nai_stats_load_calls(&calls, rows->source, 1u << NAI_STATS_CALL_THREAD | 1u << NAI_STATS_CALL_WHOLE, err));
  NAI_TRY(NAI_NEW(found, &rows->source->arena, calls.count, err));
  for (uint32_t i = 0; i < calls.count; i++) {
    const char *name = nai_stats_text_of(rows->source, calls.at[NAI_STATS_CALL_NAME][i]);
    int64_t start = calls.at[NAI_STATS_CALL_START][i], end = calls.at[NAI_STATS_CALL_END][i];
    bool waits = name && (strncasecmp(name, "cudaDeviceSynchronize", 21) == 0 ||
                          strncasecmp(name, "cudaStreamSynchronize", 21) == 0);
    if (waits && nai_stats_has_times(start, end))
      found[count++] = (struct found){.ns = end - start,
                                      .start = start,
                                      .process = nai_stats_pid(calls.at[NAI_STATS_CALL_THREAD][i]),
                                      .thread = nai_stats_tid(calls.at[NAI_STATS_CALL_THREAD][i]),
                                      .call = calls.at[NAI_STATS_CALL_NAME][i],
                                      .row = i};
  }
  show(rows, found, count, options->rows);
  return NAI_OK;
}

/* --- columns --------------------------------------------------------------------------------------------- */

#define CELL(member) NAI_STATS_NUMBER(found, member)
#define WORDS(member) NAI_STATS_WORDS(found, member)
#define TIMES \
  {"Duration", NAI_STATS_TIME, CELL(ns)}, { "Start", NAI_STATS_STAMP, CELL(start) }
#define PLACE                                                                                           \
  {"Bytes", NAI_STATS_MEMORY, CELL(bytes)}, {"PID", 0, CELL(process)}, {"Device ID", 0, CELL(device)},  \
      {"Context ID", 0, CELL(context)}, {"Stream ID", 0, CELL(stream)}, {"API Name", 0, WORDS(call)}, { \
    0                                                                                                   \
  }
const struct nai_stats_column nai_stats_copy_rule_columns[] = {
    TIMES, {"Src Kind", 0, WORDS(from)}, {"Dst Kind", 0, WORDS(to)}, PLACE};
const struct nai_stats_column nai_stats_set_rule_columns[] = {TIMES, {"Memory Kind", 0, WORDS(from)}, PLACE};
const struct nai_stats_column nai_stats_call_rule_columns[] = {
    TIMES, {"PID", 0, CELL(process)}, {"TID", 0, CELL(thread)}, {"API Name", 0, WORDS(call)}, {0}};
