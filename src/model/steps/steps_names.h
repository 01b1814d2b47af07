/* What range names say about steps. Internal to src/model. */
#pragma once

#include "base/buf.h"
#include "base/strings.h"
#include "model/model.h"

/* The canonical names of all ranges: runs of digits as '#'. */
struct nai_step_names {
  struct nai_strings texts;
  uint32_t *canonical; /* per string of nvtx_events: string of `texts` */
};
NAI_MUST_CHECK int nai_step_names_find(struct nai_step_names *out, const struct nai_model *model,
                                       struct nai_arena *arena, struct nai_err *err);
/* Appends `name` with every run of digits as '#'. */
void nai_step_canonical(struct nai_buf *out, const char *name);
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
