/* What does each communicator do, and how long do its messages take by their size? Tables communicators, comm_sizes. */
#include "analyses/comm/comm_purpose.h"
#include "base/buf.h"
#include "base/sort.h"
#include "config/patterns.h"
#include "model/comm/comm.h"
#include "table/stats.h"
#include "tables/comm_sizes.h"
#include "tables/communicators.h"

enum { SMALL_BYTES = 256 << 10, LATENCIES = 3, MAX_MEMBERS = 16 };

/* Rows are made of neighbors among items in some order. */
struct rows {
  const struct nai_node_io *io;
  const struct nai_model *m;
  uint32_t *items, count;
  int64_t *room;
};

static const struct nai_comm_item *item_at(const struct rows *r, uint32_t i) { return &r->m->comm->items[r->items[i]]; }

static int32_t process_of(const struct nai_model *m, const struct nai_comm_item *item) {
  return m->comm->streams[item->stream].process;
}

/* 0 for nothing, else 1 + the exponent of the power of two that the size is not below. */
static int bin_of(const struct nai_comm_item *item) {
  int64_t bytes = nai_comm_bytes(item);
  return bytes > 0 ? 64 - __builtin_clzll((uint64_t)bytes) : 0;
}

static int64_t transfer_of(const struct nai_comm_item *item) {
  return item->set != NAI_NO_ROW ? item->transfer : item->end - item->start;
}

static int64_t add_nullable(int64_t sum, int64_t value) { return (sum == NAI_NULL_I64 ? 0 : sum) + value; }

/* --- communicators -------------------------------------------------------------------------------- */

static int by_communicator(const void *pa, const void *pb, void *ctx) {
  const struct nai_model *m = ctx;
  const struct nai_comm_item *a = &m->comm->items[*(const uint32_t *)pa], *b = &m->comm->items[*(const uint32_t *)pb];
  return NAI_COMPARE({a->gpu, b->gpu}, {process_of(m, a), process_of(m, b)}, {a->comm, b->comm}, {a->stream, b->stream},
                     {*(const uint32_t *)pa, *(const uint32_t *)pb});
}

static bool same_communicator(const struct rows *r, uint32_t i, uint32_t j) {
  const struct nai_comm_item *a = item_at(r, i), *b = item_at(r, j);
  return a->gpu == b->gpu && process_of(r->m, a) == process_of(r->m, b) && a->comm == b->comm;
}

/* "0: GPU 0, 1: GPU 1": the rank of each process and its GPU; the first kernels of each are given. */
static void say_members(struct nai_buf *out, const struct rows *r, const struct nai_key *firsts, uint32_t count) {
  for (uint32_t i = 0; i < count && i < MAX_MEMBERS; i++) {
    const struct nai_comm_item *item = item_at(r, firsts[i].value);
    nai_buf_puts(out, i ? ", " : "");
    if (item->own >= 0)
      nai_buf_printf(out, "%" PRId64 ": ", item->own);
    nai_buf_printf(out, "GPU %d", nai_model_device(r->m, item->gpu));
  }
  if (count > MAX_MEMBERS)
    nai_buf_printf(out, " and %u more", count - MAX_MEMBERS);
}

static int put_communicator(const struct rows *r, uint32_t first, const char *members, bool world,
                            struct nai_err *err) {
  const struct nai_comm_item *item = item_at(r, first);
  NAI_SCOPED(nai_buf) text = {0};
  struct nai_comm_ops ops = {0};
  NAI_SCOPED(nai_keyset) streams = {0};
  char id[NAI_COMM_ID_MAX], parent[NAI_COMM_ID_MAX];
  struct nai_comm_purpose is;
  uint32_t end = first + 1;
  while (end < r->count && same_communicator(r, first, end))
    end++;
  nai_comm_purpose_of(&is, r->m, r->items + first, end - first, members, r->io->arena);
  if (world && strcmp(is.confidence, "unknown") == 0) {
    is.purpose = "world";
    is.confidence = "members";
    is.evidence =
        nai_arena_printf(r->io->arena, "all %" PRId64 " ranks, and no communicator reaches others", item->ranks);
  }
  struct COMMUNICATORS_row row = NAI_ROW(
      COMMUNICATORS, .device_id = nai_model_device(r->m, item->gpu), .pid = nai_model_pid(r->m, process_of(r->m, item)),
      .communicator = nai_comm_id(id, item->comm), .name = is.name, .rank = item->own >= 0 ? item->own : NAI_NULL_I64,
      .rank_count = item->ranks > 0 ? item->ranks : NAI_NULL_I64, .members = members,
      .parent = item->parent ? nai_comm_id(parent, item->parent) : NULL, .kernel_count = end - first,
      .total_time_ns = 0, .exposed_ns = 0, .purpose = is.purpose, .confidence = is.confidence, .evidence = is.evidence);
  for (uint32_t i = first; i < end; i++) {
    bool added;
    item = item_at(r, i);
    nai_keyset_add(&streams, item->stream, &added);
    nai_comm_ops_add(&ops, nai_comm_op(item));
    row.total_time_ns += item->end - item->start;
    row.exposed_ns += item->charged;
    if (nai_comm_bytes(item) >= 0)
      row.total_bytes = add_nullable(row.total_bytes, nai_comm_bytes(item));
    if (item->set != NAI_NO_ROW)
      row.wait_ns = add_nullable(row.wait_ns, item->wait);
  }
  nai_comm_ops_say(&text, &ops);
  row.ops = nai_buf_str(&text);
  NAI_TRY(nai_memory_check(!streams.oom && !text.oom && !r->io->arena->oom, err));
  row.stream_count = streams.count;
  COMMUNICATORS_add(r->io->out[0], &row);
  return NAI_OK;
}

