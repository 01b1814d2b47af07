/* Does a program hold more memory from step to step? Table memory_growth. */
#include "analyses/analysis.h"
#include "base/sort.h"
#include "model/memory/memory_track.h"
#include "tables/memory_growth.h"
#include "tables/steps.h"

enum { FEWEST = 3, MAX_STEPS = 256 };

/* What is held at the beginnings of steps. */
struct series {
  int64_t *times, *held; /* of `count` steps, by time */
  uint32_t count, next;
  int64_t now;
};

/* The GPU whose steps count for memory of the host: the process's first. */
static int64_t device_for(const struct nai_table *steps, const struct nai_memory_use *use) {
  int64_t row = use->device_id == NAI_NULL_I64 ? nai_find_i64(steps, STEPS_pid, use->pid) : -1;
  return row < 0 ? use->device_id : nai_get_i64(steps, row, STEPS_device_id);
}

static int find_steps(struct series *s, const struct nai_node_io *io, const struct nai_memory_use *use,
                      struct nai_err *err) {
  const struct nai_table *steps = io->in[0];
  int64_t on = device_for(steps, use);
  NAI_TRY(NAI_NEW(s->times, io->arena, (size_t)steps->rows, err));
  NAI_TRY(NAI_NEW(s->held, io->arena, (size_t)steps->rows, err));
  for (int64_t i = 0; i < steps->rows; i++)
    if (nai_get_i64(steps, i, STEPS_pid) == use->pid && nai_get_i64(steps, i, STEPS_device_id) == on &&
        strcmp(nai_get_str(steps, i, STEPS_state), "steady") == 0)
      s->times[s->count++] = nai_get_i64(steps, i, STEPS_cpu_start_ns);
  qsort(s->times, s->count, sizeof *s->times, nai_by_i64);
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
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  int64_t *slopes;
  NAI_TRY(NAI_NEW(slopes, &arena, (size_t)n * n / 2, err));
  for (uint32_t a = 0; a < s->count; a += stride)
    for (uint32_t b = a + stride; b < s->count; b += stride)
      slopes[pairs++] = (s->held[b] - s->held[a]) / (int64_t)(b - a);
  *slope = nai_quantile_i64(slopes, pairs, 0.5);
  return NAI_OK;
}

static int put_series(struct nai_table *table, const struct nai_memory_use *use, const struct series *s,
                      struct nai_err *err) {
  double slope;
  int64_t last = s->count - 1, middle = s->held[s->count / 2];
  NAI_TRY(find_slope(&slope, s, err));
  struct MEMORY_GROWTH_row row =
      NAI_ROW(MEMORY_GROWTH, .pid = use->pid, .device_id = use->device_id, .memory_kind = use->kind,
              .memory_kind_id = use->kind_id, .steps = s->count, .first_bytes = s->held[0], .last_bytes = s->held[last],
              .grew_bytes = s->held[last] - s->held[0], .growth_bytes_per_step = slope, .first_start_ns = s->times[0],
              .last_start_ns = s->times[last]);
  if (middle > 0)
    row.growth_pct_per_step = 100 * slope / (double)middle;
  MEMORY_GROWTH_add(table, &row);
  return NAI_OK;
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_memory_track *track = io->model->memory;
  struct series *all;
  NAI_TRY(NAI_NEW(all, io->arena, track->use_count, err));
  for (uint32_t u = 0; u < track->use_count; u++)
    NAI_TRY(find_steps(&all[u], io, &track->uses[u], err));
  for (uint32_t i = 0; i < track->point_count; i++) {
    const struct nai_memory_point *p = &track->points[i];
    advance(&all[p->use], p->time - 1); /* what happens when a step begins is the step's */
    all[p->use].now = p->held;
  }
  for (uint32_t u = 0; u < track->use_count; u++) {
    advance(&all[u], INT64_MAX);
    if (all[u].count >= FEWEST)
      NAI_TRY(put_series(io->out[0], &track->uses[u], &all[u], err));
  }
  return NAI_OK;
}

NAI_ANALYSIS(memory_growth, .outputs = NAI_SCHEMAS(&nai_memory_growth_schema), .inputs = NAI_SCHEMAS(&nai_steps_schema),
             .parts = NAI_PART(MEMORY), .run = run)
