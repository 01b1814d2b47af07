/* Which idle gaps are repetitions of each other? Table idle_patterns. */
#include "analyses/idle/idle.h"
#include "base/array.h"
#include "tables/idle_patterns.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_PATTERNS = 1000, SHORTEST_NS = 4000 /* less is the usual distance between operations of a stream */ };

struct pattern {
  int64_t count, total_ns;
  struct nai_idle_gap longest; /* the earliest of equals */
  double median_ns;
};

/* Gaps of one GPU by pattern. */
struct patterns {
  const struct nai_model *m;
  uint32_t gpu;
  struct nai_strings names;               /* of operations that end gaps */
  uint32_t *of_kernel;                    /* per string of kernel_events: its number in `names`, if known */
  struct nai_keyset launches, ends, keys; /* function and range; cause and operation; both */
  struct pattern *v;                      /* per key */
  uint32_t capacity;
  uint32_t *of_gap; /* per gap number; NAI_NO_GROUP where there is no gap */
  bool oom;
};

static void free_patterns(struct patterns *p) {
  nai_strings_free(&p->names);
  free(p->of_kernel);
  nai_keyset_free(&p->launches);
  nai_keyset_free(&p->ends);
  nai_keyset_free(&p->keys);
  free(p->v);
  free(p->of_gap);
}

/* Number of the name of what ends the gap: different things may have the same. */
static uint32_t end_name(struct patterns *p, const struct nai_idle_gap *gap) {
  char room[NAI_KIND_NAME_MAX];
  const struct nai_op *op = gap->op == NAI_NO_ROW ? NULL : &p->m->gpus[gap->gpu].ops[gap->op];
  uint32_t *known = NULL, number;
  if (!op)
    return NAI_NO_STRING;
  if (op->type == NAI_OP_KERNEL)
    known = &p->of_kernel[nai_at_text(&p->m->kernels.name, op->row)];
  if (known && *known != NAI_NO_STRING)
    return *known;
  const char *name = nai_next_op_name(room, p->m, gap);
  number = nai_strings_add(&p->names, name, strlen(name));
  p->oom |= number == NAI_NO_STRING;
  if (known)
    *known = number;
  return number;
}

static int64_t launch_key(const struct nai_model *m, uint32_t launch) {
  if (launch == NAI_NO_ROW)
    return -1;
  const struct nai_nvtx_node *node = nai_model_call_node(m, launch);
  return nai_key_pair(nai_at_text(&m->apis.name, launch), node ? node->name : NAI_NO_STRING);
}

static bool take_gap(struct patterns *p, const struct nai_idle_gap *gap) {
  bool added;
  uint32_t launch = nai_keyset_add(&p->launches, launch_key(p->m, gap->launch), &added),
           end = nai_keyset_add(&p->ends, nai_key_pair(p->m->idle[gap->gpu].cause[gap->number], end_name(p, gap)),
                                &added);
  uint32_t index = nai_keyset_add(&p->keys, nai_key_pair(launch, end), &added);
  if (p->oom || p->launches.oom || p->ends.oom || p->keys.oom)
    return false;
  if (index == p->capacity && !nai_array_room(&p->v, &p->capacity, index, sizeof *p->v))
    return false;
  struct pattern *pattern = &p->v[index];
  if (added)
    *pattern = (struct pattern){.longest = *gap};
  pattern->count++;
  pattern->total_ns += gap->end - gap->start;
  if (gap->end - gap->start > pattern->longest.end - pattern->longest.start)
    pattern->longest = *gap;
  p->of_gap[gap->number] = index;
  return true;
}

/* Lengths of gaps by pattern. */
static void length_block(const void *patterns, uint32_t first, uint32_t count, uint32_t *group, int64_t *value) {
  const struct patterns *p = patterns;
  const struct nai_gpu *gpu = &p->m->gpus[p->gpu];
  for (uint32_t i = 0; i < count; i++) {
    struct nai_interval span = nai_idle_span(gpu, first + i);
    group[i] = p->of_gap[first + i];
    value[i] = span.end - span.start;
  }
}

static int find_medians(struct patterns *p, uint32_t places, struct nai_err *err) {
  struct nai_stats *stats = calloc((size_t)p->keys.count + 1, sizeof *stats);
  struct nai_values lengths = {places, length_block, p, p->m->scratch_dir};
  int rc = stats ? nai_group_stats(stats, p->keys.count, &lengths, err) : nai_err_nomem(err);
  for (uint32_t i = 0; !rc && i < p->keys.count; i++)
    p->v[i].median_ns = stats[i].p50;
  free(stats);
  return rc;
}

/* Most time first; among equals by GPU and time. */
static int most_first(const void *pa, const void *pb) {
  const struct pattern *a = pa, *b = pb;
  if (a->total_ns != b->total_ns)
    return a->total_ns > b->total_ns ? -1 : 1;
  if (a->longest.gpu != b->longest.gpu)
    return a->longest.gpu < b->longest.gpu ? -1 : 1;
  return (a->longest.start > b->longest.start) - (a->longest.start < b->longest.start);
}

