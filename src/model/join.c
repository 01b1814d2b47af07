/* The launch join: which API call caused which work on a GPU. */
#include "model/build.h"

#include "base/sort.h"

/* API rows of one process by correlation id. Ids of a process are dense, so a table indexed by id serves; where they
 * are not, sorted keys do. */
struct process_index {
  int64_t lowest, highest; /* ids of its calls */
  uint32_t *rows;          /* by id - lowest, where ids are dense: row + 1, 0 for none */
  struct nai_key *keys;    /* otherwise sorted by id */
  size_t key_count, last;  /* last: the key found last; work follows the order of its calls, so the next one is near */
};

static bool joinable(int64_t correlation) { return correlation != NAI_NULL_I64 && correlation != 0; }

/* The index that a call belongs to, NULL for none, and its id. */
static inline struct process_index *index_of(int64_t *id, struct process_index *index, const struct nai_model *m,
                                             uint32_t api) {
  int32_t process = m->thread_process[nai_val_i32(&m->apis.thread, api)];
  *id = nai_at(&m->apis.correlation_id, api);
  return process < 0 || !joinable(*id) ? NULL : &index[process];
}

/* Decides the form of each process's index and allocates it. */
static int index_allocate(struct process_index *index, const struct nai_model *m, struct nai_err *err) {
  struct nai_arena *arena = &m->work->arenas[NAI_PART_LAUNCHES];
  for (uint32_t p = 0; p < m->process_count; p++)
    index[p] = (struct process_index){.lowest = INT64_MAX, .highest = INT64_MIN};
  for (uint32_t i = 0; i < m->apis.n; i++) {
    int64_t id;
    struct process_index *x = index_of(&id, index, m, i);
    if (!x)
      continue;
    x->lowest = id < x->lowest ? id : x->lowest;
    x->highest = id > x->highest ? id : x->highest;
    x->key_count++;
  }
  for (struct process_index *x = index; x < index + m->process_count; x++) {
    uint64_t span = x->key_count ? (uint64_t)x->highest - (uint64_t)x->lowest : 0;
    if (x->key_count && span / 8 <= x->key_count + 1024) {
      NAI_TRY(NAI_NEW(x->rows, arena, span + 1, err));
    } else if (x->key_count) {
      NAI_TRY(NAI_NEW_UNSET(x->keys, arena, x->key_count, err));
      x->key_count = 0;
    }
  }
  return NAI_OK;
}

/* Of sorted keys that repeat, keeps the earliest call's. */
static void keep_earliest(struct process_index *x, const struct nai_column *start) {
  size_t kept = 0;
  for (size_t i = 0; i < x->key_count; i++)
    if (!kept || x->keys[kept - 1].key != x->keys[i].key)
      x->keys[kept++] = x->keys[i];
    else if (nai_at(start, x->keys[i].value) < nai_at(start, x->keys[kept - 1].value))
      x->keys[kept - 1] = x->keys[i];
  x->key_count = kept;
}

static int index_fill(struct process_index *index, const struct nai_model *m, struct nai_err *err) {
  const struct API_EVENTS_columns *a = &m->apis;
  for (uint32_t i = 0; i < a->n; i++) {
    int64_t id;
    struct process_index *x = index_of(&id, index, m, i);
    if (x && x->keys) {
      x->keys[x->key_count++] = (struct nai_key){nai_key_from_i64(id), i};
    } else if (x) {
      /* Ids are unique within a process; should one repeat, the earliest call has it. */
      uint32_t *row = &x->rows[id - x->lowest];
      if (!*row || nai_val(&a->start_ns, i) < nai_val(&a->start_ns, *row - 1))
        *row = i + 1;
    }
  }
  for (struct process_index *x = index; x < index + m->process_count; x++)
    if (x->keys) {
      NAI_TRY(nai_sort_keys(x->keys, x->key_count, err));
      keep_earliest(x, &a->start_ns);
    }
  return NAI_OK;
}

/* First key that is not below `key`: mostly one of the next, else in growing steps from the one found last, then by
 * halves. */
