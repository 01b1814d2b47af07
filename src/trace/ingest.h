/* From an export to the normalised event tables (tables/events.h). */
#pragma once

#include "trace/trace/trace.h"
#include "tables/events.h"
#include "table/table.h"

struct nai_ingest {
  struct nai_table *tables[NAI_IN_COUNT]; /* by enum nai_input_table; NULL for those nobody asked for */
};

struct nai_ingest_options {
  int threads;
  bool trim;                          /* keep [trim_start_ns, trim_end_ns), clipping rows at the edges */
  int64_t trim_start_ns, trim_end_ns; /* relative to session start */
  const int64_t *gpus;                /* keep GPU work of these device ids only; NULL = all */
  int gpu_count;
  bool show_output;      /* keep lines of the program's output that bear witness to a failure */
  const char *directory; /* where NAME.ntab files of large event tables are created; small ones stay in memory */
  uint64_t key;          /* that they get: what they are made from */
  uint64_t tables;       /* set of tables to make (NAI_IN_BIT); what they refer to comes with them; 0: NAI_IN_DEFAULT */
};

/* Stage probe: the tables up to NAI_IN_CAPABILITIES. `tables` (0: NAI_IN_DEFAULT) are those whose capabilities are
 * listed; with the default those of others, too, where the export has them. NAI_EINPUT when the file is no Nsight
 * Systems export (an nvprof database, some other SQLite file). */
NAI_MUST_CHECK int nai_probe(struct nai_ingest *out, struct nai_trace *trace, uint64_t tables, struct nai_err *err);
/* Stage extract: the tables asked for. A table of the export that none of them comes from is not opened. Needs
 * nai_probe's tables. Where a damaged table can be done without, it has no rows, a note of the check NAI_CHECK_DAMAGE
 * and an unavailable capability. NAI_EUSAGE for an unknown GPU. */
NAI_MUST_CHECK int nai_extract(struct nai_ingest *out, struct nai_trace *trace,
                               const struct nai_ingest_options *options, struct nai_err *err);
/* Names that such a table may have, several times perhaps; NULL past the last. */
const char *nai_capability_name(size_t index);
/* The table of capabilities alone, as nai_probe makes it. nai_extract takes back what damage makes untrue in it. */
NAI_MUST_CHECK int nai_probe_capabilities(struct nai_table **out, const struct nai_trace *trace, uint64_t tables,
                                          struct nai_err *err);
void nai_ingest_free(struct nai_ingest *ingest);

/* Adds one row to a table of notes. */
void nai_ingest_note(struct nai_table *notes, const char *check, const char *severity, const char *source,
                     int64_t count, const char *detail);
