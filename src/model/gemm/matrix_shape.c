#include "model/gemm/matrix_shape.h"

#include "base/std.h"

/* --- the list ------------------------------------------------------------------------------------- */

static const char *skip(const char *p) {
  while (*p == ' ')
    p++;
  return p;
}

/* A number of up to 18 digits. NULL when there is none. */
static const char *read_size(int64_t *out, const char *p) {
  enum { MAX_DIGITS = 18 };
  int digits = 0;
  for (*out = 0; *p >= '0' && *p <= '9' && digits <= MAX_DIGITS; p++, digits++)
    *out = *out * 10 + (*p - '0');
  return digits >= 1 && digits <= MAX_DIGITS ? p : NULL;
}

/* A list that stands for one input, at its '['. Lists inside are lists of tensors, which no known operation takes. */
static const char *read_input(int *dimensions, int64_t *v, const char *p) {
  int depth = 0, count = 0;
  bool tensor = true;
  for (;;) {
    p = skip(p);
    int64_t size = 0;
    if (*p == '[') {
      tensor = tensor && depth == 0;
      depth++;
      p++;
    } else if (*p == ']') {
      p++;
      if (--depth == 0)
        break;
    } else if (*p == ',') {
      p++;
    } else if (!(p = read_size(&size, p))) {
      return NULL;
    } else if (count < NAI_DIMENSIONS_MOST) {
      v[count++] = size;
    } else {
      tensor = false;
    }
  }
  *dimensions = tensor ? count : -1;
  return p;
}

bool nai_sizes_read(struct nai_sizes *out, const char *text) {
  const char *p = skip(text);
  *out = (struct nai_sizes){0};
  if (*p++ != '[')
    return false;
  for (p = skip(p); *p != ']'; p = skip(p)) {
    int dimensions = 0;
    int64_t v[NAI_DIMENSIONS_MOST] = {0};
    if (*p != '[' || !(p = read_input(&dimensions, v, p)))
      return false;
    if (out->count < NAI_SIZES_MOST) {
      out->input[out->count].dimensions = dimensions;
      memcpy(out->input[out->count++].v, v, sizeof v);
    }
    p = skip(p);
    if (*p != ',' && *p != ']')
      return false;
    p += *p == ',';
  }
  return *skip(p + 1) == '\0';
}

/* --- operations ----------------------------------------------------------------------------------- */

enum kind { PRODUCT, BATCHED, ATTENTION, ELEMENTWISE };

/* `first`: which input is the left matrix, or the queries; of an elementwise operation the first that is read. Those
 * are of one kernel, with a result of the type of its inputs. Backward attention multiplies five times instead of
 * twice.
 */
static const struct op {
  const char *name;
  enum kind kind;
  int first;
  double times;
} ops[] = {
    {"aten::mm", PRODUCT, 0, 1},
    {"aten::addmm", PRODUCT, 1, 1},
    {"aten::_addmm_activation", PRODUCT, 1, 1},
    {"aten::_scaled_mm", PRODUCT, 0, 1},
    {"aten::bmm", BATCHED, 0, 1},
    {"aten::baddbmm", BATCHED, 1, 1},
    {"aten::_scaled_dot_product_flash_attention", ATTENTION, 0, 1},
    {"aten::_scaled_dot_product_efficient_attention", ATTENTION, 0, 1},
    {"aten::_scaled_dot_product_cudnn_attention", ATTENTION, 0, 1},
    {"aten::_scaled_dot_product_flash_attention_backward", ATTENTION, 1, 2.5},
    {"aten::_scaled_dot_product_efficient_attention_backward", ATTENTION, 1, 2.5},
    {"aten::_scaled_dot_product_cudnn_attention_backward", ATTENTION, 1, 2.5},
    {"aten::add", ELEMENTWISE, 0, 1},
    {"aten::add_", ELEMENTWISE, 0, 1},
    {"aten::addcdiv_", ELEMENTWISE, 0, 1},
    {"aten::addcmul_", ELEMENTWISE, 0, 1},
    {"aten::clamp_min", ELEMENTWISE, 0, 1},
    {"aten::copy_", ELEMENTWISE, 1, 1},
    {"aten::div", ELEMENTWISE, 0, 1},
    {"aten::div_", ELEMENTWISE, 0, 1},
    {"aten::fill_", ELEMENTWISE, 1, 1},
    {"aten::gelu", ELEMENTWISE, 0, 1},
    {"aten::gelu_backward", ELEMENTWISE, 0, 1},
    {"aten::mul", ELEMENTWISE, 0, 1},
    {"aten::mul_", ELEMENTWISE, 0, 1},
    {"aten::neg", ELEMENTWISE, 0, 1},
    {"aten::pow", ELEMENTWISE, 0, 1},
    {"aten::rsqrt", ELEMENTWISE, 0, 1},
    {"aten::sigmoid", ELEMENTWISE, 0, 1},
    {"aten::silu", ELEMENTWISE, 0, 1},
    {"aten::silu_backward", ELEMENTWISE, 0, 1},
    {"aten::sub", ELEMENTWISE, 0, 1},
    {"aten::sub_", ELEMENTWISE, 0, 1},
    {"aten::tanh", ELEMENTWISE, 0, 1},
    {"aten::threshold_backward", ELEMENTWISE, 0, 1},
};

