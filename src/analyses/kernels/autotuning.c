/* Were variants of a kernel tried before one was used? Table autotuning. Libraries (cuDNN's benchmark mode, Triton's
 * and Inductor's autotuning, tuning of cuBLAS) run several variants of one kernel one after the other and keep the
 * fastest. */
#include "analyses/analysis.h"
#include "analyses/losses/losses.h"
#include "base/array.h"
#include "base/strings.h"
#include "tables/autotuning.h"
#include "tables/kernel_configs.h"

#include <stdlib.h>
#include <string.h>

/* A trial has so many variants at least; so many of them are used again at most, and so often at least. */
enum { FEWEST_VARIANTS = 6, MAX_WINNERS = 2, FEWEST_USES = 10 };

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
  uint32_t *family; /* per kernel name: string of `families`; NAI_NO_STRING for what clears caches between trials */
  struct nai_strings families;
  uint32_t *build; /* per row of kernel_configs: string of `builds`, what it is but for the grid */
  struct nai_strings builds;
  struct nai_keyset keys; /* name << 32 | build + 1 */
  struct variant *variants;
  uint32_t capacity;
};

/* --- families and variants ------------------------------------------------------------------------ */

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Digits as '#', without template arguments and parameters. */
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

static int find_families(struct work *w, struct nai_err *err) {
  const struct nai_strings *names = &w->m->tables[NAI_IN_KERNELS]->strings;
  w->family = malloc(((size_t)names->count + 1) * sizeof *w->family);
  for (uint32_t i = 0; w->family && i < names->count; i++) {
    const char *name = nai_strings_get(names, i);
    bool clears = strstr(name, "FillFunctor") || strstr(name, "memset");
    w->family[i] = clears ? NAI_NO_STRING : add_family(&w->families, name);
    if (!clears && w->family[i] == NAI_NO_STRING)
      return nai_err_nomem(err);
  }
  return w->family ? NAI_OK : nai_err_nomem(err);
}

static int find_builds(struct work *w, struct nai_err *err) {
  static const int columns_of_build[] = {KERNEL_CONFIGS_block_x,
                                         KERNEL_CONFIGS_block_y,
                                         KERNEL_CONFIGS_block_z,
                                         KERNEL_CONFIGS_registers_per_thread,
                                         KERNEL_CONFIGS_static_shared_bytes,
                                         KERNEL_CONFIGS_dynamic_shared_bytes};
  enum { COLUMNS = sizeof columns_of_build / sizeof *columns_of_build };
  const struct nai_table *t = w->m->tables[NAI_IN_KERNEL_CONFIGS];
  w->build = malloc(((size_t)t->rows + 1) * sizeof *w->build);
  for (int64_t i = 0; w->build && i < t->rows; i++) {
    int64_t values[COLUMNS];
    for (int c = 0; c < COLUMNS; c++)
      values[c] = nai_get_i64(t, i, columns_of_build[c]);
    w->build[i] = nai_strings_add(&w->builds, (const char *)values, sizeof values);
    if (w->build[i] == NAI_NO_STRING)
      return nai_err_nomem(err);
  }
  return w->build ? NAI_OK : nai_err_nomem(err);
}

static int64_t key_of(const struct work *w, uint32_t kernel) {
  int32_t config = nai_at_i32(&w->m->kernels.config, kernel);
  uint32_t build = config < 0 || config >= w->m->tables[NAI_IN_KERNEL_CONFIGS]->rows ? 0 : w->build[config] + 1;
  return nai_key_pair(nai_at_text(&w->m->kernels.name, kernel), build);
}

static struct variant *variant_of(const struct work *w, uint32_t kernel) {
  return &w->variants[nai_keyset_find(&w->keys, key_of(w, kernel))];
}

