#include "gen/plan_internal.h"

#include <stdlib.h>
#include <string.h>

#define API_DEF(id, name, suffix, class) {name, name suffix, API_CLASS_##class},
static const struct nai_gen_api_def apis[] = {NAI_GEN_APIS(API_DEF)};

const struct nai_gen_api_def *nai_gen_api(enum nai_gen_api api) { return &apis[api]; }

void nai_gen_stat_add(struct nai_gen_stat *stat, int64_t value) {
  if (stat->count == 0 || value < stat->min) {
    stat->min = value;
  }
  if (stat->count == 0 || value > stat->max) {
    stat->max = value;
  }
  stat->count++;
  stat->total += value;
}

void *nai_gen_plan_push(struct nai_gen_plan *plan, struct nai_gen_vec *vec) {
  void *item = nai_gen_failed(plan) ? NULL : nai_gen_vec_push(vec);
  if (!item) {
    nai_gen_fail(NAI_GEN_ENOMEM, plan->err, "out of memory");
  }
  return item;
}

void nai_gen_plan_saw(struct nai_gen_plan *plan, int64_t end_ns) {
  if (end_ns > plan->last_ns) {
    plan->last_ns = end_ns;
  }
}

struct nai_gen_plan *nai_gen_plan_new(struct nai_gen_db *db, const struct nai_gen_plan_options *options,
                                      struct nai_gen_err *err) {
  struct nai_gen_plan *plan = calloc(1, sizeof *plan);
  if (!plan) {
    nai_gen_fail(NAI_GEN_ENOMEM, err, "out of memory");
    return NULL;
  }
  plan->db = db;
  plan->err = err;
  plan->rng.state = options->seed;
  plan->order_rng.state = ~options->seed;
  plan->schema = options->schema;
  plan->scale = options->scale;
  plan->shuffle = options->shuffle;
  plan->utc_ns = options->utc_ns;
  plan->gpu_name = options->gpu_name;
  plan->string_bytes.item_size = 1;
  plan->strings.item_size = sizeof(struct nai_gen_string_entry);
  plan->kernels.item_size = sizeof(struct nai_gen_kernel);
  plan->names.item_size = sizeof(struct nai_gen_name);
  plan->phases.item_size = sizeof(struct nai_gen_phase);
  plan->calls.item_size = sizeof(struct nai_gen_call);
  plan->ops.item_size = sizeof(struct nai_gen_op);
  plan->syncs.item_size = sizeof(struct nai_gen_sync);
  plan->ranges.item_size = sizeof(struct nai_gen_range);
  plan->text.item_size = 1;
  plan->overheads.item_size = sizeof(struct nai_gen_overhead);
  plan->graph_nodes.item_size = sizeof(struct nai_gen_graph_node_row);
  plan->raws.item_size = sizeof(struct nai_gen_row);
  plan->diagnostics.item_size = sizeof(struct nai_gen_diagnostic);
  plan->transfers.item_size = sizeof(struct nai_gen_transfer);
  plan->drops.item_size = sizeof(struct nai_gen_drop);
  plan->evidence.item_size = sizeof(struct nai_gen_evidence);
  plan->spans.item_size = sizeof(struct nai_gen_span);
  plan->facts.item_size = sizeof(struct nai_gen_fact);
  plan->steps.item_size = sizeof(struct nai_gen_step_mark);
  plan->units.item_size = sizeof(struct nai_gen_unit);
  plan->waits.item_size = sizeof(struct nai_gen_wait);
  for (int api = 0; api < API_COUNT; api++) {
    plan->api_strings[api] = -1;
  }
  /* Real exports give id 0 to a string, so 0 must not be read as "no name". */
  nai_gen_string(plan, "GpuMetrics", 10);
  nai_gen_string(plan, "SocMetrics", 10);
  return plan;
}

