/* nsys-ai skill: list, show, check, run and test skills. */
#include "features/sql/sql_command.h"
#include "pipeline/analyze.h"
#include "rules/rules.h"

#include "base/escape.h"
#include "tables/skills.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct skill_args {
  struct nai_cmd_ask ask;
  double timeout_s;
  bool all;
};

static void init(void *memory) { nai_cmd_ask_init(&((struct skill_args *)memory)->ask); }

#define ASK offsetof(struct skill_args, ask)
static const struct nai_cli_option options[] = {
    NAI_CMD_SKILLS_OPTION(ASK),
    {.name = "param",
     .letter = 'p',
     .value = "NAME=VALUE",
     .help = "run: a parameter of the skill; repeatable",
     .type = &nai_cli_texts,
     .at = ASK + offsetof(struct nai_cmd_ask, parameters),
     .count_at = ASK + offsetof(struct nai_cmd_ask, parameter_count),
     .most = NAI_SKILL_MAX_PARAMETERS},
    NAI_CMD_GPU_OPTION(ASK),
    NAI_CMD_WINDOW_OPTION(ASK),
    NAI_CMD_ROWS_OPTION(ASK),
    NAI_CMD_FORMAT_OPTION(ASK),
    {.name = "timeout",
     .value = "SECONDS",
     .help = "run: end a statement that takes longer, with exit status 6",
     .type = &nai_cli_number,
     .at = offsetof(struct skill_args, timeout_s),
     .min = 0,
     .max = 1000000,
     .otherwise = "none"},
    {.name = "all", .help = "test: every skill", .type = &nai_cli_on, .at = offsetof(struct skill_args, all)},
    NAI_CMD_QUIET_OPTION(ASK),
    {0},
};

enum verb { LIST, SHOW, CHECK, RUN, TEST, VERB_COUNT };
static const struct {
  const char *name, *about;
  size_t least, most; /* operands behind the verb */
  const char *needs;
} verbs[VERB_COUNT] = {
    [LIST] = {"list", "which skills there are, and where each comes from", 0, 0, "no operand"},
    [SHOW] = {"show", "ID: the file as it was written", 1, 1, "the id of a skill"},
    [CHECK] = {"check", "FILE: reads a file of a skill or page and reports its mistakes with line and column", 1, 1,
               "a file"},
    [RUN] = {"run", "ID SRC: the answer", 2, 2, "the id of a skill, and a run or a trace"},
    [TEST] = {"test", "ID, FILE or --all: runs the tests that stand in the file", 0, 1,
              "the id of a skill, a file, or --all"},
};

static const char *verb_name(size_t i, const char *before) {
  (void)before;
  return i < VERB_COUNT ? verbs[i].name : NULL;
}

static const char *verb_about(size_t i) { return verbs[i].about; }

static int check(const void *memory, const char *const *operands, size_t count, struct nai_err *err) {
  const struct skill_args *args = memory;
  enum verb verb = (enum verb)nai_cli_choice_index(verb_name, operands[0]);
  size_t given = count - 1;
  if (given < verbs[verb].least || given > verbs[verb].most || (verb == TEST && args->all == (given == 1)))
    return nai_err_set(err, NAI_EUSAGE, "skill %s takes %s", verbs[verb].name, verbs[verb].needs);
  return NAI_OK;
}

/* --- list, show ------------------------------------------------------------------------------------- */

static void put_parameters(struct nai_buf *out, const struct nai_skill *skill) {
  for (size_t i = 0; i < skill->parameter_count; i++)
    nai_buf_printf(out, "%s%s%s", i ? " " : "", skill->parameters[i].name, skill->parameters[i].required ? "!" : "");
}