/* One communicator of those: the end of its rows. */
static uint32_t end_of(const struct nai_key *firsts, uint32_t count, uint32_t i) {
  uint32_t j = i + 1;
  while (j < count && firsts[j].key == firsts[i].key)
    j++;
  return j;
}

/* Whether no rank of any communicator is missing here, as their initializations say. */
static bool is_whole(const struct rows *r, const struct nai_key *firsts, uint32_t count) {
  bool whole = true;
  for (uint32_t i = 0, j; i < count; i = j) {
    j = end_of(firsts, count, i);
    for (uint32_t k = i; k < j; k++)
      whole = whole && item_at(r, firsts[k].value)->own >= 0 && item_at(r, firsts[k].value)->ranks == j - i;
  }
  return whole;
}

static int put_communicators(struct rows *r, struct nai_err *err) {
  struct nai_key *firsts; /* of each row, by communicator */
  uint32_t count = 0;
  NAI_TRY(NAI_NEW(firsts, r->io->arena, r->m->comm->count, err));
  for (uint32_t i = 0; i < r->m->comm->count; i++)
    if (r->m->comm->items[i].known_comm)
      r->items[r->count++] = i;
  qsort_r(r->items, r->count, sizeof *r->items, by_communicator, (void *)r->m);
  for (uint32_t i = 0; i < r->count; i++)
    if (!i || !same_communicator(r, i - 1, i))
      firsts[count++] = (struct nai_key){(uint64_t)item_at(r, i)->comm, i};
  NAI_TRY(nai_sort_keys(firsts, count, err));
  bool whole = is_whole(r, firsts, count);
  for (uint32_t i = 0, j; i < count; i = j) {
    NAI_SCOPED(nai_buf) members = {0};
    j = end_of(firsts, count, i);
    bool world = whole && j - i > 1 && j - i == r->m->comm->rank_count && !item_at(r, firsts[i].value)->parent;
    say_members(&members, r, firsts + i, j - i);
    NAI_TRY(nai_buf_check(&members, err));
    for (uint32_t k = i; k < j; k++)
      NAI_TRY(put_communicator(r, firsts[k].value, nai_buf_str(&members), world, err));
  }
  return NAI_OK;
}

/* --- sizes ---------------------------------------------------------------------------------------- */

static int compare_kinds(const struct nai_comm_item *a, const struct nai_comm_item *b) {
  int order = NAI_COMPARE({a->gpu, b->gpu}, {a->known_comm, b->known_comm},
                          {a->known_comm ? a->comm : 0, b->known_comm ? b->comm : 0});
  return order ? order : strcmp(nai_comm_op(a), nai_comm_op(b));
}

static int by_size(const void *pa, const void *pb, void *ctx) {
  const struct nai_model *m = ctx;
  const struct nai_comm_item *a = &m->comm->items[*(const uint32_t *)pa], *b = &m->comm->items[*(const uint32_t *)pb];
  int order = compare_kinds(a, b);
  return order ? order : NAI_COMPARE({bin_of(a), bin_of(b)}, {*(const uint32_t *)pa, *(const uint32_t *)pb});
}

