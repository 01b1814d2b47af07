/* Prices: a finding claims no more than the loss it explains on its GPU, findings that explain the same loss share it,
 * and what a finding is worth decides how severe it is unless a reason speaks against it. */
#include "rules/evaluation.h"
#include "table/severity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- What a GPU's time was -------------------------------------------------------------------- */

static const struct nai_table *input_table(const struct nai_rules_input *input, const char *name) {
  for (size_t i = 0; i < input->table_count; i++)
    if (input->tables[i] && input->tables[i]->rows && strcmp(input->tables[i]->schema->name, name) == 0)
      return input->tables[i];
  return NULL;
}

/* A column of the GPU's row, or the largest of all GPUs for a finding that names none; NAI_NULL_I64 if unknown. */
static int64_t gpu_time(const struct nai_table *table, int64_t device_id, const char *column) {
  int64_t most = NAI_NULL_I64;
  int device = table ? nai_schema_role(table->schema, NAI_ROLE_DEVICE) : -1;
  for (int64_t row = 0; device >= 0 && row < table->rows; row++)
    if (device_id == NAI_NULL_I64 || nai_get_i64(table, row, device) == device_id) {
      int64_t ns = nai_cell_i64(table, row, column);
      most = ns > most ? ns : most;
    }
  return most;
}

/* Within active spans where they are known, else within the window. */
static int64_t gpu_part(const struct nai_rules_input *input, int64_t device_id, const char *active,
                        const char *window) {
  int64_t ns = gpu_time(input_table(input, "gpu_active"), device_id, active);
  return ns != NAI_NULL_I64 ? ns : gpu_time(input_table(input, "gpu_utilization"), device_id, window);
}

static int64_t loss_ns(const struct nai_rules_input *input, int64_t device_id, enum loss loss) {
  static const char *const columns[LOSSES] = {NULL, "idle_ns", "exposed_comm_ns", "exposed_copy_ns", "compute_ns"};
  return gpu_part(input, device_id, columns[loss], columns[loss]);
}

int64_t nai_price_base_ns(const struct nai_rules_input *input, const struct hit *hit) {
  int64_t ns = gpu_part(input, hit->device_id, "active_ns", "window_ns");
  return ns > 0 ? ns : 0;
}

int64_t nai_price_capped(const struct nai_rules_input *input, const struct hit *hit, int64_t ns) {
  if (hit->rule->explains == LOSS_NONE || ns == NAI_NULL_I64)
    return ns;
  int64_t loss = loss_ns(input, hit->device_id, hit->rule->explains);
  return loss != NAI_NULL_I64 && loss < ns ? loss : ns;
}

/* --- Sharing ---------------------------------------------------------------------------------- */

static bool same_place(const struct hit *a, const struct hit *b) {
  return a->device_id == NAI_NULL_I64 || b->device_id == NAI_NULL_I64 || a->device_id == b->device_id;
}

/* The dearest finding about the same GPU by a rule of `part_of`. */
static const struct hit *parent_of(const struct hits *hits, const struct nai_rule_set *set, const struct hit *hit) {
  const struct hit *best = NULL;
  for (uint32_t p = 0; p < hit->rule->part_of.count; p++) {
    const struct rule_hits *theirs = &hits->by_rule[*POOL_AT(set->unless, uint32_t, hit->rule->part_of.first + p)];
    for (uint32_t i = 0; i < theirs->count; i++) {
      const struct hit *it = POOL_AT(hits->hits, struct hit, theirs->first + i);
      if (it->severity >= 0 && same_place(it, hit) && (!best || it->stake_ns > best->stake_ns))
        best = it;
    }
  }
  return best;
}

static void limit_stake(struct hit *hit, int64_t ns) {
  if (hit->stake_ns != NAI_NULL_I64 && hit->stake_ns > ns)
    hit->stake_ns = ns;
  if (hit->stake_low_ns != NAI_NULL_I64 && hit->stake_low_ns > hit->stake_ns)
    hit->stake_low_ns = hit->stake_ns;
}

static int by_claim(const void *a, const void *b) {
  const struct hit *x = *(struct hit *const *)a, *y = *(struct hit *const *)b;
  if (x->device_id != y->device_id)
    return x->device_id < y->device_id ? -1 : 1;
  if (x->rule->explains != y->rule->explains)
    return (int)x->rule->explains - (int)y->rule->explains;
  if (x->stake_ns != y->stake_ns)
    return x->stake_ns < y->stake_ns ? 1 : -1;
  int order = strcmp(x->rule->id, y->rule->id);
  return order ? order : (x->row > y->row) - (x->row < y->row);
}

