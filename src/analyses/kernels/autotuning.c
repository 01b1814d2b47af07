/* Were variants of a kernel tried before one was used? Table autotuning. Libraries (cuDNN's benchmark mode, Triton's
 * and Inductor's autotuning, tuning of cuBLAS) run several variants of one kernel one after the other and keep the
 * fastest. */
#include "analyses/analysis.h"
#include "base/strings.h"
#include "tables/autotuning.h"
#include "tables/kernel_configs.h"

/* A trial has so many variants at least; so many of them are used again at most, and so often at least. */
enum { MIN_VARIANTS = 6, MAX_WINNERS = 2, MIN_USES = 10 };

/* A kernel name with one launch configuration but for the grid: other grids are other problems, not other ways to solve
 * one. */
struct variant {
  int64_t total, in_trial, in_trial_ns;
  uint32_t first; /* kernel_events row of the first in start order */
};

/* Kernels of one family that follow each other on one stream. */
struct trial {
  uint32_t family, *v, count, capacity; /* rows of kernel_events */
};

struct work {
  const struct nai_model *m;
  struct nai_table *out;
  struct nai_arena *arena;     /* of the GPU at hand */
  uint32_t *family;            /* per kernel name: text of `families`; NAI_NO_STRING: clears caches between trials */
  struct nai_strings families; /* names with digits as '#', without template arguments and parameters */
  uint32_t *build;             /* per row of kernel_configs: text of `builds`, what it is but for the grid */
  struct nai_strings builds;
  uint32_t *variant_of_kind; /* per kernel kind of the GPU */
  struct variant *variants;
};

static void work_free(struct work *w) {
  nai_strings_free(&w->families);
  nai_strings_free(&w->builds);
}

/* --- families and variants ------------------------------------------------------------------------ */

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static uint32_t add_family(struct nai_strings *families, const char *name) {
  char text[256];
  size_t n = 0;
  for (const char *p = name; *p && *p != '<' && *p != '(' && n < sizeof text; p++)
    if (!is_digit(*p))
      text[n++] = *p;
    else if (n == 0 || text[n - 1] != '#')
      text[n++] = '#';
  return nai_strings_add(families, text, n);
}

static int find_families(struct work *w, struct nai_arena *arena, struct nai_err *err) {
  const struct nai_strings *names = &w->m->tables[NAI_IN_KERNELS]->strings;
  NAI_TRY(NAI_NEW(w->family, arena, names->count, err));
  for (uint32_t i = 0; i < names->count; i++) {
    const char *name = nai_strings_get(names, i);
    bool clears = strstr(name, "FillFunctor") || strstr(name, "memset");
    w->family[i] = clears ? NAI_NO_STRING : add_family(&w->families, name);
    if (!clears && w->family[i] == NAI_NO_STRING)
      return nai_err_nomem(err);
  }
  return NAI_OK;
}

static int find_builds(struct work *w, struct nai_arena *arena, struct nai_err *err) {
  const struct nai_table *t = w->m->tables[NAI_IN_KERNEL_CONFIGS];
  NAI_TRY(NAI_NEW(w->build, arena, (size_t)t->rows, err));
  for (int64_t i = 0; i < t->rows; i++) {
    struct KERNEL_CONFIGS_row c = KERNEL_CONFIGS_at(t, i);
    const int64_t values[] = {
        c.block_x, c.block_y, c.block_z, c.registers_per_thread, c.static_shared_bytes, c.dynamic_shared_bytes};
    w->build[i] = nai_strings_add(&w->builds, (const char *)values, sizeof values);
    NAI_TRY(nai_memory_check(w->build[i] != NAI_NO_STRING, err));
  }
  return NAI_OK;
}

static struct variant *variant_of(const struct work *w, uint32_t kernel) {
  return &w->variants[w->variant_of_kind[w->m->kernel_kind[kernel]]];
}

/* Numbers those of a GPU. */
static int find_variants(uint32_t *count, struct work *w, uint32_t gpu, struct nai_err *err) {
  const struct nai_model *m = w->m;
  struct nai_keyset keys = {.arena = w->arena}; /* name << 32 | build + 1 */
  bool added;
  NAI_TRY(NAI_NEW(w->variant_of_kind, w->arena, m->kernel_kind_count, err));
  for (uint32_t i = 0; i < m->kernel_kind_count; i++) {
    const struct nai_kernel_kind *kind = &m->kernel_kinds[i];
    const struct nai_kernel_group *group = &m->kernel_groups[kind->group];
    bool known = kind->config >= 0 && kind->config < m->tables[NAI_IN_KERNEL_CONFIGS]->rows;
    if (group->gpu == gpu)
      w->variant_of_kind[i] =
          nai_keyset_add(&keys, nai_key_pair(group->name, known ? w->build[kind->config] + 1 : 0), &added);
  }
  *count = keys.count;
  return nai_memory_check(!keys.oom, err);
}

static int count_variants(struct work *w, const struct nai_gpu *gpu, uint32_t count, struct nai_err *err) {
  NAI_TRY(NAI_NEW(w->variants, w->arena, count, err));
  for (uint32_t i = 0; i < gpu->op_count; i++) {
    if (gpu->ops[i].type != NAI_OP_KERNEL)
      continue;
    struct variant *v = variant_of(w, gpu->ops[i].row);
    if (!v->total++)
      v->first = gpu->ops[i].row;
  }
  return NAI_OK;
}

/* --- trials --------------------------------------------------------------------------------------- */

/* What a trial shows. */
struct result {
  int64_t variants, winners, lost_ns, used;
  double fastest, winner_ns; /* mean of the fastest variant, and of the winner */
  uint32_t winner;           /* kernel_events row; the variant used most afterwards */
};

