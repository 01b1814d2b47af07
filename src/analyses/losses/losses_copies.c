/* Copies that wait, that wait for nobody else, and that are made again and again. */
#include "analyses/losses/losses.h"

#include "base/fmt.h"

#include <inttypes.h>
#include <stdlib.h>

enum { TINY_BYTES = 64 * 1024, REPEATS = 5, HOST_TO_DEVICE = 1, DEVICE_TO_HOST = 2, PEER = 10 };

static int32_t direction(const struct nai_loss_gpu *g, uint32_t i) {
  return nai_at_i32(&g->m->memops.copy_kind, g->gpu->ops[i].row);
}

static bool is_transfer(const struct nai_loss_gpu *g, uint32_t i) {
  return direction(g, i) == HOST_TO_DEVICE || direction(g, i) == DEVICE_TO_HOST;
}

/* Whether the operation is longer than the one noted; notes it then. */
static void note_longest(struct nai_loss *loss, const struct nai_loss_gpu *g, uint32_t i) {
  int64_t start = nai_model_op_start(g->m, &g->gpu->ops[i]), end = nai_model_op_end(g->m, &g->gpu->ops[i]);
  if (loss->count && end - start <= loss->end - loss->start)
    return;
  loss->start = start;
  loss->end = end;
}

/* --- tiny copies with a wait each ------------------------------------------------------------- */

/* The call that waits for the copy: its own, where that blocks, or the thread's next one. NAI_NO_ROW: none does. */
static uint32_t waiting_call(const struct nai_model *m, uint32_t api) {
  if (nai_model_api_blocks(m, api))
    return api;
  int32_t thread = nai_at_i32(&m->apis.thread, api);
  const struct nai_groups *calls = &m->api_by_thread;
  if (thread < 0)
    return NAI_NO_ROW;
  uint32_t last = calls->first[thread + 1];
  uint32_t next =
      nai_rows_from(calls->order, calls->first[thread], last, &m->apis.start_ns, nai_at(&m->apis.end_ns, api));
  if (next < last && calls->order[next] == api) /* of no length */
    next++;
  return next < last && m->api_class[nai_at_text(&m->apis.name, calls->order[next])] == NAI_API_BLOCKING
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
    if (!is_transfer(g, g->copies[k]) || nai_at(&g->m->memops.bytes, op->row) > TINY_BYTES)
      continue;
    uint32_t api = nai_model_op_api(g->m, op);
    uint32_t wait = api == NAI_NO_ROW ? NAI_NO_ROW : waiting_call(g->m, api);
    if (wait == NAI_NO_ROW)
      continue;
    int64_t start = nai_at(&g->m->apis.start_ns, api), end = nai_at(&g->m->apis.end_ns, wait);
    waits[loss.count] = (struct nai_interval){start, end};
    nai_intervals_add(&copies, nai_model_op_start(g->m, op), nai_model_op_end(g->m, op));
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
    bool counts = communication ? op->communication && g->inside[i] : is_transfer(g, i) || direction(g, i) == PEER;
    if (!counts || !compute[op->stream])
      continue;
    nai_intervals_add(&all, nai_model_op_start(g->m, op), nai_model_op_end(g->m, op));
    note_longest(&loss, g, i);
    if (loss.end == nai_model_op_end(g->m, op))
      loss.example = communication ? nai_model_kernel_name(g->m, op->row) : nai_model_direction(room, g->m, op->row);
    loss.count++;
  }
  nai_intervals_intersect(&exposed, &all, communication ? &g->gpu->exposed_communication : &g->gpu->exposed_copy);
  if (exposed.oom)
    return nai_err_nomem(err);
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

/* --- the same again --------------------------------------------------------------------------- */

static int compare_copies(const void *pa, const void *pb, void *gpu) {
  const struct nai_loss_gpu *g = gpu;
  const struct MEMOP_EVENTS_columns *v = &g->m->memops;
  uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
  uint32_t row_a = g->gpu->ops[a].row, row_b = g->gpu->ops[b].row;
  const struct nai_column *const keys[] = {&v->copy_kind, &v->src_kind, &v->dst_kind, &v->bytes};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    if (nai_at(keys[i], row_a) != nai_at(keys[i], row_b))
      return nai_at(keys[i], row_a) < nai_at(keys[i], row_b) ? -1 : 1;
  return (a > b) - (a < b);
}

