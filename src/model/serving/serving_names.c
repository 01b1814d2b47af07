#include "model/serving/serving_names.h"

#include "table/table.h"

/* In `text` <X> is a number: C, c requests and tokens of prompts; G, g of decoding; k lengths of the latter's
 * sequences; n, o new and known requests; B, t the batch and its tokens; # one that says nothing. <M> is SGLang's mode,
 * <*> anything up to ']', and what stands in braces may be missing. */
static const struct {
  enum nai_serving_format format;
  const char *text;
} formats[] = {{NAI_SERVING_VLLM, "execute_context_<C>(<c>)_generation_<G>(<g>)"},
               {NAI_SERVING_VLLM_DETAILED,
                "execute_<#>_context_<C>(sq<c>sk<#>sqsq<#>sqsk<#>)_generation_<G>(sq<g>sk<k>sqsq<#>sqsk<#>)"},
               {NAI_SERVING_VLLM_2025, "execute_new_<n>_cached_<o>"},
               {NAI_SERVING_SGLANG, "step[<M> {raw_bs=<#> }bs=<B>{ topk=<#>}{ toks=<t>}{ <*>}]"},
               {NAI_SERVING_SGLANG_LOOP, "scheduler.run_batch"},
               {NAI_SERVING_TENSORRT_LLM,
                "{[Executor] }_forward_step{ <#>}: <C> ctx reqs, {<c> ctx tokens, }<G> gen reqs"}};
enum { FORMATS = sizeof formats / sizeof *formats, FIELDS = 128 };

/* Numbers by the letter of their field. */
struct fields {
  int64_t number[FIELDS];
  const char *mode;
  size_t mode_length;
};

const char *nai_serving_format_name(enum nai_serving_format format) {
  static const char *const names[] = {"none",   "vLLM",          "vLLM, detailed", "vLLM, 2025",
                                      "SGLang", "SGLang's loop", "TensorRT-LLM"};
  return names[format];
}

const char *nai_serving_kind_name(enum nai_serving_kind kind) {
  static const char *const names[] = {"decode", "prefill", "mixed", "draft", "empty", "unknown"};
  return names[kind];
}

/* Reads digits; NULL without any. A number that is too large for a count is not known. */
static const char *read_number(int64_t *out, const char *name) {
  size_t digits = strspn(name, "0123456789");
  int64_t value = 0;
  if (!digits)
    return NULL;
  for (size_t i = 0; i < digits && value <= (int64_t)1 << 31; i++)
    value = value * 10 + (name[i] - '0');
  *out = value <= (int64_t)1 << 31 ? value : NAI_NULL_I64;
  return name + digits;
}

static const char *read_field(struct fields *fields, char field, const char *name) {
  if (field == '*')
    return name + strcspn(name, "]");
  if (field != 'M')
    return read_number(&fields->number[(unsigned char)field], name);
  fields->mode = name;
  fields->mode_length = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
  return fields->mode_length ? name + fields->mode_length : NULL;
}

/* Behind what matches format [text, end); NULL when the name does not. What may be missing is there or not by what it
 * begins with: no second try is needed. */
static const char *match(struct fields *fields, const char *text, const char *end, const char *name) {
  while (text < end && name) {
    if (*text == '{') {
      const struct fields before = *fields;
      const char *close = strchr(text, '}'), *behind = match(fields, text + 1, close, name);
      if (!behind)
        *fields = before;
      name = behind ? behind : name;
      text = close + 1;
    } else if (*text == '<') {
      name = read_field(fields, text[1], name);
      text += 3;
    } else {
      name = *name == *text++ ? name + 1 : NULL;
    }
  }
  return name;
}

static enum nai_serving_kind kind_of(int64_t context, int64_t generation) {
  if (context == NAI_NULL_I64 || generation == NAI_NULL_I64)
    return NAI_SERVES_UNKNOWN;
  if (!context)
    return generation ? NAI_SERVES_DECODE : NAI_SERVES_EMPTY;
  return generation ? NAI_SERVES_MIXED : NAI_SERVES_PREFILL;
}

static enum nai_serving_kind kind_of_mode(const struct fields *fields) {
  static const struct {
    const char *mode;
    enum nai_serving_kind kind;
  } modes[] = {{"DECODE", NAI_SERVES_DECODE},       {"TARGET_VERIFY", NAI_SERVES_DECODE},
               {"EXTEND", NAI_SERVES_PREFILL},      {"SPLIT_PREFILL", NAI_SERVES_PREFILL},
               {"DLLM_EXTEND", NAI_SERVES_PREFILL}, {"MIXED", NAI_SERVES_MIXED},
               {"DRAFT_EXTEND", NAI_SERVES_DRAFT},  {"DRAFT_EXTEND_V2", NAI_SERVES_DRAFT},
               {"DRAFT_LOOP", NAI_SERVES_DRAFT},    {"IDLE", NAI_SERVES_EMPTY},
               {"PREBUILT", NAI_SERVES_EMPTY}};
  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
    if (strlen(modes[i].mode) == fields->mode_length && !memcmp(modes[i].mode, fields->mode, fields->mode_length))
      return modes[i].kind;
  return NAI_SERVES_UNKNOWN;
}

