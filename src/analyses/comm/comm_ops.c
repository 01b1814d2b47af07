/* What does each GPU communicate, of which kind, how large and how fast? Table comm_ops. */
#include "analyses/analysis.h"
#include "analyses/comm/comm_purpose.h"

#include "base/sort.h"
#include "base/text.h"
#include "tables/comm_ops.h"
#include "tables/gpus.h"
#include "tables/kernel_configs.h"

enum { SMALL_BYTES = 256 << 10, LARGE_BYTES = 32 << 20, SMALL_BLOCKS = 2, FEW_OF_A_SIZE = 20 };

/* Items by kind, in order of their first ones. Kinds are few: collectives, times types, times libraries. */
static int sort_by_kind(struct nai_key **items, const struct nai_model *m, struct nai_arena *arena,
                        struct nai_err *err) {
  const struct nai_comm *c = m->comm;
  uint32_t *kinds = NULL, capacity = 0, count = 0; /* an item of each */
  uint32_t first = 0, last = 0;                    /* kinds of this GPU begin at `first` */
  NAI_TRY(NAI_NEW(*items, arena, c->count, err));
  for (uint32_t i = 0; i < c->count; i++) {
    first = i && c->items[i - 1].gpu != c->items[i].gpu ? count : first;
    if (last < first || !count || !nai_comm_same_kind(m, &c->items[kinds[last]], &c->items[i]))
      for (last = first; last < count && !nai_comm_same_kind(m, &c->items[kinds[last]], &c->items[i]);)
        last++;
    if (last == count) {
      NAI_TRY(NAI_ROOM(kinds, capacity, count, arena, err));
      kinds[count++] = i;
    }
    (*items)[i] = (struct nai_key){last, i};
  }
  return nai_sort_keys(*items, c->count, err);
}

/* --- a row ------------------------------------------------------------------------------------ */

/* The items of a row. */
struct part {
  const struct nai_model *m;
  const struct nai_key *items;
  uint32_t n;
  int64_t *room; /* for n numbers */
};

static const struct nai_comm_item *item_at(const struct part *p, uint32_t i) {
  return &p->m->comm->items[p->items[i].value];
}

static int64_t length(const struct nai_comm_item *item) { return item->end - item->start; }

/* What tells one size from another: bytes, else the grid. */
static int64_t blocks_of(const struct nai_model *m, const struct nai_comm_item *item) {
  const struct nai_table *configs = m->tables[NAI_IN_KERNEL_CONFIGS];
  int64_t row = nai_at(&m->kernels.config, item->kernel), blocks = 1;
  for (int column = KERNEL_CONFIGS_grid_x; row >= 0 && column <= KERNEL_CONFIGS_grid_z; column++) {
    int64_t n = nai_get_i64(configs, row, column);
    if (n <= 0 || __builtin_mul_overflow(blocks, n, &blocks))
      return NAI_COMM_UNKNOWN;
  }
  return row >= 0 ? blocks : NAI_COMM_UNKNOWN;
}

static bool is_small(const struct nai_model *m, const struct nai_comm_item *item) {
  int64_t bytes = nai_comm_bytes(item), blocks = bytes < 0 ? blocks_of(m, item) : 0;
  return bytes >= 0 ? bytes < SMALL_BYTES : blocks >= 0 && blocks <= SMALL_BLOCKS;
}

static void add_item(struct COMM_OPS_row *row, const struct nai_model *m, const struct nai_comm_item *item) {
  int64_t bytes = nai_comm_bytes(item);
  row->kernel_count++;
  row->total_time_ns += length(item);
  row->overlapped_ns += length(item) - item->exposed;
  row->exposed_ns += item->charged;
  row->active_exposed_ns += item->active_charged;
  row->matched_count += item->set != NAI_NO_ROW;
  row->wait_ns += item->wait;
  row->transfer_ns += item->transfer;
  row->tail_ns += item->tail;
  row->sized_count += bytes >= 0;
  row->total_bytes += bytes >= 0 ? bytes : 0;
  if (!is_small(m, item))
    return;
  row->small_count++;
  row->small_ns += length(item);
  row->small_exposed_ns += item->active_charged;
}

