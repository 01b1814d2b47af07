/* Which GPU is which: from the CUDA ordinals of processes to the GPUs of the machine. */
#include "ingest/identity.h"

#include "base/array.h"
#include "ingest/small.h"
#include "ingest/source.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int64_t pid_of(int64_t key) { return (int64_t)((uint64_t)key >> 24 & 0xffffff); }
static int64_t low_bits(int64_t key) { return key & 0xffffff; }

enum { MAX_GPUS = 4096 }; /* more cannot be right, and every GPU has a section of its own in the reports */

/* A (process, CUDA ordinal) pair on its way to a GPU number. */
struct pair {
  uint32_t index;  /* in identity->devices */
  int32_t process; /* row, -1 unknown */
  int64_t pid, ordinal;
  int64_t device; /* result */
  bool mapped, split;
};

/* Numbers a GPU is described by, and what they are called in TARGET_INFO_GPU and, before 2021.3, TARGET_INFO_CUDA_GPU.
 */
static const struct {
  int column;
  const char *name, *older;
  int64_t older_scale; /* kHz and kB/s there */
  int64_t max;
} gpu_numbers[] = {
    {GP_SM_COUNT, "smCount", "numMultiprocessors", 1, INT32_MAX},
    {GP_MEMORY, "totalMemory", "globalMemorySize", 1, INT64_MAX},
    {GP_COMPUTE_MAJOR, "computeMajor", "computeCapabilityMajor", 1, 1000},
    {GP_COMPUTE_MINOR, "computeMinor", "computeCapabilityMinor", 1, 1000},
    {GP_CLOCK, "clockRate", "coreClockRate", 1000, INT64_MAX / 1000},
    {GP_BANDWIDTH, "memoryBandwidth", "globalMemoryBandwidth", 1000, INT64_MAX / 1000},
    {GP_L2, "l2CacheSize", "l2CacheSize", 1, INT64_MAX},
    {GP_THREADS_PER_WARP, "threadsPerWarp", "numThreadsPerWarp", 1, INT32_MAX},
    {GP_WARPS_PER_SM, "maxWarpsPerSm", "maxWarpsPerMultiprocessor", 1, INT32_MAX},
    {GP_BLOCKS_PER_SM, "maxBlocksPerSm", "maxBlocksPerMultiprocessor", 1, INT32_MAX},
    {GP_REGISTERS_PER_SM, "maxRegistersPerSm", "maxRegistersPerMultiprocessor", 1, INT32_MAX},
    {GP_REGISTERS_PER_BLOCK, "maxRegistersPerBlock", "maxRegistersPerBlock", 1, INT32_MAX},
    {GP_SMEM_PER_SM, "maxShmemPerSm", "maxSharedMemoryPerMultiprocessor", 1, INT32_MAX},
    {GP_SMEM_PER_BLOCK, "maxShmemPerBlock", "maxSharedMemoryPerBlock", 1, INT32_MAX},
    {GP_SMEM_PER_BLOCK_OPTIN, "maxShmemPerBlockOptin", "-", 1, INT32_MAX},
    {GP_THREADS_PER_BLOCK, "maxThreadsPerBlock", "maxThreadsPerBlock", 1, INT32_MAX},
    {GP_COPY_ENGINES, "asyncEngines", "numMemcpyEngines", 1, INT32_MAX},
    {GP_DISCRETE, "isDiscrete", "-", 1, 1},
};
enum { NUMBERS = sizeof gpu_numbers / sizeof *gpu_numbers };

static const struct {
  int column;
  const char *name, *older;
} gpu_texts[] = {
    {GP_NAME, "name", "name"}, {GP_BUS, "busLocation", "pciBusId"}, {GP_UUID, "uuid", "-"}, {GP_CHIP, "chipName", "-"}};
enum { TEXTS = sizeof gpu_texts / sizeof *gpu_texts };

struct gpu_facts {
  int64_t id, ordinal; /* ordinal NAI_NULL_I64: not told */
  int64_t numbers[NUMBERS];
  char *texts[TEXTS];
};

