#include "config/gpu_facts.h"

#include "base/array.h"
#include "base/hash.h"
#include "config/yaml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const sections[] = {"compute_capabilities", "links", "products", NULL};

enum { MAX_LINKS = 64 };

struct nai_gpu_facts {
  uint64_t hash;
  struct nai_gpu_limits *limits;
  uint32_t limit_count, limit_capacity;
  struct nai_link *links[MAX_LINKS]; /* each on its own: products point to them */
  uint32_t link_count;
  struct nai_gpu_product *products;
  uint32_t product_count, product_capacity;
};

/* --- compute capabilities ---------------------------------------------------------------------- */

enum { MOST = 1 << 30 }; /* more of anything cannot be right */

/* "8.6" as two numbers. */
static int read_capability(struct nai_gpu_limits *limits, const struct nai_yaml *doc, const struct nai_yaml_node *node,
                           struct nai_err *err) {
  int end = 0;
  if (sscanf(node->key, "%3d.%3d%n", &limits->major, &limits->minor, &end) != 2 || node->key[end] != '\0' ||
      limits->major < 1 || limits->minor < 0)
    return nai_yaml_error_key(doc, node, err, "\"%s\" is no compute capability such as \"8.6\"", node->key);
  return NAI_OK;
}

/* What one multiprocessor computes per clock. */
static int read_flop(struct nai_gpu_limits *limits, const struct nai_yaml *doc, const struct nai_yaml_node *node,
                     struct nai_err *err) {
  static const char *const keys[] = {"fp32", "tensor", NULL};
  int rc = nai_yaml_expect_keys(doc, node, keys, err);
  const struct nai_yaml_node *fp32 = rc ? NULL : nai_yaml_get(doc, node, "fp32"),
                             *tensor = rc ? NULL : nai_yaml_get(doc, node, "tensor");
  if (!rc && (!fp32 || !tensor))
    rc = nai_yaml_error(doc, node, err, "\"fp32\" and \"tensor\" are both needed");
  if (!rc)
    rc = nai_yaml_int(&limits->fp32_flop_per_clock, doc, fp32, 1, MOST, err);
  return rc ? rc : nai_yaml_int(&limits->tensor_flop_per_clock, doc, tensor, 0, MOST, err);
}

static int add_limits(struct nai_gpu_facts *facts, const struct nai_yaml *doc, const struct nai_yaml_node *node,
                      struct nai_err *err) {
  static const char *const keys[] = {"warps_per_sm",  "blocks_per_sm",    "registers_per_sm", "registers_per_block",
                                     "shared_per_sm", "shared_per_block", "flop_per_clock",   NULL};
  struct nai_gpu_limits limits = {0};
  int64_t *const numbers[] = {&limits.warps_per_sm,        &limits.blocks_per_sm, &limits.registers_per_sm,
                              &limits.registers_per_block, &limits.shared_per_sm, &limits.shared_per_block};
  int rc = read_capability(&limits, doc, node, err);
  if (!rc)
    rc = nai_yaml_expect_keys(doc, node, keys, err);
  for (int i = 0; !rc && keys[i]; i++) {
    const struct nai_yaml_node *value = nai_yaml_get(doc, node, keys[i]);
    if (!value)
      rc = nai_yaml_error(doc, node, err, "\"%s\" is missing", keys[i]);
    else if (i == sizeof numbers / sizeof *numbers)
      rc = read_flop(&limits, doc, value, err);
    else
      rc = nai_yaml_int(numbers[i], doc, value, 1, MOST, err);
  }
  if (rc)
    return rc;
  if (!nai_array_room(&facts->limits, &facts->limit_capacity, facts->limit_count, sizeof *facts->limits))
    return nai_err_nomem(err);
  facts->limits[facts->limit_count++] = limits;
  return NAI_OK;
}

