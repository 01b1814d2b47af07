#include "table/schema.h"

#include "base/fmt.h"

#include <math.h>
#include <string.h>

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

const char *nai_printed_type(const struct nai_column_def *def) {
  return def->type == NAI_STR ? "text" : def->type == NAI_F64 || units[def->unit].scale ? "float" : "int";
}

const char *nai_unit_name(enum nai_unit unit) { return units[unit].name; }

int nai_schema_column(const struct nai_schema *schema, const char *name) {
  for (uint32_t i = 0; i < schema->column_count; i++)
    if (strcmp(schema->columns[i].name, name) == 0)
      return (int)i;
  return -1;
}

bool nai_schema_place(int *start_column, int *end_column, const struct nai_schema *schema) {
  int found[2], n = 0;
  for (uint32_t i = 0; i < schema->column_count && n < 2; i++)
    if (schema->columns[i].unit == NAI_TIMESTAMP_NS)
      found[n++] = (int)i;
  if (n < 2)
    return false;
  *start_column = found[0];
  *end_column = found[1];
  return true;
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
