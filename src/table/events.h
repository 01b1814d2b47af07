/* The normalised, version-independent event tables: what extract writes and everything after it reads.
 * Times are ns since session start, intervals half-open [start, end). Sources and fallbacks: docs/analyses.md. */
#ifndef NAI_TABLE_EVENTS_H
#define NAI_TABLE_EVENTS_H

#include "table/evidence.h"
#include "table/schema.h"
#include "tables/api_events.h"
#include "tables/capabilities.h"
#include "tables/capture.h"
#include "tables/extract_notes.h"
#include "tables/gpus.h"
#include "tables/graph_events.h"
#include "tables/kernel_configs.h"
#include "tables/kernel_events.h"
#include "tables/labels.h"
#include "tables/memop_events.h"
#include "tables/nvtx_events.h"
#include "tables/osrt_events.h"
#include "tables/overhead_events.h"
#include "tables/probe_notes.h"
#include "tables/processes.h"
#include "tables/readers.h"
#include "tables/sync_events.h"
#include "tables/threads.h"

/* Every table that the stages probe and extract make. */
enum nai_input_table {
  /* probe */
  NAI_IN_CAPTURE,
  NAI_IN_LABELS,
  NAI_IN_PROBE_NOTES,
  /* probe, and extract where damage takes some of it back */
  NAI_IN_CAPABILITIES,
  /* extract, always */
  NAI_IN_EXTRACT_NOTES,
  NAI_IN_READERS,
  NAI_IN_PROCESSES,
  NAI_IN_THREADS,
  NAI_IN_GPUS,
  /* extract, if asked for: what event tables refer to */
  NAI_IN_KERNEL_CONFIGS,
  NAI_IN_NVTX_DOMAINS,
  NAI_IN_NVTX_SIZES,
  NAI_IN_GPU_METRICS,
  /* extract, if asked for: small tables of their own */
  NAI_IN_PAYLOAD_SCHEMAS,
  NAI_IN_PAYLOAD_ENTRIES,
  NAI_IN_PAYLOAD_ENUMS,
  NAI_IN_DYNAMIC_PAYLOADS,
  NAI_IN_MPI_RANKS,
  NAI_IN_NIC_METRICS,
  NAI_IN_NIC_IDS,
  NAI_IN_NICS,
  NAI_IN_PROGRAM_OUTPUTS,
  /* extract, if asked for: tables that may have millions of rows */
  NAI_IN_KERNELS,
  NAI_IN_MEMOPS,
  NAI_IN_GRAPHS,
  NAI_IN_APIS,
  NAI_IN_SYNCS,
  NAI_IN_NVTX,
  NAI_IN_OVERHEAD,
  NAI_IN_OSRT,
  NAI_IN_CUDA_EVENTS,
  NAI_IN_GRAPH_NODES,
  NAI_IN_GRAPH_CREATIONS,
  NAI_IN_MEMORY_USAGE,
  NAI_IN_MEMORY_POOLS,
  NAI_IN_UM_FAULTS,
  NAI_IN_GPU_METRIC_SAMPLES,
  NAI_IN_NIC_SAMPLES,
  NAI_IN_SCHED,
  NAI_IN_SAMPLES,
  NAI_IN_CALLCHAINS,
  NAI_IN_JIT,
  NAI_IN_LIBRARIES,
  NAI_IN_MPI,
  NAI_IN_NVTX_PAYLOADS,
  NAI_IN_DIAGNOSTICS,
  NAI_IN_COUNT,
  NAI_IN_FIRST_ASKED = NAI_IN_KERNEL_CONFIGS,
  NAI_IN_FIRST_EVENTS = NAI_IN_KERNELS
};
/* Their schemas, in that order. */
extern const struct nai_schema *const nai_event_tables[NAI_IN_COUNT + 1]; /* then NULL */

/* Sets of them. */
#define NAI_IN_BIT(table) (UINT64_C(1) << (table))
#define NAI_IN(table) NAI_IN_BIT(NAI_IN_##table) /* NAI_IN(KERNELS) */
#define NAI_IN_ALL (NAI_IN_BIT(NAI_IN_COUNT) - 1)
/* What the analyses of today read. */
#define NAI_IN_DEFAULT                                                                                     \
  (NAI_IN_BIT(NAI_IN_NVTX_SIZES + 1) - 1 + NAI_IN_BIT(NAI_IN_OSRT + 1) - NAI_IN_BIT(NAI_IN_FIRST_EVENTS) + \
   NAI_IN_BIT(NAI_IN_GRAPH_NODES))
_Static_assert(NAI_IN_COUNT < 64, "a set of tables is a 64-bit number");

enum { NAI_MEMOP_COPY, NAI_MEMOP_SET };

enum { NAI_NVTX_PUSH_POP, NAI_NVTX_START_END, NAI_NVTX_MARK };

enum { NAI_OVERHEAD_PROFILER, NAI_OVERHEAD_CUDA, NAI_OVERHEAD_JIT };

enum { NAI_LABEL_COPY, NAI_LABEL_MEMORY };

/* probe_notes, extract_notes: what either stage found wrong or had to work around. */
enum { NO_CHECK, NO_SEVERITY, NO_SOURCE, NO_COUNT, NO_DETAIL };
/* The check of a table that is left out because the file is damaged there. Its rows count as dropped. */
#define NAI_CHECK_DAMAGE "rows-in-damaged-table"
/* The check of rows that are dropped since they say nothing, and its words. */
#define NAI_CHECK_WITHOUT_VALUE "rows-without-value"
#define NAI_DETAIL_WITHOUT_VALUE "what the row is about is missing or no possible value; dropped"

/* Built-in labels in the words of nsys for exports without their own, e.g. 1 -> "Host-to-Device", "Pinned"; NULL for
 * numbers they do not have. */
const char *nai_copy_kind_label(int64_t kind);
const char *nai_mem_kind_label(int64_t kind);

#endif
