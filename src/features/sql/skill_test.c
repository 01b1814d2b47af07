/* The tests that stand in the files of skills: on traces that nsys-ai-gen makes, against answers that are known. */
#include "features/sql/sql_command.h"

#include "base/array.h"
#include "base/program.h"

#include <unistd.h>

/* A generated trace, analysed once for all tests that ask for it. */
struct sample {
  char scenario[64];
  int64_t seed;
  struct nai_run *run;
};

struct bench {
  struct nai_temporary directory;
  struct sample *samples;
  uint32_t count, capacity;
  struct nai_buf *out;
  size_t passed, failed;
};

/* The generator beside this program, else the one on PATH. */
static void generator(char path[PATH_MAX]) {
  ssize_t len = readlink("/proc/self/exe", path, PATH_MAX - 32);
  path[len > 0 ? len : 0] = '\0';
  char *slash = strrchr(path, '/');
  strcpy(slash ? slash + 1 : path, "nsys-ai-gen");
  if (access(path, X_OK) != 0)
    strcpy(path, "nsys-ai-gen");
}

static int generate(const char *trace, const char *scenario, int64_t seed, struct nai_err *err) {
  char program[PATH_MAX], number[24];
  int status;
  generator(program);
  snprintf(number, sizeof number, "%lld", (long long)seed);
  const char *const argv[] = {program, scenario, trace, "--seed", number, NULL};
  int rc = nai_program_run(&status, &(struct nai_program){.argv = argv}, err);
  if (rc)
    return nai_err_wrap(err, rc, "the traces of tests are made by nsys-ai-gen");
  return status ? nai_err_set(err, NAI_EUSAGE, "nsys-ai-gen %s failed; its message is above", scenario) : NAI_OK;
}

static int find_sample(struct nai_run **out, struct bench *b, const char *scenario, int64_t seed, struct nai_err *err) {
  char trace[PATH_MAX + 32];
  for (uint32_t i = 0; i < b->count; i++)
    if (strcmp(b->samples[i].scenario, scenario) == 0 && b->samples[i].seed == seed) {
      *out = b->samples[i].run;
      return NAI_OK;
    }
  NAI_TRY(nai_memory_check(nai_array_room(&b->samples, &b->capacity, b->count, sizeof *b->samples), err));
  struct sample *sample = &b->samples[b->count];
  *sample = (struct sample){.seed = seed};
  snprintf(sample->scenario, sizeof sample->scenario, "%s", scenario);
  snprintf(trace, sizeof trace, "%s/%u.sqlite", b->directory.path, b->count);
  NAI_TRY(generate(trace, scenario, seed, err));
  NAI_TRY(nai_cmd_source_open(&sample->run, trace, &(struct nai_cmd_source){.quiet = true}, err));
  b->count++;
  *out = sample->run;
  return NAI_OK;
}

/* --- one test -------------------------------------------------------------------------------------- */

struct test {
  struct bench *bench;
  const struct nai_skill *skill;
  const struct nai_yaml_node *node;
  const struct nai_table *table;
  struct nai_buf wrong; /* "expected ... got ..." */
};

static const struct nai_yaml_node *member(const struct test *t, const char *key) {
  return nai_yaml_get(t->skill->doc, t->node, key);
}

static void put_value(struct nai_buf *out, const struct nai_skill_column *c, const struct nai_value *value) {
  if (value->null)
    nai_buf_puts(out, "NULL");
  else if (value->type == NAI_STR)
    nai_buf_puts(out, value->s);
  else
    nai_rows_number(out, c->unit, value);
}

static void compare(struct test *t, const char *what, const struct nai_skill_column *c,
                    const struct nai_yaml_node *wanted, const struct nai_value *got) {
  char *end;
  double number = strtod(wanted->text, &end), value = nai_value_number(c->unit, got);
  bool same = got->null            ? strcmp(wanted->text, "null") == 0
            : got->type == NAI_STR ? strcmp(wanted->text, got->s) == 0
                                   : *wanted->text && !*end && fabs(value - number) <= 5e-7 + 1e-12 * fabs(number);
  if (same)
    return;
  nai_buf_printf(&t->wrong, "%s%s %s: expected %s, got ", t->wrong.len ? "; " : "", what, c->name, wanted->text);
  put_value(&t->wrong, c, got);
}

static struct nai_value sum_of(const struct nai_table *table, int column) {
  bool real = table->schema->columns[column].type == NAI_F64;
  struct nai_value sum = {.type = real ? NAI_F64 : NAI_I64};
  for (int64_t row = 0; row < table->rows; row++) {
    struct nai_value v = nai_table_value(table, row, column);
    sum.f += v.null || !real ? 0 : v.f;
    sum.i += v.null || real ? 0 : v.i;
  }
  return sum;
}

/* first: cells of the first row; sum: of all rows. */
static int check_cells(struct test *t, const char *key, bool sum, struct nai_err *err) {
  const struct nai_yaml *doc = t->skill->doc;
  const struct nai_yaml_node *n;
  NAI_TRY(nai_yaml_items(&n, doc, t->node, key, NAI_YAML_MAP, err));
  for (; n; n = nai_yaml_next(doc, n)) {
    size_t c = 0;
    while (c < t->skill->column_count && strcmp(t->skill->columns[c].name, n->key) != 0)
      c++;
    if (c == t->skill->column_count)
      return nai_yaml_error_key(doc, n, err, "the skill has no column \"%s\"", n->key);
    struct nai_value value = sum            ? sum_of(t->table, (int)c)
                           : t->table->rows ? nai_table_value(t->table, 0, (int)c)
                                            : (struct nai_value){.null = true};
    compare(t, key, &t->skill->columns[c], n, &value);
  }
  return NAI_OK;
}

