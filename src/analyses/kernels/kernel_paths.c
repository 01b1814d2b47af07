/* Which kernel runs at which place of the program, and how often per step? Table kernel_paths: what comparisons match
 * kernels by. */
#include "analyses/analysis.h"
#include "model/steps/steps.h"

#include "base/array.h"
#include "base/spill_array.h"
#include "base/sort.h"
#include "tables/kernel_paths.h"
#include "tables/steps.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_ROWS = 4000, MAX_DEPTH = 16, MAX_PATH = 400 };

struct group {
  uint32_t name, path; /* strings of kernel_events; of `paths` */
  int64_t calls, ns, steady_calls, steady_ns;
};

struct sums {
  const struct nai_model *m;
  struct nai_strings paths;
  uint32_t *path_of_node; /* NAI_NO_STRING: not asked for yet */
  const uint8_t **steady; /* per process and GPU: per step, whether it is steady; NULL: no steps */
  struct nai_keyset keys; /* name and path of each group */
  struct group *groups;
  uint32_t count, capacity;
  uint32_t near; /* step of the launch before */
};

/* --- places ----------------------------------------------------------------------------------- */

/* Appends a name with every run of digits as '#': places that only a number tells apart are one. */
static void put_name(struct nai_buf *out, const char *name) {
  for (; *name; name++)
    if (*name < '0' || *name > '9')
      nai_buf_putc(out, *name);
    else if (name[1] < '0' || name[1] > '9')
      nai_buf_putc(out, '#');
}

/* "forward > layer # > attention"; of deep chains the innermost ranges. */
static uint32_t path_of(struct sums *s, const struct nai_nvtx_node *node) {
  uint32_t chain[MAX_DEPTH], depth = 0, index = (uint32_t)(node - s->m->nodes);
  if (s->path_of_node[index] != NAI_NO_STRING)
    return s->path_of_node[index];
  for (uint32_t n = index; n != NAI_NO_ROW && depth < MAX_DEPTH; n = s->m->nodes[n].parent)
    chain[depth++] = s->m->nodes[n].name;
  struct nai_buf text = {0};
  while (depth > 0) {
    nai_buf_puts(&text, text.len ? " > " : "");
    put_name(&text, nai_strings_get(&s->m->tables[NAI_IN_NVTX]->strings, chain[--depth]));
  }
  size_t cut = text.len > MAX_PATH ? text.len - MAX_PATH : 0; /* the end says more; never inside of a character */
  while (cut < text.len && cut && ((unsigned char)text.data[cut] & 0xc0) == 0x80)
    cut++;
  uint32_t id = text.oom ? NAI_NO_STRING : nai_strings_add(&s->paths, nai_buf_str(&text) + cut, text.len - cut);
  nai_buf_free(&text);
  return s->path_of_node[index] = id;
}

/* --- steps ------------------------------------------------------------------------------------ */

/* Rows of table steps are in the order of the model's lists. */
static int find_steady(struct sums *s, const struct nai_table *steps, struct nai_err *err) {
  const struct nai_steps *all = s->m->steps;
  int64_t row = 0;
  for (uint32_t i = 0; i < all->list_count; i++) {
    const struct nai_step_list *list = &all->lists[i];
    uint8_t *steady = calloc((size_t)all->processes[list->process].count + 1, 1);
    if (!steady)
      return nai_err_nomem(err);
    for (uint32_t j = 0; j < list->count && row < steps->rows; j++, row++)
      steady[list->v[j].step] = strcmp(nai_cell_str(steps, row, "state"), "steady") == 0;
    s->steady[(size_t)list->process * s->m->gpu_count + list->gpu] = steady;
  }
  return NAI_OK;
}

static bool is_steady(struct sums *s, uint32_t kernel, uint32_t api) {
  const struct nai_model *m = s->m;
  int32_t process = nai_at_i32(&m->kernels.process, kernel);
  uint32_t gpu = nai_model_gpu_index(m, nai_at_i32(&m->kernels.device_id, kernel));
  const uint8_t *steady = process < 0 || gpu >= m->gpu_count ? NULL : s->steady[(size_t)process * m->gpu_count + gpu];
  if (!steady || api == NAI_NO_ROW)
    return false;
  uint32_t step = nai_step_at(&m->steps->processes[process], nai_at(&m->apis.start_ns, api), &s->near);
  return step != UINT32_MAX && steady[step];
}

/* --- groups ----------------------------------------------------------------------------------- */

/* The group of a name and a path, NULL when out of memory. */
static struct group *group_of(struct sums *s, uint32_t name, uint32_t path, struct nai_err *err) {
  bool added;
  uint32_t index = nai_keyset_add(&s->keys, nai_key_pair(name, path), &added);
  if (s->keys.oom || !nai_array_room(&s->groups, &s->capacity, index, sizeof *s->groups)) {
    (void)nai_err_nomem(err);
    return NULL;
  }
  if (added)
    s->groups[s->count++] = (struct group){.name = name, .path = path};
  return &s->groups[index];
}

