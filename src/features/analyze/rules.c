/* nsys-ai rules: list, check, explain and show rules. */
#include "command/command.h"

#include "base/assets.h"
#include "config/kernel_rules.h"
#include "pipeline/analyze.h"
#include "rules/rules.h"
#include "rundir/run.h"

struct rules_args {
  const char *rules[NAI_MAX_RULE_FILES];
  size_t rule_count;
  int format;
};

enum { TEXT, JSON };
NAI_CLI_NAMES(format_name, "text", "json")

#define NAI_CLI_ARGS struct rules_args
static const struct nai_cli_option options[] = {
    NAI_CLI_LIST(texts, rules, rule_count, "rules", "FILE", "rules to read beside the built-in ones; repeatable",
                 NAI_CLI_FILES("yaml yml")),
    NAI_CMD_EXPORT_OPTION,
    NAI_CLI_OPTION(choice, format, "format", "FORMAT", "how the answer is printed; as JSON all but the list is a text",
                   .choices = format_name),
    {0},
};

enum verb { LIST, CHECK, TEST, EXPLAIN, SHOW, VERB_COUNT };
static const struct {
  const char *name, *needs, *about;
} verbs[VERB_COUNT] = {
    [LIST] = {"list", NULL, "every active rule with its severities"},
    [CHECK] = {"check", "a file", "FILE: reads a rule file and reports its mistakes with line and column"},
    [TEST] = {"test", "a file", "FILE.rules: reads rules for kernels' categories and tries their examples"},
    [EXPLAIN] =
        {"explain", "the id of a rule",
         "ID [SRC]: what a rule finds, why it costs time, how to confirm and fix it; of a run or trace: why it speaks "
         "or does not"},
    [SHOW] = {"show", "the id of a rule", "ID: the rule itself, as YAML, with the parameters in force"},
};

NAI_CLI_NAMES_OF(verb_name, verbs)

static const char *verb_about(size_t i) { return verbs[i].about; }

static const char *second_operand(size_t i, const char *verb) {
  bool id = strcmp(verb, verbs[EXPLAIN].name) == 0 || strcmp(verb, verbs[SHOW].name) == 0;
  return id ? nai_cmd_rule_ids(i, "") : NULL;
}

/* The page on the finding; a rule of the user's own has none and is shown as it is. */
static void explain(struct nai_buf *out, const char *id, const struct nai_buf *yaml, int format) {
  char path[128];
  snprintf(path, sizeof path, "docs/root-causes/%.90s.md", id);
  const struct nai_asset *page = nai_asset_find(path);
  if (!page || format == JSON) {
    nai_buf_put(out, page ? page->data : yaml->data, page ? (size_t)(page->end - page->data) : yaml->len);
    return;
  }
  nai_cmd_page(out, page->data, (size_t)(page->end - page->data), nai_cmd_prose_width(), nai_cmd_color());
  nai_buf_printf(out, "\nThe rule and its thresholds: nsys-ai rules show %s\n", id);
}

static int print(struct nai_buf *out, const struct nai_rule_set *set, enum verb verb, const char *what, int format,
                 struct nai_err *err) {
  NAI_SCOPED(nai_buf) yaml = {0};
  if (verb == LIST && format == JSON) {
    nai_rules_list_json(out, set);
    return NAI_OK;
  }
  if (verb == LIST) {
    NAI_SCOPED(nai_buf) lines = {0};
    nai_rules_list(&lines, set);
    nai_cmd_put_lines(out, &lines);
    return NAI_OK;
  }
  if (verb == CHECK) {
    nai_buf_printf(out, "%s: no mistakes; %zu rules are active with it\n", what, nai_rules_count(set));
    return NAI_OK;
  }
  NAI_TRY(nai_rules_explain(&yaml, set, what, err)); /* knows which ids there are */
  if (verb == EXPLAIN)
    explain(out, what, &yaml, format);
  else
    nai_buf_put(out, yaml.data, yaml.len);
  return NAI_OK;
}

/* Rules for categories of kernels, of the user's own. Reading them tries their examples. */
static int test_kernel_rules(struct nai_buf *out, const char *path, struct nai_err *err) {
  NAI_OWNED(nai_kernel_rules) *rules = NULL;
  NAI_SCOPED(nai_strings) categories = {0};
  uint64_t hash = 0;
  uint32_t examples = 0, without = 0;
  NAI_TRY(nai_kernel_rules_load(&rules, &hash, path, false, &categories, err));
  int count = nai_kernel_rules_count(rules);
  for (int i = 0; i < count; i++) {
    struct nai_kernel_rule rule = nai_kernel_rules_get(rules, i);
    examples += rule.example_count;
    without += !rule.example_count;
    if (!rule.example_count)
      nai_buf_printf(out, "%s:%u: %s has no example\n", path, rule.line,
                     nai_strings_get(&categories, (uint32_t)rule.category));
  }
  nai_buf_printf(out, "%s: no mistakes; %" PRIu32 " of %d rules decide their %" PRIu32 " examples\n", path,
                 (uint32_t)count - without, count, examples);
  return NAI_OK;
}

