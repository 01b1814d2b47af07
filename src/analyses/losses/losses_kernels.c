/* Kernels that move data more than they compute, and those that wait for pages. */
#include "analyses/losses/losses.h"

#include "base/fmt.h"
#include "model/memory/uvm.h"

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
  return op->end - op->start;
}

/* Two or more in a row on a stream could be one, which is taken to last as long as the longest of them: that one stays.
 * A lone one has nothing to be fused with. */
static void step(struct movers *unfused, struct chain *chain, const struct nai_loss_gpu *g, uint32_t i) {
  uint32_t kernel = g->gpu->ops[i].row;
  if (!g->fusable[nai_val_text(&g->m->kernels.name, kernel)]) {
    *chain = (struct chain){NAI_NO_ROW, NAI_NO_ROW, false};
    return;
  }
  if (chain->last == NAI_NO_ROW) {
    *chain = (struct chain){i, i, false};
    return;
  }
  if (!chain->counted)
    nai_loss_sum_add(&unfused->sum, g, chain->last);
  nai_loss_sum_add(&unfused->sum, g, i);
  bool longer = op_ns(g, i) > op_ns(g, chain->longest);
  unfused->goes[longer ? chain->longest : i] = true;
  *chain = (struct chain){i, longer ? i : chain->longest, true};
}

static int movers_new(struct movers *movers, const struct nai_loss_gpu *g, struct nai_err *err) {
  NAI_TRY(NAI_NEW(movers->goes, g->arena, g->gpu->op_count, err));
  return nai_loss_sum_new(&movers->sum, g, err);
}

static void movers_put(const struct nai_loss_gpu *g, const char *what, struct movers *movers) {
  if (movers->sum.count)
    nai_loss_sum_keep(&movers->sum, g, movers->goes);
  nai_loss_sum_put(g, what, &movers->sum, NULL);
}

static int add_data_movers(const struct nai_loss_gpu *g, struct nai_err *err) {
  struct movers unfused, casts;
  struct chain *chains;
  NAI_TRY(movers_new(&unfused, g, err));
  NAI_TRY(movers_new(&casts, g, err));
  NAI_TRY(NAI_NEW(chains, g->arena, g->gpu->stream_count, err));
  for (uint32_t s = 0; s < g->gpu->stream_count; s++)
    chains[s] = (struct chain){NAI_NO_ROW, NAI_NO_ROW, false};
  for (uint32_t i = 0; i < g->gpu->op_count; i++) {
    const struct nai_op *op = &g->gpu->ops[i];
    if (!g->inside[i] || op->type != NAI_OP_KERNEL)
      continue;
    step(&unfused, &chains[op->stream], g, i);
    casts.goes[i] = g->traits[nai_val_text(&g->m->kernels.name, op->row)] == NAI_TRAIT_CAST;
    if (casts.goes[i])
      nai_loss_sum_add(&casts.sum, g, i);
  }
  movers_put(g, "unfused", &unfused);
  movers_put(g, "casts", &casts);
  return NAI_OK;
}

/* --- pages ------------------------------------------------------------------------------------ */

/* Rows of pages that move are short; between them the fault waits for the driver. What is no longer apart than a fault
 * takes is one stretch of fault service. */
static void find_service(struct nai_intervals *service, const struct nai_intervals *moves) {
  enum { FAULT_NS = 100 * 1000 };
  for (size_t i = 0; i < moves->count; i++) {
    bool goes_on = i + 1 < moves->count && moves->v[i + 1].start - moves->v[i].end <= FAULT_NS;
    nai_intervals_add(service, moves->v[i].start, goes_on ? moves->v[i + 1].start : moves->v[i].end);
  }
}

/* How much of the kernels is covered by fault service, and how much by pages that move. */
static int add_migrations(const struct nai_loss_gpu *g, struct nai_err *err) {
  struct nai_intervals moves = {.arena = g->arena}, kernels = moves, service = moves, moving = moves, both = moves;
  struct nai_coverage cover;
  NAI_SCOPED(nai_buf) detail = {0};
  struct nai_loss loss = {
      .what = "page_migration", .base_ns = g->kernel_ns, .start = NAI_NULL_I64, .end = NAI_NULL_I64};
  for (uint32_t i = 0; i < g->gpu->op_count; i++) {
    const struct nai_op *op = &g->gpu->ops[i];
    if (g->inside[i] && op->type == NAI_OP_KERNEL)
      nai_intervals_add(&kernels, op->start, op->end);
  }
  NAI_TRY(nai_uvm_busy(&moves, g->m, g->gpu, err));
  find_service(&service, &moves);
  nai_intervals_intersect(&moving, &moves, &kernels);
  nai_intervals_intersect(&both, &service, &kernels);
  loss.ns = nai_intervals_total_ns(&both);
  NAI_TRY(nai_memory_check(!both.oom && !moving.oom, err));
  NAI_TRY(nai_coverage_in(&cover, &service, g->arena, err));
  for (uint32_t i = 0; loss.ns && i < g->gpu->op_count; i++) {
    const struct nai_op *op = &g->gpu->ops[i];
    if (!g->inside[i] || op->type != NAI_OP_KERNEL)
      continue;
    int64_t start = op->start, end = op->end;
    int64_t ns = nai_coverage_overlap_ns(&cover, start, end);
    loss.count += ns > 0;
    if (ns <= loss.example_ns)
      continue;
    loss.example = nai_model_kernel_name(g->m, op->row);
    loss.example_ns = ns;
    loss.start = start;
    loss.end = end;
  }
  if (!loss.ns)
    return NAI_OK;
  nai_buf_puts(&detail, "in ");
  nai_fmt_duration(&detail, (double)nai_intervals_total_ns(&moving));
  nai_buf_puts(&detail, " of it pages move or the GPU handles a fault");
  loss.detail = &detail;
  nai_loss_put(g, &loss);
  return NAI_OK;
}

int nai_losses_of_kernels(const struct nai_loss_gpu *g, struct nai_err *err) {
  NAI_TRY(add_data_movers(g, err));
  return g->migrations ? add_migrations(g, err) : NAI_OK;
}
