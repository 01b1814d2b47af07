/* Phase maps: the pattern language, built-in maps on names the frameworks emit, and bad files. */
#include "unit.h"

#include "config/patterns.h"
#include "config/phase_map.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static int add(struct nai_patterns **out, const char *text, struct nai_err *err) {
  struct nai_yaml *doc = NULL;
  int rc = nai_yaml_parse(&doc, "m.yaml", text, strlen(text), err);
  assert_int_equal(nai_patterns_new(out, err), 0);
  if (!rc)
    rc = nai_patterns_add(*out, doc, err);
  nai_yaml_free(doc);
  return rc;
}

static const char *class_of(const struct nai_patterns *set, const char *name) {
  int index = nai_patterns_match(set, name);
  return index < 0 ? "-" : nai_patterns_class(set, index);
}

TEST(first_match_in_file_order) {
  struct nai_patterns *set = NULL;
  struct nai_err err = {0};
  assert_int_equal(add(&set, "{\"b\": [\"Fwd\", \"re:^x+$\"], \"a\": \"wd\", \"c\": ['re:(?i)é.ROPE', 're:ü']}", &err),
                   0);
  assert_int_equal(nai_patterns_class_count(set), 3);
  assert_string_equal(class_of(set, "my FWD pass"), "b"); /* substrings have no case */
  assert_string_equal(class_of(set, "rewind wd"), "a");
  assert_string_equal(class_of(set, "xxx"), "b");
  assert_string_equal(class_of(set, "XXX"), "-"); /* expressions do */
  assert_string_equal(class_of(set, "Éurope"), "c");
  assert_string_equal(class_of(set, "\xc3\xbc"), "c");
  assert_string_equal(class_of(set, "\xff\xfe x"), "-"); /* invalid UTF-8 is survived */
  assert_string_equal(class_of(set, ""), "-");
  assert_int_equal(nai_patterns_check(set, &err), 0);
  nai_patterns_free(set);
}

TEST(long_names_are_cut) {
  struct nai_patterns *set = NULL;
  struct nai_err err = {0};
  assert_int_equal(add(&set, "a: [needle]\n", &err), 0);
  size_t len = 1 << 20;
  char *name = malloc(len + 1);
  assert_non_null(name);
  memset(name, 'x', len);
  name[len] = '\0';
  memcpy(name + NAI_PATTERN_SUBJECT_MAX - 6, "needle", 6);
  assert_string_equal(class_of(set, name), "a");
  memset(name, 'x', len);
  memcpy(name + NAI_PATTERN_SUBJECT_MAX - 5, "needle", 6);
  assert_string_equal(class_of(set, name), "-");
  free(name);
  nai_patterns_free(set);
}

static void refuses(const char *text, const char *message) {
  struct nai_patterns *set = NULL;
  struct nai_err err = {0};
  assert_int_equal(add(&set, text, &err), NAI_EUSAGE);
  assert_string_equal(err.msg, message);
  nai_patterns_free(set);
}

TEST(bad_files) {
  refuses("- a\n", "m.yaml:1:1: expected a map, got a list");
  refuses("{}\n", "m.yaml:1:1: no patterns");
  refuses("a: [x, [y]]\n", "m.yaml:1:8: expected text, got a list");
  refuses("a: {b: c}\n", "m.yaml:1:4: \"a\": expected a list, got a map");
  refuses("a: ['']\n", "m.yaml:1:5: expected text, got an empty text");
  refuses("a: ['re:']\n", "m.yaml:1:5: empty regular expression");
  refuses("a:\n  - 're:x(y'\n", "m.yaml:2:12: bad regular expression: missing closing parenthesis");
  refuses("a: ['re:\\Cx']\n", "m.yaml:1:11: bad regular expression: using \\C is disabled by the application");
  refuses("a: ['re:((a{0,999}){0,99}){0,99}']\n",
          "m.yaml:1:33: bad regular expression: regular expression is too large");
}

/* An expression that would run for ever is reported, and soon. */
TEST(runaway_expression) {
  static const char *const expressions[] = {"a: ['re:^(a+)+[bc]$']\n",
                                            "a: ['re:(*LIMIT_MATCH=4000000000)^(a|aa)+[bc]$']\n",
                                            "a: ['re:^(a*)*[bc]']\n", "a: ['re:^((a|b)*)*[cd]$']\n"};
  char name[3000];
  memset(name, 'a', sizeof name - 1);
  name[sizeof name - 1] = '\0';
  for (size_t i = 0; i < sizeof expressions / sizeof *expressions; i++) {
    struct nai_patterns *set = NULL;
    struct nai_err err = {0};
    assert_int_equal(add(&set, expressions[i], &err), 0);
    clock_t start = clock();
    assert_string_equal(class_of(set, name), "-");
    double ms = (double)(clock() - start) * 1000 / CLOCKS_PER_SEC;
    assert_true(ms < 100);
    assert_int_equal(nai_patterns_check(set, &err), NAI_EUSAGE);
    assert_non_null(strstr(err.msg, "m.yaml:1:5: regular expression \""));
    assert_non_null(strstr(err.msg, "takes too long"));
    nai_patterns_free(set);
  }
}

