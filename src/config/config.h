/* What tables may depend on beside other tables, item by item: whoever uses one says so, and runs again when it
 * changes. */
#pragma once

/* Each with what people call it. */
#define NAI_CONFIG_ITEMS(X)                                                                     \
  X(TRACE, "trace") /* its content and file name */                                             \
  X(SELECTION, "--trim or --gpu")                                                               \
  X(SOURCES, "tables to read")        /* which event tables are read */                         \
  X(KERNEL_CLASSES, "kernel classes") /* rules/kernel-classes.rules and the user's */           \
  X(PHASE_MAP, "phase map")                                                                     \
  X(WORKLOAD, "workload patterns") /* rules/workload.yaml and the user's */                     \
  X(GPU_FACTS, "GPU facts")        /* rules/gpus.yaml and the user's */                         \
  X(MAP_NVTX, "NVTX attribution")  /* of GPU work to NVTX ranges */                             \
  X(COMM_NAMES, "communicators")   /* --comm-names */                                           \
  X(STEP, "--step")                                                                             \
  X(PAGE_EVENTS, "--page-events")  /* that report.html holds in full */                         \
  X(FLOPS, "operations of a step") /* --flops-per-step, --model, --dtype, --peak-tflops, ... */ \
  X(SKILLS, "skills")              /* --skill and their parameters */                           \
  X(RULES, "rules")                /* rules/default.yaml, the user's, and rule parameters */    \
  X(METRICS, "metrics")            /* metrics/default.yaml and the user's */                    \
  X(KNOWN, "known findings")       /* --known, and which of its entries have expired */

#define NAI_CONFIG_ENUM(item, name) NAI_CONFIG_##item,
enum nai_config_item { NAI_CONFIG_ITEMS(NAI_CONFIG_ENUM) NAI_CONFIG_COUNT };
#define NAI_CONFIG(item) (1u << NAI_CONFIG_##item)

static inline const char *nai_config_name(enum nai_config_item item) {
#define NAI_CONFIG_NAME(item, name) [NAI_CONFIG_##item] = name,
  static const char *const names[] = {NAI_CONFIG_ITEMS(NAI_CONFIG_NAME)};
  return names[item];
}
