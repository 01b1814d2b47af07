/* What could the program save on the GPU itself? Table losses. */
#include "analyses/losses/losses.h"
#include "analyses/analysis.h"
#include "analyses/spans/active_spans.h"
#include "model/idle/active.h"
#include "model/kernels/repeated.h"
#include "tables/gpu_active.h"
#include "tables/losses.h"

#include <stdlib.h>
#include <string.h>

int64_t nai_loss_put(const struct nai_loss_gpu *g, const struct nai_loss *loss) {
  int64_t row = nai_table_add_row(g->out), ns = loss->ns < g->active_ns ? loss->ns : g->active_ns;
  nai_set_i64(g->out, row, LOSSES_device_id, g->gpu->device_id);
  nai_set_str(g->out, row, LOSSES_what, loss->what);
  int64_t gain = loss->ns - loss->unavoidable_ns;
  nai_set_i64(g->out, row, LOSSES_time_ns, ns);
  nai_set_i64(g->out, row, LOSSES_gain_ns, gain < g->active_ns ? gain : g->active_ns);
  nai_set_i64(g->out, row, LOSSES_count, loss->count);
  nai_set_f64(g->out, row, LOSSES_pct_of_active, nai_percent((double)ns, (double)g->active_ns));
  if (loss->base_ns)
    nai_set_f64(g->out, row, LOSSES_pct_of_kind, nai_percent((double)loss->ns, (double)loss->base_ns));
  if (loss->example) {
    nai_set_str(g->out, row, LOSSES_example, loss->example);
    nai_set_i64(g->out, row, LOSSES_example_ns, loss->example_ns);
  }
  nai_set_i64(g->out, row, LOSSES_longest_start_ns, loss->start);
  nai_set_i64(g->out, row, LOSSES_longest_end_ns, loss->end);
  return row;
}

/* --- sums of kernels -------------------------------------------------------------------------- */

int nai_loss_sum_new(struct nai_loss_sum *sum, const struct nai_model *m, struct nai_err *err) {
  *sum = (struct nai_loss_sum){.name_ns =
                                   calloc((size_t)m->tables[NAI_IN_KERNELS]->strings.count + 1, sizeof *sum->name_ns)};
  return sum->name_ns ? NAI_OK : nai_err_nomem(err);
}

void nai_loss_sum_add(struct nai_loss_sum *sum, const struct nai_model *m, uint32_t kernel) {
  int64_t ns = nai_kernel_ns(m, kernel);
  if (!sum->count || ns > sum->longest_ns) {
    sum->longest = kernel;
    sum->longest_ns = ns;
  }
  sum->count++;
  sum->ns += ns;
  sum->name_ns[nai_at_text(&m->kernels.name, kernel)] += ns;
}

int64_t nai_loss_sum_put(const struct nai_loss_gpu *g, const char *what, const struct nai_loss_sum *sum) {
  const struct nai_strings *names = &g->m->tables[NAI_IN_KERNELS]->strings;
  uint32_t most = 0;
  if (!sum->count)
    return -1;
  for (uint32_t i = 1; i < names->count; i++) /* of equals the first by text, whatever their numbers are */
    if (sum->name_ns[i] > sum->name_ns[most] ||
        (sum->name_ns[i] == sum->name_ns[most] && strcmp(nai_strings_get(names, i), nai_strings_get(names, most)) < 0))
      most = i;
  return nai_loss_put(g, &(struct nai_loss){.what = what,
                                            .ns = sum->ns,
                                            .count = sum->count,
                                            .base_ns = g->kernel_ns,
                                            .unavoidable_ns = sum->unavoidable_ns,
                                            .example = nai_strings_get(names, most),
                                            .example_ns = sum->name_ns[most],
                                            .start = nai_at(&g->m->kernels.start_ns, sum->longest),
                                            .end = nai_at(&g->m->kernels.end_ns, sum->longest)});
}

void nai_loss_sum_free(struct nai_loss_sum *sum) { free(sum->name_ns); }

int nai_loss_sum_keep(struct nai_loss_sum *sum, const struct nai_loss_gpu *g, const bool *goes, struct nai_err *err) {
  struct nai_intervals these = {0}, others = {0}, alone = {0};
  for (uint32_t i = 0; i < g->gpu->op_count; i++) {
    const struct nai_op *op = &g->gpu->ops[i];
    nai_intervals_add(goes[i] ? &these : &others, nai_model_op_start(g->m, op), nai_model_op_end(g->m, op));
  }
  nai_intervals_subtract(&alone, &these, &others);
  sum->unavoidable_ns = sum->ns - nai_intervals_total_ns(&alone);
  int rc = these.oom || others.oom || alone.oom ? nai_err_nomem(err) : NAI_OK;
  nai_intervals_free(&these);
  nai_intervals_free(&others);
  nai_intervals_free(&alone);
  return rc;
}

