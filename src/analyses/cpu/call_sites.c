/* Which lines and functions of the program take the GPU's time, wait, allocate and leave it idle? Tables call_sites,
 * call_site_kernels, call_stack_coverage. */
#include "analyses/analysis.h"
#include "base/sort.h"
#include "model/cpu/call_stacks.h"
#include "model/graphs/graph_origin.h"
#include "model/idle/active.h"
#include "model/idle/idle.h"
#include "tables/call_site_kernels.h"
#include "tables/call_sites.h"
#include "tables/call_stack_coverage.h"
#include "tables/memory_usage_events.h"

enum scope { CALL, CAPTURED, GRAPH_LAUNCH };
static const char *const scope_names[] = {"call", "captured", "graph_launch"};

/* A row of call_sites to be. */
struct place {
  uint32_t site;
  enum scope scope;
  int32_t process, gpu; /* -1 unknown; of several or none */
  struct CALL_SITES_row sums;
};

struct kernel_sum {
  uint32_t place, name;
  int64_t count, ns;
};

/* What call_stack_coverage says of a process. */
struct coverage {
  int64_t calls, with_stack, gpu_ns, with_site_ns, graph_launch_ns, frames, resolved, python, shortest;
};

struct work {
  const struct nai_node_io *io;
  const struct nai_model *m;
  struct nai_call_stacks stacks;
  struct nai_graph_nodes nodes;
  struct nai_keyset owners, places_by_key; /* process << 32 | 1 + gpu; number of the owner << 32 | site * 4 + scope */
  struct place *places;
  uint32_t place_capacity;
  struct nai_keyset stacks_seen, kernels_seen; /* place << 32 | stack; place << 32 | kernel name */
  struct kernel_sum *kernels;
  uint32_t kernel_capacity;
  int64_t *gpu_ns, *wait_idle_ns; /* per GPU */
  struct coverage *coverage;      /* per process; behind them those of unknown process */
};

static void work_free(struct work *w) {
  nai_call_stacks_free(&w->stacks);
  nai_graph_nodes_free(&w->nodes);
}

static int place_of(struct place **place, struct work *w, uint32_t stack, enum scope scope, int32_t process,
                    int32_t gpu, struct nai_err *err) {
  bool added, stack_added = false;
  uint32_t site = w->stacks.stacks[stack].site;
  uint32_t owner = nai_keyset_add(&w->owners, nai_key_pair(process, (uint32_t)(gpu + 1)), &added);
  uint32_t number = nai_keyset_add(&w->places_by_key, nai_key_pair((int64_t)owner, site * 4 + scope), &added);
  NAI_TRY(NAI_ROOM(w->places, w->place_capacity, number, w->io->arena, err));
  *place = &w->places[number];
  if (added)
    **place = (struct place){site, scope, process, gpu, {0}};
  if (stack)
    nai_keyset_add(&w->stacks_seen, nai_key_pair((int64_t)number, stack), &stack_added);
  (*place)->sums.stack_count += stack_added;
  return w->owners.oom || w->places_by_key.oom || w->stacks_seen.oom ? nai_err_nomem(err) : NAI_OK;
}

/* --- work of GPUs --------------------------------------------------------------------------------- */

static int64_t node_of(const struct nai_model *m, const struct nai_op *op) {
  int64_t node = op->type == NAI_OP_KERNEL ? nai_at(&m->kernels.graph_node_id, op->row)
               : op->type == NAI_OP_GRAPH  ? 0
                                           : nai_at(&m->memops.graph_node_id, op->row);
  return node == NAI_NULL_I64 ? 0 : node;
}

static enum scope stack_of(uint32_t *stack, const struct work *w, const struct nai_op *op) {
  int64_t node = node_of(w->m, op);
  struct nai_call_source source =
      nai_call_source_of(&w->stacks, &w->nodes, nai_model_op_process(w->m, op), node, nai_model_op_api(w->m, op));
  *stack = source.stack;
  return source.captured ? CAPTURED : node || op->type == NAI_OP_GRAPH ? GRAPH_LAUNCH : CALL;
}

