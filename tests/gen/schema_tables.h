/* Every table the generator can write: columns in the order of 2026 exports, with declared type,
 * nullability and the generations [first, last] that have them. 9999 means "still present".
 * The 2019 exporter declared every column NOT NULL and wrote 0 or '' for a missing value; the
 * writer applies that rule, so it is not repeated per column.
 *
 * X(table, column, type, nullability, first, last)
 */
#ifndef NAI_GEN_SCHEMA_TABLES_H
#define NAI_GEN_SCHEMA_TABLES_H

#include "gen/schema_evidence.h"

/* X(id, name, first, last) */
#define NAI_GEN_TABLES(X)                                        \
  X(STRING, "StringIds", 2019, 9999)                             \
  X(STREAMS, "ProcessStreams", 2021, 9999)                       \
  X(SYSTEM_ENV, "TARGET_INFO_SYSTEM_ENV", 2019, 9999)            \
  X(SESSION, "TARGET_INFO_SESSION_START_TIME", 2021, 9999)       \
  X(DETAILS, "ANALYSIS_DETAILS", 2021, 9999)                     \
  X(DIAGNOSTIC, "DIAGNOSTIC_EVENT", 2021, 9999)                  \
  X(SYNC, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", 2019, 9999)     \
  X(PROFILER, "PROFILER_OVERHEAD", 2019, 9999)                   \
  X(OVERHEAD, "CUPTI_ACTIVITY_KIND_OVERHEAD", 2026, 9999)        \
  X(MEMSET, "CUPTI_ACTIVITY_KIND_MEMSET", 2019, 9999)            \
  X(MEMCPY, "CUPTI_ACTIVITY_KIND_MEMCPY", 2019, 9999)            \
  X(KERNEL, "CUPTI_ACTIVITY_KIND_KERNEL", 2019, 9999)            \
  X(GRAPH, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", 2024, 9999)        \
  X(GRAPH_NODE, "CUDA_GRAPH_NODE_EVENTS", 2024, 9999)            \
  X(RUNTIME, "CUPTI_ACTIVITY_KIND_RUNTIME", 2019, 9999)          \
  X(NVTX, "NVTX_EVENTS", 2019, 9999)                             \
  X(PROCESS, "PROCESSES", 2021, 9999)                            \
  X(THREAD, "ThreadNames", 2019, 9999)                           \
  X(OLD_GPU, "TARGET_INFO_CUDA_GPU", 2019, 2021)                 \
  X(GPU, "TARGET_INFO_GPU", 2024, 9999)                          \
  X(CUDA_DEVICE, "TARGET_INFO_CUDA_DEVICE", 2026, 9999)          \
  X(CONTEXT, "TARGET_INFO_CUDA_CONTEXT_INFO", 2021, 9999)        \
  X(STREAM, "TARGET_INFO_CUDA_STREAM", 2021, 9999)               \
  X(E_EVENT_TYPE, "ENUM_NSYS_EVENT_TYPE", 2024, 9999)            \
  X(E_EVENT_CLASS, "ENUM_NSYS_EVENT_CLASS", 2024, 9999)          \
  X(E_MEMCPY, "ENUM_CUDA_MEMCPY_OPER", 2024, 9999)               \
  X(E_MEM_KIND, "ENUM_CUDA_MEM_KIND", 2024, 9999)                \
  X(E_LAUNCH, "ENUM_CUDA_KERNEL_LAUNCH_TYPE", 2024, 9999)        \
  X(E_STREAM, "ENUM_CUPTI_STREAM_TYPE", 2024, 9999)              \
  X(E_SYNC, "ENUM_CUPTI_SYNC_TYPE", 2024, 9999)                  \
  X(E_OVERHEAD, "ENUM_CUPTI_OVERHEAD_TYPE", 2024, 9999)          \
  X(E_SEVERITY, "ENUM_DIAGNOSTIC_SEVERITY_LEVEL", 2024, 9999)    \
  X(E_SOURCE, "ENUM_DIAGNOSTIC_SOURCE_TYPE", 2024, 9999)         \
  X(E_TIMESTAMP, "ENUM_DIAGNOSTIC_TIMESTAMP_SOURCE", 2024, 9999) \
  NAI_GEN_EVIDENCE_TABLES(X)                                     \
  X(CAPTURE, "META_DATA_CAPTURE", 2021, 9999)                    \
  X(OLD_EXPORT, "EXPORT_META_DATA", 2021, 2021)                  \
  X(EXPORT, "META_DATA_EXPORT", 2024, 9999)

