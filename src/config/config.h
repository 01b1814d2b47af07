/* What tables may depend on beside other tables, item by item: whoever uses one says so, and runs again when it
 * changes.
 */
#pragma once

enum nai_config_item {
  NAI_CONFIG_TRACE,          /* its content and file name */
  NAI_CONFIG_SELECTION,      /* --trim and --gpu */
  NAI_CONFIG_SOURCES,        /* which event tables are read */
  NAI_CONFIG_KERNEL_CLASSES, /* rules/kernel-classes.yaml and the user's */
  NAI_CONFIG_PHASE_MAP,
  NAI_CONFIG_WORKLOAD,    /* rules/workload.yaml and the user's */
  NAI_CONFIG_GPU_FACTS,   /* rules/gpus.yaml and the user's */
  NAI_CONFIG_MAP_NVTX,    /* attribute GPU work to NVTX ranges */
  NAI_CONFIG_STEP,        /* --step */
  NAI_CONFIG_PAGE_EVENTS, /* events that report.html holds in full */
  NAI_CONFIG_FLOPS,       /* --flops-per-step, --model, --dtype, --peak-tflops */
  NAI_CONFIG_SKILLS,      /* --skill and their parameters */
  NAI_CONFIG_RULES,       /* rules/default.yaml, the user's, and rule parameters */
  NAI_CONFIG_METRICS,     /* metrics/default.yaml and the user's */
  NAI_CONFIG_COUNT
};
#define NAI_CONFIG(item) (1u << NAI_CONFIG_##item)

/* What people call an item: "kernel classes". */
const char *nai_config_name(enum nai_config_item item);
