/* When each pass of what repeats began and ended, of an aggregated timeline, most of whose passes lie in blocks: units
 * of kernels, and NVTX ranges of one name as a GPU ran them. */
#include "viewer/encoder.h"

#include "base/keyset.h"
#include "base/sort.h"
#include "base/text.h"
#include "model/nvtx/projection.h"
#include "tables/repeating_units.h"

enum { ALL_PASSES = 20000, MIN_PASSES = 3, MAX_NAMES = 40 }; /* of the page; of a name; names of a GPU */

/* --- units ------------------------------------------------------------------------------------ */

/* Kernels of a unit's stream, from its first one on. */
struct kernels {
  const uint32_t *rows;
  uint32_t count;
  const struct nai_column *start, *end;
};

static struct kernels kernels_of(const struct nai_model *m, const struct REPEATING_UNITS_row *unit) {
  struct kernels k = {0};
  nai_lane_times(&k.start, &k.end, m, NAI_LANE_KERNEL);
  for (uint32_t i = 0; i < m->lanes.count; i++) {
    const struct nai_lane *lane = &m->lanes.v[i];
    if (lane->kind != NAI_LANE_KERNEL || lane->gpu != unit->device_id || lane->context != unit->context_id ||
        lane->stream != unit->stream_id || nai_model_pid(m, lane->process) != unit->pid)
      continue;
    uint32_t first = nai_rows_from(lane->rows, 0, lane->count, k.start, unit->start_ns);
    k.rows = lane->rows + first;
    k.count = lane->count - first;
    break;
  }
  return k;
}

/* First kernels of the passes: all of the first one's name, or every so many. How many there are, `most` at most. */
static uint32_t find_begins(uint32_t *begins, uint32_t most, const struct nai_model *m, const struct kernels *k,
                            uint32_t every) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < k->count; i += every ? every : 1)
    if (every || nai_val_text(&m->kernels.name, k->rows[i]) == nai_val_text(&m->kernels.name, k->rows[0])) {
      if (n == most)
        return every ? most : 0; /* a name with more kernels than there are passes tells nothing */
      begins[n++] = i;
    }
  return n;
}

/* Whether passes that begin there are as many and as far apart as the table says. */
static bool bear_out(const uint32_t *begins, uint32_t n, int64_t *apart, const struct kernels *k,
                     const struct REPEATING_UNITS_row *unit) {
  if (n != unit->repetitions)
    return false;
  for (uint32_t i = 1; i < n; i++)
    apart[i - 1] = nai_at(k->start, k->rows[begins[i]]) - nai_at(k->start, k->rows[begins[i - 1]]);
  nai_select_i64(apart, n - 1, (n - 2) / 2);
  return apart[(n - 2) / 2] == unit->median_ns;
}

static void put_unit(struct nai_encoder *e, struct nai_passes *out, const struct kernels *k, const uint32_t *begins,
                     const struct REPEATING_UNITS_row *unit) {
  int64_t last = e->origin;
  for (uint32_t i = 0; i < out->count; i++) {
    uint32_t rest = k->count - begins[i], all = (uint32_t)unit->kernel_count;
    int64_t start = nai_at(k->start, k->rows[begins[i]]);
    int64_t end = i + 1 < out->count ? nai_at(k->start, k->rows[begins[i + 1]])
                                     : nai_at(k->end, k->rows[begins[i] + (rest < all ? rest : all) - 1]);
    out->last_is_cut = rest < all;
    nai_buf_put_varint(&e->pass_times, (uint64_t)(start - last));
    nai_buf_put_varint(&e->pass_times, (uint64_t)(end - start));
    last = start;
  }
}

static int add_passes(struct nai_encoder *e, struct nai_passes passes, struct nai_err *err) {
  NAI_TRY(NAI_ROOM(e->passes, e->pass_capacity, e->pass_count, &e->arena, err));
  e->passes[e->pass_count++] = passes;
  return NAI_OK;
}

