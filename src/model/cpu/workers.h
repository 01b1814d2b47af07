/* What other threads of a process do while one of them runs its own code. */
#pragma once

#include "model/model.h"

/* Threads that wait for work: they are in calls of the OS runtime for half of their time or more. */
struct nai_workers {
  const struct nai_model *m;
  bool *waits; /* per row of threads; the arena's, NULL where no such calls are recorded */
};
NAI_MUST_CHECK int nai_workers_find(struct nai_workers *out, const struct nai_model *model, struct nai_arena *arena,
                                    struct nai_err *err);

/* How many of them, of the thread's process and it aside, are outside of such calls in these stretches, on average. NaN
 * where no calls are recorded, or no stretch is given; these are in order. */
double nai_workers_busy(const struct nai_workers *workers, int32_t thread, const struct nai_intervals *when);
