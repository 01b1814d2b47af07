/* How often does the host wait in a step? Table step_calls: calls that wait and pageable copies, step by step. */
#include "analyses/analysis.h"
#include "model/steps/step_stats.h"
#include "tables/step_calls.h"

/* Per step of the process: calls that wait, pageable copies. */
struct counts {
  int64_t *blocking, *pageable;
};

static void count_calls(struct counts *counts, const struct nai_model *m, uint32_t process) {
  const struct nai_process_steps *steps = &m->steps->processes[process];
  uint32_t near = 0;
  for (uint32_t t = 0; t < m->thread_count; t++) {
    if (m->thread_process[t] != (int32_t)process)
      continue;
    for (uint32_t i = m->api_by_thread.first[t]; i < m->api_by_thread.first[t + 1]; i++) {
      uint32_t api = m->api_by_thread.order[i], step = UINT32_MAX;
      if (nai_model_api_blocks(m, api))
        step = nai_step_at(steps, nai_val(&m->apis.start_ns, api), &near);
      if (step != UINT32_MAX)
        counts->blocking[step]++;
    }
  }
}

static void count_copies(struct counts *counts, const struct nai_model *m, uint32_t process) {
  enum { PAGEABLE = 0 };
  const struct nai_process_steps *steps = &m->steps->processes[process];
  uint32_t near = 0;
  for (uint32_t row = 0; row < m->memops.n; row++) {
    uint32_t api = m->memop_api[row];
    if (nai_val_i32(&m->memops.process, row) != (int32_t)process || api == NAI_NO_ROW ||
        nai_at_i32(&m->memops.copy_kind, row) == NAI_NULL_I32)
      continue;
    if (nai_at_i32(&m->memops.src_kind, row) != PAGEABLE && nai_at_i32(&m->memops.dst_kind, row) != PAGEABLE)
      continue;
    uint32_t step = nai_step_at(steps, nai_val(&m->apis.start_ns, api), &near);
    if (step != UINT32_MAX)
      counts->pageable[step]++;
  }
}

static int put_process(const struct nai_node_io *io, const struct nai_step_list *list, struct nai_err *err) {
  const struct nai_model *m = io->model;
  const struct nai_process_steps *steps = &m->steps->processes[list->process];
  struct counts counts;
  NAI_SCOPED(nai_step_stats) stats = {0};
  NAI_TRY(nai_step_stats_new(&stats, steps, list, err));
  NAI_TRY(NAI_NEW(counts.blocking, io->arena, steps->count, err));
  NAI_TRY(NAI_NEW(counts.pageable, io->arena, steps->count, err));
  count_calls(&counts, m, list->process);
  count_copies(&counts, m, list->process);
  for (uint32_t i = 0; i < list->count; i++) {
    uint32_t step = list->v[i].step;
    NAI_ADD(STEP_CALLS, io->out[0], .pid = nai_model_pid(m, (int32_t)list->process), .step = step,
            .state = nai_step_state_name((enum nai_step_state)stats.state[i]), .blocking_calls = counts.blocking[step],
            .pageable_copies = counts.pageable[step]);
  }
  return NAI_OK;
}

/* Of a process, the list of its first GPU. */
static int run(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_steps *steps = io->model->steps;
  for (uint32_t i = 0; i < steps->list_count; i++) {
    const struct nai_step_list *list = &steps->lists[i];
    if (list->count && !(i && list[-1].process == list->process))
      NAI_TRY(put_process(io, list, err));
  }
  return NAI_OK;
}

NAI_ANALYSIS(step_calls, .outputs = NAI_SCHEMAS(&nai_step_calls_schema),
             .parts = NAI_PART(NAMES) | NAI_PART(LAUNCHES) | NAI_PART(CALLS) | NAI_PART(STEPS), .run = run)
