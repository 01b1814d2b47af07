/* What did a GPU do while others already waited for it? */
#include "model/comm/comm.h"

/* Operations that began long before the wait are looked for among so many before it. */
enum { LOOK_BACK = 64 };

/* Time by kernel, in the waits for one GPU. */
struct work {
  const struct nai_model *m;
  const struct nai_gpu *gpu;
  uint32_t names, *touched, count;
  struct doing {
    int64_t ns, longest_ns;
    uint32_t longest; /* operation that took longest of one wait */
  } * of;             /* by string of kernel_events, then copies and memsets, then graphs */
};

static void add_op(struct work *w, uint32_t i, const struct nai_interval *wait) {
  const struct nai_model *m = w->m;
  const struct nai_op *op = &w->gpu->ops[i];
  int64_t start = op->start, end = op->end;
  int64_t ns = (end < wait->end ? end : wait->end) - (start > wait->start ? start : wait->start);
  if (op->communication || ns <= 0)
    return;
  uint32_t what =
      op->type == NAI_OP_KERNEL ? nai_val_text(&m->kernels.name, op->row) : w->names + (op->type == NAI_OP_GRAPH);
  struct doing *doing = &w->of[what];
  if (!doing->ns)
    w->touched[w->count++] = what;
  doing->ns += ns;
  if (ns > doing->longest_ns) {
    doing->longest_ns = ns;
    doing->longest = i;
  }
}

static void add_wait(struct work *w, const struct nai_interval *wait) {
  uint32_t first = nai_gpu_op_from(w->gpu, wait->start), before = first > LOOK_BACK ? first - LOOK_BACK : 0;
  for (uint32_t i = before; i < w->gpu->op_count && w->gpu->ops[i].start < wait->end; i++)
    add_op(w, i, wait);
}

static const char *name_of(const struct work *w, uint32_t what) {
  return what < w->names ? nai_strings_get(&w->m->tables[NAI_IN_KERNELS]->strings, what)
       : what > w->names ? "CUDA graphs"
                         : "copies";
}

static uint32_t largest(const struct work *w) {
  uint32_t most = w->touched[0];
  for (uint32_t i = 1; i < w->count; i++) {
    uint32_t what = w->touched[i];
    int64_t more = w->of[what].ns - w->of[most].ns;
    if (more > 0 || (!more && strcmp(name_of(w, what), name_of(w, most)) < 0))
      most = what;
  }
  return most;
}

/* Innermost NVTX range around the launch of an operation, NULL for none. */
static const char *range_of(const struct nai_model *m, const struct nai_op *op) {
  uint32_t api = nai_model_op_api(m, op);
  const struct nai_nvtx_node *node = api == NAI_NO_ROW || !m->api_node ? NULL : nai_model_call_node(m, api);
  return node ? nai_strings_get(&m->tables[NAI_IN_NVTX]->strings, node->name) : NULL;
}

int nai_comm_behind(struct nai_comm_behind *out, const struct nai_model *m, uint32_t gpu,
                    const struct nai_interval *waits, uint32_t count, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(m->scratch_dir);
  struct work w = {.m = m, .gpu = &m->gpus[gpu], .names = m->tables[NAI_IN_KERNELS]->strings.count};
  struct nai_coverage busy;
  *out = (struct nai_comm_behind){0};
  NAI_TRY(NAI_NEW(w.of, &arena, (size_t)w.names + 2, err));
  NAI_TRY(NAI_NEW(w.touched, &arena, (size_t)w.names + 2, err));
  NAI_TRY(nai_coverage_in(&busy, &w.gpu->all, &arena, err));
  for (uint32_t i = 0; i < count; i++) {
    add_wait(&w, &waits[i]);
    out->ns += waits[i].end - waits[i].start;
    out->idle_ns += waits[i].end - waits[i].start - nai_coverage_overlap_ns(&busy, waits[i].start, waits[i].end);
  }
  if (!w.count)
    return NAI_OK;
  uint32_t most = largest(&w);
  out->with = name_of(&w, most);
  out->with_ns = w.of[most].ns;
  out->range = range_of(m, &w.gpu->ops[w.of[most].longest]);
  return NAI_OK;
}