/* Of each row that meets the rule's `where` what it fails. */
static int explain_run(struct nai_buf *out, const struct nai_rule_set *set, const char *id, const char *path,
                       const struct nai_schema *const *schemas, size_t count, struct nai_err *err) {
  const struct nai_table *tables[NAI_REPORT_MAX_TABLES] = {0};
  const struct nai_rules_input input = {tables, count, NULL};
  NAI_OWNED(nai_run) *run = NULL;
  NAI_TRY(nai_cmd_source_open(&run, path, &(struct nai_cmd_source){0}, err));
  for (size_t i = 0; i < count; i++)
    NAI_TRY(nai_run_table_if_any(&tables[i], run, schemas[i]->name, schemas[i], err));
  return nai_rules_why(out, set, id, &input, err);
}

static int check(const void *memory, const char *const *operands, size_t count, struct nai_err *err) {
  const struct rules_args *args = memory;
  enum verb verb = (enum verb)nai_cli_choice_index(verb_name, operands[0]);
  if (verbs[verb].needs && count < 2)
    return nai_err_set(err, NAI_EUSAGE, "rules %s needs %s", verbs[verb].name, verbs[verb].needs);
  if (verb != EXPLAIN && count > 2)
    return nai_err_set(err, NAI_EUSAGE, "rules %s takes one operand", verbs[verb].name);
  if (!verbs[verb].needs && count > 1)
    return nai_err_set(err, NAI_EUSAGE, "rules %s takes no operand", verbs[verb].name);
  if (verb == CHECK && args->rule_count == NAI_MAX_RULE_FILES)
    return nai_err_set(err, NAI_EUSAGE, "at most %d rule files", NAI_MAX_RULE_FILES);
  return NAI_OK;
}

/* What a verb says of a rule or file, as it is or as a member of an object; the list, of nothing, is an object already.
 */
static int print_answer(const struct nai_buf *text, const char *what, int format, struct nai_err *err) {
  NAI_SCOPED(nai_buf) out = {0};
  if (format == TEXT || !what)
    return nai_cmd_print(text, err);
  NAI_TRY(nai_cmd_put_text_json(&out, what, text, err));
  return nai_cmd_print(&out, err);
}

static int run(void *memory, const char *const *operands, size_t count, struct nai_err *err) {
  struct rules_args *args = memory;
  const char *what = count > 1 ? operands[1] : NULL;
  const struct nai_schema *schemas[NAI_REPORT_MAX_TABLES];
  size_t schema_count = nai_report_schemas(schemas, NAI_STAGE_RECOMMEND);
  NAI_OWNED(nai_rule_set) *set = NULL;
  NAI_SCOPED(nai_buf) text = {0};
  enum verb verb = (enum verb)nai_cli_choice_index(verb_name, operands[0]);
  if (verb == TEST) {
    NAI_TRY(test_kernel_rules(&text, what, err));
    return print_answer(&text, what, args->format, err);
  }
  if (verb == CHECK)
    args->rules[args->rule_count++] = what;
  NAI_TRY(nai_rules_load(&set, args->rules, args->rule_count, schemas, schema_count, err));
  NAI_TRY(count > 2 ? explain_run(&text, set, what, operands[2], schemas, schema_count, err)
                    : print(&text, set, verb, what, args->format, err));
  return print_answer(&text, what, args->format, err);
}

NAI_CLI_COMMAND(
    nai_cmd_rules, .name = "rules", .synopsis = "list|check FILE|test FILE|explain ID [SRC]|show ID",
    .summary = "list, check, explain and show the rules that make findings",
    .description =
        "Findings are made by rules in YAML. How to write some: docs/writing-rules.md. What a kernel does is told "
        "by rules on its name: docs/writing-kernel-rules.md.",
    .examples =
        "nsys-ai rules list\nnsys-ai rules explain idle-host-code\nnsys-ai rules explain exposed-copy artifacts/run1\nnsys-ai rules show idle-host-code\n"
        "nsys-ai rules check my-rules.yaml\nnsys-ai rules test my-kernels.rules",
    .options = options,
    NAI_CLI_OPERANDS(1, 3, {.name = "rules", .choices = verb_name, .about = verb_about, .only_choices = true},
                     {.name = "FILE or ID", .choices = second_operand, NAI_CLI_FILES("yaml yml rules")},
                     NAI_CMD_SOURCE("SRC")),
    .check = check, .run = run)
