#include "model/kernels/partitions.h"

enum { MOST = 256 }; /* more cannot be right: those beyond share the last, of which nothing is known */

static int add(uint32_t *number, struct nai_partitions *p, struct nai_partition partition, struct nai_err *err) {
  if (p->count == MOST) {
    *number = MOST - 1;
    p->v[MOST - 1].sm_count = 0;
    p->v[MOST - 1].mask = "";
    return NAI_OK;
  }
  NAI_TRY(NAI_ROOM(p->v, p->capacity, p->count, p->arena, err));
  *number = p->count;
  p->v[p->count++] = partition;
  return NAI_OK;
}

static int add_context(struct nai_partitions *p, struct nai_partition partition, struct nai_err *err) {
  bool added;
  uint32_t at = nai_keyset_add(&p->contexts, nai_key_pair(partition.process, (uint32_t)partition.green), &added);
  NAI_TRY(nai_memory_check(!p->contexts.oom, err));
  if (!added)
    return NAI_OK;
  NAI_TRY(NAI_ROOM(p->of_context, p->context_capacity, at, p->arena, err));
  return add(&p->of_context[at], p, partition, err);
}

/* A number of SMs as such; 0 for what no GPU, or not this one, can have. */
static int64_t possible(int64_t sms, int64_t all) { return sms > 0 && (all <= 0 || sms <= all) ? sms : 0; }

static int64_t most_sms(const struct nai_model *m) {
  int64_t most = 0;
  for (int64_t i = 0; i < m->tables[NAI_IN_GPUS]->rows; i++) {
    int64_t sms = nai_get_i64(m->tables[NAI_IN_GPUS], i, GPUS_sm_count);
    most = sms > most ? sms : most;
  }
  return most;
}

static int add_contexts(struct nai_partitions *p, struct nai_err *err) {
  const struct nai_table *t = p->m->tables[NAI_IN_CONTEXTS];
  for (int64_t i = 0; i < t->rows; i++) {
    struct CUDA_CONTEXTS_row row = CUDA_CONTEXTS_at(t, i);
    int32_t process = row.is_green == 1 && row.context_id > 0 ? nai_model_process(p->m, row.pid) : -1;
    if (process < 0)
      continue;
    NAI_TRY(add_context(p,
                        (struct nai_partition){.process = process,
                                               .green = row.context_id,
                                               .parent = row.parent_context_id,
                                               .sm_count = possible(row.sm_count, most_sms(p->m)),
                                               .mask = row.tpc_mask},
                        err));
  }
  return NAI_OK;
}

/* Green contexts that only kernels name. Most traces have none, and their column takes no room. */
static int add_unlisted(struct nai_partitions *p, struct nai_err *err) {
  const struct KERNEL_EVENTS_columns *k = &p->m->kernels;
  for (uint32_t i = 0; k->n && k->green_context.width && i < k->n; i++) {
    int64_t green = nai_at(&k->green_context, i);
    if (green <= 0)
      continue;
    struct nai_partition partition = {
        .process = nai_at_i32(&k->process, i), .green = green, .parent = NAI_NULL_I64, .mask = ""};
    NAI_TRY(add_context(p, partition, err));
  }
  return NAI_OK;
}

static int add_slice(struct nai_partitions *p, const struct CUDA_DEVICES_row *seen, const struct GPUS_row *gpu,
                     struct nai_err *err) {
  int32_t process = nai_model_process(p->m, seen->pid);
  bool same = seen->gpu_id == NAI_NULL_I64 ? seen->cuda_device == gpu->cuda_device : seen->gpu_id == gpu->device_id;
  bool added, smaller = possible(seen->sm_count, gpu->sm_count) && seen->sm_count != gpu->sm_count;
  if (!same || !smaller || process < 0)
    return NAI_OK;
  uint32_t at = nai_keyset_add(&p->slices, nai_key_pair(process, (uint32_t)gpu->device_id), &added);
  NAI_TRY(nai_memory_check(!p->slices.oom, err));
  if (!added)
    return NAI_OK;
  struct nai_partition partition = {.process = process,
                                    .green = NAI_NULL_I64,
                                    .parent = NAI_NULL_I64,
                                    .sm_count = seen->sm_count,
                                    .mask = "",
                                    .device = gpu->device_id};
  NAI_TRY(NAI_ROOM(p->of_slice, p->slice_capacity, at, p->arena, err));
  return add(&p->of_slice[at], p, partition, err);
}

static int add_slices(struct nai_partitions *p, struct nai_err *err) {
  const struct nai_table *devices = p->m->tables[NAI_IN_CUDA_DEVICES], *gpus = p->m->tables[NAI_IN_GPUS];
  for (int64_t i = 0; i < devices->rows; i++) {
    struct CUDA_DEVICES_row seen = CUDA_DEVICES_at(devices, i);
    for (int64_t g = 0; seen.sm_count > 0 && g < gpus->rows; g++) {
      struct GPUS_row gpu = GPUS_at(gpus, g);
      NAI_TRY(add_slice(p, &seen, &gpu, err));
    }
  }
  return NAI_OK;
}

int nai_partitions_new(struct nai_partitions *out, const struct nai_model *m, struct nai_arena *arena,
                       struct nai_err *err) {
  uint32_t whole;
  *out = (struct nai_partitions){.m = m, .arena = arena, .contexts = {.arena = arena}, .slices = {.arena = arena}};
  NAI_TRY(add(&whole, out,
              (struct nai_partition){.process = -1, .green = NAI_NULL_I64, .parent = NAI_NULL_I64, .mask = ""}, err));
  NAI_TRY(add_contexts(out, err));
  NAI_TRY(add_unlisted(out, err));
  return add_slices(out, err);
}

uint32_t nai_partition_of(const struct nai_partitions *p, uint32_t kernel, int64_t device) {
  const struct KERNEL_EVENTS_columns *k = &p->m->kernels;
  int32_t process = nai_at_i32(&k->process, kernel);
  int64_t green = nai_at(&k->green_context, kernel);
  int64_t context = green > 0 ? green : nai_at(&k->context_id, kernel);
  uint32_t at = nai_keyset_find(&p->contexts, nai_key_pair(process, (uint32_t)context));
  if (at != UINT32_MAX)
    return p->of_context[at];
  at = nai_keyset_find(&p->slices, nai_key_pair(process, (uint32_t)device));
  return at == UINT32_MAX ? 0 : p->of_slice[at];
}

int64_t nai_partition_sms(const struct nai_partitions *p, uint32_t number, int64_t all) {
  return number ? p->v[number].sm_count : all;
}

/* Masks are lists of words; whether words of equal place meet. Lists of different lengths tell nothing. */
static bool masks_meet(const char *a, const char *b) {
  for (bool meet = false;;) {
    char *after_a, *after_b;
    meet |= (strtoull(a, &after_a, 16) & strtoull(b, &after_b, 16)) != 0;
    if (after_a == a || after_b == b || (*after_a && *after_a != ',') || *after_a != *after_b)
      return true;
    if (!*after_a)
      return meet;
    a = after_a + 1;
    b = after_b + 1;
  }
}

bool nai_partitions_overlap(const struct nai_partitions *p, uint32_t a, uint32_t b) {
  const char *one = p->v[a].mask, *other = p->v[b].mask;
  return a == b || !one || !other || !*one || !*other || masks_meet(one, other);
}
