/* Sources of what happens to GPU memory: allocations, pools, page faults of unified memory. */
#include "ingest/sources/source_cells.h"

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
  put_device(p, MU_DEVICE, at, int_or(p, cells, U_PROCESS, 0), int_or(p, cells, U_DEVICE, -1));
  put_field_i32(p, MU_CONTEXT, at, cells, U_CONTEXT);
  put_field_i32(p, MU_STREAM, at, cells, U_STREAM);
  put_field_i64(p, MU_CORRELATION, at, cells, U_CORRELATION);
  put_field_i32(p, MU_OPERATION, at, cells, U_OPERATION);
  put_field_i32(p, MU_KIND, at, cells, U_KIND);
  put_field_i64(p, MU_ADDRESS, at, cells, U_ADDRESS);
  *nai_part_cell(p, MU_BYTES, at) = bytes;
  nai_sum_add(&p->total_bytes, bytes);
  put_field_i64(p, MU_PC, at, cells, U_PC);
  put_optional_name(p, MU_NAME, at, cells, U_NAME, rc, err);
  put_field_i64(p, MU_POOL, at, cells, U_POOL);
  put_field_bytes(p, MU_POOL_THRESHOLD, at, cells, U_POOL_THRESHOLD);
  put_field_bytes(p, MU_POOL_SIZE, at, cells, U_POOL_SIZE);
  put_field_bytes(p, MU_POOL_USED, at, cells, U_POOL_USED);
  put_field_i64(p, MU_IMPORTED, at, cells, U_IMPORTED);
  return NAI_KEEP;
}

const struct nai_source nai_source_memory_usage = {
    .table = NAI_IN_MEMORY_USAGE,
    .capability = "memory allocations",
    .disables = "memory use over time",
    .dictionary = {[MU_DEVICE] = NAI_DEVICES, [MU_PROCESS] = NAI_PROCESSES, [MU_NAME] = NAI_NAMES},
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
  put_device(p, MP_DEVICE, at, int_or(p, cells, P_PROCESS, 0), int_or(p, cells, P_DEVICE, -1));
  put_field_i64(p, MP_CORRELATION, at, cells, P_CORRELATION);
  put_field_i32(p, MP_OPERATION, at, cells, P_OPERATION);
  put_field_i32(p, MP_TYPE, at, cells, P_TYPE);
  put_field_i64(p, MP_ADDRESS, at, cells, P_ADDRESS);
  put_field_bytes(p, MP_KEEP, at, cells, P_KEEP);
  put_field_bytes(p, MP_THRESHOLD, at, cells, P_THRESHOLD);
  put_field_bytes(p, MP_SIZE, at, cells, P_SIZE);
  put_field_bytes(p, MP_USED, at, cells, P_USED);
  return NAI_KEEP;
}

const struct nai_source nai_source_memory_pools = {
    .table = NAI_IN_MEMORY_POOLS,
    .capability = "memory pools",
    .disables = "how memory pools grew and were trimmed",
    .dictionary = {[MP_DEVICE] = NAI_DEVICES, [MP_PROCESS] = NAI_PROCESSES},
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
  *nai_part_cell(p, UF_END, at) = *nai_part_cell(p, UF_START, at);
  put_i32(p, UF_KIND, at, NAI_FAULT_CPU);
  put_device(p, UF_DEVICE, at, int_or(p, cells, C_PROCESS, 0), -1);
  put_field_i64(p, UF_ADDRESS, at, cells, C_ADDRESS);
  put_null(p, UF_FAULTS, at);
  put_null(p, UF_ACCESS, at);
  put_optional_name(p, UF_NAME, at, cells, C_SYMBOL, rc, err);
  put_optional_name(p, UF_MODULE, at, cells, C_MODULE, rc, err);
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
  put_i32(p, UF_KIND, at, NAI_FAULT_GPU);
  put_device(p, UF_DEVICE, at, int_or(p, cells, F_PROCESS, 0), int_or(p, cells, F_DEVICE, -1));
  put_field_i64(p, UF_ADDRESS, at, cells, F_ADDRESS);
  put_field_i64(p, UF_FAULTS, at, cells, F_COUNT);
  put_field_i32(p, UF_ACCESS, at, cells, F_ACCESS);
  put_null(p, UF_NAME, at);
  put_null(p, UF_MODULE, at);
  return NAI_KEEP;
}

const struct nai_source nai_source_um_faults = {
    .table = NAI_IN_UM_FAULTS,
    .capability = "page faults of unified memory",
    .disables = "who touched pages that had to move",
    .dictionary =
        {[UF_DEVICE] = NAI_DEVICES, [UF_PROCESS] = NAI_PROCESSES, [UF_NAME] = NAI_NAMES, [UF_MODULE] = NAI_NAMES},
    .witness = true,
    .feeds = {FEED(cpu_fault_fields, cpu_fault_row, "CUDA_UM_CPU_PAGE_FAULT_EVENTS"),
              FEED(gpu_fault_fields, gpu_fault_row, "CUDA_UM_GPU_PAGE_FAULT_EVENTS")},
    .feed_count = 2};
