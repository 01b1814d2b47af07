-- The tables of exports, as `sqlite3 EXPORT .schema` prints them, of the generations 2019, 2021, 2024 and 2026. A table or a
-- column that not all of them have says since or until which one. In 2019 all columns are NOT NULL.
CREATE TABLE StringIds (
    id                          INTEGER   NOT NULL   PRIMARY KEY,
    value                       TEXT   NOT NULL
);
CREATE TABLE ProcessStreams ( -- since 2021
    globalPid                   INTEGER   NOT NULL,
    filenameId                  INTEGER   NOT NULL,
    contentId                   INTEGER   NOT NULL
);
CREATE TABLE TARGET_INFO_SYSTEM_ENV (
    globalVid                   INTEGER,
    devStateName                TEXT   NOT NULL,
    name                        TEXT   NOT NULL,
    nameEnum                    INTEGER   NOT NULL,
    value                       TEXT   NOT NULL
);
CREATE TABLE TARGET_INFO_SESSION_START_TIME ( -- since 2021
    utcEpochNs                  INTEGER,
    utcTime                     TEXT,
    localTime                   TEXT,
    systemClockNs               INTEGER -- since 2026
);
CREATE TABLE ANALYSIS_DETAILS ( -- since 2021
    globalVid                   INTEGER   NOT NULL,
    duration                    INTEGER   NOT NULL,
    startTime                   INTEGER   NOT NULL,
    stopTime                    INTEGER   NOT NULL
);
CREATE TABLE DIAGNOSTIC_EVENT ( -- since 2021
    timestamp                   INTEGER   NOT NULL,
    timestampType               INTEGER   NOT NULL,
    source                      INTEGER   NOT NULL,
    severity                    INTEGER   NOT NULL,
    text                        TEXT   NOT NULL,
    globalPid                   INTEGER
);
CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (
    start                       INTEGER   NOT NULL,
    end                         INTEGER   NOT NULL,
    deviceId                    INTEGER   NOT NULL,
    contextId                   INTEGER   NOT NULL,
    greenContextId              INTEGER, -- since 2024
    streamId                    INTEGER   NOT NULL,
    correlationId               INTEGER,
    globalPid                   INTEGER,
    deprecatedSyncType          INTEGER, -- since 2026
    syncType                    INTEGER   NOT NULL,
    eventId                     INTEGER   NOT NULL,
    eventSyncId                 INTEGER -- since 2026
);
CREATE TABLE PROFILER_OVERHEAD (
    start                       INTEGER   NOT NULL,
    end                         INTEGER   NOT NULL,
    globalTid                   INTEGER,
    nameId                      INTEGER   NOT NULL,
    overheadType                INTEGER   NOT NULL, -- since 2026
    returnValue                 INTEGER   NOT NULL -- until 2024
);
CREATE TABLE CUPTI_ACTIVITY_KIND_OVERHEAD ( -- since 2026
    start                       INTEGER   NOT NULL,
    end                         INTEGER   NOT NULL,
    eventClass                  INTEGER   NOT NULL,
    globalTid                   INTEGER,
    correlationId               INTEGER,
    nameId                      INTEGER,
    overheadType                INTEGER   NOT NULL
);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEM_DECOMPRESS ( -- since 2026
    start                       INTEGER   NOT NULL,
    end                         INTEGER   NOT NULL,
    eventClass                  INTEGER   NOT NULL,
    deviceId                    INTEGER   NOT NULL,
    contextId                   INTEGER   NOT NULL,
    streamId                    INTEGER   NOT NULL,
    correlationId               INTEGER,
    globalPid                   INTEGER,
    ChannelID                   INTEGER   NOT NULL,
    sourceBytes                 INTEGER   NOT NULL,
    NumberOfOperations          INTEGER   NOT NULL
);
CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_HOST_NODE_AND_HOST_LAUNCH ( -- since 2026
    start                       INTEGER   NOT NULL,
    end                         INTEGER   NOT NULL,
    deviceId                    INTEGER   NOT NULL,
    contextId                   INTEGER   NOT NULL,
    greenContextId              INTEGER,
    streamId                    INTEGER   NOT NULL,
    correlationId               INTEGER,
    globalPid                   INTEGER,
    graphNodeId                 INTEGER,
    graphId                     INTEGER
);
CREATE TABLE CUDA_HOST_CALLBACK ( -- since 2026
    start                       INTEGER   NOT NULL,
    end                         INTEGER   NOT NULL,
    eventClass                  INTEGER   NOT NULL,
    globalTid                   INTEGER,
    correlationId               INTEGER,
    nameId                      INTEGER   NOT NULL
);
CREATE TABLE CUPTI_ACTIVITY_KIND_OPENACC_DATA ( -- since 2026
    start                       INTEGER   NOT NULL,
    end                         INTEGER   NOT NULL,
    nameId                      INTEGER   NOT NULL,
    globalTid                   INTEGER,
    eventKind                   INTEGER,
    lineNo                      INTEGER,
    srcFile                     INTEGER,
    funcName                    INTEGER,
    correlationId               INTEGER,
    bytes                       INTEGER,
    varName                     INTEGER
);
CREATE TABLE CUPTI_ACTIVITY_KIND_OPENACC_LAUNCH ( -- since 2026
    start                       INTEGER   NOT NULL,
    end                         INTEGER   NOT NULL,
    nameId                      INTEGER   NOT NULL,
    globalTid                   INTEGER,
    eventKind                   INTEGER,
    lineNo                      INTEGER,
    srcFile                     INTEGER,
    funcName                    INTEGER,
    correlationId               INTEGER,
    kernelName                  INTEGER
);
CREATE TABLE CUPTI_ACTIVITY_KIND_OPENACC_OTHER ( -- since 2026
    start                       INTEGER   NOT NULL,
    end                         INTEGER   NOT NULL,
    nameId                      INTEGER   NOT NULL,
    globalTid                   INTEGER,
    eventKind                   INTEGER,
    lineNo                      INTEGER,
    srcFile                     INTEGER,
    funcName                    INTEGER,
    correlationId               INTEGER
);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (
    start                       INTEGER   NOT NULL,
    end                         INTEGER   NOT NULL,
    deviceId                    INTEGER   NOT NULL,
    contextId                   INTEGER   NOT NULL,
    greenContextId              INTEGER, -- since 2024
    streamId                    INTEGER   NOT NULL,
    correlationId               INTEGER,
    globalPid                   INTEGER,
    value                       INTEGER   NOT NULL,
    bytes                       INTEGER   NOT NULL,
    graphNodeId                 INTEGER, -- since 2021
    memKind                     INTEGER -- since 2021
);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (
    start                       INTEGER   NOT NULL,
    end                         INTEGER   NOT NULL,
    deviceId                    INTEGER   NOT NULL,
    contextId                   INTEGER   NOT NULL,
    greenContextId              INTEGER, -- since 2024
    streamId                    INTEGER   NOT NULL,
    correlationId               INTEGER,
    globalPid                   INTEGER,
    bytes                       INTEGER   NOT NULL,
    copyKind                    INTEGER   NOT NULL,
    deprecatedSrcId             INTEGER, -- since 2021
    srcKind                     INTEGER,
    dstKind                     INTEGER,
    srcDeviceId                 INTEGER,
    srcContextId                INTEGER,
    dstDeviceId                 INTEGER,
    dstContextId                INTEGER,
    migrationCause              INTEGER, -- since 2021
    graphNodeId                 INTEGER, -- since 2021
    virtualAddress              INTEGER, -- since 2021
    copyCount                   INTEGER -- since 2026
);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (
    start                       INTEGER   NOT NULL,
    end                         INTEGER   NOT NULL,
    deviceId                    INTEGER   NOT NULL,
    contextId                   INTEGER   NOT NULL,
    greenContextId              INTEGER, -- since 2024
    streamId                    INTEGER   NOT NULL,
    correlationId               INTEGER,
    globalPid                   INTEGER,
    demangledName               INTEGER   NOT NULL,
    shortName                   INTEGER   NOT NULL,
    mangledName                 INTEGER, -- since 2024
    launchType                  INTEGER, -- since 2021
    cacheConfig                 INTEGER,
    registersPerThread          INTEGER   NOT NULL,
    gridX                       INTEGER   NOT NULL,
    gridY                       INTEGER   NOT NULL,
    gridZ                       INTEGER   NOT NULL,
    blockX                      INTEGER   NOT NULL,
    blockY                      INTEGER   NOT NULL,
    blockZ                      INTEGER   NOT NULL,
    staticSharedMemory          INTEGER   NOT NULL,
    dynamicSharedMemory         INTEGER   NOT NULL,
    localMemoryPerThread        INTEGER   NOT NULL,
    localMemoryTotal            INTEGER   NOT NULL,
    gridId                      INTEGER   NOT NULL,
    sharedMemoryExecuted        INTEGER,
    graphNodeId                 INTEGER, -- since 2021
    sharedMemoryLimitConfig     INTEGER, -- since 2021
    qmdBulkReleaseDone          INTEGER, -- since 2026
    qmdPreexitDone              INTEGER, -- since 2026
    qmdLastCtaDone              INTEGER, -- since 2026
    graphId                     INTEGER, -- since 2026
    clusterX                    INTEGER, -- since 2026
    clusterY                    INTEGER, -- since 2026
    clusterZ                    INTEGER, -- since 2026
    clusterSchedulingPolicy     INTEGER, -- since 2026
    maxPotentialClusterSize     INTEGER, -- since 2026
    maxActiveClusters           INTEGER, -- since 2026
    sharedMemoryRequestedPercentage INTEGER, -- since 2026
    tensorSizeMinusOneElements  TEXT   NOT NULL -- since 2026
);
CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE ( -- since 2024
    start                       INTEGER   NOT NULL,
    end                         INTEGER   NOT NULL,
    deviceId                    INTEGER   NOT NULL,
    contextId                   INTEGER   NOT NULL,
    greenContextId              INTEGER,
    streamId                    INTEGER   NOT NULL,
    correlationId               INTEGER,
    globalPid                   INTEGER,
    graphId                     INTEGER   NOT NULL,
    graphExecId                 INTEGER   NOT NULL
);
CREATE TABLE CUDA_GRAPH_NODE_EVENTS ( -- since 2024
    start                       INTEGER   NOT NULL,
    end                         INTEGER   NOT NULL,
    eventClass                  INTEGER   NOT NULL,
    globalTid                   INTEGER,
    nameId                      INTEGER   NOT NULL,
    graphNodeId                 INTEGER   NOT NULL,
    originalGraphNodeId         INTEGER
);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (
    start                       INTEGER   NOT NULL,
    end                         INTEGER   NOT NULL,
    eventClass                  INTEGER   NOT NULL, -- since 2021
    globalTid                   INTEGER,
    correlationId               INTEGER,
    nameId                      INTEGER   NOT NULL,
    returnValue                 INTEGER   NOT NULL,
    callchainId                 INTEGER -- since 2021
);
CREATE TABLE NVTX_EVENTS (
    start                       INTEGER   NOT NULL,
    end                         INTEGER,
    eventType                   INTEGER   NOT NULL,
    rangeId                     INTEGER,
    category                    INTEGER,
    color                       INTEGER,
    text                        TEXT,
    globalTid                   INTEGER,
    endGlobalTid                INTEGER,
    textId                      INTEGER,
    domainId                    INTEGER,
    uint64Value                 INTEGER,
    int64Value                  INTEGER,
    doubleValue                 REAL,
    uint32Value                 INTEGER,
    int32Value                  INTEGER,
    floatValue                  REAL,
    jsonTextId                  INTEGER,
    jsonText                    TEXT,
    binaryData                  TEXT -- since 2024
);
CREATE TABLE PROCESSES ( -- since 2021
    globalPid                   INTEGER,
    pid                         INTEGER,
    name                        TEXT
);
CREATE TABLE ThreadNames (
    nameId                      INTEGER   NOT NULL,
    priority                    INTEGER,
    globalTid                   INTEGER
);
CREATE TABLE TARGET_INFO_GPU ( -- since 2024
    vmId                        INTEGER   NOT NULL,
    id                          INTEGER   NOT NULL,
    name                        TEXT,
    busLocation                 TEXT,
    isDiscrete                  INTEGER,
    l2CacheSize                 INTEGER,
    totalMemory                 INTEGER,
    memoryBandwidth             INTEGER,
    clockRate                   INTEGER,
    smCount                     INTEGER,
    pwGpuId                     INTEGER,
    uuid                        TEXT,
    luid                        INTEGER,
    chipName                    TEXT,
    cuDevice                    INTEGER,
    ctxswDevPath                TEXT,
    ctrlDevPath                 TEXT,
    revision                    INTEGER,
    nodeMask                    INTEGER,
    constantMemory              INTEGER,
    maxIPC                      INTEGER,
    maxRegistersPerBlock        INTEGER,
    maxShmemPerBlock            INTEGER,
    maxShmemPerBlockOptin       INTEGER,
    maxShmemPerSm               INTEGER,
    maxRegistersPerSm           INTEGER,
    threadsPerWarp              INTEGER,
    asyncEngines                INTEGER,
    maxWarpsPerSm               INTEGER,
    maxBlocksPerSm              INTEGER,
    maxThreadsPerBlock          INTEGER,
    maxBlockDimX                INTEGER,
    maxBlockDimY                INTEGER,
    maxBlockDimZ                INTEGER,
    maxGridDimX                 INTEGER,
    maxGridDimY                 INTEGER,
    maxGridDimZ                 INTEGER,
    computeMajor                INTEGER,
    computeMinor                INTEGER,
    smMajor                     INTEGER,
    smMinor                     INTEGER
);
CREATE TABLE TARGET_INFO_CUDA_DEVICE ( -- since 2026
    gpuId                       INTEGER,
    cudaId                      INTEGER   NOT NULL,
    pid                         INTEGER   NOT NULL,
    uuid                        TEXT,
    numMultiprocessors          INTEGER
);
CREATE TABLE TARGET_INFO_CUDA_GPU ( -- until 2021
    deviceId                    INTEGER   NOT NULL,
    name                        TEXT   NOT NULL,
    computeCapabilityMajor      INTEGER   NOT NULL,
    computeCapabilityMinor      INTEGER   NOT NULL,
    globalMemoryBandwidth       INTEGER   NOT NULL,
    globalMemorySize            INTEGER   NOT NULL,
    numMultiprocessors          INTEGER   NOT NULL,
    coreClockRate               INTEGER   NOT NULL
);
CREATE TABLE TARGET_INFO_CUDA_CONTEXT_INFO ( -- since 2021
    nullStreamId                INTEGER   NOT NULL,
    hwId                        INTEGER   NOT NULL,
    vmId                        INTEGER   NOT NULL,
    processId                   INTEGER   NOT NULL,
    deviceId                    INTEGER   NOT NULL,
    contextId                   INTEGER   NOT NULL,
    parentContextId             INTEGER, -- since 2024
    isGreenContext              INTEGER, -- since 2024
    numMultiprocessors          INTEGER, -- since 2026
    tpcMask                     TEXT -- since 2026
);
CREATE TABLE TARGET_INFO_CUDA_STREAM ( -- since 2021
    streamId                    INTEGER   NOT NULL,
    hwId                        INTEGER   NOT NULL,
    vmId                        INTEGER   NOT NULL,
    processId                   INTEGER   NOT NULL,
    contextId                   INTEGER   NOT NULL,
    priority                    INTEGER   NOT NULL,
    flag                        INTEGER   NOT NULL
);
CREATE TABLE ENUM_NSYS_EVENT_TYPE ( -- since 2024
    id                          INTEGER   NOT NULL   PRIMARY KEY,
    name                        TEXT,
    label                       TEXT
);
CREATE TABLE ENUM_NSYS_EVENT_CLASS ( -- since 2024
    id                          INTEGER   NOT NULL   PRIMARY KEY,
    name                        TEXT,
    label                       TEXT
);
CREATE TABLE ENUM_CUDA_MEMCPY_OPER ( -- since 2024
    id                          INTEGER   NOT NULL   PRIMARY KEY,
    name                        TEXT,
    label                       TEXT
);
CREATE TABLE ENUM_CUDA_MEM_KIND ( -- since 2024
    id                          INTEGER   NOT NULL   PRIMARY KEY,
    name                        TEXT,
    label                       TEXT
);
CREATE TABLE ENUM_CUDA_KERNEL_LAUNCH_TYPE ( -- since 2024
    id                          INTEGER   NOT NULL   PRIMARY KEY,
    name                        TEXT,
    label                       TEXT
);
CREATE TABLE ENUM_CUPTI_STREAM_TYPE ( -- since 2024
    id                          INTEGER   NOT NULL   PRIMARY KEY,
    name                        TEXT,
    label                       TEXT
);
CREATE TABLE ENUM_CUPTI_SYNC_TYPE ( -- since 2024
    id                          INTEGER   NOT NULL   PRIMARY KEY,
    name                        TEXT,
    label                       TEXT
);
CREATE TABLE ENUM_CUPTI_OVERHEAD_TYPE ( -- since 2024
    id                          INTEGER   NOT NULL   PRIMARY KEY,
    name                        TEXT,
    label                       TEXT
);
CREATE TABLE ENUM_DIAGNOSTIC_SEVERITY_LEVEL ( -- since 2024
    id                          INTEGER   NOT NULL   PRIMARY KEY,
    name                        TEXT,
    label                       TEXT
);
CREATE TABLE ENUM_DIAGNOSTIC_SOURCE_TYPE ( -- since 2024
    id                          INTEGER   NOT NULL   PRIMARY KEY,
    name                        TEXT,
    label                       TEXT
);
CREATE TABLE ENUM_DIAGNOSTIC_TIMESTAMP_SOURCE ( -- since 2024
    id                          INTEGER   NOT NULL   PRIMARY KEY,
    name                        TEXT,
    label                       TEXT
);
CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT ( -- since 2026
    timestamp                   INTEGER   NOT NULL,
    deviceId                    INTEGER   NOT NULL,
    contextId                   INTEGER   NOT NULL,
    greenContextId              INTEGER,
    streamId                    INTEGER   NOT NULL,
    correlationId               INTEGER,
    globalPid                   INTEGER,
    eventId                     INTEGER   NOT NULL,
    eventSyncId                 INTEGER
);
CREATE TABLE CUDA_GRAPH_EVENTS ( -- since 2026
    start                       INTEGER   NOT NULL,
    end                         INTEGER   NOT NULL,
    eventClass                  INTEGER   NOT NULL,
    globalTid                   INTEGER,
    nameId                      INTEGER   NOT NULL,
    graphId                     INTEGER,
    originalGraphId             INTEGER,
    graphExecId                 INTEGER
);
CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS ( -- since 2026
    start                       INTEGER   NOT NULL,
    globalPid                   INTEGER   NOT NULL,
    deviceId                    INTEGER   NOT NULL,
    contextId                   INTEGER   NOT NULL,
    address                     INTEGER   NOT NULL,
    pc                          INTEGER   NOT NULL,
    bytes                       INTEGER   NOT NULL,
    memKind                     INTEGER   NOT NULL,
    memoryOperationType         INTEGER   NOT NULL,
    name                        TEXT,
    correlationId               INTEGER,
    streamId                    INTEGER,
    localMemoryPoolAddress      INTEGER,
    localMemoryPoolReleaseThreshold INTEGER,
    localMemoryPoolSize         INTEGER,
    localMemoryPoolUtilizedSize INTEGER,
    importedMemoryPoolAddress   INTEGER,
    importedMemoryPoolProcessId INTEGER
);
CREATE TABLE CUDA_GPU_MEMORY_POOL_EVENTS ( -- since 2026
    start                       INTEGER   NOT NULL,
    globalPid                   INTEGER   NOT NULL,
    deviceId                    INTEGER   NOT NULL,
    address                     INTEGER   NOT NULL,
    operationType               INTEGER   NOT NULL,
    poolType                    INTEGER   NOT NULL,
    correlationId               INTEGER,
    minBytesToKeep              INTEGER,
    localMemoryPoolReleaseThreshold INTEGER,
    localMemoryPoolSize         INTEGER,
    localMemoryPoolUtilizedSize INTEGER
);
CREATE TABLE CUDA_UM_CPU_PAGE_FAULT_EVENTS ( -- since 2026
    start                       INTEGER   NOT NULL,
    globalPid                   INTEGER   NOT NULL,
    address                     INTEGER   NOT NULL,
    originalFaultPc             INTEGER,
    CpuInstruction              INTEGER   NOT NULL,
    module                      INTEGER   NOT NULL,
    unresolvedFaultPc           INTEGER,
    sourceFile                  INTEGER,
    sourceLine                  INTEGER
);
CREATE TABLE CUDA_UM_GPU_PAGE_FAULT_EVENTS ( -- since 2026
    start                       INTEGER   NOT NULL,
    end                         INTEGER   NOT NULL,
    globalPid                   INTEGER   NOT NULL,
    deviceId                    INTEGER   NOT NULL,
    address                     INTEGER   NOT NULL,
    numberOfPageFaults          INTEGER   NOT NULL,
    faultAccessType             INTEGER   NOT NULL
);
CREATE TABLE TARGET_INFO_GPU_METRICS ( -- since 2026
    typeId                      INTEGER   NOT NULL,
    sourceId                    INTEGER   NOT NULL,
    typeName                    TEXT   NOT NULL,
    metricId                    INTEGER   NOT NULL,
    metricName                  TEXT   NOT NULL
);
CREATE TABLE GPU_METRICS ( -- since 2026
    rawTimestamp                INTEGER,
    timestamp                   INTEGER,
    typeId                      INTEGER   NOT NULL,
    metricId                    INTEGER   NOT NULL,
    value                       INTEGER   NOT NULL
);
CREATE TABLE GPU_CONTEXT_SWITCH_EVENTS ( -- since 2026
    tag                         INTEGER   NOT NULL,
    vmId                        INTEGER   NOT NULL,
    seqNo                       INTEGER   NOT NULL,
    contextId                   INTEGER   NOT NULL,
    timestamp                   INTEGER   NOT NULL,
    globalPid                   INTEGER,
    gpuId                       INTEGER
);
CREATE TABLE TARGET_INFO_NETWORK_METRICS ( -- since 2026
    metricsListId               INTEGER   NOT NULL,
    metricsIdx                  INTEGER   NOT NULL,
    name                        TEXT   NOT NULL,
    description                 TEXT   NOT NULL,
    unit                        TEXT   NOT NULL
);
CREATE TABLE NIC_ID_MAP ( -- since 2026
    nicId                       INTEGER   NOT NULL,
    globalId                    INTEGER   NOT NULL
);
CREATE TABLE TARGET_INFO_NIC_INFO ( -- since 2026
    GUID                        INTEGER   NOT NULL,
    stateName                   TEXT   NOT NULL,
    nicId                       INTEGER   NOT NULL,
    name                        TEXT   NOT NULL,
    deviceId                    INTEGER   NOT NULL,
    vendorId                    INTEGER   NOT NULL,
    linkLayer                   INTEGER   NOT NULL
);
CREATE TABLE NET_NIC_METRIC ( -- since 2026
    start                       INTEGER   NOT NULL,
    end                         INTEGER   NOT NULL,
    globalId                    INTEGER   NOT NULL,
    portId                      INTEGER   NOT NULL,
    metricsListId               INTEGER   NOT NULL,
    metricsIdx                  INTEGER   NOT NULL,
    value                       INTEGER   NOT NULL
);
CREATE TABLE SCHED_EVENTS ( -- since 2026
    start                       INTEGER   NOT NULL,
    cpu                         INTEGER   NOT NULL,
    isSchedIn                   INTEGER   NOT NULL,
    globalTid                   INTEGER,
    threadState                 INTEGER,
    threadBlock                 INTEGER
);
CREATE TABLE COMPOSITE_EVENTS ( -- since 2026
    id                          INTEGER   NOT NULL   PRIMARY KEY,
    start                       INTEGER   NOT NULL,
    cpu                         INTEGER,
    threadState                 INTEGER,
    globalTid                   INTEGER,
    cpuCycles                   INTEGER   NOT NULL
);
CREATE TABLE SAMPLING_CALLCHAINS ( -- since 2026
    id                          INTEGER   NOT NULL,
    symbol                      INTEGER   NOT NULL,
    module                      INTEGER   NOT NULL,
    kernelMode                  INTEGER,
    thumbCode                   INTEGER,
    unresolved                  INTEGER,
    specialEntry                INTEGER,
    originalIP                  INTEGER,
    unwindMethod                INTEGER,
    stackDepth                  INTEGER   NOT NULL
);
CREATE TABLE CUDA_CALLCHAINS ( -- since 2026
    id                          INTEGER   NOT NULL,
    symbol                      INTEGER   NOT NULL,
    module                      INTEGER   NOT NULL,
    unresolved                  INTEGER,
    originalIP                  INTEGER,
    stackDepth                  INTEGER   NOT NULL
);
CREATE TABLE OSRT_CALLCHAINS ( -- since 2026
    id                          INTEGER   NOT NULL,
    symbol                      INTEGER   NOT NULL,
    module                      INTEGER   NOT NULL,
    kernelMode                  INTEGER,
    thumbCode                   INTEGER,
    unresolved                  INTEGER,
    specialEntry                INTEGER,
    originalIP                  INTEGER,
    unwindMethod                INTEGER,
    stackDepth                  INTEGER   NOT NULL
);
CREATE TABLE OSRT_API ( -- since 2026
    start                       INTEGER   NOT NULL,
    end                         INTEGER   NOT NULL,
    eventClass                  INTEGER   NOT NULL,
    globalTid                   INTEGER,
    nameId                      INTEGER   NOT NULL,
    returnValue                 INTEGER   NOT NULL,
    nestingLevel                INTEGER,
    callchainId                 INTEGER
);
CREATE TABLE CUPTI_ACTIVITY_KIND_JIT ( -- since 2026
    start                       INTEGER   NOT NULL,
    end                         INTEGER   NOT NULL,
    eventClass                  INTEGER   NOT NULL,
    globalTid                   INTEGER,
    correlationId               INTEGER,
    nameId                      INTEGER,
    overheadType                INTEGER   NOT NULL,
    jitEntryType                INTEGER   NOT NULL,
    jitOperationType            INTEGER   NOT NULL,
    deviceId                    INTEGER,
    jitOperationCorrelationId   INTEGER,
    cacheSize                   INTEGER,
    cachePath                   TEXT
);
CREATE TABLE CUBLAS_EVENTS ( -- since 2026
    start                       INTEGER   NOT NULL,
    end                         INTEGER   NOT NULL,
    eventClass                  INTEGER   NOT NULL,
    globalTid                   INTEGER,
    nameId                      INTEGER   NOT NULL
);
CREATE TABLE CUDNN_EVENTS ( -- since 2026
    start                       INTEGER   NOT NULL,
    end                         INTEGER   NOT NULL,
    eventClass                  INTEGER   NOT NULL,
    globalTid                   INTEGER,
    nameId                      INTEGER   NOT NULL
);
CREATE TABLE MPI_RANKS ( -- since 2026
    globalTid                   INTEGER   NOT NULL,
    rank                        INTEGER   NOT NULL
);
CREATE TABLE SYSCALL ( -- since 2026
    start                       INTEGER   NOT NULL,
    end                         INTEGER   NOT NULL,
    eventClass                  INTEGER   NOT NULL,
    globalTid                   INTEGER,
    nameId                      INTEGER   NOT NULL,
    callchainId                 INTEGER
);
CREATE TABLE OSRT_FILE_ACCESS_EVENTS ( -- since 2026
    fileAccessId                INTEGER,
    threadId                    INTEGER,
    startedAt                   INTEGER,
    endedAt                     INTEGER,
    eventType                   INTEGER,
    apiCallId                   INTEGER,
    bytesProcessed              INTEGER
);
CREATE TABLE OSRT_FILE_ACCESS_DESCRIPTORS ( -- since 2026
    fileAccessId                INTEGER,
    processId                   INTEGER,
    openedAt                    INTEGER,
    closedAt                    INTEGER,
    filePath                    TEXT
);
CREATE TABLE MPI_COMMUNICATORS ( -- since 2026
    rank                        INTEGER,
    timestamp                   INTEGER,
    commHandle                  INTEGER,
    parentHandle                INTEGER,
    localRank                   INTEGER,
    size                        INTEGER,
    groupRoot                   INTEGER,
    groupRootUid                INTEGER,
    members                     TEXT,
    commUid                     INTEGER
);
CREATE TABLE MPI_P2P_EVENTS ( -- since 2026
    start                       INTEGER   NOT NULL,
    end                         INTEGER,
    globalTid                   INTEGER,
    textId                      INTEGER,
    commHandle                  INTEGER,
    commUid                     INTEGER,
    tag                         INTEGER,
    remoteRank                  INTEGER,
    size                        INTEGER,
    requestHandle               INTEGER
);
CREATE TABLE MPI_COLLECTIVES_EVENTS ( -- since 2026
    start                       INTEGER   NOT NULL,
    end                         INTEGER,
    globalTid                   INTEGER,
    textId                      INTEGER,
    commHandle                  INTEGER,
    commUid                     INTEGER,
    rootRank                    INTEGER,
    size                        INTEGER,
    recvSize                    INTEGER,
    requestHandle               INTEGER
);
CREATE TABLE MPI_START_WAIT_EVENTS ( -- since 2026
    start                       INTEGER   NOT NULL,
    end                         INTEGER,
    globalTid                   INTEGER,
    textId                      INTEGER,
    requestHandle               INTEGER
);
CREATE TABLE MPI_OTHER_EVENTS ( -- since 2026
    start                       INTEGER   NOT NULL,
    end                         INTEGER,
    globalTid                   INTEGER,
    textId                      INTEGER
);
CREATE TABLE UCP_WORKERS ( -- since 2026
    globalTid                   INTEGER   NOT NULL,
    workerUid                   INTEGER   NOT NULL
);
CREATE TABLE UCP_SUBMIT_EVENTS ( -- since 2026
    start                       INTEGER   NOT NULL,
    end                         INTEGER,
    globalTid                   INTEGER,
    textId                      INTEGER,
    bufferAddr                  INTEGER,
    packedSize                  INTEGER,
    peerWorkerUid               INTEGER,
    tag                         INTEGER
);
CREATE TABLE UCP_EVENTS ( -- since 2026
    start                       INTEGER   NOT NULL,
    end                         INTEGER,
    globalTid                   INTEGER,
    textId                      INTEGER
);
CREATE TABLE NVTX_PAYLOAD_SCHEMAS ( -- since 2026
    domainId                    INTEGER,
    schemaId                    INTEGER,
    name                        TEXT,
    type                        INTEGER,
    flags                       INTEGER,
    numEntries                  INTEGER,
    payloadSize                 INTEGER,
    alignTo                     INTEGER
);
CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES ( -- since 2026
    domainId                    INTEGER,
    schemaId                    INTEGER,
    idx                         INTEGER,
    flags                       INTEGER,
    type                        INTEGER,
    name                        TEXT,
    description                 TEXT,
    arrayOrUnionDetail          INTEGER,
    offset                      INTEGER
);
CREATE TABLE META_DATA_CAPTURE ( -- since 2021
    name                        TEXT   NOT NULL,
    value                       TEXT
);
CREATE TABLE META_DATA_EXPORT ( -- since 2024
    name                        TEXT   NOT NULL,
    value                       TEXT
);
CREATE TABLE EXPORT_META_DATA ( -- since 2021 until 2021
    name                        TEXT   NOT NULL,
    value                       TEXT
);
