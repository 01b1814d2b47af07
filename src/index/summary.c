/* What a page of many runs sums up: rules by how often they fire, metrics over all runs, runs by how bad they are. Of
 * each run stays its id, of each metric its values, of everything else what is worst. */
#include "index/summary.h"

#include "base/sort.h"
#include "table/severity.h"
#include "tables/index_findings.h"
#include "tables/index_metrics.h"

const char nai_index_no_gpu[] = "no-gpu";

bool nai_index_is_analyzed(const char *status) {
  return strcmp(status, "ok") == 0 || strcmp(status, nai_index_no_gpu) == 0;
}

void nai_index_sums_free(struct nai_index_sums *sums) {
  nai_strings_free(&sums->texts);
  nai_strings_free(&sums->ids);
  nai_strings_free(&sums->series);
  nai_arena_free(&sums->arena);
}

/* --- rules ------------------------------------------------------------------------------------ */

/* Texts by number. */
struct nai_index_summed_rule {
  uint32_t title, path, run, last_run, runs;
  int severity;
  int64_t saving_ns;
};

/* Of findings that are alike the first by run, however runs come. */
static bool is_worse(const struct nai_index_summed_rule *rule, const struct INDEX_FINDINGS_row *finding, int severity,
                     const struct nai_strings *texts) {
  if (severity != rule->severity || finding->saving_ns != rule->saving_ns)
    return severity > rule->severity || (severity == rule->severity && finding->saving_ns > rule->saving_ns);
  return strcmp(finding->run_id, nai_strings_get(texts, rule->run)) < 0;
}

/* A run's findings lie side by side. */
static int add_finding(struct nai_index_sums *s, const struct INDEX_FINDINGS_row *finding, struct nai_err *err) {
  uint32_t at, run, known = s->ids.count;
  int severity = nai_severity_from_name(finding->severity);
  NAI_TRY(nai_strings_put(&at, &s->ids, finding->rule, err));
  NAI_TRY(nai_strings_put(&run, &s->texts, finding->run_id, err));
  NAI_TRY(NAI_ROOM(s->summed_rules, s->rule_capacity, at, &s->arena, err));
  struct nai_index_summed_rule *rule = &s->summed_rules[at];
  if (at == known)
    *rule = (struct nai_index_summed_rule){.last_run = NAI_NO_STRING, .severity = -1};
  rule->runs += rule->last_run != run;
  rule->last_run = run;
  if (at < known && !is_worse(rule, finding, severity, &s->texts))
    return NAI_OK;
  rule->severity = severity;
  rule->saving_ns = finding->saving_ns;
  rule->run = run;
  NAI_TRY(nai_strings_put(&rule->title, &s->texts, finding->title, err));
  return nai_strings_put(&rule->path, &s->texts, finding->path, err);
}

NAI_ORDER_BY(by_weight, struct nai_index_rule, NAI_COMPARE({b->severity, a->severity}, {b->runs, a->runs}),
             strcmp(a->id, b->id))

static int finish_rules(struct nai_index_sums *s, struct nai_err *err) {
  NAI_TRY(NAI_NEW(s->rules, &s->arena, s->ids.count, err));
  s->rule_count = s->ids.count;
  for (uint32_t i = 0; i < s->rule_count; i++) {
    const struct nai_index_summed_rule *from = &s->summed_rules[i];
    s->rules[i] = (struct nai_index_rule){.id = nai_strings_get(&s->ids, i),
                                          .title = nai_strings_get(&s->texts, from->title),
                                          .severity = from->severity,
                                          .runs = from->runs,
                                          .saving_ns = from->saving_ns,
                                          .path = nai_strings_get(&s->texts, from->path),
                                          .run = nai_strings_get(&s->texts, from->run)};
  }
  if (s->rule_count)
    qsort(s->rules, s->rule_count, sizeof *s->rules, by_weight);
  return NAI_OK;
}

/* --- metrics ---------------------------------------------------------------------------------- */

/* Values are kept in blocks, each twice as large as the one before: thousands of metrics have a value or two. */
enum { FEWEST = 4, MOST = 4096 };
struct block {
  struct block *before;
  double *values;
  uint32_t count, capacity;
};

