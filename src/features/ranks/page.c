/* ranks.html and ranks.md: one view, two templates. */
#include "features/ranks/write.h"

#include "base/escape.h"
#include "base/fmt.h"
#include "base/fs.h"
#include "index/index.h"
#include "report/builtin.h"
#include "rundir/run.h"
#include "tables/collectives.h"
#include "tables/transfers.h"

enum { MAX_RANKS = 24, MAX_COLLECTIVES = 10, MAX_LINES = 64, MAX_REASONS = 5, MAX_COLUMNS = 64 /* of a table here */ };

static bool is_time(const struct nai_table *t, int column) { return t->schema->columns[column].unit == NAI_NS; }

static double time_at(const struct nai_table *t, int64_t row, int column) {
  struct nai_value value = nai_table_value(t, row, column);
  return value.null ? (double)NAN : value.type == NAI_F64 ? value.f : (double)value.i;
}

/* Cells as people read them, under their columns' names; times in the unit of their column. */
static struct nai_view *put_row(struct nai_view *list, const struct nai_table *t, int64_t row,
                                const struct nai_time_column *times) {
  struct nai_view *map = nai_view_add_map(list);
  for (int column = 0; column < (int)t->schema->column_count; column++) {
    const struct nai_column_def *def = &t->schema->columns[column];
    struct nai_value value = nai_table_value(t, row, column);
    NAI_SCOPED(nai_buf) text = {0};
    if (value.null && def->type == NAI_STR) {
      nai_view_put_text(map, def->name, NULL);
    } else if (is_time(t, column)) {
      nai_fmt_time_in(&text, &times[column], time_at(t, row, column), false);
      nai_view_put_buf(map, def->name, NAI_TEXT_TRUSTED, &text);
    } else {
      nai_view_put_value(map, def->name, def->unit, &value);
    }
  }
  return map;
}

/* Where a row of ranks leads: to the report of that rank. */
static int link_rank(struct nai_view *map, const struct nai_ranks_report *report, int64_t rank, struct nai_err *err) {
  NAI_SCOPED(nai_buf) link = {0};
  NAI_TRY(nai_ranks_put_report(&link, report, rank, err));
  nai_view_put_int(map, "row", rank);
  if (link.len)
    nai_view_put_buf(map, "href", NAI_TEXT_FOREIGN, &link);
  return NAI_OK;
}

/* The way to a time in the report of a rank, by the clock of its trace. */
static int put_time(struct nai_view *map, const char *key, const struct nai_ranks_report *report, uint32_t rank,
                    int64_t start, int64_t end, struct nai_err *err) {
  NAI_SCOPED(nai_buf) link = {0};
  NAI_TRY(nai_ranks_put_report(&link, report, rank, err));
  if (!link.len)
    return NAI_OK;
  nai_buf_printf(&link, "#v=timeline&r=@%" PRIi64 "~%" PRIi64, start, end);
  nai_view_put_buf(map, key, NAI_TEXT_FOREIGN, &link);
  return NAI_OK;
}

/* Where a row of collectives leads: to the kernel that waited longest, and to what the last rank did meanwhile. */
static int link_collective(struct nai_view *map, const struct nai_ranks_report *report, int64_t row,
                           struct nai_err *err) {
  const struct nai_ranks *r = report->ranks;
  const struct nai_table *t = report->tables[NAI_RANKS_COLLECTIVES];
  const struct nai_rank_group *group = &r->groups[nai_get_i64(t, row, COLLECTIVES_group)];
  uint32_t k = (uint32_t)nai_get_i64(t, row, COLLECTIVES_number), first = 0, late = group->late[k];
  const struct nai_rank_call *call = nai_ranks_call(r, group, 0, k);
  for (uint32_t m = 1; m < group->count; m++) {
    const struct nai_rank_call *other = nai_ranks_call(r, group, m, k);
    if (other->end - other->start > call->end - call->start) {
      first = m;
      call = other;
    }
  }
  NAI_TRY(
      put_time(map, "wait_href", report, r->lines[r->members[group->first + first]].rank, call->start, call->end, err));
  if (late == NAI_NO_RANK)
    return NAI_OK;
  call = nai_ranks_call(r, group, late, k);
  return put_time(map, "late_href", report, r->lines[r->members[group->first + late]].rank,
                  call->start - group->skew[k], call->end, err);
}

