/* From an export to the normalised event tables (table/events.h). */
#ifndef NAI_INGEST_INGEST_H
#define NAI_INGEST_INGEST_H

#include "ingest/trace.h"
#include "table/events.h"
#include "table/table.h"

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
