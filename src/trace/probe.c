/* Stage probe: what the export is and what it can answer. */
#include "trace/capture_facts.h"
#include "trace/ingest.h"

#include "trace/extraction.h"
#include "trace/small.h"
#include "tables/capabilities.h"
#include "tables/capture.h"
#include "tables/labels.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void nai_ingest_free(struct nai_ingest *ingest) {
  for (int i = 0; i < NAI_IN_COUNT; i++) {
    nai_table_free(ingest->tables[i]);
    ingest->tables[i] = NULL;
  }
}

void nai_ingest_note(struct nai_table *notes, const char *check, const char *severity, const char *source,
                     int64_t count, const char *detail) {
  int64_t row = nai_table_add_row(notes);
  nai_set_str(notes, row, PROBE_NOTES_check, check);
  nai_set_str(notes, row, PROBE_NOTES_severity, severity);
  nai_set_str(notes, row, PROBE_NOTES_source_table, source);
  nai_set_i64(notes, row, PROBE_NOTES_count, count);
  nai_set_str(notes, row, PROBE_NOTES_detail, detail);
}

enum { TEXT_MAX = 400 };

/* A row of a table of name/value pairs; either is NULL when it is no text. */
static int read_fact(char **name, char **value, const struct nai_cell *cells, size_t max, struct nai_err *err) {
  *value = NULL;
  int rc = nai_small_text(name, &cells[0], 64, err);
  return rc ? rc : nai_small_text(value, &cells[1], max, err);
}

/* META_DATA_EXPORT (EXPORT_META_DATA until 2023) is a list of name/value pairs. Only the names below are read: others
 * hold paths, hosts and users. */
static int on_export_fact(void *ctx, const struct nai_cell *cells, struct nai_err *err) {
  struct nai_ingest *out = ctx;
  struct nai_table *capture = out->tables[NAI_IN_CAPTURE];
  char *name, *value;
  int rc = read_fact(&name, &value, cells, TEXT_MAX, err);
  if (name && value) {
    if (strcmp(name, "EXPORT_PRODUCT_VERSION") == 0)
      nai_set_str(capture, 0, CAPTURE_product_version, value);
    else if (strcmp(name, "EXPORT_SCHEMA_VERSION") == 0)
      nai_set_str(capture, 0, CAPTURE_schema_version, value);
    else if (strcmp(name, "EXPORT_PARAM_TIME_NORMALIZE") == 0 && strcmp(value, "true") == 0)
      nai_set_i64(capture, 0, CAPTURE_time_offset_ns, -1); /* resolved once the session start is known */
    else if ((strcmp(name, "EXPORT_PARAM_TABLES_TO_EXPORT") == 0 ||
              strcmp(name, "EXPORT_PARAM_TIMES_TO_EXPORT") == 0) &&
             *value) {
      nai_set_i64(capture, 0, CAPTURE_partial_export, 1);
      nai_ingest_note(out->tables[NAI_IN_PROBE_NOTES], "partial-export", "warning", "META_DATA_EXPORT", 1,
                      "the export holds only selected tables or times; what is missing was not looked at");
    }
  }
  free(name);
  free(value);
  return rc;
}

static bool is_time(int64_t ns) { return ns > -NAI_TIME_LIMIT && ns < NAI_TIME_LIMIT; }

static int on_session_start(void *ctx, const struct nai_cell *cells, struct nai_err *err) {
  (void)err;
  int64_t utc = nai_small_int(&cells[0], NAI_NULL_I64);
  nai_set_i64(ctx, 0, CAPTURE_utc_epoch_ns, utc > 0 && utc < NAI_TIME_LIMIT ? utc : NAI_NULL_I64);
  int64_t clock = nai_small_int(&cells[1], NAI_NULL_I64);
  nai_set_i64(ctx, 0, CAPTURE_capture_start_ns, is_time(clock) ? clock : NAI_NULL_I64);
  return NAI_OK;
}

/* startTime and stopTime are on the system clock: they mean something only where the export says what that clock was
 * when the session began, which on_session_start has put into CA_START. */
