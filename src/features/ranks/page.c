/* ranks.html and ranks.md: one view, two templates. */
#include "features/ranks/write.h"

#include "base/assets.h"
#include "base/fmt.h"
#include "base/sort.h"
#include "index/index.h"
#include "tables/collectives.h"
#include "tables/transfers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_RANKS = 24, MAX_COLLECTIVES = 10, MAX_LINES = 64, MAX_REASONS = 5 };

static void put_buf(struct nai_view *map, const char *key, struct nai_buf *text, bool trusted) {
  if (trusted)
    nai_view_put_trusted(map, key, nai_buf_str(text));
  else
    nai_view_put_text(map, key, nai_buf_str(text));
  nai_view_inherit(map, text);
  nai_buf_free(text);
  *text = (struct nai_buf){0};
}

/* A cell of a table as people read it, under its column's name. */
static void put_cell(struct nai_view *map, const struct nai_table *t, int64_t row, int column) {
  const struct nai_column_def *def = &t->schema->columns[column];
  struct nai_value value = nai_table_value(t, row, column);
  if (value.null && def->type == NAI_STR)
    nai_view_put_text(map, def->name, NULL);
  else
    nai_view_put_value(map, def->name, def->unit, &value);
}

static void put_row(struct nai_view *list, const struct nai_table *t, int64_t row) {
  struct nai_view *map = nai_view_add_map(list);
  for (int column = 0; column < (int)t->schema->column_count; column++)
    put_cell(map, t, row, column);
}

/* latest: ranks, the latest first. */
static void put_texts(struct nai_view *root, const struct nai_ranks *r, const struct nai_key *latest) {
  struct nai_buf text = {0};
  nai_ranks_put_verdict(&text, r);
  put_buf(root, "verdict", &text, false);
  nai_view_put_bool(root, "undecided", r->verdict == NAI_RANKS_UNDECIDED);
  nai_view_put_bool(root, "good", r->verdict == NAI_RANKS_BALANCED);
  struct nai_view *reasons = nai_view_put_list(root, "reasons");
  for (uint32_t n = 0; n < MAX_REASONS && n < r->rank_count; n++) {
    nai_ranks_put_reason(&text, r, &r->ranks[latest[n].value]);
    if (text.len || nai_buf_failed(&text))
      put_buf(nai_view_add_map(reasons), "text", &text, false);
  }
  struct nai_view *caveats = nai_view_put_list(root, "caveats");
  for (uint32_t i = 0; nai_ranks_put_caveat(&text, r, i); i++)
    put_buf(nai_view_add_map(caveats), "text", &text, false);
  nai_buf_free(&text);
}

/* All ranks, or those that are latest where there is no room. */
static void put_ranks(struct nai_view *root, const struct nai_ranks *r, const struct nai_table *t,
                      const struct nai_key *latest, int64_t most) {
  struct nai_view *list = nai_view_put_list(root, "ranks");
  bool all = r->rank_count <= most;
  for (int64_t i = 0; i < r->rank_count && i < most; i++)
    put_row(list, t, all ? i : (int64_t)latest[i].value);
  if (!all)
    nai_view_put_int(root, "more_ranks", r->rank_count - most);
}

static int order_by_lateness(struct nai_key **out, const struct nai_ranks *r, struct nai_err *err) {
  struct nai_key *keys = *out = malloc(((size_t)r->rank_count + 1) * sizeof *keys);
  if (!keys)
    return nai_err_nomem(err);
  for (uint32_t i = 0; i < r->rank_count; i++)
    keys[i] = (struct nai_key){UINT64_MAX - (uint64_t)r->ranks[i].late_by_ns, i};
  return nai_sort_keys(keys, r->rank_count, err);
}

/* Rows with the largest value of a column. */
static int put_largest(struct nai_view *root, const char *key, const struct nai_table *t, int column, int64_t most,
                       struct nai_err *err) {
  struct nai_key *keys = malloc(((size_t)t->rows + 1) * sizeof *keys);
  int rc = keys ? NAI_OK : nai_err_nomem(err);
  for (int64_t i = 0; i < t->rows && !rc; i++) {
    int64_t value = nai_get_i64(t, i, column);
    keys[i] = (struct nai_key){UINT64_MAX - (uint64_t)(value > 0 ? value : 0), (uint32_t)i};
  }
  if (!rc)
    rc = nai_sort_keys(keys, (size_t)t->rows, err);
  struct nai_view *list = nai_view_put_list(root, key);
  for (int64_t i = 0; i < t->rows && i < most && !rc; i++)
    put_row(list, t, keys[i].value);
  free(keys);
  return rc;
}

