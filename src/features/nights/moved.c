/* What else changed when a metric did. */
#include "features/compare/stats.h"
#include "features/nights/trend.h"
#include "tables/index_kernels.h"
#include "tables/runs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

uint32_t nai_trend_moved(const struct nai_trend_metric **out, uint32_t room, const struct nai_trend_series *series,
                         const struct nai_trend_metric *metric, const struct nai_change *change) {
  uint32_t n = 0;
  int64_t bad = nai_trend_bad_run(metric, change);
  for (uint32_t i = 0; i < series->metric_count && n < room; i++) {
    const struct nai_trend_metric *other = &series->metrics[i];
    for (uint32_t c = 0; other != metric && c < other->found.count; c++)
      if (llabs((int64_t)nai_trend_bad_run(other, &other->found.changes[c]) - bad) <= 1) {
        out[n++] = other;
        break;
      }
  }
  return n;
}

/* --- kernels ---------------------------------------------------------------------------------- */

enum { SIDE_RUNS = 4, SIDES = 2 };

/* A kernel in one of the runs beside the change: mean of its captures. */
struct value {
  const char *name;
  uint32_t run; /* before the change 0 to SIDE_RUNS - 1, after it from SIDE_RUNS on */
  double ns;
};

static int by_name(const void *pa, const void *pb) {
  const struct value *a = pa, *b = pb;
  return strcmp(a->name, b->name);
}

static int by_difference(const void *pa, const void *pb) {
  const struct nai_trend_kernel *a = pa, *b = pb;
  double x = fabs(a->after - a->before), y = fabs(b->after - b->before);
  return x != y ? (x < y) - (x > y) : strcmp(a->name, b->name);
}

/* Rows of a run in index.kernels; its number of captures is one more than the highest. */
static int64_t rows_of(int64_t *count, int64_t *captures, const struct nai_index *index, uint32_t run) {
  const struct nai_table *t = index->kernels;
  int64_t first = nai_index_rows_of(count, t, nai_get_str(index->runs, run, RUNS_run_id));
  *captures = 1;
  for (int64_t row = first; row < first + *count; row++)
    if (nai_get_i64(t, row, INDEX_KERNELS_capture) >= *captures)
      *captures = nai_get_i64(t, row, INDEX_KERNELS_capture) + 1;
  return first;
}

struct values {
  struct nai_arena arena;
  struct value *list;
  uint32_t count, capacity;
};

static void values_free(struct values *v) { nai_arena_free(&v->arena); }

/* Appends the kernels of run `row` as those of run `number` beside the change. */
static int take_run(struct values *to, const struct nai_index *index, uint32_t row, uint32_t number,
                    struct nai_err *err) {
  int64_t count, captures, first = rows_of(&count, &captures, index, row);
  for (int64_t i = first; i < first + count; i++) {
    struct INDEX_KERNELS_row kernel = INDEX_KERNELS_at(index->kernels, i);
    NAI_TRY(NAI_ROOM(to->list, to->capacity, to->count, &to->arena, err));
    to->list[to->count++] =
        (struct value){kernel.name, number, isfinite(kernel.rate_ns) ? kernel.rate_ns / (double)captures : 0};
  }
  return NAI_OK;
}

/* Medians of the runs before and after: one bad night among them is no kernel's doing. */
static struct nai_trend_kernel sum_up(const struct value *values, uint32_t n, uint32_t before, uint32_t after) {
  double sums[SIDES * SIDE_RUNS] = {0};
  for (uint32_t i = 0; i < n; i++)
    sums[values[i].run] += values[i].ns;
  return (struct nai_trend_kernel){values[0].name, nai_median(sums, before), nai_median(sums + SIDE_RUNS, after)};
}

static uint32_t merge(struct nai_trend_kernel *kernels, const struct values *v, uint32_t before, uint32_t after) {
  uint32_t kept = 0;
  qsort(v->list, v->count, sizeof *v->list, by_name);
  for (uint32_t i = 0, j; i < v->count; i = j) {
    for (j = i + 1; j < v->count && strcmp(v->list[i].name, v->list[j].name) == 0; j++)
      ;
    kernels[kept++] = sum_up(v->list + i, j - i, before, after);
  }
  qsort(kernels, kept, sizeof *kernels, by_difference);
  return kept;
}

int nai_trend_kernels(struct nai_trend_kernel out[NAI_TREND_MAX_KERNELS], uint32_t *count,
                      const struct nai_trend *trend, const struct nai_trend_metric *m, const struct nai_change *change,
                      struct nai_err *err) {
  NAI_SCOPED(values) values = {.arena = NAI_ARENA(NULL)};
  struct nai_trend_kernel *kernels;
  uint32_t before = change->at < SIDE_RUNS ? change->at : SIDE_RUNS;
  uint32_t after = m->count - change->at < SIDE_RUNS ? m->count - change->at : SIDE_RUNS;
  double total = 0;
  *count = 0;
  for (uint32_t i = 0; i < before; i++)
    NAI_TRY(take_run(&values, trend->index, m->runs[change->at - 1 - i], i, err));
  for (uint32_t i = 0; i < after; i++)
    NAI_TRY(take_run(&values, trend->index, m->runs[change->at + i], SIDE_RUNS + i, err));
  if (!values.count)
    return NAI_OK;
  NAI_TRY(NAI_NEW(kernels, &values.arena, values.count, err));
  uint32_t n = merge(kernels, &values, before, after);
  for (uint32_t i = 0; i < n; i++)
    total += kernels[i].before;
  for (uint32_t i = 0; i < n && i < NAI_TREND_MAX_KERNELS && fabs(kernels[i].after - kernels[i].before) >= 0.02 * total;
       i++)
    out[(*count)++] = kernels[i];
  return NAI_OK;
}
