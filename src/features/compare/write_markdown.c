/* compare.md: what a reviewer has to know first, then tables, within what a comment may hold. */
#include "base/fmt.h"
#include "base/sort.h"
#include "features/compare/document.h"
#include "features/compare/ranges.h"
#include "features/compare/write.h"
#include "table/kernel_name.h"
#include "tables/compared_findings.h"
#include "tables/compared_kernels.h"
#include "tables/compared_time.h"

enum { MAX_CHARS = 80, MAX_METRICS = 40, MAX_KERNELS = 20, MAX_RANGES = 10, MAX_FINDINGS = 15 };

static uint32_t most(const struct nai_document *d, uint32_t rows) { return rows < d->rows ? rows : d->rows; }

/* --- metrics ---------------------------------------------------------------------------------- */

static void put_caveats(const struct nai_document *d) {
  struct nai_view *list = nai_view_put_list(d->root, "caveats");
  for (uint32_t i = 0, n = 0; i < d->c->result_count && n < d->rows; i++)
    if (nai_gate_caveat(&d->c->results[i])) {
      nai_document_metric(d, list, &d->c->results[i]);
      n++;
    }
  nai_view_put_bool(d->root, "any_doubt", d->c->check_count > 0 || nai_view_truth(list));
}

/* Gated ones and context, and others that say something. */
static bool is_shown(const struct nai_metric_result *r) {
  switch (r->judgement.verdict) {
  case NAI_VERDICT_SAME:
  case NAI_VERDICT_SKIPPED:
  case NAI_VERDICT_ERROR:
    return false;
  case NAI_VERDICT_WITHIN_BUDGET:
  case NAI_VERDICT_NOT_PROVEN:
  case NAI_VERDICT_NOTED:
    return r->gated || strcmp(r->def.gate, "context") == 0;
  default:
    return true;
  }
}

/* What the gate asks about and finds in order needs no row of its own; step time has one always. */
static bool is_in_order(const struct nai_metric_result *r, enum nai_verdict verdict) {
  return r->gated && r->judgement.verdict == verdict && strcmp(r->def.metric, "step.time.median") != 0;
}

static void put_in_order(const struct nai_document *d, struct nai_view *lists, enum nai_verdict verdict,
                         const char *title) {
  struct nai_view *map = NULL, *ids = NULL;
  for (uint32_t i = 0, n = 0; i < d->c->result_count && n < d->rows; i++) {
    if (!is_in_order(&d->c->results[i], verdict))
      continue;
    if (!n++) {
      map = nai_view_add_map(lists);
      ids = nai_view_put_list(map, "ids");
      nai_view_put_trusted(map, "title", title);
    }
    struct nai_view *id = nai_view_add_map(ids);
    nai_view_put_bool(id, "first", n == 1);
    nai_document_code(d, id, "id", d->c->results[i].def.metric);
  }
}

static bool has_row(const struct nai_metric_result *r) {
  return is_shown(r) && !is_in_order(r, NAI_VERDICT_SAME) && !is_in_order(r, NAI_VERDICT_WITHIN_BUDGET);
}

/* Step time leads, then what is worse, what is undecided, all else. */
static int rank_of(const struct nai_metric_result *r) {
  enum nai_verdict v = r->judgement.verdict;
  if (strcmp(r->def.metric, "step.time.median") == 0)
    return 0;
  if (v == NAI_VERDICT_REGRESSED || v == NAI_VERDICT_CHANGED || v == NAI_VERDICT_SUSPECT)
    return r->gated ? 1 : 2;
  return r->gated ? 3 : 4;
}

/* What several rows give as their reason, said once: the rows refer to its number. Of a reason of one row: 0. */
enum { MAX_NOTES = 8 };
struct notes {
  const char *reasons[MAX_NOTES];
  uint32_t count;
};

static bool is_common(const struct nai_comparison *c, const char *reason) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < c->result_count && n < 2; i++)
    n += has_row(&c->results[i]) && strcmp(c->results[i].judgement.reason, reason) == 0;
  return n > 1;
}

