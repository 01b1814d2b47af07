/* Kernels whose durations at one number of blocks are not told by a median: two modes, of which neither mean nor median
 * happens, and a few calls far beyond it that hold much of the time. */
#include "analyses/losses/losses.h"
#include "base/fmt.h"
#include "base/sort.h"
#include "model/kernels/modes.h"
#include "model/kernels/waves.h"
#include "tables/kernel_configs.h"

enum { MAX_ROWS = 20, MIN_TOTAL_PCT = 5 };

struct execution {
  int64_t blocks; /* -1 unknown */
  int64_t ns;
  uint32_t row;
};

/* Executions by kernel name: those of name n are v[first[n]] .. v[first[n + 1] - 1]. Of names that take little of the
 * kernel time there are none. */
struct durations {
  struct execution *v;
  uint32_t *first, names;
};

static bool counts(const struct nai_loss_gpu *g, uint32_t i) {
  const struct nai_op *op = &g->gpu->ops[i];
  return g->inside[i] && op->type == NAI_OP_KERNEL && !op->communication;
}

static bool takes_much(const struct nai_loss_gpu *g, int64_t ns) {
  return (double)ns * 100 >= (double)g->kernel_ns * MIN_TOTAL_PCT;
}

/* Blocks by launch configuration, the last cell for unknown ones. */
static int blocks_of_configs(int64_t **blocks, const struct nai_loss_gpu *g, struct nai_err *err) {
  const struct nai_table *configs = g->m->tables[NAI_IN_KERNEL_CONFIGS];
  NAI_TRY(NAI_NEW(*blocks, g->arena, (size_t)configs->rows + 1, err));
  for (int64_t i = 0; i < configs->rows; i++)
    (*blocks)[i] = nai_config_product(configs, i, KERNEL_CONFIGS_grid_x);
  (*blocks)[configs->rows] = -1;
  return NAI_OK;
}

static int gather(struct durations *d, const struct nai_loss_gpu *g, struct nai_err *err) {
  int64_t *blocks, *name_ns, configs = g->m->tables[NAI_IN_KERNEL_CONFIGS]->rows;
  uint32_t all = 0;
  d->names = g->m->tables[NAI_IN_KERNELS]->strings.count;
  NAI_TRY(NAI_NEW(d->first, g->arena, (size_t)d->names + 2, err));
  NAI_TRY(NAI_NEW(name_ns, g->arena, d->names, err));
  NAI_TRY(blocks_of_configs(&blocks, g, err));
  uint32_t *place = d->first + 1; /* where the next one of each name goes; in the end, where the next name begins */
  for (uint32_t i = 0; i < g->gpu->op_count; i++)
    if (counts(g, i)) {
      uint32_t name = nai_val_text(&g->m->kernels.name, g->gpu->ops[i].row);
      place[name]++;
      name_ns[name] += g->gpu->ops[i].end - g->gpu->ops[i].start;
    }
  for (uint32_t n = 0; n < d->names; n++) {
    uint32_t count = takes_much(g, name_ns[n]) ? place[n] : 0;
    place[n] = all;
    all += count;
  }
  NAI_TRY(NAI_NEW(d->v, g->arena, all, err));
  for (uint32_t i = 0; i < g->gpu->op_count; i++) {
    const struct nai_op *op = &g->gpu->ops[i];
    uint32_t name = counts(g, i) ? nai_val_text(&g->m->kernels.name, op->row) : NAI_NO_STRING;
    if (name == NAI_NO_STRING || !takes_much(g, name_ns[name]))
      continue;
    int32_t config = nai_val_i32(&g->m->kernels.config, op->row);
    d->v[place[name]++] =
        (struct execution){blocks[config >= 0 && config < configs ? config : configs], op->end - op->start, op->row};
  }
  return NAI_OK;
}

/* By blocks, then by length; equal ones stay in order of their starts. `keys` and `room` have room for all. */
static int sort_executions(struct execution *v, uint32_t count, struct nai_key *keys, struct execution *room,
                           struct nai_err *err) {
  for (uint32_t i = 0; i < count; i++)
    keys[i] = (struct nai_key){nai_key_from_i64(v[i].ns), i};
  NAI_TRY(nai_sort_keys(keys, count, err));
  for (uint32_t i = 0; i < count; i++)
    keys[i].key = nai_key_from_i64(v[keys[i].value].blocks);
  NAI_TRY(nai_sort_keys(keys, count, err));
  for (uint32_t i = 0; i < count; i++)
    room[i] = v[keys[i].value];
  memcpy(v, room, count * sizeof *v);
  return NAI_OK;
}

