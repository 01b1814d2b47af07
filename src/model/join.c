/* The launch join: which API call caused which work on a GPU. */
#include "model/build.h"

#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

/* API rows of one process by correlation id. Ids of a process are dense, so a table indexed by id serves; where they
 * are not, sorted keys do. */
struct process_index {
  int64_t lowest, highest; /* ids of its calls */
  uint32_t *rows;          /* by id - lowest, where ids are dense */
  struct nai_key *keys;    /* otherwise sorted by id */
  size_t key_count, last;  /* last: the key found last; work follows the order of its calls, so the next one is near */
};

static bool joinable(int64_t correlation) { return correlation != NAI_NULL_I64 && correlation != 0; }

static void index_free(struct process_index *index, uint32_t count) {
  for (uint32_t p = 0; index && p < count; p++) {
    free(index[p].rows);
    free(index[p].keys);
  }
  free(index);
}

/* Decides the form of each process's index and allocates it. */
static int index_allocate(struct process_index *index, const struct nai_model *m, struct nai_err *err) {
  const struct API_EVENTS_columns *a = &m->apis;
  for (uint32_t p = 0; p < m->process_count; p++)
    index[p] = (struct process_index){.lowest = INT64_MAX, .highest = INT64_MIN};
  for (uint32_t i = 0; i < a->n; i++) {
    int32_t process = m->thread_process[nai_at_i32(&a->thread, i)];
    if (process < 0 || !joinable(nai_at(&a->correlation_id, i)))
      continue;
    struct process_index *x = &index[process];
    x->lowest = nai_at(&a->correlation_id, i) < x->lowest ? nai_at(&a->correlation_id, i) : x->lowest;
    x->highest = nai_at(&a->correlation_id, i) > x->highest ? nai_at(&a->correlation_id, i) : x->highest;
    x->key_count++;
  }
  for (uint32_t p = 0; p < m->process_count; p++) {
    struct process_index *x = &index[p];
    uint64_t span = x->key_count ? (uint64_t)x->highest - (uint64_t)x->lowest : 0;
    if (!x->key_count)
      continue;
    if (span / 8 <= x->key_count + 1024) {
      x->rows = malloc((span + 1) * sizeof *x->rows);
      if (x->rows)
        memset(x->rows, 0xff, (span + 1) * sizeof *x->rows); /* NAI_NO_ROW */
    } else {
      x->keys = malloc(x->key_count * sizeof *x->keys);
      x->key_count = 0;
    }
    if (!x->rows && !x->keys)
      return nai_err_nomem(err);
  }
  return NAI_OK;
}

/* Of sorted keys that repeat, keeps the earliest call's. */
static void keep_earliest(struct process_index *x, const struct nai_column *start) {
  size_t kept = 0;
  for (size_t i = 0; x->keys && i < x->key_count; i++)
    if (!kept || x->keys[kept - 1].key != x->keys[i].key)
      x->keys[kept++] = x->keys[i];
    else if (nai_at(start, x->keys[i].value) < nai_at(start, x->keys[kept - 1].value))
      x->keys[kept - 1] = x->keys[i];
  if (x->keys)
    x->key_count = kept;
}

static int index_fill(struct process_index *index, const struct nai_model *m, struct nai_err *err) {
  const struct API_EVENTS_columns *a = &m->apis;
  for (uint32_t i = 0; i < a->n; i++) {
    int32_t process = m->thread_process[nai_at_i32(&a->thread, i)];
    if (process < 0 || !joinable(nai_at(&a->correlation_id, i)))
      continue;
    struct process_index *x = &index[process];
    if (x->keys) {
      x->keys[x->key_count++] = (struct nai_key){nai_key_from_i64(nai_at(&a->correlation_id, i)), i};
    } else {
      /* Ids are unique within a process; should one repeat, the earliest call has it. */
      uint32_t *row = &x->rows[nai_at(&a->correlation_id, i) - x->lowest];
      if (*row == NAI_NO_ROW || nai_at(&a->start_ns, i) < nai_at(&a->start_ns, *row))
        *row = i;
    }
  }
  for (uint32_t p = 0; p < m->process_count; p++) {
    int rc = index[p].keys ? nai_sort_keys(index[p].keys, index[p].key_count, err) : NAI_OK;
    if (rc)
      return rc;
    keep_earliest(&index[p], &a->start_ns);
  }
  return NAI_OK;
}

