/* Tables that only the scenario `evidence` fills; part of schema_tables.h. Written as exports of 2026 have them. */
#ifndef NAI_GEN_SCHEMA_EVIDENCE_H
#define NAI_GEN_SCHEMA_EVIDENCE_H

#define NAI_GEN_EVIDENCE_TABLES(X)                            \
  X(CUDA_EVENT, "CUPTI_ACTIVITY_KIND_CUDA_EVENT", 2026, 9999) \
  X(GRAPH_CREATION, "CUDA_GRAPH_EVENTS", 2026, 9999)          \
  X(MEMORY_USAGE, "CUDA_GPU_MEMORY_USAGE_EVENTS", 2026, 9999) \
  X(MEMORY_POOL, "CUDA_GPU_MEMORY_POOL_EVENTS", 2026, 9999)   \
  X(CPU_FAULT, "CUDA_UM_CPU_PAGE_FAULT_EVENTS", 2026, 9999)   \
  X(GPU_FAULT, "CUDA_UM_GPU_PAGE_FAULT_EVENTS", 2026, 9999)   \
  X(METRIC, "TARGET_INFO_GPU_METRICS", 2026, 9999)            \
  X(METRIC_SAMPLE, "GPU_METRICS", 2026, 9999)                 \
  X(NIC_METRIC, "TARGET_INFO_NETWORK_METRICS", 2026, 9999)    \
  X(NIC_ID, "NIC_ID_MAP", 2026, 9999)                         \
  X(NIC, "TARGET_INFO_NIC_INFO", 2026, 9999)                  \
  X(NIC_SAMPLE, "NET_NIC_METRIC", 2026, 9999)                 \
  X(SCHED, "SCHED_EVENTS", 2026, 9999)                        \
  X(SAMPLE, "COMPOSITE_EVENTS", 2026, 9999)                   \
  X(SAMPLE_FRAME, "SAMPLING_CALLCHAINS", 2026, 9999)          \
  X(CUDA_FRAME, "CUDA_CALLCHAINS", 2026, 9999)                \
  X(OSRT_FRAME, "OSRT_CALLCHAINS", 2026, 9999)                \
  X(OSRT, "OSRT_API", 2026, 9999)                             \
  X(JIT, "CUPTI_ACTIVITY_KIND_JIT", 2026, 9999)               \
  X(CUBLAS, "CUBLAS_EVENTS", 2026, 9999)                      \
  X(CUDNN, "CUDNN_EVENTS", 2026, 9999)                        \
  X(MPI_RANK, "MPI_RANKS", 2026, 9999)                        \
  X(MPI_P2P, "MPI_P2P_EVENTS", 2026, 9999)                    \
  X(MPI_COLLECTIVE, "MPI_COLLECTIVES_EVENTS", 2026, 9999)     \
  X(MPI_START_WAIT, "MPI_START_WAIT_EVENTS", 2026, 9999)      \
  X(MPI_OTHER, "MPI_OTHER_EVENTS", 2026, 9999)                \
  X(PAYLOAD_SCHEMA, "NVTX_PAYLOAD_SCHEMAS", 2026, 9999)       \
  X(PAYLOAD_ENTRY, "NVTX_PAYLOAD_SCHEMA_ENTRIES", 2026, 9999)

#define NAI_GEN_COLUMNS_CUDA_EVENT(X)                          \
  X(CUDA_EVENT, timestamp, INTEGER, NOT_NULL, 2019, 9999)      \
  X(CUDA_EVENT, deviceId, INTEGER, NOT_NULL, 2019, 9999)       \
  X(CUDA_EVENT, contextId, INTEGER, NOT_NULL, 2019, 9999)      \
  X(CUDA_EVENT, greenContextId, INTEGER, NULLABLE, 2019, 9999) \
  X(CUDA_EVENT, streamId, INTEGER, NOT_NULL, 2019, 9999)       \
  X(CUDA_EVENT, correlationId, INTEGER, NULLABLE, 2019, 9999)  \
  X(CUDA_EVENT, globalPid, INTEGER, NULLABLE, 2019, 9999)      \
  X(CUDA_EVENT, eventId, INTEGER, NOT_NULL, 2019, 9999)        \
  X(CUDA_EVENT, eventSyncId, INTEGER, NULLABLE, 2019, 9999)

