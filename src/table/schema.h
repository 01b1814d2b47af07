/* What a table looks like. A schema drives everything that shows a table: the CSV header, the JSON, the viewer,
 * the number format in Markdown, and the names YAML rules may use. */
#pragma once

#include "base/buf.h"
#include "base/scope.h"

/* How a cell is stored. NULL is a value of each type: INT64_MIN, INT32_MIN, NaN, NAI_NO_STRING. */
enum nai_type { NAI_I64, NAI_I32, NAI_F64, NAI_STR };

/* What a cell means. Durations and points in time are *stored* in ns; NAI_US, NAI_MS and NAI_S are only units in which
 * outputs show a column (see `display_units`). */
enum nai_unit {
  NAI_TEXT,
  NAI_NS,           /* duration, ns */
  NAI_US,           /* ns shown in us with 3 decimals */
  NAI_MS,           /* ns shown in ms with 6 decimals */
  NAI_S,            /* ns shown in s with 9 decimals */
  NAI_TIMESTAMP_NS, /* point in time, ns since session start */
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
  NAI_ROLE_NAME,        /* what else a row is called: an API function, a cause, a check */
  NAI_ROLE_START,       /* the row's place on the timeline */
  NAI_ROLE_END,
  NAI_ROLE_COUNT
};
enum nai_better { NAI_BETTER_NONE, NAI_BETTER_LOWER, NAI_BETTER_HIGHER, NAI_BETTER_COUNT };

/* Units in which a column of ns is shown, as a set. */
enum { NAI_AS_NS = 1 << NAI_NS, NAI_AS_US = 1 << NAI_US, NAI_AS_MS = 1 << NAI_MS, NAI_AS_S = 1 << NAI_S };

/* What people read in the place of a value that programs read. */
struct nai_value_label {
  const char *value, *label;
};

struct nai_column_def {
  const char *name; /* of a column of ns that has `display_units`: "..._ns" */
  enum nai_type type;
  enum nai_unit unit;
  const char *description;
  const char
      *was; /* the stored name it had before, which is understood for one minor version (base/former.h); or NULL */
  unsigned display_units; /* units in which outputs show a column of ns (NAI_AS_MS | ...), each as a column of its own:
                      total_ns in ms is total_ms; 0: its own only */
  enum nai_role role;
  enum nai_better better; /* which way a metric improves */
  bool key;               /* the table's key columns together are unique; a table without any has one row, or rows that
                             only their numbers tell apart */
  int order;              /* the rows' order: 1 the column that counts first, 2 the next, ...; negative: descending */
  bool sum;               /* cells may be added over rows */
  bool filled;            /* no cell is NULL: loops count on it */
  uint32_t values;        /* cells are 0 to values - 1, or NULL; 0: no such limit */
  const struct nai_value_label *labels; /* of an enumeration: a label per value, behind the last a NULL one; or NULL */
  const char *refers; /* "TABLE": a row number of that table; "TABLE.COLUMN": a value of that column; -1: none; NULL: it
                         refers to nothing */
  bool always;        /* what it refers to is there in each row: no cell is -1 */
};

struct nai_schema {
  const char *name;        /* also the file name: tables/NAME.csv */
  const char *title;       /* for people */
  const char *description; /* what a row is */
  const struct nai_column_def *columns;
  uint32_t column_count;
  const char *was;         /* the name it had before, as of a column */
  const char *cannot_know; /* what no row of it can tell, behind "Cannot know:"; "" or NULL: nothing is said */
  bool csv;                /* where it has rows, each run has a tables/NAME.csv; of the others with --all-csv only */
};

#define NAI_SCHEMA(schema_name, schema_title, schema_description, defs)                             \
  {                                                                                                 \
    .name = schema_name, .title = schema_title, .description = schema_description, .columns = defs, \
    .column_count = sizeof(defs) / sizeof *(defs)                                                   \
  }

/* A schema of its own, texts included, for one that does not outlive its use. The caller frees it. */
NAI_MUST_CHECK int nai_schema_copy(struct nai_schema **out, const struct nai_schema *schema, struct nai_err *err);
void nai_schema_free(struct nai_schema *schema);
NAI_OWNER(nai_schema)