static int list(struct nai_buf *out, const struct nai_skills *skills, const struct nai_cmd_ask *ask,
                struct nai_err *err) {
  struct nai_table *table = NULL;
  int rc = nai_table_new(&table, &nai_skills_schema, err);
  for (uint32_t i = 0; i < skills->skill_count && !rc; i++) {
    const struct nai_skill *skill = skills->skills[i];
    struct nai_buf parameters = {0};
    int64_t row = nai_table_add_row(table);
    put_parameters(&parameters, skill);
    nai_set_str(table, row, 0, skill->id);
    nai_set_str(table, row, 1, skill->category);
    nai_set_str(table, row, 2, nai_buf_str(&parameters));
    nai_set_str(table, row, 3, skill->source);
    nai_set_str(table, row, 4, skill->title);
    nai_buf_free(&parameters);
    rc = nai_table_check(table, err);
  }
  if (!rc)
    rc = nai_cmd_print_table(out, table, ask, err);
  nai_table_free(table);
  return rc;
}

/* --- check, run, test ------------------------------------------------------------------------------- */

/* The rules of a skill's file, against the report's tables and its own. */
static int check_rules(const struct nai_skill *skill, struct nai_err *err) {
  const struct nai_schema *schemas[NAI_REPORT_MAX_TABLES + 1];
  const struct nai_rules_extra extra = {skill->doc->file, nai_buf_str(&skill->file), skill->id, skill->file.len};
  size_t count = nai_report_schemas(schemas, NAI_STAGE_RECOMMEND);
  struct nai_rule_set *set = NULL;
  struct nai_schema *own = NULL;
  if (!skill->has_rules)
    return NAI_OK;
  int rc = nai_skill_schema(&own, skill, err);
  schemas[count] = own;
  if (!rc)
    rc = nai_rules_load_with(&set, NULL, 0, &extra, 1, schemas, count + 1, err);
  nai_rules_free(set);
  nai_schema_free(own);
  return rc;
}

static int check_file(struct nai_buf *out, const char *path, const struct nai_skills *skills, struct nai_err *err) {
  struct nai_skill *skill;
  struct nai_page *page;
  struct nai_run *run = NULL;
  int rc = nai_skills_read(&skill, &page, path, err);
  if (!rc)
    rc = nai_empty_run(&run, err);
  if (!rc)
    rc = skill ? nai_skill_check(skill, run, err) : nai_page_check(page, skills, run, err);
  if (!rc && skill)
    rc = check_rules(skill, err);
  if (!rc)
    nai_buf_printf(out, "%s: no mistakes\n", path);
  nai_run_close(run);
  nai_skill_free(skill);
  nai_page_free(page);
  return rc;
}

static int run_skill(struct nai_buf *out, const struct nai_skill *skill, const char *source,
                     const struct skill_args *args, struct nai_err *err) {
  struct nai_run *run = NULL;
  struct nai_skill_answer answer = {0};
  struct nai_query_parameter ignored[NAI_SKILL_MAX_PARAMETERS + NAI_SKILL_ALWAYS];
  struct nai_skill_request request = nai_cmd_request(NULL, &args->ask);
  size_t count;
  request.limits.timeout_s = args->timeout_s;
  int rc = nai_cmd_check_looks(&args->ask, skill->text.sql, skill->id, err);
  if (!rc) /* a typing mistake should not cost an analysis */
    rc = nai_skill_bind(ignored, &count, skill, &request, err);
  if (!rc)
    rc = nai_cmd_source_open(&run, source, &(struct nai_cmd_source){.quiet = args->ask.quiet}, err);
  request.run = run;
  if (!rc)
    rc = nai_cmd_check_asked(&args->ask, run, err);
  if (!rc)
    rc = nai_skill_ask(&answer, skill, &request, err);
  if (!rc)
    rc = nai_cmd_print_answer(out, skill, &answer, &args->ask, err);
  nai_skill_answer_free(&answer);
  nai_run_close(run);
  return rc;
}