/* Texts by number. */
struct nai_index_summed_metric {
  uint32_t metric, unit, better, basis, gate, last_run, runs, count;
  uint32_t least_run, most_run;
  double least, most;
  struct block *last;
};

static int add_value(struct nai_index_summed_metric *m, double value, struct nai_arena *arena, struct nai_err *err) {
  struct block *block = m->last;
  if (!block || block->count == block->capacity) {
    uint32_t capacity = block ? 2 * block->capacity : FEWEST;
    NAI_TRY(NAI_NEW(block, arena, 1, err));
    *block = (struct block){.before = m->last, .capacity = capacity < MOST ? capacity : MOST};
    NAI_TRY(NAI_NEW(block->values, arena, block->capacity, err));
    m->last = block;
  }
  block->values[block->count++] = value;
  m->count++;
  return NAI_OK;
}

/* What the row with the least value says of the metric stands for all. */
static int take_least(struct nai_index_summed_metric *m, const struct INDEX_METRICS_row *row, uint32_t run,
                      struct nai_strings *texts, struct nai_err *err) {
  m->least = row->value;
  m->least_run = run;
  NAI_TRY(nai_strings_put(&m->metric, texts, row->metric, err));
  NAI_TRY(nai_strings_put(&m->basis, texts, row->basis, err));
  NAI_TRY(nai_strings_put(&m->unit, texts, row->unit, err));
  NAI_TRY(nai_strings_put(&m->better, texts, row->better, err));
  return nai_strings_put(&m->gate, texts, row->gate, err);
}

/* Of equal values the first run has the least, and the last run the most, however runs come. */
static int take_value(struct nai_index_summed_metric *m, const struct INDEX_METRICS_row *row, uint32_t run,
                      struct nai_index_sums *s, struct nai_err *err) {
  bool first = m->count == 0;
  const char *least = nai_strings_get(&s->texts, m->least_run), *most = nai_strings_get(&s->texts, m->most_run);
  bool is_least = first || row->value < m->least || (row->value == m->least && strcmp(row->run_id, least) < 0);
  bool is_most = first || row->value > m->most || (row->value == m->most && strcmp(row->run_id, most) >= 0);
  m->runs += m->last_run != run;
  m->last_run = run;
  if (is_most) {
    m->most = row->value;
    m->most_run = run;
  }
  if (is_least)
    NAI_TRY(take_least(m, row, run, &s->texts, err));
  return add_value(m, row->value, &s->arena, err);
}

/* A run's rows lie side by side. */
static int add_metric(struct nai_index_sums *s, const struct INDEX_METRICS_row *row, struct nai_err *err) {
  NAI_SCOPED(nai_buf) name = {0};
  uint32_t at, run, known = s->series.count;
  nai_buf_printf(&name, "%s\n%s", row->metric, row->basis);
  NAI_TRY(nai_buf_check(&name, err));
  NAI_TRY(nai_strings_put(&at, &s->series, nai_buf_str(&name), err));
  NAI_TRY(nai_strings_put(&run, &s->texts, row->run_id, err));
  NAI_TRY(NAI_ROOM(s->summed_metrics, s->metric_capacity, at, &s->arena, err));
  if (at == known)
    s->summed_metrics[at] = (struct nai_index_summed_metric){.last_run = NAI_NO_STRING};
  return take_value(&s->summed_metrics[at], row, run, s, err);
}

NAI_ORDER_BY(by_name, struct nai_index_spread, strcmp(a->metric, b->metric), strcmp(a->basis, b->basis))

/* `values` has room for all of them. */
static double median_of(const struct nai_index_summed_metric *m, double *values) {
  uint32_t n = 0;
  for (const struct block *block = m->last; block; n += block->count, block = block->before)
    memcpy(values + n, block->values, block->count * sizeof *values);
  qsort(values, n, sizeof *values, nai_by_f64);
  double low = values[(n - 1) / 2], high = values[n / 2];
  return low + (high - low) / 2;
}

