/* Units of an expression: a time is compared with a time of the same unit, and not added to a count. SQLite has parsed
 * the expression; its program (EXPLAIN) says which value meets which, so there is no second parser here. An instruction
 * that is not known makes a value of no unit, which fits all: of it nothing is said. */
#include "rules/internal.h"

#include "base/text.h"

static const enum nai_unit plain = NAI_UNIT_COUNT; /* fits every unit */
enum { MAX_REGISTERS = 256 };

enum { WORD = 16 };
struct operation {
  char name[WORD], what[WORD];
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
  struct expression *e;
  struct content registers[MAX_REGISTERS];
  struct nai_err *err;
};

static const struct ref *ref_at(const struct check *c, uint32_t number) { return &c->e->refs.at[number - 1]; }

/* A parameter has the unit that its name ends in. */
static enum nai_unit unit_of_parameter(const char *name) {
  static const struct {
    const char *end;
    enum nai_unit unit;
  } ends[] = {{"_per_s", NAI_UNIT_COUNT}, {"_ns", NAI_NS}, {"_us", NAI_US}, {"_ms", NAI_MS}, {"_s", NAI_S},
              {"_bytes", NAI_BYTES}};
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
    if (nai_text_ends(name, ends[i].end) && strcmp(name, ends[i].end) != 0)
      return ends[i].unit;
  return plain;
}

static struct content content_of(const struct check *c, uint32_t number) {
  const struct ref *ref = ref_at(c, number);
  struct content content = {.unit = ref->unit, .ref = number};
  if (ref->kind == REF_PARAMETER)
    content.unit = unit_of_parameter(c->set->parameters.at[ref->number].name);
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

/* Of registers past the last nothing is known. */
static struct content *at(struct check *c, int number) {
  bool known = number > 0 && number < MAX_REGISTERS;
  c->registers[0].unit = plain;
  return &c->registers[known ? number : 0];
}

static int calculate(struct check *c, const struct operation *o) {
  struct content right = *at(c, o->p1), left = *at(c, o->p2), *out = at(c, o->p3);
  bool sum = strcmp(o->name, "Add") == 0 || strcmp(o->name, "Subtract") == 0, quotient = strcmp(o->name, "Divide") == 0;
  enum nai_unit unit = sum ? (left.unit == plain ? right.unit : left.unit) : scaled(left.unit, !quotient, right.unit);
  if (left.unit == NAI_TEXT || right.unit == NAI_TEXT)
    return fail(c, &left, &right, "texts cannot be calculated with");
  if (sum)
    NAI_TRY(check_pair(c, &left, &right));
  if (quotient && left.whole && right.whole && unit == plain) /* of a time less than a nanosecond is lost */
    return fail(c, &left, &right, "SQL drops the fraction of a quotient of whole numbers: write 1.0 * in front");
  *out = (struct content){unit, left.whole && right.whole, left.ref > right.ref ? left.ref : right.ref};
  return 0;
}

/* What a function makes of its first argument: a value of the same unit, or a plain number. */
static struct content call(const char *function, struct content first) {
  const char *const *same = NAI_WORDS("abs(", "max(", "min(", "coalesce(", "ifnull(", "round(", "sum(", "union_ns(");
  const char *const *reals = NAI_WORDS("avg(", "total(", "median(", "p50(", "p90(", "p99(", "percentile(", "stddev(");
  if (nai_text_begins(function, same))
    return first;
  if (nai_text_begins(function, reals))
    return (struct content){.unit = first.unit, .ref = first.ref};
  return (struct content){.unit = plain};
}

static int follow(struct check *c, const struct operation *o) {
  static const char *const arithmetic[] = {"Add", "Subtract", "Multiply", "Divide", "Remainder", NULL};
  static const char *const comparisons[] = {"Eq", "Ne", "Lt", "Le", "Gt", "Ge", NULL};
  static const char *const copies[] = {"Copy", "SCopy", "Move", NULL};
  static const char *const functions[] = {"Function", "PureFunc", "AggStep", NULL};
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
  else if (is(o, functions))
    *at(c, o->p3) = call(o->what, *at(c, o->p2));
  else if (is(o, logic))
    *at(c, o->name[0] == 'N' || o->name[0] == 'I' ? o->p2 : o->p3) = (struct content){.unit = plain};
  return NAI_OK;
}

/* As much as fits. */
static void copy(char out[WORD], const char *text) {
  memcpy(out, text ? text : "", text ? strnlen(text, WORD - 1) : 0);
}

static void finalize(sqlite3_stmt **statement) { sqlite3_finalize(*statement); }

static int read_program(struct operation **out, uint32_t *count, const struct check *c, struct nai_arena *arena) {
  __attribute__((cleanup(finalize))) sqlite3_stmt *explain = NULL;
  const char *sql = nai_arena_printf(arena, "EXPLAIN %s", c->e->sql);
  uint32_t capacity = 0;
  int step;
  NAI_TRY(nai_arena_check(arena, c->err));
  nai_expression_listen(c->e, c->set);
  if (sqlite3_prepare_v2(c->set->sql->sqlite, sql, -1, &explain, NULL) != SQLITE_OK)
    return nai_expression_error(c->set, c->e, c->err); /* a mistake is told here, with its place */
  while ((step = sqlite3_step(explain)) == SQLITE_ROW) {
    NAI_TRY(NAI_ROOM(*out, capacity, *count, arena, c->err));
    const char *name = (const char *)sqlite3_column_text(explain, 1),
               *what = (const char *)sqlite3_column_text(explain, 5);
    struct operation *o = &(*out)[(*count)++];
    o->p1 = sqlite3_column_int(explain, 2);
    o->p2 = sqlite3_column_int(explain, 3);
    o->p3 = sqlite3_column_int(explain, 4);
    copy(o->name, name);
    copy(o->what, what);
  }
  return step == SQLITE_DONE ? NAI_OK : nai_expression_error(c->set, c->e, c->err);
}

int nai_units_check(struct expression *e, const struct nai_rule_set *set, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(NULL);
  struct check *c = NULL;
  struct operation *program = NULL;
  uint32_t count = 0;
  NAI_TRY(NAI_NEW(c, &arena, 1, err));
  *c = (struct check){.set = set, .e = e, .err = err};
  for (int i = 0; i < MAX_REGISTERS; i++)
    c->registers[i].unit = plain;
  NAI_TRY(read_program(&program, &count, c, &arena));
  /* It begins with what is constant, at its end. */
  uint32_t first = count && program[0].p2 > 0 && (uint32_t)program[0].p2 < count ? (uint32_t)program[0].p2 : 0;
  for (uint32_t i = 0; i < count; i++) {
    const struct operation *o = &program[(first + i) % count];
    NAI_TRY(follow(c, o));
    e->aggregate |= strcmp(o->name, "AggStep") == 0;
    if (strcmp(o->name, "ResultRow") == 0)
      e->unit = basic(at(c, o->p1)->unit);
  }
  return NAI_OK;
}
