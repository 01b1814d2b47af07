/* What did sampled metrics show while each kernel ran alone, and what binds it? Tables kernel_metrics, kernel_bounds.
 */
#include "analyses/analysis.h"
#include "base/sort.h"
#include "model/sampled/metric_series.h"
#include "table/stats.h"
#include "tables/gpu_residency.h"
#include "tables/kernel_bounds.h"
#include "tables/kernel_metrics.h"

enum { PURE_PCT = 95, MEASURED = 20, FEW = 5 };
enum { BOUND_PCT = 60, FEW_SMS_PCT = 50, LATENCY_PCT = 40 };
static const double MIN_PCT = 0.5; /* of the GPU's kernel time */

/* What a kernel may be bound by. Reads and writes share the memory. */
enum unit { TENSOR, READ, WRITE, ISSUE, NVLINK, PCIE, SMS, CLOCK, UNITS };
static const char *const metric_of[UNITS] = {
    [TENSOR] = "Tensor Active", [READ] = "DRAM Read", [WRITE] = "DRAM Write", [ISSUE] = "SM Issue",
    [NVLINK] = "NVLink",        [PCIE] = "PCI",       [SMS] = "SMs Active",   [CLOCK] = "GPC Clock"};

/* A stretch of time in which only kernels of one name run on a GPU. */
struct stretch {
  int64_t start, end;
  uint32_t group; /* of the model's kernel groups */
};

struct kernel {
  int64_t alone_ns, samples; /* of the metric with most */
  bool shown, lost;          /* samples are missing where it runs alone */
  double used[UNITS];        /* NaN: not measured */
};

struct sample {
  uint32_t group;
  double value;
};

struct work {
  const struct nai_node_io *io;
  const struct nai_model *m;
  struct stretch *stretches; /* GPU by GPU, by time */
  uint32_t stretch_count, stretch_capacity;
  uint32_t *first;        /* per GPU: its first stretch; gpu_count + 1 entries */
  int64_t *kernel_ns;     /* per GPU */
  int64_t *period;        /* per GPU: of its metrics the longest; 0: nothing was sampled */
  bool *shared;           /* per GPU: other processes had it, too */
  struct kernel *kernels; /* per group */
  struct nai_stats *durations;
};

/* --- time alone --------------------------------------------------------------------------------- */

/* Of operations so far: the group that runs longest, and until when others do. */
struct running {
  uint32_t group;
  int64_t end, others_end;
};

static int add_stretch(struct work *w, const struct running *r, int64_t from, int64_t until, struct nai_err *err) {
  struct stretch s = {from > r->others_end ? from : r->others_end, until < r->end ? until : r->end, r->group};
  if (s.group == NAI_NO_GROUP || s.start >= s.end)
    return NAI_OK;
  w->kernels[s.group].alone_ns += s.end - s.start;
  NAI_TRY(NAI_ROOM(w->stretches, w->stretch_capacity, w->stretch_count, w->io->arena, err));
  w->stretches[w->stretch_count++] = s;
  return NAI_OK;
}

static void add_running(struct running *r, uint32_t group, int64_t end) {
  if (group == r->group && group != NAI_NO_GROUP) {
    r->end = end > r->end ? end : r->end;
    return;
  }
  int64_t other = end < r->end ? end : r->end; /* which ends first */
  r->others_end = other > r->others_end ? other : r->others_end;
  if (end > r->end)
    *r = (struct running){group, end, r->others_end};
}

/* Operations come by start: from one to the next only the one that runs longest can be alone, once others have ended.
 */
static int find_stretches(struct work *w, uint32_t g, struct nai_err *err) {
  const struct nai_gpu *gpu = &w->m->gpus[g];
  struct running r = {NAI_NO_GROUP, INT64_MIN, INT64_MIN};
  int64_t at = INT64_MIN;
  w->first[g] = w->stretch_count;
  for (uint32_t i = 0; i < gpu->op_count; i++) {
    const struct nai_op *op = &gpu->ops[i];
    int64_t start = op->start;
    NAI_TRY(add_stretch(w, &r, at, start, err));
    add_running(&r, op->type == NAI_OP_KERNEL ? w->m->kernel_group[op->row] : NAI_NO_GROUP, op->end);
    at = start;
  }
  NAI_TRY(add_stretch(w, &r, at, INT64_MAX, err));
  w->first[g + 1] = w->stretch_count;
  return NAI_OK;
}

