#pragma once
#include "tables/declare.h"

#define UM_FAULT_EVENTS_COLUMNS(C, T)                                                      \
  C(T, start_ns, EVENT_START, "start")                                                     \
  C(T, end_ns, EVENT_END, "end, exclusive")                                                \
  C(T, kind, ID32, "0 CPU, 1 GPU", .filled = true, .values = 2)                            \
  C(T, device_id, DEVICE, "GPU, as in table gpus; -1 when it ran nothing", .filled = true) \
  C(T, process, PROCESS, "row of table processes, -1 when it is none of those")            \
  C(T, address, ID, "virtual address of the page")                                         \
  C(T, faults, CELL(I64, COUNT), "faults for the same page; NULL for CPUs", .sum = true)   \
  C(T, access_type, ID32, "CUPTI access type; NULL for CPUs")                              \
  C(T, name, LABEL, "CPU function that touched the page, NULL for GPUs")                   \
  C(T, module, LABEL, "its module, NULL for GPUs")
NAI_TABLE(UM_FAULT_EVENTS, um_fault_events, "Page faults of unified memory", "One page fault of unified memory")
NAI_EVENT_COLUMNS(UM_FAULT_EVENTS)

/* um_fault_events: faults of CPUs (a moment) and of GPUs (groups of them). */
enum { NAI_FAULT_CPU, NAI_FAULT_GPU };