static size_t lower_bound(const struct process_index *x, uint64_t key) {
  enum { NEAR = 8 };
  size_t lo = x->last, hi = x->last;
  if (x->keys[lo].key < key)
    for (size_t at = lo + 1; at < x->key_count && at < lo + NEAR; at++)
      if (x->keys[at].key >= key)
        return at;
  for (size_t step = 1; lo > 0 && x->keys[lo].key >= key; step *= 2)
    lo = lo > step ? lo - step : 0;
  for (size_t step = 1; hi < x->key_count && x->keys[hi].key < key; step *= 2)
    hi = x->key_count - hi > step ? hi + step : x->key_count;
  return lo + nai_keys_from(x->keys + lo, hi - lo, key);
}

static uint32_t find(struct process_index *x, int64_t correlation) {
  if (x->rows) {
    bool known = correlation >= x->lowest && correlation <= x->highest;
    return known ? x->rows[correlation - x->lowest] - 1 : NAI_NO_ROW;
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

static int join(uint32_t **out, struct nai_model *m, struct process_index *index, uint32_t n,
                const struct nai_column *correlation, const struct nai_column *process,
                const struct nai_column *copy_kind, struct nai_err *err) {
  NAI_TRY(NAI_NEW(*out, &m->arena, n, err));
  uint32_t *api = *out;
  for (uint32_t i = 0; i < n; i++) {
    int64_t id = nai_at(correlation, i);
    int32_t of = nai_at_i32(process, i);
    api[i] = of < 0 || !joinable(id) || is_migration(copy_kind, i) ? NAI_NO_ROW : find(&index[of], id);
  }
  return NAI_OK;
}

/* What each call launched. */
static void find_owners(const struct nai_model *m) {
  for (uint32_t i = 0; i < m->kernels.n; i++)
    if (m->kernel_api[i] != NAI_NO_ROW)
      m->api_owns[m->kernel_api[i]] |= 1 << NAI_OP_KERNEL;
  for (uint32_t i = 0; i < m->memops.n; i++)
    if (m->memop_api[i] != NAI_NO_ROW)
      m->api_owns[m->memop_api[i]] |=
          (uint8_t)(1 << (nai_val_i32(&m->memops.kind, i) == NAI_MEMOP_SET ? NAI_OP_SET : NAI_OP_COPY));
  for (uint32_t i = 0; i < m->graphs.n; i++)
    if (m->graph_api[i] != NAI_NO_ROW)
      m->api_owns[m->graph_api[i]] |= 1 << NAI_OP_GRAPH;
}

static int join_launches(struct nai_model *m, struct nai_err *err) {
  const struct KERNEL_EVENTS_columns *k = &m->kernels;
  const struct MEMOP_EVENTS_columns *c = &m->memops;
  const struct GRAPH_EVENTS_columns *g = &m->graphs;
  struct process_index *index;
  NAI_TRY(NAI_NEW(index, &m->work->arenas[NAI_PART_LAUNCHES], m->process_count, err));
  NAI_TRY(index_allocate(index, m, err));
  NAI_TRY(index_fill(index, m, err));
  NAI_TRY(join(&m->kernel_api, m, index, k->n, &k->correlation_id, &k->process, NULL, err));
  NAI_TRY(join(&m->memop_api, m, index, c->n, &c->correlation_id, &c->process, &c->copy_kind, err));
  NAI_TRY(join(&m->graph_api, m, index, g->n, &g->correlation_id, &g->process, NULL, err));
  NAI_TRY(NAI_NEW(m->api_owns, &m->arena, m->apis.n, err));
  find_owners(m);
  return nai_find_waiting_frees(m, err);
}

static int64_t launches_bytes(const struct nai_model *m) {
  return (int64_t)m->apis.n * 4 + ((int64_t)m->kernels.n + m->memops.n + m->graphs.n) * 8;
}

const struct nai_part_def nai_part_launches = {.name = "launches",
                                               .tables = NAI_IN(KERNELS) | NAI_IN(MEMOPS) | NAI_IN(GRAPHS) |
                                                         NAI_IN(APIS) | NAI_IN(THREADS) | NAI_IN(PROCESSES),
                                               .begin = join_launches,
                                               .bytes = launches_bytes};
