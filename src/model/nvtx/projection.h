/* NVTX ranges projected to GPUs: when and how long did what a range launched run (docs/analyses.md, "nvtx_projection").
 */
#pragma once

#include "model/model.h"

/* What a range launched, on one GPU or on all that it used. */
struct nai_projection {
  uint32_t range, name; /* row of nvtx_events, and what that says of it */
  int32_t thread;
  bool start_end;     /* its kind: not push/pop */
  bool whole;         /* all that the range launched; false: its part on one of several GPUs */
  bool inside;        /* the range lies in another one of the same name, kind and thread */
  uint32_t call;      /* row of api_events: the first of its calls that launched something */
  uint32_t gpu;       /* index of the GPU; NAI_NO_ROW: on several together */
  uint32_t gpu_count; /* GPUs that this speaks of */
  int64_t start, end; /* first start to last end, ns */
  int64_t own_ns;     /* union of its operations */
  int64_t busy_ns;    /* between start and end: union of all operations on these GPUs, whoever launched them */
  int64_t kernel_ns, graph_ns, copy_ns, comm_ns; /* summed durations; graphs traced as a whole; copies: sets, too */
  uint32_t ops, launches, streams;               /* launches: API calls */
};
typedef int nai_projection_fn(void *ctx, const struct nai_projection *projection, struct nai_err *err);

/* Parts of the model that it needs. */
#define NAI_PROJECTION_PARTS \
  (NAI_PART(NAMES) | NAI_PART(LAUNCHES) | NAI_PART(RANGES) | NAI_PART(CALLS) | NAI_PART(GPUS))
/* Calls `put` for each range that launched something, or, with `wanted`, for those rows of nvtx_events where it is set
 * (`inside` then speaks of these): once for each GPU where there are several, then for the whole. By
 * thread, then in the order of nvtx_by_thread. A range launched what calls that lie in it wholly, on its thread, did;
 * one that ended on another thread launched nothing. */
NAI_MUST_CHECK int nai_project_ranges(const struct nai_model *model, const bool *wanted, nai_projection_fn *put,
                                      void *ctx, struct nai_err *err);
/* The range's node (needs NAI_PART_NVTX_TREE), NAI_NULL_I64 for none: of those around a call in it the one as deep as
 * the range. */
static inline int64_t nai_projection_node(const struct nai_model *m, const struct nai_projection *p) {
  enum { TOO_DEEP = 255 };
  uint32_t node = m->api_node[p->call], wanted = m->nvtx_depth[p->range];
  if (node == NAI_NO_ROW || wanted == TOO_DEEP || p->start_end)
    return NAI_NULL_I64;
  while (m->nodes[node].depth > wanted)
    node = m->nodes[node].parent;
  bool is_it = m->nodes[node].depth == wanted && m->nodes[node].name == p->name;
  return is_it ? node : NAI_NULL_I64; /* ranges that cross have other nodes around them */
}