static int on_details(void *ctx, const struct nai_cell *cells, struct nai_err *err) {
  (void)err;
  int64_t duration = nai_small_int(&cells[0], 0), clock = nai_get_i64(ctx, 0, CAPTURE_capture_start_ns);
  int64_t start = nai_small_int(&cells[1], NAI_NULL_I64), stop = nai_small_int(&cells[2], NAI_NULL_I64);
  nai_set_i64(ctx, 0, CAPTURE_duration_ns, duration > 0 ? duration : NAI_NULL_I64);
  bool told = clock != NAI_NULL_I64 && is_time(start) && is_time(stop) && stop >= start;
  nai_set_i64(ctx, 0, CAPTURE_capture_start_ns, told ? start - clock : NAI_NULL_I64);
  nai_set_i64(ctx, 0, CAPTURE_capture_stop_ns, told ? stop - clock : NAI_NULL_I64);
  return NAI_OK;
}

/* Only texts that are one word are taken: anything longer could be a command line or hold a secret. */
static bool is_word(const char *text) {
  return *text && strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") == strlen(text);
}

/* META_DATA_CAPTURE holds command lines and environment variables: only the names below are read. */
static int on_capture_fact(void *ctx, const struct nai_cell *cells, struct nai_err *err) {
  struct nai_table *capture = ctx;
  char *name, *value;
  int rc = read_fact(&name, &value, cells, 64, err);
  if (name && value && is_word(value)) {
    if (strcmp(name, "START_TRIGGER") == 0)
      nai_set_str(capture, 0, CAPTURE_start_trigger, value);
    if (strcmp(name, "STOP_TRIGGER") == 0)
      nai_set_str(capture, 0, CAPTURE_stop_trigger, value);
    if (strcmp(name, "CAPTURE_EVENT_TYPE") == 0) {
      char types[512];
      const char *before = nai_get_str(capture, 0, CAPTURE_event_types);
      snprintf(types, sizeof types, "%s%s%s", before, *before ? ", " : "", value);
      nai_set_str(capture, 0, CAPTURE_event_types, types);
    }
  }
  free(name);
  free(value);
  return rc;
}

/* Equal notes are one, with their number. */
static void count_note(struct nai_table *notes, const char *check, const char *severity, const char *detail) {
  int64_t row = 0;
  while (row < notes->rows && (strcmp(nai_get_str(notes, row, PROBE_NOTES_check), check) != 0 ||
                               strcmp(nai_get_str(notes, row, PROBE_NOTES_severity), severity) != 0 ||
                               strcmp(nai_get_str(notes, row, PROBE_NOTES_detail), detail) != 0))
    row++;
  if (row < notes->rows)
    nai_set_i64(notes, row, PROBE_NOTES_count, nai_get_i64(notes, row, PROBE_NOTES_count) + 1);
  else
    nai_ingest_note(notes, check, severity, "DIAGNOSTIC_EVENT", 1, detail);
}

/* Warnings and errors; MAX_DIAGNOSTICS different ones are told apart. A row without a severity is none that nsys wrote.
 */
static int on_diagnostic(void *ctx, const struct nai_cell *cells, struct nai_err *err) {
  enum { WARNING = 2, ERROR = 3, MAX_DIAGNOSTICS = 100 };
  struct nai_table *notes = ctx;
  int64_t code = nai_small_int(&cells[0], 0);
  if (cells[0].type != NAI_CELL_INT)
    count_note(notes, NAI_CHECK_WITHOUT_VALUE, "warning", NAI_DETAIL_WITHOUT_VALUE);
  if (code != WARNING && code != ERROR)
    return NAI_OK;
  char *text;
  int rc = nai_small_text(&text, &cells[1], TEXT_MAX, err);
  if (rc)
    return rc;
  count_note(notes, "diagnostic", code == ERROR ? "error" : "warning",
             notes->rows >= MAX_DIAGNOSTICS ? "further diagnostics"
             : text                         ? text
                                            : "");
  free(text);
  return NAI_OK;
}

/* Half of them would be as good as none. */
static int probe_diagnostics(struct nai_ingest *out, struct nai_trace *trace, struct nai_err *err) {
  struct nai_table *notes = out->tables[NAI_IN_PROBE_NOTES];
  const struct nai_db_table *table = nai_trace_table(trace, "DIAGNOSTIC_EVENT");
  int64_t before = notes->rows;
  if (!table || nai_db_column(table, "severity") < 0)
    return NAI_OK;
  int rc = nai_small_scan(trace, "DIAGNOSTIC_EVENT", (const char *const[]){"severity", "text", NULL}, 1000000,
                          on_diagnostic, notes, err);
  if (rc != NAI_EINPUT || !err->damaged || notes->oom)
    return rc;
  nai_table_truncate(notes, before);
  return nai_damage_note(notes, trace, table->name, err);
}