#define NAI_GEN_COLUMNS_GRAPH_CREATION(X)                           \
  X(GRAPH_CREATION, start, INTEGER, NOT_NULL, 2019, 9999)           \
  X(GRAPH_CREATION, end, INTEGER, NOT_NULL, 2019, 9999)             \
  X(GRAPH_CREATION, eventClass, INTEGER, NOT_NULL, 2019, 9999)      \
  X(GRAPH_CREATION, globalTid, INTEGER, NULLABLE, 2019, 9999)       \
  X(GRAPH_CREATION, nameId, INTEGER, NOT_NULL, 2019, 9999)          \
  X(GRAPH_CREATION, graphId, INTEGER, NULLABLE, 2019, 9999)         \
  X(GRAPH_CREATION, originalGraphId, INTEGER, NULLABLE, 2019, 9999) \
  X(GRAPH_CREATION, graphExecId, INTEGER, NULLABLE, 2019, 9999)

#define NAI_GEN_COLUMNS_MEMORY_USAGE(X)                                           \
  X(MEMORY_USAGE, start, INTEGER, NOT_NULL, 2019, 9999)                           \
  X(MEMORY_USAGE, globalPid, INTEGER, NOT_NULL, 2019, 9999)                       \
  X(MEMORY_USAGE, deviceId, INTEGER, NOT_NULL, 2019, 9999)                        \
  X(MEMORY_USAGE, contextId, INTEGER, NOT_NULL, 2019, 9999)                       \
  X(MEMORY_USAGE, address, INTEGER, NOT_NULL, 2019, 9999)                         \
  X(MEMORY_USAGE, pc, INTEGER, NOT_NULL, 2019, 9999)                              \
  X(MEMORY_USAGE, bytes, INTEGER, NOT_NULL, 2019, 9999)                           \
  X(MEMORY_USAGE, memKind, INTEGER, NOT_NULL, 2019, 9999)                         \
  X(MEMORY_USAGE, memoryOperationType, INTEGER, NOT_NULL, 2019, 9999)             \
  X(MEMORY_USAGE, name, TEXT, NULLABLE, 2019, 9999)                               \
  X(MEMORY_USAGE, correlationId, INTEGER, NULLABLE, 2019, 9999)                   \
  X(MEMORY_USAGE, streamId, INTEGER, NULLABLE, 2019, 9999)                        \
  X(MEMORY_USAGE, localMemoryPoolAddress, INTEGER, NULLABLE, 2019, 9999)          \
  X(MEMORY_USAGE, localMemoryPoolReleaseThreshold, INTEGER, NULLABLE, 2019, 9999) \
  X(MEMORY_USAGE, localMemoryPoolSize, INTEGER, NULLABLE, 2019, 9999)             \
  X(MEMORY_USAGE, localMemoryPoolUtilizedSize, INTEGER, NULLABLE, 2019, 9999)     \
  X(MEMORY_USAGE, importedMemoryPoolAddress, INTEGER, NULLABLE, 2019, 9999)       \
  X(MEMORY_USAGE, importedMemoryPoolProcessId, INTEGER, NULLABLE, 2019, 9999)

