#include "table/schema.h"

#include "base/fmt.h"

/* How each unit is named and printed. */
static const struct {
  const char *name;
  int scale;         /* integers print as value / 10^scale */
  int real_decimals; /* places of a real number, after scaling */
} units[NAI_UNIT_COUNT] = {
    [NAI_TEXT] = {"text", 0, 6},
    [NAI_NS] = {"ns", 0, 3},
    [NAI_US] = {"us", 3, 3},
    [NAI_MS] = {"ms", 6, 6},
    [NAI_S] = {"s", 9, 9},
    [NAI_TIMESTAMP_NS] = {"timestamp_ns", 0, 0},
    [NAI_BYTES] = {"bytes", 0, 1},
    [NAI_PCT] = {"percent", 0, 4},
    [NAI_COUNT] = {"count", 0, 3},
    [NAI_ID] = {"id", 0, 0},
    [NAI_PER_S] = {"per_second", 0, 3},
    [NAI_GB_PER_S] = {"gb_per_s", 0, 6},
};

static const char *const roles[NAI_ROLE_COUNT] = {
    [NAI_ROLE_LABEL] = "label",
    [NAI_ROLE_METRIC] = "metric",
    [NAI_ROLE_DEVICE] = "device",
    [NAI_ROLE_PROCESS] = "process",
    [NAI_ROLE_THREAD] = "thread",
    [NAI_ROLE_STREAM] = "stream",
    [NAI_ROLE_KERNEL_NAME] = "kernel_name",
    [NAI_ROLE_RANGE_NAME] = "range_name",
    [NAI_ROLE_NAME] = "name",
    [NAI_ROLE_START] = "start",
    [NAI_ROLE_END] = "end",
};

const char *nai_unit_name(enum nai_unit unit) { return units[unit].name; }

const char *nai_role_name(enum nai_role role) { return roles[role]; }

const char *nai_better_name(enum nai_better better) {
  return better == NAI_BETTER_LOWER ? "lower" : better == NAI_BETTER_HIGHER ? "higher" : NULL;
}

/* --- copies ------------------------------------------------------------------------------------ */

static size_t room(const char *text) { return text ? strlen(text) + 1 : 0; }

static const char *keep(char **at, const char *text) {
  char *to = *at;
  if (!text)
    return NULL;
  *at = stpcpy(to, text) + 1;
  return to;
}

/* One block: the schema, its definitions, their texts. */
int nai_schema_copy(struct nai_schema **out, const struct nai_schema *schema, struct nai_err *err) {
  size_t texts = room(schema->name) + room(schema->title) + room(schema->description) + room(schema->cannot_know) +
                 room(schema->was);
  for (uint32_t i = 0; i < schema->column_count; i++) {
    const struct nai_column_def *def = &schema->columns[i];
    texts += room(def->name) + room(def->description) + room(def->refers) + room(def->was);
  }
  size_t defs_bytes = schema->column_count * sizeof *schema->columns;
  struct nai_schema *copy = malloc(sizeof *copy + defs_bytes + texts);
  NAI_TRY(nai_memory_check(copy, err));
  struct nai_column_def *defs = (struct nai_column_def *)(copy + 1);
  char *at = (char *)defs + defs_bytes;
  *copy = (struct nai_schema){.name = keep(&at, schema->name),
                              .title = keep(&at, schema->title),
                              .description = keep(&at, schema->description),
                              .cannot_know = keep(&at, schema->cannot_know),
                              .was = keep(&at, schema->was),
                              .csv = schema->csv,
                              .columns = defs,
                              .column_count = schema->column_count};
  for (uint32_t i = 0; i < schema->column_count; i++) {
    defs[i] = schema->columns[i];
    defs[i].name = keep(&at, schema->columns[i].name);
    defs[i].description = keep(&at, schema->columns[i].description);
    defs[i].refers = keep(&at, schema->columns[i].refers);
    defs[i].was = keep(&at, schema->columns[i].was);
  }
  *out = copy;
  return NAI_OK;
}

void nai_schema_free(struct nai_schema *schema) { free(schema); }

/* --- columns of a schema ---------------------------------------------------------------------- */

const char *nai_column_label(const struct nai_column_def *column, const char *text) {
  for (const struct nai_value_label *at = column->labels; at && at->value; at++)
    if (strcmp(at->value, text) == 0)
      return at->label;
  return text;
}

