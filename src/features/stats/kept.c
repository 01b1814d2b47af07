#include "features/stats/kept.h"

#include "tables/events.h"

#define TIMES \
  {"start", "start_ns", NAI_KEPT_MOMENT}, { "end", "end_ns", NAI_KEPT_MOMENT }
#define WORK                                                                                \
  TIMES, {"correlationId", "correlation_id"}, {"globalPid", "process", NAI_KEPT_PROCESS}, { \
    "deviceId", "device_id", NAI_KEPT_DEVICE                                                \
  }
#define NAMED \
  TIMES, {"nameId", "name", NAI_KEPT_TEXT}, { "globalTid", "thread", NAI_KEPT_THREAD }
/* The rows of a table, or those of a kind in it; of a table that is none of events. */
#define ALL(name, table, ...) \
  { name, table, NULL, 0, {__VA_ARGS__}, false }
#define SOME(name, table, column, kind, ...) \
  { name, table, column, kind, {__VA_ARGS__}, false }
#define UNREAD(name, table, column, kind, ...) \
  { name, table, column, kind, {__VA_ARGS__}, true }
#define OPENACC(number, suffix)                                                        \
  SOME("CUPTI_ACTIVITY_KIND_OPENACC_" suffix, "openacc_events", "kind", number, NAMED, \
       {"srcFile", "file", NAI_KEPT_TEXT}, {"lineNo", "line"})
#define MPI(number, suffix)                                                                           \
  SOME("MPI_" suffix "_EVENTS", "mpi_events", "kind", number, {"start", "start_ns", NAI_KEPT_MOMENT}, \
       {"end", "end_ns", NAI_KEPT_CALL_END}, {"textId", "name", NAI_KEPT_TEXT},                       \
       {"globalTid", "thread", NAI_KEPT_THREAD}, {"size", "bytes"}, {"recvSize", "received_bytes"})
#define OPENMP(number, suffix) SOME("OPENMP_EVENT_KIND_" suffix, "openmp_events", "kind", number, NAMED)
#define CONFIG(name, column) \
  { name, column, NAI_KEPT_CONFIG }

const struct nai_kept_table nai_kept_tables[] = {
    ALL("CUPTI_ACTIVITY_KIND_KERNEL", "kernel_events", WORK, {"demangledName", "name", NAI_KEPT_TEXT},
        {"contextId", "context_id"}, {"streamId", "stream_id"}, {"greenContextId", "green_context"},
        CONFIG("gridX", "grid_x"), CONFIG("gridY", "grid_y"), CONFIG("gridZ", "grid_z"), CONFIG("blockX", "block_x"),
        CONFIG("blockY", "block_y"), CONFIG("blockZ", "block_z"), CONFIG("registersPerThread", "registers_per_thread"),
        CONFIG("staticSharedMemory", "static_shared_bytes"), CONFIG("dynamicSharedMemory", "dynamic_shared_bytes")),
    SOME("CUPTI_ACTIVITY_KIND_MEMCPY", "memop_events", "kind", NAI_MEMOP_COPY, WORK, {"bytes", "bytes"},
         {"copyKind", "copy_kind"}, {"srcKind", "src_kind"}, {"dstKind", "dst_kind"}, {"contextId", "context_id"},
         {"streamId", "stream_id", NAI_KEPT_GIVEN}, {"srcDeviceId", "src_cuda_device"},
         {"dstDeviceId", "dst_cuda_device"}, {"virtualAddress", "virtual_address"}),
    SOME("CUPTI_ACTIVITY_KIND_MEMSET", "memop_events", "kind", NAI_MEMOP_SET, WORK, {"bytes", "bytes"},
         {"memKind", "dst_kind"}, {"contextId", "context_id"}, {"streamId", "stream_id"}),
    ALL("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "graph_events", WORK),
    ALL("CUPTI_ACTIVITY_KIND_RUNTIME", "api_events", TIMES, {"nameId", "name", NAI_KEPT_CALL},
        {"globalTid", "thread", NAI_KEPT_THREAD}, {"correlationId", "correlation_id"}, {"returnValue", "return_value"}),
    ALL("NVTX_EVENTS", "nvtx_events", TIMES, {"eventType", "kind", NAI_KEPT_TYPE}, {"$text", "name", NAI_KEPT_RANGE},
        {"textId", "name", NAI_KEPT_NOTHING}, {"globalTid", "thread", NAI_KEPT_THREAD},
        {"endGlobalTid", "end_thread", NAI_KEPT_THREAD}, {"domainId", "domain", NAI_KEPT_DOMAIN},
        {"#", "export_row_offset", NAI_KEPT_ROWID}),
    ALL("OSRT_API", "osrt_events", NAMED, {"eventClass", "name", NAI_KEPT_CLASS}),
    ALL("SYSCALL", "syscall_events", NAMED),
    SOME("PROFILER_OVERHEAD", "overhead_events", "source", NAI_OVERHEAD_PROFILER, NAMED),
    UNREAD("ENUM_CUDA_MEMCPY_OPER", "labels", "enumeration", NAI_LABEL_COPY, {"id", "id"},
           {"$label", "label", NAI_KEPT_TEXT}),
    UNREAD("ENUM_CUDA_MEM_KIND", "labels", "enumeration", NAI_LABEL_MEMORY, {"id", "id"},
           {"$label", "label", NAI_KEPT_TEXT}),
    UNREAD("TARGET_INFO_GPU", "gpus", NULL, 0, {"id", "gpu_id"}, {"$name", "gpu_name", NAI_KEPT_TEXT}),
    SOME("CUDA_UM_CPU_PAGE_FAULT_EVENTS", "um_fault_events", "kind", NAI_FAULT_CPU,
         {"start", "start_ns", NAI_KEPT_MOMENT}, {"address", "address"}, {"CpuInstruction", "name", NAI_KEPT_TEXT}),
    SOME("CUDA_UM_GPU_PAGE_FAULT_EVENTS", "um_fault_events", "kind", NAI_FAULT_GPU, TIMES, {"address", "address"},
         {"numberOfPageFaults", "faults"}),
    MPI(NAI_MPI_P2P, "P2P"),
    MPI(NAI_MPI_COLLECTIVE, "COLLECTIVES"),
    MPI(NAI_MPI_START_WAIT, "START_WAIT"),
    MPI(NAI_MPI_OTHER, "OTHER"),
    OPENACC(NAI_OPENACC_DATA, "DATA"),
    OPENACC(NAI_OPENACC_LAUNCH, "LAUNCH"),
    OPENACC(NAI_OPENACC_OTHER, "OTHER"),
    OPENMP(0, "THREAD"),
    OPENMP(1, "PARALLEL"),
    OPENMP(2, "SYNC_REGION_WAIT"),
    OPENMP(3, "SYNC_REGION"),
    OPENMP(4, "TASK"),
    OPENMP(5, "MASTER"),
    OPENMP(6, "REDUCTION"),
    OPENMP(7, "TASK_CREATE"),
    OPENMP(8, "TASK_SCHEDULE"),
    OPENMP(9, "CANCEL"),
    OPENMP(10, "MUTEX_WAIT"),
    OPENMP(11, "CRITICAL_SECTION"),
    OPENMP(12, "MUTEX_RELEASED"),
    OPENMP(13, "LOCK_INIT"),
    OPENMP(14, "LOCK_DESTROY"),
    OPENMP(15, "WORKSHARE"),
    OPENMP(16, "DISPATCH"),
    OPENMP(17, "FLUSH"),
    {0}};
