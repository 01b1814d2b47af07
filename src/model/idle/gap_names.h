/* What gaps, their launches and threads are called in tables. */
#pragma once

#include "model/idle/idle.h"

/* What the operation that ends a gap is called; NULL for the end of the window. */
const char *nai_next_op_name(char room[NAI_KIND_NAME_MAX], const struct nai_model *model,
                             const struct nai_idle_gap *gap);
/* The API function of a launch, NULL for none. */
const char *nai_launch_function(const struct nai_model *model, uint32_t launch);
/* Innermost NVTX range around a launch, NULL for none. */
const char *nai_launch_range(const struct nai_model *model, uint32_t launch);
/* "thread 144 python3"; the arena's. */
const char *nai_thread_label(const struct nai_model *model, int32_t thread, struct nai_arena *arena);