int nai_schema_column(const struct nai_schema *schema, const char *name) {
  for (uint32_t i = 0; i < schema->column_count; i++)
    if (strcmp(schema->columns[i].name, name) == 0)
      return (int)i;
  return -1;
}

bool nai_schema_is_called(const char *now, const char *was, const char *name) {
  return strcmp(now, name) == 0 || (was && strcmp(was, name) == 0);
}

int nai_schema_role(const struct nai_schema *schema, enum nai_role role) {
  for (uint32_t i = 0; i < schema->column_count; i++) {
    const struct nai_column_def *def = &schema->columns[i];
    bool row_number = def->refers && !strchr(def->refers, '.');
    if (def->role == role && !row_number)
      return (int)i;
  }
  return -1;
}

int nai_schema_name(const struct nai_schema *schema) {
  static const enum nai_role names[] = {NAI_ROLE_NAME, NAI_ROLE_KERNEL_NAME, NAI_ROLE_RANGE_NAME};
  int column = -1;
  for (size_t i = 0; i < sizeof names / sizeof *names && column < 0; i++)
    column = nai_schema_role(schema, names[i]);
  return column;
}

bool nai_schema_place(int *start_column, int *end_column, const struct nai_schema *schema) {
  int start = nai_schema_role(schema, NAI_ROLE_START), end = nai_schema_role(schema, NAI_ROLE_END);
  if (start < 0 || end < 0)
    return false;
  *start_column = start;
  *end_column = end;
  return true;
}

/* --- columns as outputs show them ------------------------------------------------------------- */

static unsigned prints_of(const struct nai_column_def *def) {
  return def->display_units ? def->display_units : 1u << def->unit;
}

bool nai_display_column_next(struct nai_display_column *print, const struct nai_schema *schema) {
  unsigned later = 0; /* units of this column that come after the one shown last */
  if (print->column >= 0)
    later = prints_of(&schema->columns[print->column]) & ~((2u << print->unit) - 1);
  if (!later && print->column + 1 >= (int)schema->column_count)
    return false;
  if (!later)
    later = prints_of(&schema->columns[++print->column]);
  print->unit = (enum nai_unit)__builtin_ctz(later);
  return true;
}

struct nai_display_column *nai_display_columns(uint32_t *count, const struct nai_schema *schema) {
  struct nai_display_column p = NAI_FIRST_DISPLAY_COLUMN;
  struct nai_display_column *all = calloc((size_t)schema->column_count * NAI_UNIT_COUNT + 1, sizeof *all);
  for (*count = 0; all && nai_display_column_next(&p, schema); ++*count)
    all[*count] = p;
  return all;
}

static const char *name_in_unit(char name[NAI_COLUMN_NAME_MAX], const char *stored, enum nai_unit own,
                                enum nai_unit shown) {
  size_t len = strlen(stored), suffix = shown == own ? 0 : strlen(units[own].name);
  const char *unit = suffix ? units[shown].name : "";
  size_t stem = len > suffix ? len - suffix : len, more = strlen(unit);
  stem = stem < NAI_COLUMN_NAME_MAX ? stem : NAI_COLUMN_NAME_MAX - 1;
  more = more < NAI_COLUMN_NAME_MAX - stem ? more : NAI_COLUMN_NAME_MAX - 1 - stem;
  memcpy(name, stored, stem); /* loading rules asks for all columns' names over and over: no printf */
  memcpy(name + stem, unit, more);
  name[stem + more] = '\0';
  return name;
}

const char *nai_display_column_name(char name[NAI_COLUMN_NAME_MAX], const struct nai_schema *schema,
                                    const struct nai_display_column *print) {
  const struct nai_column_def *def = &schema->columns[print->column];
  return name_in_unit(name, def->name, def->unit, print->unit);
}

const char *nai_display_column_former(char name[NAI_COLUMN_NAME_MAX], const struct nai_schema *schema,
                                      const struct nai_display_column *print) {
  const struct nai_column_def *def = &schema->columns[print->column];
  return def->was ? name_in_unit(name, def->was, def->unit, print->unit) : NULL;
}

const char *nai_display_column_type(const struct nai_schema *schema, const struct nai_display_column *print) {
  enum nai_type type = schema->columns[print->column].type;
  return type == NAI_STR ? "text" : type == NAI_F64 || units[print->unit].scale ? "float" : "int";
}

