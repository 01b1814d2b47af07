/* What matters to simulated times: what is not modeled, where the trace or the new critical path has any of it.
 * Internal to src/features/whatif. */
#pragma once

#include "model/critical/whatif.h"

enum { NAI_WHATIF_MAX_CAVEATS = 9 };
/* To begin with: what is known of several traces. */
struct nai_whatif_caveats {
  int64_t doubt_ns;   /* of their clocks, 0 for one */
  bool ranks_missing; /* that communicate with them */
  const char *v[NAI_WHATIF_MAX_CAVEATS];
  int count;
};
/* `together`: with all changes; zeroed where nothing is simulated. Texts are the arena's. */
NAI_MUST_CHECK int nai_whatif_find_caveats(struct nai_whatif_caveats *out, const struct nai_model *model,
                                           const struct nai_change *changes, uint32_t count,
                                           const struct nai_whatif_result *together, struct nai_arena *arena,
                                           struct nai_err *err);
