/* What an export says of the machine's GPUs: TARGET_INFO_GPU, or its older forms. */
#include "trace/identity.h"

#include "trace/small.h"
#include "trace/sources/source.h"
#include "tables/gpus.h"

/* Numbers a GPU is described by, and what they are called in TARGET_INFO_GPU and, before 2021.3, TARGET_INFO_CUDA_GPU.
 */
static const struct {
  int column;
  const char *name, *older;
  int64_t older_scale; /* kHz and kB/s there */
  int64_t max;
} gpu_numbers[] = {
    {GPUS_sm_count, "smCount", "numMultiprocessors", 1, INT32_MAX},
    {GPUS_memory_bytes, "totalMemory", "globalMemorySize", 1, INT64_MAX},
    {GPUS_compute_major, "computeMajor", "computeCapabilityMajor", 1, 1000},
    {GPUS_compute_minor, "computeMinor", "computeCapabilityMinor", 1, 1000},
    {GPUS_clock_hz, "clockRate", "coreClockRate", 1000, INT64_MAX / 1000},
    {GPUS_memory_bytes_per_s, "memoryBandwidth", "globalMemoryBandwidth", 1000, INT64_MAX / 1000},
    {GPUS_l2_bytes, "l2CacheSize", "l2CacheSize", 1, INT64_MAX},
    {GPUS_threads_per_warp, "threadsPerWarp", "numThreadsPerWarp", 1, INT32_MAX},
    {GPUS_max_warps_per_sm, "maxWarpsPerSm", "maxWarpsPerMultiprocessor", 1, INT32_MAX},
    {GPUS_max_blocks_per_sm, "maxBlocksPerSm", "maxBlocksPerMultiprocessor", 1, INT32_MAX},
    {GPUS_max_registers_per_sm, "maxRegistersPerSm", "maxRegistersPerMultiprocessor", 1, INT32_MAX},
    {GPUS_max_registers_per_block, "maxRegistersPerBlock", "maxRegistersPerBlock", 1, INT32_MAX},
    {GPUS_max_shared_bytes_per_sm, "maxShmemPerSm", "maxSharedMemoryPerMultiprocessor", 1, INT32_MAX},
    {GPUS_max_shared_bytes_per_block, "maxShmemPerBlock", "maxSharedMemoryPerBlock", 1, INT32_MAX},
    {GPUS_max_shared_bytes_per_block_optin, "maxShmemPerBlockOptin", "-", 1, INT32_MAX},
    {GPUS_max_threads_per_block, "maxThreadsPerBlock", "maxThreadsPerBlock", 1, INT32_MAX},
    {GPUS_copy_engines, "asyncEngines", "numMemcpyEngines", 1, INT32_MAX},
    {GPUS_discrete, "isDiscrete", "-", 1, 1},
};
_Static_assert(sizeof gpu_numbers / sizeof *gpu_numbers == NAI_GPU_NUMBERS, "a row has all numbers");

static const struct {
  int column;
  const char *name, *older;
} gpu_texts[] = {{GPUS_gpu_name, "name", "name"},
                 {GPUS_pci_bus, "busLocation", "pciBusId"},
                 {GPUS_uuid, "uuid", "-"},
                 {GPUS_chip, "chipName", "-"}};
_Static_assert(sizeof gpu_texts / sizeof *gpu_texts == NAI_GPU_TEXTS, "a row has all texts");

/* Cells of a row: id, ordinal, then the numbers and the texts. */
enum { ID, ORDINAL, FIRST_NUMBER, FIRST_TEXT = FIRST_NUMBER + NAI_GPU_NUMBERS, GPU_CELLS = FIRST_TEXT + NAI_GPU_TEXTS };
_Static_assert((int)GPU_CELLS <= (int)NAI_SMALL_COLUMNS, "a row of TARGET_INFO_GPU is read at once");

/* Of 2021 some have the size of the memory in MiB. */
static int64_t scaled(int number, int64_t value) {
  const bool mib = gpu_numbers[number].column == GPUS_memory_bytes && value < 1 << 20;
  return value * (mib ? 1 << 20 : gpu_numbers[number].older_scale);
}

/* Exports write 0 for what they do not know; what was there from the beginning is left as it is. */
static bool is_number(int number, int64_t value) {
  int column = gpu_numbers[number].column;
  bool zero_is_known =
      column == GPUS_sm_count || column == GPUS_memory_bytes || column == GPUS_compute_minor || column == GPUS_discrete;
  return value <= gpu_numbers[number].max && (value > 0 || (value == 0 && zero_is_known));
}