bool nai_display_column_find(struct nai_display_column *out, const struct nai_schema *schema, const char *name) {
  for (struct nai_display_column p = NAI_FIRST_DISPLAY_COLUMN; nai_display_column_next(&p, schema);) {
    char shown[NAI_COLUMN_NAME_MAX];
    *out = p;
    /* Units are at the end of names. */
    if (*schema->columns[p.column].name == *name && strcmp(nai_display_column_name(shown, schema, &p), name) == 0)
      return true;
  }
  out->column = nai_schema_column(schema, name);
  if (out->column < 0)
    return false;
  out->unit = schema->columns[out->column].unit;
  return true;
}

bool nai_display_column_find_former(struct nai_display_column *out, const struct nai_schema *schema, const char *name) {
  char former[NAI_COLUMN_NAME_MAX];
  for (*out = NAI_FIRST_DISPLAY_COLUMN; nai_display_column_next(out, schema);)
    if (nai_display_column_former(former, schema, out) && strcmp(former, name) == 0)
      return true;
  for (out->column = 0; out->column < (int)schema->column_count; out->column++) {
    out->unit = schema->columns[out->column].unit;
    if (schema->columns[out->column].was && strcmp(schema->columns[out->column].was, name) == 0)
      return true;
  }
  return false;
}

bool nai_schema_equal(const struct nai_schema *a, const struct nai_schema *b) {
  if (strcmp(a->name, b->name) != 0 || a->column_count != b->column_count)
    return false;
  for (uint32_t i = 0; i < a->column_count; i++)
    if (strcmp(a->columns[i].name, b->columns[i].name) != 0 || a->columns[i].type != b->columns[i].type ||
        a->columns[i].unit != b->columns[i].unit)
      return false;
  return true;
}

/* --- cells ------------------------------------------------------------------------------------ */

static double scaled(enum nai_unit unit, double v) {
  static const double powers[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};
  return v / powers[units[unit].scale];
}

void nai_value_print(struct nai_buf *out, enum nai_unit unit, const struct nai_value *value) {
  if (value->null)
    return;
  if (value->type == NAI_STR)
    nai_buf_puts(out, value->s);
  else if (value->type == NAI_F64)
    nai_fmt_real(out, scaled(unit, value->f), units[unit].real_decimals);
  else
    nai_fmt_scaled(out, value->i, units[unit].scale);
}

void nai_value_print_human(struct nai_buf *out, enum nai_unit unit, const struct nai_value *value) {
  if (value->null) {
    nai_buf_putc(out, '-');
    return;
  }
  if (value->type == NAI_STR) {
    nai_buf_puts(out, value->s);
    return;
  }
  double number = value->type == NAI_F64 ? value->f : (double)value->i;
  switch (unit) {
  case NAI_NS:
  case NAI_US:
  case NAI_MS:
  case NAI_S:
    nai_fmt_duration(out, number);
    break;
  case NAI_TIMESTAMP_NS:
    if (value->type == NAI_F64)
      nai_fmt_real(out, number / 1e9, 6);
    else
      nai_fmt_scaled(out, value->i / 1000, 6);
    nai_buf_puts(out, " s");
    break;
  case NAI_BYTES:
    nai_fmt_bytes(out, number);
    break;
  case NAI_PCT:
    nai_fmt_percent(out, number);
    break;
  case NAI_PER_S:
    nai_fmt_count(out, (int64_t)llround(number));
    nai_buf_puts(out, "/s");
    break;
  case NAI_GB_PER_S:
    nai_fmt_real(out, number, fabs(number) < 10 ? 2 : 1);
    nai_buf_puts(out, " GB/s");
    break;
  case NAI_ID:
    if (value->type == NAI_F64)
      nai_fmt_real(out, number, 0);
    else
      nai_fmt_scaled(out, value->i, 0);
    break;
  case NAI_COUNT:
  case NAI_TEXT:
  case NAI_UNIT_COUNT:
    if (value->type == NAI_F64)
      nai_fmt_real(out, number, 2);
    else
      nai_fmt_count(out, value->i);
    break;
  }
}

double nai_value_number(enum nai_unit unit, const struct nai_value *value) {
  if (value->null || value->type == NAI_STR)
    return NAN;
  return scaled(unit, value->type == NAI_F64 ? value->f : (double)value->i);
}
