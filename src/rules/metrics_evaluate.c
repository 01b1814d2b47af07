/* Metrics of one run: a row of table `metrics` for each, or for each member of a family. */
#include "base/strings.h"
#include "rules/evaluation.h"
#include "rules/metrics_internal.h"
#include "table/kernel_name.h"
#include "tables/run_info.h"

enum { MAX_MEMBER = 80 };

struct run {
  const struct nai_metric_set *set;
  const struct nai_rules_input *input;
  double window_s; /* seconds of the GPU window; 0 when unknown */
  struct nai_table *table;
  struct nai_strings ids; /* that are taken */
  struct nai_arena arena; /* of texts */
  struct nai_err *err;
};

static void run_free(struct run *run) {
  nai_strings_free(&run->ids);
  nai_arena_free(&run->arena);
}

/* --- ids -------------------------------------------------------------------------------------- */

static bool is_family(const struct metric *m) { return strstr(m->id, "{}") != NULL; }

/* A family's text with the member in its place. */
static const char *with_member(struct run *run, const char *text, const char *member) {
  const char *hole = strstr(text, "{}");
  return hole ? nai_arena_printf(&run->arena, "%.*s%s%s", (int)(hole - text), text, member, hole + 2) : text;
}

/* Adds the id, if no metric has it yet. */
static int take_id(bool *taken, struct run *run, const char *id) {
  uint32_t before = run->ids.count;
  *taken = false;
  NAI_TRY(nai_arena_check(&run->arena, run->err));
  if (nai_strings_add(&run->ids, id, strlen(id)) == NAI_NO_STRING)
    return nai_err_nomem(run->err);
  *taken = run->ids.count > before;
  return NAI_OK;
}

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

/* As an id spells it; names that this makes the same, in this family or another, get a number behind. */
static int spell_apart(char out[MAX_MEMBER], struct run *run, const char *id, const char *text) {
  bool taken;
  spell_member(out, text);
  size_t plain = strlen(out);
  NAI_TRY(take_id(&taken, run, with_member(run, id, out)));
  for (uint32_t n = 2; !taken; n++) {
    char number[16];
    int length = snprintf(number, sizeof number, "~%u", n);
    size_t at = plain + (size_t)length < MAX_MEMBER ? plain : MAX_MEMBER - 1 - (size_t)length;
    memcpy(out + at, number, (size_t)length + 1);
    NAI_TRY(take_id(&taken, run, with_member(run, id, out)));
  }
  return NAI_OK;
}

/* The same in a title: kernels as everywhere, else as the trace spells it, of a long name the beginning. */
static const char *named(struct run *run, const char *text, bool is_kernel) {
  size_t n = strlen(text);
  NAI_SCOPED(nai_buf) kernel = {0};
  if (is_kernel) {
    nai_kernel_name_short(&kernel, text, MAX_MEMBER);
    return nai_arena_printf(&run->arena, "%s", nai_buf_str(&kernel));
  }
  if (n < MAX_MEMBER)
    return text;
  for (n = MAX_MEMBER - sizeof "..."; ((unsigned char)text[n] & 0xC0) == 0x80;) /* not within a character */
    n--;
  return nai_arena_printf(&run->arena, "%.*s...", (int)n, text);
}

/* --- the table -------------------------------------------------------------------------------- */

/* Counts per step repeat exactly; those of a capture depend on how long it was, so they prove nothing by themselves.
 * Per second everything else rises when idle time is saved: that is no regression. */
static const char *kind_of(const struct metric *m, enum basis basis) {
  return basis == BASIS_SECOND ? "noisy" : m->kind;
}

static const char *gate_of(const struct metric *m, enum basis basis) {
  bool fails = strcmp(m->gate, "gate") == 0, exact = strcmp(m->kind, "exact") == 0;
  return fails && (basis == BASIS_SECOND || (exact && basis == BASIS_TOTAL)) ? "none" : m->gate;
}

static const char *const basis_names[BASES] = {"step", "second", "total"};

/* A rate that is called "per step" is not. Whoever defined a metric of the name that it has instead keeps that name. */
static int id_of(const char **out, struct run *run, const struct metric *m, enum basis from, enum basis basis) {
  bool taken = true;
  *out = m->id;
  if (from == BASIS_SECOND)
    *out = nai_metric_id(&run->arena, m->id, basis_names[basis]);
  if (*out != m->id && !is_family(m))
    NAI_TRY(take_id(&taken, run, *out));
  if (!taken)
    *out = m->id;
  return nai_arena_check(&run->arena, run->err);
}

static double real_of(sqlite3_stmt *statement, enum metric_column column, double factor) {
  bool null = sqlite3_column_type(statement, column) == SQLITE_NULL;
  return null ? NAN : sqlite3_column_double(statement, column) * factor;
}

