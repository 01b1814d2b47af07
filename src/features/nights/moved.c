/* What else changed when a metric did. */
#include "features/compare/stats.h"
#include "base/fmt.h"
#include "base/sort.h"
#include "features/nights/trend.h"
#include "tables/index_kernels.h"
#include "tables/runs.h"

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

/* --- remainders ------------------------------------------------------------------------------- */

/* The part of a step that got shorter by most in the newest run; NULL: none that the series has. */
static const struct nai_trend_metric *shrunk_part(const struct nai_trend_series *series,
                                                  const struct nai_trend_metric *metric) {
  static const char *const parts[] = {"gpu.compute.per_step", "gpu.exposed_comm.per_step", "gpu.exposed_copy.per_step",
                                      "gpu.idle.per_step"};
  const struct nai_trend_metric *most = NULL;
  for (uint32_t i = 0; i < series->metric_count; i++)
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
      const struct nai_trend_metric *m = &series->metrics[i];
      if (m != metric && strcmp(m->metric, parts[p]) == 0 && m->count && m->newest < m->usual &&
          m->runs[m->count - 1] == metric->runs[metric->count - 1] &&
          (!most || m->usual - m->newest > most->usual - most->newest))
        most = m;
    }
  return most;
}

static void put_times(struct nai_buf *out, double before, double after) {
  nai_buf_puts(out, " (");
  nai_fmt_duration(out, before);
  nai_buf_puts(out, " to ");
  nai_fmt_duration(out, after);
  nai_buf_puts(out, ")");
}

void nai_trend_put_made_up(struct nai_buf *out, const struct nai_trend_series *series,
                           const struct nai_trend_metric *m) {
  const double same = 0.02; /* of a step */
  const struct nai_trend_metric *part = shrunk_part(series, m);
  double before = m->step_usual, after = m->steps[m->count - 1];
  nai_buf_printf(out, "grew because %s shrank", part ? part->metric : "other parts of the step");
  if (part)
    put_times(out, part->usual, part->newest);
  nai_buf_printf(out, "; the step %s",
                 fabs(after - before) <= same * before ? "did not change"
                 : after < before                      ? "got shorter"
                                                       : "grew by less than that");
  put_times(out, before, after);
}

/* --- kernels ---------------------------------------------------------------------------------- */

enum { SIDE_RUNS = 4, SIDES = 2 };

NAI_ORDER_BY(by_difference, struct nai_trend_kernel, NAI_SIGN(fabs(b->after - b->before), fabs(a->after - a->before)),
             strcmp(a->name, b->name))

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

/* What a kernel takes in the runs beside a change, means of their captures: before it in the first SIDE_RUNS numbers,
 * after it in the others. */
struct sum {
  const char *name; /* of the index */
  double ns[SIDES * SIDE_RUNS];
};
struct sums {
  struct nai_arena arena;
  struct nai_strings names;
  struct sum *list;
  uint32_t capacity;
};

static void sums_free(struct sums *s) {
  nai_strings_free(&s->names);
  nai_arena_free(&s->arena);
}

/* Adds the kernels of run `row` as those of run `number` beside the change. */
static int take_run(struct sums *to, const struct nai_index *index, uint32_t row, uint32_t number,
                    struct nai_err *err) {
  int64_t count, captures, first = rows_of(&count, &captures, index, row);
  for (int64_t i = first; i < first + count; i++) {
    struct INDEX_KERNELS_row kernel = INDEX_KERNELS_at(index->kernels, i);
    uint32_t at;
    NAI_TRY(nai_strings_put(&at, &to->names, kernel.name, err));
    NAI_TRY(NAI_ROOM(to->list, to->capacity, at, &to->arena, err));
    to->list[at].name = kernel.name;
    to->list[at].ns[number] += isfinite(kernel.rate_ns) ? kernel.rate_ns / (double)captures : 0;
  }
  return NAI_OK;
}

int nai_trend_kernels(struct nai_trend_kernel out[NAI_TREND_MAX_KERNELS], uint32_t *count,
                      const struct nai_trend *trend, const struct nai_trend_metric *m, const struct nai_change *change,
                      struct nai_err *err) {
  NAI_SCOPED(sums) sums = {.arena = NAI_ARENA(NULL)};
  struct nai_trend_kernel *kernels;
  uint32_t before = change->at < SIDE_RUNS ? change->at : SIDE_RUNS;
  uint32_t after = m->count - change->at < SIDE_RUNS ? m->count - change->at : SIDE_RUNS;
  double total = 0;
  *count = 0;
  for (uint32_t i = 0; i < before; i++)
    NAI_TRY(take_run(&sums, trend->index, m->runs[change->at - 1 - i], i, err));
  for (uint32_t i = 0; i < after; i++)
    NAI_TRY(take_run(&sums, trend->index, m->runs[change->at + i], SIDE_RUNS + i, err));
  uint32_t n = sums.names.count;
  NAI_TRY(NAI_NEW(kernels, &sums.arena, n, err));
  for (uint32_t i = 0; i < n; i++) /* medians: one bad night among them is no kernel's doing */
    kernels[i] = (struct nai_trend_kernel){sums.list[i].name, nai_median(sums.list[i].ns, before),
                                           nai_median(sums.list[i].ns + SIDE_RUNS, after)};
  qsort(kernels, n, sizeof *kernels, by_difference);
  for (uint32_t i = 0; i < n; i++)
    total += kernels[i].before;
  bool worse = nai_trend_is_worse(m, change);
  for (int pass = 0; pass < 2; pass++) /* reasons first: of what got worse the kernels that got slower */
    for (uint32_t i = 0; i < n && *count < NAI_TREND_MAX_KERNELS; i++) {
      double longer = kernels[i].after - kernels[i].before;
      if (fabs(longer) >= 0.02 * total && (longer > 0) == (worse == (pass == 0)))
        out[(*count)++] = kernels[i];
    }
  return NAI_OK;
}
