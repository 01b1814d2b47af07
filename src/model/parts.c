/* The parts of the model: what they are made from, and building those that are asked for. */
#include "model/build.h"

static const struct nai_part_def *const parts[NAI_PART_COUNT] = {
    [NAI_PART_NAMES] = &nai_part_names,
    [NAI_PART_LAUNCHES] = &nai_part_launches,
    [NAI_PART_RANGES] = &nai_part_ranges,
    [NAI_PART_CALLS] = &nai_part_calls,
    [NAI_PART_CALL_STATS] = &nai_part_call_stats,
    [NAI_PART_GPUS] = &nai_part_gpus,
    [NAI_PART_ACTIVE] = &nai_part_active,
    [NAI_PART_PROCESS_GPUS] = &nai_part_process_gpus,
    [NAI_PART_WINDOW] = &nai_part_window,
    [NAI_PART_BLOCKED] = &nai_part_blocked,
    [NAI_PART_NVTX_TREE] = &nai_part_nvtx_tree,
    [NAI_PART_RANGE_SPANS] = &nai_part_range_spans,
    [NAI_PART_KERNEL_GROUPS] = &nai_part_kernel_groups,
    [NAI_PART_PROCESS_SUMS] = &nai_part_process_sums,
    [NAI_PART_PHASES] = &nai_part_phases,
    [NAI_PART_EVIDENCE] = &nai_part_evidence,
    [NAI_PART_IDLE] = &nai_part_idle,
    [NAI_PART_LANES] = &nai_part_lanes,
    [NAI_PART_CPU] = &nai_part_cpu,
    [NAI_PART_STEPS] = &nai_part_steps,
    [NAI_PART_COMM] = &nai_part_comm,
    [NAI_PART_MEMORY] = &nai_part_memory,
    [NAI_PART_SAMPLED] = &nai_part_sampled,
    [NAI_PART_DEPENDENCIES] = &nai_part_dependencies,
};

uint32_t nai_parts_needed(uint32_t wanted) {
  for (int p = NAI_PART_COUNT; p-- > 0;) /* a part needs earlier ones only */
    if (wanted & 1u << p)
      wanted |= parts[p]->needs;
  return wanted;
}

uint64_t nai_parts_tables(uint32_t wanted) {
  uint64_t tables = 0;
  wanted = nai_parts_needed(wanted);
  for (int p = 0; p < NAI_PART_COUNT; p++)
    tables |= wanted & 1u << p ? parts[p]->tables : 0;
  return tables;
}

uint32_t nai_parts_config(uint32_t wanted) {
  uint32_t config = 0;
  wanted = nai_parts_needed(wanted);
  for (int p = 0; p < NAI_PART_COUNT; p++)
    config |= wanted & 1u << p ? parts[p]->config : 0;
  return config;
}

int64_t nai_parts_bytes(const struct nai_model *m, uint32_t wanted) {
  enum { BASE = 32 << 20 };
  int64_t bytes = BASE;
  wanted = nai_parts_needed(wanted);
  for (int p = 0; p < NAI_PART_COUNT; p++)
    bytes += wanted & 1u << p && parts[p]->bytes ? parts[p]->bytes(m) : 0;
  return bytes;
}

static int begin_part(void *model, int part, struct nai_err *err) {
  return parts[part]->begin ? parts[part]->begin(model, err) : NAI_OK;
}

void nai_part_forget(struct nai_model *m, enum nai_model_part part) {
  nai_arena_free(&m->work->arenas[part]);
  m->work->arenas[part] = (struct nai_arena)NAI_ARENA(m->scratch_dir);
}

static int end_part(void *model, int part, struct nai_err *err) {
  struct nai_model *m = model;
  if (parts[part]->end)
    NAI_TRY(parts[part]->end(m, err));
  nai_part_forget(m, (enum nai_model_part)part);
  return NAI_OK;
}

/* begin, then the tasks, then end. Returns the number of the last. */
static uint32_t plan_part(struct nai_flow *flow, struct nai_model *m, int number, const uint32_t done[NAI_PART_COUNT]) {
  const struct nai_part_def *part = parts[number];
  uint32_t begin = nai_flow_add(flow, begin_part, m, number);
  for (int p = 0; p < NAI_PART_COUNT; p++)
    if (part->needs & 1u << p && done[p] != NAI_FLOW_END)
      nai_flow_after(flow, begin, done[p]);
  int tasks = part->tasks ? part->tasks(m) : 0;
  uint32_t first = flow->task_count;
  for (int i = 0; i < tasks; i++)
    nai_flow_after(flow, nai_flow_add(flow, part->task, m, i), begin);
  uint32_t end = nai_flow_add(flow, end_part, m, number);
  for (int i = 0; i < tasks; i++)
    nai_flow_after(flow, end, first + (uint32_t)i);
  nai_flow_after(flow, end, begin);
  return end;
}

int nai_model_plan(struct nai_model *m, struct nai_flow *flow, uint32_t wanted, uint32_t done[NAI_PART_COUNT],
                   struct nai_err *err) {
  wanted = nai_parts_needed(wanted);
  if (!m->work) {
    NAI_TRY(NAI_NEW(m->work, &m->arena, 1, err));
    for (int p = 0; p < NAI_PART_COUNT; p++)
      m->work->arenas[p] = (struct nai_arena)NAI_ARENA(m->scratch_dir);
  }
  for (int p = 0; p < NAI_PART_COUNT; p++)
    done[p] = wanted & ~m->work->built & 1u << p ? plan_part(flow, m, p, done) : NAI_FLOW_END;
  return flow->oom ? nai_err_nomem(err) : NAI_OK;
}

void nai_model_built(struct nai_model *m, uint32_t wanted) { m->work->built |= nai_parts_needed(wanted); }

int nai_model_build(struct nai_model *m, uint32_t wanted, struct nai_err *err) {
  NAI_SCOPED(nai_flow) flow = {0};
  uint32_t done[NAI_PART_COUNT];
  NAI_TRY(nai_model_plan(m, &flow, wanted, done, err));
  NAI_TRY(nai_flow_run(&flow, m->worker_count, err));
  nai_model_built(m, wanted);
  return NAI_OK;
}

void nai_model_free(struct nai_model *m) {
  for (int p = 0; m->work && p < NAI_PART_COUNT; p++)
    nai_arena_free(&m->work->arenas[p]);
  nai_arena_free(&m->arena);
}
