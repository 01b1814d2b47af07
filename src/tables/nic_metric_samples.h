#pragma once
#include "tables/declare.h"

#define NIC_METRIC_SAMPLES_COLUMNS(C, T)                           \
  C(T, start_ns, EVENT_START, "start")                             \
  C(T, end_ns, EVENT_END, "end, exclusive")                        \
  C(T, global_id, ID, "network card, as in nic_ids")               \
  C(T, port, ID32, "port of the card")                             \
  C(T, list_id, ID, "with metric_index a row of nic_metric_names") \
  C(T, metric_index, ID, "number in the list")                     \
  C(T, value, CELL(I64, COUNT), "value in the metric's unit")
NAI_TABLE(NIC_METRIC_SAMPLES, nic_metric_samples, "NIC metric samples", "One sample of one metric of one port")
NAI_EVENT_COLUMNS(NIC_METRIC_SAMPLES)
