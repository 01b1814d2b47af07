/* Files that are built into the program: the build has parsed them (cmake/yaml_trees.c), for parsing takes longer than
 * many an analysis. */
#include "config/yaml_trees.h"

static uint32_t take(const unsigned char **at) {
  uint32_t value = 0;
  for (int shift = 0;; shift += 7) {
    unsigned char byte = *(*at)++;
    value |= (uint32_t)(byte & 0x7f) << shift;
    if (byte < 0x80)
      return value;
  }
}

static const char *take_text(const unsigned char **at) {
  const char *text = (const char *)*at;
  *at += strlen(text) + 1;
  return text;
}

static void take_node(struct nai_yaml_node *node, uint32_t number, const unsigned char **at) {
  uint32_t flags = take(at);
  *node = (struct nai_yaml_node){.kind = (enum nai_yaml_kind)(flags & NAI_TREE_KIND),
                                 .plain = flags & NAI_TREE_PLAIN,
                                 .one_line = flags & NAI_TREE_ONE_LINE,
                                 .line = take(at),
                                 .text = ""};
  node->column = take(at);
  if (flags & NAI_TREE_KEY) {
    node->key_line = take(at);
    node->key_column = take(at);
    node->key = take_text(at);
  }
  if (node->kind == NAI_YAML_SCALAR)
    node->text = take_text(at);
  else
    node->count = take(at);
  node->first = node->count ? number + 1 : 0;
  node->next = flags & NAI_TREE_NEXT ? number + take(at) : 0;
}

int nai_yaml_load_builtin(struct nai_yaml **out, const char *path, struct nai_err *err) {
  const unsigned char *at = nai_yaml_trees;
  *out = NULL;
  for (uint32_t bytes; *at; at += bytes) {
    bool found = strcmp(take_text(&at), path) == 0;
    bytes = take(&at);
    if (!found)
      continue;
    NAI_OWNED(nai_yaml) *doc = calloc(1, sizeof *doc);
    if (!doc || !(doc->file = strdup(path)))
      return nai_err_nomem(err);
    memcpy(&doc->hash, at, sizeof doc->hash);
    at += sizeof doc->hash;
    doc->count = take(&at);
    doc->nodes = malloc(doc->count * sizeof *doc->nodes);
    NAI_TRY(nai_memory_check(doc->nodes, err));
    for (uint32_t i = 0; i < doc->count; i++)
      take_node(&doc->nodes[i], i, &at);
    return NAI_GIVE(out, doc);
  }
  return nai_err_set(err, NAI_EUSAGE, "%s is not built into this program", path);
}