static void put_words(struct nai_view *root, const struct nai_ranks_report *report) {
  const struct nai_ranks *r = report->ranks;
  nai_view_put_text(root, "verdict", report->verdict);
  nai_view_put_bool(root, "undecided", r->verdict == NAI_RANKS_UNDECIDED);
  nai_view_put_bool(root, "good", r->verdict == NAI_RANKS_BALANCED);
  struct nai_view *reasons = nai_view_put_list(root, "reasons"), *caveats = nai_view_put_list(root, "caveats");
  for (uint32_t n = 0; n < MAX_REASONS && n < r->rank_count; n++)
    if (*report->reasons[report->latest[n].value])
      nai_view_put_text(nai_view_add_map(reasons), "text", report->reasons[report->latest[n].value]);
  for (uint32_t i = 0; i < report->caveat_count; i++)
    nai_view_put_text(nai_view_add_map(caveats), "text", report->caveats[i]);
}

static int64_t row_of(const struct nai_key *order, int64_t i) { return order ? (int64_t)order[i].value : i; }

typedef int link_row(struct nai_view *map, const struct nai_ranks_report *report, int64_t row, struct nai_err *err);

/* Rows of a table. order: NULL for that of the table. link: NULL, or where a row leads. */
static int put_rows(struct nai_view *root, const char *key, const struct nai_ranks_report *report,
                    enum nai_ranks_table which, const struct nai_key *order, int64_t most, link_row *link,
                    struct nai_err *err) {
  const struct nai_table *t = report->tables[which];
  struct nai_view *list = nai_view_put_list(root, key);
  struct nai_time_column times[MAX_COLUMNS] = {0};
  for (int64_t i = 0; i < t->rows && i < most; i++)
    for (int column = 0; column < (int)t->schema->column_count; column++)
      if (is_time(t, column))
        nai_time_column_add(&times[column], time_at(t, row_of(order, i), column));
  for (int64_t i = 0; i < t->rows && i < most; i++) {
    struct nai_view *map = put_row(list, t, row_of(order, i), times);
    if (link)
      NAI_TRY(link(map, report, row_of(order, i), err));
  }
  return NAI_OK;
}

/* Rows by a column, the largest first. */
static int order_by(struct nai_key **out, const struct nai_table *t, int column, struct nai_arena *arena,
                    struct nai_err *err) {
  NAI_TRY(NAI_NEW(*out, arena, (size_t)t->rows, err));
  for (int64_t i = 0; i < t->rows; i++) {
    int64_t value = nai_get_i64(t, i, column);
    (*out)[i] = (struct nai_key){UINT64_MAX - (uint64_t)(value > 0 ? value : 0), (uint32_t)i};
  }
  return nai_sort_keys(*out, (size_t)t->rows, err);
}

/* The map, and its largest value, of values by rank and column. */
static void put_map(struct nai_view *root, const char *map, const char *most, const struct nai_ranks *r,
                    const int64_t *values, const char *class, const char *label) {
  NAI_SCOPED(nai_buf) svg = {0};
  int64_t largest = nai_ranks_put_map(&svg, r, values, class, label);
  nai_view_put_trusted(root, map, nai_buf_str(&svg));
  nai_view_inherit(root, &svg);
  nai_view_put_value(root, most, NAI_NS, &(struct nai_value){.type = NAI_I64, .i = largest});
}

static int put_time_map(struct nai_view *root, const struct nai_ranks_report *report, struct nai_err *err) {
  NAI_SCOPED(nai_buf) svg = {0};
  if (!report->axis.width_ns)
    return NAI_OK;
  NAI_TRY(nai_ranks_put_time_map(&svg, report, err));
  nai_view_put_trusted(root, "time_map", nai_buf_str(&svg));
  nai_view_inherit(root, &svg);
  return NAI_OK;
}

