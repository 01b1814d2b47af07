/* Why GPUs had nothing to do: every idle gap of every GPU cut exactly into causes (docs/analyses.md, "Idle gaps").
 * Parts EVIDENCE and IDLE of the model. Times are ns. */
#pragma once

#include "base/buf.h"
#include "model/model.h"

/* In the order of tables of definitions, not of precedence. */
enum nai_idle_cause {
  NAI_IDLE_PROFILER,
  NAI_IDLE_MODULE_LOAD,
  NAI_IDLE_ALLOCATION,
  NAI_IDLE_BLOCKING_CALL,
  NAI_IDLE_QUEUE_DRAINED,
  NAI_IDLE_IN_LAUNCH_CALL,
  NAI_IDLE_CUDA_CALL,
  NAI_IDLE_HOST_CODE,
  NAI_IDLE_LAUNCH_LATENCY,
  NAI_IDLE_DEPENDENCY,
  NAI_IDLE_HOST_FUNCTION,
  NAI_IDLE_PAGE_MIGRATION,
  NAI_IDLE_UNKNOWN,
  NAI_IDLE_CAUSES
};
const char *nai_idle_cause_name(enum nai_idle_cause cause);  /* "profiler", "module_load", ... */
const char *nai_idle_cause_label(enum nai_idle_cause cause); /* what people read: "module loading" */
/* What a cause means, for people: the rest of a sentence. NULL: no cause has that name. */
const char *nai_idle_cause_meaning(const char *name);

/* What took time of a cause. */
enum nai_idle_source {
  NAI_CULPRIT_NOTHING,
  NAI_CULPRIT_API,      /* string of api_events */
  NAI_CULPRIT_OVERHEAD, /* string of overhead_events */
  NAI_CULPRIT_OSRT,     /* string of osrt_events */
  NAI_CULPRIT_RANGE,    /* string of nvtx_events */
  NAI_CULPRIT_WAIT,     /* row of api_events */
  NAI_CULPRIT_COPY,     /* kind of copy */
  NAI_CULPRIT_HOST,     /* function of the host functions */
  NAI_CULPRIT_REMARK    /* enum nai_idle_remark */
};
enum nai_idle_remark { NAI_REMARK_AFTER_CALL, NAI_REMARK_NO_LAUNCH, NAI_REMARK_NO_OPERATION };
struct nai_idle_culprit {
  enum nai_idle_source source;
  uint32_t id;
  int64_t ns;
};
/* For people: "cudaMalloc", "cudaStreamSynchronize in forward > copy"; nothing for NAI_CULPRIT_NOTHING. */
void nai_idle_culprit_put(struct nai_buf *out, const struct nai_model *model, const struct nai_idle_culprit *what);

/* Time by cause and what took it. Zeroed memory is one to begin with. */
struct nai_idle_shares {
  bool by_call; /* only time that a call took, each by itself as NAI_CULPRIT_WAIT: waits also what they left behind */
  struct nai_keyset keys;
  int64_t *ns;
  uint32_t capacity;
  bool oom; /* sticky */
};
void nai_idle_shares_free(struct nai_idle_shares *shares);
void nai_idle_share(struct nai_idle_shares *shares, enum nai_idle_cause cause, enum nai_idle_source source, uint32_t id,
                    int64_t ns);
/* Number `index` of keys.count, and its cause. */
struct nai_idle_culprit nai_idle_share_at(enum nai_idle_cause *cause, const struct nai_idle_shares *shares,
                                          uint32_t index);
/* The largest of a cause, the earliest of equals. */
struct nai_idle_culprit nai_idle_largest(const struct nai_idle_shares *shares, enum nai_idle_cause cause);

enum { NAI_CLOCK_TOLERANCE_NS = 20 * 1000 }; /* by which clocks of host and GPU may disagree */

/* One gap. Those of a GPU are numbered by the interval of `all` that follows; the first and the last may be empty. */
struct nai_idle_gap {
  int64_t start, end;
  uint32_t gpu, number; /* index of the GPU; gap */
  uint32_t op;          /* that ends it, NAI_NO_ROW for the end of the window */
  uint32_t launch;      /* its row of api_events, NAI_NO_ROW for none */
};
static inline struct nai_interval nai_idle_span(const struct nai_gpu *gpu, size_t number) {
  return (struct nai_interval){number ? gpu->all.v[number - 1].end : gpu->window_start,
                               number < gpu->all.count ? gpu->all.v[number].start : gpu->window_end};
}
/* The gap of that number, which `op` ends. Only operations without length follow the last interval. */
static inline struct nai_idle_gap nai_idle_gap_of(const struct nai_model *m, uint32_t g, uint32_t number,
                                                  struct nai_interval span, uint32_t op) {
  const struct nai_gpu *gpu = &m->gpus[g];
  op = number < gpu->all.count ? op : NAI_NO_ROW;
  return (struct nai_idle_gap){
      span.start, span.end, g, number, op, op == NAI_NO_ROW ? NAI_NO_ROW : nai_model_op_api(m, &gpu->ops[op])};
}
struct nai_idle_gap nai_idle_gap_at(const struct nai_model *model, uint32_t gpu, uint32_t number);
/* Steps through a GPU's gaps in order: for (struct nai_idle_gap g = nai_idle_first(gpu); nai_idle_next(&g, model);) */
struct nai_idle_gap nai_idle_first(uint32_t gpu);
static inline bool nai_idle_next(struct nai_idle_gap *gap, const struct nai_model *m) {
  const struct nai_gpu *gpu = &m->gpus[gap->gpu];
  for (uint32_t i = gap->number, op = gap->op; i != gpu->all.count;) {
    struct nai_interval span = nai_idle_span(gpu, ++i);
    if (span.start == span.end)
      continue;
    while (i < gpu->all.count && gpu->ops[op].start < span.end)
      op++;
    *gap = nai_idle_gap_of(m, gap->gpu, i, span, op);
    return true;
  }
  return false;
}

