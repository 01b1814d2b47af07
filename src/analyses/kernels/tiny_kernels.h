/* Table tiny_kernels, which launches.c makes beside launch_storm. Internal to src/analyses. */
#pragma once

#include "model/model.h"
#include "tables/tiny_kernels.h"

/* Fills the table. Needs NAI_PART(GPUS). */
NAI_MUST_CHECK int nai_tiny_kernels_put(struct nai_table *table, const struct nai_model *m, struct nai_err *err);
