/* Kernels that move data more than they compute, and those that wait for pages. */
#include "analyses/losses/losses.h"
#include "analyses/memory/uvm.h"

#include <stdlib.h>

/* The kernel that ran last on a stream. */
struct last {
  uint32_t kernel; /* NAI_NO_ROW for none */
  bool fusable, counted;
};

/* Two or more in a row on a stream could be one: a lone one has nothing to be fused with. */
static void step(struct nai_loss_sum *unfused, struct last *last, const struct nai_loss_gpu *g, uint32_t kernel) {
  bool fusable = g->fusable[nai_at_text(&g->m->kernels.name, kernel)];
  bool chained = fusable && last->kernel != NAI_NO_ROW && last->fusable;
  if (chained && !last->counted)
    nai_loss_sum_add(unfused, g->m, last->kernel);
  if (chained)
    nai_loss_sum_add(unfused, g->m, kernel);
  *last = (struct last){kernel, fusable, chained};
}

static int add_data_movers(const struct nai_loss_gpu *g, struct nai_err *err) {
  struct nai_loss_sum unfused = {0}, casts = {0};
  struct last *last = malloc(((size_t)g->gpu->stream_count + 1) * sizeof *last);
  int rc = last ? nai_loss_sum_new(&unfused, g->m, err) : nai_err_nomem(err);
  if (!rc)
    rc = nai_loss_sum_new(&casts, g->m, err);
  for (uint32_t s = 0; !rc && s < g->gpu->stream_count; s++)
    last[s] = (struct last){.kernel = NAI_NO_ROW};
  for (uint32_t i = 0; !rc && i < g->gpu->op_count; i++) {
    const struct nai_op *op = &g->gpu->ops[i];
    if (!g->inside[i] || op->type != NAI_OP_KERNEL)
      continue;
    step(&unfused, &last[op->stream], g, op->row);
    if (g->traits[nai_at_text(&g->m->kernels.name, op->row)] == NAI_TRAIT_CAST)
      nai_loss_sum_add(&casts, g->m, op->row);
  }
  if (!rc) {
    nai_loss_sum_put(g, "unfused", &unfused);
    nai_loss_sum_put(g, "casts", &casts);
  }
  nai_loss_sum_free(&unfused);
  nai_loss_sum_free(&casts);
  free(last);
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
  loss.ns = nai_intervals_total(&both);
  if (!rc)
    rc = kernels.oom || both.oom ? nai_err_nomem(err) : nai_coverage_new(&cover, &moves, err);
  for (uint32_t i = 0; !rc && loss.ns && i < g->gpu->op_count; i++) {
    const struct nai_op *op = &g->gpu->ops[i];
    if (!g->inside[i] || op->type != NAI_OP_KERNEL)
      continue;
    int64_t start = nai_model_op_start(g->m, op), end = nai_model_op_end(g->m, op);
    int64_t ns = nai_coverage_within(&cover, start, end);
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
