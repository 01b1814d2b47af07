/* What changes make of a scenario. Internal to src/model. */
#pragma once

#include "model/critical/whatif.h"

/* The arrays of a scenario, as long as the trace. They are made once: what a scenario changed is set back behind it. */
struct edit_arrays {
  float *op_factor, *call_factor;
  uint8_t *no_wait, *off_stream, *runs_ahead;
  uint32_t *also_behind[NAI_ALSO_BEHIND];
  int64_t *call_cut, *host_cut;
};
struct edit_room {
  struct edit_arrays made;
  struct nai_stretch *calls; /* per thread: those that are replayed, those that launched what is, and all between */
};

/* A scenario in the making. */
struct edit {
  const struct nai_whatif *w;
  const struct nai_model *m; /* of w */
  struct nai_arena *arena;
  struct nai_scenario *s;
  struct edit_arrays of; /* those that a change needs */
  int64_t edited;
};
/* whatif_edit.c */
bool nai_change_matches(const struct nai_change *change, const char *name);
NAI_MUST_CHECK int nai_edit_begin(struct nai_whatif *w, struct nai_err *err);
/* Lends the arrays to the scenario: factors are 1, all else 0. */
NAI_MUST_CHECK int nai_edit_op_factors(struct edit *e, struct nai_err *err);
NAI_MUST_CHECK int nai_edit_call_factors(struct edit *e, struct nai_err *err);
NAI_MUST_CHECK int nai_edit_cuts(struct edit *e, struct nai_err *err);
NAI_MUST_CHECK int nai_edit_waits(struct edit *e, struct nai_err *err);
NAI_MUST_CHECK int nai_edit_handoffs(struct edit *e, struct nai_err *err);
NAI_MUST_CHECK int nai_edit_streams(struct edit *e, struct nai_err *err);
NAI_MUST_CHECK int nai_edit_behind(struct edit *e, int which, struct nai_err *err);
/* Sets the arrays back once the scenario has been replayed. */
void nai_edit_undo(const struct nai_whatif *w, const struct nai_scenario *s);

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
