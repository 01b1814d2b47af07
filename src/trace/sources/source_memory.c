/* Sources of what happens to GPU memory: allocations, pools, page faults of unified memory. */
#include "trace/sources/source_cells.h"
#include "tables/memory_pool_events.h"
#include "tables/memory_usage_events.h"
#include "tables/um_fault_events.h"

/* --- allocations ------------------------------------------------------------------------------ */

enum {
  U_DEVICE = 1,
  U_PROCESS,
  U_CONTEXT,
  U_STREAM,
  U_CORRELATION,
  U_OPERATION,
  U_KIND,
  U_ADDRESS,
  U_BYTES,
  U_PC,
  U_NAME,
  U_POOL,
  U_POOL_THRESHOLD,
  U_POOL_SIZE,
  U_POOL_USED,
  U_IMPORTED
};
static const struct nai_field usage_fields[] = {NEEDED("start"),
                                                FIELD("deviceId"),
                                                FIELD2("globalPid", "globalTid"),
                                                FIELD("contextId"),
                                                FIELD("streamId"),
                                                FIELD("correlationId"),
                                                NEEDED("memoryOperationType"),
                                                FIELD("memKind"),
                                                NEEDED("address"),
                                                NEEDED("bytes"),
                                                FIELD("pc"),
                                                FIELD("name"),
                                                FIELD("localMemoryPoolAddress"),
                                                FIELD("localMemoryPoolReleaseThreshold"),
                                                FIELD("localMemoryPoolSize"),
                                                FIELD("localMemoryPoolUtilizedSize"),
                                                FIELD("importedMemoryPoolAddress")};

static int usage_row(struct nai_part *p, int64_t at, int64_t rowid, const struct nai_cell *cells, int *rc,
                     struct nai_err *err) {
  (void)rowid;
  int64_t bytes = int_or(p, cells, U_BYTES, -1);
  if (bytes < 0 || bytes > NAI_MAX_BYTES || field(p, cells, U_ADDRESS)->type != NAI_CELL_INT)
    return NAI_DROP_VALUE;
  int verdict = put_time(p, at, cells);
  if (verdict != NAI_KEEP)
    return verdict;
  put_device(p, MEMORY_USAGE_EVENTS_device_id, at, int_or(p, cells, U_PROCESS, 0), int_or(p, cells, U_DEVICE, -1));
  put_field_i32(p, MEMORY_USAGE_EVENTS_context_id, at, cells, U_CONTEXT);
  put_field_i32(p, MEMORY_USAGE_EVENTS_stream_id, at, cells, U_STREAM);
  put_field_i64(p, MEMORY_USAGE_EVENTS_correlation_id, at, cells, U_CORRELATION);
  put_field_i32(p, MEMORY_USAGE_EVENTS_operation, at, cells, U_OPERATION);
  put_field_i32(p, MEMORY_USAGE_EVENTS_memory_kind, at, cells, U_KIND);
  put_field_i64(p, MEMORY_USAGE_EVENTS_address, at, cells, U_ADDRESS);
  *nai_part_cell(p, MEMORY_USAGE_EVENTS_bytes, at) = bytes;
  nai_sum_add(&p->total_bytes, bytes);
  put_field_i64(p, MEMORY_USAGE_EVENTS_pc, at, cells, U_PC);
  put_optional_name(p, MEMORY_USAGE_EVENTS_name, at, cells, U_NAME, rc, err);
  put_field_i64(p, MEMORY_USAGE_EVENTS_pool_address, at, cells, U_POOL);
  put_field_bytes(p, MEMORY_USAGE_EVENTS_pool_release_threshold, at, cells, U_POOL_THRESHOLD);
  put_field_bytes(p, MEMORY_USAGE_EVENTS_pool_bytes, at, cells, U_POOL_SIZE);
  put_field_bytes(p, MEMORY_USAGE_EVENTS_pool_used_bytes, at, cells, U_POOL_USED);
  put_field_i64(p, MEMORY_USAGE_EVENTS_imported_pool_address, at, cells, U_IMPORTED);
  return NAI_KEEP;
}

