/* Any bytes as a file or text that configures a run; the first byte says of which kind (a: metrics, b: ...). What is
 * accepted is used. */
#include "features/compare/budgets.h"
#include "config/flops.h"
#include "config/gpu_facts.h"
#include "config/kernel_classes.h"
#include "config/kernel_rules.h"
#include "config/patterns.h"
#include "config/phase_map.h"
#include "config/workload.h"
#include "pipeline/analyze.h"
#include "features/ask/question.h"
#include "base/escape.h"
#include "rules/metrics.h"
#include "rules/rules.h"
#include "skills/skill.h"

#include "bases.h"
#include "small_tables.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A file, and the same as a text, which ends at the first NUL. */
struct input {
  char path[PATH_MAX];
  const char *text;
  size_t len;
};

/* Every refusal says why. */
static int checked(int rc, const struct nai_err *err) {
  if (rc && (rc != err->code || !*err->msg))
    abort();
  return rc;
}

static void use_metrics(const struct input *in) {
  struct nai_metric_set *set = NULL;
  struct nai_table *a = small_table(&small_a), *b = small_table(&small_b), *metrics = NULL;
  const struct nai_table *const tables[] = {a, b, NULL};
  struct nai_err err = {0};
  if (!checked(nai_metrics_parse(&set, "m.yaml", in->text, in->len, small_schemas, 2, &err), &err) &&
      !checked(nai_metrics_evaluate(&metrics, set, tables, &err), &err))
    nai_table_free(metrics);
  nai_metrics_free(set);
  nai_table_free(a);
  nai_table_free(b);
}

static void use_kernel_classes(const struct input *in) {
  struct nai_kernel_classes *classes = NULL;
  struct nai_err err = {0};
  if (checked(nai_kernel_classes_load(&classes, in->path, &err), &err))
    return;
  int category = nai_kernel_classes_match(classes, "void cutlass::Kernel<sm80_gemm>(int)");
  nai_kernel_classes_name(classes, category);
  nai_kernel_classes_matrix(classes, category);
  nai_kernel_classes_fusable(classes, nai_kernel_classes_match(classes, "ncclDevKernel_AllReduce_Sum_f32_RING_LL"));
  checked(nai_kernel_classes_check(classes, &err), &err);
  nai_kernel_classes_free(classes);
}

static void use_kernel_rules(const struct input *in) {
  NAI_OWNED(nai_kernel_rules) *rules = NULL;
  NAI_SCOPED(nai_strings) categories = {0};
  struct nai_err err = {0};
  uint64_t hash = 0;
  if (!checked(nai_kernel_rules_load(&rules, &hash, in->path, false, &categories, &err), &err))
    nai_kernel_rules_match(rules, "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>(T3)");
}

static void use_workload(const struct input *in) {
  struct nai_workload_patterns *patterns = NULL;
  struct nai_err err = {0};
  if (checked(nai_workload_patterns_load(&patterns, in->path, &err), &err))
    return;
  for (int aspect = 0; aspect < NAI_ASPECT_COUNT; aspect++)
    for (int sign = 0; sign < NAI_SIGN_COUNT; sign++) {
      int value = nai_workload_match(patterns, (enum nai_workload_aspect)aspect, (enum nai_workload_sign)sign, sign % 2,
                                     "vllm::x");
      if (value >= nai_workload_value_count(patterns, (enum nai_workload_aspect)aspect))
        abort();
    }
  checked(nai_workload_patterns_check(patterns, &err), &err);
  nai_workload_patterns_free(patterns);
}

static void use_gpu_facts(const struct input *in) {
  struct nai_gpu_facts *facts = NULL;
  struct nai_err err = {0};
  if (checked(nai_gpu_facts_load(&facts, in->path, &err), &err))
    return;
  nai_gpu_facts_limits(facts, 9, 0);
  nai_gpu_facts_product(facts, "NVIDIA H100 80GB HBM3");
  nai_gpu_facts_free(facts);
}

static void use_budgets(const struct input *in) {
  static const char *const ids[] = {"step_time", "gpu_idle_pct"}, *const units[] = {"ns", "percent", "bytes", ""};
  struct nai_budgets budgets = {0};
  struct nai_err err = {0};
  if (!checked(nai_budgets_parse(&budgets, "budgets.yaml", in->text, in->len, &err), &err))
    for (uint32_t i = 0; i < budgets.count; i++) {
      if (!nai_budget_of(&budgets, budgets.list[i].id))
        abort();
      checked(nai_budget_unknown(&budgets, &budgets.list[i], ids, 2, &err), &err);
      for (size_t u = 0; u < sizeof units / sizeof *units; u++)
        checked(nai_budget_check(&budgets, &budgets.list[i], units[u], &err), &err);
    }
  nai_budgets_free(&budgets);
}

