#pragma once
#include "tables/declare.h"

#define GPU_METRIC_NAMES_COLUMNS(C, T)                                                   \
  C(T, type_id, ID, "source and GPU; with metric_id the key of the export", .key = true) \
  C(T, metric_id, ID, "number of the metric: differs between captures", .key = true)     \
  C(T, gpu_id, ID32, "gpus.gpu_id: the lowest byte of type_id", .refers = "gpus.gpu_id") \
  C(T, source_id, ID, "where samples come from")                                         \
  C(T, type_name, LABEL, "name of the source")                                           \
  C(T, metric_name, LABEL, "name of the metric with its unit in brackets, NULL when the export lacks it")
NAI_TABLE(GPU_METRIC_NAMES, gpu_metric_names, "Names of GPU metrics", "One sampled metric of one GPU")