static int add_kernel(struct work *w, const struct place *place, uint32_t row, int64_t ns, struct nai_err *err) {
  bool added;
  uint32_t number = (uint32_t)(place - w->places), name = nai_val_text(&w->m->kernels.name, row);
  uint32_t i = nai_keyset_add(&w->kernels_seen, nai_key_pair((int64_t)number, name), &added);
  NAI_TRY(nai_memory_check(!w->kernels_seen.oom, err));
  NAI_TRY(NAI_ROOM(w->kernels, w->kernel_capacity, i, w->io->arena, err));
  if (added)
    w->kernels[i] = (struct kernel_sum){.place = number, .name = name};
  w->kernels[i].count++;
  w->kernels[i].ns += ns;
  return NAI_OK;
}

static void cover(struct work *w, const struct place *place, int64_t ns) {
  struct coverage *c = &w->coverage[place->process < 0 ? (int32_t)w->m->process_count : place->process];
  c->gpu_ns += ns;
  c->with_site_ns += place->site ? ns : 0;
  c->graph_launch_ns += place->site && place->scope == GRAPH_LAUNCH ? ns : 0;
}

static int add_op(struct work *w, uint32_t gpu, const struct nai_op *op, struct nai_err *err) {
  struct place *place;
  uint32_t stack;
  enum scope scope = stack_of(&stack, w, op);
  int64_t ns = op->end - op->start;
  NAI_TRY(place_of(&place, w, stack, scope, nai_model_op_process(w->m, op), (int32_t)gpu, err));
  struct CALL_SITES_row *sums = &place->sums;
  w->gpu_ns[gpu] += ns;
  sums->gpu_time_ns += ns;
  cover(w, place, ns);
  if (op->type == NAI_OP_KERNEL) {
    sums->kernel_count++;
    sums->kernel_time_ns += ns;
    return place->site ? add_kernel(w, place, op->row, ns, err) : NAI_OK;
  }
  if (op->type == NAI_OP_GRAPH) {
    sums->graph_count++;
    sums->graph_time_ns += ns;
    return NAI_OK;
  }
  sums->copy_count++;
  sums->copy_time_ns += ns;
  int64_t bytes = nai_at(&w->m->memops.bytes, op->row);
  sums->copy_bytes += bytes == NAI_NULL_I64 ? 0 : bytes;
  return NAI_OK;
}

/* --- calls ---------------------------------------------------------------------------------------- */

/* The GPU of a process that used one, -1 of others. */
static int32_t only_gpu(const struct nai_model *m, int32_t process) {
  const struct nai_groups *g = &m->process_gpus;
  return process >= 0 && g->first[process + 1] - g->first[process] == 1 ? (int32_t)g->order[g->first[process]] : -1;
}

static int add_call(struct work *w, uint32_t call, int32_t process, bool outermost, bool waits, struct nai_err *err) {
  const struct nai_model *m = w->m;
  struct coverage *c = &w->coverage[process < 0 ? (int32_t)m->process_count : process];
  struct place *place;
  int64_t ns = nai_call_ns(m, call);
  NAI_TRY(place_of(&place, w, w->stacks.stack_of[call], CALL, process, only_gpu(m, process), err));
  place->sums.wait_count += waits;
  place->sums.wait_ns += waits ? ns : 0;
  if (!outermost)
    return NAI_OK;
  place->sums.api_count++;
  place->sums.api_ns += ns;
  place->sums.allocation_count += m->api_class[nai_val_text(&m->apis.name, call)] == NAI_API_ALLOCATION;
  c->calls++;
  c->with_stack += w->stacks.stack_of[call] > 0;
  if (w->stacks.has_own[call] && ns < c->shortest)
    c->shortest = ns;
  return NAI_OK;
}

