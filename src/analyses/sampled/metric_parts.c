/* What did sampled metrics show in each phase, step and range? Tables phase_metrics, step_metrics, range_metrics. */
#include "analyses/analysis.h"
#include "base/sort.h"
#include "model/nvtx/nvtx_place.h"
#include "model/sampled/metric_series.h"
#include "tables/phase_metrics.h"
#include "tables/range_metrics.h"
#include "tables/step_metrics.h"
#include "tables/steps.h"

enum { MAX_ROWS = 20000, MAX_PATHS = 200, MIN_PER_MILLE = 5 /* of the time of all kernels */ };
enum { MEASURED = 20, FEW = 5 };

/* A phase on one GPU, or on any (device_id NULL): when it ran something it had launched. */
struct phase_time {
  int phase;
  int64_t device_id;
  struct nai_intervals set;
};

/* Ranges of one path, on any thread: what they launched, those inside them included. */
struct path {
  uint32_t text; /* string of `paths` */
  int64_t instances, ns;
  struct nai_intervals *sets; /* by GPU */
};

struct work {
  const struct nai_node_io *io;
  struct phase_time *phases;
  uint32_t phase_count;
  struct nai_strings texts;
  struct path *paths;
  uint32_t path_count, path_capacity;
  uint32_t *path_of; /* by node */
};
static void work_free(struct work *w) { nai_strings_free(&w->texts); }

/* The cells that both tables begin with. */
#define METRIC_CELLS(s, sum)                                                                                        \
  .device_id = (s)->device_id, .nic = (s)->card, .port = (s)->port, .metric = (s)->name, .metric_unit = (s)->unit,  \
  .time_ns = (sum)->length, .coverage_pct = (sum)->coverage_pct, .sample_count = (sum)->count, .mean = (sum)->mean, \
  .max = (sum)->max

/* --- phases --------------------------------------------------------------------------------------- */

static struct phase_time *new_phase(struct work *w, int phase, int64_t device_id) {
  struct phase_time *p = &w->phases[w->phase_count++];
  *p = (struct phase_time){.phase = phase, .device_id = device_id, .set = {.arena = w->io->arena}};
  return p;
}

/* A phase's operations on one GPU, in the order of their starts. */
static int add_phase(struct work *w, int phase, const struct nai_gpu *gpu, struct nai_err *err) {
  const struct nai_model *m = w->io->model;
  struct phase_time *p = new_phase(w, phase, gpu->device_id);
  for (uint32_t i = 0; i < gpu->op_count; i++) {
    uint32_t api = nai_model_op_api(m, &gpu->ops[i]);
    if (api != NAI_NO_ROW && m->call_phase[api] == phase)
      nai_intervals_add(&p->set, gpu->ops[i].start, gpu->ops[i].end);
  }
  return p->set.oom ? nai_err_nomem(err) : NAI_OK;
}

/* The same on all GPUs together, which are the phases from number `first` on. */
static int join_gpus(struct work *w, int phase, uint32_t first, struct nai_err *err) {
  struct phase_time *all = new_phase(w, phase, NAI_NULL_I64);
  for (const struct phase_time *p = w->phases + first; p < all; p++)
    NAI_TRY(nai_intervals_unite(&all->set, &p->set, err));
  return NAI_OK;
}

static int find_phases(struct work *w, struct nai_err *err) {
  const struct nai_model *m = w->io->model;
  int count = m->phases && m->map_nvtx ? nai_patterns_class_count(m->phases) : 0;
  NAI_TRY(NAI_NEW(w->phases, w->io->arena, (size_t)count * (m->gpu_count + 1), err));
  for (int p = 0; p < count; p++) {
    uint32_t first = w->phase_count;
    for (uint32_t g = 0; g < m->gpu_count; g++)
      NAI_TRY(add_phase(w, p, &m->gpus[g], err));
    NAI_TRY(join_gpus(w, p, first, err));
  }
  return NAI_OK;
}

