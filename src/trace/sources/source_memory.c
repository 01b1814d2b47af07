/* Sources of what happens to GPU memory: allocations, pools, page faults of unified memory. */
#include "trace/sources/source_cells.h"
#include "tables/memory_pool_events.h"
#include "tables/memory_usage_events.h"
#include "tables/um_fault_events.h"

/* --- allocations ------------------------------------------------------------------------------ */

#define USAGE_FIELDS(F, L, T)                                                         \
  F(L, T, start, OWN, REQUIRED, "start")                                              \
  F(L, T, device_id, DEVICE, OPTIONAL, "deviceId")                                    \
  F(L, T, process, OWN, OPTIONAL, "globalPid", "globalTid")                           \
  F(L, T, context_id, I32, OPTIONAL, "contextId")                                     \
  F(L, T, stream_id, I32, OPTIONAL, "streamId")                                       \
  F(L, T, correlation_id, I64, OPTIONAL, "correlationId")                             \
  F(L, T, operation, I32, REQUIRED, "memoryOperationType")                            \
  F(L, T, memory_kind, I32, OPTIONAL, "memKind")                                      \
  F(L, T, address, I64, ABOUT, "address")                                             \
  F(L, T, bytes, I64, ABOUT, "bytes")                                                 \
  F(L, T, pc, I64, OPTIONAL, "pc")                                                    \
  F(L, T, name, TEXT, OPTIONAL, "name")                                               \
  F(L, T, pool_address, I64, OPTIONAL, "localMemoryPoolAddress")                      \
  F(L, T, pool_release_threshold, BYTES, OPTIONAL, "localMemoryPoolReleaseThreshold") \
  F(L, T, pool_bytes, BYTES, OPTIONAL, "localMemoryPoolSize")                         \
  F(L, T, pool_used_bytes, BYTES, OPTIONAL, "localMemoryPoolUtilizedSize")            \
  F(L, T, imported_pool_address, I64, OPTIONAL, "importedMemoryPoolAddress")
NAI_FIELDS(usage, USAGE_FIELDS, MEMORY_USAGE_EVENTS, put_time)

static int usage_row(struct nai_part *p) {
  int64_t bytes = int_or(p, usage_bytes, -1);
  if (bytes < 0 || bytes > NAI_MAX_BYTES)
    return NAI_DROP_VALUE;
  int verdict = put_usage(p);
  if (verdict == NAI_KEEP)
    nai_sum_add(&p->total_bytes, bytes);
  return verdict;
}

const struct nai_source nai_source_memory_usage = {.table = NAI_IN_MEMORY_USAGE,
                                                   .capability = "memory allocations",
                                                   .disables = "memory use over time",
                                                   .witness = true,
                                                   .feeds = {
                                                       NAI_FEED(usage, usage_row, 0, "CUDA_GPU_MEMORY_USAGE_EVENTS")}};

/* --- pools ------------------------------------------------------------------------------------ */

#define POOL_FIELDS(F, L, T)                                                          \
  F(L, T, start, OWN, REQUIRED, "start")                                              \
  F(L, T, device_id, DEVICE, OPTIONAL, "deviceId")                                    \
  F(L, T, process, OWN, OPTIONAL, "globalPid", "globalTid")                           \
  F(L, T, correlation_id, I64, OPTIONAL, "correlationId")                             \
  F(L, T, operation, I32, REQUIRED, "operationType")                                  \
  F(L, T, pool_type, I32, OPTIONAL, "poolType")                                       \
  F(L, T, pool_address, I64, ABOUT, "address")                                        \
  F(L, T, min_bytes_to_keep, BYTES, OPTIONAL, "minBytesToKeep")                       \
  F(L, T, pool_release_threshold, BYTES, OPTIONAL, "localMemoryPoolReleaseThreshold") \
  F(L, T, pool_bytes, BYTES, OPTIONAL, "localMemoryPoolSize")                         \
  F(L, T, pool_used_bytes, BYTES, OPTIONAL, "localMemoryPoolUtilizedSize")
NAI_FIELDS(pool, POOL_FIELDS, MEMORY_POOL_EVENTS, put_time)

const struct nai_source nai_source_memory_pools = {.table = NAI_IN_MEMORY_POOLS,
                                                   .capability = "memory pools",
                                                   .disables = "how memory pools grew and were trimmed",
                                                   .witness = true,
                                                   .feeds = {
                                                       NAI_FEED(pool, put_pool, 0, "CUDA_GPU_MEMORY_POOL_EVENTS")}};

/* --- page faults ------------------------------------------------------------------------------ */

#define CPU_FAULT_FIELDS(F, L, T)                           \
  F(L, T, start, OWN, REQUIRED, "start")                    \
  F(L, T, process, OWN, OPTIONAL, "globalPid", "globalTid") \
  F(L, T, kind, KIND, EXTRA, NULL)                          \
  F(L, T, address, I64, ABOUT, "address")                   \
  F(L, T, name, TEXT, OPTIONAL, "CpuInstruction")           \
  F(L, T, module, TEXT, OPTIONAL, "module")
NAI_FIELDS(cpu_fault, CPU_FAULT_FIELDS, UM_FAULT_EVENTS, put_time)

static int cpu_fault_row(struct nai_part *p) {
  int verdict = put_cpu_fault(p);
  if (verdict != NAI_KEEP)
    return verdict;
  put_i64(p, UM_FAULT_EVENTS_end_ns, *nai_part_cell(p, UM_FAULT_EVENTS_start_ns));
  put_device(p, UM_FAULT_EVENTS_device_id, int_or(p, cpu_fault_process, 0), -1);
  put_null(p, UM_FAULT_EVENTS_faults);
  put_null(p, UM_FAULT_EVENTS_access_type);
  return NAI_KEEP;
}

#define GPU_FAULT_FIELDS(F, L, T)                           \
  TIMES(F, L, T)                                            \
  F(L, T, process, OWN, OPTIONAL, "globalPid", "globalTid") \
  F(L, T, device_id, DEVICE, OPTIONAL, "deviceId")          \
  F(L, T, kind, KIND, EXTRA, NULL)                          \
  F(L, T, address, I64, ABOUT, "address")                   \
  F(L, T, faults, SIZE, OPTIONAL, "numberOfPageFaults")     \
  F(L, T, access_type, I32, OPTIONAL, "faultAccessType")
NAI_FIELDS(gpu_fault, GPU_FAULT_FIELDS, UM_FAULT_EVENTS, put_times)

static int gpu_fault_row(struct nai_part *p) {
  put_null(p, UM_FAULT_EVENTS_name);
  put_null(p, UM_FAULT_EVENTS_module);
  return put_gpu_fault(p);
}

const struct nai_source nai_source_um_faults = {
    .table = NAI_IN_UM_FAULTS,
    .capability = "page faults of unified memory",
    .disables = "who touched pages that had to move",
    .witness = true,
    .feeds = {NAI_FEED(cpu_fault, cpu_fault_row, NAI_FAULT_CPU, "CUDA_UM_CPU_PAGE_FAULT_EVENTS"),
              NAI_FEED(gpu_fault, gpu_fault_row, NAI_FAULT_GPU, "CUDA_UM_GPU_PAGE_FAULT_EVENTS")}};
