#include "analyses/node.h"

int nai_node_run(const struct nai_node *node, struct nai_node_io io, struct nai_err *err) {
  NAI_SCOPED(nai_arena) arena = NAI_ARENA(io.model ? io.model->scratch_dir : NULL);
  io.arena = &arena;
  NAI_TRY(node->run(&io, err));
  NAI_TRY(nai_arena_check(&arena, err));
  for (int o = 0; !node->creates && node->outputs[o]; o++) {
    NAI_TRY(nai_table_check(io.out[o], err));
    NAI_TRY(nai_table_sort(io.out[o], err));
  }
  return NAI_OK;
}
