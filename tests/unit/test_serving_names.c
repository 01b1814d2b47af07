/* What range names of engines say of requests and tokens, in every public form, and names that are none. */
#include "unit.h"

#include "model/serving/serving_names.h"
#include "table/table.h"

#define NONE NAI_NULL_I64

static const struct {
  const char *name;
  struct nai_serving_label label; /* format, kind, requests and tokens of prompts, of decoding, lengths */
} known[] = {
    {"execute_context_0(0)_generation_7(7)", {NAI_SERVING_VLLM, NAI_SERVES_DECODE, 0, 0, 7, 7, NONE}},
    {"execute_context_2(512)_generation_0(0)", {NAI_SERVING_VLLM, NAI_SERVES_PREFILL, 2, 512, 0, 0, NONE}},
    {"execute_context_1(9)_generation_3(12)", {NAI_SERVING_VLLM, NAI_SERVES_MIXED, 1, 9, 3, 12, NONE}},
    {"execute_context_0(0)_generation_0(0)", {NAI_SERVING_VLLM, NAI_SERVES_EMPTY, 0, 0, 0, 0, NONE}},
    {"execute_context_0(0)_generation_12345678901234567890(4)",
     {NAI_SERVING_VLLM, NAI_SERVES_UNKNOWN, 0, 0, NONE, 4, NONE}},
    {"execute_context_0(0)_generation_2147483648(4)", {NAI_SERVING_VLLM, NAI_SERVES_DECODE, 0, 0, 2147483648, 4, NONE}},
    {"execute_context_0(0)_generation_2147483649(4)", {NAI_SERVING_VLLM, NAI_SERVES_UNKNOWN, 0, 0, NONE, 4, NONE}},
    {"execute_8_context_1(sq512sk700sqsq262144sqsk358400)_generation_7(sq7sk900sqsq7sqsk900)",
     {NAI_SERVING_VLLM_DETAILED, NAI_SERVES_MIXED, 1, 512, 7, 7, 900}},
    {"execute_new_3_cached_0", {NAI_SERVING_VLLM_2025, NAI_SERVES_PREFILL, 3, NONE, 0, 0, NONE}},
    {"execute_new_0_cached_9", {NAI_SERVING_VLLM_2025, NAI_SERVES_UNKNOWN, 0, NONE, NONE, NONE, NONE}},
    {"step[DECODE bs=32]", {NAI_SERVING_SGLANG, NAI_SERVES_DECODE, 0, 0, 32, NONE, NONE}},
    {"step[EXTEND bs=4 toks=2048]", {NAI_SERVING_SGLANG, NAI_SERVES_PREFILL, 4, 2048, 0, 0, NONE}},
    {"step[TARGET_VERIFY raw_bs=3 bs=4 topk=2 x=y]", {NAI_SERVING_SGLANG, NAI_SERVES_DECODE, 0, 0, 4, NONE, NONE}},
    {"step[DRAFT_EXTEND_V2 bs=4]", {NAI_SERVING_SGLANG, NAI_SERVES_DRAFT, NONE, NONE, NONE, NONE, NONE}},
    {"step[IDLE bs=0]", {NAI_SERVING_SGLANG, NAI_SERVES_EMPTY, NONE, NONE, NONE, NONE, NONE}},
    {"step[OTHER bs=1]", {NAI_SERVING_SGLANG, NAI_SERVES_UNKNOWN, NONE, NONE, NONE, NONE, NONE}},
    {"scheduler.run_batch", {NAI_SERVING_SGLANG_LOOP, NAI_SERVES_UNKNOWN, NONE, NONE, NONE, NONE, NONE}},
    {"_forward_step: 0 ctx reqs, 4 gen reqs", {NAI_SERVING_TENSORRT_LLM, NAI_SERVES_DECODE, 0, NONE, 4, NONE, NONE}},
    {"[Executor] _forward_step: 1 ctx reqs, 0 gen reqs",
     {NAI_SERVING_TENSORRT_LLM, NAI_SERVES_PREFILL, 1, NONE, 0, NONE, NONE}},
    {"[Executor] _forward_step 12: 1 ctx reqs, 77 ctx tokens, 4 gen reqs",
     {NAI_SERVING_TENSORRT_LLM, NAI_SERVES_MIXED, 1, 77, 4, NONE, NONE}},
};

TEST(reads_names) {
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    const struct nai_serving_label *want = &known[i].label;
    struct nai_serving_label got;
    assert_true(nai_serving_read(&got, known[i].name));
    assert_int_equal(got.format, want->format);
    assert_string_equal(nai_serving_kind_name(got.kind), nai_serving_kind_name(want->kind));
    assert_int_equal(got.context_requests, want->context_requests);
    assert_int_equal(got.context_tokens, want->context_tokens);
    assert_int_equal(got.generation_requests, want->generation_requests);
    assert_int_equal(got.generation_tokens, want->generation_tokens);
    assert_int_equal(got.kv_tokens, want->kv_tokens);
  }
}

TEST(refuses_other_names) {
  static const char *const names[] = {"",
                                      "e",
                                      "execute_model: decode",
                                      "execute_context_0(0)_generation_4(4",
                                      "execute_context_0(0)_generation_4(4) ",
                                      " execute_context_0(0)_generation_4(4)",
                                      "execute_context_(0)_generation_4(4)",
                                      "execute_context_-1(0)_generation_4(4)",
                                      "step[decode bs=1]",
                                      "step[DECODE bs=]",
                                      "step[DECODE bs=1",
                                      "scheduler.run_batch_now",
                                      "_forward_step",
                                      "[Executor] _forward_step x: 0 ctx reqs, 4 gen reqs"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    struct nai_serving_label got;
    assert_false(nai_serving_read(&got, names[i]));
    assert_int_equal(got.format, NAI_SERVING_NONE);
    assert_int_equal(got.generation_requests, NONE);
  }
}

TEST(tells_parts) {
  assert_int_equal(nai_serving_part_of("gpu_model_runner: sample"), NAI_SERVING_SAMPLING);
  assert_int_equal(nai_serving_part_of("schedule: allocate_slots"), NAI_SERVING_SCHEDULING);
  assert_int_equal(nai_serving_part_of("_prepare_inputs"), NAI_SERVING_INPUT);
  assert_int_equal(nai_serving_part_of("gpu_model_runner: forward"), NAI_SERVING_PARTS);
  assert_int_equal(nai_serving_part_of(""), NAI_SERVING_PARTS);
}