static uint32_t number_note(struct notes *notes, const struct nai_document *d, const char *reason) {
  for (uint32_t i = 0; i < notes->count; i++)
    if (strcmp(notes->reasons[i], reason) == 0)
      return i + 1;
  if (!*reason || notes->count == MAX_NOTES || !is_common(d->c, reason))
    return 0;
  notes->reasons[notes->count++] = reason;
  return notes->count;
}

static void put_row(const struct nai_document *d, struct nai_view *list, struct notes *notes,
                    const struct nai_metric_result *r) {
  struct nai_view *map = nai_document_metric(d, list, r);
  bool said = nai_headline_gives(d->c, r);
  uint32_t note = said ? 0 : number_note(notes, d, r->judgement.reason);
  if (said || note)
    nai_view_put_text(map, "reason", NULL);
  if (note)
    nai_view_put_int(map, "note", note);
}

static void put_notes(const struct nai_document *d, const struct notes *notes) {
  struct nai_view *list = nai_view_put_list(d->root, "notes");
  for (uint32_t i = 0; i < notes->count; i++) {
    struct nai_view *map = nai_view_add_map(list);
    nai_view_put_int(map, "note", i + 1);
    nai_document_text(d, map, "reason", notes->reasons[i]);
  }
  nai_view_put_bool(d->root, "any_note", notes->count > 0);
}

static void put_metrics(const struct nai_document *d) {
  enum { RANKS = 5 };
  struct nai_view *in_order = nai_view_put_list(d->root, "in_order"), *list = nai_view_put_list(d->root, "metrics");
  struct notes notes = {0};
  struct nai_time_column times = {0};
  struct nai_document table = *d;
  uint32_t shown = 0, left = 0, compared = 0;
  table.times = &times;
  for (uint32_t i = 0; i < d->c->result_count; i++) {
    compared += d->c->results[i].judgement.compared;
    if (has_row(&d->c->results[i]))
      nai_document_times(&times, &d->c->results[i]);
  }
  nai_document_undecided(d);
  put_in_order(d, in_order, NAI_VERDICT_SAME, "The same on both sides");
  put_in_order(d, in_order, NAI_VERDICT_WITHIN_BUDGET, "Within their budgets");
  for (int rank = 0; rank < RANKS; rank++)
    for (uint32_t i = 0; i < d->c->result_count; i++) {
      const struct nai_metric_result *r = &d->c->results[i];
      if (!has_row(r) || rank_of(r) != rank)
        continue;
      if (shown == most(d, MAX_METRICS)) {
        left++;
        continue;
      }
      put_row(&table, list, &notes, r);
      shown++;
    }
  put_notes(d, &notes);
  nai_view_put_bool(d->root, "any_in_order", nai_view_truth(in_order));
  nai_view_put_bool(d->root, "any_metric", shown > 0);
  nai_view_put_bool(d->root, "left_out", left > 0);
  nai_view_put_int(d->root, "compared_count", compared);
}

/* --- kernels ---------------------------------------------------------------------------------- */

/* Rows of a table by how much they matter. */
struct ranked {
  double weight;
  int64_t row;
};
typedef double weight_fn(const struct nai_table *t, int64_t row);

NAI_ORDER_BY(by_weight, struct ranked, NAI_SIGN(b->weight, a->weight), NAI_SIGN(a->row, b->row))

static int rank_rows(struct ranked **out, const struct nai_table *t, weight_fn *weight, struct nai_arena *arena,
                     struct nai_err *err) {
  NAI_TRY(NAI_NEW(*out, arena, (size_t)t->rows, err));
  for (int64_t i = 0; i < t->rows; i++)
    (*out)[i] = (struct ranked){weight(t, i), i};
  qsort(*out, (size_t)t->rows, sizeof **out, by_weight);
  return NAI_OK;
}

/* By how much a row moves a side's time. */
static double kernel_weight(const struct nai_table *t, int64_t row) {
  double base = nai_get_f64(t, row, COMPARED_KERNELS_base_time_ns),
         candidate = nai_get_f64(t, row, COMPARED_KERNELS_new_time_ns);
  return fabs((isnan(candidate) ? 0 : candidate) - (isnan(base) ? 0 : base));
}

