/* What the files of the analysis of idle gaps share. Internal to src/analyses/idle. */
#pragma once

#include "analyses/analysis.h"
#include "model/idle/idle.h"

/* What the host did in its own code on one GPU, as far as somebody looked: in all gaps, and in active spans. */
struct nai_idle_host {
  struct nai_idle_shares all, active;
};
/* Fills table idle_causes. host: per GPU. */
NAI_MUST_CHECK int nai_put_idle_causes(const struct nai_node_io *io, struct nai_table *table,
                                       const struct nai_idle_host *host, struct nai_err *err);
