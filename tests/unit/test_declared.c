/* No analysis reads what it does not declare: each says the same on a model that has its tables, parts and
 * configuration and no others. */
#include "model_fixture.h"
#include "generated_trace.h"

#include "pipeline/analyze.h"
#include "rundir/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MAX_TABLES = 16 };

struct subject {
  struct nai_run *run;
  struct nai_model_options options;
};

static const char *made(const char *scenario) {
  static char path[128];
  char command[640];
  snprintf(path, sizeof path, "%s/%s.sqlite", directory, scenario);
  snprintf(command, sizeof command, "'%s' %s '%s' >/dev/null", getenv("NSYS_AI_GEN"), scenario, path);
  assert_int_equal(system(command), 0); // NOLINT
  return path;
}

static void open_subject(struct subject *s, const char *scenario) {
  struct nai_options options;
  struct nai_result result = {0};
  nai_options_init(&options);
  options.trace = made(scenario);
  options.out = out;
  options.threads = 2;
  ok(nai_analyze(&result, &options, NULL, err));
  nai_result_free(&result);
  ok(nai_run_open(&s->run, out, err));
  uint64_t there = 0;
  for (int i = 0; i < NAI_IN_COUNT; i++)
    there |= nai_run_has(s->run, nai_event_tables[i]->name) ? NAI_IN_BIT(i) : 0;
  ok(nai_run_open_events(s->run, there, err));
}

/* The options without the configuration that is not in `config`. */
static struct nai_model_options only(const struct nai_model_options *all, uint32_t config) {
  struct nai_model_options some = *all;
#define HAS(item) ((config & NAI_CONFIG(item)) != 0)
  some.classes = HAS(KERNEL_CLASSES) ? all->classes : NULL;
  some.phases = HAS(PHASE_MAP) ? all->phases : NULL;
  some.workload = HAS(WORKLOAD) ? all->workload : NULL;
  some.gpu_facts = HAS(GPU_FACTS) ? all->gpu_facts : NULL;
  some.flops = HAS(FLOPS) ? all->flops : NULL;
  some.step = HAS(STEP) ? all->step : NULL;
  some.comm_names = HAS(COMM_NAMES) ? all->comm_names : NULL;
  some.map_nvtx = HAS(MAP_NVTX) && all->map_nvtx;
  some.page_events = HAS(PAGE_EVENTS) ? all->page_events : 0;
#undef HAS
  return some;
}

/* Runs a node over those tables, parts and configuration; hashes[i] = what its i-th table holds. */
static void run_node(uint64_t hashes[MAX_TABLES], const struct subject *s, const struct nai_node *node, uint64_t tables,
                     uint32_t parts, uint32_t config) {
  struct nai_table *given[NAI_IN_COUNT], *outputs[MAX_TABLES] = {0};
  const struct nai_table *in[MAX_TABLES] = {0};
  const struct nai_model_options options = only(&s->options, config);
  struct nai_model m = {0};
  for (int i = 0; i < NAI_IN_COUNT; i++)
    given[i] = tables & NAI_IN_BIT(i) ? nai_run_find_loaded(s->run, nai_event_tables[i]->name) : NULL;
  for (int i = 0; node->inputs && node->inputs[i]; i++)
    ok(nai_run_table(&in[i], s->run, node->inputs[i]->name, node->inputs[i], err));
  nai_model_open(&m, given, &options);
  ok(nai_model_build(&m, parts, err));
  for (int t = 0; node->outputs[t] && !node->creates; t++)
    ok(nai_table_new(&outputs[t], node->outputs[t], err));
  ok(nai_node_run(node, (struct nai_node_io){.out = outputs, .in = in, .model = &m}, err));
  for (int t = 0; node->outputs[t]; t++) {
    hashes[t] = nai_table_hash(outputs[t]);
    nai_table_free(outputs[t]);
  }
  nai_model_free(&m);
}

static void check(const struct subject *s, const char *scenario) {
  for (int a = 0; nai_analyses[a]; a++) {
    const struct nai_node *node = nai_analyses[a];
    uint64_t whole[MAX_TABLES] = {0}, declared[MAX_TABLES] = {0};
    run_node(whole, s, node, NAI_IN_ALL, (1u << NAI_PART_COUNT) - 1, (1u << NAI_CONFIG_COUNT) - 1);
    print_message("%s: %s\n", scenario, node->name); /* what it does not declare is NULL: it may well end here */
    run_node(declared, s, node, node->tables | nai_parts_tables(node->parts), node->parts,
             node->config | nai_parts_config(node->parts));
    if (memcmp(whole, declared, sizeof whole) != 0)
      fail_msg("%s: %s reads more than it declares", scenario, node->name);
  }
}

TEST(test_nothing_else_is_read) {
  static const char *const scenarios[] = {"evidence",   "training",      "collectives",      "gemm-sizes",
                                          "cpu-work",   "memory-growth", "graphs-node",      "autotune",
                                          "copy-bound", "pause",         "collectives-graph"};
  struct subject s = {.options = {.map_nvtx = true, .page_events = 1500000, .worker_count = 1}};
  struct nai_kernel_classes *classes;
  struct nai_workload_patterns *workload;
  struct nai_gpu_facts *gpu_facts;
  struct nai_patterns *phases;
  const struct nai_flops flops = {.per_step = 1e12, .dtype = -1, .peak_tflops = -1};
  ok(nai_kernel_classes_load(&classes, NULL, err));
  ok(nai_workload_patterns_load(&workload, NULL, err));
  ok(nai_gpu_facts_load(&gpu_facts, NULL, err));
  ok(nai_phase_map_load(&phases, NULL, "pytorch-ddp", err));
  s.options.classes = classes;
  s.options.workload = workload;
  s.options.gpu_facts = gpu_facts;
  s.options.phases = phases;
  s.options.flops = &flops;
  for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++) {
    open_subject(&s, scenarios[i]);
    check(&s, scenarios[i]);
    nai_run_close(s.run);
  }
  nai_kernel_classes_free(classes);
  nai_workload_patterns_free(workload);
  nai_gpu_facts_free(gpu_facts);
  nai_patterns_free(phases);
}

UNIT_FIXTURE(make_trace, remove_trace)