/* --- samples ------------------------------------------------------------------------------------ */

/* Stretches of a GPU, of which those before `at` are over. */
struct walk {
  const struct stretch *v;
  uint32_t at, count;
};

static int64_t overlap(const struct stretch *s, int64_t start, int64_t end) {
  int64_t from = s->start > start ? s->start : start, until = s->end < end ? s->end : end;
  return until > from ? until - from : 0;
}

/* The group that has more of a time than all others together, if one has: each takes from the one before. */
static uint32_t main_group(struct walk *k, int64_t start, int64_t end) {
  uint32_t group = NAI_NO_GROUP;
  int64_t lead = 0;
  while (k->at < k->count && k->v[k->at].end <= start)
    k->at++;
  for (uint32_t i = k->at; i < k->count && k->v[i].start < end; i++) {
    int64_t ns = overlap(&k->v[i], start, end);
    lead = k->v[i].group == group ? lead + ns : lead - ns;
    group = lead < 0 ? k->v[i].group : group;
    lead = lead < 0 ? -lead : lead;
  }
  return group;
}

/* The kernel that a sample is of, NAI_NO_GROUP for none. */
static uint32_t owner_of(struct walk *k, int64_t start, int64_t end) {
  uint32_t group = main_group(k, start, end);
  int64_t ns = 0;
  for (uint32_t i = k->at; i < k->count && k->v[i].start < end; i++)
    ns += k->v[i].group == group ? overlap(&k->v[i], start, end) : 0;
  return 100 * (double)ns >= PURE_PCT * (double)(end - start) ? group : NAI_NO_GROUP;
}

/* Distances of more than one and a half periods are holes. */
static void find_holes(struct work *w, struct walk k, const struct nai_metric_series *s) {
  for (uint32_t n = 1; n < s->count; n++) {
    int64_t start = s->start[n - 1] + s->period, end = s->start[n];
    if (2 * (end - start) <= s->period)
      continue;
    while (k.at < k.count && k.v[k.at].end <= start)
      k.at++;
    for (uint32_t i = k.at; i < k.count && k.v[i].start < end; i++)
      w->kernels[k.v[i].group].lost = true;
  }
}

NAI_ORDER_BY(compare_samples, struct sample, NAI_SIGN(a->group, b->group), NAI_SIGN(a->value, b->value))

static int find_samples(struct sample **out, uint32_t *count, const struct work *w, struct walk k,
                        const struct nai_metric_series *s, struct nai_arena *arena, struct nai_err *err) {
  NAI_TRY(NAI_NEW(*out, arena, s->count, err));
  *count = 0;
  if (w->shared[s->gpu - w->m->gpus])
    return NAI_OK;
  int64_t last = 0;
  for (uint32_t i = 0; i < s->count; i++) {
    if (i && s->start[i] < last + s->period / 2) /* else stretches are walked for each of many samples at one time */
      continue;
    last = s->start[i];
    uint32_t group = owner_of(&k, s->start[i], s->start[i] + s->period);
    if (group != NAI_NO_GROUP)
      (*out)[(*count)++] = (struct sample){group, s->value[i]};
  }
  if (*count)
    qsort(*out, *count, sizeof **out, compare_samples);
  return NAI_OK;
}

/* --- rows --------------------------------------------------------------------------------------- */

static const char *state_of(const struct work *w, uint32_t group, int64_t samples) {
  if (w->shared[w->m->kernel_groups[group].gpu])
    return "shared";
  return samples >= MEASURED ? "measured" : samples >= FEW ? "few" : "unsampled";
}

static const char *why_of(const struct work *w, uint32_t group, int64_t samples) {
  const struct nai_kernel_group *g = &w->m->kernel_groups[group];
  const struct kernel *k = &w->kernels[group];
  int64_t period = w->period[g->gpu];
  if (samples >= MEASURED || w->shared[g->gpu])
    return NULL;
  if (w->durations[group].p50 < (double)period)
    return "too_short";
  if (2 * k->alone_ns < g->total_ns)
    return "overlapped";
  if (k->alone_ns < MEASURED * period)
    return "short_total";
  return k->lost ? "lost" : "edges";
}

/* Links that are down are sampled as 100 %, also while the GPU does nothing. */
static bool is_a_dead_link(const struct nai_metric_series *s) {
  uint32_t i = 0;
  while (i < s->count && s->value[i] >= 100)
    i++;
  return i == s->count && strstr(s->name, metric_of[NVLINK]);
}