#define NAI_GEN_COLUMNS_MEMORY_POOL(X)                                           \
  X(MEMORY_POOL, start, INTEGER, NOT_NULL, 2019, 9999)                           \
  X(MEMORY_POOL, globalPid, INTEGER, NOT_NULL, 2019, 9999)                       \
  X(MEMORY_POOL, deviceId, INTEGER, NOT_NULL, 2019, 9999)                        \
  X(MEMORY_POOL, address, INTEGER, NOT_NULL, 2019, 9999)                         \
  X(MEMORY_POOL, operationType, INTEGER, NOT_NULL, 2019, 9999)                   \
  X(MEMORY_POOL, poolType, INTEGER, NOT_NULL, 2019, 9999)                        \
  X(MEMORY_POOL, correlationId, INTEGER, NULLABLE, 2019, 9999)                   \
  X(MEMORY_POOL, minBytesToKeep, INTEGER, NULLABLE, 2019, 9999)                  \
  X(MEMORY_POOL, localMemoryPoolReleaseThreshold, INTEGER, NULLABLE, 2019, 9999) \
  X(MEMORY_POOL, localMemoryPoolSize, INTEGER, NULLABLE, 2019, 9999)             \
  X(MEMORY_POOL, localMemoryPoolUtilizedSize, INTEGER, NULLABLE, 2019, 9999)

#define NAI_GEN_COLUMNS_CPU_FAULT(X)                             \
  X(CPU_FAULT, start, INTEGER, NOT_NULL, 2019, 9999)             \
  X(CPU_FAULT, globalPid, INTEGER, NOT_NULL, 2019, 9999)         \
  X(CPU_FAULT, address, INTEGER, NOT_NULL, 2019, 9999)           \
  X(CPU_FAULT, originalFaultPc, INTEGER, NULLABLE, 2019, 9999)   \
  X(CPU_FAULT, CpuInstruction, INTEGER, NOT_NULL, 2019, 9999)    \
  X(CPU_FAULT, module, INTEGER, NOT_NULL, 2019, 9999)            \
  X(CPU_FAULT, unresolvedFaultPc, INTEGER, NULLABLE, 2019, 9999) \
  X(CPU_FAULT, sourceFile, INTEGER, NULLABLE, 2019, 9999)        \
  X(CPU_FAULT, sourceLine, INTEGER, NULLABLE, 2019, 9999)

#define NAI_GEN_COLUMNS_GPU_FAULT(X)                              \
  X(GPU_FAULT, start, INTEGER, NOT_NULL, 2019, 9999)              \
  X(GPU_FAULT, end, INTEGER, NOT_NULL, 2019, 9999)                \
  X(GPU_FAULT, globalPid, INTEGER, NOT_NULL, 2019, 9999)          \
  X(GPU_FAULT, deviceId, INTEGER, NOT_NULL, 2019, 9999)           \
  X(GPU_FAULT, address, INTEGER, NOT_NULL, 2019, 9999)            \
  X(GPU_FAULT, numberOfPageFaults, INTEGER, NOT_NULL, 2019, 9999) \
  X(GPU_FAULT, faultAccessType, INTEGER, NOT_NULL, 2019, 9999)

#define NAI_GEN_COLUMNS_METRIC(X)                    \
  X(METRIC, typeId, INTEGER, NOT_NULL, 2019, 9999)   \
  X(METRIC, sourceId, INTEGER, NOT_NULL, 2019, 9999) \
  X(METRIC, typeName, TEXT, NOT_NULL, 2019, 9999)    \
  X(METRIC, metricId, INTEGER, NOT_NULL, 2019, 9999) \
  X(METRIC, metricName, TEXT, NOT_NULL, 2019, 9999)

#define NAI_GEN_COLUMNS_METRIC_SAMPLE(X)                        \
  X(METRIC_SAMPLE, rawTimestamp, INTEGER, NULLABLE, 2019, 9999) \
  X(METRIC_SAMPLE, timestamp, INTEGER, NULLABLE, 2019, 9999)    \
  X(METRIC_SAMPLE, typeId, INTEGER, NOT_NULL, 2019, 9999)       \
  X(METRIC_SAMPLE, metricId, INTEGER, NOT_NULL, 2019, 9999)     \
  X(METRIC_SAMPLE, value, INTEGER, NOT_NULL, 2019, 9999)