/* Differences below are not worth a reader's time: the captures differ by as much anyway. */
static double least_worth(const struct nai_comparison *c) {
  const double share = 0.001;
  struct COMPARED_TIME_row whole = COMPARED_TIME_at(c->tables[NAI_COMPARED_TIME], 0);
  return share * fmax(whole.base_time_ns, whole.new_time_ns);
}

static void put_kernel(const struct nai_document *d, struct nai_view *list, const struct nai_time_column *times,
                       const struct COMPARED_KERNELS_row *k) {
  struct nai_view *map = nai_view_add_map(list);
  NAI_SCOPED(nai_buf) name = {0};
  nai_kernel_name_short(&name, k->kernel, MAX_CHARS);
  nai_document_code(d, map, "name", nai_buf_str(&name));
  nai_view_inherit(map, &name);
  nai_document_code(d, map, "path", k->nvtx_path);
  nai_view_put_trusted(map, "state", k->state);
  nai_view_put_trusted(map, "confidence", k->confidence);
  nai_view_put_trusted(map, "change", k->change);
  nai_view_put_trusted(map, "launch", *k->launch ? k->launch : NULL);
  nai_document_amount(map, "base_calls", "count", k->base_calls, false);
  nai_document_amount(map, "new_calls", "count", k->new_calls, false);
  nai_document_time(map, "base_time", times, k->base_time_ns, false);
  nai_document_time(map, "new_time", times, k->new_time_ns, false);
  nai_document_time(map, "difference", times, k->delta_ns, true);
}

/* How many rows are more than one name on both sides. */
static void put_states(const struct nai_document *d) {
  uint32_t counts[NAI_MATCH_STATE_COUNT] = {0}, shown = 0, moved = 0;
  struct nai_view *list = nai_view_put_list(d->root, "states");
  for (uint32_t i = 0; i < d->c->match.count; i++) {
    const struct nai_match_row *row = &d->c->match.rows[i];
    bool is_moved = row->state >= NAI_MATCH_ONLY_BASE && row->is_elsewhere;
    *(is_moved ? &moved : &counts[row->state]) += 1;
  }
  for (int state = NAI_MATCH_KERNEL + 1; state < NAI_MATCH_STATE_COUNT; state++) {
    if (!counts[state])
      continue;
    struct nai_view *map = nai_view_add_map(list);
    nai_view_put_bool(map, "first", !shown++);
    nai_view_put_int(map, "count", counts[state]);
    nai_view_put_trusted(map, "state",
                         state == NAI_MATCH_ONLY_BASE        ? "gone"
                         : state == NAI_MATCH_ONLY_CANDIDATE ? "new"
                                                             : nai_match_state_name((enum nai_match_state)state));
  }
  if (moved)
    nai_view_put_int(d->root, "moved", moved);
  nai_view_put_bool(d->root, "any_state", shown > 0 || moved);
  nai_view_put_bool(d->root, "moved_alone", !shown);
}

static void put_levels(const struct nai_document *d) {
  const struct nai_match *m = &d->c->match;
  double all = (double)m->ns[NAI_BASE] + (double)m->ns[NAI_CANDIDATE];
  struct nai_view *list = nai_view_put_list(d->root, "levels");
  uint32_t shown = 0;
  nai_view_put_bool(d->root, "any_kernel_time", all > 0);
  for (int level = 0; level < NAI_LEVEL_COUNT; level++) {
    if (!m->level_ns[level])
      continue;
    struct nai_view *map = nai_view_add_map(list);
    nai_view_put_bool(map, "first", !shown++);
    nai_view_put_trusted(map, "level", nai_match_level_name((enum nai_match_level)level));
    nai_view_put_trusted(map, "confidence", nai_match_level_confidence((enum nai_match_level)level));
    nai_view_put_percent(map, "share", 100 * (double)m->level_ns[level] / all);
  }
  nai_view_put_bool(d->root, "any_level", shown > 0);
  if (m->only_ns)
    nai_view_put_percent(d->root, "one_side", 100 * (double)m->only_ns / all);
}