#define NAI_GEN_COLUMNS_STRING(X)                 \
  X(STRING, id, INTEGER, PRIMARY_KEY, 2019, 9999) \
  X(STRING, value, TEXT, NOT_NULL, 2019, 9999)

#define NAI_GEN_COLUMNS_STREAMS(X)                      \
  X(STREAMS, globalPid, INTEGER, NOT_NULL, 2019, 9999)  \
  X(STREAMS, filenameId, INTEGER, NOT_NULL, 2019, 9999) \
  X(STREAMS, contentId, INTEGER, NOT_NULL, 2019, 9999)

#define NAI_GEN_COLUMNS_SYSTEM_ENV(X)                     \
  X(SYSTEM_ENV, globalVid, INTEGER, NULLABLE, 2019, 9999) \
  X(SYSTEM_ENV, devStateName, TEXT, NOT_NULL, 2019, 9999) \
  X(SYSTEM_ENV, name, TEXT, NOT_NULL, 2019, 9999)         \
  X(SYSTEM_ENV, nameEnum, INTEGER, NOT_NULL, 2019, 9999)  \
  X(SYSTEM_ENV, value, TEXT, NOT_NULL, 2019, 9999)

#define NAI_GEN_COLUMNS_SESSION(X)                      \
  X(SESSION, utcEpochNs, INTEGER, NULLABLE, 2019, 9999) \
  X(SESSION, utcTime, TEXT, NULLABLE, 2019, 9999)       \
  X(SESSION, localTime, TEXT, NULLABLE, 2019, 9999)     \
  X(SESSION, systemClockNs, INTEGER, NULLABLE, 2026, 9999)

#define NAI_GEN_COLUMNS_DETAILS(X)                     \
  X(DETAILS, globalVid, INTEGER, NOT_NULL, 2019, 9999) \
  X(DETAILS, duration, INTEGER, NOT_NULL, 2019, 9999)  \
  X(DETAILS, startTime, INTEGER, NOT_NULL, 2019, 9999) \
  X(DETAILS, stopTime, INTEGER, NOT_NULL, 2019, 9999)

#define NAI_GEN_COLUMNS_DIAGNOSTIC(X)                         \
  X(DIAGNOSTIC, timestamp, INTEGER, NOT_NULL, 2019, 9999)     \
  X(DIAGNOSTIC, timestampType, INTEGER, NOT_NULL, 2019, 9999) \
  X(DIAGNOSTIC, source, INTEGER, NOT_NULL, 2019, 9999)        \
  X(DIAGNOSTIC, severity, INTEGER, NOT_NULL, 2019, 9999)      \
  X(DIAGNOSTIC, text, TEXT, NOT_NULL, 2019, 9999)             \
  X(DIAGNOSTIC, globalPid, INTEGER, NULLABLE, 2019, 9999)

#define NAI_GEN_COLUMNS_SYNC(X)                              \
  X(SYNC, start, INTEGER, NOT_NULL, 2019, 9999)              \
  X(SYNC, end, INTEGER, NOT_NULL, 2019, 9999)                \
  X(SYNC, deviceId, INTEGER, NOT_NULL, 2019, 9999)           \
  X(SYNC, contextId, INTEGER, NOT_NULL, 2019, 9999)          \
  X(SYNC, greenContextId, INTEGER, NULLABLE, 2024, 9999)     \
  X(SYNC, streamId, INTEGER, NOT_NULL, 2019, 9999)           \
  X(SYNC, correlationId, INTEGER, NULLABLE, 2019, 9999)      \
  X(SYNC, globalPid, INTEGER, NULLABLE, 2019, 9999)          \
  X(SYNC, deprecatedSyncType, INTEGER, NULLABLE, 2026, 9999) \
  X(SYNC, syncType, INTEGER, NOT_NULL, 2019, 9999)           \
  X(SYNC, eventId, INTEGER, NOT_NULL, 2019, 9999)            \
  X(SYNC, eventSyncId, INTEGER, NULLABLE, 2026, 9999)

