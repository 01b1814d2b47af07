/* JSON building blocks of the truth file. A failed allocation leaves a member out; the document as
 * a whole is checked when it is written. */
#pragma once

#include <jansson.h>

#include "gen/plan_internal.h"

void nai_gen_json_int(json_t *object, const char *key, int64_t value);
void nai_gen_json_string(json_t *object, const char *key, const char *text);
/* Names that JSON cannot hold (invalid UTF-8, NUL) are given in hexadecimal under KEY_hex. */
void nai_gen_json_name(json_t *object, const char *key, const char *bytes, size_t size);
/* {count, total_ns, min_ns, max_ns}; the caller owns it. */
json_t *nai_gen_json_stat(const struct nai_gen_stat *stat);
/* Appends an empty object to an array and returns it, borrowed. */
json_t *nai_gen_json_object_in(json_t *array);
/* Planned parts of a GPU's idle time by cause (answers.c); the caller owns it. */
json_t *nai_gen_parts_json(const struct nai_gen_gpu *gpu);
/* The same for every trace, less exactly: truth_idle.c. */
json_t *nai_gen_sweep_json(const struct nai_gen_gpu *gpu);
/* What ran (truth_work.c): GPUs, kernels, calls, ranges, phases, processes, transfers. */
void nai_gen_set_work(json_t *truth, const struct nai_gen_plan *plan);
/* Steps and repeating units, where the scenario states some (steps.c). */
void nai_gen_set_steps(json_t *truth, const struct nai_gen_plan *plan);
/* These, spans and facts. */
void nai_gen_set_answers(json_t *truth, const struct nai_gen_plan *plan);
/* Waits and transfers of collectives, where the scenario has some (collective.c). */
void nai_gen_set_waits(json_t *truth, const struct nai_gen_plan *plan);
/* Writes a document through a temporary file. */
int nai_gen_json_write(const json_t *document, const char *path, struct nai_gen_err *err);