/* Of several links the busiest. */
static void note_use(struct kernel *k, const struct nai_metric_series *s, double mean) {
  for (int u = 0; u < UNITS; u++)
    if (strstr(s->name, metric_of[u]) && (strcmp(s->unit, "%") == 0) == (u != CLOCK))
      k->used[u] = isnan(k->used[u]) || mean > k->used[u] ? mean : k->used[u];
}

/* `samples` are those of the group, ascending. */
static int put_metric(struct work *w, uint32_t group, const struct nai_metric_series *s, const struct sample *samples,
                      uint32_t count, struct nai_arena *arena, struct nai_err *err) {
  struct kernel *k = &w->kernels[group];
  double *v, sum = 0;
  NAI_TRY(NAI_NEW(v, arena, count, err));
  for (uint32_t i = 0; i < count; i++)
    sum += v[i] = samples[i].value;
  struct KERNEL_METRICS_row row = {.device_id = s->device_id,
                                   .kernel_name = nai_strings_get(&w->m->tables[NAI_IN_KERNELS]->strings,
                                                                  w->m->kernel_groups[group].name),
                                   .metric = s->name,
                                   .metric_unit = s->unit,
                                   .state = state_of(w, group, count),
                                   .why = why_of(w, group, count),
                                   .sample_count = count,
                                   .mean = count >= FEW ? sum / count : NAN,
                                   .p10 = NAN,
                                   .p50 = NAN,
                                   .p90 = NAN,
                                   .alone_ns = k->alone_ns,
                                   .time_ns = w->m->kernel_groups[group].total_ns,
                                   .period_ns = s->period};
  if (count >= MEASURED && !is_a_dead_link(s))
    note_use(k, s, row.mean);
  if (count >= MEASURED) {
    row.p10 = nai_quantile(v, count, 0.1);
    row.p50 = nai_quantile(v, count, 0.5);
    row.p90 = nai_quantile(v, count, 0.9);
  }
  k->samples = count > k->samples ? count : k->samples;
  KERNEL_METRICS_add(w->io->out[0], &row);
  return NAI_OK;
}

static int use_series(void *ctx, const struct nai_metric_series *s, struct nai_err *err) {
  struct work *w = ctx;
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(w->m->scratch_dir);
  uint32_t g = (uint32_t)(s->gpu - w->m->gpus), count, at = 0;
  const uint32_t stretches = w->first[g + 1] - w->first[g];
  struct walk k = {stretches ? w->stretches + w->first[g] : NULL, 0, stretches};
  struct sample *samples;
  if (s->period <= 0)
    return NAI_OK;
  w->period[g] = s->period > w->period[g] ? s->period : w->period[g];
  find_holes(w, k, s);
  NAI_TRY(find_samples(&samples, &count, w, k, s, &arena, err));
  for (uint32_t group = 0; group < w->m->kernel_group_count; group++) {
    uint32_t first = at;
    while (at < count && samples[at].group == group)
      at++;
    if (w->m->kernel_groups[group].gpu == g && w->kernels[group].shown)
      NAI_TRY(put_metric(w, group, s, samples + first, at - first, &arena, err));
  }
  return NAI_OK;
}

/* --- bounds ------------------------------------------------------------------------------------- */

/* What bound_by compares, in the order of ties. */
static const char *const bounds[] = {"tensor cores", "memory", "issue", "NVLink", "PCIe"};
enum { BOUNDS = sizeof bounds / sizeof *bounds };

static const char *bound_of(const double *of, double sms) {
  int most = -1;
  for (int i = 0; i < BOUNDS; i++)
    if (!isnan(of[i]) && (most < 0 || of[i] > of[most]))
      most = i;
  return most < 0               ? NULL
       : of[most] >= BOUND_PCT  ? bounds[most]
       : sms < FEW_SMS_PCT      ? "few SMs"
       : of[most] < LATENCY_PCT ? "latency"
                                : "mixed";
}

static const char *not_measured(const double *of, struct nai_arena *arena) {
  const char *list = NULL;
  for (int i = 0; i < BOUNDS; i++)
    if (isnan(of[i]))
      list = list ? nai_arena_printf(arena, "%s, %s", list, bounds[i]) : bounds[i];
  return list;
}