struct gpu_info {
  struct pair *pairs;
  size_t pair_count;
  struct gpu_facts *facts;
  uint32_t fact_count, fact_capacity;
  bool older;         /* the facts are from TARGET_INFO_CUDA_GPU */
  bool ordinals_told; /* each GPU has a CUDA ordinal of its own: TARGET_INFO_GPU.cuDevice */
  bool any_mapped;    /* the export maps ordinals of processes to GPUs */
};

static int by_pid(const void *a, const void *b) {
  const struct pair *x = a, *y = b;
  if (x->pid != y->pid)
    return x->pid < y->pid ? -1 : 1;
  if (x->ordinal != y->ordinal)
    return x->ordinal < y->ordinal ? -1 : 1;
  if (x->process != y->process)
    return x->process < y->process ? -1 : 1;
  return (x->index > y->index) - (x->index < y->index);
}

/* The table knows processes by pid only; pairs are in that order. */
static int on_cuda_device(void *ctx, const struct nai_cell *cells, struct nai_err *err) {
  (void)err;
  struct gpu_info *info = ctx;
  int64_t gpu = nai_small_int(&cells[0], -1), ordinal = nai_small_int(&cells[1], -1),
          pid = nai_small_int(&cells[2], -1);
  if (gpu < 0 || gpu > 100000)
    return NAI_OK;
  size_t lo = 0, hi = info->pair_count;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    const struct pair *p = &info->pairs[mid];
    if (p->pid < pid || (p->pid == pid && p->ordinal < ordinal))
      lo = mid + 1;
    else
      hi = mid;
  }
  for (; lo < info->pair_count && info->pairs[lo].pid == pid && info->pairs[lo].ordinal == ordinal; lo++) {
    info->pairs[lo].device = gpu;
    info->pairs[lo].mapped = info->any_mapped = true;
  }
  return NAI_OK;
}

/* Cells of a row: id, ordinal, then the numbers and the texts. */
enum { ID, ORDINAL, FIRST_NUMBER, FIRST_TEXT = FIRST_NUMBER + NUMBERS, GPU_CELLS = FIRST_TEXT + TEXTS };
_Static_assert((int)GPU_CELLS <= (int)NAI_SMALL_COLUMNS, "a row of TARGET_INFO_GPU is read at once");

/* Exports write 0 for what they do not know; what was there from the beginning is left as it is. */
static bool is_number(int number, int64_t value) {
  int column = gpu_numbers[number].column;
  bool zero_is_known =
      column == GP_SM_COUNT || column == GP_MEMORY || column == GP_COMPUTE_MINOR || column == GP_DISCRETE;
  return value <= gpu_numbers[number].max && (value > 0 || (value == 0 && zero_is_known));
}

static int on_gpu(void *ctx, const struct nai_cell *cells, struct nai_err *err) {
  static const char no_uuid[] = "00000000-0000-0000-0000-000000000000";
  struct gpu_info *info = ctx;
  if (!nai_array_room(&info->facts, &info->fact_capacity, info->fact_count, sizeof *info->facts))
    return nai_err_nomem(err);
  struct gpu_facts *facts = &info->facts[info->fact_count++];
  *facts = (struct gpu_facts){.id = nai_small_int(&cells[ID], -1), .ordinal = nai_small_int(&cells[ORDINAL], -1)};
  for (int i = 0; i < NUMBERS; i++) {
    int64_t value = nai_small_int(&cells[FIRST_NUMBER + i], NAI_NULL_I64);
    facts->numbers[i] = is_number(i, value) ? value * (info->older ? gpu_numbers[i].older_scale : 1) : NAI_NULL_I64;
  }
  for (int i = 0; i < TEXTS; i++) {
    int rc = nai_small_text(&facts->texts[i], &cells[FIRST_TEXT + i], gpu_texts[i].column == GP_NAME ? 200 : 64, err);
    if (rc)
      return rc;
    if (facts->texts[i] && strcmp(facts->texts[i], no_uuid) == 0) {
      free(facts->texts[i]);
      facts->texts[i] = NULL;
    }
  }
  return NAI_OK;
}

