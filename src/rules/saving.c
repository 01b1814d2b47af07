/* Savings: a finding claims no more than the loss it explains on its GPU, findings that explain the same loss share it,
 * and what a finding could save decides how severe it is unless a reason speaks against it. */
#include "rules/evaluation.h"
#include "base/sort.h"
#include "table/stats.h"
#include "tables/gpu_active.h"
#include "tables/gpu_utilization.h"

/* --- What a GPU's time was -------------------------------------------------------------------- */

/* A column of the GPU's row, or the largest of all GPUs for a finding that names none; NAI_NULL_I64 if unknown. */
static int64_t gpu_time(const struct nai_table *table, int device_column, int64_t device_id, int column) {
  int64_t most = NAI_NULL_I64;
  for (int64_t row = 0; table && row < table->rows; row++)
    if (device_id == NAI_NULL_I64 || nai_get_i64(table, row, device_column) == device_id) {
      int64_t ns = nai_get_i64(table, row, column);
      most = ns > most ? ns : most;
    }
  return most;
}

/* Within active spans where they are known, else within the window. */
static int64_t gpu_part(const struct nai_rules_input *input, int64_t device_id, int active, int window) {
  int64_t ns = gpu_time(nai_rules_table(input, &nai_gpu_active_schema), GPU_ACTIVE_device_id, device_id, active);
  return ns != NAI_NULL_I64 ? ns
                            : gpu_time(nai_rules_table(input, &nai_gpu_utilization_schema), GPU_UTILIZATION_device_id,
                                       device_id, window);
}

static int64_t loss_ns(const struct nai_rules_input *input, int64_t device_id, enum loss loss) {
  static const int columns[LOSSES][2] = {[LOSS_IDLE] = {GPU_ACTIVE_idle_ns, GPU_UTILIZATION_idle_ns},
                                         [LOSS_COMM] = {GPU_ACTIVE_exposed_comm_ns, GPU_UTILIZATION_exposed_comm_ns},
                                         [LOSS_COPY] = {GPU_ACTIVE_exposed_copy_ns, GPU_UTILIZATION_exposed_copy_ns},
                                         [LOSS_COMPUTE] = {GPU_ACTIVE_compute_ns, GPU_UTILIZATION_compute_ns}};
  return gpu_part(input, device_id, columns[loss][0], columns[loss][1]);
}

int64_t nai_saving_base_ns(const struct nai_rules_input *input, const struct hit *hit) {
  int64_t ns = gpu_part(input, hit->device_id, GPU_ACTIVE_active_ns, GPU_UTILIZATION_window_ns);
  return ns > 0 ? ns : 0;
}

int64_t nai_saving_capped(const struct nai_rules_input *input, const struct hit *hit, int64_t ns) {
  if (hit->rule->explains == LOSS_NONE || ns == NAI_NULL_I64)
    return ns;
  int64_t loss = loss_ns(input, hit->device_id, hit->rule->explains);
  return loss != NAI_NULL_I64 && loss < ns ? loss : ns;
}

/* --- Sharing ---------------------------------------------------------------------------------- */

static bool same_place(const struct hit *a, const struct hit *b) {
  return a->device_id == NAI_NULL_I64 || b->device_id == NAI_NULL_I64 || a->device_id == b->device_id;
}

/* The finding that could save most on the same GPU, by a rule of `part_of`. */
static const struct hit *parent_of(const struct hits *hits, const struct hit *hit) {
  const struct hit *best = NULL;
  for (uint32_t p = 0; p < hit->rule->part_of.count; p++) {
    const struct rule_hits *theirs = &hits->by_rule[hit->rule->part_of.at[p]->number];
    for (uint32_t i = 0; i < theirs->count; i++) {
      const struct hit *it = &hits->all.at[theirs->first + i];
      if (it->severity >= 0 && same_place(it, hit) && (!best || it->saving.ns > best->saving.ns))
        best = it;
    }
  }
  return best;
}

static void limit_to(struct saving *saving, int64_t ns) {
  if (saving->ns != NAI_NULL_I64 && saving->ns > ns)
    saving->ns = ns;
  if (saving->low_ns != NAI_NULL_I64 && saving->low_ns > saving->ns)
    saving->low_ns = saving->ns;
}

static bool same_loss(const struct hit *a, const struct hit *b) {
  return a->device_id == b->device_id && a->rule->explains == b->rule->explains;
}

/* By GPU and loss, the largest saving first. */
NAI_ORDER_BY(by_loss, struct hit *const, NAI_SIGN((*a)->device_id, (*b)->device_id),
             NAI_SIGN((*a)->rule->explains, (*b)->rule->explains), NAI_SIGN((*b)->saving.ns, (*a)->saving.ns),
             strcmp((*a)->rule->id, (*b)->rule->id), NAI_SIGN((*a)->row, (*b)->row))

