/* Does a program hold more memory from step to step? Table memory_growth. */
#include "analyses/memory/memory_growth.h"

#include "base/sort.h"
#include "tables/memory_growth.h"
#include "tables/steps.h"

#include <stdlib.h>
#include <string.h>

enum { FEWEST = 3, MAX_STEPS = 256 };

/* What is held at the beginnings of steps. */
struct series {
  int64_t *times, *held; /* of `count` steps, by time */
  uint32_t count, next;
  int64_t now;
};

static int by_value(const void *pa, const void *pb) {
  int64_t a = *(const int64_t *)pa, b = *(const int64_t *)pb;
  return (a > b) - (a < b);
}

/* The GPU whose steps count for memory of the host: the process's first. */
static int64_t device_for(const struct nai_table *steps, int64_t pid, int32_t device) {
  for (int64_t i = 0; device < 0 && i < steps->rows; i++)
    if (nai_get_i64(steps, i, STEPS_pid) == pid)
      return nai_get_i64(steps, i, STEPS_device_id);
  return device;
}

static int find_steps(struct series *s, const struct nai_table *steps, int64_t pid, int32_t device,
                      struct nai_err *err) {
  int64_t on = device_for(steps, pid, device);
  s->times = malloc(((size_t)steps->rows + 1) * sizeof *s->times);
  s->held = malloc(((size_t)steps->rows + 1) * sizeof *s->held);
  if (!s->times || !s->held)
    return nai_err_nomem(err);
  for (int64_t i = 0; i < steps->rows; i++)
    if (nai_get_i64(steps, i, STEPS_pid) == pid && nai_get_i64(steps, i, STEPS_device_id) == on &&
        strcmp(nai_get_str(steps, i, STEPS_state), "steady") == 0)
      s->times[s->count++] = nai_get_i64(steps, i, STEPS_cpu_start_ns);
  qsort(s->times, s->count, sizeof *s->times, by_value);
  return NAI_OK;
}

/* Steps that begin up to `time` find what is held now. */
static void advance(struct series *s, int64_t time) {
  while (s->next < s->count && s->times[s->next] <= time)
    s->held[s->next++] = s->now;
}

/* Median slope between pairs of steps; of very many steps a part, evenly chosen. */
static int find_slope(double *slope, const struct series *s, struct nai_err *err) {
  uint32_t stride = (s->count + MAX_STEPS - 1) / MAX_STEPS, n = (s->count + stride - 1) / stride, pairs = 0;
  int64_t *slopes = malloc((size_t)n * n / 2 * sizeof *slopes + sizeof *slopes);
  if (!slopes)
    return nai_err_nomem(err);
  for (uint32_t a = 0; a < s->count; a += stride)
    for (uint32_t b = a + stride; b < s->count; b += stride)
      slopes[pairs++] = (s->held[b] - s->held[a]) / (int64_t)(b - a);
  *slope = nai_quantile_i64(slopes, pairs, 0.5);
  free(slopes);
  return NAI_OK;
}

static int put_series(struct nai_table *table, const struct nai_model *m, const struct nai_memory_use *use,
                      const struct series *s, struct nai_err *err) {
  double slope = 0;
  int64_t last = s->count - 1, middle = s->held[s->count / 2];
  int rc = find_slope(&slope, s, err);
  if (rc)
    return rc;
  int64_t row = nai_table_add_row(table);
  nai_memory_put_place(table, row, MEMORY_GROWTH_pid, MEMORY_GROWTH_device_id, MEMORY_GROWTH_memory_kind,
                       MEMORY_GROWTH_memory_kind_id, m, use);
  nai_set_i64(table, row, MEMORY_GROWTH_steps, s->count);
  nai_set_i64(table, row, MEMORY_GROWTH_first_bytes, s->held[0]);
  nai_set_i64(table, row, MEMORY_GROWTH_last_bytes, s->held[last]);
  nai_set_i64(table, row, MEMORY_GROWTH_grew_bytes, s->held[last] - s->held[0]);
  nai_set_f64(table, row, MEMORY_GROWTH_growth_bytes_per_step, slope);
  if (middle > 0)
    nai_set_f64(table, row, MEMORY_GROWTH_growth_pct_per_step, 100 * slope / (double)middle);
  nai_set_i64(table, row, MEMORY_GROWTH_first_start_ns, s->times[0]);
  nai_set_i64(table, row, MEMORY_GROWTH_last_start_ns, s->times[last]);
  return NAI_OK;
}

int nai_memory_growth_put(struct nai_table *table, const struct nai_model *m, const struct nai_memory_track *track,
                          const struct nai_table *steps, struct nai_err *err) {
  struct series *all = calloc((size_t)track->use_count + 1, sizeof *all);
  int rc = all ? NAI_OK : nai_err_nomem(err);
  for (uint32_t u = 0; !rc && u < track->use_count; u++)
    rc = find_steps(&all[u], steps, nai_model_pid(m, track->uses[u].process), track->uses[u].device, err);
  for (uint32_t i = 0; !rc && i < track->point_count; i++) {
    const struct nai_memory_point *p = &track->points[i];
    advance(&all[p->use], p->time - 1); /* what happens when a step begins is the step's */
    all[p->use].now = p->held;
  }
  for (uint32_t u = 0; !rc && u < track->use_count; u++) {
    advance(&all[u], INT64_MAX);
    if (all[u].count >= FEWEST)
      rc = put_series(table, m, &track->uses[u], &all[u], err);
  }
  for (uint32_t u = 0; all && u < track->use_count; u++) {
    free(all[u].times);
    free(all[u].held);
  }
  free(all);
  return rc;
}
