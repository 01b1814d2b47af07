#include "config/flops.h"

#include "base/hash.h"

/* A decimal number above 0, whatever the locale: 4194304, 7e9, 1.2e18. */
static int read_number(double *out, const char *option, const char *text, size_t len, struct nai_err *err) {
  char copy[64], *end = copy;
  bool plain = len > 0 && len < sizeof copy && strspn(text, "0123456789.eE+") >= len;
  if (plain) {
    memcpy(copy, text, len);
    copy[len] = '\0';
    *out = strtod(copy, &end);
  }
  if (!plain || *end || !isfinite(*out) || *out <= 0)
    return nai_err_set(err, NAI_EUSAGE, "%s: \"%.*s\": expected a number above 0 without a unit, such as 14e9", option,
                       (int)(len < 60 ? len : 60), text);
  return NAI_OK;
}

/* What --model can say. */
enum { PARAMS, TOKENS, LAYERS, HIDDEN, SEQ, CAUSAL, KEYS };
static const char *const keys[KEYS] = {"params", "tokens", "layers", "hidden", "seq", "causal"};

static int read_pair(double values[KEYS], const char *pair, size_t len, struct nai_err *err) {
  const char *equals = memchr(pair, '=', len);
  for (int k = 0; equals && k < KEYS; k++)
    if (strlen(keys[k]) == (size_t)(equals - pair) && memcmp(keys[k], pair, strlen(keys[k])) == 0) {
      if (values[k] > 0)
        return nai_err_set(err, NAI_EUSAGE, "--model: %s is given twice", keys[k]);
      return read_number(&values[k], "--model", equals + 1, len - (size_t)(equals + 1 - pair), err);
    }
  return nai_err_set(
      err, NAI_EUSAGE,
      "--model: \"%.*s\" is not of the form KEY=NUMBER with the keys params, tokens, layers, hidden, seq, "
      "causal",
      (int)(len < 60 ? len : 60), pair);
}

/* A transformer's training step: 6 per parameter and token, and of attention 12 per layer, width, length and token,
 * half of it with a causal mask (PaLM, appendix B; Megatron-LM). */
static int read_model(double *out, const char *text, struct nai_err *err) {
  double v[KEYS] = {0};
  for (const char *at = text; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
    NAI_TRY(read_pair(v, at, strcspn(at, ","), err));
  if (v[PARAMS] <= 0 || v[TOKENS] <= 0)
    return nai_err_set(err, NAI_EUSAGE, "--model: params and tokens (of one step, all GPUs together) are both needed");
  bool some = v[LAYERS] > 0 || v[HIDDEN] > 0 || v[SEQ] > 0, all = v[LAYERS] > 0 && v[HIDDEN] > 0 && v[SEQ] > 0;
  if (some != all)
    return nai_err_set(err, NAI_EUSAGE, "--model: layers, hidden and seq are needed together");
  *out = 6 * v[PARAMS] * v[TOKENS] + (v[CAUSAL] > 0 ? 6 : 12) * v[LAYERS] * v[HIDDEN] * v[SEQ] * v[TOKENS];
  return NAI_OK;
}

/* "LOW-HIGH", or one number for both. */
static int read_span(double *low, double *high, const char *text, size_t len, struct nai_err *err) {
  const char *dash = memchr(text, '-', len);
  size_t first = dash ? (size_t)(dash - text) : len;
  NAI_TRY(read_number(low, "--model-weights", text, first, err));
  *high = *low;
  if (dash)
    NAI_TRY(read_number(high, "--model-weights", dash + 1, len - first - 1, err));
  return *low <= *high ? NAI_OK : nai_err_set(err, NAI_EUSAGE, "--model-weights: active ends below where it begins");
}

/* BYTES[,active=LOW-HIGH][,kv=BYTES]: of a mixture of experts a step reads between one token's and all. */
static int read_weights(struct nai_flops *out, const char *text, struct nai_err *err) {
  static const char active[] = "active=", kv[] = "kv=";
  NAI_TRY(read_number(&out->weights_high, "--model-weights", text, strcspn(text, ","), err));
  out->weights_low = out->weights_high;
  for (const char *at = strchr(text, ','); at; at = strchr(at, ',')) {
    size_t len = strcspn(++at, ",");
    if (strncmp(at, active, sizeof active - 1) == 0)
      NAI_TRY(read_span(&out->weights_low, &out->weights_high, at + sizeof active - 1, len - (sizeof active - 1), err));
    else if (strncmp(at, kv, sizeof kv - 1) == 0)
      NAI_TRY(read_number(&out->kv_bytes, "--model-weights", at + sizeof kv - 1, len - (sizeof kv - 1), err));
    else
      return nai_err_set(err, NAI_EUSAGE, "--model-weights: expected BYTES[,active=LOW-HIGH][,kv=BYTES_PER_TOKEN]");
  }
  return NAI_OK;
}

int nai_flops_read(struct nai_flops *out, const struct nai_flops_options *o, struct nai_err *err) {
  *out = (struct nai_flops){.dtype = -1, .peak_tflops = o->peak_tflops, .from_model = o->model != NULL};
  if (o->per_step && o->model)
    return nai_err_set(err, NAI_EUSAGE, "--flops-per-step and --model say the same: give one of them");
  for (int d = 0; o->dtype && d < NAI_DTYPE_COUNT; d++)
    out->dtype = strcmp(o->dtype, nai_dtype_name((enum nai_dtype)d)) == 0 ? d : out->dtype;
  if (o->dtype && out->dtype < 0)
    return nai_err_set(err, NAI_EUSAGE, "--dtype \"%s\": expected fp16, bf16, tf32, fp32 or fp8", o->dtype);
  if (o->weights)
    NAI_TRY(read_weights(out, o->weights, err));
  if (o->per_step)
    return read_number(&out->per_step, "--flops-per-step", o->per_step, strlen(o->per_step), err);
  return o->model ? read_model(&out->per_step, o->model, err) : NAI_OK;
}

uint64_t nai_flops_hash(const struct nai_flops *flops) {
  const double numbers[] = {flops->per_step, flops->peak_tflops, flops->weights_low, flops->weights_high,
                            flops->kv_bytes};
  return nai_hash_int(nai_hash_int(nai_hash_bytes(0, numbers, sizeof numbers), flops->from_model), flops->dtype);
}