/* The largest takes what it explains of a loss, the others get the rest. */
static int share_losses(struct hits *hits, const struct nai_rules_input *input, struct nai_err *err) {
  NAI_FREED struct hit **sharers = calloc(hits->all.count + 1, sizeof(struct hit *));
  uint32_t count = 0;
  int64_t left = 0;
  NAI_TRY(nai_memory_check(sharers, err));
  for (uint32_t i = 0; i < hits->all.count; i++) {
    struct hit *hit = &hits->all.at[i];
    if (hit->rule->explains != LOSS_NONE && hit->saving.ns != NAI_NULL_I64 && !parent_of(hits, hit))
      sharers[count++] = hit;
  }
  qsort(sharers, count, sizeof(struct hit *), by_loss);
  for (uint32_t i = 0; i < count; i++) {
    if (!i || !same_loss(sharers[i - 1], sharers[i])) {
      left = loss_ns(input, sharers[i]->device_id, sharers[i]->rule->explains);
      left = left == NAI_NULL_I64 ? INT64_MAX : left;
    }
    limit_to(&sharers[i]->saving, left);
    left -= sharers[i]->saving.ns;
  }
  return NAI_OK;
}

/* Parts of one finding save no more than that together, on one GPU. */
static void limit_parts(struct hits *hits, const struct rule_hits *parts) {
  for (uint32_t i = 0; i < parts->count; i++) {
    struct hit *hit = &hits->all.at[parts->first + i];
    const struct hit *parent = parent_of(hits, hit);
    int64_t rest = parent ? parent->saving.ns : NAI_NULL_I64;
    for (uint32_t j = 0; rest != NAI_NULL_I64 && j < i; j++) {
      const struct hit *other = &hits->all.at[parts->first + j];
      rest -= other->device_id == hit->device_id && other->saving.ns > 0 ? other->saving.ns : 0;
    }
    if (rest != NAI_NULL_I64)
      limit_to(&hit->saving, rest > 0 ? rest : 0);
  }
}

int nai_savings_share(struct hits *hits, const struct nai_rule_set *set, const struct nai_rules_input *input,
                      struct nai_err *err) {
  NAI_TRY(share_losses(hits, input, err));
  for (uint32_t i = 0; i < set->rules.count; i++) /* parents come before their parts */
    limit_parts(hits, &hits->by_rule[set->order[i]->number]);
  return NAI_OK;
}

/* --- Severity --------------------------------------------------------------------------------- */

static double threshold(const struct nai_rule_set *set, const char *name, double otherwise) {
  const struct parameter *parameter = nai_names_parameter(set, name);
  return parameter ? parameter->value : otherwise;
}

bool nai_saving_is_small(const struct nai_rule_set *set, const struct saving *saving) {
  return (double)saving->ns < 1e6 * threshold(set, "severity_min_ms", 1);
}

int nai_saving_severity(const struct nai_rule_set *set, const struct saving *saving) {
  double pct = nai_saving_pct(saving);
  if (isnan(pct) || nai_saving_is_small(set, saving))
    return -1;
  return pct >= threshold(set, "severity_high_pct", 20)  ? NAI_SEVERITY_HIGH
       : pct >= threshold(set, "severity_medium_pct", 5) ? NAI_SEVERITY_MEDIUM
       : pct >= threshold(set, "severity_low_pct", 2)    ? NAI_SEVERITY_LOW
                                                         : -1;
}

static void step_down(struct hit *hit, int to, struct nai_arena *arena, const char *reason) {
  if (to < NAI_SEVERITY_INFO || to >= hit->severity)
    return;
  hit->severity = to;
  hit->reason = hit->reason ? nai_arena_printf(arena, "%s; %s", hit->reason, reason) : reason;
}

/* The finding it is a part of is one step above it. */
static void step_below_parent(struct hit *hit, const struct hits *hits, struct nai_arena *arena) {
  const struct hit *parent = parent_of(hits, hit);
  hit->parent = parent ? parent->rule : NULL;
  if (parent)
    step_down(hit, parent->severity > NAI_SEVERITY_INFO ? parent->severity - 1 : NAI_SEVERITY_INFO, arena,
              nai_arena_printf(arena, "part of %s", parent->rule->id));
}