static int fill(struct nai_view *root, const struct nai_ranks_report *report, bool html, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  const struct nai_ranks *r = report->ranks;
  struct nai_table *const *t = report->tables;
  struct nai_key *slowest, *longest;
  NAI_TRY(order_by(&slowest, t[NAI_RANKS_TRANSFERS], TRANSFERS_slow_excess_ns, &arena, err));
  NAI_TRY(order_by(&longest, t[NAI_RANKS_COLLECTIVES], COLLECTIVES_skew_ns, &arena, err));
  put_words(root, report);
  nai_view_put_trusted(root, "columns", r->by_step ? "step" : "collective");
  nai_view_put_int(root, "rank_count", r->rank_count);
  nai_view_put_int(root, "collective_count", r->collectives);
  nai_view_put_bool(root, "matched", r->split > 0);
  NAI_TRY(put_rows(root, "transfers", report, NAI_RANKS_TRANSFERS, slowest, MAX_COLLECTIVES, NULL, err));
  NAI_TRY(put_rows(root, "collectives", report, NAI_RANKS_COLLECTIVES, longest, MAX_COLLECTIVES,
                   html ? link_collective : NULL, err));
  NAI_TRY(put_rows(root, "mismatches", report, NAI_RANKS_MISMATCHES, NULL, MAX_LINES, NULL, err));
  nai_view_put_bool(root, "any_mismatch", t[NAI_RANKS_MISMATCHES]->rows > 0);
  if (html || r->rank_count <= MAX_RANKS) {
    NAI_TRY(put_rows(root, "ranks", report, NAI_RANKS_RANKS, NULL, INT64_MAX, html ? link_rank : NULL, err));
  } else { /* those that are latest */
    NAI_TRY(put_rows(root, "ranks", report, NAI_RANKS_RANKS, report->latest, MAX_RANKS, NULL, err));
    nai_view_put_int(root, "more_ranks", r->rank_count - MAX_RANKS);
  }
  NAI_TRY(put_rows(root, "mpi_calls", report, NAI_RANKS_CALLS_OF_MPI, NULL, MAX_LINES, NULL, err));
  NAI_TRY(put_rows(root, "mpi_sizes", report, NAI_RANKS_SIZES_OF_MPI, NULL, html ? MAX_LINES : 0, NULL, err));
  NAI_TRY(put_rows(root, "mpi_pairs", report, NAI_RANKS_PAIRS_OF_MPI, NULL, MAX_LINES, NULL, err));
  NAI_TRY(put_rows(root, "mpi_efficiency", report, NAI_RANKS_EFFICIENCY, NULL, 1, NULL, err));
  NAI_TRY(put_rows(root, "mpi_collectives", report, NAI_RANKS_COLLECTIVES_OF_MPI, NULL, MAX_LINES, NULL, err));
  nai_view_put_bool(root, "any_mpi_collective", t[NAI_RANKS_COLLECTIVES_OF_MPI]->rows > 0);
  nai_view_put_bool(root, "any_pair", t[NAI_RANKS_PAIRS_OF_MPI]->rows > 0);
  nai_view_put_bool(root, "any_mpi", t[NAI_RANKS_CALLS_OF_MPI]->rows > 0);
  nai_view_put_bool(root, "any_line", r->line_count > 0);
  if (!html)
    return NAI_OK;
  NAI_TRY(put_rows(root, "lines", report, NAI_RANKS_LINES, NULL, 16 * MAX_LINES, NULL, err));
  nai_view_put_int(root, "per_column", r->per_bucket);
  nai_view_put_bool(root, "grouped", r->per_bucket > 1);
  NAI_TRY(put_time_map(root, report, err));
  put_map(root, "late_map", "late_most", r, r->late_by, "map", "How late each rank came, over time");
  put_map(root, "wait_map", "wait_most", r, r->waited, "map wait", "How long each rank waited, over time");
  return NAI_OK;
}

static int print(struct nai_buf *out, const struct nai_ranks_report *report, bool html, struct nai_err *err) {
  NAI_OWNED(nai_view) *root = nai_view_new();
  NAI_TRY(fill(root, report, html, err));
  nai_view_put_asset(root, "map_style", "templates/many/ranks.css");
  nai_view_put_asset(root, "map_style_sha256", "templates/many/ranks.css.sha256");
  NAI_TRY(
      nai_index_render(out, html ? "ranks.html" : "ranks.md", root, html ? NAI_ESCAPE_HTML : NAI_ESCAPE_MARKDOWN, err));
  return nai_buf_check(out, err);
}

int nai_ranks_write_html(struct nai_buf *out, const struct nai_ranks_report *report, struct nai_err *err) {
  return print(out, report, true, err);
}

int nai_ranks_write_markdown(struct nai_buf *out, const struct nai_ranks_report *report, struct nai_err *err) {
  return print(out, report, false, err);
}