/* One kernel with two modes, and how long it ran in all with that number of blocks; or, with long_count > 0, that many
 * calls far beyond the median, which took `ns`. */
struct found {
  uint32_t name;
  int64_t ns;
  struct nai_modes modes;
  uint32_t long_count, count, longest; /* longest: row of the event */
  int64_t all_ns;
  double median, long_median;
};

static int compare_found(const void *pa, const void *pb, void *model) {
  const struct found *a = pa, *b = pb;
  const struct nai_strings *names = &((const struct nai_model *)model)->tables[NAI_IN_KERNELS]->strings;
  int order = NAI_COMPARE({b->ns, a->ns});
  return order ? order : strcmp(nai_strings_get(names, a->name), nai_strings_get(names, b->name));
}

static void put_modes(const struct nai_loss_gpu *g, const struct found *f) {
  NAI_SCOPED(nai_buf) detail = {0};
  nai_fmt_count(&detail, f->modes.low_count);
  nai_buf_puts(&detail, f->modes.low_count == 1 ? " call of about " : " calls of about ");
  nai_fmt_duration(&detail, f->modes.low_median);
  nai_buf_puts(&detail, " and ");
  nai_fmt_count(&detail, f->modes.high_count);
  nai_buf_puts(&detail, " of about ");
  nai_fmt_duration(&detail, f->modes.high_median);
  nai_loss_put(g, &(struct nai_loss){.what = "bimodal",
                                     .ns = f->ns,
                                     .count = f->modes.low_count + f->modes.high_count,
                                     .base_ns = g->kernel_ns,
                                     .example = nai_strings_get(&g->m->tables[NAI_IN_KERNELS]->strings, f->name),
                                     .example_ns = f->ns,
                                     .start = NAI_NULL_I64,
                                     .end = NAI_NULL_I64,
                                     .detail = &detail,
                                     .medians = (double[]){f->modes.low_median, f->modes.high_median}});
}

static void put_long(const struct nai_loss_gpu *g, const struct found *f) {
  const struct nai_model *m = g->m;
  NAI_SCOPED(nai_buf) detail = {0};
  nai_fmt_count(&detail, f->long_count);
  nai_buf_puts(&detail, " of ");
  nai_fmt_count(&detail, f->count);
  nai_buf_puts(&detail, " calls with the same number of blocks take more than ten times the median of ");
  nai_fmt_duration(&detail, f->median);
  nai_buf_puts(&detail, ": ");
  nai_fmt_duration(&detail, (double)f->ns);
  nai_buf_puts(&detail, " of ");
  nai_fmt_duration(&detail, (double)f->all_ns);
  nai_buf_puts(&detail, ", the longest ");
  nai_fmt_duration(&detail, (double)nai_kernel_ns(m, f->longest));
  nai_loss_put(g, &(struct nai_loss){.what = "long_calls",
                                     .ns = f->ns,
                                     .count = f->long_count,
                                     .base_ns = g->kernel_ns,
                                     .unavoidable_ns = (int64_t)(f->median * f->long_count),
                                     .example = nai_model_kernel_name(m, f->longest),
                                     .example_ns = f->ns,
                                     .start = nai_val(&m->kernels.start_ns, f->longest),
                                     .end = nai_val(&m->kernels.end_ns, f->longest),
                                     .detail = &detail,
                                     .medians = (double[]){f->median, f->long_median}});
}

/* How many of v[from..to) start before `middle`. */
static uint32_t early(const struct nai_model *m, const struct execution *v, uint32_t from, uint32_t to, double middle) {
  uint32_t count = 0;
  for (uint32_t i = from; i < to; i++)
    count += (double)nai_val(&m->kernels.start_ns, v[i].row) < middle;
  return count;
}

/* Whether calls, the shortest first, get longer or shorter along the capture, as they do for data of growing or
 * shrinking size: such calls are no exceptions. Of calls as long as the one in the middle, part of which belong to the
 * shorter half, that part counts of each. `room` has room for all. */
