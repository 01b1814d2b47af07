/* What each range launched, on GPUs: table nvtx_projection_events. */
#include "query/internal.h"

#include "model/nvtx/projection.h"
#include "tables/nvtx_projection_events.h"
#include "tables/threads.h"

struct work {
  const struct nai_model *m;
  struct nai_table *out;
};

static int put(void *ctx, const struct nai_projection *p, struct nai_err *err) {
  const struct work *w = ctx;
  const struct nai_model *m = w->m;
  const struct nai_table *threads = m->tables[NAI_IN_THREADS];
  int64_t start = nai_at(&m->nvtx.start_ns, p->range), end = nai_at(&m->nvtx.end_ns, p->range);
  int64_t thread = nai_at(&m->nvtx.thread, p->range);
  NAI_ADD(NVTX_PROJECTION_EVENTS, w->out, .range = p->range, .range_name = nai_model_range_name(m, p->range),
          .node = nai_projection_node(m, p),
          .style = nai_at(&m->nvtx.kind, p->range) == NAI_NVTX_PUSH_POP ? "push/pop" : "start/end",
          .pid = nai_get_i64(threads, thread, THREADS_pid), .tid = nai_get_i64(threads, thread, THREADS_tid),
          .device_id = p->gpu == NAI_NO_ROW ? NAI_NULL_I64 : nai_model_device(m, p->gpu), .whole = p->whole,
          .is_inside = p->inside, .start_ns = p->start, .end_ns = p->end, .span_ns = p->end - p->start,
          .own_busy_ns = p->own_ns, .busy_ns = p->busy_ns, .idle_ns = p->end - p->start - p->busy_ns,
          .range_start_ns = start, .range_ns = end - start, .start_lag_ns = p->start - start,
          .end_lag_ns = p->end - end, .op_count = p->ops, .launch_count = p->launches, .stream_count = p->streams,
          .kernel_ns = p->kernel_ns, .comm_ns = p->comm_ns, .graph_ns = p->graph_ns, .copy_ns = p->copy_ns);
  return nai_table_check(w->out, err);
}

static int open_projection(struct nai_sql_table *t, struct nai_err *err) {
  struct nai_model *m;
  NAI_TRY(nai_derived_model(&m, nai_database_of(t), NAI_PROJECTION_PARTS | NAI_PART(NVTX_TREE), err));
  NAI_TRY(nai_derived_new(t, 0, err));
  return m->map_nvtx ? nai_project_ranges(m, NULL, put, &(struct work){m, t->own}, err) : NAI_OK;
}

const struct nai_sql_source nai_derived_projection = {.schema = &nai_nvtx_projection_events_schema,
                                                      .open = open_projection};
