#include "config/config.h"

const char *nai_config_name(enum nai_config_item item) {
  static const char *const names[NAI_CONFIG_COUNT] = {[NAI_CONFIG_TRACE] = "trace",
                                                      [NAI_CONFIG_SELECTION] = "--trim or --gpu",
                                                      [NAI_CONFIG_SOURCES] = "tables to read",
                                                      [NAI_CONFIG_KERNEL_CLASSES] = "kernel classes",
                                                      [NAI_CONFIG_PHASE_MAP] = "phase map",
                                                      [NAI_CONFIG_WORKLOAD] = "workload patterns",
                                                      [NAI_CONFIG_GPU_FACTS] = "GPU facts",
                                                      [NAI_CONFIG_FLOPS] = "operations of a step",
                                                      [NAI_CONFIG_MAP_NVTX] = "NVTX attribution",
                                                      [NAI_CONFIG_PAGE_EVENTS] = "--page-events",
                                                      [NAI_CONFIG_STEP] = "--step",
                                                      [NAI_CONFIG_SKILLS] = "skills",
                                                      [NAI_CONFIG_RULES] = "rules",
                                                      [NAI_CONFIG_METRICS] = "metrics"};
  return names[item];
}