#define NAI_GEN_COLUMNS_PROFILER(X)                       \
  X(PROFILER, start, INTEGER, NOT_NULL, 2019, 9999)       \
  X(PROFILER, end, INTEGER, NOT_NULL, 2019, 9999)         \
  X(PROFILER, globalTid, INTEGER, NULLABLE, 2019, 9999)   \
  X(PROFILER, nameId, INTEGER, NOT_NULL, 2019, 9999)      \
  X(PROFILER, returnValue, INTEGER, NOT_NULL, 2019, 2024) \
  X(PROFILER, overheadType, INTEGER, NOT_NULL, 2026, 9999)

#define NAI_GEN_COLUMNS_OVERHEAD(X)                         \
  X(OVERHEAD, start, INTEGER, NOT_NULL, 2019, 9999)         \
  X(OVERHEAD, end, INTEGER, NOT_NULL, 2019, 9999)           \
  X(OVERHEAD, eventClass, INTEGER, NOT_NULL, 2019, 9999)    \
  X(OVERHEAD, globalTid, INTEGER, NULLABLE, 2019, 9999)     \
  X(OVERHEAD, correlationId, INTEGER, NULLABLE, 2019, 9999) \
  X(OVERHEAD, nameId, INTEGER, NULLABLE, 2019, 9999)        \
  X(OVERHEAD, overheadType, INTEGER, NOT_NULL, 2019, 9999)

#define NAI_GEN_COLUMNS_MEMSET(X)                          \
  X(MEMSET, start, INTEGER, NOT_NULL, 2019, 9999)          \
  X(MEMSET, end, INTEGER, NOT_NULL, 2019, 9999)            \
  X(MEMSET, deviceId, INTEGER, NOT_NULL, 2019, 9999)       \
  X(MEMSET, contextId, INTEGER, NOT_NULL, 2019, 9999)      \
  X(MEMSET, greenContextId, INTEGER, NULLABLE, 2024, 9999) \
  X(MEMSET, streamId, INTEGER, NOT_NULL, 2019, 9999)       \
  X(MEMSET, correlationId, INTEGER, NULLABLE, 2019, 9999)  \
  X(MEMSET, globalPid, INTEGER, NULLABLE, 2019, 9999)      \
  X(MEMSET, value, INTEGER, NOT_NULL, 2019, 9999)          \
  X(MEMSET, bytes, INTEGER, NOT_NULL, 2019, 9999)          \
  X(MEMSET, graphNodeId, INTEGER, NULLABLE, 2021, 9999)    \
  X(MEMSET, memKind, INTEGER, NULLABLE, 2021, 9999)

#define NAI_GEN_COLUMNS_MEMCPY(X)                           \
  X(MEMCPY, start, INTEGER, NOT_NULL, 2019, 9999)           \
  X(MEMCPY, end, INTEGER, NOT_NULL, 2019, 9999)             \
  X(MEMCPY, deviceId, INTEGER, NOT_NULL, 2019, 9999)        \
  X(MEMCPY, contextId, INTEGER, NOT_NULL, 2019, 9999)       \
  X(MEMCPY, greenContextId, INTEGER, NULLABLE, 2024, 9999)  \
  X(MEMCPY, streamId, INTEGER, NOT_NULL, 2019, 9999)        \
  X(MEMCPY, correlationId, INTEGER, NULLABLE, 2019, 9999)   \
  X(MEMCPY, globalPid, INTEGER, NULLABLE, 2019, 9999)       \
  X(MEMCPY, bytes, INTEGER, NOT_NULL, 2019, 9999)           \
  X(MEMCPY, copyKind, INTEGER, NOT_NULL, 2019, 9999)        \
  X(MEMCPY, deprecatedSrcId, INTEGER, NULLABLE, 2021, 9999) \
  X(MEMCPY, srcKind, INTEGER, NULLABLE, 2019, 9999)         \
  X(MEMCPY, dstKind, INTEGER, NULLABLE, 2019, 9999)         \
  X(MEMCPY, srcDeviceId, INTEGER, NULLABLE, 2019, 9999)     \
  X(MEMCPY, srcContextId, INTEGER, NULLABLE, 2019, 9999)    \
  X(MEMCPY, dstDeviceId, INTEGER, NULLABLE, 2019, 9999)     \
  X(MEMCPY, dstContextId, INTEGER, NULLABLE, 2019, 9999)    \
  X(MEMCPY, migrationCause, INTEGER, NULLABLE, 2021, 9999)  \
  X(MEMCPY, graphNodeId, INTEGER, NULLABLE, 2021, 9999)     \
  X(MEMCPY, virtualAddress, INTEGER, NULLABLE, 2021, 9999)  \
  X(MEMCPY, copyCount, INTEGER, NULLABLE, 2026, 9999)

