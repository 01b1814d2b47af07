/* Changes that make fewer launches of many: fused kernels, CUDA graphs. */
#include "model/critical/whatif_edit.h"

/* The thread's own code before a call; 0 before its first one. */
static int64_t code_before(const struct nai_model *m, uint32_t call) {
  const struct nai_dependencies *d = m->dependencies;
  bool first = !call || nai_at(&m->apis.thread, d->call_api[call]) != nai_at(&m->apis.thread, d->call_api[call - 1]);
  return first ? 0 : d->time[2 * call] - d->time[2 * call - 1];
}

/* --- fused kernels ---------------------------------------------------------------------------- */

enum {
  CLOSE_NS = 50 * 1000, /* launches further apart are not one piece of work */
  MOST_FUSED = 8        /* compilers make few larger kernels */
};

/* Kernels in a row on a stream that become one, in place of the longest. */
struct chain {
  uint32_t first, longest, count; /* operations; count 0: none */
  int64_t sum_ns, longest_ns;
};

struct fusing {
  struct edit *e;
  enum nai_case which;
  struct chain *chains; /* per stream of the GPU */
  uint32_t *next;       /* per operation: the next one of its chain */
};

/* The kernel is not there: neither is its launch, nor half of the code before that, which made it. */
static void remove_kernel(struct fusing *f, uint32_t op) {
  struct edit *e = f->e;
  uint32_t call = e->m->dependencies->op_call[op];
  e->of.op_factor[op] = 0;
  if (call == NAI_NO_ROW || f->which == NAI_CASE_LOW)
    return;
  e->of.call_factor[call] = 0;
  e->of.host_cut[call] += code_before(e->m, call) / (f->which == NAI_CASE_HIGH ? 1 : 2);
}

/* Of what the others take the traffic goes that they have in common with their neighbors: of a binary operation two
 * thirds. */
static void fuse(struct fusing *f, struct chain *c) {
  static const double saved[NAI_CASES] = {1.0 / 2, 2.0 / 3, 1};
  uint32_t op = c->first;
  for (uint32_t i = 0; c->count > 1 && i < c->count; i++, op = f->next[op])
    if (op != c->longest)
      remove_kernel(f, op);
  if (c->count > 1 && c->longest_ns > 0) {
    double left = (double)c->sum_ns - saved[f->which] * (double)(c->sum_ns - c->longest_ns);
    f->e->of.op_factor[c->longest] *= (float)(left / (double)c->longest_ns);
    f->e->edited += c->count;
  }
  c->count = 0;
}

static void add_kernel(struct fusing *f, struct chain *c, uint32_t *last, uint32_t op) {
  const struct nai_dependencies *d = f->e->m->dependencies;
  uint32_t call = d->op_call[op];
  if (c->count == MOST_FUSED || call == NAI_NO_ROW || code_before(f->e->m, call) >= CLOSE_NS)
    fuse(f, c);
  int64_t ns = d->time[nai_node_of_op(d, op) + 1] - d->time[nai_node_of_op(d, op)];
  if (!c->count)
    *c = (struct chain){.first = op, .longest = op, .longest_ns = ns};
  else
    f->next[*last] = op;
  if (ns > c->longest_ns) {
    c->longest = op;
    c->longest_ns = ns;
  }
  c->sum_ns += ns;
  c->count++;
  *last = op;
}

static int fuse_gpu(struct fusing *f, uint32_t g, const bool *fusable, struct nai_err *err) {
  const struct nai_model *m = f->e->m;
  const struct nai_gpu *gpu = &m->gpus[g];
  uint32_t *last;
  NAI_TRY(NAI_NEW(last, f->e->arena, gpu->stream_count, err));
  NAI_TRY(NAI_NEW(f->chains, f->e->arena, gpu->stream_count, err));
  for (uint32_t i = f->e->w->ops[g].first; i < f->e->w->ops[g].end; i++) {
    const struct nai_op *op = &gpu->ops[i];
    if (op->type == NAI_OP_KERNEL && fusable[nai_val_text(&m->kernels.name, op->row)])
      add_kernel(f, &f->chains[op->stream], &last[op->stream], m->dependencies->first_op[g] + i);
    else
      fuse(f, &f->chains[op->stream]);
  }
  for (uint32_t s = 0; s < gpu->stream_count; s++)
    fuse(f, &f->chains[s]);
  return NAI_OK;
}

