/* Values of names, conditions and numbers, and rows of selections. */
#include "rules/evaluation.h"

#include <math.h>
#include <string.h>

/* The first failure is what evaluation ends with (nai_rules_leave); until then what fails is NULL. */
static void fail(const struct env *env, struct formula formula) {
  struct nai_err *failure = &env->set->sql->failure;
  if (!failure->code)
    nai_expression_error(env->set, POOL_AT(env->set->expressions, struct expression, formula.number - 1), failure);
}

/* Whether there is a further row. */
static bool step(const struct env *env, struct formula formula, sqlite3_stmt *statement) {
  int rc = statement ? sqlite3_step(statement) : SQLITE_DONE;
  if (rc != SQLITE_ROW && rc != SQLITE_DONE)
    fail(env, formula);
  return rc == SQLITE_ROW;
}

static struct nai_value stake_value(const struct env *env, enum stake stake) {
  if (stake == STAKE_PCT)
    return (struct nai_value){.type = NAI_F64, .f = env->stake_pct, .null = isnan(env->stake_pct)};
  int64_t ns = stake == STAKE_NS ? env->stake_ns : env->stake_low_ns;
  return (struct nai_value){.type = NAI_I64, .i = ns, .null = ns == NAI_NULL_I64};
}

/* Whether a row of the fact's table, of this GPU where both name one, meets its condition. */
static bool fact_holds(const struct env *env, uint32_t number) {
  const struct fact *fact = POOL_AT(env->set->facts, struct fact, number);
  int64_t row;
  return nai_selection_rows(&row, 1, env, &fact->rows) > 0;
}

static sqlite3_stmt *begin(const struct env *env, struct formula formula);

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
    value.f = POOL_AT(env->set->parameters, struct parameter, ref->parameter)->value;
    break;
  case REF_SUBJECT:
    value.s = env->subject;
    break;
  case REF_TEXT:
    value.s = ref->text;
    break;
  case REF_STAKE:
    return stake_value(env, ref->stake);
  case REF_FACT:
    value.f = fact_holds(env, ref->fact);
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
  bool printed = ref->kind == REF_COLUMN || ref->kind == REF_STAKE;
  return sqlite3_bind_double(statement, index, printed ? nai_value_number(ref->unit, &value) : value.f);
}

/* The statement with the values of its names, ready to be stepped; NULL after a failure, its own or an earlier one. */
static sqlite3_stmt *begin(const struct env *env, struct formula formula) {
  struct expression *e = POOL_AT(env->set->expressions, struct expression, formula.number - 1);
  struct nai_err *failure = &env->set->sql->failure;
  if (failure->code)
    return NULL;
  nai_sql_count_steps(env->set->sql);
  sqlite3_stmt *statement = nai_expression_prepare(env->set, e, failure);
  for (uint32_t i = 0; statement && i < e->refs.count; i++)
    if (bind(statement, (int)i + 1, env, POOL_AT(env->set->pieces, struct ref, e->refs.first + i)) != SQLITE_OK)
      fail(env, formula);
  return statement;
}

double nai_formula_value(const struct env *env, struct formula formula) {
  sqlite3_stmt *statement = formula.number ? begin(env, formula) : NULL;
  double value = NAN;
  if (step(env, formula, statement) && sqlite3_column_type(statement, 0) != SQLITE_NULL)
    value = sqlite3_column_double(statement, 0);
  sqlite3_reset(statement);
  return value;
}

bool nai_formula_holds(const struct env *env, struct formula condition) {
  double value = condition.number ? nai_formula_value(env, condition) : 1;
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
