/* Table comm_ops: communication of each kind on each GPU. */
#include "analyses/comm/comm.h"

#include "base/array.h"
#include "base/sort.h"
#include "tables/comm_ops.h"
#include "tables/events.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL_BYTES = 256 << 10, LARGE_BYTES = 32 << 20, SMALL_BLOCKS = 2, FEW_OF_A_SIZE = 20 };

/* Kernels of one kind on one GPU: items order[first] .. order[first + count - 1]. */
struct kind {
  uint32_t gpu, first, count;
  const char *op, *dtype, *family;
};

struct kinds {
  struct kind *v;
  uint32_t count, capacity;
  uint32_t *of_item, *order;
};

static bool same(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

static bool is_kind(const struct kind *kind, const struct kind *other) {
  return kind->gpu == other->gpu && same(kind->op, other->op) && same(kind->dtype, other->dtype) &&
         same(kind->family, other->family);
}

static struct kind kind_of(const struct nai_comm *c, const struct nai_comm_item *item) {
  const struct nai_comm_name *name = nai_comm_name_of(c, item);
  return (struct kind){.gpu = item->gpu, .op = item->op, .dtype = name->dtype, .family = name->family};
}

/* Kinds are few: collectives, times types, times libraries. */
static int list_kinds(struct kinds *k, const struct nai_comm *c, struct nai_err *err) {
  k->of_item = calloc((size_t)c->count + 1, sizeof *k->of_item);
  k->order = malloc(((size_t)c->count + 1) * sizeof *k->order);
  if (!k->of_item || !k->order)
    return nai_err_nomem(err);
  uint32_t first = 0, last = 0; /* kinds of this GPU begin at `first` */
  for (uint32_t i = 0; i < c->count; i++) {
    struct kind kind = kind_of(c, &c->items[i]);
    first = i && c->items[i - 1].gpu != kind.gpu ? k->count : first;
    if (last >= k->count || !is_kind(&k->v[last], &kind))
      for (last = first; last < k->count && !is_kind(&k->v[last], &kind);)
        last++;
    if (last == k->count) {
      if (!nai_array_room(&k->v, &k->capacity, k->count, sizeof *k->v))
        return nai_err_nomem(err);
      k->v[k->count++] = kind;
    }
    k->of_item[i] = last;
    k->v[last].count++;
  }
  return NAI_OK;
}

static void order_items(struct kinds *k, const struct nai_comm *c) {
  uint32_t at = 0;
  for (uint32_t i = 0; i < k->count; i++) {
    k->v[i].first = at;
    at += k->v[i].count;
    k->v[i].count = 0;
  }
  for (uint32_t i = 0; i < c->count; i++) {
    struct kind *kind = &k->v[k->of_item[i]];
    k->order[kind->first + kind->count++] = i;
  }
}

/* --- a row ------------------------------------------------------------------------------------ */

/* What tells one size from another: bytes, else the grid. */
static int64_t blocks_of(const struct nai_comm *c, const struct nai_comm_item *item) {
  const struct nai_table *configs = c->m->tables[NAI_IN_KERNEL_CONFIGS];
  int64_t row = nai_at(&c->m->kernels.config, item->kernel), blocks = 1;
  for (int column = KERNEL_CONFIGS_grid_x; row >= 0 && column <= KERNEL_CONFIGS_grid_z; column++) {
    int64_t n = nai_get_i64(configs, row, column);
    if (n <= 0 || __builtin_mul_overflow(blocks, n, &blocks))
      return NAI_COMM_UNKNOWN;
  }
  return row >= 0 ? blocks : NAI_COMM_UNKNOWN;
}

static bool is_small(const struct nai_comm *c, const struct nai_comm_item *item) {
  int64_t bytes = nai_comm_bytes(item), blocks = bytes < 0 ? blocks_of(c, item) : 0;
  return bytes >= 0 ? bytes < SMALL_BYTES : blocks >= 0 && blocks <= SMALL_BLOCKS;
}

static void put_sums(struct nai_table *table, int64_t row, const struct nai_comm *c, const uint32_t *items,
                     uint32_t n) {
  int64_t sums[COMM_OPS_longest_end_ns + 1] = {0};
  const struct nai_comm_item *longest = &c->items[items[0]];
  for (uint32_t i = 0; i < n; i++) {
    const struct nai_comm_item *item = &c->items[items[i]];
    int64_t ns = item->end - item->start, bytes = nai_comm_bytes(item);
    bool matched = item->set != NAI_NO_ROW, small = is_small(c, item);
    longest = ns > longest->end - longest->start ? item : longest;
    sums[COMM_OPS_kernel_count]++;
    sums[COMM_OPS_total_time_ns] += ns;
    sums[COMM_OPS_overlapped_ns] += ns - item->exposed;
    sums[COMM_OPS_exposed_ns] += item->charged;
    sums[COMM_OPS_active_exposed_ns] += item->active_charged;
    sums[COMM_OPS_matched_count] += matched;
    sums[COMM_OPS_wait_ns] += item->wait;
    sums[COMM_OPS_transfer_ns] += item->transfer;
    sums[COMM_OPS_tail_ns] += item->tail;
    sums[COMM_OPS_sized_count] += bytes >= 0;
    sums[COMM_OPS_total_bytes] += bytes >= 0 ? bytes : 0;
    sums[COMM_OPS_small_count] += small;
    sums[COMM_OPS_small_ns] += small ? ns : 0;
    sums[COMM_OPS_small_exposed_ns] += small ? item->active_charged : 0;
  }
  for (int column = COMM_OPS_kernel_count; column <= COMM_OPS_small_exposed_ns; column++)
    if (table->schema->columns[column].type == NAI_I64 && column != COMM_OPS_max_duration_ns &&
        column != COMM_OPS_excess_ns)
      nai_set_i64(table, row, column, sums[column]);
  if (!sums[COMM_OPS_matched_count])
    for (int column = COMM_OPS_wait_ns; column <= COMM_OPS_tail_ns; column++)
      nai_set_i64(table, row, column, NAI_NULL_I64);
  if (!sums[COMM_OPS_sized_count])
    nai_set_i64(table, row, COMM_OPS_total_bytes, NAI_NULL_I64);
  const struct nai_gpu *gpu = &c->m->gpus[longest->gpu];
  nai_set_f64(table, row, COMM_OPS_exposed_pct,
              nai_percent((double)sums[COMM_OPS_exposed_ns], (double)(gpu->window_end - gpu->window_start)));
  nai_set_str(table, row, COMM_OPS_kernel_name, nai_model_kernel_name(c->m, longest->kernel));
  nai_set_i64(table, row, COMM_OPS_longest_start_ns, longest->start);
  nai_set_i64(table, row, COMM_OPS_longest_end_ns, longest->end);
}

static void put_durations(struct nai_table *table, int64_t row, const struct nai_comm *c, const uint32_t *items,
                          uint32_t n, int64_t *room) {
  for (uint32_t i = 0; i < n; i++)
    room[i] = c->items[items[i]].end - c->items[items[i]].start;
  struct nai_stats stats = nai_stats_of(room, n);
  nai_put_stats(table, row,
                &(struct nai_stats_columns){-1, -1, -1, -1, .max = COMM_OPS_max_duration_ns,
                                            .p50 = COMM_OPS_p50_duration_ns, .p90 = COMM_OPS_p90_duration_ns, -1, -1},
                &stats);
}

/* Rates of large messages, in bytes per second so that integers do. */
static void put_rates(struct nai_table *table, int64_t row, const struct nai_comm *c, const uint32_t *items, uint32_t n,
                      int64_t *room) {
  int64_t active = 0, matched = 0;
  uint32_t count = 0;
  for (uint32_t i = 0; i < n; i++) {
    const struct nai_comm_item *item = &c->items[items[i]];
    struct nai_comm_rates rates = nai_comm_rates(item->op, nai_comm_bytes(item), item->ranks, nai_comm_rated_ns(item));
    if (nai_comm_bytes(item) < LARGE_BYTES || !(rates.bus > 0 && rates.bus < 1e6))
      continue;
    room[count++] = (int64_t)(rates.bus * 1e9);
    active += item->active_charged;
    matched += item->set != NAI_NO_ROW;
  }
  nai_set_i64(table, row, COMM_OPS_large_count, count);
  nai_set_i64(table, row, COMM_OPS_large_exposed_ns, active);
  nai_set_i64(table, row, COMM_OPS_large_matched_count, matched);
  const struct nai_value gpu = nai_table_value(c->m->tables[NAI_IN_GPUS], c->items[items[0]].gpu, GPUS_gpu_name);
  double link = gpu.null ? 0 : nai_comm_names_link(nai_kernel_classes_comm_names(c->m->classes), gpu.s);
  if (link > 0)
    nai_set_f64(table, row, COMM_OPS_link_gb_per_s, link);
  if (!count)
    return;
  double bus = nai_quantile_i64(room, count, 0.5) / 1e9;
  nai_set_f64(table, row, COMM_OPS_large_busbw_p50, bus);
  if (link > 0)
    nai_set_f64(table, row, COMM_OPS_link_pct, nai_percent(bus, link));
}

/* Time beyond what kernels of the same size took at best, where they are many. */
static int put_excess(struct nai_table *table, int64_t row, const struct nai_comm *c, const uint32_t *items, uint32_t n,
                      int64_t *room, struct nai_err *err) {
  struct nai_key *keys = malloc(((size_t)n + 1) * sizeof *keys);
  uint32_t count = 0;
  int64_t excess = 0;
  bool any = false;
  for (uint32_t i = 0; keys && i < n; i++) {
    const struct nai_comm_item *item = &c->items[items[i]];
    int64_t bytes = nai_comm_bytes(item);
    if (item->set == NAI_NO_ROW)
      keys[count++] = (struct nai_key){nai_key_from_i64(bytes >= 0 ? bytes : -2 - blocks_of(c, item)), items[i]};
  }
  int rc = keys ? nai_sort_keys(keys, count, err) : nai_err_nomem(err);
  for (uint32_t i = 0, j; !rc && i < count; i = j) {
    for (j = i; j < count && keys[j].key == keys[i].key; j++)
      room[j - i] = c->items[keys[j].value].end - c->items[keys[j].value].start;
    if (j - i < FEW_OF_A_SIZE)
      continue;
    int64_t best = (int64_t)nai_quantile_i64(room, j - i, 0.05);
    any = true;
    for (uint32_t k = 0; k < j - i; k++)
      excess += room[k] > best ? room[k] - best : 0;
  }
  if (any)
    nai_set_i64(table, row, COMM_OPS_excess_ns, excess);
  free(keys);
  return rc;
}

/* --- where the program asked for it ----------------------------------------------------------- */

/* Ranges that libraries put around what they do. */
static bool of_library(const char *name) {
  static const char *const begins[] = {"nccl", "c10d::", "record_param_comms", "aten::", "ProcessGroup"};
  for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
    if (strncmp(name, begins[i], strlen(begins[i])) == 0)
      return true;
  return false;
}

/* The name of the innermost range around the launch that is the program's, NAI_NO_STRING for none. */
static uint32_t range_of(const struct nai_comm *c, const struct nai_comm_item *item) {
  const struct nai_model *m = c->m;
  uint32_t api = m->kernel_api[item->kernel];
  const struct nai_nvtx_node *node = api == NAI_NO_ROW ? NULL : nai_model_call_node(m, api);
  while (node && of_library(nai_strings_get(&m->tables[NAI_IN_NVTX]->strings, node->name)))
    node = node->parent == NAI_NO_ROW ? NULL : &m->nodes[node->parent];
  return node ? node->name : NAI_NO_STRING;
}

/* `room` has place for n. */
static int put_range(struct nai_table *table, int64_t row, const struct nai_comm *c, const uint32_t *items, uint32_t n,
                     int64_t *room, struct nai_err *err) {
  struct nai_keyset names = {0};
  uint32_t most = 0;
  for (uint32_t i = 0; i < n && !names.oom; i++) {
    uint32_t name = range_of(c, &c->items[items[i]]);
    bool added;
    if (name == NAI_NO_STRING)
      continue;
    uint32_t index = nai_keyset_add(&names, name, &added);
    if (!names.oom)
      room[index] = (added ? 0 : room[index]) + c->items[items[i]].active_charged;
  }
  for (uint32_t i = 1; i < names.count; i++)
    most = room[i] > room[most] ? i : most;
  if (!names.oom && names.count && room[most] > 0) {
    nai_set_str(table, row, COMM_OPS_issued_in,
                nai_strings_get(&c->m->tables[NAI_IN_NVTX]->strings, (uint32_t)names.keys[most]));
    nai_set_i64(table, row, COMM_OPS_issued_in_ns, room[most]);
  }
  bool oom = names.oom;
  nai_keyset_free(&names);
  return oom ? nai_err_nomem(err) : NAI_OK;
}

int nai_comm_put_ops(struct nai_table *table, const struct nai_comm *c, struct nai_err *err) {
  struct kinds kinds = {0};
  int64_t *room = malloc(((size_t)c->count + 1) * sizeof *room);
  int rc = room ? list_kinds(&kinds, c, err) : nai_err_nomem(err);
  if (!rc)
    order_items(&kinds, c);
  for (uint32_t i = 0; !rc && i < kinds.count; i++) {
    const struct kind *kind = &kinds.v[i];
    const uint32_t *items = kinds.order + kind->first;
    const struct nai_comm_name *name = nai_comm_name_of(c, &c->items[items[0]]);
    int64_t row = nai_table_add_row(table);
    nai_set_i64(table, row, COMM_OPS_device_id, nai_model_device(c->m, kind->gpu));
    nai_set_str(table, row, COMM_OPS_op, kind->op ? kind->op : "unknown");
    nai_set_str(table, row, COMM_OPS_dtype, kind->dtype);
    nai_set_str(table, row, COMM_OPS_family, kind->family ? kind->family : "other");
    nai_set_i64(table, row, COMM_OPS_entry_kernel, name->entry);
    nai_set_i64(table, row, COMM_OPS_fused, name->fused);
    put_sums(table, row, c, items, kind->count);
    put_durations(table, row, c, items, kind->count, room);
    put_rates(table, row, c, items, kind->count, room);
    rc = put_excess(table, row, c, items, kind->count, room, err);
    if (!rc)
      rc = put_range(table, row, c, items, kind->count, room, err);
  }
  free(kinds.v);
  free(kinds.of_item);
  free(kinds.order);
  free(room);
  return rc;
}
