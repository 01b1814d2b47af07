/* Numbers of events, and how answers say them. */
#include "features/ask/relation_numbers.h"

#include "base/fmt.h"
#include "base/sort.h"

int nai_numbers_of(struct nai_thing_numbers *out, const struct nai_thing_events *events, bool sizes, nai_is_one_fn *is,
                   const void *ctx, struct nai_arena *arena, struct nai_err *err) {
  int64_t *values, longest = 0;
  uint32_t count = 0;
  *out = (struct nai_thing_numbers){0};
  NAI_TRY(NAI_NEW(values, arena, events->count, err));
  for (uint32_t i = 0; i < events->count; i++) {
    const struct nai_thing_event *e = &events->at[i];
    if (is && !is(e, ctx))
      continue;
    values[count++] = sizes ? e->bytes : e->end - e->start;
    out->bytes += e->bytes;
    out->ns += e->end - e->start;
    if (!out->longest || values[count - 1] > longest) {
      out->longest = e;
      longest = values[count - 1];
    }
  }
  out->of_sizes = sizes;
  out->stats = nai_stats_of(values, count);
  out->p95 = nai_quantile_i64(values, count, 0.95);
  return NAI_OK;
}

double nai_number_of(const struct nai_thing_numbers *n, enum nai_statistic statistic) {
  const double numbers[] = {[NAI_STATISTIC_NONE] = (double)n->stats.total,
                            [NAI_STATISTIC_COUNT] = (double)n->stats.count,
                            [NAI_STATISTIC_TOTAL] = (double)n->stats.total,
                            [NAI_STATISTIC_AVERAGE] = n->stats.mean,
                            [NAI_STATISTIC_MEDIAN] = n->stats.p50,
                            [NAI_STATISTIC_P90] = n->stats.p90,
                            [NAI_STATISTIC_P95] = n->p95,
                            [NAI_STATISTIC_P99] = n->stats.p99,
                            [NAI_STATISTIC_SHORTEST] = (double)n->stats.min,
                            [NAI_STATISTIC_LONGEST] = (double)n->stats.max,
                            [NAI_STATISTIC_SPREAD] = n->stats.stddev,
                            [NAI_STATISTIC_BYTES] = (double)n->bytes,
                            [NAI_STATISTIC_RATE] = (double)n->bytes / fmax((double)n->ns, 1)};
  return numbers[statistic];
}

void nai_put_whether_more(struct nai_buf *out, double one, double other) {
  const double hardly = 1.02;
  nai_buf_puts(out, one <= other ? "No: " : one < hardly * other ? "Hardly: " : "Yes: ");
}

const char *nai_statistic_name(enum nai_statistic statistic) {
  static const char *const names[] = {[NAI_STATISTIC_NONE] = "",
                                      [NAI_STATISTIC_COUNT] = "count",
                                      [NAI_STATISTIC_TOTAL] = "total",
                                      [NAI_STATISTIC_AVERAGE] = "average",
                                      [NAI_STATISTIC_MEDIAN] = "median",
                                      [NAI_STATISTIC_P90] = "p90",
                                      [NAI_STATISTIC_P95] = "p95",
                                      [NAI_STATISTIC_P99] = "p99",
                                      [NAI_STATISTIC_SHORTEST] = "shortest",
                                      [NAI_STATISTIC_LONGEST] = "longest",
                                      [NAI_STATISTIC_SPREAD] = "standard deviation",
                                      [NAI_STATISTIC_BYTES] = "size",
                                      [NAI_STATISTIC_RATE] = "rate"};
  return names[statistic];
}

void nai_put_number(struct nai_buf *out, double number, enum nai_statistic statistic) {
  if (statistic == NAI_STATISTIC_COUNT)
    nai_fmt_count(out, (int64_t)number);
  else if (statistic == NAI_STATISTIC_BYTES)
    nai_fmt_bytes(out, number);
  else if (statistic == NAI_STATISTIC_RATE)
    nai_value_print_human(out, NAI_GB_PER_S, &(struct nai_value){.type = NAI_F64, .f = number});
  else
    nai_fmt_duration(out, number);
}

void nai_put_moment(struct nai_buf *out, int64_t at) {
  nai_value_print_human(out, NAI_TIMESTAMP_NS, &(struct nai_value){.type = NAI_I64, .i = at});
}

void nai_put_factor(struct nai_buf *out, double one, double other) {
  nai_buf_printf(out, fabs(one) < 100 * fabs(other) ? "%.3g" : "%.0f", one / other);
}