static void judge_variant(struct result *r, const struct variant *v, uint32_t kernel) {
  int64_t after = v->total - v->in_trial;
  double mean = (double)v->in_trial_ns / (double)v->in_trial;
  r->fastest = r->variants == 0 || mean < r->fastest ? mean : r->fastest;
  r->variants++;
  r->winners += after > 0;
  r->lost_ns += after > 0 ? 0 : v->in_trial_ns;
  if (after > r->used) {
    r->used = after;
    r->winner = kernel;
    r->winner_ns = mean;
  }
}

/* A kernel that ran before makes it no trial: then `winners` is too many. */
static struct result judge(const struct work *w, const struct trial *t) {
  struct result r = {.winner = NAI_NO_ROW};
  int64_t start = nai_val(&w->m->kernels.start_ns, t->v[0]);
  for (uint32_t i = 0; i < t->count; i++) {
    struct variant *v = variant_of(w, t->v[i]);
    v->in_trial++;
    v->in_trial_ns += nai_kernel_ns(w->m, t->v[i]);
  }
  for (uint32_t i = 0; i < t->count; i++) {
    const struct variant *v = variant_of(w, t->v[i]);
    if (nai_val(&w->m->kernels.start_ns, v->first) < start)
      r.winners = MAX_WINNERS + 1;
    else if (v->first == t->v[i])
      judge_variant(&r, v, t->v[i]);
  }
  for (uint32_t i = 0; i < t->count; i++)
    variant_of(w, t->v[i])->in_trial = variant_of(w, t->v[i])->in_trial_ns = 0;
  return r;
}

/* The winner of a trial is the fastest; what is used most after a series of sizes is any of them. */
static bool is_trial(const struct result *r) {
  const double NOISE = 1.1;
  return r->winners >= 1 && r->winners <= MAX_WINNERS && r->variants >= MIN_VARIANTS && r->used >= MIN_USES &&
         r->winner_ns <= NOISE * r->fastest;
}

/* Whether its first kernel did not run before, as nearly all have once the program is at work. */
static bool may_be_trial(const struct work *w, const struct trial *t) {
  const struct nai_column *start = &w->m->kernels.start_ns;
  return t->count >= MIN_VARIANTS && nai_val(start, variant_of(w, t->v[0])->first) >= nai_val(start, t->v[0]);
}

static void close_trial(struct work *w, struct trial *t, int32_t device) {
  const struct nai_model *m = w->m;
  struct result r = {0};
  if (may_be_trial(w, t))
    r = judge(w, t);
  if (is_trial(&r)) {
    int64_t start = nai_val(&m->kernels.start_ns, t->v[0]), end = start;
    for (uint32_t i = 0; i < t->count; i++)
      end = nai_val(&m->kernels.end_ns, t->v[i]) > end ? nai_val(&m->kernels.end_ns, t->v[i]) : end;
    NAI_ADD(AUTOTUNING, w->out, .device_id = device, .pid = nai_model_pid(m, nai_val_i32(&m->kernels.process, t->v[0])),
            .family = nai_strings_get(&w->families, t->family), .variant_count = r.variants, .kernel_count = t->count,
            .time_ns = end - start, .lost_ns = r.lost_ns, .kernel_name = nai_model_kernel_name(m, r.winner),
            .used_count = r.used, .start_ns = start, .end_ns = end);
  }
  t->count = 0;
}

static int add_kernel(struct work *w, struct trial *t, uint32_t kernel, int32_t device, struct nai_err *err) {
  uint32_t family = w->family[nai_val_text(&w->m->kernels.name, kernel)];
  if (family == NAI_NO_STRING)
    return NAI_OK;
  if (t->count && t->family != family)
    close_trial(w, t, device);
  t->family = family;
  NAI_TRY(NAI_ROOM(t->v, t->capacity, t->count, w->arena, err));
  t->v[t->count++] = kernel;
  return NAI_OK;
}

static int add_gpu(struct work *w, uint32_t index, struct nai_err *err) {
  const struct nai_gpu *gpu = &w->m->gpus[index];
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(w->m->scratch_dir);
  struct trial *trials;
  uint32_t variants;
  w->arena = &arena;
  NAI_TRY(find_variants(&variants, w, index, err));
  if (variants < MIN_VARIANTS)
    return NAI_OK;
  NAI_TRY(count_variants(w, gpu, variants, err));
  NAI_TRY(NAI_NEW(trials, &arena, gpu->stream_count, err));
  for (uint32_t i = 0; i < gpu->op_count; i++)
    if (gpu->ops[i].type == NAI_OP_KERNEL)
      NAI_TRY(add_kernel(w, &trials[gpu->ops[i].stream], gpu->ops[i].row, gpu->device_id, err));
  for (uint32_t s = 0; s < gpu->stream_count; s++)
    close_trial(w, &trials[s], gpu->device_id);
  return NAI_OK;
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  NAI_SCOPED(work) w = {.m = io->model, .out = io->out[0]};
  NAI_TRY(find_families(&w, io->arena, err));
  NAI_TRY(find_builds(&w, io->arena, err));
  for (uint32_t g = 0; g < io->model->gpu_count; g++)
    NAI_TRY(add_gpu(&w, g, err));
  return NAI_OK;
}

NAI_ANALYSIS(autotuning, .outputs = NAI_SCHEMAS(&nai_autotuning_schema),
             .parts = NAI_PART(GPUS) | NAI_PART(KERNEL_GROUPS),
             .tables = NAI_IN(KERNELS) | NAI_IN(MEMOPS) | NAI_IN(GRAPHS) | NAI_IN(GPUS) | NAI_IN(PROCESSES) |
                       NAI_IN(KERNEL_CONFIGS),
             .run = run)
