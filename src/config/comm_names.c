#include "config/comm_names.h"

#include "config/patterns.h"

enum { FAMILY, OP, DTYPE, REDOP, LINK, MAPS, ENTRY = MAPS, FUSED, SETS };
static const char *const sections[SETS + 1] = {"family",        "op",    "dtype", "redop",
                                               "link_gb_per_s", "entry", "fused", NULL};

struct nai_comm_names {
  uint64_t hash;
  struct nai_patterns *sets[SETS];
};

/* A section that names classes is a map, one that answers yes or no is a list of patterns. */
static int add_section(struct nai_patterns *set, int section, const struct nai_yaml *doc,
                       const struct nai_yaml_node *node, struct nai_err *err) {
  if (section >= MAPS)
    return nai_patterns_add_class(set, sections[section], doc, node, err);
  NAI_TRY(nai_yaml_expect(doc, node, NAI_YAML_MAP, err));
  for (const struct nai_yaml_node *class = nai_yaml_first(doc, node); class; class = nai_yaml_next(doc, class))
    NAI_TRY(nai_patterns_add_class(set, class->key, doc, class, err));
  return NAI_OK;
}

int nai_comm_names_load(struct nai_comm_names **out, struct nai_err *err) {
  NAI_OWNED(nai_yaml) *doc = NULL;
  NAI_OWNED(nai_comm_names) *names = calloc(1, sizeof *names);
  *out = NULL;
  NAI_TRY(nai_memory_check(names, err));
  NAI_TRY(nai_yaml_load_builtin(&doc, "rules/comm-kernels.yaml", err));
  const struct nai_yaml_node *root = nai_yaml_root(doc);
  NAI_TRY(nai_yaml_expect_keys(doc, root, sections, err));
  for (int s = 0; s < SETS; s++) {
    const struct nai_yaml_node *node = nai_yaml_get(doc, root, sections[s]);
    NAI_TRY(nai_patterns_new(&names->sets[s], err));
    nai_patterns_interpret(names->sets[s]);
    if (node)
      NAI_TRY(add_section(names->sets[s], s, doc, node, err));
  }
  names->hash = doc->hash;
  return NAI_GIVE(out, names);
}

void nai_comm_names_free(struct nai_comm_names *names) {
  for (int s = 0; names && s < SETS; s++)
    nai_patterns_free(names->sets[s]);
  free(names);
}

uint64_t nai_comm_names_hash(const struct nai_comm_names *names) { return names->hash; }

static const char *match(const struct nai_comm_names *names, int section, const char *text) {
  int class = nai_patterns_match(names->sets[section], text);
  return class < 0 ? NULL : nai_patterns_class(names->sets[section], class);
}

struct nai_comm_name nai_comm_names_parse(const struct nai_comm_names *names, const char *kernel_name) {
  return (struct nai_comm_name){.family = match(names, FAMILY, kernel_name),
                                .op = match(names, OP, kernel_name),
                                .dtype = match(names, DTYPE, kernel_name),
                                .redop = match(names, REDOP, kernel_name),
                                .entry = match(names, ENTRY, kernel_name) != NULL,
                                .fused = match(names, FUSED, kernel_name) != NULL};
}

double nai_comm_names_link(const struct nai_comm_names *names, const char *gpu_name) {
  const char *rate = match(names, LINK, gpu_name);
  return rate ? strtod(rate, NULL) : 0;
}

int nai_comm_names_check(const struct nai_comm_names *names, struct nai_err *err) {
  for (int s = 0; s < SETS; s++)
    NAI_TRY(nai_patterns_check(names->sets[s], err));
  return NAI_OK;
}
