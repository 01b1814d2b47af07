/* What did a GPU do while others already waited for it? */
#include "analyses/comm/comm.h"

#include <stdlib.h>
#include <string.h>

/* Operations that began long before the wait are looked for among so many before it. */
enum { LOOK_BACK = 64 };

/* Time by kernel, in the waits for one rank. */
struct work {
  const struct nai_comm *c;
  const struct nai_gpu *gpu;
  int64_t *ns; /* by string of kernel_events, then copies and sets, then graphs */
  uint32_t *touched, count, names;
  uint32_t *longest; /* by the same: number of the operation that took longest of the waits */
  int64_t *longest_ns;
};

static void add_op(struct work *w, uint32_t i, int64_t from, int64_t to) {
  const struct nai_model *m = w->c->m;
  const struct nai_op *op = &w->gpu->ops[i];
  int64_t start = nai_model_op_start(m, op), end = nai_model_op_end(m, op);
  int64_t ns = (end < to ? end : to) - (start > from ? start : from);
  if (op->communication || ns <= 0)
    return;
  uint32_t what =
      op->type == NAI_OP_KERNEL ? nai_at_text(&m->kernels.name, op->row) : w->names + (op->type == NAI_OP_GRAPH);
  if (!w->ns[what])
    w->touched[w->count++] = what;
  w->ns[what] += ns;
  if (ns > w->longest_ns[what]) {
    w->longest_ns[what] = ns;
    w->longest[what] = i;
  }
}

static void add_wait(struct work *w, const struct nai_comm_item *late) {
  int64_t from = late->start - late->skew;
  uint32_t first = nai_model_op_from(w->c->m, w->gpu, from), before = first > LOOK_BACK ? first - LOOK_BACK : 0;
  for (uint32_t i = before; i < w->gpu->op_count && nai_model_op_start(w->c->m, &w->gpu->ops[i]) < late->start; i++)
    add_op(w, i, from, late->start);
}

static const char *name_of(const struct work *w, uint32_t what) {
  return what < w->names ? nai_strings_get(&w->c->m->tables[NAI_IN_KERNELS]->strings, what)
       : what > w->names ? "CUDA graphs"
                         : "copies";
}

static uint32_t largest(const struct work *w) {
  uint32_t most = w->touched[0];
  for (uint32_t i = 1; i < w->count; i++) {
    uint32_t what = w->touched[i];
    if (w->ns[what] > w->ns[most] || (w->ns[what] == w->ns[most] && strcmp(name_of(w, what), name_of(w, most)) < 0))
      most = what;
  }
  return most;
}

/* Innermost NVTX range around the launch of an operation, NULL for none. */
static const char *range_of(const struct work *w, uint32_t op) {
  const struct nai_model *m = w->c->m;
  uint32_t api = nai_model_op_api(m, &w->gpu->ops[op]);
  const struct nai_nvtx_node *node = api == NAI_NO_ROW || !m->api_node ? NULL : nai_model_call_node(m, api);
  return node ? nai_strings_get(&m->tables[NAI_IN_NVTX]->strings, node->name) : NULL;
}

static void sum_up(struct nai_comm_late *out, const struct work *w, int64_t waited, int64_t busy) {
  out->ns = waited;
  out->idle_ns = waited - busy;
  if (!w->count)
    return;
  uint32_t most = largest(w);
  out->what = name_of(w, most);
  out->what_ns = w->ns[most];
  out->range = range_of(w, w->longest[most]);
}

int nai_comm_late(struct nai_comm_late *out, const struct nai_comm *c, uint32_t rank, struct nai_err *err) {
  uint32_t g = c->ranks[rank].gpu, names = c->m->tables[NAI_IN_KERNELS]->strings.count;
  struct work w = {.c = c, .gpu = &c->m->gpus[g], .names = names};
  struct nai_coverage busy = {0};
  int64_t waited = 0, worked = 0;
  *out = (struct nai_comm_late){0};
  w.ns = calloc((size_t)names + 2, sizeof *w.ns);
  w.longest_ns = calloc((size_t)names + 2, sizeof *w.longest_ns);
  w.longest = malloc(((size_t)names + 2) * sizeof *w.longest);
  w.touched = malloc(((size_t)names + 2) * sizeof *w.touched);
  int rc =
      w.ns && w.longest_ns && w.longest && w.touched ? nai_coverage_new(&busy, &w.gpu->all, err) : nai_err_nomem(err);
  for (uint32_t i = c->first_of_gpu[g]; !rc && i < c->first_of_gpu[g + 1]; i++) {
    const struct nai_comm_item *item = &c->items[i];
    if (item->late != i || item->rank != rank)
      continue;
    add_wait(&w, item);
    waited += item->skew;
    worked += nai_coverage_overlap_ns(&busy, item->start - item->skew, item->start);
  }
  if (!rc && waited)
    sum_up(out, &w, waited, worked);
  nai_coverage_free(&busy);
  free(w.ns);
  free(w.longest_ns);
  free(w.longest);
  free(w.touched);
  return rc;
}
