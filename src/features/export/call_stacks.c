/* GPU time by the stacks of the calls that launched it. */
#include "features/export/stacks.h"

#include "features/export/command.h"
#include "model/cpu/call_stacks.h"
#include "model/graphs/graph_origin.h"
#include "tables/threads.h"

/* A stack of frames under a thread, and a kernel. */
struct sum {
  int32_t process, thread; /* rows; -1 unknown */
  uint32_t stack, name;
  bool graph_launch; /* which is not where the kernel comes from */
  int64_t ns;
};

struct collecting {
  struct nai_stacks *out;
  int64_t device; /* INT64_MIN: all */
  const struct nai_model *m;
  struct nai_call_stacks *stacks;
  struct nai_graph_nodes *nodes;
  struct nai_keyset callers, called, keys; /* process and thread; number of it and stack; number of that and kernel */
  struct sum *sums;
  uint32_t capacity;
};

static struct sum sum_of(const struct collecting *c, uint32_t kernel) {
  const struct nai_model *m = c->m;
  int64_t node = nai_at(&m->kernels.graph_node_id, kernel);
  int32_t process = nai_at_i32(&m->kernels.process, kernel);
  struct nai_call_source source = nai_call_source_of(c->stacks, c->nodes, process, node, m->kernel_api[kernel]);
  return (struct sum){.process = process,
                      .thread = source.call == NAI_NO_ROW ? -1 : nai_at_i32(&m->apis.thread, source.call),
                      .stack = source.stack,
                      .name = nai_at_text(&m->kernels.name, kernel),
                      .graph_launch = node != NAI_NULL_I64 && node && !source.captured};
}

static int add_kernel(struct collecting *c, uint32_t kernel, struct nai_err *err) {
  struct sum sum = sum_of(c, kernel);
  bool added;
  uint32_t caller = nai_keyset_add(&c->callers, nai_key_pair(sum.process, (uint32_t)sum.thread), &added);
  uint32_t place = nai_keyset_add(&c->called, nai_key_pair(caller, sum.stack << 1 | sum.graph_launch), &added);
  uint32_t key = nai_keyset_add(&c->keys, nai_key_pair(place, sum.name), &added);
  NAI_TRY(nai_memory_check(!c->callers.oom && !c->called.oom && !c->keys.oom, err));
  NAI_TRY(NAI_ROOM(c->sums, c->capacity, key, &c->out->arena, err));
  if (added)
    c->sums[key] = sum;
  c->sums[key].ns += nai_kernel_ns(c->m, kernel);
  return NAI_OK;
}

/* From the root to the kernel. */
static int put_sum(struct collecting *c, const struct sum *sum, struct nai_err *err) {
  const struct nai_call_stack *stack = &c->stacks->stacks[sum->stack];
  const struct nai_table *threads = c->m->tables[NAI_IN_THREADS];
  const char **frames;
  uint32_t count = 0;
  NAI_TRY(NAI_NEW(frames, &c->out->arena, stack->count + 4, err));
  frames[count++] = nai_stacks_thread(c->out, nai_model_pid(c->m, sum->process),
                                      sum->thread < 0 ? NAI_NULL_I64 : nai_get_i64(threads, sum->thread, THREADS_tid));
  for (uint32_t i = stack->count; i-- > 0;)
    if (nai_call_frame_is_shown(c->stacks, c->stacks->rows[stack->first + i]))
      NAI_TRY(nai_call_frame_label(&frames[count++], c->stacks, c->stacks->rows[stack->first + i], err));
  if (!stack->count)
    frames[count++] = "(no call stack)";
  if (sum->graph_launch)
    frames[count++] = "(graph launch)";
  frames[count++] = nai_strings_get(&c->m->tables[NAI_IN_KERNELS]->strings, sum->name);
  for (uint32_t i = 0; i < count; i++) /* what the model has goes with it */
    frames[i] = nai_arena_printf(&c->out->arena, "%s", frames[i]);
  return nai_stacks_add(c->out, frames, count, sum->ns, err);
}

static int collect_with(struct collecting *c, struct nai_err *err) {
  for (uint32_t i = 0; i < c->m->kernels.n; i++)
    if (c->device == INT64_MIN || nai_at(&c->m->kernels.device_id, i) == c->device)
      NAI_TRY(add_kernel(c, i, err));
  for (uint32_t i = 0; i < c->keys.count; i++)
    NAI_TRY(put_sum(c, &c->sums[i], err));
  return nai_arena_check(&c->out->arena, err);
}

static int collect(const struct nai_model *m, void *ctx, struct nai_err *err) {
  struct collecting *c = ctx;
  NAI_SCOPED(nai_call_stacks) stacks = {0};
  NAI_SCOPED(nai_graph_nodes) nodes = {0};
  if (!nai_call_stacks_any(m))
    return nai_err_set(err, NAI_EINPUT,
                       "the run has no call stacks: record with nsys profile -s process-tree "
                       "--cudabacktrace=kernel:0, for Python also --python-backtrace=cuda");
  c->m = m;
  c->stacks = &stacks;
  c->nodes = &nodes;
  c->callers.arena = c->called.arena = c->keys.arena = &c->out->arena;
  NAI_TRY(nai_call_stacks_open(&stacks, m, &c->out->arena, err));
  NAI_TRY(nai_graph_nodes_new(&nodes, m, err));
  return collect_with(c, err);
}

int nai_stacks_of_calls(struct nai_stacks *s, struct nai_run *run, int64_t gpu, struct nai_err *err) {
  static const struct nai_cmd_model_needs needs = {.tables = NAI_IN(KERNELS) | NAI_IN(APIS) | NAI_IN(PROCESSES) |
                                                             NAI_IN(THREADS) | NAI_IN(GPUS),
                                                   .optional_tables = NAI_IN(CALLCHAINS) | NAI_IN(GRAPH_NODES),
                                                   .parts = NAI_PART(LAUNCHES) | NAI_PART(CALLS)};
  return nai_cmd_with_model(run, &needs, collect, &(struct collecting){.out = s, .device = gpu}, err);
}
