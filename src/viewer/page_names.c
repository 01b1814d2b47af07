/* The names of an aggregated timeline: how many events and how much time each has, and which the page lists. */
#include "viewer/encoder.h"

#include "base/threads.h"

enum { LISTED_NAMES = 20000, LISTED_BYTES = 1000 * 1000 }; /* of a kind */

/* --- totals ----------------------------------------------------------------------------------- */

static void add_total(struct nai_name_total *total, uint32_t row, int64_t ns) {
  total->count++;
  total->ns += ns;
  total->row = row;
}

/* Goes through the rows of a kind whose names are a column of its table. */
static int add_named(void *ctx, int task, struct nai_err *err) {
  const struct nai_encoder *e = ctx;
  const struct nai_name_totals *totals = &e->totals.v[task];
  const struct nai_column *start, *end;
  (void)err;
  nai_lane_times(&start, &end, e->m, totals->kind);
  if (totals->name)
    NAI_EACH_ROW(e->m, totals, lane, row)
  add_total(&totals->v[nai_at_text(totals->name, row)], row, nai_at(end, row) - nai_at(start, row));
  return NAI_OK;
}

/* The same where the page numbers the names as they come up. */
static void add_numbered(struct nai_encoder *e, const struct nai_name_totals *totals) {
  const struct nai_column *start, *end;
  nai_lane_times(&start, &end, e->m, totals->kind);
  NAI_EACH_ROW(e->m, totals, lane, row) {
    uint32_t name = nai_encoder_name(e, totals->kind, row);
    if (!e->arena.oom)
      add_total(&totals->v[name], row, nai_at(end, row) - nai_at(start, row));
  }
}

static int add_totals(struct nai_encoder *e, struct nai_name_totals totals, struct nai_err *err) {
  NAI_TRY(NAI_NEW(totals.v, &e->arena, totals.names, err));
  e->totals.v[e->totals.count++] = totals;
  return NAI_OK;
}

/* Copies come first: the page numbers them itself, from 0 on. */
int nai_encoder_total(struct nai_encoder *e, struct nai_err *err) {
  const struct nai_model *m = e->m;
  enum { HOST = NAI_ANY_GPU, OTHERS = 4 };
  uint32_t kernels = m->tables[NAI_IN_KERNELS]->strings.count;
  const struct nai_name_totals others[OTHERS] = {
      {NAI_LANE_SET, NAI_ANY_GPU, NULL, MAX_DIRECTIONS, NULL},
      {NAI_LANE_GRAPH, NAI_ANY_GPU, NULL, MAX_DIRECTIONS, NULL},
      {NAI_LANE_API, HOST, &m->apis.name, m->tables[NAI_IN_APIS]->strings.count, NULL},
      {NAI_LANE_NVTX, HOST, &m->nvtx.name, m->tables[NAI_IN_NVTX]->strings.count, NULL}};
  NAI_TRY(NAI_NEW(e->totals.v, &e->arena, (size_t)m->gpu_count * 2 + OTHERS, err));
  for (uint32_t g = 0; g < m->gpu_count; g++)
    NAI_TRY(
        add_totals(e, (struct nai_name_totals){NAI_LANE_COPY, m->gpus[g].device_id, NULL, MAX_DIRECTIONS, NULL}, err));
  for (int i = 0; i < OTHERS; i++)
    NAI_TRY(add_totals(e, others[i], err));
  for (uint32_t g = 0; g < m->gpu_count; g++)
    NAI_TRY(add_totals(
        e, (struct nai_name_totals){NAI_LANE_KERNEL, m->gpus[g].device_id, &m->kernels.name, kernels, NULL}, err));
  for (uint32_t i = 0; i < e->totals.count; i++)
    if (!e->totals.v[i].name)
      add_numbered(e, &e->totals.v[i]);
  NAI_TRY(nai_arena_check(&e->arena, err));
  return nai_parallel(m->worker_count, (int)e->totals.count, add_named, e, err);
}

const struct nai_name_totals *nai_encoder_totals_of(const struct nai_encoder *e, enum nai_lane_kind kind, int32_t gpu) {
  for (uint32_t i = 0; i < e->totals.count; i++)
    if (e->totals.v[i].kind == kind && e->totals.v[i].gpu == gpu)
      return &e->totals.v[i];
  return NULL;
}

/* --- the page's list -------------------------------------------------------------------------- */

/* Kinds whose names the page does not number itself, in the order of its list. */
enum { LISTED_KINDS = 3 };
static const enum nai_lane_kind listed_kinds[LISTED_KINDS] = {NAI_LANE_KERNEL, NAI_LANE_API, NAI_LANE_NVTX};

/* The events of name `id` of a kind, on all GPUs; *row is one of them. */
static int64_t count_of(uint32_t *row, const struct nai_encoder *e, enum nai_lane_kind kind, uint32_t id) {
  int64_t count = 0;
  for (uint32_t i = 0; i < e->totals.count; i++) {
    const struct nai_name_totals *totals = &e->totals.v[i];
    if (totals->kind != kind || id >= totals->names || !totals->v[id].count)
      continue;
    count += totals->v[id].count;
    *row = totals->v[id].row;
  }
  return count;
}

static uint32_t names_of(const struct nai_encoder *e, enum nai_lane_kind kind) {
  uint32_t names = 0;
  for (uint32_t i = 0; i < e->totals.count; i++)
    names = e->totals.v[i].kind == kind ? e->totals.v[i].names : names;
  return names;
}

void nai_encoder_list_names(struct nai_encoder *e) {
  for (int k = 0; k < LISTED_KINDS; k++) {
    int64_t room = nai_items_share(&e->items, LISTED_NAMES), bytes = nai_items_share(&e->items, LISTED_BYTES);
    uint32_t row = 0, names = names_of(e, listed_kinds[k]);
    for (uint32_t id = 0; id < names && !e->arena.oom; id++) {
      if (!count_of(&row, e, listed_kinds[k], id))
        continue;
      if (room-- <= 0 || bytes <= 0) {
        e->sums.left_out++;
        continue;
      }
      uint32_t name = nai_encoder_name(e, listed_kinds[k], row); /* may move the list */
      bytes -= e->arena.oom ? 0 : (int64_t)strlen(e->names.list[name].text);
    }
  }
}

void nai_encoder_count_names(struct nai_encoder *e) {
  const uint32_t *const numbers[LISTED_KINDS] = {e->names.of_kernel, e->names.of_api, e->names.of_range};
  for (uint32_t i = 0; i < e->totals.count; i++) /* numbered by the page */
    for (uint32_t id = 0; !e->totals.v[i].name && id < e->totals.v[i].names && id < e->names.count; id++)
      e->names.list[id].count += e->totals.v[i].v[id].count;
  for (int k = 0; k < LISTED_KINDS; k++) {
    uint32_t row, names = names_of(e, listed_kinds[k]);
    for (uint32_t id = 0; id < names; id++)
      if (numbers[k][id])
        e->names.list[numbers[k][id] - 1].count += count_of(&row, e, listed_kinds[k], id);
  }
}
