/* What finding steps is made of. Internal to src/model. */
#pragma once

#include "base/buf.h"
#include "base/sort.h"
#include "model/build.h"
#include "model/steps/steps.h"

/* --- names of ranges: steps_names.c ----------------------------------------------------------- */

/* The canonical names of all ranges: runs of digits as '#'. */
struct nai_step_names {
  struct nai_strings texts;
  uint32_t *canonical; /* per string of nvtx_events: string of `texts` */
};
NAI_MUST_CHECK int nai_step_names_find(struct nai_step_names *out, const struct nai_model *model,
                                       struct nai_arena *arena, struct nai_err *err);
/* *out = a text that stays with the model. */
NAI_MUST_CHECK int nai_step_keep(const char **out, struct nai_model *model, const struct nai_buf *text,
                                 struct nai_err *err);

enum nai_step_word {
  NAI_WORD_NONE,
  NAI_WORD_STEP, /* step, iteration, batch, ... */
  NAI_WORD_PART, /* of a step: layer, block, microbatch, an operator */
  NAI_WORD_EPOCH /* of steps */
};
/* Of a canonical name. */
enum nai_step_word nai_step_word_of(const char *canonical);
/* Whether a number in the names of these rows of nvtx_events counts up by one, nine times in ten at least. */
bool nai_step_numbered(const struct nai_model *model, const uint32_t *rows, uint32_t count);

/* --- the search ------------------------------------------------------------------------------- */

/* One process, while its steps are looked for. */
struct nai_step_search {
  struct nai_model *m;
  uint32_t process;
  const uint32_t *threads; /* its threads */
  uint32_t thread_count;
  const int64_t *launches; /* when calls that launched GPU work began, ascending */
  uint32_t launch_count;
  const struct nai_step_names *names; /* of ranges; empty without ranges or with --step */
  const uint8_t *serving;             /* per name: enum nai_serving_format; NULL where no range is an engine's */
  struct nai_process_steps *out;
  struct nai_steps *found; /* lists and units of this process alone */
  struct nai_arena *arena; /* until the process is done; what stays is the model's */
  uint8_t *called;         /* per API call of the trace: a step has counted it; a process sets those of its own */
};

/* Launches of [from, to). */
static inline uint32_t nai_step_launches(const struct nai_step_search *s, int64_t from, int64_t to) {
  return (uint32_t)(nai_bisect(s->launches, s->launch_count, sizeof *s->launches, 0, to) -
                    nai_bisect(s->launches, s->launch_count, sizeof *s->launches, 0, from));
}
/* steps_user.c, steps_serving.c, steps_nvtx.c: fill `out` if they find steps; its method tells. */
NAI_MUST_CHECK int nai_steps_by_user(struct nai_step_search *search, struct nai_err *err);
NAI_MUST_CHECK int nai_steps_by_serving(struct nai_step_search *search, struct nai_err *err);
NAI_MUST_CHECK int nai_steps_by_ranges(struct nai_step_search *search, struct nai_err *err);
/* steps_optimizer.c: the same by the ends of ranges around an optimizer. */
NAI_MUST_CHECK int nai_steps_by_optimizer(struct nai_step_search *search, struct nai_err *err);
/* Also lists what repeats without being steps, whether there are steps already or not. */
NAI_MUST_CHECK int nai_steps_by_kernels(struct nai_step_search *search, struct nai_err *err);
/* Rows of the thread's ranges, of those with a name that is wanted (per string of nvtx_events), that lie in no other
 * one; how many. */
uint32_t nai_step_ranges(uint32_t *rows, const struct nai_model *model, uint32_t thread, const uint8_t *wanted);
/* The steps that ranges (rows of nvtx_events of one thread, by start, none inside another) begin. */
NAI_MUST_CHECK int nai_steps_from_ranges(struct nai_process_steps *out, struct nai_model *model, const uint32_t *ranges,
                                         uint32_t count, struct nai_err *err);
/* steps_serving.c: *out = the format per name of a range; NULL where no name is a step of an engine. */
NAI_MUST_CHECK int nai_serving_names_find(const uint8_t **out, const struct nai_model *model, struct nai_arena *arena,
                                          struct nai_err *err);
/* What the ranges of the steps tell of requests. */
NAI_MUST_CHECK int nai_steps_read_serving(struct nai_step_search *search, struct nai_err *err);
/* steps_gpu.c: windows, partition and sums of a process's steps on the GPUs it used. */
NAI_MUST_CHECK int nai_steps_on_gpus(struct nai_step_search *search, struct nai_err *err);
