/* Sources of what the host did: API and library calls, overhead, creation of graphs, compilation, MPI, diagnostics. */
#include "trace/sources/source_cells.h"
#include "tables/api_events.h"
#include "tables/diagnostic_events.h"
#include "tables/graph_creation_events.h"
#include "tables/graph_node_events.h"
#include "tables/jit_events.h"
#include "tables/library_events.h"
#include "tables/mpi_events.h"
#include "tables/overhead_events.h"

enum { H_THREAD = 2, H_NAME, H_NEXT };
#define HOST TIMES, FIELD("globalTid"), FIELD("nameId")

/* The four columns every call begins with: start, end, thread, name. */
static int put_call(struct nai_part *p, int64_t at, const struct nai_cell *cells, enum nai_name_kind kind, int *rc,
                    struct nai_err *err) {
  enum { THREAD = 2, NAME };
  int verdict = put_times(p, at, cells);
  if (verdict != NAI_KEEP)
    return verdict;
  put_thread(p, THREAD, at, int_or(p, cells, H_THREAD, 0));
  put_name(p, NAME, at, name_field(p, cells, H_NAME, kind, rc, err));
  return NAI_KEEP;
}
#define CALL_COLUMNS [2] = NAI_THREADS, [3] = NAI_NAMES

/* --- CUDA API --------------------------------------------------------------------------------- */

enum { A_CORRELATION = H_NEXT, A_CLASS, A_RETURN, A_CALLCHAIN };
static const struct nai_field api_fields[] = {HOST, FIELD("correlationId"), EXTRA("eventClass"), EXTRA("returnValue"),
                                              EXTRA("callchainId")};

static int api_row(struct nai_part *p, int64_t at, int64_t rowid, const struct nai_cell *cells, int *rc,
                   struct nai_err *err) {
  (void)rowid;
  int verdict = put_call(p, at, cells, NAI_NAME_API, rc, err);
  if (verdict != NAI_KEEP)
    return verdict;
  put_field_i64(p, API_EVENTS_correlation_id, at, cells, A_CORRELATION);
  put_field_i32(p, API_EVENTS_event_class, at, cells, A_CLASS);
  put_field_i32(p, API_EVENTS_return_value, at, cells, A_RETURN);
  put_field_i32(p, API_EVENTS_callchain_id, at, cells, A_CALLCHAIN);
  return NAI_KEEP;
}

const struct nai_source nai_source_apis = {
    .table = NAI_IN_APIS,
    .vital = true,
    .capability = "CUDA API calls",
    .disables = "launch latency, synchronisation, causes of idle gaps, NVTX attribution of GPU work",
    .dictionary = {CALL_COLUMNS},
    .feeds = {FEED(api_fields, api_row, "CUPTI_ACTIVITY_KIND_RUNTIME")},
    .feed_count = 1};

/* --- overhead --------------------------------------------------------------------------------- */

enum { O_TYPE = H_NEXT, O_CORRELATION };
static const struct nai_field overhead_fields[] = {HOST, EXTRA("overheadType"), EXTRA("correlationId")};

static int overhead_row(struct nai_part *p, int64_t at, const struct nai_cell *cells, int source, int *rc,
                        struct nai_err *err) {
  int verdict = put_call(p, at, cells, NAI_NAME_PLAIN, rc, err);
  if (verdict != NAI_KEEP)
    return verdict;
  put_i32(p, OVERHEAD_EVENTS_source, at, source);
  put_field_i32(p, OVERHEAD_EVENTS_overhead_type, at, cells, O_TYPE);
  put_field_i64(p, OVERHEAD_EVENTS_correlation_id, at, cells, O_CORRELATION);
  return NAI_KEEP;
}

static int profiler_row(struct nai_part *p, int64_t at, int64_t rowid, const struct nai_cell *cells, int *rc,
                        struct nai_err *err) {
  (void)rowid;
  return overhead_row(p, at, cells, NAI_OVERHEAD_PROFILER, rc, err);
}

static int cuda_overhead_row(struct nai_part *p, int64_t at, int64_t rowid, const struct nai_cell *cells, int *rc,
                             struct nai_err *err) {
  (void)rowid;
  return overhead_row(p, at, cells, NAI_OVERHEAD_CUDA, rc, err);
}

static int jit_overhead_row(struct nai_part *p, int64_t at, int64_t rowid, const struct nai_cell *cells, int *rc,
                            struct nai_err *err) {
  (void)rowid;
  return overhead_row(p, at, cells, NAI_OVERHEAD_JIT, rc, err);
}