static int probe_capture(struct nai_ingest *out, struct nai_trace *trace, struct nai_err *err) {
  struct nai_table *capture = out->tables[NAI_IN_CAPTURE];
  nai_table_add_row(capture);
  struct nai_cell file = {.type = NAI_CELL_TEXT, .data = trace->file_name, .len = (uint32_t)strlen(trace->file_name)};
  nai_small_put_text(capture, 0, CAPTURE_file, &file, TEXT_MAX);
  nai_set_i64(capture, 0, CAPTURE_size_bytes, (int64_t)trace->size_bytes);
  nai_set_i64(capture, 0, CAPTURE_time_offset_ns, 0);
  nai_set_i64(capture, 0, CAPTURE_partial_export, 0);
  const char *facts = nai_trace_table(trace, "META_DATA_EXPORT") ? "META_DATA_EXPORT" : "EXPORT_META_DATA";
  int rc = nai_small_scan(trace, facts, (const char *const[]){"name", "value", NULL}, 10000, on_export_fact, out, err);
  if (!rc)
    rc = nai_small_scan(trace, "TARGET_INFO_SESSION_START_TIME",
                        (const char *const[]){"utcEpochNs", "systemClockNs", NULL}, 1, on_session_start, capture, err);
  if (!rc)
    rc = nai_small_scan(trace, "ANALYSIS_DETAILS", (const char *const[]){"duration", "startTime", "stopTime", NULL}, 1,
                        on_details, capture, err);
  if (!nai_trace_table(trace, "ANALYSIS_DETAILS"))
    nai_set_i64(capture, 0, CAPTURE_capture_start_ns, NAI_NULL_I64);
  if (!rc)
    rc = nai_small_scan(trace, "META_DATA_CAPTURE", (const char *const[]){"name", "value", NULL}, 10000,
                        on_capture_fact, capture, err);
  if (!rc)
    rc = nai_capture_facts(capture, trace, err);
  if (!rc)
    rc = probe_diagnostics(out, trace, err);
  /* A time-normalised export holds UTC times; shifting them back keeps every number small and comparable. */
  if (nai_get_i64(capture, 0, CAPTURE_time_offset_ns) < 0) {
    int64_t utc = nai_get_i64(capture, 0, CAPTURE_utc_epoch_ns);
    nai_set_i64(capture, 0, CAPTURE_time_offset_ns, utc == NAI_NULL_I64 ? 0 : utc);
  }
  return rc;
}

static int on_label(struct nai_table *labels, int kind, const struct nai_cell *cells) {
  int64_t id = nai_small_int(&cells[0], -1);
  if (id < 0)
    return NAI_OK;
  int64_t row = nai_table_add_row(labels);
  nai_set_i64(labels, row, LABELS_enumeration, kind);
  nai_set_i64(labels, row, LABELS_id, id);
  nai_small_put_text(labels, row, LABELS_label, &cells[1], TEXT_MAX);
  return NAI_OK;
}

static int on_copy_label(void *ctx, const struct nai_cell *cells, struct nai_err *err) {
  (void)err;
  return on_label(ctx, NAI_LABEL_COPY, cells);
}

static int on_memory_label(void *ctx, const struct nai_cell *cells, struct nai_err *err) {
  (void)err;
  return on_label(ctx, NAI_LABEL_MEMORY, cells);
}

static int probe_labels(struct nai_table *labels, struct nai_trace *trace, struct nai_err *err) {
  enum { MAX_LABELS = 256 };
  static const char *const columns[] = {"id", "label", NULL};
  int rc = nai_small_scan(trace, "ENUM_CUDA_MEMCPY_OPER", columns, MAX_LABELS, on_copy_label, labels, err);
  return rc ? rc : nai_small_scan(trace, "ENUM_CUDA_MEM_KIND", columns, MAX_LABELS, on_memory_label, labels, err);
}

static void add_capability(struct nai_table *table, const char *name, bool available, const char *source,
                           const char *detail) {
  int64_t row = nai_table_add_row(table);
  nai_set_str(table, row, CAPABILITIES_capability, name);
  nai_set_i64(table, row, CAPABILITIES_available, available);
  nai_set_str(table, row, CAPABILITIES_source, source);
  nai_set_str(table, row, CAPABILITIES_detail, detail);
}