static void use_phases(const struct work *w, const struct nai_metric_series *s) {
  for (const struct phase_time *p = w->phases; p < w->phases + w->phase_count; p++) {
    if (p->device_id != s->device_id || !p->set.count)
      continue;
    struct nai_series_sum sum = nai_series_within(s, &p->set);
    NAI_ADD(PHASE_METRICS, w->io->out[0], METRIC_CELLS(s, &sum),
            .phase = nai_patterns_class(w->io->model->phases, p->phase));
  }
}

/* --- ranges --------------------------------------------------------------------------------------- */

/* Sums up by path. Those of little time, or beyond the first ones, have no sets. */
static int find_paths(struct work *w, struct nai_err *err) {
  const struct nai_model *m = w->io->model;
  struct nai_key *order;
  int64_t all = 0;
  NAI_TRY(NAI_NEW(w->path_of, w->io->arena, m->node_count, err));
  for (uint32_t i = 0; i < m->node_count; i++) {
    const struct nai_nvtx_node *node = &m->nodes[i];
    NAI_SCOPED(nai_buf) text = {0};
    nai_nvtx_put_path(&text, m, node);
    NAI_TRY(nai_buf_check(&text, err));
    uint32_t path = w->path_of[i] = nai_strings_add(&w->texts, nai_buf_str(&text), text.len);
    NAI_TRY(nai_memory_check(path != NAI_NO_STRING, err));
    if (path == w->path_count) {
      NAI_TRY(NAI_ROOM(w->paths, w->path_capacity, w->path_count, w->io->arena, err));
      w->paths[w->path_count++] = (struct path){.text = path};
    }
    w->paths[path].instances += node->count;
    w->paths[path].ns += node->inclusive_kernel_ns + node->inclusive_graph_ns;
    all += node->kernel_ns + node->graph_ns;
  }
  NAI_TRY(NAI_NEW(order, w->io->arena, w->path_count, err));
  for (uint32_t i = 0; i < w->path_count; i++)
    order[i] = (struct nai_key){UINT64_MAX - (uint64_t)w->paths[i].ns, i};
  NAI_TRY(nai_sort_keys(order, w->path_count, err));
  for (uint32_t i = 0; i < w->path_count && i < MAX_PATHS; i++) {
    struct path *path = &w->paths[order[i].value];
    if (1000.0 * (double)path->ns < MIN_PER_MILLE * (double)all || !path->ns) /* whole numbers may not fit */
      break;
    NAI_TRY(NAI_NEW(path->sets, w->io->arena, m->gpu_count, err));
    for (uint32_t g = 0; g < m->gpu_count; g++)
      path->sets[g].arena = w->io->arena;
  }
  return NAI_OK;
}

/* Each operation is of all ranges around its launch. */
static int find_ranges(struct work *w, struct nai_err *err) {
  const struct nai_model *m = w->io->model;
  if (!m->map_nvtx)
    return NAI_OK;
  NAI_TRY(find_paths(w, err));
  for (uint32_t g = 0; g < m->gpu_count; g++)
    for (const struct nai_op *op = m->gpus[g].ops; op < m->gpus[g].ops + m->gpus[g].op_count; op++) {
      uint32_t api = nai_model_op_api(m, op);
      const struct nai_nvtx_node *node = api == NAI_NO_ROW ? NULL : nai_model_call_node(m, api);
      for (; node; node = node->parent == NAI_NO_ROW ? NULL : &m->nodes[node->parent]) {
        struct path *path = &w->paths[w->path_of[node - m->nodes]];
        if (path->sets)
          nai_intervals_add(&path->sets[g], op->start, op->end);
      }
    }
  for (uint32_t i = 0; i < w->path_count; i++)
    for (uint32_t g = 0; w->paths[i].sets && g < m->gpu_count; g++)
      NAI_TRY(nai_memory_check(!w->paths[i].sets[g].oom, err));
  return NAI_OK;
}

