/* Batches whose traces are analysed elsewhere: tasks of a Slurm job array, or shell lines for another scheduler. */
#include "features/batch/command.h"

#include "base/fs.h"

#include <unistd.h>

enum { MAX_TASKS = 500 };

/* Tasks of three minutes or more, for schedulers suffer from many short ones. */
static uint32_t tasks_for(const struct batch_args *a, const struct nai_batch *b, const uint32_t *items, uint32_t count,
                          uint32_t most) {
  enum { TASK_S = 180, BYTES_PER_S = 100000000 };
  double seconds = 0;
  for (uint32_t i = 0; i < count; i++)
    seconds += 0.2 + (double)b->manifest.items[items[i]].stamp.bytes / BYTES_PER_S;
  uint32_t tasks = a->shards ? (uint32_t)a->shards : (uint32_t)(seconds / TASK_S) + 1;
  if (!a->shards && tasks > MAX_TASKS)
    tasks = MAX_TASKS;
  tasks = tasks > most ? most : tasks;
  tasks = tasks > count ? count : tasks;
  return tasks ? tasks : 1;
}

static void remove_index(const struct nai_batch *b) {
  static const char *const names[] = {"index.html", "index.csv", "index.sqlite", "batch.md"};
  char path[PATH_MAX];
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if ((size_t)snprintf(path, sizeof path, "%s/%s", b->out, names[i]) < sizeof path)
      unlink(path);
}

/* The index appears last of all. Looking at files asks nothing of the scheduler. */
static void wait_for_index(const struct nai_batch *b) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/index.html", b->out);
  while (!nai_fs_exists(path))
    sleep(1);
}

int nai_cmd_batch_submit(struct nai_batch *b, const struct batch_args *a, const uint32_t *items, uint32_t count,
                         struct nai_err *err) {
  struct nai_batch_slurm slurm = {
      .args = a->slurm, .arg_count = a->slurm_count, .cpus = a->jobs ? a->jobs : 1, .at_a_time = a->at_a_time};
  uint32_t most = 1;
  NAI_TRY(nai_batch_slurm_most(&most, err));
  NAI_TRY(nai_batch_plan_shards(b, tasks_for(a, b, items, count, most), items, count, err));
  remove_index(b);
  NAI_TRY(nai_batch_submit(&slurm, b, err));
  if (!a->quiet)
    printf("job array %s with %u tasks, roll-up %s\n", slurm.array_job, b->shards, slurm.rollup_job);
  fflush(stdout);
  if (a->wait)
    wait_for_index(b);
  return NAI_OK;
}

int nai_cmd_batch_print(struct nai_batch *b, const struct batch_args *a, const uint32_t *items, uint32_t count,
                        struct nai_err *err) {
  NAI_SCOPED(nai_buf) text = {0};
  NAI_TRY(nai_batch_plan_shards(b, tasks_for(a, b, items, count, UINT32_MAX), items, count, err));
  nai_batch_print(&text, b);
  return nai_cmd_print(&text, err);
}
