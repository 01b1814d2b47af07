/* Cells and rows as templates see them. */
#include "report/report_view.h"

#include "base/fmt.h"
#include "base/text.h"
#include "table/kernel_name.h"
#include "tables/gpus.h"

static void put_unbroken(struct nai_buf *out, const struct nai_buf *text) {
  for (const char *at = nai_buf_str(text); *at;) {
    size_t run = strcspn(at, " ");
    nai_buf_put(out, at, run);
    at += run;
    for (; *at == ' '; at++)
      nai_buf_puts(out, "\xc2\xa0");
  }
  out->oom |= text->oom;
}

void nai_report_print_value(struct nai_buf *out, enum nai_unit unit, const struct nai_value *value) {
  NAI_SCOPED(nai_buf) text = {0};
  nai_value_print_human(&text, unit, value);
  put_unbroken(out, &text);
}

void nai_report_put_value(struct nai_view *view, const char *key, enum nai_unit unit, const struct nai_value *value) {
  NAI_SCOPED(nai_buf) text = {0};
  if (value->null || value->type == NAI_STR) {
    nai_view_put_value(view, key, unit, value);
    return;
  }
  nai_report_print_value(&text, unit, value);
  nai_view_put_buf(view, key, NAI_TEXT_TRUSTED, &text);
}

static void put_duration(struct nai_view *view, const char *key, const char *before, double ns) {
  NAI_SCOPED(nai_buf) text = {0};
  NAI_SCOPED(nai_buf) unbroken = {0};
  nai_buf_puts(&unbroken, before);
  nai_fmt_duration(&text, ns);
  put_unbroken(&unbroken, &text);
  nai_view_put_buf(view, key, NAI_TEXT_TRUSTED, &unbroken);
}

void nai_report_put_duration(struct nai_view *view, const char *key, double ns) { put_duration(view, key, "", ns); }

void nai_report_put_estimate(struct nai_view *view, const char *key, double ns) {
  put_duration(view, key, "about ", ns);
}

void nai_report_put_span(struct nai_view *view, const char *name, enum nai_unit unit, const struct nai_value *low,
                         const struct nai_value *high) {
  NAI_SCOPED(nai_buf) from = {0};
  NAI_SCOPED(nai_buf) to = {0};
  NAI_SCOPED(nai_buf) span = {0};
  NAI_SCOPED(nai_buf) unbroken = {0};
  char key[NAI_COLUMN_NAME_MAX + 8];
  nai_value_print_human(&from, unit, low);
  nai_value_print_human(&to, unit, high);
  if (strcmp(nai_buf_str(&from), nai_buf_str(&to)) != 0) {
    const char *unit_from = strchr(nai_buf_str(&from), ' '), *unit_to = strchr(nai_buf_str(&to), ' ');
    bool same = unit_from && unit_to && strcmp(unit_from, unit_to) == 0;
    nai_buf_put(&span, from.data, same ? (size_t)(unit_from - from.data) : from.len);
    nai_buf_puts(&span, "-");
  }
  nai_buf_puts(&span, nai_buf_str(&to));
  span.oom |= from.oom || to.oom;
  put_unbroken(&unbroken, &span);
  snprintf(key, sizeof key, "%s_span", name);
  nai_view_put_buf(view, key, NAI_TEXT_TRUSTED, &unbroken);
}

const char *nai_report_gpu_label(const struct nai_report *report, int64_t device_id) {
  const struct nai_table *gpus = nai_report_table(report, "gpus");
  int64_t row = nai_find_i64(gpus, GPUS_device_id, device_id);
  return row < 0 ? NULL : nai_get_str(gpus, row, GPUS_label);
}

/* A text also short and as code: NAME_short, NAME_code. Only kernels' names may lose what C++ puts around them: the
 * brackets of train::step(3) are part of a range's name. */
static void put_forms(struct nai_view *row_view, const char *name, enum nai_role role, const char *text) {
  NAI_SCOPED(nai_buf) brief = {0};
  char key[NAI_COLUMN_NAME_MAX + 8];
  if (role == NAI_ROLE_KERNEL_NAME)
    nai_kernel_name_short(&brief, text, NAI_SHORT_NAME);
  else
    nai_text_cut(&brief, text, strlen(text), NAI_SHORT_NAME);
  snprintf(key, sizeof key, "%s_short", name);
  nai_view_put_buf(row_view, key, NAI_TEXT_CODE, &brief);
  snprintf(key, sizeof key, "%s_code", name);
  nai_view_put_code(row_view, key, text);
}

void nai_report_put_row(struct nai_view *row_view, const struct nai_report *report, const struct nai_table *table,
                        int64_t row) {
  for (struct nai_display_column p = NAI_FIRST_DISPLAY_COLUMN; nai_display_column_next(&p, table->schema);) {
    struct nai_value value = nai_table_value(table, row, p.column);
    char name[NAI_COLUMN_NAME_MAX];
    if (value.type == NAI_STR && !value.null)
      value.s = nai_column_label(&table->schema->columns[p.column], value.s);
    nai_report_put_value(row_view, nai_display_column_name(name, table->schema, &p), p.unit, &value);
    if (value.type == NAI_STR && !value.null)
      put_forms(row_view, name, table->schema->columns[p.column].role, value.s);
  }
  int device = nai_schema_role(table->schema, NAI_ROLE_DEVICE);
  if (device >= 0 && nai_get_i64(table, row, device) != NAI_NULL_I64)
    nai_view_put_text(row_view, "gpu_label", nai_report_gpu_label(report, nai_get_i64(table, row, device)));
}