/* Calls in others are a part of these. */
static int add_thread(struct work *w, uint32_t thread, struct nai_err *err) {
  const struct nai_model *m = w->m;
  const struct nai_groups *calls = &m->api_by_thread;
  int64_t until = INT64_MIN, waits_until = INT64_MIN;
  for (uint32_t i = calls->first[thread]; i < calls->first[thread + 1]; i++) {
    uint32_t call = calls->order[i];
    int64_t start = nai_val(&m->apis.start_ns, call), end = nai_val(&m->apis.end_ns, call);
    bool outermost = start >= until, waits = start >= waits_until && nai_model_api_blocks(m, call);
    until = outermost ? end : until;
    waits_until = waits ? end : waits_until;
    if (outermost || waits)
      NAI_TRY(add_call(w, call, m->thread_process[thread], outermost, waits, err));
  }
  return NAI_OK;
}

/* Bytes of allocations, joined with their calls. */
static int add_allocations(struct work *w, struct nai_err *err) {
  const struct nai_model *m = w->m;
  const struct MEMORY_USAGE_EVENTS_columns usage = MEMORY_USAGE_EVENTS_columns_of(m->tables[NAI_IN_MEMORY_USAGE]);
  struct nai_keyset ids = {.arena = w->io->arena};
  uint32_t *calls, count = 0;
  bool added;
  NAI_TRY(NAI_NEW(calls, w->io->arena, usage.n ? m->apis.n : 0, err));
  for (uint32_t i = 0; usage.n && i < m->apis.n; i++) {
    int32_t thread = nai_val_i32(&m->apis.thread, i);
    int64_t id = nai_at(&m->apis.correlation_id, i);
    if (thread < 0 || id <= 0 || id > UINT32_MAX || m->api_class[nai_val_text(&m->apis.name, i)] != NAI_API_ALLOCATION)
      continue;
    nai_keyset_add(&ids, nai_key_pair(m->thread_process[thread], (uint32_t)id), &added);
    if (added)
      calls[count++] = i;
  }
  for (uint32_t i = 0; i < usage.n && !ids.oom; i++) {
    struct place *place;
    int64_t id = nai_at(&usage.correlation_id, i), bytes = nai_at(&usage.bytes, i);
    int32_t process = nai_at_i32(&usage.process, i);
    if (nai_at(&usage.operation, i) != 0 || bytes <= 0)
      continue;
    uint32_t found =
        id > 0 && id <= UINT32_MAX ? nai_keyset_find(&ids, nai_key_pair(process, (uint32_t)id)) : UINT32_MAX;
    uint32_t stack = found == UINT32_MAX ? 0 : w->stacks.stack_of[calls[found]];
    NAI_TRY(place_of(&place, w, stack, CALL, process, only_gpu(m, process), err));
    place->sums.allocation_bytes += bytes;
  }
  return ids.oom ? nai_err_nomem(err) : NAI_OK;
}

/* --- idle time -------------------------------------------------------------------------------------- */

static bool is_wait(enum nai_idle_cause cause) {
  return cause == NAI_IDLE_BLOCKING_CALL || cause == NAI_IDLE_QUEUE_DRAINED;
}

/* The rest is no call's; the process is known where only one used the GPU. */
static int add_rest(struct work *w, uint32_t gpu, int64_t ns, struct nai_err *err) {
  const struct nai_keyset *processes = &w->m->gpus[gpu].processes;
  struct place *place;
  NAI_TRY(place_of(&place, w, 0, CALL, processes->count == 1 ? (int32_t)processes->keys[0] : -1, (int32_t)gpu, err));
  place->sums.idle_ns += ns;
  return NAI_OK;
}

static int add_idle(struct work *w, uint32_t gpu, struct nai_err *err) {
  const struct nai_model *m = w->m;
  NAI_SCOPED(nai_idle_shares) shares = {.by_call = true};
  int64_t rest = 0;
  uint32_t at = 0;
  for (struct nai_idle_gap gap = nai_idle_first(gpu); nai_idle_next(&gap, m);) {
    struct nai_idle_split split;
    if (!nai_idle_gap_active(&at, m, gpu, gap.number))
      continue;
    rest += gap.end - gap.start;
    NAI_TRY(nai_idle_split_again(&split, &shares, NULL, m, &gap, err));
  }
  for (uint32_t i = 0; i < shares.keys.count; i++) {
    enum nai_idle_cause cause;
    struct nai_idle_culprit share = nai_idle_share_at(&cause, &shares, i);
    int32_t thread = nai_val_i32(&m->apis.thread, share.id);
    struct place *place;
    NAI_TRY(place_of(&place, w, w->stacks.stack_of[share.id], CALL, thread < 0 ? -1 : m->thread_process[thread],
                     (int32_t)gpu, err));
    place->sums.idle_ns += share.ns;
    place->sums.wait_idle_ns += is_wait(cause) ? share.ns : 0;
    place->sums.allocation_idle_ns += cause == NAI_IDLE_ALLOCATION ? share.ns : 0;
    w->wait_idle_ns[gpu] += is_wait(cause) ? share.ns : 0;
    rest -= share.ns;
  }
  return rest ? add_rest(w, gpu, rest, err) : NAI_OK;
}

