/* What a table looks like. A schema drives everything that shows a table: the CSV header, the JSON, the viewer,
 * the number format in Markdown, and the names YAML rules may use. */
#ifndef NAI_TABLE_SCHEMA_H
#define NAI_TABLE_SCHEMA_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

/* How a cell is stored. NULL is a value of each type: INT64_MIN, INT32_MIN, NaN, NAI_NO_STRING. */
enum nai_type { NAI_I64, NAI_I32, NAI_F64, NAI_STR };

/* What a cell means. Times are always *stored* in ns; the unit says how they are printed: a NAI_MS column that stores
 * 136355595 prints 136.355595. */
enum nai_unit {
  NAI_TEXT,
  NAI_NS,           /* duration, ns */
  NAI_US,           /* duration stored in ns, printed in us with 3 decimals */
  NAI_MS,           /* duration stored in ns, printed in ms with 6 decimals */
  NAI_S,            /* duration stored in ns, printed in s with 9 decimals */
  NAI_TIMESTAMP_NS, /* point in time, ns since session start. The first two such columns of a table are the
                       start and end of the row's place on the timeline. */
  NAI_BYTES,
  NAI_PCT, /* 0..100 */
  NAI_COUNT,
  NAI_ID,       /* a number that names something: device, pid, stream */
  NAI_PER_S,    /* events per second */
  NAI_GB_PER_S, /* 10^9 bytes per second */
  NAI_UNIT_COUNT
};

/* What a column is to a reader who does not know its name. */
enum nai_role {
  NAI_ROLE_LABEL,  /* describes the row */
  NAI_ROLE_METRIC, /* a measure: what comparisons compare */
  NAI_ROLE_DEVICE, /* a GPU: device_id of table gpus */
  NAI_ROLE_PROCESS,
  NAI_ROLE_THREAD,
  NAI_ROLE_STREAM,
  NAI_ROLE_KERNEL_NAME, /* a full kernel name, which may be shortened for people */
  NAI_ROLE_RANGE_NAME,  /* a canonical NVTX range name */
  NAI_ROLE_START,       /* the row's place on the timeline */
  NAI_ROLE_END,
};
enum nai_better { NAI_BETTER_NONE, NAI_BETTER_LOWER, NAI_BETTER_HIGHER };

struct nai_column_def {
  const char *name;
  enum nai_type type;
  enum nai_unit unit;
  const char *description;
  const char
      *same_as; /* this column is another print of that column's data (total_time_ms of total_time_ns), or NULL */
  enum nai_role role;
  enum nai_better better; /* which way a metric improves */
  bool key;               /* the table's key columns together are unique */
  bool sum;               /* cells may be added over rows */
  const char *refers; /* "TABLE": a row number of that table; "TABLE.COLUMN": a value of that column; NULL: neither */
};

struct nai_schema {
  const char *name;        /* also the file name: stages/NAME.ntab, tables/NAME.csv */
  const char *title;       /* for people */
  const char *description; /* what a row is */
  const struct nai_column_def *columns;
  uint32_t column_count;
};

#define NAI_SCHEMA(schema_name, schema_title, schema_description, defs)                             \
  {                                                                                                 \
    .name = schema_name, .title = schema_title, .description = schema_description, .columns = defs, \
    .column_count = sizeof(defs) / sizeof *(defs)                                                   \
  }

/* What a column's cells are once printed: "int", "float" or "text". Integers of ns are printed as decimals of us, ms or
 * s. */
const char *nai_printed_type(const struct nai_column_def *def);
const char *nai_unit_name(enum nai_unit unit); /* "ns", "percent", "timestamp_ns", ... */
/* Column number by name, -1 when there is none. */
int nai_schema_column(const struct nai_schema *schema, const char *name);
/* The columns that say where on the timeline a row is (see NAI_TIMESTAMP_NS); false when it has none. */
bool nai_schema_place(int *start_column, int *end_column, const struct nai_schema *schema);
/* Same name, columns, types and units in the same order. */
bool nai_schema_equal(const struct nai_schema *a, const struct nai_schema *b);

/* A cell on its own. */
struct nai_value {
  enum nai_type type;
  bool null;
  int64_t i;     /* NAI_I64, NAI_I32 */
  double f;      /* NAI_F64 */
  const char *s; /* NAI_STR, borrowed */
};

/* For machines: exact, locale-free, nothing for NULL. Text is appended as it is. */
void nai_value_print(struct nai_buf *out, enum nai_unit unit, const struct nai_value *value);
/* For people: "136.4 ms", "41.9 %", "1,234"; "-" for NULL. Text is appended as it is. */
void nai_value_print_human(struct nai_buf *out, enum nai_unit unit, const struct nai_value *value);
/* The number in the unit it is printed in (ms for a NAI_MS column); NaN for NULL and text. Rules compare these. */
double nai_value_number(enum nai_unit unit, const struct nai_value *value);

#endif
