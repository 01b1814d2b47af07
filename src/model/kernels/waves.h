/* How a launch fills its GPU: waves of blocks, and what the last one loses. */
#pragma once

#include "model/kernels/occupancy.h"
#include "model/kernels/partitions.h"
#include "model/model.h"

/* X(id, word in tables) */
#define NAI_FILL_STATES(X)                                                     \
  X(UNKNOWN, NULL)              /* no grid or no limits of the GPU */          \
  X(INVALID, "invalid")         /* impossible on such a GPU */                 \
  X(UNDERFILLED, "underfilled") /* fewer blocks than multiprocessors */        \
  X(ONE_WAVE, "one wave")       /* all blocks run at once */                   \
  X(UNEVEN, "uneven")           /* more, of blocks that are no equal shares */ \
  X(WAVES, "waves")             /* more than run at once */
#define NAI_FILL_ENUM(id, word) NAI_FILL_##id,
enum nai_fill { NAI_FILL_STATES(NAI_FILL_ENUM) NAI_FILL_COUNT };
#undef NAI_FILL_ENUM

/* One launch configuration of one kernel on one GPU. */
struct nai_fit {
  struct nai_occupancy occupancy;
  int64_t blocks, threads; /* of the grid; per block; -1 unknown */
  int64_t slots;           /* blocks that the GPU runs at once, 0 unknown */
  enum nai_fill fill;
};
/* `config` is a row of kernel_configs or -1; `uneven`: its blocks are no equal shares. */
struct nai_fit nai_fit_of(const struct nai_table *configs, int64_t config, const struct nai_sm *sm, bool uneven);

/* Of a row of kernel_configs, the product of the three columns from `first` on (KERNEL_CONFIGS_grid_x, ..._block_x); -1
 * unknown. */
int64_t nai_config_product(const struct nai_table *configs, int64_t row, int first);

/* Waves of blocks, of the next whole number; NaN where the launch has no waves. */
double nai_wave_efficiency_pct(const struct nai_fit *fit);

/* Stretches of a GPU's time in which two or more kernels or graphs run that may share SMs with partition `number`. */
NAI_MUST_CHECK int nai_crowded(struct nai_intervals *out, const struct nai_partitions *partitions, uint32_t number,
                               const struct nai_gpu *gpu, struct nai_err *err);
/* Of a kernel that runs from `start` to `end`: the most that its last wave loses by being partial, while nothing else
 * runs. */
int64_t nai_tail_ns(const struct nai_fit *fit, int64_t start, int64_t end, struct nai_coverage *crowded);