/* SGLang tells one batch, which is of prompts or of requests that decode. */
static void use_batch(struct nai_serving_label *out, const struct fields *fields) {
  out->kind = kind_of_mode(fields);
  if (out->kind == NAI_SERVES_PREFILL) {
    out->context_requests = fields->number['B'];
    out->context_tokens = fields->number['t'];
    out->generation_requests = out->generation_tokens = 0;
  } else if (out->kind == NAI_SERVES_DECODE) {
    out->generation_requests = fields->number['B'];
    out->context_requests = out->context_tokens = 0;
  }
}

/* Known requests decode, or have more of their prompt to come: only without any is the kind told. */
static void use_new(struct nai_serving_label *out, const struct fields *fields) {
  out->context_requests = fields->number['n'];
  out->kind = out->context_requests > 0 && fields->number['o'] == 0 ? NAI_SERVES_PREFILL : NAI_SERVES_UNKNOWN;
  if (out->kind == NAI_SERVES_PREFILL)
    out->generation_requests = out->generation_tokens = 0;
}

static void use_counts(struct nai_serving_label *out, const struct fields *fields) {
  out->context_requests = fields->number['C'];
  out->context_tokens = fields->number['c'];
  out->generation_requests = fields->number['G'];
  out->generation_tokens = fields->number['g'];
  out->kv_tokens = fields->number['k'];
  out->kind = kind_of(out->context_requests, out->generation_requests);
}

static bool may_match(const char *name) {
  return *name == 'e' || *name == 's' || *name == '[' || *name == '_'; /* what formats begin with */
}

bool nai_serving_read(struct nai_serving_label *out, const char *name) {
  *out = (struct nai_serving_label){.kind = NAI_SERVES_UNKNOWN,
                                    .context_requests = NAI_NULL_I64,
                                    .context_tokens = NAI_NULL_I64,
                                    .generation_requests = NAI_NULL_I64,
                                    .generation_tokens = NAI_NULL_I64,
                                    .kv_tokens = NAI_NULL_I64};
  for (int i = 0; may_match(name) && i < FORMATS; i++) {
    struct fields fields;
    for (int f = 0; f < FIELDS; f++)
      fields.number[f] = NAI_NULL_I64;
    const char *end = match(&fields, formats[i].text, formats[i].text + strlen(formats[i].text), name);
    if (!end || *end)
      continue;
    out->format = formats[i].format;
    if (out->format == NAI_SERVING_SGLANG)
      use_batch(out, &fields);
    else if (out->format == NAI_SERVING_VLLM_2025)
      use_new(out, &fields);
    else if (out->format != NAI_SERVING_SGLANG_LOOP)
      use_counts(out, &fields);
    return true;
  }
  return false;
}

enum nai_serving_part nai_serving_part_of(const char *name) {
  static const struct {
    const char *begins;
    enum nai_serving_part part;
  } parts[] = {{"gpu_model_runner: preprocess", NAI_SERVING_INPUT},
               {"gpu_model_runner: sample", NAI_SERVING_SAMPLING},
               {"gpu_model_runner: draft", NAI_SERVING_SAMPLING},
               {"gpu_model_runner: bookkeep", NAI_SERVING_BOOKKEEPING},
               {"gpu_model_runner: eplb", NAI_SERVING_BOOKKEEPING},
               {"gpu_model_runner: ModelRunnerOutput", NAI_SERVING_OUTPUT},
               {"schedule: ", NAI_SERVING_SCHEDULING},
               {"llm_engine step: ", NAI_SERVING_OUTPUT},
               {"scheduler.recv_requests", NAI_SERVING_SCHEDULING},
               {"scheduler.process_input_requests", NAI_SERVING_SCHEDULING},
               {"scheduler.get_next_batch_to_run", NAI_SERVING_SCHEDULING},
               {"scheduler.get_new_batch_prefill", NAI_SERVING_SCHEDULING},
               {"scheduler.update_running_batch", NAI_SERVING_SCHEDULING},
               {"scheduler.process_batch_result", NAI_SERVING_OUTPUT},
               {"_fetch_new_requests", NAI_SERVING_SCHEDULING},
               {"_schedule", NAI_SERVING_SCHEDULING},
               {"_prepare_inputs", NAI_SERVING_INPUT},
               {"_sample_async", NAI_SERVING_SAMPLING},
               {"_update_requests", NAI_SERVING_BOOKKEEPING},
               {"_handle_responses", NAI_SERVING_OUTPUT}};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (!strncmp(name, parts[i].begins, strlen(parts[i].begins)))
      return parts[i].part;
  return NAI_SERVING_PARTS;
}