static bool same_copy(const struct MEMOP_EVENTS_columns *v, uint32_t a, uint32_t b) {
  return nai_at(&v->copy_kind, a) == nai_at(&v->copy_kind, b) && nai_at(&v->src_kind, a) == nai_at(&v->src_kind, b) &&
         nai_at(&v->dst_kind, a) == nai_at(&v->dst_kind, b) && nai_at(&v->bytes, a) == nai_at(&v->bytes, b);
}

/* Adds the copies order[0..n), which are the same, to the loss. */
static void add_same(struct nai_loss *loss, struct nai_buf *detail, char room[NAI_KIND_NAME_MAX],
                     const struct nai_loss_gpu *g, const uint32_t *order, uint32_t n) {
  int64_t ns = 0;
  for (uint32_t i = 0; i < n; i++) {
    const struct nai_op *op = &g->gpu->ops[order[i]];
    ns += nai_model_op_end(g->m, op) - nai_model_op_start(g->m, op);
    note_longest(loss, g, order[i]);
    loss->count++;
  }
  loss->ns += ns;
  if (loss->example && ns <= loss->example_ns)
    return;
  uint32_t row = g->gpu->ops[order[0]].row;
  loss->example = nai_model_direction(room, g->m, row);
  loss->example_ns = ns;
  nai_buf_clear(detail);
  nai_fmt_count(detail, n);
  nai_buf_puts(detail, " copies of ");
  nai_fmt_count(detail, nai_at(&g->m->memops.bytes, row));
  nai_buf_puts(detail, " bytes each");
}

/* What nothing hides of the operations that `goes` marks. */
static int unhidden_of(int64_t *ns, const struct nai_loss_gpu *g, const bool *goes, struct nai_err *err) {
  struct nai_intervals all = {.arena = g->arena}, exposed = {.arena = g->arena};
  for (uint32_t i = 0; i < g->gpu->op_count; i++)
    if (goes[i])
      nai_intervals_add(&all, nai_model_op_start(g->m, &g->gpu->ops[i]), nai_model_op_end(g->m, &g->gpu->ops[i]));
  nai_intervals_intersect(&exposed, &all, &g->gpu->exposed_copy);
  *ns = nai_intervals_total_ns(&exposed);
  return exposed.oom ? nai_err_nomem(err) : NAI_OK;
}

static int add_repeated(const struct nai_loss_gpu *g, struct nai_err *err) {
  NAI_SCOPED(nai_buf) detail = {0};
  struct nai_loss loss = {.what = "repeated_copies", .base_ns = g->copy_ns, .detail = &detail};
  char room[NAI_KIND_NAME_MAX];
  uint32_t n = 0, sizes = 0, *order;
  int64_t gain;
  bool *goes;
  NAI_TRY(NAI_NEW(order, g->arena, g->copy_count, err));
  NAI_TRY(NAI_NEW(goes, g->arena, g->gpu->op_count, err));
  for (uint32_t i = 0; i < g->copy_count; i++)
    if (is_transfer(g, g->copies[i]))
      order[n++] = g->copies[i];
  qsort_r(order, n, sizeof *order, compare_copies, (void *)g);
  for (uint32_t i = 0, j; i < n; i = j) {
    for (j = i + 1; j < n && same_copy(&g->m->memops, g->gpu->ops[order[i]].row, g->gpu->ops[order[j]].row); j++)
      ;
    if (j - i < REPEATS)
      continue;
    add_same(&loss, &detail, room, g, order + i, j - i);
    for (uint32_t k = i; k < j; k++)
      goes[order[k]] = true;
    sizes++;
  }
  if (!sizes)
    return NAI_OK;
  NAI_TRY(unhidden_of(&gain, g, goes, err));
  loss.unavoidable_ns = loss.ns - gain;
  if (sizes > 1)
    nai_buf_printf(&detail, ", and %" PRIu32 " other %s", sizes - 1,
                   sizes == 2 ? "size that repeats" : "sizes that repeat");
  nai_loss_put(g, &loss);
  return NAI_OK;
}

int nai_losses_of_copies(const struct nai_loss_gpu *g, struct nai_err *err) {
  NAI_TRY(add_tiny(g, err));
  NAI_TRY(add_sharing_streams(g, err));
  return add_repeated(g, err);
}
