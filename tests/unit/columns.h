/* Columns for the schemas that tests make. The last arguments are further initialisers of
 * struct nai_column_def: NAI_DEVICE_COLUMN("GPU", .key = true). */
#pragma once

#include "table/schema.h"

#define NAI_DEVICE_COLUMN(what, ...) \
  { "device_id", NAI_I32, NAI_ID, what, .role = NAI_ROLE_DEVICE, .refers = "gpus.device_id", __VA_ARGS__ }
#define NAI_PID_COLUMN(what, ...) \
  { "pid", NAI_I64, NAI_ID, what, .role = NAI_ROLE_PROCESS, .refers = "processes.pid", __VA_ARGS__ }
#define NAI_TID_COLUMN(what, ...) \
  { "tid", NAI_I64, NAI_ID, what, .role = NAI_ROLE_THREAD, .refers = "threads.tid", __VA_ARGS__ }
#define NAI_START_COLUMN(name, what, ...) \
  { name, NAI_I64, NAI_TIMESTAMP_NS, what, .role = NAI_ROLE_START, __VA_ARGS__ }
#define NAI_END_COLUMN(name, what, ...) \
  { name, NAI_I64, NAI_TIMESTAMP_NS, what, .role = NAI_ROLE_END, __VA_ARGS__ }
#define NAI_KERNEL_NAME_COLUMN(name, what, ...) \
  { name, NAI_STR, NAI_TEXT, what, .role = NAI_ROLE_KERNEL_NAME, __VA_ARGS__ }
#define NAI_RANGE_NAME_COLUMN(name, what, ...) \
  { name, NAI_STR, NAI_TEXT, what, .role = NAI_ROLE_RANGE_NAME, __VA_ARGS__ }
/* What the row is called when its table has no kernels or ranges: a function, a cause. */
#define NAI_NAME_COLUMN(name, what, ...) \
  { name, NAI_STR, NAI_TEXT, what, .role = NAI_ROLE_NAME, __VA_ARGS__ }
#define NAI_LABEL_COLUMN(name, what, ...) \
  { name, NAI_STR, NAI_TEXT, what, .role = NAI_ROLE_LABEL, __VA_ARGS__ }

#define NAI_COUNT_COLUMN(name, what, ...) \
  { name, NAI_I64, NAI_COUNT, what, .role = NAI_ROLE_METRIC, __VA_ARGS__ }
#define NAI_BYTES_COLUMN(name, what, ...) \
  { name, NAI_I64, NAI_BYTES, what, .role = NAI_ROLE_METRIC, __VA_ARGS__ }
#define NAI_PCT_COLUMN(name, what, ...) \
  { name, NAI_F64, NAI_PCT, what, .role = NAI_ROLE_METRIC, __VA_ARGS__ }
/* Durations in ns: sums, shown in ms; single ones and averages, shown in us. */
#define NAI_TIME_COLUMN(name, what, ...) \
  { name, NAI_I64, NAI_NS, what, .display_units = NAI_AS_MS, .role = NAI_ROLE_METRIC, __VA_ARGS__ }
#define NAI_LENGTH_COLUMN(name, what, ...)                                                                        \
  {                                                                                                               \
    name, NAI_I64, NAI_NS, what, .display_units = NAI_AS_US, .role = NAI_ROLE_METRIC, .better = NAI_BETTER_LOWER, \
                                 __VA_ARGS__                                                                      \
  }
