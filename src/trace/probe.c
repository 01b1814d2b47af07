/* Stage probe: what the export is and what it can answer. */
#include "trace/extraction.h"
#include "base/text.h"
#include "trace/small.h"

#include "tables/capabilities.h"
#include "tables/labels.h"

#include <strings.h>

enum { TEXT_MAX = 400 };

void nai_ingest_free(struct nai_ingest *ingest) {
  for (int i = 0; i < NAI_IN_COUNT; i++) {
    nai_table_free(ingest->tables[i]);
    ingest->tables[i] = NULL;
  }
}

struct labels {
  struct nai_table *table;
  int enumeration;
  struct nai_arena *arena;
};

static int on_label(void *ctx, const struct nai_cell *cells, struct nai_err *err) {
  struct labels *l = ctx;
  int64_t id = nai_small_int(&cells[0], -1);
  if (id >= 0)
    NAI_ADD(LABELS, l->table, .enumeration = l->enumeration, .id = id,
            .label = nai_small_text(l->arena, &cells[1], TEXT_MAX));
  return nai_arena_check(l->arena, err);
}

static int probe_labels(struct nai_table *labels, struct nai_trace *trace, struct nai_err *err) {
  enum { MAX_LABELS = 256 };
  static const char *const columns[] = {"id", "label", NULL};
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  struct labels copy = {labels, NAI_LABEL_COPY, &arena}, memory = {labels, NAI_LABEL_MEMORY, &arena};
  NAI_TRY(nai_small_scan(trace, "ENUM_CUDA_MEMCPY_OPER", columns, MAX_LABELS, on_label, &copy, err));
  return nai_small_scan(trace, "ENUM_CUDA_MEM_KIND", columns, MAX_LABELS, on_label, &memory, err);
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

/* What tables are called whose rows no public export has (docs/compatibility.md): what is read of them follows NVIDIA's
 * description. */
static const char *verified(const struct nai_db_table *table) {
  const char *const *generated =
      NAI_WORDS("CUDA_CALLCHAINS", "GPU_METRICS", "CUPTI_ACTIVITY_KIND_MEM_DECOMPRESS", "GPU_CONTEXT_SWITCH_EVENTS",
                "CUDA_HOST_CALLBACK", "CUPTI_ACTIVITY_KIND_GRAPH_HOST_NODE_AND_HOST_LAUNCH", "MPI_", "UCP_",
                "CUPTI_ACTIVITY_KIND_OPENACC_", "OPENMP_EVENT_KIND_");
  return nai_text_begins(table->name, generated) ? "; verified on generated exports only" : "";
}

static int check_plain(const struct nai_db_table *table, const int *columns, int column_count,
                       const struct nai_trace *trace, struct nai_err *err) {
  if (!table->plain)
    return nai_err_set(err, NAI_EINPUT,
                       "\"%s\": table \"%s\" is not a plain table (a view or a virtual table); "
                       "nsys writes plain tables only, so export the capture again with: nsys export --type sqlite",
                       trace->path, table->name);
  for (int c = 0; c < column_count; c++)
    if (table->columns[columns[c]].hidden)
      return nai_err_set(err, NAI_EINPUT, "\"%s\": table \"%s\": column \"%s\" is a generated column, not stored data",
                         trace->path, table->name, table->columns[columns[c]].name);
  return NAI_OK;
}

static int probe_feed(struct nai_table *capabilities, const struct nai_trace *trace, const struct nai_source *source,
                      const struct nai_feed *feed, bool wanted, struct nai_err *err) {
  int8_t slot[NAI_MAX_FIELDS];
  int columns[NAI_MAX_FIELDS], column_count;
  char why[160], detail[1024] = "present", missing[512];
  const struct nai_db_table *table = nai_feed_resolve(slot, columns, &column_count, why, trace, feed);
  if (!wanted && (!table || !table->plain)) /* it is not read: no reason to refuse the trace */
    return NAI_OK;
  if (!table && feed->quiet)
    return NAI_OK;
  if (table) {
    NAI_TRY(check_plain(table, columns, column_count, trace, err));
    missing_columns(missing, sizeof missing, feed, slot);
    snprintf(detail, sizeof detail, "present%s%s%s", *missing ? "; optional columns this export lacks: " : "", missing,
             verified(table));
  } else {
    snprintf(detail, sizeof detail, "%s; not available: %s", why, lost_without(source, feed));
  }
  NAI_ADD(CAPABILITIES, capabilities, .capability = source->capability, .available = table != NULL,
          .source = table ? table->name : feed->tables[0], .detail = detail);
  return NAI_OK;
}

static const struct {
  const char *table, *capability, *disables;
} plain_tables[] = {
    {"StringIds", "names", "names: kernels and API calls show as #id"},
    {"TARGET_INFO_GPU", "GPU properties", "GPU product names"},
    {"TARGET_INFO_CUDA_DEVICE", "physical GPU mapping",
     "telling GPUs apart when several processes use the same CUDA ordinal"},
    {"DIAGNOSTIC_EVENT", "capture diagnostics", "when and how severely nsys warned while capturing"},
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
  NAI_TRY(nai_table_new(out, &nai_capabilities_schema, err));
  for (int i = 0; i < nai_source_count; i++) {
    bool wanted = tables & NAI_IN_BIT(nai_sources[i]->table), told = wanted || tables == NAI_IN_DEFAULT;
    for (const struct nai_feed *feed = nai_sources[i]->feeds; told && feed->row; feed++)
      if (nai_source_applies(nai_sources[i], trace))
        NAI_TRY(probe_feed(*out, trace, nai_sources[i], feed, wanted, err));
  }
  for (size_t i = 0; i < sizeof plain_tables / sizeof *plain_tables; i++) {
    const struct nai_db_table *table = nai_trace_table(trace, plain_tables[i].table);
    char detail[256];
    snprintf(detail, sizeof detail, "table %s is absent; not available: %s", plain_tables[i].table,
             plain_tables[i].disables);
    NAI_ADD(CAPABILITIES, *out, .capability = plain_tables[i].capability, .available = table != NULL,
            .source = plain_tables[i].table, .detail = table ? "present" : detail);
  }
  return nai_table_check(*out, err);
}

const char *nai_capability_name(size_t index) {
  size_t sources = (size_t)nai_source_count;
  if (index < sources)
    return nai_sources[index]->capability;
  return index - sources < sizeof plain_tables / sizeof *plain_tables ? plain_tables[index - sources].capability : NULL;
}

/* What is not available without a table. */
static const char *disabled_by(const char *table, const char *capability) {
  for (int i = 0; i < nai_source_count; i++)
    for (const struct nai_feed *feed = nai_sources[i]->feeds; feed->row; feed++)
      if (strcmp(nai_sources[i]->capability, capability) == 0 &&
          (!feed[1].row || strcasecmp(feed->tables[0], table) == 0))
        return lost_without(nai_sources[i], feed);
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

static int probe(struct nai_ingest *out, struct nai_trace *trace, uint64_t tables, struct nai_err *err) {
  NAI_TRY(check_is_export(trace, err));
  for (int i = 0; i <= NAI_IN_PROBE_NOTES; i++)
    NAI_TRY(nai_table_new(&out->tables[i], nai_event_tables[i], err));
  NAI_TRY(nai_probe_capture(out, trace, err));
  NAI_TRY(probe_labels(out->tables[NAI_IN_LABELS], trace, err));
  nai_small_note(out->tables[NAI_IN_PROBE_NOTES], trace);
  for (int i = 0; i <= NAI_IN_PROBE_NOTES; i++)
    NAI_TRY(nai_table_check(out->tables[i], err));
  NAI_TRY(nai_probe_capabilities(&out->tables[NAI_IN_CAPABILITIES], trace, tables, err));
  nai_probe_take_back(out->tables[NAI_IN_CAPABILITIES], out->tables[NAI_IN_PROBE_NOTES]);
  return nai_table_check(out->tables[NAI_IN_CAPABILITIES], err);
}

int nai_probe(struct nai_ingest *out, struct nai_trace *trace, uint64_t tables, struct nai_err *err) {
  int rc = probe(out, trace, tables, err);
  return rc ? nai_err_wrap(err, rc, "cannot probe the trace") : NAI_OK;
}
