/* Sources of what the host did: API and library calls, overhead, creation of graphs, compilation, MPI, diagnostics. */
#include "trace/sources/source_cells.h"
#include "tables/api_events.h"
#include "tables/diagnostic_events.h"
#include "tables/graph_creation_events.h"
#include "tables/graph_node_events.h"
#include "tables/jit_events.h"
#include "tables/library_events.h"
#include "tables/mpi_events.h"
#include "tables/openacc_events.h"
#include "tables/openmp_events.h"
#include "tables/overhead_events.h"
#include "tables/ucx_events.h"

/* What every call begins with; `how` its name is read. */
#define CALL(F, L, T, how)                       \
  TIMES(F, L, T)                                 \
  F(L, T, thread, THREAD, OPTIONAL, "globalTid") \
  F(L, T, name, how, OPTIONAL, "nameId")

/* --- CUDA API --------------------------------------------------------------------------------- */

#define API_FIELDS(F, L, T)                               \
  CALL(F, L, T, API)                                      \
  F(L, T, correlation_id, I64, OPTIONAL, "correlationId") \
  F(L, T, event_class, I32, EXTRA, "eventClass")          \
  F(L, T, return_value, I32, EXTRA, "returnValue")        \
  F(L, T, callchain_id, I32, EXTRA, "callchainId")
NAI_FIELDS(api, API_FIELDS, API_EVENTS, put_times)

static int api_row(struct nai_part *p) {
  int verdict = put_api(p);
  if (verdict == NAI_KEEP)
    put_name(p, API_EVENTS_suffix, p->api_version);
  return verdict;
}

const struct nai_source nai_source_apis = {
    .table = NAI_IN_APIS,
    .vital = true,
    .capability = "CUDA API calls",
    .disables = "launch latency, synchronization, causes of idle gaps, NVTX attribution of GPU work",
    .feeds = {NAI_FEED(api, api_row, 0, "CUPTI_ACTIVITY_KIND_RUNTIME")}};

/* --- overhead --------------------------------------------------------------------------------- */

#define OVERHEAD_FIELDS(F, L, T)                     \
  CALL(F, L, T, NAME)                                \
  F(L, T, source, KIND, EXTRA, NULL)                 \
  F(L, T, overhead_type, I32, EXTRA, "overheadType") \
  F(L, T, correlation_id, I64, EXTRA, "correlationId")
NAI_FIELDS(overhead, OVERHEAD_FIELDS, OVERHEAD_EVENTS, put_times)

const struct nai_source nai_source_overhead = {
    .table = NAI_IN_OVERHEAD,
    .capability = "profiler overhead",
    .disables = "the share of time the profiler itself took",
    .feeds = {NAI_FEED(overhead, put_overhead, NAI_OVERHEAD_PROFILER, "PROFILER_OVERHEAD"),
              NAI_FEED(overhead, put_overhead, NAI_OVERHEAD_CUDA, "CUPTI_ACTIVITY_KIND_OVERHEAD"),
              NAI_FEED(overhead, put_overhead, NAI_OVERHEAD_JIT, "CUPTI_ACTIVITY_KIND_JIT")}};

/* --- creation of graphs ----------------------------------------------------------------------- */

#define NODE_FIELDS(F, L, T)                           \
  CALL(F, L, T, API)                                   \
  F(L, T, event_class, I32, OPTIONAL, "eventClass")    \
  F(L, T, graph_node_id, I64, REQUIRED, "graphNodeId") \
  F(L, T, original_graph_node_id, I64, OPTIONAL, "originalGraphNodeId")
NAI_FIELDS(node, NODE_FIELDS, GRAPH_NODE_EVENTS, put_times)

const struct nai_source nai_source_graph_nodes = {
    .table = NAI_IN_GRAPH_NODES,
    .capability = "graph nodes",
    .disables = "which code made the nodes of a CUDA graph",
    .witness = true,
    /* Until 2023 the second table was the one of nodes: only then does it have the column that is needed. */
    .feeds = {NAI_FEED(node, put_node, 0, "CUDA_GRAPH_NODE_EVENTS"), NAI_FEED(node, put_node, 0, "CUDA_GRAPH_EVENTS")}};

#define CREATION_FIELDS(F, L, T)                               \
  CALL(F, L, T, API)                                           \
  F(L, T, event_class, I32, OPTIONAL, "eventClass")            \
  F(L, T, graph_id, I64, REQUIRED, "graphId")                  \
  F(L, T, original_graph_id, I64, OPTIONAL, "originalGraphId") \
  F(L, T, graph_exec_id, I64, OPTIONAL, "graphExecId")         \
  F(L, T, graph_node_id, OWN, FOREIGN, "graphNodeId")
NAI_FIELDS(creation, CREATION_FIELDS, GRAPH_CREATION_EVENTS, put_times)

const struct nai_source nai_source_graph_creations = {.table = NAI_IN_GRAPH_CREATIONS,
                                                      .capability = "graph creation",
                                                      .disables = "which graphs executable graphs were made from",
                                                      .witness = true,
                                                      .feeds = {
                                                          NAI_FEED(creation, put_creation, 0, "CUDA_GRAPH_EVENTS")}};