int nai_severity_lower(struct hit *hit, const struct env *env, const struct hits *hits, struct nai_arena *arena,
                       struct nai_err *err) {
  step_below_parent(hit, hits, arena);
  for (uint32_t i = 0; i < hit->rule->lowerings.count; i++) {
    const struct lowering *lowering = &hit->rule->lowerings.at[i];
    if (nai_expression_holds(env, lowering->when))
      step_down(hit, lowering->to >= 0 ? lowering->to : hit->severity - 1, arena,
                nai_variants_text(arena, env, &lowering->reason, TEXT_PLAIN, " "));
  }
  return nai_arena_check(arena, err);
}

/* --- Simulated savings ------------------------------------------------------------------------ */

/* What a saving of a step comes to where the GPU's active time is made of such steps. */
static struct saving of_active(const struct finding *finding, const struct evaluation *e, int64_t ns) {
  const struct nai_rules_simulated *simulated = &finding->simulated;
  int64_t base = nai_saving_base_ns(e->input, finding->hits[0]);
  double share = simulated->now_ns > 0 && ns > 0 ? (double)ns / (double)simulated->now_ns : 0;
  return (struct saving){(int64_t)(share * (double)base), NAI_NULL_I64, base};
}

/* What repeats is less than half of the GPU's active time: a simulation of it tells nothing of the rest. */
static bool is_small_part(const struct finding *finding, const struct evaluation *e) {
  const struct nai_rules_simulated *simulated = &finding->simulated;
  return strcmp(simulated->of, "unit") == 0 &&
         2 * simulated->covered_ns < nai_saving_base_ns(e->input, finding->hits[0]);
}

/* All repetitions together save more than there is to save, by more than a tenth. A change that removes one cause of
 * idle time may remove others, too: as much again, if there is so much. A simulated bound says nothing beyond that. */
static bool exceeds_bound(const struct finding *finding, const struct evaluation *e) {
  const struct nai_rules_simulated *simulated = &finding->simulated;
  bool names_ns = strcmp(simulated->state, "within_error") != 0;
  if (!names_ns || finding->rule->estimated || finding->saving.ns == NAI_NULL_I64 || simulated->now_ns <= 0)
    return false;
  bool others = finding->rule->explains != LOSS_NONE && strcmp(simulated->state, "bound_only") != 0;
  int64_t loss = others ? loss_ns(e->input, NAI_NULL_I64, finding->rule->explains) : NAI_NULL_I64;
  int64_t own = finding->saving.ns, most = loss > 2 * own ? 2 * own : loss > own ? loss : own;
  double repetitions = (double)simulated->covered_ns / (double)simulated->now_ns;
  return repetitions * (double)simulated->ns > 1.1 * (double)most;
}

/* No change that a finding names makes the program slower by more than the model may err. */
static bool is_loss(const struct nai_rules_simulated *simulated) {
  enum { MODEL_ERROR_PCT = 4 };
  return -100.0 * (double)simulated->ns > MODEL_ERROR_PCT * (double)simulated->now_ns;
}

bool nai_simulation_fails(const struct finding *finding, const struct evaluation *e) {
  return is_small_part(finding, e) || exceeds_bound(finding, e) || is_loss(&finding->simulated);
}

void nai_severity_simulate(struct finding *finding, const struct evaluation *e) {
  const struct nai_rules_simulated *simulated = &finding->simulated;
  bool certain = strcmp(simulated->state, "bound_only") != 0, little = strcmp(simulated->state, "within_error") == 0;
  struct saving low = of_active(finding, e, simulated->low_ns),
                high = of_active(finding, e, little ? simulated->most_ns : simulated->high_ns);
  int64_t gain = of_active(finding, e, simulated->ns).ns;
  if (certain || finding->saving.ns == NAI_NULL_I64 || gain < finding->saving.ns)
    finding->gain_ns = gain;
  if (!finding->rule->has_ladder || !low.base_ns)
    return;
  struct saving doubled = {2 * high.ns, NAI_NULL_I64, high.base_ns}; /* for what the model leaves out */
  int least = nai_saving_severity(e->set, &low), most = nai_saving_severity(e->set, &doubled);
  most = most < NAI_SEVERITY_LOW ? NAI_SEVERITY_LOW : most;
  if (finding->severity > most) {
    const char *of = strcmp(simulated->of, "window") == 0 ? "the window"
                   : strcmp(simulated->of, "unit") == 0   ? "a repetition"
                                                          : "a step";
    const char *reason =
        little ? nai_arena_printf(e->arena, "likely less than 4 %% of %s in a simulation", of)
               : nai_arena_printf(e->arena, "at most %.0f %% of %s in a simulation", nai_saving_pct(&high), of);
    finding->severity = most;
    finding->reason = finding->reason ? nai_arena_printf(e->arena, "%s; %s", finding->reason, reason) : reason;
  } else if (certain && !finding->reason && finding->severity < least) {
    finding->severity = least;
  }
}