#define NAI_GEN_COLUMNS_NIC_METRIC(X)                         \
  X(NIC_METRIC, metricsListId, INTEGER, NOT_NULL, 2019, 9999) \
  X(NIC_METRIC, metricsIdx, INTEGER, NOT_NULL, 2019, 9999)    \
  X(NIC_METRIC, name, TEXT, NOT_NULL, 2019, 9999)             \
  X(NIC_METRIC, description, TEXT, NOT_NULL, 2019, 9999)      \
  X(NIC_METRIC, unit, TEXT, NOT_NULL, 2019, 9999)

#define NAI_GEN_COLUMNS_NIC_ID(X)                 \
  X(NIC_ID, nicId, INTEGER, NOT_NULL, 2019, 9999) \
  X(NIC_ID, globalId, INTEGER, NOT_NULL, 2019, 9999)

#define NAI_GEN_COLUMNS_NIC(X)                    \
  X(NIC, GUID, INTEGER, NOT_NULL, 2019, 9999)     \
  X(NIC, stateName, TEXT, NOT_NULL, 2019, 9999)   \
  X(NIC, nicId, INTEGER, NOT_NULL, 2019, 9999)    \
  X(NIC, name, TEXT, NOT_NULL, 2019, 9999)        \
  X(NIC, deviceId, INTEGER, NOT_NULL, 2019, 9999) \
  X(NIC, vendorId, INTEGER, NOT_NULL, 2019, 9999) \
  X(NIC, linkLayer, INTEGER, NOT_NULL, 2019, 9999)

#define NAI_GEN_COLUMNS_NIC_SAMPLE(X)                         \
  X(NIC_SAMPLE, start, INTEGER, NOT_NULL, 2019, 9999)         \
  X(NIC_SAMPLE, end, INTEGER, NOT_NULL, 2019, 9999)           \
  X(NIC_SAMPLE, globalId, INTEGER, NOT_NULL, 2019, 9999)      \
  X(NIC_SAMPLE, portId, INTEGER, NOT_NULL, 2019, 9999)        \
  X(NIC_SAMPLE, metricsListId, INTEGER, NOT_NULL, 2019, 9999) \
  X(NIC_SAMPLE, metricsIdx, INTEGER, NOT_NULL, 2019, 9999)    \
  X(NIC_SAMPLE, value, INTEGER, NOT_NULL, 2019, 9999)

#define NAI_GEN_COLUMNS_SCHED(X)                       \
  X(SCHED, start, INTEGER, NOT_NULL, 2019, 9999)       \
  X(SCHED, cpu, INTEGER, NOT_NULL, 2019, 9999)         \
  X(SCHED, isSchedIn, INTEGER, NOT_NULL, 2019, 9999)   \
  X(SCHED, globalTid, INTEGER, NULLABLE, 2019, 9999)   \
  X(SCHED, threadState, INTEGER, NULLABLE, 2019, 9999) \
  X(SCHED, threadBlock, INTEGER, NULLABLE, 2019, 9999)

#define NAI_GEN_COLUMNS_SAMPLE(X)                       \
  X(SAMPLE, id, INTEGER, PRIMARY_KEY, 2019, 9999)       \
  X(SAMPLE, start, INTEGER, NOT_NULL, 2019, 9999)       \
  X(SAMPLE, cpu, INTEGER, NULLABLE, 2019, 9999)         \
  X(SAMPLE, threadState, INTEGER, NULLABLE, 2019, 9999) \
  X(SAMPLE, globalTid, INTEGER, NULLABLE, 2019, 9999)   \
  X(SAMPLE, cpuCycles, INTEGER, NOT_NULL, 2019, 9999)