void nai_gen_plan_free(struct nai_gen_plan *plan) {
  if (!plan) {
    return;
  }
  struct nai_gen_vec *vecs[] = {&plan->string_bytes, &plan->strings,     &plan->kernels,   &plan->names,
                                &plan->phases,       &plan->calls,       &plan->ops,       &plan->syncs,
                                &plan->ranges,       &plan->text,        &plan->overheads, &plan->graph_nodes,
                                &plan->raws,         &plan->diagnostics, &plan->transfers, &plan->drops,
                                &plan->spans,        &plan->facts,       &plan->steps,     &plan->units,
                                &plan->waits,        &plan->evidence};
  for (size_t i = 0; i < sizeof vecs / sizeof vecs[0]; i++) {
    nai_gen_vec_free(vecs[i]);
  }
  for (int i = 0; i < MAX_GPUS; i++) {
    nai_gen_vec_free(&plan->gpus[i].durations);
  }
  free(plan);
}

struct nai_gen_rng *nai_gen_rng(struct nai_gen_plan *plan) {
  return &plan->rng;
}

int nai_gen_scaled(const struct nai_gen_plan *plan, int count) {
  double scaled = plan->scale * count;
  return scaled < 1 ? 1 : (int)scaled;
}

/* Hands out the next slot of a fixed array; slot 0 of a failed plan once the array is full. */
static int take_slot(struct nai_gen_plan *plan, int *count, int limit, const char *what) {
  if (*count == limit) {
    nai_gen_fail(NAI_GEN_ENOMEM, plan->err, "the scenario plans more than %d %s", limit, what);
    return 0;
  }
  return (*count)++;
}

int nai_gen_process(struct nai_gen_plan *plan, int pid, const char *name) {
  int slot = take_slot(plan, &plan->process_count, MAX_PROCESSES, "processes");
  plan->processes[slot] =
      (struct nai_gen_process){.pid = pid, .name = name, .global_pid = (INT64_C(1) << 48) | ((int64_t)pid << 24)};
  plan->processes[slot].correlation = 100;
  return slot;
}

void nai_gen_correlation_base(struct nai_gen_plan *plan, int process, int64_t base) {
  plan->processes[process].correlation = base;
}

int nai_gen_thread(struct nai_gen_plan *plan, int process, int tid, const char *name) {
  int slot = take_slot(plan, &plan->thread_count, MAX_THREADS, "threads");
  struct nai_gen_thread *thread = &plan->threads[slot];
  thread->process = process;
  thread->tid = tid;
  thread->name = name;
  thread->global_tid = plan->processes[process].global_pid | tid;
  thread->now = 1000000000; /* a second of start-up before the first event, as in real captures */
  return slot;
}

int nai_gen_gpu(struct nai_gen_plan *plan, int physical_id) {
  int slot = take_slot(plan, &plan->gpu_count, MAX_GPUS, "GPUs");
  plan->gpus[slot].physical_id = physical_id;
  plan->gpus[slot].durations.item_size = sizeof(int64_t);
  return slot;
}

int nai_gen_context(struct nai_gen_plan *plan, int process, int device_id, int context_id, int gpu) {
  int slot = take_slot(plan, &plan->context_count, MAX_CONTEXTS, "contexts");
  plan->contexts[slot] =
      (struct nai_gen_context){.process = process, .device_id = device_id, .context_id = context_id, .gpu = gpu};
  return slot;
}

int nai_gen_green_context(struct nai_gen_plan *plan, int parent, int context_id, int sm_count, const char *tpc_mask) {
  const struct nai_gen_context *in = &plan->contexts[parent];
  int slot = nai_gen_context(plan, in->process, in->device_id, context_id, in->gpu);
  plan->contexts[slot].green = in->context_id;
  plan->contexts[slot].sm_count = sm_count;
  plan->contexts[slot].tpc_mask = tpc_mask;
  return slot;
}

void nai_gen_visible_sms(struct nai_gen_plan *plan, int process, int sm_count) {
  plan->processes[process].visible_sms = sm_count;
}

