/* Which call of a kernel is worth a look with Nsight Compute, and how is it found there? Table profile_targets. */
#include "analyses/analysis.h"
#include "base/fmt.h"
#include "base/sort.h"
#include "model/idle/active.h"
#include "model/kernels/waves.h"
#include "table/kernel_name.h"
#include "tables/gpus.h"
#include "tables/kernel_configs.h"
#include "tables/profile_targets.h"

enum { MIN_PCT = 1 };

/* Moments of a call, in the order of launches. */
struct moment {
  int64_t launched, start;
  uint32_t row;
  int32_t process;
};

/* A kernel on a GPU. */
struct target {
  uint32_t group, call;           /* index in kernel_groups; kernel_events row, NAI_NO_ROW for none yet */
  uint32_t function;              /* string of `functions` */
  struct target *next;            /* the next one with that */
  struct moment at;               /* of the call */
  double usual, off;              /* ns; by how much the call is off that */
  int64_t skip, active_ns, until; /* until: end of its executions so far */
};

struct work {
  const struct nai_model *m;
  struct nai_arena *arena;
  struct nai_strings functions;
  uint32_t *function_of;    /* per string of kernel_events */
  struct target **first;    /* per function: its first target */
  struct target **of_group; /* per kernel group: its target */
  struct target *targets;
  uint32_t count;
};
static void work_free(struct work *w) { nai_strings_free(&w->functions); }

/* --- targets -------------------------------------------------------------------------------------- */

/* What ncu calls the function: without namespaces, template arguments and parameters. */
static int find_functions(struct work *w, struct nai_err *err) {
  const struct nai_strings *names = &w->m->tables[NAI_IN_KERNELS]->strings;
  NAI_SCOPED(nai_buf) name = {0};
  NAI_TRY(NAI_NEW(w->function_of, w->arena, names->count, err));
  for (uint32_t i = 0; i < names->count; i++) {
    nai_buf_clear(&name);
    nai_kernel_base_name(&name, nai_strings_get(names, i));
    w->function_of[i] = nai_strings_add(&w->functions, nai_buf_str(&name), name.len);
    if (name.oom || w->function_of[i] == NAI_NO_STRING)
      return nai_err_nomem(err);
  }
  return NAI_NEW(w->first, w->arena, w->functions.count, err);
}

static int find_targets(struct work *w, struct nai_err *err) {
  const struct nai_model *m = w->m;
  int64_t *device_ns;
  NAI_TRY(NAI_NEW(device_ns, w->arena, m->gpu_count, err));
  NAI_TRY(NAI_NEW(w->of_group, w->arena, m->kernel_group_count, err));
  NAI_TRY(NAI_NEW(w->targets, w->arena, m->kernel_group_count, err));
  for (uint32_t i = 0; i < m->kernel_group_count; i++)
    device_ns[m->kernel_groups[i].gpu] += m->kernel_groups[i].total_ns;
  for (uint32_t i = 0; i < m->kernel_group_count; i++) {
    const struct nai_kernel_group *group = &m->kernel_groups[i];
    if (nai_percent((double)group->total_ns, (double)device_ns[group->gpu]) < MIN_PCT)
      continue;
    uint32_t function = w->function_of[group->name];
    struct target *t = w->of_group[i] = &w->targets[w->count++];
    *t = (struct target){
        .group = i, .call = NAI_NO_ROW, .function = function, .next = w->first[function], .until = INT64_MIN};
    w->first[function] = t;
  }
  return NAI_OK;
}

static struct target *target_of(const struct work *w, uint32_t kernel) {
  return w->of_group[w->m->kernel_group[kernel]];
}

/* --- their calls ----------------------------------------------------------------------------------- */

static struct moment moment_of(const struct nai_model *m, uint32_t kernel) {
  uint32_t api = m->kernel_api[kernel];
  int64_t start = nai_val(&m->kernels.start_ns, kernel);
  return (struct moment){api == NAI_NO_ROW ? start : nai_val(&m->apis.start_ns, api), start, kernel,
                         nai_val_i32(&m->kernels.process, kernel)};
}

static bool is_before(const struct moment *a, const struct moment *b) {
  return NAI_COMPARE({a->launched, b->launched}, {a->start, b->start}, {a->row, b->row}) < 0;
}

/* Where the time goes: of calls of two lengths the one that takes more of it. */
static double usual_ns(const struct work *w, const struct target *t) {
  const struct nai_kernel_group *group = &w->m->kernel_groups[t->group];
  return group->total_ns ? group->squares / (double)group->total_ns : 0;
}