static void name_gpu_cells(const char *names[GPU_CELLS + 1], bool older) {
  names[ID] = older ? "deviceId" : "id";
  names[ORDINAL] = older ? "-" : "cuDevice";
  for (int i = 0; i < NUMBERS; i++)
    names[FIRST_NUMBER + i] = older ? gpu_numbers[i].older : gpu_numbers[i].name;
  for (int i = 0; i < TEXTS; i++)
    names[FIRST_TEXT + i] = older ? gpu_texts[i].older : gpu_texts[i].name;
  names[GPU_CELLS] = NULL;
}

/* Whether a row can be a GPU that CUDA uses: displays of other makers are listed, too, as capability 0.0. */
static bool runs_cuda(const struct gpu_facts *facts) {
  for (int i = 0; i < NUMBERS; i++)
    if (gpu_numbers[i].column == GP_SM_COUNT)
      return facts->numbers[i] != 0;
  return true;
}

/* Drops rows that are no CUDA GPUs. */
static void keep_cuda_gpus(struct gpu_info *info) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < info->fact_count; i++) {
    if (runs_cuda(&info->facts[i])) {
      info->facts[kept++] = info->facts[i];
      continue;
    }
    for (int t = 0; t < TEXTS; t++)
      free(info->facts[i].texts[t]);
  }
  info->fact_count = kept;
}

static int read_gpu_info(struct gpu_info *info, struct nai_trace *trace, struct nai_err *err) {
  const char *names[GPU_CELLS + 1];
  int rc = nai_small_scan(trace, "TARGET_INFO_CUDA_DEVICE", (const char *const[]){"gpuId", "cudaId", "pid", NULL},
                          100000, on_cuda_device, info, err);
  const struct nai_db_table *newer = nai_trace_table(trace, "TARGET_INFO_GPU");
  /* In early 2021 there was a table of that name without properties beside the older one. */
  info->older = !newer || (newer->plain && nai_db_column(newer, "id") < 0);
  name_gpu_cells(names, info->older);
  if (!rc)
    rc =
        nai_small_scan(trace, info->older ? "TARGET_INFO_CUDA_GPU" : "TARGET_INFO_GPU", names, 4096, on_gpu, info, err);
  keep_cuda_gpus(info);
  info->ordinals_told = info->fact_count > 0;
  for (size_t i = 0; i < info->fact_count; i++) {
    info->ordinals_told &= info->facts[i].ordinal >= 0;
    for (size_t k = 0; k < i; k++) /* not for exports that write the same number for all */
      info->ordinals_told &= info->facts[i].ordinal != info->facts[k].ordinal;
  }
  return rc;
}

static int by_ordinal(const void *a, const void *b) {
  const struct pair *x = a, *y = b;
  if (x->ordinal != y->ordinal)
    return x->ordinal < y->ordinal ? -1 : 1;
  if (x->process != y->process)
    return x->process < y->process ? -1 : 1;
  return (x->index > y->index) - (x->index < y->index);
}

static int by_process(const void *a, const void *b) {
  const struct pair *x = a, *y = b;
  return x->process != y->process ? (x->process < y->process ? -1 : 1) : by_ordinal(a, b);
}

static int by_device(const void *a, const void *b) {
  const struct pair *x = a, *y = b;
  return x->device != y->device ? (x->device < y->device ? -1 : 1) : by_process(a, b);
}

/* The machine has one GPU, and no process can have used another. */
static bool is_only_gpu(const struct gpu_info *info, int64_t ordinal) {
  return info->fact_count == 1 && !info->older && !info->any_mapped && ordinal == 0;
}

/* Numbers the pairs of one ordinal that nothing maps to a physical GPU. */
static void number_ordinal(struct pair *pairs, size_t count, struct nai_keyset *taken, bool only_gpu) {
  const struct pair *last = NULL;
  bool split = false, added;
  for (size_t i = 0; i < count; i++)
    if (!pairs[i].mapped) {
      split |= last && last->process != pairs[i].process && !only_gpu;
      last = &pairs[i];
    }
  last = NULL;
  for (size_t i = 0; i < count; i++) {
    struct pair *p = &pairs[i];
    if (p->mapped)
      continue;
    p->split = split;
    p->device = last ? last->device : p->ordinal;
    if (!last || (split && last->process != p->process))
      for (nai_keyset_add(taken, p->device, &added); !added && !taken->oom; nai_keyset_add(taken, p->device, &added))
        p->device += 1000;
    last = p;
  }
}