/* --- rows ------------------------------------------------------------------------------------------- */

static double part(int64_t ns, int64_t all) { return all > 0 ? nai_percent((double)ns, (double)all) : NAN; }

static void put_places(struct work *w) {
  bool allocations = w->m->tables[NAI_IN_MEMORY_USAGE] && w->m->tables[NAI_IN_MEMORY_USAGE]->rows;
  for (uint32_t i = 0; i < w->places_by_key.count; i++) {
    const struct place *place = &w->places[i];
    const struct nai_call_site *site = &w->stacks.sites[place->site];
    struct CALL_SITES_row row = place->sums;
    row.label = site->label;
    row.scope = scope_names[place->scope];
    row.pid = nai_model_pid(w->m, place->process);
    row.device_id = place->gpu < 0 ? NAI_NULL_I64 : nai_model_device(w->m, (uint32_t)place->gpu);
    row.site_kind = nai_site_kind_name(site->kind);
    row.allocation_bytes = allocations ? row.allocation_bytes : NAI_NULL_I64;
    row.pct_of_gpu_time = place->gpu < 0 ? (double)NAN : part(row.gpu_time_ns, w->gpu_ns[place->gpu]);
    row.pct_of_wait_idle = place->gpu < 0 ? (double)NAN : part(row.wait_idle_ns, w->wait_idle_ns[place->gpu]);
    CALL_SITES_add(w->io->out[0], &row);
  }
}

static int by_place(const void *pa, const void *pb, void *names) {
  const struct kernel_sum *a = pa, *b = pb;
  int order = NAI_COMPARE({a->place, b->place}, {b->ns, a->ns});
  return order ? order : strcmp(nai_strings_get(names, a->name), nai_strings_get(names, b->name));
}

static void put_kernels(struct work *w) {
  enum { MOST = 50 };
  const struct nai_table *kernels = w->m->tables[NAI_IN_KERNELS];
  uint32_t count = w->kernels_seen.count, of_place = 0;
  if (count)
    qsort_r(w->kernels, count, sizeof *w->kernels, by_place, (void *)&kernels->strings);
  for (uint32_t i = 0; i < count; i++) {
    const struct kernel_sum *k = &w->kernels[i];
    const struct place *place = &w->places[k->place];
    of_place = i && w->kernels[i - 1].place == k->place ? of_place + 1 : 0;
    if (of_place < MOST)
      NAI_ADD(CALL_SITE_KERNELS, w->io->out[1], .label = w->stacks.sites[place->site].label,
              .scope = scope_names[place->scope], .pid = nai_model_pid(w->m, place->process),
              .device_id = nai_model_device(w->m, (uint32_t)place->gpu),
              .kernel_name = nai_strings_get(&kernels->strings, k->name), .count = k->count, .time_ns = k->ns);
  }
}