/* A gap behind a wait that had drained the queue, the host not leading again. */
struct nai_idle_drain {
  uint32_t gap, wait; /* number of the gap, row of api_events */
  int64_t left;       /* so much more could be charged when the gap began */
  int64_t ns;         /* of the gap, with the cause queue_drained */
};

/* All gaps of one GPU. */
struct nai_gpu_idle {
  int64_t ns[NAI_IDLE_CAUSES], parts[NAI_IDLE_CAUSES]; /* parts: gaps in which the cause occurs */
  int64_t longest_ns[NAI_IDLE_CAUSES];                 /* largest part of one gap */
  struct nai_interval longest[NAI_IDLE_CAUSES];        /* that gap, the earliest of equals */
  struct nai_idle_culprit what[NAI_IDLE_CAUSES]; /* but of host_code and queue_drained, which need the NVTX tree */
  uint8_t *cause;                                /* per gap number: enum nai_idle_cause of its largest part */
  struct nai_idle_drain *drains;                 /* by gap */
  uint32_t drain_count, drain_capacity;
  struct nai_idle_piece {
    int64_t ns;
    enum nai_idle_cause cause;
  } * pieces;            /* of all gaps that are no mere distance, by gap and cause */
  uint32_t *first_piece; /* per gap number, and one more */
  uint32_t piece_count, piece_capacity;
  int64_t latency_limit; /* what may pass after a launch call as launch latency */
};

/* Whether a gap is a mere distance between operations: all of it is launch latency, and there are no pieces. */
static inline bool nai_idle_is_whole(const struct nai_gpu_idle *idle, uint32_t number) {
  return idle->first_piece[number] == idle->first_piece[number + 1];
}

/* How one gap divides. */
struct nai_idle_split {
  int64_t ns[NAI_IDLE_CAUSES];              /* they add up to the gap */
  int64_t before_call, in_call, after_call; /* so do these; all 0 without a launch */
};
enum nai_idle_cause nai_idle_largest_part(const struct nai_idle_split *split);
/* Splits a gap again, as the part IDLE did. Adds to `shares`; `host` (emptied first) is when the cause was host_code.
 * Both may be NULL. */
NAI_MUST_CHECK int nai_idle_split_parts(struct nai_idle_split *split, struct nai_idle_shares *shares,
                                        struct nai_intervals *host, const struct nai_model *model,
                                        const struct nai_idle_gap *gap, struct nai_err *err); /* of no mere distance */
static inline NAI_MUST_CHECK int nai_idle_split_again(struct nai_idle_split *split, struct nai_idle_shares *shares,
                                                      struct nai_intervals *host, const struct nai_model *m,
                                                      const struct nai_idle_gap *gap, struct nai_err *err) {
  if (host)
    host->count = 0;
  if (!nai_idle_is_whole(&m->idle[gap->gpu], gap->number))
    return nai_idle_split_parts(split, shares, host, m, gap, err);
  int64_t ns = gap->end - gap->start;
  *split = (struct nai_idle_split){.ns[NAI_IDLE_LAUNCH_LATENCY] = ns, .after_call = ns};
  return NAI_OK;
}
/* Adds what of a gap lies within a stretch, by cause, as the gap is split as a whole. */
void nai_idle_split_within(int64_t ns[NAI_IDLE_CAUSES], struct nai_interval within, const struct nai_model *model,
                           const struct nai_idle_gap *gap);
/* The wait that a gap is behind, NULL for none. */
const struct nai_idle_drain *nai_idle_drain_of(const struct nai_model *model, const struct nai_idle_gap *gap);

/* Outermost OS runtime calls by thread; NULL when there are none. */
const struct nai_groups *nai_model_osrt_calls(const struct nai_model *model);

/* How much of the time from call to start the fastest tenth of launches needs, which found the GPU idle: from the
 * negated times, which are reordered. NaN for fewer than 20. */
enum { NAI_LAUNCH_FLOOR_FEWEST = 20 };
double nai_launch_floor(int64_t *negated, uint32_t count);