static int on_gpu(void *ctx, const struct nai_cell *cells, struct nai_err *err) {
  static const char no_uuid[] = "00000000-0000-0000-0000-000000000000";
  struct nai_gpu_rows *gpus = ctx;
  NAI_TRY(NAI_ROOM(gpus->rows, gpus->capacity, gpus->count, gpus->arena, err));
  struct nai_gpu_row *facts = &gpus->rows[gpus->count++];
  *facts = (struct nai_gpu_row){.id = nai_small_int(&cells[ID], -1), .ordinal = nai_small_int(&cells[ORDINAL], -1)};
  for (int i = 0; i < NAI_GPU_NUMBERS; i++) {
    int64_t value = nai_small_int(&cells[FIRST_NUMBER + i], NAI_NULL_I64);
    facts->numbers[i] = !is_number(i, value) ? NAI_NULL_I64 : gpus->older ? scaled(i, value) : value;
  }
  for (int i = 0; i < NAI_GPU_TEXTS; i++) {
    size_t max = gpu_texts[i].column == GPUS_gpu_name ? 200 : 64;
    const char *text = nai_small_text(gpus->arena, &cells[FIRST_TEXT + i], max);
    facts->texts[i] = text && strcmp(text, no_uuid) == 0 ? NULL : text;
  }
  return nai_arena_check(gpus->arena, err);
}

static void name_gpu_cells(const char *names[GPU_CELLS + 1], bool older) {
  names[ID] = older ? "deviceId" : "id";
  names[ORDINAL] = older ? "-" : "cuDevice";
  for (int i = 0; i < NAI_GPU_NUMBERS; i++)
    names[FIRST_NUMBER + i] = older ? gpu_numbers[i].older : gpu_numbers[i].name;
  for (int i = 0; i < NAI_GPU_TEXTS; i++)
    names[FIRST_TEXT + i] = older ? gpu_texts[i].older : gpu_texts[i].name;
  names[GPU_CELLS] = NULL;
}

/* Whether a row can be a GPU that CUDA uses: displays of other makers are listed, too, as capability 0.0. */
static bool runs_cuda(const struct nai_gpu_row *facts) {
  for (int i = 0; i < NAI_GPU_NUMBERS; i++)
    if (gpu_numbers[i].column == GPUS_sm_count)
      return facts->numbers[i] != 0;
  return true;
}

/* Drops rows that are no CUDA GPUs. */
static void keep_cuda_gpus(struct nai_gpu_rows *gpus) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < gpus->count; i++)
    if (runs_cuda(&gpus->rows[i]))
      gpus->rows[kept++] = gpus->rows[i];
  gpus->count = kept;
}

int nai_gpu_rows_read(struct nai_gpu_rows *gpus, struct nai_trace *trace, struct nai_err *err) {
  const char *names[GPU_CELLS + 1];
  const struct nai_db_table *newer = nai_trace_table(trace, "TARGET_INFO_GPU");
  /* In early 2021 there was a table of that name without properties beside the older one. */
  gpus->older = !newer || (newer->plain && nai_db_column(newer, "id") < 0);
  name_gpu_cells(names, gpus->older);
  const char *table = gpus->older ? "TARGET_INFO_CUDA_GPU" : "TARGET_INFO_GPU";
  NAI_TRY(nai_small_scan(trace, table, names, 4096, on_gpu, gpus, err));
  keep_cuda_gpus(gpus);
  gpus->ordinals_told = gpus->count > 0;
  for (size_t i = 0; i < gpus->count; i++) {
    gpus->ordinals_told &= gpus->rows[i].ordinal >= 0;
    for (size_t k = 0; k < i; k++) /* not for exports that write the same number for all */
      gpus->ordinals_told &= gpus->rows[i].ordinal != gpus->rows[k].ordinal;
  }
  return NAI_OK;
}

void nai_gpu_rows_put(struct nai_table *table, int64_t row, const struct nai_gpu_rows *gpus,
                      const struct nai_gpu_row *facts) {
  bool has_id = !gpus->older && facts->id >= 0 && facts->id <= INT32_MAX;
  nai_set_i64(table, row, GPUS_gpu_id, has_id ? facts->id : NAI_NULL_I64);
  for (int i = 0; i < NAI_GPU_NUMBERS; i++)
    nai_set_i64(table, row, gpu_numbers[i].column, facts->numbers[i]);
  for (int i = 0; i < NAI_GPU_TEXTS; i++)
    nai_set_str(table, row, gpu_texts[i].column, facts->texts[i]);
}