/* --- one GPU ---------------------------------------------------------------------------------- */

static int look_inside(struct nai_loss_gpu *g, struct nai_err *err) {
  size_t next = 0;
  g->inside = malloc(((size_t)g->gpu->op_count + 1) * sizeof *g->inside);
  g->copies = malloc(((size_t)g->gpu->op_count + 1) * sizeof *g->copies);
  if (!g->inside || !g->copies)
    return nai_err_nomem(err);
  for (uint32_t i = 0; i < g->gpu->op_count; i++) {
    const struct nai_op *op = &g->gpu->ops[i];
    int64_t start = nai_model_op_start(g->m, op);
    g->inside[i] = nai_step_inside(&next, &g->active, start);
    if (!g->inside[i] || (op->type != NAI_OP_KERNEL && op->type != NAI_OP_COPY))
      continue;
    int64_t ns = nai_model_op_end(g->m, op) - start;
    bool migrates = op->type == NAI_OP_COPY && nai_at(&g->m->memops.migration, op->row) == 1;
    g->migrations = g->migrations || migrates;
    g->kernel_ns += op->type == NAI_OP_KERNEL ? ns : 0;
    if (op->type != NAI_OP_COPY || migrates)
      continue;
    g->copy_ns += ns;
    g->copies[g->copy_count++] = i;
  }
  return NAI_OK;
}

static void find_active(struct nai_loss_gpu *g, const struct nai_table *active) {
  g->active = g->m->active[g->gpu - g->m->gpus].active;
  for (int64_t i = 0; i < active->rows; i++)
    if (nai_get_i64(active, i, GPU_ACTIVE_device_id) == g->gpu->device_id)
      g->steady = nai_get_i64(active, i, GPU_ACTIVE_steady) == 1;
  g->active_ns = nai_intervals_total_ns(&g->active);
}

static int add_gpu(const struct nai_node_io *io, const struct nai_gpu *gpu, const enum nai_kernel_trait *traits,
                   const bool *fusable, struct nai_err *err) {
  struct nai_loss_gpu g = {.out = io->out[0], .m = io->model, .gpu = gpu, .traits = traits, .fusable = fusable};
  static int (*const losses[])(const struct nai_loss_gpu *, struct nai_err *) = {
      nai_losses_of_kernels, nai_losses_of_shape, nai_losses_of_modes, nai_losses_of_copies, nai_losses_of_calls};
  find_active(&g, io->in[0]);
  int rc = look_inside(&g, err);
  for (size_t i = 0; !rc && i < sizeof losses / sizeof *losses; i++)
    rc = losses[i](&g, err);
  free(g.inside);
  free(g.copies);
  return rc;
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_model *m = io->model;
  const struct nai_strings *names = &m->tables[NAI_IN_KERNELS]->strings;
  enum nai_kernel_trait *traits = malloc(((size_t)names->count + 1) * sizeof *traits);
  bool *fusable = malloc((size_t)names->count + 1);
  int rc = traits && fusable ? NAI_OK : nai_err_nomem(err);
  for (uint32_t i = 0; !rc && i < names->count; i++) {
    traits[i] = nai_kernel_classes_trait(m->classes, nai_strings_get(names, i));
    fusable[i] = traits[i] == NAI_TRAIT_CAST ||
                 (traits[i] == NAI_TRAIT_NONE && nai_kernel_classes_fusable(m->classes, m->kernel_category[i]));
  }
  if (!rc)
    rc = nai_kernel_classes_check(m->classes, err);
  for (uint32_t i = 0; !rc && i < m->gpu_count; i++)
    if (m->gpus[i].op_count)
      rc = add_gpu(io, &m->gpus[i], traits, fusable, err);
  free(traits);
  free(fusable);
  return rc;
}

NAI_ANALYSIS(losses, .outputs = NAI_SCHEMAS(&nai_losses_schema), .inputs = NAI_SCHEMAS(&nai_gpu_active_schema),
             .parts = NAI_PART(NAMES) | NAI_PART(ACTIVE) | NAI_PART(GPUS) | NAI_PART(LAUNCHES) | NAI_PART(CALLS),
             .tables = NAI_IN(GPUS) | NAI_IN(KERNELS) | NAI_IN(MEMOPS) | NAI_IN(GRAPHS) | NAI_IN(APIS) |
                       NAI_IN(THREADS) | NAI_IN(KERNEL_CONFIGS) | NAI_IN(LABELS) | NAI_IN(UM_FAULTS),
             .config = NAI_CONFIG(KERNEL_CLASSES), .cost = 2, .run = run)
