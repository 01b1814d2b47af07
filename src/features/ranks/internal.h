/* The steps of nai_ranks_compare. Internal to src/features/ranks. */
#pragma once

#include "base/sort.h"
#include "features/ranks/ranks.h"

/* Numbers, labels and order of the ranks. */
NAI_MUST_CHECK int nai_ranks_order(struct nai_ranks *ranks, const struct nai_ranks_options *options,
                                   struct nai_err *err);
/* Groups of lines, and their collectives. */
NAI_MUST_CHECK int nai_ranks_match(struct nai_ranks *ranks, const struct nai_ranks_options *options,
                                   struct nai_err *err);
/* Sums over the collectives, and the map. */
NAI_MUST_CHECK int nai_ranks_sum(struct nai_ranks *ranks, struct nai_err *err);
/* What late ranks did meanwhile, from their runs. */
NAI_MUST_CHECK int nai_ranks_explain(struct nai_ranks *ranks, struct nai_err *err);
/* How long each rank's kernels take, against the same kernels of the others. */
NAI_MUST_CHECK int nai_ranks_kernels(struct nai_ranks *ranks, struct nai_err *err);
NAI_MUST_CHECK int nai_ranks_judge(struct nai_ranks *ranks, struct nai_err *err);

/* Collectives of a group by what they are: key the kind, value the collective. The caller frees *out, also on failure.
 */
NAI_MUST_CHECK int nai_ranks_by_kind(struct nai_key **out, const struct nai_ranks *ranks,
                                     const struct nai_rank_group *group, struct nai_err *err);
/* Collectives of one kind that take more than twice `usual_ns`, while no rank waits for another as long as that adds;
 * what they take beyond it. None of a few. */
struct nai_rank_slow {
  int64_t count, excess_ns;
};
struct nai_rank_slow nai_ranks_slow(const struct nai_rank_group *group, const struct nai_key *keys, uint32_t count,
                                    int64_t usual_ns);

/* The model of a source, with the parts that collectives need and `parts`, until nai_run_drop_model. */
NAI_MUST_CHECK int nai_ranks_model(struct nai_model **out, struct nai_ranks *ranks, uint32_t source, uint32_t parts,
                                   struct nai_err *err);
/* Rank `rank` is late enough to ask why. */
bool nai_ranks_matters(const struct nai_ranks *ranks, const struct nai_job_rank *rank);
/* Number of a text in ranks->names, NAI_NO_STRING for NULL. */
NAI_MUST_CHECK int nai_ranks_text(uint32_t *id, struct nai_ranks *ranks, const char *text, struct nai_err *err);
