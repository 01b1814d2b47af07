#include "ingest/source.h"

#include "ingest/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* --- cells ------------------------------------------------------------------------------------ */

static const struct nai_cell absent = {.type = NAI_CELL_NULL};

static inline const struct nai_cell *field(const struct nai_part *p, const struct nai_cell *cells, int f) {
  return p->slot[f] < 0 ? &absent : &cells[p->slot[f]];
}

static inline int64_t int_or(const struct nai_part *p, const struct nai_cell *cells, int f, int64_t otherwise) {
  const struct nai_cell *c = field(p, cells, f);
  return c->type == NAI_CELL_INT ? c->i : otherwise;
}

/* Stores an id column; what does not fit in 32 bits (CUPTI's 4294967295 "not applicable") becomes NULL. */
static inline void put_i32(struct nai_part *p, int column, int64_t at, int64_t value) {
  *nai_part_cell(p, column, at) = value < -INT32_MAX || value > INT32_MAX ? NAI_NULL_I64 : value;
}

static inline void put_field_i32(struct nai_part *p, int column, int64_t at, const struct nai_cell *cells, int f) {
  put_i32(p, column, at, int_or(p, cells, f, INT64_MAX));
}

enum { START, END }; /* fields 0 and 1 of every feed */

/* Checks [start, end), shifts it to session time, applies --trim, stores it in columns 0 and 1. */
static inline int put_interval(struct nai_part *p, int64_t at, int64_t start, int64_t end) {
  if (end < start)
    return NAI_DROP_REVERSED;
  if (start < -NAI_TIME_LIMIT || end > NAI_TIME_LIMIT || end - start > NAI_DURATION_LIMIT)
    return NAI_DROP_RANGE;
  start -= p->time_offset_ns;
  end -= p->time_offset_ns;
  if (end > p->last_ns)
    p->last_ns = end;
  if (p->options->trim) {
    int64_t from = p->options->trim_start_ns, to = p->options->trim_end_ns;
    if (start >= to || end < from || (end == from && start < from))
      return NAI_SKIP;
    p->clipped += start < from || end > to;
    start = start < from ? from : start;
    end = end > to ? to : end;
  }
  nai_sum_add(&p->total_ns, end - start);
  *nai_part_cell(p, 0, at) = start;
  *nai_part_cell(p, 1, at) = end;
  return NAI_KEEP;
}

static inline int put_times(struct nai_part *p, int64_t at, const struct nai_cell *cells) {
  const struct nai_cell *start = field(p, cells, START), *end = field(p, cells, END);
  if (start->type == NAI_CELL_INT && end->type == NAI_CELL_INT)
    return start->i == 0 && end->i == 0 ? NAI_DROP_ZERO : put_interval(p, at, start->i, end->i);
  return start->type == NAI_CELL_NULL || end->type == NAI_CELL_NULL ? NAI_DROP_NO_TIME : NAI_DROP_TYPE;
}

static inline int64_t process_key(int64_t global_id) { return (int64_t)((uint64_t)global_id & 0xFFFFFFFFFF000000u); }

static inline void put_device(struct nai_part *p, int column, int64_t at, int64_t global_pid, int64_t device) {
  bool added;
  int64_t ordinal = device >= 0 && device < 1 << 20 ? device : NAI_DEVICE_UNKNOWN;
  put_i32(p, column, at, nai_keyset_add(&p->devices, process_key(global_pid) | ordinal, &added));
}

static inline void put_thread(struct nai_part *p, int column, int64_t at, int64_t global_tid) {
  bool added;
  put_i32(p, column, at, nai_keyset_add(&p->threads, global_tid, &added));
}

static inline void put_name(struct nai_part *p, int column, int64_t at, uint32_t name) {
  *nai_part_cell(p, column, at) = name;
}

/* A name that is a StringIds id in field f; "#id" when the text is missing. */
static uint32_t name_field(struct nai_part *p, const struct nai_cell *cells, int f, enum nai_name_kind kind, int *rc,
                           struct nai_err *err) {
  int64_t id = int_or(p, cells, f, -1);
  uint32_t name = nai_name_by_id(p, id, kind, rc, err);
  return name == NAI_NO_STRING && !*rc && !p->oom ? nai_name_missing(p, id) : name;
}

