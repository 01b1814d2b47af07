/* The catalogue, and finding in an export what it asks for. */
#include "trace/sources/source.h"

#include <strings.h>

const struct nai_source *const nai_sources[] = {
    &nai_source_kernels,
    &nai_source_memops,
    &nai_source_graphs,
    &nai_source_apis,
    &nai_source_syncs,
    &nai_source_nvtx,
    &nai_source_overhead,
    &nai_source_osrt,
    &nai_source_files,
    &nai_source_syscalls,
    &nai_source_cuda_events,
    &nai_source_graph_nodes,
    &nai_source_graph_creations,
    &nai_source_memory_usage,
    &nai_source_memory_pools,
    &nai_source_um_faults,
    &nai_source_gpu_metric_samples,
    &nai_source_nic_samples,
    &nai_source_gpu_switches,
    &nai_source_host_functions,
    &nai_source_sched,
    &nai_source_samples,
    &nai_source_callchains,
    &nai_source_jit,
    &nai_source_libraries,
    &nai_source_mpi,
    &nai_source_ucx,
    &nai_source_openacc,
    &nai_source_openmp,
    &nai_source_nvtx_payloads,
    &nai_source_diagnostics,
};
const int nai_source_count = sizeof nai_sources / sizeof *nai_sources;
_Static_assert(sizeof nai_sources / sizeof *nai_sources == NAI_IN_COUNT - NAI_IN_FIRST_EVENTS, "a source per table");

enum nai_dictionary nai_dictionary_of(const struct nai_source *source, int column) {
  static const struct {
    const char *refers;
    enum nai_dictionary to;
  } known[] = {{"threads", NAI_THREADS},
               {"processes", NAI_PROCESSES},
               {"gpus.device_id", NAI_DEVICES},
               {"nvtx_sizes", NAI_SIZES}};
  const struct nai_column_def *def = &nai_event_tables[source->table]->columns[column];
  if (def->type == NAI_STR)
    return NAI_NAMES;
  for (size_t i = 0; def->refers && i < sizeof known / sizeof *known; i++)
    if (strcmp(def->refers, known[i].refers) == 0)
      return known[i].to;
  bool record = def->refers && source->records && strcmp(def->refers, nai_event_tables[source->records]->name) == 0;
  return record ? NAI_RECORDS : NAI_VALUES;
}

int nai_source_column(const struct nai_source *source, enum nai_dictionary dictionary) {
  for (int c = 0; c < (int)nai_event_tables[source->table]->column_count; c++)
    if (nai_dictionary_of(source, c) == dictionary)
      return c;
  return -1;
}

bool nai_source_applies(const struct nai_source *source, const struct nai_trace *trace) {
  return !source->only_with || nai_trace_table(trace, source->only_with);
}

uint64_t nai_ingest_closure(uint64_t tables) {
  uint64_t all = tables | (NAI_IN_BIT(NAI_IN_FIRST_ASKED) - 1);
  for (int s = 0; s < nai_source_count; s++)
    if (tables & NAI_IN_BIT(nai_sources[s]->table))
      all |= nai_sources[s]->brings;
  return all;
}

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
    slot[f] = (int8_t)(column < 0 ? NAI_NO_CELL : *column_count);
    if (column >= 0 && feed->fields[f].need == NAI_FOREIGN) {
      snprintf(why, 160, "table %s is another one: it has a column \"%s\"", feed->tables[0], feed->fields[f].names[0]);
      return NULL;
    }
    if (column >= 0)
      columns[(*column_count)++] = column;
    else if (feed->fields[f].need == NAI_REQUIRED || feed->fields[f].need == NAI_ABOUT) {
      snprintf(why, 160, "table %s has no column \"%s\"", feed->tables[0], feed->fields[f].names[0]);
      return NULL;
    }
  }
  return table;
}
