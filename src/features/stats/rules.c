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

struct found {
  int64_t ns, start;
  uint32_t row, call;
};
struct rule {
  struct nai_stats_events events; /* copies or memsets; none where calls themselves are told of */
  struct nai_stats_calls calls;
  struct found *found; /* the longest first */
  int64_t memory[NAI_STATS_MEMORY_KINDS];
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

static void show(struct nai_stats_rows *rows, struct rule *rule, uint32_t count, int64_t most) {
  if (count)
    qsort(rule->found, count, sizeof *rule->found, by_time);
  rows->state = rule;
  rows->count = most >= 0 && most < count ? (uint32_t)most : count;
}

static int find_operations(struct nai_stats_rows *rows, const struct nai_stats_options *options, const char *table,
                           const char *const *columns,
                           bool (*is_one)(const struct nai_stats_events *, uint32_t, const char *),
                           struct nai_err *err) {
  struct rule *rule = NULL;
  uint32_t count = 0;
  NAI_TRY(NAI_NEW(rule, &rows->source->arena, 1, err));
  NAI_TRY(nai_stats_index_calls(&rule->calls, rows->source, 1u << NAI_STATS_CALL_WHOLE, err));
  NAI_TRY(nai_stats_load(&rule->events, rows->source, table, columns, err));
  NAI_TRY(nai_stats_name_memory(rule->memory, rows->source, options->old, err));
  NAI_TRY(NAI_NEW(rule->found, &rows->source->arena, rule->events.count, err));
  const struct nai_stats_events *e = &rule->events;
  for (uint32_t i = 0; i < e->count; i++) {
    uint32_t call = nai_stats_call_of(&rule->calls, e->at[PROCESS][i], e->at[CORRELATION][i]);
    if (call == UINT32_MAX || !nai_stats_has_times(e->at[START][i], e->at[END][i]))
      continue;
    if (is_one(e, i, nai_stats_text_of(rows->source, rule->calls.events.at[NAI_STATS_CALL_NAME][call])))
      rule->found[count++] = (struct found){e->at[END][i] - e->at[START][i], e->at[START][i], i, call};
  }
  show(rows, rule, count, options->rows);
  return NAI_OK;
}

int nai_stats_make_async_copies(struct nai_stats_rows *rows, const struct nai_stats_options *options,
                                struct nai_err *err) {
  return find_operations(rows, options, "CUPTI_ACTIVITY_KIND_MEMCPY", copy_columns, is_async_copy, err);
}

int nai_stats_make_sync_copies(struct nai_stats_rows *rows, const struct nai_stats_options *options,
                               struct nai_err *err) {
  return find_operations(rows, options, "CUPTI_ACTIVITY_KIND_MEMCPY", copy_columns, is_sync_copy, err);
}

int nai_stats_make_sync_sets(struct nai_stats_rows *rows, const struct nai_stats_options *options,
                             struct nai_err *err) {
  return find_operations(rows, options, "CUPTI_ACTIVITY_KIND_MEMSET", set_columns, is_sync_set, err);
}

int nai_stats_make_sync_calls(struct nai_stats_rows *rows, const struct nai_stats_options *options,
                              struct nai_err *err) {
  struct rule *rule = NULL;
  uint32_t count = 0;
  NAI_TRY(NAI_NEW(rule, &rows->source->arena, 1, err));
  struct nai_stats_events *calls = &rule->calls.events;
  NAI_TRY(nai_stats_load_calls(calls, rows->source, 1u << NAI_STATS_CALL_THREAD | 1u << NAI_STATS_CALL_WHOLE, err));
  NAI_TRY(NAI_NEW(rule->found, &rows->source->arena, calls->count, err));
  for (uint32_t i = 0; i < calls->count; i++) {
    const char *name = nai_stats_text_of(rows->source, calls->at[NAI_STATS_CALL_NAME][i]);
    int64_t start = calls->at[NAI_STATS_CALL_START][i], end = calls->at[NAI_STATS_CALL_END][i];
    bool waits = name && (strncasecmp(name, "cudaDeviceSynchronize", 21) == 0 ||
                          strncasecmp(name, "cudaStreamSynchronize", 21) == 0);
    if (waits && nai_stats_has_times(start, end))
      rule->found[count++] = (struct found){end - start, start, i, i};
  }
  show(rows, rule, count, options->rows);
  return NAI_OK;
}

/* --- columns --------------------------------------------------------------------------------------------- */

static const struct found *found_of(const struct nai_stats_rows *rows, uint32_t row) {
  return &((const struct rule *)rows->state)->found[row];
}

static int64_t event_cell(const struct nai_stats_rows *rows, uint32_t row, int column) {
  return ((const struct rule *)rows->state)->events.at[column][found_of(rows, row)->row];
}

static int64_t call_cell(const struct nai_stats_rows *rows, uint32_t row, int column) {
  return ((const struct rule *)rows->state)->calls.events.at[column][found_of(rows, row)->call];
}

static void put_memory(struct nai_stats_cell *out, struct nai_stats_rows *rows, uint32_t row, int column) {
  const struct rule *rule = rows->state;
  int64_t kind = event_cell(rows, row, column);
  bool known = kind >= 0 && kind < NAI_STATS_MEMORY_KINDS;
  nai_stats_put_text(out, known ? nai_stats_text_of(rows->source, rule->memory[kind]) : NULL);
}

NAI_STATS_CELL(duration, nai_stats_put_int(out, found_of(rows, row)->ns))
NAI_STATS_CELL(start, nai_stats_put_int(out, found_of(rows, row)->start))
NAI_STATS_CELL(from, put_memory(out, rows, row, FROM))
NAI_STATS_CELL(to, put_memory(out, rows, row, TO))
NAI_STATS_CELL(bytes, nai_stats_put_int(out, event_cell(rows, row, BYTES)))
NAI_STATS_CELL(process, nai_stats_put_int(out, nai_stats_pid(event_cell(rows, row, PROCESS))))
NAI_STATS_CELL(device, nai_stats_put_int(out, event_cell(rows, row, DEVICE)))
NAI_STATS_CELL(context, nai_stats_put_int(out, event_cell(rows, row, CONTEXT)))
NAI_STATS_CELL(stream, nai_stats_put_int(out, event_cell(rows, row, STREAM)))
NAI_STATS_CELL(call_pid, nai_stats_put_int(out, nai_stats_pid(call_cell(rows, row, NAI_STATS_CALL_THREAD))))
NAI_STATS_CELL(call_tid, nai_stats_put_int(out, nai_stats_tid(call_cell(rows, row, NAI_STATS_CALL_THREAD))))
NAI_STATS_CELL(call_name,
               nai_stats_put_text(out, nai_stats_text_of(rows->source, call_cell(rows, row, NAI_STATS_CALL_NAME))))

#define TIMES \
  {"Duration", NAI_STATS_TIME, duration}, { "Start", NAI_STATS_STAMP, start }
#define PLACE                                                                                                    \
  {"Bytes", NAI_STATS_MEMORY, bytes}, {"PID", 0, process}, {"Device ID", 0, device}, {"Context ID", 0, context}, \
      {"Stream ID", 0, stream}, {"API Name", 0, call_name}, {                                                    \
    0                                                                                                            \
  }
const struct nai_stats_column nai_stats_copy_rule_columns[] = {
    TIMES, {"Src Kind", 0, from}, {"Dst Kind", 0, to}, PLACE};
const struct nai_stats_column nai_stats_set_rule_columns[] = {TIMES, {"Memory Kind", 0, from}, PLACE};
const struct nai_stats_column nai_stats_call_rule_columns[] = {
    TIMES, {"PID", 0, call_pid}, {"TID", 0, call_tid}, {"API Name", 0, call_name}, {0}};
