/* Pages and texts about many runs, from built-in templates; values of metrics in them. */
#include "base/fmt.h"
#include "index/index.h"
#include "report/builtin.h"

int nai_index_render(struct nai_buf *out, const char *name, struct nai_view *view, enum nai_escape_mode mode,
                     struct nai_err *err) {
  char path[128];
  snprintf(path, sizeof path, "many/%s", name);
  nai_view_put_asset(view, "script", "templates/many/page.js");
  nai_view_put_asset(view, "script_sha256", "templates/many/page.js.sha256");
  nai_view_put_asset(view, "shell", "templates/many/shell.js");
  nai_view_put_asset(view, "shell_sha256", "templates/many/shell.js.sha256");
  nai_view_put_asset(view, "style", "templates/many/page.css");
  nai_view_put_asset(view, "style_sha256", "templates/many/page.css.sha256");
  nai_view_put_trusted(view, "version", NAI_VERSION);
  return nai_builtin_render(out, path, view, mode, err);
}

/* Three significant digits or more. */
static void put_number(struct nai_buf *out, double value) {
  double size = fabs(value);
  if (size == floor(size) && size < 1e15)
    nai_fmt_count(out, (int64_t)value);
  else
    nai_fmt_real(out, value, size >= 100 ? 1 : size >= 10 ? 2 : size >= 1 ? 3 : 4);
}

const char *nai_index_basis_words(const char *basis) {
  return strcmp(basis, "step") == 0 ? "per step" : strcmp(basis, "second") == 0 ? "per second" : "in total";
}

void nai_index_print_value(struct nai_buf *out, const char *unit, const char *basis, double value) {
  if (!isfinite(value)) {
    nai_buf_putc(out, '-');
    return;
  }
  if (strcmp(unit, "ns") == 0)
    nai_fmt_duration(out, value);
  else if (strcmp(unit, "bytes") == 0)
    nai_fmt_bytes(out, value);
  else if (strcmp(unit, "percent") == 0)
    nai_fmt_percent(out, value);
  else
    put_number(out, value);
  nai_buf_puts(out, strcmp(unit, "gb_per_s") == 0 ? " GB/s" : "");
  nai_buf_puts(out, strcmp(basis, "second") == 0 ? "/s" : "");
}

void nai_index_put_value(struct nai_view *map, const char *key, const char *unit, const char *basis, double value) {
  NAI_SCOPED(nai_buf) text = {0};
  nai_index_print_value(&text, unit, basis, value);
  nai_view_put_buf(map, key, NAI_TEXT_TRUSTED, &text);
}

void nai_index_add_time(struct nai_time_column *times, const char *unit, double value) {
  if (strcmp(unit, "ns") == 0)
    nai_time_column_add(times, value);
}

void nai_index_put_below(struct nai_view *map, const char *key, const struct nai_time_column *times, const char *unit,
                         const char *basis, double value) {
  NAI_SCOPED(nai_buf) text = {0};
  if (!times || strcmp(unit, "ns") != 0 || !isfinite(value)) {
    nai_index_put_value(map, key, unit, basis, value);
    return;
  }
  nai_fmt_time_in(&text, times, value, false);
  nai_buf_puts(&text, strcmp(basis, "second") == 0 ? "/s" : "");
  nai_view_put_buf(map, key, NAI_TEXT_TRUSTED, &text);
}
