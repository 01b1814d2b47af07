/* What decides when the GPUs are done? Tables critical_path, critical_path_causes, critical_path_summary,
 * dependency_graph. */
#include "analyses/analysis.h"
#include "analyses/path_tables.h"
#include "tables/critical_path.h"
#include "tables/critical_path_causes.h"
#include "tables/critical_path_summary.h"
#include "tables/dependency_graph.h"

enum { PATH, CAUSES, SUMMARY, GRAPH };

static int replay_error(int64_t *error, const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_dependencies *d = io->model->dependencies;
  const struct nai_scenario unchanged = {0};
  uint32_t *order, count;
  int64_t *moved;
  *error = 0;
  if (!d->disagrees)
    return NAI_OK;
  NAI_TRY(NAI_NEW(moved, io->arena, d->node_count, err));
  NAI_TRY(nai_dep_order(&order, &count, d, NULL, io->arena, err));
  nai_dep_replay(moved, io->model, &unchanged, order, count);
  for (uint32_t i = 0; i < d->node_count; i++) {
    int64_t away = moved[i] < 0 ? -moved[i] : moved[i];
    *error = away > *error ? away : *error;
  }
  return NAI_OK;
}

static int put_graph(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_dependencies *d = io->model->dependencies;
  const struct nai_dep_quality *q = &d->quality;
  int64_t error;
  NAI_TRY(replay_error(&error, io, err));
  NAI_ADD(DEPENDENCY_GRAPH, io->out[GRAPH], .call_count = d->call_count, .operation_count = d->op_count,
          .dependency_count = d->count, .dropped_count = q->kinds[NAI_DEP_DROPPED], .unlinked_count = q->unlinked,
          .unlinked_behind_count = q->unlinked_behind, .handoff_count = q->kinds[NAI_DEP_HANDOFF],
          .wait_count = q->waits, .inferred_wait_count = q->inferred, .unresolved_wait_count = q->unresolved,
          .unresolved_wait_pct = nai_percent((double)q->unresolved_ns, (double)q->waits_ns),
          .event_wait_count = q->event_waits, .event_without_record_count = q->events_without_record,
          .unexplained_count = q->unexplained, .unexplained_ns = q->unexplained_ns, .full_queue_count = q->queue_calls,
          .collective_count = q->collectives, .unmatched_count = q->unmatched, .replay_error_ns = error);
  return NAI_OK;
}

static int run(const struct nai_node_io *io, struct nai_err *err) {
  const struct nai_path_tables out = {.model = io->model,
                                      .arena = io->arena,
                                      .path = io->out[PATH],
                                      .causes = io->out[CAUSES],
                                      .summary = io->out[SUMMARY]};
  struct nai_path_scope *scopes;
  uint32_t count;
  NAI_TRY(nai_path_scopes(&scopes, &count, io->model, NULL, io->arena, err));
  if (!count)
    return NAI_OK;
  NAI_TRY(nai_path_put_tables(&out, scopes, count, err)); /* the window is the first */
  return put_graph(io, err);
}

NAI_ANALYSIS(critical_path,
             .outputs = NAI_SCHEMAS(&nai_critical_path_schema, &nai_critical_path_causes_schema,
                                    &nai_critical_path_summary_schema, &nai_dependency_graph_schema),
             .parts = NAI_PART(DEPENDENCIES) | NAI_PART(STEPS) | NAI_PART(NVTX_TREE) | NAI_PART(NAMES) | NAI_PART(GPUS),
             .tables = NAI_IN(APIS) | NAI_IN(KERNELS) | NAI_IN(MEMOPS) | NAI_IN(THREADS) | NAI_IN(PROCESSES) |
                       NAI_IN(NVTX) | NAI_IN(LABELS),
             .cost = 3, .run = run)
