/* In which ranges of the program is a GPU's time lost? Table range_losses. */
#include "analyses/analysis.h"
#include "base/text.h"
#include "model/comm/comm.h"
#include "model/idle/active.h"
#include "model/idle/idle.h"
#include "tables/range_losses.h"

/* Causes of idle time, and behind them: */
enum { IDLE = NAI_IDLE_CAUSES, COMMUNICATION, COPY, LOSSES };
enum { MIN_PCT = 5 };

struct sum {
  int64_t ns, count;
};
struct lost { /* with the ranges of a node as the innermost ones */
  uint32_t node, loss;
  struct sum sum;
};

/* The losses of one GPU. */
struct sums {
  const struct nai_model *m;
  const struct nai_gpu *gpu;
  struct nai_arena *arena;
  int64_t all[LOSSES];
  uint32_t *place; /* per node and loss: 1 + its number in `innermost`, 0 for none */
  struct lost *innermost;
  struct nai_keyset keys; /* name and loss */
  struct sum *v;          /* per key */
  uint32_t innermost_count, innermost_capacity, capacity;
  struct nai_strings names;
  uint32_t *of_string, *depth; /* per string of nvtx_events: its name + 1; per name: the least */
  uint32_t depth_capacity;
};
static void sums_free(struct sums *s) { nai_strings_free(&s->names); }

/* --- innermost ranges --------------------------------------------------------------------------- */

static uint32_t node_of(const struct sums *s, uint32_t launch) {
  return launch == NAI_NO_ROW ? NAI_NO_ROW : s->m->api_node[launch];
}

static inline int add_loss(struct sums *s, int loss, uint32_t node, int64_t ns, struct nai_err *err) {
  if (ns <= 0)
    return NAI_OK;
  s->all[loss] += ns;
  if (node == NAI_NO_ROW)
    return NAI_OK;
  uint32_t *place = &s->place[(size_t)node * LOSSES + (size_t)loss];
  if (!*place) {
    NAI_TRY(NAI_ROOM(s->innermost, s->innermost_capacity, s->innermost_count, s->arena, err));
    s->innermost[s->innermost_count] = (struct lost){node, (uint32_t)loss, {0}};
    *place = ++s->innermost_count;
  }
  struct sum *sum = &s->innermost[*place - 1].sum;
  sum->ns += ns;
  sum->count++;
  return NAI_OK;
}

static int add_gaps(struct sums *s, uint32_t gpu, struct nai_err *err) {
  const struct nai_gpu_idle *idle = &s->m->idle[gpu];
  uint32_t at = 0;
  for (struct nai_idle_gap gap = nai_idle_first(gpu); nai_idle_next(&gap, s->m);) {
    if (!nai_gpu_is_active(&s->m->active[gpu], &at, gap.start))
      continue;
    uint32_t node = node_of(s, gap.launch);
    NAI_TRY(add_loss(s, IDLE, node, gap.end - gap.start, err));
    if (nai_idle_is_whole(idle, gap.number))
      NAI_TRY(add_loss(s, NAI_IDLE_LAUNCH_LATENCY, node, gap.end - gap.start, err));
    for (uint32_t i = idle->first_piece[gap.number]; i < idle->first_piece[gap.number + 1]; i++)
      NAI_TRY(add_loss(s, (int)idle->pieces[i].cause, node, idle->pieces[i].ns, err));
  }
  return NAI_OK;
}

static int add_ops(struct sums *s, uint32_t gpu, struct nai_err *err) {
  struct nai_coverage copy, communication;
  uint32_t at = 0;
  NAI_TRY(nai_coverage_in(&copy, &s->gpu->exposed_copy, s->arena, err));
  NAI_TRY(nai_coverage_in(&communication, &s->gpu->exposed_communication, s->arena, err));
  for (uint32_t i = 0; i < s->gpu->op_count; i++) {
    const struct nai_op *op = &s->gpu->ops[i];
    bool copies = op->type == NAI_OP_COPY || op->type == NAI_OP_SET;
    if ((!copies && !op->communication) || !nai_gpu_is_active(&s->m->active[gpu], &at, op->start))
      continue;
    int64_t ns = nai_coverage_overlap_ns(copies ? &copy : &communication, op->start, op->end);
    NAI_TRY(add_loss(s, copies ? COPY : COMMUNICATION, node_of(s, nai_model_op_api(s->m, op)), ns, err));
  }
  return NAI_OK;
}

/* --- all ranges around them --------------------------------------------------------------------- */

static int name_of(uint32_t *name, struct sums *s, const struct nai_nvtx_node *node, struct nai_err *err) {
  if (!s->of_string[node->name]) {
    NAI_SCOPED(nai_buf) text = {0};
    nai_text_fold_digits(&text, nai_strings_get(&s->m->tables[NAI_IN_NVTX]->strings, node->name));
    NAI_TRY(nai_buf_check(&text, err));
    uint32_t id = nai_strings_add(&s->names, nai_buf_str(&text), text.len);
    NAI_TRY(nai_memory_check(id != NAI_NO_STRING, err));
    s->of_string[node->name] = id + 1;
  }
  *name = s->of_string[node->name] - 1;
  return NAI_OK;
}

