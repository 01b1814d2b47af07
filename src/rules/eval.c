/* Values of names, conditions and numbers, and rows of selections, over the tables of a run. */
#include "rules/evaluation.h"

/* --- tables ---------------------------------------------------------------------------------------- */

static int show(const struct nai_rule_set *set, const struct nai_table *table, struct nai_err *err) {
  struct nai_sql_table *t = table ? nai_sql_find(set->sql, table->schema->name) : NULL;
  if (!t)
    return NAI_OK;
  if (!is_of(table, t->source->schema))
    return nai_err_set(err, NAI_ESTALE, "table \"%s\" differs from the schema its rules were checked against", t->name);
  return nai_sql_show(t, table, err);
}

int nai_rules_enter(const struct nai_rule_set *set, const struct nai_rules_input *input, struct nai_err *err) {
  set->sql->failure.code = NAI_OK;
  for (size_t i = 0; i < input->table_count; i++)
    NAI_TRY(show(set, input->tables[i], err));
  return NAI_OK;
}

int nai_rules_leave(const struct nai_rule_set *set, int rc, struct nai_err *err) {
  struct nai_err again = {0};
  for (uint32_t i = 0; i < set->sql->table_count; i++)
    if (set->sql->tables[i].facts && nai_sql_show(&set->sql->tables[i], NULL, &again) && !rc)
      rc = nai_err_nomem(err);
  if (rc || !set->sql->failure.code)
    return rc;
  *err = set->sql->failure;
  return err->code;
}

static void open_table(struct env *env, const struct selection *rows) {
  env->tables[rows->source] = nai_rules_table(env->input, rows->schema);
}

void nai_env_open(struct env *env, const struct nai_rule_set *set, const struct rule *rule,
                  const struct nai_rules_input *input) {
  *env = (struct env){.set = set, .input = input, .subject = "", .device_id = NAI_NULL_I64, .saving = NO_SAVING};
  for (int i = 0; i < MAX_SOURCES; i++)
    env->rows[i] = -1;
  open_table(env, &rule->rows);
  for (int i = 0; i < rule->lookup_count; i++) {
    const struct selection *rows = &rule->lookups[i].rows;
    open_table(env, rows);
    if (rule->lookups[i].sum)
      env->sums[rows->source] = rows;
  }
}

/* --- expressions ----------------------------------------------------------------------------------- */

/* The first failure is what evaluation ends with (nai_rules_leave); until then what fails is NULL. */
static void fail(const struct env *env, const struct expression *e) {
  struct nai_err *failure = &env->set->sql->failure;
  if (!failure->code)
    nai_expression_error(env->set, e, failure);
}

/* Whether there is a further row. */
static bool step(const struct env *env, const struct expression *e, sqlite3_stmt *statement) {
  int rc = statement ? sqlite3_step(statement) : SQLITE_DONE;
  if (rc != SQLITE_ROW && rc != SQLITE_DONE)
    fail(env, e);
  return rc == SQLITE_ROW;
}

static struct nai_value saving_value(const struct env *env, enum saving_part part) {
  const struct saving *saving = &env->saving;
  if (part == SAVING_PCT || part == SAVING_PCT_OF_CAPTURE) {
    double pct = part == SAVING_PCT ? nai_saving_pct(saving) : nai_saving_pct_of_capture(env->input, saving);
    return (struct nai_value){.type = NAI_F64, .f = pct, .null = isnan(pct)};
  }
  int64_t ns = part == SAVING_NS ? saving->ns : saving->low_ns;
  return (struct nai_value){.type = NAI_I64, .i = ns, .null = ns == NAI_NULL_I64};
}

static sqlite3_stmt *begin(const struct env *env, struct expression *e);

/* A column of all rows of a selection, added up: 0 for none. */
static struct nai_value sum_value(const struct env *env, const struct ref *ref) {
  const struct selection *rows = env->sums[ref->source];
  const struct nai_table *table = env->tables[ref->source];
  bool whole = rows->schema->columns[ref->column].type != NAI_F64;
  double sum = 0;
  sqlite3_stmt *statement = table ? begin(env, rows->rows) : NULL;
  while (step(env, rows->rows, statement)) {
    struct nai_value cell = nai_table_value(table, sqlite3_column_int64(statement, 0), ref->column);
    sum += cell.null ? 0 : whole ? (double)cell.i : cell.f;
  }
  sqlite3_reset(statement);
  return whole ? (struct nai_value){.type = NAI_I64, .i = (int64_t)sum} : (struct nai_value){.type = NAI_F64, .f = sum};
}

