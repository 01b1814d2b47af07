#include "analyses/sampled/series.h"

#include "base/sort.h"
#include "tables/gpu_metric_names.h"
#include "tables/gpu_metric_samples.h"
#include "tables/gpus.h"
#include "tables/nic_ids.h"
#include "tables/nic_metric_names.h"
#include "tables/nic_metric_samples.h"
#include "tables/nics.h"
#include "tables/steps.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* --- GPUs ------------------------------------------------------------------------------------- */

static bool ends(const char *text, const char *with) {
  size_t a = strlen(text), b = strlen(with);
  return a >= b && strcmp(text + a - b, with) == 0;
}

const char *nai_metric_unit(const char *name) {
  return ends(name, "[Throughput %]") ? "%" : ends(name, "Clock Frequency [MHz]") ? "MHz" : NULL;
}

const struct nai_gpu *nai_metric_gpu(const struct nai_model *m, int64_t gpu_id) {
  const struct nai_table *gpus = m->tables[NAI_IN_GPUS];
  for (int64_t i = 0; i < gpus->rows; i++)
    if (nai_get_i64(gpus, i, GPUS_gpu_id) == gpu_id) {
      uint32_t g = nai_model_gpu_index(m, (int32_t)nai_get_i64(gpus, i, GPUS_device_id));
      return g < m->gpu_count && m->gpus[g].op_count ? &m->gpus[g] : NULL;
    }
  bool only = m->gpu_count == 1 && gpus->rows == 1 && nai_get_i64(gpus, 0, GPUS_gpu_id) == NAI_NULL_I32;
  return only && m->gpus[0].op_count ? &m->gpus[0] : NULL;
}

/* --- network cards ------------------------------------------------------------------------------ */

void nai_nic_put_card(struct nai_table *table, int64_t row, int column, const struct nai_model *m, int64_t global_id) {
  const struct nai_table *ids = m->tables[NAI_IN_NIC_IDS], *nics = m->tables[NAI_IN_NICS];
  struct nai_buf number = {0};
  nai_buf_printf(&number, "%lld", (long long)global_id);
  nai_set_str(table, row, column, nai_buf_str(&number));
  table->oom |= number.oom;
  nai_buf_free(&number);
  for (int64_t i = 0; i < ids->rows; i++)
    for (int64_t k = 0; nai_get_i64(ids, i, NIC_IDS_global_id) == global_id && k < nics->rows; k++)
      if (nai_get_i64(nics, k, NICS_nic_id) == nai_get_i64(ids, i, NIC_IDS_nic_id) &&
          *nai_get_str(nics, k, NICS_nic_name))
        nai_set_str(table, row, column, nai_get_str(nics, k, NICS_nic_name));
}

int64_t nai_nic_metric_row(const struct nai_model *m, int64_t list, int64_t index) {
  const struct nai_table *names = m->tables[NAI_IN_NIC_METRICS];
  for (int64_t i = 0; i < names->rows; i++)
    if (nai_get_i64(names, i, NIC_METRIC_NAMES_list_id) == list &&
        nai_get_i64(names, i, NIC_METRIC_NAMES_metric_index) == index)
      return i;
  return -1;
}

const char *nai_nic_unit(double *scale, const char *name, const char *unit) {
  bool bytes = strstr(name, "Bytes ") || strncmp(unit, "bytes/ms", 8) == 0;
  *scale = bytes ? 1e-6 : 1;
  return bytes ? "GB/s" : *unit ? unit : NULL;
}

int nai_nic_compare(const void *pa, const void *pb, void *table) {
  static const int by[] = {NIC_METRIC_SAMPLES_global_id,    NIC_METRIC_SAMPLES_port,     NIC_METRIC_SAMPLES_list_id,
                           NIC_METRIC_SAMPLES_metric_index, NIC_METRIC_SAMPLES_start_ns, NIC_METRIC_SAMPLES_end_ns,
                           NIC_METRIC_SAMPLES_value};
  uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
  for (size_t i = 0; i < sizeof by / sizeof *by; i++) {
    int64_t x = nai_get_i64(table, a, by[i]), y = nai_get_i64(table, b, by[i]);
    if (x != y)
      return x < y ? -1 : 1;
  }
  return 0;
}

bool nai_nic_same(const struct nai_table *t, uint32_t a, uint32_t b) {
  for (int c = NIC_METRIC_SAMPLES_global_id; c <= NIC_METRIC_SAMPLES_metric_index; c++)
    if (nai_get_i64(t, a, c) != nai_get_i64(t, b, c))
      return false;
  return true;
}