/* Each GPU's variants are counted anew. */
static int count_variants(struct work *w, const struct nai_gpu *gpu, struct nai_err *err) {
  nai_keyset_free(&w->keys);
  w->keys = (struct nai_keyset){0};
  for (uint32_t i = 0; i < gpu->op_count; i++) {
    bool added;
    if (gpu->ops[i].type != NAI_OP_KERNEL)
      continue;
    uint32_t at = nai_keyset_add(&w->keys, key_of(w, gpu->ops[i].row), &added);
    if (w->keys.oom || (added && !nai_array_room(&w->variants, &w->capacity, at, sizeof *w->variants)))
      return nai_err_nomem(err);
    if (added)
      w->variants[at] = (struct variant){.first = gpu->ops[i].row};
    w->variants[at].total++;
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
  int64_t start = nai_at(&w->m->kernels.start_ns, t->v[0]);
  for (uint32_t i = 0; i < t->count; i++) {
    struct variant *v = variant_of(w, t->v[i]);
    v->in_trial++;
    v->in_trial_ns += nai_kernel_ns(w->m, t->v[i]);
  }
  for (uint32_t i = 0; i < t->count; i++) {
    const struct variant *v = variant_of(w, t->v[i]);
    if (nai_at(&w->m->kernels.start_ns, v->first) < start)
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
  return r->winners >= 1 && r->winners <= MAX_WINNERS && r->variants >= FEWEST_VARIANTS && r->used >= FEWEST_USES &&
         r->winner_ns <= NOISE * r->fastest;
}

static void close_trial(struct work *w, struct trial *t, int32_t device) {
  const struct nai_model *m = w->m;
  uint32_t count = t->count;
  t->count = 0;
  if (count < FEWEST_VARIANTS)
    return;
  struct trial whole = *t;
  whole.count = count;
  struct result r = judge(w, &whole);
  if (!is_trial(&r))
    return;
  int64_t row = nai_table_add_row(w->out), start = nai_at(&m->kernels.start_ns, t->v[0]), end = start;
  for (uint32_t i = 0; i < count; i++)
    end = nai_at(&m->kernels.end_ns, t->v[i]) > end ? nai_at(&m->kernels.end_ns, t->v[i]) : end;
  nai_set_i64(w->out, row, AUTOTUNING_device_id, device);
  nai_set_i64(w->out, row, AUTOTUNING_pid, nai_model_pid(m, nai_at_i32(&m->kernels.process, t->v[0])));
  nai_set_str(w->out, row, AUTOTUNING_family, nai_strings_get(&w->families, t->family));
  nai_set_i64(w->out, row, AUTOTUNING_variant_count, r.variants);
  nai_set_i64(w->out, row, AUTOTUNING_kernel_count, count);
  nai_set_i64(w->out, row, AUTOTUNING_time_ns, end - start);
  nai_set_i64(w->out, row, AUTOTUNING_lost_ns, r.lost_ns);
  nai_set_str(w->out, row, AUTOTUNING_kernel_name, nai_model_kernel_name(m, r.winner));
  nai_set_i64(w->out, row, AUTOTUNING_used_count, r.used);
  nai_set_i64(w->out, row, AUTOTUNING_start_ns, start);
  nai_set_i64(w->out, row, AUTOTUNING_end_ns, end);
}

static int add_kernel(struct work *w, struct trial *t, uint32_t kernel, int32_t device, struct nai_err *err) {
  uint32_t family = w->family[nai_at_text(&w->m->kernels.name, kernel)];
  if (family == NAI_NO_STRING)
    return NAI_OK;
  if (t->count && t->family != family)
    close_trial(w, t, device);
  t->family = family;
  if (t->count == t->capacity && !nai_array_room(&t->v, &t->capacity, t->count, sizeof *t->v))
    return nai_err_nomem(err);
  t->v[t->count++] = kernel;
  return NAI_OK;
}

static int add_gpu(struct work *w, const struct nai_gpu *gpu, struct nai_err *err) {
  struct trial *trials = NULL;
  int rc = count_variants(w, gpu, err);
  if (rc || w->keys.count < FEWEST_VARIANTS)
    return rc;
  if (!(trials = calloc((size_t)gpu->stream_count + 1, sizeof *trials)))
    return nai_err_nomem(err);
  for (uint32_t i = 0; !rc && i < gpu->op_count; i++)
    if (gpu->ops[i].type == NAI_OP_KERNEL)
      rc = add_kernel(w, &trials[gpu->ops[i].stream], gpu->ops[i].row, gpu->device_id, err);
  for (uint32_t s = 0; s < gpu->stream_count; s++) {
    if (!rc)
      close_trial(w, &trials[s], gpu->device_id);
    free(trials[s].v);
  }
  free(trials);
  return rc;
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  struct work w = {.m = io->model, .out = io->out[0]};
  int rc = find_families(&w, err);
  if (!rc)
    rc = find_builds(&w, err);
  for (uint32_t g = 0; !rc && g < io->model->gpu_count; g++)
    rc = add_gpu(&w, &io->model->gpus[g], err);
  nai_keyset_free(&w.keys);
  nai_strings_free(&w.families);
  free(w.variants);
  nai_strings_free(&w.builds);
  free(w.family);
  free(w.build);
  return rc;
}

NAI_ANALYSIS(autotuning, .outputs = NAI_SCHEMAS(&nai_autotuning_schema), .parts = NAI_PART(GPUS),
             .tables = NAI_IN(KERNELS) | NAI_IN(MEMOPS) | NAI_IN(GRAPHS) | NAI_IN(GPUS) | NAI_IN(PROCESSES) |
                       NAI_IN(KERNEL_CONFIGS),
             .run = run)