/* Without a map to physical GPUs, an ordinal used by one process is one GPU; used by several it stays split, because
 * CUDA_VISIBLE_DEVICES can make distinct GPUs all 0. Further ones get ordinal + 1000, + 2000, ... */
static int number_unmapped(struct gpu_info *info, struct nai_err *err) {
  struct nai_keyset taken = {0};
  bool added;
  for (size_t i = 0; i < info->pair_count; i++)
    if (info->pairs[i].mapped)
      nai_keyset_add(&taken, info->pairs[i].device, &added);
  qsort(info->pairs, info->pair_count, sizeof *info->pairs, by_ordinal);
  for (size_t i = 0, j; i < info->pair_count && info->pairs[i].ordinal != NAI_DEVICE_UNKNOWN; i = j) {
    for (j = i + 1; j < info->pair_count && info->pairs[j].ordinal == info->pairs[i].ordinal; j++)
      ;
    number_ordinal(info->pairs + i, j - i, &taken, is_only_gpu(info, info->pairs[i].ordinal));
  }
  int rc = taken.oom ? nai_err_nomem(err) : NAI_OK;
  nai_keyset_free(&taken);
  return rc;
}

/* Rows without a device belong to the only GPU of their process, when it has just one. */
static void adopt_unknown(struct gpu_info *info) {
  qsort(info->pairs, info->pair_count, sizeof *info->pairs, by_process);
  for (size_t i = 0, j; i < info->pair_count; i = j) {
    int64_t only = -1;
    bool several = false;
    for (j = i; j < info->pair_count && info->pairs[j].process == info->pairs[i].process; j++) {
      struct pair *p = &info->pairs[j]; /* the unknown ordinal comes last */
      if (p->device >= 0) {
        several |= only >= 0 && only != p->device;
        only = p->device;
      } else if (!several) {
        p->device = only;
      }
    }
  }
}

/* Which of the machine's GPUs this is, and what says so. */
static const struct gpu_facts *facts_of(const char **by, const struct gpu_info *info, const struct pair *pair) {
  const struct gpu_facts *by_id = NULL, *by_ordinal = NULL;
  bool alike = true;
  *by = NULL;
  for (size_t i = 0; i < info->fact_count; i++) {
    const struct gpu_facts *f = &info->facts[i], *first = &info->facts[0];
    if (f->id == pair->device && pair->mapped) {
      *by = "map";
      return f;
    }
    if (info->ordinals_told && f->ordinal == pair->ordinal)
      by_ordinal = f;
    if (f->id == pair->ordinal)
      by_id = f;
    alike &= f->texts[0] && first->texts[0] && strcmp(f->texts[0], first->texts[0]) == 0;
  }
  if (pair->split || pair->mapped)
    return NULL;
  if (is_only_gpu(info, pair->ordinal)) {
    *by = "only GPU";
    return &info->facts[0];
  }
  /* Numbers of the table are ordinals only by habit: they are trusted where all GPUs are of one kind. */
  const struct gpu_facts *found = info->ordinals_told ? by_ordinal : alike ? by_id : NULL;
  *by = !found ? NULL : info->ordinals_told ? "ordinal" : "id";
  return found;
}

static void add_facts(struct nai_table *table, int64_t row, const struct gpu_info *info, const struct pair *pair) {
  const char *by;
  const struct gpu_facts *facts = facts_of(&by, info, pair);
  nai_set_str(table, row, GP_IDENTIFIED_BY, by);
  if (!facts)
    return;
  bool has_id = !info->older && facts->id >= 0 && facts->id <= INT32_MAX;
  nai_set_i64(table, row, GP_GPU_ID, has_id ? facts->id : NAI_NULL_I64);
  for (int i = 0; i < NUMBERS; i++)
    nai_set_i64(table, row, gpu_numbers[i].column, facts->numbers[i]);
  for (int i = 0; i < TEXTS; i++)
    nai_set_str(table, row, gpu_texts[i].column, facts->texts[i]);
}