/* Bus rates in bytes per second, so that integers do. */
static void put_rates(struct COMM_SIZES_row *row, const struct rows *r, uint32_t first, uint32_t end) {
  uint32_t n = 0;
  for (uint32_t i = first; i < end; i++) {
    double rate = nai_comm_rates_of(item_at(r, i)).bus;
    if (rate > 0 && rate < 1e6)
      r->room[n++] = (int64_t)(rate * 1e9);
  }
  if (!n)
    return;
  struct nai_stats stats = nai_stats_of(r->room, n);
  row->p50_busbw = stats.p50 / 1e9;
  row->p90_busbw = stats.p90 / 1e9;
  row->p10_busbw = (double)nai_quantile_i64(r->room, n, 0.1) / 1e9;
  row->uneven_ns = row->matched_count == row->kernel_count ? 0 : NAI_NULL_I64;
  for (uint32_t i = first; i < end && row->uneven_ns != NAI_NULL_I64; i++) {
    const struct nai_comm_item *item = item_at(r, i);
    double longer = (double)item->transfer * (1 - nai_comm_rates_of(item).bus / row->p90_busbw);
    row->uneven_ns += longer < 0 ? 0 : longer < (double)item->charged ? (int64_t)longer : item->charged;
  }
}

/* Items of one size. *floor: the median transfer of small messages so far of the same kind, 0 for none. */
static void put_size(const struct rows *r, uint32_t first, uint32_t end, double *floor) {
  const struct nai_comm_item *item = item_at(r, first);
  int bin = bin_of(item);
  char id[NAI_COMM_ID_MAX];
  struct COMM_SIZES_row row =
      NAI_ROW(COMM_SIZES, .device_id = nai_model_device(r->m, item->gpu),
              .communicator = item->known_comm ? nai_comm_id(id, item->comm) : NULL, .op = nai_comm_op(item),
              .from_bytes = bin ? INT64_C(1) << (bin - 1) : 0, .below_bytes = INT64_C(1) << bin,
              .kernel_count = end - first, .matched_count = 0, .total_bytes = 0, .total_time_ns = 0, .exposed_ns = 0);
  for (uint32_t i = first; i < end; i++) {
    item = item_at(r, i);
    r->room[i - first] = transfer_of(item);
    row.matched_count += item->set != NAI_NO_ROW;
    row.total_bytes += nai_comm_bytes(item);
    row.total_time_ns += item->end - item->start;
    row.exposed_ns += item->charged;
    if (item->set != NAI_NO_ROW)
      row.wait_ns = add_nullable(row.wait_ns, item->wait);
  }
  row.p50_transfer_ns = nai_stats_of(r->room, end - first).p50;
  bool small = row.below_bytes <= SMALL_BYTES;
  row.latency_bound = small || row.p50_transfer_ns < LATENCIES * *floor;
  *floor = small ? row.p50_transfer_ns : *floor;
  if (!row.latency_bound)
    put_rates(&row, r, first, end);
  COMM_SIZES_add(r->io->out[1], &row);
}

static void put_sizes(struct rows *r) {
  double floor = 0;
  r->count = 0;
  for (uint32_t i = 0; i < r->m->comm->count; i++)
    if (nai_comm_bytes(&r->m->comm->items[i]) >= 0)
      r->items[r->count++] = i;
  qsort_r(r->items, r->count, sizeof *r->items, by_size, (void *)r->m);
  for (uint32_t i = 0, j; i < r->count; i = j) {
    for (j = i + 1; j < r->count && compare_kinds(item_at(r, i), item_at(r, j)) == 0 &&
                    bin_of(item_at(r, i)) == bin_of(item_at(r, j));
         j++)
      ;
    if (!i || compare_kinds(item_at(r, i - 1), item_at(r, i)) != 0)
      floor = 0;
    put_size(r, i, j, &floor);
  }
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  struct rows r = {.io = io, .m = io->model};
  if (!io->model->comm->count)
    return NAI_OK;
  NAI_TRY(NAI_NEW(r.items, io->arena, io->model->comm->count, err));
  NAI_TRY(NAI_NEW(r.room, io->arena, io->model->comm->count, err));
  NAI_TRY(put_communicators(&r, err));
  put_sizes(&r);
  return r.m->comm_names ? nai_patterns_check(r.m->comm_names, err) : NAI_OK;
}

NAI_ANALYSIS(comm_sizes, .outputs = NAI_SCHEMAS(&nai_communicators_schema, &nai_comm_sizes_schema),
             .parts = NAI_PART(COMM) | NAI_PART(LAUNCHES) | NAI_PART(NVTX_TREE),
             .tables = NAI_IN(KERNELS) | NAI_IN(GPUS) | NAI_IN(PROCESSES) | NAI_IN(NVTX) | NAI_IN(STREAMS) |
                       NAI_IN(STREAM_NAMES) | NAI_IN(NVTX_DOMAINS),
             .config = NAI_CONFIG(COMM_NAMES), .run = run)
