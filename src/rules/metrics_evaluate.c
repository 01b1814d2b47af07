/* Metrics of one run: rows become values, values of a GPU and of several GPUs become one. */
#include "rules/evaluation.h"
#include "rules/metrics_internal.h"
#include "table/stats.h"
#include "tables/metrics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_MEMBER = 80 };
const char *const nai_metric_basis_names[BASES] = {"step", "second", "total"};

/* A row's value, and what it belongs to. */
struct sample {
  const char *member; /* of a family: text of the table */
  int64_t device, pid;
  double value, weight;
};

/* Of one source, sorted by member, GPU and value. */
struct samples {
  struct sample *v;
  size_t count;
};

struct result {
  double value, q25, q75, weight;
  int64_t n;
  const char *member;
};

/* --- combining -------------------------------------------------------------------------------- */

static double spread_pct(const double *values, size_t n, double mean) {
  double squares = 0;
  for (size_t i = 0; i < n; i++)
    squares += (values[i] - mean) * (values[i] - mean);
  return n > 1 && mean > 0 ? 100 * sqrt(squares / (double)(n - 1)) / mean : NAN;
}

/* Ascending values, at least one. */
static double combine(enum combine how, const double *values, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; i++)
    sum += values[i];
  switch (how) {
  case COMBINE_MEAN:
    return sum / (double)n;
  case COMBINE_MEDIAN:
    return nai_quantile(values, n, 0.5);
  case COMBINE_P90:
    return nai_quantile(values, n, 0.9);
  case COMBINE_CV:
    return spread_pct(values, n, sum / (double)n);
  case COMBINE_MAX:
    return values[n - 1];
  case COMBINE_MIN:
    return values[0];
  default:
    return sum;
  }
}

