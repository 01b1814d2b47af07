/* The table `capture`: what the export says of itself and of how it was captured. Its tables of facts hold names of
 * machines, command lines, paths, users and environment variables, so only named facts of plain numbers, switches and
 * single words are taken, and of the host's name a hash. Driver and options of the profiler are for comparisons: what
 * differs in these may explain a difference. */
#include "trace/extraction.h"
#include "base/sort.h"
#include "trace/small.h"

#include "base/hash.h"
#include "base/text.h"
#include "tables/capture.h"

enum { MAX_FACTS = 10000, NAME_MAX_BYTES = 96, VALUE_MAX = 64, TEXT_MAX = 400, OPTIONS_MAX = 4000, TYPES_MAX = 512 };

struct capture {
  struct CAPTURE_row row;
  struct nai_arena *arena;        /* of its texts */
  struct nai_strings event_types; /* as they come */
  struct nai_table *notes;
};

static bool consists_of(const char *text, const char *characters) {
  return *text && strspn(text, characters) == strlen(text);
}

/* A row of a table of name/value pairs; false where either is no text. */
static bool read_fact(const char **name, const char **value, struct nai_arena *arena, const struct nai_cell *cells,
                      size_t max) {
  *name = nai_small_text(arena, &cells[0], NAME_MAX_BYTES);
  *value = nai_small_text(arena, &cells[1], max);
  return *name && *value;
}

/* --- the export ------------------------------------------------------------------------------- */

/* META_DATA_EXPORT (EXPORT_META_DATA until 2023). */
static int on_export_fact(void *ctx, const struct nai_cell *cells, struct nai_err *err) {
  struct capture *c = ctx;
  const char *name, *value;
  if (!read_fact(&name, &value, c->arena, cells, TEXT_MAX))
    return nai_arena_check(c->arena, err);
  if (strcmp(name, "EXPORT_PRODUCT_VERSION") == 0)
    c->row.product_version = value;
  else if (strcmp(name, "EXPORT_SCHEMA_VERSION") == 0)
    c->row.schema_version = value;
  else if (strcmp(name, "EXPORT_PARAM_TIME_NORMALIZE") == 0 && strcmp(value, "true") == 0)
    c->row.time_offset_ns = -1; /* resolved once the session start is known */
  else if (*value &&
           (strcmp(name, "EXPORT_PARAM_TABLES_TO_EXPORT") == 0 || strcmp(name, "EXPORT_PARAM_TIMES_TO_EXPORT") == 0)) {
    c->row.partial_export = 1;
    nai_ingest_note(c->notes, "partial-export", "warning", "META_DATA_EXPORT", 1,
                    "the export holds only selected tables or times; what is missing was not looked at");
  }
  return nai_arena_check(c->arena, err);
}

/* --- the session ------------------------------------------------------------------------------ */

static bool is_time(int64_t ns) { return ns > -NAI_TIME_LIMIT && ns < NAI_TIME_LIMIT; }

static int on_session_start(void *ctx, const struct nai_cell *cells, struct nai_err *err) {
  (void)err;
  struct capture *c = ctx;
  int64_t utc = nai_small_int(&cells[0], NAI_NULL_I64), clock = nai_small_int(&cells[1], NAI_NULL_I64);
  c->row.utc_epoch_ns = utc > 0 && utc < NAI_TIME_LIMIT ? utc : NAI_NULL_I64;
  c->row.capture_start_ns = is_time(clock) ? clock : NAI_NULL_I64;
  if (c->row.utc_epoch_ns != NAI_NULL_I64 && is_time(clock))
    c->row.boot_utc_ns = utc - clock;
  return NAI_OK;
}

/* startTime and stopTime are on the system clock: they mean something only where the export says what that clock was
 * when the session began, which on_session_start has put into capture_start_ns. */