/* Whether a row of the fact's table, of this GPU where both name one, meets its condition. */
static bool fact_holds(const struct env *env, const struct fact *fact) {
  int64_t row;
  return nai_selection_rows(&row, 1, env, &fact->rows) > 0;
}

struct nai_value nai_env_value(const struct env *env, const struct ref *ref) {
  struct nai_value value = {.type = ref->is_text ? NAI_STR : NAI_F64};
  switch (ref->kind) {
  case REF_COLUMN:
    if (env->sums[ref->source])
      return sum_value(env, ref);
    if (env->rows[ref->source] >= 0)
      return nai_table_value(env->tables[ref->source], env->rows[ref->source], ref->column);
    value.null = true;
    break;
  case REF_PARAMETER:
    value.f = env->set->parameters.at[ref->number].value;
    break;
  case REF_SUBJECT:
    value.s = env->subject;
    break;
  case REF_TEXT:
    value.s = ref->text;
    break;
  case REF_SAVING:
    return saving_value(env, ref->saving);
  case REF_FACT:
    value.f = fact_holds(env, &env->set->facts.at[ref->number]);
    break;
  case REF_DEVICE:
    return (struct nai_value){.type = NAI_I64, .i = env->device_id, .null = env->device_id == NAI_NULL_I64};
  }
  return value;
}

/* Numbers in the unit that the name says; whole ones that no unit divides stay whole, as tables have them in SQL. */
static int bind(sqlite3_stmt *statement, int index, const struct env *env, const struct ref *ref) {
  struct nai_value value = nai_env_value(env, ref);
  bool scaled = ref->unit == NAI_US || ref->unit == NAI_MS || ref->unit == NAI_S;
  if (value.null)
    return sqlite3_bind_null(statement, index);
  if (value.type == NAI_STR)
    return sqlite3_bind_text(statement, index, value.s, -1, SQLITE_TRANSIENT);
  if (value.type != NAI_F64 && !scaled)
    return sqlite3_bind_int64(statement, index, value.i);
  bool printed = ref->kind == REF_COLUMN || ref->kind == REF_SAVING;
  return sqlite3_bind_double(statement, index, printed ? nai_value_number(ref->unit, &value) : value.f);
}

/* The statement with the values of its names, ready to be stepped; NULL after a failure, its own or an earlier one. */
static sqlite3_stmt *begin(const struct env *env, struct expression *e) {
  struct nai_err *failure = &env->set->sql->failure;
  if (failure->code)
    return NULL;
  nai_sql_count_steps(env->set->sql);
  if (nai_expression_prepare(e, env->set, failure))
    return NULL;
  for (uint32_t i = 0; i < e->refs.count; i++)
    if (bind(e->statement, (int)i + 1, env, &e->refs.at[i]) != SQLITE_OK)
      fail(env, e);
  return e->statement;
}

double nai_expression_number(const struct env *env, struct expression *number) {
  sqlite3_stmt *statement = number ? begin(env, number) : NULL;
  double value = NAN;
  if (step(env, number, statement) && sqlite3_column_type(statement, 0) != SQLITE_NULL)
    value = sqlite3_column_double(statement, 0);
  sqlite3_reset(statement);
  return value;
}

bool nai_expression_holds(const struct env *env, struct expression *condition) {
  double value = condition ? nai_expression_number(env, condition) : 1;
  return !isnan(value) && value != 0;
}

int nai_selection_rows(int64_t *rows, int limit, const struct env *env, const struct selection *selection) {
  sqlite3_stmt *statement = begin(env, selection->rows);
  int count = 0;
  while (count < limit && step(env, selection->rows, statement))
    rows[count++] = sqlite3_column_int64(statement, 0);
  sqlite3_reset(statement);
  return count;
}

void nai_env_look_up(struct env *env, const struct rule *rule, bool all) {
  for (int i = 0; i < rule->lookup_count; i++) {
    const struct selection *rows = &rule->lookups[i].rows;
    bool constant = rows->rows->sources == 0;
    int64_t found;
    if (!rule->lookups[i].sum && (all || !constant))
      env->rows[rows->source] = nai_selection_rows(&found, 1, env, rows) ? found : -1;
  }
}