static void put_bound(struct work *w, uint32_t group) {
  const struct nai_model *m = w->m;
  const struct nai_kernel_group *g = &m->kernel_groups[group];
  const struct kernel *k = &w->kernels[group];
  const double *u = k->used, of[BOUNDS] = {u[TENSOR], u[READ] + u[WRITE], u[ISSUE], u[NVLINK], u[PCIE]};
  bool measured = k->samples >= MEASURED;
  NAI_ADD(KERNEL_BOUNDS, w->io->out[1], .device_id = nai_model_device(m, g->gpu),
          .kernel_name = nai_strings_get(&m->tables[NAI_IN_KERNELS]->strings, g->name),
          .state = state_of(w, group, k->samples), .why = why_of(w, group, k->samples),
          .bound_by = measured ? bound_of(of, u[SMS]) : NULL, .tensor = of[0], .dram = of[1], .issue = of[2],
          .nvlink = of[3], .pcie = of[4], .sms_active = u[SMS], .gpc_mhz = u[CLOCK],
          .not_measured = measured ? not_measured(of, w->io->arena) : NULL, .call_count = g->calls,
          .time_ns = g->total_ns,
          .pct_of_device_kernel_time = nai_percent((double)g->total_ns, (double)w->kernel_ns[g->gpu]),
          .category = nai_kernel_classes_name(m->classes, m->kernel_category[g->name]), .sample_count = k->samples);
}

/* --- all ---------------------------------------------------------------------------------------- */

/* Samples are of all that uses a GPU. */
static void find_shared(struct work *w) {
  const struct nai_table *owners = w->io->in[0];
  for (int64_t i = 0; i < owners->rows; i++)
    if (nai_get_i64(owners, i, GPU_RESIDENCY_pid) == NAI_NULL_I64)
      w->shared[nai_model_gpu_index(w->m, (int32_t)nai_get_i64(owners, i, GPU_RESIDENCY_device_id))] = true;
}

static int find_kernels(struct work *w, struct nai_err *err) {
  const struct nai_model *m = w->m;
  const struct nai_durations durations = {nai_column_of_u32(m->kernel_group), m->kernels.start_ns, m->kernels.end_ns};
  for (uint32_t i = 0; i < m->kernel_group_count; i++)
    w->kernel_ns[m->kernel_groups[i].gpu] += m->kernel_groups[i].total_ns;
  for (uint32_t i = 0; i < m->kernel_group_count; i++) {
    const struct nai_kernel_group *g = &m->kernel_groups[i];
    w->kernels[i].shown = nai_percent((double)g->total_ns, (double)w->kernel_ns[g->gpu]) >= MIN_PCT;
    for (int u = 0; u < UNITS; u++)
      w->kernels[i].used[u] = NAN;
  }
  for (uint32_t g = 0; g < m->gpu_count; g++)
    NAI_TRY(find_stretches(w, g, err));
  return nai_group_stats(w->durations, m->kernel_group_count,
                         &(struct nai_values){m->kernels.n, nai_duration_block, &durations, m->scratch_dir}, err);
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_model *m = io->model;
  struct work w = {.io = io, .m = m};
  if (!m->tables[NAI_IN_GPU_METRIC_SAMPLES]->rows)
    return NAI_OK;
  NAI_TRY(NAI_NEW(w.first, io->arena, m->gpu_count + 1, err));
  NAI_TRY(NAI_NEW(w.kernel_ns, io->arena, m->gpu_count, err));
  NAI_TRY(NAI_NEW(w.period, io->arena, m->gpu_count, err));
  NAI_TRY(NAI_NEW(w.shared, io->arena, m->gpu_count, err));
  NAI_TRY(NAI_NEW(w.kernels, io->arena, m->kernel_group_count, err));
  NAI_TRY(NAI_NEW(w.durations, io->arena, m->kernel_group_count, err));
  find_shared(&w);
  NAI_TRY(find_kernels(&w, err));
  NAI_TRY(nai_gpu_series_each(m, use_series, &w, err));
  for (uint32_t i = 0; i < m->kernel_group_count; i++)
    if (w.kernels[i].shown && w.period[m->kernel_groups[i].gpu])
      put_bound(&w, i);
  return NAI_OK;
}

NAI_ANALYSIS(kernel_metrics, .outputs = NAI_SCHEMAS(&nai_kernel_metrics_schema, &nai_kernel_bounds_schema),
             .inputs = NAI_SCHEMAS(&nai_gpu_residency_schema),
             .parts = NAI_PART(SAMPLED) | NAI_PART(GPUS) | NAI_PART(NAMES) | NAI_PART(KERNEL_GROUPS), .run = run)
