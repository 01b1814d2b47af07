/* Which kernel runs at which place of the program, and how often per step? Table kernel_paths: what comparisons match
 * kernels by. */
#include "analyses/analysis.h"
#include "base/sort.h"
#include "model/nvtx/nvtx_place.h"
#include "model/steps/steady.h"
#include "tables/kernel_paths.h"

enum { MAX_ROWS = 4000 };

struct group {
  uint32_t name, path; /* strings of kernel_events; of `paths` */
  int64_t calls, ns, steady_calls, steady_ns;
};

struct sums {
  const struct nai_model *m;
  struct nai_arena *arena;
  struct nai_strings paths;
  uint32_t *path_of_node; /* string of `paths` + 1, 0: not asked for yet */
  struct nai_steady steady;
  struct nai_keyset keys; /* name and path of each group */
  struct group *groups;
  uint32_t count, capacity;
  uint32_t *last; /* per kernel kind: 1 + the group met last */
};

static void sums_free(struct sums *s) { nai_strings_free(&s->paths); }

/* --- places ----------------------------------------------------------------------------------- */

/* NAI_NO_STRING when out of memory. */
static uint32_t path_of(struct sums *s, const struct nai_nvtx_node *node) {
  uint32_t index = (uint32_t)(node - s->m->nodes);
  if (s->path_of_node[index])
    return s->path_of_node[index] - 1;
  NAI_SCOPED(nai_buf) text = {0};
  nai_nvtx_put_path(&text, s->m, node);
  uint32_t id = text.oom ? NAI_NO_STRING : nai_strings_add(&s->paths, nai_buf_str(&text), text.len);
  s->path_of_node[index] = id + 1;
  return id;
}

static bool is_steady(struct sums *s, const struct nai_kernel_kind *kind, uint32_t kernel) {
  uint32_t gpu = s->m->kernel_groups[kind->group].gpu;
  return kind->process >= 0 && gpu < s->m->gpu_count &&
         nai_steady_kernel(&s->steady, (uint32_t)kind->process, gpu, kernel);
}

/* --- groups ----------------------------------------------------------------------------------- */

static int group_of(struct group **out, struct sums *s, uint32_t name, uint32_t path, struct nai_err *err) {
  bool added;
  uint32_t index = nai_keyset_add(&s->keys, nai_key_pair(name, path), &added);
  NAI_TRY(nai_memory_check(!s->keys.oom, err));
  NAI_TRY(NAI_ROOM(s->groups, s->capacity, index, s->arena, err));
  if (added)
    s->groups[s->count++] = (struct group){.name = name, .path = path};
  *out = &s->groups[index];
  return NAI_OK;
}

static int collect(struct sums *s, struct nai_err *err) {
  const struct nai_model *m = s->m;
  for (uint32_t k = 0; k < m->kernels.n; k++) {
    uint32_t api = m->kernel_api[k], path = NAI_NO_STRING;
    const struct nai_nvtx_node *node = m->map_nvtx && api != NAI_NO_ROW ? nai_model_call_node(m, api) : NULL;
    const struct nai_kernel_kind *kind = &m->kernel_kinds[m->kernel_kind[k]];
    uint32_t *last = &s->last[m->kernel_kind[k]];
    struct group *group;
    if (node && (path = path_of(s, node)) == NAI_NO_STRING)
      return nai_err_nomem(err);
    if (!*last || s->groups[*last - 1].path != path) {
      NAI_TRY(group_of(&group, s, m->kernel_groups[kind->group].name, path, err));
      *last = (uint32_t)(group - s->groups) + 1;
    }
    group = &s->groups[*last - 1];
    int64_t ns = nai_kernel_ns(m, k);
    bool steady = is_steady(s, kind, k);
    group->calls++;
    group->ns += ns;
    group->steady_calls += steady;
    group->steady_ns += steady ? ns : 0;
  }
  return NAI_OK;
}

/* How long the longest group is that is not among the longest MAX_ROWS. */
static int find_limit(int64_t *limit, const struct sums *s, struct nai_err *err) {
  int64_t *ns;
  NAI_TRY(NAI_NEW(ns, s->arena, s->count, err));
  for (uint32_t i = 0; i < s->count; i++)
    ns[i] = s->groups[i].ns;
  nai_select_i64(ns, s->count, s->count - MAX_ROWS);
  *limit = ns[s->count - MAX_ROWS];
  return NAI_OK;
}

/* Groups beyond the longest MAX_ROWS join the group of their kernel without a path, so that sums stay whole. Without
 * paths there are as many rows as kernel names. */
static int fold(struct sums *s, struct nai_err *err) {
  uint32_t before = s->count;
  int64_t limit;
  if (before <= MAX_ROWS)
    return NAI_OK;
  NAI_TRY(find_limit(&limit, s, err));
  for (uint32_t i = 0; i < before; i++) {
    struct group from = s->groups[i], *to;
    if (from.ns > limit || from.path == NAI_NO_STRING)
      continue;
    NAI_TRY(group_of(&to, s, from.name, NAI_NO_STRING, err));
    to->calls += from.calls;
    to->ns += from.ns;
    to->steady_calls += from.steady_calls;
    to->steady_ns += from.steady_ns;
    s->groups[i].calls = 0;
  }
  return NAI_OK;
}

static void put_group(struct nai_table *table, const struct sums *s, const struct group *group) {
  const struct nai_model *m = s->m;
  bool steps = m->steps->list_count > 0;
  NAI_ADD(KERNEL_PATHS, table, .kernel_name = nai_strings_get(&m->tables[NAI_IN_KERNELS]->strings, group->name),
          .category = nai_kernel_classes_name(m->classes, m->kernel_category[group->name]),
          .nvtx_path = group->path == NAI_NO_STRING ? NULL : nai_strings_get(&s->paths, group->path),
          .call_count = group->calls, .total_time_ns = group->ns,
          .steady_call_count = steps ? group->steady_calls : NAI_NULL_I64,
          .steady_time_ns = steps ? group->steady_ns : NAI_NULL_I64);
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  NAI_SCOPED(sums) s = {.m = io->model, .arena = io->arena, .keys = {.arena = io->arena}};
  NAI_TRY(NAI_NEW(s.path_of_node, io->arena, s.m->node_count, err));
  NAI_TRY(NAI_NEW(s.last, io->arena, s.m->kernel_kind_count, err));
  NAI_TRY(nai_steady_find(&s.steady, s.m, io->arena, err));
  NAI_TRY(collect(&s, err));
  NAI_TRY(fold(&s, err));
  for (uint32_t i = 0; i < s.count; i++)
    if (s.groups[i].calls) /* those that have not joined another */
      put_group(io->out[0], &s, &s.groups[i]);
  return NAI_OK;
}

NAI_ANALYSIS(kernel_paths, .outputs = NAI_SCHEMAS(&nai_kernel_paths_schema),
             .parts = NAI_PART(NAMES) | NAI_PART(LAUNCHES) | NAI_PART(GPUS) | NAI_PART(NVTX_TREE) | NAI_PART(STEPS) |
                      NAI_PART(KERNEL_GROUPS),
             .tables = NAI_IN(KERNELS) | NAI_IN(GPUS) | NAI_IN(PROCESSES) | NAI_IN(NVTX) | NAI_IN(APIS), .run = run)