const struct nai_source nai_source_overhead = {
    .table = NAI_IN_OVERHEAD,
    .capability = "profiler overhead",
    .disables = "the share of time the profiler itself took",
    .dictionary = {CALL_COLUMNS},
    .feeds = {FEED(overhead_fields, profiler_row, "PROFILER_OVERHEAD"),
              FEED(overhead_fields, cuda_overhead_row, "CUPTI_ACTIVITY_KIND_OVERHEAD"),
              FEED(overhead_fields, jit_overhead_row, "CUPTI_ACTIVITY_KIND_JIT")},
    .feed_count = 3};

/* --- creation of graphs ----------------------------------------------------------------------- */

enum { G_CLASS = H_NEXT, G_NODE, G_ORIGINAL };
static const struct nai_field node_fields[] = {HOST, FIELD("eventClass"), NEEDED("graphNodeId"),
                                               FIELD("originalGraphNodeId")};

static int node_row(struct nai_part *p, int64_t at, int64_t rowid, const struct nai_cell *cells, int *rc,
                    struct nai_err *err) {
  (void)rowid;
  int verdict = put_call(p, at, cells, NAI_NAME_API, rc, err);
  if (verdict != NAI_KEEP)
    return verdict;
  put_field_i32(p, GRAPH_NODE_EVENTS_event_class, at, cells, G_CLASS);
  put_field_i64(p, GRAPH_NODE_EVENTS_graph_node_id, at, cells, G_NODE);
  put_field_i64(p, GRAPH_NODE_EVENTS_original_graph_node_id, at, cells, G_ORIGINAL);
  return NAI_KEEP;
}

const struct nai_source nai_source_graph_nodes = {
    .table = NAI_IN_GRAPH_NODES,
    .capability = "graph nodes",
    .disables = "which code made the nodes of a CUDA graph",
    .dictionary = {CALL_COLUMNS},
    .witness = true,
    /* Until 2023 the second table was the one of nodes: only then does it have the column that is needed. */
    .feeds = {FEED(node_fields, node_row, "CUDA_GRAPH_NODE_EVENTS"), FEED(node_fields, node_row, "CUDA_GRAPH_EVENTS")},
    .feed_count = 2};

enum { R_CLASS = H_NEXT, R_GRAPH, R_ORIGINAL, R_EXEC };
static const struct nai_field creation_fields[] = {HOST,
                                                   FIELD("eventClass"),
                                                   NEEDED("graphId"),
                                                   FIELD("originalGraphId"),
                                                   FIELD("graphExecId"),
                                                   FOREIGN("graphNodeId")};

static int creation_row(struct nai_part *p, int64_t at, int64_t rowid, const struct nai_cell *cells, int *rc,
                        struct nai_err *err) {
  (void)rowid;
  int verdict = put_call(p, at, cells, NAI_NAME_API, rc, err);
  if (verdict != NAI_KEEP)
    return verdict;
  put_field_i32(p, GRAPH_CREATION_EVENTS_event_class, at, cells, R_CLASS);
  put_field_i64(p, GRAPH_CREATION_EVENTS_graph_id, at, cells, R_GRAPH);
  put_field_i64(p, GRAPH_CREATION_EVENTS_original_graph_id, at, cells, R_ORIGINAL);
  put_field_i64(p, GRAPH_CREATION_EVENTS_graph_exec_id, at, cells, R_EXEC);
  return NAI_KEEP;
}

const struct nai_source nai_source_graph_creations = {
    .table = NAI_IN_GRAPH_CREATIONS,
    .capability = "graph creation",
    .disables = "which graphs executable graphs were made from",
    .dictionary = {CALL_COLUMNS},
    .witness = true,
    .feeds = {FEED(creation_fields, creation_row, "CUDA_GRAPH_EVENTS")},
    .feed_count = 1};

/* --- compilation ------------------------------------------------------------------------------ */

enum { J_CORRELATION = H_NEXT, J_ENTRY, J_OPERATION, J_DEVICE, J_JIT_CORRELATION, J_BYTES };
/* cachePath is left out: it tells whose home directory the cache is in. */
static const struct nai_field jit_fields[] = {HOST,
                                              FIELD("correlationId"),
                                              FIELD("jitEntryType"),
                                              FIELD("jitOperationType"),
                                              FIELD("deviceId"),
                                              FIELD("jitOperationCorrelationId"),
                                              FIELD("cacheSize")};