#define NAI_GEN_COLUMNS_SAMPLE_FRAME(X)                        \
  X(SAMPLE_FRAME, id, INTEGER, NOT_NULL, 2019, 9999)           \
  X(SAMPLE_FRAME, symbol, INTEGER, NOT_NULL, 2019, 9999)       \
  X(SAMPLE_FRAME, module, INTEGER, NOT_NULL, 2019, 9999)       \
  X(SAMPLE_FRAME, kernelMode, INTEGER, NULLABLE, 2019, 9999)   \
  X(SAMPLE_FRAME, thumbCode, INTEGER, NULLABLE, 2019, 9999)    \
  X(SAMPLE_FRAME, unresolved, INTEGER, NULLABLE, 2019, 9999)   \
  X(SAMPLE_FRAME, specialEntry, INTEGER, NULLABLE, 2019, 9999) \
  X(SAMPLE_FRAME, originalIP, INTEGER, NULLABLE, 2019, 9999)   \
  X(SAMPLE_FRAME, unwindMethod, INTEGER, NULLABLE, 2019, 9999) \
  X(SAMPLE_FRAME, stackDepth, INTEGER, NOT_NULL, 2019, 9999)

#define NAI_GEN_COLUMNS_CUDA_FRAME(X)                        \
  X(CUDA_FRAME, id, INTEGER, NOT_NULL, 2019, 9999)           \
  X(CUDA_FRAME, symbol, INTEGER, NOT_NULL, 2019, 9999)       \
  X(CUDA_FRAME, module, INTEGER, NOT_NULL, 2019, 9999)       \
  X(CUDA_FRAME, kernelMode, INTEGER, NULLABLE, 2019, 9999)   \
  X(CUDA_FRAME, thumbCode, INTEGER, NULLABLE, 2019, 9999)    \
  X(CUDA_FRAME, unresolved, INTEGER, NULLABLE, 2019, 9999)   \
  X(CUDA_FRAME, specialEntry, INTEGER, NULLABLE, 2019, 9999) \
  X(CUDA_FRAME, originalIP, INTEGER, NULLABLE, 2019, 9999)   \
  X(CUDA_FRAME, unwindMethod, INTEGER, NULLABLE, 2019, 9999) \
  X(CUDA_FRAME, stackDepth, INTEGER, NOT_NULL, 2019, 9999)

#define NAI_GEN_COLUMNS_OSRT_FRAME(X)                        \
  X(OSRT_FRAME, id, INTEGER, NOT_NULL, 2019, 9999)           \
  X(OSRT_FRAME, symbol, INTEGER, NOT_NULL, 2019, 9999)       \
  X(OSRT_FRAME, module, INTEGER, NOT_NULL, 2019, 9999)       \
  X(OSRT_FRAME, kernelMode, INTEGER, NULLABLE, 2019, 9999)   \
  X(OSRT_FRAME, thumbCode, INTEGER, NULLABLE, 2019, 9999)    \
  X(OSRT_FRAME, unresolved, INTEGER, NULLABLE, 2019, 9999)   \
  X(OSRT_FRAME, specialEntry, INTEGER, NULLABLE, 2019, 9999) \
  X(OSRT_FRAME, originalIP, INTEGER, NULLABLE, 2019, 9999)   \
  X(OSRT_FRAME, unwindMethod, INTEGER, NULLABLE, 2019, 9999) \
  X(OSRT_FRAME, stackDepth, INTEGER, NOT_NULL, 2019, 9999)

#define NAI_GEN_COLUMNS_OSRT(X)                        \
  X(OSRT, start, INTEGER, NOT_NULL, 2019, 9999)        \
  X(OSRT, end, INTEGER, NOT_NULL, 2019, 9999)          \
  X(OSRT, eventClass, INTEGER, NOT_NULL, 2019, 9999)   \
  X(OSRT, globalTid, INTEGER, NULLABLE, 2019, 9999)    \
  X(OSRT, nameId, INTEGER, NOT_NULL, 2019, 9999)       \
  X(OSRT, returnValue, INTEGER, NOT_NULL, 2019, 9999)  \
  X(OSRT, nestingLevel, INTEGER, NULLABLE, 2019, 9999) \
  X(OSRT, callchainId, INTEGER, NULLABLE, 2019, 9999)

