/* Kernels that move data more than they compute, and those that wait for pages. */
#include "analyses/losses/losses.h"
#include "model/memory/uvm.h"

#include <stdlib.h>

/* A run of kernels on a stream that could be one. */
struct chain {
  uint32_t last, longest; /* operations; NAI_NO_ROW for none */
  bool counted;           /* two or more */
};

/* Kernels of one kind: their sum, and which operations would go. */
struct movers {
  struct nai_loss_sum sum;
  bool *goes; /* per operation */
};

static int64_t op_ns(const struct nai_loss_gpu *g, uint32_t i) {
  const struct nai_op *op = &g->gpu->ops[i];
  return nai_model_op_end(g->m, op) - nai_model_op_start(g->m, op);
}

/* Two or more in a row on a stream could be one, which is taken to last as long as the longest of them: that one stays.
 * A lone one has nothing to be fused with. */
static void step(struct movers *unfused, struct chain *chain, const struct nai_loss_gpu *g, uint32_t i) {
  uint32_t kernel = g->gpu->ops[i].row;
  if (!g->fusable[nai_at_text(&g->m->kernels.name, kernel)]) {
    *chain = (struct chain){NAI_NO_ROW, NAI_NO_ROW, false};
    return;
  }
  if (chain->last == NAI_NO_ROW) {
    *chain = (struct chain){i, i, false};
    return;
  }
  if (!chain->counted)
    nai_loss_sum_add(&unfused->sum, g->m, g->gpu->ops[chain->last].row);
  nai_loss_sum_add(&unfused->sum, g->m, kernel);
  bool longer = op_ns(g, i) > op_ns(g, chain->longest);
  unfused->goes[longer ? chain->longest : i] = true;
  *chain = (struct chain){i, longer ? i : chain->longest, true};
}

static int movers_new(struct movers *movers, const struct nai_loss_gpu *g, struct nai_err *err) {
  movers->goes = calloc((size_t)g->gpu->op_count + 1, sizeof *movers->goes);
  return movers->goes ? nai_loss_sum_new(&movers->sum, g->m, err) : nai_err_nomem(err);
}

static int movers_put(const struct nai_loss_gpu *g, const char *what, struct movers *movers, struct nai_err *err) {
  int rc = movers->sum.count ? nai_loss_sum_keep(&movers->sum, g, movers->goes, err) : NAI_OK;
  if (!rc)
    nai_loss_sum_put(g, what, &movers->sum);
  return rc;
}

static void movers_free(struct movers *movers) {
  nai_loss_sum_free(&movers->sum);
  free(movers->goes);
}

static int add_data_movers(const struct nai_loss_gpu *g, struct nai_err *err) {
  struct movers unfused = {0}, casts = {0};
  struct chain *chains = malloc(((size_t)g->gpu->stream_count + 1) * sizeof *chains);
  int rc = chains ? movers_new(&unfused, g, err) : nai_err_nomem(err);
  if (!rc)
    rc = movers_new(&casts, g, err);
  for (uint32_t s = 0; !rc && s < g->gpu->stream_count; s++)
    chains[s] = (struct chain){NAI_NO_ROW, NAI_NO_ROW, false};
  for (uint32_t i = 0; !rc && i < g->gpu->op_count; i++) {
    const struct nai_op *op = &g->gpu->ops[i];
    if (!g->inside[i] || op->type != NAI_OP_KERNEL)
      continue;
    step(&unfused, &chains[op->stream], g, i);
    casts.goes[i] = g->traits[nai_at_text(&g->m->kernels.name, op->row)] == NAI_TRAIT_CAST;
    if (casts.goes[i])
      nai_loss_sum_add(&casts.sum, g->m, op->row);
  }
  if (!rc)
    rc = movers_put(g, "unfused", &unfused, err);
  if (!rc)
    rc = movers_put(g, "casts", &casts, err);
  movers_free(&unfused);
  movers_free(&casts);
  free(chains);
  return rc;
}

/* --- pages ------------------------------------------------------------------------------------ */

/* How much of the kernels is covered by pages that move. */
static int add_migrations(const struct nai_loss_gpu *g, struct nai_err *err) {
  struct nai_intervals moves = {0}, kernels = {0}, both = {0};
  struct nai_coverage cover = {0};
  struct nai_loss loss = {
      .what = "page_migration", .base_ns = g->kernel_ns, .start = NAI_NULL_I64, .end = NAI_NULL_I64};
  for (uint32_t i = 0; i < g->gpu->op_count; i++) {
    const struct nai_op *op = &g->gpu->ops[i];
    if (g->inside[i] && op->type == NAI_OP_KERNEL)
      nai_intervals_add(&kernels, nai_model_op_start(g->m, op), nai_model_op_end(g->m, op));
  }
  int rc = nai_uvm_busy(&moves, g->m, g->gpu, err);
  nai_intervals_intersect(&both, &moves, &kernels);
  loss.ns = nai_intervals_total_ns(&both);
  if (!rc)
    rc = kernels.oom || both.oom ? nai_err_nomem(err) : nai_coverage_new(&cover, &moves, err);
  for (uint32_t i = 0; !rc && loss.ns && i < g->gpu->op_count; i++) {
    const struct nai_op *op = &g->gpu->ops[i];
    if (!g->inside[i] || op->type != NAI_OP_KERNEL)
      continue;
    int64_t start = nai_model_op_start(g->m, op), end = nai_model_op_end(g->m, op);
    int64_t ns = nai_coverage_overlap_ns(&cover, start, end);
    loss.count += ns > 0;
    if (ns <= loss.example_ns)
      continue;
    loss.example = nai_model_kernel_name(g->m, op->row);
    loss.example_ns = ns;
    loss.start = start;
    loss.end = end;
  }
  if (!rc && loss.ns)
    nai_loss_put(g, &loss);
  nai_coverage_free(&cover);
  nai_intervals_free(&moves);
  nai_intervals_free(&kernels);
  nai_intervals_free(&both);
  return rc;
}

int nai_losses_of_kernels(const struct nai_loss_gpu *g, struct nai_err *err) {
  int rc = add_data_movers(g, err);
  return rc || !g->migrations ? rc : add_migrations(g, err);
}
