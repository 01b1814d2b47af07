/* Sorts samples of metrics, and tells what they say of parts of time: part SAMPLED. */
#include "model/sampled/metric_series.h"

#include "base/sort.h"
#include "base/text.h"
#include "model/build.h"
#include "table/stats.h"
#include "tables/gpu_metric_names.h"
#include "tables/gpu_metric_samples.h"
#include "tables/gpus.h"
#include "tables/nic_ids.h"
#include "tables/nic_metric_names.h"
#include "tables/nic_metric_samples.h"
#include "tables/nics.h"
#include "tables/steps.h"

static int sort_cards(struct nai_model *m, struct nai_err *err) {
  const struct NIC_METRIC_SAMPLES_columns c = NIC_METRIC_SAMPLES_columns_of(m->tables[NAI_IN_NIC_SAMPLES]);
  const struct nai_column *const keys[] = {&c.global_id, &c.port,   &c.list_id, &c.metric_index,
                                           &c.start_ns,  &c.end_ns, &c.value};
  NAI_TRY(NAI_NEW(m->sampled->cards, &m->arena, c.n, err));
  for (uint32_t i = 0; i < c.n; i++)
    m->sampled->cards[i] = i;
  return c.n ? nai_rows_arrange(m->sampled->cards, c.n, keys, sizeof keys / sizeof *keys, err) : NAI_OK;
}

static int begin(struct nai_model *m, struct nai_err *err) {
  const struct GPU_METRIC_SAMPLES_columns c = GPU_METRIC_SAMPLES_columns_of(m->tables[NAI_IN_GPU_METRIC_SAMPLES]);
  const struct nai_row_order by = {.start = c.time_ns, .end = c.value};
  NAI_TRY(NAI_NEW(m->sampled, &m->arena, 1, err));
  if (c.n)
    NAI_TRY(nai_groups_build(&m->sampled->gpus, c.n, &c.metric, (uint32_t)m->tables[NAI_IN_GPU_METRICS]->rows, &by,
                             &m->arena, err));
  return sort_cards(m, err);
}

const struct nai_part_def nai_part_sampled = {.name = "sampled metrics",
                                              .tables = NAI_IN(GPU_METRICS) | NAI_IN(GPU_METRIC_SAMPLES) |
                                                        NAI_IN(NIC_SAMPLES),
                                              .begin = begin};

static int new_series(struct nai_metric_series *s, uint32_t count, struct nai_arena *arena, struct nai_err *err) {
  s->count = count;
  NAI_TRY(NAI_NEW(s->start, arena, count, err));
  NAI_TRY(NAI_NEW(s->end, arena, count, err));
  return NAI_NEW(s->value, arena, count, err);
}

/* --- GPUs ------------------------------------------------------------------------------------- */

/* Of other metrics the scale is another, or they count something. What is called MHz may be Hz. */
static const char *gpu_unit(const char *name) {
  return nai_text_ends(name, "[Throughput %]") ? "%" : nai_text_ends(name, "Clock Frequency [MHz]") ? "MHz" : NULL;
}

/* The GPU that a metric is of: by its number, else the only one. NULL: none, or it did nothing. */
static const struct nai_gpu *gpu_of(const struct nai_model *m, int64_t gpu_id) {
  const struct nai_table *gpus = m->tables[NAI_IN_GPUS];
  for (int64_t i = 0; i < gpus->rows; i++)
    if (nai_get_i64(gpus, i, GPUS_gpu_id) == gpu_id) {
      uint32_t g = nai_model_gpu_index(m, (int32_t)nai_get_i64(gpus, i, GPUS_device_id));
      return g < m->gpu_count && m->gpus[g].op_count ? &m->gpus[g] : NULL;
    }
  bool only = m->gpu_count == 1 && gpus->rows == 1 && nai_get_i64(gpus, 0, GPUS_gpu_id) == NAI_NULL_I32;
  return only && m->gpus[0].op_count ? &m->gpus[0] : NULL;
}

/* Of at least two samples whose times and values are there. */
static void set_period(struct nai_metric_series *s) {
  uint32_t distances = s->count - 1;
  for (uint32_t i = 0; i < distances; i++)
    s->end[i] = s->start[i + 1] - s->start[i];
  nai_select_i64(s->end, distances, distances / 2);
  s->period = s->end[distances / 2];
  nai_select_i64(s->end, distances, (distances - 1) / 2);
  int64_t earlier = s->end[(distances - 1) / 2];
  for (uint32_t i = 0; i < s->count; i++)
    s->end[i] = s->start[i] + earlier;
}

static void scale_hertz(struct nai_metric_series *s) {
  enum { LEAST_HZ = 1000000 };
  bool hertz = false;
  for (uint32_t i = 0; strcmp(s->unit, "MHz") == 0 && i < s->count; i++)
    hertz |= s->value[i] >= LEAST_HZ;
  for (uint32_t i = 0; hertz && i < s->count; i++)
    s->value[i] *= 1e-6;
}