/* Adds the GPU's patterns to `most`, which holds the MAX_PATTERNS with most time so far and has room for as many again.
 */
static int take_gpu(struct pattern *most, uint32_t *count, const struct nai_model *m, uint32_t gpu,
                    struct nai_err *err) {
  uint32_t at = 0;
  struct patterns p = {.m = m, .gpu = gpu};
  size_t places = m->gpus[gpu].all.count + 1, names = (size_t)m->tables[NAI_IN_KERNELS]->strings.count + 1;
  p.of_gap = malloc(places * sizeof *p.of_gap);
  p.of_kernel = malloc(names * sizeof *p.of_kernel);
  int rc = p.of_gap && p.of_kernel ? NAI_OK : nai_err_nomem(err);
  if (!rc) {
    memset(p.of_gap, 0xff, places * sizeof *p.of_gap);      /* NAI_NO_GROUP */
    memset(p.of_kernel, 0xff, names * sizeof *p.of_kernel); /* NAI_NO_STRING */
  }
  for (uint32_t i = 0; !rc && i < places; i++) {
    struct nai_interval span = nai_idle_span(&m->gpus[gpu], i);
    struct nai_idle_gap gap;
    if (span.end - span.start < SHORTEST_NS || !nai_idle_gap_active(&at, m, gpu, i))
      continue;
    gap = nai_idle_gap_at(m, gpu, i);
    rc = take_gap(&p, &gap) ? NAI_OK : nai_err_nomem(err);
  }
  if (!rc)
    rc = find_medians(&p, (uint32_t)places, err);
  if (!rc && p.keys.count) {
    qsort(p.v, p.keys.count, sizeof *p.v, most_first);
    uint32_t taken = p.keys.count < MAX_PATTERNS ? p.keys.count : MAX_PATTERNS;
    memcpy(most + *count, p.v, taken * sizeof *most);
    qsort(most, *count + taken, sizeof *most, most_first);
    *count = *count + taken < MAX_PATTERNS ? *count + taken : MAX_PATTERNS;
  }
  free_patterns(&p);
  return rc;
}

static void put_pattern(struct nai_table *table, const struct nai_model *m, const struct pattern *p) {
  const struct nai_idle_gap *gap = &p->longest;
  char room[NAI_KIND_NAME_MAX];
  int64_t row = nai_table_add_row(table);
  nai_set_i64(table, row, IDLE_PATTERNS_device_id, m->gpus[gap->gpu].device_id);
  nai_set_str(table, row, IDLE_PATTERNS_cause,
              nai_idle_cause_name((enum nai_idle_cause)m->idle[gap->gpu].cause[gap->number]));
  nai_set_str(table, row, IDLE_PATTERNS_next_op, nai_next_op_name(room, m, gap));
  nai_set_str(table, row, IDLE_PATTERNS_launch_api,
              gap->launch == NAI_NO_ROW ? NULL : nai_model_api_name(m, gap->launch));
  nai_set_str(table, row, IDLE_PATTERNS_nvtx_range, nai_launch_range(m, gap->launch));
  nai_set_i64(table, row, IDLE_PATTERNS_gap_count, p->count);
  nai_set_i64(table, row, IDLE_PATTERNS_total_ns, p->total_ns);
  nai_set_f64(table, row, IDLE_PATTERNS_median_ns, p->median_ns);
  nai_set_i64(table, row, IDLE_PATTERNS_longest_ns, gap->end - gap->start);
  nai_set_i64(table, row, IDLE_PATTERNS_longest_start_ns, gap->start);
  nai_set_i64(table, row, IDLE_PATTERNS_longest_end_ns, gap->end);
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_model *m = io->model;
  struct pattern *most = malloc(2 * MAX_PATTERNS * sizeof *most);
  uint32_t count = 0;
  int rc = most ? NAI_OK : nai_err_nomem(err);
  for (uint32_t g = 0; !rc && g < m->gpu_count; g++)
    rc = take_gpu(most, &count, m, g, err);
  for (uint32_t i = 0; !rc && i < count; i++)
    put_pattern(io->out[0], m, &most[i]);
  free(most);
  return rc;
}

NAI_ANALYSIS(idle_patterns, .outputs = NAI_SCHEMAS(&nai_idle_patterns_schema),
             .parts = NAI_PART(ACTIVE) | NAI_PART(IDLE) | NAI_PART(GPUS) | NAI_PART(LAUNCHES) | NAI_PART(NVTX_TREE),
             .tables = NAI_IN(KERNELS) | NAI_IN(MEMOPS) | NAI_IN(APIS) | NAI_IN(NVTX) | NAI_IN(LABELS), .cost = 1,
             .run = run)