static int collect(struct sums *s, struct nai_err *err) {
  const struct nai_model *m = s->m;
  for (uint32_t k = 0; k < m->kernels.n; k++) {
    uint32_t api = m->kernel_api[k], path = NAI_NO_STRING;
    const struct nai_nvtx_node *node = m->map_nvtx && api != NAI_NO_ROW ? nai_model_call_node(m, api) : NULL;
    if (node && (path = path_of(s, node)) == NAI_NO_STRING)
      return nai_err_nomem(err);
    struct group *group = group_of(s, nai_at_text(&m->kernels.name, k), path, err);
    if (!group)
      return NAI_ELIMIT;
    int64_t ns = nai_kernel_ns(m, k);
    bool steady = is_steady(s, k, api);
    group->calls++;
    group->ns += ns;
    group->steady_calls += steady;
    group->steady_ns += steady ? ns : 0;
  }
  return NAI_OK;
}

/* Groups beyond the longest MAX_ROWS join the group of their kernel without a path, so that sums stay whole. Without
 * paths there are as many rows as kernel names. */
static int fold(struct sums *s, struct nai_err *err) {
  uint32_t before = s->count, kept = 0;
  int64_t *ns = malloc(((size_t)before + 1) * sizeof *ns), limit;
  if (!ns)
    return nai_err_nomem(err);
  for (uint32_t i = 0; i < before; i++)
    ns[i] = s->groups[i].ns;
  if (before > MAX_ROWS)
    nai_select_i64(ns, before, before - MAX_ROWS);
  limit = before > MAX_ROWS ? ns[before - MAX_ROWS] : -1;
  free(ns);
  for (uint32_t i = 0; i < before; i++) {
    struct group from = s->groups[i];
    if (from.ns > limit || from.path == NAI_NO_STRING)
      continue;
    struct group *to = group_of(s, from.name, NAI_NO_STRING, err);
    if (!to)
      return NAI_ELIMIT;
    to->calls += from.calls;
    to->ns += from.ns;
    to->steady_calls += from.steady_calls;
    to->steady_ns += from.steady_ns;
    s->groups[i].calls = 0;
  }
  for (uint32_t i = 0; i < s->count; i++)
    if (s->groups[i].calls)
      s->groups[kept++] = s->groups[i];
  s->count = kept;
  return NAI_OK;
}

static void put_groups(struct nai_table *table, const struct sums *s) {
  const struct nai_model *m = s->m;
  for (uint32_t i = 0; i < s->count; i++) {
    const struct group *group = &s->groups[i];
    int64_t row = nai_table_add_row(table);
    nai_set_str(table, row, KERNEL_PATHS_kernel_name,
                nai_strings_get(&m->tables[NAI_IN_KERNELS]->strings, group->name));
    nai_set_str(table, row, KERNEL_PATHS_category,
                nai_kernel_classes_name(m->classes, m->kernel_category[group->name]));
    if (group->path != NAI_NO_STRING)
      nai_set_str(table, row, KERNEL_PATHS_nvtx_path, nai_strings_get(&s->paths, group->path));
    nai_set_i64(table, row, KERNEL_PATHS_call_count, group->calls);
    nai_set_i64(table, row, KERNEL_PATHS_total_time_ns, group->ns);
    if (m->steps->list_count) {
      nai_set_i64(table, row, KERNEL_PATHS_steady_call_count, group->steady_calls);
      nai_set_i64(table, row, KERNEL_PATHS_steady_time_ns, group->steady_ns);
    }
  }
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_model *m = io->model;
  size_t cells = (size_t)m->process_count * m->gpu_count;
  void *path_of_node = NULL;
  struct sums s = {.m = m, .steady = calloc(cells + 1, sizeof *s.steady)};
  int rc = s.steady ? NAI_OK : nai_err_nomem(err);
  if (!rc)
    rc = nai_spill_array_new(&path_of_node, m->scratch_dir, ((size_t)m->node_count + 1) * sizeof *s.path_of_node, err);
  s.path_of_node = path_of_node;
  for (uint32_t i = 0; !rc && i < m->node_count; i++)
    s.path_of_node[i] = NAI_NO_STRING;
  if (!rc)
    rc = find_steady(&s, io->in[0], err);
  if (!rc)
    rc = collect(&s, err);
  if (!rc && s.count)
    rc = fold(&s, err);
  if (!rc)
    put_groups(io->out[0], &s);
  for (size_t i = 0; s.steady && i < cells; i++)
    free((void *)s.steady[i]);
  free(s.steady);
  nai_spill_array_free(path_of_node);
  nai_keyset_free(&s.keys);
  free(s.groups);
  nai_strings_free(&s.paths);
  return rc;
}

NAI_ANALYSIS(kernel_paths, .outputs = NAI_SCHEMAS(&nai_kernel_paths_schema), .inputs = NAI_SCHEMAS(&nai_steps_schema),
             .parts = NAI_PART(NAMES) | NAI_PART(LAUNCHES) | NAI_PART(GPUS) | NAI_PART(NVTX_TREE) | NAI_PART(STEPS),
             .tables = NAI_IN(KERNELS) | NAI_IN(GPUS) | NAI_IN(PROCESSES) | NAI_IN(NVTX) | NAI_IN(APIS), .run = run)
