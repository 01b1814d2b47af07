/* The critical path: what decided when something happened, back to the beginning. And the stretches of a trace that it
 * is asked for: the window, steady steps, repetitions of a unit. Times are ns; definitions: docs/analyses.md, "Critical
 * path". */
#pragma once

#include "model/critical/dependencies.h"

/* What a stretch of a path is. */
enum nai_path_cause {
  NAI_PATH_KERNEL,
  NAI_PATH_COMMUNICATION, /* from the arrival of the last member on; of kernels that are not matched, all */
  NAI_PATH_COPY,
  NAI_PATH_MEMSET,
  NAI_PATH_GRAPH, /* that was traced as a whole */
  NAI_PATH_HOST,  /* the thread's own code between calls */
  NAI_PATH_LAUNCH_CALL,
  NAI_PATH_ALLOCATION,
  NAI_PATH_MODULE,
  NAI_PATH_CUDA_CALL, /* any other */
  NAI_PATH_SYNC_RETURN,
  NAI_PATH_LAUNCH_LATENCY, /* behind the call */
  NAI_PATH_QUEUE_FULL,
  NAI_PATH_STREAM_GAP, /* between dependent operations */
  NAI_PATH_DEVICE_BUSY,
  NAI_PATH_UNEXPLAINED,
  NAI_PATH_NOT_RECORDED, /* before the first thing that the path reaches */
  NAI_PATH_CAUSES
};
const char *nai_path_cause_name(enum nai_path_cause cause);  /* "kernel", "host_bound", ... */
const char *nai_path_cause_title(enum nai_path_cause cause); /* for sentences: "GPU kernels", "host code" */

/* A stretch of a path. */
struct nai_path_segment {
  int64_t start, end;
  enum nai_path_cause cause;
  uint32_t node;      /* that it ends at, or ended at before it was cut */
  struct nai_dep dep; /* that decided it; NAI_DEP_DROPPED: none, NAI_PATH_NOT_RECORDED */
};

/* A path being walked backwards. To begin with: nai_path_at. */
struct nai_path {
  const struct nai_model *model;
  const int64_t *moved; /* per node: by how much later than recorded it happens; NULL: as recorded */
  const struct nai_scenario *scenario;
  int64_t at, until; /* now; where it ends */
  uint32_t node;
  struct nai_path_segment pieces[3]; /* those from `next` on are still to be handed out */
  int next, count;
};
/* The path from a node back to the time `until`. moved: NULL, or what the replay of the scenario gave. */
struct nai_path nai_path_at(const struct nai_model *model, const int64_t *moved, const struct nai_scenario *scenario,
                            uint32_t node, int64_t until);
/* The next stretch, which ends where the one before begins; false at the end. They add up to the time walked. */
bool nai_path_next(struct nai_path *path, struct nai_path_segment *out);

/* By how much the dependency that decided a segment of recorded times may get shorter until another one decides;
 * NAI_NULL_I64: there is no other. */
int64_t nai_path_margin(const struct nai_model *m, const struct nai_path_segment *segment);

/* A kernel's name, a copy's direction, "CUDA graph". */
const char *nai_path_op_name(char room[NAI_KIND_NAME_MAX], const struct nai_model *m, const struct nai_op *op);
/* What a thing on a path is called: kernel, direction of a copy, function. For host code the call behind it. */
const char *nai_path_subject(char room[NAI_KIND_NAME_MAX], const struct nai_model *model,
                             const struct nai_path_segment *segment);
/* The call that a segment is, is before or launched; row of api_events, NAI_NO_ROW for none. */
uint32_t nai_path_call(const struct nai_model *model, const struct nai_path_segment *segment);

/* NAI_SCOPE_ACTIVE: what a simulation makes of a window in which the GPU mostly pauses. */
enum nai_path_scope_kind { NAI_SCOPE_WINDOW, NAI_SCOPE_STEP, NAI_SCOPE_UNIT, NAI_SCOPE_ACTIVE };
const char *nai_path_scope_name(enum nai_path_scope_kind kind); /* "window", "step", "unit", "active" */

/* Repetitions on one GPU: from each boundary to the next; the boundary is the start of an operation. The window has
 * one, from the first start to the last end of any GPU. */
struct nai_path_scope {
  enum nai_path_scope_kind kind;
  uint32_t gpu;    /* gpu_count: all */
  int32_t process; /* -1: all */
  uint32_t *nodes; /* count + 1 boundaries; of the whole window: node of the last end at both; of a part of it: nodes of
                      its first start and its last end */
  uint32_t count;
  bool *counts; /* per repetition: whether it is one to be judged; NULL: all are */
  uint32_t judged;
};
/* One step or repetition by its number, or a part of the window, ns; NULL: all. */
struct nai_path_asked {
  bool of_step;
  int64_t step, from, to;
};
/* The window, if any GPU worked, and for each process and GPU its steady steps, else its largest unit. The arena's.
 * Of what is asked for only that, each with one repetition, the slowest first; NAI_EUSAGE where there is no such thing.
 * Needs the parts DEPENDENCIES and STEPS. */
NAI_MUST_CHECK int nai_path_scopes(struct nai_path_scope **out, uint32_t *count, const struct nai_model *model,
                                   const struct nai_path_asked *asked, struct nai_arena *arena, struct nai_err *err);
/* The number of a scope's i-th repetition: of the step as in table steps, of a unit from 0. */
int64_t nai_path_repetition(const struct nai_path_scope *scope, const struct nai_model *model, uint32_t i);
/* How long a repetition takes on average, ns; of the window, all of it. */
double nai_path_scope_ns(const struct nai_path_scope *scope, const struct nai_model *model, const int64_t *moved);
/* When its first repetition starts. */
int64_t nai_path_scope_start(const struct nai_path_scope *scope, const struct nai_model *model, const int64_t *moved);