const struct nai_gpu_limits *nai_gpu_facts_limits(const struct nai_gpu_facts *facts, int64_t major, int64_t minor) {
  for (uint32_t i = 0; i < facts->limit_count; i++)
    if (facts->limits[i].major == major && facts->limits[i].minor == minor)
      return &facts->limits[i];
  return NULL;
}

/* --- links and products ------------------------------------------------------------------------ */

static const char *const dtypes[] = {"fp16", "bf16", "tf32", "fp32", "fp8", NULL};

const char *nai_dtype_name(enum nai_dtype dtype) { return dtypes[dtype]; }

/* A text, "" where there is none. */
static int read_text(char **out, const struct nai_yaml *doc, const struct nai_yaml_node *node, struct nai_err *err) {
  const char *text = "";
  int rc = node ? nai_yaml_text(&text, doc, node, err) : NAI_OK;
  *out = rc ? NULL : strdup(text);
  return rc ? rc : *out ? NAI_OK : nai_err_nomem(err);
}

static int read_rate(double *out, const struct nai_yaml *doc, const struct nai_yaml_node *node, struct nai_err *err) {
  int rc = nai_yaml_number(out, doc, node, err);
  return !rc && (*out <= 0 || *out > 1e9) ? nai_yaml_error(doc, node, err, "expected a rate above 0") : rc;
}

static const struct nai_link *find_link(const struct nai_gpu_facts *facts, const char *name) {
  for (uint32_t i = 0; i < facts->link_count; i++)
    if (strcmp(facts->links[i]->name, name) == 0)
      return facts->links[i];
  return NULL;
}

static int add_link(struct nai_gpu_facts *facts, const struct nai_yaml *doc, const struct nai_yaml_node *node,
                    struct nai_err *err) {
  static const char *const keys[] = {"gb_per_s", "source", NULL};
  int rc = nai_yaml_expect_keys(doc, node, keys, err);
  const struct nai_yaml_node *rate = rc ? NULL : nai_yaml_get(doc, node, keys[0]);
  double gb_per_s = 0;
  if (!rc && !rate)
    rc = nai_yaml_error(doc, node, err, "\"%s\" is missing", keys[0]);
  if (!rc)
    rc = read_rate(&gb_per_s, doc, rate, err);
  if (rc || find_link(facts, node->key)) /* of a file read earlier, which comes first */
    return rc;
  if (facts->link_count == MAX_LINKS)
    return nai_yaml_error_key(doc, node, err, "more than %d links", MAX_LINKS);
  struct nai_link *link = malloc(sizeof *link);
  char *name = strdup(node->key);
  if (!link || !name) {
    free(link);
    free(name);
    return nai_err_nomem(err);
  }
  *link = (struct nai_link){name, gb_per_s};
  facts->links[facts->link_count++] = link;
  return NAI_OK;
}

static int read_peaks(struct nai_gpu_product *product, const struct nai_yaml *doc, const struct nai_yaml_node *node,
                      struct nai_err *err) {
  int rc = node ? nai_yaml_expect_keys(doc, node, dtypes, err) : NAI_OK;
  for (int i = 0; !rc && node && dtypes[i]; i++) {
    const struct nai_yaml_node *peak = nai_yaml_get(doc, node, dtypes[i]);
    if (peak)
      rc = read_rate(&product->tflops[i], doc, peak, err);
  }
  return rc;
}

static void free_product(struct nai_gpu_product *product) {
  free((char *)product->name);
  free((char *)product->source);
}

