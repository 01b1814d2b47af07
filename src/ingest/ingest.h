/* From an export to the normalised event tables (table/events.h). */
#ifndef NAI_INGEST_INGEST_H
#define NAI_INGEST_INGEST_H

#include "ingest/trace.h"
#include "table/events.h"
#include "table/table.h"

/* What probe and extract produce, in the order they are written. */
enum nai_ingest_table {
  NAI_IN_CAPTURE,
  NAI_IN_CAPABILITIES,
  NAI_IN_LABELS,
  NAI_IN_NOTES,
  NAI_IN_READERS,
  NAI_IN_PROCESSES,
  NAI_IN_THREADS,
  NAI_IN_GPUS,
  NAI_IN_KERNEL_CONFIGS,
  NAI_IN_KERNELS,
  NAI_IN_MEMOPS,
  NAI_IN_GRAPHS,
  NAI_IN_APIS,
  NAI_IN_SYNCS,
  NAI_IN_NVTX,
  NAI_IN_OVERHEAD,
  NAI_IN_OSRT,
  NAI_IN_COUNT,
  NAI_IN_FIRST_EVENTS = NAI_IN_KERNELS /* from here on: tables that may have millions of rows */
};
extern const struct nai_schema *const nai_ingest_schemas[NAI_IN_COUNT];

struct nai_ingest {
  struct nai_table *tables[NAI_IN_COUNT];
};

struct nai_ingest_options {
  int threads;
  bool trim;                          /* keep [trim_start_ns, trim_end_ns), clipping rows at the edges */
  int64_t trim_start_ns, trim_end_ns; /* relative to session start */
  const int64_t *gpus;                /* keep GPU work of these device ids only; NULL = all */
  int gpu_count;
  const char *directory; /* where NAME.ntab files of the event tables are created */
  uint64_t key;          /* that they get: what they are made from */
};

/* Stage probe: capture, capabilities, notes (diagnostics). NAI_EINPUT when the file is no Nsight Systems export
 * (an nvprof database, some other SQLite file). */
NAI_MUST_CHECK int nai_probe(struct nai_ingest *out, struct nai_trace *trace, struct nai_err *err);
/* Stage extract: everything else; adds to notes and readers. Needs nai_probe's tables. NAI_EUSAGE for an unknown GPU.
 */
NAI_MUST_CHECK int nai_extract(struct nai_ingest *out, struct nai_trace *trace,
                               const struct nai_ingest_options *options, struct nai_err *err);
void nai_ingest_free(struct nai_ingest *ingest);

/* Adds one row to the notes table. */
void nai_ingest_note(struct nai_ingest *ingest, const char *check, const char *severity, const char *source,
                     int64_t count, const char *detail);

#endif