#define NAI_GEN_COLUMNS_JIT(X)                                     \
  X(JIT, start, INTEGER, NOT_NULL, 2019, 9999)                     \
  X(JIT, end, INTEGER, NOT_NULL, 2019, 9999)                       \
  X(JIT, eventClass, INTEGER, NOT_NULL, 2019, 9999)                \
  X(JIT, globalTid, INTEGER, NULLABLE, 2019, 9999)                 \
  X(JIT, correlationId, INTEGER, NULLABLE, 2019, 9999)             \
  X(JIT, nameId, INTEGER, NULLABLE, 2019, 9999)                    \
  X(JIT, overheadType, INTEGER, NOT_NULL, 2019, 9999)              \
  X(JIT, jitEntryType, INTEGER, NOT_NULL, 2019, 9999)              \
  X(JIT, jitOperationType, INTEGER, NOT_NULL, 2019, 9999)          \
  X(JIT, deviceId, INTEGER, NULLABLE, 2019, 9999)                  \
  X(JIT, jitOperationCorrelationId, INTEGER, NULLABLE, 2019, 9999) \
  X(JIT, cacheSize, INTEGER, NULLABLE, 2019, 9999)                 \
  X(JIT, cachePath, TEXT, NULLABLE, 2019, 9999)

#define NAI_GEN_COLUMNS_CUBLAS(X)                      \
  X(CUBLAS, start, INTEGER, NOT_NULL, 2019, 9999)      \
  X(CUBLAS, end, INTEGER, NOT_NULL, 2019, 9999)        \
  X(CUBLAS, eventClass, INTEGER, NOT_NULL, 2019, 9999) \
  X(CUBLAS, globalTid, INTEGER, NULLABLE, 2019, 9999)  \
  X(CUBLAS, nameId, INTEGER, NOT_NULL, 2019, 9999)

#define NAI_GEN_COLUMNS_CUDNN(X)                      \
  X(CUDNN, start, INTEGER, NOT_NULL, 2019, 9999)      \
  X(CUDNN, end, INTEGER, NOT_NULL, 2019, 9999)        \
  X(CUDNN, eventClass, INTEGER, NOT_NULL, 2019, 9999) \
  X(CUDNN, globalTid, INTEGER, NULLABLE, 2019, 9999)  \
  X(CUDNN, nameId, INTEGER, NOT_NULL, 2019, 9999)

#define NAI_GEN_COLUMNS_MPI_RANK(X)                     \
  X(MPI_RANK, globalTid, INTEGER, NOT_NULL, 2019, 9999) \
  X(MPI_RANK, rank, INTEGER, NOT_NULL, 2019, 9999)

#define NAI_GEN_COLUMNS_MPI_P2P(X)                      \
  X(MPI_P2P, start, INTEGER, NOT_NULL, 2019, 9999)      \
  X(MPI_P2P, end, INTEGER, NULLABLE, 2019, 9999)        \
  X(MPI_P2P, globalTid, INTEGER, NULLABLE, 2019, 9999)  \
  X(MPI_P2P, textId, INTEGER, NULLABLE, 2019, 9999)     \
  X(MPI_P2P, commHandle, INTEGER, NULLABLE, 2019, 9999) \
  X(MPI_P2P, commUid, INTEGER, NULLABLE, 2019, 9999)    \
  X(MPI_P2P, tag, INTEGER, NULLABLE, 2019, 9999)        \
  X(MPI_P2P, remoteRank, INTEGER, NULLABLE, 2019, 9999) \
  X(MPI_P2P, size, INTEGER, NULLABLE, 2019, 9999)       \
  X(MPI_P2P, requestHandle, INTEGER, NULLABLE, 2019, 9999)