static int use_gpu(const struct nai_model *m, uint32_t metric, nai_series_fn *use, void *ctx, struct nai_err *err) {
  const struct nai_groups *g = &m->sampled->gpus;
  const struct nai_table *names = m->tables[NAI_IN_GPU_METRICS];
  const uint32_t *rows = g->order + g->first[metric], count = g->first[metric + 1] - g->first[metric];
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(m->scratch_dir);
  struct nai_metric_series s = {.name = nai_get_str(names, metric, GPU_METRIC_NAMES_metric_name),
                                .gpu = gpu_of(m, nai_get_i64(names, metric, GPU_METRIC_NAMES_gpu_id)),
                                .port = NAI_NULL_I64};
  s.unit = gpu_unit(s.name);
  if (!s.gpu || !s.unit || count < 2)
    return NAI_OK;
  const struct GPU_METRIC_SAMPLES_columns c = GPU_METRIC_SAMPLES_columns_of(m->tables[NAI_IN_GPU_METRIC_SAMPLES]);
  s.device_id = s.gpu->device_id;
  NAI_TRY(new_series(&s, count, &arena, err));
  for (uint32_t i = 0; i < count; i++) {
    s.start[i] = nai_at(&c.time_ns, rows[i]);
    s.value[i] = (double)nai_at(&c.value, rows[i]);
  }
  set_period(&s);
  scale_hertz(&s);
  return use(ctx, &s, err);
}

int nai_gpu_series_each(const struct nai_model *m, nai_series_fn *use, void *ctx, struct nai_err *err) {
  for (uint32_t metric = 0; metric < m->sampled->gpus.groups; metric++)
    NAI_TRY(use_gpu(m, metric, use, ctx, err));
  return NAI_OK;
}

/* --- network cards ------------------------------------------------------------------------------ */

/* Its name, else its number. */
static const char *card_name(const struct nai_model *m, int64_t global_id, struct nai_arena *arena) {
  const struct nai_table *ids = m->tables[NAI_IN_NIC_IDS], *nics = m->tables[NAI_IN_NICS];
  const char *name = NULL;
  for (int64_t i = 0; i < ids->rows; i++)
    for (int64_t k = 0; nai_get_i64(ids, i, NIC_IDS_global_id) == global_id && k < nics->rows; k++)
      if (nai_get_i64(nics, k, NICS_nic_id) == nai_get_i64(ids, i, NIC_IDS_nic_id) &&
          *nai_get_str(nics, k, NICS_nic_name))
        name = nai_get_str(nics, k, NICS_nic_name);
  return name ? name : nai_arena_printf(arena, "%lld", (long long)global_id);
}

/* Row of nic_metric_names, -1 for none. */
static int64_t card_metric(const struct nai_model *m, int64_t list, int64_t index) {
  const struct nai_table *names = m->tables[NAI_IN_NIC_METRICS];
  for (int64_t i = 0; i < names->rows; i++)
    if (nai_get_i64(names, i, NIC_METRIC_NAMES_list_id) == list &&
        nai_get_i64(names, i, NIC_METRIC_NAMES_metric_index) == index)
      return i;
  return -1;
}

/* What is in bytes is a rate in bytes per ms. */
static int use_card(const struct nai_model *m, const struct NIC_METRIC_SAMPLES_columns *c, const uint32_t *rows,
                    uint32_t count, nai_series_fn *use, void *ctx, struct nai_err *err) {
  const struct nai_table *samples = m->tables[NAI_IN_NIC_SAMPLES], *names = m->tables[NAI_IN_NIC_METRICS];
  const struct NIC_METRIC_SAMPLES_row first = NIC_METRIC_SAMPLES_at(samples, *rows);
  int64_t metric = card_metric(m, first.list_id, first.metric_index);
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(m->scratch_dir);
  if (metric < 0)
    return NAI_OK;
  const char *unit = nai_get_str(names, metric, NIC_METRIC_NAMES_metric_unit);
  struct nai_metric_series s = {.name = nai_get_str(names, metric, NIC_METRIC_NAMES_metric_name),
                                .device_id = NAI_NULL_I64,
                                .card = card_name(m, first.global_id, &arena),
                                .port = first.port};
  s.bytes = strstr(s.name, "Bytes ") || strncmp(unit, "bytes/ms", 8) == 0;
  s.unit = s.bytes ? "GB/s" : *unit ? unit : NULL;
  NAI_TRY(nai_arena_check(&arena, err));
  NAI_TRY(new_series(&s, count, &arena, err));
  for (uint32_t i = 0; i < count; i++) {
    s.start[i] = nai_val(&c->start_ns, rows[i]);
    s.end[i] = nai_val(&c->end_ns, rows[i]);
    s.value[i] = (double)nai_at(&c->value, rows[i]) * (s.bytes ? 1e-6 : 1);
  }
  return use(ctx, &s, err);
}

int nai_card_series_each(const struct nai_model *m, nai_series_fn *use, void *ctx, struct nai_err *err) {
  const struct NIC_METRIC_SAMPLES_columns c = NIC_METRIC_SAMPLES_columns_of(m->tables[NAI_IN_NIC_SAMPLES]);
  const struct nai_column *const keys[] = {&c.global_id, &c.port, &c.list_id, &c.metric_index};
  const uint32_t *rows = m->sampled->cards;
  for (uint32_t i = 0, end; i < c.n; i = end) {
    end = nai_rows_run(rows, i, c.n, keys, sizeof keys / sizeof *keys);
    NAI_TRY(use_card(m, &c, rows + i, end - i, use, ctx, err));
  }
  return NAI_OK;
}

