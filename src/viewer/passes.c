/* When each pass of what repeats began and ended, of an aggregated timeline, most of whose passes lie in blocks: units
 * of kernels, and NVTX ranges of one name as a GPU ran them. */
#include "viewer/encoder.h"

#include "base/keyset.h"
#include "base/sort.h"
#include "base/text.h"
#include "model/nvtx/range_spans.h"
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

/* Outermost push/pop ranges of one name, digits as '#', with work on a GPU. */
struct folded {
  uint32_t name, gpu, count;
  uint32_t groups; /* of spans: with several, ranges of one may lie in those of another */
  int64_t ns;
  int64_t thread, until; /* where the latest one ends on its thread */
  uint32_t rank;         /* among those that are put, from 1; 0: it is not */
};

struct ranges {
  const struct nai_model *m;
  struct nai_arena arena;
  struct nai_strings names;
  struct folded *v;
  uint32_t count, capacity;
  uint32_t *of_group; /* per group of spans: 1 + its number in `v`, 0: none */
};

static void ranges_free(struct ranges *r) {
  nai_strings_free(&r->names);
  nai_arena_free(&r->arena);
}

static int fold_group(struct ranges *r, struct nai_keyset *known, uint32_t number, struct nai_err *err) {
  const struct nai_span_group *group = &r->m->range_spans->groups[number];
  NAI_SCOPED(nai_buf) text = {0};
  bool added;
  if (group->gpu == NAI_NO_ROW || group->start_end)
    return NAI_OK;
  nai_text_fold_digits(&text, nai_strings_get(&r->m->tables[NAI_IN_NVTX]->strings, group->name));
  NAI_TRY(nai_buf_check(&text, err));
  uint32_t name = nai_strings_add(&r->names, nai_buf_str(&text), text.len);
  NAI_TRY(nai_memory_check(name != NAI_NO_STRING, err));
  uint32_t at = nai_keyset_add(known, nai_key_pair(name, group->gpu), &added);
  NAI_TRY(nai_memory_check(!known->oom, err));
  NAI_TRY(NAI_ROOM(r->v, r->capacity, at, &r->arena, err));
  if (added)
    r->v[r->count++] = (struct folded){.name = name, .gpu = group->gpu};
  r->v[at].groups++;
  r->of_group[number] = at + 1;
  return NAI_OK;
}

static int fold_groups(struct ranges *r, struct nai_err *err) {
  const struct nai_range_spans *spans = r->m->range_spans;
  NAI_SCOPED(nai_keyset) known = {0};
  NAI_TRY(NAI_NEW(r->of_group, &r->arena, spans->group_count, err));
  for (uint32_t i = 0; i < spans->group_count; i++)
    NAI_TRY(fold_group(r, &known, i, err));
  return NAI_OK;
}

/* What a span counts to, NULL for none. To be asked of all, in order. */
static struct folded *folded_of(struct ranges *r, const struct nai_range_span *span) {
  const struct NVTX_EVENTS_columns *nvtx = &r->m->nvtx;
  uint32_t at = r->of_group[span->group];
  struct folded *f = at ? &r->v[at - 1] : NULL;
  if (!f || f->groups == 1)
    return f;
  int64_t thread = nai_at(&nvtx->thread, span->range);
  if (f->thread == thread && nai_val(&nvtx->start_ns, span->range) < f->until)
    return NULL;
  f->thread = thread;
  f->until = nai_val(&nvtx->end_ns, span->range);
  return f;
}

static void count_ranges(struct ranges *r) {
  const struct nai_range_spans *spans = r->m->range_spans;
  for (uint32_t i = 0; i < r->count; i++)
    r->v[i].thread = -1;
  for (uint32_t i = 0; i < spans->count; i++) {
    struct folded *f = folded_of(r, &spans->v[i]);
    if (f) {
      f->count++;
      f->ns += spans->v[i].end - spans->v[i].start;
    }
  }
}

