#include "config/gpu_facts.h"

#include "base/arena.h"
#include "base/hash.h"
#include "config/yaml.h"

enum { MAX_LINKS = 64 };

struct nai_gpu_facts {
  uint64_t hash;
  struct nai_arena arena; /* of everything else */
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
  NAI_TRY(nai_yaml_expect_keys(doc, node, keys, err));
  const struct nai_yaml_node *fp32 = nai_yaml_get(doc, node, "fp32"), *tensor = nai_yaml_get(doc, node, "tensor");
  if (!fp32 || !tensor)
    return nai_yaml_error(doc, node, err, "\"fp32\" and \"tensor\" are both needed");
  NAI_TRY(nai_yaml_int(&limits->fp32_flop_per_clock, doc, fp32, 1, MOST, err));
  return nai_yaml_int(&limits->tensor_flop_per_clock, doc, tensor, 0, MOST, err);
}

static int add_limits(struct nai_gpu_facts *facts, const struct nai_yaml *doc, const struct nai_yaml_node *node,
                      struct nai_err *err) {
  static const char *const keys[] = {"warps_per_sm",  "blocks_per_sm",    "registers_per_sm", "registers_per_block",
                                     "shared_per_sm", "shared_per_block", "flop_per_clock",   NULL};
  struct nai_gpu_limits limits = {0};
  int64_t *const numbers[] = {&limits.warps_per_sm,        &limits.blocks_per_sm, &limits.registers_per_sm,
                              &limits.registers_per_block, &limits.shared_per_sm, &limits.shared_per_block};
  NAI_TRY(read_capability(&limits, doc, node, err));
  NAI_TRY(nai_yaml_expect_keys(doc, node, keys, err));
  for (int i = 0; keys[i]; i++) {
    const struct nai_yaml_node *value;
    NAI_TRY(nai_yaml_require(&value, doc, node, keys[i], err));
    NAI_TRY(i == sizeof numbers / sizeof *numbers ? read_flop(&limits, doc, value, err)
                                                  : nai_yaml_int(numbers[i], doc, value, 1, MOST, err));
  }
  NAI_TRY(NAI_ROOM(facts->limits, facts->limit_capacity, facts->limit_count, &facts->arena, err));
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

static int read_rate(double *out, const struct nai_yaml *doc, const struct nai_yaml_node *node, struct nai_err *err) {
  NAI_TRY(nai_yaml_number(out, doc, node, err));
  return *out > 0 && *out <= 1e9 ? NAI_OK : nai_yaml_error(doc, node, err, "expected a rate above 0");
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
  const struct nai_yaml_node *rate;
  double gb_per_s;
  NAI_TRY(nai_yaml_expect_keys(doc, node, keys, err));
  NAI_TRY(nai_yaml_require(&rate, doc, node, keys[0], err));
  NAI_TRY(read_rate(&gb_per_s, doc, rate, err));
  if (find_link(facts, node->key)) /* of a file read earlier, which comes first */
    return NAI_OK;
  if (facts->link_count == MAX_LINKS)
    return nai_yaml_error_key(doc, node, err, "more than %d links", MAX_LINKS);
  struct nai_link *link = NULL;
  NAI_TRY(NAI_NEW(link, &facts->arena, 1, err));
  *link = (struct nai_link){nai_arena_printf(&facts->arena, "%s", node->key), gb_per_s};
  facts->links[facts->link_count++] = link;
  return nai_arena_check(&facts->arena, err);
}

static int read_peaks(struct nai_gpu_product *product, const struct nai_yaml *doc, const struct nai_yaml_node *node,
                      struct nai_err *err) {
  NAI_TRY(nai_yaml_expect_keys(doc, node, dtypes, err));
  for (int i = 0; dtypes[i]; i++) {
    const struct nai_yaml_node *peak = nai_yaml_get(doc, node, dtypes[i]);
    if (peak)
      NAI_TRY(read_rate(&product->tflops[i], doc, peak, err));
  }
  return NAI_OK;
}

static int add_product(struct nai_gpu_facts *facts, const struct nai_yaml *doc, const struct nai_yaml_node *node,
                       struct nai_err *err) {
  static const char *const keys[] = {"sm_count", "host_link", "tflops", "verified", "source", NULL};
  struct nai_gpu_product product = {0};
  const char *source = "";
  NAI_TRY(nai_yaml_expect_keys(doc, node, keys, err));
  const struct nai_yaml_node *count = nai_yaml_get(doc, node, "sm_count"), *link = nai_yaml_get(doc, node, "host_link"),
                             *tflops = nai_yaml_get(doc, node, "tflops"), *by = nai_yaml_get(doc, node, "source"),
                             *verified = nai_yaml_get(doc, node, "verified");
  if (count)
    NAI_TRY(nai_yaml_int(&product.sm_count, doc, count, 1, MOST, err));
  if (link && !(product.host_link = find_link(facts, link->text)))
    return nai_yaml_error(doc, link, err, "there is no link \"%s\" under \"links\"", link->text);
  if (tflops)
    NAI_TRY(read_peaks(&product, doc, tflops, err));
  if (verified)
    NAI_TRY(nai_yaml_bool(&product.verified, doc, verified, err));
  if (by)
    NAI_TRY(nai_yaml_text(&source, doc, by, err));
  product.name = nai_arena_printf(&facts->arena, "%s", node->key);
  product.source = nai_arena_printf(&facts->arena, "%s", source);
  NAI_TRY(NAI_ROOM(facts->products, facts->product_capacity, facts->product_count, &facts->arena, err));
  facts->products[facts->product_count++] = product;
  return nai_arena_check(&facts->arena, err);
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

/* The user's file; NULL: the built-in one. */
static int add_file(struct nai_gpu_facts *facts, const char *path, struct nai_err *err) {
  static const char *const sections[] = {"compute_capabilities", "links", "products", NULL};
  static add_fn *const add[] = {add_limits, add_link, add_product};
  NAI_OWNED(nai_yaml) *doc = NULL;
  NAI_TRY(path ? nai_yaml_load(&doc, path, err) : nai_yaml_load_builtin(&doc, "rules/gpus.yaml", err));
  NAI_TRY(nai_yaml_expect_keys(doc, nai_yaml_root(doc), sections, err));
  for (int i = 0; sections[i]; i++) {
    const struct nai_yaml_node *section = nai_yaml_get(doc, nai_yaml_root(doc), sections[i]);
    if (!section)
      continue;
    NAI_TRY(nai_yaml_expect(doc, section, NAI_YAML_MAP, err));
    for (const struct nai_yaml_node *n = nai_yaml_first(doc, section); n; n = nai_yaml_next(doc, n))
      NAI_TRY(add[i](facts, doc, n, err));
  }
  facts->hash = nai_hash_int(facts->hash, (int64_t)doc->hash);
  return NAI_OK;
}

int nai_gpu_facts_load(struct nai_gpu_facts **out, const char *user_path, struct nai_err *err) {
  NAI_OWNED(nai_gpu_facts) *facts = calloc(1, sizeof *facts);
  *out = NULL;
  NAI_TRY(nai_memory_check(facts, err));
  facts->arena = (struct nai_arena)NAI_ARENA(NULL);
  if (user_path)
    NAI_TRY(add_file(facts, user_path, err));
  NAI_TRY(add_file(facts, NULL, err));
  return NAI_GIVE(out, facts);
}

void nai_gpu_facts_free(struct nai_gpu_facts *facts) {
  if (!facts)
    return;
  nai_arena_free(&facts->arena);
  free(facts);
}

uint64_t nai_gpu_facts_hash(const struct nai_gpu_facts *facts) { return facts->hash; }
