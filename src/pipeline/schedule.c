/* Which jobs of a stage go into one flow, and in which order they start. */
#include "pipeline/job.h"

#include "base/flow.h"
#include "base/sort.h"

/* The job that makes a table, NULL for none. */
static struct job *maker_of(const struct job_set *set, const char *table) {
  for (int i = 0; i < set->count; i++)
    for (int o = 0; o < set->jobs[i].outputs; o++)
      if (strcmp(set->jobs[i].node->outputs[o]->name, table) == 0)
        return &set->jobs[i];
  return NULL;
}

/* Whether every table that the job reads is there or on its way. */
static bool inputs_come(const struct job_set *set, const struct job *job) {
  const char *name;
  for (size_t i = 0; (name = nai_job_input(job, i)); i++) {
    if (nai_run_find_loaded(set->s->run, name))
      continue;
    const struct job *maker = maker_of(set, name);
    if (!maker || !maker->coming)
      return false;
  }
  return true;
}

static void send(struct job_set *set, struct job *job) {
  job->coming = true;
  set->parts |= job->node->parts;
  set->tables |= job->node->tables;
}

/* Decides of the jobs whose inputs are there whether they run; of those taken over others may be the readers. */
static int decide(struct job_set *set, struct nai_err *err) {
  for (bool more = true; more;) {
    more = false;
    for (int i = 0; i < set->count; i++) {
      struct job *job = &set->jobs[i];
      if (job->decided || !nai_job_find_inputs(job))
        continue;
      NAI_TRY(nai_job_decide(job, err));
      more |= job->taken;
      if (!job->taken)
        send(set, job);
    }
  }
  return NAI_OK;
}

/* Takes over what can be, and finds the jobs that go into the next flow: those that have to run, then those that read
 * their tables. Of the latter only those for which no more of the model is built: they may turn out not to run. */
int nai_job_set_choose(struct job_set *set, struct nai_err *err) {
  NAI_TRY(decide(set, err));
  uint32_t parts = nai_parts_needed(set->parts);
  uint64_t tables = set->tables;
  for (bool more = true; more;) {
    more = false;
    for (int i = 0; i < set->count; i++) {
      struct job *job = &set->jobs[i];
      if (job->decided || job->coming || nai_parts_needed(job->node->parts) & ~parts || job->node->tables & ~tables ||
          !inputs_come(set, job))
        continue;
      send(set, job);
      more = true;
    }
  }
  return NAI_OK;
}

/* What waits for a job, the job included, takes so long: the longest such path starts first. */
static void add_weight(const struct job_set *set, struct job *job, int behind) {
  const char *name;
  int weight = behind + 1 + job->node->cost;
  if (weight <= job->weight)
    return;
  job->weight = weight;
  for (size_t i = 0; (name = nai_job_input(job, i)); i++) {
    struct job *maker = maker_of(set, name);
    if (maker && maker->coming)
      add_weight(set, maker, weight);
  }
}

NAI_ORDER_BY(compare_jobs, struct job *const, NAI_SIGN((*b)->weight, (*a)->weight), NAI_SIGN(*a, *b))

/* Adds the jobs on their way to the flow, the heaviest first, behind the parts and the jobs whose tables they need. */
void nai_job_set_plan(struct nai_flow *flow, const struct job_set *set, nai_task_fn *run, struct job **order,
                      const uint32_t done[NAI_PART_COUNT]) {
  int n = 0;
  for (int i = 0; i < set->count; i++)
    if (set->jobs[i].coming) {
      add_weight(set, &set->jobs[i], 0);
      order[n++] = &set->jobs[i];
    }
  qsort(order, (size_t)n, sizeof *order, compare_jobs); /* a job weighs more than those that wait for it */
  for (int i = 0; i < n; i++) {
    struct job *job = order[i];
    uint32_t needed = nai_parts_needed(job->node->parts);
    const char *name;
    job->task = nai_flow_add(flow, run, job, 0);
    for (int p = 0; p < NAI_PART_COUNT; p++)
      if (needed & 1u << p && done[p] != NAI_FLOW_END)
        nai_flow_after(flow, job->task, done[p]);
    for (size_t k = 0; !job->decided && (name = nai_job_input(job, k)); k++) {
      const struct job *maker = maker_of(set, name);
      if (maker && maker->coming)
        nai_flow_after(flow, job->task, maker->task);
    }
  }
}