static int check_answer(struct test *t, const struct nai_skill_answer *answer, struct nai_err *err) {
  const struct nai_yaml *doc = t->skill->doc;
  const struct nai_yaml_node *abstains = member(t, "abstains"), *rows = member(t, "rows");
  bool silent = false;
  int64_t wanted = 0;
  if (abstains)
    NAI_TRY(nai_yaml_bool(&silent, doc, abstains, err));
  if (rows)
    NAI_TRY(nai_yaml_int(&wanted, doc, rows, 0, INT64_MAX, err));
  if (!answer->table != silent)
    nai_buf_printf(&t->wrong, silent ? "expected no answer, got one" : "expected an answer, got: cannot say: %s",
                   nai_buf_str(&answer->reason));
  if (!answer->table || silent)
    return NAI_OK;
  t->table = answer->table;
  if (rows && answer->table->rows != wanted)
    nai_buf_printf(&t->wrong, "rows: expected %lld, got %lld", (long long)wanted, (long long)answer->table->rows);
  NAI_TRY(check_cells(t, "first", false, err));
  return check_cells(t, "sum", true, err);
}

/* parameters: {name: value} as NAME=VALUE. */
static int read_parameters(char texts[NAI_SKILL_MAX_PARAMETERS][256], const char **out, size_t *count,
                           const struct test *t, struct nai_err *err) {
  const struct nai_yaml_node *n;
  NAI_TRY(nai_yaml_items(&n, t->skill->doc, t->node, "parameters", NAI_YAML_MAP, err));
  for (*count = 0; n && *count < NAI_SKILL_MAX_PARAMETERS; n = nai_yaml_next(t->skill->doc, n)) {
    snprintf(texts[*count], sizeof texts[0], "%s=%s", n->key, n->text);
    out[*count] = texts[*count];
    ++*count;
  }
  return NAI_OK;
}

static int run_test(struct test *t, const char *scenario, int64_t seed, struct nai_err *err) {
  char texts[NAI_SKILL_MAX_PARAMETERS][256];
  const char *parameters[NAI_SKILL_MAX_PARAMETERS];
  struct nai_skill_request request = {.parameters = parameters, .limits = {.timeout_s = 120}};
  NAI_SCOPED(nai_skill_answer) answer = {0};
  NAI_TRY(read_parameters(texts, parameters, &request.parameter_count, t, err));
  NAI_TRY(find_sample(&request.run, t->bench, scenario, seed, err));
  NAI_TRY(nai_skill_ask(&answer, t->skill, &request, err));
  return check_answer(t, &answer, err);
}

static void test_free(struct test *t) { nai_buf_free(&t->wrong); }

static int test(struct bench *b, const struct nai_skill *skill, const struct nai_yaml_node *node, struct nai_err *err) {
  static const char *const keys[] = {"name", "trace", "parameters", "rows", "first", "sum", "abstains", NULL};
  const struct nai_yaml *doc = skill->doc;
  NAI_SCOPED(test) t = {.bench = b, .skill = skill, .node = node};
  const char *name = "", *scenario = "";
  int64_t seed = 1;
  NAI_TRY(nai_yaml_expect_keys(doc, node, keys, err));
  const struct nai_yaml_node *trace = member(&t, "trace");
  if (!member(&t, "name") || !trace || trace->kind != NAI_YAML_MAP || !nai_yaml_get(doc, trace, "generate"))
    return nai_yaml_error(doc, node, err, "a test has a \"name\" and a \"trace: {generate: SCENARIO, seed: N}\"");
  NAI_TRY(nai_yaml_text(&name, doc, member(&t, "name"), err));
  NAI_TRY(nai_yaml_text(&scenario, doc, nai_yaml_get(doc, trace, "generate"), err));
  if (nai_yaml_get(doc, trace, "seed"))
    NAI_TRY(nai_yaml_int(&seed, doc, nai_yaml_get(doc, trace, "seed"), 0, INT32_MAX, err));
  NAI_TRY(run_test(&t, scenario, seed, err));
  nai_buf_printf(b->out, "%s %s: %s%s%s\n", t.wrong.len ? "not ok" : "ok", skill->id, name, t.wrong.len ? ": " : "",
                 nai_buf_str(&t.wrong));
  b->passed += !t.wrong.len;
  b->failed += t.wrong.len > 0;
  return NAI_OK;
}

static void bench_free(struct bench *b) {
  for (uint32_t i = 0; i < b->count; i++)
    nai_run_close(b->samples[i].run);
  free(b->samples);
  nai_cmd_remove(&b->directory);
}

int nai_cmd_test_skills(struct nai_buf *out, size_t *passed, size_t *wrong, const struct nai_skill *const *skills,
                        size_t count, struct nai_err *err) {
  NAI_SCOPED(bench) b = {.out = out};
  NAI_TRY(nai_temporary_in(&b.directory, nai_temporary_place(), err));
  for (size_t i = 0; i < count; i++) {
    const struct nai_yaml *doc = skills[i]->doc;
    const struct nai_yaml_node *n = skills[i]->tests ? nai_yaml_first(doc, skills[i]->tests) : NULL;
    for (; n; n = nai_yaml_next(doc, n))
      NAI_TRY(test(&b, skills[i], n, err));
  }
  *passed = b.passed;
  *wrong = b.failed;
  return NAI_OK;
}