static bool same_gpu(const struct sample *a, const struct sample *b) {
  return a->device == b->device && a->pid == b->pid;
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Of one GPU, or of all rows. */
static struct result combine_rows(const struct metric_source *source, const struct sample *samples, size_t n,
                                  double *scratch) {
  bool quartiles = source->combine == COMBINE_MEDIAN || source->combine == COMBINE_MEAN;
  for (size_t i = 0; i < n; i++)
    scratch[i] = samples[i].value;
  qsort(scratch, n, sizeof *scratch, by_value);
  return (struct result){.value = combine(source->combine, scratch, n),
                         .q25 = quartiles ? nai_quantile(scratch, n, 0.25) : NAN,
                         .q75 = quartiles ? nai_quantile(scratch, n, 0.75) : NAN,
                         .n = (int64_t)n};
}

/* The samples of one member, sorted by GPU. Quartiles are those of the one GPU whose value is taken. */
static struct result combine_member(const struct metric_source *source, const struct sample *samples, size_t n,
                                    double *scratch) {
  if (!source->by_gpu)
    return combine_rows(source, samples, n, scratch);
  struct result out = {.n = INT64_MAX, .q25 = NAN, .q75 = NAN}, one;
  double *values = scratch + n;
  size_t groups = 0;
  for (size_t i = 0, end; i < n; i = end) {
    for (end = i + 1; end < n && same_gpu(&samples[i], &samples[end]);)
      end++;
    one = combine_rows(source, samples + i, end - i, scratch);
    bool first = groups == 0, ahead = source->gpus == COMBINE_MIN ? one.value < out.value : one.value > out.value;
    if (first || (ahead && (source->gpus == COMBINE_MAX || source->gpus == COMBINE_MIN))) {
      out.q25 = one.q25;
      out.q75 = one.q75;
      out.value = one.value;
    }
    out.n = one.n < out.n ? one.n : out.n;
    values[groups++] = one.value;
  }
  qsort(values, groups, sizeof *values, by_value);
  out.value = combine(source->gpus, values, groups);
  if (groups > 1 && source->gpus != COMBINE_MAX && source->gpus != COMBINE_MIN)
    out.q25 = out.q75 = NAN;
  return out;
}

/* --- rows to samples -------------------------------------------------------------------------- */

/* FNV-1a. */
static uint32_t hash_of(const char *text) {
  uint32_t hash = 2166136261u;
  for (; *text; text++)
    hash = (hash ^ (unsigned char)*text) * 16777619u;
  return hash;
}

/* Names of categories, ranges, kernels and directions as parts of an id: letters, digits and _ . / : - stay. Of a long
 * name the beginning, and a number that tells it from others with that beginning, in every run the same. */
static void spell_member(char out[MAX_MEMBER], const char *text) {
  const char *whole = text;
  size_t n = 0;
  for (; *text && n + 1 < MAX_MEMBER; text++) {
    bool plain = (*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z') || (*text >= '0' && *text <= '9');
    out[n++] = plain || strchr("_./:-", *text) ? *text : '_';
  }
  out[n] = '\0';
  if (*text)
    snprintf(out + MAX_MEMBER - sizeof "-00000000", sizeof "-00000000", "-%08x", hash_of(whole));
}

/* A family's text with the member in its place. */
static void put_member(struct nai_buf *out, const char *text, const char *member) {
  const char *hole = strstr(text, "{}");
  if (hole)
    nai_buf_printf(out, "%.*s%s%s", (int)(hole - text), text, member, hole + 2);
  else
    nai_buf_puts(out, text);
}

/* Adds the whole id, if no metric has it yet. */
static int take_id(bool *taken, struct nai_strings *ids, const char *id, const char *member, struct nai_err *err) {
  struct nai_buf whole = {0};
  uint32_t before = ids->count;
  put_member(&whole, id, member);
  int rc = nai_buf_check(&whole, err);
  if (!rc && nai_strings_add(ids, nai_buf_str(&whole), whole.len) == NAI_NO_STRING)
    rc = nai_err_nomem(err);
  *taken = ids->count > before;
  nai_buf_free(&whole);
  return rc;
}

/* As an id spells it; names that this makes the same, in this family or another, get a number behind. */
static int spell_apart(char out[MAX_MEMBER], struct nai_strings *ids, const char *id, const char *text,
                       struct nai_err *err) {
  spell_member(out, text);
  size_t plain = strlen(out);
  for (uint32_t n = 2;; n++) {
    bool taken;
    int rc = take_id(&taken, ids, id, out, err);
    if (rc || taken)
      return rc;
    char number[16];
    int length = snprintf(number, sizeof number, "~%u", n);
    size_t at = plain + (size_t)length < MAX_MEMBER ? plain : MAX_MEMBER - 1 - (size_t)length;
    memcpy(out + at, number, (size_t)length + 1);
  }
}

/* The heaviest first, of equal ones the first by name. */
static int by_weight(const void *a, const void *b) {
  const struct sample *x = a, *y = b;
  return x->weight != y->weight ? (x->weight < y->weight) - (x->weight > y->weight) : strcmp(x->member, y->member);
}

static int by_member(const void *a, const void *b) {
  const struct sample *x = a, *y = b;
  int order = strcmp(x->member, y->member);
  if (order)
    return order;
  if (x->device != y->device)
    return x->device < y->device ? -1 : 1;
  if (x->pid != y->pid)
    return x->pid < y->pid ? -1 : 1;
  return (x->value > y->value) - (x->value < y->value);
}

/* Whether no two rows have the same text in this column. */
static bool is_key(const struct nai_schema *schema, int column) {
  int keys = 0;
  for (uint32_t c = 0; c < schema->column_count; c++)
    keys += schema->columns[c].key;
  return column >= 0 && keys == 1 && schema->columns[column].key;
}

/* The rows that meet the source's condition and have a value. */
static int read_samples(struct samples *out, const struct metric_source *source, const struct nai_metric_set *set,
                        const struct nai_rules_input *input, struct nai_err *err) {
  const struct rule *rule = source->rule;
  struct env env;
  int device = nai_schema_role(rule->rows.schema, NAI_ROLE_DEVICE),
      pid = nai_schema_role(rule->rows.schema, NAI_ROLE_PROCESS);
  int rc = nai_env_open(&env, set->rules, rule, input, err);
  const struct nai_table *table = rc ? NULL : env.tables[0];
  if (rc || !table || !table->rows)
    return rc;
  /* Where every row is a member, no more of them are held than are asked for, and as many again. */
  size_t most = source->limit && is_key(table->schema, source->each) ? (size_t)source->limit : 0;
  size_t room = most && 2 * most < (size_t)table->rows ? 2 * most : (size_t)table->rows;
  out->v = malloc(room * sizeof *out->v);
  if (!out->v)
    return nai_err_nomem(err);
  nai_env_look_up(&env, rule, true);
  for (int64_t row = 0; row < table->rows; row++) {
    env.rows[0] = row;
    if (!nai_formula_holds(&env, rule->where))
      continue;
    nai_env_look_up(&env, rule, false);
    double value = nai_formula_value(&env, source->value) * source->scale;
    if (!isfinite(value))
      continue;
    if (out->count == room) {
      qsort(out->v, out->count, sizeof *out->v, by_weight);
      out->count = most;
    }
    struct sample *sample = &out->v[out->count++];
    sample->value = value;
    sample->weight = source->by.number ? nai_formula_value(&env, source->by) : value;
    sample->device = source->by_gpu && device >= 0 ? nai_get_i64(table, row, device) : 0;
    sample->pid = source->by_gpu && pid >= 0 ? nai_get_i64(table, row, pid) : 0;
    sample->member = source->each >= 0 ? nai_get_str(table, row, source->each) : "";
  }
  qsort(out->v, out->count, sizeof *out->v, by_member);
  return 0;
}

/* --- the table -------------------------------------------------------------------------------- */

/* Seconds of the run's GPU window; 0 when unknown. */
static double window_s(const struct nai_table *const *tables) {
  for (size_t i = 0; tables[i]; i++)
    if (strcmp(tables[i]->schema->name, "run_info") == 0 && tables[i]->rows) {
      int64_t ns = nai_cell_i64(tables[i], 0, "window_ns");
      return ns > 0 ? (double)ns / 1e9 : 0;
    }
  return 0;
}

static bool is_family(const struct metric *m) { return strstr(m->id, "{}") != NULL; }

static void put_text_with(struct nai_table *table, int64_t row, int column, const char *text, const char *member) {
  struct nai_buf whole = {0};
  put_member(&whole, text, member);
  nai_set_str(table, row, column, nai_buf_str(&whole));
  table->oom |= whole.oom;
  nai_buf_free(&whole);
}

/* Counts per step repeat exactly; those of a capture depend on how long it was, so they prove nothing by themselves.
 * Per second everything else rises when idle time is saved: that is no regression. */
static const char *kind_of(const struct metric *m, enum basis basis) {
  return basis == BASIS_SECOND ? "noisy" : m->kind;
}

static const char *gate_of(const struct metric *m, enum basis basis) {
  bool fails = strcmp(m->gate, "gate") == 0, exact = strcmp(m->kind, "exact") == 0;
  return fails && (basis == BASIS_SECOND || (exact && basis == BASIS_TOTAL)) ? "none" : m->gate;
}

static void put(struct nai_table *table, const struct metric *m, enum basis from, enum basis basis, const char *member,
                const struct result *result, double divide) {
  int64_t row = nai_table_add_row(table);
  const double reals[METRICS_COLUMN_COUNT] = {[METRICS_value] = result->value / divide,
                                              [METRICS_q25] = result->q25 / divide,
                                              [METRICS_q75] = result->q75 / divide,
                                              [METRICS_noise_pct] = m->noise_pct,
                                              [METRICS_noise] = m->noise,
                                              [METRICS_budget_pct] = m->budget_pct,
                                              [METRICS_budget] = m->budget,
                                              [METRICS_budget_step_pct] = m->budget_step_pct};
  put_text_with(table, row, METRICS_metric, m->id, member);
  put_text_with(table, row, METRICS_title, m->title, member);
  if (is_family(m))
    nai_set_str(table, row, METRICS_family, m->id);
  nai_set_str(table, row, METRICS_unit, nai_unit_name(m->unit));
  nai_set_str(table, row, METRICS_better, m->better);
  nai_set_str(table, row, METRICS_kind, kind_of(m, basis));
  nai_set_str(table, row, METRICS_gate, gate_of(m, basis));
  nai_set_i64(table, row, METRICS_n, result->n);
  nai_set_str(table, row, METRICS_basis, nai_metric_basis_names[basis]);
  nai_set_str(table, row, METRICS_source_table, m->sources[from].rule->rows.schema->name);
  nai_set_str(table, row, METRICS_absent, m->absent);
  nai_set_str(table, row, METRICS_needs, m->needs);
  for (int c = 0; c < METRICS_COLUMN_COUNT; c++)
    if (nai_metrics_schema.columns[c].type == NAI_F64 && !isnan(reals[c]))
      nai_set_f64(table, row, c, reals[c]);
}

/* Marks all but the largest `limit` members of a family as having no value; of equal ones the first by name stay. */
static void keep_largest(struct result *results, size_t count, int limit, double *scratch) {
  if (!limit || (size_t)limit >= count)
    return;
  for (size_t i = 0; i < count; i++)
    scratch[i] = results[i].weight;
  qsort(scratch, count, sizeof *scratch, by_value);
  double least = scratch[count - (size_t)limit];
  size_t equal = (size_t)limit;
  for (size_t i = 0; i < count; i++)
    equal -= results[i].weight > least;
  for (size_t i = 0; i < count; i++) {
    if (results[i].weight == least && equal)
      equal--;
    else if (results[i].weight <= least)
      results[i].value = NAN;
  }
}

static double weight_of(const struct sample *samples, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; i++)
    sum += isfinite(samples[i].weight) ? samples[i].weight : 0;
  return sum;
}

/* Puts the metric, or the members of its family, from one source. Returns how many, or an error. */
static int put_source(struct nai_table *table, struct nai_strings *ids, const struct nai_metric_set *set,
                      const struct metric *m, enum basis basis, const struct nai_rules_input *input,
                      struct nai_err *err) {
  const struct metric_source *source = &m->sources[basis];
  struct samples samples = {0};
  char member[MAX_MEMBER] = "";
  size_t members = 0;
  int rc = read_samples(&samples, source, set, input, err);
  double *scratch = malloc((2 * samples.count + 1) * sizeof *scratch);
  struct result *results = malloc((samples.count + 1) * sizeof *results);
  if (!rc && (!scratch || !results))
    rc = nai_err_nomem(err);
  double seconds = basis == BASIS_SECOND ? window_s(input->tables) : 0;
  enum basis as = basis == BASIS_SECOND && seconds <= 0 ? BASIS_TOTAL : basis;
  for (size_t i = 0, end; !rc && i < samples.count; i = end) {
    for (end = i + 1; end < samples.count && strcmp(samples.v[i].member, samples.v[end].member) == 0;)
      end++;
    results[members] = combine_member(source, samples.v + i, end - i, scratch);
    results[members].weight = weight_of(samples.v + i, end - i);
    results[members++].member = samples.v[i].member;
  }
  if (!rc)
    keep_largest(results, members, source->limit, scratch);
  int put_count = 0;
  for (size_t i = 0; !rc && i < members; i++)
    if (!isnan(results[i].value)) {
      if (is_family(m))
        rc = spell_apart(member, ids, m->id, results[i].member, err);
      if (!rc)
        put(table, m, basis, as, member, &results[i], as == BASIS_SECOND ? seconds : 1);
      put_count++;
    }
  free(samples.v);
  free(scratch);
  free(results);
  return rc ? rc : put_count;
}

int nai_metrics_evaluate(struct nai_table **out, const struct nai_metric_set *set,
                         const struct nai_table *const *tables, struct nai_err *err) {
  size_t table_count = 0;
  while (tables[table_count])
    table_count++;
  const struct nai_rules_input input = {tables, table_count, NULL};
  struct nai_strings ids = {0};
  int rc = nai_table_new(out, &nai_metrics_schema, err);
  if (!rc)
    rc = nai_rules_enter(set->rules, &input, err);
  for (uint32_t i = 0; !rc && i < set->metrics.count; i++) { /* a metric has the id that its definition spells out */
    const struct metric *m = POOL_AT(set->metrics, struct metric, i);
    bool taken;
    rc = m->disabled || is_family(m) ? NAI_OK : take_id(&taken, &ids, m->id, "", err);
  }
  for (uint32_t i = 0; !rc && i < set->metrics.count; i++) {
    const struct metric *m = POOL_AT(set->metrics, struct metric, i);
    int found = 0;
    for (int basis = 0; !m->disabled && found == 0 && basis < BASES; basis++)
      if (m->has_source[basis])
        found = put_source(*out, &ids, set, m, (enum basis)basis, &input, err);
    rc = found < 0 ? found : 0;
  }
  nai_strings_free(&ids);
  rc = nai_rules_leave(set->rules, rc, err);
  return rc ? rc : nai_table_check(*out, err);
}