/* Rules with the columns of every report, and those in the file of a skill. */
static void use_rules(const struct input *in, const char *table) {
  const struct nai_schema *schemas[NAI_REPORT_MAX_TABLES];
  size_t count = nai_report_schemas(schemas, NAI_STAGE_RENDER);
  struct nai_rule_set *set = NULL;
  struct nai_err err = {0};
  const struct nai_rules_extra extra = {"s.yaml", in->text, table, in->len};
  const char *const paths[] = {in->path};
  if (!checked(table ? nai_rules_load_with(&set, NULL, 0, &extra, 1, schemas, count, &err)
                     : nai_rules_load(&set, paths, 1, schemas, count, &err),
               &err))
    checked(nai_rules_set_parameter(set, "x", 1, &err), &err);
  nai_rules_free(set);
}

static void use_all_rules(const struct input *in) { use_rules(in, NULL); }

static void use_skill(const struct input *in) {
  struct nai_skill *skill = NULL;
  struct nai_schema *schema = NULL;
  struct nai_buf line = {0};
  struct nai_err err = {0};
  if (checked(nai_skills_read(&skill, in->path, &err), &err))
    return;
  if (!skill->is_page) {
    const char *const given[] = {"n=3", "name=x"};
    const struct nai_skill_request request = {.parameters = given, .parameter_count = 2};
    struct nai_query_parameter bound[NAI_SKILL_MAX_PARAMETERS + NAI_SKILL_ALWAYS];
    size_t count = 0;
    checked(nai_skill_bind(bound, &count, skill, &request, &err), &err);
    if (!checked(nai_skill_schema(&schema, skill, &err), &err)) {
      const struct nai_skill_cell cell = {"name", NAI_TEXT, {.type = NAI_STR, .s = "<b>"}};
      if (skill->line)
        nai_skill_line(&line, skill->line, &cell, 1, 1, nai_escape_terminal);
      nai_schema_free(schema);
    }
    if (skill->has_rules)
      use_rules(in, skill->id);
  }
  nai_buf_free(&line);
  nai_skill_free(skill);
}

static void use_intents(const struct input *in) {
  const char *const paths[] = {in->path};
  struct nai_intents *intents = NULL;
  struct nai_err err = {0};
  if (!checked(nai_intents_load(&intents, paths, 1, &err), &err))
    nai_intents_free(intents);
}

static void use_phase_map(const struct input *in) {
  struct nai_patterns *map = NULL;
  struct nai_err err = {0};
  if (checked(nai_phase_map_load(&map, NULL, in->path, &err), &err))
    return;
  if (nai_patterns_match(map, "execute_context_0(0)_generation_2(2)") >= nai_patterns_class_count(map))
    abort();
  checked(nai_patterns_check(map, &err), &err);
  nai_patterns_free(map);
}

/* --model, --flops-per-step; --step */
static void use_words(const struct input *in) {
  const struct nai_flops_options model = {.model = in->text, .peak_tflops = -1},
                                 flops = {.per_step = in->text, .dtype = in->text, .peak_tflops = -1};
  struct nai_flops read;
  struct nai_patterns *step = NULL;
  struct nai_err err = {0};
  checked(nai_flops_read(&read, &model, &err), &err);
  checked(nai_flops_read(&read, &flops, &err), &err);
  if (!checked(nai_patterns_new(&step, &err), &err) &&
      !checked(nai_patterns_add_regex(step, "step", "--step", in->text, &err), &err)) {
    nai_patterns_match(step, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
    checked(nai_patterns_check(step, &err), &err);
  }
  nai_patterns_free(step);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static void (*const kinds[])(const struct input *) = {use_metrics,   use_kernel_classes, use_workload,
                                                        use_gpu_facts, use_budgets,        use_all_rules,
                                                        use_skill,     use_intents,        use_phase_map,
                                                        use_words,     use_kernel_rules};
  struct input in = {.len = size ? size - 1 : 0};
  struct nai_err err;
  if (!size)
    return 0;
  char *text = malloc(size);
  memcpy(text, data + 1, size - 1);
  text[size - 1] = '\0';
  in.text = text;
  snprintf(in.path, sizeof in.path, "%s/c.yaml", bases_directory());
  bases_must(nai_fs_write(in.path, data + 1, size - 1, &err), &err);
  kinds[(uint8_t)(data[0] - 'a') % (sizeof kinds / sizeof *kinds)](&in);
  free(text);
  return 0;
}
