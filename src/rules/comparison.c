/* Comparisons in a string: `idle_pct >= 20 and cause.cause = 'host_sync'`. Operands are sums of products of columns,
 * parameters, numbers and 'texts'; units must agree. */
#include "rules/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const enum nai_unit plain = NAI_UNIT_COUNT; /* the unit of numbers and parameters: fits every unit */

struct reader {
  const struct names *names;
  const struct nai_yaml_node *node;
  const char *at;
  uint32_t sources; /* bit per source that was named */
  bool facts;       /* a fact may come next */
  struct nai_err *err;
};

/* One side of a comparison and the kind of value it makes. */
struct operand {
  struct span factors;
  enum nai_unit unit;
  bool is_text, is_fact;
  size_t offset;
};

static const char digits[] = "0123456789";
static const char word_characters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";

static void skip_space(struct reader *r) { r->at += strspn(r->at, " \t\n"); }

static size_t offset(const struct reader *r) { return (size_t)(r->at - r->node->text); }

static int fail(const struct reader *r, size_t at, const char *message) {
  return nai_yaml_error_in(r->names->doc, r->node, at, r->err, "%s", message);
}

static bool take_word(struct reader *r, const char *word) {
  skip_space(r);
  size_t len = strlen(word);
  if (strspn(r->at, word_characters) != len || strncmp(r->at, word, len) != 0)
    return false;
  r->at += len;
  return true;
}

static bool take_sign(struct reader *r, const char *sign) {
  skip_space(r);
  size_t len = strlen(sign);
  if (strncmp(r->at, sign, len) != 0)
    return false;
  r->at += len;
  return true;
}

static int read_number(struct ref *out, struct reader *r) {
  char *end;
  size_t sign = *r->at == '-', whole = strspn(r->at + sign, digits);
  *out = (struct ref){.kind = REF_NUMBER, .number = strtod(r->at, &end), .unit = plain};
  /* strtod also reads hex: a digit before anything but digits, a point or an exponent is not a number here. */
  if (!whole || r->at[sign + whole] == 'x' || (*end && strchr(word_characters, *end)))
    return fail(r, offset(r), "malformed number");
  if (!isfinite(out->number))
    return fail(r, offset(r), "number out of range");
  r->at = end;
  return 0;
}

static int read_text(struct ref *out, struct reader *r) {
  const char *start = r->at + 1, *end = strchr(start, '\'');
  if (!end)
    return fail(r, offset(r), "missing closing '");
  *out = (struct ref){
      .kind = REF_TEXT, .text = start, .text_len = (uint32_t)(end - start), .unit = NAI_TEXT, .is_text = true};
  r->at = end + 1;
  return 0;
}

static int read_factor(struct ref *out, struct reader *r) {
  skip_space(r);
  if (*r->at == '\'')
    return read_text(out, r);
  if ((*r->at && strchr(digits, *r->at)) || (*r->at == '-' && r->at[1] && strchr(digits, r->at[1])))
    return read_number(out, r);
  size_t len = strspn(r->at, word_characters);
  if (!len)
    return fail(r, offset(r), *r->at ? "expected a column, a number or a 'text'" : "the comparison ends too early");
  int rc = nai_names_resolve(out, r->names, r->node, offset(r), r->at, len, r->err);
  if (rc)
    return rc;
  if (out->kind == REF_SUBJECT)
    return fail(r, offset(r), "\"subject\" is for texts only");
  if (out->kind == REF_COLUMN)
    r->sources |= 1u << out->source;
  if (out->kind == REF_FACT && !r->facts)
    return fail(r, offset(r), "a fact stands alone: it holds or does not");
  r->at += len;
  return 0;
}

/* A point in time and a duration are both printed in ns. */
static enum nai_unit basic(enum nai_unit unit) { return unit == NAI_TIMESTAMP_NS ? NAI_NS : unit; }

static bool fits(enum nai_unit a, enum nai_unit b) { return a == plain || b == plain || basic(a) == basic(b); }

/* The unit of `a op b` for a product: counts and plain numbers scale, equal units cancel, anything else is plain. */
static enum nai_unit scaled(enum nai_unit a, char op, enum nai_unit b) {
  if (b == plain || b == NAI_COUNT)
    return a == NAI_COUNT ? plain : a;
  return op == '*' && (a == plain || a == NAI_COUNT) ? b : plain;
}

static int mixed(const struct reader *r, size_t at, enum nai_unit a, enum nai_unit b) {
  return nai_yaml_error_in(r->names->doc, r->node, at, r->err, "%s and %s do not go together", nai_unit_name(a),
                           nai_unit_name(b));
}

static int add_factor(struct operand *out, struct reader *r, char op, const struct ref *ref) {
  struct factor *factor = nai_pool_add(&r->names->set->factors, sizeof *factor);
  if (!factor)
    return nai_err_nomem(r->err);
  *factor = (struct factor){.op = op, .ref = *ref};
  out->factors.count++;
  return 0;
}

static int read_operand(struct operand *out, struct reader *r) {
  skip_space(r);
  *out = (struct operand){.factors.first = r->names->set->factors.count, .unit = plain, .offset = offset(r)};
  enum nai_unit term = plain; /* of the product being read */
  for (char op = '+';;) {
    struct ref ref;
    skip_space(r);
    size_t at = offset(r);
    int rc = read_factor(&ref, r);
    r->facts = false;
    if (!rc)
      rc = add_factor(out, r, op, &ref);
    if (rc)
      return rc;
    if (ref.kind == REF_FACT) {
      out->is_fact = true;
      return 0;
    }
    if (ref.is_text && out->factors.count > 1)
      return fail(r, at, "texts cannot be calculated with");
    out->is_text = ref.is_text;
    term = op == '*' || op == '/' ? scaled(term, op, ref.unit) : ref.unit;
    skip_space(r);
    const char next = *r->at && strchr("+-*/", *r->at) ? *r->at : '\0';
    if (next != '*' && next != '/') {
      if (!ref.is_text && !fits(out->unit, term))
        return mixed(r, at, out->unit, term);
      out->unit = out->unit == plain ? term : out->unit;
    }
    if (!next)
      return 0;
    if (ref.is_text)
      return fail(r, offset(r), "texts cannot be calculated with");
    op = next;
    r->at++;
  }
}

