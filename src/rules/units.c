/* Units of an expression: a time is compared with a time of the same unit, and not added to a count. SQLite has parsed
 * the expression; its program (EXPLAIN) says which value meets which, so there is no second parser here. An instruction
 * that is not known makes a value of no unit, which fits all: of it nothing is said. */
#include "rules/internal.h"

#include "base/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const enum nai_unit plain = NAI_UNIT_COUNT; /* fits every unit */
enum { MAX_REGISTERS = 1000 };

struct operation {
  char name[16], what[16];
  int p1, p2, p3;
};

/* What is known of a register. */
struct content {
  enum nai_unit unit;
  bool whole;   /* an integer */
  uint32_t ref; /* number + 1 of the name it holds; 0: none */
};

struct check {
  const struct nai_rule_set *set;
  const struct expression *e;
  struct content registers[MAX_REGISTERS];
  struct nai_err *err;
};

static const struct ref *ref_at(const struct check *c, uint32_t number) {
  return POOL_AT(c->set->pieces, struct ref, c->e->refs.first + number - 1);
}

/* A parameter has the unit that its name ends in. */
static enum nai_unit unit_of_parameter(const char *name) {
  static const struct {
    const char *end;
    enum nai_unit unit;
  } ends[] = {{"_per_s", NAI_UNIT_COUNT}, {"_ns", NAI_NS}, {"_us", NAI_US}, {"_ms", NAI_MS}, {"_s", NAI_S},
              {"_bytes", NAI_BYTES}};
  size_t len = strlen(name);
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
    if (len > strlen(ends[i].end) && strcmp(name + len - strlen(ends[i].end), ends[i].end) == 0)
      return ends[i].unit;
  return plain;
}

static struct content content_of(const struct check *c, uint32_t number) {
  const struct ref *ref = ref_at(c, number);
  struct content content = {.unit = ref->unit, .ref = number};
  if (ref->kind == REF_PARAMETER)
    content.unit = unit_of_parameter(POOL_AT(c->set->parameters, struct parameter, ref->parameter)->name);
  else if (ref->kind == REF_COLUMN && !ref->is_text)
    content.whole = ref->unit != NAI_US && ref->unit != NAI_MS && ref->unit != NAI_S && ref->whole;
  return content;
}

/* A point in time and a duration are both printed in ns. */
static enum nai_unit basic(enum nai_unit unit) { return unit == NAI_TIMESTAMP_NS ? NAI_NS : unit; }

static bool fits(enum nai_unit a, enum nai_unit b) { return a == plain || b == plain || basic(a) == basic(b); }

/* The unit of `a op b` for a product: counts and plain numbers scale, equal units cancel, anything else is plain. */
static enum nai_unit scaled(enum nai_unit a, bool product, enum nai_unit b) {
  if (b == plain || b == NAI_COUNT)
    return a == NAI_COUNT ? plain : a;
  return product && (a == plain || a == NAI_COUNT) ? b : plain;
}

/* At the later of the two names. */
static int fail(const struct check *c, const struct content *a, const struct content *b, const char *message) {
  uint32_t number = a->ref > b->ref ? a->ref : b->ref;
  size_t offset = number ? ref_at(c, number)->offset : 0;
  return nai_yaml_error_in(c->e->doc, c->e->node, offset, c->err, "%s", message);
}

static int check_pair(const struct check *c, const struct content *a, const struct content *b) {
  char message[128];
  if (fits(a->unit, b->unit) && (a->unit == NAI_TEXT) == (b->unit == NAI_TEXT))
    return 0;
  if (a->unit == NAI_TEXT || b->unit == NAI_TEXT) {
    bool known = a->unit == NAI_TEXT ? b->unit != plain || b->whole : a->unit != plain || a->whole;
    return known ? fail(c, a, b, "a text and a number do not go together") : 0;
  }
  snprintf(message, sizeof message, "%s and %s do not go together", nai_unit_name(a->unit), nai_unit_name(b->unit));
  return fail(c, a, b, message);
}

static bool is(const struct operation *o, const char *const *names) {
  for (; *names; names++)
    if (strcmp(o->name, *names) == 0)
      return true;
  return false;
}

static struct content *at(struct check *c, int number) {
  return &c->registers[number > 0 && number < MAX_REGISTERS ? number : 0];
}

static int calculate(struct check *c, const struct operation *o) {
  struct content right = *at(c, o->p1), left = *at(c, o->p2), *out = at(c, o->p3);
  bool sum = strcmp(o->name, "Add") == 0 || strcmp(o->name, "Subtract") == 0, quotient = strcmp(o->name, "Divide") == 0;
  enum nai_unit unit = sum ? (left.unit == plain ? right.unit : left.unit) : scaled(left.unit, !quotient, right.unit);
  if (left.unit == NAI_TEXT || right.unit == NAI_TEXT)
    return fail(c, &left, &right, "texts cannot be calculated with");
  if (sum && check_pair(c, &left, &right))
    return NAI_EUSAGE;
  if (quotient && left.whole && right.whole && unit == plain) /* of a time less than a nanosecond is lost */
    return fail(c, &left, &right, "SQL drops the fraction of a quotient of whole numbers: write 1.0 * in front");
  *out = (struct content){unit, left.whole && right.whole, left.ref > right.ref ? left.ref : right.ref};
  return 0;
}

