/* An analysis answers one question: a pure function from the model and other tables to tables. Adding one = a file here
 * and a line in registry.c; its schemas drive every output (docs/adding-an-analysis.md). */
#pragma once

#include "analyses/node.h"
#include "table/stats.h"

extern const struct nai_node *const nai_analyses[]; /* ends with NULL */
/* Declares an analysis: NAI_ANALYSIS(kernels, .outputs = NAI_SCHEMAS(&nai_kernels_schema), ..., .run = run) */
#define NAI_ANALYSIS(id, ...) const struct nai_node nai_analysis_##id = {.name = #id, __VA_ARGS__};