const char *nai_unit_name(enum nai_unit unit);       /* "ns", "percent", "timestamp_ns", ... */
const char *nai_role_name(enum nai_role role);       /* "label", "kernel_name", ... */
const char *nai_better_name(enum nai_better better); /* "lower", "higher", NULL for none */

/* A text as people read it: its label, where the column has one for it; else the text itself. */
const char *nai_column_label(const struct nai_column_def *column, const char *text);

/* Number of a stored column by name, -1 when there is none. */
int nai_schema_column(const struct nai_schema *schema, const char *name);
/* Whether that is the name of a table or a column or was it before; `was` may be NULL. */
bool nai_schema_is_called(const char *now, const char *was, const char *name);
/* The columns that say where on the timeline a row is; false when it has none. */
bool nai_schema_place(int *start_column, int *end_column, const struct nai_schema *schema);
/* The first column of a role that holds a value (of NAI_ROLE_PROCESS a pid, not a row of table processes), -1 when
 * there is none. */
int nai_schema_role(const struct nai_schema *schema, enum nai_role role);
/* The column that names a row, -1 when there is none: NAI_ROLE_NAME, else a kernel's or a range's name. */
int nai_schema_name(const struct nai_schema *schema);

/* A column as outputs show it: a stored column in a unit. */
struct nai_display_column {
  int column;
  enum nai_unit unit;
};
enum { NAI_COLUMN_NAME_MAX = 128 }; /* bytes of a column's name with its NUL */
/* Steps through what outputs show of a schema, in order:
 * for (struct nai_display_column p = NAI_FIRST_DISPLAY_COLUMN; nai_display_column_next(&p, schema);) */
#define NAI_FIRST_DISPLAY_COLUMN ((struct nai_display_column){-1, NAI_UNIT_COUNT})
bool nai_display_column_next(struct nai_display_column *print, const struct nai_schema *schema);
/* The same as an array that the caller frees, for loops over rows; NULL when out of memory. */
struct nai_display_column *nai_display_columns(uint32_t *count, const struct nai_schema *schema);
/* The name a column is shown by; returns `name`. */
const char *nai_display_column_name(char name[NAI_COLUMN_NAME_MAX], const struct nai_schema *schema,
                                    const struct nai_display_column *print);
/* The same made from the column's former name; NULL where it has none. */
const char *nai_display_column_former(char name[NAI_COLUMN_NAME_MAX], const struct nai_schema *schema,
                                      const struct nai_display_column *print);
/* What cells are once printed: "int", "float" or "text". Integers of ns are decimals of us, ms or s. */
const char *nai_display_column_type(const struct nai_schema *schema, const struct nai_display_column *print);
/* Finds a column by a name that outputs show or by its stored name; false when there is none. */
bool nai_display_column_find(struct nai_display_column *out, const struct nai_schema *schema, const char *name);
/* Finds one by a name that it had before. */
bool nai_display_column_find_former(struct nai_display_column *out, const struct nai_schema *schema, const char *name);

/* Whether two schemas have the same name and the same columns, types and units in the same order. */
bool nai_schema_equal(const struct nai_schema *a, const struct nai_schema *b);

/* A cell on its own. */
struct nai_value {
  enum nai_type type;
  bool null;
  int64_t i;     /* NAI_I64, NAI_I32; of a text in a table its number there */
  double f;      /* NAI_F64 */
  const char *s; /* NAI_STR, borrowed */
};

/* For machines: exact, locale-free, nothing for NULL. Text is appended as it is. */
void nai_value_print(struct nai_buf *out, enum nai_unit unit, const struct nai_value *value);
/* For people: "136.4 ms", "41.9 %", "1,234"; "-" for NULL. Text is appended as it is. */
void nai_value_print_human(struct nai_buf *out, enum nai_unit unit, const struct nai_value *value);
/* The number in the unit it is printed in (ns cells in ms for NAI_MS); NaN for NULL and text. Rules compare these. */
double nai_value_number(enum nai_unit unit, const struct nai_value *value);
