#include "model/kernels/waves.h"

#include "tables/kernel_configs.h"

enum { COOPERATIVE = 2 }; /* and above; 0 unknown, 1 regular */

static int64_t number(const struct nai_table *configs, int64_t config, int column) {
  int64_t n = nai_get_i64(configs, config, column);
  return n == NAI_NULL_I64 || n < 0 ? 0 : n;
}

int64_t nai_config_product(const struct nai_table *configs, int64_t row, int first) {
  int64_t product = 1;
  for (int c = first; c < first + 3; c++) {
    int64_t n = nai_get_i64(configs, row, c);
    if (n <= 0)
      return -1;
    product = product > INT32_MAX ? product : product * n;
  }
  return product;
}

/* Blocks that run at once. Clusters are placed as a whole. */
static int64_t slots_of(const struct nai_table *configs, int64_t config, int64_t slots) {
  int64_t cluster = nai_config_product(configs, config, KERNEL_CONFIGS_cluster_x);
  if (cluster <= 1)
    return slots;
  int64_t most = number(configs, config, KERNEL_CONFIGS_max_active_clusters);
  return (most ? most : slots / cluster) * cluster;
}

static enum nai_fill fill_of(const struct nai_fit *fit, const struct nai_table *configs, int64_t config, int64_t sms,
                             bool uneven) {
  if (fit->blocks < sms)
    return NAI_FILL_UNDERFILLED;
  if (!fit->slots)
    return NAI_FILL_UNKNOWN;
  if (fit->blocks <= fit->slots)
    return NAI_FILL_ONE_WAVE;
  return uneven || number(configs, config, KERNEL_CONFIGS_launch_type) >= COOPERATIVE ? NAI_FILL_UNEVEN
                                                                                      : NAI_FILL_WAVES;
}

struct nai_fit nai_fit_of(const struct nai_table *configs, int64_t config, const struct nai_sm *sm, bool uneven) {
  struct nai_fit fit = {.blocks = -1, .threads = -1};
  if (config < 0 || config >= configs->rows)
    return fit;
  fit.blocks = nai_config_product(configs, config, KERNEL_CONFIGS_grid_x);
  fit.threads = nai_config_product(configs, config, KERNEL_CONFIGS_block_x);
  if (fit.blocks < 1 || fit.threads < 1)
    return fit;
  if (sm->known) {
    struct nai_launch_shape shape = {.threads = fit.threads,
                                     .registers = number(configs, config, KERNEL_CONFIGS_registers_per_thread),
                                     .shared_bytes = number(configs, config, KERNEL_CONFIGS_static_shared_bytes) +
                                                     number(configs, config, KERNEL_CONFIGS_dynamic_shared_bytes)};
    fit.occupancy = nai_occupancy_of(sm, &shape);
    fit.slots = slots_of(configs, config, fit.occupancy.blocks_per_sm * sm->count);
  }
  bool invalid = sm->known && !fit.occupancy.blocks_per_sm;
  fit.fill = invalid   ? NAI_FILL_INVALID
           : sm->count ? fill_of(&fit, configs, config, sm->count, uneven)
                       : NAI_FILL_UNKNOWN;
  return fit;
}

double nai_wave_efficiency_pct(const struct nai_fit *fit) {
  if (fit->fill != NAI_FILL_WAVES)
    return NAN;
  int64_t waves = (fit->blocks + fit->slots - 1) / fit->slots;
  return 100 * ((double)fit->blocks / (double)fit->slots) / (double)waves;
}

int nai_crowded(struct nai_intervals *out, const struct nai_partitions *partitions, uint32_t number,
                const struct nai_gpu *gpu, struct nai_err *err) {
  bool any = nai_partitions_any(partitions);
  int64_t latest = INT64_MIN; /* end of those that began before */
  for (uint32_t i = 0; i < gpu->op_count; i++) {
    const struct nai_op *op = &gpu->ops[i];
    if (op->type != NAI_OP_KERNEL && op->type != NAI_OP_GRAPH)
      continue;
    if (any && op->type == NAI_OP_KERNEL &&
        !nai_partitions_overlap(partitions, number, nai_partition_of(partitions, op->row, gpu->device_id)))
      continue;
    nai_intervals_add(out, op->start, op->end < latest ? op->end : latest);
    latest = op->end > latest ? op->end : latest;
  }
  return out->oom ? nai_err_nomem(err) : NAI_OK;
}

int64_t nai_tail_ns(const struct nai_fit *fit, int64_t start, int64_t end, struct nai_coverage *crowded) {
  if (fit->fill != NAI_FILL_WAVES || fit->blocks % fit->slots == 0)
    return 0;
  /* Of `waves` equal stretches the last has blocks % slots blocks; only the slots without one are lost. */
  int64_t waves = (fit->blocks + fit->slots - 1) / fit->slots, last = (end - start) / waves;
  double empty = (double)(fit->slots - fit->blocks % fit->slots) / (double)fit->slots;
  int64_t loss = (int64_t)((double)(end - start) / (double)waves * empty);
  int64_t alone = last - nai_coverage_overlap_ns(crowded, end - last, end);
  return loss < alone ? loss : alone;
}