/* --- GPU work --------------------------------------------------------------------------------- */

#define FIELD(name) \
  { {name, NULL, NULL}, false }
#define NEEDED(name) \
  { {name, NULL, NULL}, true }
#define TIMES NEEDED("start"), NEEDED("end")
/* What every activity on a GPU has; the process falls back from globalPid to globalTid. */
#define ACTIVITY                                                                           \
  TIMES, FIELD("deviceId"), FIELD("contextId"), FIELD("streamId"), FIELD("correlationId"), \
      {{"globalPid", "globalTid", NULL}, false}, FIELD("graphId"), FIELD("graphNodeId")
enum { A_DEVICE = 2, A_CONTEXT, A_STREAM, A_CORRELATION, A_PROCESS, A_GRAPH, A_GRAPH_NODE, A_NEXT };

struct activity_columns {
  int device, context, stream, correlation, graph;
};

static int put_activity(struct nai_part *p, int64_t at, const struct nai_cell *cells,
                        const struct activity_columns *to) {
  int verdict = put_times(p, at, cells);
  if (verdict != NAI_KEEP)
    return verdict;
  int64_t global_pid = int_or(p, cells, A_PROCESS, 0);
  put_device(p, to->device, at, global_pid, int_or(p, cells, A_DEVICE, -1));
  put_field_i32(p, to->context, at, cells, A_CONTEXT);
  put_field_i32(p, to->stream, at, cells, A_STREAM);
  *nai_part_cell(p, to->correlation, at) = int_or(p, cells, A_CORRELATION, NAI_NULL_I64);
  /* A node's graph id is in its upper half where the export has no column for it; 0 means no graph. */
  int64_t graph = int_or(p, cells, A_GRAPH, (int64_t)((uint64_t)int_or(p, cells, A_GRAPH_NODE, 0) >> 32));
  put_i32(p, to->graph, at, graph ? graph : INT64_MAX);
  return NAI_KEEP;
}

enum { K_DEMANGLED = A_NEXT, K_SHORT, K_MANGLED, K_TEXT, K_CONFIG };
static const struct nai_field kernel_fields[] = {ACTIVITY,
                                                 FIELD("demangledName"),
                                                 FIELD("shortName"),
                                                 FIELD("mangledName"),
                                                 FIELD("name"),
                                                 FIELD("gridX"),
                                                 FIELD("gridY"),
                                                 FIELD("gridZ"),
                                                 FIELD("blockX"),
                                                 FIELD("blockY"),
                                                 FIELD("blockZ"),
                                                 FIELD("registersPerThread"),
                                                 FIELD("staticSharedMemory"),
                                                 FIELD("dynamicSharedMemory")};

static uint32_t kernel_name(struct nai_part *p, const struct nai_cell *cells, int *rc, struct nai_err *err) {
  int64_t first_id = -1;
  for (int f = K_DEMANGLED; f <= K_MANGLED; f++) {
    int64_t id = int_or(p, cells, f, 0); /* early exports write 0 for "no name" */
    if (!id)
      continue;
    uint32_t name = nai_name_by_id(p, id, NAI_NAME_PLAIN, rc, err);
    if (name != NAI_NO_STRING || *rc)
      return name;
    if (first_id < 0)
      first_id = id;
  }
  const struct nai_cell *text = field(p, cells, K_TEXT);
  if (text->type == NAI_CELL_TEXT)
    return nai_name_by_text(p, text->data, text->len, NAI_NAME_PLAIN);
  if (text->type == NAI_CELL_INT)
    return name_field(p, cells, K_TEXT, NAI_NAME_PLAIN, rc, err);
  return nai_name_missing(p, first_id < 0 ? 0 : first_id);
}