/* --- compilation ------------------------------------------------------------------------------ */

/* cachePath is left out: it tells whose home directory the cache is in. */
#define JIT_FIELDS(F, L, T)                                               \
  CALL(F, L, T, NAME)                                                     \
  F(L, T, correlation_id, I64, OPTIONAL, "correlationId")                 \
  F(L, T, entry_type, I32, OPTIONAL, "jitEntryType")                      \
  F(L, T, operation_type, I32, OPTIONAL, "jitOperationType")              \
  F(L, T, cuda_device, I32, OPTIONAL, "deviceId")                         \
  F(L, T, jit_correlation_id, I64, OPTIONAL, "jitOperationCorrelationId") \
  F(L, T, cache_bytes, BYTES, OPTIONAL, "cacheSize")
NAI_FIELDS(jit, JIT_FIELDS, JIT_EVENTS, put_times)

const struct nai_source nai_source_jit = {.table = NAI_IN_JIT,
                                          .capability = "JIT compilation",
                                          .disables = "time spent compiling device code",
                                          .witness = true,
                                          .feeds = {NAI_FEED(jit, put_jit, 0, "CUPTI_ACTIVITY_KIND_JIT")}};

/* --- libraries -------------------------------------------------------------------------------- */

#define LIBRARY_FIELDS(F, L, T)       \
  CALL(F, L, T, NAME)                 \
  F(L, T, library, KIND, EXTRA, NULL) \
  F(L, T, event_class, I32, OPTIONAL, "eventClass")
NAI_FIELDS(library, LIBRARY_FIELDS, LIBRARY_EVENTS, put_times)

const struct nai_source nai_source_libraries = {
    .table = NAI_IN_LIBRARIES,
    .capability = "library calls",
    .disables = "which cuBLAS and cuDNN functions launched kernels",
    .witness = true,
    .feeds = {NAI_FEED(library, put_library, NAI_LIBRARY_CUBLAS, "CUBLAS_EVENTS"),
              NAI_FEED(library, put_library, NAI_LIBRARY_CUDNN, "CUDNN_EVENTS")}};

/* --- MPI, UCX --------------------------------------------------------------------------------- */

#define MPI_FIELDS(F, L, T)                                     \
  TIMES(F, L, T)                                                \
  F(L, T, thread, THREAD, OPTIONAL, "globalTid")                \
  F(L, T, name, NAME, OPTIONAL, "textId")                       \
  F(L, T, kind, KIND, EXTRA, NULL)                              \
  F(L, T, communicator, I64, OPTIONAL, "commHandle")            \
  F(L, T, communicator_uid, I64, OPTIONAL, "commUid")           \
  F(L, T, bytes, SIZE, OPTIONAL, "size")                        \
  F(L, T, received_bytes, SIZE, OPTIONAL, "recvSize")           \
  F(L, T, tag, I64, OPTIONAL, "tag")                            \
  F(L, T, remote_rank, I32, OPTIONAL, "remoteRank", "rootRank") \
  F(L, T, request, I64, OPTIONAL, "requestHandle")

static bool had_not_ended(const struct nai_part *p) {
  return field(p, START)->type == NAI_CELL_INT && field(p, END)->type == NAI_CELL_NULL;
}
/* A call that had not ended: a moment. */
static int put_call_times(struct nai_part *p) {
  return had_not_ended(p) ? put_interval(p, field(p, START)->i, field(p, START)->i) : put_times(p);
}
static int put_mpi_times(struct nai_part *p) {
  put_i32(p, MPI_EVENTS_open, had_not_ended(p));
  return put_call_times(p);
}
NAI_FIELDS(mpi, MPI_FIELDS, MPI_EVENTS, put_mpi_times)

const struct nai_source nai_source_mpi = {
    .table = NAI_IN_MPI,
    .capability = "MPI calls",
    .disables = "time spent in MPI",
    .brings = NAI_IN(MPI_RANKS) | NAI_IN(MPI_COMMUNICATORS),
    .witness = true,
    .feeds = {NAI_QUIET_FEED(mpi, put_mpi, NAI_MPI_P2P, "MPI_P2P_EVENTS"),
              NAI_QUIET_FEED(mpi, put_mpi, NAI_MPI_COLLECTIVE, "MPI_COLLECTIVES_EVENTS"),
              NAI_QUIET_FEED(mpi, put_mpi, NAI_MPI_START_WAIT, "MPI_START_WAIT_EVENTS"),
              NAI_QUIET_FEED(mpi, put_mpi, NAI_MPI_OTHER, "MPI_OTHER_EVENTS")}};

#define UCX_FIELDS(F, L, T)                      \
  TIMES(F, L, T)                                 \
  F(L, T, thread, THREAD, OPTIONAL, "globalTid") \
  F(L, T, name, NAME, OPTIONAL, "textId")        \
  F(L, T, bytes, SIZE, EXTRA, "packedSize")      \
  F(L, T, peer_worker, I64, EXTRA, "peerWorkerUid")
