/* Values, conditions and row selections. */
#include "rules/evaluation.h"

#include <math.h>
#include <string.h>

/* A column of all rows that meet a condition, added up: 0 for none. */
static struct nai_value sum_value(const struct env *env, const struct ref *ref) {
  struct env each = *env;
  const struct nai_table *table = env->tables[ref->source];
  struct nai_value sum = {.type = NAI_F64};
  each.sums &= ~(1u << ref->source);
  bool whole = true;
  for (int64_t row = 0; table && row < table->rows; row++) {
    each.rows[ref->source] = row;
    if (!nai_condition_holds(&each, env->sum_where[ref->source]))
      continue;
    struct nai_value cell = nai_table_value(table, row, ref->column);
    whole = cell.type != NAI_F64;
    if (!cell.null)
      sum.f += whole ? (double)cell.i : cell.f;
  }
  return whole ? (struct nai_value){.type = NAI_I64, .i = (int64_t)sum.f} : sum;
}

/* Whether a row of the fact's table, of this GPU where both name one, meets its condition. */
static bool fact_holds(const struct env *env, uint32_t number) {
  const struct fact *fact = POOL_AT(env->set->facts, struct fact, number);
  struct env own = {.set = env->set, .input = env->input, .device_id = env->device_id};
  const struct nai_table *table = own.tables[0] = nai_env_table(env, fact->rows.schema);
  for (int64_t row = 0; table && row < table->rows; row++) {
    int64_t device = fact->device_column < 0 ? NAI_NULL_I64 : nai_get_i64(table, row, fact->device_column);
    if (device != NAI_NULL_I64 && env->device_id != NAI_NULL_I64 && device != env->device_id)
      continue;
    own.rows[0] = row;
    if (nai_condition_holds(&own, &fact->rows.where))
      return true;
  }
  return false;
}

static struct nai_value stake_value(const struct env *env, enum stake stake) {
  if (stake == STAKE_PCT)
    return (struct nai_value){.type = NAI_F64, .f = env->stake_pct, .null = isnan(env->stake_pct)};
  int64_t ns = stake == STAKE_NS ? env->stake_ns : env->stake_low_ns;
  return (struct nai_value){.type = NAI_I64, .i = ns, .null = ns == NAI_NULL_I64};
}

struct nai_value nai_env_value(const struct env *env, const struct ref *ref) {
  struct nai_value value = {.type = ref->is_text ? NAI_STR : NAI_F64};
  switch (ref->kind) {
  case REF_COLUMN:
    if (env->sums >> ref->source & 1)
      return sum_value(env, ref);
    if (env->rows[ref->source] >= 0)
      return nai_table_value(env->tables[ref->source], env->rows[ref->source], ref->column);
    value.null = true;
    break;
  case REF_PARAMETER:
    value.f = POOL_AT(env->set->parameters, struct parameter, ref->parameter)->value;
    break;
  case REF_NUMBER:
    value.f = ref->number;
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
  }
  return value;
}

double nai_env_number(const struct env *env, const struct ref *ref) {
  struct nai_value value = nai_env_value(env, ref);
  return ref->kind == REF_COLUMN || ref->kind == REF_STAKE ? nai_value_number(ref->unit, &value) : value.f;
}

double nai_env_calculate(const struct env *env, struct span factors) {
  double sum = 0, term = 0;
  for (uint32_t i = 0; i < factors.count; i++) {
    const struct factor *factor = POOL_AT(env->set->factors, struct factor, factors.first + i);
    double number = nai_env_number(env, &factor->ref);
    if (factor->op == '*') {
      term *= number;
    } else if (factor->op == '/') {
      term /= number;
    } else {
      sum += term;
      term = factor->op == '-' ? -number : number;
    }
  }
  return sum + term;
}

/* Text of a factor and its length; NULL for NULL. Literals end at their quote, not at a NUL. */
static const char *text_of(const struct env *env, struct span factors, size_t *len) {
  const struct ref *ref = &POOL_AT(env->set->factors, struct factor, factors.first)->ref;
  struct nai_value value = nai_env_value(env, ref);
  if (value.null)
    return NULL;
  *len = ref->kind == REF_TEXT ? ref->text_len : strlen(value.s);
  return value.s;
}

static char folded(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c; }

