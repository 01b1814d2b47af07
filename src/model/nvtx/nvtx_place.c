/* Names of places in the program. */
#include "model/nvtx/nvtx_place.h"

#include "base/text.h"

void nai_nvtx_put_path(struct nai_buf *out, const struct nai_model *m, const struct nai_nvtx_node *node) {
  enum { MAX_DEPTH = 16, MAX_PATH = 400 };
  const struct nai_nvtx_node *chain[MAX_DEPTH];
  NAI_SCOPED(nai_buf) text = {0};
  int depth = 0;
  for (; node && depth < MAX_DEPTH; node = node->parent == NAI_NO_ROW ? NULL : &m->nodes[node->parent])
    chain[depth++] = node;
  while (depth > 0) {
    nai_buf_puts(&text, text.len ? " > " : "");
    nai_text_fold_digits(&text, nai_strings_get(&m->tables[NAI_IN_NVTX]->strings, chain[--depth]->name));
  }
  size_t cut = text.len > MAX_PATH ? text.len - MAX_PATH : 0; /* the end says more; never inside of a character */
  while (cut < text.len && cut && ((unsigned char)text.data[cut] & 0xc0) == 0x80)
    cut++;
  out->oom |= text.oom;
  nai_buf_puts(out, nai_buf_str(&text) + cut);
}