static int kernel_row(struct nai_part *p, int64_t at, int64_t rowid, const struct nai_cell *cells, int *rc,
                      struct nai_err *err) {
  (void)rowid;
  static const struct activity_columns to = {KE_DEVICE, KE_CONTEXT, KE_STREAM, KE_CORRELATION, KE_GRAPH};
  int verdict = put_activity(p, at, cells, &to);
  if (verdict != NAI_KEEP)
    return verdict;
  put_name(p, KE_NAME, at, kernel_name(p, cells, rc, err));
  struct nai_launch_config config;
  for (int i = 0; i < KC_COLUMNS; i++) {
    int64_t v = int_or(p, cells, K_CONFIG + i, INT64_MAX);
    config.values[i] = v < -INT32_MAX || v > INT32_MAX ? NAI_NULL_I32 : (int32_t)v;
  }
  uint32_t id = nai_strings_add(&p->configs, (const char *)&config, sizeof config);
  p->oom |= id == NAI_NO_STRING;
  put_i32(p, KE_CONFIG, at, id);
  return NAI_KEEP;
}

enum { M_BYTES = A_NEXT, M_COPY_KIND, M_SRC_KIND, M_DST_KIND };
static const struct nai_field copy_fields[] = {ACTIVITY, FIELD("bytes"), FIELD("copyKind"), FIELD("srcKind"),
                                               FIELD("dstKind")};
static const struct nai_field set_fields[] = {ACTIVITY, FIELD("bytes"), FIELD("copyKind"), FIELD("srcKind"),
                                              FIELD("memKind")};

/* More than any memory has. */
#define MAX_BYTES ((int64_t)1 << 50)

static int memop_row(struct nai_part *p, int64_t at, const struct nai_cell *cells, int kind) {
  static const struct activity_columns to = {MO_DEVICE, MO_CONTEXT, MO_STREAM, MO_CORRELATION, MO_GRAPH};
  int verdict = put_activity(p, at, cells, &to);
  if (verdict != NAI_KEEP)
    return verdict;
  put_i32(p, MO_KIND, at, kind);
  int64_t bytes = int_or(p, cells, M_BYTES, field(p, cells, M_BYTES)->type == NAI_CELL_NULL ? 0 : -1);
  if (bytes < 0 || bytes > MAX_BYTES) {
    bytes = 0;
    p->bad_sizes++;
  }
  *nai_part_cell(p, MO_BYTES, at) = bytes;
  nai_sum_add(&p->total_bytes, bytes);
  put_field_i32(p, MO_COPY_KIND, at, cells, M_COPY_KIND);
  put_field_i32(p, MO_SRC_KIND, at, cells, M_SRC_KIND);
  put_field_i32(p, MO_DST_KIND, at, cells, M_DST_KIND);
  return NAI_KEEP;
}

static int copy_row(struct nai_part *p, int64_t at, int64_t rowid, const struct nai_cell *cells, int *rc,
                    struct nai_err *err) {
  (void)rowid, (void)rc, (void)err;
  return memop_row(p, at, cells, NAI_MEMOP_COPY);
}

static int set_row(struct nai_part *p, int64_t at, int64_t rowid, const struct nai_cell *cells, int *rc,
                   struct nai_err *err) {
  (void)rowid, (void)rc, (void)err;
  return memop_row(p, at, cells, NAI_MEMOP_SET);
}

enum { G_EXEC = A_NEXT };
static const struct nai_field graph_fields[] = {ACTIVITY, FIELD("graphExecId")};

static int graph_row(struct nai_part *p, int64_t at, int64_t rowid, const struct nai_cell *cells, int *rc,
                     struct nai_err *err) {
  (void)rowid, (void)rc, (void)err;
  static const struct activity_columns to = {GE_DEVICE, GE_CONTEXT, GE_STREAM, GE_CORRELATION, GE_GRAPH};
  int verdict = put_activity(p, at, cells, &to);
  if (verdict == NAI_KEEP)
    put_field_i32(p, GE_EXEC, at, cells, G_EXEC);
  return verdict;
}

/* --- host ------------------------------------------------------------------------------------- */

enum { H_THREAD = 2, H_NAME, H_EXTRA, H_EXTRA2 };
#define HOST TIMES, FIELD("globalTid"), FIELD("nameId")
static const struct nai_field api_fields[] = {HOST, FIELD("correlationId")};

static int api_row(struct nai_part *p, int64_t at, int64_t rowid, const struct nai_cell *cells, int *rc,
                   struct nai_err *err) {
  (void)rowid;
  int verdict = put_times(p, at, cells);
  if (verdict != NAI_KEEP)
    return verdict;
  put_thread(p, AE_THREAD, at, int_or(p, cells, H_THREAD, 0));
  put_name(p, AE_NAME, at, name_field(p, cells, H_NAME, NAI_NAME_API, rc, err));
  *nai_part_cell(p, AE_CORRELATION, at) = int_or(p, cells, H_EXTRA, NAI_NULL_I64);
  return NAI_KEEP;
}

