/* Tables of what bears witness to how a program ran: read only when somebody asks for them. Included by
 * table/events.h. None of them adds a process, thread or GPU that the main tables do not have. */
#ifndef NAI_TABLE_EVIDENCE_H
#define NAI_TABLE_EVIDENCE_H

#include "table/schema.h"

/* nvtx_domains: domain numbers mean something within a process only. */
enum { ND_PROCESS, ND_ID, ND_NAME };
extern const struct nai_schema nai_nvtx_domains;

/* nvtx_sizes: what nvtx_events.sizes refers to; no row when the trace has too many different ones. */
enum { NS_TEXT };
extern const struct nai_schema nai_nvtx_sizes;

/* gpu_metric_names: what gpu_metric_samples.metric refers to. */
enum { GM_TYPE, GM_METRIC, GM_GPU, GM_SOURCE, GM_TYPE_NAME, GM_NAME };
extern const struct nai_schema nai_gpu_metrics;

/* nvtx_payload_schemas, _entries, _enums: how the blobs of nvtx_payloads are to be read; rows that repeat per process
 * are there once. */
enum { PS_DOMAIN_ID, PS_SCHEMA_ID, PS_NAME, PS_TYPE, PS_FLAGS, PS_ENTRIES, PS_BYTES, PS_ALIGN };
extern const struct nai_schema nai_nvtx_payload_schemas;

enum { PE_DOMAIN_ID, PE_SCHEMA_ID, PE_INDEX, PE_FLAGS, PE_TYPE, PE_NAME, PE_DETAIL, PE_OFFSET };
extern const struct nai_schema nai_nvtx_payload_entries;

enum { PN_DOMAIN_ID, PN_SCHEMA_ID, PN_INDEX, PN_NAME, PN_VALUE };
extern const struct nai_schema nai_nvtx_payload_enums;

/* nvtx_dynamic_payloads: payloads that the exporter wrote field by field into tables of their own. */
enum { DP_ROW, DP_DOMAIN_ID, DP_SCHEMA_ID, DP_JSON };
extern const struct nai_schema nai_nvtx_dynamic_payloads;

/* mpi_ranks: which thread is which rank. */
enum { MR_THREAD, MR_GLOBAL_TID, MR_RANK };
extern const struct nai_schema nai_mpi_ranks;

/* program_outputs: what was printed, never the text itself, which may hold secrets. */
enum { PO_PROCESS, PO_STREAM, PO_BYTES, PO_TRACEBACK, PO_ERROR, PO_FAILED, PO_CUDA_ERROR, PO_KILLED };
extern const struct nai_schema nai_program_outputs;

/* cuda_event_events: cudaEventRecord and what it recorded. */
enum { CE_TIME, CE_DEVICE, CE_PROCESS, CE_CONTEXT, CE_STREAM, CE_CORRELATION, CE_EVENT, CE_SYNC };
extern const struct nai_schema nai_cuda_event_events;

/* graph_node_events: how graph nodes came to be, not their execution. */
enum { GN_START, GN_END, GN_THREAD, GN_NAME, GN_CLASS, GN_NODE, GN_ORIGINAL };
extern const struct nai_schema nai_graph_node_events;

/* graph_creation_events: graphs and executable graphs. */
enum { GC_START, GC_END, GC_THREAD, GC_NAME, GC_CLASS, GC_GRAPH, GC_ORIGINAL, GC_EXEC };
extern const struct nai_schema nai_graph_creation_events;

/* memory_usage_events: allocations of device, managed and pinned memory. */
enum {
  MU_TIME,
  MU_DEVICE,
  MU_PROCESS,
  MU_CONTEXT,
  MU_STREAM,
  MU_CORRELATION,
  MU_OPERATION,
  MU_KIND,
  MU_ADDRESS,
  MU_BYTES,
  MU_PC,
  MU_NAME,
  MU_POOL,
  MU_POOL_THRESHOLD,
  MU_POOL_SIZE,
  MU_POOL_USED,
  MU_IMPORTED
};
extern const struct nai_schema nai_memory_usage_events;

/* memory_pool_events: creation, trimming and destruction of memory pools. */
enum {
  MP_TIME,
  MP_DEVICE,
  MP_PROCESS,
  MP_CORRELATION,
  MP_OPERATION,
  MP_TYPE,
  MP_ADDRESS,
  MP_KEEP,
  MP_THRESHOLD,
  MP_SIZE,
  MP_USED
};
extern const struct nai_schema nai_memory_pool_events;