#define NAI_GEN_COLUMNS_KERNEL(X)                                           \
  X(KERNEL, start, INTEGER, NOT_NULL, 2019, 9999)                           \
  X(KERNEL, end, INTEGER, NOT_NULL, 2019, 9999)                             \
  X(KERNEL, deviceId, INTEGER, NOT_NULL, 2019, 9999)                        \
  X(KERNEL, contextId, INTEGER, NOT_NULL, 2019, 9999)                       \
  X(KERNEL, greenContextId, INTEGER, NULLABLE, 2024, 9999)                  \
  X(KERNEL, streamId, INTEGER, NOT_NULL, 2019, 9999)                        \
  X(KERNEL, correlationId, INTEGER, NULLABLE, 2019, 9999)                   \
  X(KERNEL, globalPid, INTEGER, NULLABLE, 2019, 9999)                       \
  X(KERNEL, demangledName, INTEGER, NOT_NULL, 2019, 9999)                   \
  X(KERNEL, shortName, INTEGER, NOT_NULL, 2019, 9999)                       \
  X(KERNEL, mangledName, INTEGER, NULLABLE, 2024, 9999)                     \
  X(KERNEL, launchType, INTEGER, NULLABLE, 2021, 9999)                      \
  X(KERNEL, cacheConfig, INTEGER, NULLABLE, 2019, 9999)                     \
  X(KERNEL, registersPerThread, INTEGER, NOT_NULL, 2019, 9999)              \
  X(KERNEL, gridX, INTEGER, NOT_NULL, 2019, 9999)                           \
  X(KERNEL, gridY, INTEGER, NOT_NULL, 2019, 9999)                           \
  X(KERNEL, gridZ, INTEGER, NOT_NULL, 2019, 9999)                           \
  X(KERNEL, blockX, INTEGER, NOT_NULL, 2019, 9999)                          \
  X(KERNEL, blockY, INTEGER, NOT_NULL, 2019, 9999)                          \
  X(KERNEL, blockZ, INTEGER, NOT_NULL, 2019, 9999)                          \
  X(KERNEL, staticSharedMemory, INTEGER, NOT_NULL, 2019, 9999)              \
  X(KERNEL, dynamicSharedMemory, INTEGER, NOT_NULL, 2019, 9999)             \
  X(KERNEL, localMemoryPerThread, INTEGER, NOT_NULL, 2019, 9999)            \
  X(KERNEL, localMemoryTotal, INTEGER, NOT_NULL, 2019, 9999)                \
  X(KERNEL, gridId, INTEGER, NOT_NULL, 2019, 9999)                          \
  X(KERNEL, sharedMemoryExecuted, INTEGER, NULLABLE, 2019, 9999)            \
  X(KERNEL, graphNodeId, INTEGER, NULLABLE, 2021, 9999)                     \
  X(KERNEL, sharedMemoryLimitConfig, INTEGER, NULLABLE, 2021, 9999)         \
  X(KERNEL, qmdBulkReleaseDone, INTEGER, NULLABLE, 2026, 9999)              \
  X(KERNEL, qmdPreexitDone, INTEGER, NULLABLE, 2026, 9999)                  \
  X(KERNEL, qmdLastCtaDone, INTEGER, NULLABLE, 2026, 9999)                  \
  X(KERNEL, graphId, INTEGER, NULLABLE, 2026, 9999)                         \
  X(KERNEL, clusterX, INTEGER, NULLABLE, 2026, 9999)                        \
  X(KERNEL, clusterY, INTEGER, NULLABLE, 2026, 9999)                        \
  X(KERNEL, clusterZ, INTEGER, NULLABLE, 2026, 9999)                        \
  X(KERNEL, clusterSchedulingPolicy, INTEGER, NULLABLE, 2026, 9999)         \
  X(KERNEL, maxPotentialClusterSize, INTEGER, NULLABLE, 2026, 9999)         \
  X(KERNEL, maxActiveClusters, INTEGER, NULLABLE, 2026, 9999)               \
  X(KERNEL, sharedMemoryRequestedPercentage, INTEGER, NULLABLE, 2026, 9999) \
  X(KERNEL, tensorSizeMinusOneElements, TEXT, NOT_NULL, 2026, 9999)

