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

/* Of kernels with the same name, grid and block, or of one graph. */
struct tally {
  int64_t count, ns;
};

struct tallies {
  struct nai_keyset set; /* by what makes two the same */
  struct tally *v;
  uint32_t capacity;
  uint32_t *of_kind; /* per kernel kind */
};

static int add_tally(uint32_t *at, struct tallies *t, int64_t key, struct nai_err *err) {
  bool added;
  *at = nai_keyset_add(&t->set, key, &added);
  NAI_TRY(nai_memory_check(!t->set.oom, err));
  return NAI_ROOM(t->v, t->capacity, *at, t->set.arena, err);
}

static int add_kinds(struct tallies *t, const struct nai_model *m, const struct nai_shapes *shapes,
                     struct nai_err *err) {
  enum { NAME_SHIFT = 31 };
  NAI_TRY(NAI_NEW(t->of_kind, t->set.arena, m->kernel_kind_count, err));
  for (uint32_t i = 0; i < m->kernel_kind_count; i++) {
    const struct nai_kernel_kind *kind = &m->kernel_kinds[i];
    bool known = kind->config >= 0 && kind->config < m->tables[NAI_IN_KERNEL_CONFIGS]->rows;
    int64_t name = m->kernel_groups[kind->group].name & INT32_MAX;
    NAI_TRY(add_tally(&t->of_kind[i], t, name << NAME_SHIFT | (known ? shapes->of_config[kind->config] + 1 : 0), err));
  }
  return NAI_OK;
}

int nai_repetition_of(struct nai_repetition *out, const struct nai_model *m, const struct nai_gpu *gpu,
                      const struct nai_shapes *shapes, const struct nai_intervals *inside, struct nai_err *err) {
  const int64_t GRAPHS_MARK = (int64_t)1 << 62; /* which no name reaches */
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(m->scratch_dir);
  struct tallies tallies = {.set = {.arena = &arena}};
  size_t next = 0;
  *out = (struct nai_repetition){0};
  NAI_TRY(add_kinds(&tallies, m, shapes, err));
  for (uint32_t i = 0; i < gpu->op_count; i++) {
    const struct nai_op *op = &gpu->ops[i];
    int64_t ns = op->end - op->start;
    uint32_t at;
    if ((op->type != NAI_OP_KERNEL && op->type != NAI_OP_GRAPH) || !nai_step_inside(&next, inside, op->start))
      continue;
    if (op->type == NAI_OP_KERNEL)
      at = tallies.of_kind[m->kernel_kind[op->row]];
    else
      NAI_TRY(add_tally(&at, &tallies, GRAPHS_MARK | (uint32_t)nai_at_i32(&m->graphs.graph_id, op->row), err));
    tallies.v[at].count++;
    tallies.v[at].ns += ns;
    out->count++;
    out->total_ns += ns;
  }
  for (uint32_t i = 0; i < tallies.set.count; i++)
    out->repeated_ns += tallies.v[i].count >= NAI_REPEATS ? tallies.v[i].ns : 0;
  return NAI_OK;
}
