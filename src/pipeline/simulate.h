/* Simulates the changes that findings name, before findings are ordered: tables what_if, what_if_plan. Internal to
 * src/pipeline. */
#pragma once

#include "model/critical/whatif.h"
#include "rules/rules.h"

/* More changes, or a longer stretch of the trace, would make every report wait for simulations that few ask for. */
enum { NAI_SIMULATED_CHANGES = 8, NAI_SIMULATED_EVENTS = 300000 };

/* A change, and what came of it alone. */
struct nai_simulated_change {
  struct nai_change change;
  int64_t edited;      /* operations or calls that it is about */
  const char *refused; /* why it was not simulated; NULL: it was */
  struct nai_whatif_result result;
};

/* To begin with: the first three, which outlive it. */
struct nai_simulation {
  const struct nai_model *model;
  const struct nai_table *path_summary; /* as nai_whatif_begin takes it */
  struct nai_arena *arena;
  struct nai_whatif whatif;
  struct nai_simulated_change v[NAI_SIMULATED_CHANGES];
  uint32_t count;
};
void nai_simulation_free(struct nai_simulation *simulation);

/* For nai_rules_input; ctx: a struct nai_simulation. The first different changes are simulated. */
NAI_MUST_CHECK int nai_simulate_findings(void *ctx, struct nai_rules_simulated *out, const char *const *changes,
                                         uint32_t count, struct nai_err *err);
/* What was simulated, and in which order the changes are best made. Of findings that name the same change the first
 * stands for it. */
NAI_MUST_CHECK int nai_simulation_write(struct nai_table *what_if, struct nai_table *plan,
                                        const struct nai_simulation *simulation, const struct nai_table *findings,
                                        struct nai_err *err);