static int add_unit(struct nai_encoder *e, const struct REPEATING_UNITS_row *unit, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  uint32_t *begins, n;
  int64_t *apart;
  struct kernels k = kernels_of(e->m, unit);
  if (!k.count || unit->kernel_count <= 0 || unit->repetitions < MIN_PASSES || unit->repetitions > ALL_PASSES)
    return NAI_OK;
  n = (uint32_t)unit->repetitions;
  NAI_TRY(NAI_NEW(begins, &arena, n, err));
  NAI_TRY(NAI_NEW(apart, &arena, n, err));
  if (!bear_out(begins, find_begins(begins, n, e->m, &k, 0), apart, &k, unit) &&
      !bear_out(begins, find_begins(begins, n, e->m, &k, (uint32_t)unit->kernel_count), apart, &k, unit))
    return NAI_OK;
  struct nai_passes passes = {.gpu = (int32_t)unit->device_id, .pid = unit->pid, .unit = unit->unit, .count = n};
  put_unit(e, &passes, &k, begins, unit);
  return add_passes(e, passes, err);
}

/* --- ranges ----------------------------------------------------------------------------------- */

/* Outermost ranges of one name, digits as '#', with work on a GPU. */
struct group {
  uint32_t name, gpu, count;
  int64_t ns;
  int64_t thread, until; /* where the latest one ends on its thread */
  uint32_t rank;         /* among those that are put, from 1; 0: it is not */
};

struct nai_gpu_ranges {
  const struct nai_model *m;
  struct nai_arena arena;
  struct nai_strings names;
  uint32_t *folded; /* per name of a range: 1 + its text in `names`, 0: not yet */
  struct nai_keyset known;
  struct group *groups;
  struct one {
    int64_t start, end;
    uint32_t group, range;
  } * v;
  uint32_t group_capacity, count, capacity;
};

void nai_gpu_ranges_free(struct nai_gpu_ranges *w) {
  if (!w)
    return;
  nai_keyset_free(&w->known);
  nai_strings_free(&w->names);
  nai_arena_free(&w->arena);
  free(w);
}

static int fold_name(uint32_t *out, struct nai_gpu_ranges *w, uint32_t range, struct nai_err *err) {
  uint32_t *slot = &w->folded[nai_val_text(&w->m->nvtx.name, range)];
  if (!*slot) {
    NAI_SCOPED(nai_buf) text = {0};
    nai_text_fold_digits(&text, nai_model_range_name(w->m, range));
    NAI_TRY(nai_buf_check(&text, err));
    *slot = nai_strings_add(&w->names, nai_buf_str(&text), text.len) + 1; /* 0 when out of memory */
  }
  *out = *slot - 1;
  return *slot ? NAI_OK : nai_err_nomem(err);
}

static int find_group(struct group **out, struct nai_gpu_ranges *w, const struct nai_projection *p,
                      struct nai_err *err) {
  uint32_t name;
  bool added;
  NAI_TRY(fold_name(&name, w, p->range, err));
  uint32_t at = nai_keyset_add(&w->known, nai_key_pair(name, p->gpu), &added);
  NAI_TRY(nai_memory_check(!w->known.oom, err));
  NAI_TRY(NAI_ROOM(w->groups, w->group_capacity, at, &w->arena, err));
  *out = &w->groups[at];
  if (added)
    **out = (struct group){.name = name, .gpu = p->gpu, .thread = -1};
  return NAI_OK;
}

static int add_range(void *ctx, const struct nai_projection *p, struct nai_err *err) {
  struct nai_gpu_ranges *w = ctx;
  const struct NVTX_EVENTS_columns *nvtx = &w->m->nvtx;
  struct group *group = NULL;
  if (p->gpu == NAI_NO_ROW || nai_at_i32(&nvtx->kind, p->range) != NAI_NVTX_PUSH_POP)
    return NAI_OK;
  NAI_TRY(find_group(&group, w, p, err));
  int64_t thread = nai_at(&nvtx->thread, p->range);
  if (group->thread == thread && nai_val(&nvtx->start_ns, p->range) < group->until)
    return NAI_OK;
  group->thread = thread;
  group->until = nai_val(&nvtx->end_ns, p->range);
  group->count++;
  group->ns += p->end - p->start;
  NAI_TRY(NAI_ROOM(w->v, w->capacity, w->count, &w->arena, err));
  w->v[w->count++] = (struct one){p->start, p->end, (uint32_t)(group - w->groups), p->range};
  return NAI_OK;
}

