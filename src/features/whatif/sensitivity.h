/* What a step would take if all of a kind took less time: where it pays to look, before a change is known. Internal to
 * src/features/whatif. */
#pragma once

#include "model/critical/whatif.h"
#include "table/json.h"

enum { NAI_SPEEDUPS = 4, NAI_SENSITIVITY_MAX = 12 };

struct nai_sensitivity {
  struct {
    const char *kind;
    bool without_waits;            /* no call waits for the GPU, either */
    double after_ns[NAI_SPEEDUPS]; /* with 10, 25, 50 and 100 % less time, likely case */
  } v[NAI_SENSITIVITY_MAX];
  int count;
};

/* Kinds that the trace has; whatif->state is not to refuse. */
NAI_MUST_CHECK int nai_find_sensitivity(struct nai_sensitivity *out, const struct nai_whatif *whatif,
                                        struct nai_err *err);
void nai_sensitivity_put_text(struct nai_buf *out, const struct nai_sensitivity *s);
/* As member "sensitivity". */
void nai_sensitivity_put_json(struct nai_json *json, const struct nai_sensitivity *s);