NAI_FIELDS(ucx, UCX_FIELDS, UCX_EVENTS, put_call_times)

const struct nai_source nai_source_ucx = {.table = NAI_IN_UCX,
                                          .capability = "UCX calls",
                                          .disables = "what UCX sends to whom",
                                          .brings = NAI_IN(UCX_WORKERS),
                                          .witness = true,
                                          .feeds = {NAI_QUIET_FEED(ucx, put_ucx, 0, "UCP_SUBMIT_EVENTS"),
                                                    NAI_QUIET_FEED(ucx, put_ucx, 0, "UCP_PROGRESS_EVENTS"),
                                                    NAI_QUIET_FEED(ucx, put_ucx, 0, "UCP_EVENTS")}};

/* --- OpenACC, OpenMP -------------------------------------------------------------------------- */

#define OPENACC_FIELDS(F, L, T)                \
  CALL(F, L, T, NAME)                          \
  F(L, T, kind, KIND, EXTRA, NULL)             \
  F(L, T, file, TEXT, EXTRA, "srcFile")        \
  F(L, T, line, I32, EXTRA, "lineNo")          \
  F(L, T, function, TEXT, EXTRA, "funcName")   \
  F(L, T, event_kind, I32, EXTRA, "eventKind") \
  F(L, T, variable, TEXT, EXTRA, "varName")    \
  F(L, T, bytes, SIZE, EXTRA, "bytes")         \
  F(L, T, correlation_id, I64, EXTRA, "correlationId")
NAI_FIELDS(openacc, OPENACC_FIELDS, OPENACC_EVENTS, put_times)

const struct nai_source nai_source_openacc = {
    .table = NAI_IN_OPENACC,
    .capability = "OpenACC events",
    .disables = "time by OpenACC directive",
    .witness = true,
    .feeds = {NAI_QUIET_FEED(openacc, put_openacc, NAI_OPENACC_DATA, "CUPTI_ACTIVITY_KIND_OPENACC_DATA"),
              NAI_QUIET_FEED(openacc, put_openacc, NAI_OPENACC_LAUNCH, "CUPTI_ACTIVITY_KIND_OPENACC_LAUNCH"),
              NAI_QUIET_FEED(openacc, put_openacc, NAI_OPENACC_OTHER, "CUPTI_ACTIVITY_KIND_OPENACC_OTHER")}};

#define OPENMP_FIELDS(F, L, T) \
  CALL(F, L, T, NAME)          \
  F(L, T, kind, KIND, EXTRA, NULL)
NAI_FIELDS(openmp, OPENMP_FIELDS, OPENMP_EVENTS, put_times)

#define OPENMP_FEED(number, name) NAI_QUIET_FEED(openmp, put_openmp, number, "OPENMP_EVENT_KIND_" name)
const struct nai_source nai_source_openmp = {
    .table = NAI_IN_OPENMP,
    .capability = "OpenMP events",
    .disables = "time in OpenMP on the host",
    .witness = true,
    .feeds = {OPENMP_FEED(0, "THREAD"), OPENMP_FEED(1, "PARALLEL"), OPENMP_FEED(2, "SYNC_REGION_WAIT"),
              OPENMP_FEED(3, "SYNC_REGION"), OPENMP_FEED(4, "TASK"), OPENMP_FEED(5, "MASTER"),
              OPENMP_FEED(6, "REDUCTION"), OPENMP_FEED(7, "TASK_CREATE"), OPENMP_FEED(8, "TASK_SCHEDULE"),
              OPENMP_FEED(9, "CANCEL"), OPENMP_FEED(10, "MUTEX_WAIT"), OPENMP_FEED(11, "CRITICAL_SECTION"),
              OPENMP_FEED(12, "MUTEX_RELEASED"), OPENMP_FEED(13, "LOCK_INIT"), OPENMP_FEED(14, "LOCK_DESTROY"),
              OPENMP_FEED(15, "WORKSHARE"), OPENMP_FEED(16, "DISPATCH"), OPENMP_FEED(17, "FLUSH")}};

/* --- diagnostics ------------------------------------------------------------------------------ */

#define DIAGNOSTIC_FIELDS(F, L, T)                 \
  F(L, T, timestamp, OWN, REQUIRED, "timestamp")   \
  F(L, T, process, PROCESS, OPTIONAL, "globalPid") \
  F(L, T, severity, I32, REQUIRED, "severity")     \
  F(L, T, source, I32, OPTIONAL, "source")         \
  F(L, T, clock, I32, OPTIONAL, "timestampType")   \
  F(L, T, text, TEXT, REQUIRED, "text")
NAI_FIELDS(diagnostic, DIAGNOSTIC_FIELDS, DIAGNOSTIC_EVENTS, put_time)

const struct nai_source nai_source_diagnostics = {.table = NAI_IN_DIAGNOSTICS,
                                                  .capability = "messages of nsys",
                                                  .disables = "how complete the capture is",
                                                  .witness = true,
                                                  .feeds = {
                                                      NAI_FEED(diagnostic, put_diagnostic, 0, "DIAGNOSTIC_EVENT")}};
