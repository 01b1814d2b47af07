/* Steps: what a program repeats from one boundary to the next (of training, inference, a simulation), on the host and
 * on each GPU. Part STEPS of the model. Definitions: docs/analyses.md, "Steps". Times are ns.
 *
 * A step of a process is the time from its boundary to the next one; the last ends by itself. What a thread of the
 * process launches meanwhile is the step's work. On a GPU it is the window from the first operation of that work to the
 * first one of the next step's: host and GPU are in different steps at the same time.
 */
#pragma once

#include "model/model.h"
#include "model/serving/serving_names.h"

enum nai_step_method {
  NAI_STEPS_NONE,
  NAI_STEPS_USER,    /* --step */
  NAI_STEPS_SERVING, /* ranges of an engine that serves language models */
  NAI_STEPS_NVTX,    /* ranges that are named or behave like steps */
  NAI_STEPS_KERNELS  /* kernels that repeat, with evidence of a boundary */
};
const char *nai_step_method_name(enum nai_step_method method); /* "none", "user", "serving", "nvtx", "kernels" */

/* A step of a process. */
struct nai_step {
  int64_t start, end; /* [boundary, next boundary) */
  int64_t work_end;   /* end of the range that begins it; NAI_NULL_I64 where kernels tell the boundaries */
  uint32_t range;     /* row of nvtx_events, NAI_NO_ROW where kernels tell the boundaries */
  /* of all threads of the process, inside the step */
  int64_t blocked_ns, allocation_calls, allocation_ns, loading_ns;
};

/* A step on one GPU. */
struct nai_gpu_step {
  uint32_t step;      /* of the process */
  int64_t start, end; /* [first operation, first operation of the next step), the last until its last operation ends */
  int64_t compute_ns, exposed_comm_ns, exposed_copy_ns, idle_ns; /* add up to end - start */
  int64_t end_idle_ns; /* the idle time right before the next step's first operation */
  int64_t ops, kernels, kernel_ns, graph_launches;
  int64_t launch_calls, launch_api_ns; /* different API calls that launched the step's work, and their time */
  int64_t htod_bytes, dtoh_bytes, other_bytes;
  int64_t first_use; /* kernel names that the process had not run before */
  bool paused;       /* a pause of the GPU ends in it */
};

/* The steps of one process on one GPU that it used. */
struct nai_step_list {
  uint32_t process, gpu;  /* row of processes, index of the GPU */
  struct nai_gpu_step *v; /* by step; those without work on this GPU are left out */
  uint32_t count;
};

struct nai_process_steps {
  enum nai_step_method method;
  int confidence;     /* percent; 0 without steps */
  uint32_t thread;    /* of the ranges, NAI_NO_ROW without */
  const char *name;   /* of what was found: canonical, digits as '#'; NULL without steps */
  const char *why;    /* why there are no steps; NULL when there are, or when nothing repeats */
  struct nai_step *v; /* by start */
  uint32_t count;
  enum nai_serving_format serving;  /* whose ranges nine in ten of the steps' are, NAI_SERVING_NONE for nobody's */
  struct nai_serving_label *labels; /* per step, of format NAI_SERVING_NONE where the range is none; NULL if nobody's */
  enum nai_serving_kind kind;       /* of most steps: those of other kinds are not typical */
};

/* A sequence of kernels that repeats on one stream without evidence that it is a step. */
struct nai_repeating_unit {
  uint32_t process, gpu;
  int32_t context, stream;
  uint32_t kernels, count; /* in one repetition; repetitions begun */
  double match_pct;        /* kernels that are the same one repetition later */
  int64_t start, end;      /* of the first and of the last kernel of it */
  int64_t median_ns;       /* from one repetition to the next */
  int64_t warm_start;      /* of the second repetition: the first may be a warm-up */
  int64_t last_start;      /* of the last one, whose end nothing tells */
  uint32_t between;        /* repetitions between the two */
  double cv_pct;
  uint32_t marker;   /* row of kernel_events: the first kernel of a repetition */
  const char *level; /* "layer" or "microbatch", a literal; NULL: no name tells */
  const char *path;  /* NVTX path of the marker's launches, digits as '#'; NULL without */
};

struct nai_steps {
  struct nai_process_steps *processes; /* per row of processes */
  struct nai_step_list *lists;         /* by process, then GPU; of processes with steps */
  uint32_t list_count;
  struct nai_repeating_unit *units; /* by process, then size */
  uint32_t unit_count, unit_capacity;
};

/* The step that a moment of the host is in, UINT32_MAX for none. *near: the step to look at first, and the answer when
 * there is one: moments that are asked for mostly follow each other. */
uint32_t nai_step_at(const struct nai_process_steps *steps, int64_t t, uint32_t *near);
/* The step that an operation belongs to: that of its launch (`api`, NAI_NO_ROW for none); in a trace without launches
 * that of its own start. */
uint32_t nai_step_of(const struct nai_model *model, const struct nai_process_steps *steps, uint32_t api, int64_t start,
                     uint32_t *near);
