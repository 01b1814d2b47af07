/* What the files of this directory share. Internal to src/features/batch. */
#pragma once

#include "config/yaml.h"
#include "features/batch/batch.h"
#include "table/json.h"

/* manifest_ids.c: gives every item without an id one, from its file's name, and checks those there are. */
NAI_MUST_CHECK int nai_batch_name_items(struct nai_batch_manifest *manifest, struct nai_err *err);
/* For qsort_r, with the batch: items by size, the largest first; by number where sizes are equal. */
int nai_batch_by_size(const void *a, const void *b, void *batch);
/* Members of a document of ours: "" and 0 where they are missing; a number of 64 bits as JSON has it. */
const char *nai_batch_text_of(const struct nai_yaml *doc, const char *key);
int64_t nai_batch_int_of(const struct nai_yaml *doc, const char *key);
uint64_t nai_batch_hex_of(const struct nai_yaml *doc, const char *key);
/* batch.c: writes batch.json. */
NAI_MUST_CHECK int nai_batch_write_plan(const struct nai_batch *batch, struct nai_err *err);
