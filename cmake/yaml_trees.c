/* yaml_trees FILE...: YAML files as src/config/yaml_trees.h has them, to standard output. */
#include "base/buf.h"
#include "config/yaml_trees.h"

const unsigned char nai_yaml_trees[] = {0};

static void put_text(struct nai_buf *out, const char *text) { nai_buf_put(out, text, strlen(text) + 1); }

static void put_node(struct nai_buf *out, const struct nai_yaml_node *node, uint32_t number) {
  nai_buf_put_varint(out, (unsigned)node->kind | (node->plain ? NAI_TREE_PLAIN : 0) |
                              (node->one_line ? NAI_TREE_ONE_LINE : 0) | (node->key ? NAI_TREE_KEY : 0) |
                              (node->next ? NAI_TREE_NEXT : 0));
  nai_buf_put_varint(out, node->line);
  nai_buf_put_varint(out, node->column);
  if (node->key) {
    nai_buf_put_varint(out, node->key_line);
    nai_buf_put_varint(out, node->key_column);
    put_text(out, node->key);
  }
  if (node->kind == NAI_YAML_SCALAR)
    put_text(out, node->text);
  else
    nai_buf_put_varint(out, node->count);
  if (node->next)
    nai_buf_put_varint(out, node->next - number);
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    NAI_OWNED(nai_yaml) *doc = NULL;
    NAI_SCOPED(nai_buf) head = {0};
    NAI_SCOPED(nai_buf) tree = {0};
    struct nai_err err;
    if (nai_yaml_load(&doc, argv[i], &err) != NAI_OK) {
      fprintf(stderr, "%s\n", err.msg);
      return 1;
    }
    nai_buf_put(&tree, &doc->hash, sizeof doc->hash);
    nai_buf_put_varint(&tree, doc->count);
    for (uint32_t n = 0; n < doc->count; n++)
      put_node(&tree, &doc->nodes[n], n);
    put_text(&head, argv[i]);
    nai_buf_put_varint(&head, tree.len);
    if (head.oom || tree.oom || fwrite(head.data, 1, head.len, stdout) < head.len ||
        fwrite(tree.data, 1, tree.len, stdout) < tree.len)
      return 1;
  }
  return fflush(stdout) != 0;
}
