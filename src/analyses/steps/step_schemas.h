/* Columns of the tables about steps. */
#ifndef NAI_ANALYSES_STEP_SCHEMAS_H
#define NAI_ANALYSES_STEP_SCHEMAS_H

#include "table/schema.h"

enum {
  ST_PID,
  ST_DEVICE,
  ST_STEP,
  ST_LABEL,
  ST_STATE,
  ST_CPU_START,
  ST_CPU_END,
  ST_START,
  ST_END,
  ST_DURATION,
  ST_COMPUTE,
  ST_COMM,
  ST_COPY,
  ST_IDLE,
  ST_END_IDLE,
  ST_INPUT_WAIT,
  ST_BETWEEN,
  ST_KERNELS,
  ST_KERNEL_NS,
  ST_LAUNCH_CALLS,
  ST_LAUNCH_NS,
  ST_BLOCKED,
  ST_HTOD,
  ST_DTOH,
  ST_OTHER_BYTES,
  ST_ALLOCATIONS,
  ST_ALLOCATION_NS,
  ST_GRAPHS,
  ST_FIRST_USE,
  ST_LOADING,
  ST_OUTLIER,
  ST_EXCESS,
  ST_CAUSE,
  ST_CAUSE_NS,
  ST_DETAIL
};
extern const struct nai_schema nai_steps_schema;

enum {
  SS_PID,
  SS_DEVICE,
  SS_METHOD,
  SS_CONFIDENCE,
  SS_NAME,
  SS_TID,
  SS_STEPS,
  SS_STEADY,
  SS_WARM_UP,
  SS_TRUNCATED,
  SS_OUTLIERS,
  SS_MEDIAN,
  SS_MAD,
  SS_P90,
  SS_MIN,
  SS_MAX,
  SS_CV,
  SS_RATE,
  SS_DRIFT,
  SS_SPREAD,
  SS_EXCESS,
  SS_STEADY_NS,
  SS_WARM_UP_NS,
  SS_WARM_UP_PCT,
  SS_COMPUTE,
  SS_COMM,
  SS_COPY,
  SS_IDLE,
  SS_IDLE_PCT,
  SS_END_IDLE,
  SS_INPUT_WAIT,
  SS_INPUT_WAIT_PCT,
  SS_INPUT_WAIT_STEPS,
  SS_KERNELS,
  SS_KERNEL_NS,
  SS_LAUNCH_CALLS,
  SS_LAUNCH_NS,
  SS_BLOCKED,
  SS_HTOD,
  SS_DTOH,
  SS_OTHER_BYTES,
  SS_ALLOCATIONS,
  SS_ALLOCATION_NS,
  SS_GRAPHS,
  SS_START,
  SS_END
};
extern const struct nai_schema nai_step_summary_schema;

enum {
  RU_PID,
  RU_DEVICE,
  RU_CONTEXT,
  RU_STREAM,
  RU_UNIT,
  RU_KERNELS,
  RU_COUNT,
  RU_MATCH,
  RU_MEDIAN,
  RU_CV,
  RU_LEVEL,
  RU_PATH,
  RU_FIRST_KERNEL,
  RU_START,
  RU_END
};
extern const struct nai_schema nai_repeating_units_schema;

enum { SF_PID, SF_METHOD, SF_STEPS, SF_WHY };
extern const struct nai_schema nai_step_search_schema;

#endif
