/* Which thread another one waits for, where no call says so: the one that runs when its sleeps end. */
#pragma once

#include "model/cpu/cpu.h"

/* When sleeps of one thread ended, by time. Zeroed memory is one to begin with. */
struct nai_wakes {
  struct nai_wake {
    int64_t at, slept_ns;
  } * at;
  uint32_t count, capacity;
};
/* Adds those of a thread in [start, end): of half a millisecond or longer, and not because another thread had its CPU.
 */
NAI_MUST_CHECK int nai_wakes_add(struct nai_wakes *wakes, const struct nai_model *model, int64_t global_tid,
                                 int64_t start, int64_t end, struct nai_arena *arena, struct nai_err *err);

struct nai_waker {
  int32_t thread;   /* row of threads, -1: none */
  uint32_t count;   /* sleeps that ended while it ran, or at most 0.1 ms after */
  int64_t slept_ns; /* in them */
};
/* The other thread that ran when most of them ended, half or more with two thirds of their time: twice as often as at
 * any time. Ten sleeps at least. */
struct nai_waker nai_waker_of(const struct nai_wakes *wakes, const struct nai_model *model, int64_t global_tid);
