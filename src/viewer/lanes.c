#include "viewer/lanes.h"

#include <stdlib.h>
#include <string.h>

void lanes_free(struct lanes *lanes) {
  for (uint32_t i = 0; i < lanes->count; i++)
    free(lanes->v[i].items);
  free(lanes->v);
  free(lanes->rows);
  nai_intervals_free(&lanes->detail);
}

static struct lane *add_lane(struct lanes *lanes, struct lane lane) {
  if (lanes->count == lanes->capacity) {
    uint32_t capacity = lanes->capacity ? lanes->capacity * 2 : 64;
    struct lane *v = realloc(lanes->v, (size_t)capacity * sizeof *v);
    if (!v)
      return NULL;
    lanes->v = v;
    lanes->capacity = capacity;
  }
  lane.first = (uint32_t)lanes->total;
  lanes->v[lanes->count] = lane;
  return &lanes->v[lanes->count++];
}

/* Where an operation is shown: kind, process, context, stream. */
struct key {
  int32_t kind, process, context, stream;
};

static struct key key_of(const struct nai_model *m, const struct nai_op *op) {
  switch (op->type) {
  case NAI_OP_KERNEL:
    return (struct key){LANE_KERNEL, m->kernels.process[op->row], m->kernels.context[op->row], m->kernels.stream[op->row]};
  case NAI_OP_GRAPH:
    return (struct key){LANE_GRAPH, m->graphs.process[op->row], m->graphs.context[op->row], m->graphs.stream[op->row]};
  default:
    return (struct key){op->type == NAI_OP_COPY ? LANE_COPY : LANE_SET, m->memops.process[op->row],
                        m->memops.context[op->row], m->memops.stream[op->row]};
  }
}

static int compare_keys(const void *pa, const void *pb) {
  const int32_t *a = pa, *b = pb; /* process, context, stream, kind */
  static const int order[] = {1, 2, 3, 0};
  for (int i = 0; i < 4; i++)
    if (a[order[i]] != b[order[i]])
      return a[order[i]] < b[order[i]] ? -1 : 1;
  return 0;
}

enum { MAX_KEYS = 1024 }; /* streams of one GPU; what goes beyond shares the last lane */

/* The GPU's operations split into lanes, each still in start order: a stable counting sort by lane. */
static int add_gpu(struct lanes *lanes, const struct nai_gpu *gpu, const struct nai_model *m, struct nai_err *err) {
  struct key keys[MAX_KEYS];
  uint32_t counts[MAX_KEYS] = {0}, key_count = 0, last = 0;
  for (int pass = 0; pass < 2; pass++) {
    for (uint32_t i = 0; i < gpu->op_count; i++) {
      struct key key = key_of(m, &gpu->ops[i]);
      uint32_t k = last;
      if (k >= key_count || memcmp(&keys[k], &key, sizeof key) != 0)
        for (k = 0; k < key_count && memcmp(&keys[k], &key, sizeof key) != 0; k++)
          ;
      if (k == MAX_KEYS)
        k = MAX_KEYS - 1;
      if (pass == 0 && k == key_count)
        keys[key_count++] = key;
      last = k;
      if (pass == 1)
        lanes->rows[counts[k]++] = gpu->ops[i].row;
      else
        counts[k]++;
    }
    if (pass == 1)
      break;
    /* Between the passes: lanes in their final order, and counts become positions. */
    struct key sorted[MAX_KEYS];
    uint32_t starts[MAX_KEYS];
    memcpy(sorted, keys, key_count * sizeof *keys);
    qsort(sorted, key_count, sizeof *sorted, compare_keys);
    for (uint32_t s = 0; s < key_count; s++)
      for (uint32_t k = 0; k < key_count; k++) {
        if (memcmp(&sorted[s], &keys[k], sizeof *keys) != 0)
          continue;
        struct lane *lane = add_lane(lanes, (struct lane){.kind = (enum lane_kind)keys[k].kind, .gpu = gpu->device_id,
                                                          .process = keys[k].process, .thread = -1,
                                                          .context = keys[k].context, .stream = keys[k].stream});
        if (!lane)
          return nai_err_nomem(err);
        lane->count = counts[k];
        starts[k] = (uint32_t)lanes->total;
        lanes->total += counts[k];
      }
    memcpy(counts, starts, key_count * sizeof *counts);
  }
  return NAI_OK;
}

/* One host lane: the thread's API calls, or its ranges of one kind. */
static int add_host_lane(struct lanes *lanes, const struct nai_model *m, uint32_t thread, enum lane_kind kind,
                         struct nai_err *err) {
  const struct nai_groups *g = kind == LANE_API ? &m->api_by_thread : &m->nvtx_by_thread;
  int wanted = kind == LANE_NVTX ? NAI_NVTX_PUSH_POP : NAI_NVTX_START_END;
  struct lane *lane = add_lane(lanes, (struct lane){.kind = kind, .gpu = -1, .process = m->thread_process[thread],
                                                    .thread = (int32_t)thread, .context = -1, .stream = -1});
  if (!lane)
    return nai_err_nomem(err);
  for (uint32_t i = g->first[thread]; i < g->first[thread + 1]; i++)
    if (kind == LANE_API || m->nvtx.kind[g->order[i]] == wanted)
      lanes->rows[lanes->total++] = g->order[i];
  lane->count = (uint32_t)lanes->total - lane->first;
  lanes->count -= lane->count == 0;
  return NAI_OK;
}

int lanes_build(struct lanes *out, const struct nai_model *m, struct nai_err *err) {
  uint64_t most = (uint64_t)m->apis.n + m->nvtx.n;
  for (uint32_t g = 0; g < m->gpu_count; g++)
    most += m->gpus[g].op_count;
  if (most >= UINT32_MAX)
    return nai_err_set(err, NAI_ELIMIT, "more than 4,294,967,294 events for the timeline");
  out->rows = malloc((size_t)(most + 1) * sizeof *out->rows);
  int rc = out->rows ? NAI_OK : nai_err_nomem(err);
  for (uint32_t t = 0; !rc && t < m->thread_count; t++)
    rc = add_host_lane(out, m, t, LANE_API, err);
  for (uint32_t g = 0; !rc && g < m->gpu_count; g++)
    rc = add_gpu(out, &m->gpus[g], m, err);
  for (uint32_t t = 0; !rc && t < m->thread_count; t++) {
    rc = add_host_lane(out, m, t, LANE_NVTX, err);
    if (!rc)
      rc = add_host_lane(out, m, t, LANE_NVTX_ASYNC, err);
  }
  return rc;
}