static void use_ranges(const struct work *w, const struct nai_metric_series *s) {
  for (uint32_t i = 0; s->gpu && i < w->path_count; i++) {
    const struct path *path = &w->paths[i];
    const struct nai_intervals *set = path->sets ? &path->sets[s->gpu - w->io->model->gpus] : NULL;
    if (!set || !set->count)
      continue;
    struct nai_series_sum sum = nai_series_within(s, set);
    NAI_ADD(RANGE_METRICS, w->io->out[2], .device_id = s->device_id,
            .range_path = nai_strings_get(&w->texts, path->text), .metric = s->name, .metric_unit = s->unit,
            .state = sum.count >= MEASURED ? "measured"
                   : sum.count >= FEW      ? "few"
                                           : "unsampled",
            .instance_count = path->instances, .sample_count = sum.count, .mean = sum.mean, .max = sum.max,
            .time_ns = sum.length, .coverage_pct = sum.coverage_pct);
  }
}

/* --- steps ---------------------------------------------------------------------------------------- */

/* Of cards the windows on the process's first GPU count: rows of a process come GPU by GPU. */
static bool is_for(const struct nai_table *steps, int64_t row, int64_t *first_device, int64_t *pid, int64_t device_id) {
  int64_t of = nai_get_i64(steps, row, STEPS_device_id);
  if (device_id != NAI_NULL_I64)
    return of == device_id;
  if (*pid != nai_get_i64(steps, row, STEPS_pid)) {
    *pid = nai_get_i64(steps, row, STEPS_pid);
    *first_device = of;
  }
  return of == *first_device;
}

static void use_steps(const struct work *w, const struct nai_metric_series *s) {
  const struct nai_table *steps = w->io->in[0];
  int64_t first_device = NAI_NULL_I64, pid = NAI_NULL_I64;
  uint32_t first = 0; /* samples that may reach into the step */
  for (int64_t i = 0; i < steps->rows && w->io->out[1]->rows < MAX_ROWS; i++) {
    struct nai_interval window = {nai_get_i64(steps, i, STEPS_gpu_start_ns), nai_get_i64(steps, i, STEPS_gpu_end_ns)};
    if (window.end <= window.start || !is_for(steps, i, &first_device, &pid, s->device_id))
      continue;
    if (first == s->count || s->start[first] > window.start) /* the steps of another process */
      first = 0;
    while (first < s->count && s->end[first] <= window.start)
      first++;
    struct nai_metric_series rest = *s;
    rest.start += first;
    rest.end += first;
    rest.value += first;
    rest.count -= first;
    struct nai_series_sum sum = nai_series_within(&rest, &(struct nai_intervals){.v = &window, .count = 1});
    NAI_ADD(STEP_METRICS, w->io->out[1], METRIC_CELLS(s, &sum), .pid = nai_get_i64(steps, i, STEPS_pid),
            .step = nai_get_i64(steps, i, STEPS_step), .state = nai_get_str(steps, i, STEPS_state),
            .start_ns = window.start, .end_ns = window.end);
  }
}

static int use_series(void *ctx, const struct nai_metric_series *s, struct nai_err *err) {
  (void)err;
  if (s->gpu && s->end[0] <= s->start[0]) /* half of its samples tell of no time */
    return NAI_OK;
  use_phases(ctx, s);
  use_ranges(ctx, s);
  use_steps(ctx, s);
  return NAI_OK;
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  NAI_SCOPED(work) w = {.io = io};
  if (!io->model->tables[NAI_IN_GPU_METRIC_SAMPLES]->rows && !io->model->tables[NAI_IN_NIC_SAMPLES]->rows)
    return NAI_OK;
  NAI_TRY(find_phases(&w, err));
  NAI_TRY(find_ranges(&w, err));
  NAI_TRY(nai_gpu_series_each(io->model, use_series, &w, err));
  return nai_card_series_each(io->model, use_series, &w, err);
}

NAI_ANALYSIS(metric_parts,
             .outputs = NAI_SCHEMAS(&nai_phase_metrics_schema, &nai_step_metrics_schema, &nai_range_metrics_schema),
             .inputs = NAI_SCHEMAS(&nai_steps_schema),
             .parts = NAI_PART(SAMPLED) | NAI_PART(GPUS) | NAI_PART(LAUNCHES) | NAI_PART(PHASES) | NAI_PART(NVTX_TREE),
             .tables = NAI_IN(NIC_METRICS) | NAI_IN(NIC_IDS) | NAI_IN(NICS), .config = NAI_CONFIG(MAP_NVTX), .run = run)