/* The comparison sign or word; longer signs first. */
static int read_compare(enum compare *out, struct reader *r) {
  static const struct {
    const char *sign;
    enum compare compare;
  } signs[] = {{"!=", CMP_NE}, {"<=", CMP_LE}, {">=", CMP_GE}, {"==", CMP_EQ},
               {"=", CMP_EQ},  {"<", CMP_LT},  {">", CMP_GT}};
  for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
    if (take_sign(r, signs[i].sign)) {
      *out = signs[i].compare;
      return 0;
    }
  }
  if (take_word(r, "contains")) {
    *out = CMP_CONTAINS;
    return 0;
  }
  if (take_word(r, "is")) {
    *out = take_word(r, "not") ? CMP_NOT_NULL : CMP_NULL;
    return take_word(r, "null") ? 0 : fail(r, offset(r), "expected \"null\"");
  }
  return fail(r, offset(r), "expected a comparison: = != < <= > >=, contains, is null, is not null");
}

static int check_types(const struct reader *r, enum compare compare, const struct operand *left,
                       const struct operand *right) {
  if (left->is_text != right->is_text)
    return fail(r, right->offset, left->is_text ? "compares text with a number" : "compares a number with text");
  if (!left->is_text && compare == CMP_CONTAINS)
    return fail(r, left->offset, "\"contains\" needs text");
  if (left->is_text && compare != CMP_CONTAINS && compare != CMP_EQ && compare != CMP_NE)
    return fail(r, left->offset, "texts have no order: use =, != or contains");
  return left->is_text || fits(left->unit, right->unit) ? 0 : mixed(r, right->offset, left->unit, right->unit);
}

static int read_comparison(struct condition *out, struct reader *r) {
  struct operand left, right = {0};
  enum compare compare = CMP_EQ;
  r->facts = true;
  int rc = read_operand(&left, r);
  if (!rc && left.is_fact)
    compare = CMP_HOLDS;
  else if (!rc)
    rc = read_compare(&compare, r);
  bool unary = compare == CMP_NULL || compare == CMP_NOT_NULL || compare == CMP_HOLDS;
  if (!rc && !unary)
    rc = read_operand(&right, r);
  if (!rc && !unary)
    rc = check_types(r, compare, &left, &right);
  if (rc)
    return rc;
  struct pool *tests = &r->names->set->tests;
  struct test *test = nai_pool_add(tests, sizeof *test);
  if (!test)
    return nai_err_nomem(r->err);
  *test = (struct test){.compare = compare, .is_text = left.is_text, .left = left.factors, .right = right.factors};
  return nai_condition_emit(out, r->names, (struct code){CODE_TEST, tests->count - 1}, r->err);
}

int nai_comparison_compile(struct condition *out, const struct names *names, const struct nai_yaml_node *node,
                           struct nai_err *err) {
  struct reader r = {.names = names, .node = node, .err = err};
  int rc = nai_yaml_text(&r.at, names->doc, node, err);
  if (rc)
    return rc;
  rc = nai_condition_emit(out, names, (struct code){.kind = CODE_ALL}, err);
  while (!rc) {
    rc = read_comparison(out, &r);
    if (rc || !take_word(&r, "and"))
      break;
  }
  skip_space(&r);
  if (!rc && *r.at)
    rc = fail(&r, offset(&r), "expected \"and\" or the end (write alternatives as {any: [...]})");
  out->sources |= r.sources;
  return rc ? rc : nai_condition_emit(out, names, (struct code){.kind = CODE_END}, err);
}

int nai_expression_compile(struct span *factors, enum nai_unit *unit, const struct names *names,
                           const struct nai_yaml_node *node, struct nai_err *err) {
  struct reader r = {.names = names, .node = node, .err = err};
  struct operand operand = {0};
  int rc = nai_yaml_text(&r.at, names->doc, node, err);
  if (!rc)
    rc = read_operand(&operand, &r);
  if (rc)
    return rc;
  skip_space(&r);
  if (*r.at)
    return fail(&r, offset(&r), "expected + - * / or the end");
  if (operand.is_text)
    return nai_yaml_error(names->doc, node, err, "\"%s\" needs a number", node->key);
  *factors = operand.factors;
  *unit = basic(operand.unit);
  return 0;
}

int nai_duration_compile(struct span *factors, double *ns, const struct names *names, const struct nai_yaml_node *node,
                         struct nai_err *err) {
  static const double scale[NAI_UNIT_COUNT] = {[NAI_NS] = 1, [NAI_US] = 1e3, [NAI_MS] = 1e6, [NAI_S] = 1e9};
  enum nai_unit unit = NAI_UNIT_COUNT;
  int rc = nai_expression_compile(factors, &unit, names, node, err);
  if (rc)
    return rc;
  *ns = unit < NAI_UNIT_COUNT ? scale[unit] : 0;
  return *ns > 0 ? 0 : nai_yaml_error(names->doc, node, err, "\"%s\" needs a duration", node->key);
}
