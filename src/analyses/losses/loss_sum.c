/* Rows of table losses, and sums of kernels that become such a row. */
#include "analyses/losses/losses.h"
#include "table/stats.h"
#include "tables/losses.h"

static int64_t at_most(int64_t ns, int64_t limit) { return ns < limit ? ns : limit; }

void nai_loss_put(const struct nai_loss_gpu *g, const struct nai_loss *loss) {
  int64_t ns = at_most(loss->ns, g->active_ns);
  struct LOSSES_row row = NAI_ROW(LOSSES, .device_id = g->gpu->device_id, .what = loss->what, .time_ns = ns,
                                  .gain_ns = at_most(loss->ns - loss->unavoidable_ns, g->active_ns),
                                  .count = loss->count, .pct_of_active = nai_percent((double)ns, (double)g->active_ns),
                                  .longest_start_ns = loss->start, .longest_end_ns = loss->end);
  if (loss->base_ns)
    row.pct_of_kind = nai_percent((double)loss->ns, (double)loss->base_ns);
  if (loss->example) {
    row.example = loss->example;
    row.example_ns = loss->example_ns;
  }
  if (loss->detail) {
    row.detail = loss->detail->len ? nai_buf_str(loss->detail) : NULL;
    g->out->oom |= loss->detail->oom;
  }
  if (loss->medians) {
    row.low_median_ns = loss->medians[0];
    row.high_median_ns = loss->medians[1];
  }
  LOSSES_add(g->out, &row);
}

void nai_loss_note_longest(struct nai_loss *loss, const struct nai_loss_gpu *g, uint32_t op) {
  int64_t start = g->gpu->ops[op].start, end = g->gpu->ops[op].end;
  if (loss->count && end - start <= loss->end - loss->start)
    return;
  loss->start = start;
  loss->end = end;
}

/* --- sums of kernels -------------------------------------------------------------------------- */

int nai_loss_sum_new(struct nai_loss_sum *sum, const struct nai_loss_gpu *g, struct nai_err *err) {
  *sum = (struct nai_loss_sum){0};
  return NAI_NEW(sum->name_ns, g->arena, g->m->tables[NAI_IN_KERNELS]->strings.count, err);
}

void nai_loss_sum_keep(struct nai_loss_sum *sum, const struct nai_loss_gpu *g, const bool *goes) {
  int64_t others_ns = 0, until = INT64_MIN; /* operations come in order of their starts */
  for (uint32_t i = 0; i < g->gpu->op_count; i++) {
    const struct nai_op *op = &g->gpu->ops[i];
    if (goes[i])
      continue;
    int64_t start = op->start, end = op->end;
    start = start > until ? start : until;
    others_ns += end > start ? end - start : 0;
    until = end > until ? end : until;
  }
  sum->unavoidable_ns = sum->ns - (nai_intervals_total_ns(&g->gpu->all) - others_ns);
}

void nai_loss_sum_put(const struct nai_loss_gpu *g, const char *what, const struct nai_loss_sum *sum,
                      const struct nai_buf *detail) {
  const struct nai_strings *names = &g->m->tables[NAI_IN_KERNELS]->strings;
  uint32_t most = 0;
  if (!sum->count)
    return;
  for (uint32_t i = 1; i < names->count; i++) /* of equals the first by text, whatever their numbers are */
    if (sum->name_ns[i] > sum->name_ns[most] ||
        (sum->name_ns[i] == sum->name_ns[most] && strcmp(nai_strings_get(names, i), nai_strings_get(names, most)) < 0))
      most = i;
  nai_loss_put(g, &(struct nai_loss){.what = what,
                                     .ns = sum->ns,
                                     .count = sum->count,
                                     .base_ns = g->kernel_ns,
                                     .unavoidable_ns = sum->unavoidable_ns,
                                     .example = nai_strings_get(names, most),
                                     .example_ns = sum->name_ns[most],
                                     .start = nai_val(&g->m->kernels.start_ns, sum->longest),
                                     .end = nai_val(&g->m->kernels.end_ns, sum->longest),
                                     .detail = detail});
}
