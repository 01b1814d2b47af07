/* How much later operations and calls may end: table slack. What each step consists of: table critical_path_steps. */
#include "query/internal.h"

#include "model/critical/dependencies.h"
#include "model/critical/path_sum.h"
#include "model/idle/gap_names.h"
#include "tables/critical_path_steps.h"
#include "tables/slack.h"
#include "tables/threads.h"

static const char *kind_of(const struct nai_op *op) {
  return op->type == NAI_OP_KERNEL ? "kernel"
       : op->type == NAI_OP_GRAPH  ? "graph"
       : op->type == NAI_OP_COPY   ? "copy"
                                   : "memset";
}

static void put_operation(struct nai_table *out, const struct nai_model *m, const int64_t *slack, uint32_t number) {
  const struct nai_dependencies *d = m->dependencies;
  const struct nai_op *op = nai_dep_op(m, number);
  uint32_t node = nai_node_of_op(d, number), call = d->op_call[number];
  char room[NAI_KIND_NAME_MAX];
  NAI_ADD(SLACK, out, .kind = kind_of(op), .row = op->row,
          .device_id = nai_model_device(m, nai_dep_op_gpu(d, number, m->gpu_count)),
          .name = nai_path_op_name(room, m, op),
          .range_name = call == NAI_NO_ROW ? NULL : nai_launch_range(m, d->call_api[call]), .start_ns = d->time[node],
          .end_ns = d->time[node + 1], .duration_ns = d->time[node + 1] - d->time[node], .slack_ns = slack[node + 1]);
}

static void put_call(struct nai_table *out, const struct nai_model *m, const int64_t *slack, uint32_t call) {
  const struct nai_dependencies *d = m->dependencies;
  uint32_t api = d->call_api[call];
  int32_t thread = nai_at_i32(&m->apis.thread, api);
  NAI_ADD(SLACK, out, .kind = "call", .row = api, .pid = nai_model_pid(m, m->thread_process[thread]),
          .tid = nai_get_i64(m->tables[NAI_IN_THREADS], thread, THREADS_tid), .name = nai_model_api_name(m, api),
          .range_name = nai_launch_range(m, api), .start_ns = d->time[2 * call], .end_ns = d->time[2 * call + 1],
          .duration_ns = d->time[2 * call + 1] - d->time[2 * call], .slack_ns = slack[2 * call + 1]);
}

static int open_slack(struct nai_sql_table *t, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  struct nai_model *m;
  uint32_t *order, count;
  int64_t *slack;
  NAI_TRY(nai_derived_model(&m, nai_database_of(t), NAI_PART(DEPENDENCIES) | NAI_PART(NVTX_TREE), err));
  const struct nai_dependencies *d = m->dependencies;
  NAI_TRY(nai_derived_new(t, 0, err));
  NAI_TRY(NAI_NEW(slack, &arena, d->node_count, err));
  NAI_TRY(nai_dep_order(&order, &count, d, NULL, &arena, err));
  nai_dep_slack(slack, m, order);
  for (uint32_t op = 0; op < d->op_count; op++)
    put_operation(t->own, m, slack, op);
  for (uint32_t call = 0; call < d->call_count; call++)
    put_call(t->own, m, slack, call);
  return nai_table_check(t->own, err);
}

const struct nai_sql_source nai_derived_slack = {.schema = &nai_slack_schema, .open = open_slack};

/* --- step by step --------------------------------------------------------------------------------- */

static int put_repetition(struct nai_table *out, const struct nai_model *m, const struct nai_path_scope *all,
                          uint32_t i, struct nai_err *err) {
  const int64_t *times = m->dependencies->time;
  struct nai_path_scope one = {.kind = all->kind, .nodes = all->nodes + i, .count = 1};
  struct nai_path_sum sum;
  nai_path_sum_begin(&sum, NULL);
  NAI_TRY(nai_path_sum_scope(&sum, &one, m, NULL, NULL, err));
  for (int cause = 0; cause < NAI_PATH_CAUSES; cause++)
    if (sum.by_cause[cause])
      NAI_ADD(CRITICAL_PATH_STEPS, out, .scope = nai_path_scope_name(all->kind),
              .device_id = nai_model_device(m, all->gpu), .pid = nai_model_pid(m, all->process),
              .step = nai_path_repetition(all, m, i), .steady = !all->counts || all->counts[i],
              .start_ns = times[one.nodes[0]], .end_ns = times[one.nodes[1]],
              .cause = nai_path_cause_name((enum nai_path_cause)cause), .duration_ns = sum.by_cause[cause]);
  return NAI_OK;
}

static int open_steps(struct nai_sql_table *t, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  struct nai_path_scope *scopes;
  struct nai_model *m;
  uint32_t count;
  NAI_TRY(nai_derived_model(&m, nai_database_of(t), NAI_PART(DEPENDENCIES) | NAI_PART(STEPS), err));
  NAI_TRY(nai_derived_new(t, 0, err));
  NAI_TRY(nai_path_scopes(&scopes, &count, m, NULL, &arena, err));
  for (uint32_t s = 0; s < count; s++)
    for (uint32_t i = 0; scopes[s].kind != NAI_SCOPE_WINDOW && i < scopes[s].count; i++)
      NAI_TRY(put_repetition(t->own, m, &scopes[s], i, err));
  return nai_table_check(t->own, err);
}

const struct nai_sql_source nai_derived_path_steps = {.schema = &nai_critical_path_steps_schema, .open = open_steps};