static void find_calls(struct work *w) {
  const struct nai_model *m = w->m;
  for (uint32_t t = 0; t < w->count; t++) {
    w->targets[t].usual = usual_ns(w, &w->targets[t]);
    w->targets[t].off = INFINITY;
  }
  for (uint32_t i = 0; i < m->kernels.n; i++) {
    struct target *t = target_of(w, i);
    if (!t)
      continue;
    double off = fabs((double)nai_kernel_ns(m, i) - t->usual);
    if (off > t->off)
      continue;
    struct moment at = moment_of(m, i);
    if (off < t->off || is_before(&at, &t->at)) {
      t->call = i;
      t->at = at;
      t->off = off;
    }
  }
}

static void count_skipped(struct work *w) {
  const struct nai_model *m = w->m;
  for (uint32_t i = 0; i < m->kernels.n; i++) {
    struct target *t = w->first[w->function_of[m->kernel_groups[m->kernel_group[i]].name]];
    struct moment at = t ? moment_of(m, i) : (struct moment){0};
    for (; t; t = t->next)
      t->skip += at.process == t->at.process && is_before(&at, &t->at);
  }
}

/* Time in which it runs, several executions at once or not. */
static void add_active(struct work *w, uint32_t gpu) {
  const struct nai_gpu *g = &w->m->gpus[gpu];
  uint32_t at = 0;
  for (uint32_t i = 0; i < g->op_count; i++) {
    struct target *t = g->ops[i].type == NAI_OP_KERNEL ? target_of(w, g->ops[i].row) : NULL;
    int64_t start = g->ops[i].start, end = g->ops[i].end;
    if (!t || !nai_gpu_is_active(&w->m->active[gpu], &at, start))
      continue;
    start = start > t->until ? start : t->until;
    t->active_ns += end > start ? end - start : 0;
    t->until = end > t->until ? end : t->until;
  }
}

/* --- rows ------------------------------------------------------------------------------------------ */

/* "one thread", "one block of 256 threads", "10 blocks of 16 threads on 28 multiprocessors". */
static const char *geometry_of(const struct work *w, uint32_t kernel, int64_t sms) {
  const struct nai_table *configs = w->m->tables[NAI_IN_KERNEL_CONFIGS];
  int32_t config = nai_val_i32(&w->m->kernels.config, kernel);
  NAI_SCOPED(nai_buf) text = {0};
  if (config < 0 || config >= configs->rows)
    return NULL;
  int64_t blocks = nai_config_product(configs, config, KERNEL_CONFIGS_grid_x),
          threads = nai_config_product(configs, config, KERNEL_CONFIGS_block_x);
  if (blocks <= 0 || threads <= 0)
    return NULL;
  if (blocks == 1 && threads == 1)
    return "one thread";
  nai_buf_puts(&text, blocks == 1 ? "one block of " : "");
  if (blocks > 1) {
    nai_fmt_count(&text, blocks);
    nai_buf_puts(&text, " blocks of ");
  }
  nai_fmt_count(&text, threads);
  nai_buf_puts(&text, threads == 1 ? " thread" : " threads");
  if (sms > 0 && blocks < sms)
    nai_buf_printf(&text, " on %d multiprocessors", (int)sms);
  w->arena->oom |= text.oom;
  return nai_arena_printf(w->arena, "%s", nai_buf_str(&text));
}

/* Of copies from the host to one GPU. */
struct input {
  int64_t bytes, count;
};

static struct input input_of(const struct nai_model *m, uint32_t gpu) {
  enum { HOST_TO_DEVICE = 1 };
  const struct nai_gpu *g = &m->gpus[gpu];
  struct input in = {0};
  for (uint32_t i = 0; i < g->op_count; i++) {
    const struct nai_op *op = &g->ops[i];
    if (op->type != NAI_OP_COPY || nai_at_i32(&m->memops.copy_kind, op->row) != HOST_TO_DEVICE)
      continue;
    int64_t bytes = nai_at(&m->memops.bytes, op->row);
    in.bytes += bytes > 0 && bytes < INT64_MAX - in.bytes ? bytes : 0;
    in.count++;
  }
  return in;
}

static void set_pass(struct PROFILE_TARGETS_row *row, const struct input *in, int64_t bytes_per_s) {
  enum { SHORTEST_NS = 1000 };
  if (!in->count)
    return;
  row->input_bytes = in->count >= row->call_count ? in->bytes / row->call_count : in->bytes;
  double ns = bytes_per_s > 0 ? (double)row->input_bytes / (double)bytes_per_s * 1e9 : 0;
  if (ns < SHORTEST_NS)
    return;
  row->pass_ns = (int64_t)ns;
  row->passes = (double)row->duration_ns / ns;
}

