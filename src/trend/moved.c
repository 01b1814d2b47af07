#include "trend/moved.h"

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

enum { SIDE_RUNS = 4, MAX_KERNELS = 2 * SIDE_RUNS * NAI_INDEX_TOP_KERNELS };

static int by_name(const void *pa, const void *pb) {
  const struct nai_trend_kernel *a = pa, *b = pb;
  return strcmp(a->name, b->name);
}

static int by_difference(const void *pa, const void *pb) {
  const struct nai_trend_kernel *a = pa, *b = pb;
  double x = fabs(a->after - a->before), y = fabs(b->after - b->before);
  return x != y ? (x < y) - (x > y) : strcmp(a->name, b->name);
}

/* Adds the kernels of a run's first capture, each with its share of the mean of its side. */
static void take_run(struct nai_trend_kernel *list, uint32_t *n, const struct nai_index *index, uint32_t run,
                     bool after, uint32_t runs) {
  const struct nai_table *t = index->kernels;
  int64_t count, first = nai_index_rows_of(&count, t, nai_get_str(index->runs, run, NAI_INDEX_RUN_ID));
  for (int64_t row = first; row < first + count && *n < MAX_KERNELS; row++) {
    double share = (double)nai_get_i64(t, row, NAI_INDEX_KERNEL_TIME) / runs;
    if (nai_get_i64(t, row, NAI_INDEX_KERNEL_CAPTURE) == 0)
      list[(*n)++] =
          (struct nai_trend_kernel){nai_get_str(t, row, NAI_INDEX_KERNEL_NAME), after ? 0 : share, after ? share : 0};
  }
}

static uint32_t merge(struct nai_trend_kernel *list, uint32_t n) {
  uint32_t kept = 0;
  qsort(list, n, sizeof *list, by_name);
  for (uint32_t i = 0; i < n; i++)
    if (kept && strcmp(list[kept - 1].name, list[i].name) == 0) {
      list[kept - 1].before += list[i].before;
      list[kept - 1].after += list[i].after;
    } else {
      list[kept++] = list[i];
    }
  return kept;
}

int nai_trend_kernels(struct nai_trend_kernel out[NAI_TREND_MAX_KERNELS], uint32_t *count,
                      const struct nai_trend *trend, const struct nai_trend_metric *m, const struct nai_change *change,
                      struct nai_err *err) {
  struct nai_trend_kernel *list = malloc(MAX_KERNELS * sizeof *list);
  uint32_t n = 0, before = change->at < SIDE_RUNS ? change->at : SIDE_RUNS;
  uint32_t after = m->count - change->at < SIDE_RUNS ? m->count - change->at : SIDE_RUNS;
  double total = 0;
  *count = 0;
  if (!list)
    return nai_err_nomem(err);
  for (uint32_t i = 0; i < before; i++)
    take_run(list, &n, trend->index, m->runs[change->at - 1 - i], false, before);
  for (uint32_t i = 0; i < after; i++)
    take_run(list, &n, trend->index, m->runs[change->at + i], true, after);
  n = merge(list, n);
  for (uint32_t i = 0; i < n; i++)
    total += list[i].before;
  qsort(list, n, sizeof *list, by_difference);
  while (*count < n && *count < NAI_TREND_MAX_KERNELS &&
         fabs(list[*count].after - list[*count].before) >= 0.02 * total) {
    out[*count] = list[*count];
    ++*count;
  }
  free(list);
  return NAI_OK;
}
