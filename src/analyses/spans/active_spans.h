/* The stretches of a GPU's window in which work goes on, and the pauses between them. Internal to src/analyses. */
#ifndef NAI_ANALYSES_ACTIVE_SPANS_H
#define NAI_ANALYSES_ACTIVE_SPANS_H

#include "table/schema.h"

/* Columns of active_spans and gpu_active, for the analyses that read them. */
enum {
  AS_DEVICE,
  AS_SPAN,
  AS_KIND,
  AS_START,
  AS_END,
  AS_DURATION,
  AS_COMPUTE,
  AS_COMM,
  AS_COPY,
  AS_IDLE,
  AS_PCT,
  AS_OPS,
  AS_KERNELS,
  AS_KERNEL_TIME,
  AS_CAUSE,
  AS_WHAT,
  AS_CAUSE_NS
};
extern const struct nai_schema nai_active_spans_schema;

enum {
  GA_DEVICE,
  GA_WINDOW,
  GA_ACTIVE,
  GA_PAUSE,
  GA_OTHER,
  GA_COMPUTE,
  GA_COMM,
  GA_COPY,
  GA_IDLE,
  GA_COMPUTE_PCT,
  GA_COMM_PCT,
  GA_COPY_PCT,
  GA_IDLE_PCT,
  GA_PAUSES,
  GA_LAUNCHES,
  GA_KERNEL_TIME,
  GA_STEADY,
  GA_REPEATED_PCT,
  GA_START,
  GA_END,
  GA_LABEL
};
extern const struct nai_schema nai_gpu_active_schema;

/* Words of AS_KIND. */
#define NAI_SPAN_ACTIVE "active"
#define NAI_SPAN_SET_UP "set_up"
#define NAI_SPAN_CHECK "check"
#define NAI_SPAN_PAUSE "pause"

#endif