/* As the loss "unfused" has them, per kernel name. */
int nai_whatif_find_fusable(bool **out, const struct nai_model *m, struct nai_arena *arena, struct nai_err *err) {
  const struct nai_strings *names = &m->tables[NAI_IN_KERNELS]->strings;
  NAI_TRY(NAI_NEW(*out, arena, names->count, err));
  for (uint32_t i = 0; i < names->count; i++) {
    enum nai_kernel_trait trait = nai_kernel_classes_trait(m->classes, nai_strings_get(names, i));
    bool moves = trait == NAI_TRAIT_NONE && nai_kernel_classes_fusable(m->classes, m->kernel_category[i]);
    (*out)[i] = moves || trait == NAI_TRAIT_CAST;
  }
  return nai_kernel_classes_check(m->classes, err);
}

int nai_edit_fuse(struct edit *e, const struct nai_change *change, enum nai_case which, struct nai_err *err) {
  const struct nai_dependencies *d = e->m->dependencies;
  struct fusing f = {.e = e, .which = which};
  const struct nai_strings *names = &e->m->tables[NAI_IN_KERNELS]->strings;
  bool *fusable;
  NAI_TRY(NAI_NEW(fusable, e->arena, names->count, err));
  for (uint32_t i = 0; i < names->count; i++)
    fusable[i] = e->w->fusable[i] && nai_change_matches(change, nai_strings_get(names, i));
  NAI_TRY(nai_edit_op_factors(e, err));
  NAI_TRY(nai_edit_call_factors(e, err));
  NAI_TRY(nai_edit_cuts(e, err));
  NAI_TRY(NAI_NEW_UNSET(f.next, e->arena, d->op_count, err));
  for (uint32_t g = 0; g < e->m->gpu_count; g++)
    NAI_TRY(fuse_gpu(&f, g, fusable, err));
  return NAI_OK;
}

/* --- CUDA graphs ------------------------------------------------------------------------------ */

/* What the launch of a graph takes for each node; fewer launches are not worth one. */
enum { NODE_NS = 50, LEAST_LAUNCHES = 4 };

/* Whether a call can be captured: it launches or orders, and nobody waits in it. */
static bool is_captured(const struct nai_model *m, uint32_t call) {
  uint32_t api = m->dependencies->call_api[call];
  enum nai_api_class c = (enum nai_api_class)m->api_class[nai_val_text(&m->apis.name, api)];
  return !nai_model_api_blocks(m, api) && c != NAI_API_ALLOCATION && c != NAI_API_MODULE && c != NAI_API_BLOCKING_COPY;
}

static bool launches(const struct nai_model *m, uint32_t call) {
  return m->api_owns[m->dependencies->call_api[call]] & (1 << NAI_OP_KERNEL | 1 << NAI_OP_COPY | 1 << NAI_OP_SET);
}

/* All calls but the first, which launches the graph, are gone but for their share of it; cautiously the code between
 * them stays. */
static void collapse(struct edit *e, uint32_t first, uint32_t end, enum nai_case which) {
  const struct nai_dependencies *d = e->m->dependencies;
  uint32_t count = 0;
  for (uint32_t call = first; call < end; call++)
    count += launches(e->m, call);
  if (count < LEAST_LAUNCHES)
    return;
  e->edited += count;
  for (uint32_t call = first + 1; call < end; call++) {
    int64_t rest = launches(e->m, call) ? NODE_NS : 0, ns = d->time[2 * call + 1] - d->time[2 * call];
    e->of.call_cut[call] += ns > rest ? ns - rest : 0;
    e->of.host_cut[call] += which == NAI_CASE_LOW ? 0 : code_before(e->m, call);
  }
}

static void collapse_thread(struct edit *e, struct nai_stretch calls, enum nai_case which) {
  const struct nai_model *m = e->m;
  for (uint32_t call = calls.first, end; call < calls.end; call = end) {
    end = call + 1;
    if (!is_captured(m, call) || !launches(m, call))
      continue;
    while (end < calls.end && code_before(m, end) < CLOSE_NS && is_captured(m, end))
      end++;
    collapse(e, call, end, which);
  }
}

int nai_edit_graphs(struct edit *e, enum nai_case which, struct nai_err *err) {
  NAI_TRY(nai_edit_cuts(e, err));
  for (uint32_t t = 0; t < e->w->thread_count; t++)
    collapse_thread(e, e->w->calls[t], which);
  return NAI_OK;
}