static const struct nai_field profiler_fields[] = {HOST};

static int overhead_row(struct nai_part *p, int64_t at, const struct nai_cell *cells, int source, int *rc,
                        struct nai_err *err) {
  int verdict = put_times(p, at, cells);
  if (verdict != NAI_KEEP)
    return verdict;
  put_thread(p, OE_THREAD, at, int_or(p, cells, H_THREAD, 0));
  put_name(p, OE_NAME, at, name_field(p, cells, H_NAME, NAI_NAME_PLAIN, rc, err));
  put_i32(p, OE_SOURCE, at, source);
  return NAI_KEEP;
}

static int profiler_row(struct nai_part *p, int64_t at, int64_t rowid, const struct nai_cell *cells, int *rc,
                        struct nai_err *err) {
  (void)rowid;
  return overhead_row(p, at, cells, NAI_OVERHEAD_PROFILER, rc, err);
}

static int cuda_overhead_row(struct nai_part *p, int64_t at, int64_t rowid, const struct nai_cell *cells, int *rc,
                             struct nai_err *err) {
  (void)rowid;
  return overhead_row(p, at, cells, NAI_OVERHEAD_CUDA, rc, err);
}

static const struct nai_field osrt_fields[] = {HOST, FIELD("nestingLevel"), FIELD("eventClass")};

static int osrt_row(struct nai_part *p, int64_t at, int64_t rowid, const struct nai_cell *cells, int *rc,
                    struct nai_err *err) {
  (void)rowid;
  enum { CLASS_OSRT = 27 };
  /* Nested calls lie inside their caller's time. */
  if (int_or(p, cells, H_EXTRA, 0) > 0 || int_or(p, cells, H_EXTRA2, CLASS_OSRT) != CLASS_OSRT)
    return NAI_SKIP;
  int verdict = put_times(p, at, cells);
  if (verdict != NAI_KEEP)
    return verdict;
  put_thread(p, OS_THREAD, at, int_or(p, cells, H_THREAD, 0));
  put_name(p, OS_NAME, at, name_field(p, cells, H_NAME, NAI_NAME_PLAIN, rc, err));
  return NAI_KEEP;
}

enum { S_CONTEXT = 2, S_STREAM, S_CORRELATION, S_PROCESS, S_TYPE };
static const struct nai_field sync_fields[] = {TIMES,
                                               FIELD("contextId"),
                                               FIELD("streamId"),
                                               FIELD("correlationId"),
                                               {{"globalPid", "globalTid", NULL}, false},
                                               FIELD("syncType")};

static int sync_row(struct nai_part *p, int64_t at, int64_t rowid, const struct nai_cell *cells, int *rc,
                    struct nai_err *err) {
  (void)rowid, (void)rc, (void)err;
  int verdict = put_times(p, at, cells);
  if (verdict != NAI_KEEP)
    return verdict;
  /* Its deviceId is always 0, so the process is all a record tells. */
  put_device(p, SE_PROCESS, at, int_or(p, cells, S_PROCESS, 0), -1);
  put_field_i32(p, SE_CONTEXT, at, cells, S_CONTEXT);
  put_field_i32(p, SE_STREAM, at, cells, S_STREAM);
  *nai_part_cell(p, SE_CORRELATION, at) = int_or(p, cells, S_CORRELATION, NAI_NULL_I64);
  put_field_i32(p, SE_TYPE, at, cells, S_TYPE);
  return NAI_KEEP;
}

/* --- NVTX ------------------------------------------------------------------------------------- */

enum { N_TYPE = 2, N_THREAD, N_TEXT_ID, N_TEXT };
static const struct nai_field nvtx_fields[] = {TIMES, FIELD("eventType"), FIELD("globalTid"), FIELD("textId"),
                                               FIELD("text")};

/* Exports that know no NULL write 0. */
static bool has_no_end(const struct nai_cell *start, const struct nai_cell *end) {
  return end->type == NAI_CELL_NULL ||
         (start->type == NAI_CELL_INT && start->i > 0 && end->type == NAI_CELL_INT && end->i == 0);
}