static int jit_row(struct nai_part *p, int64_t at, int64_t rowid, const struct nai_cell *cells, int *rc,
                   struct nai_err *err) {
  (void)rowid;
  int verdict = put_call(p, at, cells, NAI_NAME_PLAIN, rc, err);
  if (verdict != NAI_KEEP)
    return verdict;
  put_field_i64(p, JIT_EVENTS_correlation_id, at, cells, J_CORRELATION);
  put_field_i32(p, JIT_EVENTS_entry_type, at, cells, J_ENTRY);
  put_field_i32(p, JIT_EVENTS_operation_type, at, cells, J_OPERATION);
  put_field_i32(p, JIT_EVENTS_cuda_device, at, cells, J_DEVICE);
  put_field_i64(p, JIT_EVENTS_jit_correlation_id, at, cells, J_JIT_CORRELATION);
  put_field_bytes(p, JIT_EVENTS_cache_bytes, at, cells, J_BYTES);
  return NAI_KEEP;
}

const struct nai_source nai_source_jit = {.table = NAI_IN_JIT,
                                          .capability = "JIT compilation",
                                          .disables = "time spent compiling device code",
                                          .dictionary = {CALL_COLUMNS},
                                          .witness = true,
                                          .feeds = {FEED(jit_fields, jit_row, "CUPTI_ACTIVITY_KIND_JIT")},
                                          .feed_count = 1};

/* --- libraries -------------------------------------------------------------------------------- */

enum { L_CLASS = H_NEXT };
static const struct nai_field library_fields[] = {HOST, FIELD("eventClass")};

static int library_row(struct nai_part *p, int64_t at, const struct nai_cell *cells, int library, int *rc,
                       struct nai_err *err) {
  int verdict = put_call(p, at, cells, NAI_NAME_PLAIN, rc, err);
  if (verdict != NAI_KEEP)
    return verdict;
  put_i32(p, LIBRARY_EVENTS_library, at, library);
  put_field_i32(p, LIBRARY_EVENTS_event_class, at, cells, L_CLASS);
  return NAI_KEEP;
}

static int cublas_row(struct nai_part *p, int64_t at, int64_t rowid, const struct nai_cell *cells, int *rc,
                      struct nai_err *err) {
  (void)rowid;
  return library_row(p, at, cells, NAI_LIBRARY_CUBLAS, rc, err);
}

static int cudnn_row(struct nai_part *p, int64_t at, int64_t rowid, const struct nai_cell *cells, int *rc,
                     struct nai_err *err) {
  (void)rowid;
  return library_row(p, at, cells, NAI_LIBRARY_CUDNN, rc, err);
}

const struct nai_source nai_source_libraries = {.table = NAI_IN_LIBRARIES,
                                                .capability = "library calls",
                                                .disables = "which cuBLAS and cuDNN functions launched kernels",
                                                .dictionary = {CALL_COLUMNS},
                                                .witness = true,
                                                .feeds = {FEED(library_fields, cublas_row, "CUBLAS_EVENTS"),
                                                          FEED(library_fields, cudnn_row, "CUDNN_EVENTS")},
                                                .feed_count = 2};

/* --- MPI -------------------------------------------------------------------------------------- */

enum { M_THREAD = 2, M_NAME, M_COMM, M_COMM_UID, M_BYTES, M_RECEIVED, M_TAG, M_RANK, M_REQUEST };
static const struct nai_field mpi_fields[] = {TIMES,
                                              FIELD("globalTid"),
                                              FIELD("textId"),
                                              FIELD("commHandle"),
                                              FIELD("commUid"),
                                              FIELD("size"),
                                              FIELD("recvSize"),
                                              FIELD("tag"),
                                              FIELD2("remoteRank", "rootRank"),
                                              FIELD("requestHandle")};

