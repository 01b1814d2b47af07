/* Copies that wait, and that share the stream of what computes. */
#include "analyses/losses/losses.h"

#include "base/fmt.h"

enum { PEER = 10 };

/* --- tiny copies with a wait each ------------------------------------------------------------- */

/* The call that waits for a copy that starts then: its own, where that blocks, or the thread's next one. NAI_NO_ROW:
 * none does. A few bytes of pageable memory are staged, and the call returns before they are copied. */
static uint32_t waiting_call(const struct nai_model *m, uint32_t api, int64_t start) {
  if (nai_model_api_blocks(m, api) && nai_val(&m->apis.end_ns, api) > start)
    return api;
  int32_t thread = nai_val_i32(&m->apis.thread, api);
  const struct nai_groups *calls = &m->api_by_thread;
  if (thread < 0)
    return NAI_NO_ROW;
  uint32_t last = calls->first[thread + 1];
  uint32_t next =
      nai_rows_from(calls->order, calls->first[thread], last, &m->apis.start_ns, nai_val(&m->apis.end_ns, api));
  if (next < last && calls->order[next] == api) /* of no length */
    next++;
  return next < last && m->api_class[nai_val_text(&m->apis.name, calls->order[next])] == NAI_API_BLOCKING
           ? calls->order[next]
           : NAI_NO_ROW;
}

/* Idle time while `waits`, and of `copies` what nothing hides in that time, within the active spans. */
static int unhidden(int64_t *ns, const struct nai_loss_gpu *g, const struct nai_intervals *waits,
                    const struct nai_intervals *copies, struct nai_err *err) {
  struct nai_intervals in = {.arena = g->arena}, busy = in, own = in, copy = in;
  nai_intervals_intersect(&in, waits, &g->active);
  nai_intervals_intersect(&busy, &in, &g->gpu->all);
  nai_intervals_intersect(&own, &in, copies);
  nai_intervals_intersect(&copy, &own, &g->gpu->exposed_copy);
  *ns = nai_intervals_total_ns(&in) - nai_intervals_total_ns(&busy) + nai_intervals_total_ns(&copy);
  return busy.oom || copy.oom ? nai_err_nomem(err) : NAI_OK;
}

static int add_tiny(const struct nai_loss_gpu *g, struct nai_err *err) {
  NAI_SCOPED(nai_buf) detail = {0};
  struct nai_loss loss = {.what = "tiny_copies", .detail = &detail};
  struct nai_intervals all = {.arena = g->arena}, copies = {.arena = g->arena};
  struct nai_interval *waits;
  int64_t bytes = 0;
  NAI_TRY(NAI_NEW(waits, g->arena, g->copy_count, err));
  for (uint32_t k = 0; k < g->copy_count; k++) {
    const struct nai_op *op = &g->gpu->ops[g->copies[k]];
    if (!nai_loss_is_transfer(g, g->copies[k]) || nai_at(&g->m->memops.bytes, op->row) > NAI_TINY_COPY)
      continue;
    uint32_t api = nai_model_op_api(g->m, op);
    uint32_t wait = api == NAI_NO_ROW ? NAI_NO_ROW : waiting_call(g->m, api, op->start);
    if (wait == NAI_NO_ROW)
      continue;
    int64_t start = nai_val(&g->m->apis.start_ns, api), end = nai_val(&g->m->apis.end_ns, wait);
    waits[loss.count] = (struct nai_interval){start, end};
    nai_intervals_add(&copies, op->start, op->end);
    if (!loss.count || end - start > loss.end - loss.start) {
      loss.start = start;
      loss.end = end;
      loss.example = nai_model_api_name(g->m, wait);
    }
    loss.count++;
    bytes += nai_at(&g->m->memops.bytes, op->row);
  }
  if (!loss.count)
    return NAI_OK;
  nai_intervals_gather(&all, waits, (size_t)loss.count);
  NAI_TRY(unhidden(&loss.ns, g, &all, &copies, err));
  loss.example_ns = loss.end - loss.start;
  nai_buf_puts(&detail, "copies of 64 KiB or less to or from the host, ");
  nai_fmt_bytes(&detail, (double)bytes);
  nai_buf_puts(&detail, " total, each with a call that waits for it");
  nai_loss_put(g, &loss);
  return NAI_OK;
}

/* --- what shares a stream with compute -------------------------------------------------------- */

static bool computes(const struct nai_loss_gpu *g, uint32_t i) {
  const struct nai_op *op = &g->gpu->ops[i];
  return g->inside[i] && (op->type == NAI_OP_KERNEL || op->type == NAI_OP_GRAPH) && !op->communication;
}

/* On a stream that computes nothing can overlap with the compute: operations of a kind there, as far as exposed. */
static int add_on_compute_stream(const struct nai_loss_gpu *g, const bool *compute, bool communication,
                                 struct nai_err *err) {
  NAI_SCOPED(nai_buf) detail = {0};
  struct nai_loss loss = {.what = communication ? "communication_on_compute_stream" : "copies_on_compute_stream",
                          .detail = &detail};
  struct nai_intervals all = {.arena = g->arena}, exposed = {.arena = g->arena};
  char room[NAI_KIND_NAME_MAX];
  uint32_t n = communication ? g->gpu->op_count : g->copy_count;
  for (uint32_t k = 0; k < n; k++) {
    uint32_t i = communication ? k : g->copies[k];
    const struct nai_op *op = &g->gpu->ops[i];
    bool counts = communication ? op->communication && g->inside[i]
                                : nai_loss_is_transfer(g, i) || nai_loss_direction(g, i) == PEER;
    if (!counts || !compute[op->stream])
      continue;
    nai_intervals_add(&all, op->start, op->end);
    nai_loss_note_longest(&loss, g, i);
    if (loss.end == op->end)
      loss.example = communication ? nai_model_kernel_name(g->m, op->row) : nai_model_direction(room, g->m, op->row);
    loss.count++;
  }
  nai_intervals_intersect(&exposed, &all, communication ? &g->gpu->exposed_communication : &g->gpu->exposed_copy);
  NAI_TRY(nai_memory_check(!exposed.oom, err));
  loss.ns = nai_intervals_total_ns(&exposed);
  loss.example_ns = loss.end - loss.start;
  nai_buf_puts(&detail, communication ? "communication on streams that compute, too: it cannot overlap with that"
                                      : "copies on streams that compute, too: they cannot overlap with that");
  if (loss.ns)
    nai_loss_put(g, &loss);
  return NAI_OK;
}

static int add_sharing_streams(const struct nai_loss_gpu *g, struct nai_err *err) {
  bool *compute;
  NAI_TRY(NAI_NEW(compute, g->arena, g->gpu->stream_count, err));
  for (uint32_t i = 0; i < g->gpu->op_count; i++)
    if (!compute[g->gpu->ops[i].stream] && computes(g, i))
      compute[g->gpu->ops[i].stream] = true;
  NAI_TRY(add_on_compute_stream(g, compute, false, err));
  return add_on_compute_stream(g, compute, true, err);
}

int nai_losses_of_copies(const struct nai_loss_gpu *g, struct nai_err *err) {
  NAI_TRY(add_tiny(g, err));
  return add_sharing_streams(g, err);
}