static void put_rows(struct nai_view *root, const char *key, const struct nai_table *t, int64_t most) {
  struct nai_view *list = nai_view_put_list(root, key);
  for (int64_t i = 0; i < t->rows && i < most; i++)
    put_row(list, t, i);
}

static void put_maps(struct nai_view *root, const struct nai_ranks *r) {
  struct nai_buf text = {0};
  int64_t late = 0, waited = 0;
  for (size_t i = 0; i < (size_t)r->rank_count * r->buckets; i++) {
    late = r->late_by[i] > late ? r->late_by[i] : late;
    waited = r->waited[i] > waited ? r->waited[i] : waited;
  }
  nai_view_put_int(root, "per_column", r->per_bucket);
  nai_view_put_bool(root, "grouped", r->per_bucket > 1);
  nai_ranks_put_map(&text, r, r->late_by, "map");
  put_buf(root, "late_map", &text, true);
  nai_fmt_duration(&text, (double)late);
  put_buf(root, "late_most", &text, true);
  nai_ranks_put_map(&text, r, r->waited, "map wait");
  put_buf(root, "wait_map", &text, true);
  nai_fmt_duration(&text, (double)waited);
  put_buf(root, "wait_most", &text, true);
}

static int fill(struct nai_view *root, const struct nai_ranks *r, const struct nai_ranks_tables *tables, bool html,
                struct nai_err *err) {
  struct nai_key *latest = NULL;
  int rc = order_by_lateness(&latest, r, err);
  if (!rc)
    put_texts(root, r, latest);
  if (!rc)
    put_ranks(root, r, tables->v[NAI_RANKS_RANKS], latest, html ? INT64_MAX : MAX_RANKS);
  free(latest);
  nai_view_put_trusted(root, "columns", r->by_step ? "step" : "collective");
  nai_view_put_int(root, "rank_count", r->rank_count);
  nai_view_put_int(root, "collective_count", r->collectives);
  nai_view_put_bool(root, "matched", r->split > 0);
  if (!rc)
    rc = put_largest(root, "transfers", tables->v[NAI_RANKS_TRANSFERS], TRANSFERS_slow_excess_ns, MAX_COLLECTIVES, err);
  if (!rc)
    rc = put_largest(root, "collectives", tables->v[NAI_RANKS_COLLECTIVES], COLLECTIVES_skew_ns, MAX_COLLECTIVES, err);
  put_rows(root, "mismatches", tables->v[NAI_RANKS_MISMATCHES], MAX_LINES);
  nai_view_put_bool(root, "any_mismatch", tables->v[NAI_RANKS_MISMATCHES]->rows > 0);
  if (html) {
    put_rows(root, "lines", tables->v[NAI_RANKS_LINES], 16 * MAX_LINES);
    put_maps(root, r);
  }
  return rc;
}

static void put_style(struct nai_view *root, const char *key, const char *path) {
  const struct nai_asset *asset = nai_asset_find(path);
  nai_view_put_borrowed(root, key, asset->data, (size_t)(asset->end - asset->data));
}

static int print(struct nai_buf *out, const struct nai_ranks *r, const struct nai_ranks_tables *tables, bool html,
                 struct nai_err *err) {
  struct nai_view *root = nai_view_new();
  int rc = fill(root, r, tables, html, err);
  put_style(root, "map_style", "templates/many/ranks.css");
  put_style(root, "map_style_sha256", "templates/many/ranks.css.sha256");
  if (!rc)
    rc = nai_index_render(out, html ? "ranks.html" : "ranks.md", root, html ? NAI_ESCAPE_HTML : NAI_ESCAPE_MARKDOWN,
                          err);
  nai_view_free(root);
  return rc ? rc : nai_buf_check(out, err);
}

int nai_ranks_write_html(struct nai_buf *out, const struct nai_ranks *r, const struct nai_ranks_tables *tables,
                         struct nai_err *err) {
  return print(out, r, tables, true, err);
}

int nai_ranks_write_markdown(struct nai_buf *out, const struct nai_ranks *r, const struct nai_ranks_tables *tables,
                             struct nai_err *err) {
  return print(out, r, tables, false, err);
}
