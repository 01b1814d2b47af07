/* Phase maps: which NVTX range names belong to which phase of a program (docs/writing-phase-maps.md). */
#ifndef NAI_CONFIG_PHASE_MAP_H
#define NAI_CONFIG_PHASE_MAP_H

#include "base/err.h"

#include <stddef.h>

struct nai_phase_map;

/* Loads the file `path`, or the built-in map of that name ("vllm" is the asset phase-maps/vllm.yaml). A word without a
 * dot or slash is a built-in name unless such a file exists; an unknown one gets a suggestion. NAI_EUSAGE on any defect. */
NAI_MUST_CHECK int nai_phase_map_load(struct nai_phase_map **out, const char *path, struct nai_err *err);
void nai_phase_map_free(struct nai_phase_map *map);

/* Phase of a range name, or -1. Safe from several threads. */
int nai_phase_map_match(const struct nai_phase_map *map, const char *name);
/* Call once after the last match: NAI_EUSAGE when a regular expression gave up on some name. */
NAI_MUST_CHECK int nai_phase_map_check(const struct nai_phase_map *map, struct nai_err *err);

int nai_phase_map_count(const struct nai_phase_map *map);
const char *nai_phase_map_phase(const struct nai_phase_map *map, int phase); /* borrowed; "" when out of range */

/* Built-in map `index` in bytewise order, NULL past the last one. */
const char *nai_phase_map_builtin(size_t index);

#endif