const struct nai_source nai_source_memory_usage = {
    .table = NAI_IN_MEMORY_USAGE,
    .capability = "memory allocations",
    .disables = "memory use over time",
    .dictionary = {[MEMORY_USAGE_EVENTS_device_id] = NAI_DEVICES,
                   [MEMORY_USAGE_EVENTS_process] = NAI_PROCESSES,
                   [MEMORY_USAGE_EVENTS_name] = NAI_NAMES},
    .witness = true,
    .feeds = {FEED(usage_fields, usage_row, "CUDA_GPU_MEMORY_USAGE_EVENTS")},
    .feed_count = 1};

/* --- pools ------------------------------------------------------------------------------------ */

enum { P_DEVICE = 1, P_PROCESS, P_CORRELATION, P_OPERATION, P_TYPE, P_ADDRESS, P_KEEP, P_THRESHOLD, P_SIZE, P_USED };
static const struct nai_field pool_fields[] = {NEEDED("start"),
                                               FIELD("deviceId"),
                                               FIELD2("globalPid", "globalTid"),
                                               FIELD("correlationId"),
                                               NEEDED("operationType"),
                                               FIELD("poolType"),
                                               NEEDED("address"),
                                               FIELD("minBytesToKeep"),
                                               FIELD("localMemoryPoolReleaseThreshold"),
                                               FIELD("localMemoryPoolSize"),
                                               FIELD("localMemoryPoolUtilizedSize")};

static int pool_row(struct nai_part *p, int64_t at, int64_t rowid, const struct nai_cell *cells, int *rc,
                    struct nai_err *err) {
  (void)rowid, (void)rc, (void)err;
  if (field(p, cells, P_ADDRESS)->type != NAI_CELL_INT)
    return NAI_DROP_VALUE;
  int verdict = put_time(p, at, cells);
  if (verdict != NAI_KEEP)
    return verdict;
  put_device(p, MEMORY_POOL_EVENTS_device_id, at, int_or(p, cells, P_PROCESS, 0), int_or(p, cells, P_DEVICE, -1));
  put_field_i64(p, MEMORY_POOL_EVENTS_correlation_id, at, cells, P_CORRELATION);
  put_field_i32(p, MEMORY_POOL_EVENTS_operation, at, cells, P_OPERATION);
  put_field_i32(p, MEMORY_POOL_EVENTS_pool_type, at, cells, P_TYPE);
  put_field_i64(p, MEMORY_POOL_EVENTS_pool_address, at, cells, P_ADDRESS);
  put_field_bytes(p, MEMORY_POOL_EVENTS_min_bytes_to_keep, at, cells, P_KEEP);
  put_field_bytes(p, MEMORY_POOL_EVENTS_pool_release_threshold, at, cells, P_THRESHOLD);
  put_field_bytes(p, MEMORY_POOL_EVENTS_pool_bytes, at, cells, P_SIZE);
  put_field_bytes(p, MEMORY_POOL_EVENTS_pool_used_bytes, at, cells, P_USED);
  return NAI_KEEP;
}

const struct nai_source nai_source_memory_pools = {
    .table = NAI_IN_MEMORY_POOLS,
    .capability = "memory pools",
    .disables = "how memory pools grew and were trimmed",
    .dictionary = {[MEMORY_POOL_EVENTS_device_id] = NAI_DEVICES, [MEMORY_POOL_EVENTS_process] = NAI_PROCESSES},
    .witness = true,
    .feeds = {FEED(pool_fields, pool_row, "CUDA_GPU_MEMORY_POOL_EVENTS")},
    .feed_count = 1};

/* --- page faults ------------------------------------------------------------------------------ */

enum { C_PROCESS = 1, C_ADDRESS, C_SYMBOL, C_MODULE };
static const struct nai_field cpu_fault_fields[] = {NEEDED("start"), FIELD2("globalPid", "globalTid"),
                                                    NEEDED("address"), FIELD("CpuInstruction"), FIELD("module")};