/* Which of the wanted columns the table lacks, "column a, b" or "". */
static void missing_columns(char *text, size_t size, const struct nai_feed *feed, const int8_t *slot) {
  size_t n = 0;
  for (int f = 0; f < feed->field_count && n + 1 < size; f++)
    if (slot[f] == NAI_NO_CELL && feed->fields[f].need == NAI_OPTIONAL)
      n += (size_t)snprintf(text + n, size - n, "%s%s", n ? ", " : "", feed->fields[f].names[0]);
  if (!n)
    text[0] = '\0';
}

/* One table of several loses only what it tells. */
static const char *lost_without(const struct nai_source *source, const struct nai_feed *feed) {
  static const char *const lost[][2] = {
      {"CUPTI_ACTIVITY_KIND_MEMCPY", "copies; their time counts as idle"},
      {"CUPTI_ACTIVITY_KIND_MEMSET", "fills of GPU memory, if there were any; their time counts as idle"},
      {"CUPTI_ACTIVITY_KIND_JIT", "time that CUDA took for compiling code"},
      {"CUPTI_ACTIVITY_KIND_OVERHEAD", "time that CUDA took for loading code and for full command buffers"},
  };
  for (size_t i = 0; i < sizeof lost / sizeof *lost; i++)
    if (strcmp(feed->tables[0], lost[i][0]) == 0)
      return lost[i][1];
  return source->disables;
}

static int probe_source(struct nai_table *capabilities, const struct nai_trace *trace, const struct nai_source *source,
                        struct nai_err *err) {
  for (int i = 0; i < source->feed_count; i++) {
    const struct nai_feed *feed = &source->feeds[i];
    int8_t slot[NAI_MAX_FIELDS];
    int columns[NAI_MAX_FIELDS], column_count;
    char why[160], detail[1024], missing[512];
    const struct nai_db_table *table = nai_feed_resolve(slot, columns, &column_count, why, trace, feed);
    if (table && !table->plain)
      return nai_err_set(err, NAI_EINPUT,
                         "\"%s\": table \"%s\" is not a plain table (a view or a virtual table); "
                         "nsys writes plain tables only, so export the capture again with: nsys export --type sqlite",
                         trace->path, table->name);
    for (int c = 0; table && c < column_count; c++)
      if (table->columns[columns[c]].hidden)
        return nai_err_set(err, NAI_EINPUT,
                           "\"%s\": table \"%s\": column \"%s\" is a generated column, not stored data", trace->path,
                           table->name, table->columns[columns[c]].name);
    if (!table) {
      snprintf(detail, sizeof detail, "%s; not available: %s", why, lost_without(source, feed));
    } else {
      missing_columns(missing, sizeof missing, feed, slot);
      if (*missing)
        snprintf(detail, sizeof detail, "present; optional columns this export lacks: %s", missing);
      else
        snprintf(detail, sizeof detail, "present");
    }
    add_capability(capabilities, source->capability, table != NULL, table ? table->name : feed->tables[0], detail);
  }
  return NAI_OK;
}

static const struct {
  const char *table, *capability, *disables;
} plain_tables[] = {
    {"StringIds", "names", "names: kernels and API calls show as #id"},
    {"TARGET_INFO_GPU", "GPU properties", "GPU product names"},
    {"TARGET_INFO_CUDA_DEVICE", "physical GPU mapping",
     "telling GPUs apart when several processes use the same CUDA ordinal"},
    {"DIAGNOSTIC_EVENT", "capture diagnostics", "warnings nsys gave while capturing"},
    {"PROCESSES", "process names", "process names"},
    {"ThreadNames", "thread names", "thread names"},
};

static int check_is_export(const struct nai_trace *trace, struct nai_err *err) {
  if (nai_trace_table(trace, "StringTable") &&
      (nai_trace_table(trace, "CUPTI_ACTIVITY_KIND_DRIVER") || !nai_trace_table(trace, "StringIds")))
    return nai_err_set(err, NAI_EINPUT,
                       "\"%s\" is an nvprof database, not an Nsight Systems export; capture again with: "
                       "nsys profile --trace=cuda,nvtx -o run COMMAND && nsys export --type sqlite run.nsys-rep",
                       trace->path);
  static const char *const signs[] = {"StringIds", "META_DATA_EXPORT", "META_DATA_CAPTURE", "NVTX_EVENTS"};
  for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
    if (nai_trace_table(trace, signs[i]))
      return NAI_OK;
  for (int i = 0; i < trace->table_count; i++)
    if (strncmp(trace->tables[i].name, "CUPTI_ACTIVITY_KIND_", 20) == 0)
      return NAI_OK;
  return nai_err_set(err, NAI_EINPUT,
                     "\"%s\" is an SQLite database but no Nsight Systems export: none of StringIds, META_DATA_EXPORT, "
                     "NVTX_EVENTS or CUPTI_ACTIVITY_KIND_* is there; export a capture with: nsys export --type sqlite "
                     "FILE.nsys-rep",
                     trace->path);
}