/* --- series ------------------------------------------------------------------------------------ */

void nai_series_free(struct nai_series *s) {
  free(s->start);
  free(s->end);
  free(s->value);
}

static int new_series(struct nai_series *s, uint32_t count, struct nai_err *err) {
  s->count = count;
  s->start = malloc(((size_t)count + 1) * sizeof *s->start);
  s->end = malloc(((size_t)count + 1) * sizeof *s->end);
  s->value = malloc(((size_t)count + 1) * sizeof *s->value);
  return s->start && s->end && s->value ? NAI_OK : nai_err_nomem(err);
}

/* Each sample of a GPU stands for the median distance. */
static int64_t period_of(struct nai_series *s) {
  for (uint32_t i = 0; i + 1 < s->count; i++)
    s->end[i] = s->start[i + 1] - s->start[i];
  nai_select_i64(s->end, s->count - 1, (s->count - 2) / 2);
  return s->end[(s->count - 2) / 2];
}

static int use_gpu(const struct nai_model *m, int64_t metric, const uint32_t *rows, uint32_t count, nai_series_fn *use,
                   void *ctx, struct nai_err *err) {
  const struct nai_table *names = m->tables[NAI_IN_GPU_METRICS], *t = m->tables[NAI_IN_GPU_METRIC_SAMPLES];
  struct nai_value name = nai_table_value(names, metric, GPU_METRIC_NAMES_metric_name);
  const struct nai_gpu *gpu = nai_metric_gpu(m, nai_get_i64(names, metric, GPU_METRIC_NAMES_gpu_id));
  struct nai_series s = {.name = name.null ? "" : name.s, .card = NAI_NULL_I64, .port = NAI_NULL_I64};
  s.unit = nai_metric_unit(s.name);
  if (!gpu || !s.unit || count < 2)
    return NAI_OK;
  s.device = gpu->device_id;
  int rc = new_series(&s, count, err);
  bool hertz = false;
  for (uint32_t i = 0; !rc && i < count; i++) {
    s.start[i] = nai_get_i64(t, rows[i], GPU_METRIC_SAMPLES_time_ns);
    s.value[i] = (double)nai_get_i64(t, rows[i], GPU_METRIC_SAMPLES_value);
    hertz |= strcmp(s.unit, "MHz") == 0 && s.value[i] >= 1e6;
  }
  int64_t period = rc ? 0 : period_of(&s);
  for (uint32_t i = 0; period > 0 && i < count; i++) {
    s.end[i] = s.start[i] + period;
    s.value[i] *= hertz ? 1e-6 : 1;
  }
  if (period > 0)
    rc = use(ctx, &s, err);
  nai_series_free(&s);
  return rc;
}

static int use_gpus(const struct nai_model *m, nai_series_fn *use, void *ctx, struct nai_err *err) {
  const struct nai_table *t = m->tables[NAI_IN_GPU_METRIC_SAMPLES];
  uint32_t n = (uint32_t)t->rows, metrics = (uint32_t)m->tables[NAI_IN_GPU_METRICS]->rows;
  struct nai_arena arena = NAI_ARENA(m->scratch_dir);
  struct nai_groups groups = {0};
  const struct nai_column metric = nai_table_column(t, GPU_METRIC_SAMPLES_metric);
  const struct nai_row_order by = {.start = nai_table_column(t, GPU_METRIC_SAMPLES_time_ns),
                                   .end = nai_table_column(t, GPU_METRIC_SAMPLES_value)};
  int rc = n ? nai_groups_build(&groups, n, &metric, metrics, &by, &arena, err) : NAI_OK;
  for (uint32_t i = 0; !rc && n && i < metrics; i++)
    rc = use_gpu(m, i, groups.order + groups.first[i], groups.first[i + 1] - groups.first[i], use, ctx, err);
  nai_arena_free(&arena);
  return rc;
}