static int test(struct nai_buf *out, const struct nai_skills *skills, const char *what, struct nai_err *err) {
  struct nai_skill *file = NULL;
  struct nai_page *page = NULL;
  const struct nai_skill *one = NULL;
  size_t passed = 0, failed = 0;
  bool is_file = what && strchr(what, '.');
  int rc = !what   ? NAI_OK
         : is_file ? nai_skills_read(&file, &page, what, err)
                   : nai_skills_find(&one, skills, what, err);
  if (!rc && page)
    rc = nai_err_set(err, NAI_EUSAGE, "\"%s\" is a page, which has no tests", what);
  const struct nai_skill *chosen = file ? file : one;
  if (!rc)
    rc = what ? nai_cmd_test_skills(out, &passed, &failed, &chosen, 1, err)
              : nai_cmd_test_skills(out, &passed, &failed, (const struct nai_skill *const *)skills->skills,
                                    skills->skill_count, err);
  if (!rc)
    nai_buf_printf(out, "%zu passed, %zu failed\n", passed, failed);
  nai_skill_free(file);
  nai_page_free(page);
  return rc ? rc : failed ? 1 : NAI_OK;
}

static int answer(struct nai_buf *out, const struct nai_skills *skills, const struct skill_args *args,
                  const char *const *operands, size_t count, struct nai_err *err) {
  const struct nai_skill *skill = NULL;
  enum verb verb = (enum verb)nai_cli_choice_index(verb_name, operands[0]);
  const char *what = count > 1 ? operands[1] : NULL;
  int rc = verb == SHOW || verb == RUN ? nai_skills_find(&skill, skills, what, err) : NAI_OK;
  if (rc)
    return rc;
  switch (verb) {
  case LIST:
    return list(out, skills, &args->ask, err);
  case SHOW:
    nai_buf_put(out, skill->file.data, skill->file.len);
    return nai_buf_check(out, err);
  case CHECK:
    return check_file(out, what, skills, err);
  case RUN:
    return run_skill(out, skill, operands[2], args, err);
  default:
    return test(out, skills, what, err);
  }
}

static int run(void *memory, const char *const *operands, size_t count, const struct nai_cli_program *program,
               struct nai_err *err) {
  const struct skill_args *args = memory;
  struct nai_skills skills;
  struct nai_buf out = {0};
  (void)program;
  int rc = nai_skills_load(&skills, args->ask.skills, args->ask.skill_count, err);
  if (!rc)
    rc = answer(&out, &skills, args, operands, count, err);
  if (rc >= 0) {
    int printed = nai_cmd_print(&out, err);
    rc = printed ? printed : rc;
  }
  nai_buf_free(&out);
  nai_skills_free(&skills);
  return rc;
}

/* What may stand behind a verb that takes the id of a skill. */
static const char *id_name(size_t i, const char *verb) {
  return strcmp(verb, "check") == 0 || strcmp(verb, "list") == 0 ? NULL : nai_cmd_skill_ids(i, "");
}

const struct nai_cli_command nai_cmd_skill = {
    .name = "skill",
    .synopsis = "list|show ID|check FILE|run ID SRC|test ID|FILE|--all",
    .summary = "ask questions that were written down before, and write your own",
    .description =
        "A skill is a YAML file with a statement, its parameters and what its columns mean: docs/writing-skills.md. "
        "SRC is an artifacts directory or a trace, which is analysed for this answer only.",
    .examples = "nsys-ai skill list\nnsys-ai skill run streams artifacts/run1\n"
                "nsys-ai skill run kernel_instances artifacts/run1 --param name=gemm --format csv\n"
                "nsys-ai skill check my_skill.yaml",
    .options = options,
    .operands =
        (const struct nai_cli_operand[]){
            {.name = "skill", .choices = verb_name, .about = verb_about, .only_choices = true},
            {.name = "ID or FILE", .choices = id_name, .hint = NAI_CLI_FILE, .suffixes = "yaml yml"},
            {.name = "SRC", .hint = NAI_CLI_FILE, .suffixes = NAI_CMD_TRACE_SUFFIXES},
            {0}},
    .min_operands = 1,
    .max_operands = 3,
    .args_size = sizeof(struct skill_args),
    .init = init,
    .check = check,
    .run = run,
};
