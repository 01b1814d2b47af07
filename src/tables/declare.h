/* The book: every table is declared once, in a file of this directory, and all that knows its columns follows from
 * that. A declaration lists the columns in order and then says what the table is:
 *
 *   #define STREAMS_COLUMNS(C, T)                                 \
 *     C(T, stream_id, STREAM, "CUDA stream", .key = true)         \
 *     C(T, total_time_ns, TIME, "summed durations", .sum = true)
 *   NAI_TABLE(STREAMS, streams, "Streams", "One CUDA stream", "streams without a launch in the trace")
 *
 * C takes the column's stored name, its kind (below), what it means, and what else struct nai_column_def has. It makes
 * the numbers of the columns (STREAMS_stream_id, STREAMS_total_time_ns, STREAMS_COLUMN_COUNT), nai_streams_schema, and
 * struct STREAMS_row with a member per column, for rows as a whole:
 *
 *   NAI_ADD(STREAMS, table, .stream_id = 7, .total_time_ns = sum);         what is not said is NULL
 *   struct STREAMS_row row = NAI_ROW(STREAMS, .stream_id = 7);             the same in two steps:
 *   STREAMS_add(table, &row);                                             returns the row's number
 *   struct STREAMS_row read = STREAMS_at(table, number);                   NULL as NAI_NULL_I64, NaN or ""
 */
#pragma once

#include "table/table.h"

/* Labels of enumerated values (values.c), for `.labels`. */
extern const struct nai_value_label *const nai_all_labels[]; /* ends with NULL; the first that has a value names it */
extern const struct nai_value_label nai_cause_labels[], nai_span_labels[], nai_time_labels[], nai_method_labels[],
    nai_scope_labels[], nai_site_labels[], nai_path_labels[], nai_phase_labels[], nai_part_labels[];

/* Kinds of columns: type, unit, how outputs show them, and role. */
#define NAI_KIND_LABEL STR, .unit = NAI_TEXT, .role = NAI_ROLE_LABEL
#define NAI_KIND_NAME STR, .unit = NAI_TEXT, .role = NAI_ROLE_NAME
#define NAI_KIND_KERNEL_NAME STR, .unit = NAI_TEXT, .role = NAI_ROLE_KERNEL_NAME
#define NAI_KIND_RANGE_NAME STR, .unit = NAI_TEXT, .role = NAI_ROLE_RANGE_NAME
#define NAI_KIND_ID I64, .unit = NAI_ID
#define NAI_KIND_ID32 I32, .unit = NAI_ID
#define NAI_KIND_DEVICE I32, .unit = NAI_ID, .role = NAI_ROLE_DEVICE, .refers = "gpus.device_id"
#define NAI_KIND_PID I64, .unit = NAI_ID, .role = NAI_ROLE_PROCESS, .refers = "processes.pid"
#define NAI_KIND_TID I64, .unit = NAI_ID, .role = NAI_ROLE_THREAD, .refers = "threads.tid"
#define NAI_KIND_STREAM I32, .unit = NAI_ID, .role = NAI_ROLE_STREAM
#define NAI_KIND_START I64, .unit = NAI_TIMESTAMP_NS, .role = NAI_ROLE_START
#define NAI_KIND_END I64, .unit = NAI_TIMESTAMP_NS, .role = NAI_ROLE_END
#define NAI_KIND_COUNT I64, .unit = NAI_COUNT, .role = NAI_ROLE_METRIC
#define NAI_KIND_MEAN F64, .unit = NAI_COUNT, .role = NAI_ROLE_METRIC /* of counts */
#define NAI_KIND_BYTES I64, .unit = NAI_BYTES, .role = NAI_ROLE_METRIC
#define NAI_KIND_PCT F64, .unit = NAI_PCT, .role = NAI_ROLE_METRIC
#define NAI_KIND_PER_S F64, .unit = NAI_PER_S, .role = NAI_ROLE_METRIC
#define NAI_KIND_GB_PER_S F64, .unit = NAI_GB_PER_S, .role = NAI_ROLE_METRIC
/* Durations in ns: shown as they are; in ms, as sums are; in both. */
#define NAI_KIND_NS I64, .unit = NAI_NS, .role = NAI_ROLE_METRIC
#define NAI_KIND_TIME I64, .unit = NAI_NS, .display_units = NAI_AS_MS, .role = NAI_ROLE_METRIC
#define NAI_KIND_NS_MS I64, .unit = NAI_NS, .display_units = NAI_AS_NS | NAI_AS_MS, .role = NAI_ROLE_METRIC
#define NAI_KIND_MEAN_TIME F64, .unit = NAI_NS, .display_units = NAI_AS_MS, .role = NAI_ROLE_METRIC
/* Single durations and averages, which are short: shown in us. */
#define NAI_KIND_LENGTH \
  I64, .unit = NAI_NS, .display_units = NAI_AS_US, .role = NAI_ROLE_METRIC, .better = NAI_BETTER_LOWER
#define NAI_KIND_AVERAGE \
  F64, .unit = NAI_NS, .display_units = NAI_AS_US, .role = NAI_ROLE_METRIC, .better = NAI_BETTER_LOWER
/* Of events, whose rows always have them: when, and the rows of tables threads and processes. */
#define NAI_KIND_EVENT_START NAI_KIND_START, .filled = true
#define NAI_KIND_EVENT_END NAI_KIND_END, .filled = true
#define NAI_KIND_THREAD I32, .unit = NAI_ID, .role = NAI_ROLE_THREAD, .refers = "threads", .filled = true
#define NAI_KIND_PROCESS I32, .unit = NAI_ID, .role = NAI_ROLE_PROCESS, .refers = "processes", .filled = true
/* Of a loss less is better, of a yield more: LESS(TIME), MORE(PCT). */
#define NAI_KIND_LESS(kind) NAI_KIND_##kind, .better = NAI_BETTER_LOWER
#define NAI_KIND_MORE(kind) NAI_KIND_##kind, .better = NAI_BETTER_HIGHER
/* Any other: CELL(I32, COUNT). */
#define NAI_KIND_CELL(cell_type, cell_unit) cell_type, .unit = NAI_##cell_unit