/* A row of the source's statement. */
static int put_member(struct run *run, const struct metric *m, enum basis from, sqlite3_stmt *statement) {
  const struct metric_source *source = &m->sources[from];
  enum basis basis = from == BASIS_SECOND && run->window_s <= 0 ? BASIS_TOTAL : from;
  double value = real_of(statement, METRIC_VALUE, source->scale), divide = basis == BASIS_SECOND ? run->window_s : 1;
  char member[MAX_MEMBER] = "";
  const char *id, *text = "";
  if (isnan(value) || !sqlite3_column_int64(statement, METRIC_ROWS))
    return NAI_OK;
  NAI_TRY(id_of(&id, run, m, from, basis));
  if (is_family(m)) {
    text = (const char *)sqlite3_column_text(statement, METRIC_MEMBER);
    if (!text)
      return nai_err_nomem(run->err);
    NAI_TRY(spell_apart(member, run, id, text));
  }
  NAI_ADD(METRICS, run->table, .metric = with_member(run, id, member),
          .title = with_member(run, m->title, named(run, text, source->of_kernels)), .family = is_family(m) ? id : NULL,
          .unit = nai_unit_name(m->unit), .better = m->better, .kind = kind_of(m, basis), .gate = gate_of(m, basis),
          .value = value / divide, .n = sqlite3_column_int64(statement, METRIC_ROWS),
          .q25 = real_of(statement, METRIC_Q25, source->scale) / divide,
          .q75 = real_of(statement, METRIC_Q75, source->scale) / divide, .basis = basis_names[basis],
          .source_table = source->schema->name, .noise_pct = m->noise.pct, .noise = m->noise.absolute,
          .budget_pct = m->budget.pct, .budget = m->budget.absolute, .budget_step_pct = m->budget.step_pct,
          .absent = m->absent, .needs = m->needs, .definition = m->definition);
  return NAI_OK;
}

/* Puts the metric, or the members of its family, from one source. */
static int put_source(struct run *run, const struct metric *m, enum basis basis) {
  const struct nai_rule_set *rules = run->set->rules;
  struct expression *e = m->sources[basis].statement;
  int step;
  nai_sql_count_steps(rules->sql);
  NAI_TRY(nai_expression_prepare(e, rules, run->err));
  while ((step = sqlite3_step(e->statement)) == SQLITE_ROW)
    NAI_TRY(put_member(run, m, basis, e->statement));
  if (step != SQLITE_DONE)
    return nai_expression_error(rules, e, run->err);
  sqlite3_reset(e->statement);
  return NAI_OK;
}

/* From the first source that has a value. */
static int put_metric(struct run *run, const struct metric *m) {
  int64_t before = run->table->rows;
  for (int basis = 0; basis < BASES && run->table->rows == before; basis++) {
    const struct nai_schema *schema = m->sources[basis].schema;
    const struct nai_table *table = schema ? nai_rules_table(run->input, schema) : NULL;
    if (table && table->rows)
      NAI_TRY(put_source(run, m, (enum basis)basis));
  }
  return NAI_OK;
}

static int evaluate(struct run *run) {
  const struct metrics *metrics = &run->set->metrics;
  bool taken;
  for (uint32_t i = 0; i < metrics->count; i++) /* a metric has the id that its definition spells out */
    if (!metrics->at[i].disabled && !is_family(&metrics->at[i]))
      NAI_TRY(take_id(&taken, run, metrics->at[i].id));
  for (uint32_t i = 0; i < metrics->count; i++)
    if (!metrics->at[i].disabled)
      NAI_TRY(put_metric(run, &metrics->at[i]));
  NAI_TRY(nai_arena_check(&run->arena, run->err));
  return nai_table_check(run->table, run->err);
}

int nai_metrics_evaluate(struct nai_table **out, const struct nai_metric_set *set,
                         const struct nai_table *const *tables, struct nai_err *err) {
  struct nai_rules_input input = {.tables = tables};
  NAI_OWNED(nai_table) *table = NULL;
  *out = NULL;
  while (tables[input.table_count])
    input.table_count++;
  NAI_TRY(nai_table_new(&table, &nai_metrics_schema, err));
  const struct nai_table *info = nai_rules_table(&input, &nai_run_info_schema);
  int64_t window_ns = info && info->rows ? nai_get_i64(info, 0, RUN_INFO_window_ns) : 0;
  NAI_SCOPED(run)
  run = {.set = set,
         .input = &input,
         .window_s = window_ns > 0 ? (double)window_ns / 1e9 : 0,
         .table = table,
         .arena = NAI_ARENA(NULL),
         .err = err};
  int rc = nai_rules_enter(set->rules, &input, err);
  if (!rc)
    rc = evaluate(&run);
  NAI_TRY(nai_rules_leave(set->rules, rc, err));
  return NAI_GIVE(out, table);
}