static int use_card(const struct nai_model *m, const uint32_t *rows, uint32_t count, nai_series_fn *use, void *ctx,
                    struct nai_err *err) {
  const struct nai_table *t = m->tables[NAI_IN_NIC_SAMPLES], *names = m->tables[NAI_IN_NIC_METRICS];
  int64_t name = nai_nic_metric_row(m, nai_get_i64(t, *rows, NIC_METRIC_SAMPLES_list_id),
                                    nai_get_i64(t, *rows, NIC_METRIC_SAMPLES_metric_index));
  struct nai_series s = {.device = -1,
                         .card = nai_get_i64(t, *rows, NIC_METRIC_SAMPLES_global_id),
                         .port = nai_get_i64(t, *rows, NIC_METRIC_SAMPLES_port)};
  double scale;
  if (name < 0)
    return NAI_OK;
  s.name = nai_get_str(names, name, NIC_METRIC_NAMES_metric_name);
  s.unit = nai_nic_unit(&scale, s.name, nai_get_str(names, name, NIC_METRIC_NAMES_metric_unit));
  int rc = new_series(&s, count, err);
  for (uint32_t i = 0; !rc && i < count; i++) {
    s.start[i] = nai_get_i64(t, rows[i], NIC_METRIC_SAMPLES_start_ns);
    s.end[i] = nai_get_i64(t, rows[i], NIC_METRIC_SAMPLES_end_ns);
    s.value[i] = (double)nai_get_i64(t, rows[i], NIC_METRIC_SAMPLES_value) * scale;
  }
  if (!rc)
    rc = use(ctx, &s, err);
  nai_series_free(&s);
  return rc;
}

static int use_cards(const struct nai_model *m, nai_series_fn *use, void *ctx, struct nai_err *err) {
  const struct nai_table *t = m->tables[NAI_IN_NIC_SAMPLES];
  uint32_t n = (uint32_t)t->rows, *rows = malloc(((size_t)n + 1) * sizeof *rows);
  int rc = rows ? NAI_OK : nai_err_nomem(err);
  for (uint32_t i = 0; rows && i < n; i++)
    rows[i] = i;
  if (rows)
    qsort_r(rows, n, sizeof *rows, nai_nic_compare, (void *)t);
  for (uint32_t i = 0, end; !rc && i < n; i = end) {
    for (end = i + 1; end < n && nai_nic_same(t, rows[i], rows[end]); end++)
      ;
    rc = use_card(m, rows + i, end - i, use, ctx, err);
  }
  free(rows);
  return rc;
}

int nai_series_each(const struct nai_model *m, nai_series_fn *use, void *ctx, struct nai_err *err) {
  int rc = use_gpus(m, use, ctx, err);
  return rc ? rc : use_cards(m, use, ctx, err);
}

/* --- sums ---------------------------------------------------------------------------------------- */

/* The sample that is looked at: what of it lies in the set so far. */
struct part {
  uint32_t sample;
  int64_t ns;
};

static void end_part(struct nai_series_sum *sum, const struct nai_series *s, const struct part *p) {
  if (!p->ns)
    return;
  sum->ns += p->ns;
  sum->weighted += s->value[p->sample] * (double)p->ns;
  if (2 * p->ns <= s->end[p->sample] - s->start[p->sample])
    return;
  sum->max = sum->count == 0 || s->value[p->sample] > sum->max ? s->value[p->sample] : sum->max;
  sum->count++;
}

struct nai_series_sum nai_series_within(const struct nai_series *s, const struct nai_intervals *set) {
  struct nai_series_sum sum = {0};
  struct part part = {0};
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
      if (i != part.sample) {
        end_part(&sum, s, &part);
        part = (struct part){.sample = i};
      }
      part.ns += until - from;
      from = from > covered_until ? from : covered_until;
      sum.covered += until > from ? until - from : 0;
      covered_until = until > covered_until ? until : covered_until;
    }
  }
  end_part(&sum, s, &part);
  return sum;
}

/* --- steps --------------------------------------------------------------------------------------- */

static int by_start(const void *pa, const void *pb) {
  const struct nai_interval *a = pa, *b = pb;
  return (a->start > b->start) - (a->start < b->start);
}

void nai_add_steady(struct nai_intervals *set, const struct nai_table *steps, int32_t device) {
  size_t count = 0, before = set->count;
  struct nai_interval *v = steps ? malloc(((size_t)steps->rows + before + 1) * sizeof *v) : NULL;
  set->oom |= steps && !v;
  if (!v)
    return;
  for (size_t i = 0; i < before; i++)
    v[count++] = set->v[i];
  for (int64_t i = 0; i < steps->rows; i++)
    if (nai_get_i64(steps, i, STEPS_device_id) == device && strcmp(nai_get_str(steps, i, STEPS_state), "steady") == 0)
      v[count++] =
          (struct nai_interval){nai_get_i64(steps, i, STEPS_gpu_start_ns), nai_get_i64(steps, i, STEPS_gpu_end_ns)};
  qsort(v, count, sizeof *v, by_start);
  set->count = 0;
  for (size_t i = 0; i < count; i++)
    nai_intervals_add(set, v[i].start, v[i].end);
  free(v);
}