int nai_gen_stream(struct nai_gen_plan *plan, int context, int stream_id) {
  int slot = take_slot(plan, &plan->stream_count, MAX_STREAMS, "streams");
  plan->streams[slot] = (struct nai_gen_stream){.context = context, .stream_id = stream_id};
  return slot;
}

void nai_gen_diagnostic(struct nai_gen_plan *plan, int severity, const char *text) {
  struct nai_gen_diagnostic *diagnostic = nai_gen_plan_push(plan, &plan->diagnostics);
  if (diagnostic) {
    *diagnostic = (struct nai_gen_diagnostic){severity, text};
  }
}

static void count_evidence(struct nai_gen_plan *plan, const char *table, const char *column, int64_t value) {
  struct nai_gen_evidence *all = plan->evidence.items, *found = NULL;
  for (size_t i = 0; i < plan->evidence.count && !found; i++) {
    bool same = strcmp(all[i].table, table) == 0 &&
                (column && all[i].column ? strcmp(all[i].column, column) == 0 : column == all[i].column);
    found = same ? &all[i] : NULL;
  }
  if (!found && (found = nai_gen_plan_push(plan, &plan->evidence))) {
    *found = (struct nai_gen_evidence){.table = table, .column = column};
  }
  if (found) {
    found->count++;
    found->sum += (uint64_t)value;
  }
}

void nai_gen_evidence_row(struct nai_gen_plan *plan, const struct nai_gen_row *row) {
  if (nai_gen_failed(plan)) {
    return;
  }
  (void)nai_gen_db_insert(plan->db, row, plan->err);
  count_evidence(plan, row->table, NULL, 0);
  for (int i = 0; i < row->cell_count; i++) {
    if (row->cells[i].type == NAI_GEN_CELL_INT) {
      count_evidence(plan, row->table, row->cells[i].column, row->cells[i].as.integer);
    }
  }
}

void nai_gen_raw_row(struct nai_gen_plan *plan, const struct nai_gen_row *row, const char *reason) {
  struct nai_gen_row *copy = nai_gen_plan_push(plan, &plan->raws);
  if (!copy) {
    return;
  }
  *copy = *row;
  if (!reason) {
    return;
  }
  struct nai_gen_drop *drops = plan->drops.items;
  for (size_t i = 0; i < plan->drops.count; i++) {
    if (strcmp(drops[i].table, row->table) == 0 && strcmp(drops[i].reason, reason) == 0) {
      drops[i].count++;
      return;
    }
  }
  struct nai_gen_drop *drop = nai_gen_plan_push(plan, &plan->drops);
  if (drop) {
    *drop = (struct nai_gen_drop){row->table, reason, 1};
  }
}

void nai_gen_odd_labels(struct nai_gen_plan *plan) { plan->odd_labels = true; }

void nai_gen_inexact(struct nai_gen_plan *plan) { plan->inexact = true; }

static void expect(struct nai_gen_plan *plan, const char *ids, bool fires) {
  while (*ids) {
    size_t size = strcspn(ids, " ");
    int slot = take_slot(plan, &plan->expectation_count, MAX_EXPECTATIONS, "expected findings");
    plan->expectations[slot] = (struct nai_gen_expectation){ids, size, fires};
    ids += size + (ids[size] == ' ');
  }
}

void nai_gen_expect_findings(struct nai_gen_plan *plan, const char *ids) { expect(plan, ids, true); }

void nai_gen_expect_no_findings(struct nai_gen_plan *plan, const char *ids) { expect(plan, ids, false); }

void nai_gen_caveat(struct nai_gen_plan *plan, const char *id) {
  int slot = take_slot(plan, &plan->caveat_count, MAX_EXPECTATIONS, "caveats");
  plan->caveats[slot] = id;
}

int64_t nai_gen_written_bytes(struct nai_gen_plan *plan) {
  return nai_gen_failed(plan) ? INT64_MAX : nai_gen_db_size(plan->db, plan->err);
}
