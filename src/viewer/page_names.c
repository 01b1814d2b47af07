/* The names of an aggregated timeline: how many events and how much time each has, and which the page lists. */
#include "viewer/encoder.h"

#include "table/stats.h"

enum { LISTED_NAMES = 20000, LISTED_BYTES = 1000 * 1000 }; /* of a kind */

/* --- totals ----------------------------------------------------------------------------------- */

/* Totals of a kind on a GPU (NAI_ANY_GPU: on all), of as many names; `name`: the column that has them. */
static int add_totals(struct nai_name_total **out, struct nai_encoder *e, enum nai_lane_kind kind, int32_t gpu,
                      const struct nai_column *name, uint32_t names, struct nai_err *err) {
  NAI_TRY(NAI_NEW(*out, &e->arena, names, err));
  e->totals.v[e->totals.count++] = (struct nai_name_totals){kind, gpu, name, names, *out};
  return NAI_OK;
}

/* Of a kind that the page numbers as its names come up. */
static int number_names(struct nai_encoder *e, enum nai_lane_kind kind, int32_t gpu, struct nai_err *err) {
  const struct nai_column *start, *end;
  const struct nai_name_totals *totals = &e->totals.v[e->totals.count];
  struct nai_name_total *of;
  NAI_TRY(add_totals(&of, e, kind, gpu, NULL, MAX_DIRECTIONS, err));
  nai_lane_times(&start, &end, e->m, kind);
  NAI_EACH_ROW(e->m, totals, lane, row) {
    uint32_t name = nai_encoder_name(e, kind, row);
    NAI_TRY(nai_arena_check(&e->arena, err));
    of[name].count++;
    of[name].ns += nai_at(end, row) - nai_at(start, row);
  }
  return NAI_OK;
}

static int total_kernels(struct nai_encoder *e, uint32_t gpu, struct nai_err *err) {
  const struct nai_model *m = e->m;
  struct nai_name_total *of;
  NAI_TRY(add_totals(&of, e, NAI_LANE_KERNEL, m->gpus[gpu].device_id, &m->kernels.name,
                     m->tables[NAI_IN_KERNELS]->strings.count, err));
  for (uint32_t i = 0; i < m->kernel_group_count; i++) {
    const struct nai_kernel_group *group = &m->kernel_groups[i];
    if (group->gpu == gpu)
      of[group->name] = (struct nai_name_total){group->total_ns, group->calls};
  }
  return NAI_OK;
}

static int total_calls(struct nai_encoder *e, struct nai_err *err) {
  const struct nai_model *m = e->m;
  const uint32_t names = m->tables[NAI_IN_APIS]->strings.count;
  struct nai_name_total *of;
  NAI_TRY(add_totals(&of, e, NAI_LANE_API, NAI_ANY_GPU, &m->apis.name, names, err));
  for (uint32_t i = 0; i < names; i++)
    of[i] = (struct nai_name_total){m->call_stats[i].total, m->call_stats[i].count};
  return NAI_OK;
}

static int total_ranges(struct nai_encoder *e, struct nai_err *err) {
  const struct nai_model *m = e->m;
  struct nai_name_total *of;
  NAI_TRY(add_totals(&of, e, NAI_LANE_NVTX, NAI_ANY_GPU, &m->nvtx.name, m->tables[NAI_IN_NVTX]->strings.count, err));
  for (uint32_t i = 0; i < m->node_count; i++)
    of[m->nodes[i].name].count += m->nodes[i].count;
  return NAI_OK;
}

/* Copies come first: the page numbers them itself, from 0 on. */
int nai_encoder_total(struct nai_encoder *e, struct nai_err *err) {
  const struct nai_model *m = e->m;
  enum { OTHERS = 4 };
  NAI_TRY(NAI_NEW(e->totals.v, &e->arena, (size_t)m->gpu_count * 2 + OTHERS, err));
  for (uint32_t g = 0; g < m->gpu_count; g++)
    NAI_TRY(number_names(e, NAI_LANE_COPY, m->gpus[g].device_id, err));
  NAI_TRY(number_names(e, NAI_LANE_SET, NAI_ANY_GPU, err));
  NAI_TRY(number_names(e, NAI_LANE_GRAPH, NAI_ANY_GPU, err));
  for (uint32_t g = 0; g < m->gpu_count; g++)
    NAI_TRY(total_kernels(e, g, err));
  NAI_TRY(total_calls(e, err));
  return total_ranges(e, err);
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

/* The events of name `id` of a kind, on all GPUs. */
static int64_t count_of(const struct nai_encoder *e, enum nai_lane_kind kind, uint32_t id) {
  int64_t count = 0;
  for (uint32_t i = 0; i < e->totals.count; i++) {
    const struct nai_name_totals *totals = &e->totals.v[i];
    count += totals->kind == kind && id < totals->names ? totals->v[id].count : 0;
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
    uint32_t names = names_of(e, listed_kinds[k]);
    for (uint32_t id = 0; id < names && !e->arena.oom; id++) {
      if (!count_of(e, listed_kinds[k], id))
        continue;
      if (room-- <= 0 || bytes <= 0) {
        e->sums.left_out++;
        continue;
      }
      uint32_t name = nai_encoder_named(e, listed_kinds[k], id); /* may move the list */
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
    uint32_t names = names_of(e, listed_kinds[k]);
    for (uint32_t id = 0; id < names; id++)
      if (numbers[k][id])
        e->names.list[numbers[k][id] - 1].count += count_of(e, listed_kinds[k], id);
  }
}
