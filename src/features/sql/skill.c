/* nsys-ai skill: list, show, check, run and test skills. */
#include "features/sql/sql_command.h"
#include "pipeline/analyze.h"
#include "rules/rules.h"

#include "tables/skills.h"

struct skill_args {
  struct nai_cmd_ask ask;
  double timeout_s;
  bool all;
};

static void init(void *memory) { nai_cmd_ask_init(&((struct skill_args *)memory)->ask); }

#define NAI_CLI_ARGS struct skill_args
static const struct nai_cli_option options[] = {
    NAI_CMD_SKILLS_OPTION,
    NAI_CLI_LIST(texts, ask.parameters, ask.parameter_count, "param", "NAME=VALUE",
                 "run: a parameter of the skill; repeatable", .letter = 'p'),
    NAI_CMD_GPU_OPTION,
    NAI_CMD_WINDOW_OPTION,
    NAI_CMD_ROWS_OPTION,
    NAI_CMD_FORMAT_OPTION,
    NAI_CLI_OPTION(number, timeout_s, "timeout", "SECONDS",
                   "run: end a statement that takes longer, with exit status 6", NAI_CLI_RANGE(0, 1000000),
                   .otherwise = "none"),
    NAI_CLI_SWITCH(on, all, "all", "test: every skill"),
    NAI_CMD_EXPORT_OPTION,
    NAI_CMD_QUIET_OPTION,
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

NAI_CLI_NAMES_OF(verb_name, verbs)

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

static int list(struct nai_buf *out, const struct nai_skills *skills, const struct nai_cmd_ask *ask,
                struct nai_err *err) {
  NAI_OWNED(nai_table) *table = NULL;
  NAI_TRY(nai_table_new(&table, &nai_skills_schema, err));
  for (uint32_t i = 0; i < skills->skills.count; i++) {
    const struct nai_skill *skill = skills->skills.all[i];
    NAI_SCOPED(nai_buf) parameters = {0};
    for (size_t p = 0; p < skill->parameter_count; p++)
      nai_buf_printf(&parameters, "%s%s%s", p ? " " : "", skill->parameters[p].name,
                     skill->parameters[p].required ? "!" : "");
    NAI_ADD(SKILLS, table, .id = skill->id, .category = skill->category, .parameters = nai_buf_str(&parameters),
            .source = skill->source, .title = skill->title);
    NAI_TRY(nai_table_check(table, err));
  }
  return nai_cmd_print_table(out, table, ask, err);
}

/* --- check, run, test ------------------------------------------------------------------------------- */

/* The rules of a skill's file, against the report's tables and its own. */
static int check_rules(const struct nai_skill *skill, struct nai_err *err) {
  const struct nai_schema *schemas[NAI_REPORT_MAX_TABLES + 1];
  const struct nai_rules_extra extra = {skill->doc->file, nai_buf_str(&skill->file), skill->id, skill->file.len};
  size_t count = nai_report_schemas(schemas, NAI_STAGE_RECOMMEND);
  NAI_OWNED(nai_schema) *own = NULL;
  NAI_OWNED(nai_rule_set) *set = NULL;
  if (!skill->has_rules)
    return NAI_OK;
  NAI_TRY(nai_skill_schema(&own, skill, err));
  schemas[count] = own;
  return nai_rules_load_with(&set, NULL, 0, &extra, 1, schemas, count + 1, err);
}

static int check_file(struct nai_buf *out, const char *path, const struct nai_skills *skills, struct nai_err *err) {
  NAI_OWNED(nai_skill) *skill = NULL;
  NAI_OWNED(nai_run) *run = NULL;
  NAI_TRY(nai_skills_read(&skill, path, err));
  NAI_TRY(nai_empty_run(&run, err));
  NAI_TRY(skill->is_page ? nai_page_check(skill, skills, run, err) : nai_skill_check(skill, run, err));
  NAI_TRY(check_rules(skill, err));
  nai_buf_printf(out, "%s: no mistakes\n", path);
  return NAI_OK;
}

static int run_skill(struct nai_buf *out, const struct nai_skill *skill, const char *source, struct skill_args *args,
                     struct nai_err *err) {
  NAI_OWNED(nai_run) *run = NULL;
  NAI_SCOPED(nai_skill_answer) answer = {0};
  struct nai_query_parameter ignored[NAI_SKILL_MAX_PARAMETERS + NAI_SKILL_ALWAYS];
  struct nai_skill_request request = nai_cmd_request(NULL, &args->ask);
  size_t count;
  request.limits.timeout_s = args->timeout_s;
  NAI_TRY(nai_cmd_check_looks(&args->ask, skill->text.sql, skill->id, err));
  NAI_TRY(nai_skill_bind(ignored, &count, skill, &request, err)); /* a typing mistake should not cost an analysis */
  NAI_TRY(nai_cmd_source_open(&run, source, &(struct nai_cmd_source){.quiet = args->ask.quiet}, err));
  NAI_TRY(nai_cmd_check_asked(&args->ask, run, err));
  request = nai_cmd_request(run, &args->ask);
  request.limits.timeout_s = args->timeout_s;
  NAI_TRY(nai_skill_ask(&answer, skill, &request, err));
  return nai_cmd_print_answer(out, skill, &answer, &args->ask, err);
}

static int test(struct nai_buf *out, const struct nai_skills *skills, const char *what, struct nai_err *err) {
  NAI_OWNED(nai_skill) *file = NULL;
  const struct nai_skill *one = NULL;
  size_t passed = 0, wrong = 0;
  bool is_file = what && strchr(what, '.');
  if (what)
    NAI_TRY(is_file ? nai_skills_read(&file, what, err) : nai_skills_find(&one, skills, what, err));
  if (file && file->is_page)
    return nai_err_set(err, NAI_EUSAGE, "\"%s\" is a page, which has no tests", what);
  const struct nai_skill *chosen = file ? file : one;
  NAI_TRY(what ? nai_cmd_test_skills(out, &passed, &wrong, &chosen, 1, err)
               : nai_cmd_test_skills(out, &passed, &wrong, (const struct nai_skill *const *)skills->skills.all,
                                     skills->skills.count, err));
  nai_buf_printf(out, "%zu passed, %zu failed\n", passed, wrong);
  return wrong ? 1 : NAI_OK;
}

static int answer(struct nai_buf *out, const struct nai_skills *skills, struct skill_args *args,
                  const char *const *operands, size_t count, struct nai_err *err) {
  const struct nai_skill *skill = NULL;
  enum verb verb = (enum verb)nai_cli_choice_index(verb_name, operands[0]);
  const char *what = count > 1 ? operands[1] : NULL;
  if (verb == LIST)
    return list(out, skills, &args->ask, err);
  if (verb == CHECK)
    return check_file(out, what, skills, err);
  if (verb == TEST)
    return test(out, skills, what, err);
  NAI_TRY(nai_skills_find(&skill, skills, what, err));
  if (verb == RUN)
    return run_skill(out, skill, operands[2], args, err);
  nai_buf_put(out, skill->file.data, skill->file.len);
  return nai_buf_check(out, err);
}

/* Exit status 1: a test failed. */
static int run(void *memory, const char *const *operands, size_t count, struct nai_err *err) {
  struct skill_args *args = memory;
  NAI_SCOPED(nai_skills) skills = {0};
  NAI_SCOPED(nai_buf) out = {0};
  NAI_TRY(nai_cmd_load_skills(&skills, &args->ask, err));
  int status = answer(&out, &skills, args, operands, count, err);
  if (status < 0)
    return status;
  enum verb verb = (enum verb)nai_cli_choice_index(verb_name, operands[0]);
  bool text = verb != LIST && verb != RUN; /* those print in every format */
  NAI_SCOPED(nai_buf) json = {0};
  if (text && nai_cmd_page_format(args->ask.format) == NAI_ROWS_JSON)
    NAI_TRY(nai_cmd_put_text_json(&json, count > 1 ? operands[1] : "all", &out, err));
  NAI_TRY(nai_cmd_print(json.len ? &json : &out, err));
  return status;
}

/* What may stand behind a verb that takes the id of a skill. */
static const char *id_name(size_t i, const char *verb) {
  return strcmp(verb, "check") == 0 || strcmp(verb, "list") == 0 ? NULL : nai_cmd_skill_ids(i, "");
}

NAI_CLI_COMMAND(
    nai_cmd_skill, .name = "skill", .synopsis = "list|show ID|check FILE|run ID SRC|test ID|FILE|--all",
    .summary = "ask questions that were written down before, and write your own",
    .description =
        "A skill is a YAML file with a statement, its parameters and what its columns mean: docs/writing-skills.md. " NAI_CMD_ABOUT_SOURCE,
    .examples = "nsys-ai skill list\nnsys-ai skill run streams artifacts/run1\n"
                "nsys-ai skill run kernel_instances artifacts/run1 --param name=gemm --format csv\n"
                "nsys-ai skill check my_skill.yaml",
    .options = options,
    NAI_CLI_OPERANDS(1, 3, {.name = "skill", .choices = verb_name, .about = verb_about, .only_choices = true},
                     {.name = "ID or FILE", .choices = id_name, NAI_CLI_FILES("yaml yml")}, NAI_CMD_SOURCE("SRC")),
    .init = init, .check = check, .run = run)
