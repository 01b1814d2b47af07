/* Pages and texts about many runs, from built-in templates. */
#include "index/index.h"

#include "base/assets.h"
#include "base/fmt.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct nai_asset *find_asset(const char *name, const char *suffix) {
  char path[128];
  snprintf(path, sizeof path, "templates/many/%s%s", name, suffix);
  return nai_asset_find(path);
}

static int load(struct nai_buf *text, void *ctx, const char *name, struct nai_err *err) {
  const struct nai_asset *asset = find_asset(name, ".mustache");
  (void)ctx;
  if (!asset)
    return nai_err_set(err, NAI_EUSAGE, "there is no template \"%s\"", name);
  nai_buf_put(text, asset->data, (size_t)(asset->end - asset->data));
  return nai_buf_check(text, err);
}

static void put_asset(struct nai_view *view, const char *key, const char *name) {
  const struct nai_asset *asset = find_asset(name, "");
  nai_view_put_borrowed(view, key, asset->data, (size_t)(asset->end - asset->data));
}

int nai_index_render(struct nai_buf *out, const char *name, struct nai_view *view, enum nai_escape_mode mode,
                     struct nai_err *err) {
  struct nai_templates *templates = NULL;
  put_asset(view, "script", "page.js");
  put_asset(view, "script_sha256", "page.js.sha256");
  put_asset(view, "style", "page.css");
  put_asset(view, "style_sha256", "page.css.sha256");
  nai_view_put_trusted(view, "version", NAI_VERSION);
  int rc = nai_view_check(view, err);
  if (!rc)
    rc = nai_templates_new(&templates, load, NULL, err);
  if (!rc)
    rc = nai_mustache_render(out, templates, name, view, mode, err);
  nai_templates_free(templates);
  return rc;
}

/* Three significant digits or more. */
static void put_number(struct nai_buf *out, double value) {
  double size = fabs(value);
  if (size == floor(size) && size < 1e15)
    nai_fmt_count(out, (int64_t)value);
  else
    nai_fmt_real(out, value, size >= 100 ? 1 : size >= 10 ? 2 : size >= 1 ? 3 : 4);
}

static void put_in_unit(struct nai_buf *out, const char *unit, double value) {
  if (strcmp(unit, "ns") == 0) {
    nai_fmt_duration(out, value);
  } else if (strcmp(unit, "bytes") == 0) {
    nai_fmt_bytes(out, value);
  } else if (strcmp(unit, "percent") == 0) {
    nai_fmt_percent(out, value);
  } else {
    put_number(out, value);
    if (strcmp(unit, "gb_per_s") == 0)
      nai_buf_puts(out, " GB/s");
  }
}

const char *nai_index_basis_words(const char *basis) {
  return strcmp(basis, "step") == 0 ? "per step" : strcmp(basis, "second") == 0 ? "per second" : "in total";
}

void nai_index_put_value(struct nai_buf *out, const char *unit, const char *basis, double value) {
  if (!isfinite(value)) {
    nai_buf_putc(out, '-');
    return;
  }
  put_in_unit(out, unit, value);
  if (strcmp(basis, "second") == 0)
    nai_buf_puts(out, "/s");
}
