/* Which idle gaps are repetitions of each other? Table idle_patterns. */
#include "analyses/analysis.h"
#include "base/sort.h"
#include "model/idle/active.h"
#include "model/idle/gap_names.h"
#include "tables/idle_patterns.h"

enum { MAX_PATTERNS = 1000, SHORTEST_NS = 4000 /* less is the usual distance between operations of a stream */ };

struct pattern {
  int64_t count, total_ns, cause_ns; /* cause_ns: of total_ns with the cause of the largest parts */
  struct nai_idle_gap longest;       /* the earliest of equals */
  double median_ns;
};

/* Gaps of one GPU by pattern. */
struct patterns {
  const struct nai_model *m;
  uint32_t gpu;
  struct nai_arena *arena;
  struct nai_strings names;               /* of operations that end gaps */
  uint32_t *of_kernel;                    /* per string of kernel_events: its number in `names`, if known */
  struct nai_keyset launches, ends, keys; /* function and range; cause and operation; both */
  struct pattern *v;                      /* per key */
  uint32_t capacity;
  uint32_t *of_gap, count; /* per gap that was taken: its pattern, */
  int64_t *lengths;        /* and how long it is */
  bool oom;
};
static void patterns_free(struct patterns *p) { nai_strings_free(&p->names); }

/* Number of the name of what ends the gap: different things may have the same. */
static uint32_t end_name(struct patterns *p, const struct nai_idle_gap *gap) {
  char room[NAI_KIND_NAME_MAX];
  const struct nai_op *op = gap->op == NAI_NO_ROW ? NULL : &p->m->gpus[gap->gpu].ops[gap->op];
  uint32_t *known = NULL, number;
  if (!op)
    return NAI_NO_STRING;
  if (op->type == NAI_OP_KERNEL)
    known = &p->of_kernel[nai_val_text(&p->m->kernels.name, op->row)];
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
  return nai_key_pair(nai_val_text(&m->apis.name, launch), node ? node->name : NAI_NO_STRING);
}

static int take_gap(struct patterns *p, const struct nai_idle_gap *gap, struct nai_err *err) {
  bool added;
  uint32_t launch = nai_keyset_add(&p->launches, launch_key(p->m, gap->launch), &added),
           end = nai_keyset_add(&p->ends, nai_key_pair(p->m->idle[gap->gpu].cause[gap->number], end_name(p, gap)),
                                &added);
  uint32_t index = nai_keyset_add(&p->keys, nai_key_pair(launch, end), &added);
  NAI_TRY(nai_memory_check(!p->oom && !p->launches.oom && !p->ends.oom && !p->keys.oom, err));
  NAI_TRY(NAI_ROOM(p->v, p->capacity, index, p->arena, err));
  struct nai_idle_split split;
  NAI_TRY(nai_idle_split_again(&split, NULL, NULL, p->m, gap, err));
  struct pattern *pattern = &p->v[index];
  if (added)
    pattern->longest = *gap;
  pattern->count++;
  pattern->total_ns += gap->end - gap->start;
  pattern->cause_ns += split.ns[p->m->idle[gap->gpu].cause[gap->number]];
  if (gap->end - gap->start > pattern->longest.end - pattern->longest.start)
    pattern->longest = *gap;
  p->of_gap[p->count] = index;
  p->lengths[p->count++] = gap->end - gap->start;
  return NAI_OK;
}

static int find_medians(struct patterns *p, struct nai_err *err) {
  struct nai_values lengths = {
      .rows = p->count, .directory = p->m->scratch_dir, .groups = p->of_gap, .values = p->lengths, .parts = NAI_P50};
  struct nai_stats *stats;
  NAI_TRY(NAI_NEW(stats, p->arena, p->keys.count, err));
  NAI_TRY(nai_group_stats(stats, p->keys.count, &lengths, err));
  for (uint32_t i = 0; i < p->keys.count; i++)
    p->v[i].median_ns = stats[i].p50;
  return NAI_OK;
}