int nai_prices_share(struct hits *hits, const struct nai_rule_set *set, const struct nai_rules_input *input,
                     struct nai_err *err) {
  struct hit **claims = calloc(hits->hits.count + 1, sizeof(struct hit *));
  uint32_t count = 0;
  if (!claims)
    return nai_err_nomem(err);
  for (uint32_t i = 0; i < hits->hits.count; i++) {
    struct hit *hit = POOL_AT(hits->hits, struct hit, i);
    if (hit->rule->explains != LOSS_NONE && hit->stake_ns != NAI_NULL_I64 && !parent_of(hits, set, hit))
      claims[count++] = hit;
  }
  qsort(claims, count, sizeof(struct hit *), by_claim);
  int64_t left = 0;
  for (uint32_t i = 0; i < count; i++) {
    const struct hit *before = i ? claims[i - 1] : NULL;
    if (!before || before->device_id != claims[i]->device_id || before->rule->explains != claims[i]->rule->explains) {
      left = loss_ns(input, claims[i]->device_id, claims[i]->rule->explains);
      left = left == NAI_NULL_I64 ? INT64_MAX : left;
    }
    limit_stake(claims[i], left);
    left -= claims[i]->stake_ns;
  }
  free(claims);
  for (uint32_t r = 0; r < set->rule_count; r++) { /* parents come before their parts */
    const struct rule_hits *mine = &hits->by_rule[set->order[r]];
    for (uint32_t i = 0; i < mine->count; i++) {
      struct hit *hit = POOL_AT(hits->hits, struct hit, mine->first + i);
      const struct hit *parent = parent_of(hits, set, hit);
      int64_t rest = parent ? parent->stake_ns : NAI_NULL_I64;
      for (uint32_t j = 0; rest != NAI_NULL_I64 && j < i; j++) { /* the parts of one GPU together */
        const struct hit *other = POOL_AT(hits->hits, struct hit, mine->first + j);
        rest -= other->device_id == hit->device_id && other->stake_ns > 0 ? other->stake_ns : 0;
      }
      if (rest != NAI_NULL_I64)
        limit_stake(hit, rest > 0 ? rest : 0);
    }
  }
  return 0;
}

/* --- Severity --------------------------------------------------------------------------------- */

static double threshold(const struct nai_rule_set *set, const char *name, double otherwise) {
  for (uint32_t i = 0; i < set->parameters.count; i++) {
    const struct parameter *parameter = POOL_AT(set->parameters, struct parameter, i);
    if (strcmp(parameter->name, name) == 0)
      return parameter->value;
  }
  return otherwise;
}

double nai_price_share(const struct hit *hit) {
  return hit->base_ns > 0 && hit->stake_ns != NAI_NULL_I64 ? 100.0 * (double)hit->stake_ns / (double)hit->base_ns : NAN;
}

bool nai_price_is_small(const struct nai_rule_set *set, const struct hit *hit) {
  return (double)hit->stake_ns < 1e6 * threshold(set, "severity_min_ms", 1);
}

int nai_price_severity(const struct nai_rule_set *set, const struct hit *hit) {
  double pct = nai_price_share(hit);
  if (isnan(pct) || nai_price_is_small(set, hit))
    return -1;
  return pct >= threshold(set, "severity_high_pct", 20)  ? NAI_SEVERITY_HIGH
       : pct >= threshold(set, "severity_medium_pct", 5) ? NAI_SEVERITY_MEDIUM
       : pct >= threshold(set, "severity_low_pct", 2)    ? NAI_SEVERITY_LOW
                                                         : -1;
}

void nai_env_set_stake(struct env *env, const struct hit *hit) {
  env->stake_ns = hit->stake_ns;
  env->stake_low_ns = hit->stake_low_ns;
  env->stake_pct = nai_price_share(hit);
}

static void step_down(struct hit *hit, int to, struct nai_buf *reasons, const char *reason) {
  if (to < NAI_SEVERITY_INFO || to >= hit->severity)
    return;
  hit->severity = to;
  nai_buf_printf(reasons, "%s%s", reasons->len ? "; " : "", reason);
}

/* The finding it is a part of is one step above it. */
static void step_below_parent(struct hit *hit, const struct hits *hits, const struct nai_rule_set *set,
                              struct nai_buf *reasons) {
  const struct hit *parent = parent_of(hits, set, hit);
  struct nai_buf reason = {0};
  hit->parent = parent ? parent->rule : NULL;
  if (!parent)
    return;
  nai_buf_printf(&reason, "part of %s", parent->rule->id);
  step_down(hit, parent->severity > NAI_SEVERITY_INFO ? parent->severity - 1 : NAI_SEVERITY_INFO, reasons,
            nai_buf_str(&reason));
  nai_buf_free(&reason);
}

int nai_price_lower(struct hit *hit, const struct env *env, const struct hits *hits, struct nai_err *err) {
  struct nai_buf reasons = {0}, reason = {0};
  step_below_parent(hit, hits, env->set, &reasons);
  for (uint32_t i = 0; i < hit->rule->lowerings.count; i++) {
    const struct lowering *lowering = POOL_AT(env->set->lowerings, struct lowering, hit->rule->lowerings.first + i);
    if (!nai_formula_holds(env, lowering->when))
      continue;
    nai_buf_clear(&reason);
    nai_variants_render(&reason, env, lowering->reason, TEXT_PLAIN, " ");
    step_down(hit, lowering->to >= 0 ? lowering->to : hit->severity - 1, &reasons, nai_buf_str(&reason));
  }
  int rc = nai_buf_check(&reasons, err);
  if (!rc)
    rc = nai_buf_check(&reason, err);
  nai_buf_free(&reason);
  free(hit->reason);
  hit->reason = reasons.data;
  return rc;
}
