/* What other threads of a process do while one of them runs its own code. */
#pragma once

#include "model/model.h"

/* How many threads of the thread's process, it aside, are outside of OS runtime calls in these stretches, on average:
 * of those that are mostly in such calls, as threads that wait for work are. NaN where no such calls are recorded, or
 * no stretch is given; these are in order. */
double nai_busy_workers(const struct nai_model *model, int32_t thread, const struct nai_intervals *when);