static int mpi_row(struct nai_part *p, int64_t at, const struct nai_cell *cells, int kind, int *rc,
                   struct nai_err *err) {
  const struct nai_cell *start = field(p, cells, START), *end = field(p, cells, END);
  bool open = start->type == NAI_CELL_INT && end->type == NAI_CELL_NULL;
  int verdict = open ? put_interval(p, at, start->i, start->i) : put_times(p, at, cells);
  if (verdict != NAI_KEEP)
    return verdict;
  put_thread(p, MPI_EVENTS_thread, at, int_or(p, cells, M_THREAD, 0));
  put_name(p, MPI_EVENTS_name, at, name_field(p, cells, M_NAME, NAI_NAME_PLAIN, rc, err));
  put_i32(p, MPI_EVENTS_kind, at, kind);
  put_field_i64(p, MPI_EVENTS_communicator, at, cells, M_COMM);
  put_field_i64(p, MPI_EVENTS_communicator_uid, at, cells, M_COMM_UID);
  put_field_bytes(p, MPI_EVENTS_bytes, at, cells, M_BYTES);
  put_field_bytes(p, MPI_EVENTS_received_bytes, at, cells, M_RECEIVED);
  put_field_i64(p, MPI_EVENTS_tag, at, cells, M_TAG);
  put_field_i32(p, MPI_EVENTS_remote_rank, at, cells, M_RANK);
  put_field_i64(p, MPI_EVENTS_request, at, cells, M_REQUEST);
  put_i32(p, MPI_EVENTS_open, at, open);
  return NAI_KEEP;
}

#define MPI_ROW(name, kind)                                                                             \
  static int name(struct nai_part *p, int64_t at, int64_t rowid, const struct nai_cell *cells, int *rc, \
                  struct nai_err *err) {                                                                \
    (void)rowid;                                                                                        \
    return mpi_row(p, at, cells, kind, rc, err);                                                        \
  }
MPI_ROW(mpi_p2p_row, NAI_MPI_P2P)
MPI_ROW(mpi_collective_row, NAI_MPI_COLLECTIVE)
MPI_ROW(mpi_wait_row, NAI_MPI_START_WAIT)
MPI_ROW(mpi_other_row, NAI_MPI_OTHER)

const struct nai_source nai_source_mpi = {.table = NAI_IN_MPI,
                                          .capability = "MPI calls",
                                          .disables = "time spent in MPI",
                                          .dictionary = {CALL_COLUMNS},
                                          .brings = NAI_IN_BIT(NAI_IN_MPI_RANKS),
                                          .witness = true,
                                          .feeds = {FEED(mpi_fields, mpi_p2p_row, "MPI_P2P_EVENTS"),
                                                    FEED(mpi_fields, mpi_collective_row, "MPI_COLLECTIVES_EVENTS"),
                                                    FEED(mpi_fields, mpi_wait_row, "MPI_START_WAIT_EVENTS"),
                                                    FEED(mpi_fields, mpi_other_row, "MPI_OTHER_EVENTS")},
                                          .feed_count = 4};

/* --- diagnostics ------------------------------------------------------------------------------ */

enum { D_PROCESS = 1, D_SEVERITY, D_SOURCE, D_CLOCK, D_TEXT };
static const struct nai_field diagnostic_fields[] = {NEEDED("timestamp"), FIELD("globalPid"),     NEEDED("severity"),
                                                     FIELD("source"),     FIELD("timestampType"), NEEDED("text")};

static int diagnostic_row(struct nai_part *p, int64_t at, int64_t rowid, const struct nai_cell *cells, int *rc,
                          struct nai_err *err) {
  (void)rowid;
  int verdict = put_time(p, at, cells);
  if (verdict != NAI_KEEP)
    return verdict;
  put_process(p, DIAGNOSTIC_EVENTS_process, at, int_or(p, cells, D_PROCESS, 0));
  put_field_i32(p, DIAGNOSTIC_EVENTS_severity, at, cells, D_SEVERITY);
  put_field_i32(p, DIAGNOSTIC_EVENTS_source, at, cells, D_SOURCE);
  put_field_i32(p, DIAGNOSTIC_EVENTS_clock, at, cells, D_CLOCK);
  put_optional_name(p, DIAGNOSTIC_EVENTS_text, at, cells, D_TEXT, rc, err);
  return NAI_KEEP;
}

const struct nai_source nai_source_diagnostics = {
    .table = NAI_IN_DIAGNOSTICS,
    .capability = "messages of nsys",
    .disables = "how complete the capture is",
    .dictionary = {[DIAGNOSTIC_EVENTS_process] = NAI_PROCESSES, [DIAGNOSTIC_EVENTS_text] = NAI_NAMES},
    .witness = true,
    .feeds = {FEED(diagnostic_fields, diagnostic_row, "DIAGNOSTIC_EVENT")},
    .feed_count = 1};