#define NAI_GEN_COLUMNS_GRAPH(X)                          \
  X(GRAPH, start, INTEGER, NOT_NULL, 2019, 9999)          \
  X(GRAPH, end, INTEGER, NOT_NULL, 2019, 9999)            \
  X(GRAPH, deviceId, INTEGER, NOT_NULL, 2019, 9999)       \
  X(GRAPH, contextId, INTEGER, NOT_NULL, 2019, 9999)      \
  X(GRAPH, greenContextId, INTEGER, NULLABLE, 2024, 9999) \
  X(GRAPH, streamId, INTEGER, NOT_NULL, 2019, 9999)       \
  X(GRAPH, correlationId, INTEGER, NULLABLE, 2019, 9999)  \
  X(GRAPH, globalPid, INTEGER, NULLABLE, 2019, 9999)      \
  X(GRAPH, graphId, INTEGER, NOT_NULL, 2019, 9999)        \
  X(GRAPH, graphExecId, INTEGER, NOT_NULL, 2019, 9999)

#define NAI_GEN_COLUMNS_GRAPH_NODE(X)                       \
  X(GRAPH_NODE, start, INTEGER, NOT_NULL, 2019, 9999)       \
  X(GRAPH_NODE, end, INTEGER, NOT_NULL, 2019, 9999)         \
  X(GRAPH_NODE, eventClass, INTEGER, NOT_NULL, 2019, 9999)  \
  X(GRAPH_NODE, globalTid, INTEGER, NULLABLE, 2019, 9999)   \
  X(GRAPH_NODE, nameId, INTEGER, NOT_NULL, 2019, 9999)      \
  X(GRAPH_NODE, graphNodeId, INTEGER, NOT_NULL, 2019, 9999) \
  X(GRAPH_NODE, originalGraphNodeId, INTEGER, NULLABLE, 2019, 9999)

#define NAI_GEN_COLUMNS_RUNTIME(X)                         \
  X(RUNTIME, start, INTEGER, NOT_NULL, 2019, 9999)         \
  X(RUNTIME, end, INTEGER, NOT_NULL, 2019, 9999)           \
  X(RUNTIME, eventClass, INTEGER, NOT_NULL, 2021, 9999)    \
  X(RUNTIME, globalTid, INTEGER, NULLABLE, 2019, 9999)     \
  X(RUNTIME, correlationId, INTEGER, NULLABLE, 2019, 9999) \
  X(RUNTIME, nameId, INTEGER, NOT_NULL, 2019, 9999)        \
  X(RUNTIME, returnValue, INTEGER, NOT_NULL, 2019, 9999)   \
  X(RUNTIME, callchainId, INTEGER, NULLABLE, 2021, 9999)