static void add_gpu(struct nai_table *table, const struct gpu_info *info, const struct pair *pair) {
  char label[96];
  int64_t row = nai_table_add_row(table);
  if (pair->device < 0)
    snprintf(label, sizeof label, "GPU unknown");
  else if (pair->split)
    snprintf(label, sizeof label, "GPU %" PRId64 " (pid %" PRId64 ")", pair->ordinal, pair->pid);
  else
    snprintf(label, sizeof label, "GPU %" PRId64, pair->device);
  nai_set_i64(table, row, GP_DEVICE, pair->device);
  nai_set_str(table, row, GP_LABEL, label);
  nai_set_i64(table, row, GP_CUDA_DEVICE, pair->ordinal == NAI_DEVICE_UNKNOWN ? NAI_NULL_I64 : pair->ordinal);
  nai_set_i64(table, row, GP_PID, pair->split ? pair->pid : NAI_NULL_I64);
  nai_set_i64(table, row, GP_MAPPED, pair->mapped);
  add_facts(table, row, info, pair);
}

int nai_identity_resolve_gpus(struct nai_identity *identity, const int64_t *processes, size_t process_count,
                              struct nai_ingest *out, struct nai_trace *trace, struct nai_err *err) {
  uint32_t n = identity->devices.count;
  struct gpu_info info = {.pairs = calloc((size_t)n + 1, sizeof *info.pairs), .pair_count = n};
  identity->device_process = malloc(((size_t)n + 1) * sizeof(int32_t));
  identity->device_id = malloc(((size_t)n + 1) * sizeof(int32_t));
  int rc = NAI_OK;
  if (!info.pairs || !identity->device_process || !identity->device_id) {
    rc = nai_err_nomem(err);
    goto out;
  }
  for (uint32_t i = 0; i < n; i++) {
    int64_t key = identity->devices.keys[i];
    int32_t process = nai_identity_row(processes, process_count, key);
    identity->device_process[i] = process;
    info.pairs[i] = (struct pair){.index = i, .process = process, .ordinal = low_bits(key), .device = -1};
    info.pairs[i].pid = process < 0 ? 0 : pid_of(processes[process]);
  }
  qsort(info.pairs, n, sizeof *info.pairs, by_pid);
  rc = read_gpu_info(&info, trace, err);
  if (!rc)
    rc = number_unmapped(&info, err);
  if (rc)
    goto out;
  adopt_unknown(&info);
  qsort(info.pairs, n, sizeof *info.pairs, by_device);
  int64_t split = 0;
  struct nai_table *gpus = out->tables[NAI_IN_GPUS];
  for (size_t i = 0; i < n; i++) {
    if (i == 0 || info.pairs[i].device != info.pairs[i - 1].device)
      add_gpu(gpus, &info, &info.pairs[i]);
    if (gpus->rows > MAX_GPUS) {
      rc = nai_err_set(err, NAI_EINPUT, "\"%s\": work on more than %d GPUs; the device ids cannot be right",
                       trace->path, MAX_GPUS);
      goto out;
    }
    split += info.pairs[i].split;
    identity->device_id[info.pairs[i].index] = (int32_t)info.pairs[i].device;
  }
  if (split)
    nai_ingest_note(
        out->tables[NAI_IN_EXTRACT_NOTES], "gpus-split-by-process", "warning", "TARGET_INFO_CUDA_DEVICE", split,
        "several processes use the same CUDA ordinal and the export does not say which physical GPU that is: "
        "each process's GPU is shown on its own, and may be one shared GPU");
out:
  for (size_t i = 0; i < info.fact_count; i++) {
    for (int t = 0; t < TEXTS; t++)
      free(info.facts[i].texts[t]);
  }
  free(info.facts);
  free(info.pairs);
  return rc;
}