static const char *const plural[NAI_THING_KINDS] = {[NAI_THING_KERNELS] = "kernels",
                                                    [NAI_THING_COPIES] = "copies",
                                                    [NAI_THING_MEMSETS] = "memsets",
                                                    [NAI_THING_RANGES] = "NVTX ranges",
                                                    [NAI_THING_CALLS] = "CUDA calls",
                                                    [NAI_THING_LAUNCHES] = "launch calls",
                                                    [NAI_THING_WAITS] = "synchronization calls",
                                                    [NAI_THING_OS_CALLS] = "OS calls",
                                                    [NAI_THING_STEPS] = "steps",
                                                    [NAI_THING_OPERATIONS] = "GPU operations",
                                                    [NAI_THING_MIGRATIONS] = "migrations"};

/* What narrows a kind down: "communication ", or nothing. */
static void put_which(struct nai_buf *out, const struct nai_thing *thing) {
  static const char managed[] = "Unified ";
  const char *which = thing->category ? thing->category : thing->op ? thing->op : thing->direction;
  if (which && strncmp(which, managed, strlen(managed)) == 0) /* migrations are of nothing else */
    which += strlen(managed);
  nai_buf_printf(out, "%s%s", which ? which : "", which ? " " : "");
}

void nai_put_thing(struct nai_buf *out, const struct nai_thing *thing, bool one) {
  put_which(out, thing);
  nai_buf_puts(out, thing->work ? "GPU work of " : "");
  if (thing->names)
    nai_buf_printf(out, thing->part ? "\"%s\"" : "%s", thing->called);
  else
    nai_fmt_noun(out, one, plural[thing->kind], strlen(plural[thing->kind]));
}

void nai_put_count(struct nai_buf *out, const struct nai_thing *thing, int64_t count) {
  nai_fmt_count(out, count);
  nai_buf_putc(out, ' ');
  put_which(out, thing);
  nai_fmt_noun(out, count == 1, plural[thing->kind], strlen(plural[thing->kind]));
  /* Kernels of casts have the word in their names, too. */
  if (thing->category && strcmp(thing->category, "elementwise") == 0)
    nai_buf_puts(out, " (no casts or copies)");
  if (thing->names)
    nai_buf_printf(out,
                   thing->work   ? " inside \"%s\""
                   : thing->part ? " with \"%s\" in their name"
                                 : " of %s",
                   thing->called);
}

void nai_put_spread(struct nai_buf *out, const struct nai_thing_numbers *n, enum nai_statistic asked) {
  const bool sizes = asked == NAI_STATISTIC_BYTES;
  const enum nai_statistic unit = sizes ? NAI_STATISTIC_BYTES : NAI_STATISTIC_TOTAL,
                           last = asked == NAI_STATISTIC_SPREAD ? NAI_STATISTIC_SPREAD : NAI_STATISTIC_LONGEST;
  if (!n->stats.count)
    return;
  nai_buf_puts(out, ", ");
  nai_put_number(out, (double)n->stats.total, unit);
  nai_buf_puts(out, " total");
  if (n->bytes && !sizes) {
    nai_buf_puts(out, ", ");
    nai_fmt_bytes(out, (double)n->bytes);
  }
  for (enum nai_statistic s = NAI_STATISTIC_AVERAGE; n->stats.count > 1 && s <= last; s++) {
    nai_buf_printf(out, ", %s ",
                   sizes && s == NAI_STATISTIC_SHORTEST  ? "smallest"
                   : sizes && s == NAI_STATISTIC_LONGEST ? "largest"
                                                         : nai_statistic_name(s));
    nai_put_number(out, nai_number_of(n, s), unit);
  }
}

void nai_put_begin_of_longest(struct nai_buf *out, const struct nai_thing_numbers *n) {
  if (n->stats.count < 2)
    return;
  nai_buf_puts(out, n->of_sizes ? "; the largest begins at " : "; the longest begins at ");
  nai_put_moment(out, n->longest->start);
  const int64_t ns = n->longest->end - n->longest->start;
  if (!n->of_sizes || ns <= 0)
    return;
  nai_buf_puts(out, " and takes ");
  nai_fmt_duration(out, (double)ns);
  nai_buf_puts(out, ", ");
  nai_put_number(out, (double)n->longest->bytes / (double)ns, NAI_STATISTIC_RATE);
}
