CREATE TABLE StringIds (
    id                          INTEGER   NOT NULL   PRIMARY KEY,
    value                       TEXT   NOT NULL
);
CREATE TABLE TARGET_INFO_SYSTEM_ENV (
    globalVid                   INTEGER   NOT NULL,
    devStateName                TEXT   NOT NULL,
    name                        TEXT   NOT NULL,
    nameEnum                    INTEGER   NOT NULL,
    value                       TEXT   NOT NULL
);
CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (
    start                       INTEGER   NOT NULL,
    end                         INTEGER   NOT NULL,
    deviceId                    INTEGER   NOT NULL,
    contextId                   INTEGER   NOT NULL,
    streamId                    INTEGER   NOT NULL,
    correlationId               INTEGER   NOT NULL,
    globalPid                   INTEGER   NOT NULL,
    syncType                    INTEGER   NOT NULL,
    eventId                     INTEGER   NOT NULL
);
CREATE TABLE PROFILER_OVERHEAD (
    start                       INTEGER   NOT NULL,
    end                         INTEGER   NOT NULL,
    globalTid                   INTEGER   NOT NULL,
    nameId                      INTEGER   NOT NULL,
    returnValue                 INTEGER   NOT NULL
);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (
    start                       INTEGER   NOT NULL,
    end                         INTEGER   NOT NULL,
    deviceId                    INTEGER   NOT NULL,
    contextId                   INTEGER   NOT NULL,
    streamId                    INTEGER   NOT NULL,
    correlationId               INTEGER   NOT NULL,
    globalPid                   INTEGER   NOT NULL,
    value                       INTEGER   NOT NULL,
    bytes                       INTEGER   NOT NULL
);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (
    start                       INTEGER   NOT NULL,
    end                         INTEGER   NOT NULL,
    deviceId                    INTEGER   NOT NULL,
    contextId                   INTEGER   NOT NULL,
    streamId                    INTEGER   NOT NULL,
    correlationId               INTEGER   NOT NULL,
    globalPid                   INTEGER   NOT NULL,
    bytes                       INTEGER   NOT NULL,
    copyKind                    INTEGER   NOT NULL,
    srcKind                     INTEGER   NOT NULL,
    dstKind                     INTEGER   NOT NULL,
    srcDeviceId                 INTEGER   NOT NULL,
    srcContextId                INTEGER   NOT NULL,
    dstDeviceId                 INTEGER   NOT NULL,
    dstContextId                INTEGER   NOT NULL
);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (
    start                       INTEGER   NOT NULL,
    end                         INTEGER   NOT NULL,
    deviceId                    INTEGER   NOT NULL,
    contextId                   INTEGER   NOT NULL,
    streamId                    INTEGER   NOT NULL,
    correlationId               INTEGER   NOT NULL,
    globalPid                   INTEGER   NOT NULL,
    demangledName               INTEGER   NOT NULL,
    shortName                   INTEGER   NOT NULL,
    cacheConfig                 INTEGER   NOT NULL,
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
    sharedMemoryExecuted        INTEGER   NOT NULL
);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (
    start                       INTEGER   NOT NULL,
    end                         INTEGER   NOT NULL,
    globalTid                   INTEGER   NOT NULL,
    correlationId               INTEGER   NOT NULL,
    nameId                      INTEGER   NOT NULL,
    returnValue                 INTEGER   NOT NULL
);
CREATE TABLE NVTX_EVENTS (
    start                       INTEGER   NOT NULL,
    end                         INTEGER   NOT NULL,
    eventType                   INTEGER   NOT NULL,
    rangeId                     INTEGER   NOT NULL,
    category                    INTEGER   NOT NULL,
    color                       INTEGER   NOT NULL,
    text                        TEXT   NOT NULL,
    globalTid                   INTEGER   NOT NULL,
    endGlobalTid                INTEGER   NOT NULL,
    textId                      INTEGER   NOT NULL,
    domainId                    INTEGER   NOT NULL,
    uint64Value                 INTEGER   NOT NULL,
    int64Value                  INTEGER   NOT NULL,
    doubleValue                 REAL   NOT NULL,
    uint32Value                 INTEGER   NOT NULL,
    int32Value                  INTEGER   NOT NULL,
    floatValue                  REAL   NOT NULL,
    jsonTextId                  INTEGER   NOT NULL,
    jsonText                    TEXT   NOT NULL
);
CREATE TABLE ThreadNames (
    nameId                      INTEGER   NOT NULL,
    priority                    INTEGER   NOT NULL,
    globalTid                   INTEGER   NOT NULL
);
CREATE TABLE TARGET_INFO_CUDA_GPU (
    deviceId                    INTEGER   NOT NULL,
    name                        TEXT   NOT NULL,
    computeCapabilityMajor      INTEGER   NOT NULL,
    computeCapabilityMinor      INTEGER   NOT NULL,
    globalMemoryBandwidth       INTEGER   NOT NULL,
    globalMemorySize            INTEGER   NOT NULL,
    numMultiprocessors          INTEGER   NOT NULL,
    coreClockRate               INTEGER   NOT NULL
);