/* What follows from a kind: its definition; the type of a row's cell, and NULL as such. */
#define NAI_KIND_DEF(...) NAI_KIND_DEF_OF(__VA_ARGS__)
#define NAI_KIND_DEF_OF(cell_type, ...) .type = NAI_##cell_type, __VA_ARGS__
#define NAI_KIND_TYPE(...) NAI_KIND_TYPE_OF(__VA_ARGS__)
#define NAI_KIND_TYPE_OF(cell_type, ...) NAI_TYPE_##cell_type
#define NAI_KIND_NULL(...) NAI_KIND_NULL_OF(__VA_ARGS__)
#define NAI_KIND_NULL_OF(cell_type, ...) NAI_NONE_##cell_type
#define NAI_TYPE_I64 int64_t
#define NAI_TYPE_I32 int64_t
#define NAI_TYPE_F64 double
#define NAI_TYPE_STR const char *
#define NAI_NONE_I64 NAI_NULL_I64
#define NAI_NONE_I32 NAI_NULL_I64
#define NAI_NONE_F64 NAN
#define NAI_NONE_STR NULL

#define NAI_COLUMN_NUMBER(T, column, kind, what, ...) T##_##column,
#define NAI_COLUMN_MEMBER(T, column, kind, what, ...) NAI_KIND_TYPE(NAI_KIND_##kind) column;
#define NAI_COLUMN_NULL(T, column, kind, what, ...) .column = NAI_KIND_NULL(NAI_KIND_##kind),
#define NAI_TABLE_NUMBERS(T, id)                                                       \
  enum { T##_COLUMNS(NAI_COLUMN_NUMBER, T) T##_COLUMN_COUNT };                         \
  extern const struct nai_schema nai_##id##_schema;                                    \
  struct T##_row {                                                                     \
    T##_COLUMNS(NAI_COLUMN_MEMBER, T)                                                  \
  };                                                                                   \
  static inline int64_t T##_add(struct nai_table *table, const struct T##_row *row) {  \
    return nai_table_add(table, &nai_##id##_schema, row);                              \
  }                                                                                    \
  static inline struct T##_row T##_at(const struct nai_table *table, int64_t number) { \
    struct T##_row row;                                                                \
    nai_table_read(&row, table, &nai_##id##_schema, number);                           \
    return row;                                                                        \
  }
/* clang-format off */
#define NAI_ROW(T, ...) {T##_COLUMNS(NAI_COLUMN_NULL, T) __VA_ARGS__}
/* clang-format on */
#define NAI_ADD(T, table, ...) T##_add((table), &(struct T##_row)NAI_ROW(T, __VA_ARGS__))

/* For tables of events, behind NAI_TABLE: struct KERNEL_EVENTS_columns, which loops over millions of rows read,
 * and KERNEL_EVENTS_columns_of(table), of which there are none where the table is NULL. */
#define NAI_COLUMN_LOOP(T, column, kind, what, ...) column,
#define NAI_COLUMN_ADDRESS(T, column, kind, what, ...) &columns.column,
#define NAI_EVENT_COLUMNS(T)                                                       \
  struct T##_columns {                                                             \
    uint32_t n; /* rows */                                                         \
    struct nai_column T##_COLUMNS(NAI_COLUMN_LOOP, T) none;                        \
  };                                                                               \
  static inline struct T##_columns T##_columns_of(const struct nai_table *table) { \
    struct T##_columns columns = {.n = table ? (uint32_t)table->rows : 0};         \
    struct nai_column *const all[] = {T##_COLUMNS(NAI_COLUMN_ADDRESS, T)};         \
    for (int i = 0; table && i < T##_COLUMN_COUNT; i++)                            \
      *all[i] = nai_table_column(table, i);                                        \
    return columns;                                                                \
  }

#ifdef NAI_DEFINE_TABLES /* where the build puts all declarations together */
#define NAI_COLUMN_DEF(T, column, kind, what, ...) \
  {.name = #column, .description = what, NAI_KIND_DEF(NAI_KIND_##kind), __VA_ARGS__},
#define NAI_TABLE_NAMED(T, id, table_name, table_title, what, ...)                      \
  NAI_TABLE_NUMBERS(T, id)                                                              \
  static const struct nai_column_def id##_columns[] = {T##_COLUMNS(NAI_COLUMN_DEF, T)}; \
  const struct nai_schema nai_##id##_schema = {.name = table_name,                      \
                                               .title = table_title,                    \
                                               .description = what,                     \
                                               .cannot_know = "" __VA_ARGS__,           \
                                               .columns = id##_columns,                 \
                                               .column_count = T##_COLUMN_COUNT};
#else
#define NAI_TABLE_NAMED(T, id, table_name, table_title, what, ...) NAI_TABLE_NUMBERS(T, id)
#endif

/* T: the table's name in upper case; id: in lower case; title: for people; what: what a row is; then what the table
 * cannot know, behind "Cannot know:", of tables of a report, and what else struct nai_schema has. NAI_TABLE_NAMED is
 * for a table of which another one has the name: id tells them apart in code. */
#define NAI_TABLE(T, id, title, what, ...) NAI_TABLE_NAMED(T, id, #id, title, what, __VA_ARGS__)