static int put_kernels(const struct nai_document *d, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  const struct nai_table *t = d->c->tables[NAI_COMPARED_KERNELS];
  struct nai_view *list = nai_view_put_list(d->root, "kernels");
  struct ranked *order;
  int64_t worth = 0, differ = 0;
  double least = least_worth(d->c);
  NAI_TRY(rank_rows(&order, t, kernel_weight, &arena, err));
  for (; differ < t->rows && order[differ].weight > 0; differ++)
    worth += order[differ].weight >= least;
  int64_t shown = worth < most(d, MAX_KERNELS) ? worth : most(d, MAX_KERNELS);
  struct nai_time_column times = {0};
  for (int64_t i = 0; i < shown; i++) {
    struct COMPARED_KERNELS_row kernel = COMPARED_KERNELS_at(t, order[i].row);
    nai_time_column_add(&times, kernel.base_time_ns);
    nai_time_column_add(&times, kernel.new_time_ns);
  }
  for (int64_t i = 0; i < shown; i++) {
    struct COMPARED_KERNELS_row kernel = COMPARED_KERNELS_at(t, order[i].row);
    put_kernel(d, list, &times, &kernel);
  }
  nai_view_put_bool(d->root, "any_kernel", worth > 0);
  nai_view_put_bool(d->root, "any_difference", differ > 0);
  if (worth > shown)
    nai_view_put_int(d->root, "more_kernels", worth - shown);
  put_levels(d);
  put_states(d);
  return NAI_OK;
}

/* --- ranges, phases, copies ------------------------------------------------------------------- */

static double range_weight(const struct nai_table *t, int64_t row) {
  double delta = fabs(nai_get_f64(t, row, COMPARED_RANGES_delta_ns));
  return isnan(delta) ? -1 : delta;
}

static void put_bytes(struct nai_view *row, const char *key, double most, double bytes, bool sign) {
  NAI_SCOPED(nai_buf) text = {0};
  nai_fmt_bytes_in(&text, most, bytes, sign);
  nai_view_put_buf(row, key, NAI_TEXT_TRUSTED, &text);
}

static void put_difference(const struct nai_document *d, struct nai_view *rows, const struct nai_time_column *times,
                           const struct COMPARED_RANGES_row *range) {
  struct nai_view *row = nai_view_add_map(rows);
  nai_document_code(d, row, "name", range->range_name);
  nai_document_amount(row, "base_count", "count", range->base_count, false);
  nai_document_amount(row, "new_count", "count", range->new_count, false);
  if (times) {
    nai_document_time(row, "base", times, range->base_time_ns, false);
    nai_document_time(row, "new", times, range->new_time_ns, false);
    nai_document_time(row, "difference", times, range->delta_ns, true);
  } else {
    double most = fmax(range->base_time_ns, range->new_time_ns);
    put_bytes(row, "base", most, range->base_time_ns, false);
    put_bytes(row, "new", most, range->new_time_ns, false);
    put_bytes(row, "difference", most, range->delta_ns, true);
  }
}

/* What both sides have, those that differ most first; nothing when none differs. */
static int put_differences(const struct nai_document *d, struct nai_view *lists, enum nai_comparison_table table,
                           const char *title, const char *note, struct nai_err *err) {
  const bool is_time = table != NAI_COMPARED_COPIES;
  const double noise = is_time ? 0.01 : 0; /* of a range's own time */
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  const struct nai_table *t = d->c->tables[table];
  struct COMPARED_RANGES_row shown[MAX_RANGES], range;
  struct nai_time_column times = {0};
  uint32_t count = 0;
  struct ranked *order;
  NAI_TRY(rank_rows(&order, t, range_weight, &arena, err));
  for (int64_t i = 0; i < t->rows && count < most(d, MAX_RANGES); i++) {
    nai_table_read(&range, t, t->schema, order[i].row);
    if (!(fabs(range.delta_ns) > 0))
      break;
    if (fabs(range.delta_ns) < noise * range.base_time_ns)
      continue;
    nai_time_column_add(&times, range.base_time_ns);
    nai_time_column_add(&times, range.new_time_ns);
    shown[count++] = range;
  }
  if (!count)
    return NAI_OK;
  struct nai_view *map = nai_view_add_map(lists), *rows = nai_view_put_list(map, "rows");
  nai_view_put_trusted(map, "title", title);
  nai_view_put_trusted(map, "note", note);
  for (uint32_t i = 0; i < count; i++)
    put_difference(d, rows, is_time ? &times : NULL, &shown[i]);
  return NAI_OK;
}

