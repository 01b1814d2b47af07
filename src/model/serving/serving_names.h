/* What engines that serve language models say in the name of the range around a step: requests and tokens. The names
 * are those of public versions of vLLM, SGLang and TensorRT-LLM (docs/serving.md). */
#pragma once

#include "base/std.h"

enum nai_serving_format {
  NAI_SERVING_NONE,
  NAI_SERVING_VLLM,
  NAI_SERVING_VLLM_DETAILED, /* with the lengths of the sequences */
  NAI_SERVING_VLLM_2025,     /* new and known requests only */
  NAI_SERVING_SGLANG,
  NAI_SERVING_SGLANG_LOOP, /* steps of the scheduler's loop, without counts */
  NAI_SERVING_TENSORRT_LLM
};
const char *nai_serving_format_name(enum nai_serving_format format); /* "vLLM", ... */

/* What a step computes. Its number is in the order in which a tie is decided. */
enum nai_serving_kind {
  NAI_SERVES_DECODE,  /* a token more for each request */
  NAI_SERVES_PREFILL, /* prompts only */
  NAI_SERVES_MIXED,   /* both */
  NAI_SERVES_DRAFT,   /* guesses for speculative decoding */
  NAI_SERVES_EMPTY,   /* no request */
  NAI_SERVES_UNKNOWN, /* the name does not tell */
  NAI_SERVING_KINDS
};
const char *nai_serving_kind_name(enum nai_serving_kind kind); /* "decode", ... */

/* A step as its range tells it; NAI_NULL_I64 for what it does not tell, and for a number above 2^31. */
struct nai_serving_label {
  enum nai_serving_format format;
  enum nai_serving_kind kind;
  int64_t context_requests, context_tokens;       /* of prompts */
  int64_t generation_requests, generation_tokens; /* of requests that get a token */
  int64_t kv_tokens;                              /* lengths of the latter's sequences, summed */
};
/* Whether a range name is a step of an engine; if not, nothing of it is known. */
bool nai_serving_read(struct nai_serving_label *out, const char *name);
/* Whether names of the format tell requests. */
static inline bool nai_serving_counts(enum nai_serving_format format) { return format != NAI_SERVING_SGLANG_LOOP; }

/* What the host does beside steps, as ranges of engines name it. */
enum nai_serving_part {
  NAI_SERVING_SCHEDULING,
  NAI_SERVING_INPUT,
  NAI_SERVING_SAMPLING,
  NAI_SERVING_BOOKKEEPING,
  NAI_SERVING_OUTPUT,
  NAI_SERVING_PARTS
};
/* NAI_SERVING_PARTS for a name that is none. */
enum nai_serving_part nai_serving_part_of(const char *name);