static int on_details(void *ctx, const struct nai_cell *cells, struct nai_err *err) {
  (void)err;
  struct capture *c = ctx;
  int64_t duration = nai_small_int(&cells[0], 0), clock = c->row.capture_start_ns;
  int64_t start = nai_small_int(&cells[1], NAI_NULL_I64), stop = nai_small_int(&cells[2], NAI_NULL_I64);
  bool told = clock != NAI_NULL_I64 && is_time(start) && is_time(stop) && stop >= start;
  c->row.duration_ns = duration > 0 ? duration : NAI_NULL_I64;
  c->row.capture_start_ns = told ? start - clock : NAI_NULL_I64;
  c->row.capture_stop_ns = told ? stop - clock : NAI_NULL_I64;
  return NAI_OK;
}

/* Only texts that are one word are taken: anything longer could be a command line or hold a secret. */
static int on_capture_fact(void *ctx, const struct nai_cell *cells, struct nai_err *err) {
  struct capture *c = ctx;
  const char *name, *value;
  if (!read_fact(&name, &value, c->arena, cells, VALUE_MAX) ||
      !consists_of(value, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"))
    return nai_arena_check(c->arena, err);
  if (strcmp(name, "START_TRIGGER") == 0)
    c->row.start_trigger = value;
  if (strcmp(name, "STOP_TRIGGER") == 0)
    c->row.stop_trigger = value;
  if (strcmp(name, "CAPTURE_EVENT_TYPE") == 0 &&
      nai_strings_add(&c->event_types, value, strlen(value)) == NAI_NO_STRING)
    return nai_err_nomem(err);
  return nai_arena_check(c->arena, err);
}

/* --- driver, system ---------------------------------------------------------------------------- */

/* "5452906" is 545.29.06, "59174" 591.74; later exporters print the points themselves. */
static const char *driver_version(struct nai_arena *arena, const char *value) {
  size_t len = strlen(value);
  bool plain = consists_of(value, "0123456789");
  if (plain && len == 7)
    return nai_arena_printf(arena, "%.3s.%.2s.%.2s", value, value + 3, value + 5);
  if (plain && len == 5)
    return nai_arena_printf(arena, "%.3s.%.2s", value, value + 3);
  return nai_arena_printf(arena, "%.31s", value);
}

/* L4X is Linux, the release of its kernel tells which; others (Windows, L4T, ...) name themselves. */
static void take_platform(struct CAPTURE_row *capture, const char *name, const char *value) {
  enum { LONGEST = 16 };
  bool known = capture->platform && *capture->platform;
  if (strcmp(name, "SoftwarePlatform") == 0 && strcmp(value, "L4X") != 0 && strlen(value) <= LONGEST &&
      consists_of(value, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"))
    capture->platform = value;
  if (strcmp(name, "SoftwareReleaseVersion") == 0 && !known)
    capture->platform = strcasestr(value, "microsoft") ? "WSL2" : "Linux";
}

static int on_environment(void *ctx, const struct nai_cell *cells, struct nai_err *err) {
  struct capture *c = ctx;
  const char *name, *value;
  if (!read_fact(&name, &value, c->arena, cells, VALUE_MAX))
    return nai_arena_check(c->arena, err);
  if (strcmp(name, "NvDriverVersion") == 0 && consists_of(value, "0123456789."))
    c->row.driver_version = driver_version(c->arena, value);
  if (strcmp(name, "CudaDriverVersion") == 0 && consists_of(value, "0123456789") && strlen(value) < 7) {
    int number = atoi(value);
    c->row.cuda_driver_version = nai_arena_printf(c->arena, "%d.%d", number / 1000, number % 1000 / 10);
  }
  const int64_t minute = INT64_C(60000000000);
  if (strcmp(name, "Hostname") == 0 && *value && c->row.boot_utc_ns != NAI_NULL_I64)
    c->row.host_id = (int64_t)(nai_hash_int(nai_hash_text(1, value), c->row.boot_utc_ns / minute) >> 11);
  take_platform(&c->row, name, value);
  return nai_arena_check(c->arena, err);
}

/* --- options of the profiler ------------------------------------------------------------------ */

/* Options that decide what is recorded and what that costs: prefixes of their names, without the process. */
static bool is_option(const char *name) {
  const char *const *prefixes =
      NAI_WORDS("COLLECT_", "USE_", "SAMPLE_", "TRACE_", "CUDA_FLUSH_", "CUDA_SKIP_",
                "CUDA_GRAPH_TRACE_OPTIONS:", "CUDA_BACKTRACE_OPTIONS:", "LINUX_PERF_OPTIONS:COLLECT_",
                "LINUX_PERF_OPTIONS:SAMPLING_PERIOD", "OS_RUNTIME_OPTIONS:", "GPU_METRICS_OPTIONS:FREQUENCY");
  return nai_text_begins(name, prefixes) && consists_of(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:");
}

/* "PROCESS_0:COLLECT_X" -> "COLLECT_X" */
static const char *without_process(const char *name) {
  const char *colon = strchr(name, ':');
  return strncmp(name, "PROCESS_", 8) == 0 && colon ? colon + 1 : name;
}

/* A switch that is on, a number other than 0, how graphs are traced. */
static bool is_setting(const char *name, const char *value) {
  if (strcmp(name, "CUDA_GRAPH_TRACE_OPTIONS:MODE") == 0)
    return strcmp(value, "Graph") == 0 || strcmp(value, "Node") == 0;
  return strcmp(value, "true") == 0 || (consists_of(value, "0123456789") && strcmp(value, "0") != 0);
}

struct options {
  struct nai_arena *arena;
  struct nai_strings texts;
};

static void options_free(struct options *o) { nai_strings_free(&o->texts); }

static int on_option(void *ctx, const struct nai_cell *cells, struct nai_err *err) {
  struct options *o = ctx;
  const char *name, *value;
  if (!read_fact(&name, &value, o->arena, cells, VALUE_MAX))
    return nai_arena_check(o->arena, err);
  const char *option = without_process(name);
  if (!is_option(option) || !is_setting(option, value))
    return nai_arena_check(o->arena, err);
  bool on = strcmp(value, "true") == 0;
  const char *text = nai_arena_printf(o->arena, "%s%s%s", option, on ? "" : "=", on ? "" : value);
  NAI_TRY(nai_arena_check(o->arena, err));
  return nai_strings_put(NULL, &o->texts, text, err);
}

/* As many texts as `max` bytes have room for, in order: exporters promise none of rows. NULL for none. */
static int join_sorted(const char **out, const struct nai_strings *texts, const char *between, size_t max,
                       struct nai_arena *arena, struct nai_err *err) {
  NAI_SCOPED(nai_buf) text = {0};
  const char **list;
  uint32_t count = texts->count;
  NAI_TRY(NAI_NEW(list, arena, count, err));
  for (uint32_t i = 0; i < count; i++)
    list[i] = nai_strings_get(texts, i);
  qsort(list, count, sizeof *list, nai_by_text);
  for (uint32_t i = 0; i < count && text.len + strlen(list[i]) + 3 < max; i++)
    nai_buf_printf(&text, "%s%s", i ? between : "", list[i]);
  NAI_TRY(nai_buf_check(&text, err));
  *out = count ? nai_arena_printf(arena, "%s", nai_buf_str(&text)) : NULL;
  return nai_arena_check(arena, err);
}

/* --- messages of nsys ------------------------------------------------------------------------- */

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

/* Warnings and errors, and how CUDA was traced; MAX_DIAGNOSTICS different ones are told apart. A row without a severity
 * is none that nsys wrote.
 */
static int on_diagnostic(void *ctx, const struct nai_cell *cells, struct nai_err *err) {
  enum { WARNING = 2, ERROR = 3, MAX_DIAGNOSTICS = 100 };
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  struct nai_table *notes = ctx;
  int64_t code = nai_small_int(&cells[0], 0);
  const char *text = nai_small_text(&arena, &cells[1], TEXT_MAX);
  if (cells[0].type != NAI_CELL_INT)
    count_note(notes, NAI_CHECK_WITHOUT_VALUE, "warning", NAI_DETAIL_WITHOUT_VALUE);
  if (text && strstr(text, "(software instrumented) trace was collected"))
    count_note(notes, NAI_CHECK_SOFTWARE_TRACE, "info", NAI_DETAIL_SOFTWARE_TRACE);
  if (code != WARNING && code != ERROR)
    return nai_arena_check(&arena, err);
  count_note(notes, "diagnostic", code == ERROR ? "error" : "warning",
             notes->rows >= MAX_DIAGNOSTICS ? "further diagnostics"
             : text                         ? text
                                            : "");
  return nai_arena_check(&arena, err);
}

/* In an order of their own: exporters promise none of rows. */
static int take_diagnostics(struct nai_table *notes, struct nai_table *said, struct nai_err *err) {
  static const struct nai_sort_by order[] = {
      {PROBE_NOTES_check, false}, {PROBE_NOTES_severity, false}, {PROBE_NOTES_detail, false}};
  NAI_TRY(nai_table_check(said, err));
  NAI_TRY(nai_table_sort_by(said, order, sizeof order / sizeof *order, err));
  for (int64_t row = 0; row < said->rows; row++) {
    struct PROBE_NOTES_row note = PROBE_NOTES_at(said, row);
    PROBE_NOTES_add(notes, &note);
  }
  return NAI_OK;
}

/* Before 2024 exports had no table of messages, but their texts are the last of StringIds, behind this one. Of these
 * only what is known to be a warning is shown. */
static const char first_message[] = "Profiling has started.";
static const char *const warnings[] = {"Unable to ",       "Installed CUDA driver version ",
                                       "Could not parse ", "Not all ",
                                       "Some events",      "CUDA profiling might ",
                                       "CUDA device ",     "No CUDA events",
                                       "No NVTX events"};

static bool is_warning(const char *text) {
  for (size_t i = 0; i < sizeof warnings / sizeof *warnings; i++)
    if (strncmp(text, warnings[i], strlen(warnings[i])) == 0)
      return true;
  return false;
}

/* How many rows StringIds has: its ids are numbered without gaps. */
static int count_texts(int64_t *rows, struct nai_trace *trace, const struct nai_db_table *texts, struct nai_err *err) {
  int value = nai_db_column(texts, "value");
  struct nai_scan scan = {.table = texts->name, .columns = &value, .column_count = 1};
  int rc = nai_scan_open(&scan, trace, 1, err);
  for (int part = 0; !rc && part < scan.parts; part++)
    *rows += scan.part_rows[part];
  nai_scan_close(&scan);
  return rc;
}

static int read_last_texts(struct nai_table *notes, struct nai_lookup *texts, int64_t rows, struct nai_err *err) {
  enum { MOST_MESSAGES = 500 };
  bool began = false;
  for (int64_t id = rows > MOST_MESSAGES ? rows - MOST_MESSAGES : 0; id <= rows; id++) {
    NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
    struct nai_cell cell;
    bool found;
    NAI_TRY(nai_string_get(&found, &cell, texts, id, err));
    const char *text = found ? nai_small_text(&arena, &cell, TEXT_MAX) : NULL;
    NAI_TRY(nai_arena_check(&arena, err));
    if (text && began && is_warning(text))
      nai_ingest_note(notes, "diagnostic", "warning", "StringIds", 1, text);
    began = began || (text && strcmp(text, first_message) == 0);
  }
  return NAI_OK;
}

static int probe_messages(struct nai_table *notes, struct nai_trace *trace, struct nai_err *err) {
  const struct nai_db_table *table = nai_trace_table(trace, "StringIds");
  NAI_OWNED(nai_lookup) *texts = NULL;
  int64_t rows = 0;
  if (!table || !table->plain || nai_db_column(table, "value") < 0)
    return NAI_OK;
  NAI_TRY(nai_string_open(&texts, trace, err));
  NAI_TRY(count_texts(&rows, trace, table, err));
  return read_last_texts(notes, texts, rows, err);
}

/* Half of them would be as good as none. */
static int probe_diagnostics(struct nai_table *notes, struct nai_trace *trace, struct nai_err *err) {
  const struct nai_db_table *table = nai_trace_table(trace, "DIAGNOSTIC_EVENT");
  NAI_OWNED(nai_table) *said = NULL;
  if (!table)
    return probe_messages(notes, trace, err);
  if (nai_db_column(table, "severity") < 0)
    return NAI_OK;
  NAI_TRY(nai_table_new(&said, notes->schema, err));
  int rc = nai_small_scan(trace, "DIAGNOSTIC_EVENT", (const char *const[]){"severity", "text", NULL}, 1000000,
                          on_diagnostic, said, err);
  if (!rc)
    return take_diagnostics(notes, said, err);
  return rc == NAI_EINPUT && err->damaged && !said->oom ? nai_damage_note(notes, trace, table->name, err) : rc;
}

int nai_probe_capture(struct nai_ingest *out, struct nai_trace *trace, struct nai_err *err) {
  static const char *const pairs[] = {"name", "value", NULL};
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  NAI_SCOPED(options) options = {.arena = &arena};
  struct capture c = {.row = NAI_ROW(CAPTURE, .size_bytes = (int64_t)trace->size_bytes, .time_offset_ns = 0,
                                     .partial_export = 0),
                      .arena = &arena,
                      .event_types = {.arena = &arena},
                      .notes = out->tables[NAI_IN_PROBE_NOTES]};
  struct CAPTURE_row *row = &c.row;
  struct nai_cell file = {.type = NAI_CELL_TEXT, .data = trace->file_name, .len = (uint32_t)strlen(trace->file_name)};
  row->file = nai_small_text(&arena, &file, TEXT_MAX);
  const char *facts = nai_trace_table(trace, "META_DATA_EXPORT") ? "META_DATA_EXPORT" : "EXPORT_META_DATA";
  NAI_TRY(nai_small_scan(trace, facts, pairs, MAX_FACTS, on_export_fact, &c, err));
  NAI_TRY(nai_small_scan(trace, "TARGET_INFO_SESSION_START_TIME",
                         (const char *const[]){"utcEpochNs", "systemClockNs", NULL}, 1, on_session_start, &c, err));
  NAI_TRY(nai_small_scan(trace, "ANALYSIS_DETAILS", (const char *const[]){"duration", "startTime", "stopTime", NULL}, 1,
                         on_details, &c, err));
  if (!nai_trace_table(trace, "ANALYSIS_DETAILS"))
    row->capture_start_ns = NAI_NULL_I64;
  NAI_TRY(nai_small_scan(trace, "META_DATA_CAPTURE", pairs, MAX_FACTS, on_capture_fact, &c, err));
  NAI_TRY(nai_small_scan(trace, "TARGET_INFO_SYSTEM_ENV", pairs, MAX_FACTS, on_environment, &c, err));
  NAI_TRY(nai_small_scan(trace, "META_DATA_CAPTURE", pairs, MAX_FACTS, on_option, &options, err));
  NAI_TRY(join_sorted(&row->profiler_options, &options.texts, " ", OPTIONS_MAX, &arena, err));
  NAI_TRY(join_sorted(&row->event_types, &c.event_types, ", ", TYPES_MAX, &arena, err));
  NAI_TRY(probe_diagnostics(c.notes, trace, err));
  /* A time-normalised export holds UTC times; shifting them back keeps every number small and comparable. */
  if (row->time_offset_ns < 0)
    row->time_offset_ns = row->utc_epoch_ns == NAI_NULL_I64 ? 0 : row->utc_epoch_ns;
  CAPTURE_add(out->tables[NAI_IN_CAPTURE], row);
  return nai_arena_check(&arena, err);
}