/* Frames of the different stacks of each process. */
static void count_frames(struct work *w) {
  struct nai_keyset seen = {.arena = w->io->arena};
  const struct nai_call_stacks *s = &w->stacks;
  for (uint32_t i = 0; i < w->m->apis.n; i++) {
    int32_t thread = nai_val_i32(&w->m->apis.thread, i), process = thread < 0 ? -1 : w->m->thread_process[thread];
    const struct nai_call_stack *stack = &s->stacks[s->stack_of[i]];
    bool added = false;
    if (s->stack_of[i])
      nai_keyset_add(&seen, nai_key_pair(process, s->stack_of[i]), &added);
    for (uint32_t f = 0; added && f < stack->count; f++) {
      struct coverage *c = &w->coverage[process < 0 ? (int32_t)w->m->process_count : process];
      c->frames++;
      c->python += nai_call_frame_is_python(s, s->rows[stack->first + f]);
      c->resolved += nai_frame_class(&s->frames, s->rows[stack->first + f]) != NAI_FRAME_MARKER;
    }
  }
  w->io->arena->oom |= seen.oom;
}

static void put_coverage(struct work *w) {
  count_frames(w);
  for (uint32_t p = 0; p <= w->m->process_count; p++) {
    const struct coverage *c = &w->coverage[p];
    if (c->calls || c->gpu_ns)
      NAI_ADD(CALL_STACK_COVERAGE, w->io->out[2], .pid = nai_model_pid(w->m, p < w->m->process_count ? (int32_t)p : -1),
              .api_count = c->calls, .with_stack_count = c->with_stack,
              .gpu_time_with_site_pct = part(c->with_site_ns, c->gpu_ns),
              .graph_launch_pct = part(c->graph_launch_ns, c->gpu_ns),
              .resolved_frame_pct = part(c->resolved, c->frames), .python_frame_pct = part(c->python, c->frames),
              .shortest_call_ns = c->shortest == INT64_MAX ? NAI_NULL_I64 : c->shortest);
  }
}

static int begin(struct work *w, struct nai_err *err) {
  struct nai_arena *arena = w->io->arena;
  w->owners.arena = w->places_by_key.arena = w->stacks_seen.arena = w->kernels_seen.arena = arena;
  NAI_TRY(nai_call_stacks_open(&w->stacks, w->m, arena, err));
  NAI_TRY(nai_graph_nodes_new(&w->nodes, w->m, err));
  NAI_TRY(NAI_NEW(w->gpu_ns, arena, w->m->gpu_count, err));
  NAI_TRY(NAI_NEW(w->wait_idle_ns, arena, w->m->gpu_count, err));
  NAI_TRY(NAI_NEW(w->coverage, arena, w->m->process_count + 1, err));
  for (uint32_t p = 0; p <= w->m->process_count; p++)
    w->coverage[p].shortest = INT64_MAX;
  return NAI_OK;
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_model *m = io->model;
  NAI_SCOPED(work) w = {.io = io, .m = m};
  if (!nai_call_stacks_any(m))
    return NAI_OK;
  NAI_TRY(begin(&w, err));
  for (uint32_t g = 0; g < m->gpu_count; g++) {
    for (uint32_t i = 0; i < m->gpus[g].op_count; i++)
      NAI_TRY(add_op(&w, g, &m->gpus[g].ops[i], err));
    NAI_TRY(add_idle(&w, g, err));
  }
  for (uint32_t thread = 0; thread < m->thread_count; thread++)
    NAI_TRY(add_thread(&w, thread, err));
  NAI_TRY(add_allocations(&w, err));
  put_places(&w);
  put_kernels(&w);
  put_coverage(&w);
  return nai_arena_check(io->arena, err);
}

NAI_ANALYSIS(call_sites,
             .outputs = NAI_SCHEMAS(&nai_call_sites_schema, &nai_call_site_kernels_schema,
                                    &nai_call_stack_coverage_schema),
             .parts = NAI_PART(NAMES) | NAI_PART(LAUNCHES) | NAI_PART(CALLS) | NAI_PART(GPUS) | NAI_PART(ACTIVE) |
                      NAI_PART(PROCESS_GPUS) | NAI_PART(IDLE),
             .tables = NAI_IN(KERNELS) | NAI_IN(MEMOPS) | NAI_IN(GRAPHS) | NAI_IN(APIS) | NAI_IN(PROCESSES) |
                       NAI_IN(GPUS) | NAI_IN(CALLCHAINS) | NAI_IN(GRAPH_NODES) | NAI_IN(MEMORY_USAGE),
             .run = run)
