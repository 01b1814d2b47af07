#include "model/kernels/repeated.h"

#include "base/strings.h"
#include "tables/kernel_configs.h"

void nai_shapes_free(struct nai_shapes *shapes) { nai_arena_free(&shapes->arena); }

int nai_shapes_new(struct nai_shapes *shapes, const struct nai_model *m, struct nai_err *err) {
  enum { COLUMNS = KERNEL_CONFIGS_block_z - KERNEL_CONFIGS_grid_x + 1 };
  NAI_SCOPED(nai_strings) seen = {0}; /* grid and block, as bytes */
  const struct nai_table *configs = m->tables[NAI_IN_KERNEL_CONFIGS];
  *shapes = (struct nai_shapes){.arena = NAI_ARENA(m->scratch_dir)};
  NAI_TRY(NAI_NEW(shapes->of_config, &shapes->arena, (size_t)configs->rows, err));
  for (int64_t i = 0; i < configs->rows; i++) {
    int64_t shape[COLUMNS];
    for (int c = 0; c < COLUMNS; c++)
      shape[c] = nai_get_i64(configs, i, KERNEL_CONFIGS_grid_x + c);
    shapes->of_config[i] = nai_strings_add(&seen, (const char *)shape, sizeof shape);
    NAI_TRY(nai_memory_check(shapes->of_config[i] != NAI_NO_STRING, err));
  }
  shapes->count = seen.count;
  return NAI_OK;
}

/* What makes two kernels the same; graphs have a mark that no name reaches. */
static int64_t signature(const struct nai_model *m, const struct nai_op *op, const struct nai_shapes *shapes) {
  enum { GRAPHS_MARK = 62, NAME_SHIFT = 31 };
  if (op->type == NAI_OP_GRAPH)
    return (int64_t)1 << GRAPHS_MARK | (uint32_t)nai_at_i32(&m->graphs.graph_id, op->row);
  int32_t config = nai_val_i32(&m->kernels.config, op->row);
  int64_t shape = config < 0 || config >= m->tables[NAI_IN_KERNEL_CONFIGS]->rows
                    ? 1
                    : shapes->of_config[config] + 2; /* never 0, which stands for nothing yet */
  return (int64_t)(nai_val_text(&m->kernels.name, op->row) & INT32_MAX) << NAME_SHIFT | shape;
}

struct tally {
  int64_t count, ns;
};

/* Where the tally of a kernel's last launch is: mostly the next one has the same shape. */
struct recent {
  int64_t signature;
  uint32_t tally;
};

int nai_repetition_of(struct nai_repetition *out, const struct nai_model *m, const struct nai_gpu *gpu,
                      const struct nai_shapes *shapes, const struct nai_intervals *inside, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(m->scratch_dir);
  struct nai_keyset set = {.arena = &arena};
  struct tally *tallies = NULL;
  struct recent *recent;
  uint32_t capacity = 0, names = m->tables[NAI_IN_KERNELS]->strings.count;
  size_t next = 0;
  *out = (struct nai_repetition){0};
  NAI_TRY(NAI_NEW(recent, &arena, (size_t)names + 1, err)); /* the last one: of graphs */
  for (uint32_t i = 0; i < gpu->op_count; i++) {
    const struct nai_op *op = &gpu->ops[i];
    int64_t start = op->start, ns = op->end - start;
    if ((op->type != NAI_OP_KERNEL && op->type != NAI_OP_GRAPH) || !nai_step_inside(&next, inside, start))
      continue;
    bool added = false;
    int64_t key = signature(m, op, shapes);
    struct recent *last = &recent[op->type == NAI_OP_KERNEL ? nai_val_text(&m->kernels.name, op->row) : names];
    if (last->signature != key)
      *last = (struct recent){key, nai_keyset_add(&set, key, &added)};
    NAI_TRY(nai_memory_check(!set.oom, err));
    NAI_TRY(NAI_ROOM(tallies, capacity, last->tally, &arena, err));
    tallies[last->tally].count++;
    tallies[last->tally].ns += ns;
    out->count++;
    out->total_ns += ns;
  }
  for (uint32_t i = 0; i < set.count; i++)
    out->repeated_ns += tallies[i].count >= NAI_REPEATS ? tallies[i].ns : 0;
  return NAI_OK;
}
