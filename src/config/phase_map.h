/* Phase maps: which NVTX range names belong to which phase of a program (docs/writing-phase-maps.md). */
#pragma once

#include "base/buf.h"
#include "base/scope.h"

struct nai_phase_map;

/* Loads the built-in map of that name ("vllm" is the asset phase-maps/vllm.yaml), else the file `path`. A word without
 * dot or slash that is neither is taken for a mistyped name and gets a suggestion. NAI_EUSAGE on any defect. */
NAI_MUST_CHECK int nai_phase_map_load(struct nai_phase_map **out, const char *path, struct nai_err *err);
void nai_phase_map_free(struct nai_phase_map *map);
NAI_OWNER(nai_phase_map)

/* Phase of a range name, or -1. Safe from several threads. */
int nai_phase_map_match(const struct nai_phase_map *map, const char *name);
/* Call once after the last match: NAI_EUSAGE when a regular expression gave up on some name. */
NAI_MUST_CHECK int nai_phase_map_check(const struct nai_phase_map *map, struct nai_err *err);

int nai_phase_map_count(const struct nai_phase_map *map);
uint64_t nai_phase_map_hash(const struct nai_phase_map *map);                /* of the text it was read from */
const char *nai_phase_map_phase(const struct nai_phase_map *map, int phase); /* borrowed; "" when out of range */

/* Of all built-in maps. */
uint64_t nai_phase_map_builtins_hash(void);
/* Appends the names of the built-in maps: "inference, jax, ...". */
void nai_phase_map_builtins(struct nai_buf *out);
