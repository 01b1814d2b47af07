/* What a pause of a GPU is recorded as. */
#pragma once

#include "model/idle/active.h"

/* The cause that covers most of a pause, the part that it covers, and what is behind it ("" when nothing is). */
struct nai_pause_cause {
  const char *cause;
  int64_t ns;
  char what[512];
};

/* As the idle gap that the pause is was cut into causes, with two told more finely: time of the thread's own by its
 * outermost OS calls, and a long first launch of a kernel, which loads or compiles. */
NAI_MUST_CHECK int nai_pause_explain(struct nai_pause_cause *out, const struct nai_model *model,
                                     const struct nai_gpu *gpu, const struct nai_span *pause, struct nai_err *err);