static int follow(struct check *c, const struct operation *o) {
  static const char *const arithmetic[] = {"Add", "Subtract", "Multiply", "Divide", "Remainder", NULL};
  static const char *const comparisons[] = {"Eq", "Ne", "Lt", "Le", "Gt", "Ge", NULL};
  static const char *const copies[] = {"Copy", "SCopy", "Move", NULL};
  static const char *const functions[] = {"Function", "PureFunc", NULL};
  static const char *const logic[] = {"And", "Or", "Not", "IsTrue", "Concat", NULL};
  if (strcmp(o->name, "Variable") == 0)
    *at(c, o->p2) = content_of(c, (uint32_t)o->p1);
  else if (strcmp(o->name, "Integer") == 0 || strcmp(o->name, "Int64") == 0)
    *at(c, o->p2) = (struct content){.unit = plain, .whole = true};
  else if (strcmp(o->name, "Real") == 0)
    *at(c, o->p2) = (struct content){.unit = plain};
  else if (strcmp(o->name, "String8") == 0 || strcmp(o->name, "String") == 0)
    *at(c, o->p2) = (struct content){.unit = NAI_TEXT};
  else if (is(o, copies))
    *at(c, o->p2) = *at(c, o->p1);
  else if (strcmp(o->name, "Cast") == 0)
    at(c, o->p1)->whole = false;
  else if (is(o, arithmetic))
    return calculate(c, o);
  else if (is(o, comparisons))
    return check_pair(c, at(c, o->p3), at(c, o->p1));
  else if (is(o, functions)) {
    static const char *const keep[] = {"abs(", "max(", "min(", "coalesce(", "ifnull(", "round("};
    struct content first = *at(c, o->p2);
    *at(c, o->p3) = (struct content){.unit = plain};
    for (size_t i = 0; i < sizeof keep / sizeof *keep; i++)
      if (strncmp(o->what, keep[i], strlen(keep[i])) == 0)
        *at(c, o->p3) = first;
  } else if (is(o, logic))
    *at(c, o->name[0] == 'N' || o->name[0] == 'I' ? o->p2 : o->p3) = (struct content){.unit = plain};
  return 0;
}

static int read_program(struct operation **out, uint32_t *count, struct check *c) {
  struct nai_buf sql = {0};
  sqlite3_stmt *explain = NULL;
  uint32_t capacity = 0;
  nai_buf_printf(&sql, "EXPLAIN %s", nai_buf_str(&c->e->sql));
  int rc = nai_buf_check(&sql, c->err);
  if (!rc && sqlite3_prepare_v2(c->set->sql->sqlite, nai_buf_str(&sql), -1, &explain, NULL) != SQLITE_OK)
    rc = nai_expression_error(c->set, c->e, c->err);
  while (!rc && sqlite3_step(explain) == SQLITE_ROW) {
    if (!nai_array_room(out, &capacity, *count, sizeof **out)) {
      rc = nai_err_nomem(c->err);
      break;
    }
    const char *name = (const char *)sqlite3_column_text(explain, 1),
               *what = (const char *)sqlite3_column_text(explain, 5);
    struct operation *o = &(*out)[(*count)++];
    *o = (struct operation){.p1 = sqlite3_column_int(explain, 2),
                            .p2 = sqlite3_column_int(explain, 3),
                            .p3 = sqlite3_column_int(explain, 4)};
    snprintf(o->name, sizeof o->name, "%s", name ? name : "");
    snprintf(o->what, sizeof o->what, "%.15s", what ? what : "");
  }
  if (sqlite3_finalize(explain) != SQLITE_OK && !rc)
    rc = nai_expression_error(c->set, c->e, c->err);
  nai_buf_free(&sql);
  return rc;
}

int nai_units_check(enum nai_unit *unit, const struct nai_rule_set *set, const struct expression *e,
                    struct nai_err *err) {
  struct expression whole = *e;
  *unit = plain;
  if (!nai_expression_prepare(set, &whole, err)) /* a mistake is told here, with its place */
    return err->code;
  sqlite3_finalize(whole.statement);
  struct check *c = calloc(1, sizeof *c);
  struct operation *program = NULL;
  uint32_t count = 0;
  if (!c)
    return nai_err_nomem(err);
  *c = (struct check){.set = set, .e = e, .err = err};
  for (int i = 0; i < MAX_REGISTERS; i++)
    c->registers[i].unit = plain;
  int rc = read_program(&program, &count, c);
  /* It begins with what is constant, at its end. */
  uint32_t first = !rc && count && program[0].p2 > 0 && (uint32_t)program[0].p2 < count ? (uint32_t)program[0].p2 : 0;
  for (uint32_t i = 0; i < count && !rc; i++) {
    const struct operation *o = &program[(first + i) % count];
    rc = follow(c, o);
    if (strcmp(o->name, "ResultRow") == 0)
      *unit = basic(at(c, o->p1)->unit);
  }
  free(program);
  free(c);
  return rc;
}
