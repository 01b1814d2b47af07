/* The normalised, version-independent event tables: what extract writes and everything after it reads.
 * Times are ns since session start, intervals half-open [start, end). Sources and fallbacks: docs/analyses.md. */
#ifndef NAI_TABLE_EVENTS_H
#define NAI_TABLE_EVENTS_H

#include "table/evidence.h"
#include "table/schema.h"

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

/* kernel_events: one row per kernel execution. */
enum {
  KE_START,
  KE_END,
  KE_NAME,
  KE_DEVICE,
  KE_PROCESS,
  KE_CONTEXT,
  KE_STREAM,
  KE_CORRELATION,
  KE_CONFIG,
  KE_GRAPH,
  KE_GRAPH_EXEC,
  KE_GRAPH_NODE
};
extern const struct nai_schema nai_kernel_events;

/* kernel_configs: the distinct launch configurations kernel_events.config refers to. */
enum {
  KC_GRID_X,
  KC_GRID_Y,
  KC_GRID_Z,
  KC_BLOCK_X,
  KC_BLOCK_Y,
  KC_BLOCK_Z,
  KC_REGISTERS,
  KC_STATIC_SMEM,
  KC_DYNAMIC_SMEM,
  KC_EXECUTED_SMEM,
  KC_LOCAL_PER_THREAD,
  KC_CLUSTER_X,
  KC_CLUSTER_Y,
  KC_CLUSTER_Z,
  KC_MAX_CLUSTERS,
  KC_LAUNCH_TYPE,
  KC_CACHE_CONFIG,
  KC_COLUMNS
};
extern const struct nai_schema nai_kernel_configs;

/* memop_events: one row per memcpy or memset. */
enum {
  MO_START,
  MO_END,
  MO_KIND,
  MO_DEVICE,
  MO_PROCESS,
  MO_CONTEXT,
  MO_STREAM,
  MO_CORRELATION,
  MO_BYTES,
  MO_COPY_KIND,
  MO_SRC_KIND,
  MO_DST_KIND,
  MO_GRAPH,
  MO_GRAPH_EXEC,
  MO_GRAPH_NODE,
  MO_ADDRESS,
  MO_MIGRATION,
  MO_CAUSE,
  MO_SRC_DEVICE,
  MO_DST_DEVICE,
  MO_COPIES
};
enum { NAI_MEMOP_COPY, NAI_MEMOP_SET };
extern const struct nai_schema nai_memop_events;

/* graph_events: one row per CUDA graph launch traced as one envelope. */
enum { GE_START, GE_END, GE_DEVICE, GE_PROCESS, GE_CONTEXT, GE_STREAM, GE_CORRELATION, GE_GRAPH, GE_EXEC };
extern const struct nai_schema nai_graph_events;

/* api_events: one row per CUDA runtime or driver API call. */
enum { AE_START, AE_END, AE_THREAD, AE_NAME, AE_CORRELATION, AE_CLASS, AE_RETURN, AE_CALLCHAIN };
extern const struct nai_schema nai_api_events;

/* sync_events: one row per CUPTI synchronisation record. */
enum { SE_START, SE_END, SE_PROCESS, SE_CONTEXT, SE_STREAM, SE_CORRELATION, SE_TYPE, SE_EVENT, SE_EVENT_SYNC };
extern const struct nai_schema nai_sync_events;

/* nvtx_events: one row per NVTX range or mark. */
enum {
  NE_START,
  NE_END,
  NE_THREAD,
  NE_NAME,
  NE_KIND,
  NE_ROW_OFFSET,
  NE_DOMAIN,
  NE_CATEGORY,
  NE_COLOR,
  NE_END_THREAD,
  NE_SEQ,
  NE_SIZES
};
enum { NAI_NVTX_PUSH_POP, NAI_NVTX_START_END, NAI_NVTX_MARK };
extern const struct nai_schema nai_nvtx_events;

/* overhead_events: time the profiler or the CUDA driver took. */
enum { OE_START, OE_END, OE_THREAD, OE_NAME, OE_SOURCE, OE_TYPE, OE_CORRELATION };
enum { NAI_OVERHEAD_PROFILER, NAI_OVERHEAD_CUDA, NAI_OVERHEAD_JIT };
extern const struct nai_schema nai_overhead_events;

