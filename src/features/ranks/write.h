/* What is written of a comparison of ranks. */
#pragma once

#include "features/ranks/tables.h"

/* One line: who is late, by how much, and how far that is in doubt. Plain text with names of the trace in it. */
void nai_ranks_put_verdict(struct nai_buf *out, const struct nai_ranks *ranks);
/* What a late rank did while others waited for it; nothing when that is not known. */
void nai_ranks_put_reason(struct nai_buf *out, const struct nai_ranks *ranks, const struct nai_job_rank *rank);
/* Why something could not be answered, or is less sure than it looks: `number` from 0, false when there are no more. */
bool nai_ranks_put_caveat(struct nai_buf *out, const struct nai_ranks *ranks, uint32_t number);

/* The map of ranks and steps as SVG of a class: what is drawn, [rank * buckets + bucket]. */
void nai_ranks_put_map(struct nai_buf *out, const struct nai_ranks *ranks, const int64_t *values, const char *class);

void nai_ranks_write_json(struct nai_buf *out, const struct nai_ranks *ranks, const struct nai_ranks_tables *tables);
NAI_MUST_CHECK int nai_ranks_write_html(struct nai_buf *out, const struct nai_ranks *ranks,
                                        const struct nai_ranks_tables *tables, struct nai_err *err);
NAI_MUST_CHECK int nai_ranks_write_markdown(struct nai_buf *out, const struct nai_ranks *ranks,
                                            const struct nai_ranks_tables *tables, struct nai_err *err);
