/* The normalised, version-independent event tables: what extract writes and everything after it reads.
 * Times are ns since session start, intervals half-open [start, end). Sources and fallbacks: docs/analyses.md. */
#pragma once

#include "tables/api_events.h"
#include "tables/callchain_frames.h"
#include "tables/capabilities.h"
#include "tables/capture.h"
#include "tables/cuda_contexts.h"
#include "tables/cuda_streams.h"
#include "tables/stream_names.h"
#include "tables/cuda_devices.h"
#include "tables/cuda_event_events.h"
#include "tables/diagnostic_events.h"
#include "tables/extract_notes.h"
#include "tables/file_events.h"
#include "tables/file_names.h"
#include "tables/gpu_metric_names.h"
#include "tables/gpu_metric_samples.h"
#include "tables/gpu_switch_events.h"
#include "tables/gpus.h"
#include "tables/graph_creation_events.h"
#include "tables/graph_events.h"
#include "tables/graph_node_events.h"
#include "tables/host_function_events.h"
#include "tables/jit_events.h"
#include "tables/kernel_configs.h"
#include "tables/kernel_events.h"
#include "tables/labels.h"
#include "tables/library_events.h"
#include "tables/memop_events.h"
#include "tables/memory_pool_events.h"
#include "tables/memory_usage_events.h"
#include "tables/mpi_communicators.h"
#include "tables/mpi_events.h"
#include "tables/mpi_ranks.h"
#include "tables/nic_ids.h"
#include "tables/nic_metric_names.h"
#include "tables/nic_metric_samples.h"
#include "tables/nics.h"
#include "tables/nvtx_domains.h"
#include "tables/nvtx_dynamic_payloads.h"
#include "tables/nvtx_events.h"
#include "tables/nvtx_payload_entries.h"
#include "tables/nvtx_payload_enums.h"
#include "tables/nvtx_payload_schemas.h"
#include "tables/nvtx_payloads.h"
#include "tables/nvtx_sizes.h"
#include "tables/osrt_events.h"
#include "tables/openacc_events.h"
#include "tables/openmp_events.h"
#include "tables/overhead_events.h"
#include "tables/probe_notes.h"
#include "tables/processes.h"
#include "tables/program_marks.h"
#include "tables/program_outputs.h"
#include "tables/readers.h"
#include "tables/sample_events.h"
#include "tables/sched_events.h"
#include "tables/sync_events.h"
#include "tables/syscall_events.h"
#include "tables/threads.h"
#include "tables/ucx_events.h"
#include "tables/ucx_workers.h"
#include "tables/um_fault_events.h"

/* Every table that the stages probe and extract make: how code calls it, and its declaration. */
#define NAI_INPUT_TABLES(X)                                          \
  /* probe */                                                        \
  X(CAPTURE, capture)                                                \
  X(LABELS, labels)                                                  \
  X(PROBE_NOTES, probe_notes)                                        \
  /* probe, and extract where damage takes some of it back */        \
  X(CAPABILITIES, capabilities)                                      \
  /* extract, always */                                              \
  X(EXTRACT_NOTES, extract_notes)                                    \
  X(READERS, readers)                                                \
  X(PROCESSES, processes)                                            \
  X(THREADS, threads)                                                \
  X(GPUS, gpus)                                                      \
  /* extract, if asked for: what event tables refer to */            \
  X(KERNEL_CONFIGS, kernel_configs)                                  \
  X(NVTX_DOMAINS, nvtx_domains)                                      \
  X(NVTX_SIZES, nvtx_sizes)                                          \
  X(GPU_METRICS, gpu_metric_names)                                   \
  /* extract, if asked for: small tables of their own */             \
  X(PAYLOAD_SCHEMAS, nvtx_payload_schemas)                           \
  X(PAYLOAD_ENTRIES, nvtx_payload_entries)                           \
  X(PAYLOAD_ENUMS, nvtx_payload_enums)                               \
  X(DYNAMIC_PAYLOADS, nvtx_dynamic_payloads)                         \
  X(MPI_RANKS, mpi_ranks)                                            \
  X(MPI_COMMUNICATORS, mpi_communicators)                            \
  X(UCX_WORKERS, ucx_workers)                                        \
  X(FILE_NAMES, file_names)                                          \
  X(CONTEXTS, cuda_contexts)                                         \
  X(CUDA_DEVICES, cuda_devices)                                      \
  X(STREAMS, cuda_streams)                                           \
  X(STREAM_NAMES, stream_names)                                      \
  X(NIC_METRICS, nic_metric_names)                                   \
  X(NIC_IDS, nic_ids)                                                \
  X(NICS, nics)                                                      \
  X(PROGRAM_OUTPUTS, program_outputs)                                \
  X(PROGRAM_MARKS, program_marks)                                    \
  /* extract, if asked for: tables that may have millions of rows */ \
  X(KERNELS, kernel_events)                                          \
  X(MEMOPS, memop_events)                                            \
  X(GRAPHS, graph_events)                                            \
  X(APIS, api_events)                                                \
  X(SYNCS, sync_events)                                              \
  X(NVTX, nvtx_events)                                               \
  X(OVERHEAD, overhead_events)                                       \
  X(OSRT, osrt_events)                                               \
  X(FILES, file_events)                                              \
  X(SYSCALLS, syscall_events)                                        \
  X(CUDA_EVENTS, cuda_event_events)                                  \
  X(GRAPH_NODES, graph_node_events)                                  \
  X(GRAPH_CREATIONS, graph_creation_events)                          \
  X(MEMORY_USAGE, memory_usage_events)                               \
  X(MEMORY_POOLS, memory_pool_events)                                \
  X(UM_FAULTS, um_fault_events)                                      \
  X(GPU_METRIC_SAMPLES, gpu_metric_samples)                          \
  X(NIC_SAMPLES, nic_metric_samples)                                 \
  X(GPU_SWITCHES, gpu_switch_events)                                 \
  X(HOST_FUNCTIONS, host_function_events)                            \
  X(SCHED, sched_events)                                             \
  X(SAMPLES, sample_events)                                          \
  X(CALLCHAINS, callchain_frames)                                    \
  X(JIT, jit_events)                                                 \
  X(LIBRARIES, library_events)                                       \
  X(MPI, mpi_events)                                                 \
  X(UCX, ucx_events)                                                 \
  X(OPENACC, openacc_events)                                         \
  X(OPENMP, openmp_events)                                           \
  X(NVTX_PAYLOADS, nvtx_payloads)                                    \
  X(DIAGNOSTICS, diagnostic_events)

