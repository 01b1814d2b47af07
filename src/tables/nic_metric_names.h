#pragma once
#include "tables/declare.h"

#define NIC_METRIC_NAMES_COLUMNS(C, T)                         \
  C(T, list_id, ID, "list of metrics; with the index the key") \
  C(T, metric_index, ID, "number in the list")                 \
  C(T, metric_name, LABEL, "name of the metric")               \
  C(T, metric_unit, LABEL, "its unit in the export")
NAI_TABLE(NIC_METRIC_NAMES, nic_metric_names, "Names of NIC metrics", "One metric of network cards")