static int cpu_fault_row(struct nai_part *p, int64_t at, int64_t rowid, const struct nai_cell *cells, int *rc,
                         struct nai_err *err) {
  (void)rowid;
  if (field(p, cells, C_ADDRESS)->type != NAI_CELL_INT)
    return NAI_DROP_VALUE;
  int verdict = put_time(p, at, cells);
  if (verdict != NAI_KEEP)
    return verdict;
  *nai_part_cell(p, UM_FAULT_EVENTS_end_ns, at) = *nai_part_cell(p, UM_FAULT_EVENTS_start_ns, at);
  put_i32(p, UM_FAULT_EVENTS_kind, at, NAI_FAULT_CPU);
  put_device(p, UM_FAULT_EVENTS_device_id, at, int_or(p, cells, C_PROCESS, 0), -1);
  put_field_i64(p, UM_FAULT_EVENTS_address, at, cells, C_ADDRESS);
  put_null(p, UM_FAULT_EVENTS_faults, at);
  put_null(p, UM_FAULT_EVENTS_access_type, at);
  put_optional_name(p, UM_FAULT_EVENTS_name, at, cells, C_SYMBOL, rc, err);
  put_optional_name(p, UM_FAULT_EVENTS_module, at, cells, C_MODULE, rc, err);
  return NAI_KEEP;
}

enum { F_PROCESS = 2, F_DEVICE, F_ADDRESS, F_COUNT, F_ACCESS };
static const struct nai_field gpu_fault_fields[] = {TIMES,
                                                    FIELD2("globalPid", "globalTid"),
                                                    FIELD("deviceId"),
                                                    NEEDED("address"),
                                                    FIELD("numberOfPageFaults"),
                                                    FIELD("faultAccessType")};

static int gpu_fault_row(struct nai_part *p, int64_t at, int64_t rowid, const struct nai_cell *cells, int *rc,
                         struct nai_err *err) {
  (void)rowid, (void)rc, (void)err;
  if (field(p, cells, F_ADDRESS)->type != NAI_CELL_INT)
    return NAI_DROP_VALUE;
  int verdict = put_times(p, at, cells);
  if (verdict != NAI_KEEP)
    return verdict;
  put_i32(p, UM_FAULT_EVENTS_kind, at, NAI_FAULT_GPU);
  put_device(p, UM_FAULT_EVENTS_device_id, at, int_or(p, cells, F_PROCESS, 0), int_or(p, cells, F_DEVICE, -1));
  put_field_i64(p, UM_FAULT_EVENTS_address, at, cells, F_ADDRESS);
  put_field_i64(p, UM_FAULT_EVENTS_faults, at, cells, F_COUNT);
  put_field_i32(p, UM_FAULT_EVENTS_access_type, at, cells, F_ACCESS);
  put_null(p, UM_FAULT_EVENTS_name, at);
  put_null(p, UM_FAULT_EVENTS_module, at);
  return NAI_KEEP;
}

const struct nai_source nai_source_um_faults = {
    .table = NAI_IN_UM_FAULTS,
    .capability = "page faults of unified memory",
    .disables = "who touched pages that had to move",
    .dictionary = {[UM_FAULT_EVENTS_device_id] = NAI_DEVICES,
                   [UM_FAULT_EVENTS_process] = NAI_PROCESSES,
                   [UM_FAULT_EVENTS_name] = NAI_NAMES,
                   [UM_FAULT_EVENTS_module] = NAI_NAMES},
    .witness = true,
    .feeds = {FEED(cpu_fault_fields, cpu_fault_row, "CUDA_UM_CPU_PAGE_FAULT_EVENTS"),
              FEED(gpu_fault_fields, gpu_fault_row, "CUDA_UM_GPU_PAGE_FAULT_EVENTS")},
    .feed_count = 2};
