#include "model/kernels/repeated.h"

#include "base/array.h"
#include "tables/kernel_configs.h"

#include <stdlib.h>

/* --- shapes ----------------------------------------------------------------------------------- */

static int64_t mix(int64_t hash, int64_t value) {
  uint64_t h = ((uint64_t)hash ^ (uint64_t)value) * UINT64_C(0x9E3779B97F4A7C15);
  return (int64_t)(h ^ h >> 32);
}

enum { SHAPE_COLUMNS = 6 };

static bool same_shape(const struct nai_table *configs, int64_t a, int64_t b) {
  for (int c = 0; c < SHAPE_COLUMNS; c++)
    if (nai_get_i64(configs, a, KERNEL_CONFIGS_grid_x + c) != nai_get_i64(configs, b, KERNEL_CONFIGS_grid_x + c))
      return false;
  return true;
}

/* Shapes that share a hash, which hardly ever happens, would count as one: the next hash is tried instead. */
static uint32_t number_shape(struct nai_keyset *set, uint32_t *first, const struct nai_table *configs, int64_t row,
                             bool *failed) {
  int64_t hash = 0;
  for (int c = 0; c < SHAPE_COLUMNS; c++)
    hash = mix(hash, nai_get_i64(configs, row, KERNEL_CONFIGS_grid_x + c));
  for (;; hash = mix(hash, 1)) {
    bool added = false;
    uint32_t shape = nai_keyset_add(set, hash, &added);
    *failed = set->oom;
    if (added && !*failed)
      first[shape] = (uint32_t)row;
    if (*failed || added || same_shape(configs, first[shape], row))
      return shape;
  }
}

int nai_shapes_new(struct nai_shapes *shapes, const struct nai_model *m, struct nai_err *err) {
  const struct nai_table *configs = m->tables[NAI_IN_KERNEL_CONFIGS];
  struct nai_keyset set = {0};
  uint32_t *first = malloc(((size_t)configs->rows + 1) * sizeof *first);
  *shapes = (struct nai_shapes){.of_config = malloc(((size_t)configs->rows + 1) * sizeof *shapes->of_config)};
  bool failed = !first || !shapes->of_config;
  for (int64_t i = 0; !failed && i < configs->rows; i++)
    shapes->of_config[i] = number_shape(&set, first, configs, i, &failed);
  shapes->count = set.count;
  nai_keyset_free(&set);
  free(first);
  return failed ? nai_err_nomem(err) : NAI_OK;
}

void nai_shapes_free(struct nai_shapes *shapes) {
  free(shapes->of_config);
  *shapes = (struct nai_shapes){0};
}

/* --- repetition ------------------------------------------------------------------------------- */

bool nai_step_inside(size_t *next, const struct nai_intervals *set, int64_t t) {
  while (*next < set->count && set->v[*next].end <= t)
    (*next)++;
  return *next < set->count && set->v[*next].start <= t;
}

/* What makes two kernels the same; graphs have a mark that no name reaches. */
static int64_t signature(const struct nai_model *m, const struct nai_op *op, const struct nai_shapes *shapes) {
  enum { GRAPHS_MARK = 62, NAME_SHIFT = 31 };
  if (op->type == NAI_OP_GRAPH)
    return (int64_t)1 << GRAPHS_MARK | (uint32_t)nai_at_i32(&m->graphs.graph_id, op->row);
  int32_t config = nai_at_i32(&m->kernels.config, op->row);
  int64_t shape = config < 0 || config >= m->tables[NAI_IN_KERNEL_CONFIGS]->rows
                    ? 1
                    : shapes->of_config[config] + 2; /* never 0, which stands for nothing yet */
  return (int64_t)(nai_at_text(&m->kernels.name, op->row) & INT32_MAX) << NAME_SHIFT | shape;
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
  struct nai_keyset set = {0};
  struct tally *tallies = NULL;
  struct recent *recent = calloc((size_t)m->tables[NAI_IN_KERNELS]->strings.count + 1, sizeof *recent);
  uint32_t capacity = 0;
  size_t next = 0;
  int rc = recent ? NAI_OK : nai_err_nomem(err);
  *out = (struct nai_repetition){0};
  for (uint32_t i = 0; !rc && i < gpu->op_count; i++) {
    const struct nai_op *op = &gpu->ops[i];
    int64_t start = nai_model_op_start(m, op), ns = nai_model_op_end(m, op) - start;
    if ((op->type != NAI_OP_KERNEL && op->type != NAI_OP_GRAPH) || !nai_step_inside(&next, inside, start))
      continue;
    bool added = false;
    int64_t key = signature(m, op, shapes);
    struct recent *last = &recent[op->type == NAI_OP_KERNEL ? nai_at_text(&m->kernels.name, op->row)
                                                            : m->tables[NAI_IN_KERNELS]->strings.count];
    if (last->signature != key)
      *last = (struct recent){key, nai_keyset_add(&set, key, &added)};
    uint32_t at = last->tally;
    if (!nai_array_room(&tallies, &capacity, at, sizeof *tallies)) {
      rc = nai_err_nomem(err);
      break;
    }
    if (added)
      tallies[at] = (struct tally){0};
    tallies[at].count++;
    tallies[at].ns += ns;
    out->count++;
    out->total_ns += ns;
  }
  if (set.oom && !rc)
    rc = nai_err_nomem(err);
  for (uint32_t i = 0; !rc && i < set.count; i++)
    out->repeated_ns += tallies[i].count >= NAI_REPEATS ? tallies[i].ns : 0;
  free(recent);
  free(tallies);
  nai_keyset_free(&set);
  return rc;
}