static void put_sums(struct COMM_OPS_row *row, struct nai_arena *arena, const struct part *p) {
  const struct nai_comm_item *longest = item_at(p, 0);
  row->kernel_count = row->total_time_ns = row->overlapped_ns = row->exposed_ns = row->active_exposed_ns = 0;
  row->matched_count = row->wait_ns = row->transfer_ns = row->tail_ns = row->sized_count = row->total_bytes = 0;
  row->small_count = row->small_ns = row->small_exposed_ns = 0;
  for (uint32_t i = 0; i < p->n; i++) {
    add_item(row, p->m, item_at(p, i));
    longest = length(item_at(p, i)) > length(longest) ? item_at(p, i) : longest;
  }
  if (!row->matched_count)
    row->wait_ns = row->transfer_ns = row->tail_ns = NAI_NULL_I64;
  if (!row->sized_count)
    row->total_bytes = NAI_NULL_I64;
  const struct nai_gpu *gpu = &p->m->gpus[longest->gpu];
  row->exposed_pct = nai_percent((double)row->exposed_ns, (double)(gpu->window_end - gpu->window_start));
  row->kernel_name = nai_model_kernel_name(p->m, longest->kernel);
  row->framework_op = nai_comm_framework_op(p->m, longest, arena);
  row->longest_start_ns = longest->start;
  row->longest_end_ns = longest->end;
}

static void put_durations(struct COMM_OPS_row *row, const struct part *p) {
  for (uint32_t i = 0; i < p->n; i++)
    p->room[i] = length(item_at(p, i));
  struct nai_stats stats = nai_stats_of(p->room, p->n);
  row->max_duration_ns = stats.max;
  row->p50_duration_ns = stats.p50;
  row->p90_duration_ns = stats.p90;
}

/* Rates of large messages, in bytes per second so that integers do. */
static void put_rates(struct COMM_OPS_row *row, const struct part *p) {
  const struct nai_model *m = p->m;
  row->large_count = row->large_exposed_ns = row->large_matched_count = 0;
  for (uint32_t i = 0; i < p->n; i++) {
    const struct nai_comm_item *item = item_at(p, i);
    struct nai_comm_rates rates = nai_comm_rates_of(item);
    if (nai_comm_bytes(item) < LARGE_BYTES || !(rates.bus > 0 && rates.bus < 1e6))
      continue;
    p->room[row->large_count++] = (int64_t)(rates.bus * 1e9);
    row->large_exposed_ns += item->active_charged;
    row->large_matched_count += item->set != NAI_NO_ROW;
  }
  const char *gpu = nai_get_str(m->tables[NAI_IN_GPUS], item_at(p, 0)->gpu, GPUS_gpu_name);
  double link = *gpu ? nai_comm_names_link(nai_kernel_classes_comm_names(m->classes), gpu) : 0;
  row->link_gb_per_s = link > 0 ? link : NAN;
  if (!row->large_count)
    return;
  row->large_busbw_p50 = nai_quantile_i64(p->room, (size_t)row->large_count, 0.5) / 1e9;
  row->link_pct = link > 0 ? nai_percent(row->large_busbw_p50, link) : NAN;
}

/* Time beyond what kernels of the same size took at best, where they are many. */
static int put_excess(struct COMM_OPS_row *row, const struct part *p, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(p->m->scratch_dir);
  struct nai_key *keys;
  uint32_t count = 0;
  int64_t excess = 0;
  NAI_TRY(NAI_NEW(keys, &arena, p->n, err));
  for (uint32_t i = 0; i < p->n; i++) {
    const struct nai_comm_item *item = item_at(p, i);
    int64_t bytes = nai_comm_bytes(item);
    if (item->set == NAI_NO_ROW)
      keys[count++] =
          (struct nai_key){nai_key_from_i64(bytes >= 0 ? bytes : -2 - blocks_of(p->m, item)), p->items[i].value};
  }
  NAI_TRY(nai_sort_keys(keys, count, err));
  for (uint32_t i = 0, j; i < count; i = j) {
    for (j = i; j < count && keys[j].key == keys[i].key; j++)
      p->room[j - i] = length(&p->m->comm->items[keys[j].value]);
    if (j - i < FEW_OF_A_SIZE)
      continue;
    int64_t best = (int64_t)nai_quantile_i64(p->room, j - i, 0.05);
    for (uint32_t k = 0; k < j - i; k++)
      excess += p->room[k] > best ? p->room[k] - best : 0;
    row->excess_ns = excess;
  }
  return NAI_OK;
}

/* --- where the program asked for it ----------------------------------------------------------- */

/* Ranges that libraries put around what they do. */
static bool of_library(const struct nai_model *m, const struct nai_nvtx_node *node) {
  const char *name = nai_strings_get(&m->tables[NAI_IN_NVTX]->strings, node->name);
  return nai_comm_is_nccls(m, node->longest) || /* of nsys -t nccl, whose names say less */
         nai_text_begins(name, NAI_WORDS("nccl", "c10d::", "record_param_comms", "aten::", "ProcessGroup"));
}