static bool contains(const char *text, size_t len, const char *part, size_t part_len) {
  for (size_t at = 0; at + part_len <= len; at++) {
    size_t same = 0;
    while (same < part_len && folded(text[at + same]) == folded(part[same]))
      same++;
    if (same == part_len)
      return true;
  }
  return false;
}

static bool texts_compare(const struct env *env, const struct test *test) {
  size_t left_len = 0, right_len = 0;
  const char *left = text_of(env, test->left, &left_len), *right = text_of(env, test->right, &right_len);
  if (!left || !right)
    return false;
  if (test->compare == CMP_CONTAINS)
    return contains(left, left_len, right, right_len);
  bool equal = left_len == right_len && memcmp(left, right, left_len) == 0;
  return equal == (test->compare == CMP_EQ);
}

static bool is_null(const struct env *env, const struct test *test) {
  size_t len;
  return test->is_text ? !text_of(env, test->left, &len) : isnan(nai_env_calculate(env, test->left));
}

/* NULL compares false with everything, also for !=. */
static bool test_holds(const struct env *env, const struct test *test) {
  if (test->compare == CMP_NULL || test->compare == CMP_NOT_NULL)
    return is_null(env, test) == (test->compare == CMP_NULL);
  if (test->compare == CMP_HOLDS)
    return nai_env_calculate(env, test->left) != 0;
  if (test->is_text)
    return texts_compare(env, test);
  double left = nai_env_calculate(env, test->left), right = nai_env_calculate(env, test->right);
  if (isnan(left) || isnan(right))
    return false;
  switch (test->compare) {
  case CMP_EQ:
    return left == right;
  case CMP_NE:
    return left != right;
  case CMP_LT:
    return left < right;
  case CMP_LE:
    return left <= right;
  case CMP_GT:
    return left > right;
  default:
    return left >= right;
  }
}

bool nai_condition_holds(const struct env *env, const struct condition *condition) {
  struct {
    enum code_kind kind;
    bool value;
  } stack[NAI_YAML_MAX_DEPTH + 4];
  int depth = 0;
  stack[0].kind = CODE_ALL;
  stack[0].value = true;
  for (uint32_t i = 0; i < condition->codes.count; i++) {
    const struct code *code = POOL_AT(env->set->codes, struct code, condition->codes.first + i);
    bool value;
    if (code->kind == CODE_TEST) {
      value = test_holds(env, POOL_AT(env->set->tests, struct test, code->test));
    } else if (code->kind == CODE_END) {
      value = stack[depth--].value;
    } else {
      stack[++depth].kind = code->kind;
      stack[depth].value = code->kind == CODE_ALL;
      continue;
    }
    if (stack[depth].kind == CODE_ALL)
      stack[depth].value &= value;
    else if (stack[depth].kind == CODE_ANY)
      stack[depth].value |= value;
    else
      stack[depth].value = !value;
  }
  return stack[0].value;
}

/* < 0 when row a comes before row b. NULL comes last either way; equal rows keep their order in the table. */
static int row_order(const struct nai_table *table, const struct selection *selection, int64_t a, int64_t b) {
  for (int k = 0; k < selection->order_count; k++) {
    const struct order_key *key = &selection->order[k];
    const struct nai_value x = nai_table_value(table, a, key->column), y = nai_table_value(table, b, key->column);
    if (x.null || y.null) {
      if (x.null != y.null)
        return x.null ? 1 : -1;
      continue;
    }
    int order = x.type == NAI_STR ? strcmp(x.s, y.s)
              : x.type == NAI_F64 ? (x.f > y.f) - (x.f < y.f)
                                  : (x.i > y.i) - (x.i < y.i);
    if (order)
      return key->descending ? -order : order;
  }
  return (a > b) - (a < b);
}

int nai_selection_rows(int64_t *rows, int limit, struct env *env, const struct selection *selection) {
  const struct nai_table *table = env->tables[selection->source];
  int count = 0;
  for (int64_t row = 0; table && row < table->rows; row++) {
    if (!selection->order_count && count == limit)
      break;
    env->rows[selection->source] = row;
    if (!nai_condition_holds(env, &selection->where))
      continue;
    int at = count;
    while (at > 0 && row_order(table, selection, row, rows[at - 1]) < 0)
      at--;
    if (at == limit)
      continue;
    count += count < limit;
    memmove(&rows[at + 1], &rows[at], (size_t)(count - at - 1) * sizeof *rows);
    rows[at] = row;
  }
  env->rows[selection->source] = -1;
  return count;
}