int nai_probe_capabilities(struct nai_table **out, const struct nai_trace *trace, uint64_t tables,
                           struct nai_err *err) {
  tables = tables ? tables : NAI_IN_DEFAULT;
  int rc = nai_table_new(out, &nai_capabilities_schema, err);
  for (int i = 0; !rc && i < nai_source_count; i++)
    if (tables & NAI_IN_BIT(nai_sources[i]->table) && nai_source_applies(nai_sources[i], trace))
      rc = probe_source(*out, trace, nai_sources[i], err);
  for (size_t i = 0; !rc && i < sizeof plain_tables / sizeof *plain_tables; i++) {
    const struct nai_db_table *table = nai_trace_table(trace, plain_tables[i].table);
    char detail[256];
    snprintf(detail, sizeof detail, "table %s is absent; not available: %s", plain_tables[i].table,
             plain_tables[i].disables);
    add_capability(*out, plain_tables[i].capability, table != NULL, plain_tables[i].table, table ? "present" : detail);
  }
  return rc ? rc : nai_table_check(*out, err);
}

/* What is not available without a table. */
static const char *disabled_by(const char *table, const char *capability) {
  for (int i = 0; i < nai_source_count; i++)
    for (int f = 0; f < nai_sources[i]->feed_count; f++)
      if (strcmp(nai_sources[i]->capability, capability) == 0 &&
          (f + 1 == nai_sources[i]->feed_count || strcasecmp(nai_sources[i]->feeds[f].tables[0], table) == 0))
        return lost_without(nai_sources[i], &nai_sources[i]->feeds[f]);
  for (size_t i = 0; i < sizeof plain_tables / sizeof *plain_tables; i++)
    if (strcmp(plain_tables[i].capability, capability) == 0)
      return plain_tables[i].disables;
  return capability;
}

static void take_back(struct nai_table *capabilities, const char *table) {
  for (int64_t row = 0; row < capabilities->rows; row++) {
    char detail[512];
    if (strcasecmp(nai_get_str(capabilities, row, CAPABILITIES_source), table) != 0)
      continue;
    snprintf(detail, sizeof detail, "table %s is damaged; not available: %s", table,
             disabled_by(table, nai_get_str(capabilities, row, CAPABILITIES_capability)));
    nai_set_i64(capabilities, row, CAPABILITIES_available, 0);
    nai_set_str(capabilities, row, CAPABILITIES_detail, detail);
  }
}

void nai_probe_take_back(struct nai_table *capabilities, const struct nai_table *notes) {
  for (int64_t i = 0; i < notes->rows; i++)
    if (strcmp(nai_get_str(notes, i, PROBE_NOTES_check), NAI_CHECK_DAMAGE) == 0)
      take_back(capabilities, nai_get_str(notes, i, PROBE_NOTES_source_table));
}

int nai_probe(struct nai_ingest *out, struct nai_trace *trace, uint64_t tables, struct nai_err *err) {
  int rc = check_is_export(trace, err);
  for (int i = 0; !rc && i <= NAI_IN_PROBE_NOTES; i++)
    rc = nai_table_new(&out->tables[i], nai_event_tables[i], err);
  if (!rc)
    rc = probe_capture(out, trace, err);
  if (!rc)
    rc = probe_labels(out->tables[NAI_IN_LABELS], trace, err);
  if (!rc)
    nai_small_note(out->tables[NAI_IN_PROBE_NOTES], trace);
  for (int i = 0; !rc && i <= NAI_IN_PROBE_NOTES; i++)
    rc = nai_table_check(out->tables[i], err);
  if (!rc)
    rc = nai_probe_capabilities(&out->tables[NAI_IN_CAPABILITIES], trace, tables, err);
  if (!rc)
    nai_probe_take_back(out->tables[NAI_IN_CAPABILITIES], out->tables[NAI_IN_PROBE_NOTES]);
  if (!rc)
    rc = nai_table_check(out->tables[NAI_IN_CAPABILITIES], err);
  return rc ? nai_err_wrap(err, rc, "cannot probe the trace") : NAI_OK;
}