#define NAI_GEN_COLUMNS_NVTX(X)                        \
  X(NVTX, start, INTEGER, NOT_NULL, 2019, 9999)        \
  X(NVTX, end, INTEGER, NULLABLE, 2019, 9999)          \
  X(NVTX, eventType, INTEGER, NOT_NULL, 2019, 9999)    \
  X(NVTX, rangeId, INTEGER, NULLABLE, 2019, 9999)      \
  X(NVTX, category, INTEGER, NULLABLE, 2019, 9999)     \
  X(NVTX, color, INTEGER, NULLABLE, 2019, 9999)        \
  X(NVTX, text, TEXT, NULLABLE, 2019, 9999)            \
  X(NVTX, globalTid, INTEGER, NULLABLE, 2019, 9999)    \
  X(NVTX, endGlobalTid, INTEGER, NULLABLE, 2019, 9999) \
  X(NVTX, textId, INTEGER, NULLABLE, 2019, 9999)       \
  X(NVTX, domainId, INTEGER, NULLABLE, 2019, 9999)     \
  X(NVTX, uint64Value, INTEGER, NULLABLE, 2019, 9999)  \
  X(NVTX, int64Value, INTEGER, NULLABLE, 2019, 9999)   \
  X(NVTX, doubleValue, REAL, NULLABLE, 2019, 9999)     \
  X(NVTX, uint32Value, INTEGER, NULLABLE, 2019, 9999)  \
  X(NVTX, int32Value, INTEGER, NULLABLE, 2019, 9999)   \
  X(NVTX, floatValue, REAL, NULLABLE, 2019, 9999)      \
  X(NVTX, jsonTextId, INTEGER, NULLABLE, 2019, 9999)   \
  X(NVTX, jsonText, TEXT, NULLABLE, 2019, 9999)        \
  X(NVTX, binaryData, TEXT, NULLABLE, 2024, 9999)

#define NAI_GEN_COLUMNS_PROCESS(X)                     \
  X(PROCESS, globalPid, INTEGER, NULLABLE, 2019, 9999) \
  X(PROCESS, pid, INTEGER, NULLABLE, 2019, 9999)       \
  X(PROCESS, name, TEXT, NULLABLE, 2019, 9999)

#define NAI_GEN_COLUMNS_THREAD(X)                    \
  X(THREAD, nameId, INTEGER, NOT_NULL, 2019, 9999)   \
  X(THREAD, priority, INTEGER, NULLABLE, 2019, 9999) \
  X(THREAD, globalTid, INTEGER, NULLABLE, 2019, 9999)

#define NAI_GEN_COLUMNS_OLD_GPU(X)                                  \
  X(OLD_GPU, deviceId, INTEGER, NOT_NULL, 2019, 9999)               \
  X(OLD_GPU, name, TEXT, NOT_NULL, 2019, 9999)                      \
  X(OLD_GPU, computeCapabilityMajor, INTEGER, NOT_NULL, 2019, 9999) \
  X(OLD_GPU, computeCapabilityMinor, INTEGER, NOT_NULL, 2019, 9999) \
  X(OLD_GPU, globalMemoryBandwidth, INTEGER, NOT_NULL, 2019, 9999)  \
  X(OLD_GPU, globalMemorySize, INTEGER, NOT_NULL, 2019, 9999)       \
  X(OLD_GPU, numMultiprocessors, INTEGER, NOT_NULL, 2019, 9999)     \
  X(OLD_GPU, coreClockRate, INTEGER, NOT_NULL, 2019, 9999)

