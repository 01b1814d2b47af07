/* Parallel loops over independent tasks. */
#pragma once

#include "base/err.h"

#include <pthread.h>

/* Locks a mutex until its scope is left. */
#define NAI_LOCKED(mutex) \
  __attribute__((cleanup(nai_unlock_mutex), unused)) pthread_mutex_t *locked = nai_lock_mutex(mutex)
static inline pthread_mutex_t *nai_lock_mutex(pthread_mutex_t *mutex) {
  pthread_mutex_lock(mutex);
  return mutex;
}
static inline void nai_unlock_mutex(pthread_mutex_t **mutex) { pthread_mutex_unlock(*mutex); }

enum { NAI_MAX_THREADS = 256 };

/* Work on task `task` (0..tasks-1); fills err and returns its code on failure. */
typedef int nai_task_fn(void *ctx, int task, struct nai_err *err);

/* Runs all tasks on at most `threads` threads (the caller's included) and waits. Tasks start in order.
 * After a failure no further task starts; the error of the lowest failed task is returned, so that a run
 * reports the same error for any thread count. Falls back to fewer threads when the system refuses one. */
NAI_MUST_CHECK int nai_parallel(int threads, int tasks, nai_task_fn *fn, void *ctx, struct nai_err *err);

/* Processors this process may run on, at least 1. */
int nai_cpu_count(void);