/* Most time first; among equals by GPU and time. */
NAI_ORDER(most_first, struct pattern, {b->total_ns, a->total_ns}, {a->longest.gpu, b->longest.gpu},
          {a->longest.start, b->longest.start})

static int find_patterns(struct patterns *p, struct nai_err *err) {
  const struct nai_gpu *gpu = &p->m->gpus[p->gpu];
  uint32_t at = 0, places = (uint32_t)gpu->all.count + 1, names = p->m->tables[NAI_IN_KERNELS]->strings.count;
  NAI_TRY(NAI_NEW_UNSET(p->of_gap, p->arena, places, err));
  NAI_TRY(NAI_NEW_UNSET(p->lengths, p->arena, places, err));
  NAI_TRY(NAI_NEW(p->of_kernel, p->arena, names, err));
  memset(p->of_kernel, 0xff, names * sizeof *p->of_kernel); /* NAI_NO_STRING */
  for (uint32_t i = 0; i < places; i++) {
    struct nai_interval span = nai_idle_span(gpu, i);
    if (span.end - span.start < SHORTEST_NS || !nai_idle_gap_active(&at, p->m, p->gpu, i))
      continue;
    struct nai_idle_gap gap = nai_idle_gap_at(p->m, p->gpu, i);
    NAI_TRY(take_gap(p, &gap, err));
  }
  return find_medians(p, err);
}

/* Adds the GPU's patterns to `most`, which holds the MAX_PATTERNS with most time so far and has room for as many again.
 */
static int take_gpu(struct pattern *most, uint32_t *count, const struct nai_model *m, uint32_t gpu,
                    struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(m->scratch_dir);
  NAI_SCOPED(patterns) p = {.m = m, .gpu = gpu, .arena = &arena};
  p.launches.arena = p.ends.arena = p.keys.arena = &arena;
  NAI_TRY(find_patterns(&p, err));
  if (!p.keys.count)
    return NAI_OK;
  qsort(p.v, p.keys.count, sizeof *p.v, most_first);
  uint32_t taken = p.keys.count < MAX_PATTERNS ? p.keys.count : MAX_PATTERNS;
  memcpy(most + *count, p.v, taken * sizeof *most);
  qsort(most, *count + taken, sizeof *most, most_first);
  *count = *count + taken < MAX_PATTERNS ? *count + taken : MAX_PATTERNS;
  return NAI_OK;
}

static void put_pattern(struct nai_table *table, const struct nai_model *m, const struct pattern *p) {
  const struct nai_idle_gap *gap = &p->longest;
  char room[NAI_KIND_NAME_MAX];
  NAI_ADD(IDLE_PATTERNS, table, .device_id = m->gpus[gap->gpu].device_id,
          .cause = nai_idle_cause_name((enum nai_idle_cause)m->idle[gap->gpu].cause[gap->number]),
          .next_op = nai_next_op_name(room, m, gap), .launch_api = nai_launch_function(m, gap->launch),
          .nvtx_range = nai_launch_range(m, gap->launch), .gap_count = p->count, .total_ns = p->total_ns,
          .cause_ns = p->cause_ns, .median_ns = p->median_ns, .longest_ns = gap->end - gap->start,
          .longest_start_ns = gap->start, .longest_end_ns = gap->end);
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  struct pattern *most;
  uint32_t count = 0;
  NAI_TRY(NAI_NEW(most, io->arena, 2 * MAX_PATTERNS, err));
  for (uint32_t g = 0; g < io->model->gpu_count; g++)
    NAI_TRY(take_gpu(most, &count, io->model, g, err));
  for (uint32_t i = 0; i < count; i++)
    put_pattern(io->out[0], io->model, &most[i]);
  return NAI_OK;
}

NAI_ANALYSIS(idle_patterns, .outputs = NAI_SCHEMAS(&nai_idle_patterns_schema),
             .parts = NAI_PART(ACTIVE) | NAI_PART(IDLE) | NAI_PART(GPUS) | NAI_PART(LAUNCHES) | NAI_PART(NVTX_TREE),
             .tables = NAI_IN(LABELS), .cost = 1, .run = run)
