/* What the files of this directory share. Internal to src/features/batch. */
#pragma once

#include "features/batch/batch.h"

/* manifest.c: adds an item; NULL or "" for an id that is still to be found. */
NAI_MUST_CHECK int nai_batch_add(struct nai_batch_manifest *manifest, const char *id, const char *path,
                                 const char *group, struct nai_err *err);
/* expand.c: adds the items that one operand stands for. */
NAI_MUST_CHECK int nai_batch_expand(struct nai_batch_manifest *manifest, const char *input, struct nai_err *err);
/* ids.c: gives every item without an id one, from its file's name, and checks those there are. */
NAI_MUST_CHECK int nai_batch_name_items(struct nai_batch_manifest *manifest, struct nai_err *err);
/* batch.c: writes batch.json. */
NAI_MUST_CHECK int nai_batch_write_plan(const struct nai_batch *batch, struct nai_err *err);
