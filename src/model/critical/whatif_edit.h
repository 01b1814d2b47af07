/* What changes make of a scenario. Internal to src/model. */
#pragma once

#include "model/critical/whatif.h"

/* A scenario in the making: arrays are made when a change needs them. */
struct edit {
  const struct nai_whatif *w;
  const struct nai_model *m; /* of w */
  struct nai_arena *arena;
  struct nai_scenario *s;
  float *op_factor, *call_factor;
  uint8_t *no_wait, *off_stream, *runs_ahead;
  uint32_t *also_behind[NAI_ALSO_BEHIND];
  int64_t *call_cut, *host_cut;
  int64_t edited;
};
/* whatif_edit.c */
bool nai_change_matches(const struct nai_change *change, const char *name);
/* Makes factors, all 1, unless they are there; cuts and no_wait likewise. */
NAI_MUST_CHECK int nai_edit_factors(float **factors, uint32_t count, const struct edit *e, struct nai_err *err);
NAI_MUST_CHECK int nai_edit_cuts(struct edit *e, struct nai_err *err);
NAI_MUST_CHECK int nai_edit_waits(struct edit *e, struct nai_err *err);

/* whatif_stretch.c: sets what is replayed, and leaves of the scopes what lies in it. `slowest`: the scope to choose by,
 * unless they were asked for. With w->now_ns, of all. */
NAI_MUST_CHECK int nai_whatif_choose(struct nai_whatif *w, uint32_t slowest, bool asked, uint32_t most,
                                     struct nai_err *err);

/* whatif_launches.c; the first makes w->fusable. */
NAI_MUST_CHECK int nai_whatif_find_fusable(bool **out, const struct nai_model *m, struct nai_arena *arena,
                                           struct nai_err *err);
NAI_MUST_CHECK int nai_edit_fuse(struct edit *e, const struct nai_change *change, enum nai_case which,
                                 struct nai_err *err);
NAI_MUST_CHECK int nai_edit_graphs(struct edit *e, enum nai_case which, struct nai_err *err);
/* whatif_own_stream.c; the first makes w->behind_copies of w->scopes. */
NAI_MUST_CHECK int nai_whatif_pass_copies(struct nai_whatif *w, struct nai_err *err);
NAI_MUST_CHECK int nai_edit_own_stream(struct edit *e, enum nai_case which, struct nai_err *err);
NAI_MUST_CHECK int nai_edit_own_stream_comm(struct edit *e, enum nai_case which, struct nai_err *err);
/* whatif_balance.c */
NAI_MUST_CHECK int nai_edit_balance(struct edit *e, enum nai_case which, struct nai_err *err);
/* whatif_pinned.c */
NAI_MUST_CHECK int nai_edit_pinned(struct edit *e, enum nai_case which, struct nai_err *err);
