/* What each GPU's window consists of: part ACTIVE. */
#include "model/idle/active.h"

#include "base/sort.h"
#include "model/build.h"
#include "model/idle/idle.h"
#include "table/stats.h"

/* --- pauses ----------------------------------------------------------------------------------- */

enum { MIN_PAUSE_NS = 1000 * 1000, TIMES_OTHERS = 10, PART_OF_WINDOW = 10 };

/* The 99th percentile of the first `count` lengths, which ascend in key order. */
static double p99(const struct nai_key *by_length, size_t count) {
  struct nai_rank rank = nai_rank_of(0.99, count);
  int64_t low = (int64_t)by_length[rank.below].key;
  return nai_interpolate(low, rank.fraction > 0 ? (int64_t)by_length[rank.below + 1].key : low, rank.fraction);
}

/* Number of pauses: they are the longest gaps, the last ones of `by_length`. */
static size_t count_pauses(const struct nai_key *by_length, size_t gaps, int64_t window) {
  size_t pauses = 0;
  while (gaps - pauses > 1) { /* the only gap has no others to differ from */
    size_t others = gaps - pauses - 1;
    int64_t length = (int64_t)by_length[others].key;
    if (length < MIN_PAUSE_NS || length < window / PART_OF_WINDOW ||
        (double)length < TIMES_OTHERS * p99(by_length, others))
      break;
    window -= length;
    pauses++;
  }
  return pauses;
}

NAI_ORDER(compare_starts, struct nai_span, {a->start, b->start})

/* Puts the pauses, of any order, at odd places and the work around them at even ones. */
static void arrange(struct nai_span *spans, size_t pauses, const struct nai_gpu *gpu) {
  qsort(spans, pauses, sizeof *spans, compare_starts);
  for (size_t i = pauses; i-- > 0;)
    spans[2 * i + 1] = spans[i];
  for (size_t i = 0; i <= pauses; i++)
    spans[2 * i] = (struct nai_span){i ? spans[2 * i - 1].end : gpu->window_start,
                                     i < pauses ? spans[2 * i + 1].start : gpu->window_end, false};
}

/* All gaps but empty ones, the longest last. */
static int sort_gaps(struct nai_key **by_length, size_t *gaps, const struct nai_gpu *gpu, struct nai_arena *arena,
                     struct nai_err *err) {
  NAI_TRY(NAI_NEW_UNSET(*by_length, arena, gpu->all.count + 1, err));
  for (size_t i = 0; i <= gpu->all.count; i++) {
    struct nai_interval gap = nai_idle_span(gpu, i);
    if (gap.end > gap.start)
      (*by_length)[(*gaps)++] = (struct nai_key){(uint64_t)(gap.end - gap.start), (uint32_t)i};
  }
  return nai_sort_keys(*by_length, *gaps, err);
}

int nai_spans_find(struct nai_span **spans, uint32_t *count, const struct nai_gpu *gpu, struct nai_arena *arena,
                   struct nai_err *err) {
  NAI_SCOPED(nai_arena) scratch = NAI_ARENA(arena->directory);
  struct nai_key *by_length = NULL;
  size_t gaps = 0, pauses = 0;
  int64_t longest = 0, window = gpu->window_end - gpu->window_start;
  *count = 0;
  if (!gpu->op_count)
    return NAI_OK;
  for (size_t i = 0; i <= gpu->all.count; i++) {
    struct nai_interval gap = nai_idle_span(gpu, i);
    longest = gap.end - gap.start > longest ? gap.end - gap.start : longest;
  }
  if (longest >= MIN_PAUSE_NS && longest >= window / PART_OF_WINDOW) { /* mostly not: nothing need be sorted */
    NAI_TRY(sort_gaps(&by_length, &gaps, gpu, &scratch, err));
    pauses = count_pauses(by_length, gaps, window);
  }
  NAI_TRY(NAI_NEW(*spans, arena, 2 * pauses + 1, err));
  for (size_t i = 0; i < pauses; i++) {
    struct nai_interval gap = nai_idle_span(gpu, by_length[gaps - 1 - i].value);
    (*spans)[i] = (struct nai_span){gap.start, gap.end, true};
  }
  arrange(*spans, pauses, gpu);
  *count = (uint32_t)(2 * pauses + 1);
  return NAI_OK;
}

/* --- active time ------------------------------------------------------------------------------ */

enum { MIN_KERNEL_PCT = 5 };

/* Operations by the span in which they start; those of zero length at the very end of the window are the last one's. */
static void fill_spans(struct nai_gpu_active *a, const struct nai_gpu *gpu) {
  uint32_t at = 0;
  for (uint32_t i = 0; i < gpu->op_count; i++) {
    const struct nai_op *op = &gpu->ops[i];
    while (at + 1 < a->count && op->start >= a->spans[at].at.end)
      at++;
    a->spans[at].ops++;
    if (op->type != NAI_OP_KERNEL && op->type != NAI_OP_GRAPH)
      continue;
    a->spans[at].kernels++;
    a->spans[at].kernel_ns += op->end - op->start;
  }
}

static void find_kinds(struct nai_gpu_active *a) {
  int64_t total = 0;
  bool any = false;
  for (uint32_t i = 0; i < a->count; i++) {
    total += a->spans[i].kernel_ns;
    any = any || a->spans[i].kernels;
  }
  for (uint32_t i = 0, kernels = 0; i < a->count; i++) {
    struct nai_gpu_span *s = &a->spans[i];
    kernels += s->kernels > 0;
    s->kind = s->at.pause                                                               ? NAI_SPAN_IS_PAUSE
            : !any || a->count == 1                                                     ? NAI_SPAN_IS_ACTIVE
            : !kernels                                                                  ? NAI_SPAN_IS_SET_UP
            : nai_percent((double)s->kernel_ns, (double)total) < (double)MIN_KERNEL_PCT ? NAI_SPAN_IS_CHECK
                                                                                        : NAI_SPAN_IS_ACTIVE;
    if (s->kind == NAI_SPAN_IS_ACTIVE)
      nai_intervals_add(&a->active, s->at.start, s->at.end);
  }
}

static int begin(struct nai_model *m, struct nai_err *err) { return NAI_NEW(m->active, &m->arena, m->gpu_count, err); }

static int divide_window(void *ctx, int task, struct nai_err *err) {
  struct nai_model *m = ctx;
  struct nai_gpu_active *a = &m->active[task];
  struct nai_span *found;
  NAI_TRY(nai_spans_find(&found, &a->count, &m->gpus[task], &m->work->arenas[NAI_PART_ACTIVE], err));
  NAI_TRY(NAI_NEW(a->spans, &m->arena, a->count, err));
  for (uint32_t i = 0; i < a->count; i++)
    a->spans[i].at = found[i];
  a->active.arena = &m->arena;
  fill_spans(a, &m->gpus[task]);
  find_kinds(a);
  return a->active.oom ? nai_err_nomem(err) : NAI_OK;
}

const struct nai_part_def nai_part_active = {.name = "active time",
                                             .needs = NAI_PART(GPUS),
                                             .tables = NAI_IN(KERNELS) | NAI_IN(MEMOPS) | NAI_IN(GRAPHS),
                                             .begin = begin,
                                             .tasks = nai_each_gpu,
                                             .task = divide_window};