/* --- sums ---------------------------------------------------------------------------------------- */

enum { FEWEST_SAMPLES = 20 };

static void finish(struct nai_series_sum *sum, const struct nai_intervals *set) {
  sum->length = nai_intervals_total_ns(set);
  sum->coverage_pct = nai_percent((double)sum->covered, (double)sum->length);
  sum->mean = sum->weighted / (double)sum->ns;
  if (sum->count < FEWEST_SAMPLES)
    sum->mean = sum->p50 = sum->max = NAN;
}

struct nai_series_sum nai_series_during(const struct nai_metric_series *s, struct nai_coverage *set, double *room) {
  struct nai_series_sum sum = {.p50 = NAN, .max = NAN};
  int64_t covered_until = INT64_MIN;
  for (uint32_t i = 0; set->set->count && i < s->count; i++) {
    int64_t start = s->start[i], end = s->gpu ? start + s->period : s->end[i],
            from = start > covered_until ? start : covered_until;
    int64_t ns = nai_coverage_overlap_ns(set, start, end);
    sum.ns += ns;
    sum.weighted += (double)ns * s->value[i];
    sum.covered += from < end ? nai_coverage_overlap_ns(set, from, end) : 0;
    covered_until = end > covered_until ? end : covered_until;
    if (2 * ns > end - start)
      room[sum.count++] = s->value[i];
  }
  if (sum.count >= FEWEST_SAMPLES) {
    qsort(room, (size_t)sum.count, sizeof *room, nai_by_f64);
    sum.p50 = room[(sum.count - 1) / 2];
    sum.max = room[sum.count - 1];
  }
  finish(&sum, set->set);
  return sum;
}

/* The sample that is looked at: what of it lies in the set so far. */
struct piece {
  uint32_t sample;
  int64_t ns;
};

static void end_piece(struct nai_series_sum *sum, const struct nai_metric_series *s, const struct piece *p) {
  if (!p->ns)
    return;
  sum->ns += p->ns;
  sum->weighted += s->value[p->sample] * (double)p->ns;
  if (2 * p->ns <= s->end[p->sample] - s->start[p->sample])
    return;
  sum->max = sum->count == 0 || s->value[p->sample] > sum->max ? s->value[p->sample] : sum->max;
  sum->count++;
}

struct nai_series_sum nai_series_within(const struct nai_metric_series *s, const struct nai_intervals *set) {
  struct nai_series_sum sum = {.p50 = NAN};
  struct piece piece = {0};
  int64_t covered_until = INT64_MIN;
  uint32_t first = 0;
  for (size_t k = 0; k < set->count; k++) {
    int64_t a = set->v[k].start, b = set->v[k].end;
    while (first < s->count && s->end[first] <= a)
      first++;
    for (uint32_t i = first; i < s->count && s->start[i] < b; i++) {
      int64_t from = s->start[i] > a ? s->start[i] : a, until = s->end[i] < b ? s->end[i] : b;
      if (until <= from)
        continue;
      if (i != piece.sample) {
        end_piece(&sum, s, &piece);
        piece = (struct piece){.sample = i};
      }
      piece.ns += until - from;
      from = from > covered_until ? from : covered_until;
      sum.covered += until > from ? until - from : 0;
      covered_until = until > covered_until ? until : covered_until;
    }
  }
  end_piece(&sum, s, &piece);
  finish(&sum, set);
  return sum;
}

/* --- steps --------------------------------------------------------------------------------------- */

int nai_intervals_unite(struct nai_intervals *into, const struct nai_intervals *more, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  size_t count = into->count;
  struct nai_interval *v;
  NAI_TRY(NAI_NEW(v, &arena, count + more->count, err));
  for (size_t i = 0; i < count + more->count; i++)
    v[i] = i < count ? into->v[i] : more->v[i - count];
  into->count = 0;
  nai_intervals_gather(into, v, count + more->count);
  return into->oom ? nai_err_nomem(err) : NAI_OK;
}

int nai_steady_windows(struct nai_intervals *out, const struct nai_table *steps, int64_t device_id,
                       struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  struct nai_interval *v;
  size_t count = 0;
  NAI_TRY(NAI_NEW(v, &arena, (size_t)steps->rows, err));
  for (int64_t i = 0; i < steps->rows; i++)
    if ((device_id == NAI_NULL_I64 || nai_get_i64(steps, i, STEPS_device_id) == device_id) &&
        strcmp(nai_get_str(steps, i, STEPS_state), "steady") == 0)
      v[count++] =
          (struct nai_interval){nai_get_i64(steps, i, STEPS_gpu_start_ns), nai_get_i64(steps, i, STEPS_gpu_end_ns)};
  nai_intervals_gather(out, v, count);
  return out->oom ? nai_err_nomem(err) : NAI_OK;
}
