#include "base/threads.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

struct job {
  nai_task_fn *fn;
  void *ctx;
  int tasks;
  atomic_int next;
  atomic_int failed_task; /* the lowest one so far; `tasks` while none has failed */
  pthread_mutex_t lock;
  struct nai_err err; /* of failed_task */
};

static void *worker(void *arg) {
  struct job *job = arg;
  struct nai_err err = {0};
  for (;;) {
    int task = atomic_fetch_add(&job->next, 1);
    /* A task below the failed one must still run, even if it was only fetched: its error would come first. */
    if (task >= atomic_load(&job->failed_task))
      return NULL;
    if (job->fn(job->ctx, task, &err) == 0)
      continue;
    pthread_mutex_lock(&job->lock);
    if (task < atomic_load(&job->failed_task)) {
      atomic_store(&job->failed_task, task);
      job->err = err;
    }
    pthread_mutex_unlock(&job->lock);
  }
}

int nai_parallel(int threads, int tasks, nai_task_fn *fn, void *ctx, struct nai_err *err) {
  struct job job = {.fn = fn, .ctx = ctx, .tasks = tasks, .failed_task = tasks};
  pthread_mutex_init(&job.lock, NULL);
  if (threads > tasks)
    threads = tasks;
  if (threads > NAI_MAX_THREADS)
    threads = NAI_MAX_THREADS;
  pthread_t others[NAI_MAX_THREADS];
  int started = 0;
  while (started < threads - 1 && pthread_create(&others[started], NULL, worker, &job) == 0)
    started++;
  worker(&job);
  for (int i = 0; i < started; i++)
    pthread_join(others[i], NULL);
  pthread_mutex_destroy(&job.lock);
  if (atomic_load(&job.failed_task) == tasks)
    return NAI_OK;
  if (err)
    *err = job.err;
  return job.err.code;
}

int nai_cpu_count(void) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0)
    return 1;
  int n = CPU_COUNT(&set);
  return n > 0 ? n : 1;
}
