#include "analyses/steps/range_units.h"

#include "base/sort.h"
#include "model/steps/step_stats.h"
#include "tables/repeating_units.h"

enum { MAX_UNITS = 4, MIN_REPETITIONS = 10 };

/* Ranges of one name on one thread. */
struct candidate {
  uint32_t thread;
  const struct nai_nvtx_node *node;
};

/* Keeps those with most time, the first of equals. */
static void keep(struct candidate *best, uint32_t *count, struct candidate c) {
  uint32_t at = *count;
  while (at > 0 && best[at - 1].node->total_ns < c.node->total_ns)
    at--;
  if (at == MAX_UNITS)
    return;
  *count += *count < MAX_UNITS;
  for (uint32_t i = *count - 1; i > at; i--)
    best[i] = best[i - 1];
  best[at] = c;
}

static uint32_t find(struct candidate best[MAX_UNITS], const struct nai_model *m, uint32_t process) {
  uint32_t count = 0;
  for (uint32_t t = 0; t < m->thread_count; t++)
    for (uint32_t n = m->first_node[t]; m->thread_process[t] == (int32_t)process && n < m->first_node[t + 1]; n++) {
      const struct nai_nvtx_node *node = &m->nodes[n];
      if (node->parent == NAI_NO_ROW && !node->start_end && node->count >= MIN_REPETITIONS)
        keep(best, &count, (struct candidate){t, node});
    }
  return count;
}

/* Starts of the ranges, in order; their number. */
static uint32_t starts_of(int64_t *starts, int64_t *end, const struct nai_model *m, const struct candidate *c) {
  const struct nai_groups *g = &m->nvtx_by_thread;
  uint32_t count = 0;
  for (uint32_t k = g->first[c->thread]; k < g->first[c->thread + 1] && count < c->node->count; k++) {
    uint32_t row = g->order[k];
    if (m->nvtx_depth[row] || nai_val_text(&m->nvtx.name, row) != c->node->name)
      continue;
    starts[count++] = nai_val(&m->nvtx.start_ns, row);
    *end = nai_val(&m->nvtx.end_ns, row);
  }
  return count;
}

static int put(const struct nai_node_io *io, struct nai_table *units, uint32_t process, const struct candidate *c,
               uint32_t number, struct nai_err *err) {
  const struct nai_model *m = io->model;
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(m->scratch_dir);
  int64_t *starts, end = 0;
  NAI_TRY(NAI_NEW(starts, &arena, (size_t)c->node->count, err));
  uint32_t count = starts_of(starts, &end, m, c);
  if (count < MIN_REPETITIONS) /* ranges that cross others lie at other depths */
    return NAI_OK;
  int64_t first = starts[0], period = (starts[count - 1] - starts[1]) / (count - 2);
  for (uint32_t i = 0; i + 1 < count; i++)
    starts[i] = starts[i + 1] - starts[i];
  double cv = nai_step_cv_pct(starts, count - 1);
  nai_select_i64(starts, count - 1, (count - 2) / 2);
  NAI_ADD(REPEATING_UNITS, units, .pid = nai_model_pid(m, (int32_t)process), .unit = number, .kernel_count = 0,
          .repetitions = count, .median_ns = starts[(count - 2) / 2], .cv_pct = cv, .period_ns = period,
          .nvtx_path = nai_strings_get(&m->tables[NAI_IN_NVTX]->strings, c->node->name), .start_ns = first,
          .end_ns = end);
  return NAI_OK;
}

int nai_range_units_put(const struct nai_node_io *io, struct nai_table *units, struct nai_err *err) {
  const struct nai_model *m = io->model;
  for (uint32_t p = 0; p < m->process_count; p++) {
    struct candidate best[MAX_UNITS];
    if (m->process_gpus.first[p + 1] > m->process_gpus.first[p])
      continue;
    uint32_t count = find(best, m, p);
    for (uint32_t i = 0; i < count; i++)
      NAI_TRY(put(io, units, p, &best[i], i, err));
  }
  return NAI_OK;
}
