/* Phase maps: which NVTX range names belong to which phase of a program (docs/writing-phase-maps.md). */
#pragma once

#include "base/buf.h"
#include "config/patterns.h"

/* Loads the built-in map of that name ("vllm" is the asset phase-maps/vllm.yaml), else the file `path`: its classes are
 * the phases. *hash, if not NULL, takes in that of the text. A word without dot or slash that is neither is taken for a
 * mistyped name and gets a suggestion. NAI_EUSAGE on any defect. */
NAI_MUST_CHECK int nai_phase_map_load(struct nai_patterns **out, uint64_t *hash, const char *path, struct nai_err *err);

/* Of all built-in maps. */
uint64_t nai_phase_map_builtins_hash(void);
