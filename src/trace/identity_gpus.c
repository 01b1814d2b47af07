/* Which GPU is which: from the CUDA ordinals of processes to the GPUs of the machine. */
#include "trace/identity.h"

#include "base/sort.h"
#include "tables/gpus.h"
#include "tables/processes.h"
#include "trace/small.h"
#include "trace/sources/source.h"

enum { MAX_GPUS = 4096 }; /* more cannot be right, and every GPU has a section of its own in the reports */

/* A (process, CUDA ordinal) pair on its way to a GPU number. */
struct pair {
  uint32_t index;  /* in identity->devices */
  int32_t process; /* row, -1 unknown */
  int64_t pid, ordinal;
  int64_t device; /* result */
  bool mapped, split;
};

/* Pairs on their way, and the GPUs of the machine. */
struct resolving {
  struct pair *pairs;
  size_t pair_count;
  struct nai_gpu_rows machine;
  bool any_mapped; /* the export maps ordinals of processes to GPUs */
};

NAI_ORDER(by_ordinal, struct pair, {a->ordinal, b->ordinal}, {a->process, b->process}, {a->index, b->index})

NAI_ORDER(by_pid, struct pair, {a->pid, b->pid}, {a->ordinal, b->ordinal}, {a->process, b->process},
          {a->index, b->index})

NAI_ORDER(by_process, struct pair, {a->process, b->process}, {a->ordinal, b->ordinal}, {a->index, b->index})

NAI_ORDER(by_device, struct pair, {a->device, b->device}, {a->process, b->process}, {a->ordinal, b->ordinal},
          {a->index, b->index})

struct looked_up {
  const struct pair *pairs;
  int64_t pid, ordinal;
};

static bool pair_before(const void *ctx, size_t i) {
  const struct looked_up *key = ctx;
  const struct pair *p = &key->pairs[i];
  return p->pid < key->pid || (p->pid == key->pid && p->ordinal < key->ordinal);
}

/* The table knows processes by pid only; pairs are in that order. */
static int on_cuda_device(void *ctx, const struct nai_cell *cells, struct nai_err *err) {
  (void)err;
  struct resolving *r = ctx;
  int64_t gpu = nai_small_int(&cells[0], -1), ordinal = nai_small_int(&cells[1], -1),
          pid = nai_small_int(&cells[2], -1);
  if (gpu < 0 || gpu > 100000)
    return NAI_OK;
  size_t i = nai_search(0, r->pair_count, pair_before, &(struct looked_up){r->pairs, pid, ordinal});
  for (; i < r->pair_count && r->pairs[i].pid == pid && r->pairs[i].ordinal == ordinal; i++) {
    r->pairs[i].device = gpu;
    r->pairs[i].mapped = r->any_mapped = true;
  }
  return NAI_OK;
}

