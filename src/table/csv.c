#include "table/csv.h"

#include "base/escape.h"
#include "table/text_forms.h"

#include <csv.h>

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

/* Some readers drop blanks around what is not quoted; a CI log obeys a line that begins with "::" or "##". */
static bool needs_quotes(const char *text, size_t len) {
  if (len == 0 || is_blank(text[0]) || is_blank(text[len - 1]) ||
      (len > 1 && text[0] == text[1] && strchr(":#", text[0])))
    return true;
  return strcspn(text, ",\"\n\r") < len;
}

static void put_quoted(struct nai_buf *out, const char *text, size_t len) {
  size_t room = len > (SIZE_MAX - 2) / 2 ? SIZE_MAX : 2 * len + 2;
  char *at = nai_buf_reserve(out, room);
  if (!at)
    return;
  if (memchr(text, '"', len)) {
    out->len += csv_write2(at, room, text, len, '"');
  } else { /* nearly all of them, and far quicker */
    at[0] = at[len + 1] = '"';
    memcpy(at + 1, text, len);
    out->len += len + 2;
  }
  out->data[out->len] = '\0';
}

/* Guards the text in `scratch`, for what went to `out` is gone. */
void nai_csv_text(struct nai_buf *out, struct nai_buf *scratch, const char *text, size_t len) {
  nai_buf_clear(scratch);
  nai_escape_csv_guard(scratch, text, len);
  out->oom |= scratch->oom;
  if (needs_quotes(nai_buf_str(scratch), scratch->len))
    put_quoted(out, nai_buf_str(scratch), scratch->len);
  else
    nai_buf_put(out, nai_buf_str(scratch), scratch->len);
}

void nai_csv_names(struct nai_buf *out, const struct nai_schema *schema) {
  NAI_SCOPED(nai_buf) scratch = {0};
  const char *separator = "";
  for (struct nai_display_column p = NAI_FIRST_DISPLAY_COLUMN; nai_display_column_next(&p, schema); separator = ",") {
    char name[NAI_COLUMN_NAME_MAX];
    nai_display_column_name(name, schema, &p);
    nai_buf_puts(out, separator);
    nai_csv_text(out, &scratch, name, strlen(name));
  }
  nai_buf_putc(out, '\n');
}

/* For nai_text_forms. */
static void write_text(struct nai_buf *out, void *scratch, const char *text) {
  nai_csv_text(out, scratch, text, strlen(text));
}

void nai_csv_rows(struct nai_buf *out, const struct nai_table *table) {
  const struct nai_schema *schema = table->schema;
  NAI_SCOPED(nai_buf) scratch = {0};
  uint32_t count;
  NAI_FREED struct nai_display_column *shown = nai_display_columns(&count, schema);
  NAI_SCOPED(nai_text_forms) texts = nai_text_forms_of(table, write_text, &scratch);
  out->oom |= !shown;
  for (int64_t row = 0; row < table->rows && !nai_buf_failed(out); row++) {
    for (uint32_t i = 0; i < count; i++) {
      struct nai_value value = nai_table_value(table, row, shown[i].column);
      if (i)
        nai_buf_putc(out, ',');
      if (value.type == NAI_STR && !value.null)
        nai_text_forms_put(out, &texts, (uint32_t)value.i);
      else
        nai_value_print(out, shown[i].unit, &value);
    }
    nai_buf_putc(out, '\n');
  }
}

void nai_csv_table(struct nai_buf *out, const struct nai_table *table) {
  nai_csv_names(out, table->schema);
  nai_csv_rows(out, table);
}