/* Row kind of an eventType, -1 for rows that are no ranges or marks. Exports without the column hold ranges (an end is
 * set) and marks. */
static int nvtx_kind(const struct nai_part *p, const struct nai_cell *cells) {
  const struct nai_cell *type = field(p, cells, N_TYPE);
  if (type->type != NAI_CELL_INT)
    return has_no_end(field(p, cells, START), field(p, cells, END)) ? NAI_NVTX_MARK : NAI_NVTX_PUSH_POP;
  switch (type->i) {
  case 59:
  case 70:
    return NAI_NVTX_PUSH_POP;
  case 60:
  case 71:
    return NAI_NVTX_START_END;
  case 34:
    return NAI_NVTX_MARK;
  default:
    return -1;
  }
}

static int nvtx_row(struct nai_part *p, int64_t at, int64_t rowid, const struct nai_cell *cells, int *rc,
                    struct nai_err *err) {
  int kind = nvtx_kind(p, cells);
  if (kind < 0)
    return NAI_SKIP;
  const struct nai_cell *start = field(p, cells, START), *end = field(p, cells, END);
  bool no_end = start->type == NAI_CELL_INT && has_no_end(start, end), open = no_end && kind != NAI_NVTX_MARK;
  int verdict = no_end ? put_interval(p, at, start->i, start->i) : put_times(p, at, cells);
  /* An open range that began before the trimmed window still covers it. */
  if (open && verdict == NAI_SKIP && start->i - p->time_offset_ns < p->options->trim_start_ns) {
    *nai_part_cell(p, NE_START, at) = p->options->trim_start_ns;
    p->clipped++;
    verdict = NAI_KEEP;
  }
  if (verdict != NAI_KEEP)
    return verdict;
  if (open) { /* until the last timestamp of the trace, which is known only when everything is read */
    *nai_part_cell(p, NE_END, at) = NAI_NULL_I64;
    p->open_ranges++;
  }
  put_thread(p, NE_THREAD, at, int_or(p, cells, N_THREAD, 0));
  const struct nai_cell *id = field(p, cells, N_TEXT_ID), *text = field(p, cells, N_TEXT);
  uint32_t name = NAI_NO_STRING;
  bool inline_text =
      text->type == NAI_CELL_TEXT && text->len; /* beside it, exports that know no NULL write an id of 0 */
  if (id->type == NAI_CELL_INT && !(id->i == 0 && inline_text))
    name = nai_name_by_id(p, id->i, NAI_NAME_NVTX, rc, err);
  if (name == NAI_NO_STRING && !*rc && text->type == NAI_CELL_TEXT)
    name = nai_name_by_text(p, text->data, text->len, NAI_NAME_NVTX);
  if (name == NAI_NO_STRING && !*rc && id->type == NAI_CELL_INT)
    name = nai_name_missing(p, id->i);
  if (name == NAI_NO_STRING && !*rc)
    name = nai_name_by_text(p, "", 0, NAI_NAME_PLAIN);
  put_name(p, NE_NAME, at, name);
  put_i32(p, NE_KIND, at, kind);
  /* For now from the part's first row; no real rowid is near the limits of 64 bits. */
  *nai_part_cell(p, NE_ROW_OFFSET, at) = rowid > INT64_MIN / 2 ? rowid - p->rows : NAI_NULL_I64;
  return NAI_KEEP;
}

/* --- the catalog ------------------------------------------------------------------------------ */

#define FEED(fields_array, row_fn, ...)                                                                         \
  {                                                                                                             \
    .tables = {__VA_ARGS__}, .fields = fields_array, .field_count = sizeof fields_array / sizeof *fields_array, \
    .row = row_fn                                                                                               \
  }