/* Names as the frameworks emit them, NULL phase for those that have none of their own. */
static const struct {
  const char *map, *name, *phase;
} names[] = {
    {"vllm", "execute_context_3(512)_generation_0(0)", "prefill"},
    {"vllm", "execute_context_0(0)_generation_29(29)", "decode"},
    {"vllm", "execute_context_10(10)_generation_29(29)", "mixed"},
    {"vllm", "gpu_model_runner: sample", "sampling"},
    {"vllm", "gpu_model_runner: forward", NULL},
    {"vllm-stages", "gpu_model_runner: forward", "forward"},
    {"vllm", "schedule: allocate_slots", "scheduling"},
    {"sglang", "step[EXTEND bs=2 toks=4096]", "prefill"},
    {"sglang", "step[DECODE bs=16]", "decode"},
    {"sglang", "step[MIXED bs=16 toks=20]", "mixed"},
    {"sglang", "scheduler.get_next_batch_to_run", "scheduling"},
    {"sglang", "scheduler.process_batch_result", "output"},
    {"tensorrt-llm", "[Executor] _forward_step 12: 0 ctx reqs, 32 gen reqs", "decode"},
    {"tensorrt-llm", "[Executor] _forward_step 60000: 0 ctx reqs, 0 ctx tokens, 32 gen reqs", "decode"},
    {"tensorrt-llm", "[Executor] _forward_step 12: 10 ctx reqs, 0 gen reqs", "prefill"},
    {"tensorrt-llm", "[Executor] _forward_step 12: 10 ctx reqs, 20 gen reqs", "mixed"},
    {"tensorrt-llm", "_forward_step", NULL},
    {"tensorrt-llm", "_prepare_tp_inputs", "prepare"},
    {"tensorrt-llm", "_sample_async", "sampling"},
    {"pytorch-ddp", "DistributedDataParallel.forward", "forward"},
    {"pytorch-ddp", "autograd::engine::evaluate_function: MmBackward0", "backward"},
    {"pytorch-ddp", "AddmmBackward0", "backward"},
    {"pytorch-ddp", "Optimizer.step#AdamW.step", "optimizer"},
    {"pytorch-ddp", "Optimizer.zero_grad#AdamW.zero_grad", "optimizer"},
    {"pytorch-ddp", "ncclAllReduce", "communication"},
    {"pytorch-ddp", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", "data"},
    {"pytorch-ddp", "aten::addmm", NULL},
    {"pytorch-fsdp", "FullyShardedDataParallel.forward", "forward"},
    {"pytorch-fsdp", "FullyShardedDataParallel._pre_forward", "sharding"},
    {"pytorch-fsdp", "FSDP::all_gather (layers.3)", "sharding"},
    {"pytorch-fsdp", "FSDP::post_backward_reduce", "sharding"},
    {"pytorch-fsdp", "FSDP::pre_forward", "forward"},
    {"pytorch-fsdp", "FSDP::pre_backward", "backward"},
    {"megatron", "megatron.core.transformer.transformer_layer._forward_attention.self_attention", "attention"},
    {"megatron", "megatron.core.transformer.mlp.forward.linear_fc1", "mlp"},
    {"megatron", "megatron.core.pipeline_parallel.schedules.backward_step", "backward"},
    {"megatron", "forward_step", "forward"},
    {"jax", "TSL:XlaModule:#hlo_module=jit_train_step,program_id=11#", "program"},
    {"jax", "TSL:Thunk:#name=all-reduce-start.1,hlo_op=all-reduce-start.1#", "communication"},
    {"jax", "TSL:Thunk:#name=gemm_fusion_dot.3,hlo_op=gemm_fusion_dot.3#", "gemm"},
    {"jax", "TSL:Thunk:#name=loop_add_fusion,hlo_op=loop_add_fusion#", "fusion"},
    {"jax", "TSL:XlaCompileBackend:#module=jit_f#", "compile"},
    {"inference", "execute_model: prefill", "prefill"},
    {"inference", "Decode step 3", "decode"},
    {"inference", "sampling", "sampling"},
    {"inference", "load_batch", "preprocess"},
};

TEST(built_in_maps) {
  int failures = 0;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    struct nai_patterns *map = NULL;
    struct nai_err err = {0};
    if (nai_phase_map_load(&map, NULL, names[i].map, &err))
      fail_msg("%s", err.msg);
    int phase = nai_patterns_match(map, names[i].name);
    const char *got = phase < 0 ? "none" : nai_patterns_class(map, phase);
    if (strcmp(got, names[i].phase ? names[i].phase : "none") != 0) {
      print_error("%s: \"%s\" is %s, expected %s\n", names[i].map, names[i].name, got, names[i].phase);
      failures++;
    }
    assert_int_equal(nai_patterns_check(map, &err), 0);
    nai_patterns_free(map);
  }
  assert_int_equal(failures, 0);
}

TEST(lists_and_suggests) {
  struct nai_patterns *map = NULL;
  struct nai_err err = {0};
  assert_int_equal(nai_phase_map_load(&map, NULL, "vlm", &err), NAI_EUSAGE);
  assert_string_equal(err.msg, "unknown phase map \"vlm\"; did you mean \"vllm\"?");
  assert_int_equal(nai_phase_map_load(&map, NULL, "no-such-framework", &err), NAI_EUSAGE);
  assert_string_equal(err.msg, "unknown phase map \"no-such-framework\": neither a file nor one of inference, jax, "
                               "megatron, pytorch-ddp, pytorch-fsdp, sglang, tensorrt-llm, vllm-stages, vllm");
  assert_int_equal(nai_phase_map_load(&map, NULL, "./missing.yaml", &err), NAI_EUSAGE);
  assert_null(map);
}
