/* The book: every table is declared once, in a file of this directory, and all that knows its columns follows from
 * that. A declaration lists the columns in order and then says what the table is:
 *
 *   #define STREAMS_COLUMNS(C, T)                                 \
 *     C(T, stream_id, STREAM, "CUDA stream", .key = true)         \
 *     C(T, total_time_ns, TIME, "summed durations", .sum = true)
 *   NAI_TABLE(STREAMS, streams, "Streams", "One CUDA stream")
 *
 * C takes the column's stored name, its kind (below), what it means, and what else struct nai_column_def has. It makes
 * the numbers of the columns (STREAMS_stream_id, STREAMS_total_time_ns, STREAMS_COLUMN_COUNT) and nai_streams_schema.
 */
#pragma once

#include "table/schema.h"

/* Kinds of columns: type, unit, how outputs show them, and role. */
#define NAI_KIND_LABEL .type = NAI_STR, .unit = NAI_TEXT, .role = NAI_ROLE_LABEL
#define NAI_KIND_NAME .type = NAI_STR, .unit = NAI_TEXT, .role = NAI_ROLE_NAME
#define NAI_KIND_KERNEL_NAME .type = NAI_STR, .unit = NAI_TEXT, .role = NAI_ROLE_KERNEL_NAME
#define NAI_KIND_RANGE_NAME .type = NAI_STR, .unit = NAI_TEXT, .role = NAI_ROLE_RANGE_NAME
#define NAI_KIND_ID .type = NAI_I64, .unit = NAI_ID
#define NAI_KIND_ID32 .type = NAI_I32, .unit = NAI_ID
#define NAI_KIND_DEVICE .type = NAI_I32, .unit = NAI_ID, .role = NAI_ROLE_DEVICE, .refers = "gpus.device_id"
#define NAI_KIND_PID .type = NAI_I64, .unit = NAI_ID, .role = NAI_ROLE_PROCESS, .refers = "processes.pid"
#define NAI_KIND_TID .type = NAI_I64, .unit = NAI_ID, .role = NAI_ROLE_THREAD, .refers = "threads.tid"
#define NAI_KIND_STREAM .type = NAI_I32, .unit = NAI_ID, .role = NAI_ROLE_STREAM
#define NAI_KIND_START .type = NAI_I64, .unit = NAI_TIMESTAMP_NS, .role = NAI_ROLE_START
#define NAI_KIND_END .type = NAI_I64, .unit = NAI_TIMESTAMP_NS, .role = NAI_ROLE_END
#define NAI_KIND_COUNT .type = NAI_I64, .unit = NAI_COUNT, .role = NAI_ROLE_METRIC
#define NAI_KIND_MEAN .type = NAI_F64, .unit = NAI_COUNT, .role = NAI_ROLE_METRIC /* of counts */
#define NAI_KIND_BYTES .type = NAI_I64, .unit = NAI_BYTES, .role = NAI_ROLE_METRIC
#define NAI_KIND_PCT .type = NAI_F64, .unit = NAI_PCT, .role = NAI_ROLE_METRIC
#define NAI_KIND_PER_S .type = NAI_F64, .unit = NAI_PER_S, .role = NAI_ROLE_METRIC
#define NAI_KIND_GB_PER_S .type = NAI_F64, .unit = NAI_GB_PER_S, .role = NAI_ROLE_METRIC
/* Durations in ns: shown as they are; in ms, as sums are; in both. */
#define NAI_KIND_NS .type = NAI_I64, .unit = NAI_NS, .role = NAI_ROLE_METRIC
#define NAI_KIND_TIME .type = NAI_I64, .unit = NAI_NS, .display_units = NAI_AS_MS, .role = NAI_ROLE_METRIC
#define NAI_KIND_NS_MS .type = NAI_I64, .unit = NAI_NS, .display_units = NAI_AS_NS | NAI_AS_MS, .role = NAI_ROLE_METRIC
#define NAI_KIND_MEAN_TIME .type = NAI_F64, .unit = NAI_NS, .display_units = NAI_AS_MS, .role = NAI_ROLE_METRIC
/* Single durations and averages, which are short: shown in us. */
#define NAI_KIND_LENGTH \
  .type = NAI_I64, .unit = NAI_NS, .display_units = NAI_AS_US, .role = NAI_ROLE_METRIC, .better = NAI_BETTER_LOWER
#define NAI_KIND_AVERAGE \
  .type = NAI_F64, .unit = NAI_NS, .display_units = NAI_AS_US, .role = NAI_ROLE_METRIC, .better = NAI_BETTER_LOWER
/* Any other: CELL(I32, COUNT). */
#define NAI_KIND_CELL(cell_type, cell_unit) .type = NAI_##cell_type, .unit = NAI_##cell_unit

#define NAI_COLUMN_NUMBER(T, column, kind, what, ...) T##_##column,
#define NAI_TABLE_NUMBERS(T, id)                               \
  enum { T##_COLUMNS(NAI_COLUMN_NUMBER, T) T##_COLUMN_COUNT }; \
  extern const struct nai_schema nai_##id##_schema;

#ifdef NAI_DEFINE_TABLES /* where the build puts all declarations together */
#define NAI_COLUMN_DEF(T, column, kind, what, ...) {.name = #column, .description = what, NAI_KIND_##kind, __VA_ARGS__},
#define NAI_TABLE_NAMED(T, id, name, title, what)                                       \
  NAI_TABLE_NUMBERS(T, id)                                                              \
  static const struct nai_column_def id##_columns[] = {T##_COLUMNS(NAI_COLUMN_DEF, T)}; \
  const struct nai_schema nai_##id##_schema = NAI_SCHEMA(name, title, what, id##_columns);
#else
#define NAI_TABLE_NAMED(T, id, name, title, what) NAI_TABLE_NUMBERS(T, id)
#endif

/* T: the table's name in upper case; id: in lower case; title: for people; what: what a row is. NAI_TABLE_NAMED is for
 * a table of which another one has the name: id tells them apart in code. */
#define NAI_TABLE(T, id, title, what) NAI_TABLE_NAMED(T, id, #id, title, what)