static const struct op *find_op(const char *name) {
  if (strncmp(name, "aten::", 6) != 0)
    return NULL;
  for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
    if (strcmp(ops[i].name, name) == 0)
      return &ops[i];
  return NULL;
}

bool nai_matrix_op_known(const char *name) { return find_op(name) != NULL; }

static bool are(const struct nai_sizes *sizes, int first, int count, int dimensions) {
  for (int i = first; i < first + count; i++)
    if (i >= sizes->count || sizes->input[i].dimensions != dimensions)
      return false;
  return true;
}

static bool product_of(struct nai_matrix_shape *out, const struct nai_sizes *sizes, const struct op *op) {
  bool batched = op->kind == BATCHED;
  if (!are(sizes, op->first, 2, batched ? 3 : 2))
    return false;
  const int64_t *a = sizes->input[op->first].v, *b = sizes->input[op->first + 1].v;
  if (batched && *a++ != *b++)
    return false;
  *out = (struct nai_matrix_shape){.batch = batched ? a[-1] : 1, .m = a[0], .n = b[1], .k = a[1]};
  double batch = (double)out->batch, m = (double)out->m, n = (double)out->n, k = (double)out->k;
  out->flop = 2 * batch * m * n * k;
  out->values = batch * (m * k + k * n + m * n);
  return a[1] == b[0];
}

/* Queries, keys and values: batch, heads, length, size of a head. Several query heads may share those of keys. */
static bool attention_of(struct nai_matrix_shape *out, const struct nai_sizes *sizes, const struct op *op) {
  if (!are(sizes, op->first, 3, 4))
    return false;
  const int64_t *q = sizes->input[op->first].v, *k = sizes->input[op->first + 1].v, *v = sizes->input[op->first + 2].v;
  *out = (struct nai_matrix_shape){.m = q[2], .n = k[2], .k = q[3], .attention = true};
  double batch = (double)q[0] * (double)q[1], keys = (double)k[0] * (double)k[1];
  double lengths = (double)q[2] * (double)k[2], heads = (double)q[3] + (double)v[3];
  out->flop = op->times * 2 * batch * lengths * heads;
  out->values = op->times > 1 ? 2 * (batch * (double)q[2] * heads + keys * (double)k[2] * heads)
                              : batch * (double)q[2] * heads + keys * (double)k[2] * heads;
  return !__builtin_mul_overflow(q[0], q[1], &out->batch) && q[0] == k[0] && k[0] == v[0] && k[1] == v[1] &&
         k[2] == v[2] && q[3] == k[3];
}

/* Stretches `result` to a tensor, as PyTorch does: from the last dimension on, 1 fits every size. */
static bool stretch(int64_t *result, const int64_t *v, int dimensions) {
  for (int d = 0; d < dimensions; d++) {
    int64_t size = v[dimensions - 1 - d];
    if (result[d] == 1)
      result[d] = size;
    else if (size != 1 && size != result[d])
      return false;
  }
  return true;
}

/* Each value of what is read and of the result once. Scalars are no values. */
static bool elementwise_of(struct nai_matrix_shape *out, const struct nai_sizes *sizes, const struct op *op) {
  int64_t result[NAI_DIMENSIONS_MOST] = {1, 1, 1, 1, 1, 1, 1, 1};
  *out = (struct nai_matrix_shape){.batch = 1, .m = 1, .n = 1, .k = 1, .elementwise = true};
  for (int i = 0; i < sizes->count; i++) {
    int dimensions = sizes->input[i].dimensions;
    const int64_t *v = sizes->input[i].v;
    double values = i >= op->first && dimensions > 0;
    if (dimensions < 0 || !stretch(result, v, dimensions))
      return false;
    for (int d = 0; d < dimensions; d++)
      values *= (double)v[d];
    out->values += values;
  }
  for (int d = 0; d < NAI_DIMENSIONS_MOST; d++)
    if (__builtin_mul_overflow(out->m, result[d], &out->m))
      return false;
  out->values += (double)out->m;
  return out->m > 1 && out->values < 0x1p63; /* tables count them in 64 bits */
}

bool nai_matrix_shape_of(struct nai_matrix_shape *out, const char *name, const struct nai_sizes *sizes) {
  const struct op *op = find_op(name);
  if (!op)
    return false;
  if (op->kind == ELEMENTWISE)
    return elementwise_of(out, sizes, op);
  return (op->kind == ATTENTION ? attention_of(out, sizes, op) : product_of(out, sizes, op)) && out->flop > 0;
}