static int add_product(struct nai_gpu_facts *facts, const struct nai_yaml *doc, const struct nai_yaml_node *node,
                       struct nai_err *err) {
  static const char *const keys[] = {"sm_count", "host_link", "tflops", "verified", "source", NULL};
  struct nai_gpu_product product = {0};
  const struct nai_yaml_node *value[5] = {NULL};
  int rc = nai_yaml_expect_keys(doc, node, keys, err);
  for (int i = 0; !rc && keys[i]; i++)
    value[i] = nai_yaml_get(doc, node, keys[i]);
  if (!rc && value[0])
    rc = nai_yaml_int(&product.sm_count, doc, value[0], 1, MOST, err);
  if (!rc && value[1] && !(product.host_link = find_link(facts, value[1]->text)))
    rc = nai_yaml_error(doc, value[1], err, "there is no link \"%s\" under \"links\"", value[1]->text);
  if (!rc)
    rc = read_peaks(&product, doc, value[2], err);
  if (!rc && value[3])
    rc = nai_yaml_bool(&product.verified, doc, value[3], err);
  char *source = NULL, *name = rc ? NULL : strdup(node->key);
  if (!rc)
    rc = name ? read_text(&source, doc, value[4], err) : nai_err_nomem(err);
  product.name = name;
  product.source = source;
  if (!rc && !nai_array_room(&facts->products, &facts->product_capacity, facts->product_count, sizeof product))
    rc = nai_err_nomem(err);
  if (rc)
    free_product(&product);
  else
    facts->products[facts->product_count++] = product;
  return rc;
}

const struct nai_gpu_product *nai_gpu_facts_product(const struct nai_gpu_facts *facts, const char *name) {
  for (uint32_t i = 0; i < facts->product_count; i++)
    if (strcmp(facts->products[i].name, name) == 0)
      return &facts->products[i];
  return NULL;
}

/* --- files -------------------------------------------------------------------------------------- */

typedef int add_fn(struct nai_gpu_facts *facts, const struct nai_yaml *doc, const struct nai_yaml_node *node,
                   struct nai_err *err);

static int add_document(struct nai_gpu_facts *facts, const struct nai_yaml *doc, struct nai_err *err) {
  static add_fn *const add[] = {add_limits, add_link, add_product};
  const struct nai_yaml_node *root = nai_yaml_root(doc);
  int rc = nai_yaml_expect_keys(doc, root, sections, err);
  for (int i = 0; !rc && sections[i]; i++) {
    const struct nai_yaml_node *section = nai_yaml_get(doc, root, sections[i]);
    if (section)
      rc = nai_yaml_expect(doc, section, NAI_YAML_MAP, err);
    for (const struct nai_yaml_node *n = section && !rc ? nai_yaml_first(doc, section) : NULL; !rc && n;
         n = nai_yaml_next(doc, n))
      rc = add[i](facts, doc, n, err);
  }
  if (!rc)
    facts->hash = nai_hash_int(facts->hash, (int64_t)doc->hash);
  return rc;
}

/* The user's file; NULL: the built-in one. */
static int add_file(struct nai_gpu_facts *facts, const char *path, struct nai_err *err) {
  struct nai_yaml *doc = NULL;
  int rc = path ? nai_yaml_load(&doc, path, err) : nai_yaml_load_builtin(&doc, "rules/gpus.yaml", err);
  if (!rc)
    rc = add_document(facts, doc, err);
  nai_yaml_free(doc);
  return rc;
}

int nai_gpu_facts_load(struct nai_gpu_facts **out, const char *user_path, struct nai_err *err) {
  struct nai_gpu_facts *facts = calloc(1, sizeof *facts);
  *out = NULL;
  int rc = facts ? NAI_OK : nai_err_nomem(err);
  if (!rc && user_path)
    rc = add_file(facts, user_path, err);
  if (!rc)
    rc = add_file(facts, NULL, err);
  if (rc) {
    nai_gpu_facts_free(facts);
    return rc;
  }
  *out = facts;
  return NAI_OK;
}

void nai_gpu_facts_free(struct nai_gpu_facts *facts) {
  if (!facts)
    return;
  for (uint32_t i = 0; i < facts->link_count; i++) {
    free((char *)facts->links[i]->name);
    free(facts->links[i]);
  }
  for (uint32_t i = 0; i < facts->product_count; i++)
    free_product(&facts->products[i]);
  free(facts->limits);
  free(facts->products);
  free(facts);
}

uint64_t nai_gpu_facts_hash(const struct nai_gpu_facts *facts) { return facts->hash; }
