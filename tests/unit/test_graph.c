/* Which nodes run again when one input changes. */
#include "model_fixture.h"
#include "generated_trace.h"

#include "base/fs.h"
#include "pipeline/analyze.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *write_file(const char *name, const char *text) {
  static char path[128];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  ok(nai_fs_write(path, text, strlen(text), err));
  return path;
}

/* Analyses and lists the nodes that ran, in order, and why. */
static void run(struct nai_buf *ran, const struct nai_options *changed, const struct nai_stage *stages) {
  struct nai_options options;
  struct nai_result result = {0};
  if (changed)
    options = *changed;
  else
    nai_options_init(&options);
  options.trace = trace;
  options.out = out;
  options.threads = 2;
  ok(nai_analyze_stages(&result, &options, stages ? stages : nai_stages, NULL, err));
  nai_buf_clear(ran);
  for (uint32_t i = 0; i < result.node_count; i++)
    if (result.nodes[i].ran)
      nai_buf_printf(ran, "%s: %s\n", result.nodes[i].name, result.nodes[i].reason);
  nai_result_free(&result);
}

TEST(test_one_input_at_a_time) {
  struct nai_buf ran = {0};
  struct nai_options options;
  run(&ran, NULL, NULL);
  assert_non_null(strstr(nai_buf_str(&ran), "probe: no earlier run\n"));
  run(&ran, NULL, NULL);
  assert_string_equal(nai_buf_str(&ran), "");

  /* A phase map: what uses phases, and what reads the table of phases. */
  nai_options_init(&options);
  options.phase_map = "inference";
  run(&ran, &options, NULL);
  assert_string_equal(nai_buf_str(&ran), "phases: phase map changed\nmetric_parts: phase map changed\n"
                                         "findings: nvtx_phases changed\nmetrics: nvtx_phases changed\n");
  run(&ran, &options, NULL);
  assert_string_equal(nai_buf_str(&ran), "");
  run(&ran, NULL, NULL);
  assert_string_equal(nai_buf_str(&ran), "phases: phase map changed\nmetric_parts: phase map changed\n"
                                         "findings: nvtx_phases changed\nmetrics: nvtx_phases changed\n");

  /* A rule: findings only. The trace is small, so the timeline holds everything whatever findings cite. */
  nai_options_init(&options);
  options.rules[options.rule_count++] = write_file("rules.yaml", "rules:\n  - id: gpu-imbalance\n    disabled: true\n");
  run(&ran, &options, NULL);
  assert_string_equal(nai_buf_str(&ran), "findings: rules changed\n");
  write_file("rules.yaml", "rules:\n  - id: no-nvtx\n    disabled: true\n"); /* the same name, another text */
  run(&ran, &options, NULL);
  assert_string_equal(nai_buf_str(&ran), "findings: rules changed\n");

  /* A metric: the table of metrics only. */
  run(&ran, NULL, NULL);
  nai_options_init(&options);
  options.metrics[options.metric_count++] =
      write_file("metrics.yaml", "metrics:\n  - {id: gpu.window, disabled: true}\n");
  run(&ran, &options, NULL);
  assert_string_equal(nai_buf_str(&ran), "metrics: metrics changed\n");

  /* A template: no tables at all; outputs are always written. */
  run(&ran, NULL, NULL);
  nai_options_init(&options);
  char templates[128];
  snprintf(templates, sizeof templates, "%s/templates", directory);
  ok(nai_fs_mkdir(templates, err));
  write_file("templates/report.md.mustache", "mine\n");
  options.templates = templates;
  run(&ran, &options, NULL);
  assert_string_equal(nai_buf_str(&ran), "");

  /* Kernel classes: whatever sorts kernels, but not the trace. */
  nai_options_init(&options);
  options.kernel_classes = write_file("classes.yaml", "gemm: [\"re:^nothing$\"]\n");
  run(&ran, &options, NULL);
  assert_non_null(strstr(nai_buf_str(&ran), "kernels: kernel classes changed\n"));
  assert_null(strstr(nai_buf_str(&ran), "extract"));
  assert_null(strstr(nai_buf_str(&ran), "osrt:"));

  /* A selection: extract and all that follows, but not probe. */
  run(&ran, NULL, NULL);
  nai_options_init(&options);
  options.gpus[options.gpu_count++] = 0;
  run(&ran, &options, NULL);
  assert_int_equal(strncmp(nai_buf_str(&ran), "extract: --trim or --gpu changed\n", 33), 0);
  assert_non_null(strstr(nai_buf_str(&ran), "osrt: extract changed\n"));
  nai_buf_free(&ran);
}

/* The stages with one analysis of another revision. */
TEST(test_revision) {
  struct nai_buf ran = {0};
  run(&ran, NULL, NULL);
  int count = 0;
  while (nai_analyses[count])
    count++;
  const struct nai_node **analyses = calloc((size_t)count + 1, sizeof *analyses);
  struct nai_stage stages[NAI_STAGE_COUNT];
  assert_non_null(analyses);
  for (int changed = 0; changed < count; changed++) {
    struct nai_node node = *nai_analyses[changed];
    char expected[128];
    node.revision++;
    memcpy(analyses, nai_analyses, (size_t)count * sizeof *analyses);
    memcpy(stages, nai_stages, sizeof stages);
    analyses[changed] = &node;
    stages[NAI_STAGE_ANALYZE].nodes = analyses;
    run(&ran, NULL, stages);
    snprintf(expected, sizeof expected, "%s: program changed\n",
             node.name); /* it makes the same table, so no other runs */
    assert_string_equal(nai_buf_str(&ran), expected);
    run(&ran, NULL, NULL);
    assert_string_equal(nai_buf_str(&ran), expected);
  }
  free(analyses);
  nai_buf_free(&ran);
}

/* A node that reads a table that nothing makes, or one of its own stage in a circle, is an error and no hang. */
static int do_nothing(const struct nai_node_io *io, struct nai_err *err) {
  (void)io, (void)err;
  return NAI_OK;
}

TEST(test_missing_input) {
  static const struct nai_schema missing = {.name = "no_such_table"}, *const inputs[] = {&missing, NULL};
  static const struct nai_schema *const outputs[] = {NULL};
  static const struct nai_node node = {.name = "x", .outputs = outputs, .inputs = inputs, .run = do_nothing};
  static const struct nai_node *const nodes[] = {&node, NULL};
  struct nai_stage stages[NAI_STAGE_COUNT];
  struct nai_options options;
  struct nai_result result = {0};
  struct nai_err refused = {0};
  memcpy(stages, nai_stages, sizeof stages);
  stages[NAI_STAGE_TIMELINE].nodes = nodes;
  nai_options_init(&options);
  options.trace = trace;
  options.out = out;
  assert_int_equal(nai_analyze_stages(&result, &options, stages, NULL, &refused), NAI_EUSAGE);
  assert_non_null(strstr(refused.msg, "tables that nothing makes"));
  nai_result_free(&result);
}

UNIT_FIXTURE(make_trace, remove_trace)
