#include "model/kernels/occupancy.h"

#include "tables/events.h"

enum { WARP = 32, MAX_THREADS = 1024, MAX_REGISTERS = 255, REGISTERS_UNIT = 256, RESERVED_SHARED = 1024 };

static int64_t round_up(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }

/* What the export says, `otherwise` where it says nothing. */
static int64_t number_or(const struct nai_table *gpus, int64_t gpu, int column, int64_t otherwise) {
  int64_t n = nai_get_i64(gpus, gpu, column);
  return n == NAI_NULL_I64 || n <= 0 ? otherwise : n;
}

struct nai_sm nai_sm_of(const struct nai_table *gpus, int64_t gpu, const struct nai_gpu_facts *facts) {
  struct nai_sm sm = {.major = nai_get_i64(gpus, gpu, GPUS_compute_major),
                      .minor = nai_get_i64(gpus, gpu, GPUS_compute_minor)};
  sm.minor = sm.minor == NAI_NULL_I64 && sm.major != NAI_NULL_I64 ? 0 : sm.minor;
  const struct nai_gpu_limits *usual =
      sm.major == NAI_NULL_I64 ? NULL : nai_gpu_facts_limits(facts, sm.major, sm.minor);
  const struct nai_gpu_limits l = usual ? *usual : (struct nai_gpu_limits){0};
  sm.count = number_or(gpus, gpu, GPUS_sm_count, 0);
  sm.limits = l;
  sm.limits.warps_per_sm = number_or(gpus, gpu, GPUS_max_warps_per_sm, l.warps_per_sm);
  sm.limits.blocks_per_sm = number_or(gpus, gpu, GPUS_max_blocks_per_sm, l.blocks_per_sm);
  sm.limits.registers_per_sm = number_or(gpus, gpu, GPUS_max_registers_per_sm, l.registers_per_sm);
  sm.limits.registers_per_block = number_or(gpus, gpu, GPUS_max_registers_per_block, l.registers_per_block);
  sm.limits.shared_per_sm = number_or(gpus, gpu, GPUS_max_shared_bytes_per_sm, l.shared_per_sm);
  sm.limits.shared_per_block = number_or(gpus, gpu, GPUS_max_shared_bytes_per_block_optin, l.shared_per_block);
  sm.known = sm.major != NAI_NULL_I64 && sm.limits.warps_per_sm && sm.limits.blocks_per_sm &&
             sm.limits.registers_per_sm && sm.limits.registers_per_block && sm.limits.shared_per_sm &&
             sm.limits.shared_per_block;
  return sm;
}

const char *nai_occupancy_limiter_name(enum nai_occupancy_limiter limiter) {
  static const char *const names[NAI_LIMIT_COUNT] = {"warps", "blocks", "registers", "shared_memory"};
  return names[limiter];
}

/* Registers are given out per warp, in units, from the part of the file that belongs to one of the SM's schedulers. */
static int64_t by_registers(const struct nai_sm *sm, int64_t registers, int64_t warps) {
  int64_t parts = sm->major == 6 && sm->minor == 0 ? 2 : 4, per_warp = round_up(WARP * registers, REGISTERS_UNIT);
  if (!per_warp)
    return INT64_MAX;
  if (per_warp * round_up(warps, parts) > sm->limits.registers_per_block)
    return 0;
  return sm->limits.registers_per_sm / parts / per_warp * parts / warps;
}

static int64_t by_shared_memory(const struct nai_sm *sm, int64_t bytes) {
  bool reserves = sm->major >= 8;
  int64_t taken = round_up(bytes + (reserves ? RESERVED_SHARED : 0), reserves ? 128 : 256);
  if (bytes > sm->limits.shared_per_block)
    return 0;
  return taken ? sm->limits.shared_per_sm / taken : INT64_MAX;
}

struct nai_occupancy nai_occupancy_of(const struct nai_sm *sm, const struct nai_launch_shape *shape) {
  struct nai_occupancy o = {.warps = (shape->threads + WARP - 1) / WARP};
  if (shape->threads < 1 || shape->threads > MAX_THREADS || shape->registers < 0 || shape->registers > MAX_REGISTERS ||
      shape->shared_bytes < 0)
    return o;
  const int64_t limits[NAI_LIMIT_COUNT] = {sm->limits.warps_per_sm / o.warps, sm->limits.blocks_per_sm,
                                           by_registers(sm, shape->registers, o.warps),
                                           by_shared_memory(sm, shape->shared_bytes)};
  for (int i = 1; i < NAI_LIMIT_COUNT; i++)
    if (limits[i] < limits[o.limiter])
      o.limiter = (enum nai_occupancy_limiter)i;
  o.blocks_per_sm = limits[o.limiter];
  return o;
}