/* um_fault_events: faults of CPUs (a moment) and of GPUs (groups of them). */
enum { NAI_FAULT_CPU, NAI_FAULT_GPU };
enum { UF_START, UF_END, UF_KIND, UF_DEVICE, UF_PROCESS, UF_ADDRESS, UF_FAULTS, UF_ACCESS, UF_NAME, UF_MODULE };
extern const struct nai_schema nai_um_fault_events;

/* gpu_metric_samples: of the whole GPU, whoever uses it. */
enum { GS_TIME, GS_METRIC, GS_VALUE };
extern const struct nai_schema nai_gpu_metric_samples;

/* nic_metric_names, nic_ids, nics: what nic_metric_samples refer to. */
enum { NM_LIST, NM_INDEX, NM_NAME, NM_UNIT };
extern const struct nai_schema nai_nic_metric_names;
enum { NC_NIC, NC_GLOBAL };
extern const struct nai_schema nai_nic_ids;
enum { NQ_NIC, NQ_NAME };
extern const struct nai_schema nai_nics;

/* nic_metric_samples: of network cards, whoever uses them. */
enum { NX_START, NX_END, NX_NIC, NX_PORT, NX_LIST, NX_INDEX, NX_VALUE };
extern const struct nai_schema nai_nic_metric_samples;

/* sched_events: context switches. */
enum { SC_TIME, SC_THREAD, SC_GLOBAL_TID, SC_CPU, SC_IN, SC_STATE, SC_BLOCK };
extern const struct nai_schema nai_sched_events;

/* sample_events: where threads were when they were looked at. */
enum { SA_TIME, SA_THREAD, SA_GLOBAL_TID, SA_CPU, SA_STATE, SA_CYCLES, SA_CALLCHAIN };
extern const struct nai_schema nai_sample_events;

/* callchain_frames: ids of one kind mean nothing in another. */
enum { NAI_CALLCHAIN_SAMPLE, NAI_CALLCHAIN_CUDA, NAI_CALLCHAIN_OSRT };
enum { CF_KIND, CF_ID, CF_DEPTH, CF_SYMBOL, CF_MODULE, CF_KERNEL, CF_UNRESOLVED };
extern const struct nai_schema nai_callchain_frames;

/* jit_events: work of the CUDA compute cache. */
enum {
  JE_START,
  JE_END,
  JE_THREAD,
  JE_NAME,
  JE_CORRELATION,
  JE_ENTRY,
  JE_OPERATION,
  JE_CUDA_DEVICE,
  JE_JIT_CORRELATION,
  JE_CACHE_BYTES
};
extern const struct nai_schema nai_jit_events;

/* library_events: traced library functions. */
enum { NAI_LIBRARY_CUBLAS, NAI_LIBRARY_CUDNN };
enum { LE_START, LE_END, LE_THREAD, LE_NAME, LE_LIBRARY, LE_CLASS };
extern const struct nai_schema nai_library_events;

/* mpi_events: an open call ends where it begins. */
enum { NAI_MPI_P2P, NAI_MPI_COLLECTIVE, NAI_MPI_START_WAIT, NAI_MPI_OTHER };
enum {
  ME_START,
  ME_END,
  ME_THREAD,
  ME_NAME,
  ME_KIND,
  ME_COMM,
  ME_COMM_UID,
  ME_BYTES,
  ME_RECEIVED,
  ME_TAG,
  ME_RANK,
  ME_REQUEST,
  ME_OPEN
};
extern const struct nai_schema nai_mpi_events;

/* nvtx_payloads: nvtx_events row = export_row minus its export_row_offset. */
enum { NAI_PAYLOAD_BLOB, NAI_PAYLOAD_JSON, NAI_PAYLOAD_INTEGER, NAI_PAYLOAD_REAL };
enum { NP_TIME, NP_THREAD, NP_DOMAIN, NP_ROW, NP_KIND, NP_BLOB, NP_BLOB_BYTES, NP_JSON, NP_INTEGER };
extern const struct nai_schema nai_nvtx_payloads;

/* diagnostic_events: all severities; warnings and errors are in probe_notes, too. */
enum { DE_TIME, DE_PROCESS, DE_SEVERITY, DE_SOURCE, DE_CLOCK, DE_TEXT };
extern const struct nai_schema nai_diagnostic_events;

#endif