#define NAI_GEN_COLUMNS_GPU(X)                                 \
  X(GPU, vmId, INTEGER, NOT_NULL, 2019, 9999)                  \
  X(GPU, id, INTEGER, NOT_NULL, 2019, 9999)                    \
  X(GPU, name, TEXT, NULLABLE, 2019, 9999)                     \
  X(GPU, busLocation, TEXT, NULLABLE, 2019, 9999)              \
  X(GPU, isDiscrete, INTEGER, NULLABLE, 2019, 9999)            \
  X(GPU, l2CacheSize, INTEGER, NULLABLE, 2019, 9999)           \
  X(GPU, totalMemory, INTEGER, NULLABLE, 2019, 9999)           \
  X(GPU, memoryBandwidth, INTEGER, NULLABLE, 2019, 9999)       \
  X(GPU, clockRate, INTEGER, NULLABLE, 2019, 9999)             \
  X(GPU, smCount, INTEGER, NULLABLE, 2019, 9999)               \
  X(GPU, pwGpuId, INTEGER, NULLABLE, 2019, 9999)               \
  X(GPU, uuid, TEXT, NULLABLE, 2019, 9999)                     \
  X(GPU, luid, INTEGER, NULLABLE, 2019, 9999)                  \
  X(GPU, chipName, TEXT, NULLABLE, 2019, 9999)                 \
  X(GPU, cuDevice, INTEGER, NULLABLE, 2019, 9999)              \
  X(GPU, ctxswDevPath, TEXT, NULLABLE, 2019, 9999)             \
  X(GPU, ctrlDevPath, TEXT, NULLABLE, 2019, 9999)              \
  X(GPU, revision, INTEGER, NULLABLE, 2019, 9999)              \
  X(GPU, nodeMask, INTEGER, NULLABLE, 2019, 9999)              \
  X(GPU, constantMemory, INTEGER, NULLABLE, 2019, 9999)        \
  X(GPU, maxIPC, INTEGER, NULLABLE, 2019, 9999)                \
  X(GPU, maxRegistersPerBlock, INTEGER, NULLABLE, 2019, 9999)  \
  X(GPU, maxShmemPerBlock, INTEGER, NULLABLE, 2019, 9999)      \
  X(GPU, maxShmemPerBlockOptin, INTEGER, NULLABLE, 2019, 9999) \
  X(GPU, maxShmemPerSm, INTEGER, NULLABLE, 2019, 9999)         \
  X(GPU, maxRegistersPerSm, INTEGER, NULLABLE, 2019, 9999)     \
  X(GPU, threadsPerWarp, INTEGER, NULLABLE, 2019, 9999)        \
  X(GPU, asyncEngines, INTEGER, NULLABLE, 2019, 9999)          \
  X(GPU, maxWarpsPerSm, INTEGER, NULLABLE, 2019, 9999)         \
  X(GPU, maxBlocksPerSm, INTEGER, NULLABLE, 2019, 9999)        \
  X(GPU, maxThreadsPerBlock, INTEGER, NULLABLE, 2019, 9999)    \
  X(GPU, maxBlockDimX, INTEGER, NULLABLE, 2019, 9999)          \
  X(GPU, maxBlockDimY, INTEGER, NULLABLE, 2019, 9999)          \
  X(GPU, maxBlockDimZ, INTEGER, NULLABLE, 2019, 9999)          \
  X(GPU, maxGridDimX, INTEGER, NULLABLE, 2019, 9999)           \
  X(GPU, maxGridDimY, INTEGER, NULLABLE, 2019, 9999)           \
  X(GPU, maxGridDimZ, INTEGER, NULLABLE, 2019, 9999)           \
  X(GPU, computeMajor, INTEGER, NULLABLE, 2019, 9999)          \
  X(GPU, computeMinor, INTEGER, NULLABLE, 2019, 9999)          \
  X(GPU, smMajor, INTEGER, NULLABLE, 2019, 9999)               \
  X(GPU, smMinor, INTEGER, NULLABLE, 2019, 9999)

#define NAI_GEN_COLUMNS_CUDA_DEVICE(X)                  \
  X(CUDA_DEVICE, gpuId, INTEGER, NULLABLE, 2019, 9999)  \
  X(CUDA_DEVICE, cudaId, INTEGER, NOT_NULL, 2019, 9999) \
  X(CUDA_DEVICE, pid, INTEGER, NOT_NULL, 2019, 9999)    \
  X(CUDA_DEVICE, uuid, TEXT, NULLABLE, 2019, 9999)      \
  X(CUDA_DEVICE, numMultiprocessors, INTEGER, NULLABLE, 2019, 9999)

#define NAI_GEN_COLUMNS_CONTEXT(X)                           \
  X(CONTEXT, nullStreamId, INTEGER, NOT_NULL, 2019, 9999)    \
  X(CONTEXT, hwId, INTEGER, NOT_NULL, 2019, 9999)            \
  X(CONTEXT, vmId, INTEGER, NOT_NULL, 2019, 9999)            \
  X(CONTEXT, processId, INTEGER, NOT_NULL, 2019, 9999)       \
  X(CONTEXT, deviceId, INTEGER, NOT_NULL, 2019, 9999)        \
  X(CONTEXT, contextId, INTEGER, NOT_NULL, 2019, 9999)       \
  X(CONTEXT, parentContextId, INTEGER, NULLABLE, 2024, 9999) \
  X(CONTEXT, isGreenContext, INTEGER, NULLABLE, 2024, 9999)  \
  X(CONTEXT, numMultiprocessors, INTEGER, NULLABLE, 2026, 9999)

