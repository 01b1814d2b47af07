#include "ingest/identity.h"

#include "ingest/small.h"
#include "ingest/source.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int64_t process_of(int64_t key) { return (int64_t)((uint64_t)key & 0xFFFFFFFFFF000000u); }
static int64_t pid_of(int64_t key) { return (int64_t)((uint64_t)key >> 24 & 0xffffff); }
static int64_t low_bits(int64_t key) { return key & 0xffffff; }

void nai_identity_free(struct nai_identity *identity) {
  nai_keyset_free(&identity->threads);
  nai_keyset_free(&identity->devices);
  free(identity->thread_row);
  free(identity->device_process);
  free(identity->device_id);
}

static int compare_keys(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* Distinct process keys in ascending order, without 0 (unknown). */
static int64_t *collect_processes(size_t *count, const struct nai_identity *identity) {
  struct nai_keyset set = {0};
  bool added;
  for (uint32_t i = 0; i < identity->threads.count; i++)
    if (process_of(identity->threads.keys[i]))
      nai_keyset_add(&set, process_of(identity->threads.keys[i]), &added);
  for (uint32_t i = 0; i < identity->devices.count; i++)
    if (process_of(identity->devices.keys[i]))
      nai_keyset_add(&set, process_of(identity->devices.keys[i]), &added);
  int64_t *keys = set.oom ? NULL : malloc(((size_t)set.count + 1) * sizeof *keys);
  if (keys && set.count) {
    memcpy(keys, set.keys, set.count * sizeof *keys);
    qsort(keys, set.count, sizeof *keys, compare_keys);
  }
  *count = set.count;
  nai_keyset_free(&set);
  return keys;
}

/* Row of a process key; the only process stands in for an unknown one. */
static int32_t process_row(const int64_t *keys, size_t count, int64_t key) {
  if (key == 0)
    return count == 1 ? 0 : -1;
  const int64_t *at = bsearch(&key, keys, count, sizeof *keys, compare_keys);
  return at ? (int32_t)(at - keys) : -1;
}

static int on_process_name(void *ctx, const struct nai_cell *cells, struct nai_err *err) {
  (void)err;
  struct nai_table *table = ctx;
  int64_t key = nai_small_int(&cells[0], 0);
  if (key == 0)
    return NAI_OK;
  const int64_t *keys = nai_column_i64(table, PR_KEY);
  int64_t process = process_of(key);
  const int64_t *at = table->rows ? bsearch(&process, keys, (size_t)table->rows, sizeof *keys, compare_keys) : NULL;
  if (!at)
    return NAI_OK;
  char *name = nai_small_text(&cells[1], 400);
  nai_set_str(table, at - keys, PR_NAME, name);
  free(name);
  return NAI_OK;
}

struct thread_names {
  struct nai_table *threads;
  struct nai_trace *trace;
  struct nai_lookup *lookup;
};

static int on_thread_name(void *ctx, const struct nai_cell *cells, struct nai_err *err) {
  struct thread_names *names = ctx;
  struct nai_table *table = names->threads;
  int64_t key = nai_small_int(&cells[0], 0), id = nai_small_int(&cells[1], -1);
  const int64_t *keys = nai_column_i64(table, TH_KEY);
  const int64_t *at = table->rows ? bsearch(&key, keys, (size_t)table->rows, sizeof *keys, compare_keys) : NULL;
  const struct nai_db_table *strings = nai_trace_table(names->trace, "StringIds");
  if (!at || !strings || nai_db_column(strings, "value") < 0)
    return NAI_OK;
  if (!names->lookup) {
    int rc = nai_lookup_open(&names->lookup, names->trace, strings->name, nai_db_column(strings, "value"), err);
    if (rc)
      return rc;
  }
  struct nai_cell text;
  bool found;
  int rc = nai_lookup_get(&found, &text, names->lookup, id, err);
  if (rc || !found)
    return rc;
  char *name = nai_small_text(&text, 400);
  nai_set_str(table, at - keys, TH_NAME, name);
  free(name);
  return NAI_OK;
}

static int resolve_hosts(struct nai_identity *identity, const int64_t *processes, size_t process_count,
                         struct nai_ingest *out, struct nai_trace *trace, struct nai_err *err) {
  struct nai_table *table = out->tables[NAI_IN_PROCESSES], *threads = out->tables[NAI_IN_THREADS];
  for (size_t i = 0; i < process_count; i++) {
    int64_t row = nai_table_add_row(table);
    nai_set_i64(table, row, PR_KEY, processes[i]);
    nai_set_i64(table, row, PR_PID, pid_of(processes[i]));
  }
  uint32_t n = identity->threads.count;
  int64_t *sorted = malloc(((size_t)n + 1) * sizeof *sorted);
  identity->thread_row = malloc(((size_t)n + 1) * sizeof *identity->thread_row);
  if (!sorted || !identity->thread_row) {
    free(sorted);
    return nai_err_nomem(err);
  }
  if (n)
    memcpy(sorted, identity->threads.keys, n * sizeof *sorted);
  qsort(sorted, n, sizeof *sorted, compare_keys);
  for (uint32_t i = 0; i < n; i++) {
    int64_t row = nai_table_add_row(threads);
    nai_set_i64(threads, row, TH_KEY, sorted[i]);
    nai_set_i64(threads, row, TH_PROCESS, process_row(processes, process_count, process_of(sorted[i])));
    nai_set_i64(threads, row, TH_PID, pid_of(sorted[i]));
    nai_set_i64(threads, row, TH_TID, low_bits(sorted[i]));
    uint32_t at = nai_keyset_find(&identity->threads, sorted[i]);
    identity->thread_row[at] = (int32_t)row;
  }
  free(sorted);
  struct thread_names names = {threads, trace, NULL};
  int rc = nai_small_scan(trace, "PROCESSES", (const char *const[]){"globalPid", "name", NULL}, 1000000,
                          on_process_name, table, err);
  if (!rc)
    rc = nai_small_scan(trace, "ThreadNames", (const char *const[]){"globalTid", "nameId", NULL}, 1000000,
                        on_thread_name, &names, err);
  nai_lookup_close(names.lookup);
  return rc;
}

/* --- GPUs ------------------------------------------------------------------------------------- */

enum { MAX_GPUS = 4096 }; /* more cannot be right, and every GPU has a section of its own in the reports */

/* A (process, CUDA ordinal) pair on its way to a GPU number. */
struct pair {
  uint32_t index;  /* in identity->devices */
  int32_t process; /* row, -1 unknown */
  int64_t pid, ordinal;
  int64_t device; /* result */
  bool mapped, split;
};

struct gpu_facts {
  int64_t id, sm_count, memory;
  char *name, *bus;
};

struct gpu_info {
  struct pair *pairs;
  size_t pair_count;
  struct gpu_facts *facts;
  size_t fact_count;
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
    info->pairs[lo].mapped = true;
  }
  return NAI_OK;
}