/* First key that is not below `key`: in growing steps from the one found last, then by halves. */
static size_t lower_bound(const struct process_index *x, uint64_t key) {
  size_t lo = x->last, hi = x->last;
  for (size_t step = 1; lo > 0 && x->keys[lo].key >= key; step *= 2)
    lo = lo > step ? lo - step : 0;
  for (size_t step = 1; hi < x->key_count && x->keys[hi].key < key; step *= 2)
    hi = x->key_count - hi > step ? hi + step : x->key_count;
  return lo + nai_keys_from(x->keys + lo, hi - lo, key);
}

static uint32_t find(struct process_index *x, int64_t correlation) {
  if (x->rows) {
    bool known = correlation >= x->lowest && correlation <= x->highest;
    return known ? x->rows[correlation - x->lowest] : NAI_NO_ROW;
  }
  uint64_t key = nai_key_from_i64(correlation);
  size_t at = x->key_count ? lower_bound(x, key) : 0;
  if (at == x->key_count || x->keys[at].key != key)
    return NAI_NO_ROW;
  x->last = at;
  return x->keys[at].value;
}

/* Page migrations (copy kinds 11..13) carry ids of another kind. */
static bool is_migration(const struct nai_column *copy_kind, uint32_t row) {
  int32_t kind = copy_kind ? nai_at_i32(copy_kind, row) : 0;
  return kind >= 11 && kind <= 13;
}

static uint32_t *join(struct process_index *index, uint32_t n, const struct nai_column *correlation,
                      const struct nai_column *process, const struct nai_column *copy_kind) {
  uint32_t *api = malloc(((size_t)n + 1) * sizeof *api);
  for (uint32_t i = 0; api && i < n; i++) {
    int64_t id = nai_at(correlation, i);
    int32_t of = nai_at_i32(process, i);
    api[i] = of < 0 || !joinable(id) || is_migration(copy_kind, i) ? NAI_NO_ROW : find(&index[of], id);
  }
  return api;
}

static int join_launches(void *ctx, int task, struct nai_err *err) {
  (void)task;
  struct nai_model *m = ctx;
  struct process_index *index = calloc((size_t)m->process_count + 1, sizeof *index);
  int rc = index ? index_allocate(index, m, err) : nai_err_nomem(err);
  if (!rc)
    rc = index_fill(index, m, err);
  if (!rc) {
    m->kernel_api = join(index, m->kernels.n, &m->kernels.correlation_id, &m->kernels.process, NULL);
    m->memop_api = join(index, m->memops.n, &m->memops.correlation_id, &m->memops.process, &m->memops.copy_kind);
    m->graph_api = join(index, m->graphs.n, &m->graphs.correlation_id, &m->graphs.process, NULL);
    m->api_owns = calloc((size_t)m->apis.n + 1, 1);
    if (!m->kernel_api || !m->memop_api || !m->graph_api || !m->api_owns)
      rc = nai_err_nomem(err);
  }
  index_free(index, m->process_count);
  if (rc)
    return rc;
  for (uint32_t i = 0; i < m->kernels.n; i++)
    if (m->kernel_api[i] != NAI_NO_ROW)
      m->api_owns[m->kernel_api[i]] |= 1 << NAI_OP_KERNEL;
  for (uint32_t i = 0; i < m->memops.n; i++)
    if (m->memop_api[i] != NAI_NO_ROW)
      m->api_owns[m->memop_api[i]] |=
          (uint8_t)(1 << (nai_at_i32(&m->memops.kind, i) == NAI_MEMOP_SET ? NAI_OP_SET : NAI_OP_COPY));
  for (uint32_t i = 0; i < m->graphs.n; i++)
    if (m->graph_api[i] != NAI_NO_ROW)
      m->api_owns[m->graph_api[i]] |= 1 << NAI_OP_GRAPH;
  return NAI_OK;
}

static void free_launches(struct nai_model *m) {
  free(m->kernel_api);
  free(m->memop_api);
  free(m->graph_api);
  free(m->api_owns);
}

static int64_t launches_bytes(const struct nai_model *m) {
  return (int64_t)m->apis.n * 4 + ((int64_t)m->kernels.n + m->memops.n + m->graphs.n) * 8;
}

const struct nai_part_def nai_part_launches = {.name = "launches",
                                               .tables = NAI_IN(KERNELS) | NAI_IN(MEMOPS) | NAI_IN(GRAPHS) |
                                                         NAI_IN(APIS) | NAI_IN(THREADS) | NAI_IN(PROCESSES),
                                               .begin = join_launches,
                                               .free = free_launches,
                                               .bytes = launches_bytes};