static struct nai_index_spread spread_of(const struct nai_index_summed_metric *m, const struct nai_strings *texts,
                                         double *values) {
  const char *better = nai_strings_get(texts, m->better);
  return (struct nai_index_spread){.metric = nai_strings_get(texts, m->metric),
                                   .unit = nai_strings_get(texts, m->unit),
                                   .better = better,
                                   .basis = nai_strings_get(texts, m->basis),
                                   .gate = nai_strings_get(texts, m->gate),
                                   .runs = m->runs,
                                   .least = m->least,
                                   .median = median_of(m, values),
                                   .most = m->most,
                                   .worst = nai_strings_get(texts, strcmp(better, "higher") == 0 ? m->least_run
                                                                                                 : m->most_run)};
}

static int finish_metrics(struct nai_index_sums *s, struct nai_err *err) {
  uint32_t most = 0;
  double *values;
  s->spread_count = s->series.count;
  for (uint32_t i = 0; i < s->spread_count; i++)
    most = s->summed_metrics[i].count > most ? s->summed_metrics[i].count : most;
  NAI_TRY(NAI_NEW(values, &s->arena, most, err));
  NAI_TRY(NAI_NEW(s->spreads, &s->arena, s->spread_count, err));
  for (uint32_t i = 0; i < s->spread_count; i++)
    s->spreads[i] = spread_of(&s->summed_metrics[i], &s->texts, values);
  if (s->spread_count)
    qsort(s->spreads, s->spread_count, sizeof *s->spreads, by_name);
  return NAI_OK;
}

/* --- runs ------------------------------------------------------------------------------------- */

static int add_run(struct nai_index_sums *s, const struct RUNS_row *run, struct nai_err *err) {
  uint32_t i = s->entry_count;
  NAI_TRY(NAI_ROOM(s->entries, s->entry_capacity, i, &s->arena, err));
  NAI_TRY(NAI_ROOM(s->runs, s->run_capacity, i, &s->arena, err));
  NAI_TRY(nai_strings_put(&s->runs[i], &s->texts, run->run_id, err));
  s->entries[i] = (struct nai_index_entry){.row = i,
                                           .analyzed = nai_index_is_analyzed(run->status),
                                           .severity = nai_severity_from_name(run->severity),
                                           .pct = isnan(run->pct_of_capture) ? -1 : run->pct_of_capture,
                                           .saving_ns = run->saving_ns};
  s->ok += strcmp(run->status, "ok") == 0;
  s->failed += !s->entries[i].analyzed;
  s->has_series |= *run->series != '\0';
  s->has_verdict |= *run->verdict != '\0';
  s->entry_count++;
  return NAI_OK;
}

NAI_ORDER_BY(by_badness, struct nai_index_entry, a->analyzed - b->analyzed, b->severity - a->severity,
             NAI_SIGN(b->pct, a->pct), NAI_SIGN(b->saving_ns, a->saving_ns), NAI_SIGN(a->row, b->row))

static void finish_runs(struct nai_index_sums *s) {
  for (uint32_t i = 0; i < s->entry_count; i++)
    s->entries[i].run = nai_strings_get(&s->texts, s->runs[i]);
  if (s->entry_count)
    qsort(s->entries, s->entry_count, sizeof *s->entries, by_badness);
}

/* --- all -------------------------------------------------------------------------------------- */

int nai_index_sums_add(struct nai_index_sums *s, const struct nai_index *index, struct nai_err *err) {
  for (int64_t i = 0; i < index->runs->rows; i++) {
    struct RUNS_row run = RUNS_at(index->runs, i);
    NAI_TRY(add_run(s, &run, err));
  }
  for (int64_t i = 0; i < index->findings->rows; i++) {
    struct INDEX_FINDINGS_row finding = INDEX_FINDINGS_at(index->findings, i);
    NAI_TRY(add_finding(s, &finding, err));
  }
  for (int64_t i = 0; i < index->metrics->rows; i++) {
    struct INDEX_METRICS_row row = INDEX_METRICS_at(index->metrics, i);
    if (isfinite(row.value))
      NAI_TRY(add_metric(s, &row, err));
  }
  return NAI_OK;
}

int nai_index_sums_finish(struct nai_index_sums *s, struct nai_err *err) {
  finish_runs(s);
  NAI_TRY(finish_rules(s, err));
  return finish_metrics(s, err);
}
