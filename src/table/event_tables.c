#include "table/events.h"
#include "tables/api_events.h"
#include "tables/callchain_frames.h"
#include "tables/capabilities.h"
#include "tables/capture.h"
#include "tables/cuda_event_events.h"
#include "tables/diagnostic_events.h"
#include "tables/extract_notes.h"
#include "tables/gpu_metric_names.h"
#include "tables/gpu_metric_samples.h"
#include "tables/gpus.h"
#include "tables/graph_creation_events.h"
#include "tables/graph_events.h"
#include "tables/graph_node_events.h"
#include "tables/jit_events.h"
#include "tables/kernel_configs.h"
#include "tables/kernel_events.h"
#include "tables/labels.h"
#include "tables/library_events.h"
#include "tables/memop_events.h"
#include "tables/memory_pool_events.h"
#include "tables/memory_usage_events.h"
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
#include "tables/overhead_events.h"
#include "tables/probe_notes.h"
#include "tables/processes.h"
#include "tables/program_outputs.h"
#include "tables/readers.h"
#include "tables/sample_events.h"
#include "tables/sched_events.h"
#include "tables/sync_events.h"
#include "tables/threads.h"
#include "tables/um_fault_events.h"

#include <stddef.h>

const struct nai_schema *const nai_event_tables[NAI_IN_COUNT + 1] = {
    [NAI_IN_CAPTURE] = &nai_capture_schema,
    [NAI_IN_CAPABILITIES] = &nai_capabilities_schema,
    [NAI_IN_LABELS] = &nai_labels_schema,
    [NAI_IN_PROBE_NOTES] = &nai_probe_notes_schema,
    [NAI_IN_EXTRACT_NOTES] = &nai_extract_notes_schema,
    [NAI_IN_READERS] = &nai_readers_schema,
    [NAI_IN_PROCESSES] = &nai_processes_schema,
    [NAI_IN_THREADS] = &nai_threads_schema,
    [NAI_IN_GPUS] = &nai_gpus_schema,
    [NAI_IN_KERNEL_CONFIGS] = &nai_kernel_configs_schema,
    [NAI_IN_NVTX_DOMAINS] = &nai_nvtx_domains_schema,
    [NAI_IN_NVTX_SIZES] = &nai_nvtx_sizes_schema,
    [NAI_IN_GPU_METRICS] = &nai_gpu_metric_names_schema,
    [NAI_IN_PAYLOAD_SCHEMAS] = &nai_nvtx_payload_schemas_schema,
    [NAI_IN_PAYLOAD_ENTRIES] = &nai_nvtx_payload_entries_schema,
    [NAI_IN_PAYLOAD_ENUMS] = &nai_nvtx_payload_enums_schema,
    [NAI_IN_DYNAMIC_PAYLOADS] = &nai_nvtx_dynamic_payloads_schema,
    [NAI_IN_MPI_RANKS] = &nai_mpi_ranks_schema,
    [NAI_IN_NIC_METRICS] = &nai_nic_metric_names_schema,
    [NAI_IN_NIC_IDS] = &nai_nic_ids_schema,
    [NAI_IN_NICS] = &nai_nics_schema,
    [NAI_IN_PROGRAM_OUTPUTS] = &nai_program_outputs_schema,
    [NAI_IN_KERNELS] = &nai_kernel_events_schema,
    [NAI_IN_MEMOPS] = &nai_memop_events_schema,
    [NAI_IN_GRAPHS] = &nai_graph_events_schema,
    [NAI_IN_APIS] = &nai_api_events_schema,
    [NAI_IN_SYNCS] = &nai_sync_events_schema,
    [NAI_IN_NVTX] = &nai_nvtx_events_schema,
    [NAI_IN_OVERHEAD] = &nai_overhead_events_schema,
    [NAI_IN_OSRT] = &nai_osrt_events_schema,
    [NAI_IN_CUDA_EVENTS] = &nai_cuda_event_events_schema,
    [NAI_IN_GRAPH_NODES] = &nai_graph_node_events_schema,
    [NAI_IN_GRAPH_CREATIONS] = &nai_graph_creation_events_schema,
    [NAI_IN_MEMORY_USAGE] = &nai_memory_usage_events_schema,
    [NAI_IN_MEMORY_POOLS] = &nai_memory_pool_events_schema,
    [NAI_IN_UM_FAULTS] = &nai_um_fault_events_schema,
    [NAI_IN_GPU_METRIC_SAMPLES] = &nai_gpu_metric_samples_schema,
    [NAI_IN_NIC_SAMPLES] = &nai_nic_metric_samples_schema,
    [NAI_IN_SCHED] = &nai_sched_events_schema,
    [NAI_IN_SAMPLES] = &nai_sample_events_schema,
    [NAI_IN_CALLCHAINS] = &nai_callchain_frames_schema,
    [NAI_IN_JIT] = &nai_jit_events_schema,
    [NAI_IN_LIBRARIES] = &nai_library_events_schema,
    [NAI_IN_MPI] = &nai_mpi_events_schema,
    [NAI_IN_NVTX_PAYLOADS] = &nai_nvtx_payloads_schema,
    [NAI_IN_DIAGNOSTICS] = &nai_diagnostic_events_schema,
};
