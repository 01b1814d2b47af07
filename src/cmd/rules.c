/* nsys-ai rules: list, check and explain rules. */
#include "cmd/setters.h"

#include "pipeline/run.h"
#include "rules/rules.h"

#include <stdio.h>
#include <string.h>

static int set_rules(struct nai_args *a, const char *const *v, struct nai_err *err) {
  if (a->run.rule_count == NAI_MAX_RULE_FILES)
    return nai_err_set(err, NAI_EUSAGE, "--rules: at most %d files", NAI_MAX_RULE_FILES);
  a->run.rules[a->run.rule_count++] = v[0];
  return NAI_OK;
}

static const struct nai_option options[] = {
    {"rules", 0, "FILE", "rules to read beside the built-in ones; repeatable", set_rules, false},
    {"help", 'h', NULL, "this text", nai_set_help, false},
    {0},
};

static int run(struct nai_args *args, struct nai_err *err) {
  const char *verb = args->operands[0], *what = args->operand_count > 1 ? args->operands[1] : NULL;
  bool list = strcmp(verb, "list") == 0, check = strcmp(verb, "check") == 0, explain = strcmp(verb, "explain") == 0;
  const struct nai_schema *const *schemas;
  size_t schema_count;
  struct nai_rule_set *set = NULL;
  struct nai_buf text = {0};
  if (!list && !check && !explain)
    return nai_err_set(err, NAI_EUSAGE, "rules %.60s: expected list, check FILE or explain ID", verb);
  if (!list && !what)
    return nai_err_set(err, NAI_EUSAGE, "rules %s needs %s", verb,
                       check ? "a file" : "the id of a rule; see nsys-ai rules list");
  if (list && what)
    return nai_err_set(err, NAI_EUSAGE, "rules list takes no operand");
  if (check) {
    const char *values[] = {what};
    int rc = set_rules(args, values, err);
    if (rc)
      return rc;
  }
  nai_run_schemas(&schemas, &schema_count);
  int rc = nai_rules_load(&set, args->run.rules, args->run.rule_count, schemas, schema_count, err);
  if (!rc && list)
    nai_rules_list(&text, set);
  if (!rc && check)
    nai_buf_printf(&text, "%s: no mistakes; %zu rules are active with it\n", what, nai_rules_count(set));
  if (!rc && explain)
    rc = nai_rules_explain(&text, set, what, err);
  if (!rc)
    rc = nai_buf_check(&text, err);
  if (!rc)
    fwrite(nai_buf_str(&text), 1, text.len, stdout);
  nai_buf_free(&text);
  nai_rules_free(set);
  return rc;
}

const struct nai_command nai_cmd_rules = {
    .name = "rules",
    .operands = "list|check FILE|explain ID",
    .summary = "list, check and explain the rules that make findings",
    .details =
        "list prints every active rule with its severities; check reads a rule file and reports its mistakes with line and "
        "column; explain prints what a rule looks at, why it matters and what to do. How to write rules: "
        "docs/writing-rules.md.",
    .examples = "nsys-ai rules list\nnsys-ai rules check my-rules.yaml\nnsys-ai rules explain gpu-idle",
    .options = options,
    .min_operands = 1,
    .max_operands = 2,
    .run = run,
};