/* osrt_events: operating-system calls. Those of nesting level 0 are the outermost ones; the others lie inside them. */
enum { OS_START, OS_END, OS_THREAD, OS_NAME, OS_LEVEL, OS_CALLCHAIN };
extern const struct nai_schema nai_osrt_events;

/* processes, threads: row numbers are what the event tables' process and thread columns hold. */
enum { PR_KEY, PR_PID, PR_NAME };
extern const struct nai_schema nai_processes;
enum { TH_KEY, TH_PROCESS, TH_PID, TH_TID, TH_NAME };
extern const struct nai_schema nai_threads;

/* gpus: every GPU that ran something. */
enum {
  GP_DEVICE,
  GP_LABEL,
  GP_NAME,
  GP_CUDA_DEVICE,
  GP_PID,
  GP_MAPPED,
  GP_SM_COUNT,
  GP_MEMORY,
  GP_BUS,
  GP_IDENTIFIED_BY,
  GP_GPU_ID,
  GP_UUID,
  GP_CHIP,
  GP_COMPUTE_MAJOR,
  GP_COMPUTE_MINOR,
  GP_CLOCK,
  GP_BANDWIDTH,
  GP_L2,
  GP_THREADS_PER_WARP,
  GP_WARPS_PER_SM,
  GP_BLOCKS_PER_SM,
  GP_REGISTERS_PER_SM,
  GP_REGISTERS_PER_BLOCK,
  GP_SMEM_PER_SM,
  GP_SMEM_PER_BLOCK,
  GP_SMEM_PER_BLOCK_OPTIN,
  GP_THREADS_PER_BLOCK,
  GP_COPY_ENGINES,
  GP_DISCRETE,
  GP_COLUMNS
};
extern const struct nai_schema nai_gpus;

/* capture: one row of facts on the capture and the export. */
enum {
  CA_FILE,
  CA_SIZE,
  CA_PRODUCT_VERSION,
  CA_SCHEMA_VERSION,
  CA_UTC_EPOCH_NS,
  CA_DURATION_NS,
  CA_TIME_OFFSET_NS,
  CA_START,
  CA_STOP,
  CA_START_TRIGGER,
  CA_STOP_TRIGGER,
  CA_EVENT_TYPES,
  CA_PARTIAL,
  CA_DRIVER,
  CA_CUDA,
  CA_OPTIONS,
  CA_PLATFORM
};
extern const struct nai_schema nai_capture;

/* capabilities: what this export can answer. */
enum { CP_CAPABILITY, CP_AVAILABLE, CP_SOURCE, CP_DETAIL };
extern const struct nai_schema nai_capabilities;

/* labels: what the export itself calls kinds of copies and of memory. */
enum { LB_KIND, LB_ID, LB_LABEL };
enum { NAI_LABEL_COPY, NAI_LABEL_MEMORY };
extern const struct nai_schema nai_labels;

/* probe_notes, extract_notes: what either stage found wrong or had to work around. */
enum { NO_CHECK, NO_SEVERITY, NO_SOURCE, NO_COUNT, NO_DETAIL };
/* The check of a table that is left out because the file is damaged there. Its rows count as dropped. */
#define NAI_CHECK_DAMAGE "rows-in-damaged-table"
/* The check of rows that are dropped since they say nothing, and its words. */
#define NAI_CHECK_WITHOUT_VALUE "rows-without-value"
#define NAI_DETAIL_WITHOUT_VALUE "what the row is about is missing or no possible value; dropped"
extern const struct nai_schema nai_probe_notes, nai_extract_notes;

/* readers: which reader served each source table and why. */
enum { RD_TABLE, RD_READER, RD_ROWS, RD_REASON };
extern const struct nai_schema nai_readers;

/* Built-in labels in the words of nsys for exports without their own, e.g. 1 -> "Host-to-Device", "Pinned"; NULL for
 * numbers they do not have. */
const char *nai_copy_kind_label(int64_t kind);
const char *nai_mem_kind_label(int64_t kind);

#endif