#define NAI_INPUT_NUMBER(input, id) NAI_IN_##input,
enum nai_input_table {
  NAI_INPUT_TABLES(NAI_INPUT_NUMBER) NAI_IN_COUNT,
  NAI_IN_FIRST_ASKED = NAI_IN_KERNEL_CONFIGS,
  NAI_IN_FIRST_EVENTS = NAI_IN_KERNELS
};
/* Their schemas, in that order. */
extern const struct nai_schema *const nai_event_tables[NAI_IN_COUNT + 1]; /* then NULL */

/* Whether stretches may begin with the first of its events: of these that are neither sampled nor the profiler's own.
 */
static inline bool nai_input_begins(int input) {
  return input >= NAI_IN_FIRST_EVENTS && input <= NAI_IN_OSRT && input != NAI_IN_OVERHEAD;
}

/* Sets of them. */
#define NAI_IN_BIT(table) (UINT64_C(1) << (table))
#define NAI_IN(table) NAI_IN_BIT(NAI_IN_##table) /* NAI_IN(KERNELS) */
#define NAI_IN_ALL (NAI_IN_BIT(NAI_IN_COUNT) - 1)
/* What is meant where nobody names any: the work of GPUs, calls, ranges, and what those refer to. */
#define NAI_IN_DEFAULT                                                                                            \
  (NAI_IN(CAPTURE) | NAI_IN(LABELS) | NAI_IN(PROBE_NOTES) | NAI_IN(CAPABILITIES) | NAI_IN(EXTRACT_NOTES) |        \
   NAI_IN(READERS) | NAI_IN(PROCESSES) | NAI_IN(THREADS) | NAI_IN(GPUS) | NAI_IN(KERNEL_CONFIGS) |                \
   NAI_IN(NVTX_DOMAINS) | NAI_IN(NVTX_SIZES) | NAI_IN(KERNELS) | NAI_IN(MEMOPS) | NAI_IN(GRAPHS) | NAI_IN(APIS) | \
   NAI_IN(SYNCS) | NAI_IN(NVTX) | NAI_IN(OVERHEAD) | NAI_IN(OSRT) | NAI_IN(GRAPH_NODES))
_Static_assert(NAI_IN_COUNT < 64, "a set of tables is a 64-bit number");

/* The check of a table that is left out because the file is damaged there. Its rows count as dropped. */
#define NAI_CHECK_DAMAGE "rows-in-damaged-table"
/* The check of rows that are dropped since they say nothing, and its words. */
#define NAI_CHECK_WITHOUT_VALUE "rows-without-value"
#define NAI_DETAIL_WITHOUT_VALUE "what the row is about is missing or no possible value; dropped"
/* The check that tells how CUDA was traced, where nsys says it. */
#define NAI_CHECK_SOFTWARE_TRACE "software-trace"
#define NAI_DETAIL_SOFTWARE_TRACE \
  "CUDA was traced in software: this system has no hardware tracing, which costs the program less"

/* Built-in labels in the words of nsys for exports without their own, e.g. 1 -> "Host-to-Device", "Pinned"; NULL for
 * numbers they do not have. */
const char *nai_copy_kind_label(int64_t kind);
const char *nai_mem_kind_label(int64_t kind);