#define NAI_GEN_COLUMNS_STREAM(X)                     \
  X(STREAM, streamId, INTEGER, NOT_NULL, 2019, 9999)  \
  X(STREAM, hwId, INTEGER, NOT_NULL, 2019, 9999)      \
  X(STREAM, vmId, INTEGER, NOT_NULL, 2019, 9999)      \
  X(STREAM, processId, INTEGER, NOT_NULL, 2019, 9999) \
  X(STREAM, contextId, INTEGER, NOT_NULL, 2019, 9999) \
  X(STREAM, priority, INTEGER, NOT_NULL, 2019, 9999)  \
  X(STREAM, flag, INTEGER, NOT_NULL, 2019, 9999)

/* All ENUM_* tables look the same. */
#define NAI_GEN_COLUMNS_ENUM_TABLE(X, T)     \
  X(T, id, INTEGER, PRIMARY_KEY, 2019, 9999) \
  X(T, name, TEXT, NULLABLE, 2019, 9999)     \
  X(T, label, TEXT, NULLABLE, 2019, 9999)
#define NAI_GEN_COLUMNS_E_EVENT_TYPE(X) NAI_GEN_COLUMNS_ENUM_TABLE(X, E_EVENT_TYPE)
#define NAI_GEN_COLUMNS_E_EVENT_CLASS(X) NAI_GEN_COLUMNS_ENUM_TABLE(X, E_EVENT_CLASS)
#define NAI_GEN_COLUMNS_E_MEMCPY(X) NAI_GEN_COLUMNS_ENUM_TABLE(X, E_MEMCPY)
#define NAI_GEN_COLUMNS_E_MEM_KIND(X) NAI_GEN_COLUMNS_ENUM_TABLE(X, E_MEM_KIND)
#define NAI_GEN_COLUMNS_E_LAUNCH(X) NAI_GEN_COLUMNS_ENUM_TABLE(X, E_LAUNCH)
#define NAI_GEN_COLUMNS_E_STREAM(X) NAI_GEN_COLUMNS_ENUM_TABLE(X, E_STREAM)
#define NAI_GEN_COLUMNS_E_SYNC(X) NAI_GEN_COLUMNS_ENUM_TABLE(X, E_SYNC)
#define NAI_GEN_COLUMNS_E_OVERHEAD(X) NAI_GEN_COLUMNS_ENUM_TABLE(X, E_OVERHEAD)
#define NAI_GEN_COLUMNS_E_SEVERITY(X) NAI_GEN_COLUMNS_ENUM_TABLE(X, E_SEVERITY)
#define NAI_GEN_COLUMNS_E_SOURCE(X) NAI_GEN_COLUMNS_ENUM_TABLE(X, E_SOURCE)
#define NAI_GEN_COLUMNS_E_TIMESTAMP(X) NAI_GEN_COLUMNS_ENUM_TABLE(X, E_TIMESTAMP)

#define NAI_GEN_COLUMNS_CAPTURE(X)             \
  X(CAPTURE, name, TEXT, NOT_NULL, 2019, 9999) \
  X(CAPTURE, value, TEXT, NULLABLE, 2019, 9999)

#define NAI_GEN_COLUMNS_OLD_EXPORT(X)             \
  X(OLD_EXPORT, name, TEXT, NOT_NULL, 2019, 9999) \
  X(OLD_EXPORT, value, TEXT, NULLABLE, 2019, 9999)

#define NAI_GEN_COLUMNS_EXPORT(X)             \
  X(EXPORT, name, TEXT, NOT_NULL, 2019, 9999) \
  X(EXPORT, value, TEXT, NULLABLE, 2019, 9999)

#endif