NAI_ORDER_BY(longest_first, struct folded *const, NAI_SIGN((*a)->gpu, (*b)->gpu), NAI_SIGN((*b)->ns, (*a)->ns),
             NAI_SIGN((*a)->name, (*b)->name))

/* Ranks the names of each GPU with most time, as long as there is room for all their ranges. */
static int choose(struct ranges *r, struct nai_encoder *e, struct nai_err *err) {
  struct folded **order;
  uint32_t names = 0, room = 0, rank = 0;
  NAI_TRY(NAI_NEW(order, &r->arena, r->count, err));
  for (uint32_t i = 0; i < r->count; i++)
    order[i] = &r->v[i];
  qsort(order, r->count, sizeof *order, longest_first);
  for (uint32_t i = 0; i < r->count; i++) {
    struct folded *f = order[i];
    if (i == 0 || f->gpu != order[i - 1]->gpu) {
      names = MAX_NAMES;
      room = (uint32_t)nai_items_share(&e->items, ALL_PASSES) / r->m->gpu_count;
    }
    if (f->count < MIN_PASSES || f->count > room || !names)
      continue;
    names--;
    room -= f->count;
    f->rank = ++rank;
    NAI_TRY(
        add_passes(e,
                   (struct nai_passes){.gpu = nai_model_device(r->m, f->gpu),
                                       .unit = -1,
                                       .name = nai_arena_printf(&e->arena, "%s", nai_strings_get(&r->names, f->name)),
                                       .count = f->count},
                   err));
  }
  return NAI_OK;
}

static uint64_t by_start(const void *ctx, uint32_t i) {
  const struct ranges *r = ctx;
  return nai_key_from_i64(r->m->range_spans->v[i].start);
}

/* By rank, then start. */
static int put_ranges(struct nai_encoder *e, struct ranges *r, struct nai_err *err) {
  const struct nai_range_spans *spans = r->m->range_spans;
  struct nai_key *keys;
  uint32_t n = 0, rank = 0, total = 0;
  int64_t last = 0;
  for (uint32_t i = 0; i < r->count; i++) {
    total += r->v[i].rank ? r->v[i].count : 0;
    r->v[i].thread = -1;
  }
  NAI_TRY(NAI_NEW(keys, &r->arena, total, err));
  for (uint32_t i = 0; i < spans->count && n < total; i++) {
    const struct folded *f = folded_of(r, &spans->v[i]);
    if (f && f->rank)
      keys[n++] = (struct nai_key){f->rank, i};
  }
  NAI_TRY(nai_sort_keys_by(keys, n, by_start, r, err));
  for (uint32_t i = 0; i < n; i++) {
    const struct nai_range_span *span = &spans->v[keys[i].value];
    last = keys[i].key == rank ? last : e->origin;
    rank = (uint32_t)keys[i].key;
    nai_buf_put_varint(&e->pass_times, (uint64_t)(span->start - last));
    nai_buf_put_varint(&e->pass_times, (uint64_t)(span->end - span->start));
    nai_buf_put_varint(&e->pass_times, nai_encoder_name(e, NAI_LANE_NVTX, span->range));
    last = span->start;
  }
  return NAI_OK;
}

static int add_ranges(struct nai_encoder *e, struct nai_err *err) {
  NAI_SCOPED(ranges) r = {.m = e->m, .arena = NAI_ARENA(e->m->scratch_dir)};
  if (!e->m->range_spans->count)
    return NAI_OK;
  NAI_TRY(fold_groups(&r, err));
  count_ranges(&r);
  NAI_TRY(choose(&r, e, err));
  return put_ranges(e, &r, err);
}

int nai_encoder_pass(struct nai_encoder *e, const struct nai_table *units, struct nai_err *err) {
  for (int64_t i = 0; units && i < units->rows; i++) {
    const struct REPEATING_UNITS_row unit = REPEATING_UNITS_at(units, i);
    NAI_TRY(add_unit(e, &unit, err));
  }
  NAI_TRY(add_ranges(e, err));
  return nai_buf_check(&e->pass_times, err);
}