#define NAI_GEN_COLUMNS_MPI_COLLECTIVE(X)                      \
  X(MPI_COLLECTIVE, start, INTEGER, NOT_NULL, 2019, 9999)      \
  X(MPI_COLLECTIVE, end, INTEGER, NULLABLE, 2019, 9999)        \
  X(MPI_COLLECTIVE, globalTid, INTEGER, NULLABLE, 2019, 9999)  \
  X(MPI_COLLECTIVE, textId, INTEGER, NULLABLE, 2019, 9999)     \
  X(MPI_COLLECTIVE, commHandle, INTEGER, NULLABLE, 2019, 9999) \
  X(MPI_COLLECTIVE, commUid, INTEGER, NULLABLE, 2019, 9999)    \
  X(MPI_COLLECTIVE, rootRank, INTEGER, NULLABLE, 2019, 9999)   \
  X(MPI_COLLECTIVE, size, INTEGER, NULLABLE, 2019, 9999)       \
  X(MPI_COLLECTIVE, recvSize, INTEGER, NULLABLE, 2019, 9999)   \
  X(MPI_COLLECTIVE, requestHandle, INTEGER, NULLABLE, 2019, 9999)

#define NAI_GEN_COLUMNS_MPI_START_WAIT(X)                     \
  X(MPI_START_WAIT, start, INTEGER, NOT_NULL, 2019, 9999)     \
  X(MPI_START_WAIT, end, INTEGER, NULLABLE, 2019, 9999)       \
  X(MPI_START_WAIT, globalTid, INTEGER, NULLABLE, 2019, 9999) \
  X(MPI_START_WAIT, textId, INTEGER, NULLABLE, 2019, 9999)    \
  X(MPI_START_WAIT, requestHandle, INTEGER, NULLABLE, 2019, 9999)

#define NAI_GEN_COLUMNS_MPI_OTHER(X)                     \
  X(MPI_OTHER, start, INTEGER, NOT_NULL, 2019, 9999)     \
  X(MPI_OTHER, end, INTEGER, NULLABLE, 2019, 9999)       \
  X(MPI_OTHER, globalTid, INTEGER, NULLABLE, 2019, 9999) \
  X(MPI_OTHER, textId, INTEGER, NULLABLE, 2019, 9999)

#define NAI_GEN_COLUMNS_PAYLOAD_SCHEMA(X)                       \
  X(PAYLOAD_SCHEMA, domainId, INTEGER, NULLABLE, 2019, 9999)    \
  X(PAYLOAD_SCHEMA, schemaId, INTEGER, NULLABLE, 2019, 9999)    \
  X(PAYLOAD_SCHEMA, name, TEXT, NULLABLE, 2019, 9999)           \
  X(PAYLOAD_SCHEMA, type, INTEGER, NULLABLE, 2019, 9999)        \
  X(PAYLOAD_SCHEMA, flags, INTEGER, NULLABLE, 2019, 9999)       \
  X(PAYLOAD_SCHEMA, numEntries, INTEGER, NULLABLE, 2019, 9999)  \
  X(PAYLOAD_SCHEMA, payloadSize, INTEGER, NULLABLE, 2019, 9999) \
  X(PAYLOAD_SCHEMA, alignTo, INTEGER, NULLABLE, 2019, 9999)

#define NAI_GEN_COLUMNS_PAYLOAD_ENTRY(X)                              \
  X(PAYLOAD_ENTRY, domainId, INTEGER, NULLABLE, 2019, 9999)           \
  X(PAYLOAD_ENTRY, schemaId, INTEGER, NULLABLE, 2019, 9999)           \
  X(PAYLOAD_ENTRY, idx, INTEGER, NULLABLE, 2019, 9999)                \
  X(PAYLOAD_ENTRY, flags, INTEGER, NULLABLE, 2019, 9999)              \
  X(PAYLOAD_ENTRY, type, INTEGER, NULLABLE, 2019, 9999)               \
  X(PAYLOAD_ENTRY, name, TEXT, NULLABLE, 2019, 9999)                  \
  X(PAYLOAD_ENTRY, description, TEXT, NULLABLE, 2019, 9999)           \
  X(PAYLOAD_ENTRY, arrayOrUnionDetail, INTEGER, NULLABLE, 2019, 9999) \
  X(PAYLOAD_ENTRY, offset, INTEGER, NULLABLE, 2019, 9999)

#endif