NAI_ORDER_BY(longest_first, struct group *const, NAI_SIGN((*a)->gpu, (*b)->gpu), NAI_SIGN((*b)->ns, (*a)->ns),
             NAI_SIGN((*a)->name, (*b)->name))

/* Ranks the names of each GPU with most time, as long as there is room for all their ranges. */
static int choose(struct nai_gpu_ranges *w, struct nai_encoder *e, struct nai_err *err) {
  struct group **order;
  uint32_t names = 0, room = 0, rank = 0;
  NAI_TRY(NAI_NEW(order, &w->arena, w->known.count, err));
  for (uint32_t i = 0; i < w->known.count; i++)
    order[i] = &w->groups[i];
  qsort(order, w->known.count, sizeof *order, longest_first);
  for (uint32_t i = 0; i < w->known.count; i++) {
    struct group *group = order[i];
    if (i == 0 || group->gpu != order[i - 1]->gpu) {
      names = MAX_NAMES;
      room = (uint32_t)nai_items_share(&e->items, ALL_PASSES) / w->m->gpu_count;
    }
    if (group->count < MIN_PASSES || group->count > room || !names)
      continue;
    names--;
    room -= group->count;
    group->rank = ++rank;
    NAI_TRY(add_passes(
        e,
        (struct nai_passes){.gpu = nai_model_device(w->m, group->gpu),
                            .unit = -1,
                            .name = nai_arena_printf(&e->arena, "%s", nai_strings_get(&w->names, group->name)),
                            .count = group->count},
        err));
  }
  return NAI_OK;
}

static uint64_t by_start(const void *ctx, uint32_t i) {
  const struct nai_gpu_ranges *w = ctx;
  return nai_key_from_i64(w->v[i].start);
}

/* By rank, then start. */
static int put_ranges(struct nai_encoder *e, struct nai_gpu_ranges *w, struct nai_err *err) {
  struct nai_key *keys;
  uint32_t n = 0, group = UINT32_MAX;
  int64_t last = 0;
  NAI_TRY(NAI_NEW(keys, &w->arena, w->count, err));
  for (uint32_t i = 0; i < w->count; i++)
    if (w->groups[w->v[i].group].rank)
      keys[n++] = (struct nai_key){w->groups[w->v[i].group].rank, i};
  NAI_TRY(nai_sort_keys_by(keys, n, by_start, w, err));
  for (uint32_t i = 0; i < n; i++) {
    const struct one *one = &w->v[keys[i].value];
    last = one->group == group ? last : e->origin;
    group = one->group;
    nai_buf_put_varint(&e->pass_times, (uint64_t)(one->start - last));
    nai_buf_put_varint(&e->pass_times, (uint64_t)(one->end - one->start));
    nai_buf_put_varint(&e->pass_times, nai_encoder_name(e, NAI_LANE_NVTX, one->range));
    last = one->start;
  }
  return NAI_OK;
}

int nai_encoder_find_ranges(struct nai_gpu_ranges **out, const struct nai_encoder *e, struct nai_err *err) {
  NAI_OWNED(nai_gpu_ranges) *w = calloc(1, sizeof *w);
  *out = NULL;
  if (!e->m->map_nvtx || !e->m->nvtx.n || !e->m->gpu_count)
    return NAI_OK;
  NAI_TRY(nai_memory_check(w, err));
  w->m = e->m;
  w->arena = (struct nai_arena)NAI_ARENA(e->m->scratch_dir);
  NAI_TRY(NAI_NEW(w->folded, &w->arena, e->m->tables[NAI_IN_NVTX]->strings.count, err));
  NAI_TRY(nai_project_ranges(e->m, NULL, add_range, w, err));
  return NAI_GIVE(out, w);
}

int nai_encoder_pass(struct nai_encoder *e, const struct nai_table *units, struct nai_gpu_ranges *ranges,
                     struct nai_err *err) {
  for (int64_t i = 0; units && i < units->rows; i++) {
    const struct REPEATING_UNITS_row unit = REPEATING_UNITS_at(units, i);
    NAI_TRY(add_unit(e, &unit, err));
  }
  if (ranges) {
    NAI_TRY(choose(ranges, e, err));
    NAI_TRY(put_ranges(e, ranges, err));
  }
  return nai_buf_check(&e->pass_times, err);
}