static bool has_trend(int64_t *room, const struct nai_model *m, const struct execution *v, uint32_t count) {
  enum { FEWEST = 8, MAX_PCT = 90 };
  uint32_t half = count / 2, first = half, end = half;
  if (count < FEWEST)
    return false;
  for (uint32_t i = 0; i < count; i++)
    room[i] = nai_val(&m->kernels.start_ns, v[i].row);
  double middle = nai_quantile_i64(room, count, 0.5);
  for (; first && v[first - 1].ns == v[half].ns; first--)
    ;
  for (; end < count && v[end].ns == v[half].ns; end++)
    ;
  double before =
      early(m, v, 0, first, middle) + (double)early(m, v, first, end, middle) * (half - first) / (end - first);
  return before * 100 >= half * MAX_PCT || before * 100 <= half * (100 - MAX_PCT);
}

/* Of the numbers of blocks with which one kernel, `v`, ran 20 times or more: the one whose calls beyond ten times their
 * median take most, where they are not a trend, where these are a tenth of the calls at most and a fifth of its time,
 * and it takes 5 % of the kernel time. */
static bool find_long(struct found *best, int64_t *room, const struct nai_loss_gpu *g, const struct execution *v,
                      uint32_t count) {
  enum { MIN_CALLS = 20, FAR = 10, MIN_TIME_PCT = 20, MAX_CALLS_PCT = 10 };
  best->ns = 0;
  for (uint32_t i = 0, j; i < count; i = j) {
    struct found f = {.name = best->name};
    for (j = i; j < count && v[j].blocks == v[i].blocks; j++) {
      room[j - i] = v[j].ns;
      f.all_ns += v[j].ns;
    }
    f.count = j - i;
    f.median = nai_quantile_i64(room, f.count, 0.5);
    for (uint32_t k = j; k-- > i && (double)v[k].ns > FAR * f.median; f.long_count++) {
      room[f.long_count] = v[k].ns;
      f.ns += v[k].ns;
    }
    if (f.count < MIN_CALLS || !f.long_count || f.ns <= best->ns ||
        (double)f.long_count * 100 > (double)f.count * MAX_CALLS_PCT ||
        (double)f.ns * 100 < (double)f.all_ns * MIN_TIME_PCT || !takes_much(g, f.all_ns))
      continue;
    f.long_median = nai_quantile_i64(room, f.long_count, 0.5);
    if (has_trend(room, g->m, v + j - f.long_count, f.long_count))
      continue;
    f.longest = v[j - 1].row;
    *best = f;
  }
  return best->ns > 0;
}

/* More blocks explain longer executions. Of the numbers of blocks with which one kernel, `v`, ran: the one with the
 * most time among those that take 5 % of the kernel time and have two modes. `sorted` has room for all durations. */
static bool find(struct found *best, int64_t *sorted, const struct nai_loss_gpu *g, const struct execution *v,
                 uint32_t count) {
  best->ns = 0;
  for (uint32_t i = 0, j; i < count; i = j) {
    struct found f = {.name = best->name};
    for (j = i; j < count && v[j].blocks == v[i].blocks; j++) {
      sorted[j - i] = v[j].ns;
      f.ns += v[j].ns;
    }
    if (takes_much(g, f.ns) && f.ns > best->ns && nai_modes_of(&f.modes, sorted, j - i))
      *best = f;
  }
  return best->ns > 0;
}

int nai_losses_of_modes(const struct nai_loss_gpu *g, struct nai_err *err) {
  struct durations d;
  struct found *found;
  int64_t *sorted;
  struct nai_key *keys;
  struct execution *room;
  uint32_t n = 0;
  NAI_TRY(gather(&d, g, err));
  NAI_TRY(NAI_NEW(found, g->arena, 2 * (size_t)d.names + 1, err)); /* each name for both reasons, and one not found */
  NAI_TRY(NAI_NEW(sorted, g->arena, d.first[d.names], err));
  NAI_TRY(NAI_NEW_UNSET(keys, g->arena, d.first[d.names], err));
  NAI_TRY(NAI_NEW_UNSET(room, g->arena, d.first[d.names], err));
  for (uint32_t i = 0; i < d.names; i++) {
    struct execution *v = d.v + d.first[i];
    uint32_t count = d.first[i + 1] - d.first[i];
    NAI_TRY(sort_executions(v, count, keys, room, err));
    found[n].name = i;
    n += find(&found[n], sorted, g, v, count);
    found[n].name = i;
    n += find_long(&found[n], sorted, g, v, count);
  }
  qsort_r(found, n, sizeof *found, compare_found, (void *)g->m);
  for (uint32_t i = 0; i < n && i < MAX_ROWS; i++)
    if (found[i].long_count)
      put_long(g, &found[i]);
    else
      put_modes(g, &found[i]);
  return NAI_OK;
}