static int on_gpu(void *ctx, const struct nai_cell *cells, struct nai_err *err) {
  struct gpu_info *info = ctx;
  struct gpu_facts *grown = realloc(info->facts, (info->fact_count + 1) * sizeof *grown);
  if (!grown)
    return nai_err_nomem(err);
  info->facts = grown;
  info->facts[info->fact_count++] =
      (struct gpu_facts){nai_small_int(&cells[0], -1), nai_small_int(&cells[1], NAI_NULL_I64),
                         nai_small_int(&cells[2], NAI_NULL_I64), nai_small_text(&cells[3], 200),
                         nai_small_text(&cells[4], 64)};
  return NAI_OK;
}

static int read_gpu_info(struct gpu_info *info, struct nai_trace *trace, struct nai_err *err) {
  int rc = nai_small_scan(trace, "TARGET_INFO_CUDA_DEVICE", (const char *const[]){"gpuId", "cudaId", "pid", NULL},
                          100000, on_cuda_device, info, err);
  if (!rc && nai_trace_table(trace, "TARGET_INFO_GPU"))
    rc = nai_small_scan(trace, "TARGET_INFO_GPU",
                        (const char *const[]){"id", "smCount", "totalMemory", "name", "busLocation", NULL}, 4096,
                        on_gpu, info, err);
  else if (!rc)
    rc = nai_small_scan(trace, "TARGET_INFO_CUDA_GPU",
                        (const char *const[]){"deviceId", "numMultiprocessors", "globalMemorySize", "name", "-", NULL},
                        4096, on_gpu, info, err);
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

/* Numbers the pairs of one ordinal that nothing maps to a physical GPU. */
static void number_ordinal(struct pair *pairs, size_t count, struct nai_keyset *taken) {
  const struct pair *last = NULL;
  bool split = false, added;
  for (size_t i = 0; i < count; i++)
    if (!pairs[i].mapped) {
      split |= last && last->process != pairs[i].process;
      last = &pairs[i];
    }
  last = NULL;
  for (size_t i = 0; i < count; i++) {
    struct pair *p = &pairs[i];
    if (p->mapped)
      continue;
    p->split = split;
    p->device = last ? last->device : p->ordinal;
    if (!last || last->process != p->process)
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
    number_ordinal(info->pairs + i, j - i, &taken);
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

static const struct gpu_facts *facts_of(const struct gpu_info *info, const struct pair *pair) {
  const struct gpu_facts *found = NULL;
  bool alike = true;
  for (size_t i = 0; i < info->fact_count; i++) {
    if (info->facts[i].id == pair->device && pair->mapped)
      return &info->facts[i];
    if (info->facts[i].id == pair->ordinal && !pair->split)
      found = &info->facts[i];
    alike &= info->facts[i].name && info->facts[0].name && strcmp(info->facts[i].name, info->facts[0].name) == 0;
  }
  /* Ordinals name physical GPUs only by habit: trust them where all GPUs are of one kind. */
  return alike ? found : NULL;
}

static void add_gpu(struct nai_table *table, const struct gpu_info *info, const struct pair *pair) {
  char label[96];
  const struct gpu_facts *facts = facts_of(info, pair);
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
  nai_set_str(table, row, GP_NAME, facts ? facts->name : NULL);
  nai_set_i64(table, row, GP_SM_COUNT, facts ? facts->sm_count : NAI_NULL_I64);
  nai_set_i64(table, row, GP_MEMORY, facts ? facts->memory : NAI_NULL_I64);
  nai_set_str(table, row, GP_BUS, facts ? facts->bus : NULL);
}

static int resolve_gpus(struct nai_identity *identity, const int64_t *processes, size_t process_count,
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
    int32_t process = process_row(processes, process_count, process_of(key));
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
        out, "gpus-split-by-process", "warning", "TARGET_INFO_CUDA_DEVICE", split,
        "several processes use the same CUDA ordinal and the export does not say which physical GPU that is: "
        "each process's GPU is shown on its own, and may be one shared GPU");
out:
  for (size_t i = 0; i < info.fact_count; i++) {
    free(info.facts[i].name);
    free(info.facts[i].bus);
  }
  free(info.facts);
  free(info.pairs);
  return rc;
}

int nai_identity_resolve(struct nai_identity *identity, struct nai_ingest *out, struct nai_trace *trace,
                         struct nai_err *err) {
  size_t process_count;
  int64_t *processes = collect_processes(&process_count, identity);
  if (!processes)
    return nai_err_nomem(err);
  int rc = resolve_hosts(identity, processes, process_count, out, trace, err);
  if (!rc)
    rc = resolve_gpus(identity, processes, process_count, out, trace, err);
  free(processes);
  return rc;
}