const struct nai_source nai_sources[] = {
    {NAI_IN_KERNELS,
     "kernels",
     "kernel statistics, GPU utilisation, launch behaviour",
     KE_NAME,
     -1,
     KE_DEVICE,
     KE_PROCESS,
     KE_CONFIG,
     {FEED(kernel_fields, kernel_row, "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL")},
     1},
    {NAI_IN_MEMOPS,
     "memory operations",
     "memory transfers; copies count as idle time",
     -1,
     -1,
     MO_DEVICE,
     MO_PROCESS,
     -1,
     {FEED(copy_fields, copy_row, "CUPTI_ACTIVITY_KIND_MEMCPY"),
      FEED(set_fields, set_row, "CUPTI_ACTIVITY_KIND_MEMSET")},
     2},
    {NAI_IN_GRAPHS,
     "graph launches",
     "CUDA graphs traced as one envelope",
     -1,
     -1,
     GE_DEVICE,
     GE_PROCESS,
     -1,
     {FEED(graph_fields, graph_row, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE")},
     1},
    {NAI_IN_APIS,
     "CUDA API calls",
     "launch latency, synchronisation, causes of idle gaps, NVTX attribution of GPU work",
     AE_NAME,
     AE_THREAD,
     -1,
     -1,
     -1,
     {FEED(api_fields, api_row, "CUPTI_ACTIVITY_KIND_RUNTIME")},
     1},
    {NAI_IN_SYNCS,
     "synchronisation records",
     "nothing while API calls are present",
     -1,
     -1,
     -1,
     SE_PROCESS,
     -1,
     {FEED(sync_fields, sync_row, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION")},
     1},
    {NAI_IN_NVTX,
     "NVTX",
     "NVTX ranges, phases, attribution of GPU work to code",
     NE_NAME,
     NE_THREAD,
     -1,
     -1,
     -1,
     {FEED(nvtx_fields, nvtx_row, "NVTX_EVENTS")},
     1},
    {NAI_IN_OVERHEAD,
     "profiler overhead",
     "the share of time the profiler itself took",
     OE_NAME,
     OE_THREAD,
     -1,
     -1,
     -1,
     {FEED(profiler_fields, profiler_row, "PROFILER_OVERHEAD"),
      FEED(profiler_fields, cuda_overhead_row, "CUPTI_ACTIVITY_KIND_OVERHEAD")},
     2},
    {NAI_IN_OSRT,
     "OS runtime calls",
     "operating-system calls by name",
     OS_NAME,
     OS_THREAD,
     -1,
     -1,
     -1,
     {FEED(osrt_fields, osrt_row, "OSRT_API")},
     1},
};
const int nai_source_count = sizeof nai_sources / sizeof *nai_sources;

/* `name`, or NAME_V<n> with the highest n where an export carries versioned tables. */
static const struct nai_db_table *versioned_table(const struct nai_trace *trace, const char *name) {
  const struct nai_db_table *best = nai_trace_table(trace, name);
  size_t len = strlen(name);
  long highest = 0;
  for (int i = 0; i < trace->table_count; i++) {
    const char *other = trace->tables[i].name;
    if (strncasecmp(other, name, len) != 0 || strncasecmp(other + len, "_V", 2) != 0)
      continue;
    char *end;
    long n = strtol(other + len + 2, &end, 10);
    if (*end == '\0' && n > highest) {
      highest = n;
      best = &trace->tables[i];
    }
  }
  return best;
}

const struct nai_db_table *nai_feed_resolve(int8_t slot[NAI_MAX_FIELDS], int columns[NAI_MAX_FIELDS], int *column_count,
                                            char why[160], const struct nai_trace *trace, const struct nai_feed *feed) {
  const struct nai_db_table *table = NULL;
  for (int i = 0; i < 3 && feed->tables[i] && !table; i++)
    table = versioned_table(trace, feed->tables[i]);
  *column_count = 0;
  why[0] = '\0';
  if (!table) {
    snprintf(why, 160, "table %s is absent", feed->tables[0]);
    return NULL;
  }
  if (!table->plain) /* a view tells no columns; the caller refuses it */
    return table;
  for (int f = 0; f < feed->field_count; f++) {
    int column = -1;
    for (int i = 0; i < 3 && feed->fields[f].names[i] && column < 0; i++)
      column = nai_db_column(table, feed->fields[f].names[i]);
    slot[f] = column < 0 ? -1 : (int8_t)*column_count;
    if (column >= 0)
      columns[(*column_count)++] = column;
    else if (feed->fields[f].required) {
      snprintf(why, 160, "table %s has no column \"%s\"", feed->tables[0], feed->fields[f].names[0]);
      return NULL;
    }
  }
  return table;
}