/* The name of the innermost range around the launch that is the program's, NAI_NO_STRING for none. */
static uint32_t range_of(const struct nai_model *m, const struct nai_comm_item *item) {
  uint32_t api = m->kernel_api[item->kernel];
  const struct nai_nvtx_node *node = api == NAI_NO_ROW ? NULL : nai_model_call_node(m, api);
  while (node && of_library(m, node))
    node = node->parent == NAI_NO_ROW ? NULL : &m->nodes[node->parent];
  return node ? node->name : NAI_NO_STRING;
}

/* Time by name, for each of `names` in room, becomes time by place: names that only a number tells apart are one. */
static int fold_places(struct nai_strings *places, const struct part *p, const struct nai_keyset *names,
                       struct nai_err *err) {
  NAI_SCOPED(nai_buf) place = {0};
  for (uint32_t i = 0; i < names->count; i++) {
    int64_t ns = p->room[i];
    uint32_t known = places->count;
    nai_buf_clear(&place);
    nai_text_fold_digits(&place, nai_strings_get(&p->m->tables[NAI_IN_NVTX]->strings, (uint32_t)names->keys[i]));
    uint32_t index = nai_strings_add(places, nai_buf_str(&place), place.len); /* i at most */
    if (index == NAI_NO_STRING || place.oom)
      return nai_err_nomem(err);
    p->room[index] = (index < known ? p->room[index] : 0) + ns;
  }
  return NAI_OK;
}

static int put_range(struct COMM_OPS_row *row, struct nai_arena *arena, const struct part *p, struct nai_err *err) {
  NAI_SCOPED(nai_keyset) names = {0};
  struct nai_strings places = {.arena = arena};
  uint32_t most = 0;
  for (uint32_t i = 0; i < p->n && !names.oom; i++) {
    uint32_t name = range_of(p->m, item_at(p, i));
    bool added;
    if (name == NAI_NO_STRING)
      continue;
    uint32_t index = nai_keyset_add(&names, name, &added);
    p->room[index] = (added ? 0 : p->room[index]) + item_at(p, i)->active_charged;
  }
  NAI_TRY(nai_memory_check(!names.oom, err));
  NAI_TRY(fold_places(&places, p, &names, err));
  for (uint32_t i = 1; i < places.count; i++)
    most = p->room[i] > p->room[most] ? i : most;
  if (!places.count || p->room[most] <= 0)
    return NAI_OK;
  row->issued_in = nai_strings_get(&places, most);
  row->issued_in_ns = p->room[most];
  return NAI_OK;
}

/* --- the table -------------------------------------------------------------------------------- */

static int put_part(struct nai_table *table, struct nai_arena *arena, const struct part *p, struct nai_err *err) {
  const struct nai_comm_item *first = item_at(p, 0);
  const struct nai_comm_name *name = nai_comm_name_of(p->m, first);
  struct COMM_OPS_row row =
      NAI_ROW(COMM_OPS, .device_id = nai_model_device(p->m, first->gpu), .op = nai_comm_op(first), .dtype = name->dtype,
              .family = name->family ? name->family : "other", .entry_kernel = name->entry, .fused = name->fused);
  put_sums(&row, arena, p);
  put_durations(&row, p);
  put_rates(&row, p);
  NAI_TRY(put_excess(&row, p, err));
  NAI_TRY(put_range(&row, arena, p, err));
  NAI_TRY(nai_memory_check(!arena->oom, err));
  COMM_OPS_add(table, &row);
  return NAI_OK;
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  uint32_t count = io->model->comm->count;
  struct nai_key *items;
  struct part part = {.m = io->model};
  NAI_TRY(sort_by_kind(&items, io->model, io->arena, err));
  NAI_TRY(NAI_NEW(part.room, io->arena, count, err));
  for (uint32_t i = 0; i < count; i += part.n) {
    part.items = items + i;
    for (part.n = 0; i + part.n < count && items[i + part.n].key == items[i].key;)
      part.n++;
    NAI_TRY(put_part(io->out[0], io->arena, &part, err));
  }
  return NAI_OK;
}

NAI_ANALYSIS(comm_ops, .outputs = NAI_SCHEMAS(&nai_comm_ops_schema), .parts = NAI_PART(COMM) | NAI_PART(NVTX_TREE),
             .tables = NAI_IN(KERNELS) | NAI_IN(NVTX) | NAI_IN(GPUS) | NAI_IN(KERNEL_CONFIGS),
             .config = NAI_CONFIG(KERNEL_CLASSES), .run = run)