/* Exporters of old versions end a long name with dots. */
static const char *filter_of(const struct work *w, const char *function) {
  const char *dots = strstr(function, "...");
  return dots && !dots[3] && dots > function
           ? nai_arena_printf(w->arena, "regex:^%.*s", (int)(dots - function), function)
           : function;
}

/* For people: what a wrapper such as cutlass::Kernel<Gemm<...>> launches. */
static const char *told_name(const struct work *w, const char *kernel) {
  NAI_SCOPED(nai_buf) name = {0};
  nai_kernel_name_short(&name, kernel, 4096);
  size_t len = strcspn(nai_buf_str(&name), "<");
  w->arena->oom |= name.oom;
  return nai_arena_printf(w->arena, "%.*s", (int)(len ? len : name.len), nai_buf_str(&name));
}

static void put(struct nai_table *table, const struct work *w, const struct target *t, const struct input *in) {
  const struct nai_model *m = w->m;
  const struct nai_kernel_group *group = &m->kernel_groups[t->group];
  int32_t device = m->gpus[group->gpu].device_id;
  struct GPUS_row gpu = GPUS_at(m->tables[NAI_IN_GPUS], nai_model_gpu_index(m, device));
  int64_t active_ns = nai_intervals_total_ns(&m->active[group->gpu].active), all = 0;
  for (uint32_t i = 0; i < m->kernel_group_count; i++)
    all += m->kernel_groups[i].gpu == group->gpu ? m->kernel_groups[i].total_ns : 0;
  struct PROFILE_TARGETS_row row = NAI_ROW(
      PROFILE_TARGETS, .kernel_name = nai_strings_get(&m->tables[NAI_IN_KERNELS]->strings, group->name),
      .device_id = device, .function = told_name(w, nai_strings_get(&m->tables[NAI_IN_KERNELS]->strings, group->name)),
      .kernel_filter = filter_of(w, nai_strings_get(&w->functions, t->function)),
      .pid = nai_model_pid(m, nai_val_i32(&m->kernels.process, t->call)), .call_count = group->calls,
      .total_time_ns = group->total_ns, .pct_of_device_kernel_time = nai_percent((double)group->total_ns, (double)all),
      .active_ns = t->active_ns, .pct_of_active = nai_percent((double)t->active_ns, (double)active_ns),
      .category = nai_kernel_classes_name(m->classes, m->kernel_category[group->name]), .launch_skip = t->skip,
      .duration_ns = nai_kernel_ns(m, t->call), .geometry = geometry_of(w, t->call, gpu.sm_count),
      .start_ns = nai_val(&m->kernels.start_ns, t->call), .end_ns = nai_val(&m->kernels.end_ns, t->call));
  set_pass(&row, in, gpu.memory_bytes_per_s);
  PROFILE_TARGETS_add(table, &row);
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_model *m = io->model;
  NAI_SCOPED(work) w = {.m = m, .arena = io->arena};
  struct input *inputs;
  NAI_TRY(find_functions(&w, err));
  NAI_TRY(find_targets(&w, err));
  find_calls(&w);
  count_skipped(&w);
  NAI_TRY(NAI_NEW(inputs, io->arena, m->gpu_count, err));
  for (uint32_t g = 0; g < m->gpu_count; g++) {
    add_active(&w, g);
    inputs[g] = input_of(m, g);
  }
  for (uint32_t i = 0; i < w.count; i++)
    if (w.targets[i].call != NAI_NO_ROW)
      put(io->out[0], &w, &w.targets[i], &inputs[m->kernel_groups[w.targets[i].group].gpu]);
  return NAI_OK;
}

NAI_ANALYSIS(profile_targets, .outputs = NAI_SCHEMAS(&nai_profile_targets_schema),
             .parts = NAI_PART(NAMES) | NAI_PART(ACTIVE) | NAI_PART(GPUS) | NAI_PART(LAUNCHES) |
                      NAI_PART(KERNEL_GROUPS),
             .tables = NAI_IN(KERNELS) | NAI_IN(KERNEL_CONFIGS) | NAI_IN(MEMOPS) | NAI_IN(GRAPHS) | NAI_IN(APIS) |
                       NAI_IN(GPUS) | NAI_IN(PROCESSES),
             .config = NAI_CONFIG(KERNEL_CLASSES), .cost = 2, .run = run)