/* --- findings --------------------------------------------------------------------------------- */

static void put_findings(const struct nai_document *d) {
  const struct nai_table *t = d->c->tables[NAI_COMPARED_FINDINGS];
  struct nai_view *list = nai_view_put_list(d->root, "findings");
  uint32_t shown = 0;
  for (int64_t i = 0; i < t->rows && shown < most(d, MAX_FINDINGS); i++) {
    struct COMPARED_FINDINGS_row finding = COMPARED_FINDINGS_at(t, i);
    int64_t captures = finding.new_captures ? finding.new_captures : finding.base_captures;
    int64_t of = d->c->sides[finding.new_captures ? NAI_CANDIDATE : NAI_BASE].count;
    if (strcmp(finding.state, "same") == 0 || 2 * captures < of) /* what few captures have is no difference of sides */
      continue;
    struct nai_view *map = nai_view_add_map(list);
    nai_view_put_trusted(map, "state", finding.state);
    nai_view_put_code(map, "rule", finding.id);
    nai_view_put_trusted(map, "base_severity", finding.base_severity);
    nai_view_put_trusted(map, "new_severity", finding.new_severity);
    nai_view_put_bool(map, "changed", strcmp(finding.state, "changed") == 0);
    nai_document_text(d, map, "title", finding.title);
    nai_view_put_int(map, "captures", captures);
    nai_view_put_int(map, "of", of);
    nai_view_put_bool(map, "in_some", captures < of);
    if (*finding.predicted_of) {
      nai_view_put_trusted(map, "predicted_of", finding.predicted_of);
      nai_document_amount(map, "predicted", "ns", (double)finding.predicted_ns, false);
      nai_document_amount(map, "measured", "ns", (double)finding.measured_ns, false);
    }
    shown++;
  }
  nai_view_put_bool(d->root, "any_finding", shown > 0);
}

/* --- all of it -------------------------------------------------------------------------------- */

static int put_sides(const struct nai_document *d, struct nai_err *err) {
  static const char note[] = "; all threads together, and ranges inside of others count, too";
  struct nai_view *lists = nai_view_put_list(d->root, "differences");
  NAI_TRY(put_kernels(d, err));
  NAI_TRY(put_differences(d, lists, NAI_COMPARED_RANGES, "NVTX ranges", note, err));
  NAI_TRY(put_differences(d, lists, NAI_COMPARED_PHASES, "Phases", "", err));
  NAI_TRY(put_differences(d, lists, NAI_COMPARED_COPIES, "Copies", "", err));
  put_findings(d);
  return NAI_OK;
}

static int render(struct nai_buf *out, const struct nai_comparison *c, uint32_t rows, struct nai_err *err) {
  NAI_SCOPED(nai_document) d = nai_document_new(c, MAX_CHARS, rows);
  bool both = nai_comparison_is_whole(c);
  nai_document_beside(&d);
  if (both && !nai_comparison_obstacle(c))
    nai_document_where(&d);
  put_caveats(&d);
  put_metrics(&d);
  if (both)
    NAI_TRY(put_sides(&d, err));
  return nai_builtin_render(out, "compare.md", d.root, NAI_ESCAPE_MARKDOWN, err);
}

int nai_write_markdown(struct nai_buf *out, const struct nai_comparison *c, struct nai_err *err) {
  enum { MANY = 256 }; /* rows of a list */
  size_t before = out->len;
  NAI_TRY(render(out, c, UINT32_MAX, err));
  for (uint32_t rows = MANY; out->len - before >= NAI_MARKDOWN_MAX && rows; rows /= 2) {
    out->len = before;
    NAI_TRY(render(out, c, rows, err));
  }
  return NAI_OK;
}