/* The machine has one GPU, and no process can have used another. */
static bool is_only_gpu(const struct resolving *r, int64_t ordinal) {
  return r->machine.count == 1 && !r->machine.older && !r->any_mapped && ordinal == 0;
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
static int number_unmapped(struct resolving *r, struct nai_err *err) {
  NAI_SCOPED(nai_keyset) taken = {0};
  bool added;
  for (size_t i = 0; i < r->pair_count; i++)
    if (r->pairs[i].mapped)
      nai_keyset_add(&taken, r->pairs[i].device, &added);
  qsort(r->pairs, r->pair_count, sizeof *r->pairs, by_ordinal);
  for (size_t i = 0, j; i < r->pair_count && r->pairs[i].ordinal != NAI_DEVICE_UNKNOWN; i = j) {
    for (j = i + 1; j < r->pair_count && r->pairs[j].ordinal == r->pairs[i].ordinal; j++)
      ;
    number_ordinal(r->pairs + i, j - i, &taken, is_only_gpu(r, r->pairs[i].ordinal));
  }
  return taken.oom ? nai_err_nomem(err) : NAI_OK;
}

/* Rows without a device belong to the only GPU of their process, when it has just one. */
static void adopt_unknown(struct resolving *r) {
  qsort(r->pairs, r->pair_count, sizeof *r->pairs, by_process);
  for (size_t i = 0, j; i < r->pair_count; i = j) {
    int64_t only = -1;
    bool several = false;
    for (j = i; j < r->pair_count && r->pairs[j].process == r->pairs[i].process; j++) {
      struct pair *p = &r->pairs[j]; /* the unknown ordinal comes last */
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
static const struct nai_gpu_row *facts_of(const char **by, const struct resolving *r, const struct pair *pair) {
  const struct nai_gpu_row *by_id = NULL, *by_ordinal = NULL;
  bool alike = true;
  *by = NULL;
  for (size_t i = 0; i < r->machine.count; i++) {
    const struct nai_gpu_row *f = &r->machine.rows[i], *first = &r->machine.rows[0];
    if (f->id == pair->device && pair->mapped) {
      *by = "map";
      return f;
    }
    if (r->machine.ordinals_told && f->ordinal == pair->ordinal)
      by_ordinal = f;
    if (f->id == pair->ordinal)
      by_id = f;
    alike &= f->texts[0] && first->texts[0] && strcmp(f->texts[0], first->texts[0]) == 0;
  }
  if (pair->split || pair->mapped)
    return NULL;
  if (is_only_gpu(r, pair->ordinal)) {
    *by = "only GPU";
    return &r->machine.rows[0];
  }
  /* Numbers of the table are ordinals only by habit: they are trusted where all GPUs are of one kind. */
  const struct nai_gpu_row *found = r->machine.ordinals_told ? by_ordinal : alike ? by_id : NULL;
  *by = !found ? NULL : r->machine.ordinals_told ? "ordinal" : "id";
  return found;
}

static void add_gpu(struct nai_table *table, const struct resolving *r, const struct pair *pair) {
  const char *by;
  const struct nai_gpu_row *facts = facts_of(&by, r, pair);
  char label[96];
  if (pair->device < 0)
    snprintf(label, sizeof label, "GPU unknown");
  else if (pair->split)
    snprintf(label, sizeof label, "GPU %" PRId64 " (pid %" PRId64 ")", pair->ordinal, pair->pid);
  else
    snprintf(label, sizeof label, "GPU %" PRId64, pair->device);
  int64_t row = NAI_ADD(GPUS, table, .device_id = pair->device, .label = label,
                        .cuda_device = pair->ordinal == NAI_DEVICE_UNKNOWN ? NAI_NULL_I64 : pair->ordinal,
                        .pid = pair->split ? pair->pid : NAI_NULL_I64, .mapped = pair->mapped, .identified_by = by,
                        .machine_gpus = r->machine.count ? r->machine.count : NAI_NULL_I64);
  if (facts)
    nai_gpu_rows_put(table, row, &r->machine, facts);
}

static int put_gpus(struct nai_identity *identity, const struct resolving *r, struct nai_ingest *out,
                    const struct nai_trace *trace, struct nai_err *err) {
  struct nai_table *gpus = out->tables[NAI_IN_GPUS];
  int64_t split = 0;
  for (size_t i = 0; i < r->pair_count; i++) {
    if (i == 0 || r->pairs[i].device != r->pairs[i - 1].device)
      add_gpu(gpus, r, &r->pairs[i]);
    if (gpus->rows > MAX_GPUS)
      return nai_err_set(err, NAI_EINPUT, "\"%s\": work on more than %d GPUs; the device ids cannot be right",
                         trace->path, MAX_GPUS);
    split += r->pairs[i].split;
    identity->device_id[r->pairs[i].index] = (int32_t)r->pairs[i].device;
  }
  if (split)
    nai_ingest_note(
        out->tables[NAI_IN_EXTRACT_NOTES], "gpus-split-by-process", "warning", "TARGET_INFO_CUDA_DEVICE", split,
        "several processes use the same CUDA ordinal and the export does not say which physical GPU that is: "
        "each process's GPU is shown on its own, and may be one shared GPU");
  return NAI_OK;
}

int nai_identity_resolve_gpus(struct nai_identity *identity, struct nai_ingest *out, struct nai_trace *trace,
                              struct nai_err *err) {
  static const char *const columns[] = {"gpuId", "cudaId", "pid", NULL};
  const struct nai_table *processes = out->tables[NAI_IN_PROCESSES];
  uint32_t n = identity->devices.count;
  struct resolving r = {.pair_count = n, .machine = {.arena = &identity->arena}};
  NAI_TRY(NAI_NEW(r.pairs, &identity->arena, n, err));
  NAI_TRY(NAI_NEW(identity->device_id, &identity->arena, n, err));
  for (uint32_t i = 0; i < n; i++) {
    int32_t process = identity->device_process[i];
    r.pairs[i] = (struct pair){.index = i,
                               .process = process,
                               .pid = process < 0 ? 0 : nai_get_i64(processes, process, PROCESSES_pid),
                               .ordinal = nai_low_bits_of(identity->devices.keys[i]),
                               .device = -1};
  }
  qsort(r.pairs, n, sizeof *r.pairs, by_pid);
  NAI_TRY(nai_small_scan(trace, "TARGET_INFO_CUDA_DEVICE", columns, 100000, on_cuda_device, &r, err));
  NAI_TRY(nai_gpu_rows_read(&r.machine, trace, err));
  NAI_TRY(number_unmapped(&r, err));
  adopt_unknown(&r);
  qsort(r.pairs, n, sizeof *r.pairs, by_device);
  return put_gpus(identity, &r, out, trace, err);
}
