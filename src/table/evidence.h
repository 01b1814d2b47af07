/* Tables of what bears witness to how a program ran: read only when somebody asks for them. Included by
 * table/events.h. None of them adds a process, thread or GPU that the main tables do not have. */
#ifndef NAI_TABLE_EVIDENCE_H
#define NAI_TABLE_EVIDENCE_H

#include "table/schema.h"
#include "tables/callchain_frames.h"
#include "tables/cuda_event_events.h"
#include "tables/diagnostic_events.h"
#include "tables/gpu_metric_names.h"
#include "tables/gpu_metric_samples.h"
#include "tables/graph_creation_events.h"
#include "tables/graph_node_events.h"
#include "tables/jit_events.h"
#include "tables/library_events.h"
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
#include "tables/nvtx_payload_entries.h"
#include "tables/nvtx_payload_enums.h"
#include "tables/nvtx_payload_schemas.h"
#include "tables/nvtx_payloads.h"
#include "tables/nvtx_sizes.h"
#include "tables/program_outputs.h"
#include "tables/sample_events.h"
#include "tables/sched_events.h"
#include "tables/um_fault_events.h"

/* um_fault_events: faults of CPUs (a moment) and of GPUs (groups of them). */
enum { NAI_FAULT_CPU, NAI_FAULT_GPU };

/* callchain_frames: ids of one kind mean nothing in another. */
enum { NAI_CALLCHAIN_SAMPLE, NAI_CALLCHAIN_CUDA, NAI_CALLCHAIN_OSRT };

/* library_events: traced library functions. */
enum { NAI_LIBRARY_CUBLAS, NAI_LIBRARY_CUDNN };

/* mpi_events: an open call ends where it begins. */
enum { NAI_MPI_P2P, NAI_MPI_COLLECTIVE, NAI_MPI_START_WAIT, NAI_MPI_OTHER };

/* nvtx_payloads: nvtx_events row = export_row minus its export_row_offset. */
enum { NAI_PAYLOAD_BLOB, NAI_PAYLOAD_JSON, NAI_PAYLOAD_INTEGER, NAI_PAYLOAD_REAL };

#endif