enum { MAX_DEPTH = 64 }; /* the innermost ranges; deeper is recursion */

static bool has(const uint32_t *names, int count, uint32_t name) {
  while (count-- > 0)
    if (names[count] == name)
      return true;
  return false;
}

static int add_name(struct sums *s, uint32_t name, const struct lost *what, struct nai_err *err) {
  bool added;
  uint32_t index = nai_keyset_add(&s->keys, nai_key_pair(name, what->loss), &added);
  NAI_TRY(nai_memory_check(!s->keys.oom, err));
  NAI_TRY(NAI_ROOM(s->v, s->capacity, index, s->arena, err)); /* zeroed */
  s->v[index].ns += what->sum.ns;
  s->v[index].count += what->sum.count;
  return NAI_OK;
}

/* Once per name of the chain. */
static int add_chain(struct sums *s, const struct lost *what, struct nai_err *err) {
  uint32_t names[MAX_DEPTH];
  int count = 0;
  for (uint32_t n = what->node; n != NAI_NO_ROW && count < MAX_DEPTH; n = s->m->nodes[n].parent) {
    uint32_t name = 0;
    if (what->loss == COMMUNICATION && nai_comm_is_nccls(s->m, s->m->nodes[n].longest))
      continue; /* it tells no place in the program */
    NAI_TRY(name_of(&name, s, &s->m->nodes[n], err));
    if (has(names, count, name))
      continue;
    names[count++] = name;
    NAI_TRY(add_name(s, name, what, err));
  }
  for (int i = 0; i < count; i++) {
    NAI_TRY(NAI_ROOM(s->depth, s->depth_capacity, names[i], s->arena, err));
    uint32_t depth = (uint32_t)(count - i);
    if (!s->depth[names[i]] || depth < s->depth[names[i]])
      s->depth[names[i]] = depth;
  }
  return NAI_OK;
}

/* --- rows --------------------------------------------------------------------------------------- */

static const char *loss_name(uint32_t loss) {
  return loss == IDLE          ? "idle"
       : loss == COMMUNICATION ? "exposed_communication"
       : loss == COPY          ? "exposed_copy"
                               : nai_idle_cause_name((enum nai_idle_cause)loss);
}

static void put(struct nai_table *table, const struct sums *s) {
  for (uint32_t i = 0; i < s->keys.count; i++) {
    uint32_t name = (uint32_t)(s->keys.keys[i] >> 32), loss = (uint32_t)s->keys.keys[i];
    double pct = nai_percent((double)s->v[i].ns, (double)s->all[loss]);
    if (pct >= MIN_PCT)
      NAI_ADD(RANGE_LOSSES, table, .device_id = s->gpu->device_id, .loss = loss_name(loss),
              .range_name = nai_strings_get(&s->names, name), .time_ns = s->v[i].ns, .pct = pct, .count = s->v[i].count,
              .depth = s->depth[name]);
  }
}

static int add_gpu(const struct nai_node_io *io, uint32_t gpu, struct nai_err *err) {
  const struct nai_model *m = io->model;
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(m->scratch_dir);
  NAI_SCOPED(sums) s = {.m = m, .gpu = &m->gpus[gpu], .arena = &arena};
  s.keys.arena = &arena;
  NAI_TRY(NAI_NEW(s.place, &arena, (size_t)m->node_count * LOSSES, err));
  NAI_TRY(NAI_NEW(s.of_string, &arena, m->tables[NAI_IN_NVTX]->strings.count, err));
  NAI_TRY(add_gaps(&s, gpu, err));
  NAI_TRY(add_ops(&s, gpu, err));
  for (uint32_t i = 0; i < s.innermost_count; i++)
    NAI_TRY(add_chain(&s, &s.innermost[i], err));
  put(io->out[0], &s);
  return NAI_OK;
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  for (uint32_t g = 0; g < io->model->gpu_count && io->model->node_count; g++)
    NAI_TRY(add_gpu(io, g, err));
  return NAI_OK;
}

NAI_ANALYSIS(range_losses, .outputs = NAI_SCHEMAS(&nai_range_losses_schema),
             .parts = NAI_PART(ACTIVE) | NAI_PART(IDLE) | NAI_PART(GPUS) | NAI_PART(LAUNCHES) | NAI_PART(NVTX_TREE),
             .tables = NAI_IN(KERNELS) | NAI_IN(MEMOPS) | NAI_IN(GRAPHS) | NAI_IN(NVTX) | NAI_IN(NVTX_DOMAINS) |
                       NAI_IN(APIS),
             .cost = 2, .run = run)
